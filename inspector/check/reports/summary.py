"""The summary of a run: each check once, with its worst verdict; counts, areas, and a score.

The score is 100 times the earned weight divided by the possible weight. A check that ran in any visit counts once, by
its worst result: a pass earns its whole weight, a fault in doubt half, a fault nothing. Skipped checks, remarks and
checks of the level `info` do not count. The score is the same with and without `--strict`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from inspector import log_lines
from inspector.check.check_table import Check, CheckClass
from inspector.check.outcome import PREVENTED, Outcome, Seen
from inspector.check.reports.policy import (
    DEFAULT,
    FINDINGS,
    FORMAT,
    UNKNOWN,
    VERSION,
    FindingKey,
    Identity,
    Policy,
    Ruling,
    key_of,
)
from inspector.check.reports.sdks import attributed, recognised
from inspector.check.reports.source_files import Sources
from inspector.check.result import VERDICTS, Result, Verdict
from inspector.check.run import Run
from inspector.config.paths import display_path
from inspector.errors import ServerExited
from inspector.journal.format import Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.text import count, quantity
from inspector.version import __version__

WEIGHTS: dict[CheckClass, int] = {"breaks": 5, "rule": 2, "advice": 1}
EARNED: dict[Seen, float] = {"good": 1.0, "doubtful": 0.5, "bad": 0.0}
_TELLING: tuple[Seen, ...] = ("bad", "doubtful", "good", "remark", "nothing")


@dataclass(frozen=True, slots=True)
class CheckSummary:
    """One check and its results in all visits."""

    check: Check
    results: tuple[Result, ...]

    @property
    def verdict(self) -> Verdict:
        """The verdict of the worst that it saw."""
        return self._worst.verdict

    @property
    def class_name(self) -> str:
        """Its class, and whether the fault is in doubt."""
        return self._worst.class_name

    @property
    def _worst(self) -> Result:
        return next(result for result in self.results if result.outcome.seen == self.seen)

    @property
    def telling(self) -> list[Result]:
        """The results with the worst verdict."""
        return [result for result in self.results if result.verdict == self.verdict]

    @property
    def seen(self) -> Seen:
        """The worst that it saw; a pass or fault in one visit outranks a skip in another."""
        return min((result.outcome.seen for result in self.results), key=_TELLING.index)

    @property
    def skipped(self) -> Outcome:
        """The outcome that says why it was skipped; what prevented it in one visit outranks the reason of another."""
        outcomes = [result.outcome for result in self.results]
        return next((outcome for outcome in outcomes if outcome.skip in PREVENTED), outcomes[0])

    @property
    def is_prevented(self) -> bool:
        """Whether it was skipped because the server or the time of the run prevented it."""
        return self.verdict == "skip" and self.skipped.skip in PREVENTED

    @property
    def weight(self) -> int:
        """Its weight in the score."""
        return 0 if self.check.level == "info" else WEIGHTS[self.check.check_class]


@dataclass(slots=True)
class Report:
    """The summary of a run, and the effect of each result under a policy."""

    run: Run
    recording: str = ""
    policy: Policy = DEFAULT
    identity: Identity = UNKNOWN
    sdk: str = ""
    """The SDK of the server; empty if unknown."""
    sources: Sources | None = None
    """The source files of the findings."""
    starts: tuple[str, ...] = ()
    """For each start of the server's process, its purpose."""
    checked: list[CheckSummary] = field(init=False)
    """The checks that count, worst first."""
    excluded: list[CheckSummary] = field(init=False)
    """The checks that the profile excludes from score, counts and exit code."""

    def __post_init__(self) -> None:
        rule = self.policy.rule
        self.excluded = _by_check([result for result in self.run.results if rule(result) == "excluded"])
        self.checked = _by_check([result for result in self.run.results if rule(result) != "excluded"])
        if self.policy.baseline is not None and self.run.results:
            self.policy.baseline.require(self.identity, self.run.target)

    @property
    def recording_path(self) -> str:
        """The recording as reports name it; empty without one."""
        return display_path(Path(self.recording)) if self.recording else ""

    @property
    def results(self) -> list[Result]:
        """Every result, worst first; excluded ones last."""
        return [result for checked in (*self.checked, *self.excluded) for result in checked.results]

    @property
    def counts(self) -> dict[Verdict, int]:
        """The number of checks of each verdict, worst first."""
        counts = Counter(checked.verdict for checked in self.checked)
        return {verdict: counts[verdict] for verdict in VERDICTS}

    @property
    def counted(self) -> dict[Verdict, str]:
        """The counts with their nouns: `2 failures`, `1 warning`, `64 skipped`."""
        nouns = {"fail": "failure", "warn": "warning", "note": "note"}
        ends = {"skip": "skipped", "pass": "passed"}
        return {
            verdict: f"{count(number)} {ends[verdict]}" if verdict in ends else quantity(number, nouns[verdict])
            for verdict, number in self.counts.items()
        }

    @property
    def score(self) -> int | None:
        """From 0 to 100; None if no check could decide."""
        counted = [checked for checked in self.checked if checked.seen in EARNED]
        possible = sum(checked.weight for checked in counted)
        if not possible:
            return None
        earned = sum(checked.weight * EARNED[checked.seen] for checked in counted)
        return int(100 * earned / possible)

    def slowest(self, number: int) -> list[Result]:
        """The results of the checks that took longest, slowest first."""
        return sorted(self.results, key=lambda result: -result.seconds)[:number]

    @property
    def areas(self) -> dict[str, dict[Verdict, int]]:
        """The counts of each group of checks, in the order of the groups."""
        groups: dict[str, Counter[Verdict]] = {}
        for checked in sorted(self.checked, key=lambda checked: checked.check.group):
            groups.setdefault(checked.check.group, Counter())[checked.verdict] += 1
        return {group: {verdict: counts[verdict] for verdict in VERDICTS} for group, counts in groups.items()}

    def ruled(self, ruling: Ruling) -> list[Result]:
        """The results with this effect."""
        return [result for result in self.results if self.policy.rule(result) == ruling]

    @property
    def failing(self) -> list[Result]:
        """The results that fail the run."""
        return self.ruled("failing")

    def marks(self, result: Result) -> list[str]:
        """The marks of a result besides its verdict: failing, known or new; and the responsible SDK."""
        ruling = self.policy.rule(result)
        marks: list[str] = [ruling] if ruling in ("failing", "known") else []
        if self._is_new(result):
            marks.append("new")
        if result.origin is not None:
            marks.append(f"from {result.origin.sdk}")
        return marks

    @property
    def new(self) -> list[Result]:
        """The failures and warnings that are not in the baseline; empty without a baseline."""
        return [result for result in self.results if self._is_new(result)]

    def _is_new(self, result: Result) -> bool:
        baseline = self.policy.baseline
        if baseline is None or result.verdict not in FINDINGS:
            return False
        return not baseline.knows(result)

    @property
    def gone(self) -> list[tuple[FindingKey, Verdict]]:
        """The failures and warnings of the baseline that this run checked and did not find."""
        baseline = self.policy.baseline
        if baseline is None:
            return []
        seen = {key_of(result): result.verdict for result in self.run.results}
        return [
            (key, verdict)
            for key, verdict in baseline.verdicts.items()
            if verdict in FINDINGS and seen.get(key) in ("pass", "note")
        ]

    @property
    def below(self) -> bool:
        """Whether the score is below the minimum of the policy."""
        score = self.score
        return bool(self.policy.fail_under) and (score is None or score < self.policy.fail_under)

    @property
    def prevented(self) -> list[CheckSummary]:
        """The checks that the server or the time of the run prevented."""
        return [checked for checked in self.checked if checked.is_prevented]

    @property
    def incomplete(self) -> str:
        """Why the run fails although no check does: a server could pass by being slow, or by refusing requests."""
        if self.policy.fail_on == "never":
            return ""
        if self.run.unjudged:
            return "not all messages were judged"
        asked = sum(checked.verdict != "skip" for checked in self.checked if checked.check.probe is not None)
        return self._prevented if len(self.prevented) > asked else ""

    @property
    def _prevented(self) -> str:
        """How many checks were prevented, and the most frequent reason; empty if none was."""
        skips = Counter(result.outcome.skip for checked in self.prevented for result in checked.results)
        why = next((f": {skip}" for skip, _ in skips.most_common() if skip in PREVENTED), "")
        return (
            f"{quantity(len(self.prevented), 'check')} could not be run{why.removesuffix(': it could not be run')}"
            if why
            else ""
        )

    @property
    def unreached(self) -> bool:
        """Whether the server could not be checked at all: no connection, or no session."""
        if not self.run.results:
            return bool(self.run.problem)
        visits = self.run.visits
        skipped = all(result.verdict == "skip" for result in self.run.results)
        return skipped and bool(visits) and all(visited.problem for visited in visits)

    @property
    def problem(self) -> str:
        """Why the server could not be checked, or not completely; empty if it could."""
        if self.run.problem or not self.unreached:
            return self.run.problem
        return next(visited.problem for visited in self.run.visits)

    @property
    def cause(self) -> list[str]:
        """Why the server could not be checked, in lines: the end of its stderr, and what to do."""
        error = self.run.error if self.unreached else None
        lines = log_lines.display_lines(error.stderr) if isinstance(error, ServerExited) else []
        return [*lines, error.hint.command_line] if error is not None and error.hint else lines

    @property
    def exit_code(self) -> int:
        """0 for a pass, 5 for a violation of the policy, otherwise the code of the problem."""
        if self.unreached:
            return self.run.problem_code
        return 5 if self.failing or self.below or self.incomplete else 0

    @property
    def breaking(self) -> list[CheckSummary]:
        """The checks whose faults break a client."""
        return [checked for checked in self.checked if checked.seen == "bad" and checked.check.check_class == "breaks"]

    @property
    def headline(self) -> str:
        """The consequence for clients, as one sentence; empty if no check could decide."""
        decided = sum(checked.verdict != "skip" for checked in self.checked)
        if not decided:
            return ""
        broken = len(self.breaking)
        rules = sum(checked.seen == "bad" and checked.check.check_class == "rule" for checked in self.checked)
        clients = f"{quantity(broken, 'fault')} that clients fail on" if broken else "No fault that a client fails on"
        kept = f"; {quantity(rules, 'rule')} broken that no known client depends on" if rules else ""
        partly = ", as far as it was checked" if self.prevented or self.run.unjudged else ""
        return f"{clients}{kept}{partly}."

    @property
    def summary(self) -> str:
        """Why the run fails or passes, as one sentence.

        Contains text of the server only in the reason of a problem.
        """
        if self.unreached:
            return f"No checks ran: {self.problem}"
        parts = []
        if self.failing:
            failing = len({result.check.id for result in self.failing})
            parts.append(f"{quantity(failing, 'check')} at --fail-on {self.policy.fail_on}")
        if self.below:
            score = "no score" if self.score is None else f"score {self.score}"
            parts.append(f"{score}, below --fail-under {self.policy.fail_under}")
        if self.incomplete:
            parts.append(self.incomplete)
        passes = "Passes" if self.results else "No selected check applies to this server"
        outcome = f"Fails: {' and '.join(parts)}" if parts else passes
        more = []
        if self.policy.baseline is not None:
            more.append(
                f"{len(self.new)} new, {len(self.ruled('known'))} known, {len(self.gone)} gone since the baseline"
            )
        if self.prevented and self._prevented != self.incomplete:
            more.append(self._prevented)
        if self.excluded:
            more.append(f"{quantity(len(self.excluded), 'check')} not counted because of the SDK")
        return f"{outcome}{'; ' if more else ''}{'; '.join(more)}."

    def as_json(self) -> dict[str, Any]:
        """The whole report as one document; it can be a baseline."""
        run = self.run
        return {
            "format": FORMAT,
            "version": VERSION,
            "tool": f"inspector/{__version__}",
            "target": run.target,
            "identity": self.identity.as_json(),
            "sdk": self.sdk or None,
            "recording": self.recording or None,
            "score": self.score,
            "exit_code": self.exit_code,
            "headline": self.headline or None,
            "summary": self.summary,
            "policy": self.policy.as_json(),
            "counts": self.counts,
            "areas": self.areas,
            "visits": [
                {
                    "revision": visited.revision,
                    "transport": visited.transport,
                    "first": visited.first,
                    "last": visited.last,
                    "problem": visited.problem or None,
                }
                for visited in run.visits
            ],
            "problem": run.problem or None,
            "deaths": run.deaths,
            "seconds": round(run.seconds, 3),
            "starts": list(self.starts),
            "failing": [_named(key_of(result), result.verdict) for result in self.failing],
            "known": [_named(key_of(result), result.verdict) for result in self.ruled("known")],
            "excluded": [_named(key_of(result), result.verdict) for result in self.ruled("excluded")],
            "new": [_named(key_of(result), result.verdict) for result in self.new],
            "gone": [_named(key, verdict) for key, verdict in self.gone],
            "results": [{**result.as_json(), "ruling": self.policy.rule(result)} for result in self.results],
        }


