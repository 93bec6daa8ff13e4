"""The handshake, requests and their fates, lists, questions: the session over an in-memory server."""

import asyncio

import pytest

from inspector.client import session as session_module
from inspector.client.engine.listing import AT_ONCE
from inspector.client.inbox import STANDING_MODEL, Inbox, StandingAnswers, sampling_result
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.client.state import catalog
from inspector.config.targets import demo_target
from inspector.errors import (
    ConnectionProblem,
    HandshakeError,
    InvalidAnswer,
    NotOffered,
    RequestCancelled,
    RequestTimeout,
    ServerError,
    ServerExited,
    SessionLost,
    UsageError,
)
from inspector.journal.format import Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from tests.client.conftest import CAPABILITIES, Server, make_session, until
from tests.client.modern import modern


def notify(method, **params):
    return {"jsonrpc": "2.0", "method": method, "params": params}


def silent(message, reply):
    """A server that never answers this."""


# Handshake


async def test_the_handshake(connect):
    """C-ROOT-01, C-ELIC-01, C-LIFE-01, C-LIFE-02, C-LIFE-04."""
    server = Server()
    async with connect(server) as session:
        await until(lambda: len(server.seen) == 2)
        first, second = server.seen
        assert first["method"] == "initialize"
        assert first["params"]["protocolVersion"] == "2025-11-25"
        assert first["params"]["clientInfo"]["name"] == "inspector"
        assert first["params"]["capabilities"] == {
            "roots": {"listChanged": True},
            "sampling": {"tools": {}},
            "elicitation": {"form": {}, "url": {}},
        }
        assert second == {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert session.phase == "ready"
        assert session.server.name == "test"


async def test_what_is_not_backed_is_not_declared(connect):
    server = Server()
    async with connect(server, standing=StandingAnswers()):
        assert server.seen[0]["params"]["capabilities"] == {}


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_the_server_chooses_the_revision(connect, revision):
    server = Server()
    server.initialize = server.initialize | {"protocolVersion": revision}
    async with connect(server) as session:
        assert session.server.revision == revision
        assert session.server.features.revision == revision


async def test_the_offered_revision_can_be_pinned(connect):
    """C-ELIC-01."""
    server = Server()
    async with connect(server, protocol="2024-11-05"):
        params = server.seen[0]["params"]
        assert params["protocolVersion"] == "2024-11-05"
        assert "elicitation" not in params["capabilities"]


async def test_an_unknown_revision_is_a_finding_and_no_end(connect):
    server = Server()
    server.initialize = server.initialize | {"protocolVersion": "2031-01-01"}
    async with connect(server) as session:
        assert session.phase == "ready"
        assert [finding.rule for finding in session.journal.findings.all()] == ["LIFE-04"]


async def test_a_refused_handshake_shows_the_servers_words_and_what_would_work():
    """C-LIFE-06."""
    server = Server()
    server.initialize = lambda message, reply: reply(
        {"id": message["id"], "error": {"code": -32602, "message": "too new", "data": {"supported": ["2024-11-05"]}}}
    )
    session = make_session(server, protocol="2025-11-25")
    with pytest.raises(HandshakeError, match="too new") as caught:
        await session.open()
    assert "--revision 2024-11-05" in caught.value.hint.command_line
    assert session.phase == "failed"
    assert session.error is caught.value


@pytest.mark.parametrize(
    "error",
    [
        {"code": -32602, "message": "too new", "data": {"supported": ["2025-06-18", "2024-11-05"]}},
        {"code": -32602, "message": "Unsupported protocol version: 2025-11-25. Supported: 2025-06-18, 2025-03-26"},
    ],
)
async def test_a_refused_revision_is_offered_again_as_the_newest_that_the_error_names(connect, error):
    """C-LIFE-06."""
    server = Server()
    good = server.initialize

    def initialize(message, reply):
        if message["params"]["protocolVersion"] == "2025-06-18":
            return reply({"id": message["id"], "result": good | {"protocolVersion": "2025-06-18"}})
        return reply({"id": message["id"], "error": error})

    server.initialize = initialize
    async with connect(server) as session:
        assert session.server.revision == "2025-06-18"
        assert [finding.rule for finding in session.journal.findings.all()] == ["LIFE-03"]


async def test_a_revision_that_the_user_chose_is_not_replaced():
    """C-LIFE-06: also where the error names it again."""
    server = Server()
    server.initialize = lambda message, reply: reply(
        {"id": message["id"], "error": {"code": -32602, "message": "no 2025-03-26, only 2024-11-05"}}
    )
    session = make_session(server, protocol="2025-03-26")
    with pytest.raises(HandshakeError, match=r"at 2025-03-26") as caught:
        await session.open()
    assert "--revision 2024-11-05" in caught.value.hint.command_line


@pytest.mark.parametrize("result", [None, [], "hello", {}, {"protocolVersion": 7}])
async def test_a_nonsense_answer_to_initialize_is_reported(result):
    server = Server()
    server.initialize = lambda message, reply: reply({"id": message["id"], "result": result})
    session = make_session(server)
    with pytest.raises(HandshakeError):
        await session.open()


# Requests and their fates


@pytest.mark.slow
async def test_a_login_has_the_timeout_of_the_session():
    class Asked:
        seconds = 0.0

        def opening(self, seconds):
            self.seconds = seconds

    asked = Asked()
    session = Session(demo_target(), Journal.unnamed({}), Options(timeout=7.5, authorize=asked))
    await session.open()
    await session.close()
    assert asked.seconds == 7.5


async def test_ids_are_never_used_twice(connect):
    """C-BASE-03, also over a reconnect."""
    server = Server(ping={})
    async with connect(server) as session:
        for _ in range(3):
            await session.ping()
        await session.reopen()
        await session.ping()
    ids = [message["id"] for message in server.seen if "id" in message]
    assert len(ids) == len(set(ids)) == 6


async def test_a_result_and_an_error(connect):
    async with connect(Server(tools__call={"content": []})) as session:
        call = session.call_tool("x", {"a": 1})
        assert await call.result() == {"content": []}
        assert (call.fate, call.n, call.answer_n) == ("done", 5, 6)
        with pytest.raises(ServerError, match="Method not found") as caught:
            await session.request("no/such")
        assert caught.value.rpc_code == -32601


@pytest.mark.parametrize("error", ["text", 7, [], {}, {"code": "x", "message": 3}])
async def test_errors_of_any_shape_are_errors(connect, error):
    async with connect(Server(x=lambda m, reply: reply({"id": m["id"], "error": error}))) as session:
        with pytest.raises(ServerError):
            await session.request("x")


async def test_many_answers_out_of_order_find_their_calls(connect):
    waiting = []

    def collect(message, reply):
        waiting.append(message["id"])
        if len(waiting) == 100:
            for id in reversed(waiting):
                reply({"id": id, "result": {"id": id}})

    async with connect(Server(x=collect)) as session:
        calls = [session.start("x") for _ in range(100)]
        for call in calls:
            assert await call.result() == {"id": call.id}


async def test_a_timeout_cancels_and_the_late_answer_is_kept_as_late(connect):
    """C-LIFE-09, C-CANC-01."""
    held = []
    server = Server(x=lambda message, reply: held.append((message, reply)))
    async with connect(server) as session:
        call = session.start("x", timeout=0.05)
        with pytest.raises(RequestTimeout, match=r"within 0\.05 s"):
            await call.result()
        await until(lambda: server.asked("notifications/cancelled"))
        assert server.asked("notifications/cancelled")[0]["params"]["requestId"] == call.id
        message, reply = held[0]
        reply({"id": message["id"], "result": {"too": "late"}})
        await until(lambda: call.outcome.late)
        assert call.fate == "timeout"
        assert session.journal.index.state(call.n) is State.TIMED_OUT
        assert session.journal.index.state(call.answer_n) is State.LATE


@pytest.mark.parametrize(
    ("events", "is_named"), [(("reading-paused",), True), (("reading-paused", "reading-resumed"), False), ((), False)]
)
async def test_a_timeout_says_that_the_server_does_not_read_our_responses(connect, events, is_named):
    async with connect(Server(x=silent)) as session:
        for event in events:
            session.journal.record_life("stdio", event)
        with pytest.raises(RequestTimeout) as raised:
            await session.start("x", timeout=0.02).result()
        assert ("does not read the responses" in str(raised.value.hint)) is is_named


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        (b'{"id":1,"res', "cannot be read"),
        (b'{"id":"1","result":{}}', 'unknown id: "1".'),
        (b"Hello\x1b", "The server printed “Hello␛” to stdout, which must contain only messages. Print it to stderr."),
    ],
)
async def test_a_timeout_names_what_may_have_been_meant_as_the_answer(connect, sent, words):
    async with connect(Server(x=lambda message, reply: reply(sent))) as session:
        with pytest.raises(RequestTimeout) as caught:
            await session.start("x", timeout=0.1).result()
        assert words in caught.value.hint


