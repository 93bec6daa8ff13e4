"""A rerun against a live server: the messages, the waiting, and the differences."""

import asyncio
from dataclasses import replace

import pytest

from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.compare.rules import DEFAULT
from inspector.config.targets import StdioTarget
from inspector.errors import ConnectionProblem
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape
from inspector.replay.rerun import Rerun
from inspector.transports.memory import MemoryTransport
from tests.client.conftest import Server, until
from tests.client.modern import complete, form, modern, wanting

ANSWER = {"content": [{"type": "text", "text": "5"}]}


def text(words):
    return {"content": [{"type": "text", "text": words}]}


@pytest.fixture
async def record():
    """`journal = await record(server, work)`: what a session does with the server, as a finished recording."""
    made = []

    async def recorded(server, work, **options):
        options.setdefault("era", "legacy")
        options.setdefault("standing", StandingAnswers(sampling="ask", elicitation="ask", roots="ask"))
        journal = Journal.unnamed({})
        session = Session(
            StdioTarget(("test",)), journal, Options(**options),
            connect=lambda _t, sink, _o: MemoryTransport(sink, server),
        )  # fmt: skip
        await session.open()
        await work(session)
        await session.close()
        made.append(journal)
        return journal

    yield recorded
    for journal in made:
        journal.release()


@pytest.fixture
async def rerun():
    """`report = await rerun(recording, server)`; `report.journal` is the new recording, `report.seen` what came."""
    made = []

    async def again(recording, server, *, timeout=5.0, secrets=(), **named):
        journal = Journal.unnamed({}, secrets)
        made.append(journal)
        runner = Rerun(
            recording, StdioTarget(("test",)), journal, named.pop("rules", DEFAULT), Options(timeout=timeout),
            connect=lambda _t, sink, _o: MemoryTransport(sink, server), **named,
        )  # fmt: skip
        return await runner.run(), journal

    yield again
    for journal in made:
        journal.release()


def sent(journal):
    """The exact bytes of the messages that the client of a recording sent."""
    index = journal.index
    return [
        journal.event(n).bytes
        for n in range(1, len(journal) + 1)
        if index.dir(n) == Dir.SEND and index.kind(n) in (Kind.RPC, Kind.INVALID)
    ]


def verdicts(report):
    return [(outcome.method, outcome.verdict) for outcome in report.outcomes]


async def test_the_same_bytes_go_to_a_server_that_answers_the_same(record, rerun):
    def server():
        able = Server(tools__call=ANSWER, tools__list={"tools": []}, ping={})

        async def served(message, reply):
            if isinstance(message, dict):
                await able(message, reply)

        return served

    async def work(session):
        await session.load("tools")
        await session.call_tool("add", {"a": 2, "b": 3}).result()
        session.send_raw(b'{ "jsonrpc":"2.0","id":77, "method":"ping","odd":1.50 }')
        session.send_raw(b"{half")
        await session.request("ping")

    recording = await record(server(), work)
    report, journal = await rerun(recording, server())
    assert report.clean
    assert report.first is None
    assert sent(journal) == sent(recording)
    assert verdicts(report) == [
        ("initialize", "same"), ("tools/list", "same"), ("tools/call", "same"), ("ping", "same"), ("ping", "same"),
    ]  # fmt: skip
    assert all(journal.event(outcome.live).bytes for outcome in report.outcomes)


async def test_a_planted_change_is_found_at_its_message(record, rerun):
    async def work(session):
        for a in range(5):
            await session.call_tool("add", {"a": a}).result()

    def served(change):
        def call(message, reply):
            a = message["params"]["arguments"]["a"]
            reply({"id": message["id"], "result": text(str(a + (1 if change and a >= 3 else 0)))})

        return Server(tools__call=call)

    recording = await record(served(False), work)
    report, _ = await rerun(recording, served(True))
    assert [outcome.differs for outcome in report.outcomes] == [False, False, False, False, True, True]
    first = report.first
    assert recording.event(first.recorded).message["params"]["arguments"] == {"a": 3}
    (difference,) = first.differences
    assert (str(difference.path), difference.a, difference.b) == ("$.result.content[0].text", "3", "4")


async def test_an_error_in_the_place_of_a_result_differs(record, rerun):
    async def work(session):
        await session.call_tool("x").result()

    recording = await record(Server(tools__call=ANSWER), work)
    report, _ = await rerun(recording, Server())
    assert verdicts(report)[1:] == [("tools/call", "different")]
    assert {str(difference.path) for difference in report.first.differences} == {"$.result", "$.error"}


async def test_times_and_ids_may_differ_unless_rules_say_otherwise(record, rerun):
    async def work(session):
        await session.call_tool("now").result()

    recording = await record(Server(tools__call=text("2026-11-21T08:00:00Z")), work)
    later = text("2026-11-21T09:30:00Z")
    assert (await rerun(recording, Server(tools__call=later)))[0].clean
    strict = replace(DEFAULT, patterns=())
    assert not (await rerun(recording, Server(tools__call=later), rules=strict))[0].clean


