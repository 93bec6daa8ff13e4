"""The interface of transports, and of the sink that they get."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from inspector.errors import InspectorError
from inspector.journal.alterations import Alteration, ConnectionFilter
from inspector.journal.format import Dir
from inspector.transports.network import Network

if TYPE_CHECKING:
    from inspector.transports.http_url import Url

MAX_MESSAGE = 1 << 28
"""Bytes above which an unfinished message is dropped, unless `max_body_bytes` sets another limit."""


class Sink(Protocol):
    """Gets everything from a transport: it records it in the journal, then passes it to the session. Never blocks."""

    def received(self, channel: str, messages: Sequence[bytes], extra: str = "", *, cut: bool = False) -> bool:
        """Record the messages of one read, without delimiters. `cut`: the last one is incomplete.

        Returns whether all of them are JSON.
        """

    def filtered(
        self, channel: str, data: bytes, alterations: Sequence[Alteration], extra: str = "", *, passes: bool = True
    ) -> None:
        """Record a message that a filter has changed, delayed, made or kept back; only one that `passes` is handled."""

    def sent(self, channel: str, outgoing: Outgoing, *, hold: bool = False) -> None:
        """Record a message before it is sent on `channel`, and set its number, `outgoing.n`.

        With `hold` the record may wait for `flush`, which must be called before the bytes are sent.
        """

    def flush(self) -> None:
        """Write held records to the file."""

    def stderr(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Record lines of the server's stderr. Returns them as they are recorded."""

    def life(self, channel: str, event: str, **fields: Any) -> int:
        """Record an event of the connection: spawn, exit, connect, retry, reconnect, session …"""

    def http(self, channel: str, dir: Dir, **fields: Any) -> int:
        """Record the head of an HTTP request or response: method, url, status, headers (pairs), timings (ms)."""

    def sse(self, channel: str, text: str, **fields: Any) -> int:
        """Record an SSE event without a message: priming, retry, endpoint, comment."""

    def auth(
        self, step: str, ok: bool, text: str, *, rule: str = "", fix: str = "", facts: dict[str, Any] | None = None
    ) -> int:
        """Record a step of an authorization: see `Journal.record_auth`."""

    def asking(self, begun: bool) -> None:
        """Stop all timeouts while the user is asked to authorize; False starts them again."""

    def failed(self, request: Outgoing, error: InspectorError) -> None:
        """End one request without a response, because its exchange failed. The connection stays open."""

    def lost(self, error: InspectorError) -> None:
        """End the connection; no more messages will come. Called at most once."""

    def secret(self, value: str) -> None:
        """Add a value that must never be recorded (a session id, a token)."""


@dataclass(slots=True)
class Outgoing:
    """A message to the server."""

    data: bytes
    """The exact bytes, without a delimiter."""
    message: Any
    """The same, parsed; None for bytes that are not JSON (composed by hand)."""
    id: int | str | None = None
    """The id, if an answer is expected."""
    method: str = ""
    headers: Sequence[tuple[str, str]] = ()
    """Headers of the era's driver for the HTTP request of this message."""
    n: int = 0
    """The number in the journal, after it was recorded."""
    user_headers: Sequence[tuple[str, str]] = ()
    """Header fields that the user wants on this HTTP request only. They win over all others."""
    alterations: Sequence[Alteration] = ()
    """What a filter did to it."""
    headers_of: Callable[[str, dict[str, Any]], Sequence[tuple[str, str]]] | None = None
    """Returns `headers` for another method and parameters, after a filter has changed them."""


