"""The palette: every verb of the program, and tools, resources, prompts and themes by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget

from inspector.client.state.catalog import KINDS
from inspector.text import safe
from inspector.tui.available_verbs import contexts, own_contexts, who_does
from inspector.tui.keymap import KeyHint, label
from inspector.tui.matching import Typed
from inspector.tui.themes import ascii_only, signs_now
from inspector.tui.verbs import BY_ID, CONTEXTS, VERBS, KeymapVerb
from inspector.tui.widgets import paint
from inspector.tui.widgets.dialog import ListDialog
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.window import RunsCommands, ShowsItems, window_of

ITEMS_LOOKED_AT = 20_000
NAME = 100
"""Characters of a name or description that are shown and searched."""
BEST = 200
"""Rows that are listed; more letters bring the others."""
_NAME_CELLS, _KEY_CELLS, _PLACE_CELLS = 24, 12, 16
_PALETTE = "app.palette"
_MOVES = frozenset({"list", "text"})
"""Contexts whose verbs only move the cursor; they come last in the list."""
_AT_CURSOR = _MOVES | {"json", "content", "table", "field", "choices", "items"}
"""Contexts whose verbs act on what the cursor is on: they are done only at the focus."""
WAYS: Mapping[str, str] = {
    "messages": "app.messages",
    "detail": "app.messages",
    "tasks": "app.tab-5",
    "server": "app.tab-6",
    "authorization": "server.authorization",
    "inbox": "app.tab-7",
    "check": "app.tab-8",
    "calls": "app.tab-9",
    "skills": "app.tab-0",
    "model": "catalog.model",
    "events": "app.events",
    "start": "app.start-list",
}
"""The verb that leads to the place of a context."""
PLACES = frozenset({"messages.timeline"})
"""Verbs that only show something: they are done at the end of the way, on whatever row the cursor is."""


class Entry(NamedTuple):
    """A row. `order` is its place among rows that match equally well: 0 what works here, 3 what does not work now."""

    order: int
    name: str
    key: str
    """The key of a verb, or the kind of an item."""
    place: str
    about: str
    act: Callable[[], Any]


class Palette(ListDialog[None]):
    """One line to type into, and what matches it: names that begin with the text first."""

    DEFAULT_CSS = """
    Palette { align: center top; }
    Palette > Pane { width: 90%; max-width: 110; height: 80%; margin: 2 0 0 0; }
    Palette Editor { height: 1; margin: 0 1 1 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", show=False, priority=True),
        Binding("escape,ctrl+p", "leave", show=False, priority=True),
    ]

    def __init__(self, below: Screen[Any]) -> None:
        """`below` is the screen whose verbs and items are listed."""
        super().__init__()
        self._rows = PaletteRows(sorted(_entries(below), key=lambda entry: entry.order))
        self._list = VirtualList(self._rows, empty="No match. Try fewer letters.")

    def compose(self) -> ComposeResult:
        moves = f"{signs_now().up}{signs_now().down}"
        keys = [KeyHint("enter", "run", "enter"), KeyHint(moves, "row", "down"), KeyHint("esc", "close", "escape")]
        with Pane(title="Palette", keys=keys):
            yield Editor(placeholder="a verb, tool, resource, prompt or theme")
            yield self._list

    def on_mount(self) -> None:
        self._list.cursor = 0
        self.query_one(Editor).focus()

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        self._find()

    def _find(self) -> None:
        if self._rows.narrow(self.query_one(Editor).value):
            self._list.source_changed()
            self._list.cursor = 0 if len(self._rows) else -1
            self._list.scroll_to(y=0, animate=False)

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        event.stop()
        self.action_open()

    def action_open(self) -> None:
        """Do what the row says. What is typed but not searched for yet is searched for first."""
        self._find()
        if 0 <= self._list.cursor < len(self._rows):
            act = self._rows.shown[self._list.cursor].act
            self.dismiss()
            self.app.call_next(act)


