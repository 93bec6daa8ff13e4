"""Finds the verbs that are available: those that a node between the focus and the app can do now.

This is the only module that reads or writes `_bindings`, Textual's private map of a node's own bindings: `DOMNode` has
no public list without those of its ancestors, and no public way to add one. `tests/tui/test_available_verbs.py` fails
when that changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from textual.binding import BindingsMap
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget

from inspector.errors import FeatureError
from inspector.feature import Feature
from inspector.tui.advice import error_text
from inspector.tui.feature_verbs import FeatureVerb, verbs_in
from inspector.tui.keymap import NO_KEY, Keymap, bindings
from inspector.tui.pane_messages import UseFeature
from inspector.tui.verbs import BY_ID, VERBS, KeymapVerb


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


def lend_features(context: str, node: Widget, chosen: Callable[[], tuple[str, Any]]) -> None:
    """Let a widget handle the verbs of features in a context. `chosen` returns the tool and its arguments."""

    def use(feature: Feature, verb: FeatureVerb) -> None:
        node.post_message(UseFeature(feature, verb, *chosen()))

    for feature, verb in verbs_in(context):
        setattr(node, f"action_{BY_ID[verb.id].action}", partial(use, feature, verb))


async def run_of_feature(screen: Screen[Any], event: UseFeature) -> None:
    """Run a verb of a feature on a screen. Must run in a worker of it."""
    try:
        await event.feature.load(event.verb.run)(screen, event.tool, event.arguments)
    except FeatureError as error:
        screen.notify(error_text(error, screen), severity="warning", timeout=8)


def binds(node: DOMNode, key: str) -> bool:
    """Whether the node itself binds a key."""
    return key in node._bindings.key_to_bindings


def contexts(focused: DOMNode) -> list[str]:
    """Return the contexts whose keys work at the focus, nearest first."""
    names: dict[str, None] = {}
    for _, bound in _chain(focused):
        names |= dict.fromkeys(bound)
    return list(names)


def who_does(focused: DOMNode, verb: KeymapVerb) -> DOMNode | None:
    """Return the nearest node that binds the context of a verb and can do it now, or None."""
    method = f"action_{verb.action}"
    for node, bound in _chain(focused):
        if verb.context in bound and hasattr(node, method) and node.check_action(verb.action, ()):
            return node
    return None


def verb_at(focused: DOMNode, key: str, keymap: Keymap) -> str:
    """Return the id of the verb that a key does at the focus now, or `""`."""
    # A node's map has the default keys: those of a verb to which the user gave another key, else this one.
    verbs = [(verb, verb.key or NO_KEY if verb.id in keymap.overrides else key) for verb in keymap.verbs_at(key)]
    for node in focused.ancestors_with_self:
        node_bindings = node._bindings.key_to_bindings
        bound = [
            verb
            for verb, keys in verbs
            if any(one.id == verb.id for at in keys.split(",") for one in node_bindings.get(at, ()))
        ]
        if len(bound) > 1:
            # Textual tries the bindings of a key in their order; the user may have given one key to several.
            nearest, place = (
                own_contexts(node),
                {one.id: n for key_bindings in node_bindings.values() for n, one in enumerate(key_bindings)},
            )
            bound.sort(key=lambda verb: (place[verb.id], nearest.index(verb.context)))
        for verb in bound:
            if hasattr(node, f"action_{verb.action}") and node.check_action(verb.action, ()):
                return verb.id
    return ""


def own_contexts(node: DOMNode) -> list[str]:
    """Return the contexts whose keys a node itself binds."""
    bound = [one for several in node._bindings.key_to_bindings.values() for one in several]
    # A class's own bindings come after the inherited ones in the map, but have precedence.
    return list(dict.fromkeys(binding.id.partition(".")[0] for binding in reversed(bound) if binding.id))


def _chain(focused: DOMNode) -> Iterator[tuple[DOMNode, list[str]]]:
    """Yield the nodes from the focus to the app, with the contexts that they bind."""
    for node in focused.ancestors_with_self:
        yield node, own_contexts(node)
