"""A call as a step that can be written: variables where they hold the values, and no secret."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspector.calls.templates import literal
from inspector.calls.writing import server_text
from inspector.client.state.catalog import ListName
from inspector.config.secret_values import MASK
from inspector.config.server_memory import without_secrets
from inspector.config.targets import HttpTarget, StdioTarget, Target
from inspector.protocol.forms.values import json_of

SHORT = 3
"""Characters of a text from which on a variable with this value is likely to mean it."""
_STRANGE = re.compile(r"[^\w.-]+")
_VARIABLE = re.compile(r"\W+")
_ACTIONS: dict[ListName, str] = {"tools": "call", "resources": "read", "templates": "read", "prompts": "prompt"}


@dataclass(frozen=True)
class OfferedVariable:
    """A variable that holds a value of the arguments: `{{name}}` can be written instead of the value."""

    name: str
    value: Any
    likely: bool
    """The value is long enough to be the same for a reason."""


@dataclass
class Draft:
    """A call that is about to be saved, as a flow has it. `secrets` are the names that stand for secret values."""

    list_name: ListName
    address: str
    arguments: dict[str, Any]
    name: str = ""
    expect: Mapping[str, Any] | None = None
    secrets: list[str] = field(default_factory=list)
    offers: list[OfferedVariable] = field(default_factory=list)

    def step(self, name: str, chosen: Iterable[str] = ()) -> dict[str, Any]:
        """The step as it is written; `chosen` are the variables that stand for their values."""
        values = {offer.name: offer.value for offer in self.offers if offer.name in set(chosen)}
        action = _ACTIONS[self.list_name]
        step: dict[str, Any] = {"name": name} if name and name != self.address else {}
        step[action] = _with_variables(self.address, values) if action == "read" else self.address
        if self.arguments:
            step["args"] = _with_variables(self.arguments, values)
        if self.expect:
            step["expect"] = dict(self.expect)
        return step


def draft_of(
    list_name: ListName,
    address: str,
    arguments: Any,
    schema: Any,
    variables: Mapping[str, Any],
    secrets: Sequence[str] = (),
    *,
    named: Mapping[str, str] | None = None,
    taken: Collection[str] = (),
    templates: Mapping[str, str] | None = None,
) -> Draft:
    """A call with these arguments. `schema` marks secret arguments; `secrets` are values known to be secret.

    `variables` are those of the flow and the environment, with secret values left out; `named` has the variables of
    secret values, and `taken` names that mean other secrets. Texts are written as they were sent: names and schemas
    of a server may look like variables. `templates` has texts of saved steps as they are shown, with what the step has.
    """
    whole = dict(arguments) if isinstance(arguments, Mapping) else {}
    kept = without_secrets(whole, schema, tuple(secrets))
    writer = _Writer(named or {}, set(taken), templates or {})
    draft = Draft(list_name, writer.text(address), writer.value(whole, kept), secrets=writer.names)
    found = list(_scalars(draft.arguments)) + ([address] if list_name in ("resources", "templates") else [])
    for name, value in variables.items():
        if (
            isinstance(value, (str, int, float))
            and not isinstance(value, bool)
            and any(_is(each, value) for each in found)
        ):
            draft.offers.append(OfferedVariable(name, value, isinstance(value, str) and len(value) >= SHORT))
    return draft


class _Writer:
    """Writes what was sent as a flow has it."""

    def __init__(self, named: Mapping[str, str], taken: set[str], templates: Mapping[str, str]) -> None:
        self.names: list[str] = []
        """The variables of secrets that no environment defines."""
        self._named = named
        self._taken = taken
        self._templates = templates

    def value(self, whole: Any, kept: Any) -> Any:
        """The values that may be written; `{{name}}` for each that may not."""
        if isinstance(whole, Mapping) and isinstance(kept, Mapping):
            return {
                name: self.value(value, kept[name]) if name in kept else self._secret(name, value)
                for name, value in whole.items()
            }
        if isinstance(whole, list) and isinstance(kept, list) and len(whole) == len(kept):
            return [self.value(one, other) for one, other in zip(whole, kept, strict=True)]
        return self.text(kept)

    def text(self, value: Any) -> Any:
        """A text that inserts what it inserts in a saved step, else nothing; any other value as it is."""
        return self._templates.get(value, literal(value)) if isinstance(value, str) else value

    def _secret(self, member: str, value: Any) -> str:
        name = self._named.get(value) if isinstance(value, str) else None
        if name is None:
            wish = _VARIABLE.sub("_", member).strip("_") or "secret"
            name, number = wish, 2
            while name in self._taken:
                name, number = f"{wish}_{number}", number + 1
            self.names.append(name)
        return f"{{{{{name}}}}}"


def _mapped(value: Any, change: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: change(item) for key, item in value.items()}
    return [change(item) for item in value] if isinstance(value, list) else value


def _scalars(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _scalars(item)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    else:
        yield value


def _is(found: Any, value: Any) -> bool:
    """Whether a value is that of a variable, or a text that contains it."""
    if isinstance(value, str) and isinstance(found, str):
        return bool(value) and (found == value or (len(value) >= SHORT and value in found))
    return type(found) is type(value) and bool(found == value)


def _with_variables(value: Any, variables: Mapping[str, Any]) -> Any:
    if isinstance(value, (Mapping, list)):
        return _mapped(value, lambda item: _with_variables(item, variables))
    for name, held in variables.items():
        if type(value) is type(held) and value == held:
            return f"{{{{{name}}}}}"
    if isinstance(value, str):
        for name, held in variables.items():
            if isinstance(held, str) and len(held) >= SHORT and held in value:
                value = value.replace(held, f"{{{{{name}}}}}")
    return value


def file_name(address: str) -> str:
    """A name for a new flow file: that of the tool or prompt, or the end of a URI."""
    stem = _STRANGE.sub("-", address.rstrip("/").rsplit("/", 1)[-1]).strip("-.")[:40] or "calls"
    return f"{stem}.yaml"


def server_of(target: Target) -> str | None:
    """How a new flow names the server: `@NAME`, a URL or a command; None where a secret would be written."""
    if target.name and target.kind != "recording" and getattr(target, "source", ""):
        return server_text(name=target.name)
    if isinstance(target, HttpTarget):
        shown = target.describe()
        return None if MASK in shown or shown != target.url else server_text(url=shown)
    if isinstance(target, StdioTarget):
        command = shlex.join(target.command)
        hidden = MASK in target.describe() or any(secret and secret in command for secret in target.secrets)
        return None if hidden else server_text(command=target.command)
    return None


def names_server(text: str, target: Target) -> bool:
    """Whether the `server` of a flow is the name, the URL or the command of this target."""
    if text in (server_of(target), f"@{target.name}" if target.name else "", target.label):
        return True
    if isinstance(target, HttpTarget):
        return text.rstrip("/") == target.url.rstrip("/")
    if isinstance(target, StdioTarget):
        with suppress(ValueError):
            return tuple(shlex.split(text)) == tuple(target.command)
    return False


def secret_note(names: Sequence[str], environment: Path) -> str:
    """Return the sentence that names the secrets which were not written."""
    first = names[0]
    listed = ", ".join(f"{{{{{name}}}}}" for name in names)
    what = "a secret is" if len(names) == 1 else "secrets are"
    example = f"{first}: env:VARIABLE"
    return f"{what[0].upper()}{what[1:]} not written: {listed}. Define it in {environment}, such as {example}."


def value_text(value: Any) -> str:
    """A value of a variable on one line."""
    return json_of(value)[:60]
