"""What is shown while a connection is being made: the steps so far, what is waited for, and what the server prints."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from inspector.client.engine.negotiation import BLIND_LIMIT, UNREAD_LIMIT
from inspector.client.engine.pending_requests import Call
from inspector.client.session_state import Commands
from inspector.client.state.steps import ConnectionStep, connection_steps, last_start
from inspector.journal.format import Dir, Kind
from inspector.journal.select import Query
from inspector.text import quantity
from inspector.tui.server.steps import step_rows
from inspector.tui.widgets.fact_rows import Row, paragraph

_STDERR_LINES = 8
_STDERR = Query(kind=Kind.STDERR, dir=Dir.RECV)


def connecting_rows(session: Commands, width: int) -> list[Row]:
    """The steps of the connection as far as it is, and the last lines of the server's stderr."""
    waiting = {call.n: call for call in session.calls_in_flight()}
    steps = [_timed(step, waiting.get(step.n), session) for step in connection_steps(session.journal)]
    rows = step_rows(steps, width) if steps else paragraph("Starting …", "muted")
    shown = stderr_lines(session)
    if shown:
        rows += [Row(), Row([("stderr, last lines", "muted")])]
        for line in shown:
            rows += paragraph(line, indent=2, limit=3)
    return rows


def _timed(step: ConnectionStep, call: Call | None, session: Commands) -> ConnectionStep:
    """The step; one that waits says for how long, and how long it may."""
    if step.outcome != "waiting" or call is None:
        return step
    allowed = call.timeout
    if call.method == "server/discover":
        unread = session.transport.unread()
        allowed = min(allowed, BLIND_LIMIT if unread is None else UNREAD_LIMIT)
    paused = ", paused while you log in" if call.paused else ""
    told = f"{call.method} was sent; no answer yet: {int(call.elapsed)} s of {allowed:g} s{paused}"
    return replace(step, detail=told)


def stderr_lines(session: Commands) -> list[str]:
    """The last lines that the server wrote to stderr in the newest connection."""
    journal = session.journal
    first = last_start(journal, len(journal))
    newest = list(islice(_STDERR.backwards(journal.index, first - 1), _STDERR_LINES))
    return [journal.event(n).text for n in reversed(newest)]


def printed(session: Commands) -> str:
    """How many lines on stdout are not messages; empty for none."""
    invalid = session.journal.index.invalid
    return f"{quantity(invalid, 'line')} on stdout not JSON-RPC" if invalid else ""