class Transport:
    """A connection to one server. All but `send` and `close` do nothing, unless a transport has something to do."""

    name: str
    """`stdio`, `http`, `sse`, `memory` or `recording`."""

    async def start(self) -> None:
        """Prepare the connection for sending. Raises a `ConnectionProblem`."""

    def send(self, outgoing: Outgoing) -> None:
        """Record one message (`sink.sent`) and send it. Never blocks.

        Bytes that the system does not accept at once are queued; HTTP starts a task. Raises a `ConnectionProblem` if
        the connection is gone (nothing is recorded then).
        """
        raise NotImplementedError

    async def close(self) -> None:
        """Close the connection and everything started for it, within about a second. Idempotent."""
        raise NotImplementedError

    def agreed(self, revision: str, *, version_header: bool, resumable: bool, listen: bool) -> None:
        """Set the result of the handshake: revision for the version header, resumable streams, whether to listen."""

    async def settled(self) -> None:
        """Wait until the server has accepted or refused the notifications sent so far; not for answers."""

    def abandon(self, id: int | str) -> None:
        """Stop waiting for the answer to a request and free its resources. Closing a stream does not cancel it."""

    def close_stream(self, id: int | str) -> bool:
        """Cancel a request by closing its stream (C-HTTP-36). False: this transport needs a notification instead."""
        return False

    def unread(self) -> int | None:
        """Return the sent bytes that the server has not read yet; None if unknown."""
        return None

    def is_starting(self) -> bool:
        """Return whether the server has written nothing so far and used the processor since the last call.

        False if that is unknown.
        """
        return False

    def kill_now(self) -> None:
        """Kill a server process that this transport started, without waiting; otherwise do nothing.

        For exits without time for `close`.
        """


class MessageFilter(Protocol):
    """Sees each message between clients and servers, and may change it, keep it back or answer it."""

    def transport(self, sink: Sink, make: Callable[[Sink], Transport]) -> Transport:
        """Return the transport that `make` returns for a sink, with the filter between it and `sink`."""

    def connection(self, record: Callable[[str, str], object]) -> ConnectionFilter:
        """Return the filter of a new connection. `record` gets sentences: who says it, and what."""


class Refusal(NamedTuple):
    """A response that requires authorization, or more of it."""

    status: int
    """401 or 403."""
    challenges: tuple[str, ...]
    """The values of its `WWW-Authenticate` fields, in order, unparsed (RFC 9110 section 11.6.1)."""
    fields: Sequence[tuple[str, str]]
    """All headers of the response: a server may send a DPoP nonce (RFC 9449 section 9)."""
    method: str
    """The JSON-RPC method of the message that was refused; empty for a request without one."""


class Credential(Protocol):
    """Authorizes requests when a server requires it. The transport does not know how."""

    async def fields(self, method: str, url: str) -> Sequence[tuple[str, str]]:
        """Return the headers that authorize this HTTP request; none without a token."""

    async def refused(self, refusal: Refusal, sent: Sequence[tuple[str, str]]) -> bool:
        """Handle a refused request that had the `sent` headers. True: send it again, with new `fields`.

        Raises `AuthorizationNeeded` with the reason if authorization failed.
        """


class OwnNetwork(Network, Protocol):
    """Makes connections instead of the system's network: an app in this process, or a client of the program."""

    def serves(self, url: Url) -> bool:
        """Whether it handles requests to this URL."""


class HttpOptions(NamedTuple):
    """The user's options for HTTP."""

    headers: tuple[tuple[str, str], ...] = ()
    """Extra headers on every request, in order; they override ours."""
    proxy: str | None = None
    """Proxy URL; None uses the system's (`HTTPS_PROXY` …)."""
    verify: bool = True
    """Whether to verify the server's certificate."""
    connect_timeout: float = 10.0
    """Timeout in seconds for making a connection."""
    credential: Credential | None = None
    """Authorizes requests; None: only the headers above."""
    network: OwnNetwork | None = None
    """Makes connections; None: the system's network."""
    max_body: int | None = None
    """Most bytes of one message; None: `MAX_MESSAGE`."""

    @property
    def longest(self) -> int:
        """Bytes of one message above which it is dropped."""
        return self.max_body or MAX_MESSAGE
