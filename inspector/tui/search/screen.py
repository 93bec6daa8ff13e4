"""The search over everything: one field, results by group as they are found, and the place of each by enter."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Container, Hashable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.worker import get_current_worker

from inspector.client.session_state import SessionState
from inspector.text import count, duration, quantity, safe
from inspector.tui.keymap import KeyHint
from inspector.tui.log.labels import id_text, sign_of
from inspector.tui.log.summaries import summary
from inspector.tui.search import sources
from inspector.tui.search.sources import MAX_COUNT, MAX_COUNTED, TITLES, GroupId, SearchHit, SearchTerms
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.dialog import Dialog
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from inspector.calls.collection import Collection

PATIENCE = 0.12
"""Seconds without a key before messages and recordings are searched."""
SHOWN = 5
"""Rows of a group while all groups are shown."""
_AT_ONCE = 0.005
"""Seconds for which items are searched before a key is looked for."""
_DRAWN = 0.05
"""Seconds between two drawings while a thread searches."""
_NAME = 26


class SearchRows:
    """The rows of the results: a heading for each group with results, its first results, and an empty row."""

    def __init__(self) -> None:
        self.hits: dict[GroupId, list[SearchHit]] = {name: [] for name in TITLES}
        self.totals: dict[GroupId, int] = dict.fromkeys(TITLES, 0)
        self.only: GroupId | None = None
        """The group that is shown alone."""
        self.words = SearchTerms("")
        self._rows: list[SearchHit | GroupId | None] = []

    def clear(self, words: SearchTerms) -> None:
        """Start a new search."""
        self.words = words
        for name in TITLES:
            self.hits[name] = []
            self.totals[name] = 0
        self.arrange()

    def add(self, hit: SearchHit) -> None:
        """Add a result; beyond a number it is only counted."""
        self.totals[hit.group] += 1
        if len(self.hits[hit.group]) < MAX_COUNT:
            self.hits[hit.group].append(hit)

    def arrange(self) -> None:
        """Lay out the rows again."""
        rows: list[SearchHit | GroupId | None] = []
        for name in TITLES:
            hits = self.hits[name]
            if not hits or (self.only is not None and name != self.only):
                continue
            rows += [name, *(hits if self.only is not None else hits[:SHOWN]), None]
        self._rows = rows[:-1]

    @property
    def groups(self) -> int:
        """The number of groups with results."""
        return sum(bool(hits) for hits in self.hits.values())

    def __len__(self) -> int:
        return len(self._rows)

    def hit_at(self, index: int) -> SearchHit | None:
        """Return the result of a row; None for a heading or an empty row."""
        row = self._rows[index] if 0 <= index < len(self._rows) else None
        return row if isinstance(row, SearchHit) else None

    def key_at(self, index: int) -> Hashable:
        """Return the identity of a row."""
        row = self._rows[index]
        return (row.group, row.key, row.text) if isinstance(row, SearchHit) else (row, index)

    def index_of(self, key: Hashable) -> int | None:
        """Return the place of a result, or None."""
        return next((at for at in range(len(self._rows)) if self.key_at(at) == key), None)

    def step(self, index: int, by: int) -> int:
        """Return the place of the next result in a direction; `index` if there is none."""
        at = index + (1 if by > 0 else -1)
        while 0 <= at < len(self._rows):
            if self.hit_at(at) is not None:
                return at
            at += 1 if by > 0 else -1
        return index

    def next_group(self, index: int, by: int) -> int:
        """Return the place of the first result of the next group in a direction, around the end."""
        starts = [at + 1 for at, row in enumerate(self._rows) if isinstance(row, str)]
        if not starts:
            return index
        if by > 0:
            return next((at for at in starts if at > index), starts[0])
        own = max((at for at in starts if at <= index), default=starts[0])
        return max((at for at in starts if at < own), default=starts[-1])

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        row = self._rows[index]
        if row is None:
            return []
        if isinstance(row, str):
            visible, total = len(self.hits[row]) if self.only else min(len(self.hits[row]), SHOWN), self.totals[row]
            more = "+" if total >= MAX_COUNTED else ""
            amount = count(total) if visible == total else f"{count(visible)} of {count(total)}{more}"
            room = width - len(amount)
            return [*paint.cell([(TITLES[row], "bright bold")], room), *paint.segments([(amount, "muted")])]
        note = paint.segments([(row.note[:40], "muted")])
        room = max(width - paint.width(note) - 2, 1)
        name = paint.underlined(safe(row.name, 400), self.words.all, "bright")
        text = paint.underlined(safe(row.text or row.name, 400), self.words.all, "normal")
        named = paint.cell(name, min(_NAME, room)) if row.text else []
        line = paint.cut([Segment("  "), *named, Segment("  "), *paint.segments(text, room=room)], room)
        return [*line, Segment(" " * max(width - paint.width(line) - paint.width(note), 0)), *note]


class SearchScreen(Dialog[SearchHit]):
    """Finds a text in the server's items, messages, saved calls and recordings. Returns the chosen result."""

    DEFAULT_CSS = """
    SearchScreen { align: center top; }
    SearchScreen > Pane { width: 100%; max-width: 160; height: 100%; margin: 2 0 0 0; }
    SearchScreen Editor { height: 1; margin: 0 1 1 1; }
    SearchScreen VirtualList { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
        Binding("tab", "group(1)", show=False, priority=True),
        Binding("shift+tab", "group(-1)", show=False, priority=True),
        Binding("ctrl+o", "only", show=False, priority=True),
        Binding("escape", "leave", show=False, priority=True),
    ]

    def __init__(
        self,
        session: SessionState | None,
        collection: Collection | None = None,
        *,
        open_now: Container[Path] = (),
        text: str = "",
        selected: SearchHit | None = None,
    ) -> None:
        """`open_now` are the recordings of the open sessions; `text` and `selected` are those of an earlier search."""
        super().__init__()
        self._session = session
        self._collection = collection
        self.text = text
        """What is searched for."""
        self._selected = selected
        self._open_now = open_now
        self._rows = SearchRows()
        self._list = VirtualList(self._rows, empty="Type what you are looking for.")
        self._begun = 0.0
        self._took = 0
        """Microseconds of the last search; 0 while it goes on."""

    def compose(self) -> ComposeResult:
        keys = [
            KeyHint("enter", "open", "enter"),
            KeyHint(f"{signs_now().up}{signs_now().down}", "result", "down"),
            KeyHint("tab", "next group", "tab"),
            KeyHint("^o", "only this group", "ctrl+o"),
            KeyHint("esc", "back", "escape"),
        ]
        with Pane(title="Search", keys=keys):
            yield Editor(self.text, placeholder="names, descriptions, arguments, texts of messages")
            yield self._list

    def on_mount(self) -> None:
        self._list.shows_idle_cursor = True
        self.query_one(Editor).focus()
        if self.text:
            self._search(self.text)

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        self.text, self._selected = event.value, None
        self._search(event.value)

    @work(exclusive=True, group="search", exit_on_error=False)
    async def _search(self, text: str) -> None:
        """Search what is in memory at once, and the rest when the keys rest."""
        words = SearchTerms(text)
        self._rows.only = None
        self._rows.clear(words)
        self._begun = time.monotonic()
        self._took = 0
        if not words:
            self._list.empty = "Type what you are looking for."
            self._draw()
            return
        self._list.empty = f"Looking {signs_now().cut}"
        until = time.monotonic() + _AT_ONCE
        for hit in self._in_memory(words):
            if hit is not None:
                self._rows.add(hit)
            if time.monotonic() > until:
                await asyncio.sleep(0)
                until = time.monotonic() + _AT_ONCE
        self._draw()
        await asyncio.sleep(PATIENCE)
        worker = get_current_worker()
        queue = asyncio.Queue[SearchHit | None]()
        loop = asyncio.get_running_loop()

        def read_files() -> None:
            with suppress(RuntimeError):  # the program has ended meanwhile
                try:
                    for hit in self._in_files(words, lambda: not worker.is_cancelled):
                        loop.call_soon_threadsafe(queue.put_nowait, hit)
                finally:
                    loop.call_soon_threadsafe(queue.put_nowait, None)

        reading = asyncio.create_task(asyncio.to_thread(read_files))
        drawn = time.monotonic()
        while (next_hit := await queue.get()) is not None:
            self._rows.add(next_hit)
            if queue.empty() or time.monotonic() - drawn > _DRAWN:
                self._draw()
                drawn = time.monotonic()
        await reading
        self._took = max(int((time.monotonic() - self._begun) * 1e6), 1)
        self._list.empty = "Nothing has all of these words."
        self._draw()

    def _in_memory(self, words: SearchTerms) -> Iterator[SearchHit | None]:
        if self._session is not None:
            catalog = self._session.catalog
            yield from sources.items(words, catalog, "tools")
            yield from sources.arguments(words, catalog)
            for name in ("resources", "templates", "prompts"):
                yield from sources.items(words, catalog, name)
        if self._collection is not None:
            yield from sources.flows(words, self._collection)

    def _in_files(self, words: SearchTerms, still_wanted: sources.StillWanted) -> Iterator[SearchHit]:
        """Run in a thread: the newest messages first, then the newest recordings."""
        session, given = self._session, 0
        if session is not None:
            for numbers in sources.messages(words, session.journal, session.upto or len(session.journal), still_wanted):
                for n in numbers:
                    yield self._message(words, n) if given < MAX_COUNT else SearchHit("messages", "", key=n)
                    given += 1
                if given >= MAX_COUNTED:
                    break
        mine = session.journal.path if session is not None else None
        yield from sources.recordings(words, mine, still_wanted, self._open_now)

    def _message(self, words: SearchTerms, n: int) -> SearchHit:
        assert self._session is not None
        journal = self._session.journal
        index = journal.index
        clock = journal.clock(index.time(n))
        sign = paint.segments([sign_of(index, n, signs_now())])[0].text
        text = "".join(piece if isinstance(piece, str) else piece[0] for piece in summary(journal, n))
        if not words.fit(text) and index.size(n) <= sources.MAX_EXCERPTED:
            text = f"{text}  {words.around(journal.event(n).text)}".rstrip()
        spent = index.duration(n) if index.pair(n) and index.pair(n) < n else None
        name = f"{clock:%H:%M:%S}.{clock.microsecond // 1000:03} {sign} {id_text(index, n)}"
        return SearchHit("messages", name, text, "" if spent is None else duration(spent), n)

    def _draw(self) -> None:
        self._rows.arrange()
        edge = self.query_one(Pane)
        total = sum(self._rows.totals.values())
        facts = [quantity(total, "result"), quantity(self._rows.groups, "group")]
        facts.append(duration(self._took) if self._took else f"looking {signs_now().cut}")
        edge.facts = tuple(facts) if self._rows.words else ()
        self._list.source_changed()
        hit = self._selected
        place = None if hit is None else self._rows.index_of((hit.group, hit.key, hit.text))
        if place is not None:
            self._list.cursor, self._selected = place, None
        elif self._rows.hit_at(self._list.cursor) is None:
            self._list.cursor = self._rows.step(-1, 1)

    # Keys

    def action_move(self, by: int) -> None:
        self._selected = None
        self._list.cursor = self._rows.step(self._list.cursor, by)

    def action_page(self, by: int) -> None:
        for _ in range(max(self._list.size.height - 1, 1)):
            self.action_move(by)

    def action_group(self, by: int) -> None:
        self._list.cursor = self._rows.next_group(self._list.cursor, by)

    def action_only(self) -> None:
        """Show only the group of the selected result, or all groups again."""
        hit = self._rows.hit_at(self._list.cursor)
        self._rows.only = hit.group if hit is not None and self._rows.only is None else None
        self._draw()

    def action_open(self) -> None:
        hit = self._rows.hit_at(self._list.cursor)
        if hit is not None:
            self.dismiss(hit)

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        event.stop()
        self.action_open()
