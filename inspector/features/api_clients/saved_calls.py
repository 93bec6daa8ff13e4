"""Files of saved calls from the collection of an API client: Postman, Bruno or Insomnia.

Each folder of the collection becomes a flow. A request of MCP is a step; all others are counted. What the collection
says is text: it names nothing of the user's, and starts nothing that it does not call a command. Secrets are not
written: they become variables, and an environment names the process variables that hold them, with a prefix that no
other program's variables have: a collection named “AWS” does not get AWS_SECRET_ACCESS_KEY.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from inspector import command_words
from inspector.addresses import shown_url
from inspector.calls.environments import environment_text
from inspector.calls.templates import inserted_text
from inspector.calls.writing import SCHEMA, create_schema, create_text, flow_text, request_step, step_text
from inspector.calls.yaml_text import MAX_SIZE
from inspector.config import secret_values
from inspector.config.jsonc import JsoncError, plain
from inspector.config.output_files import already_exists
from inspector.errors import ConfigError, UsageError
from inspector.features.api_clients import bruno, insomnia, postman
from inspector.features.api_clients.collections import CollectionReader, SavedCollection, SavedRequest, SavedVariable
from inspector.formats.format import CallsImporter, ImportedCalls
from inspector.hints import Hint, Parameter
from inspector.protocol.jsonrpc import NotJson, parse
from inspector.text import quantity, safe

ENVIRONMENT = "imported"
"""The environment that names the secrets of a collection, and how the variables of the process begin that hold them."""
_COMMENT = "Values that are not written here: each is read from a variable of the process."

_OF_THE_CLIENT = frozenset(
    """
    accept content-type content-length connection host user-agent accept-encoding cache-control mcp-session-id
    mcp-protocol-version mcp-method mcp-name postman-token
    """.split()
)
"""Header fields that the runner writes itself."""
_OF_THE_SESSION = frozenset(
    ("initialize", "server/discover", "notifications/initialized", "notifications/cancelled", "ping")
)
"""Methods of messages that the runner sends itself, or that refer to ids of one session."""
# A string that is not closed reaches to the end, so that each character is read once.
_STRING_OR_TEMPLATE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|\{\{[^{}"]*+\}\}', re.DOTALL)
_TEMPLATE = re.compile(r"\{\{\s*+((?:[^{}\s]++(?:\s++(?=[^{}\s]))?+)*+)\s*+\}\}")
_URL = re.compile(r"https?://", re.IGNORECASE)
_NOT_A_COMMAND = re.compile(r"@|https?://", re.IGNORECASE)
"""How a `server` begins that is the name of a config entry, or a URL."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,99}")
_GENERATORS = {
    "$guid": "$uuid",
    "$randomUUID": "$uuid",
    "$uuid": "$uuid",
    "$timestamp": "$timestamp",
    "$isoTimestamp": "$now",
    "$randomInt": "$int 0 1000",
}
"""Dynamic variables of API clients, and ours."""
CLIENTS = {"postman": postman.READER, "bruno": bruno.READER, "insomnia": insomnia.READER}
"""The readers by the word for `--from`."""
_NESTED = 8
"""Variables in the values of variables, one inside the other."""
MAX_INSERTED = 8 << 20
"""Characters that variables may add to the values of variables."""


def recognised_client(path: Path) -> str | None:
    """Return the API client whose collection a file or folder is, or None. Raises `UsageError` if it cannot be read."""
    if not path.is_dir() and path.suffix not in (".json", ".yaml", ".yml"):
        return None
    if not path.exists():
        return None
    return next((name for name, reader in CLIENTS.items() if _fits(reader, path)), None)


def _fits(reader: CollectionReader, path: Path) -> bool:
    try:
        return reader.fits(path)
    except UsageError:
        if path.suffix != ".json":
            raise  # No other reader reads YAML.
        return False


