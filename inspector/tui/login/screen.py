"""The login screen: the steps with their requests and responses, and who is logged in."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical

from inspector.client.session_state import SessionState
from inspector.client.state.login import Authorizations, AuthStep
from inspector.journal.journal import Journal
from inspector.protocol.views import View
from inspector.text import count, duration, safe, size
from inspector.tui.full_screen import FullScreen, app_binding
from inspector.tui.keymap import KeyHint, bindings
from inspector.tui.log.summaries import headers_of
from inspector.tui.login.actions import LoginWork
from inspector.tui.login.steps import LoginStepRows, LoginStepsView, logged_in_rows, plain_fact, step_rows, title
from inspector.tui.main import chrome
from inspector.tui.model.screens import LOGIN_VERBS, LoginFacts
from inspector.tui.model.tabs import TABS
from inspector.tui.model.widths import TWO_COLUMNS
from inspector.tui.pane_keys import VerbsByRules, hints
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.fact_rows import FactsView, Row, RowSection, fact, paragraph, plain
from inspector.tui.widgets.json_view import JsonView
from inspector.tui.widgets.paint import Pieces
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.status_lines import Footer, HeaderLine, TabLine
from inspector.tui.widgets.tab_row import TabLabel, TabRow

_TABS = (TabLabel("response", "response"), TabLabel("request", "request"), TabLabel("headers", "headers"))
_LOOKED_AT = {
    "issuer": "issuer",
    "server": "authorization_servers",
    "resource": "resource",
    "authorize": "code_challenge_methods_supported",
}
"""The member of its document that each step reads."""
_FROM = {"server": "resource", "issuer": "metadata", "authorize": "metadata", "scope": "resource"}
"""For a step without a request: the step whose document it uses."""


def document_of(steps: Sequence[AuthStep], at: int) -> tuple[int, int]:
    """Return the place of the step with the document for step `at`, and its newest request.

    A step that uses an earlier step's document has that one. The result is (at, 0) for none.
    """
    step = steps[at]
    if step.fetches:
        return at, step.fetches[-1]
    if step.name == "authorize" and step.outcome == "ok":
        return at, 0
    if step.name == "scope" and step.facts.get("source") != "metadata":
        return at, 0
    source = _FROM.get(step.name)
    for before in range(at - 1, -1, -1):
        if steps[before].name == source and steps[before].fetches:
            return before, steps[before].fetches[-1]
    return at, 0


class LoginDocument(Pane):
    """One request of a login and its response, both redacted as in the recording."""

    DEFAULT_CSS = """
    LoginDocument > JsonView { height: 1fr; }
    """

    def __init__(self, journal: Journal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._journal = journal
        self._content_key: tuple[object, ...] = ()
        self._facts: View = View({})
        self._why = ""
        self._field = ""
        self._view = JsonView(wrap=True, empty="This step made no request.")

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._view

    def show(self, number: int, step: AuthStep, n: int, *, field: str = "", note: Pieces = "") -> None:
        """Show the request of event `n`, which belongs to the step with this number; 0: the step's own facts.

        `field` is highlighted in the document; `note` is shown at the right of the tabs.
        """
        self.tab_note = note
        if (content_key := (number, step.n, n, field)) == self._content_key:
            return
        self._content_key, self._field = content_key, field
        self.title = [(f"{number} ", "muted"), title(step)] if number else title(step)
        facts: list[Pieces] = []
        self._facts, self._why = View({}), ""
        if n:
            event = self._journal.event(n)
            self._facts, self._why = View(event.fields.get("facts")), str(event.fields.get("text") or "")
            status = self._facts.members.get("status")
            facts.append(
                f"{plain_fact(self._facts.members.get('method'))} {plain_fact(status) if status else 'no answer'}"
            )
            took = self._facts.members.get("ms")
            if isinstance(took, (int, float)) and 0 <= took < 1e9:
                facts.append(duration(round(took * 1000)))
            if body := _body(self._facts, "response"):
                facts.append(size(len(body.encode("utf-8", "replace"))))
        self.facts = facts
        self.tabs = _TABS if n else ()
        if n:
            self._fill()
        else:
            self._show_rows(_own(step))

    def clear(self) -> None:
        """Show nothing."""
        self._content_key = ()
        self.title, self.facts, self.tabs, self.tab_note = "", (), (), ""
        self._view.load("")

    def on_tab_row_chosen(self, event: TabRow.Chosen) -> None:
        event.stop()
        self._fill()

    def step_tab(self, by: int) -> None:
        """Show the next or previous view."""
        if self.tabs:
            self.tab_row.step(by)

    def _fill(self) -> None:
        view, facts = self._view, self._facts
        side = "request" if self.tab == "request" else "response"
        body = _body(facts, side)
        is_json = body.lstrip().startswith(("{", "["))
        if self.tab == "headers":
            self._show_rows(_heads(facts))
        elif side == "response" and facts.members.get("status") is None:
            self._show_rows(paragraph(safe(self._why, 2000), "error"))
        elif side == "request" and not is_json:
            self._show_rows([_request_line(facts, "muted", 5), Row(), *_form(body)])
        elif not body:
            self._show_rows([Row([("empty body", "muted")])])
        else:
            view.shows_cursor = is_json
            view.load(body)
            if side == "response" and self._field:
                view.show_pointer(f"/{self._field}", mark=True)

    def _show_rows(self, rows: Sequence[Row]) -> None:
        self._view.shows_cursor = False
        self._view.set_sections([RowSection(rows)])


def looked_at(step: AuthStep) -> str:
    """Return the member of its document that a step reads; empty for none."""
    field = step.facts.get("field")
    if isinstance(field, str):
        return field
    return _LOOKED_AT.get(step.name, "") if step.outcome != "ok" or step.name in ("issuer", "server") else ""


def _body(facts: View, side: str) -> str:
    return View(facts.object(side)).text("body")


def _request_line(facts: View, role: str, hang: int) -> Row:
    return Row([(f"{plain_fact(facts.members.get('method'))} ", role), plain_fact(facts.members.get("url"))], hang)


def _form(body: str) -> list[Row]:
    """Return the fields of a form, one per line; secrets are already redacted."""
    from urllib.parse import unquote_plus

    rows: list[Row] = []
    for pair in body.split("&")[:200] if body else ():
        name, _, value = pair.partition("=")
        rows.append(Row([(f"{unquote_plus(name)[:200]}  ", "json-key"), unquote_plus(value)[:4000]], 2))
    return rows or [Row([("empty body", "muted")])]


def _heads(facts: View) -> list[Row]:
    """Return the headers of request and response."""
    rows = [_request_line(facts, "bright bold", 2)]
    for side in ("request", "response"):
        if side == "response":
            rows += [Row(), Row([("answer  ", "bright bold"), plain_fact(facts.members.get("status"))])]
        rows += [Row([(f"{name}: ", "muted"), value], 2) for name, value in headers_of(View(facts.object(side)))]
    return rows


def _own(step: AuthStep) -> list[Row]:
    """Return the facts of a step without requests."""
    challenges: Any = step.facts.get("challenge")
    if isinstance(challenges, list) and challenges:
        rows: list[Row] = []
        for challenge in challenges[:8]:
            rows += [Row([("WWW-Authenticate: ", "muted"), plain_fact(challenge)], 2), Row()]
        return rows
    asked = step.facts.get("asked")
    if isinstance(asked, list) and asked:
        text = "The parameters of the authorization URL, except those that bind the answer to this session"
        rows = [Row([(text, "muted")]), Row()]
        for pair in asked[:40]:
            if isinstance(pair, list) and len(pair) == 2:
                rows.append(Row([(f"{plain_fact(pair[0])}  ", "json-key"), plain_fact(pair[1])], 2))
        return rows
    if step.outcome == "open":
        return [Row([("The login did not reach this step.", "muted")])]
    return [Row([("This step made no request.", "muted")])]


LOOK_AGAIN = 0.2
"""Seconds between two reads of the journal."""
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
        *(app_binding(f"tab-{key}", f"tab('{id}')") for id, key, *_ in TABS if key),
    ]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (TWO_COLUMNS, "-wide")]  # noqa: RUF012 - Textual declares it so
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
        self._authorizations = Authorizations(session.journal)
        self._step_rows = LoginStepRows()
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
        self.tick()
        self.set_interval(LOOK_AGAIN, self.tick)

    def verb_facts(self) -> LoginFacts:
        """Return the facts on which the verbs depend."""
        return LoginFacts(self._work.possible, self.session.phase == "connecting", self._work.has_token)

    def tick(self) -> None:
        """Draw what is new. Texts about the remaining time change every minute."""
        self._authorizations.advance()
        minute, events = int(time.time() // 60), len(self._authorizations.numbers)
        seen = (self.session.phase, self._work.has_token, self._token, events, minute, self.size)
        if seen != self._seen:
            self._seen = seen
            self._draw()
        self._draw_lines()
        if self._authorizations.behind:
            self.call_after_refresh(self.tick)

    def _draw_lines(self) -> None:
        header, tabs = self.query_one(HeaderLine), self.query_one(TabLine)
        state = None if self.session.commands is not None else ("recording", "muted")
        header.parts = chrome.header(self.session, state, self.size.width)
        tabs.tabs, tabs.active = chrome.main_tabs(self.session, "server"), "server"

    def _draw(self) -> None:
        view, steps = self.query_one("#auth-step-list", LoginStepsView), self._authorizations.steps()
        failed = next((at for at, step in enumerate(steps) if step.outcome == "failed"), -1)
        stop = (steps[0].n if steps else 0, failed)
        at_end = view.place == len(self._step_rows.steps) - 1
        is_new = stop != self._stop and (failed >= 0 or stop[0] != self._stop[0])
        view.show(steps, at=failed if is_new else -1)
        if failed < 0 and at_end:
            view.action_last()
        self._stop = stop
        edge = self.query_one("#auth-steps", Pane)
        edge.tone = "error" if failed >= 0 else ""
        edge.facts = (f"stopped at step {failed + 1} of {len(steps)}",) if failed >= 0 else ()
        edge.keys = self.hints()
        self._draw_login()
        self.query_one(Footer).offer(self._footer(), "app.quit")

    def _footer(self) -> list[KeyHint]:
        reveal = ["authorization.reveal"] if self._work.has_token else []
        names = ("its-messages", "next-tab", "copy", "leave")
        return hints(self, ("list.down", "step"), *(f"authorization.{name}" for name in names), *reveal)

    def _draw_login(self) -> None:
        login, edge = self._authorizations.logged_in(), self.query_one("#auth-login", Pane)
        edge.display = login is not None and (self.size.width >= TWO_COLUMNS or bool(self._token))
        if login is None:
            return
        rows = logged_in_rows(login, self.session.journal)
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
            outcome_text = "not reached" if step.outcome == "open" else step.text
            rows.append(Row(f"{number:>2} {step.outcome:<7}{title(step):<22}{outcome_text}  {step.rule}"))
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
