"""The index of a recording: a few dozen bytes per event in columns, and the pairing of messages into exchanges.

The writer fills it as events are recorded, the reader as lines are found, with the same call, so that pairing is the
same live and later.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice
from pathlib import Path
from typing import Any

from inspector.journal.channels import ONE_REQUEST
from inspector.journal.columns import IndexColumns
from inspector.journal.connections import Connections
from inspector.journal.format import Dir, Kind
from inspector.journal.name_tables import MAY_CONTINUE, NO_ID, IdTable, NameTable, Pages
from inspector.protocol.jsonrpc import Shape, id_key, shape_of

_Waiting = dict[tuple[int, Any], int]
"""Requests by connection and id."""
_KEPT_WAITING = 1 << 15
"""Requests without an answer that are known, in each direction: a server may send any number of them."""
_KEPT_TOKENS = 2 * _KEPT_WAITING
_KEPT_ANSWERED = 4096
_KEPT_CHANNELS = 4096
_DIRS = tuple(Dir)
_SEND, _RECV = Dir.SEND, Dir.RECV
_NOTHING: dict[Any, Any] = {}
_CALLS = frozenset(("tools/call", "prompts/get", "resources/read", "completion/complete"))


class OpenRequests:
    """Pairs answers, progress, cancellations and nested messages with requests of the same connection."""

    def __init__(self) -> None:
        self._waiting: tuple[_Waiting, ...] = tuple({} for _ in _DIRS)
        """By direction: the requests without an answer, oldest first."""
        self._answered: tuple[OrderedDict[tuple[int, Any], int], ...] = tuple(OrderedDict() for _ in _DIRS)
        """By direction: the requests that were answered last."""
        self._tokens: dict[tuple[int, Any], int] = {}
        self._token_of: dict[int, tuple[int, Any]] = {}
        self._calls: dict[int, dict[int, None]] = {}
        """By connection, the open calls."""
        self._channels: dict[tuple[int, str], int] = {}

    def __len__(self) -> int:
        return sum(map(len, self._waiting)) + len(self._tokens) + len(self._calls)

    def sent(self, n: int, conn: int, channel: str, message: dict[str, Any]) -> None:
        """Add a request of ours."""
        self.wait(n, _SEND, conn, message["id"])
        params = message.get("params")
        meta = params.get("_meta") if type(params) is dict else None
        token = id_key(meta.get("progressToken")) if type(meta) is dict else None
        if token is not None:
            self._tokens[conn, token] = n
            self._token_of[n] = conn, token
            if len(self._tokens) > _KEPT_TOKENS:
                for old in list(islice(self._tokens, _KEPT_WAITING)):
                    del self._tokens[old]
        if message["method"] in _CALLS:
            self._calls.setdefault(conn, {})[n] = None
        if channel.startswith(ONE_REQUEST):
            self.bind_channel(channel, n, conn)

    def wait(self, n: int, dir: Dir, conn: int, id: Any) -> None:
        """Note that request `n` waits for an answer. Of very many in one direction, the oldest are forgotten."""
        waiting, key = self._waiting[dir], (conn, id_key(id))
        if key in waiting:
            self.end(waiting[key], conn)
        waiting[key] = n
        if len(waiting) > _KEPT_WAITING:
            for old in list(islice(waiting, _KEPT_WAITING // 2)):  # many at once: the first of a dict is slow to find
                self.end(waiting.pop(old), old[0])

    def is_waiting(self, conn: int, id: Any) -> bool:
        """Whether a request of ours with this id is open."""
        return (conn, id_key(id)) in self._waiting[_SEND]

    def answer(self, dir: Dir, conn: int, id: Any, *, keeps_token: bool = False) -> tuple[int, bool]:
        """Return the request in this direction that is answered, 0 for none, and whether it was answered before."""
        key, answered = (conn, id_key(id)), self._answered[dir]
        request = self._waiting[dir].pop(key, 0)
        if not request:
            return answered.get(key, 0), True
        answered[key] = request
        if len(answered) > _KEPT_ANSWERED:
            answered.popitem(last=False)
        self.end(request, conn, keeps_token=keeps_token)
        return request, False

    def end(self, request: int, conn: int, *, keeps_token: bool = False) -> None:
        """Note that a request is over, or cannot be told from another one. Progress may come for one given up."""
        self._calls.get(conn, _NOTHING).pop(request, None)
        token = self._token_of.pop(request, None)
        if token is not None and not keeps_token:
            self._tokens.pop(token, None)

    def with_token(self, conn: int, token: Any) -> int:
        """Return the request that progress with this token is about; 0 if unknown."""
        return self._tokens.get((conn, id_key(token)), 0)

    def with_id(self, dir: Dir, conn: int, id: Any) -> int:
        """Return the open request in this direction with this id; 0 without one."""
        return self._waiting[dir].get((conn, id_key(id)), 0)

    def begin_connection(self, conn: int) -> None:
        """Note that a connection starts: calls of the one before get no more messages."""
        self._calls.pop(conn, None)

    def bind_channel(self, channel: str, n: int, conn: int = 0) -> None:
        """Bind the messages on `channel` to request `n` (a POST and its response stream)."""
        self._channels[conn, channel] = n
        if len(self._channels) > _KEPT_CHANNELS:
            del self._channels[next(iter(self._channels))]

    def of_channel(self, channel: str, conn: int) -> int:
        """Return the request that a channel is bound to; 0 without one."""
        return self._channels.get((conn, channel), 0)

    def around(self, channel: str, conn: int) -> int:
        """Return the request inside which a message from the server arrived, if that is certain; 0 if not."""
        if self._channels and (conn, channel) in self._channels:
            return self._channels[conn, channel]
        calls = self._calls.get(conn, _NOTHING)
        return next(iter(calls)) if len(calls) == 1 else 0

    def saved(self) -> dict[str, Any]:
        """Return its state as JSON values, for `load`."""
        return {
            "pending": [[dir, *key, n] for dir, waiting in enumerate(self._waiting) for key, n in waiting.items()],
            "answered": [[dir, *key, n] for dir, answered in enumerate(self._answered) for key, n in answered.items()],
            "tokens": [[*key, n] for key, n in self._tokens.items()],
            "tokens_of": [[n, *token] for n, token in self._token_of.items()],
            "calls": [[conn, list(calls)] for conn, calls in self._calls.items()],
            "channels": [[*key, n] for key, n in self._channels.items()],
        }

    def load(self, saved: dict[str, Any]) -> None:
        """Take what `saved` returned."""
        for dir, conn, key, n in saved["pending"]:
            self._waiting[dir][conn, key] = n
        for dir, conn, key, n in saved["answered"]:
            self._answered[dir][conn, key] = n
        self._tokens.update(((conn, token), n) for conn, token, n in saved["tokens"])
        self._token_of.update((n, (conn, token)) for n, conn, token in saved["tokens_of"])
        self._calls.update((conn, dict.fromkeys(calls)) for conn, calls in saved["calls"])
        self._channels.update(((conn, channel), n) for conn, channel, n in saved["channels"])


_LOOKED_AT_FOR_FATE = 10_000
_CANCELLED = "notifications/cancelled"
_STRIDE = 1 << 14
"""Events whose columns are read at once."""
_MAX_SAVED = 200_000
"""Entries beside the columns from which an index is not saved."""
_MAX_CONNS = (1 << 32) - 1


class State(IntEnum):
    """The state of an event: a request by its answer, an answer by its request."""

    PLAIN = 0
    PENDING = 1
    DONE = 2
    ERROR = 3
    CANCELLED = 4
    TIMED_OUT = 5
    LATE = 6
    INVALID = 7
    UNKNOWN = 8
    """An answer to an unknown request."""
    DOUBLED = 9
    """A second answer to the same request."""
    LOST = 10
    """The connection ended before the answer."""


# A lookup of an enum member costs more than all other work on a message; this is the hot path.
_KINDS, _SHAPES, _STATES = tuple(Kind), tuple(Shape), tuple(State)
_RPC, _INVALID_KIND, _HTTP, _SSE = Kind.RPC, Kind.INVALID, Kind.HTTP, Kind.SSE
_NONE, _REQUEST, _NOTIFICATION, _RESULT, _ERROR, _BATCH = Shape
_PENDING, _DONE, _FAILED, _INVALID = State.PENDING, State.DONE, State.ERROR, State.INVALID
_GIVEN_UP = (State.CANCELLED, State.TIMED_OUT)

STATE_NAMES = tuple("plain pending done error cancelled timeout late invalid unknown doubled lost".split())


# Not a named tuple: each message reads it, and slots are read faster. Frozen, it is slow to make.
@dataclass(slots=True)
class Views:
    """The columns as they are now, by position `n - 1`. They are longer than the index, and zero from there."""

    offsets: memoryview[int]
    times: memoryview[int]
    sizes: memoryview[int]
    codes: memoryview[int]
    states: memoryview[int]
    methods: memoryview[int]
    channels: memoryview[int]
    ids: memoryview[int]
    pairs: memoryview[int]
    parents: memoryview[int]
    conns: memoryview[int]


class Index:
    """Facts about events 1…`count`, by position `n - 1`. One thread writes; others may read up to `count`."""

    def __init__(self) -> None:
        self.count = 0
        self.columns = IndexColumns()
        self.views = Views(*self.columns.views)
        self.dropped = array("I")
        """The events without a recorded body, ascending."""
        self.methods = NameTable()
        self.channels = NameTable()
        self.ids = IdTable()
        self.connections = Connections()
        self.pages = Pages()
        self.requests = OpenRequests()
        self.invalid = 0
        self.errors = 0
        self._latest = 0

    def __len__(self) -> int:
        return self.count

    def attach(self) -> None:
        """Show the columns as they are now: they have grown, or were loaded."""
        self.views = Views(*self.columns.views)

    def kind(self, n: int) -> Kind:
        """Return the kind of event `n`."""
        return _KINDS[self.views.codes[n - 1] & 15]

    def dir(self, n: int) -> Dir:
        """Return the direction of event `n`."""
        return _DIRS[(self.views.codes[n - 1] >> 4) & 3]

    def shape(self, n: int) -> Shape:
        """Return the shape of event `n` in JSON-RPC's terms."""
        return _SHAPES[self.views.codes[n - 1] >> 6]

    def state(self, n: int) -> State:
        """Return the state of event `n`."""
        return _STATES[self.views.states[n - 1]]

    def time(self, n: int) -> int:
        """Return the time of event `n`, in microseconds since the recording began."""
        return self.views.times[n - 1]

    def size(self, n: int) -> int:
        """Return the bytes of the message of event `n`."""
        return self.views.sizes[n - 1]

    def latest(self) -> int:
        """Return the latest time of all events: of the last one, unless a clock ran backwards. 0 without events."""
        return self._latest

    def times_between(self, after: int, upto: int) -> Sequence[int]:
        """Return the times of the events after `after` up to `upto`, in order."""
        return self.views.times[after : min(upto, self.count)]

    def pair(self, n: int) -> int:
        """Return the partner of event `n`; 0 if there is none.

        It is the answer of a request, or the request of an answer, a progress or a cancellation.
        """
        return self.views.pairs[n - 1]

    def parent(self, n: int) -> int:
        """Return the request inside which event `n` happened; 0 if there is none."""
        return self.views.parents[n - 1]

    def method(self, n: int) -> str:
        """Return the method of a request or notification; for an answer, the method of its request."""
        return self.methods.texts[self.views.methods[n - 1]]

    def channel(self, n: int) -> str:
        """Return the channel of event `n`."""
        return self.channels.texts[self.views.channels[n - 1]]

    def shares_channel(self, n: int) -> bool:
        """Whether `channel` may be wrong for event `n`: all beyond the first 65,534 share the name of the last one."""
        return self.views.channels[n - 1] == self.channels.shared

    def conn(self, n: int) -> int:
        """Return the number of the connection of event `n`; 0 is the session's own."""
        return self.views.conns[n - 1]

    def id(self, n: int) -> int | str | None:
        """Return the JSON-RPC id of a message, or None."""
        return self.ids.id(self.views.ids[n - 1])

    def state_at(self, n: int, upto: int) -> State:
        """Return the state of event `n` after event `upto`: a request that ended later was still pending."""
        state = State(self.views.states[n - 1])
        if state in (State.PLAIN, State.PENDING, State.INVALID) or self.shape(n) != Shape.REQUEST:
            return state
        answer = self.views.pairs[n - 1]
        if answer and state in (State.DONE, State.ERROR):
            return state if answer <= upto else State.PENDING
        at = n
        for _ in range(_LOOKED_AT_FOR_FATE):
            at = self.next_about(n, at, upto)
            if not at:
                return State.PENDING
            if (self.kind(at) == Kind.LIFE and not self.views.channels[at - 1]) or self.method(at) == _CANCELLED:
                return state
        return state

    def next_about(self, request: int, after: int, upto: int) -> int:
        """Return the first event after `after`, up to `upto`, whose partner is `request`; 0 without one."""
        return _next_with(request, self.views.pairs, after, min(upto, self.count))

    def next_inside(self, request: int, after: int, upto: int) -> int:
        """Return the first event after `after`, up to `upto`, that happened inside `request`; 0 without one."""
        return _next_with(request, self.views.parents, after, min(upto, self.count))

    def is_kept(self, n: int) -> bool:
        """Whether the recording has the body of event `n`."""
        at = bisect_left(self.dropped, n)
        return at == len(self.dropped) or self.dropped[at] != n

    def duration(self, n: int) -> int | None:
        """Return the microseconds from the request to its answer, for either of the two; None without a partner."""
        partner = self.views.pairs[n - 1]
        if not partner or self.shape(n) not in (Shape.REQUEST, Shape.RESULT, Shape.ERROR):
            return None
        return abs(self.views.times[partner - 1] - self.views.times[n - 1])

    def request_of(self, n: int) -> int:
        """Return the request that event `n` belongs to: itself, its partner, or its parent; 0 if none."""
        if self.shape(n) == Shape.REQUEST:
            return n
        return self.views.pairs[n - 1] or self.views.parents[n - 1]

    def awaits(self, message: Any, conn: int = 0) -> bool:
        """Whether a message from the server answers a request that we sent on `conn` and that is still open."""
        return type(message) is dict and self.requests.is_waiting(conn, message.get("id"))

    def root_of(self, n: int) -> int:
        """Return the outermost request of event `n`; 0 if there is none."""
        request = self.request_of(n)
        for _ in range(16):
            outer = self.views.parents[request - 1] if request else 0
            if not outer or outer == request:
                break
            request = outer
        return request

    def related(self, requests: set[int], after: int, upto: int) -> Iterator[int]:
        """Yield the events after `after` up to `upto` that belong to one of some requests.

        Meanwhile the caller adds further requests to `requests`: those nested in them.
        """
        for low in range(after, min(upto, self.count), _STRIDE):
            high = min(low + _STRIDE, upto, self.count)
            for n, (pair, parent) in enumerate(
                zip(self.views.pairs[low:high], self.views.parents[low:high], strict=True), low + 1
            ):
                if pair in requests or parent in requests:
                    yield n

    def exchange(self, n: int, limit: int = 10_000) -> list[int]:
        """Return the numbers of all events of the exchange of `n`: request, answer, progress, nested requests,
        notifications.

        Searches from the request to its answer, or to the end without one.
        """
        root = self.root_of(n)
        if not root:
            return [n]
        answer = self.views.pairs[root - 1]
        last = self.count if not answer else max(answer, n)
        exchange = [root]
        members = {root}
        for m in self.related(members, root, last):
            members.add(m)
            exchange.append(m)
            if len(exchange) >= limit:
                break
        return exchange

    def add(
        self,
        t: int,
        dir: Dir,
        kind: Kind,
        channel: str,
        offset: int,
        size: int,
        message: Any = None,
        shape: Shape | None = None,
        conn: int = 0,
    ) -> int:
        """Add the next event and pair it with events of the same connection. Returns its `n`.

        `message` is the parsed JSON of an `rpc` event and `shape` its shape, if the caller has it already.
        """
        at = self.count
        if at == self.columns.rows:
            self.columns.grow()
            self.attach()
        views = self.views
        n = at + 1
        if conn:
            views.conns[at] = conn
        state = method = pair = parent = 0
        id_code = NO_ID
        if kind is _RPC:
            if shape is None:
                shape = shape_of(message)
            if shape is _NOTIFICATION:
                name = message["method"]
                method = self.methods.numbers.get(name) or self.methods.number(name)
                if name in _ABOUT_REQUESTS:
                    pair = parent = self._request_meant(message, dir, conn)
                if not pair and dir is _RECV:
                    parent = self.requests.around(channel, conn)
            elif shape is _REQUEST:
                id_code = self.ids.number(message["id"])
                name = message["method"]
                method = self.methods.numbers.get(name) or self.methods.number(name)
                state = _PENDING
                if name in MAY_CONTINUE:
                    self.pages.asked(n, dir, name, message)
                if dir is _SEND:
                    if self.connections.open and not conn:
                        self.connections.asked(n, name)
                    self.requests.sent(n, conn, channel, message)
                else:
                    self.requests.wait(n, dir, conn, message["id"])
                    parent = self.requests.around(channel, conn)
            elif shape is _RESULT or shape is _ERROR:
                id_code = self.ids.number(message.get("id"))
                pair, state = self._close_request(n, dir, message, shape, conn)
                if pair:
                    method = views.methods[pair - 1]
                    parent = views.parents[pair - 1]
            elif shape is _BATCH:
                for item in message:
                    if type(item) is dict:
                        pair = self._pair_in_batch(n, dir, item, conn) or pair
            else:
                state = _INVALID
                self.invalid += 1
        else:
            shape = _NONE
            if kind is _INVALID_KIND:
                state = _INVALID
                self.invalid += 1
            if kind is _INVALID_KIND or kind is _HTTP or kind is _SSE:
                parent = self.requests.of_channel(channel, conn)
        views.offsets[at] = offset
        views.times[at] = t
        if t > self._latest:
            self._latest = t
        views.sizes[at] = size if size < 0xFFFFFFFF else 0xFFFFFFFF
        views.codes[at] = kind + dir * 16 + shape * 64
        views.channels[at] = self.channels.numbers.get(channel) or self.channels.number(channel)
        views.ids[at] = id_code
        # Zero is usual in the other columns.
        if state:
            views.states[at] = state
        if method:
            views.methods[at] = method
        if pair:
            views.pairs[at] = pair
        if parent:
            views.parents[at] = parent
        self.count = n
        return n

    def add_life(self, t: int, kind: Kind, channel: str, offset: int, fields: dict[str, Any]) -> int:
        """Add an event that may name another one in `for`.

        A `life` event that names a request and its end closes that request. A `mark` belongs to the exchange of the
        event that it marks.
        """
        event = fields.get("event")
        conn = conn_of(fields)
        if kind == Kind.LIFE and type(event) is str:
            if not conn:
                self.connections.life(self.count + 1, event)
            if event in _BEGINS:
                self.requests.begin_connection(conn)
        n = self.add(t, Dir.LOCAL, kind, channel, offset, 0, conn=conn)
        named = fields.get("for")
        if type(named) is not int or not 0 < named < n:
            return n
        if kind == Kind.MARK:
            self.views.parents[n - 1] = self.request_of(named)
        elif kind == Kind.LIFE:
            self.views.pairs[n - 1] = named
            fate = _FATES.get(str(event))
            if fate is not None:
                self._give_up(named, fate)
        return n

    def saved(self, *, with_open: bool) -> dict[str, Any] | None:
        """Return what is not in the columns, as JSON values; None if that is too much.

        `with_open` includes what later messages of the same connections need in order to be paired.
        """
        methods, channels = self.methods.saved(), self.channels.saved()
        entries = len(self.dropped) + len(self.pages.requests) + len(self.connections.first)
        if with_open:
            entries += len(self.requests)
        if methods is None or channels is None or entries > _MAX_SAVED:
            return None
        state: dict[str, Any] = {
            "count": self.count,
            "invalid": self.invalid,
            "errors": self.errors,
            "latest": self._latest,
            "methods": methods,
            "channels": channels,
            "dropped": list(self.dropped),
            "connections": self.connections.saved(),
            **self.ids.saved(),
            **self.pages.saved(),
        }
        if with_open:
            state["open"] = self.requests.saved()
        return state

    def load(self, folder: Path, state: dict[str, Any], is_right: Callable[[Index], bool]) -> bool:
        """Become the index that was saved in `folder` with `state`. The index must be empty.

        False, and no change, if they do not fit, or are not right. Raises KeyError, TypeError, ValueError or
        OverflowError for a state of another shape.
        """
        made = Index()
        made.methods.load(state["methods"])
        made.channels.load(state["channels"])
        made.ids.load(state)
        made.pages.load(state)
        made.dropped.extend(state["dropped"])
        made.connections.load(state["connections"])
        made.invalid, made.errors, made._latest = state["invalid"], state["errors"], state["latest"]
        if "open" in state:
            made.requests.load(state["open"])
        count = state["count"]
        if type(made._latest) is not int or type(count) is not int or count <= 0:
            return False
        if not made.columns.load(folder, count):
            return False
        made.attach()
        made.count = count
        if not is_right(made):
            made.columns.discard()
            return False
        made.methods.redact = self.methods.redact
        self.__dict__.update(made.__dict__)
        return True

    def _close_request(self, n: int, dir: Dir, message: dict[str, Any], shape: Shape, conn: int) -> tuple[int, State]:
        """Pair an answer with its request, which was sent in the other direction."""
        result = message.get("result")
        result = result if type(result) is dict else _NOTHING
        asked = _RECV if dir is _SEND else _SEND
        # The token of a request stays in use while the task runs that it has created.
        request, is_second = self.requests.answer(asked, conn, message.get("id"), keeps_token="task" in result)
        if not request:
            return 0, State.UNKNOWN
        if is_second:
            return request, State.DOUBLED
        views = self.views
        views.pairs[request - 1] = n
        failed = shape is _ERROR or result.get("isError") is True
        if failed:
            self.errors += 1
        if views.states[request - 1] != _PENDING:
            return request, State.LATE
        state = _FAILED if failed else _DONE
        views.states[request - 1] = state
        return request, state

    def _pair_in_batch(self, n: int, dir: Dir, item: dict[str, Any], conn: int) -> int:
        shape = shape_of(item)
        if shape in (Shape.RESULT, Shape.ERROR):
            return self._close_request(n, dir, item, shape, conn)[0]
        if shape == Shape.REQUEST:
            self.requests.wait(n, dir, conn, item["id"])
        return 0

    def _give_up(self, request: int, state: State) -> None:
        """End a request without an answer, if it is pending."""
        if self.views.states[request - 1] == _PENDING:
            self.views.states[request - 1] = state
            self.requests.end(request, self.conn(request), keeps_token=state in _GIVEN_UP)

    def _request_meant(self, message: dict[str, Any], dir: Dir, conn: int) -> int:
        """Return the request that a progress or a cancellation names, or 0."""
        params = message.get("params")
        if type(params) is not dict:
            return 0
        if message["method"] == "notifications/progress":
            return self.requests.with_token(conn, params.get("progressToken"))
        request = self.requests.with_id(dir, conn, params.get("requestId"))
        if request:
            self._give_up(request, State.CANCELLED)
        return request


