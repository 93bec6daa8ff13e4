"""Rules about HTTP: statuses, content types, event streams. The state of one exchange is kept by its channel.

Each method handles one event with a bounded amount of work. Ids are those of the check list (HTTP-…, SSE-…, ECO-…).
The endpoint event identifies the HTTP+SSE transport of 2024-11-05, to which rules of Streamable HTTP do not apply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from inspector.check.judge.rules import RuleVerdict, is_error_response, short
from inspector.check.judge.state import JudgeState
from inspector.journal import channels
from inspector.journal.format import Dir, Event
from inspector.journal.index import Index
from inspector.protocol.jsonrpc import Shape, shape_of
from inspector.protocol.members import object_at

JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream"
LISTEN = "subscriptions/listen"
MAX_EXCHANGES = 4096
MAX_IDS = 50_000
LATER = 3
"""Responses to other requests after which an unfinished stream counts as left open."""
_CHANGES = re.compile(r"notifications/(?:(?:tools|resources|prompts)/list_changed|resources/updated)")
_AUTH_STATUSES = (401, 403)
_KEPT_TYPES = ("", "message", "endpoint")
SESSION_FIELD = "mcp-session-id"
_AUTH_WORDS = re.compile(r"\b401\b|unauthori[sz]ed|bearer|www-authenticate", re.IGNORECASE)
_FIRST_METHODS = frozenset(
    (
        "initialize",
        "server/discover",
        "ping",
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
    )
)


class ObservedExchange:
    """One HTTP request and its response so far."""

    __slots__ = (
        "answers",
        "begun",
        "ended",
        "expected",
        "ids",
        "later",
        "method",
        "response_n",
        "resumes",
        "rpc",
        "rpc_n",
        "session",
        "shape",
        "status",
        "stream",
        "stream_n",
    )

    def __init__(self, rpc: str, rpc_n: int, shape: Shape, expected: int) -> None:
        self.rpc = rpc
        self.rpc_n = rpc_n
        self.shape = shape
        self.expected = expected
        """The number of responses that it should contain."""
        self.method = ""
        self.resumes = False
        self.session = ""
        """The session id in the request, or in the response to `initialize`."""
        self.status = 0
        self.stream = False
        self.stream_n = 0
        self.begun = False
        """Whether its stream has brought an event."""
        self.ids = False
        """Whether an event had an id."""
        self.answers = 0
        self.response_n = 0
        self.ended = False
        self.later = 0


class HttpWatch:
    """The state of the exchanges of one connection. Bounded in size."""

    def __init__(self, *, thorough: bool) -> None:
        self.thorough = thorough
        self.old = False
        """The transport is HTTP+SSE."""
        self._exchanges: dict[str, ObservedExchange] = {}
        self._origin = ""
        self._ids: set[tuple[str, str]] = set()
        """Pairs of session id and event id. A second `initialize` on the same connection starts another session."""
        self._open: dict[str, ObservedExchange] = {}
        """Streams that have brought all their responses but have not ended."""
        self._reported: set[str] = set()

    # Sent by the client

    def sent(self, event: Event, message: Any) -> None:
        """The client sent a message on its own channel."""
        if not channels.is_post(event.ch):
            return
        shape = shape_of(message)
        method = message["method"] if shape in (Shape.REQUEST, Shape.NOTIFICATION) else ""
        expected = 1 if shape is Shape.REQUEST else 0
        if shape is Shape.BATCH:
            expected = sum(shape_of(item) is Shape.REQUEST for item in message)
        self._keep(event.ch, ObservedExchange(method, event.n, shape, expected))

    def _keep(self, channel: str, exchange: ObservedExchange) -> None:
        self._exchanges.pop(channel, None)
        self._exchanges[channel] = exchange
        if len(self._exchanges) > MAX_EXCHANGES:
            del self._exchanges[next(iter(self._exchanges))]

    def head(self, event: Event, state: JudgeState) -> Iterator[RuleVerdict]:
        """The headers of a request or response."""
        if event.dir == Dir.SEND:
            self._asked(event)
        elif event.dir == Dir.RECV:
            yield from self._answered(event, state)

    def _asked(self, event: Event) -> None:
        method = event.fields.get("method")
        exchange = self._exchanges.get(event.ch)
        if exchange is None or method != "POST":
            if exchange is None:
                exchange = ObservedExchange("", 0, Shape.NONE, 0)
            exchange.resumes = _field(event, "last-event-id") is not None
            exchange.begun = exchange.ended = False
            self._keep(event.ch, exchange)
        exchange.method = method if type(method) is str else ""
        exchange.session = _field(event, SESSION_FIELD) or ""
        url = event.fields.get("url")
        if type(url) is str and channels.is_get(event.ch):
            self._origin = _origin(url)

    # Response headers

    def _answered(self, event: Event, state: JudgeState) -> Iterator[RuleVerdict]:
        exchange = self._exchanges.get(event.ch)
        status = event.fields.get("status")
        if exchange is None or type(status) is not int:
            return
        kind = _media_type(event)
        exchange.status = status
        exchange.stream = 200 <= status < 300 and kind == STREAM_TYPE
        exchange.stream_n = event.n
        exchange.session = exchange.session or _field(event, SESSION_FIELD) or ""
        if status == 429 and _field(event, "retry-after") is None:
            yield "ECO-17", "note", "The response with status 429 has no Retry-After."
        if self.old or exchange.method != "POST":
            return
        if 200 <= status < 300:
            yield from self._accepted(event, exchange, kind)
        if not self.thorough:
            return
        if exchange.stream and state.era == "modern":
            buffering = _field(event, "x-accel-buffering")
            if (buffering or "").strip().lower() != "no":
                yield "HTTP-18", "should", "The event stream has no X-Accel-Buffering: no."
        if _field(event, "mcp-protocol-version") is None and self._once("ECO-04"):
            yield "ECO-04", "note", "The responses have no MCP-Protocol-Version."
        charset = _charset(event)
        if charset not in ("", "utf-8"):
            yield "ECO-11", "note", f"Content-Type names the charset {short(charset)}."

    def _accepted(self, event: Event, exchange: ObservedExchange, kind: str) -> Iterator[RuleVerdict]:
        status = exchange.status
        if exchange.expected:
            if status == 202 and kind not in (JSON_TYPE, STREAM_TYPE):
                yield (
                    "HTTP-02",
                    "must",
                    f"The response to {short(exchange.rpc)} is status 202 without a JSON-RPC response.",
                )
            elif kind not in (JSON_TYPE, STREAM_TYPE):
                yield "HTTP-02", "must", f"The response to {short(exchange.rpc)} has the Content-Type {short(kind)}."
        elif exchange.shape is not Shape.NONE and status != 202:
            yield "HTTP-03", "must", f"The status for a notification or response is {status}, not 202."

    # Bodies and streams

    def received(self, event: Event, message: Any, index: Index, state: JudgeState) -> Iterator[RuleVerdict]:
        """A body, or an event with a message; `message` is None if it is not JSON."""
        exchange = self._exchanges.get(event.ch)
        if exchange is None:
            return
        if exchange.stream:
            yield from self._event(event, exchange, state, bare=False)
        if self.old:
            return
        if exchange.method == "POST" and exchange.shape is not Shape.NONE:
            if not exchange.expected and 200 <= exchange.status < 300 and not exchange.stream:
                yield "HTTP-03", "must", f"Status {exchange.status} for a notification or response has a body."
            refuses = exchange.status >= 400 and exchange.status not in _AUTH_STATUSES
            # Before the handshake, it may be the URL of an HTTP+SSE server, which takes no POST.
            if refuses and (state.introduced or state.revision) and not is_error_response(message):
                yield "HTTP-14", "should", f"The body of status {exchange.status} is not a JSON-RPC error."
            if self.thorough and not exchange.stream and event.bytes.strip(b" \t\r\n") != event.bytes:
                yield "ECO-11", "note", "The body has white space around its JSON."
        for item in message if type(message) is list else (message,):
            yield from self._item(event, exchange, item, index, state)

    def _item(
        self, event: Event, exchange: ObservedExchange, message: Any, index: Index, state: JudgeState
    ) -> Iterator[RuleVerdict]:
        shape = shape_of(message)
        if shape in (Shape.RESULT, Shape.ERROR):
            if channels.is_get(event.ch) and not exchange.resumes:
                yield "HTTP-37", "must", "The GET stream contained a response."
            exchange.answers += 1
            exchange.response_n = event.n
            self._count(event.ch, exchange)
        elif exchange.stream and exchange.rpc_n and exchange.answers >= exchange.expected > 0:
            what = short(message.get("method") if type(message) is dict else message)
            yield "HTTP-15", "should", f"{what} came on a stream after its response."
        elif shape is Shape.NOTIFICATION and exchange.stream and exchange.expected and exchange.rpc != LISTEN:
            yield from self._related(event, exchange, message["method"], index, state)

    def _count(self, channel: str, exchange: ObservedExchange) -> None:
        """A response came: streams that should have ended before are still open one response later."""
        for other in self._open.values():
            other.later += 1
        if exchange.stream and exchange.rpc_n and exchange.answers >= exchange.expected and len(self._open) < 100:
            self._open[channel] = exchange

    def _related(
        self, event: Event, exchange: ObservedExchange, method: str, index: Index, state: JudgeState
    ) -> Iterator[RuleVerdict]:
        if method == "notifications/progress":
            request = index.pair(event.n)
            if state.era == "legacy" and request and request != exchange.rpc_n:
                yield "HTTP-17", "should", f"Progress of another request came on the stream of {short(exchange.rpc)}."
        elif _CHANGES.fullmatch(method):
            level = "should" if state.era == "modern" else "note"
            yield "HTTP-17", level, f"{method} came on the stream of {short(exchange.rpc)}."  # type: ignore[misc]

    def bare_event(self, event: Event, state: JudgeState) -> Iterator[RuleVerdict]:
        """An event without a message, or lines without effect."""
        exchange = self._exchanges.get(event.ch)
        if exchange is None:
            return
        text = event.text
        if event.fields.get("event") == "endpoint":
            self.old = True
            if exchange.begun:
                yield "SSE-01", "must", "An event came before the endpoint event."
            target = _origin(text.strip())
            if target and self._origin and target != self._origin:
                yield (
                    "SSE-03",
                    "must",
                    f"The origin of the endpoint is {short(target)}, that of the stream is {self._origin}.",
                )
        yield from self._event(event, exchange, state, bare=True)
        if self.thorough and not {"event", "id", "retry"} & event.fields.keys():
            odd = [line for line in text.split("\n", 20)[:20] if line and not line.startswith((":", "data"))]
            if odd:
                yield "HTTP-20", "should", f"The stream has the unknown line {short(odd[0])}."

    def _event(
        self, event: Event, exchange: ObservedExchange, state: JudgeState, *, bare: bool
    ) -> Iterator[RuleVerdict]:
        """The id and type of an event on a stream."""
        fields = event.fields if bare else object_at(event.fields.get("sse"))
        kind, id = fields.get("event", ""), fields.get("id")
        if bare and not {"event", "id", "retry"} & fields.keys() and event.text.startswith(":"):
            return
        first, exchange.begun = not exchange.begun, True
        if kind not in _KEPT_TYPES and self.old and not bare:
            yield "SSE-02", "must", f"A message came as an event of type {short(kind)}."
        elif kind not in _KEPT_TYPES and self.thorough and not self.old:
            yield "HTTP-20", "should", f"An event has the type {short(kind)}."
        if self.old:
            return
        if (
            first
            and self.thorough
            and state.features.primed_streams
            and exchange.rpc_n
            and not (bare and id)
            and not exchange.resumes
        ):
            level = "should" if id else "note"
            yield "HTTP-41", level, "A stream does not start with an event that has an id and empty data."  # type: ignore[misc]
        if type(id) is str and id:
            exchange.ids = True
            yield from self._identified(id, exchange, state)

    def _identified(self, id: str, exchange: ObservedExchange, state: JudgeState) -> Iterator[RuleVerdict]:
        if state.era == "modern":
            if self._once("HTTP-74"):
                yield "HTTP-74", "note", "Events have ids, but this revision has no resumption."
        elif (exchange.session, id) in self._ids and not exchange.resumes:
            yield "HTTP-39", "must", f"The event id {short(id)} is not unique."
        elif len(self._ids) < MAX_IDS:
            self._ids.add((exchange.session, id))

    # Ends

    def life(self, event: Event, state: JudgeState) -> Iterator[RuleVerdict]:
        """The end or resumption of a stream, or a new session, in which event ids start again."""
        what = event.fields.get("event")
        if what == "session":
            self._ids.clear()
        exchange = self._exchanges.get(event.ch)
        if what not in ("stream-end", "stream-closed") or exchange is None:
            return
        exchange.ended = True
        self._open.pop(event.ch, None)
        if what == "stream-closed" or self.old or exchange.rpc == LISTEN or not exchange.rpc_n:
            return
        resumable = exchange.ids and state.features.resumable
        if exchange.answers < exchange.expected and not resumable:
            yield "HTTP-16", "should", f"The stream of {short(exchange.rpc)} ended before the response."

    def end(self) -> Iterator[tuple[int, RuleVerdict]]:
        """Findings that are certain only at the end of the recording. Yields them once."""
        left, self._open = self._open, {}
        for exchange in left.values():
            if exchange.later >= LATER:
                yield (
                    exchange.response_n,
                    ("HTTP-15", "should", f"The stream of {short(exchange.rpc)} did not end after its response."),
                )

    def _once(self, rule: str) -> bool:
        """Whether this is the first such finding on this connection."""
        new = rule not in self._reported
        self._reported.add(rule)
        return new


def stdio_error_rules(method: str, error: Any) -> Iterator[RuleVerdict]:
    """Authorization belongs to HTTP: over stdio a client cannot respond to a challenge."""
    words = error.get("message") if type(error) is dict else None
    if method in _FIRST_METHODS and type(words) is str and _AUTH_WORDS.search(words[:2000]):
        yield "STDIO-12", "should", f"{method} was rejected with {short(words)}."


def _field(event: Event, name: str) -> str | None:
    headers = event.fields.get("headers")
    for pair in headers if type(headers) is list else ():
        if type(pair) in (list, tuple) and len(pair) == 2 and str(pair[0]).lower() == name:
            return str(pair[1])
    return None


def _media_type(event: Event) -> str:
    return (_field(event, "content-type") or "").partition(";")[0].strip().lower()


def _charset(event: Event) -> str:
    match = re.search(r";\s*charset\s*=\s*\"?([^\s\";]+)", _field(event, "content-type") or "", re.IGNORECASE)
    return match[1].lower() if match else ""


def _origin(url: str) -> str:
    """Scheme, host and port; empty for a relative reference, which has the origin of its base."""
    try:
        parts = urlsplit(url[:10_000])
        port = parts.port
    except ValueError:
        return ""
    if not parts.netloc:
        return ""
    own = {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme.lower()}://{(parts.hostname or '').lower()}" + (
        f":{port}" if port not in (None, own) else ""
    )
