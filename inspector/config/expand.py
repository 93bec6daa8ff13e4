"""Expands references in config values when a server is opened, by the rules of the file's client.

| Dialect | Files | References |
|---|---|---|
| `own` | `inspector.json`, files given with `--config` | `${NAME}`, `${NAME:-default}`, `${env:NAME}`, `${file:PATH}`, `${keyring:NAME}`, `${input:ID}`, `${workspaceFolder}`, `${workspaceFolderBasename}`, `${userHome}`; `$${` is a plain `${` |
| `claude-code` | `.mcp.json`, `~/.claude.json`, `mcp.json` of Kiro | `${NAME}`, `${NAME:-default}` |
| `vscode` | `mcp.json`, `settings.json` | `${env:NAME}`, `${input:ID}`, `${workspaceFolder}`, `${workspaceFolderBasename}`, `${userHome}`, `${cwd}`, `${pathSeparator}`, `${/}` |
| `cursor` | `mcp.json` | the same without `${input:ID}` and `${cwd}` |
| `windsurf` | `mcp_config.json` | `${env:NAME}`, `${file:PATH}` |
| `cline` | `cline_mcp_settings.json` | `${env:NAME}` |
| `gemini` | `settings.json`, files of Copilot CLI | `$NAME`, `${NAME}`, `${NAME:-default}` |
| `literal` | Claude Desktop, LM Studio, Zed, filled-in `server.json` | none |

A reference that a dialect does not define stays as it is written, like in that client. A variable that is not set is an
error here, even if the client would pass on the reference or nothing: a server that receives `${TOKEN}` instead of a
token fails later and with a worse error. An expanded value is never expanded again.
"""  # noqa: E501 - a table row cannot be wrapped

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from inspector import command_words
from inspector.config import dotenv, foreign_files, paths, secret_values
from inspector.config.foreign_files import printable
from inspector.errors import ConfigError, ValueMissing
from inspector.lazy_pattern import lazy_pattern

VariableSyntax = Literal["own", "claude-code", "vscode", "cursor", "windsurf", "gemini", "cline", "literal"]

KEYRING_SERVICE = "inspector"
"""`keyring:NAME` is the password of user NAME in this keyring service; `keyring:SERVICE/NAME` names another service."""

_SECRET_FILE_BYTES = 64 * 1024
_NAME = lazy_pattern(r"[A-Za-z_]\w*", re.ASCII)
_NOT_IN_A_VARIABLE = lazy_pattern(r"\W", re.ASCII)


class InputQuestion(NamedTuple):
    """A value that a config file requests from its user: an `inputs` entry, an input of a `server.json`."""

    id: str
    server: str
    description: str = ""
    default: str | None = None
    secret: bool = False
    choices: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The environment variable that answers the question: `INPUT_` and the id in capitals."""
        return "INPUT_" + _NOT_IN_A_VARIABLE.sub("_", self.id).upper()


AskInput = Callable[[InputQuestion], str | None]
"""Asks the user; returns None without an answer."""


class Reference(NamedTuple):
    """The place of a user's value: the name of a variable, the path of a file, SERVICE/USER of the keyring."""

    kind: Literal["variable", "file", "keyring"]
    name: str


