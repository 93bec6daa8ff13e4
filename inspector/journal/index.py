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
from enum import IntEnum
from itertools import islice
from pathlib import Path
from typing import Any

from inspector.journal.channels import ONE_REQUEST
from inspector.journal.columns import Columns
from inspector.journal.connections import Connections
from inspector.journal.format import Dir, Kind
from inspector.protocol.jsonrpc import Shape, id_key, shape_of

NO_ID = -1
_STRING_BASE = -2
_Waiting = dict[tuple[int, Any], int]
"""Requests by connection and id."""
_KEPT_WAITING = 1 << 15
"""Requests without an answer that are known, in each direction: a server may send any number of them."""
_KEPT_ANSWERED = 4096
_LOOKED_AT_FOR_FATE = 10_000
_CANCELLED = "notifications/cancelled"
_KEPT_CHANNELS = 4096
_STRIDE = 1 << 14
"""Events whose columns are read at once."""
_MAX_SAVED = 200_000
"""Entries beside the columns from which an index is not saved."""
_TRIMMED = 1 << 22
"""Events that are read between two times that memory of columns in files is given back."""

POLL = "tasks/get"
"""The request that asks again and again how a task stands."""
MAX_POLLS = 50
"""Polls in one row of a log; an endless task fills several."""
MAX_NAMES = 0xFFFF
"""Names of one kind that are kept; further ones share the last number."""
_FURTHER = "…"
"""The name of all further names in the table of numbers."""
_MAX_CONNS = (1 << 32) - 1
_NOTHING: dict[int, None] = {}
_MAX_DIRECT_ID = 1 << 62


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
_KINDS, _DIRS, _SHAPES, _STATES = tuple(Kind), tuple(Dir), tuple(Shape), tuple(State)
_SEND, _RECV = Dir.SEND, Dir.RECV
_RPC, _INVALID_KIND, _HTTP, _SSE = Kind.RPC, Kind.INVALID, Kind.HTTP, Kind.SSE
_NONE, _REQUEST, _NOTIFICATION, _RESULT, _ERROR, _BATCH = Shape
_PENDING, _DONE, _FAILED, _INVALID = State.PENDING, State.DONE, State.ERROR, State.INVALID
_GIVEN_UP = (State.CANCELLED, State.TIMED_OUT)

STATE_NAMES = (
    "plain",
    "pending",
    "done",
    "error",
    "cancelled",
    "timeout",
    "late",
    "invalid",
    "unknown",
    "doubled",
    "lost",
)


class NameTable:
    """Strings by number. A malicious stream of new names ends in one shared number, not in exhausted memory."""

    def __init__(self) -> None:
        self.texts: list[str] = [""]
        self.numbers: dict[str, int] = {"": 0}
        self.redact: Callable[[str], str] = lambda text: text
        """Removes secrets from a text before it is shown anywhere."""

    def number(self, text: str) -> int:
        found = self.numbers.get(text)
        if found is None:
            if len(self.texts) >= MAX_NAMES:
                return self.numbers.setdefault(_FURTHER, len(self.texts) - 1)
            found = self.numbers[text] = len(self.texts)
            self.texts.append(self.redact(text))
        return found

    def find(self, text: str) -> int | None:
        """Return the number of a name that has been seen."""
        return self.numbers.get(text)

    def saved(self) -> list[str] | None:
        """Return the names for `load`; None if some of them are the same without their secrets."""
        return self.texts if len(set(self.texts)) == len(self.texts) else None

    def load(self, texts: list[str]) -> None:
        """Take the names that `saved` returned."""
        self.texts = [str(text) for text in texts]
        self.numbers = {text: number for number, text in enumerate(self.texts)}
        if len(texts) >= MAX_NAMES:
            self.numbers.setdefault(_FURTHER, len(texts) - 1)


