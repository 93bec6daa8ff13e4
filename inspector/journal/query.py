"""One query over a journal's index: the numbers of the events of some kind, direction, shape, method, and so on.

A `Query` says what is wanted, and is made once, often as a constant of a module. It is asked about one index after the
other, about the events after `after` up to `upto` (by default all), so that a reader of a growing journal asks only
about what is new:

    requests = Query(dir=Dir.SEND, shape=Shape.REQUEST)
    requests.numbers(index)                       # [4, 9, 12]
    requests.numbers(index, after=seen)           # the new ones
    requests.first(index, after=9)                # 12; 0 where there is none
    for n in requests.backwards(index, upto=9):   # 9, 4
        ...

    Query(method=("initialize", "server/discover"), dir=Dir.RECV, shape=Shape.RESULT)
    Query(kind=(Kind.RPC, Kind.INVALID), dir=Dir.RECV) | Query(kind=Kind.STDERR)
    Query(shape=Shape.REQUEST, inside=request)    # what the server asked during a request

No Python object is made for an event that does not fit: the index's columns are compared a slice at a time, as bytes.
A million events take a few milliseconds by kind, direction and shape, and some tens with further conditions.
For the facts of a single event, see `Index`: `kind(n)`, `pair(n)`, `time(n)` and so on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import compress
from typing import TypeVar

from inspector.journal.format import Dir, Kind
from inspector.journal.index import Index, State, code_of
from inspector.journal.name_tables import NameTable
from inspector.protocol.jsonrpc import Shape

_FIRST, _SLICE = 1 << 8, 1 << 15
"""Events of the first slice and of the longest: the first match is often near."""
_DENSE = 8
"""A mask with one match in so many events is read completely; in a sparser one only the matches are visited."""
_LOW, _HIGH = (0, 1) if sys.byteorder == "little" else (1, 0)
"""The positions of the two bytes of a code in the array."""
_NUMBERS = range(1, 1 << 32)
"""The numbers of events, as a column."""
_SWAP = bytes((1, 0, *range(2, 256)))

_T = TypeVar("_T", Kind, Dir, Shape, State)
_Test = tuple[Sequence[int], Callable[[int], bool]]
"""A column of the index, and whether one of its values matches."""


# Masks: one byte for each event of a range, 1 for a match


def both(one: bytes, other: bytes) -> bytes:
    """Return the mask of what is in both masks of one length."""
    return (int.from_bytes(one, "little") & int.from_bytes(other, "little")).to_bytes(len(one), "little")


def either(one: bytes, other: bytes) -> bytes:
    """Return the mask of what is in at least one mask of one length."""
    return (int.from_bytes(one, "little") | int.from_bytes(other, "little")).to_bytes(len(one), "little")


def inverted(mask: bytes) -> bytes:
    """Return the mask of what is not in a mask."""
    return mask.translate(_SWAP)


def picked(first: int, mask: bytes) -> Iterable[int]:
    """Return the numbers in a mask, ascending; its first byte is event `first`."""
    if mask.count(1) * _DENSE > len(mask):
        return compress(range(first, first + len(mask)), mask)
    return _sparse(first, mask)


def _sparse(first: int, mask: bytes) -> Iterator[int]:
    at = mask.find(1)
    while at >= 0:
        yield first + at
        at = mask.find(1, at + 1)


def _narrowed(mask: bytes, values: Sequence[int], fits: Callable[[int], bool]) -> bytes:
    """Return the mask of those of its events whose value matches."""
    if mask.count(1) * _DENSE > len(mask):
        return both(mask, bytes(map(fits, values)))
    left = bytearray(mask)
    for at in _sparse(0, mask):
        left[at] = fits(values[at])
    return bytes(left)


class Query:
    """Selects events that match every given condition. It has no state of any journal.

    A `shape` other than `NONE` is that of an `rpc` event. `method` and `channel` are exact names, one or several; for
    an answer, the method is that of its request. `prefix` is the start of the method. `id` is a JSON-RPC id (1 and "1"
    are different). `exchange` is the number of any event of an exchange, which is selected as a whole; `inside` the
    number of the request during which something happened (0: during none). `conn` is the number of a connection,
    `since` and `until` are times in microseconds since the start, both included.
    """

    def __init__(
        self,
        kind: Kind | Collection[Kind] | None = None,
        dir: Dir | Collection[Dir] | None = None,
        shape: Shape | Collection[Shape] | None = None,
        *,
        state: State | Collection[State] | None = None,
        method: str | Collection[str] | None = None,
        prefix: str = "",
        id: int | str | None = None,
        channel: str | Collection[str] | None = None,
        exchange: int | None = None,
        inside: int | None = None,
        conn: int | None = None,
        since: int | None = None,
        until: int | None = None,
    ) -> None:
        dirs, shapes = _several(dir, Dir), _several(shape, Shape)
        kinds = _several(kind, Kind if Shape.NONE in shapes else (Kind.RPC,))
        self._codes = _codes(kinds, dirs, shapes)
        self._states: bytes | None = None
        """By state, whether it matches."""
        if state is not None:
            fitting = _several(state, State)
            self._states = bytes(state in fitting for state in range(256))
        self._method = (method,) if isinstance(method, str) else method
        self._prefix = prefix
        self._id = id
        self._channel = (channel,) if isinstance(channel, str) else channel
        self._exchange = exchange
        self._inside = inside
        self._conn = conn
        self._since, self._until = since, until
        self._only_codes = (
            all(value is None for value in (state, method, id, channel, exchange, inside, conn, since, until))
            and not prefix
        )
        self._set_tables()

    def _set_tables(self) -> None:
        self._table, self._high_table = _tables(self._codes)
        self._has_all = len(self._codes) == len(Kind) * len(Dir) * len(Shape)

    def __or__(self, other: Query) -> Query:
        """Return the query for what matches either, if both use only kind, direction and shape."""
        if not (self._only_codes and other._only_codes):
            raise ValueError("only queries by kind, direction and shape can be joined")
        made = Query()
        made._codes = self._codes | other._codes
        made._set_tables()
        return made

    # Results

    def numbers(self, index: Index, after: int = 0, upto: int | None = None) -> list[int]:
        """Return the numbers of all matches of the events after `after` up to `upto`, ascending."""
        numbers: list[int] = []
        last, tests = _last(index, upto), self._tests(index)
        for low in range(max(after, 0) + 1, last + 1, _SLICE):
            numbers += picked(low, self._mask(index, low, min(low + _SLICE - 1, last), tests))
        return numbers

    def forwards(self, index: Index, after: int = 0, upto: int | None = None) -> Iterator[int]:
        """Yield the same, the oldest first: the index is read only as far as needed."""
        last, tests = _last(index, upto), self._tests(index)
        low, length = max(after, 0) + 1, _FIRST
        while low <= last:
            high = min(low + length - 1, last)
            yield from picked(low, self._mask(index, low, high, tests))
            low, length = high + 1, min(length * 4, _SLICE)

    def backwards(self, index: Index, after: int = 0, upto: int | None = None) -> Iterator[int]:
        """Yield the same events, the newest first."""
        high, tests = _last(index, upto), self._tests(index)
        length = _FIRST
        while high > max(after, 0):
            low = max(high - length + 1, after + 1, 1)
            mask = self._mask(index, low, high, tests)
            at = mask.rfind(1)
            while at >= 0:
                yield low + at
                at = mask.rfind(1, 0, at)
            high, length = low - 1, min(length * 4, _SLICE)

    def first(self, index: Index, after: int = 0, upto: int | None = None) -> int:
        """Return the first match; 0 without one."""
        return next(self.forwards(index, after, upto), 0)

    def last(self, index: Index, after: int = 0, upto: int | None = None) -> int:
        """Return the last match; 0 without one."""
        return next(self.backwards(index, after, upto), 0)

    def count(self, index: Index, after: int = 0, upto: int | None = None) -> int:
        """Return the number of matches."""
        last, tests = _last(index, upto), self._tests(index)
        return sum(
            self._mask(index, low, min(low + _SLICE - 1, last), tests).count(1)
            for low in range(max(after, 0) + 1, last + 1, _SLICE)
        )

    def fits(self, index: Index, n: int) -> bool:
        """Whether event `n` matches."""
        if index.views.codes[n - 1] not in self._codes:
            return False
        return self._only_codes or self.mask(index, n, n) == b"\1"

    def mask(self, index: Index, first: int, last: int) -> bytes:
        """Return one byte (0 or 1) for each of the events `first` to `last`."""
        return self._mask(index, first, last, self._tests(index))

    # Evaluation

    def _mask(self, index: Index, first: int, last: int, tests: list[_Test]) -> bytes:
        index.columns.passed(last - first + 1)
        mask = b"\1" * (last - first + 1) if self._has_all else self._by_code(index, first, last)
        if self._states is not None:
            mask = both(mask, index.views.states[first - 1 : last].tobytes().translate(self._states))
        for column, fits in tests:
            if 1 not in mask:
                break
            mask = _narrowed(mask, column[first - 1 : last], fits)
        return mask

    def _by_code(self, index: Index, first: int, last: int) -> bytes:
        codes = index.views.codes[first - 1 : last].tobytes()
        low, high = codes[_LOW::2], codes[_HIGH::2]
        mask = low.translate(self._table)
        if 1 in high:
            mask = either(both(mask, inverted(high)), both(low.translate(self._high_table), high))
        return mask

    def _tests(self, index: Index) -> list[_Test]:
        """Return the conditions beside kind, direction and shape, for one index now."""
        tests: list[_Test] = []
        if self._only_codes:
            return tests
        if self._method is not None:
            tests.append((index.views.methods, _numbers(self._method, index.methods)))
        if self._prefix:
            tests.append((index.views.methods, _Beginning(self._prefix, index.methods.texts).fits))
        if self._id is not None:
            code = index.ids.find(self._id)
            tests.append((index.views.ids, code.__eq__ if code is not None else _never))
        if self._channel is not None:
            tests.append((index.views.channels, _numbers(self._channel, index.channels)))
        if self._inside is not None:
            tests.append((index.views.parents, self._inside.__eq__))
        if self._since is not None:
            tests.append((index.views.times, self._since.__le__))
        if self._until is not None:
            tests.append((index.views.times, self._until.__ge__))
        if self._conn is not None:
            conn = self._conn
            tests.append((_NUMBERS, lambda n: index.conn(n) == conn))
        if self._exchange is not None:
            tests.append((_NUMBERS, frozenset(index.exchange(self._exchange, index.count)).__contains__))
        return tests


class _Beginning:
    """Whether a name has a prefix, by its number; each name is tested once."""

    def __init__(self, prefix: str, texts: list[str]) -> None:
        self._prefix = prefix
        self._texts = texts
        self._known: dict[int, bool] = {}

    def fits(self, number: int) -> bool:
        fits = self._known.get(number)
        if fits is None:
            fits = self._known[number] = self._texts[number].startswith(self._prefix)
        return fits


@lru_cache(1024)
def _codes(kinds: tuple[Kind, ...], dirs: tuple[Dir, ...], shapes: tuple[Shape, ...]) -> frozenset[int]:
    return frozenset(code_of(kind, dir, shape) for kind in kinds for dir in dirs for shape in shapes)


@lru_cache(1024)
def _tables(codes: frozenset[int]) -> tuple[bytes, bytes]:
    """Return by low byte of a code whether it matches, for high byte 0 and for 1."""
    tables = bytearray(256), bytearray(256)
    for code in codes:
        tables[code >> 8][code & 255] = 1
    return bytes(tables[0]), bytes(tables[1])


def _numbers(names: Collection[str], known: NameTable) -> Callable[[int], bool]:
    numbers = frozenset(number for name in names if (number := known.find(name)) is not None)
    return next(iter(numbers)).__eq__ if len(numbers) == 1 else numbers.__contains__


def _never(value: int) -> bool:
    return False


def _last(index: Index, upto: int | None) -> int:
    return index.count if upto is None else min(upto, index.count)


def _several(value: _T | Collection[_T] | None, default: Iterable[_T]) -> tuple[_T, ...]:
    if value is None:
        return tuple(default)
    return (value,) if isinstance(value, int) else tuple(value)
