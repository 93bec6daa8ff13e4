"""Puts the arguments of earlier and of saved calls into a form, one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inspector.protocol.forms.form import UNSET
from inspector.tui.widgets.form import FormView
from inspector.tui.work.past_calls import PastCallsLine
from inspector.tui.work.work_items import SavedArguments, WorkItem


class CallBrowser:
    """The calls of the item that is shown, in a line below its form.

    After the last of the earlier or of the saved calls, the form gets what it had before the first.
    """

    def __init__(self) -> None:
        self.line = PastCallsLine()
        self._work = WorkItem()
        self._saved: Mapping[tuple[str, str], list[SavedArguments]] = {}
        self._before_saved: Any = UNSET

    def show(self, work: WorkItem) -> None:
        """Browse the calls of another item."""
        self._work = work

    def offer_saved(self, saved: Mapping[tuple[str, str], list[SavedArguments]]) -> None:
        """Offer these saved calls, by list and address of their items."""
        self._saved = saved

    @property
    def saved(self) -> list[SavedArguments]:
        """The saved calls of the item."""
        return self._saved.get(self._work.catalog_item.key, [])

    def draw(self, view: FormView) -> None:
        """Draw the line, with the call that the form holds."""
        past, saved = self._work.past or (), self.saved
        value = view.value
        at = next((at for at, call in enumerate(past) if call.arguments == value), -1)
        held = next((at for at, call in enumerate(saved) if call.where == self._work.saved_in), -1)
        self.line.show(past, at, saved, held)
        self.line.display = bool(past or saved)

    async def next_saved(self, view: FormView) -> None:
        """Load the next saved call."""
        wheres = [call.where for call in self.saved]
        held = wheres.index(self._work.saved_in) if self._work.saved_in in wheres else -1
        if held < 0:
            self._before_saved = view.value
        await self.load_saved(view, held + 1 if held + 1 < len(wheres) else -1)

    async def load_saved(self, view: FormView, at: int) -> None:
        """Load a saved call by its place; -1 for what was there before."""
        self._work.saved_in = self.saved[at].where if at >= 0 else None
        await view.load(self.saved[at].arguments if at >= 0 else self._before_saved)
