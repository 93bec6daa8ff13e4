"""Collections of Insomnia in YAML, format 5.

A request is HTTP: a POST whose body is a JSON-RPC message is a request of MCP. A file of an MCP client
(`mcpClient.insomnia/5.0`) names a server and has no calls. Templates are `{{ _.name }}`.
Source: https://developer.konghq.com/insomnia/
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from inspector.imports.saved_requests import (
    MAX_DEPTH,
    SavedCollection,
    SavedRequest,
    SavedVariable,
    bearer,
    fields,
    items,
    read_yaml,
    text,
)

_TYPES = re.compile(r"(?:collection|spec|mcpClient|environment|mock)\.insomnia(?:\.rest)?/5\.")
_TEMPLATE = re.compile(r"\{\{\s*_?\.?([A-Za-z_][\w.-]*?)\s*\}\}")
_KINDS = {"req": "HTTP request", "greq": "gRPC request", "ws-req": "WebSocket request"}


def fits(path: Path) -> bool:
    """Whether this is a file of Insomnia."""
    value = read_yaml(path) if path.is_file() and path.suffix in (".yml", ".yaml") else None
    return isinstance(value, dict) and _TYPES.match(text(value.get("type"))) is not None


def read(path: Path) -> SavedCollection:
    """Read one file."""
    value = read_yaml(path)
    value = value if isinstance(value, dict) else {}
    found = SavedCollection(text(value.get("name")) or path.stem)
    bases = value.get("environments")
    for base in [bases] if isinstance(bases, dict) else items(bases):
        found.variables |= _flat(base.get("data"))
        for inner in items(base.get("subEnvironments")):
            found.environments[text(inner.get("name")) or "environment"] = _flat(inner.get("data"))
    client = value.get("mcpRequest")
    if isinstance(client, dict):
        found.others["MCP client"] += 1
        server = _plain(text(client.get("url")))
        if server:
            found.notes.append(f"The MCP client connects to {server}: name it with inspector run … -- SERVER.")
    _read_items(value.get("collection"), (), (), found)
    return found


def _read_items(
    value: Any, folders: tuple[str, ...], auth: tuple[tuple[str, str], ...], found: SavedCollection
) -> None:
    for item in sorted(items(value), key=_place):
        name = text(item.get("name"))
        own = item.get("authentication")
        inner = bearer(own) if isinstance(own, dict) and own.get("type") not in (None, "", "none") else auth
        found.others["script"] += len([each for each in _scripts(item) if each])
        if isinstance(item.get("children"), list):
            if len(folders) < MAX_DEPTH:
                _read_items(item["children"], (*folders, name), inner, found)
        elif text(item.get("method")):
            body = item.get("body")
            posted = isinstance(body, dict) and item["method"].upper() == "POST"
            message = text(body.get("text")) if isinstance(body, dict) and posted else ""
            headers = tuple((name, _plain(value)) for name, value in inner + fields(item.get("headers")))
            found.requests.append(SavedRequest(folders, name, _plain(text(item.get("url"))), _plain(message), headers))
        else:
            found.others[_KINDS.get(_kind(item), "other request")] += 1


def _place(item: dict[str, Any]) -> float:
    """Where an item stands among its siblings; items without a key stay in the order of the file."""
    meta = item.get("meta")
    key = meta.get("sortKey") if isinstance(meta, dict) else None
    return key if isinstance(key, int | float) else 0


def _kind(item: dict[str, Any]) -> str:
    meta = item.get("meta")
    return text(meta.get("id")).partition("_")[0] if isinstance(meta, dict) else ""


def _scripts(item: dict[str, Any]) -> list[Any]:
    scripts = item.get("scripts")
    return list(scripts.values()) if isinstance(scripts, dict) else []


def _plain(value: str) -> str:
    """A text with templates as `{{name}}`; a nested name is joined by underscores."""
    return _TEMPLATE.sub(lambda found: "{{" + found[1].replace(".", "_") + "}}", value)


def _flat(value: Any, prefix: str = "", depth: int = 0) -> dict[str, SavedVariable]:
    """The values of an environment, nested objects joined by underscores as `_plain` does."""
    found: dict[str, SavedVariable] = {}
    for name, item in value.items() if isinstance(value, dict) else ():
        if isinstance(item, dict) and depth < MAX_DEPTH:
            found |= _flat(item, f"{prefix}{name}_", depth + 1)
        else:
            found[f"{prefix}{name}"] = SavedVariable(_plain(item) if isinstance(item, str) else item)
    return found
