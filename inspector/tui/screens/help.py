"""`?`: the keys that work where the focus is, nearest first, then all the others."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from inspector.tui.keymap import Hint, Keymap, label
from inspector.tui.themes import ascii_only
from inspector.tui.widgets.edge import Edge
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.virtual_list import TextRows, VirtualList

_KEYS = 14
_TITLE = 18


class Help(ModalScreen[None]):
    """The key table of the contexts in force, then of the rest."""

    DEFAULT_CSS = """
    Help { align: center middle; }
    Help > Edge { width: 92%; max-width: 110; height: 92%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark", "leave", show=False)]

    def __init__(self, keymap: Keymap, contexts: list[str]) -> None:
        super().__init__()
        self._keymap = keymap
        self._contexts = contexts

    def compose(self) -> ComposeResult:
        yield Edge(
            VirtualList(TextRows(self._rows())),
            title="Keys",
            facts=("here first",),
            keys=[Hint("esc", "close", "escape")],
        )

    def on_mount(self) -> None:
        self.query_one(VirtualList).focus()

    def _rows(self) -> list[Pieces]:
        groups = self._keymap.table()
        nearest = {context: at for at, context in enumerate(self._contexts)}
        groups.sort(key=lambda group: nearest.get(group[1][0][0].context, len(nearest)))
        rows: list[Pieces] = []
        for title, verbs in groups:
            if rows:
                rows.append("")
            here = verbs[0][0].context in nearest
            rows.append([(title, "accent bold" if here else "muted bold")])
            for verb, keys in verbs:
                shown = " ".join(label(key, ascii_only()) for key in keys) or "palette"
                rows.append([
                    (f"  {shown:<{_KEYS}}", "key" if keys else "faint"),
                    (f"{verb.title:<{_TITLE}}", "bright"),
                    (verb.description, "normal"),
                ])  # fmt: skip
        return rows

    def action_leave(self) -> None:
        self.dismiss(None)
