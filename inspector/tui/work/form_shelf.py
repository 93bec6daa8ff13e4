"""Keeps the forms of items mounted, hidden, while the user looks at other items: unfinished input stays."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from textual.widget import Widget

from inspector.protocol.forms.form import Form
from inspector.tui.widgets.form import FormView, ReadOnlyForm

VIEWS_KEPT = 6
"""Changed forms that stay mounted."""


class FormShelf:
    """The forms of a pane, of which `view` is shown. Text that is not JSON yet, scroll position and undo stay."""

    def __init__(self, *, read_only: bool) -> None:
        self._make = ReadOnlyForm if read_only else FormView
        self.view = self._make()
        self._kept: OrderedDict[tuple[str, str], FormView] = OrderedDict()
        self._key: tuple[str, str] | None = None
        self._touched = False
        """The user has changed the form that is shown."""

    def touch(self) -> None:
        """The user has changed the form."""
        self._touched = True

    def __iter__(self) -> Iterator[FormView]:
        """Yield the mounted forms."""
        return iter((self.view, *self._kept.values()))

    async def show(self, form: Form, key: tuple[str, str], empty: str, pane: Widget, *, after: Widget) -> bool:
        """Show the form of the item `key`; a new one is mounted `after` a widget. False if it was there already.

        `empty` stands where it has no fields.
        """
        view = self.view
        if view.form is form:
            view.display = True
            return False
        known = self._kept.pop(key, None)
        if known is not None and known.form is not form:
            await known.remove()
            known = None
        begun = self._touched or view.json_mode
        if known is not None or (begun and self._key != key):
            view.display = False
            if self._key is not None:
                self._kept[self._key] = view
            self.view = known if known is not None else self._make(form, empty=empty)
            if known is None:
                await pane.mount(self.view, after=after)
        else:
            view.empty = empty
            await view.show(form)
        # Not before: the form before the first item would be shown for a moment.
        self.view.display = True
        self._touched, self._key = known is not None, key
        return True

    async def drop_old(self) -> None:
        """Remove the forms that were changed longest ago."""
        while len(self._kept) > VIEWS_KEPT:
            await self._kept.popitem(last=False)[1].remove()
