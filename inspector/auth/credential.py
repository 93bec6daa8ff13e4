"""What a transport is given to authorize its requests: one login at a time, however many requests wait for it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from inspector.auth.options import AuthOptions
from inspector.config import paths
from inspector.config.logins import SECRETS
from inspector.errors import AuthorizationNeeded, UsageError
from inspector.hints import Hint, Parameter

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from inspector.auth.actions import Flow, Refusal
    from inspector.auth.authorize import Authorization
    from inspector.auth.fetching import Recorder, Web
    from inspector.auth.person import Person
    from inspector.auth.store import Store
    from inspector.config.targets import HttpTarget

T = TypeVar("T")

_ALONE = ("client-credentials", "enterprise", "workload")
"""Grants by which a program is somebody of its own: it is never sent with what was granted to a person."""
TOKEN = re.compile(r"[!-~]*")


class Authorizer:
    """Logs in for the sessions of one command, or of the interface. `person` may be another one at any time."""

    def __init__(
        self,
        options: AuthOptions,
        *,
        web: Callable[[HttpTarget], Web],
        person: Person,
        keeps: bool = True,
    ) -> None:
        """`options` win over what a target says; `keeps` False: no login is kept, or looked for."""
        self.options = options
        self.person = person
        self.seconds: float | None = None
        """For each request of a login: the timeout of the session. None: the default of a login."""
        self._web = web
        self._keeps = keeps
        self._store: Store | None = None
        self._logins: dict[tuple[str, str, bool, bool], Login] = {}

    def for_session(self, person: Person) -> Authorizer:
        """Return one with the same options for one session of several: it has its own logins and asks `person`."""
        return Authorizer(self.options, web=self._web, person=person, keeps=self._keeps)

    def opening(self, seconds: float) -> None:
        """A session with this timeout begins: what has failed before may be tried again."""
        self.seconds = seconds
        self._logins.clear()

    def credential(self, target: HttpTarget, sink: Recorder) -> SessionCredential:
        """What authorizes the requests of one connection to `target`; the steps are recorded in `sink`."""
        return SessionCredential(self.login(target), sink)

    def login(self, target: HttpTarget) -> Login:
        """Our way into the server at a target's URL: one for all connections to it."""
        # Another way to the same server is another login: what is kept may not be sent on every way.
        way = (target.url, target.proxy or "", target.verify, target.owned)
        found = self._logins.get(way)
        if found is None:
            found = self._logins[way] = Login(self, target)
        return found

    def web(self, target: HttpTarget) -> Web:
        """Something to send requests with, as the target wants it: proxy, certificates."""
        return self._web(target)

    @property
    def store(self) -> Store | None:
        """Where logins are kept."""
        if self._store is None and self._keeps:
            from inspector.auth.store import Store

            self._store = Store(warn=lambda text: self.person.say(text))
        return self._store

    @property
    def may_know(self) -> bool:
        """Whether a login may have been kept; cheap, for servers that want none."""
        return self._keeps and paths.logins_file().exists()


