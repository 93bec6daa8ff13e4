"""The calls of a recording by item, found as the recording grows."""

from __future__ import annotations

from typing import Any

from inspector.client.catalog import ListName
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape
from inspector.tui.panes.outcome import Answer, of_request, unanswered
from inspector.tui.panes.works import PAST, Past, Work, label

SLICE = 50_000
"""Events looked at in one turn."""

BODIES = 500
"""Requests read in one turn."""

_METHODS: dict[str, tuple[ListName, str]] = {
    "tools/call": ("tools", "name"),
    "prompts/get": ("prompts", "name"),
    "resources/read": ("resources", "uri"),
}


class RecordedCalls:
    """Which requests of a recording were about which item; bodies are read once."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._seen = 0
        self._calls: dict[tuple[str, str], list[int]] = {}

    def advance(self) -> bool:
        """Look at what the journal has gained. True: there is more already."""
        index = self._journal.index
        wanted = {index.method_names.find(method): method for method in _METHODS}
        codes, methods = index.codes, index.methods
        request = Kind.RPC + Dir.SEND * 16 + Shape.REQUEST * 64
        last = min(index.count, self._seen + SLICE)
        read = 0
        for n in range(self._seen + 1, last + 1):
            self._seen = n
            if codes[n - 1] == request and methods[n - 1] in wanted:
                list_name, key = _METHODS[wanted[methods[n - 1]]]
                address = params_of(self._journal.event(n)).get(key)
                if isinstance(address, str):
                    self._calls.setdefault((list_name, address), []).append(n)
                read += 1
                if read >= BODIES:
                    break
        return self._seen < index.count

    def of(self, list_name: str, address: str) -> list[int]:
        """Return the requests about an item, oldest first."""
        return self._calls.get((list_name, address), [])

    def fill(self, work: Work) -> bool:
        """Give a work the newest request about it, its answer and the requests before. False where nothing is new."""
        numbers = self.of(*work.subject.key)
        newest = work.pinned or (numbers[-1] if numbers else 0)
        answered = self._journal.index.pairs[newest - 1] if newest else 0
        if work.recorded == (newest, answered):
            return False
        work.recorded = (newest, answered)
        self.show(work, newest)
        work.past = [self._past(n) for n in reversed(numbers[-PAST:])]
        return True

    def show(self, work: Work, n: int) -> None:
        """Give a work request `n` and its answer; 0 for none."""
        work.form = None
        work.answer = None
        if n:
            form = work.make_form()
            form.load(params_of(self._journal.event(n)).get("arguments", {}))
            outcome = of_request(self._journal, n) or unanswered(self._journal, n)
            work.answer = Answer(outcome, work.subject.output_schema)

    def _past(self, n: int) -> Past:
        arguments = params_of(self._journal.event(n)).get("arguments", {})
        outcome = of_request(self._journal, n)
        brief, role = outcome.in_brief if outcome is not None else ("no answer", "muted")
        return Past(arguments, label(arguments), brief, role)


def params_of(event: Event) -> dict[str, Any]:
    """The `params` of a message, empty where they are no object."""
    params = event.message.get("params") if isinstance(event.message, dict) else None
    return params if isinstance(params, dict) else {}


def subject_of(journal: Journal, n: int) -> tuple[ListName, str] | None:
    """Return which item request `n` is about, or None where it is about none."""
    found = _METHODS.get(journal.index.method(n))
    address = params_of(journal.event(n)).get(found[1]) if found is not None else None
    return (found[0], address) if found is not None and isinstance(address, str) else None
