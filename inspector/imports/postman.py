"""Collections of Postman: the JSON file of format 2.1, and the folder of YAML files of format 3.

Format 2.1 has HTTP requests only: a POST whose body is a JSON-RPC message is a request of MCP. Format 3 has a file
`*.request.yaml` for each request, and those of MCP say so: `$kind: mcp-request`, the message a text.
Source: https://schema.postman.com/collection/json/v2.1.0/draft-07/docs/index.html
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
    read_json,
    read_yaml,
    text,
    variables,
    yaml_files,
)


def fits(path: Path) -> bool:
    """Whether this is a collection of Postman."""
    if path.is_dir():
        return any(file.name.endswith((".request.yaml", ".request.yml")) for file in yaml_files(path))
    return path.suffix == ".json" and _is_collection(read_json(path))


def _is_collection(value: Any) -> bool:
    info = value.get("info") if isinstance(value, dict) else None
    return isinstance(info, dict) and "/collection/v2" in text(info.get("schema"))


def read(path: Path) -> SavedCollection:
    """Read a file of format 2 or a folder of format 3."""
    if path.is_dir():
        return _read_folder(path)
    value = read_json(path)
    if isinstance(value, dict) and isinstance(value.get("collection"), dict):
        value = value["collection"]
    value = value if isinstance(value, dict) else {}
    info = value.get("info")
    found = SavedCollection((text(info.get("name")) if isinstance(info, dict) else "") or path.stem)
    found.variables = variables(value.get("variable"))
    _read_items(value, (), bearer(value.get("auth")), found)
    return found


def _read_items(
    group: dict[str, Any], folders: tuple[str, ...], auth: tuple[tuple[str, str], ...], found: SavedCollection
) -> None:
    for item in items(group.get("item")):
        name = text(item.get("name"))
        if isinstance(item.get("item"), list):
            if len(folders) < MAX_DEPTH:
                _read_items(item, (*folders, name), _auth(item, auth), found)
            continue
        request = item.get("request")
        found.others["script"] += len(items(item.get("event")))
        if isinstance(request, dict):
            found.requests.append(_request(request, name, folders, auth))
        else:
            found.others["GET request"] += 1


def _auth(value: dict[str, Any], outer: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The header that authorizes: that of the folder or collection around it where it has none of its own."""
    return bearer(value["auth"]) if isinstance(value.get("auth"), dict) else outer


def _request(
    request: dict[str, Any], name: str, folders: tuple[str, ...], auth: tuple[tuple[str, str], ...]
) -> SavedRequest:
    url = request.get("url")
    url = text(url.get("raw")) if isinstance(url, dict) else text(url)
    body = request.get("body")
    raw = text(body.get("raw")) if isinstance(body, dict) and body.get("mode") == "raw" else ""
    posted = text(request.get("method")).upper() == "POST"
    headers = _auth(request, auth) + fields(request.get("header"), key="key")
    return SavedRequest(folders, name, url, raw if posted else "", headers)


def _read_folder(path: Path) -> SavedCollection:
    found = SavedCollection(path.resolve().name)
    requests: list[tuple[tuple[str, ...], float, SavedRequest]] = []
    for file in yaml_files(path):
        place = tuple(part for part in file.relative_to(path).parts[:-1] if not part.startswith("."))
        stem = file.name.rsplit(".", 2)[0]
        if file.name.endswith((".environment.yaml", ".environment.yml")):
            value = read_yaml(file)
            if isinstance(value, dict):
                found.environments[text(value.get("name")) or stem] = variables(value.get("values"))
        elif file.name.endswith((".globals.yaml", ".globals.yml", "definition.yaml")):
            value = read_yaml(file)
            if isinstance(value, dict):
                found.variables |= variables(value.get("values", value.get("variables")))
        elif file.name.endswith((".request.yaml", ".request.yml")):
            value = read_yaml(file)
            request = _request_of_file(value, stem, place, found) if isinstance(value, dict) else None
            if request is not None:
                order = value.get("order")
                requests.append((place, order if isinstance(order, int | float) else 0, request))
    found.requests = [request for *_, request in sorted(requests, key=lambda each: each[:2])]
    return found


def _request_of_file(
    value: dict[str, Any], name: str, folders: tuple[str, ...], found: SavedCollection
) -> SavedRequest | None:
    kind = text(value.get("$kind"))
    name = text(value.get("name")) or name
    headers = bearer(value.get("auth")) + fields(value.get("headers"), key="key")
    found.others["script"] += len(items(value.get("scripts")))
    if kind == "mcp-request":
        if value.get("env"):
            found.notes.append("The environment of a server's process is not in a flow. Set it with -e or @NAME.")
        command, message = text(value.get("command")), text(value.get("message"))
        server = command or text(value.get("url"))
        return SavedRequest(folders, name, server, message, headers, is_mcp=True, is_command=bool(command))
    if kind == "http-request":
        body = value.get("body")
        content = text(body.get("content")) if isinstance(body, dict) else ""
        posted = text(value.get("method")).upper() == "POST"
        return SavedRequest(folders, name, text(value.get("url")), content if posted else "", headers)
    found.others[f"{kind.removesuffix('-request') or 'unknown'} request"] += 1
    return None
