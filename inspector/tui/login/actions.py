"""What can be done about a login from its view: a step again, all of it anew, otherwise, or given back."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from inspector.client.session_state import SessionState
from inspector.client.state.login import AuthStep
from inspector.errors import InspectorError
from inspector.tui.advice import told
from inspector.tui.login.steps import title
from inspector.tui.window import window_of

if TYPE_CHECKING:
    from inspector.auth.credential import Authorizer, Login
    from inspector.transports.base import Sink

TOLD_SECONDS = 10


class LoginWork:
    """Acts for a screen on the login of its session. On a recording nothing is `possible`."""

    def __init__(self, screen: Screen[Any], session: SessionState) -> None:
        self._screen = screen
        self._session = session
        self._runs = 0

    @property
    def possible(self) -> bool:
        """Whether anything can be done: the session is live, and has a way to log in."""
        return self._authorizer is not None

    @property
    def has_token(self) -> bool:
        """Whether there is a token that was granted."""
        login = self._login
        return login is not None and login.authorization.grant is not None

    @property
    def token(self) -> str:
        """The token itself, to be shown where that is asked for; empty without one."""
        login = self._login
        grant = login.authorization.grant if login is not None else None
        return grant.access_token if grant is not None else ""

    def again(self, steps: list[AuthStep], at: int) -> None:
        """Run the step at a place again, alone, or say why that cannot be."""
        from inspector.auth import rerun_step

        login, step = self._login, steps[at]
        if login is None:
            self._say(f"The server was asked nothing yet: {title(step)} cannot be run alone. Log in anew.")
            return
        known = rerun_step.before([(each.name, each.rule, each.facts) for each in steps[: at + 1]])
        if (
            reason := rerun_step.why_not(step.name, known, login.authorization)
            if step.n
            else "It was not reached: log in anew."
        ):
            self._say(reason)
            return
        self._runs += 1
        recorder = rerun_step.StepRecorder(self._recorder(), step.n, self._runs)
        self._run(self._again(login, recorder, step.name, known))

    def log_in(self) -> None:
        """Log in anew, whatever is stored."""
        if (login := self._login) is not None:
            self._run(self._log_in(login))

    def log_in_if_needed(self) -> None:
        """Log in unless that was done while connecting, or the server wants no login; say which."""
        if self.has_token:
            self._say("You are logged in.")
        elif self._login is None:
            self._say("The server opens without a login.")
        else:
            self.log_in()

    def log_out(self) -> None:
        """Give the tokens back and forget them."""
        if (login := self._login) is not None:
            self._run(self._log_out(login))

    def otherwise(self, then: Callable[[], object]) -> None:
        """Ask with what to log in, and do so; `then` is called where that takes another connection."""
        authorizer = self._authorizer
        if authorizer is None:
            return

        def take(said: Any) -> None:
            if said is None:
                return
            authorizer.options = said
            if self._session.phase == "ready":
                # The connection stays: it takes its token from the same login.
                login = authorizer.login(self._session.target)  # type: ignore[arg-type]
                login.reset()
                if login.options.bearer:
                    self._say("The token that you gave is sent from now on.")
                else:
                    self._run(self._log_in(login))
            else:
                then()

        window_of(self._screen).navigator.ask_login_options(authorizer.options, take)

    # Parts

    async def _again(self, login: Login, recorder: Any, name: str, known: Any) -> None:
        from inspector.auth import rerun_step

        await login.run(lambda: rerun_step.step(login.authorization, name, known), recorder)

    async def _log_in(self, login: Login) -> None:
        await login.run(login.authorization.log_in, self._recorder())
        self._say("Logged in anew.")

    async def _log_out(self, login: Login) -> None:
        taken = await login.run(login.authorization.log_out, self._recorder())
        self._say(f"Logged out.{'' if taken else ' The tokens were not taken back: they are good until they end.'}")

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        self._screen.run_worker(self._told(work), exclusive=True, group="login", exit_on_error=False)

    async def _told(self, work: Coroutine[Any, Any, None]) -> None:
        """Do it, and say what went wrong."""
        try:
            await work
        except InspectorError as error:
            self._screen.notify(told(error, self._screen), severity="error", timeout=TOLD_SECONDS)

    def _say(self, words: str) -> None:
        self._screen.notify(words, timeout=TOLD_SECONDS)

    def _recorder(self) -> Sink:
        assert self._session.commands is not None
        return self._session.commands.recorder()

    @property
    def _authorizer(self) -> Authorizer | None:
        session = self._session.commands
        if session is None:
            return None
        from inspector.auth.credential import Authorizer
        from inspector.config.targets import HttpTarget

        found = session.options.authorize
        return found if isinstance(found, Authorizer) and isinstance(session.target, HttpTarget) else None

    @property
    def _login(self) -> Login | None:
        """Our way into the server; None where it was never asked for one."""
        authorizer = self._authorizer
        if authorizer is None:
            return None
        login = authorizer.login(self._session.target)  # type: ignore[arg-type]
        return None if login.idle else login
