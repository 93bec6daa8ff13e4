"""Collections of API clients: Postman, Bruno and Insomnia. `saved_calls` makes files of saved calls of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from inspector import documents
from inspector.config.foreign_files import open_regular
from inspector.errors import UsageError
from inspector.protocol.views import View
from inspector.reasons import os_reason

MAX_SIZE = 64 << 20
"""Bytes of a file that is JSON."""
MAX_YAML = 8 << 20
"""Bytes of a file that is YAML, which takes far longer to read."""
MAX_FILES = 20_000
MAX_DEPTH = 100


class SavedVariable(NamedTuple):
    """A variable as the file has it."""

    value: Any
    secret: bool = False
    """Whether the file says that it is a secret."""


class SavedRequest(NamedTuple):
    """One saved request that may be one of MCP."""

    folders: tuple[str, ...]
    name: str
    server: str
    """A URL or a command, with variables as `{{name}}`."""
    message: str
    """The JSON-RPC message as text, with variables as `{{name}}`, also outside of strings."""
    headers: tuple[tuple[str, str], ...] = ()
    is_mcp: bool = False
    """Whether the file says so. Otherwise the message tells: it has the member `jsonrpc`."""
    is_command: bool = False
    """Whether the file says that `server` is a command. Otherwise it is a URL in any form."""


@dataclass
class SavedCollection:
    """The content of a collection, in terms that all clients share."""

    name: str
    requests: list[SavedRequest] = field(default_factory=list)
    variables: dict[str, SavedVariable] = field(default_factory=dict)
    environments: dict[str, dict[str, SavedVariable]] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)
    """By kind (a noun, singular), how many things there are that are not requests of MCP."""
    notes: list[str] = field(default_factory=list)


def read_json(path: Path) -> Any:
    """Return the value of a JSON file. Raises `UsageError`."""
    return _document(path, documents.read_json, MAX_SIZE)


def read_yaml(path: Path) -> Any:
    """Return the value of a YAML file, with the types of YAML 1.2. Raises `UsageError`."""
    return _document(path, documents.read_yaml, MAX_YAML)


def _document(path: Path, reader: Callable[[str], Any], limit: int) -> Any:
    try:
        return reader(_read(path, limit))
    except documents.DocumentError as error:
        where = f" (line {error.line})" if error.line else ""
        raise UsageError(f"{path} {error.problem}{where}.", hint="Export the collection again.") from None


def _read(path: Path, limit: int) -> str:
    try:
        with open_regular(path) as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {os_reason(error)}.", hint="Name a file that can be read.") from None
    if len(data) > limit:
        raise UsageError(f"{path} is larger than {limit >> 20} MiB.", hint="Export a part of the collection.")
    return data.decode("utf-8-sig", "replace")


def yaml_files(folder: Path, endings: Iterable[str] = (".yml", ".yaml")) -> list[Path]:
    """Return the YAML files below a folder, those of hidden folders and of `node_modules` excepted, sorted by path."""
    import os

    paths: list[Path] = []
    for where, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "node_modules" and (name[0] != "." or name == ".resources")]
        paths += [Path(where, name) for name in files if name.endswith(tuple(endings))]
        if len(paths) > MAX_FILES:
            raise UsageError(f"{folder} has more than {MAX_FILES:,} YAML files.", hint="Name the collection's folder.")
    return sorted(paths)


Headers = tuple[tuple[str, str], ...]
Folders = tuple[str, ...]


class CollectionReader(NamedTuple):
    """Reads the collections of one API client."""

    client: str
    fits: Callable[[Path], bool]
    """Whether a file or folder is one of its collections."""
    read: Callable[[Path], SavedCollection]


def _scalar(value: Any) -> str:
    """Return a text, number, true or false of the file as text; of anything else the empty text."""
    return value if isinstance(value, str) else json.dumps(value) if isinstance(value, int | float) else ""


def items(value: Any) -> list[View]:
    """Return the objects of a list of the file."""
    return [View(item) for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _is_on(item: View) -> bool:
    return item.members.get("disabled") is not True and item.members.get("enabled") is not False


def fields(value: Any, *, key: str = "name") -> Headers:
    """Names and values of a list of objects, or of a map; without those that are disabled."""
    if isinstance(value, dict):
        return tuple((name, _scalar(item)) for name, item in value.items() if isinstance(item, str | int | float))
    return tuple(
        (item.text(key), _scalar(item.members.get("value"))) for item in items(value) if item.text(key) and _is_on(item)
    )


def variables(value: Any, *, key: str = "key") -> dict[str, SavedVariable]:
    """Return the variables of a list of objects, or of a map."""
    if isinstance(value, dict):
        return {name: SavedVariable(item) for name, item in value.items()}
    return {
        item.text(key): SavedVariable(
            item.members.get("value", ""), item.text("type") == "secret" or item.members.get("secret") is True
        )
        for item in items(value)
        if item.text(key) and _is_on(item)
    }


def bearer(auth: Any) -> Headers:
    """Return the header that an `auth` object with a bearer token or an API key stands for."""
    if not isinstance(auth, dict) or auth.get("disabled") is True:
        return ()
    kind = View(auth).text("type")
    inner = auth.get("credentials", auth.get(kind, auth))
    values = dict(fields(inner, key="key")) if isinstance(inner, list | dict) else {}
    if kind == "bearer" and values.get("token"):
        return (("Authorization", f"Bearer {values['token']}"),)
    if kind == "apikey" and values.get("value") and values.get("in", values.get("addTo", "header")) == "header":
        return ((values.get("key") or "X-API-Key", values["value"]),)
    return ()


def posted(request: View, body: str) -> str:
    """Return the body of a request, if it is sent by POST."""
    return body if request.text("method").upper() == "POST" else ""


def in_order(requests: list[tuple[Folders, Any, SavedRequest]]) -> list[SavedRequest]:
    """Sort requests of single files by their folders, then by the number that each has there."""
    order = [(place, at if isinstance(at, int | float) else 0, request) for place, at, request in requests]
    return [request for *_, request in sorted(order, key=lambda entry: entry[:2])]