@dataclass(slots=True)
class Expander:
    """Expands the values of one server of one file, and collects their secrets."""

    dialect: VariableSyntax
    server: str
    path: Path
    environ: Mapping[str, str] = field(repr=False)
    home: Path
    workspace: Path
    inputs: Sequence[InputQuestion] = ()
    prompt: AskInput | None = None
    secrets: list[str] = field(default_factory=list, repr=False)
    allowed: frozenset[Reference] | None = None
    """The references that may be followed; None: all. `_taken` reads every value of the user's."""
    _answers: dict[str, str | None] = field(default_factory=dict, repr=False)

    def __call__(self, text: str) -> str:
        """Return `text` with its references replaced. Raises ConfigError if a value is missing."""
        if self.dialect == "literal" or "$" not in text:
            return text
        pieces: list[str] = []
        position = 0
        while (start := text.find("$", position)) >= 0:
            pieces.append(text[position:start])
            taken, value = self._reference(text, start)
            pieces.append(text[start : start + taken] if value is None else value)
            position = start + taken
        pieces.append(text[position:])
        return "".join(pieces)

    def _reference(self, text: str, start: int) -> tuple[int, str | None]:
        """Return the length of the reference at `start` and its value, or None for plain text."""
        if text.startswith("$${", start) and self.dialect == "own":
            return 3, "${"
        if text.startswith("${", start):
            end = text.find("}", start + 2)
            # A brace that is not closed here is not closed later either, so the rest is copied in one step.
            return (len(text) - start, None) if end < 0 else (end + 1 - start, self._braced(text[start + 2 : end]))
        if self.dialect == "gemini" and (name := _NAME.match(text, start + 1)):
            return 1 + len(name[0]), self._variable(name[0])
        return 1, None

    def _braced(self, expression: str) -> str | None:
        match self.dialect:
            case "claude-code" | "gemini":
                return self._plain(expression)
            case "cline":
                return self._prefixed(expression, ("env",))
            case "windsurf":
                return self._prefixed(expression, ("env", "file"))
            case "cursor":
                return self._place(expression) or self._prefixed(expression, ("env",))
            case "vscode":
                if expression in ("cwd", "workspaceRoot"):
                    return str(self.workspace)
                return self._place(expression) or self._prefixed(expression, ("env", "input", "config", "command"))
            case _:
                replacement = self._place(expression) or self._prefixed(expression, ("env", "file", "keyring", "input"))
                return self._plain(expression) if replacement is None else replacement

    def _plain(self, expression: str) -> str | None:
        name, separator, default = expression.partition(":-")
        if not _NAME.fullmatch(name):
            return None
        return self._variable(name, default if separator else None)

    def _place(self, expression: str) -> str | None:
        places = {
            "workspaceFolder": str(self.workspace),
            "workspaceFolderBasename": self.workspace.name,
            "userHome": str(self.home),
            "pathSeparator": os.sep,
            "/": os.sep,
        }
        return places.get(expression)

    def _prefixed(self, expression: str, known: tuple[str, ...]) -> str | None:
        kind, colon, name = expression.partition(":")
        if not colon or kind not in known:
            return None
        match kind:
            case "env":
                return self._variable(name)
            case "file":
                return self._file(name)
            case "keyring":
                return self._keyring(name)
            case "input":
                return self._input(name)
            case _:
                raise ConfigError(
                    f"{self._where()} refers to ${{{printable(expression)}}}, which only VS Code can look up",
                    hint="Write the value, or ${env:NAME}, in its place.",
                )

    def _taken(self, reference: Reference, read: Callable[[], str]) -> str:
        """Return the value of a reference that may be followed."""
        if self.allowed is not None and reference not in self.allowed:
            raise ConfigError(f"{self._where()} refers to {printable(reference.name)}, which you did not allow")
        return read()

    def _variable(self, name: str, default: str | None = None) -> str:
        value = self.environ.get(name)
        if value is None:
            return self._unset(name) if default is None else default
        return self._taken(Reference("variable", name), lambda: self._read_variable(name, value))

    def _read_variable(self, name: str, value: str) -> str:
        self.secrets += secret_values.in_variable(name, value)
        return value

    def _unset(self, name: str) -> str:
        safe_name = printable(name)
        raise ValueMissing(
            f"{self._where()} needs the environment variable {safe_name}, which is not set",
            variable=name,
            hint=f"Set it before starting inspector: {command_words.set_variable(safe_name)}",
        )

    def own_variable(self, name: str, *, secret: bool) -> str | None:
        """Return the environment variable `name`; None if it is not set."""
        value = self.environ.get(name)
        if value is None:
            return None
        if secret:
            self.secrets.append(value)
        return self._taken(Reference("variable", name), lambda: value)

    def env_file(self, path: Path) -> dict[str, str]:
        """Return the variables of the `.env` file at `path`. Raises ConfigError if it cannot be read."""
        text = self._taken(file_reference(path), lambda: foreign_files.read_text(path, never=paths.logins_file()))
        variables = env_file(text)
        for name, value in variables.items():
            self.secrets += secret_values.in_variable(name, value)
        return variables

    def _file(self, name: str) -> str:
        path = Path(self.home / name[2:] if name.startswith("~/") else self.path.parent / name)
        return self._taken(file_reference(path), lambda: self._read_file(path))

    def _read_file(self, path: Path) -> str:
        try:
            text = foreign_files.read_text(path, limit=_SECRET_FILE_BYTES, never=paths.logins_file())
            value = text.rstrip("\r\n")
        except ConfigError as error:
            message = f"{self._where()} needs a value from a file, but {error.message}"
            raise ConfigError(message, hint=error.hint) from None
        self.secrets.append(value)
        return value

    def _keyring(self, name: str) -> str:
        from inspector.config.keyrings import names_logins

        service, slash, user = name.rpartition("/")
        service = service if slash else KEYRING_SERVICE
        if names_logins(service, user):
            raise ConfigError(
                f"{self._where()} refers to {printable(name)} in the keyring, which is an Inspector login",
                hint="A config file cannot use a stored login, which is only for the server that it was granted for.",
            )
        return self._taken(Reference("keyring", f"{service}/{user}"), lambda: self._read_keyring(name, service, user))

    def _read_keyring(self, name: str, service: str, user: str) -> str:
        from inspector.config.keyrings import KeyringProblem, library

        try:
            with library() as keyring:
                value: str | None = keyring.get_password(service, user)
        except KeyringProblem as problem:
            raise ConfigError(
                (
                    f"{self._where()} needs {printable(name)} from the keyring, which cannot be read: "
                    f"{problem or 'no keyring found'}"
                ),
                hint="Unlock the keyring, or use ${env:NAME} or ${file:PATH} instead.",
            ) from None
        if value is None:
            raise ConfigError(
                f"{self._where()} needs {printable(name)} from the keyring, but the entry does not exist",
                hint=f"Store it: {command_words.join(['keyring', 'set', *map(printable, (service, user))])}",
            )
        self.secrets.append(value)
        return value

    def _input(self, name: str) -> str:
        question = next((known for known in self.inputs if known.id == name), None)
        if question is None:
            raise ConfigError(
                (
                    f"{self._where()} refers to the input {printable(name)}, but the file does not define "
                    "it as a text or a choice"
                ),
                hint="Add it to “inputs”, or use ${env:NAME} instead.",
            )
        answer = self.ask(question)
        if answer is None:
            raise self.unanswered(question)
        return answer

    def ask(self, question: InputQuestion) -> str | None:
        """Return the answer from the environment, the prompt, or the default; each question is asked once."""
        if question.id not in self._answers:
            answer = self.own_variable(question.variable, secret=False)
            if answer is None and self.prompt is not None:
                answer = self.prompt(question)
            if answer is None:
                answer = question.default
            self._answers[question.id] = answer
            if answer and (question.secret or secret_values.looks_secret_setting(question.id)):
                self.secrets.append(answer)
        return self._answers[question.id]

    def unanswered(self, question: InputQuestion) -> ValueMissing:
        """Return the error for a question without an answer."""
        what = f"the input {printable(question.id)}"
        if question.description:
            what += f" ({printable(question.description)})"
        return ValueMissing(
            f"{self._where()} needs {what}, which has no value",
            variable=question.variable,
            hint=f"Set it before starting inspector: export {question.variable}=…",
        )

    def _where(self) -> str:
        return f"@{printable(self.server)} in {self.path}"


