"""The keys of a pane's verbs in the running app."""

from __future__ import annotations

from textual.message_pump import MessagePump
from textual.widget import Widget

from inspector.tui.keymap import Hint, Keymap
from inspector.tui.themes import ascii_only

_DEFAULT = Keymap()


def keymap_of(widget: MessagePump) -> Keymap:
    """Return the keymap in force: the app's attribute `verb_keys`, or the default."""
    found = getattr(widget.app, "verb_keys", None)
    return found if isinstance(found, Keymap) else _DEFAULT


def hints(widget: Widget, *wanted: str | tuple[str, str]) -> list[Hint]:
    """Return the hints of verbs, given by id or as (id, another title); verbs without a key are skipped."""
    keymap = keymap_of(widget)
    pairs = [(each, "") if isinstance(each, str) else each for each in wanted]
    named = [keymap.hint(verb_id, title, ascii=ascii_only()) for verb_id, title in pairs]
    return [hint for hint in named if hint.key]
