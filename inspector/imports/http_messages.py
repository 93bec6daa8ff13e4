"""HTTP requests from another tool (HTTP archives, the official MCP Inspector): those of MCP, as a session over HTTP.

These formats have no times for the messages of a stream. Each gets the time of the stream's start, a response at the
earliest the time of its request, and the response to the stream's own request the time of its end.
"""

from __future__ import annotations

import base64
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from inspector.imports.recording_builder import (
    FormatReader,
    RecordingBuilder,
    Senders,
    http_target,
    moment,
    stdio_target,
)
from inspector.imports.source import JsonArrayDocument, Source, amount, encoded
from inspector.journal import channels
from inspector.journal.format import Dir
from inspector.protocol.jsonrpc import NotJson, Shape, id_key, parse, shape_of
from inspector.protocol.views import View
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


def _record_exchanges(maker: RecordingBuilder, exchanges: list[WebExchange], tool: str) -> None:
    """Record the MCP requests among `exchanges`, in order of time, and note the number of the others."""
    wanted = _of_mcp(exchanges)
    if not wanted:
        bare = sum(_lacks_body(each) for each in exchanges)
        lacks = f"it does not contain the bodies of {quantity(bare, 'POST request')}: save the archive with content"
        why = f"; {lacks}" if bare else ""
        maker.note(f"none of its {len(exchanges):,} requests is an MCP request{why}.")
        return
    started = min(exchange.begun for exchange in wanted)
    first = next(exchange for exchange in wanted if not exchange.login)
    target = stdio_target(None) if first.over_stdio else http_target(first.address)
    if not first.over_stdio and _names_endpoint(first):
        target[0]["transport"] = "sse"
    maker.begin(started, target, tool)
    left = len(exchanges) - len(wanted)
    if left:
        maker.note(f"Of its {len(exchanges):,} requests, {left:,} are not MCP requests and are skipped.")
    layout = _Layout(maker, wanted)
    for number, exchange in enumerate(wanted, 1):
        layout.lay(exchange, number)
    layout.record()
    if any(exchange.over_stdio for exchange in wanted):
        maker.note("An archive of stdio messages does not keep stderr and the server's exit.")
    if any(exchange.streams for exchange in wanted):
        maker.note("It does not contain the times of messages within event streams: these times are estimated.")
    bare = sum(_lacks_body(exchange) for exchange in wanted)
    if bare:
        maker.note(f"It does not contain the bodies of {quantity(bare, 'request')}.")
    if any(exchange.body is None and exchange.status == 200 and not exchange.login for exchange in wanted):
        maker.note("It does not contain the bodies of some responses.")


def _of_mcp(exchanges: list[WebExchange]) -> list[WebExchange]:
    """Return the MCP requests, sorted by their start."""
    addresses = {each.address for each in exchanges if each.method == "POST" and _has_message(each)}
    addresses |= {each.address for each in exchanges if _names_endpoint(each)}
    found = [
        each
        for each in exchanges
        if each.login or each.over_stdio or (each.method in ("POST", "GET", "DELETE") and each.address in addresses)
    ]
    if all(each.login for each in found):
        return []
    return sorted(found, key=lambda each: each.begun)


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


_ARCHIVE = ("log", "entries")
_BEFORE_ANSWER = ("blocked", "dns", "connect", "send", "wait")


def _read_archive(maker: RecordingBuilder) -> None:
    """Read an HTTP Archive 1.2 of browsers, proxies, and of Inspector.

    Format: http://www.softwareishard.com/blog/har-12-spec/. Inspector's archives have stdio messages as entries with
    `_synthetic`, whose `_from` names the sender of the request.
    """
    document = maker.source.document(*_ARCHIVE)
    found = []
    for place, entry in document.entries():
        begun = moment(entry.get("startedDateTime"))
        if begun is None:
            maker.unread(f"Entry {place:,}", "it has no time")
        else:
            found.append(_archived(View(entry.value), max(entry.number("time"), 0), begun))
    name = View(document.value("creator")).members.get("name")
    _record_exchanges(maker, found, name if isinstance(name, str) else "HAR")
    maker.unread_rest(document, "entry")


def _archived(entry: View, lasted: float, begun: int) -> WebExchange:
    request, response, timings = View(entry.object("request")), View(entry.object("response")), entry.object("timings")
    content = View(response.object("content"))
    waited = sum(amount(timings.get(name)) for name in _BEFORE_ANSWER)
    status, text = response.members.get("status"), content.members.get("text")
    body = None
    if isinstance(text, str):
        body = _unpacked(text) if content.members.get("encoding") == "base64" else encoded(text)
    synthetic = entry.members.get("_synthetic") is True
    return WebExchange(
        begun,
        begun + int(waited * 1000),
        begun + int(max(lasted, waited) * 1000),
        request.text("method"),
        request.text("url"),
        _archived_headers(request),
        encoded(View(request.object("postData")).text("text")),
        status if type(status) is int and status > 0 else None,
        response.text("statusText"),
        response.text("httpVersion"),
        _archived_headers(response),
        body,
        over_stdio=(entry.text("_from") or "client") if synthetic else "",
    )