def report_of(
    run: Run,
    journal: Journal,
    policy: Policy = DEFAULT,
    command: Sequence[str] = (),
) -> Report:
    """The report of a run whose recording is `journal`, with the server and the findings of its SDK.

    `command` starts the server if the recording does not contain it. Raises `UsageError` if the baseline of the policy
    is of another server.
    """
    server = recognised(journal)
    run = replace(run, results=policy.applied(attributed(run.results, server)))
    transports = {visited.transport for visited in run.visits}
    kind = "" if not transports else "stdio" if transports == {"stdio"} else "http"
    identity = Identity(server.server, server.version, kind)
    sources = Sources.of(journal, run.results, command)
    return Report(run, str(journal.path or ""), policy, identity, server.sdk, sources, starts_of(journal))


def starts_of(journal: Journal) -> tuple[str, ...]:
    """For each start of a server's process in a recording of a run, its purpose."""
    index = journal.index
    purposes: dict[int, str] = {}  # By connection.
    starts: list[str] = []
    for n in Query(kind=Kind.LIFE).forwards(index):
        fields = journal.event(n).fields
        why = fields.get("why")
        if fields.get("event") == "reopen":
            purposes[index.conn(n)] = why if isinstance(why, str) else ""
        elif fields.get("event") == "spawn":
            starts.append(why if isinstance(why, str) else purposes.get(index.conn(n), ""))
    return tuple(why or "session again" for why in starts) if any(starts) else ()


def origin_of(checked: CheckSummary) -> str:
    """The SDK that is responsible for all findings of a check; empty if the author of the server is."""
    origins = {result.origin.sdk if result.origin is not None else "" for result in checked.telling}
    return origins.pop() if len(origins) == 1 else ""


def _by_check(results: Sequence[Result]) -> list[CheckSummary]:
    by_id: dict[str, list[Result]] = {}
    for result in results:
        by_id.setdefault(result.check.id, []).append(result)
    checked = [CheckSummary(group[0].check, tuple(group)) for group in by_id.values()]
    return sorted(checked, key=lambda one: (VERDICTS.index(one.verdict), -one.weight, one.check.id))


def _named(key: FindingKey, verdict: Verdict) -> dict[str, str]:
    return {"id": key[0], "revision": key[1], "transport": key[2], "verdict": verdict}
