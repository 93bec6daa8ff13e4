"""A pane that hides its line of keys if there is little room: the footer has the same keys."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.tui.keymap import KeyHint
from inspector.tui.widgets import paint
from inspector.tui.widgets.pane import Pane


class CompactPane(Pane):
    """A pane with `state_facts`, `state_keys` and `state_note`.

    If it is `compact`, it shows the note first among the facts and hides the keys.
    """

    compact = False
    state_facts: Sequence[paint.Pieces] = ()
    state_keys: Sequence[KeyHint] = ()
    state_note: paint.Pieces = ""

    def set_compact(self, compact: bool) -> None:
        """Hide the line of keys, or show it again."""
        if compact != self.compact:
            self.compact = compact
            self.draw_state()

    def show_state(self, facts: Sequence[paint.Pieces], keys: Sequence[KeyHint], *, note: paint.Pieces = "") -> None:
        """Show other facts, keys and another note."""
        self.state_facts, self.state_keys, self.state_note = facts, keys, note
        self.draw_state()

    def show_facts(self, facts: Sequence[paint.Pieces]) -> None:
        """Show other facts."""
        self.state_facts = facts
        self.draw_state()

    def show_keys(self, keys: Sequence[KeyHint]) -> None:
        """Show other keys."""
        self.state_keys = keys
        self.draw_state()

    def draw_state(self) -> None:
        """Show facts, keys and note as far as they fit."""
        note = self.state_note
        self.facts = [*([note] if note and self.compact else []), *self.state_facts]
        self.keys = [] if self.compact else self.state_keys
        self.note = "" if self.compact else note

    def say(self, note: paint.Pieces) -> None:
        """Show another note."""
        if note != self.state_note:
            self.state_note = note
            self.draw_state()
