"""The demo server breaks a rule only on purpose: otherwise the judge finds nothing in either era."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Literal

import pytest

from inspector.check.judge.judge import Judge
from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.targets import HttpTarget, StdioTarget, Target
from inspector.errors import ServerError
from inspector.journal.journal import Journal

pytestmark = pytest.mark.slow

DEMO = (sys.executable, "-m", "inspector.demo")
CALLS = {
    "echo": {"message": "hello"},
    "count": {"to": 3},
    "noisy": {},
    "ask-user": {},
    "ask-several": {},
    "come-back": {},
    "change-list": {},
    "touch-resource": {},
    "protocol-error": {},
}
FAIL = 3
"""The calls that fail as they should: one tool's, and those of what does not exist."""
MEANT = {"TOOL-19", "BASE-17"}
"""A tool of the demo's has annotations that break the rules over HTTP, to show what becomes of it; and the result that
ends a subscription names the subscription, not the server."""


@pytest.fixture
def url() -> Iterator[str]:
    with subprocess.Popen((*DEMO, "--http", "127.0.0.1:0"), stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        line = next(line for line in child.stderr if "http://" in line)
        yield "http://" + line.partition("http://")[2].split()[0]
        child.terminate()


async def said_of(target: Target, era: Literal["modern", "legacy"]) -> list[str]:
    """The findings of a session that uses everything."""
    journal = Journal.unnamed({})
    standing = StandingAnswers(sampling="hello", elicitation="defaults", roots=("file:///r",))
    session = Session(target, journal, Options(era=era, standing=standing, log_level="debug"))
    await session.open()
    await session.listen()
    for name in ("tools", "prompts", "resources", "templates"):
        await session.load(name)
    uri = session.catalog["resources"].items[0]["uri"]
    await session.subscribe(uri)
    offered = {tool["name"] for tool in session.catalog["tools"].items}
    requests = [("tools/call", {"name": name, "arguments": given}) for name, given in CALLS.items() if name in offered]
    requests += [
        ("resources/read", {"uri": uri}),
        ("no/such", {}),
        ("tools/call", {"name": "missing", "arguments": {}}),
    ]
    answered = 0
    for call in [session.start(method, params) for method, params in requests]:
        with suppress(ServerError):
            await call.result()
            answered += 1
    assert answered == len(requests) - FAIL
    await session.close()
    Judge(journal).run_all()
    findings = [f"{one.n} {one.rule} {one.message}" for one in journal.findings.all() if one.rule not in MEANT]
    journal.release()
    return findings


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_over_stdio(era: Literal["modern", "legacy"]) -> None:
    assert await said_of(StdioTarget(DEMO), era) == []


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_over_http(url: str, era: Literal["modern", "legacy"]) -> None:
    assert await said_of(HttpTarget(url), era) == []