def import_calls(path: Path, folder: Path, format: str) -> ImportedCalls:
    """Write flows and environments into `folder`. Raises `UsageError`, and writes nothing, where one of them exists."""
    if format not in CLIENTS:
        raise UsageError(f"Unknown format “{safe(format, 40)}”.", hint=f"Formats are {', '.join(CLIENTS)}.")
    if not path.exists():
        raise UsageError(f"{path} does not exist.", hint="Name a file or a folder.")
    maker = _FlowBuilder(CLIENTS[format].read(path))
    texts = maker.texts()
    if not maker.steps:
        raise UsageError(
            f"{path} has no MCP request" + (f": {maker.left_out()}." if maker.left_out() else "."),
            hint=Hint(
                "It was read as ", format, "; ", Parameter.IMPORT_FORMAT.to("FORMAT"), " chooses another reader."
            ),
        )
    files = {folder / name: text for name, text in texts.items()}
    for file, content in files.items():
        if file.exists() or file.is_symlink():
            raise already_exists(file)
        if len(content.encode()) > MAX_SIZE:
            raise UsageError(f"{file} would be larger than 1 MiB.", hint="Split the folder of the collection.")
    for file, content in files.items():
        create_text(file, content)
    create_schema(folder)
    return ImportedCalls(format, list(files), maker.flows, maker.steps, maker.notes())