async def test_an_error_that_is_null_is_an_error(connect):
    async with connect(Server(x=lambda m, reply: reply({"id": m["id"], "error": None}))) as session:
        with pytest.raises(ServerError):
            await session.request("x")


async def test_progress_restarts_the_clock_and_the_ceiling_ends_it(connect):
    """C-LIFE-09, C-TOOL-03."""

    async def slow(message, reply):
        token = message["params"]["_meta"]["progressToken"]
        for i in range(100):
            await asyncio.sleep(0.03)
            reply(notify("notifications/progress", progressToken=token, progress=i, total=100, message=f"step {i}"))

    async with connect(Server(tools__call=slow), max_timeout=0.3) as session:
        call = session.call_tool("x", timeout=0.1)
        with pytest.raises(RequestTimeout, match="total limit"):
            await call.result()
        assert call.elapsed >= 0.3
        assert call.progress.count >= 4
        assert call.progress.message.startswith("step")
        assert 0 < call.progress.fraction < 1


async def test_more_time_can_be_given(connect):
    async with connect(Server(x=silent)) as session:
        call = session.start("x", timeout=0.05)
        call.deadline.extend(30)
        await asyncio.sleep(0.1)
        assert call.fate == "pending"
        assert call.allowed > 29


async def test_cancel_tells_the_server_once(connect):
    server = Server(x=silent)
    async with connect(server) as session:
        call = session.start("x")
        call.cancel("enough")
        call.cancel("again")
        with pytest.raises(RequestCancelled):
            await call.result()
        await until(lambda: server.asked("notifications/cancelled"))
        assert [m["params"] for m in server.asked("notifications/cancelled")] == [
            {"requestId": call.id, "reason": "enough"}
        ]
        assert session.journal.index.state(call.n) is State.CANCELLED


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_call_that_the_server_cancels_ends_at_once_and_says_why(connect, era):
    def cancel(message, reply):
        reply(notify("notifications/cancelled", requestId=message["id"], reason="shutting down\x1b"))

    server = Server(x=cancel) if era == "legacy" else modern(x=cancel)
    async with connect(server, era=era) as session:
        call = session.start("x", {"name": "slow"}, timeout=5)
        with pytest.raises(InvalidAnswer) as caught:
            await call.result()
        assert caught.value.message.startswith('The server cancelled x slow: "shutting down')
        assert caught.value.message.isprintable()
        assert session.journal.index.state(call.n) is State.ERROR
        assert server.asked("notifications/cancelled") == []


