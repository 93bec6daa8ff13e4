"""How a login went: the ladder of its steps, each with what was sent and came back, and who is logged in."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen

from inspector.client.authorization import Authorizations, AuthStep
from inspector.client.session import Session
from inspector.errors import InspectorError
from inspector.text import safe
from inspector.tui.events import AnySession
from inspector.tui.keymap import Hint, bindings
from inspector.tui.panes.authorization import Ladder, logged_in_rows, step_rows, title
from inspector.tui.panes.keys import hints
from inspector.tui.rows import Row, RowSection, plain
from inspector.tui.verbs import BY_ID
from inspector.tui.widgets.clipboard import copy
from inspector.tui.widgets.edge import Edge
from inspector.tui.widgets.facts_view import FactsView
from inspector.tui.widgets.status import Footer
from inspector.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from inspector.auth.credential import Login
    from inspector.client.wire import Wire

LOOK_AGAIN = 0.2
"""Seconds between two looks at the journal."""
NARROW = 100

Wanted = int | Literal["again", "quit"] | None
"""What the main screen is to do afterwards: show this event, connect again, leave, or nothing."""


class AuthorizationScreen(Screen[Wanted]):
    """The steps at the left, over who is logged in; at the right what there is to say of the step under the cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("authorization"),
        Binding(BY_ID["app.help"].key, "help", show=False, id="app.help"),
        Binding(BY_ID["app.quit"].key, "quit", show=False, id="app.quit"),
    ]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-wide")]  # noqa: RUF012 - Textual declares it so
    DEFAULT_CSS = """
    AuthorizationScreen { layout: vertical; }
    AuthorizationScreen #auth-body { height: 1fr; }
    AuthorizationScreen #auth-left { width: 58%; }
    AuthorizationScreen #auth-steps { height: 14; }
    AuthorizationScreen #auth-login, AuthorizationScreen #auth-step { height: 1fr; }
    AuthorizationScreen.-narrow #auth-body { layout: vertical; }
    AuthorizationScreen.-narrow #auth-left { width: 1fr; height: 12; }
    AuthorizationScreen.-narrow #auth-steps { height: 1fr; }
    AuthorizationScreen.-narrow #auth-login { display: none; }
    """

    def __init__(self, session: AnySession) -> None:
        super().__init__()
        self.session = session
        self._found = Authorizations(session.journal)
        self._ladder = Ladder()
        self._seen: tuple[str, int] = ("", -1)
        self._begun = 0

    def compose(self) -> ComposeResult:
        with Horizontal(id="auth-body"):
            with Vertical(id="auth-left"):
                empty = "The server has not asked for a login."
                yield Edge(VirtualList(self._ladder, id="auth-ladder", empty=empty), title="Login", id="auth-steps")
                nobody = "Nobody has logged in here."
                yield Edge(FactsView(id="auth-login-rows", empty=nobody), title="Logged in", id="auth-login")
            yield Edge(FactsView(id="auth-step-rows"), id="auth-step")
        yield Footer()

    def on_mount(self) -> None:
        self.query_one("#auth-ladder").focus()
        self.query_one(Footer).note = "tokens, codes and verifiers are never shown or recorded"
        self.tick()
        self.set_interval(LOOK_AGAIN, self.tick)

    def hints(self) -> list[Hint]:
        """What can be done here, now."""
        names = ("again", "log-in", "log-out", "copy", "leave")
        offered = [name for name in names if self.check_action(name.replace("-", "_"), ())]
        return hints(self, ("list.select", "its messages"), *(f"authorization.{name}" for name in offered))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing can be done to a recording; who is connected may log in anew or out, others try again."""
        if action == "again":
            return self.session.can_send and self.session.phase != "connecting"
        if action in ("log_in", "log_out"):
            return self.session.phase == "ready" and self._login() is not None
        return True

    def tick(self) -> None:
        """Look at what is new."""
        self._found.advance()
        seen = (self.session.phase, len(self._found.numbers))
        if seen != self._seen:
            self._seen = seen
            self._draw()
        if self._found.behind:
            self.call_after_refresh(self.tick)

    def _draw(self) -> None:
        ladder, steps = self.query_one("#auth-ladder", VirtualList), self._found.steps()
        self._ladder.steps = steps
        ladder.source_changed()
        failed = next((at for at, step in enumerate(steps) if step.outcome == "failed"), None)
        edge = self.query_one("#auth-steps", Edge)
        edge.tone = "error" if failed is not None else ""
        edge.facts = (f"stopped at step {failed + 1} of {len(steps)}",) if failed is not None else ()
        edge.styles.height = min(max(len(steps), 4) + 2, 20)
        begun = steps[0].n if steps else 0
        if failed is not None:
            ladder.cursor = failed
        elif steps and begun != self._begun:
            ladder.cursor = len(steps) - 1
        self._begun = begun
        found = self._found.logged_in()
        rows = logged_in_rows(found, self.session.journal) if found is not None else []
        self.query_one("#auth-login-rows", FactsView).show(RowSection(rows))
        self.query_one(Footer).hints = self.hints()
        self._show_step()

    def on_virtual_list_highlighted(self) -> None:
        self._show_step()

    def on_virtual_list_selected(self) -> None:
        step = self._step()
        if step is not None and step.n:
            self.dismiss(step.fetches[-1] if step.fetches else step.n)

    def _step(self) -> AuthStep | None:
        at = self.query_one("#auth-ladder", VirtualList).cursor
        return self._ladder.steps[at] if 0 <= at < len(self._ladder.steps) else None

    def _show_step(self) -> None:
        step, edge = self._step(), self.query_one("#auth-step", Edge)
        edge.title = "" if step is None else title(step)
        edge.tone = "error" if step is not None and step.outcome == "failed" else ""
        rows = step_rows(step, self.session.journal) if step is not None else []
        self.query_one("#auth-step-rows", FactsView).show(RowSection(rows))

    # What can be done

    def action_leave(self) -> None:
        self.dismiss(None)

    def action_quit(self) -> None:
        """Leave, as from anywhere."""
        self.dismiss("quit")

    def action_help(self) -> None:
        from inspector.tui.screens.help import Help

        self.app.push_screen(Help(self.app.verb_keys, self.focused or self))  # type: ignore[attr-defined]

    def action_again(self) -> None:
        """Connect anew: what has failed before is tried again."""
        self.dismiss("again")

    def action_copy(self) -> None:
        """All steps, and what there is to say of the failed one, as plain text."""
        rows: list[Row] = [Row(safe(self.session.target.describe())), Row()]
        for number, step in enumerate(self._ladder.steps, 1):
            said = "not reached" if step.outcome == "open" else step.text
            rows.append(Row(f"{number:>2} {step.outcome:<7}{title(step):<22}{said}  {step.rule}"))
        for step in self._ladder.steps:
            if step.outcome == "failed":
                rows += [Row(), *step_rows(step, self.session.journal)]
        copy(self, plain(rows), "how the login went")

    def action_log_in(self) -> None:
        """Log in anew, whatever is stored."""
        if (login := self._login()) is not None:
            self.run_worker(self._log_in(login), exclusive=True, group="login", exit_on_error=False)

    def action_log_out(self) -> None:
        """Give the tokens back and forget them."""
        if (login := self._login()) is not None:
            self.run_worker(self._log_out(login), exclusive=True, group="login", exit_on_error=False)

    async def _log_in(self, login: Login) -> None:
        try:
            await login.run(login.authorization.log_in, self._recorder())
        except InspectorError as error:
            self.notify(f"{error.message} {error.hint}", severity="error", timeout=10)
        else:
            self.notify("Logged in anew.", timeout=4)

    async def _log_out(self, login: Login) -> None:
        try:
            taken = await login.run(login.authorization.log_out, self._recorder())
        except InspectorError as error:
            self.notify(f"{error.message} {error.hint}", severity="error", timeout=10)
        else:
            left = "" if taken else " The tokens were not taken back: they are good until they end."
            self.notify(f"Logged out.{left}", timeout=6)

    def _recorder(self) -> Wire:
        from inspector.client.wire import Wire

        assert isinstance(self.session, Session)
        return Wire(self.session.journal, self.session, lambda: None)

    def _login(self) -> Login | None:
        """Our way into the server; None on a recording, and where nothing can log in."""
        if not isinstance(self.session, Session):
            return None
        from inspector.auth.credential import Authorizer
        from inspector.config.targets import HttpTarget

        authorizer, target = self.session.options.authorize, self.session.target
        if not isinstance(authorizer, Authorizer) or not isinstance(target, HttpTarget):
            return None
        login = authorizer.login(target)
        return login if not login.idle else None
