"""The recorded client's requests and answers, as the steps of a program.

Requests that every client sends on its own are omitted: opening the connection, further pages of lists, polling tasks,
input rounds after the first. So are requests without a response: a program would wait in vain.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from inspector.client.extensions import CAPABILITIES_KEY
from inspector.export.quoting import NestedTooDeep, python_value, remark
from inspector.export.selection import Selection
from inspector.journal.filters.conditions import subjects_of
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.journal.rounds import ROUND_PARAMETERS
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.views import View
from inspector.text import duration

_OPENING = frozenset(("initialize", "server/discover", "subscriptions/listen"))
_FOLLOWING = ("tasks/",)
_NO_ANSWER = frozenset((State.PENDING, State.CANCELLED, State.TIMED_OUT, State.LOST))
_ROOTS = Query(dir=Dir.SEND, shape=Shape.RESULT, method="roots/list")


class ExportStep(NamedTuple):
    """One request of the client."""

    n: int
    method: str
    params: dict[str, Any] | None
    """Without `_meta`, which each client creates itself."""
    comment: str
    """The request and its outcome, on one safe line."""
    why_not: str
    """Why it is not repeated; empty if it is."""
    round: bool = False
    """Whether it continues an earlier one."""


def steps(journal: Journal, chosen: Selection) -> Iterator[ExportStep]:
    """Yield the client's requests in the selected exchanges, in order."""
    index = journal.index
    for exchange in chosen.exchanges():
        n, method, state = exchange.n, exchange.method, index.state(exchange.n)
        if exchange.dir != "send" or method in _OPENING or method.startswith(_FOLLOWING):
            continue
        message = next(journal.events(n, n)).message
        given = message.get("params") if type(message) is dict else None
        params = {key: value for key, value in given.items() if key != "_meta"} if type(given) is dict else None
        name = next(iter(subjects_of(message)), "")
        elapsed = index.duration(n)
        took = f" in {duration(elapsed)}" if elapsed is not None else ""
        comment = f"{n}: {remark(f'{method} {name}'.strip())}, {exchange.state}{took}"
        round = params is not None and not ROUND_PARAMETERS.isdisjoint(params)
        yield ExportStep(n, method, params, comment, _why_not(state, method, given, params, round), round)


def _why_not(state: State, method: str, given: Any, params: dict[str, Any] | None, round: bool) -> str:
    if state in _NO_ANSWER:
        return "it has no response"
    if round:
        return "it continues an earlier one"
    if method.endswith("/list") and params and "cursor" in params:
        return "it continues a list at a cursor of the recorded session"
    if given is not None and params is None:
        return "its parameters are not an object"
    try:
        python_value(params)
    except NestedTooDeep:
        return "its parameters are nested too deeply"
    return ""


class ClientAnswers(NamedTuple):
    """The client's answers to the server's questions, in order; None for a refusal."""

    sampling: list[dict[str, Any] | None]
    elicitation: list[dict[str, Any] | None]
    roots: list[dict[str, Any]]
    """The roots of the last answer with roots; of the whole recording if none is selected: they hold in between."""
    declared: frozenset[str] = frozenset()
    """The capabilities that the client declared, used or not: a server may offer more to it."""


MAX_ANSWERS = 1000
"""Maximum answers of each kind in a program."""


def answers(journal: Journal, chosen: Selection) -> ClientAnswers:
    """Return the client's answers: to requests of the server, and in its input rounds."""
    found = ClientAnswers([], [], [], _declared(journal))
    index = journal.index
    for n in chosen.of(Kind.RPC):
        if index.dir(n) is not Dir.SEND:
            continue
        shape = index.shape(n)
        if shape in (Shape.RESULT, Shape.ERROR) and index.pair(n):
            message = next(journal.events(n, n)).message
            result = message.get("result") if type(message) is dict else None
            if type(result) is dict:
                _keep(found, result)
            elif index.method(n) == "sampling/createMessage":
                found.sampling.append(None)
            elif index.method(n) == "elicitation/create":
                found.elicitation.append(None)
        elif shape is Shape.REQUEST:
            message = next(journal.events(n, n)).message
            params = message.get("params") if type(message) is dict else None
            given = params.get("inputResponses") if type(params) is dict else None
            for answer in given.values() if type(given) is dict else ():
                _keep(found, answer)
    if not found.roots and not chosen.everything:
        n = _ROOTS.last(index, 0, chosen.count)
        message = next(journal.events(n, n)).message if n else None
        _keep(found, message.get("result") if type(message) is dict else None)
    return found


def _declared(journal: Journal) -> frozenset[str]:
    """Return the capabilities in the client's handshake or first modern request."""
    index = journal.index
    for n in range(1, index.count + 1):
        if index.dir(n) is not Dir.SEND or index.shape(n) is not Shape.REQUEST:
            continue
        params = View(next(journal.events(n, n)).message).object("params")
        if index.method(n) == "initialize":
            return frozenset(View(params).object("capabilities"))
        meta = View(params).object("_meta")
        if CAPABILITIES_KEY in meta:
            return frozenset(View(meta).object(CAPABILITIES_KEY))
    return frozenset()


def _keep(found: ClientAnswers, answer: Any) -> None:
    """Add an answer to its kind, which its members determine."""
    if type(answer) is not dict:
        return
    try:
        python_value(answer)
    except NestedTooDeep:
        return
    if type(answer.get("roots")) is list:
        found.roots[:] = [root for root in answer["roots"] if type(root) is dict and isinstance(root.get("uri"), str)]
    elif isinstance(answer.get("action"), str) and len(found.elicitation) < MAX_ANSWERS:
        found.elicitation.append(answer)
    elif "role" in answer and "content" in answer and len(found.sampling) < MAX_ANSWERS:
        found.sampling.append(answer)
