"""`inspector check`: checks a server against the specification, with evidence."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from inspector.cli import check_many, session_setup
from inspector.cli.options import FILE, HOSTS, REPORTS, SECRET, TIME, YES, Option, Value, count, names_in
from inspector.cli.output import Output, ProgressLine
from inspector.cli.output_files import check_outputs, kept_folder, write_reports
from inspector.cli.verb import Verb
from inspector.config.targets import HttpTarget, RecordingTarget, Target
from inspector.errors import InspectorError, UsageError
from inspector.hints import Hint, Parameter

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.check.check_table import Check
    from inspector.check.outcome import Visited
    from inspector.check.reports.policy import Baseline, Policy
    from inspector.check.reports.summary import Report
    from inspector.check.result import Result
    from inspector.check.run import Run
    from inspector.check.selection import CheckSelection
    from inspector.cli.verb import Invocation
    from inspector.config.servers import ServerEntry
    from inspector.config.targets import StdioTarget

ALL = "@all"
"""The target for every configured server."""
DURATIONS = 10
"""The checks that --durations without a number shows."""


def run(invocation: Invocation) -> int:
    """Check the target and report; returns 5 if `--fail-on` or `--fail-under` says that it failed."""
    from inspector.check.reports import document

    out = invocation.output
    to_stdout = check_outputs(invocation, *REPORTS)
    selection = _selection(invocation)
    if not invocation.command and invocation.target_words[:1] == [ALL]:
        if len(invocation.target_words) > 1:
            raise UsageError("@all names every server already.", hint="Remove @all, or the other names.")
        return _several(invocation, out, selection, "@all", check_many.entries(invocation.option("config")))
    if not invocation.command and len(invocation.target_words) > 1 and invocation.target_words[0].startswith("@"):
        named = check_many.entries(invocation.option("config"), invocation.target_words)
        return _several(invocation, out, selection, "several servers", named)
    if selection.only and selection.only.isdisjoint(_of_one(selection)):
        raise UsageError("--only names checks that compare servers.", hint="Name two servers, or use @all.")
    if invocation.option("plan"):
        return _plan(invocation, out, selection)
    target = session_setup.target_of(invocation)
    policy = _policy(invocation)
    command = _command(invocation, target)
    if isinstance(target, RecordingTarget):
        report = _of_recording(target.path, out, selection, policy)
    else:
        report = _of_server(invocation, out, target, selection, policy, command)
    if not report.results and not report.unreached:
        visits = ", ".join(visited.name for visited in report.run.visits)
        raise UsageError(f"No selected check applies to this server ({visits}).", hint="--plan lists all checks.")
    write_reports(invocation, out, REPORTS, lambda name: document(report, "md" if name == "markdown" else name))
    if out.json:
        out.document(report.as_json())
    else:
        from inspector.cli.check_report import text

        if not to_stdout:
            durations = invocation.option("durations", 0)
            out.lines(text(out, report, verbose=bool(invocation.option("verbose")), durations=durations))
        if report.recording:
            out.note(f"recording: {out.safe(report.recording)}")
    if report.unreached:
        if isinstance(target, RecordingTarget):
            raise UsageError(report.problem)
        problem = _not_reached(report)
        problem.recording = report.recording
        raise problem
    return report.exit_code


def _of_one(selection: CheckSelection) -> set[str]:
    """The ids and groups of the checks of one server."""
    from inspector.check.hosts import host_checks
    from inspector.check.registry import checks

    every = (*checks().values(), *host_checks(selection.hosts).values())
    return {name for check in every for name in (check.id, check.group)}


def _several(
    invocation: Invocation, out: Output, selection: CheckSelection, what: str, entries: list[ServerEntry]
) -> int:
    """Check each of these servers, and compare them. `what` names them in an error."""
    from inspector.check.cross_server import Definitions, compare, definitions_of, entry_names
    from inspector.check.registry import across as across_checks
    from inspector.check.reports.policy import Baseline
    from inspector.check.reports.summary import report_of
    from inspector.check.run import Runner
    from inspector.cli.signals import until_interrupted
    from inspector.client.new_recording import new_journal
    from inspector.config.servers import resolve

    for option in ("plan", "record", "start", *REPORTS):
        if invocation.option(option) is not None:
            raise UsageError(f"--{option} cannot be used with {what}.", hint=f"Name one server, or remove --{option}.")
    compared = {id: check for id, check in across_checks().items() if selection.takes(check)}
    selection = replace(selection, lists=bool(compared))
    session_setup.refuse_credentials(invocation)
    session_setup.confirm_start(invocation, entries)
    settings = session_setup.settings_of(invocation)
    policy = _policy(invocation, several=True)
    baselines = _baselines(invocation)
    folder = kept_folder(invocation)
    consent = session_setup.consent_of(invocation)
    definitions: dict[str, Definitions] = {}
    targets: dict[int, StdioTarget | HttpTarget | InspectorError] = {}
    for entry in entries:
        # Prompt first: the terminal cannot show prompts while servers are checked.
        try:
            targets[id(entry)] = target = resolve(entry, consent=consent)
        except InspectorError as error:
            targets[id(entry)] = error
        else:
            session_setup.warn_of_interception(invocation, target)

    async def check(entry: ServerEntry) -> Report:
        target = targets[id(entry)]
        if isinstance(target, InspectorError):
            raise target
        options = session_setup.options_of(invocation, target, settings, in_interface=False)
        keep = settings.record and not invocation.option("no-record")
        journal = new_journal(target, record=folder, keep=keep, label=entry.name, settings=settings, purpose="check")
        try:
            run = await Runner(target, journal, options, selection).go()
            # A server without a baseline has an empty one: all of its findings are new.
            own = None if baselines is None else baselines.get(entry.reference) or Baseline.empty()
            report = report_of(run, journal, replace(policy, baseline=own))
            if compared:
                names = entry_names(entry.name, target)
                definitions[entry.reference] = await asyncio.to_thread(definitions_of, entry.reference, journal, names)
        finally:
            session_setup.end_recording(out, journal, named=True)
        out.note(f"checked: {out.safe(entry.reference, 100)}")
        return report

    checked = asyncio.run(until_interrupted(check_many.check_all(entries, check)))
    known = frozenset[Any]().union(*(baseline.across for baseline in (baselines or {}).values()))
    compared_servers = [definitions[entry.reference] for entry in entries if entry.reference in definitions]
    across = check_many.CrossServerFindings.of(compare(compared_servers, compared), policy, known)
    if out.json:
        out.document(check_many.as_json(checked, across))
    else:
        check_many.tables(out, checked)
        check_many.between(out, across)
    return check_many.exit_code(checked, across)


def _not_reached(report: Report) -> InspectorError:
    from inspector.errors import AuthorizationNeeded, ConnectionProblem

    message = f"The server could not be checked: {report.problem}"
    if report.run.problem_code == AuthorizationNeeded.exit_code:
        return AuthorizationNeeded(
            message, hint=Hint("Log in with ", Parameter.LOGIN, ", or check only authorization with --auth.")
        )
    problem = report.run.error
    if problem is None:
        problem = ConnectionProblem(message)
        problem.connecting = True
    problem.message = message
    return problem


def _selection(invocation: Invocation) -> CheckSelection:
    from inspector.check.check_table import CheckLevel
    from inspector.check.registry import unknown
    from inspector.check.selection import CheckSelection
    from inspector.check.visit.limits import RunLimits
    from inspector.check.visit.visit import Allowed
    from inspector.protocol.revisions import REVISIONS

    chosen = {option: frozenset(names_in(invocation.option(option, ()))) for option in ("only", "skip")}
    for option, given in chosen.items():
        for name in unknown(given):
            raise UsageError(f"--{option}: unknown check or group “{name[:40]}”.", hint="--plan lists all checks.")
    hosts = session_setup.facts_of(invocation)
    if "hosts" in chosen["only"] and not hosts:
        raise UsageError("The group hosts needs --host.", hint="Name hosts with --host, or use --host all.")
    revisions = tuple(names_in(invocation.option("revisions", ())))
    for name in revisions:
        if name not in REVISIONS:
            raise UsageError(f"Unknown protocol revision “{name[:40]}”.", hint=f"Revisions are {', '.join(REVISIONS)}.")
    levels = frozenset(names_in(invocation.option("level", ())))
    for name in sorted(levels - set(get_args(CheckLevel))):
        raise UsageError(
            f"--level: “{name[:40]}” is not a level.", hint=f"Levels are {', '.join(get_args(CheckLevel))}."
        )
    calls = names_in(invocation.option("allow-calls", ()))
    selection = CheckSelection(
        hosts=hosts,
        revisions=revisions or REVISIONS,
        only=chosen["only"],
        without=chosen["skip"],
        levels=levels,
        limits=RunLimits(run=invocation.option("max-time", RunLimits().run)),
        allowed=Allowed(
            calls=calls[0] if calls in (["read-only"], ["all"]) else tuple(calls),
            auth=bool(invocation.option("auth")),
            intrusive=bool(invocation.option("intrusive")),
            foreign_token=invocation.option("foreign-token-env", ""),
        ),
    )
    for added in invocation.verb.added:
        selection = added.use(invocation, selection)
    return selection


def _score(word: str) -> int:
    """A score from 1 to 100."""
    value = int(word) if word.isascii() and word.isdigit() and len(word) < 4 else 0
    if not 1 <= value <= 100:
        raise UsageError(f"“{word[:80]}” is not a score.", hint="A score is a whole number from 1 to 100.")
    return value


def _plan(invocation: Invocation, out: Output, selection: CheckSelection) -> int:
    from inspector.check.outcome import Skip
    from inspector.check.run import planned
    from inspector.cli.check_report import plan

    target = session_setup.target_of(invocation)
    kind = target.kind if not isinstance(target, RecordingTarget) else "recording"
    rows = planned(selection, ("stdio",) if kind == "stdio" else ("http", "sse"), selection.revisions)
    if kind == "recording":
        rows = [
            (check, reason or ("" if check.probe is None or check.observations else Skip.RECORDING))
            for check, reason in rows
        ]
    if out.json:
        out.document([{"id": check.id, "mode": check.mode, "left_out": reason or None} for check, reason in rows])
    else:
        out.lines(plan(rows))
    return 0


def _of_recording(file: Path, out: Output, selection: CheckSelection, policy: Policy) -> Report:
    from inspector.check.reports.summary import report_of
    from inspector.check.run import of_recording
    from inspector.cli.open_recording import tell_notices, whole_journal

    with whole_journal(file) as journal:
        tell_notices(out, journal)
        return report_of(of_recording(journal, file.name, selection), journal, policy)


def _of_server(
    invocation: Invocation,
    out: Output,
    target: StdioTarget | HttpTarget,
    selection: CheckSelection,
    policy: Policy,
    command: list[str],
) -> Report:
    """The report. `command` starts a server at a URL first."""
    from inspector.check.reports.summary import report_of
    from inspector.check.run import Runner
    from inspector.cli.signals import until_interrupted

    settings = session_setup.settings_of(invocation)
    options = session_setup.options_of(invocation, target, settings, in_interface=False)
    journal = session_setup.new_journal(invocation, target, settings)
    progress = _Progress(out)

    async def work() -> Run:
        runner = Runner(target, journal, options, selection, on_result=progress.count_result, began=progress.began)
        if not command or not isinstance(target, HttpTarget):
            return await runner.go()
        from inspector.cli.start_server import WAIT, started

        async with started(command, target, invocation.option("wait", WAIT)):
            return await runner.go()

    try:
        check_run = asyncio.run(until_interrupted(work()))
        progress.line.draw("")
        return report_of(check_run, journal, policy, command)
    finally:
        progress.line.draw("")
        session_setup.end_recording(out, journal)


class _Progress:
    """A progress line with the current check."""

    def __init__(self, out: Output) -> None:
        self.line = ProgressLine(out)
        self._done = 0
        self._last_drawn = 0.0

    def count_result(self, _result: Result) -> None:
        self._done += 1

    def began(self, visited: Visited, check: Check) -> None:
        now = time.monotonic()
        if now - self._last_drawn > 0.1:
            self._last_drawn = now
            self.line.draw(f"{self._done} checks done, {visited.name}: {check.id}")


def _command(invocation: Invocation, target: Target) -> list[str]:
    """The words of `--start`; empty if it was not given. Raises `UsageError` if the target is not a URL."""
    given = invocation.option("start")
    if given is None:
        if invocation.option("wait") is not None:
            raise UsageError("--wait needs --start.", hint="inspector check --start 'python server.py' --wait 20 URL")
        return []
    if not isinstance(target, HttpTarget):
        raise UsageError("--start needs a URL as its target.", hint="Inspector starts a command after -- without it.")
    from inspector.cli.start_server import words_of

    return words_of(given)


def _policy(invocation: Invocation, *, several: bool = False) -> Policy:
    """The conditions under which the run fails; with several servers, each has its own baseline."""
    from inspector.check.reports.policy import Policy, read_baseline

    file = None if several else invocation.option("baseline")
    return Policy(
        fail_on=invocation.option("fail-on", "fail"),
        fail_under=invocation.option("fail-under", 0),
        profile=invocation.option("profile", "full"),
        strict=bool(invocation.option("strict")),
        baseline=None if file is None else read_baseline(file),
    )


def _baselines(invocation: Invocation) -> dict[str, Baseline] | None:
    """The baselines of `@all` by server reference; None without --baseline."""
    from inspector.check.reports.policy import read_baselines

    file = invocation.option("baseline")
    return None if file is None else read_baselines(file)


CHECK = Verb(
    "check",
    run,
    recordings=True,
    several=True,
    options=(
        Option("--only", "Run only these checks or groups", "NAME,…", many=True),
        Option("--skip", "Skip these checks or groups", "NAME,…", many=True),
        Option("--revision", "Check only these protocol revisions", "REVISION,…", many=True, name="revisions"),
        Option(
            "--allow-calls",
            "Allow calls of read-only tools, all tools, or the named tools",
            "read-only|all|NAME,…",
            many=True,
        ),
        Option("--fail-on", "Lowest result that exits with 5", choices=("fail", "warn", "skip", "never")),
        Option("--strict", "Fail on every broken rule of the specification; advice warns"),
        Option("--baseline", "Ignore faults that this earlier JSON report has", FILE),
        HOSTS,
        Option("--auth", "Check authorization too"),
        Option("-v --verbose", "Show passed and skipped checks too, and fixes of notes"),
        Option("--plan", "List the checks that would run, and exit"),
        Option("--fail-under", "Exit with 5 if the score is lower", Value("SCORE", _score)),
        Option("--level", "Run only checks of these levels: must, should, type, …", "LEVEL,…", many=True),
        Option("--profile", "app ignores faults of the server's SDK", choices=("full", "app")),
        Option("--max-time", "Time limit of the whole run", TIME),
        Option(
            "--durations",
            f"Show this many of the slowest checks; default {DURATIONS}",
            Value("N", count, fits=str.isdigit, otherwise=DURATIONS),
        ),
        Option("--start", "Start the server with this command first, and stop it afterwards", "COMMAND"),
        Option("--wait", "With --start: the time to wait for the server; default 20s", TIME),
        Option("--intrusive", "Run checks that may be harmful or slow too"),
        Option("--foreign-token-env", "Token issued for another server, which this server must reject", SECRET),
        YES,
        *REPORTS.values(),
    ),
    extended=True,
    without=("root", "sampling", "elicit", "log-level", "era", "revision"),
)
