"""A connection on which a check may send anything: each message goes out exactly as written.

Requests of the modern era get the required metadata unless a check omits it. Received messages are kept as frames, in
order; callers wait for a response, and `quiet` waits for what should not come. A message that no correct client would
send is marked in the recording as a probe: only the check judges its response.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from itertools import count
from typing import Any, Literal

from inspector.check.visit.probe_messages import CorrectClient
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.shared_process import SessionConnection
from inspector.client.bare_connection import BareConnection, ConnectionListener
from inspector.client.engine.connect import Connect, transport_for
from inspector.client.options import Options
from inspector.config.targets import Target
from inspector.errors import ConnectionProblem, InspectorError, ServerError
from inspector.journal import channels
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Frame, Journal
from inspector.journal.query import Query
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import METHOD_NOT_FOUND, NotJson, Shape
from inspector.protocol.members import value_at
from inspector.protocol.revisions import features
from inspector.transports.base import Outgoing
from inspector.transports.stdio import StdioTransport

PREFIX = "io.modelcontextprotocol/"
_LASTING = frozenset(("initialize", "tools/call", "tasks/result", "subscriptions/listen"))
"""Requests whose response may take long."""
HandshakeState = Literal["nothing", "initialize", "initialized"]
"""The latest message of the client in a handshake."""
_MARKER = "inspector-check-after-"
"""How the ids of the requests begin that show how far the server has read."""
ON_ITS_WAY = 0.1
"""Seconds in which a response may still come that was ready when the server read a later request."""
CLIENT = {"name": "inspector-check", "version": "1"}


class ServerHealth(Enum):
    """How the server has reacted lately: on one connection, or in the whole run."""

    RESPONDING = auto()
    SILENT = auto()
    """A request has no response, although the server may answer others."""
    STOPPED = auto()
    """It stopped reading: a later request got no response either."""
    LOST = auto()
    """The connection is closed; in a run, it accepts no more."""


@dataclass(slots=True)
class ServerState:
    """The server, as the connections of a run have found it."""

    startup: float = 0.0
    """The longest time from the connection to its first message, in seconds; 0 if unknown."""
    health: ServerHealth = ServerHealth.RESPONDING
    """`SILENT` once a request never got a response: it is proven, so that the run does not wait as long again."""
    loss: str = ""
    """Why nothing can be sent any more, if it is `LOST`."""

    def lose(self, reason: str) -> None:
        """The server accepts no more connections."""
        self.health, self.loss = ServerHealth.LOST, reason


class _Waiting:
    """How long one connection waits for a message."""

    def __init__(self, timeout: float, server: ServerState) -> None:
        self._timeout = timeout
        self._server = server
        self._opened_at = 0.0
        """When it was connected; 0 after the first message."""
        self._slowest = 0.0
        """Seconds of the slowest exchange that needs no work of the server."""

    def connected(self) -> None:
        """The connection is open; the server may still start."""
        self._opened_at = time.monotonic()

    def on_message(self) -> None:
        """A message came."""
        if self._opened_at:
            self._server.startup = max(self._server.startup, time.monotonic() - self._opened_at)
            self._opened_at = 0.0

    def took(self, seconds: float) -> None:
        """An exchange took this long."""
        self._slowest = max(self._slowest, seconds)

    def limit(self, seconds: float) -> float:
        """Seconds to wait. The first response may also take as long as the server needs to start."""
        return seconds + 3 * (self._server.startup or self._timeout) if self._opened_at else seconds

    def for_unwanted(self, least: float) -> float:
        """Seconds to wait for messages that should not come; longer if the server or this machine is slow."""
        return min(self._timeout, max(least, 4 * self._slowest))


class RawConnection:
    """Call `open`, send messages, call `close`.

    `revision` is the one in use; `capabilities` are those that we declare.
    """

    def __init__(
        self,
        target: Target,
        journal: Journal,
        options: Options,
        revision: str,
        timeout: float,
        capabilities: dict[str, Any] | None = None,
        *,
        connect: Connect = transport_for,
        check: str = "survey",
        overdue: dict[int, float] | None = None,
        server: ServerState | None = None,
        patience: float = 0.0,
        visit: str = "",
        why: str = "",
        join: Callable[[ConnectionListener], SessionConnection] | None = None,
        undeclared: Set[str] = frozenset(),
    ) -> None:
        """Requests without a response in time are added to `overdue`, unless later requests got responses.

        If others get responses, a response is waited for `patience` seconds before it counts as missing.

        `visit` is the revision of the visit to which the connection belongs in the recording, `why` its purpose.

        `join` returns the open connection of a session to use instead of an own one. The session answers the server's
        requests; ids differ from those of the session.

        `undeclared`: methods of capabilities that the server does not declare.
        """
        self.journal = journal
        self._overdue = {} if overdue is None else overdue
        self._server = server or ServerState()
        self._patience = patience
        self._waiting = _Waiting(timeout, self._server)
        self.check = check
        """The check that uses it, whose name is recorded with its probes."""
        self.conn = journal.new_conn() if join is None else 0
        self.revision = revision
        self.capabilities = capabilities or {}
        self.timeout = timeout
        self.frames: list[Frame] = []
        """The messages that were received since the current check uses it."""
        self.received: list[Frame] = []
        """All received messages."""
        self.stderr: list[bytes] = []
        self.lost: InspectorError | None = None
        """Why the connection is closed."""
        self._latest = ServerHealth.RESPONDING
        """What the latest request has shown."""
        self.opened: RequestOutcome | None = None
        """The first result of initialize, or else its latest response."""
        self.initialized = False
        """Whether the handshake is complete."""
        self.modern = features(revision).era == "modern"
        self._bare: BareConnection | SessionConnection = (
            BareConnection(target, journal, self, options, connect=connect, conn=self.conn)
            if join is None
            else join(self)
        )
        self._correct_client = CorrectClient(revision, undeclared)
        self._failed: dict[int, InspectorError] = {}
        self._news = asyncio.Event()
        self._ids: Iterator[int | str] = count(1) if join is None else (f"check-{number}" for number in count(1))
        self._life = {name: text for name, text in (("visit", visit), ("why", why)) if text}
        self._markers = count(1)
        """The numbers of the requests that show whether the connection is up."""

    async def open(self, *, handshake: bool = True) -> RequestOutcome | None:
        """Connect, and initialize in the legacy era. Raises a `ConnectionProblem` if the server cannot be reached."""
        self.journal.record_life("", "reopen", by="check", conn=self.conn, **self._life)
        await self._bare.open()
        self._waiting.connected()
        if handshake:
            await self.complete_handshake()
        return self.opened

    def join(self, opened: RequestOutcome | None) -> None:
        """Use the handshake of the session as that of this connection; `opened` is its response."""
        self.opened, self.initialized = opened, True
        self._correct_client.is_greeted()

    @property
    def is_shared(self) -> bool:
        """Whether it is the connection of a session."""
        return isinstance(self._bare, SessionConnection)

    @property
    def health(self) -> ServerHealth:
        """The state of the server on this connection."""
        return self._latest if self.lost is None else ServerHealth.LOST

    @property
    def serves(self) -> bool:
        """Whether another check can use it."""
        return self.health in (ServerHealth.RESPONDING, ServerHealth.SILENT)

    def lend(self, check: str, capabilities: dict[str, Any] | None = None) -> None:
        """Let another check use this connection: `frames` then has the messages from here on."""
        self.check = check
        self.frames = []
        self.capabilities = capabilities or {}

    def is_past(self, state: HandshakeState) -> bool:
        """Whether the handshake has gone further than this."""
        if state == "nothing":
            return self.opened is not None
        return state == "initialize" and self.initialized

    async def complete_handshake(self) -> None:
        """Initialize in the legacy era, as far as that is not done."""
        if self.modern or self.initialized:
            return
        if self.opened is None or not self.opened.ok:
            await self.initialize()
        if self.opened is not None and self.opened.ok:
            self.initialized = True
            self.notify("notifications/initialized")
            await self._bare.transport.settled()

    async def initialize(self, revision: str | None = None, **params: Any) -> RequestOutcome:
        """`initialize` with this revision."""
        response = await self._initialize(revision, **params)
        if self.opened is None or not self.opened.ok:
            self.opened = response
        return response

    async def _initialize(self, revision: str | None, **params: Any) -> RequestOutcome:
        return await self.request(
            "initialize",
            {
                "protocolVersion": revision or self.revision,
                "capabilities": self.capabilities,
                "clientInfo": CLIENT,
                **params,
            },
        )

    def with_metadata(self, params: Any) -> Any:
        """Params with the metadata that each request of the modern era needs."""
        return with_metadata(params, self.revision, self.capabilities)

    async def request(
        self, method: str, params: Any = None, *, id: Any = None, bare: bool = False, timeout: float | None = None
    ) -> RequestOutcome:
        """Send a request and wait for its response. `bare`: without the metadata of the era."""
        if id is None:
            id = next(self._ids)
        message = jsonrpc.request(id, method)
        if not bare:
            params = self.with_metadata(params)
        if params is not None:
            message["params"] = params
        return await self.exchange(message, timeout=timeout)

    async def exchange(self, message: dict[str, Any], *, timeout: float | None = None) -> RequestOutcome:
        """Send a request as it is and wait for its response."""
        response = self.begin(message)
        return await self.answer(response, timeout=timeout)

    def begin(self, message: dict[str, Any]) -> RequestOutcome:
        """Send a request as it is, and do not wait."""
        response = RequestOutcome(str(message.get("method", "")))
        response.sent_at = time.monotonic()
        try:
            response.n = self._send(jsonrpc.encode(message), message)
        except ConnectionProblem as error:
            response.reason = error.message
        return response

    async def answer(self, response: RequestOutcome, *, timeout: float | None = None) -> RequestOutcome:
        """Wait for the response to a request that was sent with `begin`."""
        seconds = self._waiting.limit(self.timeout if timeout is None else timeout)
        index = self.journal.index
        known = lambda: not response.n or bool(index.pair(response.n)) or response.n in self._failed  # noqa: E731
        stopped = self._latest is ServerHealth.STOPPED
        if not await self._wait(known, seconds) and self.lost is None:
            self._overdue[response.n] = seconds
            stopped = timeout is None and not await self._passed()
            if timeout is None and not stopped:
                # The connection is up: wait as long as a client does. After that, time is not the cause.
                waited = time.monotonic() - response.sent_at
                proven = self._server.health is not ServerHealth.RESPONDING
                more = seconds if proven else max(seconds, self._patience - waited)
                if not await self._wait(known, more) and self.lost is None:
                    self._server.health = ServerHealth.SILENT
                    after = round((time.monotonic() - response.sent_at) * 1000)
                    self.journal.record_life(
                        "", "unanswered", conn=self.conn, by="check", after_ms=after, **{"for": response.n}
                    )
                self._overdue.pop(response.n)
        response.seconds = time.monotonic() - response.sent_at
        if response.n and index.pair(response.n):
            if response.method not in _LASTING:
                self._waiting.took(response.seconds)
            response.response_n = index.pair(response.n)
            event = self.journal.event(response.response_n)
            message = event.message
            response.message = message if type(message) is dict else {"result": message}
            response.status = status_of(self.journal, response.n)
        elif response.n in self._failed:
            error = self._failed[response.n]
            response.reason = error.message
            response.status = status_of(self.journal, response.n)
            if isinstance(
                error, ServerError
            ):  # An error without our id, which belongs to us according to its HTTP response.
                response.message = {"error": {"code": error.rpc_code, "message": error.rpc_message, "data": error.data}}
                response.response_n = last_on(self.journal, response.n)
        elif not response.reason:
            silence = f"no response within {round(response.seconds, 1):g} s"
            response.reason = self.lost.message if self.lost is not None else silence
        health = ServerHealth.RESPONDING if response.answered else ServerHealth.SILENT
        self._latest = ServerHealth.STOPPED if stopped else health
        return response

    async def _passed(self) -> bool:
        """Whether a request sent now gets a response. If so, the server has read the earlier messages."""
        if not self.modern and (self.opened is None or not self.opened.ok):
            return False
        response = self.begin(self._marker())
        return response.n > 0 and await self._wait(lambda: bool(self.journal.index.pair(response.n)), self.timeout)

    def _marker(self) -> dict[str, Any]:
        id = f"{_MARKER}{next(self._markers)}"
        if self.modern:
            return jsonrpc.request(id, "server/discover", self.with_metadata({}))
        return jsonrpc.request(id, "ping")

    async def ping(self) -> RequestOutcome:
        """A request that every server of the era answers. Its response shows that it has read the earlier messages."""
        return await self.exchange(self._marker())

    async def reaction(self, met: Callable[[Frame], bool]) -> Frame | None:
        """The first matching frame, after the server has read all messages and had a moment to respond to them."""
        await self._bare.transport.settled()
        if (await self.ping()).answered:
            await self.ping()
        return await self.until(lambda frame: not _is_marked(frame) and met(frame), self.patience(ON_ITS_WAY))

    async def barrier(self) -> bool:
        """Wait for two responses. Returns whether they came, so that responses to earlier messages have come too."""
        sent_at = time.monotonic()
        await self._bare.transport.settled()
        both = await self._passed() and await self._passed()
        self._waiting.took(time.monotonic() - sent_at)
        return both

    def patience(self, least: float) -> float:
        """Seconds to wait for messages that should not come; longer if the server or this machine is slow."""
        return self._waiting.for_unwanted(least)

    def notify(self, method: str, params: Any = None) -> int:
        """Send a notification; returns its event number, 0 if the connection is closed."""
        message: dict[str, Any] = {"jsonrpc": jsonrpc.VERSION, "method": method}
        if params is not None:
            message["params"] = params
        return self.send(jsonrpc.encode(message))

    def send(self, data: bytes) -> int:
        """Send any bytes."""
        try:
            message = jsonrpc.parse(data)
        except NotJson:
            message = None
        with suppress(ConnectionProblem):
            return self._send(data, message)
        return 0

    def _send(self, data: bytes, message: Any) -> int:
        with self.journal.probing("" if self._correct_client.allow(message) else self.check):
            return self._bare.send(data)

    async def quiet(self, seconds: float) -> list[Frame]:
        """Yield the messages that arrive in this time."""
        before = len(self.frames)
        await self._wait(lambda: False, seconds)
        return self.frames[before:]

    async def until(self, met: Callable[[Frame], bool], seconds: float | None = None) -> Frame | None:
        """The first frame, already received or in time, that matches."""
        frame: Frame | None = None
        seen = 0

        def is_met() -> bool:
            nonlocal frame, seen
            unseen, seen = self.frames[seen:], len(self.frames)
            frame = frame or next(filter(met, unseen), None)
            return frame is not None

        await self._wait(is_met, self._waiting.limit(self.timeout if seconds is None else seconds))
        return frame

    async def _wait(self, met: Callable[[], bool], seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not met() and self.lost is None:
                    self._news.clear()
                    await self._news.wait()
        return met()

    def close_stream(self, id: int | str) -> None:
        """Close the stream of a request, which is how the modern era cancels over HTTP."""
        self._bare.close_stream(id)

    async def end_input(self, seconds: float) -> int | None:
        """Close the server's stdin and wait for its end. Returns its exit code; None if it still runs, or not stdio."""
        transport = self._bare.transport
        if not isinstance(transport, StdioTransport):
            return None
        self.journal.record_life(transport.channel, "input-closed", conn=self.conn)
        return await transport.end_input(seconds)

    @property
    def transport(self) -> Any:
        """The transport itself, for operations that only one of them has."""
        return self._bare.transport

    async def close(self) -> None:
        """Close the connection and what was started for it. Idempotent."""
        await self._bare.close()

    # The listener of the connection

    def on_received(self, messages: Sequence[bytes], frames: Sequence[Frame]) -> None:
        """Keep a received message, and answer requests.

        With capabilities, the check answers requests; without, they are rejected here, because a server may delay its
        own response until it has ours. Pings always get a response.
        """
        self.frames.extend(frames)
        self.received.extend(frames)
        self._waiting.on_message()
        for frame in frames:
            if frame.shape in (Shape.RESULT, Shape.ERROR):
                self._correct_client.answered(frame.message)
            elif frame.shape is Shape.REQUEST and not self.is_shared:
                self._correct_client.response(frame.message)
                id, method = frame.message["id"], frame.message["method"]
                if method == "ping":
                    self.send(jsonrpc.encode(jsonrpc.result(id, {})))
                elif not self.capabilities and not self.modern:
                    self.send(jsonrpc.encode(jsonrpc.error(id, METHOD_NOT_FOUND, f"Method not found: {method[:80]}")))
        self._news.set()

    def on_stderr(self, lines: Sequence[bytes]) -> None:
        """Keep a message that the server shows to people."""
        self.stderr.extend(lines)

    def on_failed(self, outgoing: Outgoing, error: InspectorError) -> None:
        """One request will get no response."""
        self._failed[outgoing.n] = error
        self._news.set()

    def on_lost(self, error: InspectorError) -> None:
        """The connection is closed."""
        self.lost = error
        self._news.set()