def _next_with(value: int, column: memoryview, after: int, upto: int) -> int:
    """Return the first event in `(after, upto]` that has a number in a column of 4 bytes; 0 without one."""
    needle = value.to_bytes(4, sys.byteorder)
    for low in range(after, upto, _STRIDE):
        data = column[low : min(low + _STRIDE, upto)].tobytes()
        at = data.find(needle)
        while at >= 0:
            if at % 4 == 0:
                return low + at // 4 + 1
            at = data.find(needle, at + 1)
    return 0


def code_of(kind: Kind, dir: Dir, shape: Shape) -> int:
    """Combine kind, direction and shape of an event into the number that the index stores."""
    return kind + dir * 16 + shape * 64


def conn_of(fields: dict[str, Any]) -> int:
    """Return the connection in an event's fields; 0, the session's own, if they have none."""
    conn = fields.get("conn")
    return conn if type(conn) is int and 0 < conn <= _MAX_CONNS else 0


_ABOUT_REQUESTS = frozenset(("notifications/progress", "notifications/cancelled"))
_BEGINS = frozenset(("reopen", "spawn"))
"""Events that begin a connection: calls of the one before get no more messages."""
_FATES = {"error": State.ERROR, "cancel": State.CANCELLED, "timeout": State.TIMED_OUT, "lost": State.LOST}
