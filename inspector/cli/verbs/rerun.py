"""`inspector rerun`: sends a recorded session to a live server; `inspector bisect`: the same for `git bisect run`."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from typing import TYPE_CHECKING

from inspector.cli.comparison_options import RULES, difference_line, rules_of
from inspector.cli.options import QUIET, REPORTS, Option, Value, pace, recording
from inspector.cli.output import Output
from inspector.cli.output_files import check_outputs, new_recording, write_reports
from inspector.cli.session_setup import live_target
from inspector.cli.verb import PositionalArgument, Verb
from inspector.errors import InspectorError, UsageError
from inspector.junit import Case, Suite, junit_xml

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from inspector.cli.verb import Invocation
    from inspector.config.targets import HttpTarget, StdioTarget
    from inspector.replay.report import RerunOutcome, RerunReport

GOOD, BAD, SKIP = 0, 1, 125
"""Exit codes for `git bisect run`: the commit is good, bad, or cannot be tested."""


def run(invocation: Invocation) -> int:
    """Run the recording against the target and report; returns 5 if the server behaves differently."""
    out = invocation.output
    source = recording(invocation.arguments["file"])
    to_stdout = check_outputs(invocation, "junit", "markdown")
    target = live_target(invocation)
    report, journal = _rerun(invocation, out, source, target, again=bool(invocation.option("update")))
    title = f"{source.name} against {target.label}"
    makers = {"junit": _as_junit, "markdown": _as_markdown}
    write_reports(invocation, out, makers, lambda name: makers[name](out, report, title))
    if out.json:
        code = 0 if report.error is None and invocation.option("update") else report.exit_code
        out.document(report.as_json() | {"exit_code": code, "recording": str(journal or "") or None})
    else:
        for note in report.notes:
            out.note(f"note: {out.safe(note)}")
        if not to_stdout:
            out.lines(_text(out, report))
    if report.error is not None:
        report.error.recording = str(journal or "")
        out.error(report.error, recording=True)
        return report.error.exit_code
    if invocation.option("update"):
        _replace(source)
        out.note(f"The new recording replaced {out.safe(str(source))}.")
        return 0
    return report.exit_code


def run_bisect(invocation: Invocation) -> int:
    """Run the recording against the target: 0 good, 1 bad, 125 if it could not run."""
    out = invocation.output
    try:
        report, _ = _rerun(invocation, out, recording(invocation.arguments["file"]), live_target(invocation))
    except UsageError:
        raise
    except InspectorError as error:
        out.error(error)
        return SKIP
    answered = any(outcome.live and outcome.verdict in ("same", "different") for outcome in report.outcomes)
    if report.error is not None and not answered:
        out.error(report.error)
        return SKIP
    if report.clean:
        out.line("good: the server behaves as recorded")
        return GOOD
    out.line("bad: the server behaves differently")
    first = report.first
    if first is not None:
        out.lines(_lines_of(out, first))
    return BAD


def _rerun(
    invocation: Invocation, out: Output, source: Path, target: StdioTarget | HttpTarget, *, again: bool = False
) -> tuple[RerunReport, Path | None]:
    """The report, and the path of the new recording. With `again` it is next to the old one."""
    from inspector.cli import session_setup
    from inspector.cli.open_recording import tell_notices, whole_journal
    from inspector.replay.script import check_source

    settings = session_setup.settings_of(invocation)
    options = session_setup.options_of(invocation, target, settings, in_interface=False)
    rules = rules_of(invocation)
    with whole_journal(source) as recording:
        tell_notices(out, recording)
        check_source(recording, source)
        if again:
            _beside(source).unlink(missing_ok=True)
        record = _beside(source) if again else new_recording(invocation, source=source)
        journal = session_setup.new_journal(invocation, target, settings, record)

        async def work() -> RerunReport:
            from inspector.cli.signals import until_interrupted
            from inspector.replay.rerun import Rerun

            carry, pace = invocation.option("carry", ()), invocation.option("pace")
            rerun = Rerun(recording, target, journal, rules, options, carry=carry, pace=pace)
            return await until_interrupted(rerun.run(), rerun.kill_now)

        try:
            return asyncio.run(work()), journal.path
        finally:
            session_setup.end_recording(out, journal)


def _beside(source: Path) -> Path:
    return source.with_name(f".{source.name}.rerun")


def _replace(source: Path) -> None:
    try:
        os.replace(_beside(source), source)
    except OSError as error:
        raise UsageError(f"{source} cannot be replaced: {error.strerror or error}.") from None


MAX_DIFFERENCES = 20
"""Differences listed for one exchange; the JSON report has all."""
_WORDS = {
    "same": "as recorded",
    "different": "differs",
    "no answer": "no answer",
    "not sent": "was not sent",
    "not recorded": "is new",
    "not asked": "was not requested",
}


def _summary(report: RerunReport) -> str:
    """The number of exchanges of each verdict, in one line."""
    counts = Counter(outcome.verdict for outcome in report.outcomes)
    named = ", ".join(f"{count:,} {verdict}" for verdict, count in sorted(counts.items(), key=lambda item: -item[1]))
    return named or "no requests"


def _what(out: Output, outcome: RerunOutcome) -> str:
    """The exchange in a few safe words."""
    name = f" {out.safe(outcome.name, 80)}" if outcome.name else ""
    return f"{out.safe(outcome.method, 80)}{name}"


def _place(outcome: RerunOutcome) -> str:
    """Its position in both recordings."""
    then = f"message {outcome.recorded}" if outcome.recorded else "nothing then"
    return f"{then}, {f'message {outcome.live}' if outcome.live else 'nothing'} now"


def _lines_of(out: Output, outcome: RerunOutcome) -> Iterator[str]:
    """An exchange that differs, with its differences."""
    asked = " (request of the server)" if outcome.question else ""
    yield f"✗ {_what(out, outcome)}{asked}: {_WORDS[outcome.verdict]}  ({_place(outcome)})"
    if outcome.note:
        yield f"    {out.safe(outcome.note, 500)}"
    for difference in outcome.differences[:MAX_DIFFERENCES]:
        yield f"    {difference_line(out, difference)}"
    if len(outcome.differences) > MAX_DIFFERENCES:
        yield f"    and {len(outcome.differences) - MAX_DIFFERENCES:,} more; --json lists all"


def _text(out: Output, report: RerunReport) -> Iterator[str]:
    """The first exchange that differs, then all of them, then the counts."""
    first = report.first
    differing = [outcome for outcome in report.outcomes if outcome.differs]
    if first is not None and len(differing) > 1:
        yield f"First difference: {_place(first)}, {_what(out, first)}"
        yield ""
    for outcome in differing:
        yield from _lines_of(out, outcome)
    if differing:
        yield ""
    yield f"{_summary(report)}"


def _as_junit(out: Output, report: RerunReport, suite: str) -> str:
    """For CI: one test case for each exchange."""
    cases = [
        Case(
            f"{outcome.recorded or 'new'} {outcome.method} {outcome.name}".rstrip(),
            outcome.method,
            _WORDS[outcome.verdict] if outcome.differs else "",
            seconds=outcome.seconds,
            details="\n".join(_lines_of(out, outcome)) if outcome.differs else "",
        )
        for outcome in report.outcomes
    ]
    if report.error is not None:
        cases.append(Case("connection", "connection", report.error.message, details=report.error.hint.command_line))
    return junit_xml([Suite(suite, cases)])


def _as_markdown(out: Output, report: RerunReport, title: str) -> str:
    """For a pull request or a bug report."""
    from inspector.markup import fence, span

    lines = [f"# Rerun: {span(title)}", "", f"{_summary(report)}.", ""]
    if report.error is not None:
        lines += ["It ended early:", "", fence(report.error.message)]
    for outcome in report.outcomes:
        if outcome.differs:
            lines += [f"## {_WORDS[outcome.verdict].capitalize()}: {_place(outcome)}", ""]
            lines.append(fence("\n".join(_lines_of(out, outcome))))
    return "\n".join(lines)


CARRY = Option(
    "--carry", "Replace recorded values of this key with those of the live server; repeatable", "KEY", many=True
)
PACE = Option("--pace", "Pauses between messages: fast (none), recorded, or a factor", Value("PACE", pace))

RERUN = Verb(
    "rerun",
    run,
    slots=(PositionalArgument("file", completes="recording"),),
    options=(
        *RULES,
        CARRY,
        PACE,
        REPORTS["junit"],
        REPORTS["markdown"],
        Option("--update", "Replace FILE with the new recording"),
    ),
)

BISECT = Verb(
    "bisect",
    run_bisect,
    slots=(PositionalArgument("file", completes="recording"),),
    options=(*RULES, CARRY, PACE, QUIET),
    prints=False,
)
