"""OTLP traces as JSON (OpenTelemetry protocol 1.x, JSON mapping), for a collector's `otlpjsonfile` receiver.

One trace for the recording, one span for the session in it, and one span per exchange, nested as the exchanges were;
messages inside a request (progress, log messages) are events of its span. A request that carries a `traceparent` in its
`_meta` (SEP-414) has that trace and parent span; one that Inspector sent with `--trace` carries the id of its own span.
Names and attributes are those of the OpenTelemetry semantic
conventions for MCP: docs/gen-ai/mcp.md of open-telemetry/semantic-conventions-genai. All ids are derived from the
recording's id and the event's number, so that the same recording results in the same spans.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import IO, Any, Protocol

from inspector.formats.json_edits import clean
from inspector.formats.selection import RecordingFacts, Selection, facts_of, left_out, message_of, target_of
from inspector.journal import trace_context
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape, excerpt
from inspector.protocol.views import View
from inspector.version import __version__

MAX_LENGTH = 1000
"""Maximum characters of an attribute's text."""
MAX_EVENTS = 128
"""Maximum events of a span: OpenTelemetry's default limit. The rest are counted in `droppedEventsCount`."""
MAX_READ = 16 << 20
"""Maximum bytes of a message that is parsed."""

_INTERNAL, _SERVER, _CLIENT = 1, 2, 3
_ERROR = 2
_LATEST = (1 << 63) - 1
_URI_METHODS = frozenset(
    ("resources/read", "resources/subscribe", "resources/unsubscribe", "notifications/resources/updated")
)
_FATES = {
    State.CANCELLED: "cancelled",
    State.TIMED_OUT: "timeout",
    State.LOST: "connection_lost",
    State.PENDING: "no_answer",
    State.LATE: "late",
}
dumps = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode

