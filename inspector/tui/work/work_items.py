"""The user's work on each item: its arguments, call, result and past calls."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from inspector.client.engine.pending_requests import Call
from inspector.client.revision_hints import RevisionHint
from inspector.client.state.calls import CallState
from inspector.config.server_memory import ServerMemory
from inspector.errors import InspectorError
from inspector.journal.journal import Journal
from inspector.protocol.forms.form import UNSET, Form
from inspector.protocol.forms.values import json_of
from inspector.text import safe, when
from inspector.tui.advice import error_text
from inspector.tui.work.catalog_item import NO_ARGUMENTS, NO_ITEM, CatalogItem
from inspector.tui.work.outcome import CallOutcome, ShownOutcome, of_call, of_request

KEPT = 300
"""Items whose work is kept, in addition to those with a call in flight."""

LARGE = 1_000_000
"""Bytes of an answer above which a past call does not keep it in memory."""

PAST = 20
"""Past calls of an item that can be selected again."""

LABEL = 24
"""Characters of the label of a past call."""


class EarlierRun(NamedTuple):
    """A past call: its arguments, their label, its outcome and the role of that."""

    arguments: Any
    label: str
    brief: str
    role: str
    request_n: int = 0
    """Its request in the journal of this session, or 0."""
    answer: ShownOutcome | None = None
    """Its result; a large one is read from the journal."""
    when: float = 0.0
    """Seconds since the epoch; 0 if that is not known."""


class SavedArguments(NamedTuple):
    """A saved call of an item: its arguments, its short name, its file and the number of its step."""

    arguments: Any
    label: str
    where: tuple[Path, int]


class WorkItem:
    """One item in use, or none. `past` is newest first, None until it was read from the memory."""

    def __init__(self, item: CatalogItem = NO_ITEM) -> None:
        self.catalog_item = item
        self.form: Form | None = None
        self.call: CallState | None = None
        self.answer: ShownOutcome | None = None
        self.sent: Any = None
        """The arguments of the newest call."""
        self.past: list[EarlierRun] | None = None
        self.view = ""
        """The view in which its results open; `""` for the default of each result."""
        self.draft: Any = UNSET
        """Arguments of an earlier session that were typed and not sent."""
        self.is_edited = False
        """The form was changed since the newest call: it is kept as a draft."""
        self.revision_hint: RevisionHint | None = None
        """How the revision in use causes the failure of the newest call."""
        self.problem = ""
        """Why the newest request could not be sent, or the subscription failed."""
        self.recorded = (0, 0, False)
        """Of a recording: the request that is shown, its answer, and whether that is after the moment."""
        self._read_back: dict[int, ShownOutcome] | None = None
        self.saved_in: tuple[Path, int] | None = None
        """The file and the step of the saved call that the form holds, or that was saved from it."""
        self.pinned = 0
        """Of a recording: the request that was selected, instead of the newest; 0 for none."""

    @property
    def is_empty(self) -> bool:
        """No item is selected."""
        return self.catalog_item is NO_ITEM

    @property
    def is_running(self) -> bool:
        """Its call has not ended."""
        return self.call is not None and self.call.fate == "pending"

    def make_form(self) -> Form:
        """Return its form; a new one has the stored draft, or the arguments of the newest stored call."""
        if self.form is None:
            newest = self.past[0].arguments if self.past else UNSET
            start = newest if self.draft is UNSET else self.draft
            self.form = Form(self.catalog_item.schema or NO_ARGUMENTS, start)
        return self.form

    @property
    def origin(self) -> str:
        """Where the values of its form come from while the user has neither changed nor sent them; else `""`."""
        if self.form is None or self.is_edited or self.call is not None:
            return ""
        if self.draft is not UNSET:
            return "unsent draft"
        if not self.past or not self.past[0].when or not self.past[0].arguments:
            return ""
        return f"values of {when(datetime.fromtimestamp(self.past[0].when, UTC))}"

    def take_item(self, item: CatalogItem) -> None:
        """The item was listed again and may have changed: what was typed stays."""
        before = self.catalog_item.schema
        self.catalog_item = item
        if self.form is not None and item.schema != before:
            self.form = Form(item.schema or NO_ARGUMENTS, self.form.value())

    def answer_to(self, arguments: Any, journal: Journal) -> tuple[ShownOutcome | None, bool]:
        """Return the result to show beside these arguments, and whether it belongs to them.

        It is that of the newest call with these arguments in this session; without one, the newest result.
        """
        if self.answer is None or arguments == self.sent:
            return self.answer, True
        past = next((run for run in self.past or () if run.request_n and run.arguments == arguments), None)
        if past is None:
            return self.answer, False
        if past.answer is None:
            outcome = of_request(journal, past.request_n)
            if outcome is None:
                return self.answer, False
            self._read_back = self._read_back or {}
            if past.request_n not in self._read_back:
                # Only one at a time: it is large.
                answer = ShownOutcome(outcome, self.catalog_item.output_schema)
                answer.tab = self.view
                self._read_back = {past.request_n: answer}
            return self._read_back[past.request_n], True
        return past.answer, True

    def remember(self, past: EarlierRun) -> None:
        """Add an ended call; the same arguments are listed once, as the newest."""
        kept = [run for run in self.past or () if run.arguments != past.arguments]
        self.past = [past, *kept][:PAST]


class WorkItems:
    """The work of a session by item, with what is stored between sessions.

    `recall` and `view` read files: call them in a thread. The `keep` methods return at once. One thread writes what
    they keep, in order, and `finish_writing` waits for it, so that everything is written before the session ends.
    """

    def __init__(self, memory: ServerMemory | None) -> None:
        self._memory = memory
        self._lock = threading.Lock()
        self._writer: ThreadPoolExecutor | None = None
        self._work_items: OrderedDict[tuple[str, str], WorkItem] = OrderedDict()

    def of(self, item: CatalogItem) -> WorkItem:
        """Return the work of an item in its last state."""
        work = self._work_items.get(item.key)
        if work is None:
            work = self._work_items[item.key] = WorkItem(item)
            self._forget_old()
        else:
            self._work_items.move_to_end(item.key)
            if work.catalog_item.item is not item.item:
                work.take_item(item)
        return work

    def with_call(self, n: int) -> WorkItem | None:
        """Return the work whose newest call is request `n`, or None."""
        return next(
            (work for work in self._work_items.values() if n and work.call is not None and work.call.n == n), None
        )

    def all(self) -> list[WorkItem]:
        """Return all works in memory."""
        return list(self._work_items.values())

    def _forget_old(self) -> None:
        for key in list(self._work_items):
            if len(self._work_items) <= KEPT:
                break
            if not self._work_items[key].is_running:
                del self._work_items[key]

    def recall(self, item: CatalogItem) -> tuple[list[EarlierRun], Any]:
        """Return the stored data of an item: its calls, newest first, and its draft or `UNSET`."""
        if self._memory is None or item.schema is None or not item.address:
            return [], UNSET
        with self._lock:
            calls = self._memory.past_calls(item.memory_key)
            draft = self._memory.draft(item.memory_key)
        past = [
            EarlierRun(
                dict(call.arguments),
                label(call.arguments),
                call.outcome or ("" if call.ok else "failed"),
                "muted" if call.ok else "error",
                when=call.when,
            )
            for call in calls[:PAST]
        ]
        return past, UNSET if draft is None else dict(draft)

    def keep_drafts(self, *work_items: WorkItem) -> None:
        """Store what was typed for these items (by default all) and not sent, without secrets."""
        drafts: dict[str, tuple[dict[str, Any], Any]] = {}
        for work in work_items or self.all():
            item = work.catalog_item
            if work.is_edited and work.form is not None and item.schema is not None and item.address:
                value = work.form.value()
                drafts[item.memory_key] = (value if isinstance(value, dict) else {}, item.schema)
        if drafts and self._memory is not None:
            self._write(partial(self._memory.remember_drafts, drafts))

    def view(self, item: CatalogItem) -> str:
        """Return the stored view for results of an item."""
        if self._memory is None or not item.address:
            return ""
        with self._lock:
            return self._memory.view(item.memory_key)

    def keep_view(self, item: CatalogItem, view: str) -> None:
        """Store the view for results of an item."""
        if self._memory is not None and item.address:
            self._write(partial(self._memory.remember_view, item.memory_key, view))

    def keep_roots(self, uris: tuple[str, ...] | None) -> None:
        """Answer this server's requests for roots with these URIs from now on; None: ask again."""
        if self._memory is not None:
            self._write(partial(self._memory.remember_roots, uris))

    def keep(self, item: CatalogItem, arguments: Any, outcome: CallOutcome) -> None:
        """Store a call for later sessions, without secrets."""
        if self._memory is not None and isinstance(arguments, dict) and item.schema is not None and item.address:
            ok, brief = outcome.kind == "result", outcome.in_brief[0]
            self._write(
                partial(
                    self._memory.remember_call, item.memory_key, arguments, ok=ok, outcome=brief, schema=item.schema
                )
            )

    def _write(self, keep: Callable[[], bool]) -> None:
        if self._writer is None:
            self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="memory")
        self._writer.submit(self._locked, keep)

    def _locked(self, keep: Callable[[], bool]) -> None:
        with self._lock:
            keep()

    def finish_writing(self) -> None:
        """Wait until everything is written."""
        if self._writer is not None:
            self._writer.shutdown()
            self._writer = None


