"""Tasks as rows: status, name, age."""

from __future__ import annotations

from collections.abc import Mapping

from rich.segment import Segment

from inspector.client.state.tasks import Task
from inspector.journal.journal import Journal
from inspector.text import duration, safe
from inspector.times import parse_time
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.row_source import ListRows

ID_SHOWN, STATUS_SHOWN = 60, 24
"""Characters of a task's id and status that fit on one line."""


def sign_and_role(status: str) -> tuple[paint.Piece, str]:
    """Return the sign and the role of a status; an unknown status is a finding."""
    signs = signs_now()
    known: dict[str, tuple[paint.Piece, str]] = {
        "working": ((signs.progress, "progress"), "progress"),
        "input_required": ((signs.asked, "ask"), "ask"),
        "completed": ((signs.done, "received"), "received"),
        "failed": ((signs.failed, "error"), "error"),
        "cancelled": ((signs.failed, "muted"), "muted"),
    }
    return known.get(status, ((signs.finding, "finding"), "finding"))


def name(task: Task) -> str:
    """Return the name of a task: that of its tool, else its method, else its id."""
    return safe(task.title or task.method or task.id, ID_SHOWN)


def age(task: Task, journal: Journal, now: int) -> str:
    """Return how long ago a task was created; if it has ended, its duration if known.

    `now` is a time of the journal, in microseconds.
    """
    index = journal.index
    if 0 < task.call_n <= index.count:
        end = index.time(task.report.n) if task.done and 0 < task.report.n <= index.count else now
        return seconds(end - index.time(task.call_n))
    made = parse_time(task.created)
    if made is None:
        return ""
    end_of = parse_time(task.updated) if task.done else None
    return seconds(round(((end_of or journal.clock(now)) - made).total_seconds() * 1_000_000))


def seconds(us: int) -> str:
    """Format a running time, in whole seconds up to ten minutes; empty before its start."""
    if us < 0:
        return ""
    return f"{us // 1_000_000} s" if us < 600_000_000 else duration(us)


class TaskRows(ListRows[Task]):
    """A `RowSource` of tasks, the newest first."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(lambda task: task.id)
        self._journal = journal
        self.now = 0
        """The current time of the journal, for tasks that run."""

    def set_tasks(self, tasks: Mapping[str, Task]) -> None:
        """Set the tasks to show, in the order in which they became known."""
        self.rows = list(tasks.values())[::-1]

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """Draw one row: sign of its status, name, whether another client created it, age."""
        task = self.rows[index]
        sign, _ = sign_and_role(task.status)
        pieces: list[paint.Piece] = [sign, (f" {name(task)}", "muted" if task.done else "bright")]
        if not task.call_n:
            pieces.append(("  not ours", "faint"))
        right = paint.segments([(age(task, self._journal, self.now), "faint")], room=width // 2)
        return paint.spread(paint.segments(pieces, room=width), right, width)
