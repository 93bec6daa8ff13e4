"""A session through a tap, on each pair of transports and in both eras, is the session without it."""

import asyncio
import re
import signal
from contextlib import asynccontextmanager

import pytest

from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import RequestCancelled
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from tests.processes import DEMO, INSPECTOR, environment
from tests.tap.https import until

FORM = {"name": "Eve", "email": "eve@example.org"}
CALLS = (
    ("echo", {"message": "h\u00e9llo\u2028"}),
    ("slow", {"seconds": 0, "steps": 3}),
    ("ask-model", {}),
    ("ask-user", {}),
    ("where-am-i", {}),
)


@asynccontextmanager
async def server(home, *words):
    """A program that tells its URL on stderr."""
    process = await asyncio.create_subprocess_exec(
        *words, cwd=home, env=environment(home), stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        line = (await asyncio.wait_for(process.stderr.readline(), 20)).decode()
        yield re.search(r"http://[^\s,]+", line)[0]
    finally:
        process.send_signal(signal.SIGTERM)
        await process.communicate()


async def used(target, era):
    """Return the results of a session with every kind of request, and its messages."""
    standing = StandingAnswers(sampling="It is a test.", elicitation=FORM, roots=())
    journal = Journal.unnamed({})
    session = Session(target, journal, Options(timeout=20, era=era, standing=standing))
    outcomes = []
    try:
        await session.open()
        await session.load("tools")
        outcomes.append([tool["name"] for tool in session.catalog.tools.items])
        for name, arguments in CALLS:
            outcomes.append(await session.call_tool(name, arguments).result())
        slow = session.call_tool("slow", {"seconds": 60, "steps": 600})
        await until(lambda: slow.progress)
        slow.cancel("enough")
        with pytest.raises(RequestCancelled):
            await slow.result()
        await session.subscribe("demo://readme")
        await session.call_tool("touch-resource", {"uri": "demo://readme"}).result()
        updated = "notifications/resources/updated"
        await until(lambda: Query(method=updated).first(journal.index) > 0)
        # A server on stdio obeys the cancellation, or does not get it, before it answers what comes after it.
        outcomes.append(await session.call_tool("echo", {"message": "still there"}).result())
    finally:
        await session.close()
    return outcomes, messages(journal)


def messages(journal):
    """Return methods and ids of the messages in each direction, without progress, which depends on timing."""
    passed = {Dir.SEND: [], Dir.RECV: []}
    index = journal.index
    for n in range(1, len(journal) + 1):
        if index.kind(n) == Kind.RPC and index.method(n) != "notifications/progress":
            passed[index.dir(n)].append((index.method(n), index.id(n)))
    journal.close()
    journal.release()
    return passed


def recorded(path):
    journal = Journal.open(path)
    journal.refresh()
    return messages(journal)


@pytest.mark.slow
@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("client", ["stdio", "http"])
@pytest.mark.parametrize("over", ["stdio", "http"])
async def test_a_session_through_a_tap_is_the_same_and_is_recorded(tmp_path, era, client, over):
    path = tmp_path / "tapped.mcp.jsonl"
    tap = [*INSPECTOR, "tap", "--record", str(path)]
    async with server(tmp_path, *DEMO[1:], "--http", "0") as url:
        where = list(DEMO) if over == "stdio" else [url]
        command = StdioTarget(DEMO[1:]) if over == "stdio" else HttpTarget(url)
        expected, _ = await used(command, era)
        if client == "stdio":
            target = StdioTarget((*tap, *where), env=environment(tmp_path))
            outcome, ours = await used(target, era)
        else:
            async with server(tmp_path, *tap, "--listen", "0", *where) as address:
                outcome, ours = await used(HttpTarget(address), era)
    assert outcome == expected
    theirs = recorded(path)
    assert theirs[Dir.RECV][0] == ours[Dir.RECV][0]
    if client == over:
        assert sorted(map(repr, theirs[Dir.SEND])) == sorted(map(repr, ours[Dir.SEND]))
        assert sorted(map(repr, theirs[Dir.RECV])) == sorted(map(repr, ours[Dir.RECV]))


@pytest.mark.slow
async def test_two_clients_at_once_have_a_server_each(tmp_path):
    tap = [*INSPECTOR, "tap", "--record", str(tmp_path / "tapped.mcp.jsonl"), "--listen", "0", *DEMO]
    async with server(tmp_path, *tap) as address:
        outcomes = await asyncio.gather(*(used(HttpTarget(address), "legacy") for _ in range(2)))
    assert outcomes[0][0] == outcomes[1][0]
    taped = [recorded(tmp_path / name) for name in ("tapped.mcp.jsonl", "tapped.2.mcp.jsonl")]
    assert [sorted(map(repr, passed[Dir.SEND])) for passed in taped] == [
        sorted(map(repr, ours[Dir.SEND])) for _, ours in outcomes
    ]


def test_an_entry_with_a_tap_in_it_starts_the_same_server(tmp_path):
    from inspector.cli.verbs.tap import tapped

    entry = tapped({"command": "python", "args": ["-m", "x"], "env": {"A": "b"}}, "@x")
    assert entry["args"][-5:] == ["tap", "--", "python", "-m", "x"]
    assert entry["env"] == {"A": "b"}
    there = tapped({"type": "http", "url": "https://host.example/mcp", "note": 1}, "@x")
    assert (there["args"][-2:], there["note"], "url" in there) == (["tap", "@x"], 1, False)
    assert tapped({"command": ["npx", "y"]}, "@x")["command"][-4:] == ["tap", "--", "npx", "y"]
