"""The Check tab: run the checks, read what they saw, go to the evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual import work
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.worker import Worker, WorkerCancelled, WorkerFailed

from inspector.check.reports import FORMATS, document
from inspector.check.reports.summary import CheckSummary
from inspector.check.result import VERDICTS
from inspector.client.session_state import SessionState
from inspector.errors import InspectorError
from inspector.text import file_stem, json_document
from inspector.tui.check.hosts import choose_hosts
from inspector.tui.check.rows import (
    CheckHead,
    CheckRows,
    FindingView,
    as_text,
    empty_text,
    judging_facts,
    level_word,
    list_facts,
    rows_of,
)
from inspector.tui.check.run import CheckRun, levels
from inspector.tui.dialogs import Choose, Confirm
from inspector.tui.keymap import bindings, keymap_of
from inspector.tui.model.check import CHECK_VERBS, CheckFacts
from inspector.tui.model.widths import TWO_COLUMNS
from inspector.tui.pane_keys import VerbsByRules, hints
from inspector.tui.pane_messages import Copy, HintsChanged, Save
from inspector.tui.widgets.dialog import LineDialog
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fact_rows import Row
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.window import window_of

SOON = 0.05
"""Seconds after which new results are drawn."""
_EVERYTHING = "everything"
_NO_CHECK = "The selected check is shown here: what it saw, its messages and the fix."
_SUFFIXES = {"json": ".json", "junit": ".xml", "sarif": ".sarif", "md": ".md", "html": ".html", "badge": ".svg"}


class CheckList(VirtualList, inherit_bindings=False):
    """The checks, two lines each."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list", without="check")]
    row_height = 2

    def action_select(self) -> None:
        """Open the row; in a list without rows, the pane runs the checks."""
        self.post_message(self.Selected(self, self.cursor, self.row_key(self.cursor) if self.count else None))


