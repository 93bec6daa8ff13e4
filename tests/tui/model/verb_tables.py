"""The verbs of a pane, as the tables of tests name them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from inspector.tui.model import detail, result
from inspector.tui.model.verbs import VerbRules


@dataclass(frozen=True)
class Verbs:
    """The verbs of a pane. In the tables below, a verb of its own context is written without the context."""

    context: str
    rules: VerbRules[Any]

    def line(self, facts: Any) -> str:
        """The verbs that are shown, each with its title where that is not the usual one."""
        offered = [
            ("views" if verb in (detail.BOTH_VIEWS, result.BOTH_VIEWS) else verb, title)
            for verb, title in self.rules.line(facts)
        ]
        verbs = [(verb.removeprefix(f"{self.context}."), title) for verb, title in offered]
        return "  ".join(f"{verb}={title}" if title else verb for verb, title in verbs)

    def works(self, verb: str, facts: Any) -> bool:
        """Whether a verb works: both ways to ask have the same answer."""
        name = verb if "." in verb else f"{self.context}.{verb}"
        works = self.rules.available(name, facts)
        assert self.rules.can(name.partition(".")[2].replace("-", "_"), lambda: facts) is works
        return works
