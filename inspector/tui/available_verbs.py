"""Which verbs are within reach: those that a node between the focus and the app binds, and can do now.

This is the only module that reads or writes `_bindings`, Textual's private map of what a node binds by itself:
`DOMNode` has no public list of it without that of its ancestors, and no public way to add to it. `tests/tui/
test_available_verbs.py` tells when that changes.
"""

from __future__ import annotations

from collections.abc import Iterator

from textual.binding import BindingsMap
from textual.dom import DOMNode

from inspector.tui.keymap import bindings
from inspector.tui.verbs import VERBS, Verb


def lend(part: object, context: str, node: DOMNode) -> None:
    """Let a part of a screen do verbs of a context: their keys work at `node`, their actions are methods of `part`.

    A screen is composed of parts, which are not in the DOM; Textual looks for keys and actions only there. Keys of the
    context hide those of the same name that the node has by now, as those of a subclass would.
    """
    for verb in VERBS:
        method = getattr(part, f"action_{verb.action}", None)
        if verb.context == context and method is not None:
            setattr(node, f"action_{verb.action}", method)
    node._bindings.key_to_bindings.update(BindingsMap(bindings(context)).key_to_bindings)


def binds(node: DOMNode, key: str) -> bool:
    """Whether a node itself does something at a key."""
    return key in node._bindings.key_to_bindings


def contexts(focused: DOMNode) -> list[str]:
    """The contexts whose keys work where the focus is, nearest first."""
    found: dict[str, None] = {}
    for _, bound in _chain(focused):
        found |= dict.fromkeys(bound)
    return list(found)


def who_does(focused: DOMNode, verb: Verb) -> DOMNode | None:
    """The nearest that binds the context of a verb and can do it now; None where there is nobody."""
    method = f"action_{verb.action}"
    for node, bound in _chain(focused):
        if verb.context in bound and hasattr(node, method) and node.check_action(verb.action, ()):
            return node
    return None


def _chain(focused: DOMNode) -> Iterator[tuple[DOMNode, list[str]]]:
    """Everybody from the focus to the app, with the contexts they bind."""
    for node in focused.ancestors_with_self:
        bound = [one for several in node._bindings.key_to_bindings.values() for one in several]
        # A class's own bindings stand after those it inherits, and come before them.
        yield node, list(dict.fromkeys(binding.id.partition(".")[0] for binding in reversed(bound) if binding.id))