@dataclass(slots=True)
class ReferenceSurvey(Expander):
    """Finds the references that an `Expander` would follow, without reading values or asking questions.

    In the result a reference stays as it is. A variable that is not set counts only without a default.
    """

    place: str = ""
    """The text that is being expanded, such as `header X-Key`."""
    uses: dict[tuple[str, Reference], None] = field(default_factory=dict)
    """Each place with its reference, once and in order."""
    lenient: bool = False
    """A missing variable is treated like another reference, not as an error."""

    def _taken(self, reference: Reference, read: Callable[[], str]) -> str:
        self.uses[self.place, reference] = None
        return f"<{reference.name}>"

    def _unset(self, name: str) -> str:
        # A class with slots is created twice, and `super()` without arguments refers to the first.
        return self._taken(Reference("variable", name), str) if self.lenient else Expander._unset(self, name)

    def env_file(self, path: Path) -> dict[str, str]:
        """Does not read the file; it counts as used."""
        self._taken(file_reference(path), str)
        return {}

    def ask(self, question: InputQuestion) -> str | None:
        """Return the default, or a placeholder; an answer from the environment is a reference."""
        self.own_variable(question.variable, secret=False)
        return question.default or f"<{question.id}>"


def file_reference(path: Path) -> Reference:
    """Return the path of the file itself: a link that changes later leads to another file."""
    try:
        return Reference("file", os.path.realpath(path))
    except (OSError, ValueError):
        return Reference("file", str(path))


def questions(raw: Any, server: str = "") -> tuple[InputQuestion, ...]:
    """Return the `inputs` of VS Code's mcp.json; unknown kinds are skipped and so count as undefined."""
    inputs = []
    for item in raw if isinstance(raw, list) else ():
        if not isinstance(item, dict) or not isinstance(item.get("id"), str):
            continue
        if item.get("type", "promptString") not in ("promptString", "pickString"):
            continue
        description, default = item.get("description"), item.get("default")
        inputs.append(
            InputQuestion(
                id=item["id"],
                server=server,
                description=description if isinstance(description, str) else "",
                default=default if isinstance(default, str) else None,
                secret=item.get("password") is True,
                choices=tuple(_choices(item.get("options"))),
            )
        )
    return tuple(inputs)


def _choices(options: Any) -> list[str]:
    listed = options if isinstance(options, list) else []
    values = [item.get("value") if isinstance(item, dict) else item for item in listed]
    return [value for value in values if isinstance(value, str)]


def env_file(text: str) -> dict[str, str]:
    """Parse a `.env` file. Lines that set no variable are skipped, as clients do."""
    return {name: value for _, name, value in dotenv.variables(text) if name}
