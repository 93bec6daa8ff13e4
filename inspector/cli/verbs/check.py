"""`inspector check`: what a server does against the specification, with evidence."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING, Any

from inspector.cli import setup
from inspector.cli.files import check_outputs, forced, is_stdout, new_recording, write_text
from inspector.cli.options import Option, output, path, seconds, secret
from inspector.cli.output import Output
from inspector.cli.verb import Verb
from inspector.config.targets import RecordingTarget
from inspector.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.check.catalog import Check
    from inspector.check.outcome import Result, Visited
    from inspector.check.report import Report
    from inspector.check.run import Run, Wanted
    from inspector.cli.words import Invocation
    from inspector.config.servers import ServerEntry
    from inspector.config.targets import HttpTarget, StdioTarget
    from inspector.errors import InspectorError

ALL = "@all"
"""The word for every server of the config files."""
REPORTS = ("junit", "sarif", "markdown", "html", "badge")
_MEANINGLESS = ("root", "sampling", "elicit", "log-level", "era", "protocol", "timeout")
"""Options of a session: here each revision is checked by itself, and questions are declined."""


def run(said: Invocation) -> int:
    """Check the target and report; 5 where it does not do what `--fail-on` wants."""
    out = Output.of(said)
    to_stdout = check_outputs(said, *REPORTS)
    wanted = _wanted(said)
    if said.target_words == [ALL] and not said.command:
        return _all(said, out, wanted)
    if said.option("plan"):
        return _plan(said, out, wanted)
    target = setup.target_of(said)
    baseline = _baseline(said)
    if isinstance(target, RecordingTarget):
        report = _of_recording(target.path, out, wanted)
    else:
        found = _of_server(said, out, target, wanted)
        if found is None:
            return 130
        report = found
    report.known = baseline
    _write(said, out, report)
    if out.json:
        out.document(report.as_json())
    else:
        from inspector.cli.check_report import text

        if not to_stdout:
            out.lines(text(out, report, verbose=bool(said.option("verbose"))))
        if report.recording:
            out.note(f"recording: {out.safe(report.recording)}")
    if report.run.problem and not report.checked:
        if isinstance(target, RecordingTarget):
            raise UsageError(report.run.problem)
        problem = _not_reached(report.run)
        problem.recording = report.recording
        raise problem
    from inspector.check.report import FAILING

    return 5 if report.new(FAILING[said.option("fail-on", "fail")]) else 0


def _all(said: Invocation, out: Output, wanted: Wanted) -> int:
    """Check every enabled server of the config files, or of the one that was named."""
    from inspector.check.report import FAILING, Report
    from inspector.check.run import Runner
    from inspector.cli import check_many
    from inspector.cli.signals import Signals
    from inspector.client.recording import new_journal
    from inspector.config.servers import resolve

    for option in ("plan", "record", "baseline", *REPORTS):
        if said.option(option) is not None:
            raise UsageError(f"--{option} is about one server.", hint="Name one instead of @all, or take --json.")
    found = check_many.entries(said.option("config"))
    settings = setup.settings_of(said)

    async def check(entry: ServerEntry) -> Report:
        target = resolve(entry)
        options = setup.options_of(said, target, settings, asking=False)
        keep = settings.record and not said.option("no-record")
        journal = new_journal(target, keep=keep, settings=settings)
        try:
            run = await Runner(target, journal, options, wanted).go()
        finally:
            journal.close("closed")
            journal.release()
        out.note(f"checked: {out.safe(entry.reference, 100)}")
        return Report(run, str(journal.path or ""))

    async def work() -> list[check_many.Checked] | None:
        signals = Signals()
        try:
            return await check_many.check_all(found, check)
        except asyncio.CancelledError:
            if not signals.caught:
                raise
            return None
        finally:
            signals.remove()

    checked = asyncio.run(work())
    if checked is None:
        return 130
    if out.json:
        out.document(check_many.as_json(checked))
    else:
        check_many.tables(out, checked)
    return check_many.exit_code(checked, FAILING[said.option("fail-on", "fail")])


def _not_reached(run: Run) -> InspectorError:
    from inspector.errors import AuthorizationNeeded, ConnectionProblem

    if run.problem.startswith("nobody is logged in"):
        return AuthorizationNeeded(
            f"Nothing could be checked: {run.problem}",
            hint="Log in with `inspector login URL`; --auth looks at how the server authorizes without that.",
        )
    return ConnectionProblem(
        f"Nothing could be checked: {run.problem}", hint="`inspector doctor TARGET` finds out why it does not connect."
    )


def _wanted(said: Invocation) -> Wanted:
    from inspector.check.catalog import unknown
    from inspector.check.run import Wanted
    from inspector.check.visit import Allowed, Limits
    from inspector.protocol.revisions import REVISIONS

    chosen = {option: frozenset(_names(said.option(option, ()))) for option in ("only", "skip")}
    for option, given in chosen.items():
        for name in unknown(given):
            raise UsageError(f"--{option}: there is no check or group “{name[:40]}”.", hint="--plan lists them all.")
    revisions = tuple(_names(said.option("revision", ())))
    for name in revisions:
        if name not in REVISIONS:
            raise UsageError(f"There is no revision “{name[:40]}”.", hint=f"There are {', '.join(REVISIONS)}.")
    calls = _names(said.option("allow-calls", ()))
    return Wanted(
        revisions=revisions or REVISIONS,
        only=chosen["only"],
        without=chosen["skip"],
        limits=Limits(run=said.option("max-time", Limits().run)),
        allowed=Allowed(
            calls=calls[0] if calls in (["read-only"], ["all"]) else tuple(calls),
            auth=bool(said.option("auth")),
            intrusive=bool(said.option("intrusive")),
            foreign_token=said.option("foreign-token-env", ""),
        ),
    )


def _names(words: Any) -> list[str]:
    return [name.strip() for word in words for name in word.split(",") if name.strip()]


def _plan(said: Invocation, out: Output, wanted: Wanted) -> int:
    from inspector.check.run import planned
    from inspector.cli.check_report import plan

    target = setup.target_of(said)
    kind = target.kind if not isinstance(target, RecordingTarget) else "recording"
    rows = planned(wanted, ("stdio",) if kind == "stdio" else ("http", "sse"), wanted.revisions)
    if kind == "recording":
        rows = [
            (check, why or ("" if check.mode == "passive" else "a recording cannot be asked")) for check, why in rows
        ]
    if out.json:
        out.document([{"id": check.id, "mode": check.mode, "left_out": why or None} for check, why in rows])
    else:
        out.lines(plan(rows))
    return 0


def _of_recording(file: Path, out: Output, wanted: Wanted) -> Report:
    from inspector.check.report import Report
    from inspector.check.run import of_recording
    from inspector.cli.recorded import tell_notices, whole_journal

    with whole_journal(file) as journal:
        tell_notices(out, journal)
        return Report(of_recording(journal, file.name, wanted), str(file))


def _of_server(said: Invocation, out: Output, target: StdioTarget | HttpTarget, wanted: Wanted) -> Report | None:
    """The report; None where it was interrupted."""
    from inspector.check.report import Report
    from inspector.check.run import Runner
    from inspector.cli.signals import Signals
    from inspector.client.recording import new_journal

    settings = setup.settings_of(said)
    options = setup.options_of(said, target, settings, asking=False)
    journal = new_journal(
        target,
        record=new_recording(said),
        keep=settings.record and not said.option("no-record"),
        settings=settings,
    )
    bar = _Progress(out)

    async def work() -> Run | None:
        runner = Runner(target, journal, options, wanted, told=bar.told, began=bar.began)
        signals = Signals()
        try:
            return await runner.go()
        except asyncio.CancelledError:
            if not signals.caught:
                raise
            return None
        finally:
            signals.remove()

    try:
        found = asyncio.run(work())
    finally:
        bar.end()
        journal.close("closed")
        journal.release()
    return None if found is None else Report(found, str(journal.path or ""))


class _Progress:
    """One line on a terminal's stderr that says what is looked at now."""

    def __init__(self, out: Output) -> None:
        self._on = not out.quiet and bool(sys.stderr and sys.stderr.isatty())
        self._out = out
        self._done = 0
        self._told = 0.0

    def told(self, _result: Result) -> None:
        self._done += 1

    def began(self, visited: Visited, check: Check) -> None:
        now = time.monotonic()
        if self._on and now - self._told > 0.1:
            self._told = now
            self._out.aside(f"\r\x1b[K{self._done} done, {visited.name}: {check.id}")

    def end(self) -> None:
        if self._on and self._told:
            self._out.aside("\r\x1b[K")


