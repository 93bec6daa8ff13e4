"""A call as a step that can be written: variables where they hold the values, and no secret."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from inspector import command_words
from inspector.calls.templates import literal
from inspector.calls.writing import server_text
from inspector.client.state.catalog import ListName
from inspector.compare.json_places import ROOT, ValuePath
from inspector.config.secret_values import MASK
from inspector.config.server_memory import without_secrets
from inspector.config.targets import HttpTarget, StdioTarget, Target, demo_target
from inspector.errors import ServerError
from inspector.protocol.forms.values import json_of
from inspector.protocol.result_shape import has_structured
from inspector.text import json_document
from inspector.tui.work.outcome import CallOutcome

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
        """Return the step as it is written; `chosen` are the variables that stand for their values."""
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
    """Return a call with these arguments. `schema` marks secret arguments; `secrets` are values known to be secret.

    `variables` are those of the flow and the environment, with secret values left out; `named` has the variables of
    secret values, and `taken` names that mean other secrets. Texts are written as they were sent: names and schemas
    of a server may look like variables. `templates` has texts of saved steps as they are shown, with what the step has.
    """
    whole = dict(arguments) if isinstance(arguments, Mapping) else {}
    kept = without_secrets(whole, schema, tuple(secrets))
    writer = _Writer(named or {}, set(taken), templates or {})
    draft = Draft(list_name, writer.text(address), writer.value(whole, kept), secrets=writer.names)
    scalars = list(_scalars(draft.arguments)) + ([address] if list_name in ("resources", "templates") else [])
    for name, value in variables.items():
        if (
            isinstance(value, (str, int, float))
            and not isinstance(value, bool)
            and any(_is(scalar, value) for scalar in scalars)
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
        """Return the values that may be written; `{{name}}` for each that may not."""
        if isinstance(whole, Mapping) and isinstance(kept, Mapping):
            return {
                name: self.value(value, kept[name]) if name in kept else self._secret(name, value)
                for name, value in whole.items()
            }
        if isinstance(whole, list) and isinstance(kept, list) and len(whole) == len(kept):
            return [self.value(one, other) for one, other in zip(whole, kept, strict=True)]
        return self.text(kept)

    def text(self, value: Any) -> Any:
        """Return a text that inserts what it inserts in a saved step, else nothing; any other value as it is."""
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


def _is(argument: Any, value: Any) -> bool:
    """Whether a value is that of a variable, or a text that contains it."""
    if isinstance(value, str) and isinstance(argument, str):
        return bool(value) and (argument == value or (len(value) >= SHORT and value in argument))
    return type(argument) is type(value) and bool(argument == value)


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
    """Return a name for a new flow file: that of the tool or prompt, or the end of a URI."""
    stem = _STRANGE.sub("-", address.rstrip("/").rsplit("/", 1)[-1]).strip("-.")[:40] or "calls"
    return f"{stem}.yaml"


def server_of(target: Target) -> str | None:
    """Return how a new flow names the server: `@NAME`, a URL or a command. None where a secret would be written."""
    if _is_demo(target) or (target.name and target.kind != "recording" and getattr(target, "source", "")):
        return server_text(name=target.name)
    if isinstance(target, HttpTarget):
        described = target.describe()
        return None if MASK in described or described != target.url else server_text(url=described)
    if isinstance(target, StdioTarget):
        command = command_words.join(target.command)
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
            words = command_words.split(text)
            # Before 0.3 a saved call named the demo by its command, with the Python of that machine.
            return words == list(target.command) or (_is_demo(target) and words[1:] == ["-m", "inspector.demo"])
    return False


def _is_demo(target: Target) -> bool:
    demo = demo_target()
    return isinstance(target, StdioTarget) and (target.name, target.command) == (demo.name, demo.command)


def secret_note(names: Sequence[str], environment: Path) -> str:
    """Return the sentence that names the secrets which were not written."""
    first = names[0]
    listed = ", ".join(f"{{{{{name}}}}}" for name in names)
    what = "a secret is" if len(names) == 1 else "secrets are"
    example = f"{first}: env:VARIABLE"
    return f"{what[0].upper()}{what[1:]} not written: {listed}. Define it in {environment}, such as {example}."


def value_text(value: Any) -> str:
    """Return a value of a variable on one line."""
    return json_of(value)[:60]


_MAX_DEPTH = 20
"""Levels of a value whose shape is described; what is deeper may be anything."""
_BRANCHES = 5
"""Different shapes of the items of a list that are told apart."""
_SHOWN = 60


class WritableExpectation(NamedTuple):
    """One expectation that can be written. `snapshot` is a file that it needs, beside the flow, with its content."""

    id: str
    about: str
    expect: Mapping[str, Any]
    snapshot: tuple[str, str] | None = None


def choices(outcome: CallOutcome, value: Any, pointer: str | None, address: str) -> list[WritableExpectation]:
    """Return the expectations that a result fulfils. `pointer` is the JSON Pointer of the chosen value, or None."""
    if isinstance(outcome.error, ServerError):
        code = outcome.error.rpc_code
        return [WritableExpectation("same error", f"a JSON-RPC error with code {code}", {"error": code})]
    if not outcome.has_answer or not isinstance(value, dict):
        return []
    at, path = place(value, pointer)
    written = literal(str(path))
    expectations: list[WritableExpectation] = []
    if outcome.is_tool_error:
        expectations.append(WritableExpectation("tool error", "the tool reports an error", {"tool_error": True}))
    literal_text = json.dumps(at, ensure_ascii=False)
    literal_text = literal_text if len(literal_text) <= _SHOWN else f"{literal_text[: _SHOWN - 1]}…"
    allowed = {"tool_error": True} if outcome.is_tool_error else {}
    # An object would be read as an expectation with the names of its members.
    expected = {"exactly": literal(at)} if isinstance(at, dict) else literal(at)
    expectations += [
        WritableExpectation("same value", f"{path} is {literal_text}", {**allowed, "result": {written: expected}}),
        WritableExpectation(
            "same shape",
            f"{path} has the same members and types",
            {**allowed, "result": {written: {"schema": shape_of(at)}}},
        ),
    ]
    name = f"snapshots/{Path(file_name(address)).stem}.json"
    expectations.append(
        WritableExpectation(
            "same as a file",
            f"the whole result is that of {name}",
            {**allowed, "same_as": name},
            (name, json_document(value)),
        )
    )
    return expectations


def place(value: dict[str, Any], pointer: str | None) -> tuple[Any, ValuePath]:
    """Return the chosen place in a result, and its path.

    Without a choice it is the structured result, else the only text, else the whole result.
    """
    if pointer is None:
        if has_structured(value):
            return value["structuredContent"], ROOT / "structuredContent"
        content = value.get("content")
        if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict) and "text" in content[0]:
            return content[0]["text"], ROOT / "content" / 0 / "text"
        return value, ROOT
    at: Any = value
    path = ROOT
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(at, dict) and key in at:
            at, path = at[key], path / key
        elif isinstance(at, list) and key.isdigit() and int(key) < len(at):
            at, path = at[int(key)], path / int(key)
        else:
            break
    return at, path


def shape_of(value: Any, depth: int = 0) -> dict[str, Any]:
    """Return a JSON Schema of a value's members and types. Its objects may have more members, not fewer."""
    if depth >= _MAX_DEPTH:
        return {}
    if isinstance(value, dict):
        properties = {key: shape_of(item, depth + 1) for key, item in value.items()}
        return {"type": "object", "properties": properties, "required": list(value)} if value else {"type": "object"}
    if isinstance(value, list):
        shapes: list[dict[str, Any]] = []
        for item in value:
            shape = shape_of(item, depth + 1)
            if shape not in shapes:
                shapes.append(shape)
            if len(shapes) > _BRANCHES:
                return {"type": "array"}
        if not shapes:
            return {"type": "array"}
        return {"type": "array", "items": shapes[0] if len(shapes) == 1 else {"anyOf": shapes}}
    return {"type": _type_of(value)}


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    return "integer" if isinstance(value, int) else "number"