class CheckPane(Horizontal, VerbsByRules):
    """The list of checks at the left, the selected check at the right; a narrow screen shows one of them."""

    RULES = CHECK_VERBS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("check")]
    DEFAULT_CSS = """
    CheckPane > #check-list { width: 58%; height: 1fr; }
    CheckPane > #check-finding { width: 1fr; height: 1fr; }
    CheckPane CheckList, CheckPane FindingView { height: 1fr; }
    CheckPane.-alone > #check-list, CheckPane.-alone > #check-finding { width: 1fr; }
    """

    class Scored(Message):
        """The score has changed, or has been removed."""

    class Evidence(Message):
        """Open the recording of the checks at event `n`."""

        def __init__(self, n: int) -> None:
            super().__init__()
            self.n = n

    def __init__(self, session: SessionState, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session
        self._rows = CheckRows()
        self._reading = False
        self._due = False
        self._ran = False
        """Whether checks were running at the last drawing."""
        self._worker: Worker[None] | None = None
        self._problem = ""
        self._check_run: CheckRun | None = None
        self._judging: list[str] = []

    def show_judged(self, judged: int, events: int) -> None:
        """Show how far the judge of the session's messages is, while it is far behind."""
        judging = judging_facts(judged, events)
        if judging != self._judging:
            self._judging = judging
            self.query_one("#check-list", Pane).facts = self._facts()

    @property
    def check_run(self) -> CheckRun:
        """The run and its results."""
        if self._check_run is None:
            window = window_of(self)
            self._check_run = CheckRun(self.session, window.settings, self._draw_soon, keep=window.keep)
        return self._check_run

    @property
    def score(self) -> str:
        """The label of the tab: the score, the progress of the checks, or that they were stopped."""
        check_run = self._check_run
        if check_run is None or check_run.report is None:
            return ""
        if check_run.progress is not None and check_run.progress[1]:
            done, total, _ = check_run.progress
            return f"{100 * min(done, total) // total}%"
        if check_run.stopped:
            return "stopped"
        return "" if check_run.report.score is None else str(check_run.report.score)

    def compose(self) -> ComposeResult:
        with Pane(title="Check", id="check-list"):
            yield CheckHead(id="check-head")
            yield CheckList(self._rows, id="check-rows")
        with Pane(id="check-finding"):
            yield FindingView(id="check-view")

    def on_mount(self) -> None:
        self._rows.keymap = keymap_of(self)
        self._draw()

    async def on_unmount(self) -> None:
        """Close the connections of a run, and its recording."""
        worker = self._worker
        if worker is not None and not worker.is_finished:
            worker.cancel()
            try:
                await worker.wait()
            except (WorkerCancelled, WorkerFailed):
                pass  # the app shows the error
        if self._check_run is not None:
            self._check_run.release()

    def on_resize(self) -> None:
        self._arrange()

    @property
    def _list(self) -> CheckList:
        return self.query_one("#check-rows", CheckList)

    @property
    def _view(self) -> FindingView:
        return self.query_one("#check-view", FindingView)

    @property
    def _alone(self) -> bool:
        return self.screen.size.width < TWO_COLUMNS

    @property
    def current(self) -> CheckSummary | None:
        """The check under the cursor."""
        at = self._list.cursor
        return self._rows.rows[at].checked if 0 <= at < len(self._rows) else None

    def _arrange(self) -> None:
        alone = self._alone
        self.set_class(alone, "-alone")
        self.query_one("#check-list").display = not alone or not self._reading
        self.query_one("#check-finding").display = not alone or self._reading

    def focus_inside(self) -> None:
        """Put the focus where it was, or on the list."""
        if not self.has_focus_within:
            self.screen.set_focus(self._view if self._reading else self._list)

    def _read(self, reading: bool) -> None:
        """Focus the text of the check, or the list."""
        self._reading = reading
        self._arrange()
        self.screen.set_focus(self._view if reading else self._list)
        if reading:
            self._view.to_first()
        self._show_hints()

    def _draw_soon(self) -> None:
        if not self._due and self.is_attached:
            self._due = True
            self.set_timer(SOON, self._draw)

    def _draw(self) -> None:
        """Draw the results so far."""
        self._due = False
        check_run = self.check_run
        check_run.sum_up()
        report = check_run.report
        # Until the user moves the cursor, it stays on the worst result, which may come last.
        to_worst = self._ran and self._list.cursor <= 0
        self._ran = check_run.running
        self._rows.set_report(report)
        self._list.empty = self._empty()
        self._list.source_changed()
        if to_worst:
            self._list.action_first()
        self.query_one("#check-head", CheckHead).show(report, check_run.progress, stopped=check_run.stopped)
        edge = self.query_one("#check-list", Pane)
        edge.facts = self._facts()
        self._show_current()
        self._show_hints()
        self.post_message(self.Scored())

    def _facts(self) -> list[str]:
        return [*self._judging, *list_facts(self.check_run, self._rows.only, self._rows.level)]

    def _empty(self) -> str:
        key = next((hint.label for hint in hints(self, "check.run")), "")
        return empty_text(self.check_run, self._problem, key)

    def _show_current(self) -> None:
        checked, edge = self.current, self.query_one("#check-finding", Pane)
        if checked is None:
            at = self._list.cursor
            edge.title, edge.facts = "Details", ()
            self._view.display_rows(self._rows.about(at) if at >= 0 else [Row([(_NO_CHECK, "muted")])], {})
        else:
            edge.title = [(checked.check.id, "bright")]
            edge.facts = (level_word(checked.check.level),)
            self._view.display_rows(*rows_of(checked, self.check_run.journal, keymap_of(self)))

    def verb_facts(self) -> CheckFacts:
        """Return the facts on which the verbs depend."""
        check_run = self.check_run
        return CheckFacts(
            live=self.session.commands is not None,
            http=self.session.target.kind == "http",
            running=check_run.running,
            reading=self._reading,
            in_text=self._view.has_focus,
            current=self.current is not None,
            report=check_run.report is not None,
            results=check_run.report is not None and bool(check_run.report.checked),
            messages=bool(self._view.messages),
        )

    def _show_hints(self) -> None:
        self.post_message(HintsChanged())

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        if event.list_view is self._list:
            self._show_current()
            self._show_hints()

    def on_virtual_list_selected(self, event: VirtualList.Selected) -> None:
        if event.list_view is not self._list:
            return
        event.stop()
        if event.index < 0:
            if self.check_run.report is None:
                self.action_run()
            return
        folded = self._rows.rows[event.index].folded
        if folded is None:
            self._read(True)
            return
        self._rows.open ^= {folded}
        self._rows.set_report(self.check_run.report)
        self._list.source_changed()

    def on_finding_view_opened(self, event: FindingView.Opened) -> None:
        event.stop()
        self.post_message(self.Evidence(event.n))

    def action_run(self) -> None:
        """Run all checks."""
        self._begin()

    def action_again(self) -> None:
        """Run the selected check again and replace its result."""
        if self.current is not None:
            self._begin(self.current.check.id)

    def _begin(self, only: str = "") -> None:
        if self.check_run.running:
            return
        self._problem = ""
        if not only:
            self._list.action_first()
        if self.session.commands is not None:
            self._worker = self.run_worker(self.check_run.go(only), exclusive=True, group="check", exit_on_error=False)
        else:
            self._worker = self.run_worker(
                self._read_recording, thread=True, exclusive=True, group="check", exit_on_error=False
            )

    def _read_recording(self) -> None:
        try:
            self.check_run.read()
        except InspectorError as error:
            self._problem = error.message
        self.app.call_from_thread(self._draw)

    def action_its_messages(self) -> None:
        """Open the recording of the checks at the message under the cursor, or at the first one."""
        if self._view.messages:
            self.post_message(self.Evidence(self._view.message))

    def action_next(self) -> None:
        """Go to the next failure or warning."""
        self._step(1)

    def action_previous(self) -> None:
        """Go to the previous failure or warning."""
        self._step(-1)

    def _step(self, by: int) -> None:
        at = self._rows.next_fault(self._list.cursor, by)
        if at is not None:
            self._list.cursor = at

    def action_faults(self) -> None:
        """Show only failures, or everything."""
        self._rows.only = ("fail",) if self._rows.only == VERDICTS else VERDICTS
        self._draw()

    @work(exclusive=True, group="dialog")
    async def action_level(self) -> None:
        """Choose the level of the checks that are shown."""
        report = self.check_run.report
        counted = [checked.check.level for checked in report.checked] if report is not None else []
        choices = [(_EVERYTHING, f"{len(counted)} checks")]
        choices += [(level, f"{counted.count(level)} checks") for level in levels() if level in counted]
        chosen = await self.app.push_screen_wait(
            Choose("Show the checks of a level", choices, self._rows.level or _EVERYTHING)
        )
        if chosen is not None:
            self._rows.level = "" if chosen == _EVERYTHING else chosen
            self._draw()

    @work(exclusive=True, group="dialog")
    async def action_allow(self) -> None:
        """Ask which tools may be called, then run all checks."""
        calls = await allowed_calls(self.app, self.session, self.check_run.allowed.calls)
        if calls is not None:
            self.check_run.allowed = replace(self.check_run.allowed, calls=calls)
            self._begin()

    @work(exclusive=True, group="dialog")
    async def action_hosts(self) -> None:
        """Ask for the hosts whose limits are checked, then run all checks."""
        hosts = await choose_hosts(self.app, self.check_run.hosts, ("none", "only the specification"))
        if hosts is not None:
            self.check_run.hosts = hosts
            self._begin()

    def action_login(self) -> None:
        """Include the authorization checks, or exclude them again."""
        self.check_run.allowed = replace(self.check_run.allowed, auth=not self.check_run.allowed.auth)
        self._begin()

    @work(exclusive=True, group="dialog")
    async def action_intrusive(self) -> None:
        """Include the intrusive checks after a confirmation, or exclude them again."""
        if not self.check_run.allowed.intrusive and not await self.app.push_screen_wait(
            Confirm(
                "Run intrusive checks?",
                "They may take long, fill the server's log, make it refuse requests, or stop it.",
                "run them",
                "skip them",
            )
        ):
            return
        self.check_run.allowed = replace(self.check_run.allowed, intrusive=not self.check_run.allowed.intrusive)
        self._begin()

    @work(exclusive=True, group="dialog")
    async def action_report(self) -> None:
        """Ask for a format and a name, and save a report."""
        choices = [("json", "complete; works as a baseline"), *FORMATS.items()]
        format = await self.app.push_screen_wait(Choose("Save a report", choices))
        report = self.check_run.report
        if format is None or report is None:
            return
        text = self._as_json() if format == "json" else document(report, format)
        self.post_message(
            Save(text.encode(), f"{self._file_name()}-check{_SUFFIXES[format]}", f"the report as {format}")
        )

    def action_baseline(self) -> None:
        """Save the results as a baseline."""
        self.post_message(Save(self._as_json().encode(), f"{self._file_name()}-baseline.json", "the baseline"))

    def _as_json(self) -> str:
        assert self.check_run.report is not None
        return json_document(self.check_run.report.as_json())

    def _file_name(self) -> str:
        return file_stem(self.session.target.label, 40) or "server"

    def action_copy(self) -> None:
        """Copy the text of the selected check."""
        if self.current is not None:
            self.post_message(Copy(as_text(self.current, self.check_run.journal, keymap_of(self)), "the finding"))

    def action_leave(self) -> None:
        """Return from the text of the check to the list."""
        self._read(False)

    def action_stop(self) -> None:
        """Stop the checks."""
        if self._worker is not None:
            self._worker.cancel()


Calls = str | tuple[str, ...]
_MODES = (
    ("none", "do not call tools"),
    ("read-only", "only tools annotated as read-only"),
    ("all", "every tool, also those that may delete"),
    ("names", "only the tools that you name"),
)


async def allowed_calls(app: App[int], session: SessionState, now: Calls) -> Calls | None:
    """Return the user's choice: `read-only`, `all`, names, or nothing (empty). None: keep the setting."""
    current = now if isinstance(now, str) and now else "names" if now else "none"
    mode = await app.push_screen_wait(Choose("Which tools may be called?", _MODES, current))
    if mode is None or mode in ("read-only", "all"):
        return mode
    if mode == "none":
        return ()
    tools = {name for tool in session.catalog["tools"].items if isinstance(name := tool.get("name"), str)}
    return await app.push_screen_wait(AskNames(tools, now if isinstance(now, tuple) else ()))


class AskNames(LineDialog[tuple[str, ...]]):
    """Asks for names of tools, separated by commas. An unknown name is shown as an error, and the dialog stays open."""

    def __init__(self, known: set[str], now: tuple[str, ...]) -> None:
        editor = Editor(", ".join(now), placeholder="names, separated by commas", id="names")
        super().__init__("Tools that may be called", editor, "allow")
        self._known = known

    def action_take(self) -> None:
        """Accept the names if the server has these tools."""
        names = tuple(dict.fromkeys(name.strip() for name in self.editor.value.split(",") if name.strip()))
        unknown = next((name for name in names if name not in self._known), "")
        if unknown:
            self.show_note(f"unknown tool {unknown[:40]}")
        else:
            self.dismiss(names)
