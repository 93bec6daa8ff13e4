"""Findings: what the judge, or the session itself, says about events. They never hide data; they stand beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["must", "should", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was seen and what rule it touches."""

    n: int
    """The event it is about, or 0 for the session as a whole."""
    rule: str
    """A requirement id of the specification's check list, such as `BASE-02` or `C-PAG-03`, or a word of our own."""
    level: Level
    message: str
    """One sentence, with what was seen. Contains server text: show it only through `inspector.text.safe`."""
    evidence: tuple[str, ...] = ()
    page: str = ""
    """Where the rule stands: revision and page of the specification."""


class Findings:
    """All findings of a journal, by event."""

    LIMIT_PER_EVENT = 20

    def __init__(self) -> None:
        self.version = 0
        """Grows with every finding: tells a reader that there is something new."""
        self.total = 0
        self._of: dict[int, list[Finding]] = {}

    def add(self, finding: Finding) -> None:
        """Attach a finding to its event; beyond `LIMIT_PER_EVENT` only the count grows."""
        there = self._of.setdefault(finding.n, [])
        if len(there) < self.LIMIT_PER_EVENT:
            there.append(finding)
        self.total += 1
        self.version += 1

    def of(self, n: int) -> list[Finding]:
        """The findings of one event, in the order they were made."""
        return self._of.get(n, [])

    def events(self) -> list[int]:
        """The numbers of events that have findings, ascending."""
        return sorted(self._of)

    def all(self) -> list[Finding]:
        """Every finding that is kept, by event."""
        return [finding for n in self.events() for finding in self._of[n]]
