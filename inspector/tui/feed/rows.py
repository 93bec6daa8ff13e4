"""The rows of the events view: event types, and the events of one subscription."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import islice

from rich.segment import Segment

from inspector.events.subscription import EventRow, Subscription
from inspector.journal.journal import Journal
from inspector.protocol.events import EventType
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.row_source import ListRows

_TIME, _ID, _CURSOR = 13, 22, 18
_MIN_FOR_CURSOR, _MIN_FOR_ID = 100, 56
"""Cells from which there is room for the column."""
_CLOSE = 200
"""Rows from the end that are read without a pass over all."""


class TypeRows(ListRows[EventType]):
    """Draws event types with their delivery modes."""

    def __init__(self) -> None:
        super().__init__(lambda event_type: event_type.name)

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """One row: name, modes; a type that Inspector cannot follow is muted."""
        event = self.rows[index]
        role = "muted" if event.follows_by is None else "bright" if selected else "normal"
        sign = [(f"{signs_now().finding} ", "finding")] if event.problems else []
        left = paint.segments([*sign, (event.name, role)], room=width)
        return paint.spread(left, paint.segments(" ".join(event.delivery) or "no mode", "muted"), width)


class SubscriptionRows:
    """Draws the rows of a subscription: time, kind, id, data, cursor."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.subscription: Subscription | None = None

    def __len__(self) -> int:
        return 0 if self.subscription is None else len(self.subscription.rows)

    def row(self, index: int) -> EventRow:
        """The row at a place; rows near the end are found at once."""
        assert self.subscription is not None
        rows = self.subscription.rows
        return rows[index - len(rows)] if len(rows) - index < _CLOSE else next(islice(rows, index, None))

    def key_at(self, index: int) -> Hashable:
        """The number of a row since the start, which stays when older rows are dropped."""
        return index if self.subscription is None else self.subscription.dropped + index

    def index_of(self, key: Hashable) -> int | None:
        """The row of a key; None if it was dropped."""
        if self.subscription is None or not isinstance(key, int):
            return None
        at = key - self.subscription.dropped
        return at if 0 <= at < len(self) else None

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """One row."""
        row = self.row(index)
        sign, role = _look(row)
        at = self._journal.clock(round(row.at * 1e6)).astimezone().strftime("%H:%M:%S.%f")[:-3]
        line = [*paint.cell([(at, "muted")], _TIME), *paint.cell([(sign, role)], 2)]
        room = width - _TIME - 2
        if row.kind in ("event", "repeat"):
            if width >= _MIN_FOR_ID:
                line += [*paint.cell([(row.event_id, role)], _ID - 1), Segment(" ")]
                room -= _ID
            wide = width >= _MIN_FOR_CURSOR and bool(row.cursor)
            told = [*([(f"{row.note}  ", "finding")] if row.note else []), (row.data, "normal")]
            line += paint.cell(told, room - (_CURSOR if wide else 0))
            return [*line, *paint.cell([(row.cursor, "muted")], _CURSOR, right=True)] if wide else line
        words = {"active": "confirmed", "gap": "gap", "heartbeat": "heartbeat", "error": "error"}.get(row.kind, "")
        cursor = f"cursor {row.cursor}" if row.cursor else ""
        return [*line, *paint.cell([(f"{words:<11}" if words else "", role), (row.note or cursor, "muted")], room)]


def _look(row: EventRow) -> tuple[str, str]:
    signs = signs_now()
    if row.kind == "event":
        return (signs.finding, "finding") if row.note else (signs.received, "received")
    return {
        "repeat": (signs.times, "muted"),
        "active": (signs.live, "received"),
        "gap": (signs.finding, "finding"),
        "heartbeat": (signs.later, "muted"),
        "error": (signs.failed, "error"),
        "terminated": (signs.failed, "error"),
    }.get(row.kind, (signs.local, "muted"))
