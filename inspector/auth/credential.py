"""The credential that authorizes a transport's requests: one login at a time for any number of waiting requests."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from inspector.auth.options import AuthOptions
from inspector.config import paths
from inspector.config.login_entry import SECRETS
from inspector.errors import AuthorizationNeeded, UsageError
from inspector.hints import Hint, Parameter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from inspector.auth.actions import AuthFlow, RefusedResponse
    from inspector.auth.authorize import Authorization
    from inspector.auth.fetching import HttpSender, Recorder
    from inspector.auth.person import Person
    from inspector.auth.store import Store
    from inspector.config.targets import HttpTarget

T = TypeVar("T")

_ALONE = ("client-credentials", "enterprise", "workload")
"""Grants of a program's own identity: never combined with a person's grant."""
TOKEN = re.compile(r"[!-~]*")


class Authorizer:
    """Manages the logins of one command's sessions, or of the interface. `person` may be replaced at any time."""

    def __init__(
        self,
        options: AuthOptions,
        *,
        web: Callable[[HttpTarget], HttpSender],
        person: Person,
        keeps: bool = True,
    ) -> None:
        """`options` override a target's entry; with `keeps` False, no login is stored or loaded."""
        self.options = options
        self.person = person
        self.seconds: float | None = None
        """Timeout in seconds for each request of a login, from the session. None: the default of a login."""
        self._web = web
        self._keeps = keeps
        self._store: Store | None = None
        self._logins: dict[tuple[str, str, bool, bool], Login] = {}

    def for_session(self, person: Person) -> Authorizer:
        """Return one with the same options for one session of several: it has its own logins and asks `person`."""
        return Authorizer(self.options, web=self._web, person=person, keeps=self._keeps)

    def opening(self, seconds: float) -> None:
        """A session with this timeout starts: earlier failures may be tried again."""
        self.seconds = seconds
        self._logins.clear()

    def credential(self, target: HttpTarget, sink: Recorder) -> SessionCredential:
        """Return the credential for one connection to `target`; its steps are recorded in `sink`."""
        return SessionCredential(self.login(target), sink)

    def login(self, target: HttpTarget) -> Login:
        """Return the login for a target's URL; all connections to it share one."""
        # Another proxy or certificate setting is another login: a stored token may not be sent over every connection.
        way = (target.url, target.proxy or "", target.verify, target.owned)
        login = self._logins.get(way)
        if login is None:
            login = self._logins[way] = Login(self, target)
        return login

    def web(self, target: HttpTarget) -> HttpSender:
        """Return an HTTP client with the target's proxy and certificates."""
        return self._web(target)

    @property
    def store(self) -> Store | None:
        """The store of logins."""
        if self._store is None and self._keeps:
            from inspector.auth.store import Store

            self._store = Store(warn=lambda text: self.person.say(text))
        return self._store

    @property
    def may_know(self) -> bool:
        """Whether a login may be stored; cheap, for servers that need none."""
        return self._keeps and paths.logins_file().exists()


