"""Requests without a response: the connection broke, or they timed out while others got responses.

A clock alone cannot tell a slow server from a silent one: a timeout is reported only if requests that were sent later
got responses, and a call only if later calls did, because a tool may work for long while lists are answered. The check
waits longer, and records that as the event `unanswered`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from inspector.check.judge.rules import RuleVerdict, short
from inspector.journal import channels
from inspector.journal.format import Dir, Event
from inspector.journal.index import Index, State
from inspector.protocol.jsonrpc import Shape
from inspector.text import quantity

CALL = "tools/call"
_GIVEN_UP = (State.CANCELLED, State.TIMED_OUT)
_MAX_STATUSES = 4096
_LOOKED_AT = 5_000
"""Events after a request in which responses to other requests are counted."""


class Unanswered(NamedTuple):
    """A finding about a request whose connection ended or that timed out."""

    n: int
    verdict: RuleVerdict
    of_itself: bool
    """It also counts if the request was a probe: no tool call may end a server."""


class LostRequests:
    """Reads the `life` events of one connection."""

    def __init__(self) -> None:
        self._stands = False
        """Whether the server has sent anything since the connection was made."""
        self._statuses: dict[str, int] = {}
        """By channel, the HTTP status that rejected its request."""
        self.unread = 0
        """The newest message that is too big to be read, which may be the response to any request before it."""

    def head(self, event: Event) -> None:
        """A response head. A status of 400 and above is an HTTP response, not a broken connection."""
        status = event.fields.get("status")
        if event.dir == Dir.RECV and type(status) is int:
            self._statuses.pop(event.ch, None)
            if status >= 400:
                self._statuses[event.ch] = status
                if len(self._statuses) > _MAX_STATUSES:
                    del self._statuses[next(iter(self._statuses))]

    def arrived(self) -> None:
        """The server sent something: the connection is up."""
        self._stands = True

    def findings(self, event: Event, index: Index, name: Callable[[int], str]) -> Iterator[Unanswered]:
        """Findings about requests from a `life` event. `name` names a request: `tools/call of "add"`."""
        n, what = event.fields.get("for"), event.fields.get("event")
        if type(n) is not int or not 0 < n < event.n or what not in ("lost", "timeout", "unanswered"):
            return
        if index.shape(n) is not Shape.REQUEST or index.dir(n) is not Dir.SEND or index.pair(n) or n < self.unread:
            return
        method = index.method(n)
        if what == "lost":
            if not _has_answer(index, n, event.n):
                yield from self._lost(event, index)
            return
        waited = _seconds(event)
        calls_only = method == CALL and what == "timeout"
        later = _answered_later(index, n, event.n, CALL if calls_only else "")
        silent = f"{name(n)} got no response within {waited}, but {quantity(later, 'later request')} did."
        if what == "timeout":
            if later:
                # The recorded client decided how long to wait, so this may be a slow server.
                yield Unanswered(n, ("BASE-02", "should", silent), False)
        elif later:
            yield Unanswered(n, ("BASE-02", "must", f"{silent} To wait longer, use --timeout."), False)
        elif method == CALL:
            text = f"{name(n)} got no response within {waited}, and no later request did."
            yield Unanswered(n, ("TOOL-30", "must", text), True)

    def _lost(self, event: Event, index: Index) -> Iterator[Unanswered]:
        fields = event.fields
        error = fields.get("error")
        message = error.get("message") if type(error) is dict else fields.get("why")
        if message is None or not self._stands:
            return  # We closed the connection, or it ended before.
        if type(error) is dict and error.get("arrived") is False:
            return  # The server was not there any more.
        request: int = event.fields["for"]
        status = self._statuses.get(index.channel(request), 0)
        if status:
            # The server rejects with 4xx, which has its own checks; with 5xx it failed to respond.
            if status >= 500:
                text = f"{short(index.method(request))} got status {status} without a JSON-RPC message."
                yield Unanswered(request, ("BASE-02", "must", text), False)
            return
        self._stands = False
        n = _newest_open(index, event)
        method = index.method(n)
        reason = message[:200] if type(message) is str else short(message)
        if method == CALL:
            yield Unanswered(n, ("TOOL-30", "must", f"The connection ended during this {CALL}: {reason}"), True)
        else:
            yield Unanswered(
                n, ("BASE-02", "must", f"The connection ended before the response to {short(method)}: {reason}"), False
            )


def _newest_open(index: Index, event: Event) -> int:
    """The request during which a connection ended: the newest open one. A ping only tests the connection."""
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
    """Whether the HTTP response to request `n` contains a response, even with another id, which has its own rule."""
    channel, conn = index.channel(n), index.conn(n)
    return channels.is_post(channel) and any(
        index.dir(m) is Dir.RECV
        and index.shape(m) in (Shape.RESULT, Shape.ERROR)
        and index.channel(m) == channel
        and index.conn(m) == conn
        for m in range(n + 1, min(until, n + _LOOKED_AT))
    )


def _answered_later(index: Index, n: int, until: int, method: str) -> int:
    """The number of requests of the same connection, sent after `n`, with a response before event `until`.

    With a `method`, only those of this method.
    """
    conn = index.conn(n)
    return sum(
        index.shape(m) is Shape.REQUEST
        and index.dir(m) is Dir.SEND
        and 0 < index.pair(m) < until
        and index.conn(m) == conn
        and (not method or index.method(m) == method)
        for m in range(n + 1, min(until, n + _LOOKED_AT))
    )


def _seconds(event: Event) -> str:
    after = event.fields.get("after_ms")
    return f"{after / 1000:.1f} s" if type(after) is int else "an unknown time"