async def test_a_server_that_cancels_its_own_request_cancels_no_call_with_the_same_id(connect):
    def answer(message, reply):
        reply({"jsonrpc": "2.0", "id": message["id"], "method": "ping"})
        reply(notify("notifications/cancelled", requestId=message["id"]))
        reply({"jsonrpc": "2.0", "id": message["id"], "result": {"ok": True}})

    async with connect(Server(x=answer)) as session:
        assert await session.start("x").result() == {"ok": True}


async def test_a_caller_that_goes_away_cancels_its_request(connect):
    server = Server(x=silent)
    async with connect(server) as session:
        task = asyncio.create_task(session.request("x"))
        await until(lambda: server.asked("x"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: server.asked("notifications/cancelled"))


async def test_initialize_is_never_cancelled():
    """C-LIFE-08."""
    server = Server()
    server.initialize = silent
    session = make_session(server, timeout=0.05)
    with pytest.raises(RequestTimeout):
        await session.open()
    assert [message["method"] for message in server.seen] == ["initialize"]
    await session.close()


async def test_progress_with_the_users_own_token(connect):
    def answer(message, reply):
        reply(notify("notifications/progress", progressToken="mine", progress=1))
        reply({"id": message["id"], "result": {}})

    async with connect(Server(x=answer)) as session:
        call = session.start("x", {"_meta": {"progressToken": "mine", "other": 1}})
        await call.result()
        assert call.progress.count == 1
        assert call.progress.fraction is None


@pytest.mark.parametrize("params", [None, [], {}, {"progressToken": {}}, {"progressToken": 99, "progress": "x"}])
async def test_hostile_progress_breaks_nothing(connect, params):
    def answer(message, reply):
        reply({"method": "notifications/progress", "params": params})
        reply({"id": message["id"], "result": {}})

    async with connect(Server(x=answer)) as session:
        assert await session.start("x").result() == {}


async def test_batches_are_taken_apart(connect):
    """C-BASE-07."""

    def answer(message, reply):
        reply(
            [
                notify("notifications/message", level="info", data=1),
                {"id": message["id"], "result": {"batched": True}},
                7,
                [],
            ]
        )

    async with connect(Server(x=answer)) as session:
        assert await session.request("x") == {"batched": True}


async def test_a_lost_connection_ends_every_call_with_the_reason(connect):
    async with connect(Server(x=silent)) as session:
        calls = [session.start("x") for _ in range(3)]
        session.on_lost(ServerExited("The server ended with exit code 1.", status=1))
        for call in calls:
            with pytest.raises(ServerExited):
                await call.result()
            assert session.journal.index.state(call.n) is State.LOST
        assert session.phase == "lost"


# By hand


async def test_a_message_composed_by_hand_goes_out_unchanged(connect):
    server = Server(echo={"ok": True})
    async with connect(server) as session:
        raw = b'{ "jsonrpc":"2.0", "id" : "mine", "method":"echo" }'
        call = session.send_raw(raw)
        assert await call.result() == {"ok": True}
        assert session.journal.event(call.n).bytes == raw


async def test_nonsense_can_be_sent_too(connect):
    async with connect(Server()) as session:
        n = session.send_raw(b"{not json")
        assert session.journal.index.kind(n) is Kind.INVALID
        n = session.send_raw(b'{"jsonrpc":"2.0","method":"notifications/x"}')
        assert session.journal.index.method(n) == "notifications/x"


async def test_an_id_chosen_by_hand_is_not_given_again(connect):
    async with connect(Server(x={})) as session:
        await session.send_raw(b'{"jsonrpc":"2.0","id":50,"method":"x"}').result()
        assert session.next_id == 51


# Lists


def pages(*sizes):
    """A `tools/list` with pages of these sizes; the cursor is the page's number, the empty string for the second."""
    cursors = [None, "", *map(str, range(2, len(sizes)))]

    def answer(message, reply):
        page = cursors.index((message.get("params") or {}).get("cursor"))
        first = sum(sizes[:page])
        result = {"tools": [{"name": f"t{i}"} for i in range(first, first + sizes[page])]}
        if page + 1 < len(sizes):
            result["nextCursor"] = cursors[page + 1]
        reply({"id": message["id"], "result": result})

    return answer


async def test_pages_come_one_by_one_and_an_empty_cursor_is_a_cursor(connect):
    """C-PAG-02, C-PAG-01."""
    async with connect(Server(tools__list=pages(2, 0, 3, 1))) as session:
        await session.load("tools")
        tools = session.catalog.tools
        assert [tool["name"] for tool in tools.items] == ["t0", "t1", "t2", "t3", "t4", "t5"]
        assert (tools.complete, tools.pages, tools.error) == (True, 4, None)
        assert tools.get("t3") == {"name": "t3"}


async def test_ten_thousand_tools_a_hundred_a_page(connect):
    async with connect(Server(tools__list=pages(*[100] * 100))) as session:
        await session.load("tools")
        assert len(session.catalog.tools) == 10_000


async def test_a_page_limit(connect):
    async with connect(Server(tools__list=pages(2, 2, 2))) as session:
        await session.load("tools", page_limit=2)
        assert len(session.catalog.tools) == 4


@pytest.mark.parametrize(
    ("cursor", "words"), [("same", "repeated a cursor"), (7, "not a string"), ({"a": 1}, "not a string")]
)
async def test_a_bad_cursor_ends_the_list_with_a_finding(connect, cursor, words):
    """C-PAG-03."""
    async with connect(Server(tools__list={"tools": [{"name": "t"}], "nextCursor": cursor})) as session:
        await session.load("tools")
        assert session.catalog.tools.complete
        [finding] = session.journal.findings.all()
        assert finding.rule == "C-PAG-03"
        assert words in finding.message


@pytest.mark.parametrize("cursor", ["", "same"])
async def test_a_page_that_comes_twice_is_listed_once(connect, cursor):
    page = {"tools": [{"name": "first"}, {"name": "other"}], "nextCursor": cursor}
    async with connect(Server(tools__list=page)) as session:
        await session.load("tools")
        assert [item["name"] for item in session.catalog.tools.items] == ["first", "other"]


@pytest.mark.parametrize(("names", "idle"), [((), 0), (("a", "b"), 1)], ids=["empty", "repeated"])
async def test_endless_pages_with_nothing_new_end(connect, names, idle):
    count = iter(range(10**9))

    def page(message, reply):
        tools = [{"name": name} for name in names]
        reply({"id": message["id"], "result": {"tools": tools, "nextCursor": str(next(count))}})

    async with connect(Server(tools__list=page)) as session:
        await session.load("tools")
        assert session.catalog.tools.pages == 1000 + idle
        assert [tool["name"] for tool in session.catalog.tools.items] == [*names]
        [finding] = session.journal.findings.all()
        assert "1000 consecutive pages had nothing new" in finding.message


@pytest.mark.parametrize(("item", "limit", "pages"), [(1, 50_000, 51), (20_000, 100_000, 5)], ids=["many", "large"])
async def test_a_list_without_end_ends(connect, monkeypatch, item, limit, pages):
    monkeypatch.setattr(catalog, "MAX_SIZE", limit)
    count = iter(range(10**9))

    def page(message, reply):
        n = next(count)
        reply({"id": message["id"], "result": {"tools": [{"name": f"t{n}", "x": "x" * item}], "nextCursor": str(n)}})

    async with connect(Server(tools__list=page)) as session:
        await session.load("tools")
        assert (session.catalog.tools.pages, session.catalog.tools.complete) == (pages, True)
        [finding] = session.journal.findings.all()
        assert f"the list goes on after {pages} pages with " in finding.message


@pytest.mark.parametrize(
    "result", [None, [], "x", {"tools": None}, {"tools": {"a": 1}}, {"tools": [1, None, {"name": 5}]}]
)
async def test_lists_of_any_shape_are_taken(connect, result):
    async with connect(Server(tools__list=lambda m, reply: reply({"id": m["id"], "result": result}))) as session:
        await session.load("tools")
        assert session.catalog.tools.complete


async def test_an_error_in_the_middle_keeps_what_came(connect):
    def answer(message, reply):
        if message.get("params"):
            reply({"id": message["id"], "error": {"code": -32603, "message": "boom"}})
        else:
            reply({"id": message["id"], "result": {"tools": [{"name": "a"}], "nextCursor": "2"}})

    async with connect(Server(tools__list=answer)) as session:
        await session.load("tools")
        tools = session.catalog.tools
        assert [tool["name"] for tool in tools.items] == ["a"]
        assert isinstance(tools.error, ServerError)
        assert not tools.complete


async def test_a_list_that_is_not_offered_is_not_asked_for(connect):
    """C-LIFE-07."""
    server = Server()
    server.initialize = server.initialize | {"capabilities": {"tools": {}}}
    async with connect(server) as session:
        await session.load("prompts")
        assert isinstance(session.catalog.prompts.error, NotOffered)
        assert not server.asked("prompts/list")


async def test_a_server_without_templates_has_an_empty_list_of_them(connect):
    async with connect(Server()) as session:
        await session.load("templates")
        assert session.catalog["templates"].error is None


async def test_list_changed_lists_again_and_a_storm_of_it_does_so_twice_at_most(connect):
    """C-RES-03."""
    server = Server(tools__list={"tools": [{"name": "a"}]})
    server.methods["storm"] = lambda m, reply: [
        *[reply(notify("notifications/tools/list_changed")) for _ in range(50)],
        reply({"id": m["id"], "result": {}}),
    ]
    async with connect(server) as session:
        await session.load("tools")
        server.methods["tools/list"] = {"tools": [{"name": "a"}, {"name": "b"}]}
        await session.request("storm")
        await until(lambda: len(session.catalog.tools) == 2)
        await asyncio.sleep(0.05)
        assert len(server.asked("tools/list")) <= 3


async def test_a_server_that_says_after_each_reading_that_its_list_has_changed_is_not_asked_in_a_circle(connect):
    """C-RES-03."""
    server = Server()

    def lists(message, reply):
        reply({"id": message["id"], "result": {"tools": []}})
        reply(notify("notifications/tools/list_changed"))

    server.methods["tools/list"] = lists
    async with connect(server) as session:
        await session.load("tools")
        await until(lambda: len(server.asked("tools/list")) == 1 + AT_ONCE)
        for _ in range(200):
            await asyncio.sleep(0)
        assert len(server.asked("tools/list")) == 1 + AT_ONCE
        assert session.phase == "ready"


async def test_load_all_reads_what_is_offered(connect):
    server = Server(
        tools__list={"tools": []}, resources__list={"resources": [{"uri": "a:b"}]}, prompts__list={"prompts": []}
    )
    async with connect(server) as session:
        session.load_all()
        await until(
            lambda: all(session.catalog[name].complete for name in ("tools", "resources", "templates", "prompts"))
        )
        assert session.catalog.resources.get("a:b")


async def test_after_a_reconnect_what_changed_is_reported(connect):
    server = Server(tools__list={"tools": [{"name": "a"}, {"name": "b"}]}, resources__subscribe={})
    async with connect(server) as session:
        await session.load("tools")
        await session.subscribe("file:///x")
        server.methods["tools/list"] = {"tools": [{"name": "a", "title": "new"}, {"name": "c"}]}
        await session.reopen()
        [change] = session.surface_changes
        assert (change.added, change.removed, change.altered) == (("c",), ("b",), ("a",))
        assert len(server.asked("resources/subscribe")) == 2
        assert "file:///x" in session.subscriptions


# Resources, prompts, completion, logging


async def test_subscriptions(connect):
    """C-RES-02."""
    server = Server(resources__subscribe={}, resources__unsubscribe={})
    server.methods["poke"] = lambda m, reply: [
        reply(notify("notifications/resources/updated", uri="file:///d/x")),
        reply(notify("notifications/resources/updated", uri=7)),
        reply(notify("notifications/resources/updated", uri="other:")),
        reply({"id": m["id"], "result": {}}),
    ]
    async with connect(server) as session:
        await session.subscribe("file:///d")
        await session.request("poke")
        assert session.subscriptions.counts == {"file:///d": 1}
        await session.unsubscribe("file:///d")
        assert "file:///d" not in session.subscriptions
        assert server.asked("resources/unsubscribe")


@pytest.mark.parametrize("action", ["subscribe", "log"])
async def test_what_is_not_declared_is_not_tried(connect, action):
    """C-LIFE-07."""
    server = Server()
    server.initialize = server.initialize | {"capabilities": {"resources": {}}}
    async with connect(server) as session:
        with pytest.raises(NotOffered):
            await (session.subscribe("x:") if action == "subscribe" else session.set_log_level("info"))


async def test_the_log_level_is_set_when_wanted(connect):
    """C-LOG-01."""
    server = Server(logging__setLevel={})
    async with connect(server, log_level="warning"):
        await until(lambda: server.asked("logging/setLevel"))
        assert server.asked("logging/setLevel")[0]["params"] == {"level": "warning"}


async def test_completion_with_context(connect):
    """C-COMP-01."""
    server = Server(completion__complete={"completion": {"values": ["a", 7, "b"]}})
    async with connect(server) as session:
        ref = {"type": "ref/prompt", "name": "p"}
        assert await session.complete(ref, "city", "P", {"country": "F"}) == ["a", "b"]
        assert server.asked("completion/complete")[0]["params"]["context"] == {"arguments": {"country": "F"}}


async def test_before_there_was_a_context_none_is_sent_and_before_the_capability_it_is_tried(connect):
    """C-COMP-01."""
    server = Server(completion__complete={})
    server.initialize = server.initialize | {"protocolVersion": "2024-11-05", "capabilities": {"prompts": {}}}
    async with connect(server) as session:
        assert await session.complete({}, "a", "", {"b": "c"}) == []
        assert "context" not in server.asked("completion/complete")[0]["params"]


async def test_completion_that_is_not_declared(connect):
    """C-COMP-01."""
    server = Server()
    server.initialize = server.initialize | {"capabilities": {}}
    async with connect(server) as session:
        with pytest.raises(NotOffered):
            await session.complete({}, "a", "")


async def test_reading_and_prompts(connect):
    server = Server(resources__read={"contents": []}, prompts__get={"messages": []})
    async with connect(server) as session:
        assert await session.read_resource("a:b").result() == {"contents": []}
        assert await session.get_prompt("p", {"x": "y"}).result() == {"messages": []}
        assert await session.get_prompt("p").result() == {"messages": []}
        assert server.asked("prompts/get")[0]["params"]["arguments"] == {"x": "y"}
        assert "arguments" not in server.asked("prompts/get")[1]["params"]


# What the server asks


def asking(request):
    """A tool that asks the client something and gives back the answer."""

    async def answer(message, reply):
        reply({"jsonrpc": "2.0", "id": "q", **request})

    return answer


async def ask(session, server, method, params=None, answer=None):
    """Have the server ask; returns what it was answered."""
    server.methods["tools/call"] = asking({"method": method, "params": params or {}})
    call = session.call_tool("ask")
    if answer is not None:
        await until(session.inbox.open)
        answer(session.inbox.open()[0])
    await until(lambda: any(m.get("id") == "q" for m in server.seen))
    call.cancel()
    return next(m for m in server.seen if m.get("id") == "q")


FORM = {"message": "?", "requestedSchema": {"type": "object", "properties": {"n": {"type": "integer", "default": 4}}}}


async def test_ping_is_answered_at_once(connect):
    """C-PING-01."""
    server = Server()
    async with connect(server) as session:
        assert await ask(session, server, "ping") == {"jsonrpc": "2.0", "id": "q", "result": {}}


async def test_an_unknown_request_is_refused_and_the_session_goes_on(connect):
    """C-LIFE-10, C-APP-11."""
    server = Server()
    async with connect(server) as session:
        assert (await ask(session, server, "no/such"))["error"]["code"] == -32601
        assert (await ask(session, server, "ui/open-link", {"url": "https://a"}))["error"]["code"] == -32601
        assert session.phase == "ready"


async def test_what_was_not_declared_is_refused(connect):
    server = Server()
    async with connect(server, standing=StandingAnswers()) as session:
        assert (await ask(session, server, "sampling/createMessage"))["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("standing", "method", "params", "expected"),
    [
        (
            StandingAnswers(sampling="hi"),
            "sampling/createMessage",
            {"maxTokens": 10},
            ("result", sampling_result("hi", STANDING_MODEL)),
        ),
        (
            StandingAnswers(sampling="decline"),
            "sampling/createMessage",
            {},
            ("error", {"code": -1, "message": "User rejected sampling request"}),
        ),
        (StandingAnswers(elicitation="decline"), "elicitation/create", FORM, ("result", {"action": "decline"})),
        (StandingAnswers(elicitation="cancel"), "elicitation/create", FORM, ("result", {"action": "cancel"})),
        (
            StandingAnswers(elicitation="defaults"),
            "elicitation/create",
            FORM,
            ("result", {"action": "accept", "content": {"n": 4}}),
        ),
        (
            StandingAnswers(elicitation={"n": 1}),
            "elicitation/create",
            FORM,
            ("result", {"action": "accept", "content": {"n": 1}}),
        ),
        (
            StandingAnswers(roots=("file:///a%20b/",)),
            "roots/list",
            {},
            ("result", {"roots": [{"uri": "file:///a%20b/", "name": "a b"}]}),
        ),
    ],
)
async def test_standing_answers(connect, standing, method, params, expected):
    """C-SAMP-01, C-ELIC-01: a mode that is not named is the form."""
    server = Server()
    async with connect(server, standing=standing) as session:
        answered = await ask(session, server, method, params)
        assert answered[expected[0]] == expected[1]
        assert session.inbox.open() == []


@pytest.mark.parametrize(
    ("method", "act", "expected"),
    [
        ("sampling/createMessage", lambda q: q.reply_text("words"), ("result", "human")),
        ("sampling/createMessage", lambda q: q.decline(), ("error", -1)),
        ("sampling/createMessage", lambda q: q.send({"role": "user"}), ("result", "user")),
        ("elicitation/create", lambda q: q.accept({"n": 7}), ("result", {"n": 7})),
        ("elicitation/create", lambda q: q.decline(), ("result", "decline")),
        ("elicitation/create", lambda q: q.cancel(), ("result", "cancel")),
        ("roots/list", lambda q: q.accept([{"uri": "file:///x"}]), ("result", "file:///x")),
        ("roots/list", lambda q: q.cancel(), ("error", -1)),
    ],
)
async def test_the_user_answers(connect, method, act, expected):
    server = Server()
    async with connect(server) as session:
        answered = await ask(session, server, method, FORM if method.startswith("elic") else {}, act)
        assert str(expected[1]) in str(answered[expected[0]])
        [question] = session.inbox.questions
        assert question.state in ("answered", "declined", "cancelled")


async def test_a_question_is_answered_once(connect):
    server = Server()

    def twice(question):
        question.accept({"n": 1})
        question.decline()

    async with connect(server) as session:
        await ask(session, server, "elicitation/create", FORM, twice)
        await asyncio.sleep(0.01)
        assert len([m for m in server.seen if m.get("id") == "q"]) == 1


async def test_the_clock_of_a_call_stands_still_while_the_user_is_asked(connect):
    server = Server(tools__call=asking({"method": "elicitation/create", "params": FORM}))
    async with connect(server) as session:
        call = session.call_tool("x", timeout=0.1)
        await until(session.inbox.open)
        await asyncio.sleep(0.25)
        assert call.fate == "pending"
        session.inbox.open()[0].decline()
        with pytest.raises(RequestTimeout):
            await call.result()
        assert call.elapsed > 0.25


async def test_a_question_that_is_taken_back_gets_no_answer(connect):
    """C-CANC-02."""

    async def answer(message, reply):
        reply({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": FORM})
        reply(notify("notifications/cancelled", requestId="q"))

    server = Server(tools__call=answer)
    async with connect(server) as session:
        session.call_tool("x")
        await until(lambda: session.inbox.questions)
        await until(lambda: session.inbox.questions[0].state == "withdrawn")
        session.inbox.questions[0].accept({})
        await asyncio.sleep(0.01)
        assert not [m for m in server.seen if m.get("id") == "q"]


async def test_a_mode_that_was_not_declared_is_refused(connect):
    """C-ELIC-06."""
    server = Server()
    server.initialize = server.initialize | {"protocolVersion": "2025-06-18"}
    async with connect(server) as session:
        answered = await ask(session, server, "elicitation/create", {"mode": "url", "url": "https://x", "message": "m"})
        assert answered["error"]["code"] == -32602


async def test_questions_without_end_are_refused_at_a_bound(connect):
    async def flood(message, reply):
        for i in range(1100):
            reply({"jsonrpc": "2.0", "id": f"q{i}", "method": "elicitation/create", "params": FORM})

    server = Server(tools__call=flood)
    async with connect(server) as session:
        session.call_tool("x")
        await until(lambda: len([m for m in server.seen if "result" in m]) == 100)
        assert len(session.inbox.open()) == 1000
        await session.leave()
        assert counts_of_declined(session)[-1] == 100
        assert len(counts_of_declined(session)) <= 3


async def test_the_last_questions_that_were_declined_are_counted_at_the_end(connect, monkeypatch):
    monkeypatch.setattr(Inbox, "OPEN_LIMIT", 2)

    async def flood(message, reply):
        for i in range(12):
            reply({"jsonrpc": "2.0", "id": f"q{i}", "method": "elicitation/create", "params": FORM})
            await asyncio.sleep(0.001)

    server = Server(tools__call=flood)
    async with connect(server) as session:
        session.call_tool("x")
        await until(lambda: session.inbox.declined == 10)
        assert counts_of_declined(session) == [1]
        await session.leave()
        assert counts_of_declined(session) == [1, 10]


async def test_questions_that_are_declined_are_counted_again_later(connect, monkeypatch):
    monkeypatch.setattr(Inbox, "OPEN_LIMIT", 2)
    monkeypatch.setattr(session_module, "DECLINED_EVERY", 0.01)

    def two(message, reply):
        for i in range(2):
            reply({"jsonrpc": "2.0", "id": f"{message['id']}-{i}", "method": "elicitation/create", "params": FORM})

    async with connect(Server(tools__call=two)) as session:
        for _ in range(3):
            session.call_tool("x")
        await until(lambda: counts_of_declined(session)[-1:] == [4])
        assert counts_of_declined(session)[0] == 1


def counts_of_declined(session):
    events = [session.journal.event(n).fields for n in range(1, len(session.journal) + 1)]
    return [fields["count"] for fields in events if fields.get("event") == "questions-declined"]


async def test_questions_are_lost_with_the_connection(connect):
    server = Server(tools__call=asking({"method": "elicitation/create", "params": FORM}))
    async with connect(server) as session:
        session.call_tool("x")
        await until(session.inbox.open)
        session.on_lost(ConnectionProblem("gone"))
        assert session.inbox.questions[0].state == "lost"


@pytest.mark.parametrize(("limit", "noted"), [(2, True), (3, False), (None, False), ("2", False), (-1, False)])
async def test_a_sampling_answer_above_the_limit_is_sent_whole_and_noted(connect, limit, noted):
    """C-SAMP-02."""
    server = Server()
    async with connect(server, standing=StandingAnswers(sampling="one two  three")) as session:
        answer = (await ask(session, server, "sampling/createMessage", {"maxTokens": limit}))["result"]
        events = map(session.journal.event, range(1, len(session.journal) + 1))
        notes = [event.fields for event in events if event.kind is Kind.NOTE]
    assert (answer["content"]["text"], answer["stopReason"]) == ("one two  three", "endTurn")
    text = "The sampling answer has 3 words; the server allows 2 tokens (maxTokens). It was sent complete."
    assert [note["text"] for note in notes] == ([text] if noted else [])


@pytest.mark.parametrize("id", [True, {"a": 1}, [1]])
async def test_a_request_with_an_unlawful_id_is_kept_and_breaks_nothing(connect, id):
    def answer(message, reply):
        reply({"jsonrpc": "2.0", "id": id, "method": "ping"})
        reply({"id": message["id"], "result": {}})

    async with connect(Server(x=answer)) as session:
        assert await session.request("x") == {}


async def test_roots_that_change_are_reported(connect):
    """C-ROOT-01."""
    server = Server()
    async with connect(server) as session:
        session.driver.roots_changed()
        await until(lambda: server.asked("notifications/roots/list_changed"))


async def test_changes_count_and_wake(connect):
    server = Server(tools__list={"tools": []})
    async with connect(server) as session:
        woken = []
        session.changes.listen(lambda: woken.append(1))
        before = session.changes["tools"]
        await session.load("tools")
        assert session.changes["tools"] > before
        assert woken


def test_capabilities_are_checked_in_parts():
    from inspector.client.state.server import Server as Seen

    seen = Seen({"capabilities": CAPABILITIES | {"odd": False}, "serverInfo": {"title": "T", "name": 3}})
    assert seen.can("resources", "subscribe")
    assert not seen.can("prompts", "listChanged")
    assert not seen.can("odd")
    assert (seen.title, seen.name, seen.version) == ("T", "", "")


async def test_a_session_that_the_server_lost_is_initialized_again_and_the_request_resent(connect):
    """C-HTTP-12: what the HTTP transport says when a 404 answers our session id."""

    def second_time_only(message, reply):
        if len(server.asked("x")) == 2:
            reply({"id": message["id"], "result": {"ok": True}})

    server = Server(tools__list={"tools": []}, x=second_time_only)
    async with connect(server) as session:
        await session.load("tools")
        call = session.start("x")
        session.on_failed(call.outgoing, SessionLost("404"))
        assert await call.result() == {"ok": True}
        assert len(server.asked("initialize")) == 2
        await until(lambda: len(server.asked("tools/list")) == 2)
        assert "session-lost" in [e.fields.get("event") for e in session.journal.events() if e.kind is Kind.LIFE]


async def test_a_session_that_cannot_be_initialized_again_is_lost(connect):
    server = Server(x=silent)
    async with connect(server) as session:
        call = session.start("x")
        server.initialize = lambda m, reply: reply({"id": m["id"], "error": {"code": 1, "message": "no more"}})
        session.on_failed(call.outgoing, SessionLost("404"))
        with pytest.raises(HandshakeError):
            await call.result()
        assert session.phase == "lost"


async def test_an_exchange_that_broke_ends_its_request_alone(connect):
    async with connect(Server(x=silent)) as session:
        broken, refused, other = session.start("x"), session.start("x"), session.start("x")
        session.on_failed(broken.outgoing, ConnectionProblem("the stream ended"))
        session.on_failed(refused.outgoing, ServerError(-32600, "no id"))
        with pytest.raises(ConnectionProblem):
            await broken.result()
        with pytest.raises(ServerError):
            await refused.result()
        assert session.journal.index.state(broken.n) is State.LOST
        assert session.journal.index.state(refused.n) is State.ERROR
        assert other.fate == "pending"


async def test_sending_on_a_dead_connection(connect):
    async with connect(Server()) as session:
        await session.transport.close()
        with pytest.raises(ConnectionProblem):
            await session.request("x")
        assert session.notify("notifications/x") == 0
        call = session.send_raw(b'{"jsonrpc":"2.0","id":"mine","method":"x"}')
        with pytest.raises(ConnectionProblem):
            await call.result()


async def test_an_opening_that_is_interrupted_closes_what_it_opened():
    server = Server()
    server.initialize = silent
    session = make_session(server)
    opening = asyncio.create_task(session.open())
    await until(lambda: server.seen)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert session.phase == "closed"


async def test_a_listing_that_is_interrupted_keeps_what_came(connect):
    def first_page_only(message, reply):
        if not message.get("params"):
            reply({"id": message["id"], "result": {"tools": [{"name": "a"}], "nextCursor": "2"}})

    async with connect(Server(tools__list=first_page_only)) as session:
        task = session.run(session.load("tools"))
        await until(lambda: len(session.catalog.tools) == 1)
        task.cancel()
        await until(lambda: not session.catalog.tools.loading)
        assert session.catalog.tools.error is not None


def test_transports_by_target():
    from pathlib import Path

    from inspector.client.options import Options
    from inspector.client.session import transport_for
    from inspector.config.targets import HttpTarget, RecordingTarget, StdioTarget

    assert transport_for(StdioTarget(("x",)), None, Options()).name == "stdio"
    assert transport_for(HttpTarget("http://127.0.0.1:1/"), None, Options()).name == "http"
    assert transport_for(HttpTarget("http://127.0.0.1:1/", transport="sse"), None, Options()).name == "sse"
    with pytest.raises(UsageError, match="is a recording"):
        transport_for(RecordingTarget(Path("a.mcp.jsonl")), None, Options())


async def test_a_secret_that_the_server_repeats_is_shown_nowhere_and_goes_back_as_it_was(connect):
    secret = "tok-Ab12cd34"
    server = Server(
        tools__list={"tools": [{"name": f"use-{secret}", "inputSchema": {"type": "object"}}]},
        tools__call=lambda message, reply: reply(
            {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -1, "message": f"no {secret}", "data": secret}}
        ),
    )
    server.initialize = server.initialize | {"instructions": f"Use {secret}."}
    session = make_session(server)
    session.journal.redactor.add(secret)
    await session.open()
    try:
        await session.load("tools")
        (tool,) = session.catalog["tools"].items
        assert tool["name"].startswith("use-‹redacted ")
        assert session.server.instructions.startswith("Use ‹redacted ")
        with pytest.raises(ServerError) as caught:
            await session.call_tool(tool["name"]).result()
        assert secret not in f"{caught.value} {caught.value.as_json()}"
        assert server.asked("tools/call")[0]["params"]["name"] == f"use-{secret}"
    finally:
        await session.close()
        session.journal.release()


@pytest.mark.slow
async def test_a_closed_session_leaves_no_timer_in_the_loop() -> None:
    """A timer that waits for a timeout would keep the session and its recording in memory."""
    session = Session(demo_target(), Journal.unnamed({}), Options(timeout=1000))
    await session.open()
    await session.call_tool("echo", {"message": "x"}).result()
    await session.close()
    scheduled = asyncio.get_running_loop()._scheduled  # type: ignore[attr-defined] # asyncio has no public list.
    assert [timer for timer in scheduled if not timer.cancelled()] == []
