"""The timeline of a session, with figures by method and the messages at the cursor."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.timer import Timer

from inspector.client.session_state import SessionState
from inspector.journal.failures import problems
from inspector.journal.filters import Filter
from inspector.journal.gaps import FOLD
from inspector.journal.statistics import SessionStats, measure
from inspector.text import count, duration, json_document, quantity, safe
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.log.rows import moment
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import EventHighlighted, HintsChanged, Save, ShowEvent
from inspector.tui.timeline.pane_lines import (
    SORTS,
    DrawnLines,
    LaneLines,
    Names,
    item_lines,
    method_lines,
    session_lines,
)
from inspector.tui.timeline.view import ZOOM, TimelineView
from inspector.tui.widgets import paint
from inspector.tui.widgets.pane import Pane

TALL, STRIP, LOW = 34, 30, 26
"""Lines from which the figures have their full height, from which the session has a pane, and from which both are
shown at all."""
MESSAGES_FROM = 90
"""Cells from which the messages at the cursor have a pane beside the figures."""
CLOCK = 0.25
"""Seconds between two drawings while a request is in flight."""
READ, AGAIN = 0.005, 0.015
"""Seconds for which a long recording is read at once, and until more of it is read."""
WHILE_READING = 0.25
"""Seconds between two drawings meanwhile."""
_FILTER_SHOWN = 40
"""Characters of the filter that are shown."""


PATIENCE = 0.2
"""Seconds without a key before the figures are measured."""
MAX_LENGTH = 1.0
"""Seconds for which they are put off at most."""
MAX_MEASURED = 30_000
"""Messages of a window whose figures are measured."""


class FiguresPane(Pane):
    """Shows the figures of a view's window, or of the whole session."""

    def __init__(self, view: TimelineView) -> None:
        self._lines = DrawnLines()
        super().__init__(self._lines, title="By method", id="timeline-methods")
        self.view = view
        self._measured: tuple[tuple[int, int], SessionStats | None] | None = None
        """The first and last event of the figures shown, and the figures; None if there are too many messages."""
        self._of_session = False
        self._sort = SORTS[0]
        self._delay: Timer | None = None
        self._put_off_since = 0.0

    @property
    def stats(self) -> SessionStats | None:
        """The figures shown."""
        return self._measured[1] if self._measured is not None else None

    def measure_soon(self) -> None:
        """Measure after the last key; a session that grows all the time does not put it off for ever."""
        now = monotonic()
        if self._delay is None:
            self._put_off_since = now
        elif now - self._put_off_since < MAX_LENGTH:
            self._delay.stop()
        else:
            return
        self._delay = self.set_timer(PATIENCE, self._measure)

    @work(exclusive=True, group="figures", exit_on_error=False)
    async def _measure(self) -> None:
        """Measure the window in a thread, and show the figures."""
        self._delay = None
        view = self.view
        session = view.session
        first, last = view.events(*((0, view.latest) if self._of_session else view.range))
        if not session.at_end:
            last = min(last, session.upto)
        if self._measured is None or (first, last) != self._measured[0]:
            few = last - first < MAX_MEASURED
            stats = await asyncio.to_thread(measure, session.journal, first, last, by_name=False) if few else None
            self._measured = (first, last), stats
        self._show()

    def _show(self) -> None:
        view, stats = self.view, self.stats
        of = "of the session" if self._of_session else "in the range" if view.mark is not None else "in the window"
        self.facts = [of]
        if stats is None:
            words = f"Zoom in for the figures: at most {count(MAX_MEASURED)} messages are measured."
            self._lines.show([paint.segments([(words, "muted")])])
            return
        self._lines.show(method_lines(stats, self._sort, self._lines.room, self._lines.size.height))
        self.note = [("without a person's time", "faint")] if stats.person else ""

    def sort(self) -> None:
        """Sort by the next column."""
        self._sort = SORTS[(SORTS.index(self._sort) + 1) % len(SORTS)]
        self._show()

    def toggle_scope(self) -> None:
        """Measure the whole session, or the window again."""
        self._of_session = not self._of_session
        self._measure()


class LanesView(DrawnLines, can_focus=True):
    """The lanes. A click puts the cursor there."""

    class Clicked(Message):
        """The user clicked a cell of the line."""

        def __init__(self, cell: int) -> None:
            super().__init__()
            self.cell = cell

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.Clicked(event.x - 1))