class PaletteRows:
    """A `RowSource` over the entries that match the typed text, best first."""

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries
        self._texts = [
            (entry.name[:NAME].casefold(), f"{entry.about[:NAME]} {entry.place}".casefold()) for entry in entries
        ]
        # Without a text only what works here is listed: there may be thousands of items, and they are on the tabs.
        self._first = [at for at, entry in enumerate(entries) if entry.order == 0]
        self.shown: list[Entry] = []
        self._typed = Typed()
        self._matching: Sequence[int] = ()
        self._show(self._first)

    def narrow(self, text: str) -> bool:
        """Show what matches `text`; False if it means the same as before."""
        typed, before = Typed(text), self._typed
        if typed.words == before.words:
            return False
        # A longer text can only remove rows.
        among = self._matching if before and typed.narrows(before) else range(len(self.entries))
        self._typed = typed
        ranks = {at: rank for at in among if (rank := typed.rank(*self._texts[at])) is not None}
        self._matching = list(ranks) if typed else ()
        self._show(sorted(ranks, key=ranks.__getitem__) if typed else self._first)
        return True

    def _show(self, found: list[int]) -> None:
        self.shown = [self.entries[at] for at in found[:BEST]]

    def __len__(self) -> int:
        return len(self.shown)

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        entry = self.shown[index]
        role = "bright" if entry.order < 3 else "muted"
        name = safe(entry.name, NAME)
        cells = max(_NAME_CELLS, min(paint.width(paint.segments([name])), width // 2))
        line = [*paint.cell(paint.underlined(name, self._typed.words, role), cells), Segment("  ")]
        line += paint.cell([(entry.key, "key")], _KEY_CELLS)
        line += paint.segments([(safe(entry.about, NAME), "muted")])
        return paint.spread(line, paint.segments([(entry.place[: _PLACE_CELLS * 2], "faint")]), width)


def _entries(below: Screen[Any]) -> Iterator[Entry]:
    focused = below.focused or below
    yield from _verbs(below, focused)
    yield from _own_commands(below, focused)
    if isinstance(below, ShowsItems):
        for kind in KINDS.values():
            for item in below.session.catalog[kind.name].items[:ITEMS_LOOKED_AT]:
                address, title = item.get(kind.id_field), item.get("title")
                if isinstance(address, str):
                    beside = title if isinstance(title, str) and title != address else ""
                    go = partial(below.show_address, kind.name, address)
                    yield Entry(2, address, kind.name[:-1], "", beside, go)
    switch = window_of(below).theme_switch
    for name in switch.names():
        yield Entry(2, f"theme {name}", "", "", "Use this theme.", partial(switch.choose, name))


def doable(focused: DOMNode) -> dict[str, tuple[KeymapVerb, DOMNode]]:
    """Return the verbs that work at the focus by their sentences, nearest first, moves last, each with its node."""
    order = {context: at for at, context in enumerate(contexts(focused))}
    found: dict[str, tuple[KeymapVerb, DOMNode]] = {}
    for verb in sorted(VERBS, key=lambda verb: (verb.context in _MOVES, order.get(verb.context, 0))):
        node = who_does(focused, verb) if verb.id != _PALETTE else None
        if node is not None:
            found.setdefault(verb.description, (verb, node))
    return found


def _verbs(below: Screen[Any], focused: DOMNode) -> Iterator[Entry]:
    """Yield every verb: what works at the focus, elsewhere on the screen, and what does not work now."""
    keymap = window_of(below).verb_keys
    nearest = doable(focused)
    parts = _parts(below)
    seen = set(nearest)

    def entry(order: int, verb: KeymapVerb, place: str, act: Callable[[], Any]) -> Entry:
        keys = " ".join(label(key, ascii_only()) for key in keymap.keys(verb.id))
        return Entry(order, verb.title, keys, place, verb.description, act)

    for verb, node in nearest.values():
        yield entry(0, verb, "", partial(node.app.run_action, verb.action, node))
    for verb in VERBS:
        if verb.description in seen or verb.id == _PALETTE:
            continue
        seen.add(verb.description)
        nodes = parts.get(verb.context, ()) if verb.context not in _AT_CURSOR else ()
        there = next((node for node in nodes if who_does(node, verb) is node), None)
        place = verb.group.lower() if verb.context != "app" else ""
        if there is not None:
            yield entry(1, verb, place, partial(_do_there, there, verb))
        else:
            yield entry(3, verb, place or "not now", partial(_lead_to, below, verb))


def _parts(below: Screen[Any]) -> dict[str, list[Widget]]:
    """The visible widgets of a screen by the contexts that they bind."""
    found: dict[str, list[Widget]] = {}
    for widget in below.walk_children(Widget):
        if widget.is_on_screen:
            for context in own_contexts(widget):
                found.setdefault(context, []).append(widget)
    return found


async def _do_there(node: Widget, verb: KeymapVerb) -> None:
    """Do a verb in another part of the screen, which gets the focus as if its key were pressed there."""
    target = node if node.focusable else next((one for one in node.query("*") if one.focusable), None)
    if target is not None:
        node.screen.set_focus(target)
    await node.app.run_action(verb.action, node)


async def _lead_to(below: Screen[Any], verb: KeymapVerb) -> None:
    """Go to the place of a verb that does not work now, and say which key it has there."""
    context = verb.context
    while context and context not in WAYS:
        context = CONTEXTS[context]
    way = BY_ID[WAYS[context]] if context else None
    node = who_does(below.focused or below, way) if way is not None else None
    if way is not None and node is not None:
        await below.app.run_action(way.action, node)
    there_now = who_does(below.focused or below, verb) if verb.id in PLACES else None
    if there_now is not None:
        await below.app.run_action(verb.action, there_now)
        return
    key = " or ".join(label(key, ascii_only()) for key in window_of(below).verb_keys.keys(verb.id))
    there = f" It is a verb of: {verb.group.lower()}." if verb.context != "app" else ""
    there += f" Its key is {key}." if key else ""
    below.app.notify(f"`{verb.title}` cannot be done now.{there}\n{verb.description}", timeout=8)


def _own_commands(below: Screen[Any], focused: DOMNode) -> Iterator[Entry]:
    if isinstance(below, RunsCommands):
        for command in window_of(below).custom_commands.here(contexts(focused)):
            act = partial(below.run_own_command, command)
            yield Entry(0, command.title, label(command.key, ascii_only()), "", command.description, act)
