"""A recording shown as a session: the same attributes, reduced from the journal's frames instead of a live wire.

It shows the recording's end, or any earlier moment (`at`): the attributes are those of the session at that moment.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector import command_words
from inspector.client.inbox import TOPICS, Inbox, Question, StandingAnswers
from inspector.client.inbox import QuestionStatus as QuestionState
from inspector.client.state.catalog import KINDS
from inspector.client.state.model import SessionModel
from inspector.client.state.recorded_tracks import (
    MAY_ASK,
    Budget,
    ListTrack,
    Questions,
    RecordedCall,
    RequestsInFlight,
    ServerTrack,
    SubscriptionTrack,
    TaskTrack,
    Track,
    routes,
    wants_input,
)
from inspector.client.state.steps import connection_at
from inspector.config.targets import RecordingTarget
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape

_LIFE = Query(kind=Kind.LIFE)
_NO_SESSION = ("check", "doctor", "load")
"""The purposes of recordings with connections of their own, which end as they should."""
_SLICE = 8192
"""Events that are sorted by topic between two checks of the time budget."""


def recorded_target(journal: Journal) -> str:
    """Return the target as it would be typed; empty if the recording does not have it."""
    target = journal.header.get("target")
    if not isinstance(target, dict):
        return ""
    url, argv = target.get("url"), target.get("argv")
    if isinstance(url, str):
        return url
    return command_words.join(map(str, argv)) if isinstance(argv, list) else ""


class RecordedSession(SessionModel):
    """The attributes of `Session` for a finished or growing recording. Nothing can be sent.

    Call `advance()` whenever the journal may have grown, and after `at`: it reads only the few frames that change what
    is shown, within a few milliseconds.
    """

    def __init__(self, journal: Journal, path: Path) -> None:
        inbox = Inbox(StandingAnswers(), lambda _q, _r, _e: None, lambda: self.changes.bump("inbox"), lambda _s: None)
        super().__init__(journal, inbox, "ready")
        self.target = RecordingTarget(path)
        self.commands = None
        self.latency = 0.0
        self._tracks: dict[str, Track] = {
            "server": ServerTrack(self),
            "subscriptions": SubscriptionTrack(self),
            "tasks": TaskTrack(self),
            **{name: ListTrack(self, name) for name in KINDS},
        }
        self._routes = routes(self._tracks)
        self._telling = Query(kind=Kind.RPC, method=frozenset((*self._routes, *TOPICS, *MAY_ASK)))
        """Messages that may change what is shown."""
        self._flight = RequestsInFlight(journal)
        self._questions = Questions(self, self._flight)
        self._modern = False
        self._seen = 0
        self._at: int | None = None
        self._now = 0
        self._settled = (-1, False)
        self._connected = -1
        """The event up to which `phase` and `error` are known."""

    @property
    def transport_name(self) -> str:
        """The kind of the target: no transport is connected."""
        return self.target.kind

    # The moment

    @property
    def at_end(self) -> bool:
        """Whether it shows the end of the recording, and follows it."""
        return self._at is None

    @property
    def upto(self) -> int:
        """The last event shown; 0 before the first."""
        count = self.journal.index.count
        return count if self._at is None else min(self._at, count)

    @property
    def now(self) -> int:
        """The shown moment in microseconds of the recording: that of the last event, or later."""
        return self._time() if self._at is None else self._now

    def _time(self) -> int:
        return self.journal.index.time(self.upto) if self.upto else 0

    def at(self, n: int | None, now: int | None = None) -> None:
        """Show the moment after event `n` (0: before the first), or with None the end, following it.

        `now` is the time in microseconds of the recording, if it differs from the event's. Call `advance` afterwards.
        """
        before = (self._at, self._now)
        self._at = None if n is None else max(n, 0)
        self._now = self._time() if now is None or n is None else now
        if before != (self._at, self._now):
            self.changes.bump("calls")
        if before[0] != self._at:
            self.changes.bump("log")

    def advance(self, limit: int = 50_000) -> bool:
        """Process up to `limit` more frames towards the moment to show. True: more are left."""
        self._follow_connection()
        budget = Budget()
        before, self._seen = self._seen, self._sort(min(self.journal.index.count, self._seen + limit), budget)
        upto = min(self.upto, self._seen)
        done = self._at is None or self._flight.advance(upto, limit)
        if not done or self._settled != (upto, self.at_end) or self._seen != before:
            for track in self._tracks.values():
                done = track.go_to(upto, budget) and done
            done = self._questions.go_to(upto, budget, at_end=self.at_end) and done
            self._settled = (upto, self.at_end) if done else (-1, False)
        if self._seen != before or not done:
            self.changes.bump("log")
        return not done or self._seen < self.journal.index.count

    def _follow_connection(self) -> None:
        """Set the phase of the moment, and why the connection had failed or was lost."""
        known, self._connected = self._connected, self.upto
        if self.journal.header.get("purpose") in _NO_SESSION or known == self.upto:
            return
        if not 0 <= known < self.upto or _LIFE.first(self.journal.index, known, self.upto):
            before = self.phase
            phase, self.error = connection_at(self.journal, self.upto)
            if phase != before:
                self.enter(phase)

    @property
    def catching_up(self) -> bool:
        """Whether the shown state is not yet that of the moment."""
        return self._settled != (self.upto, self.at_end)

    def _sort(self, last: int, budget: Budget) -> int:
        """Sort the events up to `last` by topic, within the budget. Return the last one sorted."""
        index, seen = self.journal.index, self._seen
        while seen < last and budget.left:
            high = min(last, seen + _SLICE)
            for n in self._telling.numbers(index, seen, high):
                self._note(n, index.method(n))
            seen = high
        return seen

    def _note(self, n: int, method: str) -> None:
        """Record that message `n` may change what is shown."""
        dir, shape = self.journal.index.dir(n), self.journal.index.shape(n)
        if method in TOPICS:
            if dir == Dir.RECV and shape == Shape.REQUEST:
                self._questions.events.append(n)
        elif method in MAY_ASK:
            if self._modern and dir == Dir.RECV and shape == Shape.RESULT and wants_input(self.journal, n):
                self._questions.events.append(n)
        else:
            track, forms = self._routes[method]
            if (dir, shape) in forms:
                track.events.append(n)
                if method in _ERAS:
                    self._modern = method == "server/discover"

    # State of the moment, and of the time after it

    def in_flight(self) -> list[int]:
        """Return our requests in flight at the moment, oldest first; none at the end of a recording."""
        return [] if self.at_end else self._flight.at(self.upto)

    def calls_in_flight(self) -> list[RecordedCall]:
        """Return these requests as calls."""
        return [self._call(request) for request in self.in_flight()]

    def call_in_flight(self, n: int) -> RecordedCall | None:
        """Return our request `n` if it had no response at the moment. It keeps that moment when this one moves."""
        return None if self.at_end or not self._flight.is_open(n, self.upto) else self._call(n)

    def _call(self, request: int) -> RecordedCall:
        return RecordedCall(self._flight, request, lambda: (self.upto, self.now))

    def answer_to(self, question: Question) -> tuple[QuestionState, Any]:
        """Return how a question ends and its answer, even after the moment."""
        return self._questions.answer(question)

    def reply_to(self, question: Question) -> tuple[int, QuestionState]:
        """Return the message that answers a question, even after the moment, and how it ends; 0 without one."""
        return self._questions.reply(question), self._questions.answer(question)[0]


_ERAS = frozenset(("initialize", "server/discover"))
"""The first requests of either era."""
