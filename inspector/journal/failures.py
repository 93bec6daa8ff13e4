"""The events that count as errors, wherever errors are counted or gone to."""

from __future__ import annotations

from inspector.journal.channels import ONE_REQUEST
from inspector.journal.findings import Findings
from inspector.journal.format import Kind
from inspector.journal.index import Index, State
from inspector.journal.query import Query, picked
from inspector.protocol.jsonrpc import Shape

_FAILED = Query(shape=tuple(set(Shape) - {Shape.REQUEST}), state=(State.ERROR, State.INVALID))
_LIFE = Query(kind=Kind.LIFE)
_FATES = frozenset((State.ERROR, State.TIMED_OUT, State.LOST))


def failures(index: Index, after: int, upto: int) -> bytes:
    """Return one byte (0 or 1) for each event after `after`, up to `upto`: 1 for a failure.

    A failure is an error response, an invalid message, and the life event that ended a request without a response. The
    error of an older server, which does not know `server/discover`, is none.
    """
    mask = _FAILED.mask(index, after + 1, upto)
    failed = bytearray(mask)
    for n in picked(after + 1, mask):
        request = index.pair(n)
        if request and index.method(request) == "server/discover":
            failed[n - after - 1] = 0
    for n in _LIFE.forwards(index, after, upto):
        # An event of a POST, such as the end of its stream, ends no request: its answer does, or an event beside it.
        if not index.channel(n).startswith(ONE_REQUEST) and _has_failed_unanswered(index, index.pair(n)):
            failed[n - after - 1] = 1
    return bytes(failed)


def _has_failed_unanswered(index: Index, request: int) -> bool:
    if not request or index.state(request) not in _FATES:
        return False
    answer = index.pair(request)
    return not answer or index.state(answer) != State.ERROR


def problems(index: Index, findings: Findings) -> list[int]:
    """Return the events with a failure or a finding, ascending."""
    failed = picked(1, failures(index, 0, index.count))
    return sorted({*failed, *(n for n in findings.events() if n)})
