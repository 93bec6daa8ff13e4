"""Finds the verbs that are available: those that a node between the focus and the app can do now.

This is the only module that reads or writes `_bindings`, Textual's private map of a node's own bindings: `DOMNode` has
no public list without those of its ancestors, and no public way to add one. `tests/tui/test_available_verbs.py` fails
when that changes.
"""

from __future__ import annotations

from collections.abc import Iterator

from textual.binding import BindingsMap
from textual.dom import DOMNode

from inspector.tui.keymap import bindings
from inspector.tui.verbs import VERBS, KeymapVerb


def lend(part: object, context: str, node: DOMNode) -> None:
    """Let a part of a screen handle the verbs of a context. Keys work at `node`, actions are methods of `part`.

    A screen is composed of parts that are not in the DOM, and Textual looks for keys and actions only there. Keys of
    the context override the same keys of the node, like those of a subclass.
    """
    for verb in VERBS:
        method = getattr(part, f"action_{verb.action}", None)
        if verb.context == context and method is not None:
            setattr(node, f"action_{verb.action}", method)
    node._bindings.key_to_bindings.update(BindingsMap(bindings(context)).key_to_bindings)


def binds(node: DOMNode, key: str) -> bool:
    """Whether the node itself binds a key."""
    return key in node._bindings.key_to_bindings


def contexts(focused: DOMNode) -> list[str]:
    """The contexts whose keys work at the focus, nearest first."""
    found: dict[str, None] = {}
    for _, bound in _chain(focused):
        found |= dict.fromkeys(bound)
    return list(found)


def who_does(focused: DOMNode, verb: KeymapVerb) -> DOMNode | None:
    """Return the nearest node that binds the context of a verb and can do it now, or None."""
    method = f"action_{verb.action}"
    for node, bound in _chain(focused):
        if verb.context in bound and hasattr(node, method) and node.check_action(verb.action, ()):
            return node
    return None


def own_contexts(node: DOMNode) -> list[str]:
    """The contexts whose keys a node itself binds."""
    bound = [one for several in node._bindings.key_to_bindings.values() for one in several]
    # A class's own bindings come after the inherited ones in the map, but have precedence.
    return list(dict.fromkeys(binding.id.partition(".")[0] for binding in reversed(bound) if binding.id))


def _chain(focused: DOMNode) -> Iterator[tuple[DOMNode, list[str]]]:
    """Yield the nodes from the focus to the app, with the contexts that they bind."""
    for node in focused.ancestors_with_self:
        yield node, own_contexts(node)
