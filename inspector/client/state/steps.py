"""The steps of connecting: a reduction of the journal's events, live and recorded alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

from inspector.client.state.model import Phase
from inspector.errors import InspectorError, recorded_error
from inspector.journal import channels
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.members import object_at, value_at
from inspector.protocol.names import SERVER_KEY

ConnectionStepState = Literal["ok", "note", "failed", "waiting", "open"]


@dataclass(frozen=True, slots=True)
class ConnectionStep:
    """One step of a connection. `detail` may contain server text: show it only through `inspector.text.safe`."""

    title: str
    outcome: ConnectionStepState
    detail: str
    t: int
    """In microseconds since this connection started."""
    n: int
    """The step's event."""
    code: str = ""
    """The code of the error in `detail` (`inspector.errors`), if any."""


_LIFE = Query(kind=Kind.LIFE, dir=Dir.LOCAL)
MAX_LIFE = 2000
"""Maximum life events that are searched for the latest connection."""
LOOKED_AT = 400
"""Maximum events after the latest (re)start that are read; a handshake takes fewer."""


def connection_steps(journal: Journal, upto: int | None = None) -> list[ConnectionStep]:
    """Return the steps of the latest connection: command or address, start, noise, negotiation, ready or end.

    `upto` is the last event to read, for a recording at some moment.
    """
    count = len(journal) if upto is None else min(upto, len(journal))
    first = last_start(journal, count)
    steps: list[ConnectionStep] = []
    noise = 0
    url = ""
    for n in range(first, min(count, first + LOOKED_AT) + 1):
        kind = journal.index.kind(n)
        if kind in (Kind.LIFE, Kind.HTTP):
            event = journal.event(n)
            url = str(event.fields.get("url") or url)
            steps = _unanswered(steps, event)
            step = _life_step(event) if kind == Kind.LIFE else _http_step(event, url)
            if step is not None:
                steps.append(step)
                if step.title in ("ready", "failed"):
                    break
        elif kind == Kind.INVALID and noise < 3 and journal.index.dir(n) == Dir.RECV:
            noise += 1
            event = journal.event(n)
            if event.text.strip():
                detail = f"“{event.text.strip()[:200]}” is not JSON-RPC; recorded and skipped"
                title = "stdout" if channels.is_stdio(event.ch) else "body"
                steps.append(ConnectionStep(title, "note", detail, event.t, n))
        elif journal.index.method(n) in _ASKED:
            step = _asked_step(journal, n)
            if step is not None:
                steps = [old for old in steps if (old.title, old.outcome) != (step.title, "waiting")] + [step]
    if steps and steps[-1].outcome == "failed":
        steps = [
            replace(step, outcome="failed", detail=f"no response to {_method_of(step.title)}")
            if step.outcome == "waiting"
            else step
            for step in steps
        ]
    begun = _begun(journal, first, count)
    return [replace(step, t=max(step.t - begun, 0)) for step in steps]


def _begun(journal: Journal, first: int, count: int) -> int:
    """Return the start time of the connection whose events start with `first`: 0 at the start of a recording."""
    if not 0 < first <= count or journal.index.kind(first) != Kind.LIFE:
        return 0
    return journal.index.time(first) if journal.event(first).fields.get("event") == "reopen" else 0


def _unanswered(steps: list[ConnectionStep], event: Event) -> list[ConnectionStep]:
    """Return the steps, with the reason from `event` why a request has no response, as HTTP has it."""
    if event.fields.get("event") == "timeout":
        waited = event.fields.get("after_ms")
        within = f" within {waited / 1000:.1f} s" if type(waited) is int else ""
        return _noted(steps, event, within, before="no response to ")
    error = object_at(event.fields, "error")
    reason, code = error.get("message"), str(error.get("code", ""))
    if reason is None or event.fields.get("event") not in ("error", "lost"):
        return steps
    return _noted(steps, event, f": {reason}", code)


def _noted(
    steps: list[ConnectionStep], event: Event, after: str, code: str = "", before: str = ""
) -> list[ConnectionStep]:
    """Return the steps; the waiting one that an event is about is a note: its method between two texts."""
    return [
        replace(step, outcome="note", detail=f"{before}{_method_of(step.title)}{after}", code=code)
        if step.outcome == "waiting" and step.n == event.fields.get("for")
        else step
        for step in steps
    ]


def beside_error(steps: list[ConnectionStep], code: str, instead: str) -> list[ConnectionStep]:
    """Return the steps for a place that shows the error of this code itself, without repeating it.

    The step that ends with it is omitted. A request that failed because of it has `instead` as its reason.
    """
    return [
        replace(step, detail=f"{_method_of(step.title)}: {instead}") if step.code == code else step
        for step in steps
        if not (step.title == "failed" and step.code == code)
    ]


_ASKED = {"initialize": "handshake", "server/discover": "discover"}
"""Requests of the negotiation, and the names of their steps."""


def _method_of(title: str) -> str:
    return next(method for method, name in _ASKED.items() if name == title)