class _FlowBuilder:
    """The flows of one collection."""

    def __init__(self, saved: SavedCollection) -> None:
        self._saved = saved
        self._others: Counter[str] = Counter(saved.others)
        self._secrets: dict[str, str] = {}
        """By value, the variable of a secret that stood in a request."""
        self._used: set[str] = set()
        """Variables that steps use."""
        self._as_json: set[str] = set()
        """Variables that stood in a message outside of a string: their values are JSON."""
        self._missing: set[str] = set()
        """Variables that steps use and nothing in the collection defines."""
        self._references: dict[str, list[str]] = {}
        """By variable that is a secret, the environments that say where it is read."""
        self._servers: dict[str, dict[str, None]] = {}
        """By variable, the servers that get it."""
        self._commands: dict[str, None] = {}
        self._with_authorization = 0
        self._inserted = 0
        self.flows = self.steps = 0
        self._variables = self._own(saved.variables)
        self._environments = {
            name: self._own(values, saved.variables | values) for name, values in saved.environments.items()
        }

    def _own(
        self, values: dict[str, SavedVariable], around: dict[str, SavedVariable] | None = None
    ) -> dict[str, SavedVariable]:
        """Variables by their names here, with the variables in their values inserted."""
        around = values if around is None else around
        return {self._name(name): self._expanded(variable, around) for name, variable in values.items()}

    def texts(self) -> dict[str, str]:
        """Return the content of each file by its name in the folder."""
        groups: dict[tuple[tuple[str, ...], str], list[dict[str, Any]]] = {}
        for request in self._saved.requests:
            step = self._step(request)
            server = self._server(request) if step is not None else None
            if step is not None and server is not None:
                groups.setdefault((request.folders, server), []).append(step)
        texts: dict[str, str] = {}
        for (folders, server), steps in groups.items():
            name = " / ".join(folders) or self._saved.name
            used = _names_in([server, steps])
            defaults = {
                key: self._typed(key, variable.value)
                for key, variable in self._variables.items()
                if key in used and not self._is_secret(key, variable)
            }
            path = "/".join(map(_slug, folders)) or _slug(self._saved.name)
            # The folder of environments is not one for flows.
            file = _free(f"{path.replace('/', '-')}" if path.startswith("env/") else path, texts)
            try:
                schema = f"{'../' * file.count('/') or './'}{SCHEMA}"
                texts[file] = flow_text(safe(name, 200), server or None, steps, vars=defaults, schema=schema)
            except ConfigError:
                self._others["unwritable request"] += len(steps)
                continue
            self._used |= used
            for name in used:
                self._servers.setdefault(name, {}).update(dict.fromkeys(self._expansions(server)))
            self.flows += 1
            self.steps += len(steps)
        return texts | self._environment_texts(texts)

    def _environment_texts(self, flows: dict[str, str]) -> dict[str, str]:
        secret = {key for key, variable in self._variables.items() if self._is_secret(key, variable)}
        secret |= set(self._secrets.values())
        named = {key for values in self._environments.values() for key in values}
        self._missing = self._used - set(self._variables) - named - secret
        own = f"env/{ENVIRONMENT}.yaml"
        files = {own: dict.fromkeys(sorted(self._used & secret), SavedVariable("", True))}
        for name, values in self._environments.items():
            files[_free(f"env/{_slug(name)}", {*flows, *files})] = values
        texts: dict[str, str] = {}
        for file, values in files.items():
            secrets = {key for key, variable in values.items() if self._is_secret(key, variable)}
            written = {
                key: f"env:{self._process_variable(key)}" if key in secrets else self._typed(key, variable.value)
                for key, variable in values.items()
            }
            if not written:
                continue
            try:
                texts[file] = environment_text(written, secrets, comment=_COMMENT if file == own else "")
            except ConfigError:
                self._others["unwritable environment"] += 1
                continue
            for key in secrets & self._used:
                self._references.setdefault(key, []).append(Path(file).stem)
        return texts

    def _process_variable(self, name: str) -> str:
        """Return the variable of the process that holds a secret."""
        parts = (ENVIRONMENT.upper(), _variable(self._saved.name), _variable(name) or "SECRET")
        return "_".join(filter(None, parts))

    def left_out(self) -> str:
        """Return the kinds of things that are not in the flows, with counts."""
        return ", ".join(quantity(count, kind) for kind, count in self._others.items() if count)

    def notes(self) -> list[str]:
        """Return sentences about what is not in the flows, and what to do."""
        notes = list(dict.fromkeys(self._saved.notes))
        if self.left_out():
            notes.append(f"Left out: {self.left_out()}.")
        if self._with_authorization:
            notes.append(
                f"{quantity(self._with_authorization, 'step')} with an Authorization header. It is sent with the step "
                "only: add --header for the whole connection."
            )
        if self._commands:
            notes.append(f"Commands that a run starts: {'; '.join(self._commands)}.")
        notes += self._secret_notes()
        if self._missing:
            notes.append(
                f"Variables without a value: {', '.join(sorted(self._missing))}. Give them with --set, or in an "
                "environment."
            )
        nested = sorted(
            key for key, variable in self._variables.items() if key in self._used and _names_in(variable.value)
        )
        if nested:
            notes.append(f"Variables with variables in their values, to be set by hand: {', '.join(nested)}.")
        return notes

    def _secret_notes(self) -> Iterator[str]:
        """Say which variables of the process hold secrets, which servers get them, and which are set already."""
        groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
        for name, named_in in sorted(self._references.items()):
            servers = tuple(self._servers.get(name, ()))
            groups.setdefault((tuple(named_in), servers), []).append(self._process_variable(name))
        for (environments, servers), names in groups.items():
            options = " or ".join(f"--environment {name}" for name in environments)
            yield (
                f"Secrets are not written: set {', '.join(names)}. A run with {options} sends them to "
                f"{', '.join(servers) or 'its server'}."
            )
            for name in names:
                if os.environ.get(name):
                    yield f"{name} is set already: its value would be sent to {', '.join(servers) or 'the server'}."

    # One request

    def _server(self, request: SavedRequest) -> str | None:
        """Return the `server` of a request, empty without one; None where a run would take it for something else."""
        server = self._without_secrets(request.server.strip(), secret_values.in_url, secret_values.in_arguments)
        text = self._templates(server)
        begins = list(self._beginnings(text)) if text else []
        if request.is_command:
            if any(map(_NOT_A_COMMAND.match, begins)):
                self._others["unusable command"] += 1
                return None
            self._commands.update(dict.fromkeys(self._expansions(text)))
            return text
        if all(map(_URL.match, begins)):
            return text
        if any(map(_URL.match, begins)):
            self._others["unusable URL"] += 1
            return None
        return f"http://{text}"  # As these clients read it.

    def _beginnings(self, text: str) -> Iterator[str]:
        """Yield how a text may begin: with each value that the collection gives to a variable at its start."""
        match = _TEMPLATE.match(text)
        if match is None:
            yield text
            return
        rest = text[match.end() :].partition("{{")[0]
        for values in (self._variables, *self._environments.values()):
            variable = values.get(match[1])
            if variable is not None and not self._is_secret(match[1], variable):
                yield f"{inserted_text(self._typed(match[1], variable.value))}{rest}"

    def _expansions(self, text: str) -> list[str]:
        """Return a text with the collection's values, without secrets: one for each environment that changes it."""

        def expanded(values: dict[str, SavedVariable]) -> str:
            return _TEMPLATE.sub(
                lambda match: (
                    inserted_text(values[match[1]].value)
                    if match[1] in values and not self._is_secret(match[1], values[match[1]])
                    else match[0]
                ),
                text,
            )

        layers = [self._variables | values for values in self._environments.values()]
        return list(dict.fromkeys(shown_url(expanded(values), 200) for values in layers or [self._variables]))

    def _step(self, request: SavedRequest) -> dict[str, Any] | None:
        message = self._message(request)
        if message is None:
            return None
        method, params = message["method"], message.get("params")
        if method in _OF_THE_SESSION:
            self._others["session message"] += 1
            return None
        params = params if isinstance(params, dict) else {}
        params = self._written({key: value for key, value in params.items() if key != "_meta"})
        notification = "id" not in message and not request.is_mcp and method.startswith("notifications/")
        method = self._templates(method)
        step = {"notify": method} | ({"params": params} if params else {}) if notification else None
        step = step or request_step(method, params)
        name = safe(request.name, 200).strip()
        verb = next(iter(step.values()))
        named = {"name": name} if name and name != verb else {}
        headers = self._headers(request)
        step = named | step | ({"headers": headers} if headers else {})
        try:
            step_text(step)
        except ConfigError:
            self._others["unwritable request"] += 1
            return None
        return step

    def _message(self, request: SavedRequest) -> dict[str, Any] | None:
        """Return the message of a request of MCP; None of any other, which is counted."""
        try:
            # API clients send the body of a JSON request without its comments and trailing commas.
            quoted = _STRING_OR_TEMPLATE.sub(self._quote, plain(request.message))
            message = parse(quoted.encode("utf-8", "surrogatepass")) if quoted.strip() else None
        except (JsoncError, NotJson):
            message = None
        is_rpc = isinstance(message, dict) and (request.is_mcp or message.get("jsonrpc") == "2.0")
        if not isinstance(message, dict) or not is_rpc or not isinstance(message.get("method"), str):
            self._others["empty MCP request" if request.is_mcp else "non-MCP request"] += 1
            return None
        return message if message["method"] else None

    def _quote(self, match: re.Match[str]) -> str:
        """A template that stands for a JSON value becomes a string that is only this template."""
        if match[0].startswith('"'):
            return match[0]
        self._as_json |= {self._name(name) for name in _TEMPLATE.findall(match[0])}
        return json.dumps(match[0])

    def _headers(self, request: SavedRequest) -> dict[str, str]:
        made: dict[str, str] = {}
        for name, value in request.headers:
            if name.lower() in _OF_THE_CLIENT or not name:
                continue
            for secret in secret_values.in_headers([(name, value)]) if "{{" not in value else ():
                value = value.replace(secret, "{{" + self._secret(secret, name) + "}}")
            made[name] = self._templates(value)
        self._with_authorization += any(name.lower() == "authorization" for name in made)
        return made

    def _written(self, value: Any, key: str = "") -> Any:
        """Return a value as a flow has it: secrets and dynamic variables are variables of ours."""
        if isinstance(value, str):
            if key and value and "{{" not in value and key != "name":
                for secret in _secrets_in(key, value):
                    value = value.replace(secret, "{{" + self._secret(secret, key) + "}}")
            return self._templates(value)
        if isinstance(value, list):
            return [self._written(item, key) for item in value]
        if isinstance(value, dict):
            return {name: self._written(item, name) for name, item in value.items()}
        return value

    def _without_secrets(self, text: str, *finders: Callable[[Any], list[str]]) -> str:
        in_url, in_arguments = finders
        try:
            secrets = in_url(text) if "://" in text else in_arguments(command_words.split(text))
        except ValueError:
            secrets = []
        for secret in secret_values.unique(secrets):
            if "{{" not in secret:
                text = text.replace(secret, "{{" + self._secret(secret, "server_secret") + "}}")
        return text

    def _secret(self, value: str, wish: str) -> str:
        """Return the variable of a secret that stood in the file."""
        if value not in self._secrets:
            name, number = self._name(wish).lower(), 2
            free = name
            while free in self._secrets.values() or free in self._variables:
                free = f"{name}_{number}"
                number += 1
            self._secrets[value] = free
        return self._secrets[value]

    # Variables

    def _templates(self, text: str) -> str:
        """Return a text whose `{{…}}` are variables of ours; other braces stay as they are."""
        made, at = "", 0
        for match in _TEMPLATE.finditer(text):
            made += text[at : match.start()].replace("{{", "{{{{") + "{{" + self._name(match[1]) + "}}"
            at = match.end()
        return made + text[at:].replace("{{", "{{{{")

    def _name(self, name: str) -> str:
        """Return the name of a variable here."""
        name = name.strip().removeprefix("process.env.")
        if name in _GENERATORS:
            return _GENERATORS[name]
        if not _NAME.fullmatch(name):
            name = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:90] or "value"
            name = f"v_{name}" if not _NAME.fullmatch(name) else name
        return name

    def _is_secret(self, name: str, variable: SavedVariable) -> bool:
        value = variable.value
        return variable.secret or (isinstance(value, str) and bool(_secrets_in(name, value)))

    def _expanded(self, variable: SavedVariable, around: dict[str, SavedVariable]) -> SavedVariable:
        """Return a variable whose value has no variables in it, as far as these are known."""
        value, secret = variable
        for _ in range(_NESTED):
            inner = [name.strip() for name in _TEMPLATE.findall(value)] if isinstance(value, str) else []
            known = [name for name in inner if name in around]
            if not known:
                break
            secret = secret or any(self._is_secret(name, around[name]) for name in known)
            self._inserted += sum(len(inserted_text(around[name].value)) for name in known)
            if self._inserted > MAX_INSERTED:
                raise UsageError(
                    f"The variables are larger than {MAX_INSERTED >> 20} MiB, inserted into each other.",
                    hint=f"Remove the variable with “{safe(value, 40)}”.",
                )
            value = _TEMPLATE.sub(
                lambda match: inserted_text(around[match[1]].value) if match[1] in around else match[0], value
            )
        return SavedVariable(value, secret)

    def _typed(self, name: str, value: Any) -> Any:
        """Return the value of a variable; one that stood for a JSON value has the type of that value."""
        if isinstance(value, str) and name in self._as_json:
            try:
                parsed = parse(value.encode("utf-8", "surrogatepass"))
            except NotJson:
                return value
            return parsed if isinstance(parsed, int | float | bool) else value
        if isinstance(value, dict | list):
            return json.dumps(value, ensure_ascii=False)
        return value


def _secrets_in(name: str, value: str) -> tuple[str, ...]:
    """Return the secrets in a value, judged by its name and by known formats of tokens."""
    if not value.strip() or secret_values.MASK in value:
        return ()
    return (value,) if secret_values.looks_secret(name) else secret_values.unique(secret_values.in_arguments([value]))


def _names_in(value: Any) -> set[str]:
    return {name for text in _texts(value) for name in _TEMPLATE.findall(text) if not name.startswith("$")}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value.replace("{{{{", "")
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _variable(name: str) -> str:
    """Return the variable of the process that holds a secret."""
    return re.sub(r"[^A-Z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()).strip("_")


def _slug(name: str) -> str:
    """Return a name of a file: letters, digits and hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60] or "calls"


def _free(stem: str, taken: Collection[str]) -> str:
    name, number = f"{stem}.yaml", 2
    while name in taken:
        name = f"{stem}-{number}.yaml"
        number += 1
    return name


IMPORTER = CallsImporter({name: reader.client for name, reader in CLIENTS.items()}, recognised_client, import_calls)
