"""Says which verbs of a session's screen work now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from inspector.client.state.calls import CallState
from inspector.text import quantity
from inspector.tui.model.verbs import VerbRules


class SessionFacts(NamedTuple):
    """The facts about the session. `asked`: a question of the server is open. `can_go_back`: back leads somewhere.

    `has_outcome`: a result, a call or a question is below the form of the item.
    """

    live: bool = True
    is_process: bool = True
    asked: bool = False
    can_go_back: bool = False
    has_outcome: bool = False


_LIVE = ("revision", "extensions", "compose", "pin", "side-by-side")


SESSION_VERBS: VerbRules[SessionFacts] = VerbRules(
    {
        **{f"app.{name}": lambda facts: facts.live for name in _LIVE},
        "app.restart": lambda facts: facts.live and facts.is_process,
        "app.watch": lambda facts: facts.live and facts.is_process,
        "app.question": lambda facts: facts.asked,
        "app.back": lambda facts: facts.can_go_back,
        "app.result": lambda facts: facts.has_outcome,
    },
    (),
)


def leaving(what: str, calls: Sequence[CallState]) -> tuple[str, str]:
    """Return the question whether to do `what` although these calls are in flight, and its explanation."""
    if not calls:
        return f"{what}?", "No call is in flight any more."
    pending = f"{calls[0].method} {calls[0].name} has no answer yet."
    others = f" {quantity(len(calls) - 1, 'other call')} too." if len(calls) > 1 else ""
    return f"{what} with a call in flight?", pending + others