Attributes = list[dict[str, Any]]


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the document to `out`, span by span."""
    chosen = Selection(journal, numbers)
    spans = Spans(journal, chosen, facts_of(journal))
    head, tail = around_spans(spans)
    out.write(f"{head}\n")
    out.write(dumps(spans.session()))
    for exchange in chosen.exchanges():
        out.write(",\n" + dumps(spans.exchange(exchange.n)))
    for n in chosen.of(Kind.RPC):
        if spans.stands_alone(n):
            out.write(",\n" + dumps(spans.notification(n)))
    out.write(f"\n{tail}\n")
    return left_out(chosen.batches(), "batch", "batches")


def around_spans(spans: Spans) -> tuple[str, str]:
    """Return the text of a document before and after its spans, which commas separate."""
    resource = dumps({"attributes": spans.resource()})
    scope = dumps({"name": "Inspector", "version": __version__})
    return f'{{"resourceSpans":[{{"resource":{resource},"scopeSpans":[{{"scope":{scope},"spans":[', "]}]}]}"


def attribute(key: str, value: object) -> dict[str, Any]:
    """Return a `KeyValue`. An int64 is a string in the JSON mapping of Protocol Buffers."""
    if type(value) is bool:
        return {"key": key, "value": {"boolValue": value}}
    if type(value) is int and -(1 << 63) <= value < 1 << 63:
        return {"key": key, "value": {"intValue": str(value)}}
    text = value if isinstance(value, str) else excerpt(value, MAX_LENGTH)
    return {"key": key, "value": {"stringValue": clean(text[:MAX_LENGTH])}}


class SpanSource(Protocol):
    """The events that the spans are made of: all of a recording, some of it, or those so far."""

    def __contains__(self, n: int, /) -> bool:
        """Whether event `n` has a span."""

    def answer(self, request: int, /) -> int:
        """Return the event that answers only this request; 0 without one."""

    def inside(self, request: int, /) -> Iterable[int]:
        """Return the notifications and questions inside a request, ascending."""


class Spans:
    """Creates the spans of one recording."""

    def __init__(self, journal: Journal, chosen: SpanSource, facts: RecordingFacts) -> None:
        self._journal = journal
        self._chosen = chosen
        self._facts = facts
        self._zero = _nanoseconds(journal)
        self._seed = journal.header.get("id")
        self._trace = trace_context.trace_of(self._seed)
        self._root = self._id("session")
        self._common = self._of_connection()

    def _id(self, name: str) -> str:
        return trace_context.derived_id(self._seed, name, 16)

    def _span_id(self, n: int, params: Mapping[str, Any]) -> str:
        """Return the id of the span of message `n`: the one that it carries, if we sent it with one."""
        context = trace_context.read(params)
        return context[1] if context and self._is_own(n, context) else self._id(str(n))

    def _is_own(self, n: int, context: tuple[str, str]) -> bool:
        return context[0] == self._trace and self._journal.index.dir(n) is Dir.SEND

    def _time(self, t: int) -> str:
        return str(min(max(self._zero + t * 1000, 0), _LATEST))

    def resource(self) -> Attributes:
        """Return the attributes of the recorded client, as far as it is known."""
        tool = self._journal.header.get("tool")
        resource = [attribute("service.name", "mcp-client")]
        if isinstance(tool, str):
            resource.append(attribute("telemetry.distro.name", tool.partition("/")[0]))
            resource.append(attribute("telemetry.distro.version", tool.partition("/")[2]))
        return resource

    def session(self) -> dict[str, Any]:
        """Return the span around all the others."""
        facts = self._facts
        attributes = [*self._common]
        for key, value in (
            ("inspector.recording.id", self._journal.header.get("id")),
            ("inspector.server.name", facts.server.get("name")),
            ("inspector.server.version", facts.server.get("version")),
        ):
            if isinstance(value, str) and value:
                attributes.append(attribute(key, value))
        return {
            "traceId": self._trace,
            "spanId": self._root,
            "name": "MCP session",
            "kind": _INTERNAL,
            "startTimeUnixNano": self._time(0),
            "endTimeUnixNano": self._time(self._journal.index.latest()),
            "attributes": attributes,
        }

    def exchange(self, n: int) -> dict[str, Any]:
        """Return the span of an exchange: of kind client if the recorded client sent the request, else server."""
        index, answer = self._journal.index, self._chosen.answer(n)
        begun = index.time(n)
        ended = max(index.time(answer), begun) if answer else begun
        span = self._span(n, _CLIENT if index.dir(n) is Dir.SEND else _SERVER, begun, ended)
        problem, description, more = self._outcome(index.state(n), answer)
        span["attributes"] += more
        if problem:
            span["attributes"].append(attribute("error.type", problem))
            span["status"] = {"code": _ERROR, "message": description} if description else {"code": _ERROR}
        events, dropped = self._events(n)
        if events:
            span["events"] = events
        if dropped:
            span["droppedEventsCount"] = dropped
        return span

    def stands_alone(self, n: int) -> bool:
        """Whether an event is a notification outside any request: the others are events of a request's span."""
        index = self._journal.index
        return index.shape(n) is Shape.NOTIFICATION and not index.parent(n) and not index.pair(n)

    def notification(self, n: int) -> dict[str, Any]:
        """Return the span of a notification, without a duration."""
        t = self._journal.index.time(n)
        return self._span(n, _CLIENT if self._journal.index.dir(n) is Dir.SEND else _SERVER, t, t)

    def _span(self, n: int, kind: int, begun: int, ended: int) -> dict[str, Any]:
        method = self._journal.index.method(n)
        message = self._message(n)
        params = View(message).object("params")
        trace, parent = self._parent(n, params)
        target, attributes = _of_request(method, message, params)
        return {
            "traceId": trace,
            "spanId": self._span_id(n, params),
            "parentSpanId": parent,
            "name": clean(f"{method[:MAX_LENGTH]} {target}".strip() or "request"),
            "kind": kind,
            "startTimeUnixNano": self._time(begun),
            "endTimeUnixNano": self._time(ended),
            "attributes": [*attributes, *self._common, attribute("inspector.event", n)],
        }

    def _message(self, n: int) -> Mapping[str, Any]:
        return message_of(self._journal, n).members if self._journal.index.size(n) <= MAX_READ else {}

    def _parent(self, n: int, params: Mapping[str, Any]) -> tuple[str, str]:
        """Return trace and parent: from the request itself, else the enclosing exchange, else the session."""
        context = trace_context.read(params)
        if context and not self._is_own(n, context):
            return context
        outer = self._journal.index.parent(n)
        if outer and (outer in self._chosen or self._journal.index.pair(outer) in self._chosen):
            return self._trace, self._span_id(outer, View(self._message(outer)).object("params"))
        return self._trace, self._root

    def _outcome(self, state: State, answer: int) -> tuple[str, str, Attributes]:
        """Return the class of the error, its description, and attributes; empty for a success."""
        if state in _FATES:
            return _FATES[state], "", []
        if state is not State.ERROR or not answer:
            return "", "", []
        error = self._message(answer).get("error")
        if type(error) is not dict:
            return "tool_error", "", []
        code = error.get("code")
        message = error.get("message")
        error_type = str(code) if type(code) is int and code.bit_length() < 64 else "_OTHER"
        status = [attribute("rpc.response.status_code", error_type)]
        return error_type, clean(message[:MAX_LENGTH]) if isinstance(message, str) else "", status

    def _events(self, n: int) -> tuple[list[dict[str, Any]], int]:
        """Return the notifications inside a request, and the number of dropped ones."""
        index = self._journal.index
        events: list[dict[str, Any]] = []
        dropped = 0
        for m in self._chosen.inside(n):
            if index.id(m) is not None:
                continue  # A question has its own span.
            if len(events) == MAX_EVENTS:
                dropped += 1
                continue
            event = {
                "timeUnixNano": self._time(index.time(m)),
                "name": clean(index.method(m)[:MAX_LENGTH]) or "event",
            }
            events.append({**event, "attributes": self._facts_of_event(m)})
        return events, dropped

    def _facts_of_event(self, n: int) -> Attributes:
        params = View(self._message(n)).object("params")
        keys = ("progress", "total", "message", "level", "logger", "data", "uri", "reason")
        facts = [attribute(f"mcp.notification.{key}", params[key]) for key in keys if key in params]
        return [attribute("inspector.event", n), *facts]

    def _of_connection(self) -> Attributes:
        """Return the attributes that every span has: the revision and the transport."""
        facts = self._facts
        connection: Attributes = []
        if isinstance(facts.revision, str):
            connection.append(attribute("mcp.protocol.version", facts.revision))
        target = target_of(self._journal)
        url = target.members.get("url")
        if facts.transport == "stdio" or target.text("kind") == "stdio":
            connection.append(attribute("network.transport", "pipe"))
        elif isinstance(url, str):
            connection += (attribute("network.transport", "tcp"), attribute("network.protocol.name", "http"))
            connection += _of_url(url)
        return connection


