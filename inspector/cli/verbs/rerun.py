"""`inspector rerun`: sends a recorded session to a live server; `inspector bisect`: the same for `git bisect run`."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from inspector.cli.comparison_options import RULES, rules_of
from inspector.cli.options import QUIET, REPORTS, Option, Value, pace, recording
from inspector.cli.output import Output
from inspector.cli.output_files import check_outputs, new_recording, write_reports
from inspector.cli.session_setup import live_target
from inspector.cli.verb import PositionalArgument, Verb
from inspector.errors import InspectorError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.cli.verb import Invocation
    from inspector.config.targets import HttpTarget, StdioTarget
    from inspector.replay.report import RerunReport

GOOD, BAD, SKIP = 0, 1, 125
"""Exit codes for `git bisect run`: the commit is good, bad, or cannot be tested."""


def run(invocation: Invocation) -> int:
    """Run the recording against the target and report; returns 5 if the server behaves differently."""
    from inspector.cli import rerun_report

    out = Output.of(invocation)
    source = recording(invocation.arguments["file"])
    to_stdout = check_outputs(invocation, "junit", "markdown")
    target = live_target(invocation)
    report, journal = _rerun(invocation, out, source, target, again=bool(invocation.option("update")))
    if report is None:
        return 130
    title = f"{source.name} against {target.label}"
    makers = {"junit": rerun_report.as_junit, "markdown": rerun_report.as_markdown}
    write_reports(invocation, out, makers, lambda name: makers[name](out, report, title))
    if out.json:
        code = 0 if report.error is None and invocation.option("update") else report.exit_code
        out.document(report.as_json() | {"exit_code": code, "recording": str(journal or "") or None})
    else:
        for note in report.notes:
            out.note(f"note: {out.safe(note)}")
        if not to_stdout:
            out.lines(rerun_report.text(out, report))
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
    from inspector.cli.rerun_report import lines_of

    out = Output.of(invocation)
    try:
        report, _ = _rerun(invocation, out, recording(invocation.arguments["file"]), live_target(invocation))
    except UsageError:
        raise
    except InspectorError as error:
        out.error(error)
        return SKIP
    if report is None:
        return 128 + 2  # `git bisect run` stops at codes above 127.
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
        out.lines(lines_of(out, first))
    return BAD


def _rerun(
    invocation: Invocation, out: Output, source: Path, target: StdioTarget | HttpTarget, *, again: bool = False
) -> tuple[RerunReport | None, Path | None]:
    """The report (None: interrupted), and the path of the new recording. With `again` it is next to the old one."""
    from inspector.cli import session_setup
    from inspector.cli.open_recording import tell_notices, whole_journal
    from inspector.replay.script import check_source

    settings = session_setup.settings_of(invocation)
    options = session_setup.options_of(invocation, target, settings, asking=False)
    rules = rules_of(invocation)
    with whole_journal(source) as recording:
        tell_notices(out, recording)
        check_source(recording, source)
        if again:
            _beside(source).unlink(missing_ok=True)
        record = _beside(source) if again else new_recording(invocation, source=source)
        journal = session_setup.new_journal(invocation, target, settings, record)

        async def work() -> RerunReport | None:
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
