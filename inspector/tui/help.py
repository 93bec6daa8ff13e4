"""The help screen (`?`): the keys that work at the focus, nearest first, then all others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.dom import DOMNode

from inspector.tui.available_verbs import contexts, who_does
from inspector.tui.custom_commands import CustomCommands
from inspector.tui.keymap import KeyHint, Keymap, label
from inspector.tui.themes import ascii_only
from inspector.tui.verbs import VERBS
from inspector.tui.widgets.dialog import Dialog
from inspector.tui.widgets.fact_rows import FactsView, Row, RowSection
from inspector.tui.widgets.pane import Pane

_KEYS = 12
_ROOMY = 70
"""Cells of a screen from which a row has the short name of its verb beside the sentence."""
_TITLE = max(len(verb.title) for verb in VERBS) + 2


class Help(Dialog[None]):
    """The keys of the contexts at the focus that work now, then those of all other contexts."""

    DEFAULT_CSS = """
    Help > Pane { width: 92%; max-width: 110; height: 92%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("q,question_mark", "leave", show=False)]

    def __init__(self, keymap: Keymap, focused: DOMNode, commands: CustomCommands) -> None:
        super().__init__()
        self._commands = commands
        self._keymap = keymap
        self._focused = focused

    def compose(self) -> ComposeResult:
        keys = [KeyHint("esc", "close", "escape"), KeyHint("/", "search", "slash")]
        yield Pane(FactsView(), title="Keys", facts=("keys that work here first",), keys=keys)

    def on_mount(self) -> None:
        view = self.query_one(FactsView)
        view.show(RowSection(self._rows()))
        view.focus()

    def _rows(self) -> list[Row]:
        nearest = {context: at for at, context in enumerate(contexts(self._focused))}
        groups = [(group, verbs, verbs[0][0].context) for group, verbs in self._keymap.table()]
        groups.sort(key=lambda group: nearest.get(group[2], len(nearest)))
        rows = self._own_rows()
        for title, verbs, context in groups:
            here = context in nearest
            shown = [(verb, keys) for verb, keys in verbs if not here or who_does(self._focused, verb) is not None]
            if not shown:
                continue
            rows += [Row()] if rows else []
            rows.append(Row([(title, "accent bold" if here else "muted bold")]))
            rows += [self._row(keys, verb.title, verb.description) for verb, keys in shown]
        return rows

    def _own_rows(self) -> list[Row]:
        """Return the user's own commands that work at the focus."""
        found = self._commands.here(contexts(self._focused))
        rows = [self._row([command.key], command.title, command.description) for command in found]
        return [Row([("Your commands", "accent bold")]), *rows] if rows else []

    def _row(self, keys: Sequence[str], title: str, description: str) -> Row:
        named = " ".join(label(key, ascii_only()) for key in keys) or "palette"
        key = (f"  {named:<{_KEYS - 1}} ", "key" if keys else "faint")
        if self.app.size.width < _ROOMY:
            return Row([key, description], _KEYS + 2)
        return Row([key, (f"{title:<{_TITLE - 1}} ", "bright"), description], _KEYS + _TITLE + 2)
