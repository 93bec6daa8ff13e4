"""Findings: statements of the judge or the session about events. They are shown beside the data and never hide it."""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections import Counter
from itertools import chain
from typing import Literal, NamedTuple

from inspector.text import quantity

Level = Literal["must", "should", "note"]

WITHOUT_TEXT = "The text of this finding is not kept, because too many messages break this rule."
OTHER_RULES = "…"
"""The rule of findings of too many different rules."""


class Finding(NamedTuple):
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
    """All findings of a journal, by event. Of a flood of them the texts of the first are kept, and all events."""

    LIMIT_PER_EVENT = 20
    LIMIT_PER_RULE = 1000
    """Findings of one rule, level and part whose texts are kept."""
    LIMIT = 50_000
    """Findings whose texts are kept; above it only the first `LIMIT_PER_EVENT` of a rule, level and part."""
    _MAX_RULES = 4000
    _MAX_FLOODS = 400
    """Rules, for a recording of others may name any."""

    def __init__(self) -> None:
        self.version = 0
        """Increases with every finding, so that a reader can detect new ones."""
        self.total = 0
        self._kept = 0
        self._of: dict[int, list[Finding]] = {}
        self._counts: Counter[tuple[object, str, Level]] = Counter()
        """By part, rule and level, the findings whose texts are kept."""
        self._more: dict[tuple[str, Level], array[int]] = {}
        """By rule and level, the events of findings without a text, ascending."""

    def add(self, finding: Finding, part: object = None) -> None:
        """Attach a finding to its event; above `LIMIT_PER_EVENT` only the count increases.

        `part` is its connection: each of them keeps texts of its own.
        """
        self.total += 1
        self.version += 1
        if len(self.of(finding.n)) >= self.LIMIT_PER_EVENT:
            return
        key = part, finding.rule, finding.level
        limit = self.LIMIT_PER_RULE if self._kept < self.LIMIT else self.LIMIT_PER_EVENT
        if self._counts[key] < limit and len(self._counts) <= self._MAX_RULES:
            self._counts[key] += 1
            self._kept += 1
            self._of.setdefault(finding.n, []).append(finding)
            return
        more = finding.rule, finding.level
        if more not in self._more and len(self._more) >= self._MAX_FLOODS:
            more = OTHER_RULES, finding.level
        if not self._has_more(finding.n, more):
            insort(self._more.setdefault(more, array("q")), finding.n)

    def of(self, n: int) -> list[Finding]:
        """Return the findings of one event, in the order they were made."""
        return [*self._of.get(n, ()), *(Finding(n, *key, WITHOUT_TEXT) for key in self._more if self._has_more(n, key))]

    def _has_more(self, n: int, key: tuple[str, Level]) -> bool:
        events = self._more.get(key, ())
        at = bisect_left(events, n)
        return at < len(events) and events[at] == n

    def events(self) -> list[int]:
        """Return the numbers of events with findings, ascending."""
        return sorted({*self._of, *chain(*self._more.values())})

    def all(self) -> list[Finding]:
        """Return every finding whose text is kept, by event."""
        return [finding for n in sorted(self._of) for finding in self._of[n]]

    @property
    def left_out(self) -> str:
        """How many findings `all` does not have, with their noun; empty if it has all."""
        return quantity(self.total - self._kept, "more finding") if self.total > self._kept else ""
