"""Folding: events that share the row of a message, so that a log has one row per message.

Heads of HTTP, SSE events without a message and life events of an HTTP channel are folded into the message that they
carry: those of the request into the request, those of the response into the answer. A mark is folded into its message.
An HTTP exchange without a message is one row, that of its request head. The pages of one list are one row, that of the
request for the first page, and so are the polls of one task, and the progress of one call.
A layer above makes the start of a session one row, that of its first event.

The decision uses the index's columns only; no body is read.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from sys import byteorder
from time import perf_counter
from typing import TypeVar

from inspector.journal.filters import FilterChange, FilteredView
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.journal.name_tables import MAX_NAMES
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape

SLICE = 1 << 13
"""Events between two checks of the clock."""
_WINDOW = 2048
"""Folded events on either side of a row that are searched for those of the row."""
_MAX_FOLLOWED = 4096
"""Channels and requests that are tracked at once; a malicious recording may open any number."""
_SHARED_CHANNEL = MAX_NAMES - 1
"""The number that all further channels share in a recording with very many."""
_LOOK_BACK = 64
"""Events before the first HTTP event that are searched for its message."""
_MESSAGES = (Kind.RPC, Kind.INVALID)
_PROGRESS = Query(shape=Shape.NOTIFICATION, method="notifications/progress")
MAX_BETWEEN = 1000
"""Folded events between the first progress of a call in a row and the last; a call with more fills several rows."""
_DEPTH = 4
_T = TypeVar("_T")


def _keep(table: OrderedDict[int, _T], key: int, value: _T) -> None:
    """Set a value, and drop the oldest one of a very large table."""
    table[key] = value
    table.move_to_end(key)
    if len(table) > _MAX_FOLLOWED:
        table.popitem(last=False)


_HTTP = Query(kind=(Kind.HTTP, Kind.SSE))
_LOOKED_AT = Query(kind=(Kind.HTTP, Kind.SSE, Kind.LIFE, Kind.RPC, Kind.INVALID))


class FoldedEvents:
    """The numbers of events without rows of their own, ascending, and the rows that they are folded into.

    A row is the number of an event, which may be folded too.
    """

    def __init__(self) -> None:
        self.numbers: array[int] = array("I")
        self.rows: array[int] = array("I")

    def __len__(self) -> int:
        return len(self.numbers)

    def row(self, n: int) -> int:
        """Return the row that event `n` was folded into; 0 if it was not."""
        at = bisect_left(self.numbers, n)
        return self.rows[at] if at < len(self.numbers) and self.numbers[at] == n else 0

    def until(self, n: int) -> int:
        """Return how many are event `n` or before it."""
        return bisect_right(self.numbers, n)

    def fold(self, n: int, row: int) -> int:
        """Fold event `n` into a row. Returns the row that it was folded into before, or 0."""
        numbers, rows = self.numbers, self.rows
        if not numbers or n > numbers[-1]:
            numbers.append(n)
            rows.append(row)
            return 0
        at = bisect_left(numbers, n)
        if numbers[at] == n:
            before, rows[at] = rows[at], row
            return before
        numbers.insert(at, n)
        rows.insert(at, row)
        return 0

    def unfold(self, n: int) -> int:
        """Give a folded event its own row again. Returns the row that it was folded into."""
        at = bisect_left(self.numbers, n)
        del self.numbers[at]
        return self.rows.pop(at)


class Folding:
    """The events with a row, one a message, and the row of each folded event. Call `advance` as the journal grows.

    The row of an event may change: a response head is in the row of its request until the answer exists.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.seen = 0
        """Events up to here were read."""
        self.hidden = FoldedEvents()
        self._waiting: OrderedDict[int, list[int]] = OrderedDict()
        """By request: the folded events that will move to its answer."""
        self._owners: OrderedDict[int, int] = OrderedDict()
        """By HTTP channel: the sent message, or the lone request head, that owns its events."""
        self._heads: OrderedDict[int, int] = OrderedDict()
        """By channel: the request head whose message has not been seen."""
        self._http_channels = bytearray(MAX_NAMES)
        self._over_http = False
        self._pages_seen = 0
        self._open_pages: dict[int, int] = {}
        """Requests of lists without an answer so far, and the row for it."""
        self._progress: OrderedDict[int, tuple[int, int]] = OrderedDict()
        """By request: the row of its progress, and how many events were folded when it began."""
        self._others: OrderedDict[int, list[int]] = OrderedDict()
        """By row: its other events, as they were looked for last, until another one joins or leaves."""

    # Rows

    def __len__(self) -> int:
        return self.seen - len(self.hidden)

    def __getitem__(self, position: int) -> int:
        hidden = self.hidden.numbers
        before = bisect_right(range(len(hidden)), position, key=lambda at: hidden[at] - 1 - at)
        return position + 1 + before

    def until(self, n: int) -> int:
        """Return how many rows begin with event `n` or before it."""
        n = min(n, self.seen)
        return n - self.hidden.until(n)

    def position(self, n: int) -> int | None:
        """Return the position of the row of event `n`; None if it was not read."""
        return self.until(self.row(n)) - 1 if 0 < n <= self.seen else None

    def row(self, n: int) -> int:
        """Return the event with the row of event `n`; `n` itself if it is not folded."""
        for _ in range(_DEPTH):
            row = self.hidden.row(n)
            if not row:
                break
            n = row
        return n

    def is_folded(self, n: int) -> bool:
        """Whether event `n` is in the row of another one."""
        return self.hidden.row(n) > 0

    def group(self, n: int) -> Sequence[int]:
        """Return the messages of progress that the row of `n` replaces, itself first; else none."""
        index = self.journal.index
        if not _PROGRESS.fits(index, n):
            return ()
        more = [m for m in self._members(n) if _PROGRESS.fits(index, m)]
        return [n, *more] if more else ()

    def folded(self, n: int) -> list[int]:
        """Return the other events in the row of `n`, ascending: HTTP events, messages of further pages, progress."""
        others = self._others.get(n)
        if others is None:
            group = self.group(n) or (n,)
            others = sorted({*group[1:], *(m for member in group for m in self._folded(member))})
            _keep(self._others, n, others)
        return others

    def _forget(self, n: int) -> None:
        """Look again for the events in the row of `n`, and in the rows that it is folded into."""
        others, depth = self._others, _DEPTH
        while others and n and depth:
            others.pop(n, None)
            n, depth = self.hidden.row(n), depth - 1

    def _folded(self, n: int) -> list[int]:
        listed = self.list_messages(n)
        if listed and not self._over_http and not len(self.journal.marks):
            return listed[1:]
        members = self._members(n)
        for m in listed:
            members += self._members(m) if m == n else [m, *self._members(m)]
        return sorted(set(members))

    def list_messages(self, n: int) -> list[int]:
        """Return the messages of several pages, or polls, of which request `n` is the first; else none."""
        index = self.journal.index
        requests = [n, *(page for page in index.pages.after(n) if page <= self.seen)]
        if len(requests) == 1:
            return []
        return sorted([*requests, *(answer for m in requests if 0 < (answer := index.views.pairs[m - 1]) <= self.seen)])

    def _members(self, n: int) -> list[int]:
        """Return the events near `n` that are folded into `n` itself."""
        hidden = self.hidden
        at = hidden.until(n)
        low = max(at - _WINDOW, 0)
        # Bytes are searched several times faster than numbers.
        rows, size = hidden.rows[low : at + _WINDOW].tobytes(), hidden.rows.itemsize
        needle = n.to_bytes(size, byteorder)
        members, at = [], rows.find(needle)
        while at >= 0:
            if at % size == 0:
                members.append(hidden.numbers[low + at // size])
            at = rows.find(needle, at + 1)
        return members

    # Add events

    def advance(self, last: int, seconds: float = 1.0) -> set[int]:
        """Read the events up to `last`, for at most about so many seconds.

        Returns the events that moved to another row, and the rows that they left or joined.
        """
        changed: set[int] = set()
        until = perf_counter() + seconds
        last = min(last, self.journal.index.count)
        while self.seen < last:
            self._read_slice(self.seen + 1, min(self.seen + SLICE, last), changed)
            if perf_counter() > until:
                break
        self._take_answered_pages(changed)
        return changed

    def _read_slice(self, low: int, high: int, changed: set[int]) -> None:
        index = self.journal.index
        if not self._over_http and _HTTP.first(index, low - 1, high):
            self._over_http = True
            for n in range(max(low - _LOOK_BACK, 1), low):
                if index.dir(n) is Dir.SEND and index.kind(n) in _MESSAGES:
                    _keep(self._owners, index.views.channels[n - 1], n)
        if self._over_http:
            codes, channels = index.views.codes, index.views.channels
            for n in _LOOKED_AT.numbers(index, low - 1, high):
                code, channel = codes[n - 1], channels[n - 1]
                kind, dir, shape = code & 15, (code >> 4) & 3, code >> 6
                if kind in (Kind.HTTP, Kind.SSE):
                    self._http_channels[channel] = 1
                    self._http_event(n, channel, index.views.parents[n - 1], kind, dir, changed)
                elif kind == Kind.LIFE:
                    if channel and self._http_channels[channel]:
                        self._life_event(n, channel, changed)
                elif dir == Dir.SEND:
                    self._message_sent(n, channel, changed)
                elif shape in (Shape.RESULT, Shape.ERROR):
                    self._answered(index.views.pairs[n - 1], n, channel, changed)
        for n, about in self.journal.marks.between(low, high):
            self._hide(n, about, changed)
        self.seen = high
        self._take_pages(high, changed)
        self._take_progress(low, high, changed)

    def _http_event(self, n: int, channel: int, request: int, kind: int, dir: int, changed: set[int]) -> None:
        owner = request or self._owner(channel)
        if kind == Kind.HTTP and dir == Dir.SEND:
            index = self.journal.index
            known = owner and channel not in self._heads and index.kind(owner) is not Kind.HTTP
            if not request and (not known or self._has_head(owner)):
                _keep(self._owners, channel, n)
                _keep(self._heads, channel, n)
            else:
                self._hide(n, owner, changed)
        elif owner:
            self._hide(n, self._receiver(owner, n, channel, is_response=True), changed)

    def _life_event(self, n: int, channel: int, changed: set[int]) -> None:
        owner = self.journal.index.views.pairs[n - 1] or self._owner(channel)
        if owner:
            self._hide(n, self._receiver(owner, n, channel, is_response=owner in self._waiting), changed)

    def _message_sent(self, n: int, channel: int, changed: set[int]) -> None:
        head = self._heads.pop(channel, 0)
        if head and channel != _SHARED_CHANNEL and not self._members(head):
            self._hide(head, n, changed)
        _keep(self._owners, channel, n)

    def _answered(self, request: int, n: int, channel: int, changed: set[int]) -> None:
        """Move what came before an answer on its channel, in response to the request, to the answer."""
        waiting = self._waiting.pop(request, None)
        if waiting is not None and self.journal.index.views.channels[request - 1] == channel:
            for m in waiting:
                self.hidden.fold(m, n)
            for row in (request, n):
                self._forget(row)
            changed.update((request, *waiting))

    def _receiver(self, owner: int, n: int, channel: int, *, is_response: bool) -> int:
        """Return the message for an event that happened to `owner`: its answer if there is one already."""
        index = self.journal.index
        answer = index.views.pairs[owner - 1]
        if index.shape(owner) is not Shape.REQUEST:
            return owner
        if 0 < answer < n:
            return answer if index.views.channels[answer - 1] == channel else owner
        if is_response:
            if owner not in self._waiting:
                _keep(self._waiting, owner, [])
            self._waiting[owner].append(n)
        return owner

    def _owner(self, channel: int) -> int:
        return 0 if channel == _SHARED_CHANNEL else self._owners.get(channel, 0)

    def _has_head(self, message: int) -> bool:
        """Whether a request already has a head folded in; then another head is another request."""
        return any(self.journal.index.kind(m) is Kind.HTTP for m in self._members(message))

    def _hide(self, n: int, row: int, changed: set[int]) -> None:
        before = self.hidden.fold(n, row)
        if before:
            self._forget(before)
        self._forget(n)
        changed.update((n, row))

    # Lists

    def _take_pages(self, high: int, changed: set[int]) -> None:
        """Fold the requests for further pages, and the answer to the first one."""
        index = self.journal.index
        requests, heads = index.pages.requests, index.pages.heads
        while self._pages_seen < len(heads) and requests[self._pages_seen] <= high:
            page, head = requests[self._pages_seen], heads[self._pages_seen]
            self._pages_seen += 1
            self._hide(page, head, changed)
            self._open_pages[page] = head
            if not self.is_folded(index.views.pairs[head - 1]):
                self._open_pages[head] = head

    def _take_answered_pages(self, changed: set[int]) -> None:
        index = self.journal.index
        for page, head in list(self._open_pages.items()):
            answer = index.views.pairs[page - 1]
            if 0 < answer <= self.seen:
                del self._open_pages[page]
                self._hide(answer, head, changed)

    # The progress of a call

    def _take_progress(self, low: int, high: int, changed: set[int]) -> None:
        index = self.journal.index
        pairs = index.views.pairs
        for n in _PROGRESS.numbers(index, low - 1, high):
            request = pairs[n - 1]
            head, before = self._progress.get(request, (0, 0))
            if head and len(self.hidden) - before < MAX_BETWEEN:
                self._hide(n, head, changed)
            elif request:
                _keep(self._progress, request, (n, len(self.hidden)))


class FoldedMatches:
    """The rows of a filter's matches: a match on a folded event shows the row that contains it."""

    def __init__(self, folding: Folding, filtered: FilteredView) -> None:
        self.folding = folding
        self.filtered = filtered
        self.numbers: array[int] = array("I")

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, position: int) -> int:
        return self.numbers[position]

    def position(self, n: int) -> int | None:
        """Return the position of the row of event `n`; None if nothing in that row matches."""
        return self._place(self.folding.row(n))

    def _place(self, n: int) -> int | None:
        at = bisect_left(self.numbers, n)
        return at if at < len(self.numbers) and self.numbers[at] == n else None

    def apply(self, change: FilterChange) -> int | None:
        """Apply the result of a scan. Returns the first position that changed, or None."""
        self.filtered.apply(change)
        hidden = self.folding.hidden.numbers
        affected = {self.folding.row(n) for n in (*change.joined, *change.left)}
        added = change.added
        if added:
            last = self.numbers[-1] if self.numbers else 0
            folded = set(hidden[bisect_left(hidden, added[0]) : bisect_right(hidden, added[-1])])
            if added[0] <= last or not folded.isdisjoint(added):
                affected.update(self.folding.row(n) for n in added if n in folded or n <= last)
                added = array("I", [n for n in added if n not in folded and n > last])
        first = len(self.numbers) if added else None
        self.numbers.extend(added)
        return _first(first, self.look_again(affected))

    def look_again(self, rows: Iterable[int]) -> int | None:
        """Check whether some events still have a row, or have one now. Returns the first position that changed."""
        first: int | None = None
        for n in rows:
            has_row = not self.folding.is_folded(n) and any(
                self.filtered.position(m) is not None for m in (n, *self.folding.folded(n))
            )
            at = bisect_left(self.numbers, n)
            if has_row == (at < len(self.numbers) and self.numbers[at] == n):
                continue
            if has_row:
                self.numbers.insert(at, n)
            else:
                del self.numbers[at]
            first = _first(first, at)
        return first


def _first(one: int | None, other: int | None) -> int | None:
    return one if other is None else other if one is None else min(one, other)
