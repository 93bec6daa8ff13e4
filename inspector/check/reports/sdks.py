"""Detects the SDK of a server, and the findings for which the SDK is responsible instead of the author.

The table has the signs of an SDK in its messages, and the checks that a minimal, correct server on it does not pass.
Each row comes from checks of such a server over stdio and Streamable HTTP, with the named versions, on 2026-11-22
(docs/reference/checks.md, section "Findings of the SDK"). Without a known SDK, every finding counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from inspector.check.result import Result, SdkOrigin
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.names import SERVER_KEY

MAX_EVENTS = 20_000
"""Messages of the server in which signs of an SDK are searched."""
_MAX_CHARACTERS = 100_000
_HANDSHAKES = ("initialize", "server/discover")


class Cause(NamedTuple):
    """A check that a correct server on an SDK does not pass."""

    check: str
    shows: str = ""
    """A regular expression that the finding must match, because an author can cause other findings of the check."""
    transports: frozenset[str] = frozenset()
    """The transports; empty for all."""
    option: str = ""
    """How an author can change it; the finding then still counts."""


class Sdk(NamedTuple):
    """An SDK, or a layer of one."""

    name: str
    """With the versions that were tested."""
    signs: tuple[tuple[str, ...], ...]
    """Regular expressions over messages of the server; all expressions of one group must match."""
    causes: tuple[Cause, ...]
    needs: str = ""
    """The name of the layer below it, without whose signs its own may be an imitation."""


class ServerIdentity(NamedTuple):
    """The identity of a server, as its recording shows it. Names are the server's own text."""

    server: str = ""
    version: str = ""
    layers: tuple[Sdk, ...] = ()

    @property
    def sdk(self) -> str:
        """The name of its SDK, or of the most specific layer; empty if unknown."""
        return self.layers[0].name if self.layers else ""


_STDIO = frozenset(("stdio",))
_WEB = frozenset(("http", "sse"))
_MIDDLEWARE = "Add a middleware that rejects a foreign Origin and Host."
_ORIGIN = r"^A request (from|for the host) \S+ was served"
_CODE_0 = r"got error 0 "
_NO_ANSWER = r"^Parameters of the wrong type got no response"
_NO_METHOD = r"^A request without a method got (no response|status 400)"
_IS_ERROR = r"^The request got a result with isError"
_FIRST_PAGE = r"with an invalid cursor got the result"
_INTERNAL = r"got error -32603 "