class TimelinePane(Vertical):
    """The timeline, shown instead of the rows of the maximised log. Call `tick` when the session may have changed."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("timeline")]
    DEFAULT_CSS = """
    TimelinePane { width: 1fr; height: 1fr; }
    TimelinePane #timeline-session { height: 4; }
    TimelinePane.-tall #timeline-session { height: 5; }
    TimelinePane #timeline-lanes { height: 1fr; }
    TimelinePane #timeline-below { height: 10; }
    TimelinePane #timeline-methods { width: 3fr; height: 1fr; }
    TimelinePane #timeline-items { width: 2fr; height: 1fr; }
    TimelinePane.-tall #timeline-below { height: 14; }
    TimelinePane.-no-strip #timeline-session { display: none; }
    TimelinePane.-slim #timeline-items { display: none; }
    TimelinePane.-low #timeline-below { display: none; }
    """

    class Left(Message):
        """The user wants the rows again; with `filter`, only those that match it."""

        def __init__(self, filter: str = "") -> None:
            super().__init__()
            self.filter = filter

    def __init__(self, session: SessionState, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session
        self.view = TimelineView(session)
        self._lines = LaneLines(self.view, Names(session))
        self._session_lines = DrawnLines()
        self._lanes = LanesView()
        self._figures = FiguresPane(self.view)
        self._items = DrawnLines()
        self._drawn: tuple[object, ...] = ()
        self._drawn_at = 0.0
        self._more: Timer | None = None

    def compose(self) -> ComposeResult:
        yield Pane(self._session_lines, title="Session", id="timeline-session")
        yield Pane(self._lanes, title="Timeline", id="timeline-lanes")
        with Horizontal(id="timeline-below"):
            yield self._figures
            yield Pane(self._items, title="At the cursor", id="timeline-items")

    def on_mount(self) -> None:
        self.tick()

    def on_resize(self) -> None:
        width, height = self.size
        self.update_classes(
            {
                "-no-strip": height < STRIP,
                "-slim": width < MESSAGES_FROM,
                "-low": height < LOW,
                "-tall": height >= TALL,
            }
        )
        self.call_after_refresh(self._draw)

    def focus_inside(self) -> bool:
        """Focus the lanes."""
        self.screen.set_focus(self._lanes)
        return True

    def start_at(self, n: int) -> None:
        """Put the cursor at event `n`."""
        index = self.session.journal.index
        if 0 < n < index.count:
            self.view.start_at(index.time(n))

    def narrow(self, filter: Filter | None) -> None:
        """Draw faint what does not match the filter of the log."""
        self.view.narrow(filter)

    def tick(self) -> None:
        """Draw what is new."""
        if not self.is_mounted or not self.is_on_screen:
            return
        more = self.view.advance(READ)
        now = monotonic()
        if not more or now - self._drawn_at > WHILE_READING:
            self._drawn_at = now
            self._draw()
        if self._more is None and (more or self.view.now is not None):
            self._more = self.set_timer(AGAIN if more else CLOCK, self._tick_again)

    def _tick_again(self) -> None:
        self._more = None
        self.tick()

    def _draw(self) -> None:
        view = self.view
        if not self.is_mounted or not self._lanes.size.width:
            return
        width, height = self.size
        has_strip, has_figures = height >= STRIP, height >= LOW
        has_items = has_figures and width >= MESSAGES_FROM
        facts = (
            view.window,
            view.cursor,
            view.mark,
            view.selected,
            view.lanes.seen,
            view.latest,
            view.moment,
            self.size,
            self._lanes.size,
            self.app.theme,
            self.session.journal.index.errors,
            None if view.filtered is None else (view.filtered.filter.source, view.filtered.seen, len(view.filtered)),
        )
        if facts == self._drawn:
            return
        self._drawn = facts
        lanes = self._lanes
        lanes.show(
            self._lines.lines(lanes.room, lanes.size.height, strip_above=not has_strip, item_below=not has_items)
        )
        self._describe()
        if has_strip:
            self._session_lines.show(session_lines(view, self._session_lines.room))
        if has_items:
            self._items.show(*item_lines(view, self._items.room, self._items.size.height))
        if has_figures:
            self._figures.measure_soon()

    def _describe(self) -> None:
        view, index = self.view, self.session.journal.index
        window, lanes = view.window, view.lanes
        begin, end = view.range if view.mark is not None else (window.begin, min(window.end - 1, view.latest))
        number = lanes.sent.overlapping(begin, end) + lanes.received.overlapping(begin, end)
        flying = lanes.sent.flying(*view.at_cursor)
        edge = self.query_one("#timeline-lanes", Pane)
        begin, end = view.real(begin), view.real(end)
        what = f"{moment(begin)} to {moment(end)}"
        facts: list[paint.Pieces] = [
            [(what, "bright" if view.mark is not None else "muted")],
            duration(end - begin),
            quantity(number, "exchange"),
            f"{count(flying)} in flight at the cursor",
        ]
        if view.filtered is not None:
            facts.insert(
                0, [(safe(view.filtered.filter.source, _FILTER_SHOWN), "bright"), (", the rest is faint", "muted")]
            )
        if view.mark is not None:
            facts.insert(0, [("marked", "ask")])
        elif view.is_whole:
            facts.insert(0, "whole session")
        if len(lanes.clock):
            facts.append(f"gaps over {FOLD:g} s folded")
        edge.facts = facts
        failed = len(lanes.errors.numbers)
        errors: list[paint.Pieces] = [[(quantity(failed, "error"), "error")]] if failed else []
        self.query_one("#timeline-session", Pane).facts = [
            moment(view.real(view.latest)),
            quantity(index.count, "event"),
            *errors,
        ]
        items = self.query_one("#timeline-items", Pane)
        items.title = f"At {moment(view.real(view.cursor))}"
        items.facts = [f"{count(flying)} in flight"]
        self.post_message(HintsChanged())

    def hints(self) -> list[KeyHint]:
        """Return the keys of the timeline."""
        view = self.view
        key_hints = [
            *self._pair("timeline.zoom-in", "timeline.zoom-out", "zoom"),
            *self._pair("timeline.left", "timeline.right", "cursor"),
        ]
        if not view.is_whole:
            key_hints += self._pair("timeline.pan-left", "timeline.pan-right", "pan")
        key_hints += hints(
            self,
            ("timeline.mark", "drop range" if view.mark is not None else "mark range"),
            ("timeline.filter", "filter to range"),
            ("timeline.open", "open"),
        )
        key_hints += self._pair("timeline.previous", "timeline.next", "choose")
        if len(self.session.journal.findings.events()):
            key_hints += self._pair("timeline.previous-finding", "timeline.next-finding", "finding")
        back = "drop range" if view.mark is not None else "whole session" if not view.is_whole else "rows"
        return [*key_hints, *hints(self, ("timeline.back", back))]

    def _pair(self, back: str, on: str, title: str) -> list[KeyHint]:
        """Join two keys into one hint; a click presses the second."""
        both = hints(self, back, on)
        if len(both) < 2:
            return both
        one, other = both
        if len(one.label) > 1 and one.label[:-1] == other.label[:-1]:
            return [KeyHint(f"{one.label}{other.label[-1]}", title, other.key, other.verb)]
        gap = "" if one.label in "←↑" else " "
        return [KeyHint(f"{one.label}{gap}{other.label}", title, other.key, other.verb)]

    def action_zoom_in(self) -> None:
        self.view.zoom(1 / ZOOM)
        self._draw()

    def action_zoom_out(self) -> None:
        self.view.zoom(ZOOM)
        self._draw()

    def action_left(self) -> None:
        self.view.move(-1)
        self._draw()

    def action_right(self) -> None:
        self.view.move(1)
        self._draw()

    def action_pan_left(self) -> None:
        self.view.pan(-1)
        self._draw()

    def action_pan_right(self) -> None:
        self.view.pan(1)
        self._draw()

    def action_first(self) -> None:
        self.view.go_to(0)
        self._draw()

    def action_last(self) -> None:
        self.view.follow()
        self._draw()

    def action_previous(self) -> None:
        self.view.choose(-1)
        self._draw()

    def action_next(self) -> None:
        self.view.choose(1)
        self._draw()

    def action_mark(self) -> None:
        self.view.toggle_mark()
        self._draw()

    def action_filter(self) -> None:
        """Show the rows of the range, or of the window."""
        self.post_message(self.Left(self.view.filter))

    def action_back(self) -> None:
        """Drop the range; else show the whole session; else the rows."""
        view = self.view
        if view.mark is not None:
            view.toggle_mark()
        elif not view.is_whole:
            view.show_whole()
        else:
            self.post_message(self.Left())
        self._draw()

    def action_open(self) -> None:
        """Open the message at the cursor in the detail."""
        if len(self.session.journal.index):
            n = self.view.nearest()
            self.post_message(EventHighlighted(n))
            self.post_message(ShowEvent(n))

    def action_next_finding(self) -> None:
        self._go_to_finding(1)

    def action_previous_finding(self) -> None:
        self._go_to_finding(-1)

    def _go_to_finding(self, step: int) -> None:
        """Put the cursor at the nearest message with an error or a finding."""
        view, time = self.view, self.view.lanes.time
        begin, end = view.at_cursor
        numbers = problems(self.session.journal.index, self.session.journal.findings)
        ahead = [n for n in numbers if (time(n) > end if step > 0 else time(n) < begin)]
        if not ahead:
            self.notify(f"No {'later' if step > 0 else 'earlier'} error or finding.", timeout=3, markup=False)
            return
        n = min(ahead) if step > 0 else max(ahead)
        view.go_to(time(n))
        view.selected = n
        self._draw()

    def action_sort(self) -> None:
        self._figures.sort()

    def action_scope(self) -> None:
        self._figures.toggle_scope()

    def action_save(self) -> None:
        """Save the figures as JSON."""
        stats = self._figures.stats
        if stats is not None:
            self.post_message(Save(json_document(stats.as_json()).encode(), "stats.json", "the figures"))

    def on_lanes_view_clicked(self, event: LanesView.Clicked) -> None:
        event.stop()
        names = self._lanes.room - self.view.window.cells
        if event.cell >= names:
            self.view.go_to(self.view.window.time(event.cell - names))
            self._draw()
