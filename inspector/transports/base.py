"""What a transport is, and what it is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from inspector.errors import InspectorError
from inspector.journal.format import Dir

if TYPE_CHECKING:
    from inspector.transports.http_url import Url

LONGEST_MESSAGE = 1 << 28
"""Bytes of a message that has not ended at which it is given up, unless `max_body_bytes` says otherwise."""


class Sink(Protocol):
    """Where a transport puts everything: into the journal first, then on to the session. Never blocks."""

    def received(self, channel: str, messages: Sequence[bytes], extra: str = "", *, cut: bool = False) -> bool:
        """Messages that one read brought, without delimiters. `cut`: the last one broke off before its end.

        Returns whether all of them could be read as JSON.
        """

    def sent(self, channel: str, outgoing: Outgoing, extra: str = "", *, hold: bool = False) -> int:
        """Record a message that is about to go out on `channel`; returns its number in the journal.

        With `hold` the record may wait for `flush`, which must be called before the bytes go out.
        """

    def flush(self) -> None:
        """Bring records that were held to the file."""

    def stderr(self, lines: Sequence[bytes]) -> None:
        """Lines of the server's stderr."""

    def life(self, channel: str, event: str, **fields: Any) -> int:
        """Something happened to the connection: spawn, exit, connect, retry, reconnect, session …"""

    def http(self, channel: str, dir: Dir, **fields: Any) -> int:
        """The head of an HTTP request or response: method, url, status, headers (pairs), timings (ms)."""

    def sse(self, channel: str, text: str, **fields: Any) -> int:
        """An SSE event without a message: priming, retry, endpoint, comment."""

    def auth(
        self, step: str, ok: bool, text: str, *, rule: str = "", fix: str = "", facts: dict[str, Any] | None = None
    ) -> int:
        """A step of an authorization: see `Journal.record_auth`."""

    def asking(self, begun: bool) -> None:
        """Somebody is asked to authorize from now on, or (False) is no longer: no request's clock runs meanwhile."""

    def failed(self, request: Outgoing, error: InspectorError) -> None:
        """One request will get no answer: its exchange broke. The connection itself goes on."""

    def lost(self, error: InspectorError) -> None:
        """The connection is gone; no more messages will come. Called at most once."""

    def secret(self, value: str) -> None:
        """Learn a value that must never be recorded (a session id, a token)."""


@dataclass(slots=True)
class Outgoing:
    """A message on its way to the server."""

    data: bytes
    """The exact bytes, without a delimiter."""
    message: Any
    """The same, parsed; None for bytes that are no JSON (composed by hand)."""
    id: int | str | None = None
    """The id, if an answer is expected."""
    method: str = ""
    headers: Sequence[tuple[str, str]] = ()
    """Header fields that the era's driver wants on the HTTP request of this message."""
    n: int = 0
    """The number in the journal, once sent."""
    user_headers: Sequence[tuple[str, str]] = ()
    """Header fields that the user wants on this HTTP request only. They win over all others."""


class Transport(Protocol):
    """A connection to one server."""

    name: str
    """`stdio`, `http`, `sse`, `memory` or `recording`."""

    async def start(self) -> None:
        """Make the connection ready to send. Raises a `ConnectionProblem`."""

    def send(self, outgoing: Outgoing) -> None:
        """Record one message (`sink.sent`, then `outgoing.n` is set) and put it on its way. Never blocks, never waits.

        What the system does not take at once is queued; HTTP starts a task. Raises a `ConnectionProblem` if the
        connection is gone (nothing is recorded then).
        """

    def agreed(self, revision: str, *, version_header: bool, resumable: bool, listen: bool) -> None:
        """The handshake is done: revision for the version header, whether streams can be resumed, whether to listen."""

    async def settled(self) -> None:
        """Wait until the server has accepted the notifications sent so far, or refused them; not for answers."""

    def abandon(self, id: int | str) -> None:
        """Stop waiting for the answer to a request: free what is held for it. Closing a stream is no cancellation."""

    def close_stream(self, id: int | str) -> bool:
        """Cancel a request by closing its stream (C-HTTP-36). False: here that takes a notification."""

    def unread(self) -> int | None:
        """Bytes sent that the server has not taken yet; None where that cannot be known."""

    async def close(self) -> None:
        """End the connection and everything started for it, within about a second. Idempotent."""

    def kill_now(self) -> None:
        """Kill a server process that this transport started, without waiting; do nothing where it started none.

        For exits that leave no time for `close`.
        """


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that wants authorization, or more of it."""

    status: int
    """401 or 403."""
    challenges: tuple[str, ...]
    """The values of its `WWW-Authenticate` fields, in order, unparsed (RFC 9110 section 11.6.1)."""
    fields: Sequence[tuple[str, str]]
    """All header fields of the answer: a server may give a DPoP nonce there (RFC 9449 section 9)."""
    method: str
    """The JSON-RPC method of the message that was refused; empty for a request without one."""


class Credential(Protocol):
    """What answers a server that wants authorization. The transport asks it, and knows nothing of how."""

    async def fields(self, method: str, url: str) -> Sequence[tuple[str, str]]:
        """The header fields that authorize this HTTP request; none while there is no token."""

    async def refused(self, refusal: Refusal, sent: Sequence[tuple[str, str]]) -> bool:
        """A request with the `sent` fields was refused. True: it may be sent again, `fields` gives others now.

        Raises `AuthorizationNeeded` with the reason where authorization was tried and failed.
        """


class Network(Protocol):
    """What makes connections instead of the system's network: an app in this process, or a client of the program."""

    def serves(self, url: Url) -> bool:
        """Whether requests to this URL go through it."""

    def create_connection(self, origin: Any) -> Any:
        """A connection to an origin: `httpcore.AsyncConnectionInterface`, as far as `http_client` uses it."""


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """What the user wants of HTTP."""

    headers: tuple[tuple[str, str], ...] = ()
    """Extra header fields on every request, in order; they win over ours."""
    proxy: str | None = None
    """Proxy URL; None takes the system's (`HTTPS_PROXY` …)."""
    verify: bool = True
    """Check the server's certificate."""
    connect_timeout: float = 10.0
    """Seconds for a connection to be made."""
    credential: Credential | None = None
    """What authorizes requests; None: only what the header fields above hold."""
    network: Network | None = None
    """What makes connections; None: the system's network."""
    max_body: int | None = None
    """Bytes of one message at most; None: `LONGEST_MESSAGE`."""

    @property
    def longest(self) -> int:
        """Bytes of one message above which it is given up."""
        return self.max_body or LONGEST_MESSAGE
