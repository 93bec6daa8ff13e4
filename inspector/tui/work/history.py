"""Earlier calls of an item, of this session and of others: when, outcome, duration, arguments, first line of result.

The recordings are read in a thread and shown as they are found. What was read of a recording stays in memory while its
file is the same, so that the list of the next tool of the server, or of the same one, appears at once.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.worker import get_current_worker

from inspector.client.call_history import PastCall, calls_of, recorded_calls
from inspector.client.recordings_folder import RecordingInfo, list_recordings
from inspector.client.session_state import SessionState
from inspector.config.server_memory import without_secrets
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import RecordingError
from inspector.journal.journal import whole_journal
from inspector.protocol.forms.values import json_of
from inspector.text import duration, quantity, safe
from inspector.text import when as day
from inspector.tui.diff.answers import message_side
from inspector.tui.diff.side import AnswerSide
from inspector.tui.keymap import bindings
from inspector.tui.pane_keys import hints
from inspector.tui.widgets import paint
from inspector.tui.widgets.dialog import Dialog, fit
from inspector.tui.widgets.paint import Piece
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.virtual_list import ListRows, VirtualList
from inspector.tui.window import window_of
from inspector.tui.work.catalog_item import CatalogItem
from inspector.tui.work.work_items import EarlierRun

MAX_COUNT = 200
"""Calls that are listed."""
MAX_SIZE = 64 << 20
"""Bytes of a recording above which it is not searched; `inspector recordings --calls` does."""
_CACHED = 500
"""Recordings whose calls of a tool stay in memory."""
_SHOWN = 400
"""Characters of arguments that are shown in a row."""
_STATE_TEXTS = {"done": ("", "muted"), "pending": ("no answer", "muted")}


class EarlierCall(NamedTuple):
    """One row. `path` and `n` name the recording and the request; `n` is 0 for a call that is only remembered."""

    arguments: dict[str, Any]
    when: datetime | None
    outcome: str
    role: str
    result: str = ""
    path: Path | None = None
    n: int = 0


class _Cache:
    """The calls of tools in recordings, by path, size and tool. Used by one thread at a time or several."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: OrderedDict[tuple[Path, int, str], tuple[PastCall, ...]] = OrderedDict()

    def calls(self, info: RecordingInfo, tool: str) -> tuple[PastCall, ...]:
        """Return the newest calls of a tool in a recording."""
        key = (info.path, info.size, tool)
        with self._lock:
            if key in self._calls:
                self._calls.move_to_end(key)
                return self._calls[key]
        calls = tuple(islice(recorded_calls([info], tool), MAX_COUNT))
        with self._lock:
            self._calls[key] = calls
            while len(self._calls) > _CACHED:
                self._calls.popitem(last=False)
        return calls


_CACHE = _Cache()


def of_other_sessions(
    sessions: Sequence[SessionState], tool: str, should_continue: Callable[[], bool], left_out: Callable[[], None]
) -> Iterator[tuple[PastCall, ...]]:
    """Yield the calls of a tool in the recordings of the sessions' servers, a recording at a time.

    The newest recording comes first. Reads files. `left_out` is called for each recording that is too large.
    """
    targets = [session.target for session in sessions]
    own = [Path(session.journal.path).name for session in sessions if session.journal.path is not None]
    for info in list_recordings():
        if not should_continue():
            return
        is_same = any(info.label == target.label or info.target == target.describe() for target in targets)
        if not is_same or info.problem or info.path.name in own:
            continue
        if info.size > MAX_SIZE:
            left_out()
            continue
        yield _CACHE.calls(info, tool)


def _identity(call: EarlierCall) -> Hashable:
    """Return the place of the call, so that the cursor stays on it."""
    return (call.path, call.n) if call.n else (None, json_of(call.arguments))


class EarlierCallRows(ListRows[EarlierCall]):
    """The calls as rows of a list, and the one that is marked to be compared."""

    def __init__(self) -> None:
        super().__init__(_identity)
        self.marked: EarlierCall | None = None

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """Return one call in at most `width` cells: when, outcome, arguments, and the result where there is room."""
        call = self.rows[index]
        sign: list[Piece] = [("A", "bright")] if call is self.marked else []
        line = [*paint.cell(sign, 2), *paint.cell([(day(call.when, seconds=True) or "earlier", "muted")], 16)]
        line += [*paint.cell([(call.outcome, call.role)], 10, right=True), *paint.cell("", 2)]
        room = max(width - paint.width(line), 8)
        result = room // 3 if room >= 36 else 0
        line += paint.cell([(safe(json_of(call.arguments)[:_SHOWN], _SHOWN), "bright")], room - result)
        return [*line, *(paint.cell([(f"  {call.result}", "muted")], result) if result else [])]


