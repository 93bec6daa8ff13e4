"""The keys of a load test, and when they work."""

from __future__ import annotations

from typing import NamedTuple

from inspector.tui.feature_verbs import FeatureContext, FeatureVerb, Keys
from inspector.tui.model.verbs import Offer, VerbRules

_LOAD = (
    ("pause", "pause", "space", "Let no further calls arrive, or go on."),
    ("faster", "faster", "plus", "Raise the rate by a quarter."),
    ("slower", "slower", "minus", "Lower the rate by a fifth."),
    ("report", "report", "x", "Save the report: a web page, JSON or text."),
    ("edit", "edit plan", "e", "Change the plan and run it."),
    ("its-messages", "its messages", "m", "Open the recording of the slowest and the failed calls."),
    ("next-view", "next view", "right_curly_bracket", "Show the series instead of the latency, or the latency again."),
    ("leave", "back", "escape", "Stop the load test; when it is over, go back."),
)
KEYS = Keys(
    contexts=(FeatureContext("load", "text", "A load test", _LOAD, after="authorization", is_screen=True),),
    verbs=(
        FeatureVerb(
            "form.load",
            "load test",
            "f12",
            "Call the tool with these arguments at a constant rate, and measure the latency.",
            "screen:start",
            needs="call",
            after="save",
        ),
    ),
)


class LoadFacts(NamedTuple):
    """The facts about a load test. `has_rate`: it sends calls at a rate now."""

    has_rate: bool = False
    paused: bool = False
    over: bool = False
    report: bool = False
    recorded: bool = False
    """Some calls are recorded."""
    narrow: bool = False
    """The screen has room for one view."""


LOAD_VERBS: VerbRules[LoadFacts] = VerbRules(
    {
        **dict.fromkeys(("load.pause", "load.faster", "load.slower"), lambda facts: facts.has_rate),
        "load.report": lambda facts: facts.report,
        "load.edit": lambda facts: facts.over,
        "load.its-messages": lambda facts: facts.recorded,
        "load.next-view": lambda facts: facts.narrow,
    },
    [
        Offer("load.pause", title=lambda facts: "go on" if facts.paused else "pause"),
        Offer("load.faster"),
        Offer("load.slower"),
        Offer("load.leave", title=lambda facts: "back" if facts.over else "stop"),
        *(Offer[LoadFacts](f"load.{verb}") for verb in ("report", "edit", "its-messages", "next-view")),
    ],
)
