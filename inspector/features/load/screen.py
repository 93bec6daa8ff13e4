"""The screen of a load test: live figures while it runs, and the report afterwards."""

from __future__ import annotations

import asyncio
import re
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import work
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from inspector.auth.person import NoPerson
from inspector.client.new_recording import new_journal
from inspector.client.session_state import Commands
from inspector.config.targets import RecordingTarget
from inspector.errors import InspectorError, UsageError
from inspector.features.load.floor import measure_floor
from inspector.features.load.keys import LOAD_VERBS, LoadFacts
from inspector.features.load.plan import (
    MAX_RATE,
    RATE,
    SECONDS,
    WAITING,
    WARM_UP,
    LoadPlan,
    OpenArrivals,
    PlannedCall,
    number_text,
)
from inspector.features.load.precise_timers import run
from inspector.features.load.report import LoadReport
from inspector.features.load.rows import error_rows, latency_rows, now_rows, plan_rows, process_rows, series_rows
from inspector.features.load.runner import LoadRun
from inspector.journal.journal import Journal
from inspector.protocol.views import is_read_only
from inspector.text import count, file_stem, json_document, quantity
from inspector.tui.advice import error_text
from inspector.tui.dialogs import AskPath, Choose, Confirm
from inspector.tui.full_screen import FullScreen, app_binding
from inspector.tui.keymap import bindings
from inspector.tui.main import chrome
from inspector.tui.output_files import write_new
from inspector.tui.pane_keys import VerbsByRules
from inspector.tui.themes import signs_now
from inspector.tui.widgets.dialog import FieldsDialog
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fact_rows import FactsView, Row, RowSection
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.status_lines import Footer, HeaderLine
from inspector.tui.widgets.too_small import TooSmall
from inspector.tui.window import window_of

if TYPE_CHECKING:
    from inspector.tui.main.screen import MainScreen

_LABEL = 16
_FIELDS: Mapping[str, tuple[str, str]] = {
    "rate": ("calls per second", f"{RATE:g}; open model: constant arrival"),
    "users": ("or users", "closed model: each waits for its answer"),
    "seconds": ("length", f"{SECONDS:g} s, with the warm-up"),
    "warm_up": ("warm-up", f"{WARM_UP:g} s that are not counted"),
    "in_flight": ("calls at once", "no limit on each connection"),
    "connections": ("connections", "1"),
    "max_waiting": ("most waiting", f"{count(WAITING)}; further calls are not sent"),
}
"""Each field's label, and its hint when it is empty."""
_UNIT = {"seconds": " s", "warm_up": " s"}
_NUMBER = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?) ?(ms|s|min|/s)?")
_WHOLE = ("users", "in_flight", "connections", "max_waiting")
_UNITS = {"ms": 1e-3, "min": 60.0}


class LoadDialog(FieldsDialog[LoadPlan]):
    """Asks for the plan, starting with a given one."""

    def __init__(self, plan: LoadPlan) -> None:
        self._plan = plan
        super().__init__(f"Load  {', '.join(plan.tools)[:60]}", {name: self._editor(name) for name in _FIELDS}, "start")

    def _editor(self, name: str) -> Editor:
        label, empty = _FIELDS[name]
        value = "" if self._is_empty(name) else number_text(getattr(self._plan, name)) + _UNIT.get(name, "")
        return Editor(value, placeholder=empty, lead=[(f"{label:<{_LABEL}}  ", "muted")], id=f"load-{name}")

    def _is_empty(self, name: str) -> bool:
        """Whether the hint says all: the field has its default, or does not matter."""
        return getattr(self._plan, name) == getattr(LoadPlan(self._plan.calls), name) or (
            name == "rate" and bool(self._plan.users)
        )

    def action_take(self) -> None:
        """Accept the plan if it can be run."""
        try:
            self.dismiss(planned(self._plan, self.typed))
        except UsageError as error:
            self.show_note(error.message)