def _baseline(said: Invocation) -> frozenset[tuple[str, str, str]]:
    file = said.option("baseline")
    if file is None:
        return frozenset()
    from inspector.check.report import baseline_of
    from inspector.config.files import load_object

    return baseline_of(load_object(file))


def _write(said: Invocation, out: Output, report: Report) -> None:
    """Write the reports that were asked for to their files."""
    for name in REPORTS:
        file = said.option(name)
        if file is not None:
            from inspector.check.reports import document

            write_text(file, document(report, "md" if name == "markdown" else name), out, force=forced(said))
            if not is_stdout(file):
                out.note(f"written: {out.safe(str(file))}")


def _report_option(name: str, what: str) -> Option:
    return Option(f"--{name}", f"Write {what} to this file; - is stdout.", "FILE", read=output, completes="file")


def _verb() -> Verb:
    verb = Verb(
        "check",
        run,
        options=(
            Option("--plan", "Say what would be done, and do nothing."),
            Option("--only", "Only these checks or groups.", "NAME,…", many=True),
            Option("--skip", "All but these checks or groups.", "NAME,…", many=True),
            Option("--revision", "Only these revisions of the protocol.", "REVISION,…", many=True),
            Option("--allow-calls", "Call these tools: read-only, all, or names.", "read-only|all|NAME,…", many=True),
            Option("--auth", "Check how it authorizes, too."),
            Option(
                "--foreign-token-env",
                "A token for another server, which this one must refuse.",
                "NAME|@FILE",
                read=secret,
            ),
            Option("--intrusive", "Do also what may do damage or take long."),
            Option("--fail-on", "What ends with exit code 5.", choices=("fail", "warn", "skip", "never")),
            Option(
                "--baseline", "A JSON report: only what is new since then counts.", "FILE", read=path, completes="file"
            ),
            Option("--max-time", "Seconds for all of it.", "SECONDS", read=seconds),
            Option("-v --verbose", "Name what passed and what was skipped, too."),
            _report_option("junit", "a JUnit report"),
            _report_option("sarif", "a SARIF report"),
            _report_option("markdown", "a report in Markdown"),
            _report_option("html", "a web page"),
            _report_option("badge", "an SVG badge with the score"),
        ),
        about=(
            "Looks at every revision that the server speaks, on connections of their own, with harmless requests; "
            "tools are called only with --allow-calls. @all checks every server of the config files. "
            "A recording is looked at for what passed by. Each fault names "
            "its evidence in the recording of the run, the rule and the remedy. Ends with 5 where there are faults."
        ),
        examples=(
            "inspector check -- python server.py",
            "inspector check https://host.example/mcp --allow-calls read-only --html report.html",
            "inspector check session.mcp.jsonl",
            "inspector check @shop --junit check.xml --baseline known.json --fail-on warn",
            "inspector check @all --json",
        ),
    )
    verb.options = tuple(option for option in verb.options if option.name not in _MEANINGLESS)
    return verb


VERBS = {"check": _verb()}
