"""Fields that contain fields: objects and arrays, rows that add to them, and fixed values."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.actions import SkipAction
from textual.binding import BindingType
from textual.strip import Strip

from inspector.protocol.forms.form import UNSET, Field, Form
from inspector.protocol.forms.values import text_of
from inspector.text import safe
from inspector.tui.keymap import bindings
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.fields.base import FieldFrame, FieldHost
from inspector.tui.widgets.fields.text import TextField

NAME = 30
"""Characters of a list's name in the row that adds to it."""


class TypedThrough(FieldFrame):
    """A row without a text of its own: what is typed or pasted there goes to a field inside."""

    @property
    def is_short(self) -> bool:
        return True

    def on_key(self, event: events.Key) -> None:
        """Type inside: after tab one believes to be in a field. A key of this row acts, until a text has begun."""
        if event.character is None or not event.is_printable:
            return
        begins = self.screen.focused is self and not self.host.has_typed_ahead
        if not (begins and event.key in self._own_keys) and self.host.type_inside(self, event.character):
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.host.type_inside(self, event.text)

    @property
    def _own_keys(self) -> tuple[str, ...]:
        return ("space", "plus") if self.field.kind == "array" else ("space",)


class ContainerField(TypedThrough, can_focus=True):
    """The head of an object or array: its size, and whether it is unfolded."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("items")]

    def __init__(self, field: Field, host: FieldHost, *, labelled: bool = True) -> None:
        super().__init__()
        self.frame(field, host, labelled=labelled)

    def body_line(self, y: int) -> Strip:
        field, signs = self.field, signs_now()
        if isinstance(field.value, (list, dict)):
            number = len(field.value)
            # An object shows its fields, set or not: only those that are set count.
            noun, word = ("item", "") if field.kind == "array" else ("field", " set")
            summary = f"{number:,} {noun}{'' if number == 1 else 's'}{word}"
        else:
            summary = field.text or "not set"
        pieces: list[paint.Piece] = [
            (f"{signs.unfolded if field.is_open else signs.folded} ", "muted"),
            (summary, "normal" if field.value is not UNSET else "faint"),
        ]
        return self.body_strip(paint.segments(pieces, room=self.size.width))

    def key_verbs(self) -> list[str | tuple[str, str]]:
        field = self.field
        title = "fold" if field.is_open else "add an item" if self._starts_with_an_item else "open"
        verbs: list[str | tuple[str, str]] = [("items.open", title)]
        if field.can_add and field.kind == "array" and not self._starts_with_an_item:
            verbs.append("items.add")
        if field.is_item:
            verbs.append("items.remove")
            if field.name.isdecimal():
                verbs += ["field.move-up", "field.move-down"]
        return verbs

    def body_clicked(self, x: int, y: int) -> None:
        self.action_open()

    @property
    def _starts_with_an_item(self) -> bool:
        """Whether opening it adds an item: a list without items would show nothing to fill in."""
        field = self.field
        return field.kind == "array" and field.can_add and not field.is_open and field.value in (UNSET, [])

    def action_open(self) -> None:
        if self._starts_with_an_item:
            self.action_add()
            return
        path, is_open = self.field.path, not self.field.is_open

        def show(form: Form) -> None:
            if is_open and self.field.value is UNSET and self.field.kind == "array":
                form.put(path, [])
            form.open(path, is_open)

        self.host.change(self, show, structure=True)

    def action_add(self) -> None:
        if not self.field.can_add or self.field.kind != "array":
            raise SkipAction
        path = self.field.path
        self.host.change(self, lambda form: form.add(path), structure=True)


class AddItem(TypedThrough, can_focus=True):
    """The row at the end of an array that adds an item."""

    BINDINGS: ClassVar[list[BindingType]] = [
        binding for binding in bindings("items") if binding.action in ("open", "add")
    ]

    def __init__(self, field: Field, host: FieldHost) -> None:
        super().__init__()
        self.frame(field, host, labelled=False)

    @property
    def indent(self) -> int:
        return super().indent + 2

    def _beside(self, room: int) -> list[Segment]:
        """Return the head of the list says what is required and what is wrong."""
        return []

    def body_line(self, y: int) -> Strip:
        # Lists in lists end with such rows below each other.
        name = self.field.name
        where = f" to {safe(name, NAME)}" if name and not name.isdecimal() else ""
        pieces: list[paint.Piece] = [("+", "key"), (" add an item", "muted"), (where, "faint")]
        return self.body_strip(paint.segments(pieces, room=self.size.width))

    def key_verbs(self) -> list[str | tuple[str, str]]:
        return [("items.open", "add an item")]

    def body_clicked(self, x: int, y: int) -> None:
        self.action_add()

    def action_open(self) -> None:
        self.action_add()

    def action_add(self) -> None:
        path = self.field.path
        self.host.change(self, lambda form: form.add(path), structure=True)


class AddKey(TextField):
    """The row at the end of an object with an editor for the name of a new key."""

    def __init__(self, field: Field, host: FieldHost) -> None:
        super().__init__(field, host, labelled=False)
        self.multiline = False

    def _text(self) -> str:
        return ""

    def _placeholder(self) -> str:
        return "+ add a key"

    @property
    def indent(self) -> int:
        return super().indent + (2 if self.field.depth >= 0 else 0)

    def field_changed(self) -> None:
        self.set_error("")

    def edited(self) -> None:
        self.set_error("")

    def refused(self, text: str) -> None:
        self.set_error("the key is too long")

    def action_next(self) -> None:
        key, path = self.value, self.field.path
        if not key:
            self.host.go_next(self)
            return

        if isinstance(self.field.value, dict) and key in self.field.value:
            self.set_error(f'"{safe(key, 80)}" exists already')
            return
        self.show_without_change("")
        self.host.change(self, lambda form: form.add_key(path, key), structure=True)


class FixedField(FieldFrame):
    """A value that cannot change: a constant, or null. If it is optional it can be unset."""

    BINDINGS: ClassVar[list[BindingType]] = [binding for binding in bindings("choices") if binding.action == "choose"]

    def __init__(self, field: Field, host: FieldHost, *, labelled: bool = True) -> None:
        super().__init__()
        self.frame(field, host, labelled=labelled)
        self.can_focus = not field.required

    def _value(self) -> object:
        return self.field.choices[0].value if self.field.choices else None

    def body_line(self, y: int) -> Strip:
        given = self.field.value is not UNSET
        pieces: list[paint.Piece] = [] if self.field.required else [("[x] " if given else "[ ] ", "normal")]
        pieces.append((text_of(self._value()), "muted" if given else "faint"))
        return self.body_strip(paint.segments(pieces, room=self.size.width))

    def key_verbs(self) -> list[str | tuple[str, str]]:
        return [("choices.choose", "set" if self.field.value is UNSET else "unset")]

    def body_clicked(self, x: int, y: int) -> None:
        if self.can_focus:
            self.action_choose()

    def action_choose(self) -> None:
        path, value = self.field.path, self._value()
        if self.field.value is UNSET:
            self.host.change(self, lambda form: form.put(path, value))
        else:
            self.host.change(self, lambda form: form.unset(path))
