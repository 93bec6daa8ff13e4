"""Collections of API clients: Postman, Bruno and Insomnia. `imports.flows` makes files of saved calls of them."""

from __future__ import annotations

import json
import re
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
    """Whether the file says that `server` is a command. Otherwise it is a URL, whatever it looks like."""


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
    """The value of a JSON file. Raises `UsageError`."""
    return _document(path, documents.read_json, MAX_SIZE)


def read_yaml(path: Path) -> Any:
    """The value of a YAML file, with the types of YAML 1.2. Raises `UsageError`."""
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
    """The YAML files below a folder, those of hidden folders and of `node_modules` excepted, sorted by path."""
    import os

    found: list[Path] = []
    for where, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "node_modules" and (name[0] != "." or name == ".resources")]
        found += [Path(where, name) for name in files if name.endswith(tuple(endings))]
        if len(found) > MAX_FILES:
            raise UsageError(f"{folder} has more than {MAX_FILES:,} YAML files.", hint="Name the collection's folder.")
    return sorted(found)


Headers = tuple[tuple[str, str], ...]
Folders = tuple[str, ...]


class CollectionReader(NamedTuple):
    """Reads the collections of one API client."""

    client: str
    fits: Callable[[Path], bool]
    """Whether a file or folder is one of its collections."""
    read: Callable[[Path], SavedCollection]


def _scalar(value: Any) -> str:
    """A text, number, true or false of the file as text; of anything else the empty text."""
    return value if isinstance(value, str) else json.dumps(value) if isinstance(value, int | float) else ""


