"""The person who answers a login's questions: the terminal and the interface each implement `Person`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from inspector.auth.models import OAuthClient
from inspector.errors import AuthorizationNeeded
from inspector.hints import LOG_IN, Hint, Parameter


@dataclass(frozen=True, slots=True)
class LoginPage:
    """A page for the person to visit. Its texts are from a server: hostile until escaped."""

    url: str
    """Complete; shown unmodified (C-AUTH-27)."""
    host: str
    opened: bool = False
    """A browser was opened with it."""
    code: str = ""
    """The code to enter on the page (RFC 8628 section 3.3); empty without one."""
    redirect_uri: str = ""
    """The start of the redirect URL; empty without a redirect."""
    until: float = 0
    """The deadline in seconds since 1970; 0 if unknown."""


NO_TERMINAL = "standard input is not a terminal"


class Person(Protocol):
    """Answers a login's questions. Every method may be cancelled at any time, and raises `Denied` for a refusal."""

    absence: str
    """Why a person cannot be asked, where none is `present`."""

    @property
    def present(self) -> bool:
        """Whether a person can be asked."""

    async def consent(self, url: str, host: str, until: float) -> bool | None:
        """Ask whether a browser may be opened on `url`, which is shown complete, with its host.

        None: not on this machine; the login continues with a browser elsewhere. `until`: as in `LoginPage`.
        """

    async def show(self, page: LoginPage) -> None:
        """Show a page to visit, or that one was opened; does not wait. Replaces the page shown before."""

    async def pasted(self) -> str:
        """Wait for the person to paste the redirect URL; never returns if pasting is not possible."""

    async def client_for(self, issuer: str, redirect_uri: str) -> OAuthClient | None:
        """Return a client that is registered with `issuer` for `redirect_uri`; None if the person has none."""

    async def choose(self, issuers: tuple[str, ...]) -> str:
        """Return one of several authorization servers."""

    async def done(self, ok: bool) -> None:
        """The login has ended: nothing waits for the person any more."""

    def rejected(self, text: str) -> None:
        """Show why a redirect or a pasted URL was rejected, for as long as the login waits."""

    def say(self, text: str) -> None:
        """Show a notice, such as where tokens are stored."""


def person_required(what: str, person: Person) -> AuthorizationNeeded:
    """Return the error for a login that needs a person when none is present."""
    return AuthorizationNeeded(f"{what}, but {person.absence}.", hint=LOG_IN)


class NoPerson:
    """A `Person` for runs in which no person is present."""

    present = False

    def __init__(self, absence: str = NO_TERMINAL) -> None:
        self.absence = absence

    async def consent(self, url: str, host: str, until: float) -> bool | None:
        """Raises `AuthorizationNeeded`."""
        raise person_required(f"A person must log in at {host}", self)

    async def show(self, page: LoginPage) -> None:
        """Nothing."""

    async def pasted(self) -> str:
        """Never returns."""
        import asyncio

        answer: str = await asyncio.get_running_loop().create_future()
        return answer

    async def client_for(self, issuer: str, redirect_uri: str) -> OAuthClient | None:
        """None."""
        return None

    async def choose(self, issuers: tuple[str, ...]) -> str:
        """Raises `AuthorizationNeeded`."""
        error = person_required("The server names several authorization servers", self)
        error.hint = Hint("Select one of them with ", Parameter.AUTH_SERVER.to("URL"), ".")
        raise error

    async def done(self, ok: bool) -> None:
        """Nothing."""

    def rejected(self, text: str) -> None:
        """Nothing."""

    def say(self, text: str) -> None:
        """Nothing."""
