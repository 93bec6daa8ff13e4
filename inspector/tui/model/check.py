"""The verbs of the checks: when they work, and which are shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from inspector.tui.model.verbs import Offer, VerbRules


class CheckFacts(NamedTuple):
    """The facts about the checks. `live`: they can send; a recording has only passive ones."""

    live: bool = True
    http: bool = False
    running: bool = False
    reading: bool = False
    """The text of a check is shown in place of the list."""
    in_text: bool = False
    """The text has the focus."""
    current: bool = True
    """A check is under the cursor."""
    report: bool = True
    results: bool = True
    """The report has checks."""
    messages: bool = False
    """The text of the check names messages."""

    @property
    def idle_list(self) -> bool:
        """The keys are of the list, and nothing runs."""
        return not self.running and not self.reading

    @property
    def may_send(self) -> bool:
        """Checks that send may be started."""
        return self.live and not self.running


_WORKS: Mapping[str, Callable[[CheckFacts], bool]] = {
    "check.run": lambda facts: not facts.running,
    "check.again": lambda facts: facts.may_send and facts.current,
    "check.hosts": lambda facts: not facts.running,
    "check.allow": lambda facts: facts.may_send,
    "check.intrusive": lambda facts: facts.may_send,
    "check.login": lambda facts: facts.may_send and facts.http,
    "check.its-messages": lambda facts: facts.messages,
    "check.copy": lambda facts: facts.current,
    "check.stop": lambda facts: facts.running,
    "check.leave": lambda facts: facts.reading or facts.in_text,
    **dict.fromkeys(("check.report", "check.baseline"), lambda facts: facts.results and not facts.running),
    **dict.fromkeys(("check.faults", "check.level", "check.next", "check.previous"), lambda facts: facts.report),
}

CHECK_VERBS: VerbRules[CheckFacts] = VerbRules(
    _WORKS,
    (
        Offer("check.stop"),
        Offer("list.select", lambda facts: facts.current and not facts.reading, "evidence"),
        Offer("check.its-messages", lambda facts: facts.reading and not facts.running and facts.messages),
        Offer("list.select", lambda facts: facts.idle_list and not facts.report, "run"),
        Offer("check.run", lambda facts: facts.idle_list and facts.report),
        Offer("check.again"),
        Offer("check.copy", lambda facts: facts.reading and not facts.running and facts.current),
        Offer("check.faults", lambda facts: facts.idle_list and facts.report),
        Offer("check.report", lambda facts: facts.idle_list and facts.results),
        Offer("check.allow", lambda facts: facts.idle_list and facts.live),
        Offer("check.leave", lambda facts: facts.reading),
    ),
)
