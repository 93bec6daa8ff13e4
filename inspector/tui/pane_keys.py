"""The keys of a pane's verbs in the running app."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.message_pump import MessagePump
from textual.widget import Widget

from inspector.tui.keymap import KeyHint, Keymap
from inspector.tui.model.verbs import VerbRules
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


class VerbsByRules(Widget):
    """A pane, or a screen, whose verbs work by `RULES`. Not the first base: Textual takes the style of that one."""

    RULES: ClassVar[VerbRules[Any]]

    def verb_facts(self) -> Any:
        """The facts on which the verbs depend."""
        raise NotImplementedError

    def hints(self) -> list[KeyHint]:
        """The keys that work now."""
        return hints(self, *self.RULES.line(self.verb_facts()))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The key of a verb that does not work now goes to what is around the pane."""
        return self.RULES.can(action, self.verb_facts)
