"""Requests that got no answer: the connection broke, or time went by while others were answered.

A clock alone cannot tell a slow server from a silent one: a time-out is a `note`, and only where requests sent later
were answered. The check waits longer, and says so by the event `unanswered`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from inspector.check.rules import RuleVerdict, short
from inspector.journal import channels
from inspector.journal.format import Dir, Event
from inspector.journal.index import Index, State
from inspector.protocol.jsonrpc import Shape

CALL = "tools/call"
_GIVEN_UP = (State.CANCELLED, State.TIMED_OUT)
_MOST_STATUSES = 4096
_LOOKED_AT = 5_000
"""Events after a request in which answers to others are looked for."""


class Unanswered(NamedTuple):
    """A finding about a request, when its connection has ended or its time is over."""

    n: int
    verdict: RuleVerdict
    of_itself: bool
    """It holds even where the request was a probe: no call of a tool may end a server."""


class LostRequests:
    """Watches the `life` events of one connection."""

    def __init__(self) -> None:
        self._stands = False
        """The server has said something since the connection was made."""
        self._statuses: dict[str, int] = {}
        """By channel, the HTTP status by which its request was refused."""

    def head(self, event: Event) -> None:
        """The head of a response came: a status of 400 and above is an answer of HTTP, and no broken connection."""
        status = event.fields.get("status")
        if event.dir == Dir.RECV and type(status) is int:
            self._statuses.pop(event.ch, None)
            if status >= 400:
                self._statuses[event.ch] = status
                if len(self._statuses) > _MOST_STATUSES:
                    del self._statuses[next(iter(self._statuses))]

    def arrived(self) -> None:
        """Something came from the server: the connection stands."""
        self._stands = True

    def look(self, event: Event, index: Index) -> Iterator[Unanswered]:
        """What a `life` event says about a request of ours."""
        n, what = event.fields.get("for"), event.fields.get("event")
        if type(n) is not int or not 0 < n < event.n or what not in ("lost", "timeout", "unanswered"):
            return
        if index.shape(n) is not Shape.REQUEST or index.dir(n) is not Dir.SEND or index.pair(n):
            return
        method = index.method(n)
        if what == "lost":
            if not _has_answer(index, n, event.n):
                yield from self._lost(event, index)
            return
        waited = _seconds(event)
        later = _answered_later(index, n, event.n)
        served = f"{later:,} {'request' if later == 1 else 'requests'} sent later got answers"
        if what == "timeout":
            if later:
                yield Unanswered(n, ("BASE-02", "note", f"No answer to {short(method)} in {waited}; {served}."), False)
        elif later:
            yield Unanswered(n, ("BASE-02", "must", f"{short(method)} was never answered ({waited}); {served}."), False)
        elif method == CALL:
            text = f"The server answered nothing after this {CALL} ({waited})."
            yield Unanswered(n, ("TOOL-30", "must", text), True)

    def _lost(self, event: Event, index: Index) -> Iterator[Unanswered]:
        fields = event.fields
        error = fields.get("error")
        message = error.get("message") if type(error) is dict else fields.get("why")
        if message is None or not self._stands:
            return  # We closed the connection, or it was gone before.
        asked: int = event.fields["for"]
        status = self._statuses.get(index.channel(asked), 0)
        if status:
            # The server refuses with 4xx, which has checks of its own; with 5xx it failed to answer.
            if status >= 500:
                text = f"{short(index.method(asked))} was answered with status {status} and without a JSON-RPC message."
                yield Unanswered(asked, ("BASE-02", "must", text), False)
            return
        self._stands = False
        n = _newest_open(index, event)
        method = index.method(n)
        why = message[:200] if type(message) is str else short(message)
        if method == CALL:
            yield Unanswered(n, ("TOOL-30", "must", f"The connection ended during this {CALL}: {why}"), True)
        else:
            yield Unanswered(
                n, ("BASE-02", "must", f"The connection ended before the answer to {short(method)}: {why}"), False
            )


def _newest_open(index: Index, event: Event) -> int:
    """The request during which a connection ended: the newest that is open. A ping only asks what has happened."""
    conn, last = index.conn(event.n), max(0, event.n - _LOOKED_AT)
    still_open = [
        m
        for m in range(event.n - 1, last, -1)
        if index.dir(m) is Dir.SEND
        and index.shape(m) is Shape.REQUEST
        and not index.pair(m)
        and index.state(m) not in _GIVEN_UP
        and index.conn(m) == conn
    ]
    named: int = event.fields["for"]
    return next((m for m in still_open if index.method(m) != "ping"), still_open[0] if still_open else named)


def _has_answer(index: Index, n: int, until: int) -> bool:
    """Whether the HTTP response to request `n` brought an answer, if only with another id: that is found elsewhere."""
    channel, conn = index.channel(n), index.conn(n)
    return channels.is_post(channel) and any(
        index.dir(m) is Dir.RECV
        and index.shape(m) in (Shape.RESULT, Shape.ERROR)
        and index.channel(m) == channel
        and index.conn(m) == conn
        for m in range(n + 1, min(until, n + _LOOKED_AT))
    )


def _answered_later(index: Index, n: int, until: int) -> int:
    """How many requests of the same connection, sent after `n`, were answered before event `until`."""
    conn = index.conn(n)
    return sum(
        index.shape(m) is Shape.REQUEST
        and index.dir(m) is Dir.SEND
        and 0 < index.pair(m) < until
        and index.conn(m) == conn
        for m in range(n + 1, min(until, n + _LOOKED_AT))
    )


def _seconds(event: Event) -> str:
    after = event.fields.get("after_ms")
    return f"{after / 1000:.1f} s" if type(after) is int else "an unknown time"
