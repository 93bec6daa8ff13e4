"""HTTP requests from another tool (HTTP archives, the official MCP Inspector): those of MCP, as a session over HTTP.

These formats have no times for the messages of a stream. Each gets the time of the stream's start, a response at the
earliest the time of its request, and the response to the stream's own request the time of its end.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from inspector.formats.recording_builder import (
    RecordingBuilder,
    http_target,
    stdio_target,
)
from inspector.journal import channels
from inspector.journal.format import Dir
from inspector.protocol.jsonrpc import NotJson, Shape, id_key, parse, shape_of
from inspector.text import quantity
from inspector.transports.sse_stream import SseEvent, SseParser

_STREAM = "text/event-stream"
_MCP_HEADERS = frozenset(("mcp-session-id", "mcp-protocol-version", "mcp-method"))
_SAYS_NOTHING = (b"", b"accepted", b"ok")
"""Bodies that servers send for a message that needs no response."""


@dataclass(slots=True)
class WebExchange:
    """One HTTP request. Times are microseconds of Unix time."""

    begun: int
    answered: int
    """When the head of the response arrived."""
    ended: int
    method: str
    url: str
    headers: list[tuple[str, str]]
    sent: bytes
    status: int | None
    reason: str
    version: str
    answer_headers: list[tuple[str, str]]
    body: bytes | None
    login: bool = False
    """Whether the tool marks it as part of a login."""
    over_stdio: str = ""
    """The sender (`client`, `server`) if it was converted from stdio."""

    @property
    def address(self) -> str:
        """The URL without query and fragment."""
        return self.url.partition("#")[0].partition("?")[0]

    @property
    def streams(self) -> bool:
        """Whether the response is an event stream."""
        media = next((value for name, value in self.answer_headers if name.lower() == "content-type"), "")
        return media.lower().lstrip().startswith(_STREAM)


def record_exchanges(maker: RecordingBuilder, exchanges: list[WebExchange], tool: str) -> None:
    """Record the MCP requests among `exchanges`, in order of time, and note the number of the others."""
    mcp_exchanges = _of_mcp(exchanges)
    if not mcp_exchanges:
        bare = sum(_lacks_body(exchange) for exchange in exchanges)
        lacks = f"it does not contain the bodies of {quantity(bare, 'POST request')}: save the archive with content"
        why = f"; {lacks}" if bare else ""
        maker.note(f"none of its {len(exchanges):,} requests is an MCP request{why}.")
        return
    started = min(exchange.begun for exchange in mcp_exchanges)
    first = next(exchange for exchange in mcp_exchanges if not exchange.login)
    target = stdio_target(None) if first.over_stdio else http_target(first.address)
    if not first.over_stdio and _names_endpoint(first):
        target[0]["transport"] = "sse"
    maker.begin(started, target, tool)
    left = len(exchanges) - len(mcp_exchanges)
    if left:
        maker.note(f"Of its {len(exchanges):,} requests, {left:,} are not MCP requests and are skipped.")
    layout = _Layout(maker, mcp_exchanges)
    for number, exchange in enumerate(mcp_exchanges, 1):
        layout.lay(exchange, number)
    layout.record()
    if any(exchange.over_stdio for exchange in mcp_exchanges):
        maker.note("An archive of stdio messages does not keep stderr and the server's exit.")
    if any(exchange.streams for exchange in mcp_exchanges):
        maker.note("It does not contain the times of messages within event streams: these times are estimated.")
    bare = sum(_lacks_body(exchange) for exchange in mcp_exchanges)
    if bare:
        maker.note(f"It does not contain the bodies of {quantity(bare, 'request')}.")
    if any(exchange.body is None and exchange.status == 200 and not exchange.login for exchange in mcp_exchanges):
        maker.note("It does not contain the bodies of some responses.")


def _of_mcp(exchanges: list[WebExchange]) -> list[WebExchange]:
    """Return the MCP requests, sorted by their start."""
    addresses = {exchange.address for exchange in exchanges if exchange.method == "POST" and _has_message(exchange)}
    addresses |= {exchange.address for exchange in exchanges if _names_endpoint(exchange)}
    mcp_exchanges = [
        exchange
        for exchange in exchanges
        if exchange.login
        or exchange.over_stdio
        or (exchange.method in ("POST", "GET", "DELETE") and exchange.address in addresses)
    ]
    if all(exchange.login for exchange in mcp_exchanges):
        return []
    return sorted(mcp_exchanges, key=lambda exchange: exchange.begun)


def _lacks_body(exchange: WebExchange) -> bool:
    """Whether this is a request that has a body, which the file does not contain."""
    return exchange.method == "POST" and not exchange.sent and not exchange.login and not exchange.over_stdio


def _has_message(exchange: WebExchange) -> bool:
    """Whether a POST is one of MCP: by its body, or, without one, by its header fields and its answer."""
    if exchange.sent:
        return _is_message(exchange.sent)
    if any(name.lower() in _MCP_HEADERS for name, _ in exchange.headers):
        return True
    answer = exchange.body or b""
    return any(_is_message(event.data or b"") for event in _events(answer)) if exchange.streams else _is_message(answer)


def _is_message(data: bytes) -> bool:
    if b"jsonrpc" not in data:
        return False
    try:
        value = parse(data)
    except NotJson:
        return False
    items = value if type(value) is list else [value]
    return any(type(item) is dict and "jsonrpc" in item and shape_of(item) is not Shape.NONE for item in items)


def _names_endpoint(exchange: WebExchange) -> bool:
    """Whether this is the event stream of an HTTP+SSE server."""
    if exchange.method != "GET" or not exchange.streams or not exchange.body:
        return False
    return any(event.type == "endpoint" for event in _events(exchange.body[:65536]))


def _events(body: bytes) -> Iterator[SseEvent]:
    parser = SseParser()
    yield from parser.feed(body)
    rest = parser.end()
    if rest is not None:
        yield rest


class _Layout:
    """Sorts the events of all requests into one order."""

    def __init__(self, maker: RecordingBuilder, exchanges: list[WebExchange]) -> None:
        self._maker = maker
        self._events: list[tuple[int, int, Callable[[], Any]]] = []
        self._asked: dict[Any, list[int]] = {}
        """Send times of the requests with an id, ascending."""
        for exchange in exchanges:
            id = None if exchange.login or exchange.over_stdio else _id_of(exchange.sent, Shape.REQUEST)
            if id is not None:
                self._asked.setdefault(id, []).append(exchange.begun)

    def _add(self, time: int, record: Callable[[], Any]) -> None:
        self._events.append((time, len(self._events), record))

    def record(self) -> None:
        """Record all events."""
        for time, _, record in sorted(self._events, key=lambda event: event[:2]):
            self._maker.at(time)
            record()

    def lay(self, exchange: WebExchange, number: int) -> None:
        """Add the events of one request, after those that started before it."""
        if exchange.login:
            self._add(exchange.begun, lambda: _record_login(self._maker, exchange))
        elif exchange.over_stdio:
            self._lay_stdio(exchange)
        else:
            self._lay_http(exchange, channels.of_request(exchange.method, number))

    def _lay_stdio(self, exchange: WebExchange) -> None:
        ways = (Dir.SEND, Dir.RECV) if exchange.over_stdio == "client" else (Dir.RECV, Dir.SEND)
        maker = self._maker
        self._add(exchange.begun, lambda: maker.message(ways[0], channels.STDIO, exchange.sent))
        if exchange.status is not None and exchange.body:
            answer = exchange.body
            self._add(exchange.ended, lambda: maker.message(ways[1], channels.STDIO, answer))

    def _lay_http(self, exchange: WebExchange, channel: str) -> None:
        maker = self._maker
        own = _id_of(exchange.sent, Shape.REQUEST)
        if exchange.sent and exchange.method == "POST":
            self._add(exchange.begun, lambda: maker.message(Dir.SEND, channel, exchange.sent))
        self._add(exchange.begun, lambda: _record_head(maker, exchange, channel))
        if exchange.status is None:
            return
        self._add(exchange.answered, lambda: _record_answer(maker, exchange, channel))
        if exchange.body and exchange.streams:
            self._lay_stream(exchange, channel, own)
        elif exchange.body and exchange.body.strip().lower() not in _SAYS_NOTHING:
            body = exchange.body
            status = {} if exchange.status == 200 else {"status": exchange.status}
            self._add(exchange.ended, lambda: maker.message(Dir.RECV, channel, body, **status))

    def _lay_stream(self, exchange: WebExchange, channel: str, own: Any) -> None:
        time = exchange.answered
        for event in _events(exchange.body or b""):
            answers = _id_of(event.data, Shape.RESULT, Shape.ERROR) if event.data else None
            if answers is not None:
                asked = self._asked.get(answers, [])
                later = bisect_left(asked, exchange.begun)
                time = max(time, exchange.ended if answers == own else asked[later] + 1 if later < len(asked) else 0)
            self._add(time, lambda event=event: _record_event(self._maker, channel, event))  # type: ignore[misc]


def _id_of(data: bytes, *shapes: Shape) -> Any:
    """Return the id of a message of one of these shapes, as a key; None without one."""
    try:
        value = parse(data)
    except NotJson:
        return None
    return id_key(value.get("id")) if shape_of(value) in shapes else None


def _record_head(maker: RecordingBuilder, exchange: WebExchange, channel: str) -> None:
    maker.learn(exchange.headers)
    maker.journal.record_http(channel, Dir.SEND, method=exchange.method, url=exchange.url, headers=exchange.headers)


def _record_answer(maker: RecordingBuilder, exchange: WebExchange, channel: str) -> None:
    maker.learn(exchange.answer_headers)
    fields: dict[str, Any] = {"status": exchange.status, "reason": exchange.reason}
    if exchange.version:
        fields["version"] = exchange.version
    waited = (exchange.answered - exchange.begun) / 1000
    maker.journal.record_http(channel, Dir.RECV, **fields, headers=exchange.answer_headers, ms=round(waited, 3))


def _record_event(maker: RecordingBuilder, channel: str, event: SseEvent) -> None:
    """Record one event of a stream, as a session does."""
    about: dict[str, Any] = {"event": event.type} if event.type else {}
    if event.id is not None:
        about["id"] = event.id
    if event.retry is not None:
        about["retry"] = event.retry
    if event.data and event.type in ("", "message"):
        maker.message(Dir.RECV, channel, event.data, **({"sse": about} if about else {}))
        return
    text = event.line if event.line is not None else event.data or b""
    maker.journal.record_sse(channel, text.decode("utf-8", "replace"), **about)


def _record_login(maker: RecordingBuilder, exchange: WebExchange) -> None:
    """Record a request of a login, without its secrets."""
    try:
        host = urlsplit(exchange.url).netloc
    except ValueError:
        host = ""
    ok = exchange.status is not None and exchange.status < 400
    maker.journal.record_auth(
        "fetch",
        ok,
        f"{exchange.method} {host}: {exchange.status if exchange.status is not None else 'no response'}",
        facts={
            "request": {
                "method": exchange.method,
                "url": exchange.url,
                "headers": exchange.headers,
                "body": exchange.sent.decode("utf-8", "replace"),
            },
            "response": {
                "status": exchange.status,
                "headers": exchange.answer_headers,
                "body": (exchange.body or b"").decode("utf-8", "replace"),
            },
        },
    )