def _is_marked(frame: Frame) -> bool:
    id = value_at(frame.message, "id")
    return isinstance(id, str) and id.startswith(_MARKER)


def with_metadata(params: Any, revision: str, capabilities: dict[str, Any]) -> Any:
    """Params with the metadata that each request of the modern era needs; unchanged in the legacy era."""
    if features(revision).era != "modern" or (params is not None and type(params) is not dict):
        return params
    meta = {
        f"{PREFIX}protocolVersion": revision,
        f"{PREFIX}clientInfo": CLIENT,
        f"{PREFIX}clientCapabilities": capabilities,
    }
    given = params or {}
    theirs = given.get("_meta")
    return {**given, "_meta": {**meta, **(theirs if type(theirs) is dict else {})}}


def status_of(journal: Journal, n: int) -> int:
    """The HTTP status of the response to request `n`; 0 if there is none."""
    for m in _channel_of(journal, n):
        if journal.index.kind(m) == Kind.HTTP and journal.index.dir(m) == Dir.RECV:
            status = journal.event(m).fields.get("status")
            return status if type(status) is int else 0
    return 0


def is_refusal(journal: Journal, n: int) -> bool:
    """Whether message `n` is an error without an id in a response that rejects a POST.

    Such a response may also reject messages that are not requests (Streamable HTTP, "Sending Messages to the Server").
    """
    event = journal.event(n)
    status = event.fields.get("status")
    return type(status) is int and status >= 400 and type(event.message) is dict and event.message.get("id") is None


def last_on(journal: Journal, n: int) -> int:
    """The newest event on the channel of request `n`; 0 if there is none."""
    return max((m for m in _channel_of(journal, n) if journal.index.dir(m) == Dir.RECV), default=0)


def _channel_of(journal: Journal, n: int) -> Iterator[int]:
    """The later events on the channel of a request."""
    index = journal.index
    if not channels.is_post(index.channel(n)):
        return
    for m in Query(channel=index.channel(n)).forwards(index, n):
        if index.dir(m) == Dir.SEND and index.kind(m) == Kind.RPC:
            return  # A later connection uses the same name.
        yield m
