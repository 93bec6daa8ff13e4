"""The filter line of a list, inconspicuous until it is used."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive

from inspector.tui.keymap import KeyHint, label
from inspector.tui.themes import ThemeStyles
from inspector.tui.widgets import paint
from inspector.tui.widgets.editor import Editor, Highlight


class FilterInput(Editor):
    """`/ filter`: posts `Editor.Changed` while typing, and `Left` when the user returns to the list.

    Esc clears the text, and leaves if it is empty; enter and down leave with the filter in force. `note` is at the
    right, `idle_note` only while the filter is in force without focus (`esc all messages`). With `enter_opens`, enter
    also asks for the row at the cursor to be opened.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "clear_or_leave", show=False),
        Binding("enter", "enter", show=False),
        Binding("down", "leave", show=False),
    ]
    placeholder_role = "muted"

    note: reactive[paint.Pieces] = reactive("", init=False)
    idle_note: reactive[paint.Pieces] = reactive("", init=False)

    class Left(Message):
        """The user leaves the filter; the list should get the focus. `opens`: its row should be opened too."""

        def __init__(self, filter_input: FilterInput, *, opens: bool = False) -> None:
            super().__init__()
            self.filter_input = filter_input
            self.opens = opens

    def __init__(
        self,
        *,
        placeholder: str = "filter",
        sign: str = "/",
        highlight: Highlight | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(
            placeholder=placeholder,
            lead=[" ", (sign, "key"), " "],
            idle_ground="ground",
            highlight=highlight,
            limit=2000,
            id=id,
            classes=classes,
        )
        self.enter_opens = False

    def tail(self, theme: ThemeStyles) -> list[Segment]:
        width = self.size.width
        idle = self.idle_note and self.value and not self.has_focus
        note = paint.segments(self.idle_note if idle else self.note, "muted", room=max(width, 1), theme=theme)
        # The note is dropped if the text needs the room.
        if paint.width(note) + len(self.value or self.placeholder) + 8 > width:
            note = []
        return [Segment("  "), *note, Segment(" ")] if note else []

    def hints(self) -> list[KeyHint]:
        """Return the keys that work while the filter is typed."""
        rows = [KeyHint(label("down"), "to rows", "down")] if self.enter_opens else []
        return [
            KeyHint(label("enter"), "open" if self.enter_opens else "to rows", "enter"),
            *rows,
            KeyHint(label("escape"), "clear" if self.value else "leave", "escape"),
        ]

    def action_clear_or_leave(self) -> None:
        if self.value:
            self.value = ""
        else:
            self.action_leave()

    def action_enter(self) -> None:
        if self.enter_opens:
            self.post_message(self.Left(self, opens=True))
        else:
            self.action_leave()

    def action_leave(self) -> None:
        self.post_message(self.Left(self))