class EarlierCalls(Dialog[dict[str, Any]]):
    """The earlier calls of an item. Its result is the arguments of the chosen one, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("history")]
    DEFAULT_CSS = """
    EarlierCalls > Pane { width: 96%; max-width: 140; max-height: 70%; }
    EarlierCalls VirtualList { height: 1fr; }
    """

    def __init__(
        self, session: SessionState, item: CatalogItem, past: Sequence[EarlierRun], other: SessionState | None = None
    ) -> None:
        """`past` are remembered calls; the calls of the `other` session are listed, too."""
        super().__init__()
        self._session, self._item, self._past = session, item, past
        self._sessions = (session,) if other is None else (session, other)
        self._rows = EarlierCallRows()
        self._searching = item.list_name == "tools"
        self._left_out = 0

    def compose(self) -> ComposeResult:
        name = safe(self._item.address, 60)
        view = VirtualList(self._rows, empty="Reading recordings …", id="earlier")
        yield Pane(view, title=["Earlier calls  ", (name, "bright")])

    def on_mount(self) -> None:
        self._take_own()
        self._list.focus()
        if self._searching:
            self.run_worker(self._search, thread=True, exclusive=True, exit_on_error=False)
        self._draw()

    @property
    def _list(self) -> VirtualList:
        return self.query_one("#earlier", VirtualList)

    # Calls

    def _take_own(self) -> None:
        """List the calls of this session, and those that are only remembered."""
        if self._searching:
            self._rows.rows = [
                self._row(call)
                for session in self._sessions
                for call in islice(
                    calls_of(session.journal, Path(session.journal.path or ""), "", self._item.address), MAX_COUNT
                )
            ]
        self._add([])

    def _add(self, calls: Sequence[PastCall]) -> None:
        """Add calls of a recording, the newest first, before those of which no recording is known."""
        known = [call for call in self._rows.rows if call.n] + [self._row(call) for call in calls]
        known.sort(key=lambda call: call.when or datetime.min.replace(tzinfo=UTC), reverse=True)
        there = [call.arguments for call in known]
        remembered = [
            EarlierCall(self._arguments_without_secrets(past.arguments), _clock(past.when), past.brief, past.role)
            for past in self._past
            if isinstance(past.arguments, dict)
        ]
        self._rows.rows = [*known[:MAX_COUNT], *(call for call in remembered if call.arguments not in there)]
        self._list.source_changed()

    def _row(self, call: PastCall) -> EarlierCall:
        state_text, role = _STATE_TEXTS.get(call.state, (call.state, "error"))
        took = duration(call.duration) if call.duration is not None else ""
        outcome = state_text if state_text and call.state != "error" else took
        return EarlierCall(
            self._arguments_without_secrets(call.arguments),
            call.when,
            outcome or state_text,
            role,
            call.result,
            call.path,
            call.n,
        )

    def _arguments_without_secrets(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return arguments without secrets."""
        targets = (session.target for session in self._sessions)
        secrets = tuple(s for target in targets if isinstance(target, StdioTarget | HttpTarget) for s in target.secrets)
        return without_secrets(arguments, self._item.schema, secrets)

    def _search(self) -> None:
        worker = get_current_worker()
        with suppress(OSError):
            batches = of_other_sessions(
                self._sessions, self._item.address, lambda: not worker.is_cancelled, self._leave_out
            )
            for calls in batches:
                if worker.is_cancelled:
                    return
                if calls:
                    self.app.call_from_thread(self._add_and_draw, calls)
        if not worker.is_cancelled:
            self.app.call_from_thread(self._searched)

    def _leave_out(self) -> None:
        self._left_out += 1

    def _add_and_draw(self, calls: Sequence[PastCall]) -> None:
        if self.is_attached:
            self._add(calls)
            self._draw()

    def _searched(self) -> None:
        self._searching = False
        if self.is_attached:
            self._draw()

    def _draw(self) -> None:
        edge, count = self.query_one(Pane), len(self._rows)
        self._list.empty = "Reading recordings …" if self._searching else "It was not called before."
        self._list.refresh()
        edge.facts = [quantity(count, "call"), *(["reading recordings …"] if self._searching else [])]
        large = f"{quantity(self._left_out, 'large recording')} not searched" if self._left_out else ""
        edge.note = [("A is marked", "bright")] if self._rows.marked is not None else large
        compare = ["history.compare"] if count > 1 else []
        edge.keys = hints(self, ("list.select", "fill the form"), *compare, "history.leave")
        fit(self, self._list)

    # Actions

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        """Fill the form with the arguments of the call."""
        event.stop()
        self.dismiss(dict(self._rows.rows[event.index].arguments))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """A comparison needs two calls."""
        return len(self._rows) > 1 if action == "compare" else True

    def action_compare(self) -> None:
        """Mark the call, or compare its answer with that of the marked one."""
        at, rows = self._list.cursor, self._rows
        if not 0 <= at < len(rows):
            return
        call, marked = rows.rows[at], rows.marked
        if not call.n:
            self.notify("No recording has the answer of this call.", timeout=5)
            return
        rows.marked = call if marked is None else None
        self._list.source_changed()
        self._draw()
        if marked is not None and marked is not call:
            self.run_worker(partial(self._read, marked, call), thread=True, group="answers", exit_on_error=False)

    def _read(self, a: EarlierCall, b: EarlierCall) -> None:
        sides = [self._answer(call) for call in (a, b)]
        self.app.call_from_thread(window_of(self).navigator.compare_answers, *sides, "tools/call", self._item.address)

    def _answer(self, call: EarlierCall) -> AnswerSide:
        """Return the answer of a call; reads its recording."""
        label = f"{day(call.when)}  {safe(json_of(call.arguments)[:60], 60)}"
        own = next(
            (session.journal for session in self._sessions if call.path == Path(session.journal.path or "")), None
        )
        if own is not None:
            answer = own.index.pair(call.n)
            return message_side(own, answer, label) if answer else AnswerSide(label, missing="no answer")
        try:
            with whole_journal(call.path or Path()) as journal:
                answer = journal.index.pair(call.n)
                return message_side(journal, answer, label) if answer else AnswerSide(label, missing="no answer")
        except RecordingError as error:
            return AnswerSide(label, missing=error.message)


def _clock(seconds: float) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds else None
