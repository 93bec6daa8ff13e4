"""The modern era: what every request carries, what is never sent, and how answers are taken."""

import re

import pytest

from inspector.client.inbox import StandingAnswers
from inspector.errors import HandshakeError, InvalidAnswer, NotOffered, RequestCancelled, RequestTimeout, ServerError
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from tests.client.conftest import make_session, until
from tests.client.modern import (
    CAPABILITIES,
    CLIENT,
    DISCOVERED,
    LOG_LEVEL,
    SERVER,
    TASKS,
    VERSION,
    complete,
    form,
    modern,
    tell,
    wanting,
)

EXTENSION = re.compile(r"[a-z][a-z0-9-]*(\.[a-z][a-z0-9-]*)+/[A-Za-z0-9][\w.-]*")


def sent(session):
    """Every message that went to the server, as it went."""
    events = [session.journal.event(n) for n in range(1, len(session.journal) + 1)]
    return [event.message for event in events if event.dir is Dir.SEND and event.kind is not Kind.LIFE]


def busy_server(info=None):
    """A server that wants input, asks in ways that the era has no more, reports and forgets."""

    def call(message, reply):
        if "inputResponses" not in message["params"]:
            reply({"jsonrpc": "2.0", "id": "ping", "method": "ping"})
            reply({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": form()["params"]})
            reply({"jsonrpc": "2.0", "id": 7, "method": "roots/list"})
            reply(tell("notifications/cancelled", requestId="q"))
            reply({"id": message["id"], "result": wanting({"a": form()}, "s")})
        else:
            token = message["params"]["_meta"]["progressToken"]
            reply(tell("notifications/progress", progressToken=token, progress=1))
            reply({"id": message["id"], "result": complete(content=[])})

    return modern(
        DISCOVERED | {"_meta": {SERVER: info or {"name": "modern", "version": "1"}}},
        tools__call=call,
        tools__list=complete(tools=[{"name": "t"}]),
        resources__read=complete(contents=[]),
        completion__complete=complete(completion={"values": []}),
        forgotten=lambda message, reply: None,
    )


async def everything(session):
    """Use all that a session can do in this era."""
    await session.load("tools")
    call = session.call_tool("t", {"a": 1})
    await until(session.inbox.open)
    session.inbox.open()[0].accept({})
    await call.result()
    await session.read_resource("a:b").result()
    await session.complete({"type": "ref/prompt", "name": "p"}, "a", "b", {"c": "d"})
    await session.set_log_level("info")
    with pytest.raises(RequestTimeout):
        await session.start("forgotten", timeout=0.01).result()
    session.start("forgotten", {"_meta": {"example.com/mine": 1}}).cancel()
    session.driver.roots_changed()


async def test_every_request_says_what_is_spoken_by_whom_and_what_it_can(connect):
    """C-MOD-01, C-MOD-02, C-MOD-04: from the first one on, which is `server/discover`."""
    async with connect(busy_server(), era="modern") as session:
        await everything(session)
        requests = [message for message in sent(session) if "id" in message]
    assert requests[0]["method"] == "server/discover"
    for request in requests:
        meta = request["params"]["_meta"]
        assert meta[VERSION] == "2026-07-28"
        assert meta[CLIENT]["name"] == "inspector"
        assert set(meta[CLIENT]) >= {"name", "version"}
        assert meta[CAPABILITIES] == {
            "roots": {},
            "sampling": {"tools": {}},
            "elicitation": {"form": {}, "url": {}},
            "extensions": {TASKS: {}},
        }


async def test_what_is_not_backed_is_not_declared(connect):
    """C-MOD-01, C-MOD-10: the only extension has a prefix."""
    server = busy_server()
    async with connect(server, era="modern", standing=StandingAnswers()):
        declared = server.seen[0]["params"]["_meta"][CAPABILITIES]
    assert set(declared) == {"extensions"}
    assert all(EXTENSION.fullmatch(name) for name in declared["extensions"])


async def test_all_that_is_sent_is_a_request_or_a_cancellation(connect):
    """C-MOD-11, C-BASE-01, C-BASE-05, C-BASE-08: no answers, and nothing that the era has no more."""
    async with connect(busy_server(), era="modern") as session:
        await everything(session)
        messages = sent(session)
    methods = {message["method"] for message in messages}
    assert methods == {
        "server/discover",
        "tools/list",
        "tools/call",
        "resources/read",
        "completion/complete",
        "forgotten",
        "notifications/cancelled",
    }
    for message in messages:
        assert message["jsonrpc"] == "2.0"
        assert ("id" in message) != message["method"].startswith("notifications/")


async def test_meta_has_the_eras_keys_and_the_users(connect):
    """C-BASE-11, C-BASE-12: no key of ours, and no trace unless requested."""
    async with connect(busy_server(), era="modern") as session:
        await everything(session)
        keys = {key for message in sent(session) for key in message["params"].get("_meta", {})}
    assert keys == {VERSION, CLIENT, CAPABILITIES, LOG_LEVEL, "progressToken", "example.com/mine"}


async def test_what_the_user_writes_into_meta_wins(connect):
    server = modern(x=complete())
    async with connect(server, era="modern") as session:
        await session.request("x", {"_meta": {VERSION: "1999-01-01", "traceparent": "00-a-b-01"}})
        meta = server.asked("x")[0]["params"]["_meta"]
        assert (meta[VERSION], meta["traceparent"]) == ("1999-01-01", "00-a-b-01")
        assert CAPABILITIES in meta


async def test_ids_of_requests_that_wait_are_never_alike(connect):
    """C-BASE-04, C-PROG-01."""
    server = modern(x=lambda message, reply: None)
    async with connect(server, era="modern") as session:
        for _ in range(100):
            session.start("x")
        await until(lambda: len(server.asked("x")) == 100)
        assert len({(type(message["id"]), message["id"]) for message in server.seen}) == 101
        assert len({message["params"]["_meta"]["progressToken"] for message in server.asked("x")}) == 100


async def test_a_result_without_a_type_is_complete(connect):
    """C-BASE-09."""
    async with connect(modern(x={"old": True}), era="modern") as session:
        assert await session.request("x") == {"old": True}


@pytest.mark.parametrize("kind", ["no-such", "Complete", "", 7, True, {"a": 1}, ["complete"], "task"])
async def test_a_result_of_an_unknown_type_is_no_answer(connect, kind):
    """C-BASE-09, C-TASK-02: a task answers `tools/call` and nothing else."""
    async with connect(modern(x={"resultType": kind, "taskId": "t"}), era="modern") as session:
        with pytest.raises(InvalidAnswer) as caught:
            await session.request("x")
        assert "resultType" in caught.value.message
        assert session.phase == "ready"


@pytest.mark.parametrize("code", [-32019, -32000, -32002, -32602, 5])
async def test_codes_that_mean_nothing_are_only_shown(connect, code):
    """C-BASE-10, C-RES-01: -32602 and -32002 mean the same for a resource."""
    error = {"code": code, "message": "no", "data": {"supported": ["2026-07-28"]}}
    server = modern(resources__read=lambda message, reply: reply({"id": message["id"], "error": error}))
    async with connect(server, era="modern") as session:
        with pytest.raises(ServerError) as caught:
            await session.read_resource("a:b").result()
        assert (caught.value.rpc_code, caught.value.rpc_message) == (code, "no")
        assert len(server.asked("resources/read")) == 1


@pytest.mark.parametrize(
    ("message", "hints"),
    [("initialize is required", True), ("Bad Request: Server not initialized", True), ("no tool initialize-db", False)],
)
async def test_a_server_that_wants_the_handshake_after_all_is_reported_with_the_era_to_try(connect, message, hints):
    error = {"code": -32600, "message": message}
    server = modern(x=lambda asked, reply: reply({"id": asked["id"], "error": error}))
    async with connect(server, era="modern") as session:
        with pytest.raises(ServerError) as caught:
            await session.request("x")
    assert ("--era legacy" in caught.value.hint.command_line) is hints


async def test_a_log_level_goes_with_every_request_that_wants_messages(connect):
    """C-LOG-02."""
    server = modern(x=complete())
    async with connect(server, era="modern") as session:
        await session.request("x")
        await session.set_log_level("warning")
        await session.request("x")
        await session.request("x")
        levels = [message["params"]["_meta"].get(LOG_LEVEL) for message in server.asked("x")]
        assert levels == [None, "warning", "warning"]
        assert not server.asked("logging/setLevel")


async def test_a_log_level_wanted_from_the_start_is_there_from_the_start(connect):
    """C-LOG-02."""
    server = modern(x=complete())
    async with connect(server, era="modern", log_level="debug") as session:
        await session.request("x")
        assert server.asked("x")[0]["params"]["_meta"][LOG_LEVEL] == "debug"


async def test_a_pipe_is_reported_of_a_cancellation(connect):
    """C-STDIO-07, C-CANC-01, C-LIFE-09: once, for what is in flight, and a late answer does no harm."""
    held = []
    server = modern(x=lambda message, reply: held.append((message, reply)))
    async with connect(server, era="modern") as session:
        call, late = session.start("x"), session.start("x", timeout=0.01)
        await until(lambda: len(held) == 2)
        call.cancel()
        call.cancel()
        with pytest.raises(RequestCancelled):
            await call.result()
        with pytest.raises(RequestTimeout):
            await late.result()
        await until(lambda: len(server.asked("notifications/cancelled")) == 2)
        named = [message["params"]["requestId"] for message in server.asked("notifications/cancelled")]
        assert sorted(named) == sorted([call.id, late.id])
        message, reply = held[0]
        reply({"id": message["id"], "result": complete()})
        await until(lambda: call.outcome.late)
        assert session.journal.index.state(call.answer_n) is State.LATE


@pytest.mark.parametrize("info", ["x", {"name": "mcp-hub", "version": "0"}, {"name": 5, "version": ["9"]}])
async def test_what_a_server_says_of_itself_changes_nothing(connect, info):
    """C-MOD-08."""
    async with (
        connect(busy_server(), era="modern") as one,
        connect(busy_server(info), era="modern") as other,
    ):
        await everything(one)
        await everything(other)
        assert sent(one) == sent(other)


def refusing(supported, times=1):
    """A server that refuses the revision so many times."""
    left = [times]

    def discover(message, reply):
        if left[0]:
            left[0] -= 1
            data = {"supported": supported, "requested": message["params"]["_meta"][VERSION]}
            reply({"id": message["id"], "error": {"code": -32022, "message": "unsupported", "data": data}})
        else:
            reply({"id": message["id"], "result": DISCOVERED})

    server = modern()
    server.methods["server/discover"] = discover
    return server


async def test_after_a_refused_revision_one_of_the_servers_is_tried(connect):
    """C-MOD-03."""
    server = refusing(["2019-01-01", "2026-07-28"])
    async with connect(server, era="modern") as session:
        assert session.server.revision == "2026-07-28"
        assert len({message["id"] for message in server.asked("server/discover")}) == 2


@pytest.mark.parametrize(
    ("supported", "times"), [(["2031-01-01"], 1), (["2026-07-28"], 9), ([], 1), ("x", 1), (None, 1)]
)
async def test_where_there_is_no_common_revision_the_user_is_told_the_servers(supported, times):
    """C-MOD-03: and it is not tried for ever."""
    server = refusing(supported, times)
    session = make_session(server, era="modern")
    with pytest.raises(HandshakeError, match="unsupported") as caught:
        await session.open()
    if isinstance(supported, list):
        assert all(name in caught.value.message for name in supported)
    assert len(server.asked("server/discover")) <= 2


async def test_a_server_that_rejects_what_it_lists_is_not_too_new():
    """C-MOD-03: a newer Inspector would not help."""
    with pytest.raises(HandshakeError, match="rejects 2026-07-28, which it lists as supported") as caught:
        await make_session(refusing(["2026-07-28"], 9), era="auto").open()
    assert "legacy" in str(caught.value.hint)


async def test_a_server_without_our_extension_is_spoken_to_as_ever(connect):
    """C-MOD-10."""
    plain = DISCOVERED | {"capabilities": {"tools": {}}}
    async with connect(modern(plain, tools__call=complete(content=[])), era="modern") as session:
        assert not session.tasks.offered
        assert await session.call_tool("t").result() == complete(content=[])


async def test_there_is_no_ping_in_this_era(connect):
    """C-MOD-11."""
    server = modern(ping=complete())
    async with connect(server, era="modern") as session:
        with pytest.raises(NotOffered, match="no ping"):
            await session.ping()
        assert not server.asked("ping")
