"""The verbs of a login, and of the comparison of two recordings."""

from __future__ import annotations

from typing import NamedTuple

from inspector.tui.model.verbs import Offer, VerbRules


class LoginFacts(NamedTuple):
    """The facts about a login. `live`: the session is not a recording, and can log in."""

    live: bool = True
    connecting: bool = False
    token: bool = False
    """There is a token, which can be shown and revoked."""


LOGIN_VERBS: VerbRules[LoginFacts] = VerbRules(
    {
        "authorization.again": lambda facts: facts.live,
        "authorization.log-in": lambda facts: facts.live and not facts.connecting,
        "authorization.otherwise": lambda facts: facts.live,
        "authorization.log-out": lambda facts: facts.token,
        "authorization.reveal": lambda facts: facts.token,
    },
    [Offer(f"authorization.{verb}") for verb in ("open", "again", "log-in", "otherwise", "log-out")],
)


class DiffFacts(NamedTuple):
    """The sides of a comparison at which a message is shown."""

    a: bool = False
    b: bool = False


DIFF_VERBS: VerbRules[DiffFacts] = VerbRules(
    {"diff.frame-a": lambda facts: facts.a, "diff.frame-b": lambda facts: facts.b},
    [Offer(f"diff.{verb}") for verb in ("next", "previous", "same", "frame-a", "frame-b", "copy", "leave")],
)