def planned(plan: LoadPlan, fields: Mapping[str, str]) -> LoadPlan:
    """Return a plan with the values of the fields; an empty field has its default. Raises `UsageError`."""
    defaults = LoadPlan(plan.calls)
    values: dict[str, Any] = {name: getattr(defaults, name) for name in _FIELDS}
    for name, text in fields.items():
        if not text:
            continue
        match = _NUMBER.fullmatch(text.replace(",", ""))
        if match is None or (name in _WHOLE and not match[1].isdigit()):
            raise UsageError(f"“{text[:40]}” is not a number.")
        values[name] = int(match[1]) if name in _WHOLE else float(match[1]) * _UNITS.get(match[2] or "", 1.0)
    if fields.get("users") and fields.get("rate"):
        raise UsageError("Give a rate or users, not both.")
    if not fields.get("warm_up"):
        values["warm_up"] = min(defaults.warm_up, values["seconds"] / 5)
    return replace(plan, **values)


_SWITCH_SECONDS = 0.0005
"""Seconds after which the interpreter lets the other thread run: a call waits no longer for a drawing."""
_JOIN_SECONDS = 2.0


class BackgroundRun:
    """One run. Methods are called in the interface's thread; `run` may be read there at any time."""

    def __init__(self, run: LoadRun, ended: Callable[[LoadReport | None, InspectorError | None], object]) -> None:
        """`ended` is called in the run's thread, with the report or the error."""
        self.run = run
        self._ended = ended
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[LoadReport] | None = None
        self._thread = threading.Thread(target=self._main, name="inspector-load", daemon=True)

    def start(self) -> None:
        """Start the thread and the run."""
        self._thread.start()

    def _main(self) -> None:
        before = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_SECONDS)
        try:
            run(self._go())
        finally:
            sys.setswitchinterval(before)

    async def _go(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(self.run.go())
        report: LoadReport | None = None
        problem: InspectorError | None = None
        try:
            report = await self._task
        except InspectorError as error:
            problem = error
        except asyncio.CancelledError:
            report = self.run.report() if self.run.has_begun else None
        self._ended(report, problem)

    def _do(self, action: Callable[[], object]) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(action)

    def stop(self) -> None:
        """End the run: the report so far is its result."""
        if self.run.phase in ("connecting", "floor"):
            self._do(lambda: self._task is not None and self._task.cancel())
        else:
            self._do(self.run.stop)

    def change_rate(self, rate: float) -> None:
        """Let calls arrive at another rate; 0 pauses."""
        self._do(lambda: self.run.change_rate(rate))

    def close(self) -> None:
        """End the run without a report, and stop its servers. Waits for a moment."""
        self._do(lambda: self._task is not None and self._task.cancel())
        self._thread.join(_JOIN_SECONDS)
        if self._thread.is_alive():
            self.run.kill_now()


DRAW_SECONDS = 0.5
_COUNTS_BESIDE = 120
"""Cells of the screen from which all columns are beside the counts; below it is one, and a key changes it."""
_FORMATS = (
    ("html", "a web page with plots"),
    ("json", "all figures, with histogram and series"),
    ("txt", "the report of the command line"),
)


class LoadScreen(FullScreen[None], VerbsByRules):
    """One load test after another, of the same calls."""

    RULES = LOAD_VERBS
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("load"),
        app_binding("quit", "quit"),
    ]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (_COUNTS_BESIDE, "-wide")]  # noqa: RUF012 - declared so by Textual
    DEFAULT_CSS = """
    LoadScreen #load-verdict { height: auto; max-height: 8; }
    LoadScreen #load-verdict FactsView { height: auto; max-height: 6; }
    LoadScreen #load-body { height: 1fr; }
    LoadScreen #load-left { width: 36; }
    LoadScreen #load-plan { height: auto; max-height: 45%; }
    LoadScreen #load-plan FactsView { height: auto; max-height: 12; }
    LoadScreen #load-now { height: 1fr; }
    LoadScreen #load-latency { width: 1fr; }
    LoadScreen #load-right { width: 1fr; }
    LoadScreen #load-series { height: 3fr; }
    LoadScreen #load-errors { height: 1fr; min-height: 5; }
    LoadScreen #load-process { height: 2fr; }
    LoadScreen.-narrow #load-errors { height: 5; }
    LoadScreen.-narrow #load-plan { display: none; }
    LoadScreen.-narrow.-series #load-latency { display: none; }
    LoadScreen.-narrow #load-right { display: none; }
    LoadScreen.-narrow.-series #load-right { display: block; }
    LoadScreen.-narrow #load-process { display: none; }
    """

    def __init__(self, session: Commands, plan: LoadPlan, allowed: frozenset[str]) -> None:
        super().__init__()
        self.session = session
        self._plan = plan
        self._allowed = allowed
        self._run: LoadRun | None = None
        self._report: LoadReport | None = None
        self._journal: Journal | None = None
        self._problem = ""
        self._is_paused = False
        self._planned_rate = plan.rate
        self._background: BackgroundRun | None = None

    def compose(self) -> ComposeResult:
        yield HeaderLine(id="header")
        yield Pane(FactsView(what="the result", id="load-verdict-text"), id="load-verdict")
        with Horizontal(id="load-body"):
            with Vertical(id="load-left"):
                yield Pane(FactsView(what="the plan", id="plan-rows"), title="Plan", id="load-plan")
                yield Pane(FactsView(what="the counts", id="now-rows"), title="Now", id="load-now")
            yield Pane(FactsView(what="the latency", id="latency-rows"), title="Latency", id="load-latency")
            with Vertical(id="load-right"):
                yield Pane(FactsView(what="the series", id="series-rows"), title="Over time", id="load-series")
                yield Pane(FactsView(what="the errors", id="error-rows"), title="Errors", id="load-errors")
                yield Pane(FactsView(what="the figures", id="process-rows"), title="Server process", id="load-process")
        yield Footer(id="footer")
        yield TooSmall()

    def on_mount(self) -> None:
        self.query_one("#now-rows").focus()
        self.set_interval(DRAW_SECONDS, self._draw_running)
        self._start()

    def on_unmount(self) -> None:
        self._run = None
        self._release()

    def on_resize(self) -> None:
        self.call_after_refresh(self._draw)

    # The run

    def _start(self) -> None:
        """Run the plan on connections of its own. The session in the window stays as it is."""
        target, window = self.session.target, window_of(self)
        if isinstance(target, RecordingTarget):
            return
        self._release()
        self._problem = ""
        self._report = None
        self._is_paused = False
        self._planned_rate = self._plan.rate
        self._journal = new_journal(target, settings=window.settings, keep=window.keep, purpose="load")
        options = self.session.options
        if options.authorize is not None:
            # The run has a thread of its own, and cannot ask: it uses the login that is there.
            options = replace(options, authorize=options.authorize.for_session(NoPerson("a load test does not log in")))
        self._run = LoadRun(
            target, options, self._plan, self._journal, allowed=self._allowed, measure_floor=measure_floor
        )
        # Its result arrives in the thread of the run.
        self._background = BackgroundRun(self._run, partial(self.app.call_later, self._finish_run, self._run))
        self._background.start()
        self._draw()

    def _finish_run(self, run: LoadRun, report: LoadReport | None, problem: InspectorError | None) -> None:
        if run is not self._run:
            return
        self._report = report
        if problem is not None:
            self._problem = error_text(problem, self)
        elif report is None:
            self._problem = "The load test was stopped before its first call."
        if self._journal is not None:
            self._journal.close()
        self._draw()

    def _release(self) -> None:
        """End a run that is not over, and close its recording."""
        if self._background is not None:
            self._background.close()
            self._background = None
        if self._journal is not None:
            self._journal.close()
            self._journal.release()
            self._journal = None

    @property
    def _is_over(self) -> bool:
        return self._run is None or self._report is not None or bool(self._problem)

    # Show

    def _draw_running(self) -> None:
        if not self._is_over:
            self._draw()

    def _draw(self) -> None:
        """Draw the figures so far."""
        run = self._run
        if run is None or not self.is_mounted or not self.is_current:
            return
        report = self._report or run.report()
        self.query_one(HeaderLine).parts = chrome.header(self.session, None, self.size.width)
        self._draw_verdict(run, report)
        self._show("plan-rows", plan_rows(self._plan))
        cells = self._cells("now-rows")
        # Calls in the warm-up count while it runs; the report has those that are left at its end.
        waiting = report if run.phase == "over" else run.arrivals
        self._show("now-rows", now_rows(report, run.seconds, waiting.at_server, waiting.queued, min(cells, 32)))
        self._show("latency-rows", latency_rows(report, self._cells("latency-rows")))
        # Three charts with a name and an empty line each, and two lines below them.
        lines = (self._lines("series-rows") - 8) // 3
        self._show("series-rows", series_rows(report, self._cells("series-rows"), max(lines, 1)))
        self._show("error-rows", error_rows(report, self._cells("error-rows")))
        lines = (self._lines("process-rows") - 3) // 2
        self._show("process-rows", process_rows(report, self._cells("process-rows"), max(lines, 1)))
        self.query_one("#load-latency", Pane).facts = [f"{quantity(report.latency.count, 'answer')} after the warm-up"]
        self.query_one("#load-errors", Pane).facts = [f"{report.failed:,} of {report.sent:,}"] if report.failed else []
        pids = ", ".join(map(str, run.pool.pids[:3]))
        self.query_one("#load-process", Pane).facts = [f"pid {pids}"] if pids else []
        self._draw_footer()

    def _draw_verdict(self, run: LoadRun, report: LoadReport) -> None:
        edge = self.query_one("#load-verdict", Pane)
        edge.title = [("Load  ", "muted"), (", ".join(self._plan.tools), "bright")]
        edge.tone = "error" if self._problem else ""
        states = {
            "connecting": "connecting",
            "floor": "measuring Inspector's own latency",
            "running": "running",
            "draining": "waiting for the last answers",
            "over": "incomplete" if report.incomplete else "done",
        }
        state = "paused" if self._is_paused and not self._is_over else states[run.phase]
        edge.facts = [f"{state}  {min(run.seconds, self._plan.seconds):.1f} s of {self._plan.seconds:g} s"]
        if self._problem:
            row = Row([(self._problem, "error")])
        elif not report.latency.count and not report.failed and run.phase != "over":
            row = Row([("The verdict appears after the warm-up.", "muted")])
        else:
            good = report.keeps_up and not report.stalls and not report.failed
            sign = (f"{signs_now().done} ", "received") if good else (f"{signs_now().finding} ", "finding")
            row = Row([sign, (report.verdict, "bright")], 2)
        self.query_one("#load-verdict-text", FactsView).show(RowSection([row]))

    def _cells(self, id: str) -> int:
        view = self.query_one(f"#{id}", FactsView)
        return max(min(view.content_size.width, view.scrollable_content_region.width) - 2, 20)

    def _lines(self, id: str) -> int:
        return self.query_one(f"#{id}", FactsView).size.height

    def _show(self, id: str, rows: list[Row]) -> None:
        self.query_one(f"#{id}", FactsView).show(RowSection(rows))

    def verb_facts(self) -> LoadFacts:
        """Return the facts on which the verbs depend."""
        run, report = self._run, self._report
        return LoadFacts(
            has_rate=run is not None and run.phase == "running" and isinstance(run.arrivals, OpenArrivals),
            paused=self._is_paused,
            over=self._is_over,
            report=report is not None,
            recorded=report is not None and bool(report.recording),
            narrow=self.size.width < _COUNTS_BESIDE,
        )

    def _draw_footer(self) -> None:
        self.query_one(Footer).offer(self.hints(), "app.quit")

    def action_pause(self) -> None:
        """Let no calls arrive, or go on."""
        self._is_paused = not self._is_paused
        self._change_rate(0.0 if self._is_paused else self._planned_rate)

    def action_faster(self) -> None:
        """Raise the rate by a quarter."""
        self._step(1.25)

    def action_slower(self) -> None:
        """Lower the rate by a fifth."""
        self._step(0.8)

    def _step(self, factor: float) -> None:
        self._planned_rate = float(f"{min(max(self._planned_rate * factor, 0.1), MAX_RATE):.3g}")
        if not self._is_paused:
            self._change_rate(self._planned_rate)

    def _change_rate(self, rate: float) -> None:
        run = self._run
        if run is not None and self._background is not None and isinstance(run.arrivals, OpenArrivals):
            self._background.change_rate(rate)
            self._plan = replace(self._plan, rate=self._planned_rate)
            self._draw()

    def action_next_view(self) -> None:
        """Show the series instead of the latency, or the latency again."""
        self.toggle_class("-series")
        self.call_after_refresh(self._draw)

    @work(exclusive=True, group="dialog")
    async def action_edit(self) -> None:
        """Change the plan and run it."""
        plan = await self.app.push_screen_wait(LoadDialog(self._plan))
        if plan is not None:
            self._plan = plan
            self._start()

    @work(exclusive=True, group="dialog")
    async def action_report(self) -> None:
        """Save the report."""
        report = self._report
        form = await self.app.push_screen_wait(Choose("Save the report", _FORMATS))
        if form is None or report is None:
            return
        label = file_stem(f"{self.session.target.label}-{self._plan.tools[0]}", 60) or "server"
        path = await self.app.push_screen_wait(AskPath("Save the report", f"{label}-load.{form}"))
        if path is None:
            return
        try:
            await asyncio.to_thread(lambda: write_new(path, report_text(report, form).encode()))
        except InspectorError as error:
            self.notify(error.message, severity="error", markup=False)
        else:
            self.notify(f"Saved {path}", markup=False)

    def action_its_messages(self) -> None:
        """Open the recording of the slowest and the failed calls."""
        if self._report is not None and self._report.recording:
            window_of(self).navigator.show_recording(Path(self._report.recording), 0, "the load report")

    def action_leave(self) -> None:
        """Stop the run; when it is over, go back."""
        if self._is_over:
            self.dismiss(None)
        elif self._background is not None:
            self._background.stop()

    def action_quit(self) -> None:
        self.app.exit(0)