def _unpacked(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except ValueError:
        return encoded(text)


def _archived_headers(message: View) -> list[tuple[str, str]]:
    """Return the header fields without HTTP/2's pseudo-headers."""
    pairs = ((View(each).members.get("name"), View(each).members.get("value")) for each in message.array("headers"))
    return [
        (name, value)
        for name, value in pairs
        if isinstance(name, str) and isinstance(value, str) and not name.startswith(":")
    ]


_ORIGINS = {"client": Dir.SEND, "server": Dir.RECV}


def _fits_official(source: Source) -> bool:
    names = source.names_of_item()
    return "timestamp" in names and bool({"message", "requestHeaders"} & names)


def _read_official(maker: RecordingBuilder) -> None:
    """Read an export of the official MCP Inspector (2.x): a JSON list of the entries of one of its tabs.

    `inspector-protocol-….json` has messages: `timestamp`, `direction` (`request`, `response`, `notification`),
    `origin` (`client`, `server`; missing in older ones), `message`, and `response` with `duration` in milliseconds if
    there was one. `inspector-network-….json` has HTTP requests: `timestamp`, `method`, `url`, `requestHeaders`,
    `requestBody`, `responseStatus`, `responseStatusText`, `responseHeaders`, `responseBody`, `duration`, `error` and
    `category` (`auth`, `transport`). `inspector-console-….json` has lines of stderr: `timestamp`, `message`. Entries in
    either order are sorted by their times.
    """
    document = maker.source.document()
    if "requestHeaders" in maker.source.names_of_item():
        _record_exchanges(maker, _official_exchanges(document, maker), "the official Inspector")
    else:
        _record_official_messages(document, maker)
    maker.unread_rest(document, "entry")


def _record_official_messages(document: JsonArrayDocument, maker: RecordingBuilder) -> None:
    """Record messages and lines of stderr; equal times keep the order of the list."""
    found: list[tuple[int, int, str]] = []
    for place, entry in document.entries():
        time = moment(entry.get("timestamp"))
        if time is None or entry.get("message") is None:
            maker.unread(f"Entry {place:,}", "it has no time or no message")
            continue
        found.append((time, place, "message"))
        if entry.get("response") is not None:
            found.append((time + int(entry.number("duration") * 1000), place, "response"))
    if not found:
        return
    found.sort(key=lambda each: each[0])
    maker.begin(found[0][0], stdio_target(None), "MCP Inspector")
    senders = Senders()
    lines = False
    for time, place, part in found:
        entry = document.entry(place)
        maker.at(time)
        if isinstance(entry.get("message"), str):
            maker.stderr(encoded(entry.text("message")))
            lines = True
            continue
        origin = _ORIGINS.get(entry.text("origin"))
        known = origin if part == "message" or origin is None else Dir.SEND if origin is Dir.RECV else Dir.RECV
        maker.message(senders.of(entry.get(part), known), channels.STDIO, entry.exact(part) or b"")
    if lines:
        maker.note("This is stderr only: the official Inspector exports messages from its Protocol tab.")
    else:
        maker.note(
            "The official Inspector keeps the latest 1,000 messages that its SDK could read, not their exact text. "
            "stderr and HTTP heads are separate exports."
        )


def _official_exchanges(document: JsonArrayDocument, maker: RecordingBuilder) -> list[WebExchange]:
    found = []
    for place, entry in document.entries():
        begun = moment(entry.get("timestamp"))
        if begun is None:
            maker.unread(f"Entry {place:,}", "it has no time")
            continue
        status, answered = entry.get("responseStatus"), begun + int(entry.number("duration") * 1000)
        answer = entry.get("responseBody")
        found.append(
            WebExchange(
                begun,
                answered,
                answered,
                entry.text("method"),
                entry.text("url"),
                _official_headers(entry.get("requestHeaders")),
                encoded(entry.text("requestBody")),
                status if type(status) is int else None,
                entry.text("responseStatusText"),
                "",
                _official_headers(entry.get("responseHeaders")),
                encoded(answer) if isinstance(answer, str) else None,
                login=entry.get("category") == "auth",
            )
        )
    return found


def _official_headers(headers: Any) -> list[tuple[str, str]]:
    return [(name, value) for name, value in View(headers).members.items() if isinstance(value, str)]


HAR = FormatReader(
    lambda source: "log" in (names := source.names(*_ARCHIVE)) and bool({"entries", "creator"} & names), _read_archive
)
OFFICIAL = FormatReader(_fits_official, _read_official)
