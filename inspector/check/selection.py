"""The checks of a run that the user chose."""

from __future__ import annotations

from dataclasses import dataclass, field

from inspector.check.check_table import Check
from inspector.check.outcome import Skip
from inspector.check.registry import checks
from inspector.check.visit.limits import RunLimits
from inspector.check.visit.visit import Allowed
from inspector.hosts import Fact
from inspector.protocol.revisions import REVISIONS


@dataclass(frozen=True, slots=True)
class CheckSelection:
    """The selection of checks."""

    revisions: tuple[str, ...] = REVISIONS
    only: frozenset[str] = frozenset()
    """Ids or groups; empty: all."""
    without: frozenset[str] = frozenset()
    levels: frozenset[str] = frozenset()
    """Levels of checks; empty: all."""
    limits: RunLimits = field(default_factory=RunLimits)
    allowed: Allowed = field(default_factory=Allowed)
    lists: bool = False
    """Read the lists of the server even if no check uses them."""
    drafts: frozenset[str] = frozenset()
    """Groups about drafts of the specification that run too; others run only if `only` names them."""
    hosts: tuple[Fact, ...] = ()
    """The facts about hosts that are evaluated; none unless the user chose hosts."""

    def takes(self, check: Check) -> bool:
        """Whether the report contains a check."""
        names = {check.id, check.group}
        if self.levels and check.level not in self.levels:
            return False
        if check.draft and check.group not in self.drafts and not names & self.only:
            return False
        return not (names & self.without) and (not self.only or bool(names & self.only))

    def rows(self) -> list[Check]:
        """The checks that the report may contain. A withdrawn requirement is one again if its revision is named."""
        named = frozenset(self.revisions) if self.revisions != REVISIONS else frozenset[str]()
        return [
            check._replace(check_class="rule") if check.is_withdrawn and named & check.revisions else check
            for check in checks().values()
            if self.takes(check)
        ]

    def refuses(self, check: Check) -> str:
        """Why an applicable check is skipped; empty if it is not."""
        if check.mode == "tool" and not self.allowed.calls:
            return Skip.CALLS
        if check.mode == "auth" and not self.allowed.auth:
            return Skip.LOGIN
        if check.mode == "intrusive" and not self.allowed.intrusive:
            return Skip.INTRUSIVE
        return ""


def limit_reached(selection: CheckSelection) -> str:
    return f"the run reached its limit of {selection.limits.run:g} s"
