"""A server that is starting is waited for: its process uses the processor and has written nothing yet."""

import sys

import pytest

from inspector.client.engine import negotiation
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.client.state.steps import connection_steps
from inspector.config.targets import StdioTarget
from inspector.errors import RequestTimeout
from inspector.journal.journal import Journal

WORKS = """
import runpy, sys, time
sys.stderr.write(sys.argv.pop())
sys.stderr.flush()
until = time.process_time() + 2.5
while time.process_time() < until:
    pass
runpy.run_module("inspector.demo", run_name="__main__")
"""
SLEEPS = "import time; time.sleep(60)"

pytestmark = pytest.mark.slow


def session_of(source, *words, timeout=0.7, **options):
    target = StdioTarget((sys.executable, "-c", source, *words))
    return Session(target, Journal.unnamed({}), Options(timeout=timeout, **options))


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_server_at_work_is_waited_for_longer_than_for_a_response(era, monkeypatch):
    monkeypatch.setattr(negotiation, "SLOW_START", 0.3)
    notes = []
    # Shorter than the work; so long that a busy machine gives the process some of the processor within it.
    session = session_of(WORKS, "", timeout=1.7, era=era, noted=notes.append)
    try:
        await session.open()
        steps = [step.detail for step in connection_steps(session.journal)]
    finally:
        await session.close()
    assert notes == [f"{negotiation.STARTING}."]
    assert negotiation.STARTING in steps


@pytest.mark.parametrize(
    ("source", "words", "longest"), [(SLEEPS, (), 600.0), (WORKS, ("loading\n",), 600.0), (WORKS, ("",), 0.8)]
)
async def test_one_that_sleeps_or_has_written_or_takes_too_long_is_not(source, words, longest):
    session = session_of(source, *words, era="legacy", max_timeout=longest)
    with pytest.raises(RequestTimeout):
        await session.open()
    await session.close()
