"""Compares what two servers or recordings offer and what was said, as one result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from inspector.compare.conversation import SURFACE_METHODS, Conversation, compare_conversations
from inspector.compare.rules import DEFAULT, ComparisonRules
from inspector.compare.surface import Change, compare_surfaces, counts, unread_lists, worst
from inspector.protocol import jsonrpc
from inspector.protocol.exact_json import depth
from inspector.text import repr_of

if TYPE_CHECKING:
    from inspector.config.targets import Target
    from inspector.journal.journal import Journal


@dataclass(slots=True)
class ComparedSource:
    """One of the two: its name, its surface, and the recording if it is one."""

    target: Target
    surface: dict[str, Any] = field(default_factory=dict)
    journal: Journal | None = None

    def as_json(self) -> dict[str, Any]:
        """Return its name and its server."""
        known = {key: self.surface.get(key) for key in ("server", "era", "revision")}
        return {"target": self.target.describe(), "kind": self.target.kind} | known


@dataclass(slots=True)
class Comparison:
    """The differences between `a` and `b`. A part that was not compared is None."""

    a: ComparedSource
    b: ComparedSource
    changes: list[Change] | None
    """The differences in what the servers offer."""
    conversation: Conversation | None
    """The differences between the conversations; only two recordings have them."""

    def __repr__(self) -> str:
        return repr_of(
            self, self.a.target.describe(), self.b.target.describe(), "the same" if self.same else "different"
        )

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.changes and (self.conversation is None or self.conversation.same)

    def as_json(self) -> dict[str, Any]:
        """The result as one document."""
        surface = conversation = None
        if self.changes is not None:
            surface = {
                "worst": worst(self.changes),
                "counts": counts(self.changes),
                "not_compared": unread_lists(self.a.surface, self.b.surface),
                "changes": [_plain(change.as_json()) for change in self.changes],
            }
        compared = self.conversation
        if compared is not None:
            conversation = {
                "counts": {kind: compared.count(kind) for kind in ("same", "changed", "only-a", "only-b")},
                "left_out": compared.covered,
                "ignored": compared.ignored,
                "steps": [_plain(step.as_json()) for step in compared.steps if step.kind != "same"],
            }
        return {
            "same": self.same,
            "exit_code": 0 if self.same else 5,
            "a": self.a.as_json(),
            "b": self.b.as_json(),
            "surface": surface,
            "conversation": conversation,
        }


def compare_both(
    a: ComparedSource,
    b: ComparedSource,
    rules: ComparisonRules = DEFAULT,
    *,
    surface: bool = True,
    conversation: bool = True,
) -> Comparison:
    """Compare what the two offer, and their conversations if both are recordings."""
    changes = compare_surfaces(a.surface, b.surface) if surface else None
    compared: Conversation | None = None
    if conversation and a.journal is not None and b.journal is not None:
        without = SURFACE_METHODS if surface else frozenset[str]()
        compared = compare_conversations(a.journal, b.journal, rules, without=without)
    return Comparison(a, b, changes, compared)


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """Return a change as JSON; without its values if they are nested too deeply to print."""
    try:
        jsonrpc.encode(value)
    except RecursionError:
        left_out = {key: depth.LEFT_OUT for key in ("a", "b") if key in value}
        value = value | left_out
        if "differences" in value:
            value["differences"] = [_plain(one) for one in value["differences"]]
    return value
