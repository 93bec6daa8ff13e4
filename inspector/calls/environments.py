"""Environments of saved calls: files of variables, in which a value is plain, or names the place of a secret.

A text that begins with `env:`, `file:` or `keyring:` names a place. `{text: …}` is a text whatever it begins with, and
`environment_text` writes every value as a text unless it is told that it is a reference: what a foreign file or a
server says never reads anything of the user's.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspector import command_words
from inspector.calls.writing import entry_lines, printable
from inspector.calls.yaml_text import CallsError, LocatedValue, Place, read_yaml
from inspector.config import foreign_files, paths
from inspector.config.client_config_paths import belongs_to_user
from inspector.config.expand import Reference, file_reference
from inspector.errors import ConfigError
from inspector.text import safe

SOURCES = ("env:", "file:", "keyring:")
"""How a text begins that names the place of a secret."""
LITERAL = "text"
"""The key of `{text: …}`."""
NAME_HINT = "A name has letters, digits, _ and -, and begins with a letter or _."
_SECRET_BYTES = 1 << 16
_SHOWN = 80


@dataclass(eq=False)
class Environment:
    """Variables of one environment, as they stand in its file: secrets are named, not read."""

    name: str
    path: Path
    values: dict[str, Any]
    """The plain values by variable."""
    references: dict[str, str]
    """By variable, the place of a secret: `env:NAME`, `file:PATH` or `keyring:SERVICE/USER`."""
    located: LocatedValue
    owned: bool = True
    """Whether the file is the user's own; any other one may be part of a cloned folder."""
    allowed: set[Reference] = field(default_factory=set)
    """What may be read for a file that is not the user's own."""

    @property
    def names(self) -> list[str]:
        """The variables, in the order of the file."""
        return list(self.located.value or ())

    def reference(self, name: str) -> Reference:
        """Return the place of a secret. Raises `CallsError` for a place that no file may name."""
        from inspector.config.keyrings import names_logins

        source, _, rest = self.references[name].partition(":")
        if source == "env":
            return Reference("variable", rest)
        if source == "file":
            return file_reference(self._file(rest))
        service, slash, user = rest.rpartition("/")
        if not slash or not service or not user:
            raise self._error(name, f"“{safe(rest, _SHOWN)}” is not a keyring entry.", "Write keyring:SERVICE/USER.")
        if names_logins(service, user):
            raise self._error(name, "This keyring entry holds logins of Inspector.", "No saved call can use them.")
        return Reference("keyring", f"{service}/{user}")

    def check_set(self, name: str, environ: Mapping[str, str] | None = None) -> None:
        """Raise `CallsError` for a variable of the process that is not set. Reads nothing else."""
        reference = self.reference(name)
        if reference.kind == "variable" and not (os.environ if environ is None else environ).get(reference.name):
            variable = safe(reference.name, _SHOWN)
            raise self._error(name, f"The environment variable {variable} is not set.", f"Set {variable}.")

    def read(self, name: str, environ: Mapping[str, str] | None = None) -> str:
        """Read a secret. Raises `CallsError` where it is not there, and for one that the user did not allow."""
        place = self.reference(name)
        if not self.owned and place not in self.allowed:
            raise self._error(name, f"You did not allow this file to use {safe(place.name, _SHOWN)}.")
        self.check_set(name, environ)
        if place.kind == "variable":
            return (os.environ if environ is None else environ)[place.name]
        rest = self.references[name].partition(":")[2]
        return self._of_file(name, rest) if place.kind == "file" else self._of_keyring(name, rest)

    def _error(self, name: str, problem: str, hint: str = "") -> CallsError:
        return self.located.error((name,), problem, hint=hint)

    def _file(self, text: str) -> Path:
        return paths.home_folder() / text[2:] if text.startswith("~/") else self.path.parent / text

    def _of_file(self, name: str, text: str) -> str:
        try:
            content = foreign_files.read_text(self._file(text), limit=_SECRET_BYTES, never=paths.logins_file())
        except ConfigError as problem:
            raise self._error(name, f"{problem.message}.", str(problem.hint)) from None
        secret = content.rstrip("\r\n")
        if not secret:
            raise self._error(name, f"The file {safe(text, 200)} is empty.")
        return secret

    def _of_keyring(self, name: str, text: str) -> str:
        from inspector.config.keyrings import KeyringProblem, library

        service, _, user = text.rpartition("/")
        try:
            with library() as keyring:
                password: str | None = keyring.get_password(service, user)
        except KeyringProblem as problem:
            raise self._error(
                name,
                f"The keyring cannot be read: {problem or 'there is none'}.",
                "Unlock it, or use env:NAME or file:PATH.",
            ) from None
        if not password:
            raise self._error(
                name,
                f"The keyring has no entry {safe(text, _SHOWN)}.",
                f"Store it: {command_words.join(['keyring', 'set', safe(service, _SHOWN), safe(user, _SHOWN)])}",
            )
        return password


