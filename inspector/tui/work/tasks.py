"""The tasks of a session: their list, and the actions on a task in each pane."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.timer import Timer

from inspector.client.session_state import SessionState
from inspector.client.state.catalog import ListName
from inspector.client.state.tasks import Task
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.model.tasks import TASK_VERBS, TaskFacts
from inspector.tui.pane_keys import VerbsByRules, hints
from inspector.tui.pane_messages import HintsChanged, ShowFiltered
from inspector.tui.sessions import offers_tasks
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.work.recorded_calls import item_called
from inspector.tui.work.task_rows import TaskRows

_ID_SOUGHT = 200
"""Characters of a task's id that find its messages."""


class TaskActions(VerbsByRules):
    """A pane with one current task, `current`."""

    RULES = TASK_VERBS
    session: SessionState

    class OpenCall(Message):
        """Show the item whose call created the task."""

        def __init__(self, list_name: ListName, address: str) -> None:
            super().__init__()
            self.list_name = list_name
            self.address = address

    @property
    def current(self) -> Task | None:
        """The task of the keys."""
        raise NotImplementedError

    def verb_facts(self) -> TaskFacts:
        """Return the facts on which the verbs depend."""
        session, task = self.session, self.current
        return TaskFacts(
            live=session.commands is not None,
            can_list=session.tasks.can_list,
            selected=task is not None,
            done=task is not None and task.done,
            has_call=self._item_called is not None,
        )

    def action_cancel(self) -> None:
        """Ask the server to cancel the task."""
        session = self.session.commands
        if session is not None and self.current is not None:
            session.cancel_task(self.current)

    def action_poll(self) -> None:
        """Request the status of the task now."""
        session = self.session.commands
        if session is not None and self.current is not None:
            session.refresh_task(self.current)

    def action_refresh(self) -> None:
        """Request the list of tasks."""
        session = self.session.commands
        if session is not None:
            session.run(session.list_tasks())

    def action_its_messages(self) -> None:
        """Show the messages that created the task or refer to it."""
        if self.current is not None:
            self.post_message(ShowFiltered(filter_of(self.current)))

    def action_open_call(self) -> None:
        """Go to the tool call that created the task."""
        if self._item_called is not None:
            self.post_message(self.OpenCall(*self._item_called))

    @property
    def _item_called(self) -> tuple[ListName, str] | None:
        task = self.current
        return item_called(self.session.journal, task.call_n) if task is not None and task.call_n else None


def filter_of(task: Task) -> str:
    """Return the filter for the messages of a task."""
    id = task.id[:_ID_SOUGHT].replace("\\", "\\\\").replace('"', '\\"')
    terms = ([f"exchange:#{task.call_n}"] if task.call_n else []) + ([f'"{id}"'] if id else [])
    return " | ".join(terms)


class TasksPane(Pane, TaskActions):
    """The list of tasks. The work pane shows the selected one."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("tasks")]
    DEFAULT_CSS = """
    TasksPane > VirtualList { height: 1fr; }
    """

    class Highlighted(Message):
        """The cursor is on another task, or on none."""

        def __init__(self, task: Task | None) -> None:
            super().__init__()
            self.task = task

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, TasksPane.Highlighted)

    class Opened(Message):
        """The user chose a task: focus it."""

    def __init__(self, session: SessionState, *, id: str | None = None) -> None:
        super().__init__(title="Tasks", id=id)
        self.session = session
        self._rows = TaskRows(session.journal)
        self._seen: tuple[Any, ...] = ()
        self._list = VirtualList(self._rows)
        self._clock: Timer | None = None
        self._reported: Task | None = None

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._list

    def on_mount(self) -> None:
        self._clock = self.set_interval(1, self._draw_ages)
        self.tick()

    @property
    def current(self) -> Task | None:
        """The task under the cursor."""
        at = self._list.cursor
        return self._rows.rows[at] if 0 <= at < len(self._rows) else None

    def tick(self) -> None:
        """Draw the changes of the tasks."""
        changes = self.session.changes
        moment = 0 if self.session.commands is not None else self.session.now // 1_000_000
        seen = (changes["tasks"], changes["server"], changes["phase"], moment)
        if seen == self._seen:
            return
        self._seen = seen
        self._rows.now = self.session.now
        self._rows.set_tasks(self.session.tasks.items)
        self._list.empty = self._words_for_nothing()
        self._list.source_changed()
        going_on = sum(not task.done for task in self._rows.rows)
        self.facts = [
            *([[(f"{going_on:,} running", "progress")]] if going_on else []),
            *([f"{len(self._rows):,}"] if len(self._rows) else []),
        ]
        if self.current is not self._reported:
            # Going back in a recording creates the tasks again.
            self._reported = self.current
            self.post_message(self.Highlighted(self.current))
        self.post_message(HintsChanged())

    def _words_for_nothing(self) -> str:
        session = self.session
        if not offers_tasks(session):
            return "This server offers no tasks."
        if session.commands is None:
            return "The recording has no tasks so far."
        words = "No tasks yet.\nA call that the server turns into a task appears here."
        listing = " ".join(f"{hint.label} {hint.title}" for hint in hints(self, "tasks.refresh"))
        return f"{words}\n{listing}" if session.tasks.can_list else words

    def _draw_ages(self) -> None:
        """Draw the ages of running tasks."""
        if self.is_on_screen and any(not task.done for task in self._rows.rows):
            self._rows.now = self.session.now
            self._list.rows_changed(range(len(self._rows)))

    def hints(self) -> list[KeyHint]:
        """Return the keys for the tasks."""
        return [*(hints(self, "list.select") if len(self._rows) else []), *super().hints()]

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        event.stop()
        self.post_message(self.Highlighted(self.current))
        self.post_message(HintsChanged())

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        event.stop()
        if self.current is not None:
            self.post_message(self.Opened())
