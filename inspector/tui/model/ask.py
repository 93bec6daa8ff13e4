"""The verbs of a question of the server: when they work, and which are shown."""

from __future__ import annotations

from enum import Enum, auto
from typing import Literal, NamedTuple

from inspector.tui.model.verbs import Offer, VerbRules


class AnswerBy(Enum):
    """The way in which a question is answered. `LINK` opens a URL, `REFUSED_LINK` has one that must not be opened."""

    FORM = auto()
    TEXT = auto()
    ROOTS = auto()
    LINK = auto()
    REFUSED_LINK = auto()


class AskFacts(NamedTuple):
    """The facts about the question in the pane. `looks_back`: a recording is shown at a moment when it was open."""

    is_open: bool = True
    looks_back: bool = False
    topic: Literal["elicitation", "sampling", "roots"] = "elicitation"
    by: AnswerBy = AnswerBy.FORM
    as_json: bool = False
    ends_call: bool = False
    """A refusal ends the call: it is an input request of the modern era."""
    from_now_on: bool = False
    several: bool = False
    """Other questions are open too."""

    @property
    def fixed_roots(self) -> bool:
        """Roots are shown, and answered with one key."""
        return self.is_open and self.by is AnswerBy.ROOTS and not self.as_json


def _decline(facts: AskFacts) -> str:
    if facts.topic == "elicitation":
        return ""
    return "decline, end call" if facts.ends_call else "decline"


def _json(facts: AskFacts) -> str:
    return ("form" if facts.by is AnswerBy.FORM else "text") if facts.as_json else "json"


ASK_VERBS: VerbRules[AskFacts] = VerbRules(
    {
        "ask.accept": lambda facts: facts.is_open,
        "ask.decline": lambda facts: facts.is_open,
        "ask.cancel": lambda facts: facts.is_open and facts.topic == "elicitation",
        "ask.open": lambda facts: facts.is_open and facts.by is AnswerBy.LINK,
        "ask.copy": lambda facts: facts.is_open and facts.by in (AnswerBy.LINK, AnswerBy.REFUSED_LINK),
        "ask.its-messages": lambda facts: not facts.is_open,
        "ask.standing": lambda facts: facts.is_open,
        # A form has a key of its own.
        "form.json": lambda facts: facts.is_open and facts.by in (AnswerBy.TEXT, AnswerBy.ROOTS),
    },
    (
        Offer("replay.answer", lambda facts: facts.looks_back, lambda _: "go to answer"),
        Offer("ask.its-messages"),
        Offer("ask.open"),
        Offer("ask.copy", lambda facts: facts.is_open and facts.by is AnswerBy.LINK),
        Offer("ask.accept"),
        Offer("ask.standing", lambda facts: facts.fixed_roots),
        Offer("ask.decline", title=_decline),
        Offer("ask.later", title=lambda facts: "" if facts.is_open else "list"),
        Offer("ask.next", lambda facts: facts.is_open and facts.several),
        Offer(
            "form.json",
            lambda facts: facts.is_open and facts.by in (AnswerBy.FORM, AnswerBy.TEXT, AnswerBy.ROOTS),
            _json,
        ),
        Offer("ask.cancel"),
        Offer(
            "ask.standing",
            lambda facts: facts.is_open and facts.topic != "roots",
            lambda facts: "answer only once" if facts.from_now_on else "always",
        ),
    ),
)
