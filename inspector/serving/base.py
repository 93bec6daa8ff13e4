"""The interfaces of a server for clients, and of its handlers.

The server moves bytes and knows only what its binding of MCP requires: it opens a `Handler` for each client session,
passes it every message with a `Reply` for the answer, and gives it a `ServedClient` for messages outside of requests.
No method blocks, or raises after the client is gone: messages are then lost, as they would be on the network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from inspector.journal.alterations import Alteration
from inspector.protocol.jsonrpc import NotJson, Shape, parse, shape_of

MAX_MESSAGE = 1 << 28
"""Bytes above which a message is dropped, unless a limit is set."""
MAX_UNSENT = 1 << 28
"""Unsent bytes for a slow client above which the connection is closed."""

BodyForm = Literal["json", "sse"]
"""The form of an answer in its HTTP response: the whole body, or events of a stream."""
Fields = Sequence[tuple[str, str]]
"""Headers in order."""


@dataclass(frozen=True, slots=True)
class RequestHead:
    """The head of the HTTP request of a message."""

    method: str
    target: str
    """Path and query, as the client wrote them."""
    fields: Fields
    arrived_at: tuple[str, int] = ("", 0)
    """Address and port of our end of its connection; empty and 0 if unknown."""

    def field(self, name: str) -> str | None:
        """Return the first header of that name, in any case."""
        name = name.lower()
        return next((value for key, value in self.fields if key.lower() == name), None)

    def unclear_length(self, version: str) -> str:
        """Return why another program could see another end of its body (RFC 9112 section 6.3); empty if none could."""
        lengths = [value for name, value in self.fields if name.lower() == "content-length"]
        coded = self.field("transfer-encoding") is not None
        if len(lengths) + coded > 1:
            return "A request must have one Content-Length or Transfer-Encoding."
        if any(not value.isdecimal() for value in lengths):
            return "Content-Length must be one number."
        return f"A request of HTTP/{version} must not have Transfer-Encoding." if coded and version < "1.1" else ""


@dataclass(slots=True)
class ClientMessage:
    """One message of a client: a request, a notification, a response, a batch, or invalid bytes."""

    data: bytes
    """The exact bytes, without a delimiter."""
    message: Any
    """The same, parsed; None for bytes that are not JSON."""
    shape: Shape
    reason: str = ""
    """Why it is not JSON; empty if it is."""
    cut: bool = False
    """Whether it is incomplete: the client was gone, or it exceeded the limit."""
    head: RequestHead | None = None
    """Over HTTP, the head of its request."""
    alterations: Sequence[Alteration] = ()
    """What a filter did to it."""

    @classmethod
    def read(cls, data: bytes, *, cut: bool = False, head: RequestHead | None = None) -> ClientMessage:
        """Parse a message leniently. An incomplete message is not parsed, even if its beginning is valid."""
        if cut:
            return cls(data, None, Shape.NONE, "it is incomplete", True, head)
        try:
            message = parse(data)
        except NotJson as problem:
            return cls(data, None, Shape.NONE, str(problem) if data.strip() else "an empty message", False, head)
        return cls(data, message, shape_of(message), head=head)


class Reply(Protocol):
    """The destination of the answer to one message. It must be ended, even without an answer (HTTP: 202)."""

    channel: str
    """Its name in a recording: `stdio`, or `post-7` for the seventh POST."""

    @property
    def open(self) -> bool:
        """Whether messages can still reach the client: it is not ended, and the client is not gone."""

    def begin(self, form: BodyForm, status: int = 200, fields: Fields = ()) -> None:
        """Choose the form of the answer in the HTTP response; no effect on stdio, or after the start.

        Without it the first `send` starts a stream. For a `json` answer all sent data is the body, which is sent at the
        end.
        """

    def send(self, data: bytes) -> None:
        """Send one message: a notification, a request, the response. Never blocks."""

    def end(self) -> None:
        """End the answer. Idempotent."""

    def cut(self, data: bytes = b"", retry: int | None = None) -> None:
        """Break the connection of the answer, without an end; `data` is the beginning of the next message.

        On stdio that is the whole connection. `retry` gives the client of an event stream the milliseconds until it
        should reconnect.
        """

    async def drain(self) -> None:
        """Wait until the client has read most of the data, or is gone."""


class ServedClient(Protocol):
    """A client session, for its handler."""

    @property
    def transport(self) -> Literal["stdio", "http"]:
        """Its transport."""

    @property
    def session(self) -> str:
        """The session id that the client has; empty if there is none."""

    @property
    def channel(self) -> str:
        """The channel for pushed messages, for a recording: `stdio`, or `get-2`."""

    def push(self, data: bytes) -> None:
        """Send a message outside of a request. Over HTTP it waits until the client listens (GET)."""

    def drop(self) -> None:
        """End the session: close all its connections. The handler is closed soon."""

    async def drain(self) -> None:
        """Wait until the client has read most of what was pushed, or is gone."""


class Handler(Protocol):
    """Answers one client session."""

    def received(self, arrived: ClientMessage, reply: Reply) -> None:
        """Handle a message. Never blocks; the answer may come later."""

    def left(self, reply: Reply) -> None:
        """Handle that the client has closed the stream of an open reply (HTTP only).

        In the modern era that cancels the request; in the legacy era it does not, and the client may resume the stream
        if that is supported: messages are kept for it meanwhile.
        """

    async def close(self, *, gone: bool) -> None:
        """End the session and everything that was started for it. Called once, after the last message.

        `gone`: the client is gone, or should not be waited for. Otherwise (stdin has ended) open requests may still be
        answered; that should take no more than about a second.
        """


HandlerFactory = Callable[[ServedClient], Handler]
"""Creates the handler of a new client session."""
