"""The rounds of a call: the server answers with questions, the client sends the call again with its answers.

Revision 2026-07-28, multi round-trip requests. Each round is an exchange of its own.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import Any

from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.views import View

_MAX_ROUNDS = 100
_MAX_APART = 200
"""Most requests of the same method between two rounds of one call."""


def rounds(journal: Journal, request: int) -> list[int]:
    """Return the requests of a call that the server answered with questions, in order; `[request]` for any other.

    A request after the first of them has the client's `inputResponses` or the server's `requestState` (revision
    2026-07-28, multi round-trip requests).
    """
    index = journal.index
    if index.dir(request) is not Dir.SEND:
        return [request]
    alike = Query(dir=Dir.SEND, shape=Shape.REQUEST, method=index.method(request), conn=index.conn(request))
    found = [request]
    while len(found) < _MAX_ROUNDS and _continues(journal, found[0]):
        earlier = islice(alike.backwards(index, 0, found[0] - 1), _MAX_APART)
        before = next((n for n in earlier if _leads_to(journal, n, found[0])), 0)
        if not before:
            break
        found.insert(0, before)
    while len(found) < _MAX_ROUNDS and _questions(journal, found[-1]) is not None:
        later = islice(alike.each(index, found[-1]), _MAX_APART)
        after = next((n for n in later if _leads_to(journal, found[-1], n)), 0)
        if not after:
            break
        found.append(after)
    return found


def whole_exchange(journal: Journal, n: int) -> list[int]:
    """Return the events of the exchange of event `n` and of the other rounds of its call, ascending; `[n]` without."""
    root = journal.index.root_of(n)
    found = (journal.index.exchange(each) for each in rounds(journal, root)) if root else ()
    return sorted({n, *chain.from_iterable(found)})


def _leads_to(journal: Journal, request: int, later: int) -> bool:
    """Whether `later` is the next round of `request`: it has its state, and answers to its questions."""
    result, params = _questions(journal, request), _continues(journal, later)
    if result is None or not params or journal.index.pair(request) > later:
        return False
    asked, given = View(result).object("inputRequests"), View(params).object("inputResponses")
    return result.get("requestState") == params.get("requestState") and given.keys() <= asked.keys()


def _continues(journal: Journal, request: int) -> dict[str, Any]:
    """Return the parameters of a request that continues an earlier one; else an empty object."""
    params = dict(View(journal.event(request).message).object("params"))
    return params if params.keys() & {"inputResponses", "requestState"} else {}


def _questions(journal: Journal, request: int) -> dict[str, Any] | None:
    """Return the result of a request if the server requires input with it."""
    answer = journal.index.pair(request)
    if not answer or journal.index.shape(answer) is not Shape.RESULT:
        return None
    result = dict(View(journal.event(answer).message).object("result"))
    return result if result.get("resultType") == "input_required" else None
