"""The palette: every verb of the program, and tools, resources, prompts, saved calls and themes by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, ClassVar, NamedTuple

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget

from inspector.client.state.catalog import KINDS
from inspector.text import count, safe
from inspector.tui import feature_verbs
from inspector.tui.available_verbs import contexts, own_contexts, who_does
from inspector.tui.keymap import KeyHint, label
from inspector.tui.matching import Typed
from inspector.tui.model.reasons import why_not
from inspector.tui.model.tabs import OF_LIST, TAB_BY_ID, TABS
from inspector.tui.pane_keys import VerbsByRules
from inspector.tui.themes import ascii_only, signs_now
from inspector.tui.verbs import BY_ID, CONTEXTS, VERBS, KeymapVerb
from inspector.tui.widgets import paint
from inspector.tui.widgets.dialog import ListDialog
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.window import RunsCommands, ShowsItems, TellsWhyNot, window_of

ITEMS_LOOKED_AT = 20_000
NAME = 100
"""Characters of a name or description that are shown and searched."""
BEST = 200
"""Rows that are listed; more letters bring the others."""
_COLUMNS = {"name": 22, "key": 6, "place": 13}
"""Cells of the columns; the last one, what an entry does, has the others."""
_NAMED = 2
"""The last rank of a row that matches by its name alone."""
_PALETTE = "app.palette"
_MOVES = frozenset({"list", "text"})
"""Contexts whose verbs only move the cursor; they come last in the list."""
_AT_CURSOR = _MOVES | {"json", "content", "table", "field", "choices", "items"}
"""Contexts whose verbs act on what the cursor is on: they are done only at the focus."""
_EVERYWHERE = "everywhere"
_AFTER_PANES = {verb.group: 3 if verb.context in _MOVES else 1 for verb in VERBS if verb.context in _AT_CURSOR}
"""How far below the verbs of the panes the groups stand that act on what the cursor is on, or only move it."""
WAYS: Mapping[str, str] = {
    "messages": "app.messages",
    "detail": "app.messages",
    "authorization": "server.authorization",
    **{tab.id: tab.verb for tab in TABS if tab.id in CONTEXTS},
    "start": "app.start-list",
    **{context.name: context.way for context in feature_verbs.contexts() if context.way},
}
"""The verb that leads to the place of a context."""
PLACES = frozenset({"messages.timeline"})
"""Verbs that only show something: they are done at the end of the way, on whatever row the cursor is."""


class Entry(NamedTuple):
    """A row. `order` is its place among rows that match equally well: 0 what works here, 3 what does not work now."""

    order: int
    name: str
    key: str
    """The key of a verb, or that of the tab of an item."""
    place: str
    """Where a verb works, or the kind of an item."""
    about: str
    act: Callable[[], Any]
    go: Callable[[], Any] | None = None
    """Goes to its place; None if it has none."""
    reason: str = ""
    """Why it does not work now."""


class Heading(NamedTuple):
    """A row above others. `is_first`: it names the columns too."""

    title: str
    entries: int
    is_first: bool = False


_GAP = Heading("", 0)
"""The empty row between two groups."""


class _Entries(VirtualList):
    """The list. Its cursor skips headings."""

    @property
    def entry(self) -> Entry | None:
        """The entry under the cursor."""
        return self.source.entry_at(self.cursor) if isinstance(self.source, PaletteRows) else None

    def ground_of(self, index: int, selected: bool, focused: bool) -> str:
        return "selection" if selected and self.entry is not None else "ground"

    def _move(self, rows: int) -> None:
        if isinstance(self.source, PaletteRows):
            self.cursor = self.source.step(self.cursor, rows)
            if self.source.step(self.cursor, -1) == self.cursor:
                self.action_top()

    def action_top(self) -> None:
        """Show the heading above the first entry."""
        self._scroll_top(0)


class Palette(ListDialog[None]):
    """One line to type into, and what matches it: names that begin with the text first."""

    DEFAULT_CSS = """
    Palette { align: center top; }
    Palette > Pane { width: 90%; max-width: 110; height: 80%; margin: 2 0 0 0; }
    Palette Editor { height: 1; margin: 0 1 1 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", show=False, priority=True),
        Binding("tab", "go", show=False, priority=True),
        Binding("ctrl+f", "search", show=False, priority=True),
        Binding("escape,ctrl+p", "leave", show=False, priority=True),
    ]

    def __init__(self, below: Screen[Any]) -> None:
        """`below` is the screen whose verbs and items are listed."""
        super().__init__()
        self._below = below
        self._rows = PaletteRows(sorted(_entries(below), key=lambda entry: entry.order))
        self._list = _Entries(self._rows, empty="No match. Try fewer letters.")

    def compose(self) -> ComposeResult:
        moves = f"{signs_now().up}{signs_now().down}"
        keys = [KeyHint("enter", "run", "enter"), KeyHint(moves, "choose", "down")]
        keys += [KeyHint("tab", "go to its place", "tab"), KeyHint("esc", "close", "escape")]
        if self._searches is not None:
            keys.append(KeyHint("^f", "search in messages", "ctrl+f"))
        with Pane(title="Palette", keys=keys):
            yield Editor(placeholder="verbs, tools, resources, prompts, saved calls, themes")
            yield self._list

    @property
    def _searches(self) -> DOMNode | None:
        """The part of the screen below that can search everything."""
        return who_does(self._below.focused or self._below, BY_ID["app.search"])

    def on_mount(self) -> None:
        self._list.cursor = self._rows.step(-1, 0)
        self.query_one(Editor).focus()

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        self._find()

    def _find(self) -> None:
        if self._rows.narrow(self.query_one(Editor).value):
            self.query_one(Pane).facts = (f"{count(self._rows.matching)} of {count(len(self._rows.entries))}",)
            self._list.source_changed()
            self._list.cursor = self._rows.step(-1, 0)
            self._list.scroll_to(y=0, animate=False)

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        event.stop()
        self.action_open()

    def action_open(self) -> None:
        """Do what the row says. What is typed but not searched for yet is searched for first."""
        self._find()
        if self._list.entry is not None:
            self._leave_for(self._list.entry.act)

    def action_go(self) -> None:
        """Go to the place of the row, and do nothing there."""
        self._find()
        if self._list.entry is not None and self._list.entry.go is not None:
            self._leave_for(self._list.entry.go)

    def action_search(self) -> None:
        """Search messages, and everything else, for what is typed."""
        node = self._searches
        if node is not None:
            self._leave_for(partial(self.app.run_action, ("", "search", (self.query_one(Editor).value,)), node))

    def _leave_for(self, act: Callable[[], Any]) -> None:
        self.dismiss()
        self.app.call_next(act)


