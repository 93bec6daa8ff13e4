"""The verbs of an event's detail: when they work, and which are shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from inspector.tui.model.verbs import Offer, VerbRules


class DetailFacts(NamedTuple):
    """The facts about the event in the pane. `has_event`: there is one."""

    has_event: bool = True
    sent: bool = False
    """The event is our message, or the answer to it."""
    http: bool = False
    marked: bool = False
    related: bool = False
    """It belongs to another event."""
    names_file: bool = False
    """It is a text of stderr that names a file."""
    hides_findings: bool = False
    """It has findings, and something else is shown."""


BOTH_VIEWS = "detail.previous-tab|detail.next-tab"
"""Two keys that are shown as one."""
_WORKS: dict[str, Callable[[DetailFacts], bool]] = {
    "detail.open-source": lambda facts: facts.names_file,
    # Elsewhere its key opens help.
    "detail.why": lambda facts: facts.hides_findings,
}
DETAIL_VERBS: VerbRules[DetailFacts] = VerbRules(
    _WORKS,
    (
        Offer("detail.copy", lambda facts: facts.has_event),
        Offer("detail.why"),
        Offer("detail.open-source"),
        Offer("detail.related", lambda facts: facts.related),
        Offer("detail.copy-curl", lambda facts: facts.sent and facts.http),
        Offer(BOTH_VIEWS, lambda facts: facts.has_event, "view"),
        Offer("app.zoom", lambda facts: facts.has_event),
        Offer("detail.mark", lambda facts: facts.has_event, lambda facts: "remove mark" if facts.marked else "mark"),
        Offer("detail.save", lambda facts: facts.has_event),
        Offer("app.back", title="messages"),
    ),
)
