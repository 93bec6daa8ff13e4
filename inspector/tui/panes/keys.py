"""The keys of a pane's verbs as they are in force in the running app."""

from __future__ import annotations

from textual.widget import Widget

from inspector.tui.keymap import Hint, Keymap
from inspector.tui.themes import ascii_only

_DEFAULT = Keymap()


def hints(widget: Widget, *verb_ids: str, **titles: str) -> list[Hint]:
    """Return the hints of verbs, by the app's keymap (its attribute `verb_keys`) where it has one."""
    keymap = getattr(widget.app, "verb_keys", None)
    return (keymap if isinstance(keymap, Keymap) else _DEFAULT).hints(verb_ids, ascii=ascii_only())
