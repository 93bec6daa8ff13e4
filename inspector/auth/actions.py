"""What a flow may ask for, and what it gets back.

A flow is a generator: it yields an action, the runner performs it and sends the answer in, and what the flow returns is
its result. It does no I/O of its own, so that every decision can be tested without a network.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from inspector.auth.values import Client, Grant
from inspector.errors import AuthorizationNeeded

T = TypeVar("T")


class FetchFailed(AuthorizationNeeded):
    """A fetch brought no answer: refused, timed out, too large, redirected elsewhere, or its URL is not fetched at all.

    Thrown into the flow at its `Fetch`. A flow that has another place to look goes on there.
    """


class Denied(AuthorizationNeeded):
    """The person said no: did not consent, or cancelled. Thrown into the flow at what was asked."""


class TimedOut(AuthorizationNeeded):
    """The deadline passed while a person was waited for. Thrown into the flow at what was asked."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """Send one HTTP request. Answered with `Fetched`, whatever the status; `FetchFailed` is thrown for no answer."""

    method: str
    """`GET` or `POST`."""
    url: str
    fields: tuple[tuple[str, str], ...] = ()
    body: bytes = field(default=b"", repr=False)
    what: str = ""
    """What is fetched, as a sentence names it: “the protected resource metadata”."""
    named: bool = False
    """The person, not a server, named this URL: it may be a private address (C-SEC-02)."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """An HTTP answer, read to its end."""

    status: int
    fields: tuple[tuple[str, str], ...]
    body: bytes = field(repr=False)
    url: str
    """The URL that answered; another than was asked for after a redirect within the origin."""

    def values(self, name: str) -> list[str]:
        """The values of all header fields called `name`, in order."""
        wanted = name.lower()
        return [value for field, value in self.fields if field.lower() == wanted]


@dataclass(frozen=True, slots=True)
class Listen:
    """Be ready for the browser to come back. Answered with the redirect URI (str) at which it will be awaited.

    `wanted` is a redirect URI that is known to the authorization server already, empty for none; where its port is
    taken, another is answered, and the flow sees to it. With `fixed` there is no other: `AuthorizationNeeded` is
    thrown then.
    """

    wanted: str = ""
    fixed: bool = False
    why: str = ""
    """Why somebody is needed, the beginning of a sentence, for where nobody is; empty: the first login."""


@dataclass(frozen=True, slots=True)
class Visit:
    """Let the person visit `url`, and wait for the browser to come back.

    Answered with the whole URL (str) that it came back to, from the listener or pasted. What does not belong to this
    request (`code.mismatch`) is refused and waited past. `Denied` or `TimedOut` may be thrown.
    """

    url: str
    redirect_uri: str
    host: str
    """The host of `url`, to be named when consent is asked."""
    state: str = field(repr=False)
    """The request's `state`: an answer with another one, or with none, is not the answer (C-AUTH-22)."""
    doubtful: str = ""
    """The issuer whose registered client is not kept where the person gives up: it may be unknown there by now."""


@dataclass(frozen=True, slots=True)
class Show:
    """Show the person a code to be entered on a page (RFC 8628 section 3.3). Answered with None; does not wait."""

    url: str
    code: str
    host: str
    complete: str = ""
    """A URL that has the code in it already, empty for none."""
    seconds: float = 0
    """How long the code is good; 0 where that is not known."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Let `seconds` pass. Answered with None; `Denied` is thrown when the person cancels."""

    seconds: float


@dataclass(frozen=True, slots=True)
class AskClient:
    """Ask the person for a client that is registered with `issuer`. Answered with a `Client`, or None for none."""

    issuer: str
    redirect_uri: str
    """What the person must register for it."""


@dataclass(frozen=True, slots=True)
class Choose:
    """Let the person choose one of several authorization servers. Answered with one of `issuers` (str)."""

    issuers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Secret:
    """Learn a value before it can appear anywhere: it must never be recorded or shown. Answered with None."""

    value: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Keep:
    """Store this: the grant of (issuer, resource) is `grant` from now on; None forgets it. Answered with None."""

    issuer: str
    resource: str
    grant: Grant | None


@dataclass(frozen=True, slots=True)
class KeepClient:
    """Store a client that was registered with `issuer`; None forgets it (C-AUTH-17). Answered with None."""

    issuer: str
    client: Client | None


@dataclass(frozen=True, slots=True)
class Stored:
    """Look for the grant of (issuer, resource) in the store. Answered with a `Grant`, or None.

    With an empty issuer: the grant that was kept last for this `server`, whoever issued it.
    """

    server: str
    """The MCP server's URL, as `Grant.server` has it."""
    issuer: str = ""
    resource: str = ""


@dataclass(frozen=True, slots=True)
class StoredClient:
    """Look for the client that is registered with `issuer` in the store. Answered with a `Client`, or None."""

    issuer: str


@dataclass(frozen=True, slots=True)
class Told:
    """One step of the ladder: an `auth` event in the journal. Answered with None. Never has a secret in it."""

    step: str
    """A stable word: see `STEPS`."""
    ok: bool
    text: str
    """What was found or decided, in one sentence."""
    rule: str = ""
    """The rule behind the decision: `C-AUTH-10`, or a section of an RFC."""
    facts: tuple[tuple[str, Any], ...] = ()
    """More to look at: names and JSON values."""
    fix: str = ""
    """Where it is not `ok`: what the server should have sent, or what the person can do (a `Hint`)."""


STEPS = (
    "challenge", "resource", "server", "metadata", "issuer", "registration", "scope", "authorize", "callback", "device",
    "exchange", "token", "refresh", "stepup", "request", "revoke",
)  # fmt: skip
"""The steps that `Told` may name, in the order in which they come."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Wait until no other process renews the login to `resource` by `issuer`, and keep others waiting from then on.

    Until the next `Turn`, which may be `Turn()`, or the end of the flow. What was kept may be another afterwards.
    """

    issuer: str = ""
    resource: str = ""


Question = Fetch | Listen | Visit | AskClient | Choose | Stored | StoredClient
"""Actions that are answered with a value."""

Action = Question | Show | Wait | Secret | Keep | KeepClient | Turn | Told

Flow = Generator[Action, Any, T]
"""A flow that returns T."""


class Refusal(Protocol):
    """An answer of the MCP server that wants authorization, or more of it; the transports' `Refusal` is one."""

    @property
    def status(self) -> int:
        """401 or 403."""

    @property
    def challenges(self) -> Sequence[str]:
        """The values of its `WWW-Authenticate` fields, in order, unparsed."""

    @property
    def fields(self) -> Sequence[tuple[str, str]]:
        """All its header fields."""

    @property
    def method(self) -> str:
        """The JSON-RPC method of what was refused; empty for a request without one."""


def fetch(action: Fetch) -> Flow[Fetched]:
    """Perform a fetch inside of a flow; `FetchFailed` for no answer."""
    answer = yield action
    assert isinstance(answer, Fetched)
    return answer


def told(step: str, text: str, *, ok: bool = True, rule: str = "", fix: str = "", **facts: Any) -> Flow[None]:
    """Tell one step inside of a flow."""
    yield Told(step, ok, text, rule, tuple(facts.items()), fix)
