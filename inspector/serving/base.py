"""What an end is at which clients talk to us, and what it is given.

The end moves bytes and knows no MCP beyond what its binding demands: it opens a `Handler` for each client session,
hands it every message with a `Reply` for what answers it, and lends it a `Client` for what belongs to no request.
Nothing here blocks or raises where a client is gone: what is sent then is lost, as it would be on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from inspector.protocol.jsonrpc import NotJson, Shape, parse, shape_of

LONGEST_MESSAGE = 1 << 28
"""Bytes of one message at which it is given up, unless a limit is set."""
MOST_UNSENT = 1 << 28
"""Bytes that wait for a client which does not read, above which the connection is given up."""

Form = Literal["json", "sse"]
"""How an HTTP answer stands in its response: as the whole body, or as events of a stream."""
Fields = Sequence[tuple[str, str]]
"""Header fields in their order."""


@dataclass(frozen=True, slots=True)
class Head:
    """The head of the HTTP request that brought a message."""

    method: str
    target: str
    """Path and query, as the client wrote them."""
    fields: Fields
    arrived_at: tuple[str, int] = ("", 0)
    """Address and port of our end of its connection; empty and 0 where that is not known."""

    def field(self, name: str) -> str | None:
        """The first field of that name, whatever its case."""
        name = name.lower()
        return next((value for key, value in self.fields if key.lower() == name), None)


@dataclass(slots=True)
class Arrived:
    """One message of a client: a request, a notification, a response, a batch, or what is none of these."""

    data: bytes
    """The exact bytes, without a delimiter."""
    message: Any
    """The same, parsed; None for bytes that are no JSON."""
    shape: Shape
    why: str = ""
    """Why it is no JSON; empty where it is."""
    cut: bool = False
    """It broke off before its end: the client was gone, or it was longer than is taken."""
    head: Head | None = None
    """Over HTTP, what it came with."""

    @classmethod
    def read(cls, data: bytes, *, cut: bool = False, head: Head | None = None) -> Arrived:
        """Read what arrived, leniently. A message that broke off is not read, whatever its beginning looks like."""
        if cut:
            return cls(data, None, Shape.NONE, "it broke off before its end", True, head)
        try:
            message = parse(data)
        except NotJson as problem:
            return cls(data, None, Shape.NONE, str(problem) if data.strip() else "an empty message", False, head)
        return cls(data, message, shape_of(message), head=head)


class Reply(Protocol):
    """Where goes what answers one message. It must be ended, also where nothing is to be said (HTTP: 202)."""

    channel: str
    """Its name for a recording: `stdio`, or `post-7` for the seventh POST."""

    @property
    def open(self) -> bool:
        """Whether anything sent can still reach the client: it is not ended, and the client has not left for good."""

    def begin(self, form: Form, status: int = 200, fields: Fields = ()) -> None:
        """Decide how the answer stands in the HTTP response; has no effect on stdio, or once it has begun.

        Without it the first `send` begins a stream. Of a `json` answer everything sent is the body, which goes out at
        the end.
        """

    def send(self, data: bytes) -> None:
        """Send one message: a notification, a request, the response. Never blocks."""

    def end(self) -> None:
        """Nothing more will be sent here. Idempotent."""

    def cut(self, data: bytes = b"", retry: int | None = None) -> None:
        """Break the connection that carries the answer, without an end; `data` is the beginning of what would come.

        On stdio that is the whole connection. `retry` tells the client of an event stream after how many milliseconds
        to come back.
        """

    async def drain(self) -> None:
        """Wait until the client has taken most of what was sent, or is gone."""


class Client(Protocol):
    """A client session, as its handler sees it."""

    @property
    def transport(self) -> Literal["stdio", "http"]:
        """How it reaches us."""

    @property
    def session(self) -> str:
        """The id of the session that the client was told; empty where there is none."""

    @property
    def channel(self) -> str:
        """The channel on which what is pushed goes out, for a recording: `stdio`, or `get-2`."""

    def push(self, data: bytes) -> None:
        """Send a message that belongs to no request. Over HTTP it waits until the client listens (GET)."""

    def drop(self) -> None:
        """End the session: close every connection that carries it. The handler is closed soon."""

    async def drain(self) -> None:
        """Wait until the client has taken most of what was pushed, or is gone."""


class Handler(Protocol):
    """Who answers one client session."""

    def received(self, arrived: Arrived, reply: Reply) -> None:
        """A message has come. Never blocks; answers when it likes."""

    def left(self, reply: Reply) -> None:
        """The client has closed the stream of a reply that had not ended (HTTP only).

        In the modern era that cancels the request; in the legacy era it does not, and the client may come back for
        the rest where streams can be resumed: what is sent meanwhile is kept for it.
        """

    async def close(self, *, gone: bool) -> None:
        """The session is over, and no message will come any more. Called once; ends all that was started for it.

        `gone`: nobody reads, or nobody should wait. Otherwise (stdin has ended) what was asked may still be answered;
        that should take no more than about a second.
        """


Opens = Callable[[Client], Handler]
"""Makes the handler of a new client session."""
