"""Exchanges: a request, its response, and its related events: progress, notifications, nested requests.

`Exchange` is one of them. The functions below process many events at once, for readers that follow a journal. A call
that the server answers with questions has several rounds (revision 2026-07-28, multi round-trip requests): the client
sends the call again with its answers, and each round is an exchange of its own.
"""

from __future__ import annotations

from array import array
from itertools import chain, islice
from typing import Any, Literal, Self

from inspector.journal.format import Dir, Event, Kind
from inspector.journal.index import STATE_NAMES, Index, State, code_of
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.members import object_at, subject_of

PROGRESS = "notifications/progress"
CANCELLED = "notifications/cancelled"

SENT_REQUESTS = Query(dir=Dir.SEND, shape=Shape.REQUEST)
"""The requests of the client."""
RECEIVED_REQUESTS = Query(dir=Dir.RECV, shape=Shape.REQUEST)
"""The requests of the server."""
RECEIVED_RESULTS = Query(dir=Dir.RECV, shape=Shape.RESULT)
"""The server's results, without errors."""

_GIVEN_UP = frozenset((State.ERROR, State.TIMED_OUT, State.LOST, State.CANCELLED))
"""The states of a request without a response. `ERROR` is also the state of one with an error response."""
_RESPONSE_SHAPES = (Shape.RESULT, Shape.ERROR)
_SENT_REQUEST = code_of(Kind.RPC, Dir.SEND, Shape.REQUEST)
_ENDING = frozenset(code_of(Kind.RPC, dir, shape) for dir in Dir for shape in (*_RESPONSE_SHAPES, Shape.BATCH))
_STRIDE = 1 << 14
_MAX_ABOUT = 10_000
"""Most events about one request that are searched for its cancellation or timeout."""


class Exchange:
    """A request and its outcome. Bodies are read from the recording on demand.

    It always shows the current content of the journal: a later response appears as soon as it is recorded.
    """

    __slots__ = ("_journal", "_owner", "n")

    def __init__(self, journal: Journal, n: int, owner: object = None) -> None:
        self._journal = journal
        self._owner = owner
        """Keeps the journal open as long as the exchange exists."""
        self.n = n
        """The number of the request."""

    def __repr__(self) -> str:
        return f"<Exchange {self.n} {self.method} {self.name}".rstrip() + f", {self.state}>"

    @property
    def request(self) -> Event:
        """The request as recorded."""
        return self._journal.event(self.n)

    @property
    def answer_n(self) -> int:
        """The number of the answer, which may be a batch with others in it; 0 without one."""
        return self._journal.index.pair(self.n)

    @property
    def answer(self) -> Event | None:
        """The answer; None without one."""
        n = self.answer_n
        return self._journal.event(n) if n else None

    @property
    def dir(self) -> Literal["send", "recv"]:
        """The sender of the request: `send` is the client, `recv` the server."""
        return "send" if self._journal.index.dir(self.n) is Dir.SEND else "recv"

    @property
    def method(self) -> str:
        return self._journal.index.method(self.n)

    @property
    def params(self) -> dict[str, Any]:
        """The parameters; empty without any."""
        return object_at(self.request.message, "params")

    @property
    def name(self) -> str:
        """Its subject: the tool's or prompt's name, or the URI; else empty."""
        return subject_of(self.params)

    @property
    def result(self) -> Any:
        """The `result` of the answer; None without one."""
        return self._member("result")

    @property
    def error(self) -> Any:
        """The `error` of the answer; None without one."""
        return self._member("error")

    def _member(self, name: str) -> Any:
        answer = self.answer
        return answer.message.get(name) if answer is not None and type(answer.message) is dict else None

    @property
    def state(self) -> str:
        """`pending`, `done`, `error` (also a tool error), `cancelled`, `timeout`, `late`, `lost`."""
        return STATE_NAMES[self._journal.index.state(self.n)]

    @property
    def seconds(self) -> float | None:
        """Seconds from the request to the answer; None without one."""
        duration = self._journal.index.duration(self.n)
        return None if duration is None else duration / 1e6

    @property
    def events(self) -> list[int]:
        """The numbers of all related events: progress, notifications, nested requests and their answers."""
        return self._journal.index.exchange(self.n)

    @property
    def progress(self) -> list[int]:
        """The numbers of its progress notifications, up to the answer."""
        return self._inside(Query(method=PROGRESS, shape=Shape.NOTIFICATION, inside=self.n))

    @property
    def notifications(self) -> list[int]:
        """The numbers of all notifications inside it or about it, progress included."""
        return self._inside(Query(shape=Shape.NOTIFICATION, inside=self.n))

    @property
    def nested(self) -> list[Self]:
        """Requests of the other side inside it: sampling, roots, elicitation."""
        numbers = self._inside(Query(shape=Shape.REQUEST, inside=self.n))
        return [type(self)(self._journal, n, self._owner) for n in numbers]

    def _inside(self, query: Query) -> list[int]:
        return query.numbers(self._journal.index, self.n, self.answer_n or None)


# Single events


def is_answer(index: Index, n: int) -> bool:
    """Whether `n` is the answer paired with its request, not a second or late one."""
    request = index.pair(n)
    return bool(request) and index.shape(n) in _RESPONSE_SHAPES and index.pair(request) == n


def around(index: Index, n: int) -> int:
    """Return the request that message `n` belongs to without being its response; else 0."""
    return index.parent(n) or (index.pair(n) if index.shape(n) is Shape.NOTIFICATION else 0)


