"""The seam below `http_client.Endpoint`: a connection that carries one HTTP request at a time, and its errors.

Four modules make connections: `http1_connection` (sockets), `proxy_connections` (httpcore), `asgi` (an app in this
process) and `httpx_network` (a client of the program).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from inspector.transports.http_url import Url

KEPT_ALIVE = 4.0
"""Seconds for which an idle connection is reused. Servers close theirs after five, and a request must not meet that."""

OnOpened = Callable[[dict[str, Any]], None]
"""Gets facts of a new connection as soon as they are known: `address` when the peer accepted it, then `tls`, and at the
end `ready`, which is true."""


class NetworkRequest(NamedTuple):
    """A request that is sent as it is."""

    method: str
    url: Url
    headers: Sequence[tuple[str, str]]
    """In order. One character is one byte, unless a value has characters beyond Latin-1: those are sent as UTF-8."""
    body: bytes = b""
    anonymous: bool = False
    """Whether a client of the program must not add its credentials."""


class ResponseBody(Protocol):
    """The body of a response: read once, then closed."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the decoded body as it arrives."""

    async def aclose(self) -> None:
        """End the exchange. The connection is lost if the body was not read to its end. Idempotent."""


class NetworkResponse(NamedTuple):
    """The head of a response, as it was received, and its body."""

    status: int
    reason: str
    version: str
    """The protocol, like `HTTP/1.1`."""
    headers: list[tuple[str, str]]
    """In order, with their case and duplicates. One character is one byte."""
    body: ResponseBody


class Connection(Protocol):
    """Carries one request at a time."""

    async def exchange(self, request: NetworkRequest, opened: OnOpened | None = None) -> NetworkResponse:
        """Connect if necessary, send a request, and wait for the head of its response.

        Raises `NetworkError`, `OSError` and `HttpError`; the connection is closed then.
        """

    @property
    def idle(self) -> bool:
        """Whether it is open and can carry another request."""

    @property
    def expired(self) -> bool:
        """Whether an idle connection can no longer be used. Asked before each further request."""

    async def close(self) -> None:
        """Close it. Idempotent."""


class SharedConnection:
    """The idle state of a connection that carries requests side by side: others have the real connections."""

    idle = True
    expired = False

    async def close(self) -> None:
        """It has no resources to release."""


class Network(Protocol):
    """Makes connections."""

    failures: tuple[type[BaseException], ...]
    """Exceptions of a failed exchange, other than `NetworkError` and `OSError`."""

    def create_connection(self) -> Connection:
        """Create a connection; the first exchange connects it."""


class NetworkError(Exception):
    """An exchange failed."""


class ConnectTimeout(NetworkError):
    """The peer did not accept the connection, or did not answer the TLS handshake, in time."""


class Disconnected(NetworkError):
    """The server closed the connection before it sent a byte of the response."""


class ConnectionBroken(NetworkError):
    """The connection broke while the response was awaited or read; the cause is the system's error."""


class Unsendable(NetworkError):
    """The request has characters that HTTP does not allow. The text is a clause: `the value of a header …`."""


class NotHttp(NetworkError):
    """The response violates HTTP, or ended early. The text is a clause: `its header is too long`."""

    def __init__(self, clause: str, quoted: bytes = b"", *, binary: bool = False) -> None:
        """`quoted`: the bytes that are wrong. `binary`: the response begins with a control character."""
        super().__init__(clause)
        self.quoted = quoted
        self.binary = binary


class BadFraming(NotHttp):
    """The head of the response has been read, but its headers do not tell where the body ends."""
