"""The verbs of saved calls: when they work, and which are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from inspector.tui.model.verbs import Offer, VerbRules


class CallsFacts(NamedTuple):
    """The facts about saved calls and the place of the cursor. `live`: it is not a recording."""

    live: bool = True
    ready: bool = True
    """Calls can be sent now."""
    running: bool = False
    flows: bool = True
    environments: bool = False
    failures: bool = False
    """A file is wrong, or a step failed."""
    file: bool = True
    """The cursor is on a file."""
    flow: bool = True
    """The cursor is on a flow, or in one."""
    pinned: bool = False
    """The flow runs again after each restart."""
    messages: bool = False
    """The flow has run, so that its messages can be shown."""
    select: str = ""
    """What selecting the row does; `""` for nothing."""
    filtered: bool = False
    in_flow: bool = False
    """The keys are of one flow, and not of the list."""


_WORKS: Mapping[str, Callable[[CallsFacts], bool]] = {
    "calls.run": lambda facts: facts.ready and not facts.running and facts.flow,
    "calls.run-all": lambda facts: facts.ready and not facts.running and facts.flows,
    "calls.new": lambda facts: facts.ready,
    "calls.edit": lambda facts: facts.file,
    "calls.environment": lambda facts: facts.environments,
    "calls.pin-flow": lambda facts: facts.live and facts.flow,
    "calls.next-failure": lambda facts: facts.failures,
    "calls.previous-failure": lambda facts: facts.failures,
    "calls.its-messages": lambda facts: facts.messages,
    "calls.leave": lambda facts: facts.running or facts.in_flow or facts.filtered,
}


def _idle(verb: str, title: Callable[[CallsFacts], str] | str = "") -> Offer[CallsFacts]:
    """Return the offer of a verb that is not shown during a run."""
    works = _WORKS[verb]
    return Offer(verb, lambda facts: not facts.running and works(facts), title)


CALLS_VERBS: VerbRules[CallsFacts] = VerbRules(
    _WORKS,
    (
        Offer("list.select", lambda facts: facts.select != "", lambda facts: facts.select),
        Offer("calls.leave", lambda facts: facts.running, "stop"),
        Offer("calls.leave", lambda facts: facts.filtered and not facts.running, "clear filter"),
        _idle("calls.run"),
        _idle("calls.run-all"),
        _idle("calls.edit"),
        _idle("calls.environment"),
        _idle("calls.new"),
        _idle("calls.next-failure"),
        _idle("calls.its-messages"),
        _idle("calls.pin-flow", lambda facts: "not on restart" if facts.pinned else ""),
        Offer("collection.filter", lambda facts: facts.flows and not facts.running and not facts.in_flow),
        Offer("calls.leave", lambda facts: facts.in_flow and not facts.running, "list"),
    ),
)
