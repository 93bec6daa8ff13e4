"""Stored data of a server between sessions: past calls, drafts, views, roots, and the last opening.

One small JSON file per server in the state folder, named by the hash of the target. Secrets are never written: neither
values of the target, nor what a tool's schema marks as a password, nor what is named like a secret. A damaged file
counts as empty, because stored data is a convenience and never a reason to fail.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from inspector.config import foreign_files, jsonc, paths, secret_values
from inspector.config.secret_forms import SecretFinder
from inspector.config.targets import HttpTarget, RecordingTarget, StdioTarget, Target
from inspector.errors import AuthorizationNeeded, ConfigError, InspectorError

if TYPE_CHECKING:
    from inspector.config.servers import ServerEntry

CALLS_PER_TOOL = 20
TOOLS_PER_SERVER = 300
CALL_CHARACTERS = 32 * 1024
"""Characters of JSON above which the arguments of a call are not stored."""

_VIEW_NAME = 40
_OUTCOME = 40
DRAFTS_PER_SERVER = 50
"""Drafts that are kept, the newest ones."""

_FILE_BYTES = 1024 * 1024
_DEPTH = 40
_SCHEMAS_LOOKED_AT = 200_000
_MAX_PATTERNS = 20
_WORDS_LOOKED_AT = 64
_SECRET: Any = object()


class StoredCall(NamedTuple):
    """A stored call of a tool: `when` in seconds since the epoch, `arguments` without secrets.

    `outcome` is a word or two, such as `cancelled` or `12 ms`; empty if it was stored without.
    """

    when: float
    arguments: Mapping[str, Any]
    ok: bool
    outcome: str = ""


class LastOpen(NamedTuple):
    """The result of the last opening of a server.

    `note` is one line, such as why it failed, `code` the error's.
    """

    when: float
    ok: bool
    note: str = ""
    code: str = ""

    @property
    def needs_login(self) -> bool:
        """Whether it failed because a login is missing."""
        return not self.ok and self.code == AuthorizationNeeded.code

    def describe(self, now: float | None = None) -> str:
        """The state in a few words: `connected 2 h ago`, `failed: command not found`, `not logged in`."""
        if self.ok:
            return f"connected {_ago((time.time() if now is None else now) - self.when)}"
        if self.needs_login:
            return "not logged in"
        return f"failed: {self.note.rstrip('.')}" if self.note else "failed"


class ServerMemory:
    """The stored data of one server. Reading never raises; writing returns whether it succeeded."""

    def __init__(self, subject: Target | ServerEntry, folder: Path | None = None) -> None:
        """`folder` has the files of all servers; by default it is in the state folder.

        A ServerEntry, whose secrets are not known yet, is enough to read; calls are stored with its Target.
        """
        self._folder = paths.state_folder() / "memory" if folder is None else folder
        self._path = self._folder / f"{identity(subject)}.json"
        self._secrets = subject.secrets if isinstance(subject, (StdioTarget, HttpTarget)) else ()

    def last_open(self) -> LastOpen | None:
        """The result of the last opening of this server; None if there was none."""
        opened = _object(self._read().get("opened"))
        when, ok, note, code = (opened.get(key) for key in ("when", "ok", "note", "code"))
        if not _is_time(when) or not isinstance(ok, bool):
            return None
        return LastOpen(float(when), ok, note if isinstance(note, str) else "", code if isinstance(code, str) else "")

    def past_calls(self, tool: str) -> list[StoredCall]:
        """The stored calls of `tool`, newest first."""
        calls = _object(self._read().get("tools")).get(tool)
        return [call for item in reversed(calls) if (call := _call(item))] if isinstance(calls, list) else []

    def view(self, tool: str) -> str:
        """The view for results of `tool`; `""` for the default of each result."""
        view = _object(self._read().get("views")).get(tool)
        return view if isinstance(view, str) and len(view) <= _VIEW_NAME else ""

    def remember_view(self, tool: str, view: str) -> bool:
        """Store the view for results of `tool`; `""` removes it."""

        def set_view(data: dict[str, Any]) -> None:
            views = _object(data.get("views"))
            views.pop(tool, None)
            if view:
                views[tool] = view[:_VIEW_NAME]
            data["views"] = dict(list(views.items())[-TOOLS_PER_SERVER:])

        return self._change(set_view)

    def tools_by_cost(self) -> bool:
        """Whether the tools are listed by their cost."""
        return self._read().get("tools_by_cost") is True

    def remember_tools_by_cost(self, by_cost: bool) -> bool:
        """List the tools by their cost from now on, or in the server's order."""
        return self._put("tools_by_cost", by_cost or None)

    def draft(self, tool: str) -> Mapping[str, Any] | None:
        """The unsent arguments of `tool`; None if there are none."""
        draft = _object(self._read().get("drafts")).get(tool)
        return draft if isinstance(draft, dict) else None

    def roots(self) -> tuple[str, ...] | None:
        """The URIs that answer every request for roots; None: ask the user."""
        roots = self._read().get("roots")
        if not isinstance(roots, list) or not all(isinstance(uri, str) for uri in roots):
            return None
        return tuple(roots)

    def remember_roots(self, uris: tuple[str, ...] | None) -> bool:
        """Answer every request of this server for roots with these URIs from now on; None: ask again."""
        return self._put("roots", None if uris is None else list(uris))

    def remember_drafts(self, drafts: Mapping[str, tuple[Mapping[str, Any], Any]]) -> bool:
        """Store unsent arguments by tool, without secrets: each with the tool's inputSchema.

        Empty arguments remove the draft of a tool.
        """
        kept = {
            tool: without_secrets(arguments, schema, self._secrets) if _fits(arguments) else {}
            for tool, (arguments, schema) in drafts.items()
        }

        def put(data: dict[str, Any]) -> None:
            before = _object(data.get("drafts"))
            rest = {tool: draft for tool, draft in before.items() if tool not in kept}
            merged = {**rest, **{tool: draft for tool, draft in kept.items() if draft}}
            data["drafts"] = dict(list(merged.items())[-DRAFTS_PER_SERVER:])

        return self._change(put)

    def remember_outcome(self, error: InspectorError | None) -> bool:
        """Store that the server was opened, or the `error` that it failed with."""
        if error is None:
            return self.remember_open(True)
        return self.remember_open(False, error.message, code=error.code)

    def remember_open(self, ok: bool, note: str = "", *, code: str = "", when: float | None = None) -> bool:
        """Store the result of opening."""
        safe_note = foreign_files.printable(secret_values.mask(note[:2000], self._secrets), 300)
        return self._put("opened", {"when": _now(when), "ok": ok, "note": safe_note, "code": code[:40]})

    def remember_call(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        ok: bool,
        outcome: str = "",
        schema: Any = None,
        when: float | None = None,
    ) -> bool:
        """Store a call with its `arguments`, without secrets by `schema` (the tool's inputSchema), name or value.

        The same arguments are stored once, as the newest; of each tool the last 20 calls stay. Its draft is removed.
        """
        if not _fits(arguments):
            return False
        kept = without_secrets(arguments, schema, self._secrets)
        same = json.dumps(kept, sort_keys=True)

        def add(data: dict[str, Any]) -> None:
            _object(data.get("drafts")).pop(tool, None)
            tools = _object(data.get("tools"))
            before = tools.pop(tool, None)
            calls = [call for call in before if _canonical(call) != same] if isinstance(before, list) else []
            optional = {"outcome": outcome[:_OUTCOME]} if outcome else {}
            calls.append({"when": _now(when), "arguments": kept, "ok": ok, **optional})
            tools[tool] = calls[-CALLS_PER_TOOL:]
            # Insertion order is age: the tools with the oldest calls are dropped.
            data["tools"] = dict(list(tools.items())[-TOOLS_PER_SERVER:])

        return self._change(add)

    def forget(self) -> bool:
        """Delete all stored data of this server."""
        try:
            self._path.unlink(missing_ok=True)
        except OSError:
            return False
        return True

    def _read(self) -> dict[str, Any]:
        try:
            data = jsonc.parse(foreign_files.read_text(self._path, limit=_FILE_BYTES))
        except (ConfigError, jsonc.JsoncError):
            return {}
        return _object(data)

    def _put(self, key: str, value: Any) -> bool:
        """Store a value; None removes it."""
        return self._change(lambda data: data.pop(key, None) if value is None else data.update({key: value}))

    def _change(self, change: Callable[[dict[str, Any]], object]) -> bool:
        with paths.alone(self._folder):
            # Read the file each time: another window may have changed it.
            data = self._read()
            change(data)
            return self._write(data)

    def _write(self, data: dict[str, Any]) -> bool:
        try:
            content = json.dumps(data, allow_nan=False).encode("ascii")
            if len(content) > _FILE_BYTES:
                data.pop("drafts", None)
                content = json.dumps(data, allow_nan=False).encode("ascii")
            while len(content) > _FILE_BYTES and data.get("tools"):
                # Drop the older half; after enough of these steps the size is below the bound.
                data["tools"] = dict(list(data["tools"].items())[len(data["tools"]) // 2 + 1 :])
                content = json.dumps(data, allow_nan=False).encode("ascii")
            paths.private_folder(self._folder)
            paths.write_private(self._path, content)
        except (OSError, ConfigError, ValueError, TypeError, RecursionError):
            return False
        return True


def identity(subject: Target | ServerEntry) -> str:
    """Return a file name for `subject`: the same for the same server, even if its secrets change.

    A server of a config file is identified by its name in that file, so that its data survives a changed argument. A
    command is identified together with its folder only if it names something in it.
    """
    if isinstance(subject, RecordingTarget):
        parts = ["recording", os.path.abspath(subject.path)]
    elif not isinstance(subject, (StdioTarget, HttpTarget)):
        parts = ["name", str(subject.path), subject.name]
    elif subject.name:
        parts = ["name", subject.source, subject.name]
    elif isinstance(subject, StdioTarget):
        argv = [secret_values.mask(word, subject.secrets) for word in subject.command]
        parts = ["stdio", subject.cwd or _folder_named_in(subject.command), *argv]
    else:
        parts = ["http", subject.describe()]
    text = json.dumps(parts)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:32]


def _folder_named_in(command: tuple[str, ...]) -> str:
    """Return the current folder, if `command` names something in it."""
    words = [word for word in command[:_WORDS_LOOKED_AT] if not os.path.isabs(word)]
    return os.path.abspath(".") if any(os.path.exists(word) for word in words) else ""


def without_secrets(arguments: Mapping[str, Any], schema: Any, secrets: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return `arguments` without secret values, at every depth.

    Removed are values that contain one of `secrets`, values under a secret-looking name, and values that `schema` marks
    `writeOnly` or `format: password`. A list with one is removed as a whole, so that no item shifts.
    """
    strip = _Strip(schema, tuple(secret for secret in secrets if secret))
    stripped = strip.value(dict(arguments), [schema], 0)
    return stripped if isinstance(stripped, dict) else {}


def left_out(whole: Any, kept: Any) -> Iterator[Any]:
    """Yield the values that `without_secrets` removed from `whole`, which left `kept`."""
    if isinstance(whole, Mapping) and isinstance(kept, Mapping):
        for key, value in whole.items():
            yield from left_out(value, kept[key]) if key in kept else (value,)
    elif isinstance(whole, (list, tuple)) and isinstance(kept, list):
        for one, other in zip(whole, kept, strict=True):
            yield from left_out(one, other)


class _Strip:
    """Walks a value together with the schemas that apply to it; bounded, even if the schema refers to itself."""

    def __init__(self, root: Any, secrets: tuple[str, ...]) -> None:
        self._root = root
        self._secrets = secrets
        self._finder = SecretFinder(secrets)
        self._left = _SCHEMAS_LOOKED_AT

    def value(self, value: Any, schemas: list[Any], depth: int) -> Any:
        """`value` without secrets, or `_SECRET`."""
        applying = self._applying(schemas)
        if depth > _DEPTH or self._left <= 0 or any(_marks_secret(schema) for schema in applying):
            return _SECRET
        if isinstance(value, str):
            return _SECRET if self._holds_secret(value) else value
        if isinstance(value, Mapping):
            kept: dict[str, Any] = {}
            for key, item in value.items():
                if not isinstance(key, str) or secret_values.looks_secret(key) or self._holds_secret(key):
                    continue
                stripped = self._child(item, applying, partial(_of_property, key=key), depth)
                if stripped is not _SECRET:
                    kept[key] = stripped
            return kept
        if isinstance(value, (list, tuple)):
            items = [
                self._child(item, applying, partial(_of_item, index=index), depth) for index, item in enumerate(value)
            ]
            return _SECRET if any(item is _SECRET for item in items) else items
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return _SECRET if str(value) in self._secrets else value
        return value

    def _child(
        self, item: Any, applying: list[Mapping[str, Any]], parts: Callable[[Mapping[str, Any]], list[Any]], depth: int
    ) -> Any:
        self._left -= len(applying)
        schemas = [part for schema in applying for part in parts(schema)] if self._left > 0 else []
        return self.value(item, schemas, depth + 1)

    def _holds_secret(self, text: str) -> bool:
        return text in self._secrets or bool(self._finder.places(text))

    def _applying(self, schemas: list[Any]) -> list[Mapping[str, Any]]:
        """Return `schemas` and all that they combine or refer to. Each that might apply can mark a value as secret."""
        applying: list[Mapping[str, Any]] = []
        waiting = list(schemas)
        seen: set[int] = set()
        while waiting and self._left > 0:
            schema = waiting.pop()
            self._left -= 1
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            applying.append(schema)
            reference = schema.get("$ref")
            if isinstance(reference, str):
                waiting.append(self._referred(reference))
            for key in ("allOf", "anyOf", "oneOf"):
                branches = schema.get(key)
                waiting += branches if isinstance(branches, list) else []
            waiting += [schema[key] for key in ("if", "then", "else") if key in schema]
            waiting += _object(schema.get("dependentSchemas")).values()
        return applying

    def _referred(self, reference: str) -> Any:
        """Resolve a JSON Pointer within the schema (RFC 6901); None for any other reference."""
        if not reference.startswith("#"):
            return None
        current = self._root
        for part in reference[1:].split("/")[1:_DEPTH]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(current, dict):
                current = current.get(key)
            elif isinstance(current, list) and key.isascii() and key.isdigit() and int(key[:9]) < len(current):
                current = current[int(key[:9])]
            else:
                return None
        return current


def _marks_secret(schema: Mapping[str, Any]) -> bool:
    return schema.get("writeOnly") is True or schema.get("format") == "password"


def _of_property(schema: Mapping[str, Any], key: str) -> list[Any]:
    # All patternProperties are used: matching a server's pattern could take forever.
    patterns = list(_object(schema.get("patternProperties")).values())[:_MAX_PATTERNS]
    parts = [_object(schema.get("properties")).get(key), schema.get("additionalProperties"), *patterns]
    return [part for part in parts if part is not None]


def _of_item(schema: Mapping[str, Any], index: int) -> list[Any]:
    items = [schema.get("contains"), schema.get("additionalItems")]
    for key in ("prefixItems", "items"):
        part = schema.get(key)
        if isinstance(part, list):
            items += part[index : index + 1]
        else:
            items.append(part)
    return [part for part in items if part is not None]


def _ago(seconds: float) -> str:
    minutes = int(seconds // 60)
    if minutes < 1:
        return "a moment ago"
    if minutes < 60:
        return f"{minutes} min ago"
    return f"{minutes // 60} h ago" if minutes < 2880 else f"{minutes // 1440:,} d ago"


def _canonical(call: Any) -> str:
    return json.dumps(_object(call).get("arguments"), sort_keys=True)


def _call(item: Any) -> StoredCall | None:
    raw = _object(item)
    when, arguments, ok, outcome = (raw.get(key) for key in ("when", "arguments", "ok", "outcome"))
    if not _is_time(when) or not isinstance(arguments, dict) or not isinstance(ok, bool):
        return None
    return StoredCall(float(when), arguments, ok, outcome[:_OUTCOME] if isinstance(outcome, str) else "")


def _fits(arguments: Mapping[str, Any]) -> bool:
    """Whether arguments are JSON and short enough to store."""
    try:
        return len(json.dumps(arguments)) <= CALL_CHARACTERS
    except (TypeError, ValueError, RecursionError):
        return False


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_time(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e12


def _now(when: float | None) -> float:
    return round(time.time() if when is None else when, 3)
