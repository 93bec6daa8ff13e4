"""The events inside a call so far, as rows of a list: progress, log messages, nested requests."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Hashable
from typing import Any

from rich.segment import Segment

from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape
from inspector.text import count, duration, safe
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint

SLICE = 20_000
"""Events that one turn reads."""

TEXT = 400
"""Characters of a message shown in its row."""

_TIME_CELLS = 9


class CallEvents:
    """A `RowSource` of the events inside request `n`: sequence numbers only, bodies are read for visible rows."""

    def __init__(self, journal: Journal, n: int) -> None:
        self.n = n
        self._journal = journal
        self._members = {n}
        self._rows = array("L")
        self._reported = 0
        self._seen = n
        self.upto: int | None = None
        """Of a recording: the last event before the moment shown; None for all."""

    def advance(self, budget: int = SLICE) -> int | None:
        """Read new events of the journal. Returns the first new row, or None."""
        index = self._journal.index
        before = len(self._rows)
        last = max(self._seen, min(self._last, self._seen + budget))
        for n in index.related(self._members, self._seen, last):
            if index.kind(n) not in (Kind.RPC, Kind.INVALID):
                continue
            if index.shape(n) is Shape.REQUEST:
                self._members.add(n)
            if index.pair(n) != self.n or index.shape(n) is Shape.NOTIFICATION:
                self._rows.append(n)
        self._seen = last
        reported, self._reported = self._reported, len(self)
        return min(before, reported, self._reported) if self._reported != reported else None

    @property
    def _last(self) -> int:
        count = self._journal.index.count
        return count if self.upto is None else min(self.upto, count)

    @property
    def behind(self) -> bool:
        """More events are left to read."""
        return self._seen < self._last

    def __len__(self) -> int:
        return len(self._rows) if self.upto is None else bisect_right(self._rows, self.upto)

    def key_at(self, index: int) -> Hashable:
        """Return the number of a row's event."""
        return self._rows[index]

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """Draw one row: time, direction, summary."""
        n = self._rows[index]
        facts = self._journal.index
        when = f"+{duration(facts.time(n) - facts.time(self.n))}"
        line = [*paint.cell([(when, "faint")], _TIME_CELLS), *paint.segments(self._what(n), room=width)]
        return paint.cut(line, width)

    def _what(self, n: int) -> list[paint.Piece]:
        index, signs = self._journal.index, signs_now()
        method, shape = index.method(n), index.shape(n)
        event = self._journal.event(n)
        params = _params(event)
        if shape is Shape.NOTIFICATION and method == "notifications/progress":
            words = steps(params.get("progress"), params.get("total"))
            return [(signs.progress, "progress"), f" {words}", (f"  {_text(params.get('message'))}", "normal")]
        if shape is Shape.NOTIFICATION and method == "notifications/message":
            level = _text(params.get("level")) or "?"
            return [(signs.notification, "notification"), f" log {level}", (f"  {_text(params.get('data'))}", "bright")]
        sent = index.dir(n) == Dir.SEND
        if shape is Shape.NOTIFICATION:
            sign = (signs.sent, "sent") if sent else (signs.notification, "notification")
            return [sign, f" {safe(method, 80)}"]
        if shape is Shape.REQUEST:
            sign = (signs.sent, "sent") if sent else (signs.asked, "ask")
            return [sign, (f" {safe(method, 80)}", "bright"), (f"  {_text(params.get('message'))}", "normal")]
        if shape in (Shape.RESULT, Shape.ERROR):
            sign = (signs.sent, "sent") if sent else (signs.received, "received")
            return [sign, f" {answer_words(event.message)}", (f"  {safe(method, 80)}", "muted")]
        return [
            (signs.failed, "error"),
            (" not a JSON-RPC message", "error"),
            (f"  {safe(event.text[:TEXT])}", "muted"),
        ]


def steps(value: Any, total: Any) -> str:
    """Format progress: `3 of 5`, or `3` if the total is unknown."""
    done = _figure(value)
    return f"{done} of {_figure(total)}" if type(total) in (int, float) else done


def answer_words(message: Any) -> str:
    """Describe an answer of ours in a word or two."""
    body = message if isinstance(message, dict) else {}
    if "error" in body:
        error = body["error"] if isinstance(body["error"], dict) else {}
        return f"refused {safe(error.get('code'), 20)}"
    result = body.get("result")
    action = result.get("action") if isinstance(result, dict) else None
    return safe(action, 20) if isinstance(action, str) else "answered"


def _figure(value: Any) -> str:
    if type(value) is int:
        return count(value)
    return f"{value:g}" if type(value) is float else safe(value, 20)


def _text(value: Any) -> str:
    return "" if value is None else safe(value, TEXT)


def _params(event: Event) -> dict[str, Any]:
    params = event.message.get("params") if isinstance(event.message, dict) else None
    return params if isinstance(params, dict) else {}
