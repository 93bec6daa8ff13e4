"""The widgets of a form's fields, mounted in a view in the order of the form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from textual.widget import Widget

from inspector.protocol.forms.form import UNSET, Field, Form
from inspector.tui.widgets.fields.base import FieldFrame
from inspector.tui.widgets.fields.containers import AddItem, AddKey, ContainerField
from inspector.tui.widgets.fields.layout import FieldSlot, FrameMaker

MOUNTED_AT_ONCE = 40
"""Fields mounted at once; the others follow when the app is idle."""


def shows_fields(widget: Widget) -> bool:
    """Whether a widget is the head of an object whose fields are below it."""
    return isinstance(widget, ContainerField) and widget.field.is_open and widget.field.kind != "array"


class MountedFields:
    """The fields of a form among the children of a view; those that stay in the form keep their state."""

    def __init__(self, view: Widget) -> None:
        self._view = view
        self._slots: dict[FieldSlot, FieldFrame] = {}

    def __len__(self) -> int:
        return len(self._slots)

    def __iter__(self) -> Iterator[FieldFrame]:
        return iter(self._slots.values())

    def at(self, path: str) -> list[FieldFrame]:
        """Return the widgets of the field at a path."""
        return [widget for (known, _), widget in self._slots.items() if known == path]

    def inside(self, path: str) -> list[FieldFrame]:
        """Return the widgets of the fields below a path."""
        return [widget for (known, _), widget in self._slots.items() if known.startswith(f"{path}/")]

    def after(self, field: FieldFrame) -> list[FieldFrame]:
        """Return the widgets after one, in their order."""
        children = list(self._view.children)
        return [widget for widget in children[children.index(field) + 1 :] if isinstance(widget, FieldFrame)]

    def update(self, form: Form, path: str) -> None:
        """Show a field's value, and the new size of its container."""
        while True:
            here = self.at(path)
            if here:
                field = form.field(path)
                for widget in here:
                    widget.update_field(field)
            if not path:
                break
            path = path.rpartition("/")[0]

    def show_errors(self, errors: Mapping[str, str]) -> None:
        """Show each error at the first widget of its field. A missing field is not an error until it was touched."""
        marked: set[str] = set()
        for (path, _), widget in self._slots.items():
            if isinstance(widget, AddItem | AddKey) or (path in marked and not widget.labelled):
                continue
            marked.add(path)
            untouched = widget.field.value is UNSET and not widget.touched
            widget.set_error("" if untouched else errors.get(path, ""))

    async def match(self, fields: list[tuple[FieldSlot, Field, FrameMaker]]) -> None:
        """Update, mount, move and remove widgets until they are those of a form."""
        slots = [slot for slot, _, _ in fields]
        with self._view.app.batch_update():
            kept = set(slots)
            await self._remove([widget for slot, widget in self._slots.items() if slot not in kept])
            self._slots = {slot: widget for slot, widget in self._slots.items() if slot in kept}
            await self._put(fields[:MOUNTED_AT_ONCE], None)
        for at in range(MOUNTED_AT_ONCE, len(fields), MOUNTED_AT_ONCE):
            await self._put(fields[at : at + MOUNTED_AT_ONCE], self._slots[slots[at - 1]])

    async def _put(self, fields: list[tuple[FieldSlot, Field, FrameMaker]], after: Widget | None) -> None:
        """Update or mount some widgets after another; new adjacent ones are mounted together."""
        view, run = self._view, list[FieldFrame]()

        async def mount() -> None:
            nonlocal after
            if run:
                fresh = list(run)
                run.clear()
                place = {"after": after} if after is not None else {"before": 0} if view.children else {}
                await view.mount(*fresh, **place)
                after = fresh[-1]

        for slot, field, make in fields:
            known = self._slots.get(slot)
            if known is None:
                self._slots[slot] = widget = make()
                run.append(widget)
                continue
            await mount()
            known.update_field(field)
            if after is None:
                if view.children[0] is not known:
                    view.move_child(known, before=0)
            elif view.children[view.children.index(after) + 1] is not known:
                view.move_child(known, after=after)
            after = known
        await mount()

    async def clear(self) -> None:
        """Remove every child of the view."""
        await self._remove(list(self._view.children))
        self._slots.clear()

    async def _remove(self, widgets: Sequence[Widget]) -> None:
        # Otherwise the focus would move to another pane and scroll it.
        if self._view.screen.focused in widgets:
            self._view.screen.set_focus(None)
        if widgets:
            await self._view.remove_children(widgets)

    def focus_path(self, path: str) -> None:
        """Focus the field at a path; if it is gone, the previous one, or its container."""
        focused = self._view.screen.focused
        if isinstance(focused, FieldFrame) and focused.field.path == path and focused.is_attached:
            return
        parent, _, step = path.rpartition("/")
        before = f"{parent}/{int(step) - 1}" if step.isdecimal() and len(step) < 10 else parent
        for candidate in (path, before, parent):
            if self._focus_first(widget for widget in self.at(candidate) if not isinstance(widget, AddItem | AddKey)):
                return

    def focus_inside(self, path: str) -> None:
        """Focus the first field of a new item, if it has fields."""
        self._focus_first(iter(self.inside(path)))

    def focus_after(self, field: FieldFrame) -> None:
        """Focus the next field. The head of an object that shows its fields takes no text."""
        self._focus_first(widget for widget in self.after(field) if not shows_fields(widget))

    def _focus_first(self, widgets: Iterator[FieldFrame]) -> bool:
        focusable = next((widget for widget in widgets if widget.focusable), None)
        if focusable is not None:
            self._view.screen.set_focus(focusable)
        return focusable is not None