async def test_messages_are_in_flight_together_as_they_were(record, rerun):
    """Two calls were sent before the first answer: so they are again; the third waited for both."""
    order = []

    async def work(session):
        first, second = session.call_tool("a"), session.call_tool("b")
        await asyncio.gather(first.result(), second.result())
        await session.call_tool("c").result()

    def server():
        waiting = []

        def call(message, reply):
            name = message["params"]["name"]
            order.append(("asked", name))
            waiting.append((message["id"], name))
            if len(waiting) == 2 or name == "c":
                for id, named in reversed(waiting):
                    order.append(("answered", named))
                    reply({"id": id, "result": text(named)})
                waiting.clear()

        return Server(tools__call=call)

    recording = await record(server(), work)
    recorded, order[:] = list(order), []
    report, _ = await rerun(recording, server())
    assert report.clean
    assert order == recorded


async def test_questions_are_answered_as_they_were(record, rerun):
    """Sampling, elicitation and roots, with the ids of the live server."""

    def server(base):
        async def call(message, reply):
            for at, (method, params) in enumerate((
                ("sampling/createMessage", {"messages": [], "maxTokens": 5}),
                ("elicitation/create", {"message": "who?", "requestedSchema": {"type": "object", "properties": {}}}),
                ("roots/list", {}),
            )):  # fmt: skip
                reply({"id": base + at, "method": method, "params": params})
                await until(
                    lambda at=at: any(seen.get("id") == base + at and "method" not in seen for seen in made.seen)
                )
            answers = [seen["result"] for seen in made.seen if "method" not in seen]
            reply({"id": message["id"], "result": text(str(answers))})

        made = Server(tools__call=call)
        return made

    async def work(session):
        call = session.call_tool("ask")
        await until(lambda: session.inbox.open())
        session.inbox.open()[0].reply_text("hello")
        await until(lambda: session.inbox.open())
        session.inbox.open()[0].decline()
        await until(lambda: session.inbox.open())
        session.inbox.open()[0].accept([{"uri": "file:///r"}])
        await call.result()

    recording = await record(server(100), work)
    report, journal = await rerun(recording, server(900))
    assert report.clean, report.outcomes
    assert [outcome.method for outcome in report.outcomes if outcome.question] == [
        "sampling/createMessage", "elicitation/create", "roots/list",
    ]  # fmt: skip
    answered = [journal.event(n).message for n in range(1, len(journal) + 1) if journal.index.shape(n) == Shape.RESULT]
    assert [message["id"] for message in answered if message["id"] >= 900] == [900, 901, 902]


async def test_a_question_that_is_new_is_refused_and_told_of(record, rerun):
    refused = []

    def asks(message, reply):
        if "id" in message and message["method"] == "tools/call":
            reply({"id": 5, "method": "roots/list"})
            reply({"id": message["id"], "result": ANSWER})

    async def work(session):
        await session.call_tool("x").result()

    recording = await record(Server(tools__call=ANSWER), work)
    server = Server(tools__call=asks)
    report, _ = await rerun(recording, server)
    assert ("roots/list", "not recorded") in verdicts(report)
    assert not report.clean
    refused = [seen for seen in server.seen if seen.get("id") == 5]
    assert [seen["error"]["code"] for seen in refused] == [-32603]


async def test_a_question_that_does_not_come_any_more_is_reported_of(record, rerun):
    def asks(message, reply):
        reply({"id": 5, "method": "roots/list"})
        reply({"id": message["id"], "result": ANSWER})

    async def work(session):
        call = session.call_tool("x")
        await until(lambda: session.inbox.open())
        session.inbox.open()[0].accept([])
        await call.result()

    recording = await record(Server(tools__call=asks), work)
    report, _ = await rerun(recording, Server(tools__call=ANSWER))
    assert [outcome.verdict for outcome in report.outcomes if outcome.question] == ["not asked"]
    assert not report.clean


async def test_cursors_tasks_and_states_are_those_of_the_live_server(record, rerun):
    """The server's own values are sent back as the live server created them."""

    def server(prefix):
        def lists(message, reply):
            cursor = (message.get("params") or {}).get("cursor")
            if cursor is None:
                reply({"id": message["id"], "result": {"tools": [], "nextCursor": f"{prefix}-2"}})
            elif cursor == f"{prefix}-2":
                reply({"id": message["id"], "result": {"tools": []}})
            else:
                reply({"id": message["id"], "error": {"code": -32602, "message": f"what is {cursor}?"}})

        return Server(tools__list=lists)

    async def work(session):
        await session.load("tools")

    recording = await record(server("old"), work)
    report, journal = await rerun(recording, server("new"))
    assert report.clean
    assert b'"cursor":"new-2"' in sent(journal)[-1]


