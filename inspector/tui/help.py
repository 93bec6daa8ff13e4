"""The keys page (`?`): what one can do at the focus, then all keys by group; `/` filters it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget

from inspector.text import cell_len, quantity
from inspector.tui.available_verbs import binds, contexts, verb_at, who_does
from inspector.tui.custom_commands import CustomCommands
from inspector.tui.keymap import KeyHint, Keymap, KeyRow, label, types_text
from inspector.tui.model.keys import LAST, KeyEntry, KeyGroup, keys_page
from inspector.tui.pane_keys import at_focus, own_hints
from inspector.tui.themes import ascii_only
from inspector.tui.verbs import BY_ID, VERBS
from inspector.tui.widgets import paint
from inspector.tui.widgets.dialog import Dialog
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fact_rows import FactsView, Row, RowSection
from inspector.tui.widgets.filter_input import FilterInput
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.status_lines import is_typing

_KEYS = 15
"""Cells of the column of keys."""
_KEYS_HERE = (KeyHint("/", "filter", "slash"), KeyHint("esc", "close", "escape"))
_ROOMY = 70
"""Cells of a screen from which a row has the short name of its verb beside the sentence."""
_TITLE = max(len(verb.title) for verb in VERBS) + 2


class Help(Dialog[None]):
    """The keys of the focus that work now, then all of each group."""

    DEFAULT_CSS = """
    Help > Pane { width: 92%; max-width: 110; height: 92%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,question_mark", "leave", show=False),
        Binding("slash", "filter", show=False, priority=True),
    ]

    def __init__(self, keymap: Keymap, focused: DOMNode, commands: CustomCommands) -> None:
        super().__init__()
        here = contexts(focused)
        working = [verb for verb in VERBS if verb.context not in here or who_does(focused, verb) is not None]
        table = keymap.table(working)
        self._groups = {title: [_line(row) for row in rows] for title, rows in table.items()}
        own = [
            KeyEntry((label(command.key, ascii_only()),), command.title, command.description)
            for command in commands.here(here)
        ]
        if own:
            self._groups = {"Your commands": own, **self._groups}
        self.here = _here(keymap, focused, own)
        group_of = {verb.context: verb.group for verb in VERBS}
        self._near = ["Your commands", *dict.fromkeys(group_of[context] for context in here if context in group_of)]
        self._place = _name_of_pane(focused)

    def compose(self) -> ComposeResult:
        with Pane(title="Keys", facts=(quantity(sum(map(len, self._groups.values())), "key"),), keys=_KEYS_HERE):
            yield FilterInput(placeholder="filter by name or key")
            yield FactsView()

    def on_mount(self) -> None:
        self._show("")
        self.query_one(FactsView).focus()

    def on_editor_changed(self, event: Editor.Changed) -> None:
        """Show what matches."""
        event.stop()
        self._show(event.value)
        self.on_descendant_focus()

    def on_descendant_focus(self) -> None:
        """Show the keys of the filter while it is typed."""
        filter = self.query_one(FilterInput)
        self.query_one(Pane).keys = filter.hints() if filter.has_focus else _KEYS_HERE

    def on_filter_input_left(self, event: FilterInput.Left) -> None:
        """Leave the filter; without a text the page is closed by the next escape."""
        event.stop()
        self.query_one(FactsView).focus()

    def action_filter(self) -> None:
        """Type a filter."""
        self.query_one(FilterInput).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """In the filter the key of the filter is a character."""
        return action != "filter" or not isinstance(self.focused, FilterInput)

    def _show(self, text: str) -> None:
        groups = keys_page(self._place, self.here, self._groups, self._near, text)
        rows = [row for group in groups for row in self._rows(group)]
        self.query_one(FactsView).show(RowSection(rows or [Row([("No key or name matches.", "muted")])]))

    def _rows(self, group: KeyGroup) -> list[Row]:
        visible, count = len(group.lines), group.total
        counted = f"{visible} of {count}" if visible < count else f"{count}"
        heading = Row([(group.title, "bright bold"), (f"  {counted}", "faint")])
        return [heading, *(row for line in group.lines for row in self._entry(line)), Row()]

    def _entry(self, line: KeyEntry) -> list[Row]:
        """Return the rows of a verb; a label longer than its column has a row of its own."""
        named = "  " + (" ".join(line.labels) or "palette")
        columns = [(named, "key" if line.labels else "faint", _KEYS)]
        if self.app.size.width >= _ROOMY:
            columns.append((line.name, "bright", _TITLE))
        rows: list[Row] = []
        pieces: list[tuple[str, str]] = []
        at = 0
        for text, role, cells in columns:
            at += cells
            if (used := cell_len(text)) < cells:
                pieces.append((text + " " * (cells - used), role))
            else:
                rows.append(Row([*pieces, (text, role)], 2))
                pieces = [(" " * at, "normal")]
        return [*rows, Row([*pieces, line.about], at)]


def _line(row: KeyRow) -> KeyEntry:
    return KeyEntry(tuple(label(key, ascii_only()) for key in row.keys), row.verbs[0].title, row.verbs[0].description)


def _here(keymap: Keymap, focused: DOMNode, own_commands: Sequence[KeyEntry]) -> list[KeyEntry]:
    """Return the verbs that work at the focus now: those that its pane offers, then the others, nearest first."""
    hints = at_focus(focused, (hint for hint in own_hints(_widget(focused), focused.screen) if hint.verb in BY_ID))
    nearest = contexts(focused)
    working = [
        verb
        for verb in sorted(VERBS, key=lambda verb: nearest.index(verb.context) if verb.context in nearest else 0)
        if verb.context in nearest and verb.group not in LAST and who_does(focused, verb) is not None
    ]
    entries = {
        BY_ID[hint.verb].description: KeyEntry((hint.label,), hint.title, BY_ID[hint.verb].description)
        for hint in hints
    }
    entries |= {command.about: command for command in own_commands}
    for row in (row for rows in keymap.table(working).values() for row in rows):
        ids = {verb.id for verb in row.verbs}
        acting = [key for key in row.keys if _acts(focused, key) and verb_at(focused, key, keymap) in ids]
        # A verb whose keys all mean something else here is not shown; one without a key is in the palette.
        if acting or not row.keys:
            entry = _line(row._replace(keys=acting))
            entries.setdefault(entry.about, entry)
    return list(entries.values())


def _acts(focused: DOMNode, key: str) -> bool:
    """Whether a key is not text at the focus."""
    return not (types_text(key) and is_typing(focused.screen)) or binds(focused, key)


def _widget(focused: DOMNode) -> Widget | None:
    return focused if isinstance(focused, Widget) and not isinstance(focused, Screen) else None


def _name_of_pane(focused: DOMNode) -> str:
    """Return the title of the pane around a widget."""
    panes = [node for node in focused.ancestors_with_self if isinstance(node, Pane)]
    return "".join(part.text for part in paint.segments(panes[0].title)) if panes else "this screen"
