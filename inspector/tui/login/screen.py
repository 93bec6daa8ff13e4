"""The login screen: the steps with their requests and responses, and who is logged in."""

from __future__ import annotations

import time
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from inspector.client.session_state import SessionState
from inspector.client.state.login import Authorizations, AuthStep
from inspector.text import count, safe
from inspector.tui.full_screen import FullScreen, app_binding
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.login.actions import LoginWork
from inspector.tui.login.document import LoginDocument, document_of, looked_at
from inspector.tui.login.facts import logged_in_rows, step_rows
from inspector.tui.login.steps import LoginStepRows, LoginStepsView, title
from inspector.tui.main import chrome
from inspector.tui.model.screens import LOGIN_VERBS, LoginFacts
from inspector.tui.model.tabs import TABS
from inspector.tui.pane_keys import VerbsByRules, hints
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.fact_rows import FactsView, Row, RowSection, fact, plain
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.status_lines import Footer, HeaderLine, TabLine

LOOK_AGAIN = 0.2
"""Seconds between two reads of the journal."""
NARROW = 100
_MAX_OF_LOGIN = 20
"""Lines of the pane about the token."""

NextAction = int | str | None
"""The next action of the main screen: show this event, connect `again`, `quit`, show the tab of this name."""


class AuthorizationScreen(FullScreen[NextAction], VerbsByRules):
    """The steps at the left, above the token; at the right the document of the step under the cursor."""

    RULES = LOGIN_VERBS
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("authorization"),
        app_binding("quit", "quit"),
        *(app_binding(f"tab-{key}", f"tab('{id}')") for id, key, *_ in TABS),
    ]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-wide")]  # noqa: RUF012 - Textual declares it so
    DEFAULT_CSS = """
    AuthorizationScreen #auth-body { height: 1fr; }
    AuthorizationScreen #auth-left { width: 58%; }
    AuthorizationScreen #auth-right { width: 1fr; }
    AuthorizationScreen #auth-steps, AuthorizationScreen LoginDocument { height: 1fr; }
    AuthorizationScreen #auth-login, AuthorizationScreen #auth-again { display: none; }
    AuthorizationScreen.-narrow #auth-body { layout: vertical; }
    AuthorizationScreen.-narrow #auth-left { width: 1fr; height: 2fr; }
    AuthorizationScreen.-narrow #auth-right { height: 1fr; }
    """

    def __init__(self, session: SessionState) -> None:
        super().__init__()
        self.session = session
        self._found = Authorizations(session.journal)
        self._step_rows = LoginStepRows(step_rows)
        self._work = LoginWork(self, session)
        self._seen: tuple[object, ...] = ()
        self._stop: tuple[int, int] = (0, -1)
        """Which login is shown, by its first event, and where it stopped."""
        self._token = ""

    def compose(self) -> ComposeResult:
        yield HeaderLine()
        yield TabLine(hints=hints(self, "app.help"))
        with Horizontal(id="auth-body"):
            with Vertical(id="auth-left"):
                empty = "The server has not asked for a login."
                yield Pane(
                    LoginStepsView(self._step_rows, empty=empty, id="auth-step-list"),
                    title="Authorization",
                    id="auth-steps",
                )
                yield Pane(FactsView(id="auth-login-rows"), title="Logged in", id="auth-login")
            with Vertical(id="auth-right"):
                yield LoginDocument(self.session.journal, id="auth-document")
                yield LoginDocument(self.session.journal, id="auth-again")
        yield Footer()

    def on_mount(self) -> None:
        self.query_one("#auth-step-list").focus()
        self.query_one(Footer).note = "tokens, codes and verifiers are hidden and not recorded"
        self.tick()
        self.set_interval(LOOK_AGAIN, self.tick)

    def verb_facts(self) -> LoginFacts:
        """The facts on which the verbs depend."""
        return LoginFacts(self._work.possible, self.session.phase == "connecting", self._work.has_token)

    def tick(self) -> None:
        """Draw what is new. Texts about the remaining time change every minute."""
        self._found.advance()
        seen = (
            self.session.phase,
            self._work.has_token,
            self._token,
            len(self._found.numbers),
            int(time.time() // 60),
            self.size,
        )
        if seen != self._seen:
            self._seen = seen
            self._draw()
        self._draw_lines()
        if self._found.behind:
            self.call_after_refresh(self.tick)

    def _draw_lines(self) -> None:
        header, tabs = self.query_one(HeaderLine), self.query_one(TabLine)
        header.parts = chrome.header(
            self.session, None if self.session.commands is not None else ("recording", "muted"), self.size.width
        )
        tabs.tabs, tabs.active = chrome.main_tabs(self.session), "server"

    def _draw(self) -> None:
        view, steps = self.query_one("#auth-step-list", LoginStepsView), self._found.steps()
        failed = next((at for at, step in enumerate(steps) if step.outcome == "failed"), -1)
        stop = (steps[0].n if steps else 0, failed)
        at_end = view.place == len(self._step_rows.steps) - 1
        if stop != self._stop and (failed >= 0 or stop[0] != self._stop[0]):
            view.show(steps, at=failed)
        else:
            view.show(steps)
        if failed < 0 and at_end:
            view.action_last()
        self._stop = stop
        edge = self.query_one("#auth-steps", Pane)
        edge.tone = "error" if failed >= 0 else ""
        edge.facts = (f"stopped at step {failed + 1} of {len(steps)}",) if failed >= 0 else ()
        edge.keys = self.hints()
        self._draw_login()
        self.query_one(Footer).hints = self._footer()

    def _footer(self) -> list[KeyHint]:
        reveal = ["authorization.reveal"] if self._work.has_token else []
        names = ("its-messages", "next-tab", "copy", "leave")
        return hints(self, ("list.down", "step"), *(f"authorization.{name}" for name in names), *reveal, "app.quit")

    def _draw_login(self) -> None:
        found, edge = self._found.logged_in(), self.query_one("#auth-login", Pane)
        edge.display = found is not None and (self.size.width >= NARROW or bool(self._token))
        if found is None:
            return
        rows = logged_in_rows(found, self.session.journal)
        if self._token:
            rows = [*fact("token", self._token, "ask"), *rows]
        edge.styles.height = min(len(rows) + 3, _MAX_OF_LOGIN)
        self.query_one("#auth-login-rows", FactsView).show(RowSection(rows))

    def on_login_steps_view_moved(self) -> None:
        """Show the document of the step under the cursor, and beside it that of its last run."""
        view = self.query_one("#auth-step-list", LoginStepsView)
        document, beside = self.query_one("#auth-document", LoginDocument), self.query_one("#auth-again", LoginDocument)
        step, steps = view.step, self._step_rows.steps
        if step is None:
            document.clear()
            beside.display = False
            return
        at, n = document_of(steps, view.place)
        document.show(at + 1, steps[at], n, field=looked_at(step))
        beside.display = bool(step.again)
        if step.again:
            again = step.again[-1]
            n = again.fetches[-1] if again.fetches else 0
            times = "again" if len(step.again) == 1 else f"again, {count(len(step.again))} times"
            clock = self.session.journal.clock(again.t)
            beside.show(0, again, n, field=looked_at(again), note=f"{times}, at {clock:%H:%M:%S}")

    def _step(self) -> AuthStep | None:
        return self.query_one("#auth-step-list", LoginStepsView).step

    # Actions

    def on_tab_line_chosen(self, event: TabLine.Chosen) -> None:
        self.action_tab(event.tab)

    def action_tab(self, id: str) -> None:
        """Go to another tab of the main screen."""
        self.dismiss(id)

    def action_quit(self) -> None:
        """Quit the program."""
        self.dismiss("quit")

    def action_open(self) -> None:
        """Unfold the step, or fold it."""
        self.query_one("#auth-step-list", LoginStepsView).action_select()

    def action_its_messages(self) -> None:
        """Go to the messages of the step."""
        step = self._step()
        if step is not None and step.n:
            self.dismiss(step.fetches[-1] if step.fetches else step.n)

    def action_next_tab(self) -> None:
        for document in self.query(LoginDocument):
            document.step_tab(1)

    def action_previous_tab(self) -> None:
        for document in self.query(LoginDocument):
            document.step_tab(-1)

    def action_copy(self) -> None:
        """Copy all steps, and the text of the failed one."""
        rows: list[Row] = [Row(safe(self.session.target.describe())), Row()]
        for number, step in enumerate(self._step_rows.steps, 1):
            said = "not reached" if step.outcome == "open" else step.text
            rows.append(Row(f"{number:>2} {step.outcome:<7}{title(step):<22}{said}  {step.rule}"))
        for step in self._step_rows.steps:
            if step.outcome == "failed":
                rows += [Row(), *step_rows(step)]
        copy(self, plain(rows), "the login steps")

    def action_again(self) -> None:
        """Run the step again, alone, or show why it cannot run."""
        view = self.query_one("#auth-step-list", LoginStepsView)
        if view.step is not None:
            self._work.again(list(self._step_rows.steps), view.place)

    def action_log_in(self) -> None:
        """Log in again from the first step: directly on an open connection, else by connecting again."""
        self._hide_token()
        if self.session.phase == "ready":
            self._work.log_in()
        else:
            self.dismiss("again")

    def action_otherwise(self) -> None:
        """Ask for client, scopes, issuer or grant, and log in with them."""
        self._work.otherwise(lambda: self.dismiss("again"))

    def action_log_out(self) -> None:
        """Revoke the tokens and delete them."""
        self._hide_token()
        self._work.log_out()

    def action_reveal(self) -> None:
        """Show the token itself, or hide it again. Nothing else shows it."""
        if self._token:
            self._hide_token()
        else:
            self._token = self._work.token
            self.tick()

    def _hide_token(self) -> None:
        self._token = ""
        self.tick()
