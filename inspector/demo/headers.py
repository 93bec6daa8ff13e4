"""The HTTP headers that repeat parts of a request (2026-07-28), compared with the request itself."""

from __future__ import annotations

import re

from inspector.demo.rpc import HEADER_MISMATCH, RpcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, NoReturn

    from inspector.demo.server_state import DemoState
    from inspector.serving.base import RequestHead

VERSION = "MCP-Protocol-Version"
# The parameter that Mcp-Name repeats, by method.
_NAMED = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
_PLAIN = re.compile(r"[\t\x20-\x7e]*")
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_INTEGER = re.compile(r"(-?[0-9]{1,30})(\.0{1,30})?")
_SAFE = 2**53 - 1


def check_version(head: RequestHead, revision: str) -> None:
    """Raises RpcError (-32020) if the header does not have the request's revision."""
    said = _read(head, VERSION)
    if said != revision:
        _refuse(VERSION, said, revision)


def check_headers(head: RequestHead, message: dict[str, Any], world: DemoState) -> None:
    """Raises RpcError (-32020) if another header is missing or differs from the request."""
    method, params = message["method"], message["params"]
    said = _read(head, "Mcp-Method")
    if said != method:
        _refuse("Mcp-Method", said, method)
    name = params.get(_NAMED.get(method))
    if isinstance(name, str):
        said = _read(head, "Mcp-Name", encoded=True)
        if said != name:
            _refuse("Mcp-Name", said, name)
    tool = world.find_tool(name) if method == "tools/call" else None
    if tool is not None:
        for header, path in mirrored(tool.definition["inputSchema"]).items():
            _check_parameter(head, "Mcp-Param-" + header, _at(path, params.get("arguments")))


def mirrored(schema: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Returns the headers that repeat a tool's arguments, as paths; none if one of its annotations is invalid."""
    found: dict[str, tuple[str, ...]] = {}
    for header, path, part in _annotated(schema, ()):
        valid = isinstance(header, str) and _TOKEN.fullmatch(header)
        if not valid or part.get("type") not in ("string", "integer", "boolean"):
            return {}
        if header.lower() in map(str.lower, found):
            return {}
        found[header] = path
    return found


def _annotated(schema: dict[str, Any], path: tuple[str, ...]) -> Iterator[tuple[Any, tuple[str, ...], dict[str, Any]]]:
    for name, part in schema.get("properties", {}).items():
        if isinstance(part, dict):
            if "x-mcp-header" in part:
                yield part["x-mcp-header"], (*path, name), part
            yield from _annotated(part, (*path, name))


def _at(path: tuple[str, ...], value: Any) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _check_parameter(head: RequestHead, header: str, value: Any) -> None:
    said = _read(head, header, encoded=True)
    if isinstance(value, bool):
        same = said == ("true" if value else "false")
    elif isinstance(value, (int, float)):
        number = _INTEGER.fullmatch(said or "")
        same = number is not None and int(number[1]) == value and abs(value) <= _SAFE
    else:  # other values cannot be repeated; whether they are valid is up to their schema
        same = said == (value if isinstance(value, str) else None)
    if not same:
        _refuse(header, said, value)


def _read(head: RequestHead, header: str, *, encoded: bool = False) -> str | None:
    """Returns the value of a header; None if it is missing."""
    every = [value for name, value in head.fields if name.lower() == header.lower()]
    if not every:
        return None
    if len(every) > 1:
        raise RpcError(HEADER_MISMATCH, f"Header mismatch: {header} occurs {len(every)} times", status=400)
    said: str = every[0].strip(" \t")
    if not _PLAIN.fullmatch(said):
        raise RpcError(HEADER_MISMATCH, f"Header mismatch: {header} contains invalid characters", status=400)
    if encoded and said.startswith("=?base64?") and said.endswith("?=") and len(said) >= len("=?base64??="):
        return _decode(header, said[len("=?base64?") : -len("?=")])
    return said


def _decode(header: str, text: str) -> str:
    from base64 import b64decode

    try:
        return b64decode(text, validate=True).decode("utf-8")
    except ValueError:
        raise RpcError(HEADER_MISMATCH, f"Header mismatch: {header} is not Base64 of UTF-8", status=400) from None


def _refuse(header: str, said: str | None, wanted: Any) -> NoReturn:
    what = "is missing" if said is None else f"says {said!r}"
    raise RpcError(HEADER_MISMATCH, f"Header mismatch: {header} {what}, the request {wanted!r}", status=400)
