"""Checks of a server in a test: what `inspector check` does, as a report and as text for whoever reads the failure."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from inspector.check.catalog import unknown
from inspector.check.outcome import Result
from inspector.check.report import FAILING, Report, baseline_of
from inspector.check.run import Runner, Wanted, of_recording
from inspector.check.visit import Allowed, Limits
from inspector.client.recording import new_journal
from inspector.config.files import load_object
from inspector.config.settings import Settings
from inspector.config.targets import RecordingTarget
from inspector.errors import UsageError
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.library.opening import open as opened
from inspector.library.session import parts
from inspector.protocol.revisions import REVISIONS
from inspector.text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

FailOn = Literal["fail", "warn", "skip", "never"]
_EVIDENCE = 3
_SHOWN = 20
_WIDTH = 300


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a check."""

    report: Report
    faults: str
    """What is wrong with the server, as text of several lines; empty where it is right."""


async def checked(
    target: str | Sequence[str],
    *,
    only: str | Iterable[str] = (),
    skip: str | Iterable[str] = (),
    revisions: str | Iterable[str] = (),
    allow_calls: str | Iterable[str] = (),
    auth: bool = False,
    intrusive: bool = False,
    fail_on: FailOn = "fail",
    baseline: str | os.PathLike[str] | None = None,
    max_time: float = Limits().run,
    record: str | os.PathLike[str] | bool = False,
    **options: Any,
) -> Verdict:
    """Check a server, or what passed in a recording.

    `only`, `skip`: ids and groups; `allow_calls`: `"read-only"`, `"all"`, or names of tools; `baseline`: a JSON report,
    what is in it is no fault; `max_time`: seconds; the other options are those of `inspector.open`. Raises
    `UsageError`, `TargetError` or `ConfigError` for what is asked wrongly; that a server cannot be reached is a fault.
    """
    if fail_on not in FAILING:
        raise UsageError(f"fail_on={fail_on!r:.40} is none of {', '.join(FAILING)}.")
    wanted = Wanted(
        revisions=_revisions(revisions),
        only=_checks("only", only),
        without=_checks("skip", skip),
        limits=Limits(run=max_time),
        allowed=Allowed(
            calls=allow_calls if allow_calls in ("read-only", "all") else _words(allow_calls),
            auth=auth,
            intrusive=intrusive,
        ),
    )
    known = frozenset[tuple[str, str, str]]() if baseline is None else baseline_of(load_object(Path(baseline)))
    meant, how = parts(opened(target, **options))
    if isinstance(meant, RecordingTarget):
        journal = Journal.open(meant.path)
        try:
            while journal.refresh():
                pass
            run = of_recording(journal, meant.path.name, wanted)
            return _verdict(Report(run, str(meant.path), known), journal, fail_on)
        finally:
            journal.release()
    journal = new_journal(
        meant, settings=Settings(), record=None if isinstance(record, bool) else Path(record), keep=record is True
    )
    try:
        run = await Runner(meant, journal, how, wanted).go()
        return _verdict(Report(run, str(journal.path or ""), known), journal, fail_on)
    finally:
        journal.close("closed")
        journal.release()


def _words(names: str | Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _checks(option: str, names: str | Iterable[str]) -> frozenset[str]:
    chosen = frozenset(_words(names))
    for name in unknown(chosen):
        raise UsageError(f"{option}: there is no check or group “{name:.40}”.", hint="docs/check.md lists them all.")
    return chosen


def _revisions(names: str | Iterable[str]) -> tuple[str, ...]:
    chosen = _words(names)
    for name in chosen:
        if name not in REVISIONS:
            raise UsageError(f"There is no revision “{name:.40}”.", hint=f"There are {', '.join(REVISIONS)}.")
    return chosen or REVISIONS


def _verdict(report: Report, journal: Journal, fail_on: FailOn) -> Verdict:
    return Verdict(report, "\n".join(_faults(report, journal, fail_on)))


def _faults(report: Report, journal: Journal, fail_on: FailOn) -> Iterator[str]:
    run = report.run
    faults = report.new(FAILING[fail_on])
    nothing = not any(result.verdict != "skip" for result in run.results)
    if fail_on == "never" or not (faults or nothing or run.problem):
        return
    if nothing or run.problem:
        why = run.problem or "no check that was wanted had anything to look at"
        yield f"{safe(run.target)} could not be checked: {safe(why, _WIDTH)}"
    if faults:
        score = "" if report.score is None else f" (score {report.score} of 100)"
        yield f"{safe(run.target)}: {len(faults)} findings{score}"
    for result in faults[:_SHOWN]:
        yield from _told(result, journal)
    if len(faults) > _SHOWN:
        yield f"and {len(faults) - _SHOWN} more"
    yield from (f"The server ended and was started again: {safe(died, _WIDTH)}" for died in run.deaths)


def _told(result: Result, journal: Journal) -> Iterator[str]:
    """One finding: what was seen, the messages that show it, the rule and the remedy."""
    check = result.check
    yield f"{result.verdict} {check.id} ({result.visited.name}): {check.says}"
    yield f"    {safe(result.outcome.text, _WIDTH)}"
    for n in result.outcome.evidence[:_EVIDENCE]:
        if 1 <= n <= len(journal):
            event = journal.event(n)
            sign = {Dir.SEND: "→", Dir.RECV: "←"}.get(event.dir, "·")
            yield f"    {n:>5} {sign} {safe(event.text, _WIDTH)}"
    yield f"    {check.fix} [{check.level}, {check.page}]"