class PaletteRows:
    """A `RowSource` over the entries that match the typed text, best first, with headings.

    Without a text the headings are places, else how the entries match.
    """

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
        self._texts = [
            (entry.name[:NAME].casefold(), f"{entry.about[:NAME]} {entry.place} {entry.reason}".casefold())
            for entry in entries
        ]
        # Without a text only what works here is listed: there may be thousands of items, and they are on the tabs.
        places: dict[str, list[int]] = {}
        for at, entry in enumerate(entries):
            if entry.order == 0:
                places.setdefault(entry.place, []).append(at)
        self._first = {place: places[place] for place in sorted(places, key=_nearness)}
        self.visible: list[Entry | Heading] = []
        self._typed = Typed()
        self.matching = 0
        """The number of entries that match."""
        self._among: Sequence[int] = ()
        self._show(self._first)

    def narrow(self, text: str) -> bool:
        """Show what matches `text`; False if it means the same as before."""
        typed, before = Typed(text), self._typed
        if typed.words == before.words:
            return False
        # A longer text can only remove rows.
        among = self._among if before and typed.narrows(before) else range(len(self.entries))
        self._typed = typed
        ranks = {at: rank for at in among if (rank := typed.rank(*self._texts[at])) is not None}
        self._among = list(ranks) if typed else ()
        best = sorted(ranks, key=ranks.__getitem__)
        groups = {
            "name": [at for at in best if ranks[at] <= _NAMED],
            "description": [at for at in best if ranks[at] > _NAMED],
        }
        self._show(groups if typed else self._first)
        return True

    def _show(self, groups: Mapping[str, Sequence[int]]) -> None:
        self.matching, self.visible, room = sum(map(len, groups.values())), [], BEST
        for title, indexes in groups.items():
            if indexes and room:
                self.visible += (
                    [_GAP, Heading(title, len(indexes))] if self.visible else [Heading(title, len(indexes), True)]
                )
                self.visible += [self.entries[at] for at in indexes[:room]]
                room -= min(len(indexes), room)

    def entry_at(self, index: int) -> Entry | None:
        """Return the entry of a row; None for a heading."""
        row = self.visible[index] if 0 <= index < len(self.visible) else None
        return row if isinstance(row, Entry) else None

    def step(self, index: int, rows: int) -> int:
        """Return the row that is `rows` entries further on, or the last one in that direction; -1 without entries."""
        places = [at for at, row in enumerate(self.visible) if isinstance(row, Entry)]
        if not places:
            return -1
        near = min(range(len(places)), key=lambda at: abs(places[at] - index))
        return places[min(max(near + rows, 0), len(places) - 1)]

    def __len__(self) -> int:
        return len(self.visible)

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        entry, words = self.visible[index], self._typed.words
        if entry is _GAP:
            return []
        if isinstance(entry, Heading):
            title: Pieces = [(entry.title, "bright bold"), (f" {count(entry.entries)}", "faint")]
            names = [[(name, "muted")] for name in (*list(_COLUMNS)[1:], "does")] if entry.is_first else [[], [], []]
            return _row([title, *names], width)
        role, about = ("bright", "normal") if entry.order < 3 else ("muted", "faint")
        return _row(
            [
                paint.underlined(safe(entry.name, NAME), words, role),
                [(entry.key, "key")],
                [(entry.place, "muted")],
                paint.underlined(f"not now: {entry.reason}" if entry.reason else safe(entry.about, NAME), words, about),
            ],
            width,
        )