class Login:
    """The login to one server."""

    def __init__(self, authorizer: Authorizer, target: HttpTarget) -> None:
        self._authorizer = authorizer
        self._target = target
        self._lock = asyncio.Lock()
        self._waiting = 0
        self.held: set[str] = set()
        """The secrets seen so far."""
        self.reset()

    def reset(self) -> None:
        """Forget what is known of the server, and read the options again."""
        self.options = combined(self._authorizer.options, self._target.auth)
        if not TOKEN.fullmatch(self.options.bearer):
            raise UsageError(
                "The given token cannot be sent: it contains characters that are not allowed in a token.",
                hint="Give only the token, without “Bearer” or a line break.",
            )
        options = self.options
        self._alone = bool(options.grant in _ALONE or options.assertion or options.idp_id_token or options.bearer)
        self._uses_store = not (self._alone or self._target.withholds_login)
        self.held |= {value for value in (getattr(self.options, name) for name in SECRETS) if value}
        self._authorization: Authorization | None = None

    @property
    def authorization(self) -> Authorization:
        """The authorization state. Created at first use: most servers need no login."""
        if self._authorization is None:
            from inspector.auth.authorize import Authorization

            self._authorization = Authorization(self._target.url, self.options)
        return self._authorization

    @property
    def idle(self) -> bool:
        """Whether nothing is sent: no token, no stored login and no option exists."""
        known = self.options.bearer or (self._uses_store and self._authorizer.may_know)
        return self._authorization is None and not known

    @property
    def hopeless(self) -> bool:
        """Whether a refusal cannot lead to a login: no person is present, and no option avoids one."""
        options = replace(self.options, login_timeout=None)  # It only ends a login.
        return self.idle and not self._authorizer.person.present and options == AuthOptions()

    @property
    def barred(self) -> AuthorizationNeeded | None:
        """Why no login is possible over this connection: others could read a token.

        If the user chose the connection's settings, they may log in for this session; if another's config file did,
        not.
        """
        reason = self._target.withholds_login
        if not reason or self._alone or (self._target.owned and self._authorizer.person.present):
            return None
        hint = Hint("Remove “verify” and “proxy” from the config entry, or write the entry into your own config file.")
        if self._target.owned:
            hint = Hint(
                "Set SSL_CERT_FILE=/path/to/ca.pem to the server's authority, or give a token with ",
                Parameter.BEARER,
                ".",
            )
        return AuthorizationNeeded(f"The server requires a login, but tokens are not sent because {reason}.", hint=hint)

    async def run(self, make: Callable[[], AuthFlow[T]], recorder: Recorder) -> T:
        """Run a flow after those that are running. No request's timeout runs meanwhile. May be cancelled."""
        from inspector.auth.runner import FlowRunner
        from inspector.auth.url_checks import as_sent

        if (barred := self.barred) is not None:
            raise barred
        async with self._exclusive(recorder):
            web = self._authorizer.web(self._target)
            try:
                runner = FlowRunner(
                    as_sent(self._target.url),
                    web=web,
                    person=self._authorizer.person,
                    store=self._authorizer.store if self._uses_store else None,
                    recorder=recorder,
                    open_browser=self.options.open_browser,
                    client_id=self.options.client_id,
                    held=self.held,
                    seconds=self._authorizer.seconds,
                    login_timeout=self.options.login_timeout,
                )
                return await runner.run(make())
            finally:
                await web.aclose()

    @asynccontextmanager
    async def _exclusive(self, recorder: Recorder) -> AsyncIterator[None]:
        self._waiting += 1
        try:
            # Each waiting task reports this: its request may be newer than the one being authorized.
            recorder.asking(True)
            async with self._lock:
                yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                recorder.asking(False)


class SessionCredential:
    """The `Credential` of a transport."""

    def __init__(self, login: Login, recorder: Recorder) -> None:
        self._login = login
        self._recorder = recorder

    async def fields(self, method: str, url: str) -> Sequence[tuple[str, str]]:
        """Return the header fields that authorize a request; a token that expires soon is refreshed first."""
        login = self._login
        if login.idle:
            return ()
        authorization = login.authorization
        if authorization.waits():
            await login.run(authorization.ready, self._recorder)
        made = authorization.fields(method, url)
        for name, value in made:
            # A proof is valid for one request, and its field's value is never recorded.
            if name == "Authorization":
                self._recorder.secret(value.partition(" ")[2])
        return made

    async def refused(self, refusal: RefusedResponse, sent: Sequence[tuple[str, str]]) -> bool:
        """Do what a refusal asks for; True if the request may be sent again. Raises `AuthorizationNeeded`."""
        if (barred := self._login.barred) is not None:
            barred.status, barred.challenge = refusal.status, tuple(refusal.challenges)
            raise barred
        if self._login.hopeless:
            return False
        return await self._login.run(lambda: self._login.authorization.answer(refusal, sent), self._recorder)


def combined(options: AuthOptions, entry: Mapping[str, Any]) -> AuthOptions:
    """Return the options, each unset one from the target's config entry."""
    untouched = AuthOptions()
    names = {field.name for field in fields(AuthOptions)}
    more = {
        name: value
        for name, value in entry.items()
        if name in names and getattr(options, name) == getattr(untouched, name)
    }
    return replace(options, **more)