SDKS: tuple[Sdk, ...] = (
    # The most specific layer of a family comes first, because its name is shown.
    Sdk(
        "FastMCP 4 (Python)",
        ((r'"_meta":\{"fastmcp":', r'"code":-32601,"message":"Method not found","data":"'),),
        (
            Cause("PROM-05", _INTERNAL),
            Cause("RES-07", r"got error -32602 .{0,3}Resource not found"),
            Cause("TOOL-13", _IS_ERROR),
            Cause("UTIL-03", _FIRST_PAGE),
            Cause("HTTP-05", _ORIGIN, _WEB, _MIDDLEWARE),
            Cause("HTTP-06", _ORIGIN, _WEB, _MIDDLEWARE),
            Cause("SSE-04", transports=_WEB, option=_MIDDLEWARE),
        ),
    ),
    Sdk(
        "FastMCP 2 to 3 (Python)",
        ((r'"_meta":\{"_?fastmcp":', r'"code":-32602,"message":"Invalid request parameters","data":""'),),
        (
            Cause("BASE-25", r'^The key "_fastmcp" in _meta'),
            Cause("PROM-04", _CODE_0),
            Cause("PROM-05", _CODE_0),
            Cause("RES-07", _CODE_0),
            Cause("TOOL-13", _IS_ERROR),
            Cause("UTIL-03", _FIRST_PAGE),
            Cause("HTTP-05", _ORIGIN, _WEB, _MIDDLEWARE),
            Cause("HTTP-06", _ORIGIN, _WEB, _MIDDLEWARE),
            Cause("SSE-04", transports=_WEB, option=_MIDDLEWARE),
        ),
    ),
    Sdk(
        "Python SDK 2.3 (MCPServer)",
        ((r'"title":"\w+Arguments"', r'"code":-32601,"message":"Method not found","data":"'),),
        (
            Cause("PROM-04", f"{_CODE_0}|{_INTERNAL}"),
            Cause("PROM-05", f"{_CODE_0}|{_INTERNAL}"),
            Cause("RES-07", r"got error -32602 .{0,3}Unknown resource"),
            Cause("TOOL-13", _IS_ERROR),
            Cause("UTIL-03", _FIRST_PAGE),
        ),
    ),
    Sdk(
        "Python SDK 1.9 to 1.30 (FastMCP)",
        ((r'"title":"\w+Arguments"', r'"code":-32602,"message":"Invalid request parameters","data":""'),),
        (
            Cause("TOOL-13", _IS_ERROR),
            Cause("UTIL-03", _FIRST_PAGE),
        ),
    ),
    Sdk(
        "Python SDK 2.3",
        ((r'"code":-32601,"message":"Method not found","data":"inspector/no-such-method"',),),
        (
            Cause("BASE-05", r"^The error has the id null"),
            Cause("BASE-08", _NO_METHOD),
            Cause("BASE-09", f"{_NO_ANSWER}|Body must be a single JSON-RPC request"),
            Cause("BASE-12"),
            Cause("BASE-22", r"^The code -32000 "),
            Cause("HTTP-46"),
            Cause("HTTP-61", r"error -32600, not 400 and error -32020"),
        ),
    ),
    Sdk(
        "Python SDK 1.9 to 1.30",
        (
            (r'"code":-32602,"message":"Invalid request parameters","data":""',),
            (r'"logger":"mcp\.server\.exception_handler"',),
        ),
        (
            Cause("BASE-05", r'^The error has the id "server-error"'),
            Cause("BASE-06", r'error -32602 "Invalid request parameters"'),
            Cause("BASE-08", _NO_METHOD),
            Cause("BASE-09", _NO_ANSWER),
            Cause("BASE-12"),
            Cause("HTTP-05", _ORIGIN, _WEB, "Pass transport_security with the allowed hosts and origins."),
            Cause("HTTP-06", _ORIGIN, _WEB, "Pass transport_security with the allowed hosts and origins."),
            Cause("HTTP-46"),
            Cause("PROM-04", _CODE_0),
            Cause("PROM-05", _CODE_0),
            Cause("RES-07", _CODE_0),
            Cause("UTIL-08", r'^A log message of the logger "mcp\.server\.exception_handler" came'),
            Cause("UTIL-20", r'^Before initialize it got error -32602 "Invalid request parameters"'),
        ),
    ),
    Sdk(
        "TypeScript SDK 2",
        (
            (r"required _meta envelope for protocol revision",),
            (r'"message":"Bad Request: the request body is not a valid JSON-RPC message"',),
        ),
        (
            Cause("BASE-05", r"^The error has the id null"),
            Cause("BASE-08", _NO_METHOD),
            Cause("BASE-09", f"{_NO_ANSWER}|the request body is not a valid JSON-RPC message"),
            Cause("BASE-12", transports=_STDIO),
            Cause("HTTP-05", _ORIGIN, _WEB, _MIDDLEWARE),
            Cause("HTTP-06", _ORIGIN, _WEB, _MIDDLEWARE),
            Cause("LIFE-07", r"^tools/list was served before initialize"),
            Cause("LIFE-23", r"^A request of revision \S+ got the result", _STDIO),
            Cause("LIFE-24", r"^A request of revision \S+ got the result", _STDIO),
        ),
    ),
    Sdk(
        "TypeScript SDK 1 (McpServer)",
        ((r"MCP error -32602: (Tool|Prompt|Resource) \S+ not found",),),
        (
            Cause("CASE-02", r"^an unknown member: "),
            Cause("RES-07", r'got error -32602 "MCP error -32602: Resource '),
            Cause("TOOL-13", _IS_ERROR),
            Cause("UTIL-03", _FIRST_PAGE),
        ),
        needs="TypeScript SDK 1.32",
    ),
    Sdk(
        "TypeScript SDK 1.32 or older",
        (
            (
                r'^\{"result":.*,"jsonrpc":"2\.0","id":[^,{}]{1,80}\}$',
                r'"code":-32601,"message":"Method not found"\}\}$',
            ),
            (r'"message":"Parse error: Invalid JSON-RPC message"', r'^\{"result":'),
        ),
        (
            Cause("BASE-08", _NO_METHOD),
            Cause("BASE-09", f"{_NO_ANSWER}|Parse error: Invalid JSON-RPC message"),
            Cause("BASE-12", transports=_STDIO | {"sse"}),
            Cause("HTTP-05", _ORIGIN, _WEB, "Set enableDnsRebindingProtection, allowedOrigins and allowedHosts."),
            Cause("HTTP-06", _ORIGIN, _WEB, "Set enableDnsRebindingProtection, allowedOrigins and allowedHosts."),
            Cause(
                "SSE-04", transports=_WEB, option="Set enableDnsRebindingProtection, allowedOrigins and allowedHosts."
            ),
            Cause("LIFE-07", r"^tools/list was served before initialize"),
            Cause("UTIL-09", r"^An unknown level got error -32603"),
        ),
    ),
    Sdk(
        "Go SDK 1.8",
        (
            (r'"code":-32601,"message":"method not found: \\"inspector/no-such-method\\""',),
            # Over HTTP an unknown method gets plain text, not with a message. Other errors name its types.
            (r"into a \*mcp\.CallToolParamsRaw: json: ",),
        ),
        (
            Cause("BASE-06", r"answered 400 Bad Request to \S+: JSON RPC not handled: ", _WEB),
            Cause("BASE-07", r"did not respond: The server (ended|exited) with exit code", _STDIO),
            Cause("BASE-07", r"^Invalid JSON was rejected with status 400, without error -32700", _WEB),
            Cause("BASE-08", _NO_METHOD),
            Cause("BASE-18", r"^A request without _meta was (served|got error 0 )", _STDIO),
            Cause("LIFE-23", r"got error -32601 .{0,3}method not found", _STDIO),
            Cause("LIFE-23", r"Bad Request: Unsupported protocol version \(supported versions: ", _WEB),
            Cause("LIFE-24", r"^A request of revision \S+ got the result", _STDIO),
            Cause("LIFE-24", r"Bad Request: Unsupported protocol version \(supported versions: ", _WEB),
            Cause("RES-07", r"got error -32602 .{0,3}Resource not found"),
            Cause("STDIO-06", r"did not respond: The server (ended|exited) with exit code", _STDIO),
            Cause("UTIL-09", r"^An unknown level got the result \{\}"),
            Cause("UTIL-12", r"^The request got the result"),
        ),
    ),
)
_FAMILIES = ("Python", "TypeScript", "Go")


