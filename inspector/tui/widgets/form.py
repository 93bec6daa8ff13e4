"""A form on the screen: its fields, or its value as JSON."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from textual import events
from textual.actions import SkipAction
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from inspector.errors import UsageError
from inspector.protocol.forms.form import UNSET, Form
from inspector.text import lines, quantity, size
from inspector.tui.keymap import bindings
from inspector.tui.themes import ascii_only, signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.external_editor import edit_externally
from inspector.tui.widgets.fields.base import Columns, FieldFrame
from inspector.tui.widgets.fields.containers import ContainerField
from inspector.tui.widgets.fields.field_lines import FieldLines
from inspector.tui.widgets.fields.layout import slots_of
from inspector.tui.widgets.fields.mounted import MountedFields, shows_fields
from inspector.tui.widgets.fields.type_ahead import TypeAhead
from inspector.tui.widgets.json_editor import EDIT_LIMIT, JsonEditor, JsonFault, json_lines, read_json
from inspector.tui.widgets.line_widget import LineWidget

CHECK_AFTER = 0.03
"""Seconds without a change after which the value is validated."""

TEXT_LIMIT = 2_000

_LINES_OF_JSON = 8


class Note(LineWidget):
    """A text in one role, wrapped."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Note { height: auto; width: 1fr; }
    """

    def __init__(self, words: tuple[str, str], *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.words = words

    def say(self, words: tuple[str, str]) -> None:
        """Show another text with its role."""
        if words != self.words:
            self.words = words
            self.refresh(layout=True)

    def rows(self, width: int) -> list[str]:
        """Return its rows in a width."""
        return lines(self.words[0], max(width, 1), limit=TEXT_LIMIT, ascii=ascii_only())

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.rows(width))

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        rows = self.rows(width)
        text = rows[y] if y < len(rows) else ""
        return paint.strip(paint.segments([(text, self.words[1])]), width)


def _validity(form: Form, problem: JsonFault | None, wrong: int, missing: int) -> list[paint.Piece]:
    """Return the number of errors and of missing required fields, or that the value is valid.

    A missing field is an error only after the user has changed it or tried to send the form.
    """
    if problem is not None:
        return [(f"not JSON, {problem}", "error")]
    pieces: list[paint.Piece] = []
    if wrong:
        pieces.append((f"{wrong} to fix", "error"))
    if missing:
        pieces += ["  "] * bool(pieces) + [(f"{missing} required", "muted")]
    if pieces:
        return pieces
    if form.problem:
        return [("not validated", "finding")]
    return [(f"{signs_now().done} valid", "received")] if form.has_fields else []


def _count_below(fields: int) -> list[paint.Piece]:
    return [(f"{quantity(fields, 'field')} below", "bright")] if fields else []


class FormView(VerticalScroll, can_focus=False):
    """Shows a `Form`; `show` another. `value`, `errors` and `to_fix` always match the screen.

    `action_json` switches between the fields and the same value as JSON. Text that is not JSON is kept, and `problem`
    has the position of the error; the form then has its last valid value.
    """

    DEFAULT_CSS = """
    FormView { height: auto; padding: 0 1; scrollbar-size: 1 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        binding for binding in bindings("form") if binding.action in ("json", "editor")
    ]

    class Changed(Message):
        """The user or `load` changed the value."""

        def __init__(self, view: FormView) -> None:
            super().__init__()
            self.view = view

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, FormView.Changed) and message.view is self.view

    class ModeChanged(Message):
        """The value is shown as JSON now, or as fields again."""

        def __init__(self, view: FormView) -> None:
            super().__init__()
            self.view = view

    class Checked(Message):
        """The value was validated: `to_fix` fields have errors."""

        def __init__(self, view: FormView, to_fix: int) -> None:
            super().__init__()
            self.view = view
            self.to_fix = to_fix

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, FormView.Checked) and message.view is self.view

    def __init__(
        self,
        form: Form | None = None,
        *,
        empty: str = "no arguments",
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.form = form or Form({"type": "object"})
        self.empty = empty
        self.problem: JsonFault | None = None
        """Why the text of the JSON editor is not JSON."""
        self._below = 0
        """The fields below the last visible line."""
        self._fields = MountedFields(self)
        self._lines = FieldLines(self._fields)
        self._ahead = TypeAhead(self._fields, lambda: self.form, self._make_for_text)
        self._notes: list[Note] = []
        self._json: JsonEditor | None = None
        self._unchecked = True
        self._errors: dict[str, str] = {}
        self._edited = ""
        """The path of the field that the user changed last."""
        # Widgets are mounted and removed one at a time and never left half way, because workers wait for each other
        # here.
        self._lock = asyncio.Lock()

    async def on_mount(self) -> None:
        await self._lay_out()

    async def show(self, form: Form) -> None:
        """Show another form, from the top, as fields."""
        async with self._lock:
            self.form = form
            self.problem = None
            self._edited = ""
            await self._clear()
        await self._lay_out()
        self.scroll_home(animate=False)

    @property
    def value(self) -> Any:
        """The current value; while the JSON is invalid, the last valid one."""
        return self.form.value()

    @property
    def text(self) -> str:
        """The text of the JSON editor while it is shown, else `""`."""
        return self._json.value if self._json is not None else ""

    @property
    def json_mode(self) -> bool:
        """Whether the value is shown as JSON."""
        return self._json is not None

    @property
    def errors(self) -> dict[str, str]:
        """The errors, by the path of the field that shows each; invalid JSON has the path `""`."""
        if self._unchecked:
            self._check()
        return self._errors

    @property
    def to_fix(self) -> int:
        """The number of fields with errors."""
        return len(self.errors)

    def note(self) -> paint.Pieces:
        """Show the number of errors and of missing required fields, or that the value is valid; and of fields below."""
        missing = sum(self._is_missing(path) for path in self.errors) if self._json is None else 0
        pieces = _validity(self.form, self.problem, len(self.errors) - missing, missing)
        return [*pieces, *(["  "] if pieces and self._below else []), *_count_below(self._below)]

    def _is_missing(self, path: str) -> bool:
        is_unset = bool(path) and self.form.value_at(path) is UNSET
        return is_unset and not any(widget.touched for widget in self._fields.at(path))

    async def load(self, value: Any) -> None:
        """Set a value."""
        self.form.load(value)
        self.problem = None
        if self._json is not None:
            self._json.show_without_change(json_lines(value) or "")
        else:
            await self._lay_out()
        self._touched()

    def focus_first(self) -> bool:
        """Focus the first field or widget; False if there is none."""
        heads = [child for child in self.children if isinstance(child, ContainerField) and child.field.is_open]
        # An object that shows its own fields starts with the first of them.
        return self._focus_one([*(child for child in self.children if child not in heads), *heads, self])

    def focus_edited(self) -> bool:
        """Focus the field that the user changed last, else the first one; False if there is none."""
        edited = list(self._fields.at(self._edited)) if self._edited else []
        return self._focus_one(edited) or self.focus_first()

    def focus_wrong(self) -> bool:
        """Show all errors, including missing fields, and focus the first; False without errors."""
        for widget in self._fields:
            widget.touched = True
        self._check()
        wrong: list[Widget] = []
        for child in self.children:
            if isinstance(child, FieldFrame) and child.error:
                # What is missing in an object that shows its fields is typed in the first of them.
                if shows_fields(child):
                    wrong += [inner for inner in self._fields.inside(child.field.path) if not shows_fields(inner)]
                wrong.append(child)
        return bool(self._errors) and (self._focus_one(wrong) or self.focus_first())

    def _focus_one(self, candidates: Sequence[Widget]) -> bool:
        for widget in candidates:
            if widget.focusable:
                # Textual would scroll it to the middle before the form has its height.
                self.screen.set_focus(widget, scroll_visible=False)
                self.call_after_refresh(self.keep_in_view)
                return True
        return False

    class Grown(Message):
        """Its fields need other lines."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, FormView.Grown)

    def lines(self, width: int, *, slim: bool) -> int:
        """Return the lines that it needs in a width, if each field is one line or not."""
        inside = width - 2
        if self._json is not None:
            return max(self._json.rows_shown, _LINES_OF_JSON)
        notes = sum(len(note.rows(inside)) for note in self._notes)
        return self._lines.needed(inside, slim=slim) + notes

    def put_on_lines(self, slim: bool, *, foot: bool = True) -> None:
        """Give each field one line, or lines of its own for its name and description."""
        self._lines.choose(self.size.width, slim=slim, foot=foot)

    @property
    def columns(self) -> Columns | None:
        """The columns if each field is one line, else None (`FieldHost`)."""
        return self._lines.columns

    def rows_changed(self) -> None:
        """A field has another number of rows (`FieldHost`)."""
        self.post_message(self.Grown())

    def change(self, field: FieldFrame, do: Callable[[Form], Any], *, structure: bool = False) -> None:
        """Change the form for a field (`FieldHost`)."""
        path = field.field.path
        field.touched = True
        self._edited = path
        try:
            moved = do(self.form)
        except UsageError:
            # The field was removed with its item just before.
            moved, structure = None, True
        if structure:
            self._edited = target = moved if isinstance(moved, str) else path
            self.run_worker(self._lay_out(focus=target), group="lay out", exit_on_error=False)
        else:
            self._fields.update(self.form, path)
        self._touched()

    def go_next(self, field: FieldFrame) -> None:
        """Focus the field after this one (`FieldHost`)."""
        self._fields.focus_after(field)

    @property
    def has_typed_ahead(self) -> bool:
        """Whether typed text waits for a field that is being made (`FieldHost`)."""
        return self._ahead.is_waiting

    def type_inside(self, field: FieldFrame, text: str) -> bool:
        """Type text in the first field inside an object, or in a new item of a list (`FieldHost`).

        An object that is folded is unfolded. Choices and switches take no text.
        """
        return self._ahead.type_inside(field, text)

    def _make_for_text(self, path: str) -> None:
        """Make the widgets of an unfolded object or a new item, for the text typed at it."""
        self.run_worker(self._ahead.type_when_made(path, self._lay_out), group="lay out", exit_on_error=False)
        self._touched()

    def _touched(self) -> None:
        self._unchecked = True
        self.post_message(self.Changed(self))
        self.set_timer(CHECK_AFTER, self._check_if_needed)

    def _check_if_needed(self) -> None:
        if self._unchecked:
            self._check()

    def _check(self) -> None:
        self._unchecked = False
        self._errors = self.form.errors()
        if self.problem is not None:
            self._errors = {"": str(self.problem)}
        if self._json is not None:
            self._json.mark(self.problem, self._errors)
        self._fields.show_errors(self._errors)
        self._say()
        self.post_message(self.Checked(self, len(self._errors)))

    async def _lay_out(self, focus: str = "") -> None:
        """Match the widgets to the form; those that stay keep their state."""
        async with self._lock:
            if not self.is_attached or self._json is not None:
                return
            known_paths = {widget.field.path for widget in self._fields}
            await self._fields.match(list(slots_of(self.form, self)))
            # A pane whose form has no fields must still be focusable.
            self.can_focus = not any(widget.can_focus for widget in self._fields)
            self._say()
            self.rows_changed()
            if focus:
                self._fields.focus_path(focus)
                if focus not in known_paths:
                    self._fields.focus_inside(focus)
                # A field that was moved has another place after the next layout.
                self.call_after_refresh(self.keep_in_view)
        self._unchecked = True
        self.set_timer(CHECK_AFTER, self._check_if_needed)

    async def _clear(self) -> None:
        await self._fields.clear()
        self._json = None
        self._notes.clear()

    def _say(self) -> None:
        """Fit the columns, and show a note for the whole form: no arguments, an unusable schema, too many fields."""
        self._lines.measure(self.size.width)
        words: list[tuple[str, str]] = []
        if self._json is None and not self._fields:
            words.append((self.empty, "muted"))
        if self.form.problem:
            words.append((f"cannot be validated: {self.form.problem}", "finding"))
        elif "" in self._errors and self._json is None and not self._fields.at(""):
            words.append((self._errors[""], "error"))
        if self.form.truncated:
            words.append(("too many fields to show; use the JSON", "finding"))
        for note in self._notes[len(words) :]:
            note.remove()
        del self._notes[len(words) :]
        for at, (text, role) in enumerate(words):
            if at < len(self._notes):
                self._notes[at].say((text, role))
            else:
                self._notes.append(Note((text, role)))
                self.mount(self._notes[at])

    async def action_json(self) -> None:
        """Show the value as JSON, or as fields again; invalid JSON stays."""
        if self._json is None:
            value = self.form.value()
            text = "" if value is UNSET else json_lines(value)
            if text is not None and len(text) <= EDIT_LIMIT:
                await self._edit_json(text)
            else:
                reason = "nested too deeply" if text is None else f"{size(len(text))}, too long"
                self.app.notify(f"The value is {reason} to edit here.", severity="warning", markup=False)
        elif not self.refuses_text("shown as fields"):
            async with self._lock:
                await self._clear()
            await self._lay_out()
            self.focus_first()
            self.post_message(self.ModeChanged(self))

    def refuses_text(self, use: str) -> bool:
        """Go to what is not JSON, and say so: the value is older than such text. Returns whether it did."""
        if self.problem is None or self._json is None:
            return False
        self._json.go_to(self.problem)
        self._json.focus()
        self.app.notify(f"The text is not JSON, so it cannot be {use}: {self.problem}.", markup=False)
        return True

    async def _edit_json(self, text: str) -> None:
        async with self._lock:
            await self._clear()
            self._json = JsonEditor(text, self._read_text)
            await self.mount(self._json)
            self._json.focus()
            self._check()
        self.post_message(self.ModeChanged(self))

    def _read_text(self, text: str) -> None:
        value, self.problem = (UNSET, None) if not text.strip() else read_json(text)
        if self.problem is None:
            self.form.load(value)
        self._touched()

    def action_editor(self) -> None:
        """Edit the value as JSON in the user's editor."""
        self.run_worker(self._edit_outside(), group="editor", exclusive=True)

    async def _edit_outside(self) -> None:
        text = self.text or ("" if self.value is UNSET else json_lines(self.value) or "")
        try:
            edited = await edit_externally(self.app, text)
        except UsageError as error:
            self.app.notify(error.message, severity="error", markup=False)
            return
        if edited is None or edited == text:
            return
        value, problem = (UNSET, None) if not edited.strip() else read_json(edited)
        if problem is None:
            await self.load(value)
        elif len(edited) <= EDIT_LIMIT:
            # Invalid JSON stays, so that the user can fix it.
            await self._edit_json(edited)
            self._read_text(edited)
        else:
            self.app.notify(f"not JSON: {problem}", severity="error", markup=False)

    def action_scroll_up(self) -> None:
        """Do not scroll: the key means what it means around the form, and fields scroll into view."""
        raise SkipAction

    def on_focus(self, event: events.Focus) -> None:
        self.refresh()

    def on_resize(self) -> None:
        """Keep the focused field visible when the form shrinks, for example for a result below it."""
        self._lines.measure(self.size.width)
        self.keep_in_view()
        self.call_after_refresh(self._look_below)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._look_below()

    def watch_virtual_size(self) -> None:
        self.call_after_refresh(self._look_below)

    def _look_below(self) -> None:
        """Count the fields that begin below the last visible line, and let the panes around say it."""
        end = self.scroll_offset.y + self.scrollable_content_region.height
        fields = [child for child in self.children if isinstance(child, FieldFrame) and child.display]
        below = sum(child.virtual_region.y >= end for child in fields)
        if below != self._below:
            self._below = below
            self.post_message(self.Checked(self, self.to_fix))

    def keep_in_view(self) -> None:
        """Scroll so that the field with the focus is visible; before the first one, the heads of its objects too."""
        focused = self.screen.focused
        if isinstance(focused, FieldFrame) and focused in self.children:
            before = self.children[: self.children.index(focused)]
            if all(map(shows_fields, before)):
                # The heads of its objects say what the first field belongs to.
                self.scroll_home(animate=False, immediate=True, force=True)
            self.scroll_to_widget(focused, animate=False, immediate=True, force=True)


class ReadOnlyForm(FormView):
    """A form that can only be read: it has the focus itself, and is scrolled."""

    async def _lay_out(self, focus: str = "") -> None:
        await super()._lay_out(focus)
        for widget in self._fields:
            widget.disabled = True
        self.can_focus = True

    def note(self) -> paint.Pieces:
        """Show only the number of fields below: nothing can be corrected."""
        return _count_below(self._below)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing edits it."""
        return action not in ("json", "editor")

    def action_scroll_up(self) -> None:
        """Scroll, as there are no fields to go to."""
        VerticalScroll.action_scroll_up(self)
