"""Tasks as they are seen: the list, what one came through, its result; and what can be done with them."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from inspector.client.options import Options
from inspector.client.session import Session
from inspector.client.state.tasks import Task
from inspector.config.settings import Settings
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.tui.app import InspectorApp
from inspector.tui.log.message_list import MessageList
from inspector.tui.navigator import Opening, ScreenNavigator, StartedSession
from inspector.tui.work.task import TaskPane
from inspector.tui.work.task_changes import MAX_CHANGES, TaskChanges
from inspector.tui.work.task_rows import age, sign_and_role
from inspector.tui.work.tasks import TasksPane, filter_of
from tests.client.conftest import Server, make_session
from tests.tui.live_app import NARROW, WIDE, Live, becomes, main_screen, shows
from tests.tui.live_demo import Ticking
from tests.tui.recorded_conversation import Talk, caught_up
from tests.tui.tui_screens import press, screen_lines, screen_text, settle

SCHEMA = {"type": "object", "properties": {"sheep": {"type": "integer"}}}
TOOL = {
    "name": "count", "inputSchema": {"type": "object", "properties": {"of": {"type": "string"}}}, "outputSchema": SCHEMA, "execution": {"taskSupport": "required"},
}  # fmt: skip
RESULT = {"content": [{"type": "text", "text": "twelve sheep"}], "structuredContent": {"sheep": 12}}


class Herd(Server):
    """A server whose tool is a task; the test moves it on."""

    def __init__(self, **more: Any) -> None:
        super().__init__(tools__list={"tools": [TOOL]}, **more)
        offered = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
        self.initialize["capabilities"] = {"tools": {}, "tasks": offered}
        self.state: dict[str, Any] = {
            "taskId": "t-1", "status": "working", "statusMessage": "counting\x1b[31m", "ttl": 60_000,
            "createdAt": "2026-01-01T10:00:00Z", "lastUpdatedAt": "2026-01-01T10:00:01Z", "pollInterval": 100,
        }  # fmt: skip
        self.methods |= {
            "tools/call": self.begin, "tasks/get": self.tell, "tasks/cancel": self.cancel, "tasks/result": RESULT,
            "tasks/list": {"tasks": [{**self.state, "taskId": "other", "status": "completed"}]},
        }  # fmt: skip

    def begin(self, message: Any, reply: Any) -> None:
        reply({"jsonrpc": "2.0", "id": message["id"], "result": {"task": self.state}})

    def tell(self, message: Any, reply: Any) -> None:
        reply({"jsonrpc": "2.0", "id": message["id"], "result": self.state})

    def cancel(self, message: Any, reply: Any) -> None:
        self.state["status"] = "cancelled"
        self.methods["tasks/result"] = lambda asked, say: say(
            {"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32000, "message": "cancelled"}}
        )
        self.tell(message, reply)


class MadeBefore(ScreenNavigator):
    """Shows a session that was made before, whatever it is to open."""

    def __init__(self, app: InspectorApp, session: Session) -> None:
        super().__init__(app, Opening(Options(), Settings()), app.sessions)
        self._made = session

    def begin(self, target: StdioTarget | HttpTarget, *, connect: bool = True) -> StartedSession:
        return StartedSession(self._made, None, None, None)


class Watching(InspectorApp):
    """The interface on a session that was made before."""

    def __init__(self, session: Session) -> None:
        super().__init__(session.target, Options(), Settings(), keep=False)
        self.navigator = MadeBefore(self, session)


@asynccontextmanager
async def watching(server: Server, *, size: tuple[int, int] = WIDE) -> AsyncIterator[tuple[Session, Live]]:
    session: Session = make_session(server)
    app = Watching(session)
    async with app.run_test(size=size, notifications=True) as pilot:
        await becomes(app, pilot, lambda: session.phase == "ready" and bool(len(session.catalog["tools"])), "listed")
        yield session, (app, pilot)


@asynccontextmanager
async def at_work(server: Herd, *, size: tuple[int, int] = WIDE) -> AsyncIterator[tuple[Session, Live]]:
    """A task goes on, and is shown."""
    async with watching(server, size=size) as (session, (app, pilot)):
        session.call_tool("count")
        await becomes(app, pilot, lambda: "t-1" in session.tasks.items, "a task")
        await press(pilot, "5", shows="count")
        yield session, (app, pilot)


@pytest.mark.slow
async def test_the_tab_is_there_only_where_there_are_tasks_or_it_is_in_front() -> None:
    async with watching(Server(tools__list={"tools": [{"name": "plain", "inputSchema": {}}]})) as (_, (app, pilot)):
        await shows(app, pilot, "connected")
        assert "Tasks" not in screen_lines(app)[1]
        await press(pilot, "5", shows="This server has not offered tasks.")
        assert "Tasks" not in screen_lines(app)[1]
        assert main_screen(app).pane_layout.place == "tools"
    async with watching(Herd()) as (_, (app, pilot)):
        await shows(app, pilot, "connected")
        assert "Tasks" not in screen_lines(app)[1]
        await press(pilot, "5", shows="No tasks yet.", until=lambda: "5 Tasks" in screen_lines(app)[1])
        assert "m messages" in screen_lines(app)[-1], "without a task its keys are those of the screen"
        await press(pilot, "m", until=lambda: main_screen(app).panes.messages.has_focus_within, what="in the log")


async def test_a_task_is_shown_with_what_it_came_through_its_result_and_its_messages() -> None:
    server = Herd()
    async with at_work(server) as (session, (app, pilot)):
        screen = main_screen(app)
        await becomes(app, pilot, lambda: "5 Tasks 1" in screen_lines(app)[1], "counted")
        await shows(
            app, pilot, "1 running", "↻ working", "counting␛[31m", "every 100 ms", "1 m 0 s", "2026-01-01T10:00:00Z",
            "t-1", "The result appears here",
        )  # fmt: skip
        polls = Query(dir=Dir.SEND, shape=Shape.REQUEST, method="tasks/get")
        await becomes(app, pilot, lambda: polls.count(session.journal.index) > 3, "polled")
        # A row is for many polls.
        rows = lambda: len(re.findall("→← +tasks/get", screen_text(app)))  # noqa: E731
        await becomes(app, pilot, lambda: 0 < rows() < polls.count(session.journal.index) / 3, "few rows")
        await press(pilot, "enter", until=lambda: screen.query_one("#task").has_focus_within)
        await press(pilot, "escape", until=lambda: screen.query_one("#tasks").has_focus_within)
        server.state["status"] = "completed"
        await shows(app, pilot, "matches schema", "✓ completed", "↻ working", '{ "sheep": 12 }')
        task = session.tasks.items["t-1"]
        assert task.done
        assert task.result == RESULT
        await press(pilot, "m", shows=(f'exchange:#{task.call_n} | "t-1"', "hidden by the filter"))
        rows = screen.panes.messages.query_one(MessageList).rows
        methods = {session.journal.index.method(rows.numbers[at]) for at in range(len(rows))}
        assert {"tools/call", "tasks/result"} <= methods
        assert "tools/list" not in methods
        await press(pilot, "5", "o", until=lambda: screen.pane_layout.place == "tools", what="at the tool")
        await becomes(app, pilot, lambda: screen.panes.work.has_focus_within, "in its form")


async def test_a_call_in_flight_says_how_its_task_stands_and_one_must_not_be_called() -> None:
    server = Herd()
    async with watching(server) as (session, (app, pilot)):
        await press(pilot, "ctrl+r", shows=("↻ working as a task", "counting␛[31m"))
        server.state["status"] = "completed"
        await shows(app, pilot, "matches schema")
        session.refused_tools["count"] = ["the header name is not a token"]
        session.changes.bump("tools")
        main_screen(app).panes.work.request.redraw()
        await shows(app, pilot, "It must not be called over HTTP: the header")
        await press(pilot, "ctrl+r", shows="must not be called over HTTP", hides="running")


async def test_a_tool_that_may_be_a_task_is_one_by_its_own_key() -> None:
    server = Herd()
    server.methods["tools/list"] = {"tools": [{**TOOL, "execution": {"taskSupport": "optional"}}]}
    server.methods["tools/call"] = lambda message, reply: (
        server.begin(message, reply)
        if "task" in message["params"]
        else reply({"jsonrpc": "2.0", "id": message["id"], "result": RESULT})
    )
    async with watching(server) as (session, (_app, pilot)):
        await press(pilot, "ctrl+r", shows="matches schema")
        assert not session.tasks.items
        await press(pilot, "enter", "f4", shows="↻ working as a task")
        assert list(session.tasks.items) == ["t-1"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "result", "words"),
    [
        ("input_required", None, ("The task waits for your answer: 7 inbox", "? input_required")),
        ("failed", {"error": {"code": -32050, "message": "wolves"}}, ("protocol error", "-32050", "wolves")),
    ],
)
async def test_a_task_that_waits_or_failed_says_so(status: str, result: Any, words: tuple[str, ...]) -> None:
    asks = {"id": 77, "method": "sampling/createMessage", "params": {"messages": []}}
    server = Herd()
    server.methods["tasks/result"] = lambda message, reply: reply(
        {"jsonrpc": "2.0", **({"id": message["id"], **result} if result else asks)}
    )
    async with at_work(server) as (_, (app, pilot)):
        server.state["status"] = status
        await shows(app, pilot, *words)


async def test_a_task_is_read_at_once_cancelled_and_those_of_others_are_listed() -> None:
    server = Herd()
    server.state["pollInterval"] = 3_600_000
    async with at_work(server) as (session, (app, pilot)):
        assert server.asked("tasks/get") == []
        await press(pilot, "p", until=lambda: len(server.asked("tasks/get")) == 1, what="asked")
        await press(pilot, "delete", shows=("✗ cancelled", "The task count was cancelled."), hides="You cancelled it")
        assert len(server.asked("tasks/cancel")) == 1
        await becomes(app, pilot, lambda: session.tasks.items["t-1"].done, "over")
        await press(pilot, "delete", shows="p poll now")
        assert len(server.asked("tasks/cancel")) == 1, "what is over is not cancelled"
        await press(pilot, "r", shows=("other", "not ours"), until=lambda: "5 Tasks 2" in screen_lines(app)[1])
        expected = ("not this session; it was listed", "The result went to the client")
        await press(pilot, "home", shows=expected)


async def test_one_column_shows_the_list_then_the_task() -> None:
    server = Herd()
    async with at_work(server, size=NARROW) as (_, (app, pilot)):
        assert "created by" not in screen_text(app)
        await press(pilot, "enter", shows="created by")
        server.state["status"] = "completed"
        await shows(app, pilot, '{ "sheep": 12 }')
        await press(pilot, "escape", hides="created by")


ODD: list[dict[str, Any]] = [
    {"status": {"a": 1}, "statusMessage": [1], "ttl": "x", "pollInterval": -1, "createdAt": 7},
    {"status": "\u202ereversed" * 500, "statusMessage": "x" * 100_000, "ttl": 10**30, "pollInterval": 50},
    {"status": "", "createdAt": "9999-99-99", "lastUpdatedAt": "0001-01-01T00:00:00+14:00", "ttl": -5},
    {"status": "input_required", "createdAt": "2026-01-01"},
]


@pytest.mark.slow
@pytest.mark.parametrize("odd", ODD)
async def test_whatever_a_server_says_of_a_task_is_shown(odd: dict[str, Any]) -> None:
    server = Herd()
    server.state = {"taskId": 'id "with\\quotes" ' + "x" * 5000, **odd}
    async with watching(server) as (session, (app, pilot)):
        session.call_tool("count")
        await becomes(app, pilot, lambda: bool(session.tasks.items), "a task")
        await press(pilot, "5", shows="created by", hides="\u202e")
        await press(pilot, "m", until=lambda: main_screen(app).panes.messages.filter is not None)


async def test_the_tasks_of_a_recording_are_shown_and_nothing_is_asked() -> None:
    talk = Talk()
    talk.call(1, "count")
    talk.answer(1, {**task_data("working"), "resultType": "task"})
    talk.ask(2, "tasks/get", {"taskId": "t"})
    talk.answer(2, {**task_data("completed"), "result": {**RESULT, "resultType": "complete"}})
    session = caught_up(talk.session)
    pane, tasks = TaskPane(session), TasksPane(session)
    app = Ticking(tasks, pane)
    async with app.run_test(size=(90, 40)) as pilot:
        await settle(pilot, lambda: tasks.current is not None)
        pane.show(tasks.current)
        await press(pilot, shows=('{ "sheep": 12 }', "tools/call count"))
        verbs = [hint.verb for hint in tasks.hints() if hint.verb.startswith("tasks.")]
        assert verbs == ["tasks.its-messages", "tasks.open-call"]


def test_a_status_that_no_revision_knows_is_marked() -> None:
    assert sign_and_role("working")[1] == "progress"
    assert sign_and_role("meditating")[1] == "finding"


def test_the_age_of_a_task_counts_from_its_request_else_from_what_the_server_says() -> None:
    journal = Journal.unnamed({})
    listed = Task("x")
    assert age(listed, journal, 0) == ""
    listed.update(0, {"createdAt": "2026-01-01T10:00:00Z", "lastUpdatedAt": "2026-01-01T10:00:07.5Z"})
    listed.done = True
    assert age(listed, journal, 0) == "7 s"
    listed.update(0, {"lastUpdatedAt": "2025-01-01T10:00:00Z"})
    assert age(listed, journal, 0) == "", "a clock that runs backwards tells nothing"


def task_data(status: str, id: str = "t") -> dict[str, Any]:
    return {"taskId": id, "status": status}


def test_the_trail_of_a_task_has_each_change_once_with_its_message_and_is_bounded() -> None:
    talk = Talk()
    call = talk.call(1, "count")
    made = talk.answer(1, {"task": task_data("working")})
    for id, status in ((2, "working"), (3, "input_required"), (4, "input_required")):
        talk.ask(id, "tasks/get", {"taskId": "t"})
        talk.answer(id, task_data(status))
    last = talk.notice("tasks/status", **task_data("completed"))
    trails = TaskChanges(talk.journal)
    assert not trails.advance()
    assert [status for status, _ in trails.of("t", call)] == ["working", "input_required", "completed"]
    assert [trails.of("t", call)[at].n for at in (0, -1)] == [made, last]
    assert trails.of("another", 0) == []
    for _ in range(MAX_CHANGES):
        for status in ("working", "input_required"):
            talk.notice("tasks/status", **task_data(status))
    while trails.advance():
        pass
    assert len(trails.of("t", 0)) == MAX_CHANGES


def test_the_filter_of_a_task_names_its_call_and_its_id() -> None:
    task = Task('a"b\\c')
    assert filter_of(task) == '"a\\"b\\\\c"'
    assert json.loads(filter_of(task)) == task.id
    assert filter_of(Task("")) == ""