def _of_url(url: str) -> Attributes:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return []
    if not host:
        return []
    return [
        attribute("server.address", host),
        attribute("server.port", port or (443 if parts.scheme == "https" else 80)),
    ]


def _of_request(method: str, message: Mapping[str, Any], params: Mapping[str, Any]) -> tuple[str, Attributes]:
    """Return the rest of a span's name, and the attributes of a request."""
    request = [attribute("mcp.method.name", method)]
    id = message.get("id")
    if type(id) in (int, str):
        request.append(attribute("jsonrpc.request.id", id if isinstance(id, str) else excerpt(id, MAX_LENGTH)))
    version = message.get("jsonrpc")
    if isinstance(version, str) and version != "2.0":
        request.append(attribute("jsonrpc.protocol.version", version))
    target = ""
    name, uri = params.get("name"), params.get("uri")
    if method == "tools/call":
        request.append(attribute("gen_ai.operation.name", "execute_tool"))
    if method in ("tools/call", "prompts/get") and isinstance(name, str):
        target = name[:MAX_LENGTH]
        request.append(attribute("gen_ai.tool.name" if method == "tools/call" else "gen_ai.prompt.name", target))
    if method in _URI_METHODS and isinstance(uri, str):
        request.append(attribute("mcp.resource.uri", uri))
    return target, request


def _nanoseconds(journal: Journal) -> int:
    """Return the recording's start in nanoseconds since 1970."""
    from datetime import UTC, datetime

    elapsed = journal.started - datetime.fromtimestamp(0, UTC)
    return (elapsed.days * 86_400 + elapsed.seconds) * 1_000_000_000 + elapsed.microseconds * 1000