async def test_rounds_of_input_hand_back_the_live_state_under_the_live_keys(record, rerun):
    """C-MRTR-01: a requestState is opaque, and the keys of what is wanted are the server's own."""

    def server(key, state):
        def call(message, reply):
            params = message["params"]
            if "inputResponses" not in params:
                reply({"id": message["id"], "result": wanting({key: form("who?", name={"type": "string"})}, state)})
            elif params.get("requestState") == state and key in params["inputResponses"]:
                reply({"id": message["id"], "result": complete(content=[])})
            else:
                reply({"id": message["id"], "error": {"code": -32602, "message": "another state"}})

        made = modern()
        made.methods["tools/call"] = call
        return made

    async def work(session):
        call = session.call_tool("x")
        await until(lambda: session.inbox.open())
        session.inbox.open()[0].accept({"name": "Ada"})
        await call.result()

    recording = await record(server("k1", "s1"), work, era="modern")
    report, _ = await rerun(recording, server("k2", "s2"))
    assert [outcome.verdict for outcome in report.outcomes if outcome.recorded][-1] == "same"
    assert report.error is None


async def test_values_under_a_key_of_the_users_are_carried_on(record, rerun):
    def server(order):
        def call(message, reply):
            params = message["params"]
            if params["name"] == "create":
                reply({"id": message["id"], "result": {**text("made"), "structuredContent": {"orderId": order}}})
            else:
                known = params["arguments"]["which"] == order
                reply({"id": message["id"], "result": text("paid" if known else "no such order")})

        return Server(tools__call=call)

    async def work(session):
        await session.call_tool("create").result()
        await session.call_tool("pay", {"which": 41}).result()

    recording = await record(server(41), work)
    lost, _ = await rerun(recording, server(42))
    assert [outcome.verdict for outcome in lost.outcomes] == ["same", "different", "different"]
    carried, journal = await rerun(
        recording, server(42), carry=("orderId",), rules=DEFAULT.plus(ignore=("$..orderId",))
    )
    assert carried.clean
    assert b'"which":42' in sent(journal)[-1]


async def test_no_answer_is_awaited_longer_than_the_time_out(record, rerun):
    async def work(session):
        await session.call_tool("x").result()
        await session.request("ping")

    recording = await record(Server(tools__call=ANSWER, ping={}), work)
    report, _ = await rerun(recording, Server(tools__call=lambda _message, _reply: None, ping={}), timeout=0.05)
    assert verdicts(report)[1:] == [("tools/call", "no answer"), ("ping", "same")]
    assert report.error is None


async def test_a_server_that_dies_ends_the_run_and_the_rest_is_reported_of(record, rerun):
    def dies(_message, _reply):
        raise ConnectionProblem("The server ended with exit code 3.")

    async def work(session):
        await session.call_tool("x").result()
        await session.request("ping")

    recording = await record(Server(tools__call=ANSWER, ping={}), work)
    report, _ = await rerun(recording, Server(tools__call=dies, ping={}))
    assert report.error is not None
    assert "exit code 3" in report.error.message
    assert verdicts(report)[1:] == [("tools/call", "no answer"), ("ping", "not sent")]


async def test_a_cancellation_comes_when_as_much_progress_was_made(record, rerun):
    def slow():
        async def call(message, reply):
            token = message["params"]["_meta"]["progressToken"]
            for step in (1, 2, 3):
                params = {"progressToken": token, "progress": step}
                reply({"method": "notifications/progress", "params": params})
                await asyncio.sleep(0)
            await until(lambda: made.asked("notifications/cancelled"))

        made = Server(tools__call=call)
        return made

    async def work(session):
        call = session.call_tool("slow")
        await until(lambda: call.progress and call.progress.value == 3)
        call.cancel()
        with pytest.raises(Exception, match="cancelled"):
            await call.result()

    recording = await record(slow(), work)
    report, journal = await rerun(recording, slow())
    assert report.clean
    assert b"notifications/cancelled" in sent(journal)[-1]
    index = journal.index
    progress = [n for n in range(1, len(journal) + 1) if index.method(n) == "notifications/progress"]
    assert len(progress) == 3
    assert max(progress) < len(journal)


async def test_what_failed_while_the_era_was_sought_is_not_asked_again(record, rerun):
    def server():
        return Server(ping={})

    async def work(session):
        await session.request("ping")

    recording = await record(server(), work, era="auto")
    assert b"server/discover" in sent(recording)[0]
    live = server()
    report, _journal = await rerun(recording, live)
    assert report.clean
    assert not live.asked("server/discover")
    assert [outcome.method for outcome in report.outcomes] == ["initialize", "ping"]


