"""The recorded client's actions as repeatable steps: connections, messages, closed streams.

Failed attempts of the negotiation are not repeated: of each negotiation only the successful opening and what followed
it remain.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from inspector.errors import RecordingError
from inspector.journal.exchange import PROGRESS, RECEIVED_REQUESTS
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.transports.request_matching import canonical

_OPENINGS = ("initialize", "server/discover")
_MESSAGES = (Kind.RPC, Kind.INVALID)
_ANSWERS = (Shape.RESULT, Shape.ERROR)
_ON_THEIR_OWN = frozenset(
    f"notifications/{name}"
    for name in """
    tools/list_changed resources/list_changed prompts/list_changed resources/updated elicitation/complete tasks
    tasks/status subscriptions/acknowledged
    """.split()
)
"""Messages that a server sends on its own and a client may have waited for."""


class ScriptStep(NamedTuple):
    """One action of the recorded client."""

    do: Literal["connect", "send", "close-stream"]
    n: int
    """The event in the recording. For `close-stream` the request of the stream; for `connect` the next event."""
    after: tuple[int, ...] = ()
    """Responses that arrived since the step before."""
    received: tuple[str, ...] = ()
    """Methods of the server's own messages since then, in order."""
    pause: int = 0
    """Microseconds since the step before."""


class ClientScript:
    """The steps of a recording, and its client's answers to questions."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._left_out = _failed_openings(journal)
        self._questions: dict[tuple[int, str], deque[int]] = {}
        self.questions = 0
        """The number of questions with a recorded answer."""
        self._find_questions()

    def _find_questions(self) -> None:
        index = self.journal.index
        for n in RECEIVED_REQUESTS.forwards(index):
            if index.method(n) != "ping" and index.is_kept(n):
                self._questions.setdefault((index.parent(n), index.method(n)), deque()).append(n)
                self.questions += bool(index.pair(n))

    def steps(self) -> Iterator[ScriptStep]:
        """Yield the steps in order."""
        index = self.journal.index
        begins = {first for first, _ in index.connections.between(1, len(self.journal))}
        connect = True
        after: list[int] = []
        received: list[str] = []
        before = index.time(1) if index.count else 0
        for n in range(1, index.count + 1):
            kind, dir, shape = index.kind(n), index.dir(n), index.shape(n)
            connect = connect or (n in begins and kind == Kind.LIFE and self._fields(n).get("event") == "reopen")
            if dir == Dir.RECV and kind == Kind.RPC:
                if not index.is_kept(n):
                    continue
                if shape in (*_ANSWERS, Shape.BATCH) and index.pair(n) not in self._left_out:
                    after.append(n)
                elif (shape == Shape.NOTIFICATION and index.method(n) in _ON_THEIR_OWN) or self.asked_alone(n):
                    received.append(index.method(n))
                continue
            step = self._step(n, kind, dir, shape)
            if step is None:
                continue
            if connect:
                yield ScriptStep("connect", n)
                connect = False
            yield step._replace(after=tuple(after), received=tuple(received), pause=max(0, index.time(n) - before))
            before = index.time(n)
            after.clear()
            received.clear()

    def _step(self, n: int, kind: Kind, dir: Dir, shape: Shape) -> ScriptStep | None:
        """Return event `n` as a step; None if it is not an action, or only an answer."""
        index = self.journal.index
        if not index.is_kept(n):
            return None
        if dir == Dir.SEND and kind in _MESSAGES and shape not in _ANSWERS:
            return None if n in self._left_out or index.pair(n) in self._left_out else ScriptStep("send", n)
        if kind == Kind.LIFE and index.pair(n) and index.pair(n) not in self._left_out:
            closed = self._fields(n)
            if closed.get("event") == "stream-closed" and closed.get("reason") == "cancelled":
                return ScriptStep("close-stream", index.pair(n))
        return None

    def asked_alone(self, n: int) -> bool:
        """Whether the recorded message `n` is an answered question that belongs to no request of the client."""
        index = self.journal.index
        asks = index.shape(n) == Shape.REQUEST and index.dir(n) == Dir.RECV and index.method(n) != "ping"
        return asks and not index.parent(n) and bool(index.pair(n))

    def _fields(self, n: int) -> dict[str, Any]:
        return self.journal.event(n).fields

    def progress_before(self, request: int, n: int) -> int:
        """Return the number of progress notifications of a request before event `n`."""
        return Query(method=PROGRESS, inside=request).count(self.journal.index, request, n - 1)

    def answer_to(self, method: str, params: Any, inside: int) -> tuple[int, int]:
        """Return the recorded question and its answer for a live question (answer 0: none was given).

        Each is returned once: the next one of the same request (`inside`, 0: of none) with the same parameters,
        otherwise the next of that request, otherwise of any. (0, 0) without a similar one.
        """
        asked = self._questions.get((inside, method)) or next(
            (questions for (_, name), questions in self._questions.items() if name == method and questions), None
        )
        if not asked:
            return 0, 0
        expected = canonical(params)
        n = next((n for n in asked if canonical(self.journal.event(n).message.get("params")) == expected), asked[0])
        asked.remove(n)
        return n, self.journal.index.pair(n)

    def unasked(self) -> Iterator[int]:
        """Yield the answered recorded questions that `answer_to` has not returned."""
        for question in self._questions.values():
            yield from (n for n in question if self.journal.index.pair(n))


def _failed_openings(journal: Journal) -> frozenset[int]:
    """Return the unsuccessful requests of each negotiation. Without a successful one, the last one is kept."""
    index = journal.index
    failed: list[int] = []
    for first, last in index.connections.between(1, index.count):
        asked = [
            n
            for n in range(first, last + 1)
            if index.dir(n) == Dir.SEND and index.shape(n) == Shape.REQUEST and index.method(n) in _OPENINGS
        ]
        good = [n for n in asked if index.pair(n) and index.shape(index.pair(n)) == Shape.RESULT]
        kept = (good or asked)[-1:]
        failed += [n for n in asked if n < kept[0]]
    return frozenset(failed)


def check_source(recording: Journal, source: Path) -> None:
    """Raise `RecordingError` if a recording contains nothing that can be sent again."""
    if recording.raw_only:
        raise RecordingError(f"{source} has a newer format, so it cannot be rerun.", hint="Update Inspector.")
    if not Query(kind=Kind.RPC, dir=Dir.SEND).first(recording.index):
        raise RecordingError(
            f"{source} contains no message of a client, so nothing can be sent.",
            hint="Choose a recording that contains requests.",
        )
