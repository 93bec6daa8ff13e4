"""Who is asked while a flow goes on: the terminal and the interface each have one of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from inspector.auth.values import Client
from inspector.errors import AuthorizationNeeded
from inspector.hints import LOG_IN, Hint, Parameter


@dataclass(frozen=True, slots=True)
class Invitation:
    """A page that the person is to visit. Its texts are a server's: hostile until made safe."""

    url: str
    """Whole; to be shown as it is (C-AUTH-27)."""
    host: str
    opened: bool = False
    """A browser was opened on it."""
    code: str = ""
    """To be entered on the page (RFC 8628 section 3.3); empty where nothing is."""
    redirect_uri: str = ""
    """What the address begins with that the browser comes back to; empty where it does not come back."""
    until: float = 0
    """When nothing is waited for any more, in seconds since 1970; 0 where that is not known."""


class Person(Protocol):
    """Answers what only a person can. Every method may be cancelled at any time, and raises `Denied` for a no."""

    @property
    def present(self) -> bool:
        """Whether there is somebody to be asked."""

    async def consent(self, url: str, host: str, until: float) -> bool | None:
        """Whether a browser may be opened on `url`, which is shown whole, its host named.

        None: not here, and the login goes on all the same, with a browser elsewhere. `until`: as in `Invitation`.
        """

    async def show(self, invitation: Invitation) -> None:
        """Show a page to visit, or that one was opened; does not wait. What was shown before is replaced."""

    async def pasted(self) -> str:
        """Wait for the address that the browser ended at, pasted; never returns where nothing can be."""

    async def client_for(self, issuer: str, redirect_uri: str) -> Client | None:
        """A client that is registered with `issuer` for `redirect_uri`; None where the person knows none."""

    async def choose(self, issuers: tuple[str, ...]) -> str:
        """One of several authorization servers."""

    async def done(self, ok: bool) -> None:
        """It is over: nothing is waited for any more."""

    def say(self, text: str) -> None:
        """Tell something that the person should know, such as where tokens are kept."""


def nobody(what: str) -> AuthorizationNeeded:
    """The error where somebody would have to be asked, and nobody is there."""
    return AuthorizationNeeded(
        f"{what}, and there is nobody to ask: standard input is no terminal.",
        hint=LOG_IN,
    )


class Nobody:
    """Stands where no person is."""

    present = False

    async def consent(self, url: str, host: str, until: float) -> bool | None:
        """Raises `AuthorizationNeeded`."""
        raise nobody(f"A person has to log in at {host}")

    async def show(self, invitation: Invitation) -> None:
        """Nothing."""

    async def pasted(self) -> str:
        """Never returns."""
        import asyncio

        answer: str = await asyncio.get_running_loop().create_future()
        return answer

    async def client_for(self, issuer: str, redirect_uri: str) -> Client | None:
        """None."""
        return None

    async def choose(self, issuers: tuple[str, ...]) -> str:
        """Raises `AuthorizationNeeded`."""
        error = nobody("The server names several authorization servers")
        error.hint = Hint("Name one of them with ", Parameter.AUTH_SERVER.to("URL"), ".")
        raise error

    async def done(self, ok: bool) -> None:
        """Nothing."""

    def say(self, text: str) -> None:
        """Nothing."""