async def test_a_reconnect_is_one_again(record, rerun):
    async def work(session):
        await session.reopen()
        await session.request("ping")

    recording = await record(Server(ping={}), work)
    live = Server(ping={})
    report, _ = await rerun(recording, live)
    assert report.clean
    assert len(live.asked("initialize")) == 2


async def test_what_the_server_tells_by_itself_is_awaited(record, rerun):
    """The list was loaded again after a notification: the rerun waits for that notification too."""

    def server():
        changed = [False]

        async def call(message, reply):
            reply({"id": message["id"], "result": ANSWER})
            await asyncio.sleep(0.02)
            changed[0] = True
            reply({"method": "notifications/tools/list_changed"})

        def lists(message, reply):
            tools = [{"name": "new", "inputSchema": {"type": "object"}}] if changed[0] else []
            reply({"id": message["id"], "result": {"tools": tools}})

        return Server(tools__call=call, tools__list=lists)

    async def work(session):
        await session.load("tools")
        await session.call_tool("change").result()
        await until(lambda: session.catalog["tools"].items)

    recording = await record(server(), work)
    report, _ = await rerun(recording, server())
    assert report.clean
    assert report.notes == []


async def test_a_question_of_the_servers_own_is_awaited(record, rerun):
    """The server asked for the roots before the call: the call waits until the live server has asked too."""

    def server(pause):
        async def ready(message, reply):
            await asyncio.sleep(pause)
            reply({"id": 7, "method": "roots/list"})

        return Server(notifications__initialized=ready, tools__call=ANSWER)

    async def work(session):
        await until(lambda: session.inbox.open())
        session.inbox.open()[0].accept([])
        await session.call_tool("x").result()

    recording = await record(server(0), work)
    slow = server(0.1)
    report, _ = await rerun(recording, slow)
    assert report.clean
    methods = [seen.get("method", "answer") for seen in slow.seen]
    assert methods.index("answer") < methods.index("tools/call")


async def test_what_was_cut_out_when_it_was_recorded_is_reported(record, rerun):
    async def work(session):
        session.journal.redactor.add("hunter2-hunter2")
        await session.call_tool("login", {"password": "hunter2-hunter2"}).result()

    recording = await record(Server(tools__call=ANSWER), work)
    report, _ = await rerun(recording, Server(tools__call=ANSWER))
    (note,) = report.notes
    assert "redacted" in note
    assert str(report.outcomes[-1].recorded) in note


def statuses(*states):
    """A server with one task, and its status at each `tasks/get`; the last one repeats."""
    left = list(states)

    def read_status(message, reply):
        status = left.pop(0) if len(left) > 1 else left[0]
        result = {"taskId": "t", "status": status, "statusMessage": f"{len(left)} to go", "pollInterval": 1}
        reply({"jsonrpc": "2.0", "id": message["id"], "result": result})

    return Server(tasks__get=read_status)


async def read_status(session, times):
    for _ in range(times):
        await session.start("tasks/get", {"taskId": "t"}).result()


async def test_a_task_that_is_slower_than_when_it_was_recorded_is_read_again(record, rerun):
    recording = await record(statuses("working", "completed"), lambda session: read_status(session, 2))
    slower = statuses("working", "working", "working", "working", "completed")
    report, _ = await rerun(recording, slower)
    assert report.clean
    assert len(slower.asked("tasks/get")) == 5
    assert len({message["id"] for message in slower.asked("tasks/get")}) == 5


async def test_how_far_a_task_has_come_is_no_difference_and_its_end_is(record, rerun):
    recording = await record(statuses("working", "working", "completed"), lambda session: read_status(session, 3))
    report, _ = await rerun(recording, statuses("completed"))
    assert report.clean
    report, _ = await rerun(recording, statuses("failed"))
    assert [outcome.verdict for outcome in report.outcomes[-3:]] == ["same", "same", "different"]


async def test_a_task_that_never_ends_is_no_answer(record, rerun):
    recording = await record(statuses("completed"), lambda session: read_status(session, 1))
    report, _ = await rerun(recording, statuses("working"), timeout=0.05)
    assert report.outcomes[-1].verdict == "no answer"


async def test_a_secret_that_an_answer_repeats_is_compared_as_it_was_recorded(record, rerun):
    def knows(secret):
        return Server(tools__call=lambda message, reply: reply(
            {"jsonrpc": "2.0", "id": message["id"], "result": text(f"for session {secret}: done")}
        ))  # fmt: skip

    async def work(session):
        session.journal.redactor.add("first-session-id")
        await session.call_tool("a", {}).result()

    recording = await record(knows("first-session-id"), work)
    report, _ = await rerun(recording, knows("other-session-id"), secrets=["other-session-id"])
    assert report.clean
    report, _ = await rerun(recording, knows("other-session-id"), secrets=["something-else"])
    assert not report.clean
