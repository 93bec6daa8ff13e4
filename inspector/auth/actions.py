"""The actions that an authorization flow yields, and their results.

A flow is a generator: it yields an action, the runner performs it and sends the result in, and the flow's return value
is its result. A flow does no I/O of its own, so every decision can be tested without a network.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from inspector.auth.models import Grant, OAuthClient
from inspector.errors import AuthorizationNeeded

T = TypeVar("T")


class FetchFailed(AuthorizationNeeded):
    """A fetch failed: refused, timed out, too large, redirected to another origin, or its URL is not allowed.

    Thrown into the flow at its `Fetch`. A flow with another URL to try continues there.
    """


class Denied(AuthorizationNeeded):
    """The person declined consent or cancelled. Thrown into the flow at the action that waited."""


class TimedOut(AuthorizationNeeded):
    """The deadline passed while the flow waited for a person. Thrown into the flow at the action that waited."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """Send one HTTP request. Its result is a `Fetched`, whatever the status; `FetchFailed` is thrown if no response
    comes.
    """

    method: str
    """`GET` or `POST`."""
    url: str
    fields: tuple[tuple[str, str], ...] = ()
    body: bytes = field(default=b"", repr=False)
    what: str = ""
    """The resource as a sentence names it: “the protected resource metadata”."""
    named: bool = False
    """The person, not a server, gave this URL: it may be a private address (C-SEC-02)."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """An HTTP response, read to its end."""

    status: int
    fields: tuple[tuple[str, str], ...]
    body: bytes = field(repr=False)
    url: str
    """The URL that responded; after a redirect within the origin it differs from the requested one."""

    def values(self, name: str) -> list[str]:
        """Return the values of all header fields called `name`, in order."""
        lower_name = name.lower()
        return [value for field, value in self.fields if field.lower() == lower_name]


@dataclass(frozen=True, slots=True)
class OpenListener:
    """Listen for the browser's redirect. The result is the redirect URI (str) that the listener has.

    `redirect_uri` is one that the authorization server knows already, or empty. If its port is in use, the result is
    another URI, which the flow must register. With `fixed`, `AuthorizationNeeded` is thrown instead.
    """

    redirect_uri: str = ""
    fixed: bool = False
    reason: str = ""
    """Why a person is needed, as the start of an error message for runs without one. Empty: the first login."""


@dataclass(frozen=True, slots=True)
class VisitPage:
    """Let the person visit `url`, and wait for the browser's redirect.

    The result is the full redirect URL (str), received by the listener or pasted. A redirect that does not match this
    request (`code.mismatch`) is rejected, and the wait continues. `Denied` or `TimedOut` may be thrown.
    """

    url: str
    redirect_uri: str
    host: str
    """The host of `url`, shown when consent is asked."""
    state: str = field(repr=False)
    """The request's `state`: a response with another `state`, or without one, is rejected (C-AUTH-22)."""
    doubtful: str = ""
    """The issuer whose registered client is forgotten if the person gives up: the server may not know it any more."""
    named: bool = False
    """The person named the authorization server: the page may be on a private address."""


@dataclass(frozen=True, slots=True)
class Show:
    """Show the person a code to enter on a page (RFC 8628 section 3.3). The result is None; does not wait."""

    url: str
    code: str
    host: str
    complete: str = ""
    """A URL that includes the code; empty if the server gave none."""
    seconds: float = 0
    """The code's lifetime in seconds; 0 if unknown."""
    named: bool = False
    """As in `VisitPage`."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait for `seconds`. The result is None; `Denied` is thrown when the person cancels."""

    seconds: float


@dataclass(frozen=True, slots=True)
class AskClient:
    """Ask the person for a client that is registered with `issuer`. The result is a `OAuthClient`, or None."""

    issuer: str
    redirect_uri: str
    """The redirect URI that the person must register."""


@dataclass(frozen=True, slots=True)
class ChooseServer:
    """Let the person choose one of several authorization servers. The result is one of `issuers` (str)."""

    issuers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RegisterSecret:
    """Register a secret before it can appear anywhere: it must never be recorded or shown. The result is None."""

    value: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class StoreGrant:
    """Store `grant` for (issuer, resource); None deletes the stored one. The result is None."""

    issuer: str
    resource: str
    grant: Grant | None


@dataclass(frozen=True, slots=True)
class StoreClient:
    """Store a client that was registered with `issuer`; None deletes it (C-AUTH-17). The result is None."""

    issuer: str
    client: OAuthClient | None


@dataclass(frozen=True, slots=True)
class LoadGrant:
    """Load the stored grant of (issuer, resource). The result is a `Grant`, or None.

    With an empty issuer: the most recent grant for this `server`, from any issuer.
    """

    server: str
    """The MCP server's URL, as `Grant.server` has it."""
    issuer: str = ""
    resource: str = ""


@dataclass(frozen=True, slots=True)
class LoadStoredClient:
    """Load the stored client that is registered with `issuer`. The result is a `OAuthClient`, or None."""

    issuer: str


@dataclass(frozen=True, slots=True)
class RecordStep:
    """Record one step of the login: an `auth` event in the journal. The result is None. Never contains a secret."""

    step: str
    """A stable identifier: see `STEPS`."""
    ok: bool
    text: str
    """The finding or decision, in one sentence."""
    rule: str = ""
    """The rule behind the decision: `C-AUTH-10`, or a section of an RFC."""
    facts: tuple[tuple[str, Any], ...] = ()
    """Details: names and JSON values."""
    fix: str = ""
    """For a failed step: what the server should have sent, or what the person can do (a `Hint`)."""


STEPS = tuple(
    """
    challenge resource server metadata issuer registration scope authorize callback device exchange token refresh stepup
    request revoke
    """.split()
)
"""The steps that an action may record, in the order of a login."""


@dataclass(frozen=True, slots=True)
class HoldRenewalLock:
    """Wait until no other process renews the login to `resource` by `issuer`, and hold the lock.

    The lock is held until the next action of this kind, which may be empty, or the end of the flow. The stored grant
    may have changed when the lock is acquired.
    """

    issuer: str = ""
    resource: str = ""


ActionWithResult = Fetch | OpenListener | VisitPage | AskClient | ChooseServer | LoadGrant | LoadStoredClient
"""Actions with a result."""

Action = ActionWithResult | Show | Wait | RegisterSecret | StoreGrant | StoreClient | HoldRenewalLock | RecordStep

AuthFlow = Generator[Action, Any, T]
"""A flow that returns T."""


class RefusedResponse(Protocol):
    """A response of the MCP server that requires authorization or more scopes: the transports' `RefusedResponse`."""

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
        """The JSON-RPC method of the refused request; empty for a request without one."""


def fetch(action: Fetch) -> AuthFlow[Fetched]:
    """Perform a fetch inside a flow; `FetchFailed` is raised if no response comes."""
    answer = yield action
    assert isinstance(answer, Fetched)
    return answer


def record_step(
    step: str, text: str, *, ok: bool = True, rule: str = "", fix: str = "", **facts: Any
) -> AuthFlow[None]:
    """Record one step inside a flow."""
    yield RecordStep(step, ok, text, rule, tuple(facts.items()), fix)
