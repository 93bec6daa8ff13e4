"""Text typed at an object or a list, for a field inside that may still have to be made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from inspector.errors import UsageError
from inspector.protocol.forms.form import Field, Form
from inspector.tui.widgets.fields.base import FieldFrame
from inspector.tui.widgets.fields.containers import AddKey, ContainerField
from inspector.tui.widgets.fields.mounted import MountedFields, shows_fields
from inspector.tui.widgets.fields.text import TextField

_NO_TEXT = ("enum", "multi", "boolean", "const", "null")
"""Kinds of fields in which no text is typed."""


class TypeAhead:
    """Types in the first field inside; text that comes while that is being made is kept for it.

    `form` returns the current form. `make` is called with the path of an object that was unfolded or of a new item; it
    starts `type_when_made`.
    """

    def __init__(self, fields: MountedFields, form: Callable[[], Form], make: Callable[[str], None]) -> None:
        self._fields = fields
        self._form = form
        self._make = make
        self._text = ""
        """Text for a field that is being made."""

    @property
    def is_waiting(self) -> bool:
        """Whether text waits for a field that is being made."""
        return bool(self._text)

    def type_inside(self, field: FieldFrame, text: str) -> bool:
        """Type text in the first field inside an object, or in a new item of a list. Returns False if it takes none."""
        if self._text:
            self._text += text
            return True
        if not shows_fields(field):
            return self._type_in_new(field.field, text)
        for widget in self._fields.after(field):
            if not widget.field.path.startswith(f"{field.field.path}/"):
                return False
            if isinstance(widget, TextField) and not isinstance(widget, AddKey):
                widget.begin(text)
                return True
            if not shows_fields(widget):
                return isinstance(widget, ContainerField) and self.type_inside(widget, text)
        return False

    def _type_in_new(self, field: Field, text: str) -> bool:
        """Unfold an object, or add an item to a list, and keep the text until its widgets are made."""
        form, path = self._form(), field.path
        try:
            if field.kind == "array" and field.can_add:
                path = form.add(path)
                if form.field(path).kind in _NO_TEXT:
                    form.remove(path)
                    return False
            elif field.kind == "object" and not field.is_open:
                form.open(path)
            else:
                return False
        except UsageError:
            return False
        self._text = text
        self._make(path)
        return True

    async def type_when_made(self, path: str, make: Callable[[], Awaitable[None]]) -> None:
        """Make the widgets at a path, and type there all that was typed until then."""
        try:
            # The field that takes the text takes the focus too: focused before, it would select the text as its own.
            await make()
        finally:
            text, self._text = self._text, ""
        for widget in self._fields.at(path):
            if isinstance(widget, TextField) and not isinstance(widget, AddKey):
                widget.begin(text)
                break
            if isinstance(widget, ContainerField):
                if not self.type_inside(widget, text):
                    self._fields.focus_inside(path)
                break
