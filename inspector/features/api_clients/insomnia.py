"""Collections of Insomnia."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from inspector.features.api_clients.collections import (
    MAX_DEPTH,
    CollectionReader,
    Folders,
    Headers,
    SavedCollection,
    SavedRequest,
    SavedVariable,
    bearer,
    fields,
    items,
    posted,
    read_yaml,
)
from inspector.protocol.views import View

_TYPES = re.compile(r"(?:collection|spec|mcpClient|environment|mock)\.insomnia(?:\.rest)?/5\.")
_TEMPLATE = re.compile(r"\{\{\s*_?\.?([A-Za-z_][\w.-]*?)\s*\}\}")
_KINDS = {"req": "HTTP request", "greq": "gRPC request", "ws-req": "WebSocket request"}


def _fits(path: Path) -> bool:
    is_yaml = path.is_file() and path.suffix in (".yml", ".yaml")
    return is_yaml and _TYPES.match(View(read_yaml(path)).text("type")) is not None


def _read(path: Path) -> SavedCollection:
    """Read a collection of Insomnia in YAML, format 5.

    A request is HTTP: a POST whose body is a JSON-RPC message is a request of MCP. A file of an MCP client
    (`mcpClient.insomnia/5.0`) names a server and has no calls. Templates are `{{ _.name }}`.
    Source: https://developer.konghq.com/insomnia/
    """
    value = View(read_yaml(path))
    saved = SavedCollection(value.text("name") or path.stem)
    bases = value.members.get("environments")
    for base in items([bases] if isinstance(bases, dict) else bases):
        saved.variables |= _flat(base.members.get("data"))
        for inner in items(base.members.get("subEnvironments")):
            saved.environments[inner.text("name") or "environment"] = _flat(inner.members.get("data"))
    if isinstance(value.members.get("mcpRequest"), dict):
        saved.others["MCP client"] += 1
        server = _plain(View(value.members["mcpRequest"]).text("url"))
        if server:
            saved.notes.append(f"The MCP client connects to {server}: name it with inspector run … -- SERVER.")
    _read_items(value.members.get("collection"), (), (), saved)
    return saved


def _read_items(value: Any, folders: Folders, auth: Headers, saved: SavedCollection) -> None:
    for item in sorted(items(value), key=_place):
        name, own = item.text("name"), item.object("authentication")
        inner = bearer(own) if own and own.get("type") not in (None, "", "none") else auth
        saved.others["script"] += len([script for script in item.object("scripts").values() if script])
        if isinstance(item.members.get("children"), list):
            if len(folders) < MAX_DEPTH:
                _read_items(item.members["children"], (*folders, name), inner, saved)
        elif item.text("method"):
            message = posted(item, View(item.object("body")).text("text"))
            given = inner + fields(item.members.get("headers"))
            headers = tuple((name, _plain(value)) for name, value in given)
            saved.requests.append(SavedRequest(folders, name, _plain(item.text("url")), _plain(message), headers))
        else:
            kind = View(item.object("meta")).text("id").partition("_")[0]
            saved.others[_KINDS.get(kind, "other request")] += 1


def _place(item: View) -> float:
    """Return where an item stands among its siblings; items without a key stay in the order of the file."""
    key = item.object("meta").get("sortKey")
    return key if isinstance(key, int | float) else 0


def _plain(value: str) -> str:
    """Return a text with templates as `{{name}}`; a nested name is joined by underscores."""
    return _TEMPLATE.sub(lambda match: "{{" + match[1].replace(".", "_") + "}}", value)


def _flat(value: Any, prefix: str = "", depth: int = 0) -> dict[str, SavedVariable]:
    """Return the values of an environment, nested objects joined by underscores as `_plain` does."""
    values: dict[str, SavedVariable] = {}
    for name, item in value.items() if isinstance(value, dict) else ():
        if isinstance(item, dict) and depth < MAX_DEPTH:
            values |= _flat(item, f"{prefix}{name}_", depth + 1)
        else:
            values[f"{prefix}{name}"] = SavedVariable(_plain(item) if isinstance(item, str) else item)
    return values


READER = CollectionReader("Insomnia", _fits, _read)
