"""Finds the calls of each item in a recording as it grows."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import islice
from typing import Any

from inspector.client.session_state import SessionState
from inspector.client.state.catalog import ListName
from inspector.journal.format import Dir, Event
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.tui.work.outcome import ShownOutcome, of_request, unanswered
from inspector.tui.work.work_items import PAST, EarlierRun, WorkItem, label

SLICE = 50_000
"""Events that one turn reads."""

LOOKED_AT = 200
"""Earlier requests among which the one about the same item is looked for."""

BODIES = 500
"""Requests whose bodies one turn reads."""

_METHODS: dict[str, tuple[ListName, str]] = {
    "tools/call": ("tools", "name"),
    "prompts/get": ("prompts", "name"),
    "resources/read": ("resources", "uri"),
}


_CALLS = Query(method=tuple(_METHODS), dir=Dir.SEND, shape=Shape.REQUEST)


class RecordedCalls:
    """Maps items to their requests in a recording; bodies are read once. `session` gives the moment."""

    def __init__(self, journal: Journal, session: SessionState | None = None) -> None:
        self._journal = journal
        self._session = session
        self._seen = 0
        self._calls: dict[tuple[str, str], array[int]] = {}

    def advance(self) -> bool:
        """Read new events of the journal. Returns True if more are left."""
        index = self._journal.index
        last = min(index.count, self._seen + SLICE)
        calls = list(islice(_CALLS.forwards(index, self._seen, last), BODIES))
        self._seen = calls[-1] if len(calls) == BODIES else last
        for n, event in zip(calls, self._journal.events_of(calls), strict=True):
            list_name, key = _METHODS[index.method(n)]
            address = params_of(event).get(key)
            if isinstance(address, str):
                self._calls.setdefault((list_name, address), array("I")).append(n)
        return self._seen < index.count

    @property
    def is_behind(self) -> bool:
        """Whether requests of the recording are not read yet."""
        return not self._journal.is_read or self._seen < self._journal.index.count

    def of(self, list_name: str, address: str) -> Sequence[int]:
        """Return the requests about an item, oldest first."""
        return self._calls.get((list_name, address), ())

    def fill(self, work: WorkItem) -> bool:
        """Set the newest request of a work's item, its answer and the earlier requests. False if nothing is new."""
        numbers, upto = self.of(*work.catalog_item.key), self._upto
        happened = bisect_right(numbers, upto)
        pinned = work.pinned if work.pinned <= upto else 0
        newest = pinned or (numbers[happened - 1] if happened else 0)
        answered = self._answer(newest)
        open = newest > 0 and self._session is not None and self._session.call_in_flight(newest) is not None
        if work.recorded == (newest, answered, open):
            return False
        work.recorded = (newest, answered, open)
        self.show(work, newest, open=open)
        work.past = [self._past(n) for n in reversed(numbers[max(happened - PAST, 0) : happened])]
        return True

    @property
    def _upto(self) -> int:
        return self._session.upto if self._session is not None else self._journal.index.count

    def _answer(self, n: int) -> int:
        """Return the answer to request `n` before the moment, or 0."""
        answer = self._journal.index.pair(n) if n else 0
        return answer if answer <= self._upto else 0

    def show(self, work: WorkItem, n: int, *, open: bool = False) -> None:
        """Set request `n` and its answer in a work; 0 for none. An open request is shown as a call in flight."""
        work.form = None
        work.answer = None
        work.call = None
        if n:
            form = work.make_form()
            form.load(params_of(self._journal.event(n)).get("arguments", {}))
            if open and self._session is not None:
                work.call = self._session.call_in_flight(n)
                return
            outcome = of_request(self._journal, n, self._upto) or unanswered(self._journal, n, self._upto)
            work.answer = ShownOutcome(outcome, work.catalog_item.output_schema)
            work.answer.tab = work.view

    def _past(self, n: int) -> EarlierRun:
        arguments = params_of(self._journal.event(n)).get("arguments", {})
        outcome = of_request(self._journal, n, self._upto)
        brief, role = outcome.in_brief if outcome is not None else ("no answer", "muted")
        return EarlierRun(arguments, label(arguments), brief, role)


def answered_before(journal: Journal, n: int, upto: int) -> int:
    """Return the newest request before request `n` about the same item that was answered up to `upto`, or 0."""
    item = item_called(journal, n)
    numbers = _CALLS.backwards(journal.index, upto=n - 1)
    for before in islice(numbers, LOOKED_AT):
        if 0 < journal.index.pair(before) <= upto and item_called(journal, before) == item:
            return before
    return 0


def params_of(event: Event) -> dict[str, Any]:
    """Return the `params` of a message, empty if they are not an object."""
    params = event.message.get("params") if isinstance(event.message, dict) else None
    return params if isinstance(params, dict) else {}


def item_called(journal: Journal, n: int) -> tuple[ListName, str] | None:
    """Return the item of request `n`, or None."""
    list_and_field = _METHODS.get(journal.index.method(n))
    address = params_of(journal.event(n)).get(list_and_field[1]) if list_and_field is not None else None
    return (list_and_field[0], address) if list_and_field is not None and isinstance(address, str) else None
