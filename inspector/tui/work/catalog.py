"""A list of what the server offers, with a filter: tools, resources with templates, or prompts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from inspector.client.engine.pending_requests import Call
from inspector.client.session_state import SessionState
from inspector.client.state.catalog import CatalogList, ListName, SurfaceChange
from inspector.config.server_memory import ServerMemory
from inspector.errors import NotOffered
from inspector.protocol.app_definitions import tool_app
from inspector.text import count, quantity
from inspector.tui.advice import advice, connect_again
from inspector.tui.ask.question import AnswersBeside
from inspector.tui.available_verbs import lend_features
from inspector.tui.keymap import bindings, keymap_of
from inspector.tui.model.catalog import CATALOG_VERBS, CatalogFacts
from inspector.tui.model.tabs import OF_LIST
from inspector.tui.pane_keys import VerbsByRules, hints
from inspector.tui.pane_messages import HintsChanged, ItemHighlighted, ItemOpened
from inspector.tui.sessions import is_down
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.filter_input import FilterInput
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.paragraphs import Paragraph, Paragraphs
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.work.catalog_rows import SORTED, TEMPLATE, CatalogGroups, CatalogRows, GroupKey

_THINGS: dict[ListName, str] = {
    "tools": "tools",
    "resources": "resources",
    "templates": "resource templates",
    "prompts": "prompts",
}


@dataclass
class _Place:
    """The state of one tab: its rows with their filter, the item under the cursor, the scroll position."""

    rows: CatalogGroups
    key: GroupKey | None = None
    scroll: int = 0
    seen: int = -1


class CatalogPane(AnswersBeside, Pane, VerbsByRules):
    """The lists of one tab at a time; those of a hidden one keep cursor, scroll position and filter.

    `memory` keeps the order of the tools between sessions.
    """

    RULES = CATALOG_VERBS
    BINDINGS: ClassVar[list[BindingType]] = [
        *(binding for binding in bindings("form") if binding.action == "about"),
        *bindings("asked"),
        *bindings("catalog"),
    ]
    DEFAULT_CSS = """
    CatalogPane > VirtualList { height: 1fr; }
    """

    class SaveRequested(Message):
        """Save the call of the item under the cursor with the values of its form."""

    class AboutRequested(Message):
        """Show the whole description of the item under the cursor, or only its beginning."""

    class CallRequested(Message):
        """Send the item under the cursor with the values of its form."""

    def __init__(self, session: SessionState, *, memory: ServerMemory | None = None, id: str | None = None) -> None:
        super().__init__(title="Tools", id=id)
        self.session = session
        self.running_call: Callable[[], Call | None] = lambda: None
        """Returns the call of the item under the cursor while it runs."""
        if memory is None and session.commands is not None:
            memory = ServerMemory(session.target)
        self._memory = memory
        self.place = OF_LIST["tools"]
        self._lists = {
            name: CatalogRows(catalog_list, session.refused_tools if name == "tools" else ())
            for name, catalog_list in session.catalog.lists.items()
        }
        self._places = {
            tab.id: _Place(CatalogGroups([self._lists[name] for name in tab.lists])) for tab in OF_LIST.values()
        }
        self._phase_seen = -1
        self._reported_item: dict[str, Any] | None = None
        self._list = VirtualList(self._places["tools"].rows)
        self._list.takes_early_enter = True
        self._notice = Paragraphs(after=1)
        self._notice.display = False
        self._filter = FilterInput()
        self._tools = self._lists["tools"]
        self._sorted_here = False
        """Whether the order was chosen in this session, so that the stored one is not used any more."""
        lend_features("catalog", self, self._named_tool)

    def _named_tool(self) -> tuple[str, Any]:
        name = self.item.get("name") if self.item is not None else None
        return (name if isinstance(name, str) else "", None)

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._list
        yield self._notice
        yield self._filter

    def on_mount(self) -> None:
        self.tick()
        if self._memory is not None:
            self.run_worker(self._recall_order(self._memory), group="order", exit_on_error=False)

    async def _recall_order(self, memory: ServerMemory) -> None:
        by_cost = await asyncio.to_thread(memory.tools_by_cost)
        if by_cost and not self._sorted_here:
            self._sort(by_cost=True)

    def on_show(self) -> None:
        # While hidden, it drew nothing.
        self.tick()

    @property
    def rows(self) -> CatalogGroups:
        """The rows of the current tab."""
        return self._places[self.place.id].rows

    @property
    def item(self) -> dict[str, Any] | None:
        """The item under the cursor."""
        return self.rows.item(self._list.cursor)

    @property
    def list_name(self) -> ListName:
        """The list of the item under the cursor."""
        key = self._key_at_cursor()
        return key[0] if key is not None else self.place.lists[0]

    def focus_inside(self) -> bool:
        """Focus the list, unless the focus is inside already."""
        if not self.has_focus_within:
            self.screen.set_focus(self._list)
        return True

    # Choose the list and the position

    def show(self, list_name: ListName) -> None:
        """Show the tab of a list in its last state."""
        tab = OF_LIST[list_name]
        if tab is self.place:
            return
        before = self._places[self.place.id]
        before.key = self._key_at_cursor()
        before.scroll = self._list.scroll_offset.y
        self.place = tab
        place = self._places[tab.id]
        self.title = tab.title
        self._list.source = place.rows
        self._filter.show_without_change(place.rows.filter)
        if place.key is None or not self._list.move_to(place.key):
            self._list.cursor = 0
        self._list.scroll_to(y=place.scroll, animate=False, immediate=True, force=True)
        self._list.scroll_to_row(self._list.cursor)
        place.seen = -1
        self.tick()
        self._tell()

    def select(self, list_name: ListName, address: str) -> bool:
        """Show a list with the cursor on the first item of this name or URI; False if there is none."""
        self.show(list_name)
        key = self.rows.find(list_name, address)
        if key is None:
            return False
        if self.rows.index_of(key) is None:
            self._filter.value = ""
            self._narrow("")
        return self._list.move_to(key)

    def mark_changed(self, changes: Iterable[SurfaceChange]) -> None:
        """Mark the items that are new or different since a restart, each until the cursor has been on it."""
        for change in changes:
            self._lists[change.list].changed = {*change.added, *change.altered}
        self._list.source_changed()

    def _visited(self) -> None:
        key = self._key_at_cursor()
        if key is None:
            return
        list_name, (name, _) = key
        if name in self._lists[list_name].changed:
            self._lists[list_name].changed.discard(name)
            self._list.rows_changed([self._list.cursor])

    def _key_at_cursor(self) -> GroupKey | None:
        key = self._list.row_key(self._list.cursor)
        return key if isinstance(key, tuple) else None

    # New items

    def tick(self) -> None:
        """Add the new items of the current list."""
        pages = any(catalog_list.pages for catalog_list in self._tab_lists)
        self._list.takes_early_enter = not pages and self.session.phase in ("new", "connecting", "ready")
        place = self._places[self.place.id]
        seen = sum(self.session.changes[name] for name in self.place.lists)
        phase = self.session.changes["phase"] + self.session.changes["server"] + self._is_read
        if seen == place.seen and phase == self._phase_seen and not place.rows.behind:
            return
        place.seen, self._phase_seen = seen, phase
        first = place.rows.advance()
        if first is not None:
            self._list.source_changed(first)
            if self.item is not self._reported_item:
                # The same item, but as the server lists it now.
                self._tell()
        self._describe()
        if place.rows.behind:
            self.set_timer(0.02, self.tick)

    @property
    def _is_read(self) -> bool:
        """Whether a recording has been read up to the moment shown."""
        return self.session.journal.is_read and not self.session.catching_up

    @property
    def _tab_lists(self) -> list[CatalogList]:
        """The lists of the tab."""
        return [self.session.catalog[name] for name in self.place.lists]

    def _describe(self) -> None:
        in_order = self.place.id == "tools" and self._tools.is_sorted
        self._filter.enter_opens = bool(self.rows.filter.strip()) and len(self.rows) > 0
        templates = self._lists["templates"].total if "templates" in self.place.lists else 0
        with_templates: list[paint.Pieces] = [f"{quantity(templates, 'template')} {TEMPLATE}"] if templates else []
        self.facts = [self._count(), *with_templates, *(["by cost"] if in_order else [])]
        empty, notice = self._words()
        if self._list.empty != empty:
            self._list.empty = empty
            self._list.refresh()
        if is_down(self.session):
            notice = [*notice, (f"{signs_now().failed} Not connected. {connect_again(self)}", "error")]
        invalid = sum(catalog_list.invalid_entries for catalog_list in self._tab_lists)
        if invalid:
            entries = "1 entry is" if invalid == 1 else f"{count(invalid)} entries are"
            notice = [*notice, (f"{signs_now().finding} {entries} not an object; see the message log.", "finding")]
        self._notice.show(notice)
        self.post_message(HintsChanged())

    def _count(self) -> paint.Pieces:
        rows, total = self.rows, count(self.rows.total)
        if rows.filter.strip():
            text = f"{count(len(rows))} of {total}"
        else:
            text = total if rows.total or all(catalog_list.complete for catalog_list in self._tab_lists) else ""
        if rows.behind or any(catalog_list.loading for catalog_list in self._tab_lists):
            text = f"{text} so far {signs_now().cut}".strip() if rows.total else f"loading {signs_now().cut}"
        return text

    def _words(self) -> tuple[str, list[Paragraph]]:
        """Return the text of empty lists, and what went wrong. A list that broke off keeps its items."""
        words = [self._words_of(catalog_list) for catalog_list in self._tab_lists]
        notices = [line for _, notice in words for line in notice]
        if self.rows.total:
            return ("" if len(self.rows) else "No match."), notices
        return words[0][0], notices

    def _words_of(self, catalog_list: CatalogList) -> tuple[str, list[Paragraph]]:
        session, things = self.session, _THINGS[catalog_list.kind.name]
        again = " ".join(f"{hint.label} {hint.title}" for hint in hints(self, "catalog.refresh"))
        if isinstance(catalog_list.error, NotOffered):
            return f"This server offers no {things}.", []
        if catalog_list.error is not None:
            remedy = advice(catalog_list.error.hint, keymap_of(self)) or (again if session.commands is not None else "")
            lines: list[Paragraph] = [(catalog_list.error.message, "error")]
            if remedy:
                lines.append((remedy, "muted"))
            if catalog_list.error.hint and session.commands is not None:
                lines.append((again, "muted"))
            return "", lines
        if catalog_list.loading or catalog_list.complete:
            return f"This server offers no {things}." if catalog_list.complete else f"Loading {signs_now().cut}", []
        if not self._is_read:
            return f"Reading the recording {signs_now().cut}", []
        if session.commands is None:
            return f"The recording has no list of {things} so far.", []
        if session.phase in ("new", "connecting"):
            return f"Connecting {signs_now().cut}", []
        if session.phase == "ready" and session.server.can(catalog_list.kind.capability):
            return f"Not listed yet.\n{again}", []
        return f"This server offers no {things}.", []

    # The filter

    def action_filter(self) -> None:
        self._filter.action_select_all()
        self.screen.set_focus(self._filter)

    def action_all(self) -> None:
        """Clear the filter, and the cursor stays on its item; without one, cancel the call of the item."""
        if not self.rows.filter:
            call = self.running_call()
            if call is not None:
                call.cancel()
            return
        self._filter.show_without_change("")
        self._narrow("")

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        self._narrow(event.value)

    def _narrow(self, text: str) -> None:
        key = self._key_at_cursor()
        if self.rows.narrow(text):
            self._list.source_changed()
            best = self.rows.best()
            if best is not None:
                self._list.cursor = best
            elif key is not None:
                # The shown item stays selected, although the list would return to the earlier one.
                self._list.move_to(key)
        self._describe()
        if self.rows.behind:
            self.set_timer(0.02, self.tick)

    def on_filter_input_left(self, event: FilterInput.Left) -> None:
        event.stop()
        if event.opens and self.item is not None:
            # The next key is for what is opened: the list does not get the focus in between.
            self._open()
        else:
            self.screen.set_focus(self._list)

    # Actions

    def action_call(self) -> None:
        if self.item is not None and self.session.commands is not None:
            self.post_message(self.CallRequested())

    def action_save(self) -> None:
        if self.item is not None and self.session.commands is not None:
            self.post_message(self.SaveRequested())

    def action_about(self) -> None:
        self.post_message(self.AboutRequested())

    def action_sort(self) -> None:
        """Sort the tools by cost, or show them in the server's order. The cursor stays on its tool."""
        self._sorted_here = True
        self._sort(by_cost=not self._tools.by_cost)
        if self._memory is not None:
            self.run_worker(self._keep_order(self._memory), group="order", exit_on_error=False)

    async def _keep_order(self, memory: ServerMemory) -> None:
        # The thread reads the order when it writes: of two quick presses, the last one counts.
        await asyncio.to_thread(lambda: memory.remember_tools_by_cost(self._tools.by_cost))

    def _sort(self, *, by_cost: bool) -> None:
        place = self._places["tools"]
        key = self._key_at_cursor() if self.place.id == "tools" else place.key
        self._tools.sort(by_cost=by_cost)
        place.seen = -1
        if self.place.id == "tools":
            self._list.source_changed()
            self.tick()
            if key is not None:
                self._list.move_to(key)
            self._describe()

    @property
    def _tool(self) -> dict[str, Any] | None:
        """The tool under the cursor."""
        return self.item if self.place.id == "tools" else None

    def action_refresh(self) -> None:
        session = self.session.commands
        for catalog_list in self._tab_lists if session is not None else ():
            if session is not None and not catalog_list.loading:
                session.run(session.load(catalog_list.kind.name))

    def verb_facts(self) -> CatalogFacts:
        """Return the facts on which the verbs depend."""
        tool = self._tool
        return CatalogFacts(
            live=self.session.commands is not None,
            rows=len(self.rows),
            asked=self.asked_verbs(),
            filtered=bool(self.rows.filter),
            calling=self.running_call() is not None,
            tool=tool is not None,
            page=bool(tool_app(tool).uri),
            sortable=self.place.id == "tools" and 1 < self._tools.total <= SORTED,
        )

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        event.stop()
        if self.has_focus_within:
            self._visited()
        self._tell()

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        event.stop()
        self._open()

    def _open(self) -> None:
        item = self.item
        self._visited()
        if item is not None:
            self.post_message(ItemOpened(self.list_name, item))

    def _tell(self) -> None:
        self._reported_item = self.item
        self.post_message(ItemHighlighted(self.list_name, self._reported_item))
