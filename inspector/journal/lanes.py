"""The lanes of a timeline: requests in rows, how many are in flight, and events that have no duration.

`Lanes` reads each event once, as the journal grows. Every question about a period costs a search in sorted arrays, so
that a drawing costs what is visible, whatever the length of the recording:

    lanes = Lanes(journal)
    lanes.advance(journal.index.count)
    lanes.sent.rows.occupied(begin, end, limit=8)      # the numbers of rows
    lanes.sent.rows.within(row, begin, end)           # positions of requests in `lanes.sent`

Times are in microseconds since the recording began, with long gaps folded: `Lanes.clock`. A clock that runs backwards
counts as stopped. Only gaps in which no request is in flight are folded, so that each request has its real length.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import islice
from time import perf_counter

from inspector.journal import channels
from inspector.journal.durations import OPEN
from inspector.journal.exchange import is_giving_up
from inspector.journal.failures import failures
from inspector.journal.format import Dir, Kind
from inspector.journal.gaps import FOLD_US, FoldedTime
from inspector.journal.index import Index, State, code_of
from inspector.journal.journal import Journal
from inspector.journal.query import Query, picked
from inspector.protocol.jsonrpc import Shape

MAX_ROWS = 10_000
"""Rows that are searched; requests in further ones are only counted."""
SLICE = 1 << 12
"""Events between two checks of the clock."""
_BLOCK = 256
"""Changes of the number in flight whose maximum is kept."""
_MAX_IN_BATCH = 1000
"""Open requests that are compared with a batch of answers."""
_STANDING = "subscriptions/listen"
"""A request that lasts as long as the session: it is not counted as in flight."""
_SENT, _RECEIVED = (code_of(Kind.RPC, dir, Shape.REQUEST) for dir in (Dir.SEND, Dir.RECV))
_ENDING = frozenset(code_of(Kind.RPC, dir, shape) for dir in Dir for shape in (Shape.RESULT, Shape.ERROR))
_BATCHES = frozenset(code_of(Kind.RPC, dir, Shape.BATCH) for dir in Dir)
_GIVEN_UP = (State.ERROR, State.TIMED_OUT, State.LOST, State.CANCELLED)
_NOTIFICATIONS = Query(shape=Shape.NOTIFICATION)
_LOGIN = Query(kind=Kind.AUTH)
_PROCESS = Query(kind=(Kind.STDERR, Kind.LIFE))


class LaneRows:
    """Rows of a lane's requests. In a row, each begins after the one before it has ended.

    A request takes at least `least` microseconds of its row, so that a label has room beside a short one.
    """

    def __init__(self, lane: RequestLane, least: int = 0) -> None:
        self._lane = lane
        self.least = least
        self.rows: list[array[int]] = []
        """By row: the positions of its requests in the lane, ascending."""

    def __len__(self) -> int:
        return len(self.rows)

    def occupied(self, begin: int, end: int, limit: int) -> list[int]:
        """Return the first `limit` rows that have something in a period."""
        rows: list[int] = []
        # A packed row also has the labels of requests that have ended.
        left = self._lane.overlapping(begin - self.least, end)
        for row in range(min(len(self.rows), MAX_ROWS)):
            if len(rows) >= limit or left <= 0:
                break
            here = self._first(row, begin, end)
            if here >= 0:
                rows.append(row)
                left -= self._number(row, here, end)
        return rows

    def _first(self, row: int, begin: int, end: int) -> int:
        """Return where in a row the first request is that overlaps a period; -1 without one."""
        lane, positions = self._lane, self.rows[row]
        at = bisect_right(positions, begin, key=lane.begins.__getitem__) - 1
        if at >= 0:
            position = positions[at]
            if lane.ends[position] >= begin or lane.begins[position] + self.least >= begin:
                return at
        at += 1
        return at if at < len(positions) and lane.begins[positions[at]] <= end else -1

    def _number(self, row: int, first: int, end: int) -> int:
        """Return how many requests of a row begin until `end`, from the one at `first` on."""
        return bisect_right(self.rows[row], end, first, key=self._lane.begins.__getitem__) - first

    def within(self, row: int, begin: int, end: int, step: int = 1) -> Iterator[int]:
        """Yield the positions in a row that overlap a period, ascending.

        Of requests that begin in the same `step` microseconds of the period as one before them ends, none is yielded.
        """
        lane, positions = self._lane, self.rows[row]
        begins = lane.begins.__getitem__
        at = self._first(row, begin, end)
        while 0 <= at < len(positions):
            position = positions[at]
            if lane.begins[position] > end:
                return
            yield position
            at += 1
            if step > 1:
                last = max(min(lane.ends[position], end), lane.begins[position])
                at = bisect_left(positions, begin + ((last - begin) // step + 1) * step, at, key=begins)


class RequestLane:
    """The requests of one side in the order of their beginnings, in rows without overlap."""

    def __init__(self) -> None:
        self.requests: array[int] = array("I")
        """The numbers of the requests."""
        self.begins: array[int] = array("q")
        self.ends: array[int] = array("q")
        """The time of each request's answer or failure; `OPEN` without one."""
        self.rows = LaneRows(self)
        self.open: dict[int, int] = {}
        """The position of each request in flight, by its number."""
        self._row_of: array[int] = array("I")
        self._free: list[int] = []
        self._closed: array[int] = array("q")
        """The times of all ends, ascending."""
        self._changed: array[int] = array("q")
        self._flying: array[int] = array("I")
        """By change: the number of requests in flight after it."""
        self._peaks: array[int] = array("I")
        """The largest of each `_BLOCK` of them."""
        self.in_flight = 0
        """How many are open now, without those that last as long as the session."""

    def __len__(self) -> int:
        return len(self.requests)

    def begin(self, n: int, t: int, *, counts: bool) -> None:
        """Add request `n`; `counts`: it is in flight until it ends."""
        position = len(self.requests)
        row = heappop(self._free) if self._free else len(self.rows)
        if row == len(self.rows):
            self.rows.rows.append(array("I"))
        self.rows.rows[row].append(position)
        self._row_of.append(row)
        self.requests.append(n)
        self.begins.append(t)
        self.ends.append(OPEN)
        self.open[n] = position
        if counts:
            self._change(t, 1)

    def end(self, n: int, t: int, *, counts: bool) -> None:
        """Record the end of request `n`, which must be open."""
        position = self.open.pop(n)
        self.ends[position] = t
        self._closed.append(t)
        heappush(self._free, self._row_of[position])
        if counts:
            self._change(t, -1)

    def _change(self, t: int, by: int) -> None:
        self.in_flight += by
        if len(self._flying) % _BLOCK == 0:
            self._peaks.append(self.in_flight)
        elif self.in_flight > self._peaks[-1]:
            self._peaks[-1] = self.in_flight
        self._changed.append(t)
        self._flying.append(self.in_flight)

    # Questions

    def end_of(self, n: int) -> int:
        """Return when request `n` ended; `OPEN` if it is in flight."""
        at = bisect_left(self.requests, n)
        return self.ends[at] if at < len(self.requests) and self.requests[at] == n else OPEN

    def overlapping(self, begin: int, end: int) -> int:
        """Return how many requests were open at any time from `begin` to `end`."""
        return bisect_right(self.begins, end) - bisect_left(self._closed, begin)

    def begun(self, begin: int, end: int) -> int:
        """Return how many requests began from `begin` to `end`, both included."""
        return bisect_right(self.begins, end) - bisect_left(self.begins, begin)

    def at(self, begin: int, end: int, limit: int) -> list[int]:
        """Return the positions of requests that were open from `begin` to `end`, the oldest of the first rows."""
        positions: list[int] = []
        count = min(self.overlapping(begin, end), limit)
        for row in range(min(len(self.rows), MAX_ROWS)):
            if len(positions) >= count:
                break
            positions += islice(self.rows.within(row, begin, end), count - len(positions))
        return sorted(positions)

    def flying(self, begin: int, end: int) -> int:
        """Return the largest number in flight from `begin` to `end`; one that ends at `begin` counts."""
        first, last = bisect_left(self._changed, begin), bisect_right(self._changed, end)
        return max(self._flying[first - 1] if first else 0, self._largest(first, last))

    def _largest(self, first: int, last: int) -> int:
        low, high = -(-first // _BLOCK), last // _BLOCK
        if low >= high:
            return max(self._flying[first:last], default=0)
        return max(
            max(self._flying[first : low * _BLOCK], default=0),
            max(self._peaks[low:high]),
            max(self._flying[high * _BLOCK : last], default=0),
        )

    def packed(self, least: int) -> LaneRows:
        """Return rows in which a request takes at least `least` microseconds. It takes time for every request."""
        made = LaneRows(self, least)
        busy: list[tuple[int, int]] = []
        free: list[int] = []
        for position, begin in enumerate(self.begins):
            while busy and busy[0][0] <= begin:
                heappush(free, heappop(busy)[1])
            row = heappop(free) if free else len(made.rows)
            if row == len(made.rows):
                made.rows.append(array("I"))
            made.rows[row].append(position)
            heappush(busy, (max(self.ends[position], begin + least), row))
        return made


class EventLane:
    """Events without a duration, ascending."""

    def __init__(self, index: Index, clock: FoldedTime) -> None:
        self._index = index
        self._clock = clock
        self.numbers: array[int] = array("I")

    def __len__(self) -> int:
        return len(self.numbers)

    def __contains__(self, n: int) -> bool:
        at = bisect_left(self.numbers, n)
        return at < len(self.numbers) and self.numbers[at] == n

    def after(self, n: int, number: int) -> int:
        """Return the event of the lane that is `number` events after event `n` of it."""
        return self.numbers[bisect_left(self.numbers, n) + number]

    def within(self, begin: int, end: int, step: int = 1) -> Iterator[tuple[int, int]]:
        """Yield the first event in each `step` microseconds of a period, and how many are in that step."""
        # No event is in a gap, so they have the same order by both times; to fold the time of each takes long.
        time, folded, real = self._index.time, self._clock.folded, self._clock.real
        at = bisect_left(self.numbers, real(begin), key=time)
        while at < len(self.numbers):
            t = folded(time(self.numbers[at]))
            if t > end:
                return
            after = bisect_left(self.numbers, real(begin + ((t - begin) // step + 1) * step), at + 1, key=time)
            yield self.numbers[at], after - at
            at = after


class Lanes:
    """All lanes of a journal. Call `advance` as the journal grows."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.seen = 0
        """Events up to here were read."""
        self.clock = FoldedTime()
        """The times of the lanes."""
        self.latest = 0
        """The latest time of them."""
        self._latest = 0
        """The same, not folded."""
        self.sent = RequestLane()
        self.received = RequestLane()
        self.notifications = EventLane(journal.index, self.clock)
        self.login = EventLane(journal.index, self.clock)
        self.process = EventLane(journal.index, self.clock)
        self.errors = EventLane(journal.index, self.clock)

    def time(self, n: int) -> int:
        """Return the time of event `n`."""
        return self.clock.folded(self.journal.index.time(n))

    def advance(self, last: int, seconds: float = 1.0) -> bool:
        """Read the events up to `last`, for at most about so many seconds. True: more are left."""
        until = perf_counter() + seconds
        last = min(last, self.journal.index.count)
        while self.seen < last:
            self._read(self.seen, min(self.seen + SLICE, last))
            if perf_counter() > until:
                break
        return self.seen < last

    def _read(self, after: int, upto: int) -> None:
        index = self.journal.index
        self._read_requests(index, after, upto)
        self.notifications.numbers.extend(_NOTIFICATIONS.numbers(index, after, upto))
        self.login.numbers.extend(_LOGIN.numbers(index, after, upto))
        self.process.numbers.extend(n for n in _PROCESS.forwards(index, after, upto) if _is_of_process(index, n))
        self.errors.numbers.extend(picked(after + 1, failures(index, after, upto)))
        self.seen = upto

    def _read_requests(self, index: Index, after: int, upto: int) -> None:
        standing = index.methods.find(_STANDING)
        methods, states, newest, latest = index.views.methods, index.views.states, self._latest, self.latest
        opened = self.sent.open, self.received.open
        columns = zip(
            index.views.codes[after:upto], index.views.pairs[after:upto], index.views.times[after:upto], strict=True
        )
        for n, (code, pair, t) in enumerate(columns, after + 1):
            if t > newest:
                if t - newest > FOLD_US and n > 1 and not (self.sent.in_flight or self.received.in_flight):
                    self.clock.add(newest, t)
                    latest = self.clock.folded(t)
                else:
                    latest += t - newest
                newest = t
            if code in (_SENT, _RECEIVED):
                lane = self.sent if code == _SENT else self.received
                lane.begin(n, latest, counts=methods[n - 1] != standing)
            elif (pair in opened[0] or pair in opened[1]) and (
                code in _ENDING or (states[pair - 1] in _GIVEN_UP and is_giving_up(index, n))
            ):
                lane = self.sent if pair in opened[0] else self.received
                lane.end(pair, latest, counts=methods[pair - 1] != standing)
            if code in _BATCHES:
                for lane in (self.sent, self.received):
                    if len(lane.open) <= _MAX_IN_BATCH:
                        for request in [m for m in lane.open if index.views.pairs[m - 1] == n]:
                            lane.end(request, latest, counts=methods[request - 1] != standing)
        self._latest, self.latest = newest, latest


def number_at(index: Index, t: int) -> int:
    """Return the last event that is not later than `t` microseconds; 0 without one."""
    return bisect_right(index.views.times, t, 0, index.count)


def _is_of_process(index: Index, n: int) -> bool:
    """Whether an event is of the process or the connection, and not of a single request."""
    if index.kind(n) is Kind.STDERR:
        return True
    channel = index.channel(n)
    return not index.pair(n) and (not channel or channels.is_of_process(channel))