class Index:
    """Facts about events 1…`count`, by position `n - 1`. One thread writes; others may read up to `count`."""

    def __init__(self) -> None:
        self.count = 0
        self._columns = Columns()
        self._passed = 0
        """Events read since memory was last given back."""
        self._attach()
        self.dropped = array("I")
        """The events without a recorded body, ascending."""
        self._method_names = NameTable()
        self._channel_names = NameTable()
        self.connections = Connections()
        self.invalid = 0
        self.errors = 0
        self.page_requests = array("I")
        """Requests for a further page of a list, and further polls of a task, ascending."""
        self.page_heads = array("I")
        """The request for the first page, or the first poll, of each of them."""
        self.pages: dict[int, array[int]] = {}
        """By request for a first page: the requests for further ones."""
        self._list_heads: dict[tuple[int, str], int] = {}
        self._id_texts: list[str] = []
        self._id_numbers: dict[str, int] = {}
        self.largest_id = NO_ID
        """The largest numeric id of all messages; negative if there is none."""
        self._latest = 0
        self._pending: tuple[_Waiting, ...] = tuple({} for _ in _DIRS)
        """By direction: the requests without an answer, oldest first."""
        self._answered: OrderedDict[tuple[int, int, Any], int] = OrderedDict()
        self._tokens: dict[tuple[int, Any], int] = {}
        self._token_of: dict[int, tuple[int, Any]] = {}
        self._open_calls: dict[int, dict[int, None]] = {}
        """By connection, the open calls."""
        self._channel_request: dict[tuple[int, str], int] = {}

    def __len__(self) -> int:
        return self.count

    # Columns

    def _attach(self) -> None:
        """Take the columns as they are now, by position `n - 1`. They are longer than `count`, and zero from there."""
        (
            self._offsets,
            self._times,
            self._sizes,
            self._codes,
            self._states,
            self._methods,
            self._channels,
            self._ids,
            self._pairs,
            self._parents,
            self._conns,
        ) = self._columns.views
        # Each event has these. Elsewhere zero is usual.
        self._common = self._offsets, self._times, self._sizes, self._codes, self._channels, self._ids
        self._rows = self._columns.rows

    @property
    def in_files(self) -> bool:
        """Whether the columns are in files and may have to be saved."""
        return self._columns.has_unsaved(self.count)

    def close_files(self) -> None:
        """Close the files of the columns, and remove them unless they were saved. The index stays readable."""
        self._columns.discard()

    def passed(self, events: int) -> None:
        """Tell that the columns of so many events were read: those in files may give back memory now."""
        self._passed += events
        if self._passed >= _TRIMMED:
            self._passed = 0
            self._columns.trim()

    # Facts about one event

    def kind(self, n: int) -> Kind:
        """Return the kind of event `n`."""
        return _KINDS[self._codes[n - 1] & 15]

    def dir(self, n: int) -> Dir:
        """Return the direction of event `n`."""
        return _DIRS[(self._codes[n - 1] >> 4) & 3]

    def shape(self, n: int) -> Shape:
        """Return the shape of event `n` in JSON-RPC's terms."""
        return _SHAPES[self._codes[n - 1] >> 6]

    def state(self, n: int) -> State:
        """Return the state of event `n`."""
        return _STATES[self._states[n - 1]]

    def time(self, n: int) -> int:
        """Return the time of event `n`, in microseconds since the recording began."""
        return self._times[n - 1]

    def size(self, n: int) -> int:
        """Return the bytes of the message of event `n`."""
        return self._sizes[n - 1]

    def latest(self) -> int:
        """Return the latest time of all events: of the last one, unless a clock ran backwards. 0 without events."""
        return self._latest

    def times_between(self, after: int, upto: int) -> Sequence[int]:
        """Return the times of the events after `after` up to `upto`, in order."""
        return self._times[after : min(upto, self.count)]

    @property
    def text_ids(self) -> int:
        """The number of different ids that are no whole numbers from 0."""
        return len(self._id_texts)

    def pair(self, n: int) -> int:
        """Return the partner of event `n`; 0 if there is none.

        It is the answer of a request, or the request of an answer, a progress or a cancellation.
        """
        return self._pairs[n - 1]

    def parent(self, n: int) -> int:
        """Return the request inside which event `n` happened; 0 if there is none."""
        return self._parents[n - 1]

    def redact_names(self, redact: Callable[[str], str]) -> None:
        """Have secrets removed from the names of methods that are added from now on."""
        self._method_names.redact = redact

    def method(self, n: int) -> str:
        """Return the method of a request or notification; for an answer, the method of its request."""
        return self._method_names.texts[self._methods[n - 1]]

    def channel(self, n: int) -> str:
        """Return the channel of event `n`."""
        return self._channel_names.texts[self._channels[n - 1]]

    def shares_channel(self, n: int) -> bool:
        """Whether `channel` may be wrong for event `n`: all beyond the first 65,534 share the name of the last one."""
        return self._channels[n - 1] == self._channel_names.find(_FURTHER)

    def conn(self, n: int) -> int:
        """Return the number of the connection of event `n`; 0 is the session's own."""
        return self._conns[n - 1]

    def id(self, n: int) -> int | str | None:
        """Return the JSON-RPC id of a message, or None."""
        code = self._ids[n - 1]
        if code >= 0:
            return code
        return None if code == NO_ID else self._id_texts[_STRING_BASE - code]

    def id_code(self, value: int | str) -> int | None:
        """Return the number of an id in `ids`, or None if it was never seen."""
        if type(value) is int and 0 <= value < _MAX_DIRECT_ID:
            return value
        number = self._id_numbers.get(repr(value))
        return None if number is None else _STRING_BASE - number

    def state_at(self, n: int, upto: int) -> State:
        """Return the state of event `n` after event `upto`: a request that ended later was still pending."""
        state = State(self._states[n - 1])
        if state in (State.PLAIN, State.PENDING, State.INVALID) or self.shape(n) != Shape.REQUEST:
            return state
        answer = self._pairs[n - 1]
        if answer and state in (State.DONE, State.ERROR):
            return state if answer <= upto else State.PENDING
        at = n
        for _ in range(_LOOKED_AT_FOR_FATE):
            at = self.next_about(n, at, upto)
            if not at:
                return State.PENDING
            if (self.kind(at) == Kind.LIFE and not self._channels[at - 1]) or self.method(at) == _CANCELLED:
                return state
        return state

    def next_about(self, request: int, after: int, upto: int) -> int:
        """Return the first event after `after`, up to `upto`, whose partner is `request`; 0 without one."""
        return _next_with(request, self._pairs, after, min(upto, self.count))

    def next_inside(self, request: int, after: int, upto: int) -> int:
        """Return the first event after `after`, up to `upto`, that happened inside `request`; 0 without one."""
        return _next_with(request, self._parents, after, min(upto, self.count))

    def is_kept(self, n: int) -> bool:
        """Whether the recording has the body of event `n`."""
        at = bisect_left(self.dropped, n)
        return at == len(self.dropped) or self.dropped[at] != n

    def duration(self, n: int) -> int | None:
        """Return the microseconds from the request to its answer, for either of the two; None without a partner."""
        partner = self._pairs[n - 1]
        if not partner or self.shape(n) not in (Shape.REQUEST, Shape.RESULT, Shape.ERROR):
            return None
        return abs(self._times[partner - 1] - self._times[n - 1])

    def request_of(self, n: int) -> int:
        """Return the request that event `n` belongs to: itself, its partner, or its parent; 0 if none."""
        if self.shape(n) == Shape.REQUEST:
            return n
        return self._pairs[n - 1] or self._parents[n - 1]

    def awaits(self, message: Any, conn: int = 0) -> bool:
        """Whether a message from the server answers a request that we sent on `conn` and that is still open."""
        return type(message) is dict and (conn, id_key(message.get("id"))) in self._pending[_SEND]

    def root_of(self, n: int) -> int:
        """Return the outermost request of event `n`; 0 if there is none."""
        request = self.request_of(n)
        for _ in range(16):
            outer = self._parents[request - 1] if request else 0
            if not outer or outer == request:
                break
            request = outer
        return request

    def related(self, requests: set[int], after: int, upto: int) -> Iterator[int]:
        """Return the events after `after` up to `upto` that belong to one of some requests.

        Meanwhile the caller adds further requests to `requests`: those nested in them.
        """
        for low in range(after, min(upto, self.count), _STRIDE):
            high = min(low + _STRIDE, upto, self.count)
            for n, (pair, parent) in enumerate(
                zip(self._pairs[low:high], self._parents[low:high], strict=True), low + 1
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
        answer = self._pairs[root - 1]
        last = self.count if not answer else max(answer, n)
        found = [root]
        members = {root}
        for m in self.related(members, root, last):
            members.add(m)
            found.append(m)
            if len(found) >= limit:
                break
        return found

    # Add events

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
        if at == self._rows:
            self._columns.grow()
            self._attach()
        n = at + 1
        if conn:
            self._conns[at] = conn
        state = method = pair = parent = 0
        id_code = NO_ID
        if kind is _RPC:
            if shape is None:
                shape = shape_of(message)
            if shape is _NOTIFICATION:
                name = message["method"]
                method = self._method_names.numbers.get(name) or self._method_names.number(name)
                if name in _ABOUT_REQUESTS:
                    pair = parent = self._request_meant(message, dir, conn)
                if not pair and dir is _RECV:
                    parent = self._enclosing(channel, conn)
            elif shape is _REQUEST:
                id_code = self._encode_id(message["id"])
                name = message["method"]
                method = self._method_names.numbers.get(name) or self._method_names.number(name)
                state = _PENDING
                if self.connections.open and dir is _SEND and not conn:
                    self.connections.asked(n, name)
                parent = self._open_request(n, dir, channel, message, conn)
            elif shape is _RESULT or shape is _ERROR:
                id_code = self._encode_id(message.get("id"))
                pair, state = self._close_request(n, dir, message, shape, conn)
                if pair:
                    method = self._methods[pair - 1]
                    parent = self._parents[pair - 1]
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
                parent = self._channel_request.get((conn, channel), 0)
            elif kind is _HTTP or kind is _SSE:
                parent = self._channel_request.get((conn, channel), 0)
        offsets, times, sizes, codes, channels, ids = self._common
        offsets[at] = offset
        times[at] = t
        if t > self._latest:
            self._latest = t
        sizes[at] = size if size < 0xFFFFFFFF else 0xFFFFFFFF
        codes[at] = kind + dir * 16 + shape * 64
        channels[at] = self._channel_names.numbers.get(channel) or self._channel_names.number(channel)
        ids[at] = id_code
        if state:
            self._states[at] = state
        if method:
            self._methods[at] = method
        if pair:
            self._pairs[at] = pair
        if parent:
            self._parents[at] = parent
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
                self._open_calls.pop(conn, None)
        n = self.add(t, Dir.LOCAL, kind, channel, offset, 0, conn=conn)
        named = fields.get("for")
        if type(named) is not int or not 0 < named < n:
            return n
        if kind == Kind.MARK:
            self._parents[n - 1] = self.request_of(named)
        elif kind == Kind.LIFE:
            self._pairs[n - 1] = named
            fate = _FATES.get(str(event))
            if fate is not None and self._states[named - 1] == State.PENDING:
                self._settle(named, fate)
        return n

    def bind_channel(self, channel: str, n: int, conn: int = 0) -> None:
        """Bind the messages on `channel` to request `n` (a POST and its response stream)."""
        self._channel_request[conn, channel] = n
        if len(self._channel_request) > _KEPT_CHANNELS:
            del self._channel_request[next(iter(self._channel_request))]

    def _encode_id(self, value: Any) -> int:
        if type(value) is int and 0 <= value < _MAX_DIRECT_ID:
            if value > self.largest_id:
                self.largest_id = value
            return value
        if value is None:
            return NO_ID
        if type(value) is str and len(value) > 256:
            value = value[:256]
        text = repr(value) if type(value) in (int, str, float) else "?"
        number = self._id_numbers.get(text)
        if number is None:
            if len(self._id_texts) >= MAX_NAMES:
                return NO_ID
            number = self._id_numbers[text] = len(self._id_texts)
            self._id_texts.append(value if type(value) is str else text)
        return _STRING_BASE - number

    def _open_request(self, n: int, dir: Dir, channel: str, message: dict[str, Any], conn: int) -> int:
        self._await(dir, conn, message["id"], n)
        params = message.get("params")
        if message["method"] in _LISTS:
            self._note_page(n, dir, message["method"], params)
        elif message["method"] == POLL:
            self._note_poll(n, dir, params)
        if dir is _SEND:
            meta = params.get("_meta") if type(params) is dict else None
            token = id_key(meta.get("progressToken")) if type(meta) is dict else None
            if token is not None:
                self._tokens[conn, token] = n
                self._token_of[n] = conn, token
                if len(self._tokens) > 2 * _KEPT_WAITING:
                    for old in list(islice(self._tokens, _KEPT_WAITING)):
                        del self._tokens[old]
            if message["method"] in _CALLS:
                self._open_calls.setdefault(conn, {})[n] = None
            if channel.startswith(ONE_REQUEST):
                self.bind_channel(channel, n, conn)
            return 0
        return self._enclosing(channel, conn)

    # The state beside the columns, for another time

    def saved(self, *, with_open: bool) -> dict[str, Any] | None:
        """Return what is not in the columns, as JSON values; None if that is too much.

        `with_open` includes what later messages of the same connections need in order to be paired.
        """
        methods, channels = self._method_names.saved(), self._channel_names.saved()
        parts: list[Any] = [self.dropped, self.page_requests, self.connections.first]
        if with_open:
            parts += [*self._pending, self._tokens, self._open_calls]
        if methods is None or channels is None or sum(map(len, parts)) > _MAX_SAVED:
            return None
        state: dict[str, Any] = {
            "count": self.count,
            "invalid": self.invalid,
            "errors": self.errors,
            "latest": self._latest,
            "largest_id": self.largest_id,
            "methods": methods,
            "channels": channels,
            "ids": list(zip(self._id_numbers, self._id_texts, strict=True)),
            "dropped": list(self.dropped),
            "pages": [list(self.page_requests), list(self.page_heads)],
            "list_heads": [[*key, n] for key, n in self._list_heads.items()],
            "connections": self.connections.saved(),
        }
        if with_open:
            state["open"] = {
                "pending": [[dir, *key, n] for dir in _DIRS for key, n in self._pending[dir].items()],
                "answered": [[*key, n] for key, n in self._answered.items()],
                "tokens": [[*key, n] for key, n in self._tokens.items()],
                "tokens_of": [[n, *token] for n, token in self._token_of.items()],
                "calls": [[conn, list(calls)] for conn, calls in self._open_calls.items()],
                "channels": [[*key, n] for key, n in self._channel_request.items()],
            }
        return state

    def load(self, folder: Path, state: dict[str, Any], is_right: Callable[[Index], bool]) -> bool:
        """Become the index that was saved in `folder` with `state`. The index must be empty.

        False, and no change, if they do not fit, or are not right. Raises KeyError, TypeError, ValueError or
        OverflowError for a state of another shape.
        """
        made = Index()
        made._method_names.load(state["methods"])
        made._channel_names.load(state["channels"])
        made._id_numbers = {key: number for number, (key, _) in enumerate(state["ids"])}
        made._id_texts = [text for _, text in state["ids"]]
        made.dropped.extend(state["dropped"])
        for page, head in zip(*state["pages"], strict=True):
            made.page_requests.append(page)
            made.page_heads.append(head)
            made.pages.setdefault(head, array("I")).append(page)
        made._list_heads = {(dir, method): n for dir, method, n in state["list_heads"]}
        made.connections.load(state["connections"])
        made.invalid, made.errors = state["invalid"], state["errors"]
        known = state.get("open")
        if known is not None:
            for dir, conn, key, n in known["pending"]:
                made._pending[dir][conn, key] = n
            made._answered = OrderedDict(((dir, conn, key), n) for dir, conn, key, n in known["answered"])
            made._tokens = {(conn, token): n for conn, token, n in known["tokens"]}
            made._token_of = {n: (conn, token) for n, conn, token in known["tokens_of"]}
            made._open_calls = {conn: dict.fromkeys(calls) for conn, calls in known["calls"]}
            made._channel_request = {(conn, channel): n for conn, channel, n in known["channels"]}
        count = state["count"]
        made._latest, made.largest_id = state["latest"], state["largest_id"]
        if (
            type(made._latest) is not int
            or type(made.largest_id) is not int
            or type(count) is not int
            or count <= 0
            or not made._columns.load(folder, count)
        ):
            return False
        made._attach()
        made.count = count
        if not is_right(made):
            made._columns.discard()
            return False
        made._method_names.redact, made._channel_names.redact = self._method_names.redact, self._channel_names.redact
        self.__dict__.update(made.__dict__)
        return True

    def _note_page(self, n: int, dir: Dir, method: str, params: Any) -> None:
        """Assign a list request with a cursor to the newest one without."""
        head = self._list_heads.get((dir, method), 0)
        if not head or type(params) is not dict or params.get("cursor") is None:
            self._list_heads[dir, method] = n
            return
        self._add_page(n, head)

    def _note_poll(self, n: int, dir: Dir, params: Any) -> None:
        """Assign a poll of a task to its first one; `MAX_POLLS` of them are one row."""
        task = params.get("taskId") if type(params) is dict else None
        if type(task) is not str:
            return
        key = (dir, f"{POLL} {task}")
        head = self._list_heads.get(key, 0)
        if head and len(self.pages.get(head, ())) < MAX_POLLS - 1:
            self._add_page(n, head)
            return
        if len(self._list_heads) >= MAX_NAMES:
            self._list_heads.clear()
        self._list_heads[key] = n

    def _add_page(self, n: int, head: int) -> None:
        self.page_requests.append(n)
        self.page_heads.append(head)
        self.pages.setdefault(head, array("I")).append(n)

    def _close_request(self, n: int, dir: Dir, message: dict[str, Any], shape: Shape, conn: int) -> tuple[int, State]:
        """Pair an answer with its request, which was sent in the other direction."""
        asked = _RECV if dir is _SEND else _SEND
        id = id_key(message.get("id"))
        key = (asked, conn, id)
        request = self._pending[asked].pop((conn, id), 0)
        if not request:
            if key in self._answered:
                return self._answered[key], State.DOUBLED
            return 0, State.UNKNOWN
        self._answered[key] = request
        if len(self._answered) > _KEPT_ANSWERED:
            self._answered.popitem(last=False)
        failed = shape is _ERROR or _is_tool_error(message)
        self._pairs[request - 1] = n
        if failed:
            self.errors += 1
        if self._states[request - 1] != _PENDING:
            return request, State.LATE
        state = _FAILED if failed else _DONE
        self._settle(request, state)
        return request, state

    def _pair_in_batch(self, n: int, dir: Dir, item: dict[str, Any], conn: int) -> int:
        shape = shape_of(item)
        if shape in (Shape.RESULT, Shape.ERROR):
            return self._close_request(n, dir, item, shape, conn)[0]
        if shape == Shape.REQUEST:
            self._await(dir, conn, item["id"], n)
        return 0

    def _await(self, dir: Dir, conn: int, id: Any, n: int) -> None:
        """Note that request `n` waits for an answer. Of very many in one direction, the oldest are forgotten."""
        waiting, key = self._pending[dir], (conn, id_key(id))
        if key in waiting:
            self._forget(waiting[key])
        waiting[key] = n
        if len(waiting) > _KEPT_WAITING:
            for old in list(islice(waiting, _KEPT_WAITING // 2)):  # many at once: the first of a dict is slow to find
                self._forget(waiting.pop(old))

    def _forget(self, request: int) -> None:
        """Forget a request whose answer can no longer be told from that of another one."""
        self._open_calls.get(self.conn(request), _NOTHING).pop(request, None)
        token = self._token_of.pop(request, None)
        if token is not None:
            self._tokens.pop(token, None)

    def _settle(self, request: int, state: State) -> None:
        self._states[request - 1] = state
        self._open_calls.get(self.conn(request), _NOTHING).pop(request, None)
        token = self._token_of.pop(request, None)
        if token is not None and state not in _GIVEN_UP:
            self._tokens.pop(token, None)

    def _request_meant(self, message: dict[str, Any], dir: Dir, conn: int) -> int:
        """Return the request that a progress or a cancellation names, or 0."""
        params = message.get("params")
        if type(params) is not dict:
            return 0
        if message["method"] == "notifications/progress":
            return self._tokens.get((conn, id_key(params.get("progressToken"))), 0)
        request = self._pending[dir].get((conn, id_key(params.get("requestId"))), 0)
        if request and self._states[request - 1] == State.PENDING:
            self._settle(request, State.CANCELLED)
        return request

    def _enclosing(self, channel: str, conn: int) -> int:
        """Return the request inside which a message from the server arrived, if that is certain."""
        if self._channel_request and (conn, channel) in self._channel_request:
            return self._channel_request[conn, channel]
        calls = self._open_calls.get(conn, _NOTHING)
        return next(iter(calls)) if len(calls) == 1 else 0


def _next_with(value: int, column: memoryview, after: int, upto: int) -> int:
    """Return the first event in `(after, upto]` that has a number in a column of 4 bytes; 0 without one."""
    wanted = value.to_bytes(4, sys.byteorder)
    for low in range(after, upto, _STRIDE):
        data = column[low : min(low + _STRIDE, upto)].tobytes()
        at = data.find(wanted)
        while at >= 0:
            if at % 4 == 0:
                return low + at // 4 + 1
            at = data.find(wanted, at + 1)
    return 0


def code_of(kind: Kind, dir: Dir, shape: Shape) -> int:
    """Combine kind, direction and shape of an event into the number that the index stores."""
    return kind + dir * 16 + shape * 64


def conn_of(fields: dict[str, Any]) -> int:
    """Return the connection in an event's fields; 0, the session's own, if they have none."""
    conn = fields.get("conn")
    return conn if type(conn) is int and 0 < conn <= _MAX_CONNS else 0


_CALLS = frozenset(("tools/call", "prompts/get", "resources/read", "completion/complete"))
_LISTS = frozenset(("tools/list", "resources/list", "resources/templates/list", "prompts/list", "tasks/list"))
_ABOUT_REQUESTS = frozenset(("notifications/progress", "notifications/cancelled"))
_BEGINS = frozenset(("reopen", "spawn"))
"""Events that begin a connection: calls of the one before get no more messages."""
_FATES = {"error": State.ERROR, "cancel": State.CANCELLED, "timeout": State.TIMED_OUT, "lost": State.LOST}


def _is_tool_error(message: dict[str, Any]) -> bool:
    result = message.get("result")
    return type(result) is dict and result.get("isError") is True
