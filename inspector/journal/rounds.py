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

ROUND_PARAMETERS = frozenset(("inputResponses", "requestState"))
"""Parameters of a request that continues after the server required input; the others are those of the first round."""
_MAX_ROUNDS = 100
_MAX_APART = 200
"""Most requests of the same method between two rounds of one call."""
_LARGEST = 1 << 20
"""Bytes of a message that is read for this: a key waits for it, and results of many megabytes ask no questions."""


def rounds(journal: Journal, request: int) -> list[int]:
    """Return the requests of a call that the server answered with questions, in order; `[request]` for any other.

    A request after the first of them has the client's `inputResponses` or the server's `requestState`.
    """
    index = journal.index
    if index.dir(request) is not Dir.SEND:
        return [request]
    alike = Query(dir=Dir.SEND, shape=Shape.REQUEST, method=index.method(request), conn=index.conn(request))
    found = [request]
    while len(found) < _MAX_ROUNDS and _continues(params := _params(journal, found[0])):
        earlier = islice(alike.backwards(index, 0, found[0] - 1), _MAX_APART)
        before = next((n for n in earlier if index.pair(n) < found[0] and _leads_to(journal, n, params)), 0)
        if not before:
            break
        found.insert(0, before)
    while len(found) < _MAX_ROUNDS and _questions(journal, found[-1]) is not None:
        answer = index.pair(found[-1])
        later = islice(alike.each(index, answer), _MAX_APART)
        after = next((n for n in later if _leads_to(journal, found[-1], _params(journal, n))), 0)
        if not after:
            break
        found.append(after)
    return found


def whole_exchange(journal: Journal, n: int) -> list[int]:
    """Return the events of the exchange of event `n` and of the other rounds of its call, ascending; `[n]` without."""
    root = journal.index.root_of(n)
    found = (journal.index.exchange(each) for each in rounds(journal, root)) if root else ()
    return sorted({n, *chain.from_iterable(found)})


def _continues(params: dict[str, Any]) -> bool:
    """Whether these are parameters of a further round."""
    return not ROUND_PARAMETERS.isdisjoint(params)


def _leads_to(journal: Journal, request: int, params: dict[str, Any]) -> bool:
    """Whether `params` continue `request`: the same call, its state, answers to its questions."""
    if not _continues(params) or _of_call(params) != _of_call(_params(journal, request)):
        return False
    result = _questions(journal, request)
    if result is None or result.get("requestState") != params.get("requestState"):
        return False
    return View(params).object("inputResponses").keys() <= View(result).object("inputRequests").keys()


def _of_call(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that are the same in all rounds."""
    return {key: value for key, value in params.items() if key not in ROUND_PARAMETERS and key != "_meta"}


def _params(journal: Journal, request: int) -> dict[str, Any]:
    """Return the parameters of a request; empty for one that is too large."""
    return dict(View(_message(journal, request)).object("params"))


def _questions(journal: Journal, request: int) -> dict[str, Any] | None:
    """Return the result of a request if the server requires input with it."""
    answer = journal.index.pair(request)
    if not answer or journal.index.shape(answer) is not Shape.RESULT:
        return None
    result = dict(View(_message(journal, answer)).object("result"))
    return result if result.get("resultType") == "input_required" else None


def _message(journal: Journal, n: int) -> Any:
    return journal.event(n).message if journal.index.size(n) <= _LARGEST else None
