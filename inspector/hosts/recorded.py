"""The results of tool calls in a recording."""

from __future__ import annotations

from inspector.hosts.evaluation import EvaluatedResult
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.views import View

MAX_RESULTS = 10_000
"""The newest results of a recording that are looked at."""
MAX_SIZE = 64 << 20
"""Bytes of a result above which it is not read."""
_RESULTS = Query(kind=Kind.RPC, dir=Dir.RECV, shape=Shape.RESULT, method=("tools/call",))


def results_in(journal: Journal) -> tuple[EvaluatedResult, ...]:
    """Return the largest result of each tool that was called."""
    index = journal.index
    largest: dict[str, int] = {}
    for n in _RESULTS.numbers(index)[-MAX_RESULTS:]:
        request = index.pair(n)
        if not request or index.size(n) > MAX_SIZE:
            continue
        params = View(journal.event(request).message).object("params")
        name = params.get("name")
        if type(name) is str and index.size(n) >= index.size(largest.get(name, n)):
            largest[name] = n
    results = []
    for name, n in largest.items():
        result = journal.event(n).message.get("result")
        if type(result) is dict:
            results.append(EvaluatedResult(name, result))
    return tuple(results)
