"""Which verbs are within reach: those that somebody between the focus and the app binds, and can do now."""

from __future__ import annotations

from collections.abc import Iterator

from textual.dom import DOMNode

from inspector.tui.verbs import Verb


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
        # Private: `DOMNode` has no public list of what it binds by itself, without its ancestors.
        bound = [one for several in node._bindings.key_to_bindings.values() for one in several]
        # A class's own bindings stand after those it inherits, and come before them.
        yield node, list(dict.fromkeys(binding.id.partition(".")[0] for binding in reversed(bound) if binding.id))