class Login:
    """Our way into one server."""

    def __init__(self, authorizer: Authorizer, target: HttpTarget) -> None:
        self._authorizer = authorizer
        self._target = target
        self._lock = asyncio.Lock()
        self._waiting = 0
        self.held: set[str] = set()
        """The secrets that were met on the way."""
        self.anew()

    def anew(self) -> None:
        """Forget what is known of the server, and take the options as they are said now."""
        self.options = combined(self._authorizer.options, self._target.auth)
        if not TOKEN.fullmatch(self.options.bearer):
            raise UsageError(
                "The token that was given cannot be sent: it has characters in it that no token has.",
                hint="It must be the token alone, without “Bearer” or a line break.",
            )
        options = self.options
        self._alone = bool(options.grant in _ALONE or options.assertion or options.idp_id_token or options.bearer)
        self._keeps = not (self._alone or self._target.withholds_login)
        self.held |= {value for value in (getattr(self.options, name) for name in SECRETS) if value}
        self._authorization: Authorization | None = None

    @property
    def authorization(self) -> Authorization:
        """What is known of the server. Loaded when it is first needed: most servers want no login."""
        if self._authorization is None:
            from inspector.auth.authorize import Authorization

            self._authorization = Authorization(self._target.url, self.options)
        return self._authorization

    @property
    def idle(self) -> bool:
        """Whether nothing was asked for, given or kept, so that there is nothing to be sent."""
        known = self.options.bearer or (self._keeps and self._authorizer.may_know)
        return self._authorization is None and not known

    @property
    def hopeless(self) -> bool:
        """Whether no login can come of a refusal: nobody is there, and nothing was said that makes do without."""
        return self.idle and not self._authorizer.person.present and self.options == AuthOptions()

    @property
    def barred(self) -> AuthorizationNeeded | None:
        """Why no login is possible here: on this way others can read a token.

        Where the user chose the way, they may log in for this session; where another's file did, they may not.
        """
        reason = self._target.withholds_login
        if not reason or self._alone or (self._target.owned and self._authorizer.person.present):
            return None
        hint = Hint("Remove “verify” and “proxy” from the config entry, or write the entry into your own config file.")
        if self._target.owned:
            hint = Hint(
                "Name the server's authority with SSL_CERT_FILE=/path/to/ca.pem, or give a token with ",
                Parameter.BEARER, ".",
            )  # fmt: skip
        return AuthorizationNeeded(f"The server asks for a login, and none is sent because {reason}.", hint=hint)

    async def run(self, make: Callable[[], Flow[T]], recorder: Recorder) -> T:
        """Run a flow, after those that run already. Meanwhile no request's clock runs. May be cancelled."""
        from inspector.auth.runner import Runner
        from inspector.auth.urls import as_sent

        if (barred := self.barred) is not None:
            raise barred
        async with self._turn(recorder):
            web = self._authorizer.web(self._target)
            try:
                runner = Runner(
                    as_sent(self._target.url),
                    web=web,
                    person=self._authorizer.person,
                    store=self._authorizer.store if self._keeps else None,
                    recorder=recorder,
                    open_browser=self.options.open_browser,
                    client_id=self.options.client_id,
                    held=self.held,
                    seconds=self._authorizer.seconds,
                )
                return await runner.run(make())
            finally:
                await web.aclose()

    @asynccontextmanager
    async def _turn(self, recorder: Recorder) -> AsyncIterator[None]:
        self._waiting += 1
        try:
            # Said by each who waits: its request may be newer than the one that is being authorized.
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
        """The header fields that authorize a request; a token that is about to end is renewed first."""
        login = self._login
        if login.idle:
            return ()
        authorization = login.authorization
        if authorization.waits():
            await login.run(authorization.ready, self._recorder)
        made = authorization.fields(method, url)
        for name, value in made:
            # A proof is good for one request, and is in a field whose value is never recorded.
            if name == "Authorization":
                self._recorder.secret(value.partition(" ")[2])
        return made

    async def refused(self, refusal: Refusal, sent: Sequence[tuple[str, str]]) -> bool:
        """Do what a refusal asks for; True where the request may be sent again. Raises `AuthorizationNeeded`."""
        if (barred := self._login.barred) is not None:
            barred.status, barred.challenge = refusal.status, tuple(refusal.challenges)
            raise barred
        if self._login.hopeless:
            return False
        return await self._login.run(lambda: self._login.authorization.answer(refusal, sent), self._recorder)


def combined(options: AuthOptions, entry: Mapping[str, Any]) -> AuthOptions:
    """What was said, and for what was not said, what the target's config entry says."""
    untouched = AuthOptions()
    names = {field.name for field in fields(AuthOptions)}
    more = {
        name: value
        for name, value in entry.items()
        if name in names and getattr(options, name) == getattr(untouched, name)
    }
    return replace(options, **more)
