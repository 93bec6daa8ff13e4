"""A pane that gives its line of keys to its content where there is little room: the footer has the same keys."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.tui.keymap import Hint
from inspector.tui.widgets import paint
from inspector.tui.widgets.edge import Edge


class CompactEdge(Edge):
    """`state_facts`, `state_keys` and `state_note` are what the pane would show; where it is `compact`, the note stands
    first among the facts and the keys are left out."""

    compact = False
    state_facts: Sequence[paint.Pieces] = ()
    state_keys: Sequence[Hint] = ()
    state_note: paint.Pieces = ""

    def set_compact(self, compact: bool) -> None:
        """Leave the line of keys out, or show it again."""
        if compact != self.compact:
            self.compact = compact
            self.draw_state()

    def draw_state(self) -> None:
        """Show facts, keys and note as there is room for them."""
        note = self.state_note
        self.facts = [*([note] if note and self.compact else []), *self.state_facts]
        self.keys = [] if self.compact else self.state_keys
        self.note = "" if self.compact else note

    def say(self, note: paint.Pieces) -> None:
        """Show another note."""
        if note != self.state_note:
            self.state_note = note
            self.draw_state()