def _items(value: Any) -> list[View]:
    """The objects of a list of the file."""
    return [View(item) for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _is_on(item: View) -> bool:
    return item.members.get("disabled") is not True and item.members.get("enabled") is not False


def fields(value: Any, *, key: str = "name") -> Headers:
    """Names and values of a list of objects, or of a map; without those that are disabled."""
    if isinstance(value, dict):
        return tuple((name, _scalar(item)) for name, item in value.items() if isinstance(item, str | int | float))
    return tuple(
        (item.text(key), _scalar(item.members.get("value")))
        for item in _items(value)
        if item.text(key) and _is_on(item)
    )


def variables(value: Any, *, key: str = "key") -> dict[str, SavedVariable]:
    """The variables of a list of objects, or of a map."""
    if isinstance(value, dict):
        return {name: SavedVariable(item) for name, item in value.items()}
    return {
        item.text(key): SavedVariable(
            item.members.get("value", ""), item.text("type") == "secret" or item.members.get("secret") is True
        )
        for item in _items(value)
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


def _posted(request: View, body: str) -> str:
    """The body of a request, if it is sent by POST."""
    return body if request.text("method").upper() == "POST" else ""


def _in_order(requests: list[tuple[Folders, Any, SavedRequest]]) -> list[SavedRequest]:
    """Sort requests of single files by their folders, then by the number that each has there."""
    order = [(place, at if isinstance(at, int | float) else 0, request) for place, at, request in requests]
    return [request for *_, request in sorted(order, key=lambda each: each[:2])]


def _fits_postman(path: Path) -> bool:
    if path.is_dir():
        return any(file.name.endswith(_REQUEST_FILES) for file in yaml_files(path))
    return path.suffix == ".json" and "/collection/v2" in View(View(read_json(path)).object("info")).text("schema")


def _read_postman(path: Path) -> SavedCollection:
    """Read a collection of Postman: the JSON file of format 2.1, or the folder of YAML files of format 3.

    Format 2.1 has HTTP requests only: a POST whose body is a JSON-RPC message is a request of MCP. Format 3 has a file
    `*.request.yaml` for each request, and those of MCP say so: `$kind: mcp-request`, the message a text.
    Source: https://schema.postman.com/collection/json/v2.1.0/draft-07/docs/index.html
    """
    if path.is_dir():
        return _read_postman_folder(path)
    value = View(read_json(path))
    value = View(value.members["collection"]) if isinstance(value.members.get("collection"), dict) else value
    found = SavedCollection(View(value.object("info")).text("name") or path.stem)
    found.variables = variables(value.members.get("variable"))
    _read_postman_items(value, (), bearer(value.members.get("auth")), found)
    return found


def _read_postman_items(group: View, folders: Folders, auth: Headers, found: SavedCollection) -> None:
    for item in _items(group.members.get("item")):
        name = item.text("name")
        if isinstance(item.members.get("item"), list):
            if len(folders) < MAX_DEPTH:
                _read_postman_items(item, (*folders, name), _postman_auth(item, auth), found)
            continue
        found.others["script"] += len(_items(item.members.get("event")))
        if not isinstance(item.members.get("request"), dict):
            found.others["GET request"] += 1
            continue
        request = View(item.members["request"])
        body = View(request.object("body"))
        raw = body.text("raw") if body.text("mode") == "raw" else ""
        url = View(request.object("url")).text("raw") or request.text("url")
        headers = _postman_auth(request, auth) + fields(request.members.get("header"), key="key")
        found.requests.append(SavedRequest(folders, name, url, _posted(request, raw), headers))


def _postman_auth(value: View, outer: Headers) -> Headers:
    """The header that authorizes: that of the folder or collection around it where it has none of its own."""
    return bearer(value.members["auth"]) if isinstance(value.members.get("auth"), dict) else outer


_REQUEST_FILES = (".request.yaml", ".request.yml")


def _read_postman_folder(path: Path) -> SavedCollection:
    found = SavedCollection(path.resolve().name)
    requests: list[tuple[Folders, Any, SavedRequest]] = []
    for file in yaml_files(path):
        place = tuple(part for part in file.relative_to(path).parts[:-1] if not part.startswith("."))
        stem = file.name.rsplit(".", 2)[0]
        if file.name.endswith((".environment.yaml", ".environment.yml")):
            value = View(read_yaml(file))
            if isinstance(value.raw, dict):
                found.environments[value.text("name") or stem] = variables(value.members.get("values"))
        elif file.name.endswith((".globals.yaml", ".globals.yml", "definition.yaml")):
            value = View(read_yaml(file))
            found.variables |= variables(value.members.get("values", value.members.get("variables")))
        elif file.name.endswith(_REQUEST_FILES):
            value = View(read_yaml(file))
            request = _postman_request(value, stem, place, found) if isinstance(value.raw, dict) else None
            if request is not None:
                requests.append((place, value.members.get("order"), request))
    found.requests = _in_order(requests)
    return found


def _postman_request(value: View, name: str, folders: Folders, found: SavedCollection) -> SavedRequest | None:
    kind = value.text("$kind")
    name = value.text("name") or name
    headers = bearer(value.members.get("auth")) + fields(value.members.get("headers"), key="key")
    found.others["script"] += len(_items(value.members.get("scripts")))
    if kind == "mcp-request":
        if value.members.get("env"):
            found.notes.append("The environment of a server's process is not in a flow. Set it with -e or @NAME.")
        command, message = value.text("command"), value.text("message")
        server = command or value.text("url")
        return SavedRequest(folders, name, server, message, headers, is_mcp=True, is_command=bool(command))
    if kind == "http-request":
        content = View(value.object("body")).text("content")
        return SavedRequest(folders, name, value.text("url"), _posted(value, content), headers)
    found.others[f"{kind.removesuffix('-request') or 'unknown'} request"] += 1
    return None


_BRUNO_ROOTS = ("opencollection.yml", "opencollection.yaml")
_BRUNO_ENVIRONMENTS = "environments"


def _fits_bruno(path: Path) -> bool:
    if path.is_dir():
        return any((path / name).is_file() for name in _BRUNO_ROOTS)
    return path.suffix in (".yml", ".yaml") and "opencollection" in View(read_yaml(path)).members


def _read_bruno(path: Path) -> SavedCollection:
    """Read a collection of Bruno in YAML (OpenCollection): a folder with `opencollection.yml`, or one file with all.

    A request has `info` and `http`; a POST whose body is a JSON-RPC message is a request of MCP.
    Source: https://docs.usebruno.com/opencollection-yaml/structure-reference
    """
    if path.is_file() and path.name in _BRUNO_ROOTS and not _items(View(read_yaml(path)).members.get("items")):
        path = path.parent
    root: Path | None = path
    if path.is_dir():
        root = next((path / name for name in _BRUNO_ROOTS if (path / name).is_file()), None)
    value = View(read_yaml(root) if root is not None else {})
    own = View(value.object("request"))
    auth = bearer(own.members.get("auth"))
    name = path.stem if path.is_file() else path.resolve().name
    found = SavedCollection(View(value.object("info")).text("name") or name)
    found.variables = variables(own.members.get("variables"), key="name")
    for environment in _items(View(value.object("config")).members.get("environments")):
        if environment.text("name"):
            given = variables(environment.members.get("variables"), key="name")
            found.environments[environment.text("name")] = given
    if path.is_file():
        _read_bruno_items(value, (), auth, found)
    else:
        _read_bruno_files(path, root, auth, found)
    return found


def _read_bruno_files(path: Path, root: Path | None, auth: Headers, found: SavedCollection) -> None:
    requests: list[tuple[Folders, Any, SavedRequest]] = []
    for file in yaml_files(path):
        place = file.relative_to(path).parts[:-1]
        inner = View(read_yaml(file) if file != root else {})
        if place == (_BRUNO_ENVIRONMENTS,):
            given = variables(inner.members.get("variables"), key="name")
            found.environments[inner.text("name") or file.stem] = given
        elif "http" in inner.members or "info" in inner.members:
            request = _bruno_request(inner, file.stem, place, auth, found)
            if request is not None:
                requests.append((place, inner.object("info").get("seq"), request))
    found.requests = _in_order(requests)
    older = len(yaml_files(path, (".bru",)))
    if older:
        found.others[".bru file"] = older
        found.notes.append("Files of the .bru format are not read: have Bruno convert the collection to YAML.")


def _read_bruno_items(group: View, folders: Folders, auth: Headers, found: SavedCollection) -> None:
    for item in _items(group.members.get("items")):
        name = View(item.object("info")).text("name")
        if isinstance(item.members.get("items"), list):
            if len(folders) < MAX_DEPTH:
                _read_bruno_items(item, (*folders, name), auth, found)
            continue
        request = _bruno_request(item, name, folders, auth, found)
        if request is not None:
            found.requests.append(request)


def _bruno_request(
    value: View, name: str, folders: Folders, auth: Headers, found: SavedCollection
) -> SavedRequest | None:
    info, http = View(value.object("info")), View(value.object("http"))
    kind = info.text("type")
    if not http.members:
        if kind not in ("folder", "collection", "workspace", ""):
            found.others[f"{kind} request"] += 1
        return None
    found.others["script"] += len(_items(View(value.object("runtime")).members.get("scripts")))
    body = View(http.object("body"))
    data = body.text("data") if body.text("type") in ("json", "text") else ""
    own = http.members.get("auth")
    headers = (auth if own in (None, "inherit") else bearer(own)) + fields(http.members.get("headers"))
    return SavedRequest(folders, info.text("name") or name, http.text("url"), _posted(http, data), headers)


_INSOMNIA_TYPES = re.compile(r"(?:collection|spec|mcpClient|environment|mock)\.insomnia(?:\.rest)?/5\.")
_INSOMNIA_TEMPLATE = re.compile(r"\{\{\s*_?\.?([A-Za-z_][\w.-]*?)\s*\}\}")
_INSOMNIA_KINDS = {"req": "HTTP request", "greq": "gRPC request", "ws-req": "WebSocket request"}


def _fits_insomnia(path: Path) -> bool:
    is_yaml = path.is_file() and path.suffix in (".yml", ".yaml")
    return is_yaml and _INSOMNIA_TYPES.match(View(read_yaml(path)).text("type")) is not None


def _read_insomnia(path: Path) -> SavedCollection:
    """Read a collection of Insomnia in YAML, format 5.

    A request is HTTP: a POST whose body is a JSON-RPC message is a request of MCP. A file of an MCP client
    (`mcpClient.insomnia/5.0`) names a server and has no calls. Templates are `{{ _.name }}`.
    Source: https://developer.konghq.com/insomnia/
    """
    value = View(read_yaml(path))
    found = SavedCollection(value.text("name") or path.stem)
    bases = value.members.get("environments")
    for base in _items([bases] if isinstance(bases, dict) else bases):
        found.variables |= _flat(base.members.get("data"))
        for inner in _items(base.members.get("subEnvironments")):
            found.environments[inner.text("name") or "environment"] = _flat(inner.members.get("data"))
    if isinstance(value.members.get("mcpRequest"), dict):
        found.others["MCP client"] += 1
        server = _plain(View(value.members["mcpRequest"]).text("url"))
        if server:
            found.notes.append(f"The MCP client connects to {server}: name it with inspector run … -- SERVER.")
    _read_insomnia_items(value.members.get("collection"), (), (), found)
    return found


def _read_insomnia_items(value: Any, folders: Folders, auth: Headers, found: SavedCollection) -> None:
    for item in sorted(_items(value), key=_insomnia_place):
        name, own = item.text("name"), item.object("authentication")
        inner = bearer(own) if own and own.get("type") not in (None, "", "none") else auth
        found.others["script"] += len([each for each in item.object("scripts").values() if each])
        if isinstance(item.members.get("children"), list):
            if len(folders) < MAX_DEPTH:
                _read_insomnia_items(item.members["children"], (*folders, name), inner, found)
        elif item.text("method"):
            message = _posted(item, View(item.object("body")).text("text"))
            given = inner + fields(item.members.get("headers"))
            headers = tuple((name, _plain(value)) for name, value in given)
            found.requests.append(SavedRequest(folders, name, _plain(item.text("url")), _plain(message), headers))
        else:
            kind = View(item.object("meta")).text("id").partition("_")[0]
            found.others[_INSOMNIA_KINDS.get(kind, "other request")] += 1


def _insomnia_place(item: View) -> float:
    """Where an item stands among its siblings; items without a key stay in the order of the file."""
    key = item.object("meta").get("sortKey")
    return key if isinstance(key, int | float) else 0


def _plain(value: str) -> str:
    """A text with templates as `{{name}}`; a nested name is joined by underscores."""
    return _INSOMNIA_TEMPLATE.sub(lambda found: "{{" + found[1].replace(".", "_") + "}}", value)


def _flat(value: Any, prefix: str = "", depth: int = 0) -> dict[str, SavedVariable]:
    """The values of an environment, nested objects joined by underscores as `_plain` does."""
    found: dict[str, SavedVariable] = {}
    for name, item in value.items() if isinstance(value, dict) else ():
        if isinstance(item, dict) and depth < MAX_DEPTH:
            found |= _flat(item, f"{prefix}{name}_", depth + 1)
        else:
            found[f"{prefix}{name}"] = SavedVariable(_plain(item) if isinstance(item, str) else item)
    return found


CLIENTS = {
    "postman": CollectionReader("Postman", _fits_postman, _read_postman),
    "bruno": CollectionReader("Bruno", _fits_bruno, _read_bruno),
    "insomnia": CollectionReader("Insomnia", _fits_insomnia, _read_insomnia),
}
"""The readers by the word for `--from`."""