def report_text(report: LoadReport, form: str) -> str:
    """Return the report as a file: `html`, `json` or `txt`."""
    if form == "html":
        from inspector.features.load.reports.html import as_html

        return as_html(report)
    if form == "json":
        return json_document(report.as_json())
    from inspector.features.load.reports.text import LoadText

    return "".join(f"{line}\n" for line in LoadText(report).lines())


async def start(screen: MainScreen, tool: str, arguments: Any) -> None:
    """Ask for the plan of a load test of a tool, and show its run."""
    if screen.session.commands is not None:
        call = PlannedCall(tool, arguments if type(arguments) is dict else {})
        await ask_and_load(screen.app, screen.session.commands, LoadPlan((call,)))


async def ask_and_load(app: App[Any], session: Commands, plan: LoadPlan) -> None:
    """Ask for the plan, and for permission where a load could do harm; then show the run."""
    from inspector.features.load.plan import is_this_machine

    target = session.target
    if isinstance(target, RecordingTarget):
        return
    chosen = await app.push_screen_wait(LoadDialog(plan))
    if chosen is None:
        return
    calls = (
        f"{quantity(chosen.users, 'user')} for {chosen.seconds:g} s"
        if chosen.users
        else f"{chosen.rate * chosen.seconds:,.0f} calls"
    )
    tool = session.catalog["tools"].get(chosen.tools[0]) or {}
    if not is_read_only(tool):
        detail = (
            f"The tool “{chosen.tools[0][:80]}” is not annotated read-only: each call may change something ({calls})."
        )
        if not await app.push_screen_wait(Confirm("Call this tool many times?", detail, "call it", "cancel")):
            return
    if not is_this_machine(target):
        detail = f"{target.describe_fully()[:300]} is not on this machine ({calls})."
        if not await app.push_screen_wait(Confirm("Load this server?", detail, "load it", "cancel")):
            return
    app.push_screen(LoadScreen(session, chosen, frozenset(chosen.tools)))
