"""Counts of what a recording shows: a passive check passes only if its subject was observed.

Kinds: `message`, `answer`, `result`, `error`, `notification`, `request` (all of the server's); `result:METHOD`,
`error:METHOD`, `told:METHOD` (a notification), `asked:METHOD` (a request of the server), `input` (input_required
results), `task` (results that are tasks), `structured` (those with structured content), `media` (those with images or
audio); `tool`, `resource`, `template`, `prompt`, `skill` (items of lists), `schema` (input and output schemas), `icon`,
`annotations`; `app` (tools with `_meta.ui`), `page` (results with a page of MCP Apps); `stderr`, `invalid`, `http`
(heads of responses), `http:STATUS`, `http:stream` (heads of event streams), `posted` (heads of responses to messages),
`sse` (events without a message), `endpoint` (endpoint events), `told-id` (events with an id), `stdio`, `stream`
(messages that came over HTTP), `event` (those that came as events), `event:get` (on a GET stream).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from inspector.journal import channels
from inspector.journal.format import Dir, Event, Kind
from inspector.protocol.jsonrpc import Shape, shape_of
from inspector.protocol.members import array_at, object_at, objects_at, value_at
from inspector.protocol.result_shape import has_structured

MAX_STREAMS = 4096
_LISTS = {
    "tools/list": ("tools", "tool"),
    "resources/list": ("resources", "resource"),
    "resources/templates/list": ("resourceTemplates", "template"),
    "prompts/list": ("prompts", "prompt"),
    "skills/list": ("skills", "skill"),
}
_MEDIA = ("image", "audio")
_KINDS = {Kind.STDERR: "stderr", Kind.SSE: "sse", Kind.INVALID: "invalid"}


class Observations:
    """Counts of what the server sent."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._streams: set[str] = set()
        """Channels with an event stream."""

    def count(self, event: Event, method: str) -> None:
        """Count an event; `method` is the method of its request, or its own."""
        if event.dir != Dir.RECV:
            return
        if event.kind == Kind.RPC:
            message = event.message
            for item in message if type(message) is list else (message,):
                self.counts.update(_of_message(item, method))
            self.counts["stdio" if channels.is_stdio(event.ch) else "stream"] += 1
            self._on_channel(event)
        elif event.kind == Kind.HTTP:
            self.counts.update(_of_head(event, self._streams))
        elif event.kind in _KINDS:
            self.counts[_KINDS[event.kind]] += 1
            if event.kind == Kind.SSE:
                self._of_bare_event(event)
            if event.kind == Kind.INVALID and channels.is_stdio(event.ch):
                self.counts["stdio"] += 1

    def _on_channel(self, event: Event) -> None:
        if event.ch not in self._streams:
            return
        self.counts["event"] += 1
        if channels.is_get(event.ch):
            self.counts["event:get"] += 1
        about = event.fields.get("sse")
        if type(about) is dict and "id" in about:
            self.counts["told-id"] += 1

    def _of_bare_event(self, event: Event) -> None:
        if event.fields.get("event") == "endpoint":
            self.counts["endpoint"] += 1
        if "id" in event.fields:
            self.counts["told-id"] += 1

    def any(self, kinds: tuple[str, ...]) -> int:
        """The number of observations of any of these kinds."""
        return sum(self.counts[kind] for kind in kinds)


def _of_head(event: Event, streams: set[str]) -> Iterator[str]:
    """A response, and whether it starts a stream on its channel."""
    yield "http"
    yield f"http:{event.fields.get('status')}"
    if channels.is_post(event.ch):
        yield "posted"
    streams.discard(event.ch)
    for pair in array_at(event.fields.get("headers")):
        name, value = (str(part).lower() for part in pair) if type(pair) is list and len(pair) == 2 else ("", "")
        if name == "content-type" and value.startswith("text/event-stream") and len(streams) < MAX_STREAMS:
            streams.add(event.ch)
            yield "http:stream"


def _of_message(message: Any, method: str) -> Iterator[str]:
    shape = shape_of(message)
    yield "message"
    if shape in (Shape.RESULT, Shape.ERROR):
        yield "answer"
        kind = "result" if shape is Shape.RESULT else "error"
        yield kind
        yield f"{kind}:{method[:100]}"
        result = message.get("result")
        resulted = value_at(result, "resultType")
        if resulted in ("input_required", "task"):
            yield "task" if resulted == "task" else "input"
        if has_structured(result):
            yield "structured"
        if method == "tools/call" and any(block.get("type") in _MEDIA for block in objects_at(result, "content")):
            yield "media"
        if shape is Shape.RESULT and type(result) is dict:
            yield from _of_items(result, method)
            if method == "resources/read" and _is_page(result.get("contents")):
                yield "page"
    elif shape is Shape.NOTIFICATION:
        yield "notification"
        yield f"told:{message['method'][:100]}"
    elif shape is Shape.REQUEST:
        yield "request"
        yield f"asked:{message['method'][:100]}"


def _of_items(result: dict[str, Any], method: str) -> Iterator[str]:
    key, kind = _LISTS.get(method, ("", ""))
    for item in array_at(result.get(key)):
        yield kind
        if type(item) is dict:
            yield from ("schema" for name in ("inputSchema", "outputSchema") if name in item)
            yield from ("icon" for _ in item.get("icons") or () if type(item.get("icons")) is list)
            if "annotations" in item:
                yield "annotations"
            if kind == "tool" and not {"ui", "ui/resourceUri"}.isdisjoint(object_at(item.get("_meta"))):
                yield "app"


def _is_page(contents: Any) -> bool:
    """Whether contents are a page of MCP Apps."""
    uri = value_at(next(iter(array_at(contents)), None), "uri")
    return isinstance(uri, str) and uri.startswith("ui://")
