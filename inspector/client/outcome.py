"""Remembers how opening a server went, for the start screen and `inspector servers`."""

from __future__ import annotations

from inspector.client.session_state import SessionState
from inspector.config.remember import ServerMemory
from inspector.errors import ConnectingStopped


def remember_outcome(session: SessionState) -> None:
    """Keep whether the server of `session` was opened, or the error it failed with. Nothing while it is not known."""
    if session.phase == "ready" or (session.phase != "failed" and session.server.known):
        ServerMemory(session.target).remember_outcome(None)
    elif session.error is not None and not isinstance(session.error, ConnectingStopped):
        ServerMemory(session.target).remember_outcome(session.error)
