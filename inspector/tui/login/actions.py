"""The actions on a login in its view: run a step again, log in again, choose other credentials, log out."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from inspector.client.session_state import SessionState
from inspector.client.state.login import AuthStep
from inspector.errors import InspectorError
from inspector.tui.advice import error_text
from inspector.tui.login.steps import title
from inspector.tui.window import window_of

if TYPE_CHECKING:
    from inspector.auth.credential import Authorizer, Login
    from inspector.transports.base import Sink

NOTICE_SECONDS = 10


class LoginWork:
    """Acts for a screen on the login of its session. For a recording, `possible` is False."""

    def __init__(self, screen: Screen[Any], session: SessionState) -> None:
        self._screen = screen
        self._session = session
        self._runs = 0

    @property
    def possible(self) -> bool:
        """Whether actions are available: the session is live and supports a login."""
        return self._authorizer is not None

    @property
    def has_token(self) -> bool:
        """Whether a granted token exists."""
        login = self._login
        return login is not None and login.authorization.grant is not None

    @property
    def token(self) -> str:
        """The token itself, which the user can reveal; empty without one."""
        login = self._login
        grant = login.authorization.grant if login is not None else None
        return grant.access_token if grant is not None else ""

    def again(self, steps: list[AuthStep], at: int) -> None:
        """Run only the step at a place again, or show why it cannot run."""
        from inspector.auth import rerun_step

        login, step = self._login, steps[at]
        if login is None:
            self._say(f"{title(step)} cannot run alone: no request was sent yet. Log in again.")
            return
        known = rerun_step.before([(earlier.name, earlier.rule, earlier.facts) for earlier in steps[: at + 1]])
        if (
            reason := rerun_step.why_not(step.name, known, login.authorization)
            if step.n
            else "The login did not reach this step. Log in again."
        ):
            self._say(reason)
            return
        self._runs += 1
        recorder = rerun_step.StepRecorder(self._recorder(), step.n, self._runs)
        self._run(self._again(login, recorder, step.name, known))

    def log_in(self) -> None:
        """Log in again, even if a token is stored."""
        if (login := self._login) is not None:
            self._run(self._log_in(login))

    def log_in_if_needed(self) -> None:
        """Log in, unless connecting has done so or the server needs no login; show which."""
        if self.has_token:
            self._say("Logged in.")
        elif self._login is None:
            self._say("The server needs no login.")
        else:
            self.log_in()

    def log_out(self) -> None:
        """Revoke the tokens and delete them."""
        if (login := self._login) is not None:
            self._run(self._log_out(login))

    def otherwise(self, then: Callable[[], object]) -> None:
        """Ask for the credentials to use and log in; `then` is called if that needs another connection."""
        authorizer = self._authorizer
        if authorizer is None:
            return

        def accept(options: Any) -> None:
            if options is None:
                return
            authorizer.options = options
            if self._session.phase == "ready":
                # The connection stays open: it takes its token from the same login.
                login = authorizer.login(self._session.target)  # type: ignore[arg-type]
                login.reset()
                if login.options.bearer:
                    self._say("Your token is sent from now on.")
                else:
                    self._run(self._log_in(login))
            else:
                then()

        window_of(self._screen).navigator.ask_login_options(authorizer.options, accept)

    # Parts

    async def _again(self, login: Login, recorder: Any, name: str, known: Any) -> None:
        from inspector.auth import rerun_step

        await login.run(lambda: rerun_step.step(login.authorization, name, known), recorder)

    async def _log_in(self, login: Login) -> None:
        await login.run(login.authorization.log_in, self._recorder())
        self._say("Logged in again.")

    async def _log_out(self, login: Login) -> None:
        taken = await login.run(login.authorization.log_out, self._recorder())
        self._say(
            f"Logged out.{'' if taken else ' The server did not revoke the tokens: they stay valid until they expire.'}"
        )

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        self._screen.run_worker(self._run_and_report(work), exclusive=True, group="login", exit_on_error=False)

    async def _run_and_report(self, work: Coroutine[Any, Any, None]) -> None:
        """Run an action and show its error."""
        try:
            await work
        except InspectorError as error:
            self._screen.notify(error_text(error, self._screen), severity="error", timeout=NOTICE_SECONDS)

    def _say(self, words: str) -> None:
        self._screen.notify(words, timeout=NOTICE_SECONDS)

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

        authorizer = session.options.authorize
        return authorizer if isinstance(authorizer, Authorizer) and isinstance(session.target, HttpTarget) else None

    @property
    def _login(self) -> Login | None:
        """The login of the session; None if it was never needed."""
        authorizer = self._authorizer
        if authorizer is None:
            return None
        login = authorizer.login(self._session.target)  # type: ignore[arg-type]
        return None if login.idle else login
