"""Collections of Bruno."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector.features.api_clients.collections import (
    MAX_DEPTH,
    CollectionReader,
    Folders,
    Headers,
    SavedCollection,
    SavedRequest,
    bearer,
    fields,
    in_order,
    items,
    posted,
    read_yaml,
    variables,
    yaml_files,
)
from inspector.protocol.views import View

_ROOTS = ("opencollection.yml", "opencollection.yaml")
_ENVIRONMENTS = "environments"


def _fits(path: Path) -> bool:
    if path.is_dir():
        return any((path / name).is_file() for name in _ROOTS)
    return path.suffix in (".yml", ".yaml") and "opencollection" in View(read_yaml(path)).members


def _read(path: Path) -> SavedCollection:
    """Read a collection of Bruno in YAML (OpenCollection): a folder with `opencollection.yml`, or one file with all.

    A request has `info` and `http`; a POST whose body is a JSON-RPC message is a request of MCP.
    Source: https://docs.usebruno.com/opencollection-yaml/structure-reference
    """
    if path.is_file() and path.name in _ROOTS and not items(View(read_yaml(path)).members.get("items")):
        path = path.parent
    root: Path | None = path
    if path.is_dir():
        root = next((path / name for name in _ROOTS if (path / name).is_file()), None)
    value = View(read_yaml(root) if root is not None else {})
    own = View(value.object("request"))
    auth = bearer(own.members.get("auth"))
    name = path.stem if path.is_file() else path.resolve().name
    saved = SavedCollection(View(value.object("info")).text("name") or name)
    saved.variables = variables(own.members.get("variables"), key="name")
    for environment in items(View(value.object("config")).members.get("environments")):
        if environment.text("name"):
            given = variables(environment.members.get("variables"), key="name")
            saved.environments[environment.text("name")] = given
    if path.is_file():
        _read_items(value, (), auth, saved)
    else:
        _read_files(path, root, auth, saved)
    return saved


def _read_files(path: Path, root: Path | None, auth: Headers, saved: SavedCollection) -> None:
    requests: list[tuple[Folders, Any, SavedRequest]] = []
    for file in yaml_files(path):
        place = file.relative_to(path).parts[:-1]
        inner = View(read_yaml(file) if file != root else {})
        if place == (_ENVIRONMENTS,):
            given = variables(inner.members.get("variables"), key="name")
            saved.environments[inner.text("name") or file.stem] = given
        elif "http" in inner.members or "info" in inner.members:
            request = _request(inner, file.stem, place, auth, saved)
            if request is not None:
                requests.append((place, inner.object("info").get("seq"), request))
    saved.requests = in_order(requests)
    older = len(yaml_files(path, (".bru",)))
    if older:
        saved.others[".bru file"] = older
        saved.notes.append("Files of the .bru format are not read: have Bruno convert the collection to YAML.")


def _read_items(group: View, folders: Folders, auth: Headers, saved: SavedCollection) -> None:
    for item in items(group.members.get("items")):
        name = View(item.object("info")).text("name")
        if isinstance(item.members.get("items"), list):
            if len(folders) < MAX_DEPTH:
                _read_items(item, (*folders, name), auth, saved)
            continue
        request = _request(item, name, folders, auth, saved)
        if request is not None:
            saved.requests.append(request)


def _request(value: View, name: str, folders: Folders, auth: Headers, saved: SavedCollection) -> SavedRequest | None:
    info, http = View(value.object("info")), View(value.object("http"))
    kind = info.text("type")
    if not http.members:
        if kind not in ("folder", "collection", "workspace", ""):
            saved.others[f"{kind} request"] += 1
        return None
    saved.others["script"] += len(items(View(value.object("runtime")).members.get("scripts")))
    body = View(http.object("body"))
    data = body.text("data") if body.text("type") in ("json", "text") else ""
    own = http.members.get("auth")
    headers = (auth if own in (None, "inherit") else bearer(own)) + fields(http.members.get("headers"))
    return SavedRequest(folders, info.text("name") or name, http.text("url"), posted(http, data), headers)


READER = CollectionReader("Bruno", _fits, _read)
