"""A call in flight: elapsed time, progress, and the events inside it."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.strip import Strip
from textual.timer import Timer

from inspector.client.engine.pending_requests import Call
from inspector.client.session_state import SessionState
from inspector.client.state.calls import CallState, Progress
from inspector.client.state.tasks import Task
from inspector.text import duration, yours
from inspector.tui.keymap import bindings
from inspector.tui.model.catalog import CALL_VERBS
from inspector.tui.pane_keys import VerbsByRules
from inspector.tui.pane_messages import ShowExchange
from inspector.tui.themes import palette, signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.line_widget import LineWidget
from inspector.tui.widgets.pane import CompactPane
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.work import task_rows
from inspector.tui.work.call_events import TEXT, CallEvents, steps

TICKS = 10
"""Updates of the elapsed time per second."""

_FIGURE_CELLS = 24


class Bar(LineWidget):
    """Two lines: the progress of a call and the server's message, from its progress or its task."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Bar { height: 3; width: 1fr; margin-top: 1; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.progress: Progress | None = None
        self.status, self.message = "", ""

    def show(self, progress: Progress | None, task: Task | None) -> None:
        """Draw this progress and this task; None if there has been none."""
        status, message = (task.status, task.message) if task is not None else ("", "")
        progress_message = progress.message if progress is not None else None
        seen = (progress, status, progress_message or message)
        if seen != (self.progress, self.status, self.message):
            self.progress, self.status, self.message = seen
            self.refresh()

    def render_line(self, y: int) -> Strip:
        cells = self.size.width
        room = max(cells - 2, 1)
        line = self._bar(room) if y == 0 else self._message(room) if y == 1 else []
        return paint.strip([Segment(" "), *line], cells)

    def _bar(self, room: int) -> list[Segment]:
        progress = self.progress
        if progress is None and self.status:
            sign, role = task_rows.sign_and_role(self.status)
            words = (f" {self.status[: task_rows.STATUS_SHOWN]}", role)
            return paint.cut(paint.segments([sign, words, (" as a task", "muted")], room=room), room)
        if progress is None:
            return paint.segments("no progress reported", "faint", room=room)
        figure = steps(progress.value, progress.total)
        part = fraction(progress)
        if part is None:
            return paint.cut(paint.segments([(signs_now().progress, "progress"), f" {figure}"], room=room), room)
        cells = max(room - _FIGURE_CELLS, room // 3)
        full = round(part * cells)
        block = signs_now().bars[-1]
        theme = palette()
        bar = [Segment(block * full, theme.style("progress")), Segment(" " * (cells - full), theme.style("panel"))]
        return [
            *bar,
            *paint.cell([(f"{part:.0%}".replace("%", " %"), "bright"), f"  {figure}"], room - cells, right=True),
        ]

    def _message(self, room: int) -> list[Segment]:
        if self.message:
            return paint.cut(paint.segments(self.message[:TEXT], room=room), room)
        return []


class RunningPane(CompactPane, VerbsByRules):
    """The call in flight; it is shown where its result will be."""

    RULES = CALL_VERBS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("call")]
    DEFAULT_CSS = """
    RunningPane > VirtualList { height: 1fr; }
    """

    def __init__(self, session: SessionState, *, id: str | None = None) -> None:
        super().__init__(title="Result", id=id)
        self.session = session
        self.call: CallState | None = None
        self._bar = Bar()
        self._list = VirtualList(can_follow=True, follow=True)
        self._list.shows_idle_cursor = False
        self._clock: Timer | None = None

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._bar
        yield self._list

    def on_mount(self) -> None:
        self.state_keys = self.hints()
        self.draw_state()
        self._clock = self.set_interval(1 / TICKS, self._draw_time, pause=True)

    def show(self, call: CallState) -> None:
        """Show this call; it may have run for a while already."""
        known, self.call = self.call, call
        if call is not known and (known is None or call.n != known.n or isinstance(call, Call)):
            self._list.follow = True
            self._list.source = CallEvents(self.session.journal, call.n)
        self.tick()
        if self._clock is not None:
            self._clock.resume()

    def rest(self) -> None:
        """The pane is hidden: stop its clock."""
        if self._clock is not None:
            self._clock.pause()

    def tick(self) -> None:
        """Draw what has happened."""
        source = self._list.source
        if self.call is None or not isinstance(source, CallEvents):
            return
        source.upto = None if self.session.at_end else self.session.upto
        first = source.advance()
        if first is not None:
            self._list.source_changed(first)
        self._bar.show(self.call.progress, self.session.tasks.of_call(self.call.n))
        self._draw_time()

    def _draw_time(self) -> None:
        call = self.call
        if call is None or not self.is_on_screen:
            return
        source = self._list.source
        if isinstance(source, CallEvents) and source.behind:
            self.call_later(self.tick)
        allowed = f" of {seconds(call.allowed, 0)}" if call.allowed else ""
        person = call.person_time
        apart = f" {yours(seconds(person))}" if person >= 0.05 else ""
        times = f" running {seconds(call.elapsed - person)}{apart}{allowed}"
        self.state_facts = [[(signs_now().progress, "progress"), times]]
        self.draw_state()

    def verb_facts(self) -> bool:
        """Whether the call is a live one."""
        return self.session.commands is not None

    def action_cancel(self) -> None:
        if isinstance(self.call, Call):
            self.call.cancel()

    def action_more_time(self) -> None:
        """Extend the timeout by its original length."""
        if isinstance(self.call, Call) and self.session.commands is not None:
            self.call.deadline.extend(self.session.commands.options.timeout)
            self._draw_time()

    def action_its_messages(self) -> None:
        if self.call is not None:
            self.post_message(ShowExchange(self.call.n))


def seconds(time: float, digits: int = 1) -> str:
    """Format running seconds: up to ten minutes always as seconds, so that the format does not change."""
    return f"{time:.{digits}f} s" if time < 600 else duration(time * 1e6)


def fraction(progress: Progress) -> float | None:
    """Return the progress of a call, from 0 to 1, or None if unknown."""
    try:
        part = progress.fraction
    except OverflowError:
        # Whole numbers beyond the range of a float must not raise an error.
        return None
    return part if part == part else None
