"""Sessions of the library on the in-memory server of the engine's tests."""

from __future__ import annotations

from typing import Any

from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.config.targets import StdioTarget
from inspector.library.session import Session
from inspector.transports.memory import MemoryTransport


def session_on(server: Any, *, sampling: Any = None, elicitation: Any = None, **more: Any) -> Session:
    """A session that is not connected yet, with a server such as `tests.client.conftest.Server`."""
    standing = StandingAnswers("ask" if sampling else None, "ask" if elicitation else None)
    return Session(
        StdioTarget(("test",)),
        Options(era="legacy", standing=standing, **more),
        sampling=sampling,
        elicitation=elicitation,
        connect=lambda _target, sink, _options: MemoryTransport(sink, server),
    )
