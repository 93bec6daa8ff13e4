"""The keys of a pane's verbs in the running app."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual.dom import DOMNode
from textual.widget import Widget

from inspector.tui.available_verbs import verb_at
from inspector.tui.keymap import KeyHint, keymap_of, label, types_text
from inspector.tui.model.verbs import VerbRules
from inspector.tui.themes import ascii_only
from inspector.tui.verbs import BY_ID


def hints(widget: Widget, *verbs: str | tuple[str, str]) -> list[KeyHint]:
    """Return the hints of verbs, given by id or as (id, another title); verbs without a key are skipped.

    Two ids with `|` between them are one hint with both keys; a click presses the second.
    """
    keymap, key_hints = keymap_of(widget), []
    for verb in verbs:
        ids, title = (verb, "") if isinstance(verb, str) else verb
        named = [keymap.hint(verb_id, title, ascii=ascii_only()) for verb_id in ids.split("|")]
        keys = [hint for hint in named if hint.key]
        if len(keys) == 2:
            labels = "".join(hint.label for hint in keys)
            joined = " ".join(hint.label for hint in keys) if labels == "{}" else labels
            keys = [KeyHint(joined, title, keys[1].key, keys[1].verb)]
        key_hints += keys
    return key_hints


def without_letters(widget: Widget, *verbs: str | tuple[str, str]) -> list[KeyHint]:
    """Return the hints of verbs with a key of theirs that types no character; without those that have none."""
    key_hints = []
    for verb in verbs:
        verb_id = verb if isinstance(verb, str) else verb[0]
        key = next((key for key in keymap_of(widget).keys(verb_id) if not types_text(key)), None)
        key_hints += [hint._replace(key=key, label=label(key, ascii_only())) for hint in hints(widget, verb) if key]
    return key_hints


def at_focus(focused: DOMNode, offered: Iterable[KeyHint]) -> list[KeyHint]:
    """Return hints as their keys work at the focus.

    Where a nearer verb has the key of a hint, that verb is named.
    """
    keymap = keymap_of(focused)
    key_hints = []
    for hint in offered:
        verb = verb_at(focused, hint.key, keymap) if hint.verb else ""
        if not verb or BY_ID[verb].description == BY_ID[hint.verb].description:
            key_hints.append(hint)
        elif hint.label == label(hint.key, ascii_only()):  # Else it names two keys.
            key_hints.append(keymap.hint(verb, ascii=ascii_only())._replace(key=hint.key, label=hint.label))
    return key_hints


def own_hints(widget: Widget | None, screen: DOMNode) -> list[KeyHint]:
    """Return the keys of a field, and of the innermost part of the screen around it that has any."""
    named = getattr(widget, "key_verbs", None)
    own = hints(widget, *named()) if widget is not None and callable(named) else []
    if getattr(widget, "keeps_keys", False):
        return own
    node: DOMNode | None = widget
    while node is not None and node is not screen:
        around = getattr(node, "hints", None)
        if callable(around):
            taken = {hint.key for hint in own}
            return [*own, *(hint for hint in around() if hint.key not in taken)]
        node = node.parent
    return own


class VerbsByRules(Widget):
    """A pane, or a screen, whose verbs work by `RULES`. Not the first base: Textual takes the style of that one."""

    RULES: ClassVar[VerbRules[Any]]

    def verb_facts(self) -> Any:
        """Return the facts on which the verbs depend."""
        raise NotImplementedError

    def hints(self) -> list[KeyHint]:
        """Return the keys that work now."""
        return hints(self, *self.RULES.line(self.verb_facts()))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return the key of a verb that does not work now goes to what is around the pane."""
        return self.RULES.can(action, self.verb_facts)
