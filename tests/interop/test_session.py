"""A session with each real server, feature by feature, in both eras, as the interface uses it.

Each recording is checked too.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from inspector.client.engine.pending_requests import Call
from inspector.client.inbox import Question, StandingAnswers, root_object
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.client.state.catalog import KINDS
from inspector.config.targets import HttpTarget
from inspector.errors import InputRefused, RequestCancelled, ServerError
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.protocol.forms.form import Form
from tests.interop.peers import Peer, Tool
from tests.interop.session_checks import look_at

PATIENCE = 20
ROOT = "file:///srv/project"


async def until(condition: Callable[[], Any]) -> None:
    """Waits until something holds."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.005)


@asynccontextmanager
async def connected(peer: Peer, recording: Path) -> AsyncIterator[Session]:
    """An open session that asks its user everything; afterwards its recording is checked."""
    journal = Journal.create(recording, peer.target.as_header())
    asking = Options(
        timeout=PATIENCE, era=peer.era, standing=StandingAnswers(sampling="ask", elicitation="ask", roots="ask")
    )
    session = Session(peer.target, journal, asking)
    await session.open()
    try:
        yield session
    finally:
        await session.close()
        journal.release()
    look_at(recording)


@pytest.fixture
def recording(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The file of a session, named for the test."""
    return tmp_path / f"{request.node.name}.mcp.jsonl"


def call(session: Session, tool: Tool) -> Call:
    """Begins a call."""
    return session.call_tool(*tool)


def text_of(result: dict[str, Any]) -> str:
    """The text blocks of a tool's result."""
    return "\n".join(block["text"] for block in result["content"] if block["type"] == "text")


async def told_failure(failing: Call) -> str:
    """The server's description of a failure: the result of the tool, or a JSON-RPC error."""
    try:
        result = await failing.result()
    except ServerError as error:
        return error.rpc_message
    except InputRefused as error:
        return error.message
    return text_of(result) if result["isError"] else ""


async def question(session: Session) -> Question:
    """The question that is open, once there is one."""
    await until(session.inbox.open)
    (asked,) = session.inbox.open()
    return asked


async def test_everything_it_offers_is_listed(peer: Peer, recording: Path) -> None:
    async with connected(peer, recording) as session:
        offer = peer.offer
        assert session.server.name == offer.server
        assert session.server.instructions
        assert session.server.revision == peer.revision
        session.load_all()
        await until(lambda: all(session.catalog[name].complete for name in KINDS))
        catalog = session.catalog
        assert offer.tools <= set(catalog.tools.by_id())
        assert offer.resource in catalog.resources.by_id()
        assert offer.template in catalog.templates.by_id()
        assert offer.prompt in catalog.prompts.by_id()
        assert [catalog[name].error for name in KINDS] == [None] * 4
        assert [catalog[name].invalid_entries for name in KINDS] == [0] * 4
        if peer.era == "legacy":
            assert await session.ping() > 0


async def test_pages_follow_each_other(peer: Peer, recording: Path) -> None:
    async with connected(peer, recording) as session:
        await session.load("tools")
        tools = session.catalog.tools
        if peer.offer.server == "sdk-server":
            assert tools.pages == 4
        names = [tool["name"] for tool in tools.items]
        assert len(names) == len(set(names)) > 8


async def test_a_call_answers_with_progress(peer: Peer, recording: Path) -> None:
    async with connected(peer, recording) as session:
        assert "hello" in text_of(await call(session, peer.offer.echo).result())
        counted = call(session, peer.offer.progress)
        assert not (await counted.result()).get("isError")
        assert counted.progress is not None
        assert (counted.progress.value, counted.progress.total) == (peer.offer.steps, peer.offer.steps)
        assert counted.progress.count == peer.offer.steps
        result = await call(session, peer.offer.structured).result()
        assert isinstance(result["structuredContent"], dict)


async def test_failures_are_reported_apart(peer: Peer, recording: Path) -> None:
    async with connected(peer, recording) as session:
        assert (await call(session, peer.offer.fails).result())["isError"] is True
        with pytest.raises(ServerError) as caught:
            await session.request("no/such/method")
        assert caught.value.rpc_code == -32601
        with pytest.raises(ServerError):
            await session.get_prompt("no such prompt").result()


async def test_a_call_can_be_cancelled_and_the_session_goes_on(peer: Peer, recording: Path) -> None:
    async with connected(peer, recording) as session:
        slow = call(session, peer.offer.slow)
        await asyncio.sleep(0.1)
        assert slow.fate == "pending"
        slow.cancel("enough")
        with pytest.raises(RequestCancelled):
            await slow.result()
        assert slow.elapsed < PATIENCE
        assert "hello" in text_of(await call(session, peer.offer.echo).result())
        n = slow.n
        assert session.journal.index.state(n) is State.CANCELLED
        cancellations = [event for event in session.journal.events() if "notifications/cancelled" in event.text]
        # In the modern era a call over HTTP is cancelled by closing its stream.
        closes = peer.era == "modern" and isinstance(peer.target, HttpTarget)
        expected = [] if closes else [{"requestId": slow.id, "reason": "enough"}]
        assert [event.message["params"] for event in cancellations] == expected


@pytest.mark.parametrize("name", ["sdk-modern-http", "typescript-http"])
async def test_an_argument_is_sent_as_a_header_field_too_where_the_tool_asks_for_it(
    name: str, listeners: dict[str, Peer], recording: Path
) -> None:
    async with connected(listeners[name], recording) as session:
        await session.load("tools")
        result = await session.call_tool("region", {"region": "Südtirol"}).result()
        assert text_of(result) == "it is Südtirol"
        heads = [event.fields["headers"] for event in session.journal.events() if event.kind is Kind.HTTP]
        sent = [value for head in heads for name, value in head if name == "Mcp-Param-Region"]
        assert sent == ["=?base64?U8O8ZHRpcm9s?="]


async def test_calls_run_side_by_side(peer: Peer, recording: Path) -> None:
    async with connected(peer, recording) as session:
        calls = [call(session, peer.offer.echo) for _ in range(20)]
        answers = await asyncio.gather(*(running.result() for running in calls))
        assert all("hello" in text_of(answer) for answer in answers)
        assert len({running.answer_n for running in calls}) == 20


async def test_sampling_is_answered_inside_the_call(peer: Peer, recording: Path) -> None:
    async with connected(peer, recording) as session:
        sampling = call(session, peer.offer.sampling)
        asked = await question(session)
        assert asked.topic == "sampling"
        assert "What is it?" in str(asked.params["messages"])
        assert asked.parent == sampling.n
        asked.reply_text("It is a test.")
        assert "It is a test." in text_of(await sampling.result())
        refused = call(session, peer.offer.sampling)
        (await question(session)).decline()
        failure = await told_failure(refused)
        assert ("the sampling request was refused" if peer.era == "modern" else "User rejected") in failure


async def test_elicitation_is_answered_with_the_forms_defaults(peer: Peer, recording: Path) -> None:
    async with connected(peer, recording) as session:
        eliciting = call(session, peer.offer.elicitation)
        asked = await question(session)
        assert (asked.topic, asked.mode) == ("elicitation", "form")
        assert asked.message
        content = Form(asked.schema).defaults()
        properties = asked.schema["properties"]
        assert {
            key: value["default"] for key, value in properties.items() if "default" in value
        }.items() <= content.items()
        asked.accept(content | {"name": "Ada"})
        answer = text_of(await eliciting.result())
        assert "accept" in answer
        assert "Ada" in answer
        declined = call(session, peer.offer.elicitation)
        (await question(session)).decline()
        assert "decline" in text_of(await declined.result())
        cancelled = call(session, peer.offer.elicitation)
        (await question(session)).cancel()
        assert "cancel" in text_of(await cancelled.result())


async def test_roots_are_reported(peer: Peer, recording: Path) -> None:
    async with connected(peer, recording) as session:

        async def answer() -> None:
            while True:
                for asked in session.inbox.open():
                    assert asked.topic == "roots"
                    asked.accept([root_object(ROOT)])
                await asyncio.sleep(0.01)

        answering = asyncio.create_task(answer())
        assert ROOT in text_of(await call(session, peer.offer.roots).result())
        if peer.era == "legacy":
            session.driver.roots_changed()
            await session.transport.settled()
            await session.ping()
        answering.cancel()


async def test_resources_and_prompts_are_read(peer: Peer, recording: Path) -> None:
    async with connected(peer, recording) as session:
        offer = peer.offer
        (content,) = (await session.read_resource(offer.resource).result())["contents"]
        assert offer.resource_text in content["text"]
        (content,) = (await session.read_resource(offer.expanded).result())["contents"]
        assert "7" in content["text"]
        with pytest.raises(ServerError):
            await session.read_resource("no://such/resource").result()
        (message,) = (await session.get_prompt(offer.prompt, offer.prompt_arguments).result())["messages"]
        assert message["content"]["text"] == offer.prompt_text


async def test_arguments_are_completed(peer: Peer, recording: Path) -> None:
    async with connected(peer, recording) as session:
        ref = {"type": "ref/prompt", "name": peer.offer.prompt}
        for typed, offered in peer.offer.values.items():
            assert await session.complete(ref, peer.offer.argument, typed) == offered


async def test_log_messages_keep_to_the_level(peer: Peer, recording: Path) -> None:
    async with connected(peer, recording) as session:
        await session.set_log_level("warning")
        if peer.offer.log is not None:
            await call(session, peer.offer.log).result()
        logged = [event.message["params"]["level"] for event in received(session.journal, "notifications/message")]
        assert ("warning" in logged, "info" in logged) == (peer.offer.log is not None, False)


def received(journal: Journal, method: str) -> list[Any]:
    """The notifications with this method."""
    return [event for event in journal.events() if event.dir is Dir.RECV and journal.index.method(event.n) == method]


async def test_changes_of_a_resource_are_reported_where_that_is_offered(peer: Peer, recording: Path) -> None:
    async with connected(peer, recording) as session:
        assert session.server.can("resources", "subscribe") is bool(peer.offer.subscribable)
        if not peer.offer.subscribable or peer.offer.touch is None:
            return
        uri = peer.offer.subscribable
        await session.subscribe(uri)
        await call(session, peer.offer.touch).result()
        await until(lambda: session.subscriptions.counts.get(uri))
        assert session.journal.event(session.subscriptions.uris[uri]).message["params"]["uri"] == uri
        await session.unsubscribe(uri)
        assert uri not in session.subscriptions


async def test_a_reconnect_starts_again_on_the_same_recording(peer: Peer, recording: Path) -> None:
    async with connected(peer, recording) as session:
        await session.load("tools")
        await session.reopen()
        assert "hello" in text_of(await call(session, peer.offer.echo).result())
        assert session.surface_changes == []
        assert session.catalog.tools.complete