def past_of(work: WorkItem, arguments: Any, journal: Journal) -> EarlierRun:
    """Return an ended call as a past call."""
    answer = work.answer
    if answer is None:
        return EarlierRun(arguments, label(arguments), "", "muted")
    brief, role = answer.outcome.in_brief
    is_large = answer.outcome.answer_n > 0 and journal.index.size(answer.outcome.answer_n) > LARGE
    n = answer.outcome.request_n
    return EarlierRun(arguments, label(arguments), brief, role, n, None if is_large else answer)


def label(arguments: Any) -> str:
    """Return a short label of arguments: the text itself if there is only one, else JSON."""
    if arguments == {}:
        return "no arguments"
    if isinstance(arguments, dict) and len(arguments) == 1:
        only = next(iter(arguments.values()))
        if isinstance(only, str) and only.strip():
            return safe(" ".join(only[:200].split()), LABEL)
    return safe(json_of(arguments)[:200], LABEL)


def settle(work: WorkItem, journal: Any) -> bool:
    """Update a work with the end of its call. Returns whether something changed."""
    call = work.call
    if not isinstance(call, Call) or call.fate == "pending":
        return False
    known = work.answer.outcome if work.answer is not None else None
    if known is not None and known.request_n == call.n and known.late == call.outcome.late:
        return False
    work.answer = ShownOutcome(of_call(call, journal), work.catalog_item.output_schema)
    work.answer.tab = work.view
    if 0 < call.answer_n <= journal.index.count and journal.index.size(call.answer_n) > LARGE:
        call.drop_value()
    return True


def refuse(work: WorkItem, error: InspectorError) -> None:
    """Record that a request could not be sent."""
    work.problem = error_text(error)