# Many events at once, from the columns of the index, without a call per event


def add_roots(index: Index, roots: array[int], upto: int) -> None:
    """Extend the table of outermost requests up to event `upto`: `roots[n - 1]` is that of event `n`, or `n`."""
    codes, pairs, parents = index.views.codes, index.views.pairs, index.views.parents
    for n in range(len(roots) + 1, upto + 1):
        around = parents[n - 1]
        if codes[n - 1] >> 6 != Shape.REQUEST:
            around = pairs[n - 1] or around
        roots.append(roots[around - 1] if 0 < around < n else n)


def walk_open(index: Index, requests: dict[int, None], after: int, upto: int, limit: int) -> None:
    """Update the client's open requests from event `after` to `upto`; keep the newest `limit`."""
    states = index.views.states
    columns = zip(index.views.codes[after:upto], index.views.pairs[after:upto], strict=True)
    for n, (code, pair) in enumerate(columns, after + 1):
        if code == _SENT_REQUEST:
            requests[n] = None
            if len(requests) > limit:
                del requests[next(iter(requests))]
        elif pair in requests and (code in _ENDING or (states[pair - 1] in _GIVEN_UP and is_giving_up(index, n))):
            del requests[pair]


def is_open(index: Index, request: int, upto: int) -> bool:
    """Whether a request was still open after event `upto`: not answered, cancelled or timed out."""
    if request > upto or 0 < index.pair(request) <= upto:
        return False
    return index.state(request) not in _GIVEN_UP or given_up_at(index, request) > upto


def given_up_at(index: Index, request: int) -> int:
    """Return the event that cancelled or timed out a request; beyond the last event if there is none."""
    n = request
    for _ in range(_MAX_ABOUT):
        n = index.next_about(request, n, index.count)
        if not n:
            break
        if is_giving_up(index, n):
            return n
    return index.count + 1


def is_giving_up(index: Index, n: int) -> bool:
    """Whether an event about a request is its cancellation or timeout."""
    return index.kind(n) is Kind.LIFE or index.method(n) == CANCELLED


def newest_progress(index: Index, request: int, after: int, upto: int) -> int:
    """Return the last event after `after`, up to `upto`, that reports a request's progress; 0 without one."""
    method = index.methods.find(PROGRESS)
    while upto > after and method is not None:
        begin = max(upto - _STRIDE, after)
        pairs = index.views.pairs[begin:upto]
        if request in pairs:
            for n in range(upto, begin, -1):
                if pairs[n - begin - 1] == request and index.views.methods[n - 1] == method:
                    return n
        upto = begin
    return 0


ROUND_PARAMETERS = frozenset(("inputResponses", "requestState"))
"""Parameters of a request that continues after the server required input; the others are those of the first round."""
_MAX_ROUNDS = 100
_MAX_APART = 200
"""Most requests of the same method between two rounds of one call."""
_LARGEST = 1 << 20
"""Bytes of a message that is read to find rounds: a key press waits for it, and no larger result asks questions."""


def rounds(journal: Journal, request: int) -> list[int]:
    """Return the requests of a call that the server answered with questions, in order; `[request]` for any other.

    A request after the first of them has the client's `inputResponses` or the server's `requestState`.
    """
    index = journal.index
    if index.dir(request) is not Dir.SEND:
        return [request]
    alike = Query(dir=Dir.SEND, shape=Shape.REQUEST, method=index.method(request), conn=index.conn(request))
    rounds = [request]
    while len(rounds) < _MAX_ROUNDS and _continues(params := _params(journal, rounds[0])):
        earlier = islice(alike.backwards(index, 0, rounds[0] - 1), _MAX_APART)
        before = next((n for n in earlier if index.pair(n) < rounds[0] and _leads_to(journal, n, params)), 0)
        if not before:
            break
        rounds.insert(0, before)
    while len(rounds) < _MAX_ROUNDS and _questions(journal, rounds[-1]) is not None:
        answer = index.pair(rounds[-1])
        later = islice(alike.forwards(index, answer), _MAX_APART)
        after = next((n for n in later if _leads_to(journal, rounds[-1], _params(journal, n))), 0)
        if not after:
            break
        rounds.append(after)
    return rounds


def whole_exchange(journal: Journal, n: int) -> list[int]:
    """Return the events of the exchange of event `n` and of the other rounds of its call, ascending; else `[n]`."""
    root = journal.index.root_of(n)
    exchange = (journal.index.exchange(request) for request in rounds(journal, root)) if root else ()
    return sorted({n, *chain.from_iterable(exchange)})


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
    return object_at(params, "inputResponses").keys() <= object_at(result, "inputRequests").keys()


def _of_call(params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that are the same in all rounds."""
    return {key: value for key, value in params.items() if key not in ROUND_PARAMETERS and key != "_meta"}


def _params(journal: Journal, request: int) -> dict[str, Any]:
    """Return the parameters of a request; empty for one that is too large."""
    return object_at(_message(journal, request), "params")


def _questions(journal: Journal, request: int) -> dict[str, Any] | None:
    """Return the result of a request if the server requires input with it."""
    answer = journal.index.pair(request)
    if not answer or journal.index.shape(answer) is not Shape.RESULT:
        return None
    result = object_at(_message(journal, answer), "result")
    return result if result.get("resultType") == "input_required" else None


def _message(journal: Journal, n: int) -> Any:
    return journal.event(n).message if journal.index.size(n) <= _LARGEST else None
