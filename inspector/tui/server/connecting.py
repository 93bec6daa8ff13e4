"""The rows shown while connecting: the steps so far, the pending one, and the server's stderr."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from inspector.client.engine.negotiation import BLIND_LIMIT
from inspector.client.engine.pending_requests import Call
from inspector.client.session_state import Commands
from inspector.client.state.steps import ConnectionStep, connection_steps, last_start
from inspector.journal.format import Dir, Kind
from inspector.journal.query import Query
from inspector.log_lines import shown
from inspector.text import quantity
from inspector.tui.server.steps import step_rows
from inspector.tui.widgets.fact_rows import Row, paragraph

_STDERR_LINES = 8
_STDERR_READ = 100
_STDERR = Query(kind=Kind.STDERR, dir=Dir.RECV)


def connecting_rows(session: Commands, width: int) -> list[Row]:
    """Return the steps of the connection so far, and the last lines of stderr."""
    waiting = {call.n: call for call in session.calls_in_flight()}
    steps = [_timed(step, waiting.get(step.n), session) for step in connection_steps(session.journal)]
    rows = step_rows(steps, width) if steps else paragraph("Starting …", "muted")
    lines = stderr_lines(session)
    if lines:
        rows += [Row(), Row([("stderr, last lines", "muted")])]
        for line in lines:
            rows += paragraph(line, indent=2, limit=3)
    return rows


def _timed(step: ConnectionStep, call: Call | None, session: Commands) -> ConnectionStep:
    """Return a step; a pending one has its waiting time and its timeout."""
    if step.outcome != "waiting" or call is None:
        return step
    unread, allowed = session.transport.unread(), float(max(round(call.allowed), 1))
    if call.method == "server/discover" and unread is None:
        allowed = min(allowed, BLIND_LIMIT)
    paused = ", paused while you log in" if call.deadline.paused else ""
    what = "the server has not read it yet" if unread else "no answer yet"
    told = f"{call.method} sent; {what}: {int(call.elapsed)} s of {allowed:g} s{paused}"
    return replace(step, detail=told)


def stderr_lines(session: Commands) -> list[str]:
    """Return the last lines that the server wrote to stderr in the newest connection, as people read them."""
    journal = session.journal
    first = last_start(journal, len(journal))
    newest = list(islice(_STDERR.backwards(journal.index, first - 1), _STDERR_READ))
    return shown(journal.event(n).text for n in reversed(newest))[-_STDERR_LINES:]


def printed(session: Commands) -> str:
    """Return the number of stdout lines that are not messages, as text; empty for none."""
    invalid = session.journal.index.invalid
    return f"{quantity(invalid, 'line')} on stdout not JSON-RPC" if invalid else ""
