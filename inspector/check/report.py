"""What a run comes to: each check once, with its worst verdict; counts, areas, and a score.

The score is 100 times what the server has earned of what it could. A check that was seen in any visit counts once, by
its worst verdict: a pass earns all of its weight, a warning half, a failure nothing; what was skipped or only remarked
on does not count. The weight is 5 for what the specification demands (`must`, `type`), 2 for what it advises
(`should`), 1 for everything else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from inspector.check.catalog import Check
from inspector.check.outcome import VERDICTS, Result, Verdict
from inspector.check.run import Run
from inspector.version import __version__

WEIGHTS = {"must": 5, "type": 5, "should": 2}
FAILING: dict[str, tuple[Verdict, ...]] = {
    "fail": ("fail",),
    "warn": ("fail", "warn"),
    "skip": ("fail", "warn", "skip"),
    "never": (),
}
"""By how strict one is, the verdicts that count as a failure of the whole."""
EARNED: dict[Verdict, float] = {"pass": 1.0, "warn": 0.5, "fail": 0.0}


@dataclass(frozen=True, slots=True)
class Checked:
    """One check and what came of it in all visits."""

    check: Check
    results: tuple[Result, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst; a pass or a fault in one visit is told before that another was skipped."""
        verdicts = {result.verdict for result in self.results}
        return next(verdict for verdict in ("fail", "warn", "pass", "note", "skip") if verdict in verdicts)

    @property
    def telling(self) -> list[Result]:
        """The results that have this verdict."""
        return [result for result in self.results if result.verdict == self.verdict]

    @property
    def weight(self) -> int:
        """How much it counts for."""
        return WEIGHTS.get(self.check.level, 1)


@dataclass(slots=True)
class Report:
    """A run, summed up. With a baseline, only what is new in it counts as a fault."""

    run: Run
    recording: str = ""
    known: frozenset[tuple[str, str, str]] = frozenset()
    """What an earlier report had found: id, revision and transport."""
    checked: list[Checked] = field(init=False)

    def __post_init__(self) -> None:
        by_id: dict[str, list[Result]] = {}
        for result in self.run.results:
            by_id.setdefault(result.check.id, []).append(result)
        self.checked = [Checked(results[0].check, tuple(results)) for results in by_id.values()]
        self.checked.sort(key=lambda checked: (VERDICTS.index(checked.verdict), -checked.weight, checked.check.id))

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many checks of each verdict, worst first."""
        found = Counter(checked.verdict for checked in self.checked)
        return {verdict: found[verdict] for verdict in VERDICTS}

    @property
    def score(self) -> int | None:
        """From 0 to 100; None where nothing was seen."""
        counted = [checked for checked in self.checked if checked.verdict in EARNED]
        possible = sum(checked.weight for checked in counted)
        if not possible:
            return None
        earned = sum(checked.weight * EARNED[checked.verdict] for checked in counted)
        return int(100 * earned / possible)

    @property
    def areas(self) -> dict[str, dict[Verdict, int]]:
        """The counts of each group of checks, in the order of the groups."""
        groups: dict[str, Counter[Verdict]] = {}
        for checked in sorted(self.checked, key=lambda each: each.check.group):
            groups.setdefault(checked.check.group, Counter())[checked.verdict] += 1
        return {group: {verdict: found[verdict] for verdict in VERDICTS} for group, found in groups.items()}

    def new(self, verdicts: Iterable[Verdict]) -> list[Result]:
        """The results with one of these verdicts that the baseline does not have."""
        wanted = set(verdicts)
        return [
            result
            for checked in self.checked
            for result in checked.results
            if result.verdict in wanted and _key(result) not in self.known
        ]

    def as_json(self) -> dict[str, Any]:
        """The whole report as one document; it can be a baseline."""
        run = self.run
        return {
            "format": "mcp-check",
            "version": 1,
            "tool": f"inspector/{__version__}",
            "target": run.target,
            "recording": self.recording or None,
            "score": self.score,
            "counts": self.counts,
            "areas": self.areas,
            "visits": [
                {
                    "revision": visited.revision, "transport": visited.transport, "first": visited.first,
                    "last": visited.last, "problem": visited.problem or None,
                }
                for visited in run.visits
            ],
            "problem": run.problem or None,
            "deaths": run.deaths,
            "seconds": round(run.seconds, 3),
            "results": [result.as_json() for checked in self.checked for result in checked.results],
        }  # fmt: skip


def _key(result: Result) -> tuple[str, str, str]:
    return result.check.id, result.visited.revision, result.visited.transport


def baseline_of(document: Any) -> frozenset[tuple[str, str, str]]:
    """The faults that a report has, whatever the document is: id, revision and transport of each."""
    results = document.get("results") if type(document) is dict else None
    found = set()
    for result in results if type(results) is list else ():
        if type(result) is dict and result.get("verdict") in ("fail", "warn"):
            found.add((str(result.get("id")), str(result.get("revision")), str(result.get("transport"))))
    return frozenset(found)