def _nearness(place: str) -> int:
    """Return where a place stands while nothing is typed: the pane, what the cursor is on, everywhere, moves."""
    return 2 if place == _EVERYWHERE else _AFTER_PANES.get(place, 0)


def _row(cells: Sequence[Pieces], width: int) -> list[Segment]:
    """Draw the columns of an entry; the last one has the rest of `width`."""
    line: list[Segment] = []
    for at, (pieces, room) in enumerate(zip(cells, _COLUMNS.values(), strict=False)):
        # A long name has the room that it needs.
        room = max(room, min(paint.width(paint.segments(pieces)), width // 2)) if at == 0 else room
        line += [*paint.cell(pieces, room), Segment("  ")]
    return paint.cut([*line, *paint.segments(cells[-1])], width)


def _entries(below: Screen[Any]) -> Iterator[Entry]:
    focused = below.focused or below
    yield from _verbs(below, focused)
    yield from _own_commands(below, focused)
    if isinstance(below, ShowsItems):
        for kind in KINDS.values():
            for item in below.session.catalog[kind.name].items[:ITEMS_LOOKED_AT]:
                address, title = item.get(kind.id_field), item.get("title")
                if isinstance(address, str):
                    about = item.get("description") or (title if title != address else "")
                    about, tab = about if isinstance(about, str) else "", OF_LIST[kind.name]
                    act = partial(below.show_address, kind.name, address)
                    go = partial(below.show_in_list, kind.name, address)
                    yield Entry(2, address, tab.key, kind.name[:-1], about, act, go)
        for name, about, show in below.saved_calls():
            yield Entry(2, name, TAB_BY_ID["calls"].key, "saved call", about, show, show)
    switch = window_of(below).theme_switch
    for name in switch.names():
        yield Entry(2, f"theme {name}", "", "theme", "Use this theme.", partial(switch.choose, name))


def doable(focused: DOMNode) -> dict[tuple[str, str], tuple[KeymapVerb, DOMNode]]:
    """Return the verbs that work at the focus by name and sentence, nearest first, moves last, each with its node."""
    order = {context: at for at, context in enumerate(contexts(focused))}
    working: dict[tuple[str, str], tuple[KeymapVerb, DOMNode]] = {}
    for verb in sorted(VERBS, key=lambda verb: (verb.context in _MOVES, order.get(verb.context, 0))):
        node = who_does(focused, verb) if verb.id != _PALETTE else None
        if node is not None:
            working.setdefault((verb.title, verb.description), (verb, node))
    return working


def _verbs(below: Screen[Any], focused: DOMNode) -> Iterator[Entry]:
    """Yield every verb: what works at the focus, elsewhere on the screen, and what does not work now."""
    keymap = window_of(below).verb_keys
    nearest = doable(focused)
    parts, reason_of = _parts(below), _reasons(below)
    seen = set(nearest)

    def entry(order: int, verb: KeymapVerb, act: Callable[[], Any], go: Callable[[], Any], reason: str = "") -> Entry:
        key = next((label(key, ascii_only()) for key in keymap.keys(verb.id)), "")
        place = _EVERYWHERE if verb.context == "app" else verb.group
        return Entry(order, verb.title, key, place, verb.description, act, go, reason)

    for verb, node in nearest.values():
        # The focus is at its place.
        yield entry(0, verb, partial(node.app.run_action, verb.action, node), lambda: None)
    for verb in VERBS:
        if (verb.title, verb.description) in seen or verb.id == _PALETTE:
            continue
        seen.add((verb.title, verb.description))
        nodes = parts.get(verb.context, ()) if verb.context not in _AT_CURSOR else ()
        there = next((node for node in nodes if who_does(node, verb) is node), None)
        if there is not None:
            yield entry(1, verb, partial(_do_there, there, verb), partial(_go_there, there))
        else:
            lead = partial(_lead_to, below, verb)
            yield entry(3, verb, lead, partial(lead, only=True), reason_of(verb))


def _reasons(below: Screen[Any]) -> Callable[[KeymapVerb], str]:
    """Return what says why a verb does not work now: the rules of the screen and of its panes."""
    # Not `query`: this class is not the first base of the panes, by which Textual finds them.
    panes = [pane for pane in below.walk_children(Widget) if isinstance(pane, VerbsByRules)]
    facts = cache(lambda pane: pane.verb_facts())

    def reason(verb: KeymapVerb) -> str:
        why = below.why_not(verb.id) if isinstance(below, TellsWhyNot) else ""
        decides = (pane for pane in panes if verb.id in pane.RULES.conditional)
        return why or next(
            (sentence for pane in decides if (sentence := why_not(verb.id, pane.RULES, facts(pane)))), ""
        )

    return reason


def _parts(below: Screen[Any]) -> dict[str, list[Widget]]:
    """Return the visible widgets of a screen by the contexts that they bind."""
    widgets: dict[str, list[Widget]] = {}
    for widget in below.walk_children(Widget):
        if widget.is_on_screen:
            for context in own_contexts(widget):
                widgets.setdefault(context, []).append(widget)
    return widgets


def _go_there(node: Widget) -> None:
    """Give the focus to another part of the screen."""
    target = node if node.focusable else next((one for one in node.query("*") if one.focusable), None)
    if target is not None:
        node.screen.set_focus(target)


async def _do_there(node: Widget, verb: KeymapVerb) -> None:
    """Do a verb in another part of the screen, which gets the focus as if its key were pressed there."""
    _go_there(node)
    await node.app.run_action(verb.action, node)


async def _lead_to(below: Screen[Any], verb: KeymapVerb, *, only: bool = False) -> None:
    """Go to the place of a verb that does not work now, and name its key there; `only` go."""
    context = verb.context
    while context and context not in WAYS:
        context = CONTEXTS[context]
    way = BY_ID[WAYS[context]] if context else None
    node = who_does(below.focused or below, way) if way is not None else None
    if way is not None and node is not None:
        await below.app.run_action(way.action, node)
        if only:
            return
    there_now = who_does(below.focused or below, verb) if verb.id in PLACES else None
    if there_now is not None:
        await below.app.run_action(verb.action, there_now)
        return
    key = " or ".join(label(key, ascii_only()) for key in window_of(below).verb_keys.keys(verb.id))
    there = (f" in “{verb.group}”" if verb.context != "app" else "") + (f" with {key}" if key else "")
    there = f" It works{there}." if there else ""
    why = _reasons(below)(verb)
    because = f": {why}." if why else "."
    below.app.notify(f"“{verb.title}” cannot be done now{because}{there}\n{verb.description}", timeout=8)


def _own_commands(below: Screen[Any], focused: DOMNode) -> Iterator[Entry]:
    if isinstance(below, RunsCommands):
        for command in window_of(below).custom_commands.here(contexts(focused)):
            act = partial(below.run_own_command, command)
            yield Entry(0, command.title, label(command.key, ascii_only()), "your command", command.description, act)
