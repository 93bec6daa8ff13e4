"""Recordings of real servers, served to real clients: they finish the same calls, over either transport."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.errors import InspectorError, RequestCancelled
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from tests.interop.peers import CACHE, NODE, STDIO, Peer
from tests.interop.test_session import PATIENCE, ROOT, text_of, until
from tests.processes import INSPECTOR, environment

CLIENTS = Path(__file__).parent / "clients"
WORDS = {
    "sdk": (str(CACHE / "python/mcp-2.3/bin/python"), str(CLIENTS / "sdk_client.py")),
    "fastmcp": (str(CACHE / "python/fastmcp-4/bin/python"), str(CLIENTS / "fastmcp_client.py")),
    "typescript": (NODE, str(CLIENTS / "typescript_client.mjs"), str(CACHE / "npm")),
}
SERVERS = ("everything", "sdk-modern", "everything-http", "fastmcp-http", "typescript-http")

Task = tuple[list[Any], Any]
"""What a client is told to do, and what must come of it."""


async def recorded(peer: Peer, path: Path) -> list[Task]:
    """Record a session with every kind of request. Returns them as tasks for other clients."""
    offer = peer.offer
    standing = StandingAnswers(sampling="It is a test.", elicitation={"name": "Eve"}, roots=(ROOT,))
    journal = Journal.create(path, peer.target.as_header())
    session = Session(peer.target, journal, Options(timeout=PATIENCE, era=peer.era, standing=standing))
    await session.open()
    done: list[Task] = []
    try:
        if offer.asks_first and peer.era == "legacy":
            # Later it would be chance whether the server asks by itself, in the tool, or both.
            await until(lambda: Query(method="roots/list", state=State.DONE).first(journal.index) > 0)
        await session.load("tools")
        done.append((["tools"], [tool["name"] for tool in session.catalog.tools.items]))
        await session.load("resources")
        done.append((["resources"], [resource["uri"] for resource in session.catalog.resources.items]))
        read = await session.read_resource(offer.resource).result()
        done.append((["read", offer.resource], read["contents"][0]["text"]))
        prompt = await session.get_prompt(offer.prompt, offer.prompt_arguments).result()
        done.append((["prompt", offer.prompt, offer.prompt_arguments], prompt["messages"][0]["content"]["text"]))
        tools = (offer.echo, offer.progress, offer.structured, offer.sampling, offer.elicitation, offer.roots)
        done += [(["call", *tool], await _called(session, tool)) for tool in tools]
        slow = session.call_tool(*offer.slow)
        await until(lambda: slow.n)
        slow.cancel("enough")
        with pytest.raises(RequestCancelled):
            await slow.result()
        done.append((["cancel", *offer.slow], "cancelled"))
        if offer.subscribable and offer.touch is not None:
            await session.subscribe(offer.subscribable)
            await session.call_tool(*offer.touch).result()
            await until(lambda: Query(method="notifications/resources/updated").first(journal.index) > 0)
            done.append((["subscribe", offer.subscribable, offer.touch], "told"))
    finally:
        await session.close()
        journal.close()
        journal.release()
    return done


async def _called(session: Session, tool: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    asked = len(session.inbox.questions)
    call = session.call_tool(*tool)
    try:
        result = await call.result()
    except InspectorError as error:
        return {"error": error.message}
    topics = [question.topic for question in list(session.inbox.questions)[asked:]]
    return {"text": text_of(result), "error": bool(result.get("isError")), "asked": topics}


async def did(client: str, era: str, tasks: list[Task], where: list[str], home: Path) -> list[Any]:
    """The results of its tasks that a client prints."""
    words = [*WORDS[client], "legacy" if era == "legacy" else "auto", json.dumps([task for task, _ in tasks]), *where]
    process = await asyncio.create_subprocess_exec(
        *words, env=environment(home), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(), 3 * PATIENCE)
    except TimeoutError:
        process.kill()
        out, err = await process.communicate()
        raise AssertionError(f"{client} hangs after {out.decode()}\n{err.decode()}") from None
    assert process.returncode == 0, err.decode()
    return [json.loads(line) for line in out.splitlines()][1:]


@asynccontextmanager
async def served(path: Path, home: Path) -> AsyncIterator[str]:
    """The recording over HTTP; no client may send a request that is not in it."""
    process = await asyncio.create_subprocess_exec(
        *INSPECTOR, "serve", str(path), "--http", "--strict", "--no-record", "--json",
        env=environment(home), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        while "http://" not in (line := (await process.stderr.readline()).decode()):
            assert line
        yield line.split()[-1]
    finally:
        process.send_signal(signal.SIGINT)
        out, _ = await process.communicate()
    assert json.loads(out)["misses"] == []
    assert process.returncode == 0


def alike(outcome: Any) -> Any:
    """Clients print progress differently: some count notifications that others omit."""
    return {key: value for key, value in outcome.items() if key != "steps"} if isinstance(outcome, dict) else outcome


@pytest.mark.parametrize("name", SERVERS)
async def test_real_clients_finish_the_recorded_calls(
    name: str, tmp_path: Path, home: Path, request: pytest.FixtureRequest
) -> None:
    peer: Peer = STDIO.get(name) or request.getfixturevalue("listeners")[name]
    path = tmp_path / "recorded.mcp.jsonl"
    tasks = await recorded(peer, path)
    expected = [outcome for _, outcome in tasks]
    stdio = [sys.executable, "-m", "inspector", "serve", str(path), "--no-record", "--quiet"]
    async with served(path, home) as url:
        for where in ([url], stdio):
            outcomes = await asyncio.gather(*(did(client, peer.era, tasks, where, home) for client in WORDS))
            for client, outcome in zip(WORDS, outcomes, strict=True):
                assert [alike(result) for result in outcome] == expected, client
                steps = [result["steps"] for result in outcome if isinstance(result, dict)]
                assert steps[1] == peer.offer.steps, client


async def test_a_real_client_follows_a_recorded_task_to_its_end(tmp_path: Path, home: Path) -> None:
    path = tmp_path / "recorded.mcp.jsonl"
    tool = ("simulate-research-query", {"topic": "tea"})
    journal = Journal.create(path, STDIO["everything"].target.as_header())
    session = Session(STDIO["everything"].target, journal, Options(timeout=PATIENCE, era="legacy"))
    await session.open()
    await session.load("tools")
    result = await session.call_tool(*tool).result()
    await session.close()
    journal.close()
    journal.release()
    tasks: list[Task] = [(["tools"], None), (["task", *tool], result["content"][0]["text"])]
    stdio = [sys.executable, "-m", "inspector", "serve", str(path), "--no-record", "--quiet"]
    async with served(path, home) as url:
        outcomes = await asyncio.gather(*(did("typescript", "legacy", tasks, where, home) for where in ([url], stdio)))
    assert [outcome[1] for outcome in outcomes] == [tasks[1][1]] * 2
