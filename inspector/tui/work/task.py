"""One task: its status changes, the server's messages, and its result."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.timer import Timer

from inspector.client.session_state import SessionState
from inspector.client.state.tasks import Task
from inspector.text import duration, safe
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.log.labels import id_text
from inspector.tui.model.tabs import TAB_BY_ID
from inspector.tui.pane_keys import hints
from inspector.tui.pane_messages import LeaveWork
from inspector.tui.themes import signs_now
from inspector.tui.widgets.fact_rows import FactsView, Row, RowSection, fact
from inspector.tui.widgets.pane import CompactPane
from inspector.tui.work.outcome import CallOutcome, ShownOutcome
from inspector.tui.work.result import ResultPane
from inspector.tui.work.task_changes import TaskChanges
from inspector.tui.work.task_rows import ID_SHOWN, STATUS_SHOWN, name, sign_and_role
from inspector.tui.work.tasks import TaskActions

COMPACT_BELOW = 26
"""Lines below which the panes hide their keys, which the footer also shows."""
MIN_FACTS = 5
CATCH_UP = 0.02
"""Seconds between two slices when a long recording is searched for tasks."""
_FRAME = 4
"""Lines of the pane without facts: its edge, its keys and the line above them."""
_MESSAGE, _TIME = 2000, 40
"""Characters of a status message and of a time that are shown."""
_BRIEF = 80
"""Characters up to which a message is shown before the other facts, because a longer one would hide them."""


class TaskPane(Container, TaskActions):
    """The task that was selected in the list."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("tasks"), *bindings("task")]
    DEFAULT_CSS = """
    TaskPane { layout: vertical; }
    TaskPane > ResultPane { height: 1fr; }
    """

    def __init__(self, session: SessionState, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session
        self._task_shown: Task | None = None
        self._trails = TaskChanges(session.journal)
        self._facts = FactsView(empty="The selected task is shown here.", what="the task's details")
        self._about = CompactPane(self._facts, title="Task")
        self._result = ResultPane(session)
        self._seen: tuple[Any, ...] = ()
        self._answered: tuple[Any, ...] = ()
        self._lines = 0
        self._catching_up: Timer | None = None

    def compose(self) -> ComposeResult:
        yield self._about
        yield self._result

    @property
    def current(self) -> Task | None:
        """The current task."""
        return self._task_shown

    def show(self, task: Task | None) -> None:
        """Show a task, or none."""
        if task is not self._task_shown:
            self._task_shown = task
            self._seen = ()
            if self.is_mounted:
                self.tick()

    def tick(self) -> None:
        """Draw the changes of the task."""
        behind = self._trails.advance()
        if behind and self._catching_up is None:
            self._catching_up = self.set_timer(CATCH_UP, self._catch_up)
        task = self._task_shown
        changes = self.session.changes
        state = (task.report.n, task.answer_n, task.done) if task is not None else ()
        seen = (task, state, changes["tasks"], changes["inbox"], self.size, behind)
        if seen == self._seen:
            return
        self._seen = seen
        self._draw_facts(task)
        self._draw_result(task)
        self._share_room()

    def _catch_up(self) -> None:
        self._catching_up = None
        self.tick()

    def on_resize(self) -> None:
        self.tick()

    # Facts

    def _draw_facts(self, task: Task | None) -> None:
        about = self._about
        if task is None:
            about.title, about.state_facts, about.tone = "Task", (), ""
            self._show_rows([])
        else:
            sign, role = sign_and_role(task.status)
            crumb = f"Tasks {signs_now().crumb} " if self.screen.has_class("-narrow") else ""
            about.title = [(crumb, "muted"), (name(task), "bright bold"), ("  task", "muted")]
            about.state_facts = [[sign, (f" {safe(task.status, STATUS_SHOWN)}", role)]]
            about.tone = "ask" if task.status == "input_required" and not task.done else ""
            self._show_rows(self._rows(task))
        about.draw_state()

    def _show_rows(self, rows: list[Row]) -> None:
        self._lines = len(rows)
        self._facts.show(*([RowSection(rows)] if rows else []))

    def _rows(self, task: Task) -> list[Row]:
        report = task.report
        message = fact("message", safe(report.message, _MESSAGE, multiline=True), "bright") if report.message else []
        is_brief = len(report.message) <= _BRIEF and len(message) == 1
        rows = [*self._status_rows(task), Row(), *(message if is_brief else ())]
        rows += fact("created by", self._maker(task))
        if not task.done:
            rows += fact("last poll", f"every {duration(report.poll * 1_000_000)}")
        rows += fact("kept for", duration(report.ttl * 1000) if report.ttl is not None else "no time limit given")
        for label, time in (("created", report.created), ("updated", report.updated)):
            if time:
                rows += fact(label, safe(time, _TIME), "muted")
        rows += fact("id", safe(task.id, ID_SHOWN), "muted")
        return rows if is_brief else [*rows, *message]

    def _status_rows(self, task: Task) -> list[Row]:
        """Return the statuses in order: when each started, and how long it lasted."""
        journal, index = self.session.journal, self.session.journal.index
        changes = self._trails.of(task.id, task.call_n)
        statuses = [(change.status, change.n) for change in changes]
        if not statuses or statuses[-1][0] != task.status:
            statuses.append((task.status, task.answer_n or task.report.n))
        end = self.session.now if not task.done else 0
        rows = []
        for at, (status, n) in enumerate(statuses):
            sign, role = sign_and_role(status)
            began = index.time(n) if 0 < n <= index.count else 0
            after = statuses[at + 1][1] if at + 1 < len(statuses) else 0
            until = index.time(after) if 0 < after <= index.count else end
            stood = f"for {duration(until - began)}" if n and until > began else ""
            clock = f"{journal.clock(began):%H:%M:%S}" if n else ""
            words = f" {safe(status, STATUS_SHOWN):<15}"
            rows.append(Row([sign, (words, role), (f" {clock}", "muted"), (f"  {stood}" if stood else "", "faint")], 2))
        return rows

    def _maker(self, task: Task) -> str:
        """Return the request that created it, or that it is not ours."""
        index = self.session.journal.index
        if not 0 < task.call_n <= index.count:
            return "" if task.call_n else "not this session; it was listed"
        return f"{signs_now().sent} {id_text(index, task.call_n)}  {safe(task.method, ID_SHOWN)} {name(task)}"

    # Its result

    def _draw_result(self, task: Task | None) -> None:
        if task is None or not task.done or not (_answer_of(task) or task.error is not None):
            self._result.show(None, self._promise(task))
            self._answered = ()
            return
        # The chosen view of a result is kept while the result is the same.
        answered = (task, _answer_of(task), task.error)
        if answered != self._answered:
            self._answered = answered
            self._result.show(ShownOutcome(self._outcome(task), self._output_schema(task)))

    def _promise(self, task: Task | None) -> str:
        """Return the text that replaces a missing result."""
        if task is None:
            return ""
        if not task.done and task.status == "input_required" and self.session.inbox.open():
            where = " ".join(f"{hint.label} {hint.title}" for hint in hints(self, TAB_BY_ID["inbox"].verb))
            return f"The task waits for your answer: {where}".rstrip(": ")
        if not task.done:
            return "The result appears here when the task ends."
        return (
            "The task ended without a result."
            if task.call_n
            else "The result went to the client that created the task."
        )

    def _outcome(self, task: Task) -> CallOutcome:
        index = self.session.journal.index
        answer = _answer_of(task)
        last = answer or task.report.n
        took = index.time(last) - index.time(task.call_n) if 0 < task.call_n <= last <= index.count else 0
        return CallOutcome(
            task.method or "tasks/result",
            task.call_n,
            answer,
            task.result,
            task.error,
            late=False,
            took=took,
            gave_up=took,
            by_us=False,
        )

    def _output_schema(self, task: Task) -> Any:
        tool = self.session.catalog["tools"].get(task.title) if task.method == "tools/call" else None
        return tool.get("outputSchema") if tool is not None else None

    def _share_room(self) -> None:
        """Give the facts the lines that they need, up to half; the result gets the others."""
        height = self.size.height
        if not height:
            return
        compact = height < COMPACT_BELOW
        for pane in (self._about, self._result):
            pane.set_compact(compact)
        needed = self._lines + (_FRAME if not compact else _FRAME - 2)
        self._about.styles.height = max(min(needed, height // 2), MIN_FACTS)

    def hints(self) -> list[KeyHint]:
        """Return the keys at the focus."""
        if self._result.has_focus_within:
            return self._result.hints()
        return [*super().hints(), *hints(self, "task.leave")]

    def focus_inside(self) -> bool:
        """Focus the result, or without one the facts."""
        if self.has_focus_within:
            return True
        return self._result.focus_inside() if self._result.answer is not None else self._about.focus_inside()

    def action_leave(self) -> None:
        self.post_message(LeaveWork())


def _answer_of(task: Task) -> int:
    """Return the message with a task's result: in a recording, a status message may have it too."""
    return task.answer_n or (task.report.n if task.result is not None else 0)
