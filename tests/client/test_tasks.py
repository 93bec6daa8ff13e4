"""Tasks, by the core protocol of 2025-11-25 and by the extension of 2026: made, followed, given input, cancelled."""

import asyncio

import pytest

from inspector.client.engine import tasks as engine_tasks
from inspector.client.inbox import StandingAnswers
from inspector.client.state import tasks as state_tasks
from inspector.errors import ConnectionProblem, InputRefused, InvalidAnswer, RequestCancelled, ServerError
from tests.client.conftest import CAPABILITIES, Server, until
from tests.client.modern import complete, form, modern, tell

CORE = {"tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}}
QUICK = {"pollInterval": 1, "pollIntervalMs": 1}


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """The server's shortest intervals apply, and a missing interval is short."""
    monkeypatch.setattr(state_tasks, "MIN_POLL", 0.0)
    monkeypatch.setattr(state_tasks, "POLL", 0.0)


def task(status="working", **members):
    """A state of the one task, with the names that either design gives its members."""
    return {"taskId": "task-1", "status": status, "ttl": 1000, "ttlMs": 1000, **QUICK, **members}


def of_core(state):
    return {name: value for name, value in state.items() if not name.endswith("Ms")}


def of_extension(state):
    return complete(**{name: value for name, value in state.items() if name not in ("ttl", "pollInterval")})


def core(*states, result=None, error=None, capabilities=CORE, **methods):
    """A server of 2025-11-25: `tools/call` makes a task, `tasks/get` goes through the states, the last one stays."""
    left = list(states)

    def get(message, reply):
        state = left.pop(0) if len(left) > 1 else left[0]
        reply({"id": message["id"], "result": of_core(state)})

    def outcome(message, reply):
        answer = {"error": error} if error else {"result": result or {"content": []}}
        reply({"id": message["id"], **answer})

    methods.setdefault("tools__list", {"tools": [{"name": "t", "execution": {"taskSupport": "required"}}]})
    methods.setdefault("tools__call", {"task": of_core(task())})
    methods.setdefault("tasks__result", outcome)
    server = Server(tasks__get=get, **methods)
    server.initialize = server.initialize | {"capabilities": {**CAPABILITIES, **capabilities}}
    return server


def extension(*states, **methods):
    """A server with the extension: the answer to `tools/call` is a task, `tasks/get` has all there is to know."""
    left = list(states)

    def get(message, reply):
        state = left.pop(0) if len(left) > 1 else left[0]
        reply({"id": message["id"], "result": of_extension(state)})

    methods.setdefault("tools__call", {"resultType": "task", **task()})
    return modern(tasks__get=get, **methods)


async def begin(session):
    """Call the tool `t`, as a task where that has to be asked for."""
    await session.load("tools")
    return session.call_tool("t")


TOOLS = [
    {"name": "must", "execution": {"taskSupport": "required"}},
    {"name": "may", "execution": {"taskSupport": "optional"}},
    {"name": "never", "execution": {"taskSupport": "forbidden"}},
    {"name": "says nothing"},
    {"name": "odd", "execution": {"taskSupport": {"a": 1}}},
    {"name": "odder", "execution": ["required"]},
]


# Asking for a task


@pytest.mark.parametrize(
    "capabilities", [CORE, {}, {"tasks": {}}, {"tasks": {"requests": {"tools": []}}}, {"tasks": "x"}]
)
async def test_a_task_is_requested_where_tool_and_server_have_it(connect, capabilities):
    """C-TOOL-06, C-TASK-01."""
    server = core(task(), capabilities=capabilities, tools__list={"tools": TOOLS}, tools__call={"content": []})
    async with connect(server, era="legacy") as session:
        await session.load("tools")
        assert {session.tasks.support(tool) for tool in TOOLS} <= {"required", "optional", "forbidden"}
        for tool in TOOLS:
            await session.call_tool(tool["name"]).result()
            await session.call_tool(tool["name"], as_task=True).result()
        asked = [message["params"]["name"] for message in server.asked("tools/call") if "task" in message["params"]]
        assert asked == (["must", "must", "may"] if capabilities is CORE else [])


async def test_the_era_that_has_an_extension_for_it_asks_for_none(connect):
    """C-TOOL-06, C-TASK-02: the server makes a task when it likes."""
    server = modern(tools__list=complete(tools=TOOLS), tools__call=complete(content=[]))
    async with connect(server, era="modern") as session:
        await session.load("tools")
        for tool in TOOLS:
            await session.call_tool(tool["name"], as_task=True).result()
        assert not [message for message in server.asked("tools/call") if "task" in message["params"]]


# Following it


async def test_a_core_task_is_read_until_it_is_over_and_its_result_is_fetched(connect):
    """C-TASK-01."""
    server = core(task(), task(statusMessage="half"), task("completed"), result={"content": [], "x": 1})
    async with connect(server, era="legacy") as session:
        call = await begin(session)
        assert await call.result() == {"content": [], "x": 1}
        [known] = session.tasks.items.values()
        assert (known.status, known.done, known.title, known.report.ttl) == ("completed", True, "t", 1000)
        assert [message["params"] for message in server.asked("tasks/result")] == [{"taskId": "task-1"}]
        assert len(server.asked("tasks/get")) == 3


async def test_a_task_of_the_extension_has_its_result_in_its_last_state(connect):
    """C-TASK-02."""
    server = extension(task(), task("completed", result={"content": [], "x": 1}))
    async with connect(server, era="modern") as session:
        assert await (await begin(session)).result() == {"content": [], "x": 1}
        assert not server.asked("tasks/result")
        assert len(server.asked("tasks/get")) == 2


async def test_the_servers_interval_is_kept(connect, monkeypatch):
    """C-TASK-01, C-TASK-02: a wait that is asked for in milliseconds is waited in seconds, within bounds."""
    monkeypatch.setattr(state_tasks, "POLL", 7.0)
    waits = []
    real = asyncio.timeout

    def remember(seconds):
        waits.append(seconds)
        return real(0)

    monkeypatch.setattr(engine_tasks.asyncio, "timeout", remember)
    states = [task(pollIntervalMs=wait) for wait in (250, 10**12, -5, "x", None, 0)]
    server = extension(*states, task("completed", result={}))
    async with connect(server, era="modern") as session:
        call = await begin(session)
        await until_done(call)
    assert waits[0] == 0.001
    assert waits[1:7] == [0.25, 3600.0, 7.0, 7.0, 7.0, 0.0]


async def test_an_interval_longer_than_the_timeout_is_no_silence(connect):
    """C-TASK-02: the call ends with its task, whose interval the server chose."""
    server = extension(task(pollIntervalMs=400), task("completed", result={"content": []}))
    async with connect(server, era="modern", timeout=0.2) as session:
        assert await (await begin(session)).result() == {"content": []}


async def until_done(call):
    """Wait for the end without a clock of asyncio's own."""
    while call.fate == "pending":
        await asyncio.sleep(0)


async def test_notifications_are_not_relied_on_but_heeded(connect):
    """C-TASK-01, C-TASK-02."""
    for era, server, method in (
        ("legacy", core(task(), task(pollInterval=10**9)), "notifications/tasks/status"),
        ("modern", extension(task(), task(pollIntervalMs=10**9)), "notifications/tasks"),
    ):
        async with connect(server, era=era) as session:
            call = await begin(session)
            await until(lambda server=server: len(server.asked("tasks/get")) == 2)
            over = task("completed", result={"told": True})
            session.transport.reply(tell(method, **{**over, "taskId": "another"}))
            session.transport.reply(tell(method, **over))
            assert await call.result() in ({"told": True}, {"content": []})


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_task_that_fails_is_the_servers_error(connect, era):
    """C-TASK-01, C-TASK-02."""
    error = {"code": -32603, "message": "it broke"}
    server = core(task("failed"), error=error) if era == "legacy" else extension(task("failed", error=error))
    async with connect(server, era=era) as session:
        with pytest.raises(ServerError, match="it broke"):
            await (await begin(session)).result()


@pytest.mark.parametrize("error", [None, "x", {}, [1], {"code": {"a": 1}}])
async def test_a_task_that_fails_in_an_odd_way_is_an_error_too(connect, error):
    async with connect(extension(task("failed", error=error)), era="modern") as session:
        with pytest.raises(ServerError):
            await (await begin(session)).result()


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_task_that_disappears_ends_its_call(connect, era):
    server = core(task()) if era == "legacy" else extension(task())
    server.methods["tasks/get"] = lambda message, reply: reply(
        {"id": message["id"], "error": {"code": -32602, "message": "no such task"}}
    )
    async with connect(server, era=era) as session:
        with pytest.raises(ServerError, match="no such task"):
            await (await begin(session)).result()


@pytest.mark.parametrize("other", ["task-2", 5])
async def test_a_state_of_another_task_ends_the_call_and_names_both(connect, other):
    async with connect(extension(task("completed", taskId=other, result={})), era="modern") as session:
        with pytest.raises(InvalidAnswer, match=f'"task-1" is about .?{other}'):
            await (await begin(session)).result()


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_the_result_of_a_task_cannot_require_input(connect, era):
    asks = {"resultType": "input_required", "inputRequests": {"a": form()}}
    server = core(task("completed"), result=asks) if era == "legacy" else extension(task("completed", result=asks))
    async with connect(server, era=era) as session:
        with pytest.raises(InvalidAnswer, match=r"final result of (tools/call|tasks/result) is of the type input_req"):
            await (await begin(session)).result()


async def test_a_result_of_the_era_without_it_cannot_require_input(connect):
    server = Server(tools__call={"resultType": "input_required", "inputRequests": {"a": form()}})
    async with connect(server) as session:
        with pytest.raises(InvalidAnswer, match=r"final result of tools/call is of the type input_required"):
            await session.call_tool("t").result()


@pytest.mark.parametrize("id", [None, 5, {"a": 1}, [], True])
async def test_a_task_without_an_id_is_no_answer(connect, id):
    """C-TASK-02."""
    server = extension(task(), tools__call={"resultType": "task", **task(), "taskId": id})
    async with connect(server, era="modern") as session:
        with pytest.raises(InvalidAnswer, match="taskId"):
            await (await begin(session)).result()


@pytest.mark.parametrize("state", [None, [], "x", {}, {"status": 5}, {"status": {"a": 1}, "taskId": "task-1"}])
async def test_states_of_any_shape_are_passed_over(connect, state):
    server = extension(task(), task("completed", result={"ok": True}))
    get = server.methods["tasks/get"]
    first = [state]
    server.methods["tasks/get"] = lambda message, reply: (
        reply({"id": message["id"], "result": first.pop()}) if first else get(message, reply)
    )
    async with connect(server, era="modern") as session:
        assert await (await begin(session)).result() == {"ok": True}


# Input


async def test_a_core_task_that_wants_input_asks_while_its_result_is_awaited(connect):
    """C-TASK-01."""
    given = []

    async def outcome(message, reply):
        reply({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": form("who?")["params"]})
        while not given:
            await asyncio.sleep(0)
        reply({"id": message["id"], "result": {"content": [], "for": given[0]["content"]}})

    server = core(task("input_required"), tasks__result=outcome)
    async with connect(server, era="legacy") as session:
        call = await begin(session)
        await until(session.inbox.open)
        session.inbox.open()[0].accept({"name": "Ada"})
        await until(lambda: [message for message in server.seen if message.get("id") == "q"])
        given.append(next(message["result"] for message in server.seen if message.get("id") == "q"))
        assert (await call.result())["for"] == {"name": "Ada"}
        assert [known.status for known in session.tasks.items.values()] == ["completed"], "it has its result"


async def test_input_for_a_task_of_the_extension_is_asked_once_a_key_and_given_by_update(connect):
    """C-TASK-02, C-TASK-03."""
    state = task("input_required", inputRequests={"a": form("who?")})
    server = extension(state)
    server.methods["tasks/update"] = lambda message, reply: (
        updates.append(message["params"]),
        reply({"id": message["id"], "result": complete()}),
    )
    updates = []
    async with connect(server, era="modern") as session:
        call = await begin(session)
        await until(lambda: session.tasks.of_call(call.n))
        for looks in (1, 2, 3):
            session.refresh_task(session.tasks.of_call(call.n))
            await until(lambda looks=looks: len(server.asked("tasks/get")) >= looks)
        assert len(session.inbox.questions) == 1
        session.inbox.open()[0].accept({"name": "Ada"})
        await until(lambda: updates)
        assert [(update["taskId"], update["inputResponses"]) for update in updates] == [
            ("task-1", {"a": {"action": "accept", "content": {"name": "Ada"}}})
        ]
        state["inputRequests"] = {"a": form("who?"), "b": form("and?")}
        await until(session.inbox.open)
        assert [question.message for question in session.inbox.open()] == ["and?"]
        session.inbox.open()[0].decline()
        await until(lambda: len(updates) == 2)
        assert updates[1]["inputResponses"] == {"b": {"action": "decline"}}
        server.methods["tasks/get"] = complete(**task("completed", result={"ok": True}))
        assert await call.result() == {"ok": True}
        assert len(session.inbox.questions) == 2


async def test_input_that_is_refused_ends_the_call_and_cancels_the_task(connect):
    """C-TASK-02."""
    requests = {"a": {"method": "sampling/createMessage", "params": {}}}
    server = extension(task("input_required", inputRequests=requests), tasks__cancel=complete())
    async with connect(server, era="modern", standing=StandingAnswers(elicitation="ask")) as session:
        with pytest.raises(InputRefused, match="not declared"):
            await (await begin(session)).result()
        await until(lambda: server.asked("tasks/cancel"))
        assert not server.asked("tasks/update")


# Cancelling


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_call_that_is_a_task_is_cancelled_by_the_tasks_own_method(connect, era):
    """C-TASK-01, C-TASK-02, C-CANC-01."""
    cancelled = complete(**task("cancelled"))
    server = (core if era == "legacy" else extension)(task(), tasks__cancel=cancelled)
    async with connect(server, era=era) as session:
        call = await begin(session)
        await until(lambda: server.asked("tasks/get"))
        call.cancel()
        with pytest.raises(RequestCancelled):
            await call.result()
        await until(lambda: server.asked("tasks/cancel"))
        await until(lambda: session.tasks.items["task-1"].done)
        assert server.asked("tasks/cancel")[0]["params"]["taskId"] == "task-1"
        named = [message["params"]["requestId"] for message in server.asked("notifications/cancelled")]
        assert call.id not in named


async def test_a_task_that_the_server_cancels_is_a_cancelled_call(connect):
    async with connect(extension(task("cancelled")), era="modern") as session:
        with pytest.raises(RequestCancelled):
            await (await begin(session)).result()


# Beyond one connection


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_task_is_followed_on_after_a_reconnect(connect, era):
    """C-TASK-03."""
    server = (core if era == "legacy" else extension)(task())
    async with connect(server, era=era) as session:
        call = await begin(session)
        await until(lambda: server.asked("tasks/get"))
        session.transport.drop(ConnectionProblem("gone"))
        await until(lambda: session.phase == "lost")
        await session.reopen()
        before = len(server.asked("tasks/get"))
        await until(lambda: len(server.asked("tasks/get")) > before)
        server.methods["tasks/get"] = complete(**task("completed", result={"ok": True}))
        known = session.tasks.items["task-1"]
        await until(lambda: known.done)
        assert known.result in ({"ok": True}, {"content": []})
        assert call.fate in ("lost", "done")


async def test_tasks_of_others_are_listed_page_by_page_and_not_followed(connect):
    """C-TASK-01: a cursor is as opaque as any."""

    def pages(message, reply):
        cursor = message["params"].get("cursor")
        later = {None: ("one", "§ 2"), "§ 2": ("two", "")}.get(cursor, ("three", None))
        result = {"tasks": [{**task(), "taskId": later[0]}, None, {"taskId": 7}, "x"]}
        reply({"id": message["id"], "result": result | ({"nextCursor": later[1]} if later[1] is not None else {})})

    server = core(task(), tasks__list=pages)
    async with connect(server, era="legacy") as session:
        assert session.tasks.can_list
        await session.list_tasks()
        assert list(session.tasks.items) == ["one", "two", "three"]
        assert [message["params"].get("cursor") for message in server.asked("tasks/list")] == [None, "§ 2", ""]
        assert not server.asked("tasks/get")


async def test_what_came_of_a_task_of_another_session_can_be_looked_at(connect):
    """C-TASK-01."""
    server = core(
        task("completed"), tasks__list={"tasks": [of_core(task("completed"))]}, result={"content": [{"text": "there"}]}
    )
    async with connect(server, era="legacy") as session:
        await session.list_tasks()
        [listed] = session.tasks.items.values()
        assert (listed.done, listed.result) == (True, None)
        session.refresh_task(listed)
        await until(lambda: listed.result is not None)
        assert listed.done
        assert listed.result == {"content": [{"text": "there"}]}
        assert listed.answer_n
