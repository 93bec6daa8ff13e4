"""Says which verbs of a session's screen work now."""

from __future__ import annotations

from typing import NamedTuple

from inspector.tui.model.verbs import VerbRules


class SessionFacts(NamedTuple):
    """The facts about the session. `asked`: a question of the server is open. `can_go_back`: back leads somewhere."""

    live: bool = True
    is_process: bool = True
    asked: bool = False
    can_go_back: bool = False


_LIVE = ("reconnect", "revision", "extensions", "compose", "pin", "side-by-side")

SESSION_VERBS: VerbRules[SessionFacts] = VerbRules(
    {
        **{f"app.{name}": lambda facts: facts.live for name in _LIVE},
        "app.restart": lambda facts: facts.live and facts.is_process,
        "app.watch": lambda facts: facts.live and facts.is_process,
        "app.question": lambda facts: facts.asked,
        "app.back": lambda facts: facts.can_go_back,
    },
    (),
)
