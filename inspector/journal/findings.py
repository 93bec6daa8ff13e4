"""Findings: statements of the judge or the session about events. They are shown beside the data and never hide it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["must", "should", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One observation and the rule that it concerns."""

    n: int
    """The event, or 0 for the session as a whole."""
    rule: str
    """A requirement id of the specification's check list, such as `BASE-02` or `C-PAG-03`, or a name of ours."""
    level: Level
    message: str
    """One sentence, with the observed value. It contains server text: show it only through `inspector.text.safe`."""
    evidence: tuple[str, ...] = ()
    page: str = ""
    """The source of the rule: revision and page of the specification."""


class Findings:
    """All findings of a journal, by event."""

    LIMIT_PER_EVENT = 20

    def __init__(self) -> None:
        self.version = 0
        """Increases with every finding, so that a reader can detect new ones."""
        self.total = 0
        self._of: dict[int, list[Finding]] = {}

    def add(self, finding: Finding) -> None:
        """Attach a finding to its event; above `LIMIT_PER_EVENT` only the count increases."""
        there = self._of.setdefault(finding.n, [])
        if len(there) < self.LIMIT_PER_EVENT:
            there.append(finding)
        self.total += 1
        self.version += 1

    def of(self, n: int) -> list[Finding]:
        """Return the findings of one event, in the order they were made."""
        return self._of.get(n, [])

    def events(self) -> list[int]:
        """Return the numbers of events with findings, ascending."""
        return sorted(self._of)

    def all(self) -> list[Finding]:
        """Return every stored finding, by event."""
        return [finding for n in self.events() for finding in self._of[n]]