def connection_at(journal: Journal, upto: int) -> tuple[Phase, InspectorError | None]:
    """Return the phase of the session's own connection after event `upto`, and why it failed or was lost."""
    for n in islice(_LIFE.backwards(journal.index, upto=upto), MAX_LIFE):
        if journal.index.pair(n) or journal.index.conn(n):
            continue
        fields = journal.event(n).fields
        event = fields.get("event")
        if event == "failed" or event == "lost":
            return event, recorded_error(fields.get("error"))
        if event in _BEGINS:
            break
    return "ready", None


_LOST = Query(
    dir=Dir.SEND, shape=Shape.REQUEST, state=State.LOST, method=("tools/call", "resources/read", "prompts/get")
)


def lost_call(journal: Journal, upto: int) -> int:
    """Return the newest call of the user that was lost with the connection of event `upto`; 0 without one."""
    return _LOST.last(journal.index, last_start(journal, upto), upto)


_BEGINS = ("reopen", "spawn", "connect", "ready", "session-lost")
"""Events with which a connection is made, or is there."""


def last_start(journal: Journal, count: int) -> int:
    """Return the first event of the latest connection among the first `count` events."""
    for n in islice(_LIFE.backwards(journal.index, upto=count), MAX_LIFE):
        if journal.event(n).fields.get("event") == "reopen":
            return n
    return 1


def _life_step(event: Event) -> ConnectionStep | None:
    fields = event.fields
    name = fields.get("event")
    if name == "spawn":
        process = f"process {fields.get('pid')} in {fields.get('cwd')}: {fields.get('program')}"
        return ConnectionStep("start", "ok", process, event.t, event.n)
    if name == "connect":
        return _connect_step(fields, event)
    if name == "exit":
        ended: ConnectionStepState = "failed" if fields.get("by") != "us" else "note"
        return ConnectionStep("exit", ended, f"exit status {fields.get('status')}", event.t, event.n)
    if name == "session":
        return ConnectionStep("session", "ok", "the server assigned a session id", event.t, event.n)
    if name == "ready":
        return ConnectionStep("ready", "ok", f"{fields.get('revision')} ({fields.get('era')})", event.t, event.n)
    if name == "failed":
        error = object_at(fields, "error") or {"message": ""}
        code = str(error.get("code", ""))
        return ConnectionStep("failed", "failed", str(error.get("message")), event.t, event.n, code)
    if name == "negotiation":
        outcome: ConnectionStepState = "ok" if fields.get("step") == "remembered" else "note"
        return ConnectionStep("negotiation", outcome, str(fields.get("text")), event.t, event.n)
    if name in ("retry", "reconnect", "redirect"):
        return ConnectionStep(str(name), "note", _joined(fields, "to", "why", "reason", "url"), event.t, event.n)
    return None


def _connect_step(fields: dict[str, Any], event: Event) -> ConnectionStep:
    detail, unverified = _joined(fields, "to", "address", "http"), fields.get("verified") is False
    if fields.get("proxy"):
        detail += f"  through the proxy {fields['proxy']}"
    if unverified:
        detail += "  certificate not checked"
    return ConnectionStep("connect", "note" if unverified else "ok", detail, event.t, event.n)


def _joined(fields: dict[str, Any], *names: str) -> str:
    return "  ".join(str(fields[name]) for name in names if fields.get(name))


def _http_step(event: Event, url: str) -> ConnectionStep | None:
    """Return the step of an unsuccessful HTTP response to the request to `url`."""
    status = event.fields.get("status")
    if type(status) is not int or status < 300:
        return None
    return ConnectionStep("http", "note", f"{status} {event.fields.get('reason', '')} from {url}", event.t, event.n)


def _asked_step(journal: Journal, n: int) -> ConnectionStep | None:
    shape, method = journal.index.shape(n), journal.index.method(n)
    title = _ASKED[method]
    event = journal.event(n)
    if shape == Shape.REQUEST:
        return ConnectionStep(title, "waiting", f"{method} was sent; no response yet", event.t, n)
    message = event.message
    if shape == Shape.RESULT and type(message) is dict:
        introduced = _introduced(object_at(message, "result"))
        return ConnectionStep(title, "ok", f"{method}: {introduced}", event.t, n)
    if shape == Shape.ERROR:
        outcome: ConnectionStepState = "failed" if method == "initialize" else "note"
        return ConnectionStep(title, outcome, f"{method} was refused: {event.text[:300]}", event.t, n)
    return None


def _introduced(result: dict[str, Any]) -> str:
    """Return name, version and revisions, from a response of either era."""
    info = result.get("serverInfo") or value_at(result, "_meta", SERVER_KEY)
    named = "no serverInfo"
    if type(info) is dict:
        named = " ".join(str(info[name]) for name in ("name", "version") if info.get(name))
    revisions = result.get("protocolVersion", result.get("supportedVersions"))
    return f"{named}, {', '.join(map(str, revisions[:10])) if type(revisions) is list else revisions}"
