"""A step of a flow as plain data: its action, its subject, and its item of the catalog."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from inspector.client.state.catalog import ListName
from inspector.protocol.forms.values import json_of

PlainStep = Mapping[str, Any]
"""A step with the keys of the file: `call`, `args`, `expect`, …; keys that are not written are missing."""

ACTIONS = ("call", "read", "prompt", "complete", "request", "notify", "wait", "use")
"""The keys that say what a step does; a step has one of them."""

_LISTS: dict[str, ListName] = {"call": "tools", "read": "resources", "prompt": "prompts"}


def action_of(step: PlainStep) -> tuple[str, str]:
    """Return the action of the step and its subject, such as `("call", "create-order")`; two empty texts for none."""
    for action in ACTIONS:
        if action in step:
            subject = step[action]
            return action, subject if isinstance(subject, str) else json_of(subject)
    return "", ""


def name_of(step: PlainStep) -> str:
    """Return the name of the step; else what its action is about."""
    name = step.get("name")
    return name if isinstance(name, str) and name else action_of(step)[1]


def item_of(step: PlainStep) -> tuple[ListName, str] | None:
    """Return the item of the catalog that the step uses, or None where it uses none."""
    action, subject = action_of(step)
    return (_LISTS[action], subject) if action in _LISTS else None


def rows_of_each(step: PlainStep) -> int:
    """Return how often `each` runs the step; 0 for a step without `each`."""
    rows = step.get("each")
    return len(rows) if isinstance(rows, list) else 0


def arguments_of(step: PlainStep) -> Iterator[tuple[str, Any]]:
    """Yield the names and values that the step sends beside its subject, as written."""
    for key in ("args", "params", "vars"):
        arguments = step.get(key)
        if isinstance(arguments, Mapping):
            yield from arguments.items()
    for key in ("argument", "value"):
        if key in step:
            yield key, step[key]
