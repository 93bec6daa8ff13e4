"""Calls after a session was closed."""

from __future__ import annotations

import sys

import pytest

import inspector

DEMO = [sys.executable, "-m", "inspector.demo"]


@pytest.mark.slow
async def test_a_call_after_the_end_says_that_the_session_is_closed() -> None:
    async with inspector.open(DEMO) as session:
        pass
    with pytest.raises(inspector.SessionLost, match=r"^The session is closed\.$"):
        await session.call_tool("echo", {"message": "x"})
    with pytest.raises(inspector.SessionLost, match=r"^The session is closed\.$"):
        await session.request("ping")


@pytest.mark.slow
def test_a_synchronous_call_too() -> None:
    with inspector.open_sync(DEMO) as session:
        pass
    with pytest.raises(inspector.SessionLost, match=r"^The session is closed\.$"):
        session.call_tool("echo", {"message": "x"})
