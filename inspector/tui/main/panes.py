"""The panes of the main screen. Some exist from the start, the others are made when first shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from textual.app import ComposeResult
from textual.containers import Container, Vertical
from textual.widget import Widget

from inspector import feature
from inspector.client.session_state import SessionState
from inspector.config.logfile import failed_feature
from inspector.errors import FeatureError
from inspector.tui import feature_verbs
from inspector.tui.log.detail import DetailPane
from inspector.tui.log.last_message import LastMessageLine
from inspector.tui.log.pane import MessagesPane
from inspector.tui.window import window_of
from inspector.tui.work.catalog import CatalogPane
from inspector.tui.work.pane import WorkPane

if TYPE_CHECKING:
    from inspector.tui.ask.inbox import InboxPane
    from inspector.tui.calls.flow_pane import FlowPane
    from inspector.tui.calls.pane import CallsPane
    from inspector.tui.calls.saved_calls import SavedCalls
    from inspector.tui.check.pane import CheckPane
    from inspector.tui.server.failed import FailedPane
    from inspector.tui.server.pane import ServerPane
    from inspector.tui.timeline.pane import TimelinePane
    from inspector.tui.work.task import TaskPane
    from inspector.tui.work.tasks import TasksPane

T = TypeVar("T")


def _tasks(session: SessionState) -> Widget:
    from inspector.tui.work.tasks import TasksPane

    return TasksPane(session, id="tasks")


def _task(session: SessionState) -> Widget:
    from inspector.tui.work.task import TaskPane

    return TaskPane(session, id="task")


def _server(session: SessionState) -> Widget:
    from inspector.tui.server.pane import ServerPane

    return ServerPane(session, id="server")


def _check(session: SessionState) -> Widget:
    from inspector.tui.check.pane import CheckPane

    return CheckPane(session, id="check")


def _failed(session: SessionState) -> Widget:
    from inspector.tui.server.failed import FailedPane

    return FailedPane(session, id="failed")


_LATER: dict[str, Callable[[SessionState], Widget]] = {
    "tasks": _tasks,
    "task": _task,
    "server": _server,
    "check": _check,
    "failed": _failed,
}
"""The factories of the panes made later; their modules are imported only then."""
_FEATURE_PANES = {id: (feature, tab, place) for feature, tab in feature_verbs.tabs() for id, place in tab.panes.items()}
"""The panes of features by their id."""
_FEATURE_BESIDE = tuple(id for id, (_, tab, _) in _FEATURE_PANES.items() if id != tab.id)
_ORDER = (
    "catalog",
    "inbox",
    "tasks",
    "calls",
    *(id for id in _FEATURE_PANES if id not in _FEATURE_BESIDE),
    "work",
    "task",
    "flow",
    *_FEATURE_BESIDE,
    "server",
    "check",
    "failed",
    "log",
)
"""The columns of the body, in focus order."""


class Panes:
    """The panes of a session's screen, side by side in `body`, and the line that replaces the log below it.

    `made` is called after panes were made, because they are empty at first.
    """

    def __init__(self, session: SessionState, made: Callable[[], None]) -> None:
        self._session = session
        self._made = made
        self._later: dict[str, Widget] = {}
        self._saved: SavedCalls | None = None
        self._states: dict[str, Any] = {}
        """The state of each tab of a feature that was shown."""
        self._failed: set[str] = set()
        """The panes and tabs of features that failed."""
        self._making = asyncio.Lock()
        self.catalog = CatalogPane(session, id="catalog")
        self.work = WorkPane(session, id="work")
        self.catalog.asked = lambda: self.work.asked_from_list
        self.catalog.running_call = lambda: self.work.running_call
        self.messages = MessagesPane(session, id="messages")
        self.detail = DetailPane(session, folding=self.messages.folding, id="detail")
        self.log = Vertical(self.messages, self.detail, id="log")
        self.body = Container(self.catalog, self.work, self.log, id="body")
        self.last = LastMessageLine(session, self.messages.fold, id="last")
        self.timeline: TimelinePane | None = None
        """The timeline, shown instead of the messages; None until it is first shown."""

    def compose(self) -> ComposeResult:
        """Yield the body with the panes that exist from the start."""
        yield self.body

    async def make(self, *names: str) -> None:
        """Make these panes, hidden, if they do not exist.

        They are `inbox`, `tasks`, `task`, `calls`, `flow`, `server`, `check`, `failed` and those of features.
        Afterwards they can be shown and focused. Other names are ignored.
        """
        async with self._making:
            made: dict[str, Callable[[], Widget]] = {
                "inbox": self._inbox,
                "calls": self._calls,
                "flow": self._flow,
                **{id: partial(self._of_feature, id) for id in _FEATURE_PANES},
                **{name: partial(make, self._session) for name, make in _LATER.items()},
            }
            missing = [name for name in names if name in made and name not in self._later]
            for name in missing:
                pane = made[name]()
                pane.display = False
                columns = {column.id: column for column in self.body.children}
                after = next(columns[other] for other in _ORDER[_ORDER.index(name) + 1 :] if other in columns)
                await self.body.mount(pane, before=after)
                self._later[name] = pane
                if name == "failed" and self.failed is not None:
                    self.failed.lost_call = self.lost_call
            if missing:
                self._made()

    async def make_timeline(self) -> TimelinePane:
        """Make the timeline, hidden, if it does not exist."""
        async with self._making:
            if self.timeline is None:
                from inspector.tui.timeline.pane import TimelinePane

                pane = TimelinePane(self._session, id="timeline")
                pane.display = False
                await self.log.mount(pane, before=self.detail)
                self.timeline = pane
            return self.timeline

    def lost_call(self) -> int:
        """Return the request of the newest call if its answer was lost with the connection; else 0."""
        session = self.work.session
        if session.commands is None:
            from inspector.client.state.steps import lost_call

            return lost_call(session.journal, session.upto)
        lost = self.work.sending.lost_work()
        return lost.call.n if lost is not None and lost.call is not None else 0

    @property
    def in_timeline(self) -> bool:
        """Whether the timeline has the focus."""
        return self.timeline is not None and self.timeline.has_focus_within

    @property
    def saved_calls(self) -> SavedCalls:
        """The saved calls of the working directory, or of the folder that the settings name."""
        if self._saved is None:
            from inspector.tui.calls.saved_calls import FOLDER, SavedCalls

            folder = window_of(self.body).settings.calls_folder or FOLDER
            self._saved = SavedCalls(self._session, Path(folder).expanduser().absolute())
        return self._saved

    def _flow(self) -> Widget:
        from inspector.tui.calls.flow_pane import FlowPane

        return FlowPane(self.saved_calls, id="flow")

    def _calls(self) -> Widget:
        from inspector.tui.calls.pane import CallsPane

        return CallsPane(self.saved_calls, id="calls")

    def counts(self) -> dict[str, int]:
        """Return the counts of the tabs of features that were shown."""
        return {id: self._unless_failed(id, partial(getattr, state, "count"), 0) for id, state in self._states.items()}

    def _of_feature(self, id: str) -> Widget:
        """Return a pane of a feature. Raises `FeatureError`."""
        source, tab, place = _FEATURE_PANES[id]
        try:
            if tab.id not in self._states:
                self._states[tab.id] = source.load(tab.state)(self._session)
            pane: Widget = source.load(place)(self._states[tab.id], id=id)
        except FeatureError:
            raise
        except Exception as error:  # another one is raised again
            raise failed_feature(error) from error
        kind = "beside" if id in _FEATURE_BESIDE else "list" if tab.beside else "whole"
        pane.add_class(f"feature-{kind}")
        return pane

    def _unless_failed(self, id: str, part: Callable[[], T], otherwise: T) -> T:
        """Return what a part of a feature returns. One of another package that fails is told, and never asked again."""
        if id in self._failed:
            return otherwise
        try:
            return part()
        except Exception as error:
            if feature.failed(error) is None:
                raise
            self._failed.add(id)
            asyncio.get_running_loop().call_exception_handler({"exception": error})
            return otherwise

    def _inbox(self) -> Widget:
        from inspector.tui.ask.inbox import InboxPane

        pane = InboxPane(self._session, id="inbox")
        pane.asked = lambda: self.work.asked_from_inbox
        return pane

    def get(self, name: str) -> Widget | None:
        """Return a column or a part of the log by its name; None if it does not exist yet."""
        always = {"catalog": self.catalog, "work": self.work, "log": self.log}
        parts = {"messages": self.messages, "detail": self.detail, "timeline": self.timeline}
        return {**always, **parts, **self._later}.get(name)

    @property
    def inbox(self) -> InboxPane | None:
        """The inbox, or None until it is first shown."""
        return self._later.get("inbox")  # type: ignore[return-value]  # made by `_inbox`

    @property
    def tasks(self) -> TasksPane | None:
        """The list of tasks, or None until it is first shown."""
        return self._later.get("tasks")  # type: ignore[return-value]  # made by `_tasks`

    @property
    def task(self) -> TaskPane | None:
        """One task, or None until the list is first shown."""
        return self._later.get("task")  # type: ignore[return-value]  # made by `_task`

    @property
    def server(self) -> ServerPane | None:
        """The server pane, or None until it is first shown."""
        return self._later.get("server")  # type: ignore[return-value]  # made by `_server`

    @property
    def calls(self) -> CallsPane | None:
        """The list of saved calls, once it was shown."""
        return self._later.get("calls")  # type: ignore[return-value]  # made by `_calls`

    @property
    def flow(self) -> FlowPane | None:
        """One flow, once the list of saved calls was shown."""
        return self._later.get("flow")  # type: ignore[return-value]  # made by `_flow`

    @property
    def beside(self) -> list[Widget]:
        """The panes beside a list that exist."""
        names = ("work", "task", "flow", *_FEATURE_BESIDE)
        return [pane for name in names if (pane := self.get(name)) is not None]

    @property
    def check(self) -> CheckPane | None:
        """The checks, or None until they are first shown."""
        return self._later.get("check")  # type: ignore[return-value]  # made by `_check`

    @property
    def failed(self) -> FailedPane | None:
        """The pane of a missing connection, or None until it is first shown."""
        return self._later.get("failed")  # type: ignore[return-value]  # made by `_failed`

    @property
    def in_log(self) -> bool:
        """Whether the keys go to the rows of the log or to the event below them."""
        return self.messages.rows_have_focus or self.detail.has_focus_within

    def tick(self, *, with_log: bool = True) -> None:
        """Let each visible pane draw what is new; the log and the event below it only `with_log`."""
        for pane in (self.catalog, self.work, *((self.messages, self.detail) if with_log else ())):
            # A list that a first question hides chooses its item all the same.
            if pane.is_on_screen or (pane is self.catalog and self.work.work.is_empty):
                pane.tick()
        for other in (
            self.server,
            self.failed,
            self.inbox,
            self.tasks,
            self.task,
            self.timeline,
            self.last,
        ):
            if other is not None and other.display:
                other.tick()
        for id in _FEATURE_PANES:
            of_feature: Any = self._later.get(id)
            if of_feature is not None and of_feature.display:
                self._unless_failed(id, of_feature.tick, None)
