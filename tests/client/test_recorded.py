"""A recording shows what the live session showed: the same reductions, read from the file."""

import asyncio

import pytest

from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.client.recorded_session import RecordedSession
from inspector.client.session import Session
from inspector.client.state.catalog import KINDS
from inspector.client.state.steps import connection_steps
from inspector.config.targets import StdioTarget
from inspector.errors import InspectorError
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.protocol import jsonrpc
from inspector.transports.memory import MemoryTransport
from tests.client.conftest import Server, until

FORM = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}


def replay(path):
    journal = Journal.open(path)
    while journal.refresh():
        pass
    session = RecordedSession(journal, path)
    while session.advance(limit=3):
        pass
    return session


@pytest.fixture
async def recorded(tmp_path):
    """A live session with a bit of everything, closed; and the same as a recording."""

    def page(message, reply):
        cursor = (message.get("params") or {}).get("cursor")
        tools = [{"name": "b"}] if cursor else [{"name": "a"}]
        reply({"id": message["id"], "result": {"tools": tools} | ({} if cursor else {"nextCursor": "2"})})

    def call(message, reply):
        reply({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": FORM})
        reply({"jsonrpc": "2.0", "id": 2, "method": "sampling/createMessage", "params": {}})
        reply({"jsonrpc": "2.0", "id": 3, "method": "roots/list"})

    server = Server(
        tools__list=page,
        resources__list={"resources": [{"uri": "x:1"}]},
        prompts__list={"prompts": []},
        tools__call=call,
        resources__subscribe={},
        resources__templates__list={"resourceTemplates": []},
    )
    server.methods["poke"] = lambda m, reply: [
        reply({"method": "notifications/resources/updated", "params": {"uri": "x:1"}}),
        reply({"id": m["id"], "result": {}}),
    ]
    path = tmp_path / "a.mcp.jsonl"
    journal = Journal.create(path, {})
    standing = StandingAnswers(sampling="ask", elicitation="ask", roots="ask")
    session = Session(
        StdioTarget(("test",)),
        journal,
        Options(era="legacy", standing=standing),
        connect=lambda _t, sink, _o: MemoryTransport(sink, server),
    )
    await session.open()
    for name in KINDS:
        await session.load(name)
    await session.subscribe("x:1")
    await session.request("poke")
    session.call_tool("ask")
    await until(lambda: len(session.inbox.open()) == 3)
    elicitation, sampling, _roots = session.inbox.open()
    elicitation.cancel()
    sampling.decline()
    await asyncio.sleep(0)
    await session.close()
    return session, replay(path)


async def test_identity_and_lists(recorded):
    live, again = recorded
    assert again.server.raw == live.server.raw
    for name in KINDS:
        assert again.catalog[name].items == live.catalog[name].items
        assert not again.catalog[name].loading
    assert again.catalog.tools.pages == 2


async def test_questions_and_how_they_were_answered(recorded):
    _, again = recorded
    assert [(q.topic, q.state) for q in again.inbox.questions] == [
        ("elicitation", "cancelled"),
        ("sampling", "declined"),
        ("roots", "lost"),
    ]
    assert again.inbox.open() == []


async def test_subscriptions(recorded):
    live, again = recorded
    assert again.subscriptions.counts == live.subscriptions.counts == {"x:1": 1}


async def test_steps_are_the_same_live_and_later(recorded):
    live, again = recorded
    steps = connection_steps(again.journal)
    assert [(step.title, step.outcome) for step in steps] == [("handshake", "ok"), ("ready", "ok")]
    assert steps == connection_steps(live.journal)


def test_a_recording_of_nonsense_breaks_nothing(tmp_path):
    path = tmp_path / "a.mcp.jsonl"
    journal = Journal.create(path, {})
    journal.record_sent("stdio", b'{"id":1,"method":"tools/list"}', {"id": 1, "method": "tools/list"})
    journal.record_received(
        "stdio",
        [
            b'{"id":1,"result":7}',
            b'{"id":1,"method":"initialize","result":[]}',
            b'{"id":5,"method":"elicitation/create","params":[]}',
            b'{"method":"notifications/resources/updated","params":"x"}',
        ],
    )
    session = replay(path)
    assert session.catalog.tools.items == []
    assert [question.params for question in session.inbox.questions] == [{}]


async def steps_of(code):
    import sys

    journal = Journal.unnamed({})
    session = Session(StdioTarget((sys.executable, "-S", "-c", code)), journal, Options(timeout=5))
    with pytest.raises(InspectorError):
        await session.open()
    await session.close()
    return connection_steps(journal)


@pytest.mark.slow
async def test_the_steps_of_a_server_that_talks_first_and_dies():
    steps = await steps_of("import sys; print('Using CPython 3.12'); sys.exit('no module')")
    assert [(step.title, step.outcome) for step in steps][:2] == [("start", "ok"), ("discover", "failed")]
    assert ("stdout", "note") in [(step.title, step.outcome) for step in steps]
    assert [step.title for step in steps][-2:] == ["exit", "failed"]
    assert "Using CPython" in next(step.detail for step in steps if step.title == "stdout")


@pytest.mark.slow
async def test_the_steps_of_a_server_that_refuses():
    answer = '{"id":0,"error":{"code":-32602,"message":"never"}}'
    code = f"import sys; sys.stdin.readline(); print({answer!r}, flush=True); sys.stdin.read()"
    steps = await steps_of(code)
    assert ("handshake", "failed") in [(step.title, step.outcome) for step in steps]
    assert "never" in next(step.detail for step in steps if step.title == "handshake")


def test_steps_say_which_address_refused_and_what_came_of_the_question():
    journal = Journal.unnamed({})
    message = {"jsonrpc": "2.0", "id": "discover-1", "method": "server/discover", "params": {}}
    n = journal.record_sent("post-1", jsonrpc.encode(message), message)
    journal.record_http("post-1", Dir.SEND, method="POST", url="http://host.example/no", headers=[])
    journal.record_http("post-1", Dir.RECV, status=404, reason="Not Found", headers=[], ms=1)
    journal.record_life("", "lost", **{"for": n, "error": {"message": "It answered 404."}})
    steps = [(step.title, step.outcome, step.detail) for step in connection_steps(journal)]
    assert ("http", "note", "404 Not Found from http://host.example/no") in steps
    assert ("discover", "note", "server/discover: It answered 404.") in steps


def test_text_in_an_http_answer_is_named_after_its_body():
    journal = Journal.unnamed({})
    journal.record_life("", "start", url="http://127.0.0.1/mcp")
    journal.record_received("post-1", [b"Method Not Allowed"])
    (step,) = [step for step in connection_steps(journal) if step.outcome == "note"]
    assert (step.title, step.detail) == ("body", "“Method Not Allowed” is not JSON-RPC; recorded and skipped")
    journal.release()
