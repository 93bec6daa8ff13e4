"""What has passed by, counted by kind: a passive check that found no fault has passed only if it saw something.

Kinds: `message`, `answer`, `result`, `error`, `notification`, `request` (all of the server's); `result:METHOD`,
`error:METHOD`, `told:METHOD` (a notification), `asked:METHOD` (a request of the server); `tool`, `resource`,
`template`, `prompt` (items of lists), `schema` (input and output schemas), `icon`, `annotations`; `stderr`, `invalid`,
`http` (heads of responses), `sse` (events without a message), `stdio`, `stream` (messages that came as events).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from inspector.journal.format import Dir, Event, Kind
from inspector.protocol.jsonrpc import Shape, shape_of

_LISTS = {
    "tools/list": ("tools", "tool"),
    "resources/list": ("resources", "resource"),
    "resources/templates/list": ("resourceTemplates", "template"),
    "prompts/list": ("prompts", "prompt"),
}
_KINDS = {Kind.STDERR: "stderr", Kind.SSE: "sse", Kind.INVALID: "invalid"}


class Subjects:
    """Counts of what the server sent."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def take(self, event: Event, method: str) -> None:
        """Count an event; `method` is that of the request which it answers, or its own."""
        if event.dir != Dir.RECV:
            return
        if event.kind == Kind.RPC:
            message = event.message
            for item in message if type(message) is list else (message,):
                self.counts.update(_of_message(item, method))
            self.counts["stdio" if event.ch == "stdio" else "stream"] += 1
        elif event.kind == Kind.HTTP:
            self.counts["http"] += 1
        elif event.kind in _KINDS:
            self.counts[_KINDS[event.kind]] += 1
            if event.kind == Kind.INVALID and event.ch == "stdio":
                self.counts["stdio"] += 1

    def any(self, wanted: tuple[str, ...]) -> int:
        """How much was seen of any of these kinds."""
        return sum(self.counts[kind] for kind in wanted)


def _of_message(message: Any, method: str) -> Iterator[str]:
    shape = shape_of(message)
    yield "message"
    if shape in (Shape.RESULT, Shape.ERROR):
        yield "answer"
        kind = "result" if shape is Shape.RESULT else "error"
        yield kind
        yield f"{kind}:{method[:100]}"
        if shape is Shape.RESULT and type(message["result"]) is dict:
            yield from _of_items(message["result"], method)
    elif shape is Shape.NOTIFICATION:
        yield "notification"
        yield f"told:{message['method'][:100]}"
    elif shape is Shape.REQUEST:
        yield "request"
        yield f"asked:{message['method'][:100]}"


def _of_items(result: dict[str, Any], method: str) -> Iterator[str]:
    key, kind = _LISTS.get(method, ("", ""))
    items = result.get(key)
    for item in items if type(items) is list else ():
        yield kind
        if type(item) is dict:
            yield from ("schema" for name in ("inputSchema", "outputSchema") if name in item)
            yield from ("icon" for _ in item.get("icons") or () if type(item.get("icons")) is list)
            if "annotations" in item:
                yield "annotations"
