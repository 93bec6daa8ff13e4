"""Search in a view: the pattern, and the search line at the bottom of a pane."""

from __future__ import annotations

import json
import re
from typing import Protocol

from textual.message import Message
from textual.widget import Widget

from inspector.tui.keymap import KeyHint, label
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.filter_input import FilterInput


class Searchable(Protocol):
    """A view that can be searched."""

    def search(self, words: str) -> bool:
        """Go to the first match from here on; False without one. An empty text ends the search."""
        ...

    def focus(self) -> object: ...


class SearchRequested(Message):
    """The user wants to search in a view; its pane shows a `SearchLine`."""

    def __init__(self, view: Searchable) -> None:
        super().__init__()
        self.view = view


def pattern_of(words: str) -> re.Pattern[str]:
    """Return the pattern for a text; a text in lower case matches any case. It also matches the text escaped as in
    JSON."""
    spellings = {words, json.dumps(words)[1:-1], json.dumps(words, ensure_ascii=False)[1:-1]}
    flags = re.IGNORECASE if words == words.lower() else 0
    return re.compile("|".join(re.escape(spelling) for spelling in sorted(spellings)), flags)


class SearchLine(FilterInput):
    """Searches a view while the user types; enter keeps the position, esc ends the search."""

    DEFAULT_CSS = """
    SearchLine { dock: bottom; }
    """

    def __init__(self) -> None:
        super().__init__(placeholder="search")
        self.view: Searchable | None = None

    def open(self, view: Searchable) -> None:
        """Search in this view."""
        self.view = view
        self.display = True
        self.note = ""
        self.show_without_change("")
        self.focus()

    def hints(self) -> list[KeyHint]:
        """Return the keys that work while the text is typed."""
        return [KeyHint(label("enter"), "to match", "enter"), KeyHint(label("escape"), "end search", "escape")]

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        if self.view is not None:
            has_match = self.view.search(self.value)
            self.note = "" if has_match or not self.value else [("not found", "error")]

    def action_clear_or_leave(self) -> None:
        if self.view is not None:
            self.view.search("")
        self.action_leave()

    def action_leave(self) -> None:
        if self.view is not None and isinstance(self.view, Widget) and self.view.is_attached:
            self.screen.set_focus(self.view)
        self.display = False
