"""`inspector load`: calls tools at a constant rate and measures how a server answers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inspector.cli.flow_options import ENVIRONMENT, SET
from inspector.cli.options import (
    ARGS,
    COUNT,
    FILE,
    OUT_FILE,
    REPORTS,
    TIME,
    Option,
    Value,
    span,
)
from inspector.cli.output import Output, ProgressLine, has_user
from inspector.cli.output_files import check_outputs, forced, is_stdout, write_reports, write_text
from inspector.cli.verb import PositionalArgument, Verb
from inspector.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.calls.variables import Secrets
    from inspector.cli.verb import Invocation
    from inspector.client.session import Session
    from inspector.config.targets import HttpTarget, StdioTarget
    from inspector.features.load.plan import LoadPlan, PlannedCall
    from inspector.features.load.report import FailCondition, LoadReport
    from inspector.features.load.runner import LoadRun

_REPORTS = ("html", "junit", "markdown")
_STOPPED = "The search was stopped."


def run(invocation: Invocation) -> int:
    """Run the plan and report; 5 where a condition of --fail-on holds."""
    from inspector.calls.variables import Secrets
    from inspector.cli import session_setup
    from inspector.features.load.report import FailCondition

    out = invocation.output
    _check(invocation)
    to_stdout = check_outputs(invocation, *_REPORTS, "locust")
    secrets = Secrets()
    conditions = [FailCondition.parse(text) for text in invocation.option("fail-on", ())]
    target = session_setup.live_target(invocation)
    plan = _plan(invocation, out, secrets, target)
    is_locust = invocation.option("locust") is not None
    if not is_locust:
        _confirm(invocation, out, target, plan)
    runs = _Runs(invocation, out, target)
    secrets.tell(runs.journal.redactor.add)
    try:
        if is_locust:
            return _write_locust(invocation, out, runs, plan, target)
        report, signal = _run(invocation, runs, plan, conditions)
    finally:
        runs.close()
    if report is None:
        out.note("The load test was stopped before its first call.")
        return 128 + signal
    _report(invocation, out, report, to_stdout=to_stdout)
    return 128 + signal if signal else report.exit_code


def _check(invocation: Invocation) -> None:
    if invocation.option("users") is not None:
        for other in ("rate", "max-waiting", "in-flight", "find-limit"):
            if invocation.option(other) is not None:
                raise UsageError(
                    f"--users cannot be used with --{other}.",
                    hint="--users is the closed model: each user waits for its answer.",
                )
    if invocation.option("flow") is None:
        for other in ("set", "environment"):
            if invocation.option(other):
                raise UsageError(f"--{other} needs --flow.", hint="Name a saved call with --flow FILE.")
        if invocation.arguments["tool"] is None:
            raise UsageError("`inspector load` needs a TOOL, or --flow FILE.", hint="inspector load TOOL -- COMMAND")
    elif invocation.arguments["tool"] is not None or invocation.option("args") is not None:
        raise UsageError("--flow names the calls, so it cannot be used with a TOOL or --args.", hint="Remove one.")


def _plan(invocation: Invocation, out: Output, secrets: Secrets, target: StdioTarget | HttpTarget) -> LoadPlan:
    """Return the plan; arguments of a named tool are added when its schema is known. `secrets` learns those in it."""
    from inspector.features.load.find_limit import STEP_SECONDS
    from inspector.features.load.plan import RATE, SECONDS, WAITING, WARM_UP, LoadPlan, PlannedCall

    flow = invocation.option("flow")
    if flow is not None:
        calls = _flow_calls(invocation, out, flow, secrets, target)
    else:
        calls = (PlannedCall(invocation.arguments["tool"], invocation.option("args", {})),)
    length = invocation.option("for", STEP_SECONDS if invocation.option("find-limit") else SECONDS)
    return LoadPlan(
        calls,
        rate=invocation.option("rate", RATE),
        users=invocation.option("users", 0),
        seconds=length,
        warm_up=invocation.option("warmup", min(WARM_UP, length / 5)),
        max_waiting=invocation.option("max-waiting", WAITING),
        connections=invocation.option("connections", 1),
        in_flight=invocation.option("in-flight", 0),
    )


def _flow_calls(
    invocation: Invocation, out: Output, path: Path, secrets: Secrets, target: StdioTarget | HttpTarget
) -> tuple[PlannedCall, ...]:
    from inspector.calls.collection import Collection
    from inspector.calls.recipients import CredentialCheck
    from inspector.cli.flow_options import warn_of_unused
    from inspector.cli.session_setup import consent_of
    from inspector.features.load.flow_calls import calls_of

    if path.is_dir():
        raise UsageError(f"{out.safe(str(path), 200)} is a folder.", hint="--flow names one file.")
    collection = Collection.read([path])
    if not collection.flows:
        raise UsageError(f"{out.safe(str(path), 200)} is not a regular file.", hint="--flow names a YAML file.")
    given = dict(invocation.option("set", ()))
    warn_of_unused(out, collection.flows, given)
    environments = [collection.environment(name) for name in invocation.option("environment", ())]
    flow = collection.flows[0]
    check_credentials = CredentialCheck(lambda *_: target, consent_of(invocation))
    check_credentials({flow: ""}, environments, given, named=True)
    return calls_of(flow, environments, given, secrets)


def _confirm(invocation: Invocation, out: Output, target: StdioTarget | HttpTarget, plan: LoadPlan) -> None:
    """Ask before load is put on a server that is not on this machine. Raises `UsageError` without consent."""
    from inspector.features.load.plan import is_this_machine

    if is_this_machine(target) or invocation.option("yes"):
        return
    calls = "calls as fast as it answers" if plan.users else f"{plan.rate * plan.seconds:,.0f} calls"
    if invocation.option("find-limit"):
        calls = "more and more calls until it no longer keeps up"
    where = out.safe(target.describe_fully(), 400)
    if not has_user():
        raise UsageError(
            f"{where} is not on this machine, and would get {calls}.", hint="Add --yes if you may load that server."
        )
    if not out.confirms(f"{where} is not on this machine. Send it {calls}?"):
        raise UsageError("No call was sent.", hint="Answer y, or choose a server on this machine.")


class _Runs:
    """Runs plans, one after another, on one recording."""

    def __init__(self, invocation: Invocation, out: Output, target: StdioTarget | HttpTarget) -> None:
        from inspector.cli import session_setup

        settings = session_setup.settings_of(invocation)
        self._target = target
        self._options = session_setup.options_of(invocation, target, settings, in_interface=False)
        self._allowed = frozenset(name for word in invocation.option("allow-calls", ()) for name in word.split(","))
        self._prepared = _prepared(invocation, out)
        self.progress = _Progress(out)
        self.made: list[LoadRun] = []
        self.journal = session_setup.new_journal(invocation, target, settings)

    def new(self, plan: LoadPlan) -> LoadRun:
        """Return a run of a plan; only the first one measures our own latency."""
        from inspector.features.load.floor import measure_floor
        from inspector.features.load.runner import LoadRun

        run = LoadRun(
            self._target,
            self._options,
            plan,
            self.journal,
            allowed="all" if "all" in self._allowed else self._allowed,
            measure_floor=None if self.made else measure_floor,
            prepared=self._prepared,
            on_progress=self.progress.draw,
        )
        self.made.append(run)
        return run

    async def go(self, plan: LoadPlan) -> LoadReport:
        """Run a plan."""
        report = await self.new(plan).go()
        return replace(report, floor=self.made[0].floor)

    def kill_now(self) -> None:
        """Kill the servers without waiting."""
        for run in self.made:
            run.kill_now()

    def close(self) -> None:
        """End the recording."""
        self.progress.line.draw("")
        self.journal.close("closed")
        self.journal.release()


def _run(
    invocation: Invocation, runs: _Runs, plan: LoadPlan, conditions: list[FailCondition]
) -> tuple[LoadReport | None, int]:
    """Return the report, and the signal that stopped it (0: none)."""
    from inspector.cli.signals import Signals
    from inspector.features.load import precise_timers
    from inspector.features.load.find_limit import LimitSearch

    search = LimitSearch(plan, conditions, runs.go) if invocation.option("find-limit") else None

    async def work() -> tuple[LoadReport | None, int]:
        signals = Signals(runs.kill_now)
        try:
            return await (search.go() if search is not None else runs.go(plan)), 0
        except asyncio.CancelledError:
            if not signals.caught:
                raise
            if search is not None and (best := search.report(_STOPPED)) is not None:
                return best, signals.caught
            last = runs.made[-1] if runs.made else None
            if last is None or not last.has_begun:
                return None, signals.caught
            report = last.report()
            return (report if search is None else replace(report, incomplete=_STOPPED)), signals.caught
        finally:
            signals.remove()

    report, signal = precise_timers.run(work())
    return None if report is None else report.judged(conditions), signal


def _prepared(invocation: Invocation, out: Output) -> Any:
    """Return the calls, once the tools are known: KEY=VALUE arguments are converted to the types in the schema."""
    if not invocation.arguments["arguments"]:
        return None

    async def calls(session: Session) -> tuple[PlannedCall, ...]:
        from inspector.cli.arguments import tool_arguments
        from inspector.features.load.plan import PlannedCall

        return (PlannedCall(invocation.arguments["tool"], await tool_arguments(invocation, session, out)),)

    return calls


class _Progress:
    """A line on the terminal with the figures so far."""

    def __init__(self, out: Output) -> None:
        self.line = ProgressLine(out)

    def draw(self, run: LoadRun) -> None:
        """Draw the line again."""
        if self.line.is_shown:
            self.line.draw(self._line(run))

    def _line(self, run: LoadRun) -> str:
        from inspector.features.load.plan import rate_text
        from inspector.text import duration

        if run.phase in ("connecting", "floor"):
            return "connecting" if run.phase == "connecting" else "measuring Inspector's own latency"
        m, plan = run.measurement, run.plan
        now = run.now()
        text = f"{now:.0f} s of {plan.seconds:g} s"
        if run.phase == "draining":
            text = "waiting for the last answers"
        elif now < plan.warm_up:
            text += " (warm-up)"
        rate = "" if plan.users else f"  {rate_text(plan.rate)}"
        p99 = f"  p99 {duration(m.latency.percentile(99) * 1e6)}" if m.latency.count else ""
        lost = f"  not sent {m.not_sent:,}" if m.not_sent else ""
        return (
            f"{text}{rate}  sent {m.sent:,}  done {m.done:,}  failed {m.failed:,}  waiting {run.waiting:,}{lost}{p99}"
        )


def _report(invocation: Invocation, out: Output, report: LoadReport, *, to_stdout: bool) -> None:
    """Print the report, and write those that were asked for."""
    write_reports(invocation, out, _REPORTS, lambda name: _document(name, report))
    if out.json:
        out.document(report.as_json())
    elif not to_stdout:
        from inspector.cli.colours import Colours
        from inspector.features.load.reports.text import LoadText

        paint: Any = Colours()
        out.lines(LoadText(report, ascii=out.ascii, paint=paint).lines())
    if report.recording:
        out.note(f"recording of the slowest and failed calls: {out.safe(report.recording)}")


def _document(form: str, report: LoadReport) -> str:
    from inspector.features.load.reports.html import as_html
    from inspector.features.load.reports.text import as_junit, as_markdown

    return {"junit": as_junit, "markdown": as_markdown, "html": as_html}[form](report)


def _write_locust(
    invocation: Invocation, out: Output, runs: _Runs, plan: LoadPlan, target: StdioTarget | HttpTarget
) -> int:
    from inspector.features.load.locust import locust_file

    where = invocation.option("locust")
    to_stdout = is_stdout(where)
    run = runs.new(plan)
    plan = asyncio.run(run.check())
    secrets: set[str] = set()
    runs.journal.redactor.tell(secrets.add)()
    name = "load.py" if to_stdout else where.name
    text = locust_file(plan, target, name, secrets=secrets, schemas=run.input_schemas())
    write_text(where, text, out, force=forced(invocation))
    if not to_stdout:
        out.note("Its first lines say how to run it.")
    return 0


def _rate(word: str) -> float:
    """Calls per second: `50`, `50/s`, `30/min`."""
    import re

    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(?:/(s|min))?", word)
    if match is None or not float(match[1]):
        raise UsageError(f"“{word[:80]}” is not a rate.", hint="Examples: 50, 0.5, 30/min.")
    return float(match[1]) / (60.0 if match[2] == "min" else 1.0)


LOAD = Verb(
    "load",
    run,
    slots=(
        PositionalArgument("tool", shown="TOOL", optional=True, before_target=True),
        PositionalArgument("arguments", "pairs", shown="KEY=VALUE | KEY:=JSON ..."),
    ),
    options=(
        Option("--rate", "Calls per second at constant arrival; default 10", Value("N", _rate)),
        Option("--for", "Length of the run with its warm-up; default 30s", TIME),
        Option(
            "--fail-on",
            "Exit with 5 if this holds, such as 'p99>300ms'; repeatable",
            "CONDITION",
            many=True,
            old="--fail",
        ),
        Option("--users", "Closed model: N users, each waits for its answer", COUNT),
        Option("--find-limit", "Step the rate up from --rate until a condition of --fail-on holds"),
        Option("--allow-calls", "Call these tools although they are not read-only", "NAME,…|all", many=True),
        ARGS,
        Option("--flow", "Make the calls of this saved call, by their weights", FILE),
        Option("--yes", "Load a server that is not on this machine without asking"),
        Option("--warmup", "Time at the start that is not counted; default 3s", Value("TIME", span)),
        Option("--connections", "How many connections share the calls", COUNT),
        Option("--in-flight", "Most calls at the server at once on each connection; no limit", COUNT),
        Option("--max-waiting", "Most calls without an answer; others are not sent; default 1000", COUNT),
        ENVIRONMENT,
        SET,
        REPORTS["html"],
        REPORTS["junit"],
        REPORTS["markdown"],
        Option("--locust", "Write a Locust file that runs this plan, and exit", OUT_FILE),
    ),
)
