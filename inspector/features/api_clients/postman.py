"""Collections of Postman."""

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
    read_json,
    read_yaml,
    variables,
    yaml_files,
)
from inspector.protocol.views import View


def _fits(path: Path) -> bool:
    if path.is_dir():
        return any(file.name.endswith(_REQUEST_FILES) for file in yaml_files(path))
    return path.suffix == ".json" and "/collection/v2" in View(View(read_json(path)).object("info")).text("schema")


def _read(path: Path) -> SavedCollection:
    """Read a collection of Postman: the JSON file of format 2.1, or the folder of YAML files of format 3.

    Format 2.1 has HTTP requests only: a POST whose body is a JSON-RPC message is a request of MCP. Format 3 has a file
    `*.request.yaml` for each request, and those of MCP say so: `$kind: mcp-request`, the message a text.
    Source: https://schema.postman.com/collection/json/v2.1.0/draft-07/docs/index.html
    """
    if path.is_dir():
        return _read_folder(path)
    value = View(read_json(path))
    value = View(value.members["collection"]) if isinstance(value.members.get("collection"), dict) else value
    saved = SavedCollection(View(value.object("info")).text("name") or path.stem)
    saved.variables = variables(value.members.get("variable"))
    _read_items(value, (), bearer(value.members.get("auth")), saved)
    return saved


def _read_items(group: View, folders: Folders, auth: Headers, saved: SavedCollection) -> None:
    for item in items(group.members.get("item")):
        name = item.text("name")
        if isinstance(item.members.get("item"), list):
            if len(folders) < MAX_DEPTH:
                _read_items(item, (*folders, name), _auth(item, auth), saved)
            continue
        saved.others["script"] += len(items(item.members.get("event")))
        if not isinstance(item.members.get("request"), dict):
            saved.others["GET request"] += 1
            continue
        request = View(item.members["request"])
        body = View(request.object("body"))
        raw = body.text("raw") if body.text("mode") == "raw" else ""
        url = View(request.object("url")).text("raw") or request.text("url")
        headers = _auth(request, auth) + fields(request.members.get("header"), key="key")
        saved.requests.append(SavedRequest(folders, name, url, posted(request, raw), headers))


def _auth(value: View, outer: Headers) -> Headers:
    """Return the header that authorizes: that of the folder or collection around it where it has none of its own."""
    return bearer(value.members["auth"]) if isinstance(value.members.get("auth"), dict) else outer


_REQUEST_FILES = (".request.yaml", ".request.yml")


def _read_folder(path: Path) -> SavedCollection:
    saved = SavedCollection(path.resolve().name)
    requests: list[tuple[Folders, Any, SavedRequest]] = []
    for file in yaml_files(path):
        place = tuple(part for part in file.relative_to(path).parts[:-1] if not part.startswith("."))
        stem = file.name.rsplit(".", 2)[0]
        if file.name.endswith((".environment.yaml", ".environment.yml")):
            value = View(read_yaml(file))
            if isinstance(value.raw, dict):
                saved.environments[value.text("name") or stem] = variables(value.members.get("values"))
        elif file.name.endswith((".globals.yaml", ".globals.yml", "definition.yaml")):
            value = View(read_yaml(file))
            saved.variables |= variables(value.members.get("values", value.members.get("variables")))
        elif file.name.endswith(_REQUEST_FILES):
            value = View(read_yaml(file))
            request = _request(value, stem, place, saved) if isinstance(value.raw, dict) else None
            if request is not None:
                requests.append((place, value.members.get("order"), request))
    saved.requests = in_order(requests)
    return saved


def _request(value: View, name: str, folders: Folders, saved: SavedCollection) -> SavedRequest | None:
    kind = value.text("$kind")
    name = value.text("name") or name
    headers = bearer(value.members.get("auth")) + fields(value.members.get("headers"), key="key")
    saved.others["script"] += len(items(value.members.get("scripts")))
    if kind == "mcp-request":
        if value.members.get("env"):
            saved.notes.append("The environment of a server's process is not in a saved call. Set it with -e or @NAME.")
        command, message = value.text("command"), value.text("message")
        server = command or value.text("url")
        return SavedRequest(folders, name, server, message, headers, is_mcp=True, is_command=bool(command))
    if kind == "http-request":
        content = View(value.object("body")).text("content")
        return SavedRequest(folders, name, value.text("url"), posted(value, content), headers)
    saved.others[f"{kind.removesuffix('-request') or 'unknown'} request"] += 1
    return None


READER = CollectionReader("Postman", _fits, _read)
