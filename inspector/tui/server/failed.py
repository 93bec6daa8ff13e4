"""The pane of a failed connection: one sentence with the cause, the last lines of stderr, the steps so far."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.message import Message

from inspector.client.session_state import Commands, SessionState
from inspector.client.state.login import Authorizations
from inspector.client.state.steps import ConnectionStep, beside_error, connection_steps
from inspector.config.edited_target import edited
from inspector.config.settings import Settings
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import AuthorizationNeeded, InspectorError, ServerExited, TargetError
from inspector.log_lines import display_lines
from inspector.protocol.forms.values import json_of
from inspector.protocol.views import View
from inspector.text import quantity, safe
from inspector.tui.advice import advice, error_text
from inspector.tui.keymap import bindings, keymap_of
from inspector.tui.login.actions import LoginWork
from inspector.tui.login.steps import title
from inspector.tui.model.server import FAILED_VERBS, ServerTabFacts
from inspector.tui.pane_keys import VerbsByRules, hints
from inspector.tui.pane_messages import Copy, EditTargetWanted, HintsChanged, ShowAuthorization, WatchFiles
from inspector.tui.server.steps import Examination, connecting_rows, fix_rows, printed, step_rows
from inspector.tui.source_location import open_source, source_locations
from inspector.tui.widgets.dialog import LineDialog
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.fact_rows import LABEL, FactsView, Row, RowSection, fact, paragraph, plain
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.wrapping import wrap

if TYPE_CHECKING:
    from inspector.doctor.diagnosis import FailureCause

_PLAIN_WIDTH = 100
"""Width in cells of the steps in a copied text."""


_FRAME = 4
"""Lines of the pane beside the facts: its edge, and the heading of stderr with the line above it."""

_CALL = 400
"""Characters of a lost call that are shown."""
_LEAST_LINES = 10
"""Lines of stderr that are shown even if the pane has to scroll: a traceback is the cause."""


class FailedPane(Container, VerbsByRules):
    """Replaces the lists and the work pane while the connection is being made, has failed, or is lost."""

    RULES = FAILED_VERBS
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("failed")]

    class Again(Message):
        """Connect again, and then send the lost call again if wanted."""

        def __init__(self, *, and_call: bool = False) -> None:
            super().__init__()
            self.and_call = and_call

    class Stop(Message):
        """Stop connecting."""

    def __init__(self, session: SessionState, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.session = session
        self._seen: tuple[object, ...] = ()
        self._authorizations = Authorizations(session.journal)
        self._examination: Examination | None = None
        self._examined = 0
        self._watching = False
        self.lost_call: Callable[[], int] = lambda: 0
        """Returns the request of the call that was lost with the connection; 0 for none."""
        self._cause: FailureCause | None = None
        self._explained = -1
        """The phase, as a number of changes, whose cause is known or being searched."""

    def compose(self) -> ComposeResult:
        yield Pane(FactsView(id="failed-rows", what=""), id="failed-edge")

    def verb_facts(self) -> ServerTabFacts:
        """Return the facts on which the verbs depend."""
        return ServerTabFacts(
            live=self.session.commands is not None,
            stdio=self.session.target.kind == "stdio",
            names_file=bool(source_locations(self._stderr)),
            logins=bool(self._authorizations.numbers),
            watching=self._watching,
            connecting=self._connecting,
            lost_call=self.lost_call() > 0,
            needs_login=isinstance(self.session.error, AuthorizationNeeded),
            hides_cause=self._examination is not None and self.session.error is not None,
        )

    @property
    def _stderr(self) -> str:
        """The last lines of stderr that are shown; empty without them."""
        error = self.session.error
        return (
            "\n".join(display_lines(error.stderr))
            if isinstance(error, ServerExited) and self._examination is None
            else ""
        )

    def action_open_source(self) -> None:
        """Open the file that stderr names, such as the last frame of a traceback."""
        open_source(self, self.session, self._stderr)

    @property
    def _connecting(self) -> bool:
        return self.session.phase == "connecting" and self._examination is None

    @property
    def examining(self) -> bool:
        """Whether the doctor's steps are shown."""
        return self._examination is not None

    def on_resize(self) -> None:
        self.tick()

    def tick(self) -> None:
        """Draw what is new, once the width is known."""
        if not self.size.width:
            return
        if self._authorizations.advance():
            self.post_message(HintsChanged())
        if self._authorizations.behind:
            self.call_after_refresh(self.tick)
        phase = self.session.phase
        if self._examination is not None and (
            phase == "ready" or (phase == "connecting" and not self._examination.running)
        ):
            self._end_examination()
        progress = (int(time.monotonic() * 2), len(self.session.journal)) if self._connecting else ()
        reports = self._examination is not None
        state = (self.session.changes["phase"], reports)
        seen = (state, self.size.width, self.size.height, self._examined, self._cause, progress)
        if seen == self._seen:
            return
        if self._seen[:1] != seen[:1]:
            self.post_message(HintsChanged())
        self._seen = seen
        if self._examination is not None:
            self._show_examination(self._examination)
        elif self._connecting:
            self._show_connecting()
        elif self.session.error is not None:
            self._show_failed(self.session.error)

    def _show_examination(self, examination: Examination) -> None:
        """Show the doctor's report, or its steps so far."""
        edge = self.query_one(Pane)
        edge.tone, edge.title, edge.facts = "", "Doctor", ()
        self.query_one(FactsView).show(RowSection(examination.rows(self.size.width - 6)))

    def _show_connecting(self) -> None:
        """Show the progress of the connection."""
        session, edge = self.session.commands, self.query_one(Pane)
        assert session is not None
        edge.tone, edge.title = "", f"Connecting to {safe(session.target.label, 60)}"
        noise = printed(session)
        edge.facts = ([(noise, "finding")],) if noise else ()
        self.query_one(FactsView).show(RowSection(connecting_rows(session, self.size.width - 6)))

    def _show_failed(self, error: InspectorError) -> None:
        """Show why the connection failed."""
        self._explain(error)
        edge = self.query_one(Pane)
        edge.tone, edge.facts = "error", ()
        lost = self.session.phase == "lost"
        edge.title = "Connection lost" if lost else "Connection failed"
        if isinstance(error, ServerExited):
            edge.title = "The server exited" if lost else "The server exited before it answered"
            if error.status is not None:
                edge.facts = (f"exit code {error.status}" if error.status >= 0 else f"signal {-error.status}",)
        self.query_one(FactsView).show(RowSection(self._rows(self.size.width - 6)))

    def _explain(self, error: InspectorError) -> None:
        """Find the cause in the recording, once per failure, and show it as the headline."""
        phase = self.session.changes["phase"]
        session = self.session.commands
        if phase != self._explained and session is not None and session.phase == "failed":
            self._explained, self._cause = phase, None
            if not isinstance(error, AuthorizationNeeded):
                self._find_cause(session, error, phase)

    @work(exclusive=True, group="cause", exit_on_error=False)
    async def _find_cause(self, session: Commands, error: InspectorError, phase: int) -> None:
        from inspector.doctor.attempt import explain

        cause = await asyncio.to_thread(explain, session.target, session.journal, error)
        if phase == self._explained:
            self._cause = cause
            self.tick()

    def _rows(self, width: int, *, whole: bool = False) -> list[Row]:
        error = self.session.error
        assert error is not None
        cause = self._cause if self.session.phase == "failed" else None
        rows = paragraph(cause.text if cause is not None else error.message, "bright")
        if cause is not None and (cause.fix.text or cause.fix.command):
            rows += fix_rows(cause.fix)
        elif error.hint and not (isinstance(error, ServerExited) and error.stderr):
            label = "Note  " if isinstance(error, ServerExited) else "Fix   "
            rows.append(Row([(label, "bright"), (advice(error.hint, keymap_of(self)), "normal")], 6))
        rows += self._lost_rows(self.size.height - _FRAME - _height(rows, width), width, whole=whole)
        steps = connection_steps(self.session.journal, self.session.upto)
        if isinstance(error, AuthorizationNeeded):
            steps = [*beside_error(steps, error.code, "no answer without a login"), *self._login_step()]
        last = [Row(), *step_rows(steps, width)]
        if isinstance(error, ServerExited) and error.stderr:
            room = max(self.size.height - _height([*rows, *last], width) - _FRAME, _LEAST_LINES)
            rows += _last_lines(display_lines(error.stderr), width, room if not whole else len(error.stderr) * width)
        return [*rows, *last]

    def _lost_rows(self, room: int, width: int, *, whole: bool) -> list[Row]:
        """Return the lost call, cut to `room` lines if it need not be `whole`, and how to send it again."""
        n = self.lost_call()
        message = self.session.journal.event(n).message if n else None
        if not isinstance(message, dict):
            return []
        params = View(View(message).object("params"))
        name = params.text("name") or params.text("uri")
        arguments = params.members.get("arguments")
        sent = f"{name}  {json_of(arguments)}" if arguments else name
        key = next((hint.label for hint in hints(self, "failed.call-again")), "")
        instruction = f"{key} connects and sends it again. The other tabs keep lists, forms and results."
        again = fact("", instruction, "muted") if self.session.commands is not None else []
        # The way out of it is not pushed out by long arguments.
        lines = max(room - _height([Row(), *again], width), 1)
        cells = _CALL if whole else min(lines * max(width - LABEL, 1) - lines, _CALL)
        return [Row(), *fact("lost call", safe(sent, cells), "bright"), *again]

    def _login_step(self) -> list[ConnectionStep]:
        """Return how far the login got."""
        steps = self._authorizations.steps()
        failed = next((at for at, step in enumerate(steps) if step.outcome == "failed"), None)
        if failed is None:
            return []
        where = f"stopped at step {failed + 1} of {len(steps)}: {title(steps[failed])}"
        return [ConnectionStep("login", "failed", where, steps[failed].t, steps[failed].n)]

    def action_copy(self) -> None:
        """Copy cause, steps and last lines of stderr as text; of a doctor's run, its report for an issue."""
        diagnosis = self._examination.diagnosis if self._examination is not None else None
        if diagnosis is not None:
            from inspector.doctor.report import paste
            from inspector.version import __version__

            self.post_message(Copy(paste(diagnosis, f"inspector {__version__}"), "the doctor's report"))
            return
        if self._examination is not None:
            rows = self._examination.rows(_PLAIN_WIDTH)
        else:
            rows = self._rows(_PLAIN_WIDTH, whole=True)
        words = f"{safe(self.session.target.describe())}\n\n{plain(rows)}"
        self.post_message(Copy(words, "the error report"))

    def action_doctor(self) -> None:
        """Run the doctor in the background; press again to repeat."""
        session = self.session.commands
        assert session is not None
        self._end_examination()
        if session.phase == "connecting":
            self.post_message(self.Stop())
        settings, keep = getattr(self.app, "settings", None) or Settings(), bool(getattr(self.app, "keep", False))
        self._examination = Examination(session, settings, keep, self._news)
        self._examination.start()
        self._news()

    def action_back(self) -> None:
        """Show the cause again instead of the doctor's report."""
        self._end_examination()
        self._news()

    def _end_examination(self) -> None:
        """Stop the doctor, and drop its report."""
        if self._examination is not None:
            self._examination.stop()
            self._examination = None

    def _news(self) -> None:
        self._examined += 1
        if self.is_attached:
            self.tick()

    def action_edit(self) -> None:
        """Change the command or the URL, and open it instead."""
        self.post_message(EditTargetWanted())

    def action_watch(self) -> None:
        """Restart the server when one of its files changes, or stop watching them."""
        self.post_message(WatchFiles())

    def show_watch(self, on: bool) -> None:
        """Show whether its files are watched."""
        self._watching = on
        self.post_message(HintsChanged())

    def action_authorization(self) -> None:
        """Show the login and where it stopped."""
        self.post_message(ShowAuthorization())

    def action_otherwise(self) -> None:
        """Ask for client, scopes, issuer or grant, and connect with them."""
        LoginWork(self.screen, self.session).otherwise(lambda: self.post_message(self.Again()))

    def action_stop(self) -> None:
        """Stop connecting."""
        self.post_message(self.Stop())

    def action_again(self) -> None:
        """Connect again, with the same command or URL."""
        self._connect_again()

    def action_call_again(self) -> None:
        """Connect again, and send the lost call again."""
        self._connect_again(and_call=True)

    def _connect_again(self, *, and_call: bool = False) -> None:
        self._end_examination()
        self.post_message(self.Again(and_call=and_call))


