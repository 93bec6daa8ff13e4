"""The HTTP headers that repeat parts of a request (2026-07-28), compared with the request itself."""

from __future__ import annotations

import re

from inspector.demo.rpc import HEADER_MISMATCH, RpcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from inspector.demo.server_state import DemoState
    from inspector.serving.base import RequestHead

VERSION = "MCP-Protocol-Version"
_INTEGER = re.compile(r"(-?[0-9]{1,30})(\.0{1,30})?")
_SAFE = 2**53 - 1


def check_version(head: RequestHead, revision: str) -> None:
    """Raises RpcError (-32020) if the header does not have the request's revision."""
    sent = _read(head, VERSION)
    if sent != revision:
        _refuse(VERSION, sent, revision)


def check_headers(head: RequestHead, message: dict[str, Any], state: DemoState) -> None:
    """Raises RpcError (-32020) if another header is missing or differs from the request."""
    from inspector.protocol import headers  # only over HTTP: it would delay each start
    from inspector.protocol.members import value_at

    method, params = message["method"], message["params"]
    sent = _read(head, "Mcp-Method")
    if sent != method:
        _refuse("Mcp-Method", sent, method)
    name = params.get(headers.NAMED_BY.get(method))
    if isinstance(name, str):
        sent = _read(head, "Mcp-Name", encoded=True)
        if sent != name:
            _refuse("Mcp-Name", sent, name)
    tool = state.find_tool(name) if method == "tools/call" else None
    if tool is not None:
        mirrored, reasons = headers.mirrored(tool.definition)
        for header, path in () if reasons else mirrored:
            _check_parameter(head, header, value_at(params, "arguments", *path))


def _check_parameter(head: RequestHead, header: str, value: Any) -> None:
    sent = _read(head, header, encoded=True)
    if isinstance(value, bool):
        same = sent == ("true" if value else "false")
    elif isinstance(value, (int, float)):
        number = _INTEGER.fullmatch(sent or "")
        same = number is not None and int(number[1]) == value and abs(value) <= _SAFE
    else:  # other values cannot be repeated; whether they are valid is up to their schema
        same = sent == (value if isinstance(value, str) else None)
    if not same:
        _refuse(header, sent, value)


def _read(head: RequestHead, header: str, *, encoded: bool = False) -> str | None:
    """Returns the value of a header; None if it is missing."""
    from inspector.protocol import headers

    every = [value for name, value in head.fields if name.lower() == header.lower()]
    if not every:
        return None
    if len(every) > 1:
        raise RpcError(HEADER_MISMATCH, f"Header mismatch: {header} occurs {len(every)} times", status=400)
    sent: str = every[0].strip(" \t")
    decoded = headers.decode(sent)
    if decoded is None:
        what = "contains invalid characters, or Base64 that is not UTF-8"
        raise RpcError(HEADER_MISMATCH, f"Header mismatch: {header} {what}", status=400)
    return decoded if encoded else sent


def _refuse(header: str, sent: str | None, expected: Any) -> NoReturn:
    what = "is missing" if sent is None else f"says {sent!r}"
    raise RpcError(HEADER_MISMATCH, f"Header mismatch: {header} {what}, the request {expected!r}", status=400)