def recognised(journal: Journal) -> ServerIdentity:
    """The server of a recording and its SDK."""
    index = journal.index
    patterns: dict[str, re.Pattern[str]] = {
        sign: re.compile(sign) for sdk in SDKS for group in sdk.signs for sign in group
    }
    seen: set[str] = set()
    info: dict[str, Any] = {}
    taken = 0
    for n in range(1, index.count + 1):
        if index.kind(n) != Kind.RPC or index.dir(n) != Dir.RECV:
            continue
        taken += 1
        if taken > MAX_EVENTS:
            break
        event = journal.event(n)
        if not info and index.shape(n) == Shape.RESULT and index.method(n) in _HANDSHAKES:
            info = _info(event.message)
        text = event.text
        if len(text) <= _MAX_CHARACTERS:
            seen |= {sign for sign in patterns.keys() - seen if patterns[sign].search(text)}
    layers = [sdk for sdk in SDKS if any(seen.issuperset(group) for group in sdk.signs)]
    # Two generations of an SDK share some signs; those of the newer one decide.
    newer = {name for name in ("Python SDK 2", "TypeScript SDK 2", "FastMCP 4") if _has(layers, name)}
    if newer & {"Python SDK 2", "FastMCP 4"}:
        layers = [sdk for sdk in layers if not sdk.name.startswith(("Python SDK 1", "FastMCP 2"))]
    if "TypeScript SDK 2" in newer:
        layers = [sdk for sdk in layers if not sdk.name.startswith("TypeScript SDK 1")]
    if len({family for family in _FAMILIES for sdk in layers if family in sdk.name}) > 1:
        layers = []  # A gateway between two SDKs: the cause is unknown.
    layers = [sdk for sdk in layers if not sdk.needs or _has(layers, sdk.needs)]
    return ServerIdentity(_text(info.get("name")), _text(info.get("version")), tuple(layers))


def _has(layers: Iterable[Sdk], name: str) -> bool:
    return any(sdk.name.startswith(name) for sdk in layers)


def _text(value: object) -> str:
    return value if type(value) is str else ""


def _info(message: Any) -> dict[str, Any]:
    """The server's self-description in the response to initialize or server/discover."""
    result = message.get("result") if type(message) is dict else None
    if type(result) is not dict:
        return {}
    meta = result.get("_meta")
    info = result.get("serverInfo") or (meta.get(SERVER_KEY) if type(meta) is dict else None)
    return info if type(info) is dict else {}


def attributed(results: Sequence[Result], server: ServerIdentity) -> list[Result]:
    """The results, with the SDK in those for which it is responsible."""
    return [replace(result, origin=_origin(result, server.layers)) if result.is_fault else result for result in results]


def _origin(result: Result, layers: Iterable[Sdk]) -> SdkOrigin | None:
    for sdk in layers:
        for cause in sdk.causes:
            if (
                cause.check == result.check.id
                and (not cause.transports or result.visited.transport in cause.transports)
                and re.search(cause.shows, result.outcome.text)
            ):
                return SdkOrigin(sdk.name, cause.option)
    return None
