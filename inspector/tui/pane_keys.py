"""The keys of a pane's verbs in the running app."""

from __future__ import annotations

from textual.message_pump import MessagePump
from textual.widget import Widget

from inspector.tui.keymap import KeyHint, Keymap
from inspector.tui.themes import ascii_only

_DEFAULT = Keymap()


def keymap_of(widget: MessagePump) -> Keymap:
    """Return the keymap in force: the app's attribute `verb_keys`, or the default."""
    found = getattr(widget.app, "verb_keys", None)
    return found if isinstance(found, Keymap) else _DEFAULT


def hints(widget: Widget, *wanted: str | tuple[str, str]) -> list[KeyHint]:
    """Return the hints of verbs, given by id or as (id, another title); verbs without a key are skipped.

    Two ids with `|` between them are one hint with both keys; a click presses the second.
    """
    keymap, found = keymap_of(widget), []
    for each in wanted:
        ids, title = (each, "") if isinstance(each, str) else each
        named = [keymap.hint(verb_id, title, ascii=ascii_only()) for verb_id in ids.split("|")]
        keys = [hint for hint in named if hint.key]
        if len(keys) == 2:
            labels = "".join(hint.label for hint in keys)
            joined = " ".join(hint.label for hint in keys) if labels == "{}" else labels
            keys = [KeyHint(joined, title, keys[1].key)]
        found += keys
    return found