def read_environment(path: Path) -> Environment:
    """Read one environment: a flat map of names and values. Raises `CallsError`."""
    located = read_yaml(path)
    members = {} if located.value is None else located.value
    if not isinstance(members, dict):
        raise located.error((), "An environment is a map of names and values.", hint="Write NAME: VALUE on each line.")
    values: dict[str, Any] = {}
    references: dict[str, str] = {}
    for name, value in members.items():
        check_name(located, (name,), name)
        if isinstance(value, dict) and list(value) == [LITERAL] and isinstance(value[LITERAL], str):
            values[name] = value[LITERAL]
        elif isinstance(value, (dict, list)):
            raise located.error(
                (name,),
                f"The value of “{safe(name, _SHOWN)}” is not a string, number, true or false.",
                hint="Write one value, {text: …} for a text that begins like a reference, or “vars” in the saved call.",
            )
        elif _names_a_place(value):
            references[name] = value
        else:
            values[name] = value
    owned = belongs_to_user(path, Path.cwd(), paths.home_folder())
    return Environment(path.stem, path, values, references, located, owned)


def check_name(located: LocatedValue, place: Place, name: str) -> None:
    """Raise `CallsError` for a key that is not the name of a variable."""
    import re

    from inspector.calls import models

    if not re.fullmatch(models.NAME, name):
        raise located.error(place, f"“{safe(name, _SHOWN)}” is not a variable name.", key=True, hint=NAME_HINT)


def in_effect(
    environments: Sequence[Environment], given: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Environment]]:
    """Return the plain values by variable, and the environment by variable that names a secret.

    Later environments win, and `given` values (`--set`) over all of them.
    """
    values: dict[str, Any] = {}
    secret: dict[str, Environment] = {}
    for environment in environments:
        for name in environment.names:
            values.pop(name, None)
            secret.pop(name, None)
            if name in environment.references:
                secret[name] = environment
            else:
                values[name] = environment.values[name]
    return values | dict(given), {name: environment for name, environment in secret.items() if name not in given}


def environment_text(values: Mapping[str, Any], references: Collection[str] = (), *, comment: str = "") -> str:
    """Return the text of an environment file: a line for each variable.

    A value is written as it is, in any form; only those of the variables in `references` name places.
    """
    text = [f"# {printable(line)}".rstrip() for line in comment.splitlines()]
    for key, value in values.items():
        is_literal = key not in references and _names_a_place(value)
        text += entry_lines(key, {LITERAL: value} if is_literal else value)
    return "\n".join(text or ["{}"]) + "\n"


def environment_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of an environment."""
    from inspector.calls import models

    literal = {
        "type": "object",
        "properties": {LITERAL: {"type": "string", "description": "A text, whatever it begins with."}},
        "required": [LITERAL],
        "additionalProperties": False,
    }
    plain = {
        "type": ["string", "number", "boolean", "null"],
        "description": "A value. A text that begins with env:, file: or keyring: names the place of a secret.",
    }
    return {
        "$schema": models.SCHEMA_ID,
        "title": "Environment of Inspector's saved calls",
        "type": "object",
        "propertyNames": {"pattern": models.NAME},
        "additionalProperties": {"anyOf": [plain, literal]},
    }


def _names_a_place(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(SOURCES)