def _last_lines(lines: Sequence[str], width: int, room: int) -> list[Row]:
    """Return the last lines of stderr that fit: the very last one names the cause most often."""
    rows: list[Row] = []
    for at in range(len(lines) - 1, -1, -1):
        more = paragraph(lines[at], indent=2)
        room -= _height(more, width)
        if room < 0 and rows:
            head = f"stderr, last lines; {quantity(at + 1, 'line')} before them in the messages"
            return [Row(), Row([(head, "muted")]), *rows]
        rows = [*more, *rows]
    return [Row(), Row([("stderr, last lines", "muted")]), *rows]


def _height(rows: list[Row], width: int) -> int:
    """Return the lines that rows need when they are wrapped."""
    return sum(len(wrap(plain([row]), width, row.hang)) for row in rows)


class EditTarget(LineDialog[StdioTarget | HttpTarget]):
    """One line with the command or URL as shown; secrets stay hidden. An invalid one is shown as an error."""

    DEFAULT_CSS = """
    EditTarget > Pane { max-width: 110; }
    """

    def __init__(self, target: StdioTarget | HttpTarget) -> None:
        stdio = isinstance(target, StdioTarget)
        title = "Another command" if stdio else "Another URL"
        super().__init__(title, Editor(target.describe(), id="target"), "start" if stdio else "connect")
        self._target = target

    def on_mount(self) -> None:
        super().on_mount()
        target = self._target
        if isinstance(target, StdioTarget):
            option, kept = "--env NAME=VALUE", list(target.env)
        else:
            option, kept = "--header 'NAME: VALUE'", [name for name, _ in target.headers]
        stay = f" {', '.join(kept[:5])}{', …' if len(kept) > 5 else ''} stays." if kept else ""
        self.show_note(f"{option} may stand before it.{stay}", "muted")

    def on_editor_changed(self, event: Editor.Changed) -> None:
        event.stop()
        self.show_note("")

    def action_take(self) -> None:
        """Accept the typed command or URL."""
        try:
            self.dismiss(edited(self._target, self.editor.value))
        except TargetError as error:
            self.show_note(error_text(error, self))
