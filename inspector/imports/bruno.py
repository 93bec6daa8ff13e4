"""Collections of Bruno in YAML (OpenCollection): a folder with `opencollection.yml`, or one file with all of it.

A request has `info` and `http`; a POST whose body is a JSON-RPC message is a request of MCP.
Source: https://docs.usebruno.com/opencollection-yaml/structure-reference
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector.imports.saved_requests import (
    MAX_DEPTH,
    SavedCollection,
    SavedRequest,
    bearer,
    fields,
    items,
    read_yaml,
    text,
    variables,
    yaml_files,
)

_ROOTS = ("opencollection.yml", "opencollection.yaml")
_ENVIRONMENTS = "environments"


def fits(path: Path) -> bool:
    """Whether this is a collection of Bruno."""
    if path.is_dir():
        return any((path / name).is_file() for name in _ROOTS)
    value = read_yaml(path) if path.suffix in (".yml", ".yaml") else None
    return isinstance(value, dict) and "opencollection" in value


def read(path: Path) -> SavedCollection:
    """Read a folder, or the file of a bundled collection."""
    if path.is_file() and path.name in _ROOTS and not items(_object(read_yaml(path)).get("items")):
        path = path.parent
    if path.is_file():
        value = _object(read_yaml(path))
        found = _collection(value, path.stem)
        _read_items(value, (), bearer(_object(value.get("request")).get("auth")), found)
        return found
    root = next((path / name for name in _ROOTS if (path / name).is_file()), None)
    value = _object(read_yaml(root)) if root is not None else {}
    found = _collection(value, path.resolve().name)
    auth = bearer(_object(value.get("request")).get("auth"))
    requests: list[tuple[tuple[str, ...], float, SavedRequest]] = []
    for file in yaml_files(path):
        place = file.relative_to(path).parts[:-1]
        inner = _object(read_yaml(file)) if file != root else {}
        if place == (_ENVIRONMENTS,):
            found.environments[text(inner.get("name")) or file.stem] = variables(inner.get("variables"), key="name")
        elif "http" in inner or "info" in inner:
            request = _request(inner, file.stem, place, auth, found)
            if request is not None:
                order = _object(inner.get("info")).get("seq")
                requests.append((place, order if isinstance(order, int | float) else 0, request))
    found.requests = [request for *_, request in sorted(requests, key=lambda each: each[:2])]
    older = len(yaml_files(path, (".bru",)))
    if older:
        found.others[".bru file"] = older
        found.notes.append("Files of the .bru format are not read: have Bruno convert the collection to YAML.")
    return found


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _collection(value: dict[str, Any], name: str) -> SavedCollection:
    found = SavedCollection(text(_object(value.get("info")).get("name")) or name)
    found.variables = variables(_object(value.get("request")).get("variables"), key="name")
    for environment in items(_object(value.get("config")).get("environments")):
        if text(environment.get("name")):
            found.environments[environment["name"]] = variables(environment.get("variables"), key="name")
    return found


def _read_items(
    group: dict[str, Any], folders: tuple[str, ...], auth: tuple[tuple[str, str], ...], found: SavedCollection
) -> None:
    for item in items(group.get("items")):
        name = text(_object(item.get("info")).get("name"))
        if isinstance(item.get("items"), list):
            if len(folders) < MAX_DEPTH:
                _read_items(item, (*folders, name), auth, found)
            continue
        request = _request(item, name, folders, auth, found)
        if request is not None:
            found.requests.append(request)


def _request(
    value: dict[str, Any],
    name: str,
    folders: tuple[str, ...],
    auth: tuple[tuple[str, str], ...],
    found: SavedCollection,
) -> SavedRequest | None:
    info, http = _object(value.get("info")), _object(value.get("http"))
    kind = text(info.get("type"))
    if not http:
        if kind not in ("folder", "collection", "workspace", ""):
            found.others[f"{kind} request"] += 1
        return None
    found.others["script"] += len(items(_object(value.get("runtime")).get("scripts")))
    body = _object(http.get("body"))
    data = text(body.get("data")) if body.get("type") in ("json", "text") else ""
    posted = text(http.get("method")).upper() == "POST"
    own = http.get("auth")
    headers = (auth if own in (None, "inherit") else bearer(own)) + fields(http.get("headers"))
    return SavedRequest(folders, text(info.get("name")) or name, text(http.get("url")), data if posted else "", headers)
