"""`inspector.check`: the checks of `inspector check`, as a report for programs and as text."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from inspector.check.check_table import CheckLevel
from inspector.check.registry import unknown
from inspector.check.reports.policy import FAILING, PROFILES, FailOn, Policy, Profile, baseline_of, read_baseline
from inspector.check.reports.summary import Report, report_of
from inspector.check.result import Result, Verdict
from inspector.check.run import Runner, of_recording
from inspector.check.selection import CheckSelection
from inspector.check.visit.limits import RunLimits
from inspector.check.visit.visit import Allowed
from inspector.config.targets import RecordingTarget
from inspector.errors import UsageError
from inspector.journal.format import Dir
from inspector.journal.journal import Journal, whole_journal
from inspector.library.opening import open as opened
from inspector.library.session import Session, parts, recorded, running
from inspector.protocol.revisions import REVISIONS
from inspector.text import quantity, repr_of, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.hosts import Fact
    from inspector.library.apps import InProcess

_HOSTS = "hosts"
"""The group of the checks of hosts' limits."""
_EVIDENCE = 3
"""Messages that are shown of one finding."""
_SHOWN = 20
"""Findings that are shown."""
_WIDTH = 300
"""Characters of a text in a finding."""


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of a check."""

    report: Report
    """The full report, as in the command line and the interface."""
    faults: str
    """The findings that fail the check (see `fail_on`), as text of several lines; empty without any."""
    limits: str = ""
    """The limits of the chosen hosts that the server exceeds, as text; they fail no check. Empty without any."""

    def __repr__(self) -> str:
        return repr_of(self, self.report.run.target, self.report.summary)

    @property
    def ok(self) -> bool:
        """Whether the check passes."""
        return not self.faults

    @property
    def score(self) -> int | None:
        """From 0 to 100; None if nothing could be checked."""
        return self.report.score

    @property
    def counts(self) -> dict[Verdict, int]:
        """Checks by verdict: `fail`, `warn`, `note`, `skip`, `pass`."""
        return self.report.counts

    @property
    def results(self) -> tuple[Result, ...]:
        """Each check in each revision, worst first: `verdict`, `check`, `visited`, `outcome`, `as_json()`."""
        return tuple(self.report.results)

    @property
    def problem(self) -> str:
        """Why nothing, or not all, could be checked; otherwise empty."""
        return self.report.run.problem

    def as_json(self) -> dict[str, Any]:
        """Return the document of `inspector check --json`; it can be the baseline of another check."""
        return self.report.as_json()


async def check(
    target: str | Sequence[str] | InProcess | Session,
    *,
    only: str | Iterable[str] = (),
    skip: str | Iterable[str] = (),
    level: str | Iterable[str] = (),
    revisions: str | Iterable[str] = (),
    allow_calls: str | Iterable[str] = (),
    auth: bool = False,
    intrusive: bool = False,
    read_skills: bool = False,
    hosts: str | Iterable[str] = (),
    fail_on: FailOn = "fail",
    fail_under: int = 0,
    profile: Profile = "full",
    strict: bool = False,
    baseline: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    max_time: float = RunLimits().run,
    record: str | os.PathLike[str] | bool = False,
    **options: Any,
) -> CheckReport:
    """Check a server, or the messages in a recording.

    `only`, `skip`: ids and groups; `level`: levels of checks; `allow_calls`: `"read-only"`, `"all"`, or names of tools;
    `hosts`: names of hosts, or `"all"`, whose limits are checked as notes; `fail_under`: the lowest score that passes;
    `profile`: `"app"` ignores what the server's SDK does; `strict`: broken rules of the specification fail, and advice
    warns; `baseline`: a JSON report of this server, or its file:
    findings in it are ignored; `max_time`: seconds; the other options are those of `inspector.open`. An unreachable
    server is a fault. Raises `UsageError`, `TargetError` or `ConfigError` for invalid arguments.
    """
    if fail_on not in FAILING:
        raise UsageError(f"Invalid fail_on={fail_on!r:.40}: use one of {', '.join(FAILING)}.")
    if profile not in PROFILES:
        raise UsageError(f"Invalid profile={profile!r:.40}: use one of {', '.join(PROFILES)}.")
    selection = CheckSelection(
        revisions=_revisions(revisions),
        only=_checks("only", only),
        without=_checks("skip", skip),
        levels=_levels(level),
        limits=RunLimits(run=max_time),
        allowed=Allowed(
            calls=allow_calls if allow_calls in ("read-only", "all") else _words(allow_calls),
            auth=auth,
            intrusive=intrusive,
            more={"skills": read_skills},
        ),
        hosts=_hosts(hosts),
    )
    if _HOSTS in selection.only and not selection.hosts:
        raise UsageError("The group hosts needs hosts=….", hint='Name hosts, or use hosts="all".')
    known = None
    if baseline is not None:
        known = baseline_of(dict(baseline)) if isinstance(baseline, Mapping) else read_baseline(Path(baseline))
    policy = Policy(fail_on, fail_under, profile, known, strict)
    meant, how = parts(target if isinstance(target, Session) else opened(target, **options))
    if isinstance(meant, RecordingTarget):
        with whole_journal(meant.path) as journal:
            run = of_recording(journal, meant.path.name, selection)
            return _reported(report_of(run, journal, policy), journal)
    with recorded(meant, record, "check") as journal:
        async with running(meant):
            run = await Runner(meant, journal, how, selection).go()
        return _reported(report_of(run, journal, policy), journal)


def _words(names: str | Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _checks(option: str, names: str | Iterable[str]) -> frozenset[str]:
    chosen = frozenset(_words(names))
    for name in unknown(chosen):
        raise UsageError(
            f"{option}: unknown check or group “{name:.40}”.", hint="docs/reference/checks.md lists them all."
        )
    return chosen


def _hosts(names: str | Iterable[str]) -> tuple[Fact, ...]:
    chosen = _words(names)
    if not chosen:
        return ()
    from inspector.hosts import host_facts

    return host_facts().choose(chosen)


def _revisions(names: str | Iterable[str]) -> tuple[str, ...]:
    chosen = _words(names)
    for name in chosen:
        if name not in REVISIONS:
            raise UsageError(f"Unknown revision “{name:.40}”.", hint=f"Use one of {', '.join(REVISIONS)}.")
    return chosen or REVISIONS


def _levels(names: str | Iterable[str]) -> frozenset[str]:
    chosen = frozenset(_words(names))
    for name in sorted(chosen - set(get_args(CheckLevel))):
        raise UsageError(f"level: unknown level “{name:.40}”.", hint=f"Use one of {', '.join(get_args(CheckLevel))}.")
    return chosen


def _reported(report: Report, journal: Journal) -> CheckReport:
    notes = [result for result in report.results if result.check.group == _HOSTS and result.verdict == "note"]
    limits = [line for result in notes for line in _finding_lines(result, journal)]
    return CheckReport(report, "\n".join(_faults(report, journal)), "\n".join(limits))


def _faults(report: Report, journal: Journal) -> Iterator[str]:
    run = report.run
    faults = report.failing
    nothing = not any(result.verdict != "skip" for result in run.results)
    if report.policy.fail_on == "never" and not report.below:
        return
    if not (faults or nothing or run.problem or report.below):
        return
    if nothing or run.problem:
        reason = report.problem or "none of the selected checks applied"
        yield f"{safe(run.target)} could not be checked: {safe(reason, _WIDTH)}"
        yield from getattr(run.error, "__notes__", ())
    if faults:
        score = "" if report.score is None else f" (score {report.score} of 100)"
        yield f"{safe(run.target)}: {quantity(len(faults), 'finding')}{score}"
    if report.below:
        yield f"{safe(run.target)}: {report.summary}"
    for result in faults[:_SHOWN]:
        yield from _finding_lines(result, journal)
    if len(faults) > _SHOWN:
        yield f"and {len(faults) - _SHOWN} more"
    yield from (f"During {safe(died, _WIDTH)}" for died in run.deaths)


def _finding_lines(result: Result, journal: Journal) -> Iterator[str]:
    """Yield one finding: the observation, its messages, the rule and the fix."""
    check = result.check
    yield f"{result.verdict} {check.id} ({result.visited.name}): {check.says}"
    yield f"    {safe(result.outcome.text, _WIDTH)}"
    for n in result.outcome.evidence[:_EVIDENCE]:
        if 1 <= n <= len(journal):
            event = journal.event(n)
            sign = {Dir.SEND: "→", Dir.RECV: "←"}.get(event.dir, "·")
            yield f"    {n:>5} {sign} {safe(event.text, _WIDTH)}"
    yield f"    {check.fix} [{result.class_name}, {check.level}, {check.page}]"
