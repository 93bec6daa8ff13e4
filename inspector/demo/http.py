"""The demo over HTTP, on the endpoint of `serving`: sessions, requests without one, HTTP+SSE, and the token check."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from inspector.demo.auth.http_values import HttpReply, Request, send
from inspector.demo.call import Channel
from inspector.demo.legacy import LegacySession, check_initialize
from inspector.demo.modern import Modern, is_modern, stream_of
from inspector.demo.revisions import HANDSHAKE, MODERN
from inspector.demo.rpc import RpcError, decode, encode, error, kind_of
from inspector.errors import UsageError
from inspector.protocol.names import SESSION_FIELD, VERSION_FIELD
from inspector.serving.base import ClientMessage, Reply, RequestHead, ServedClient
from inspector.serving.http import Binding, HttpServer, accepts, content_type, refusal
from inspector.serving.http_connection import ConnectionLimits, RequestRefusal, ServedRequest, ServedResponse
from inspector.serving.http_session import JSON, ClientSession, ServedStream
from inspector.system.terminal import ENDING, watch_signals

if TYPE_CHECKING:
    from inspector.demo.auth.issuer import IssuerSettings
    from inspector.demo.auth.token_check import TokenCheck
    from inspector.demo.server_state import DemoState

ENDPOINT = "/mcp"
STREAM, MESSAGES = "/sse", "/messages"
"""The endpoints of HTTP+SSE (2024-11-05): the stream of all responses, and the POSTs of all requests."""
_OLD = {STREAM: "GET", MESSAGES: "POST"}
MAX_BODY_BYTES = 64 * 1024 * 1024
STREAM_AFTER = 0.5
"""Seconds until the stream starts for a modern call without messages so far."""
UNREAD = 500
"""Messages of one call after which its thread waits until the client has read them."""


class LoopChannel(Channel):
    """A channel of the event loop, for messages from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def _call(self, do: Any, *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(do, *arguments)
        except RuntimeError:
            pass  # the server has stopped

    def answer(self, raw: bytes | None, status: int = 200) -> None:
        if raw is not None:
            self.send(raw)


class PushChannel(LoopChannel):
    """The messages of a session that belong to no request."""

    def __init__(self, push: Any) -> None:
        super().__init__()
        self._push = push

    def send(self, raw: bytes) -> None:
        self._call(self._push, raw)


class ReplyChannel(LoopChannel):
    """The messages about one POST: a JSON response, or a stream that ends with the response."""

    def __init__(self, reply: Reply, *, resumable: bool = False, endless: bool = False) -> None:
        """Of an `endless` one no sender waits: it may hold a lock that the event loop needs."""
        super().__init__()
        self._reply = reply
        self._resumable = resumable
        self._endless = endless
        self._loops_thread = threading.get_ident()
        self._unread = 0

    def send(self, raw: bytes) -> None:
        self._call(self._reply.send, raw)
        self._unread += 1
        if self._unread >= UNREAD and not self._endless and threading.get_ident() != self._loops_thread:
            self._unread = 0
            asyncio.run_coroutine_threadsafe(self._reply.drain(), self._loop).result()

    def answer(self, raw: bytes | None, status: int = 200) -> None:
        self._call(self._end, raw, status)

    def _end(self, raw: bytes | None, status: int) -> None:
        if raw is not None:
            self._reply.begin("json", status)  # without effect on a stream
            self._reply.send(raw)
        self._reply.end()

    def hang_up(self, retry: int) -> None:
        self._call(partial(self._reply.cut, retry=retry) if self._resumable else self._reply.end)


def _refuse(reply: Reply, status: int, problem: RpcError) -> None:
    reply.begin("json", status)
    reply.send(encode(error(None, problem)))
    reply.end()


class SessionHandler:
    """One session with a handshake."""

    def __init__(self, state: DemoState, client: ServedClient) -> None:
        self._push = PushChannel(client.push)
        self._session = LegacySession(state, self._push, "http")

    def received(self, arrived: ClientMessage, reply: Reply) -> None:
        """Handle one message, or a batch."""
        revision = arrived.head.field(VERSION_FIELD) if arrived.head is not None else None
        try:
            message = decode(arrived.data)
            kinds = [kind_of(item) for item in (message if isinstance(message, list) else [message])]
            if isinstance(message, list):
                self._session.check_batch(message)
            if revision is not None and revision not in HANDSHAKE:
                raise RpcError(-32600, f"Unsupported {VERSION_FIELD}: {revision}")
        except RpcError as problem:
            _refuse(reply, 400, problem)
            return
        if "request" not in kinds:
            self._session.receive(message, self._push)
            reply.end()
        elif not self._session.receive(message, ReplyChannel(reply, resumable=True)):
            reply.begin("sse")

    def left(self, reply: Reply) -> None:
        """A lost connection is not a cancellation: the call continues."""

    async def close(self, *, gone: bool) -> None:
        """End the session and its calls."""
        self._session.close()


class ModernHandler:
    """The requests without a session; each names its client."""

    def __init__(self, state: DemoState) -> None:
        self._state = state
        self._running: dict[Reply, Modern] = {}

    def received(self, arrived: ClientMessage, reply: Reply) -> None:
        """Handle one request. No notification of a client has an effect here, but none is an error either."""
        try:
            message = decode(arrived.data)
            kind = kind_of(message)
        except RpcError as problem:
            _refuse(reply, 400, problem)
            return
        if kind != "request":
            reply.begin("json", 202 if kind == "notification" else 400)
            reply.end()
            return
        self._running = {other: modern for other, modern in self._running.items() if other.open}
        self._running[reply] = modern = Modern(self._state, "http", arrived.head)
        modern.receive(message, ReplyChannel(reply, endless=stream_of(message["method"]) is not None))
        asyncio.get_running_loop().call_later(STREAM_AFTER, reply.begin, "sse")

    def left(self, reply: Reply) -> None:
        """Cancel the request whose stream the client has closed."""
        modern = self._running.pop(reply, None)
        if modern is not None:
            modern.drop()

    async def close(self, *, gone: bool) -> None:
        """End all requests."""
        for modern in self._running.values():
            modern.drop()


class SseSession:
    """A session of HTTP+SSE, which lives as long as its stream."""

    def __init__(self, state: DemoState, response: ServedResponse, ended: Any) -> None:
        self.id = os.urandom(16).hex()
        self._ended = ended
        self._stream = ServedStream("", resumable=False, keep_alive=15.0, kind="message")
        self._stream.on_left = self.end
        self._stream.attach(response)
        response.write(f"event: endpoint\ndata: {MESSAGES}?session_id={self.id}\n\n".encode())
        self._channel = PushChannel(self._stream.send)
        self.session = LegacySession(state, self._channel, "sse")

    def receive(self, message: Any) -> None:
        """Handle one message; its response goes to the stream."""
        self.session.receive(message, self._channel)

    def end(self) -> None:
        """End the session, because its stream has ended."""
        self._ended(self)
        self.session.close()


class DemoServer(HttpServer):
    """The endpoint of both eras, and those of HTTP+SSE; with a `gate` only for clients that log in."""

    def __init__(self, state: DemoState, host: str, port: int) -> None:
        legacy = bool(state.handshakes)
        limits = ConnectionLimits(body=MAX_BODY_BYTES)
        binding = Binding(ENDPOINT, sessions=legacy, listening=legacy, resumable=True, limits=limits)
        super().__init__(self._open_handler, host, port, binding)
        self.state = state
        self.gate: TokenCheck | None = None
        self.sse_sessions: dict[str, SseSession] = {}

    def _open_handler(self, client: ServedClient) -> SessionHandler | ModernHandler:
        return SessionHandler(self.state, client) if client.session else ModernHandler(self.state)

    @property
    def origin(self) -> str:
        """The URL of the server without the path."""
        return self.url.removesuffix(ENDPOINT)

    async def stop(self) -> None:
        """End the subscriptions with their results, and all sessions."""
        for subscription in list(self.state.subscriptions):
            subscription.stop()
        await asyncio.sleep(0)
        await self.close()

    # Requests

    def screen(self, head: RequestHead) -> RequestRefusal | None:
        """Refuse pages of other sites; the rest is decided after the token check, which has paths of its own."""
        reason = self._guard.refusal(head, pages=True)
        return refusal(403, reason) if reason else None

    def answer(self, request: ServedRequest, response: ServedResponse) -> None:
        """Serve one request."""
        stopped = self._stopped(request) if request.complete else None
        if stopped is not None:
            self.own(send(response, stopped))
            return
        head = request.head
        place = head.target.partition("?")[0]
        refused = self._refused(head, place)
        if refused is not None:
            response.whole(*refused)
        elif place == STREAM:
            session = SseSession(self.state, response, lambda ended: self.sse_sessions.pop(ended.id, None))
            self.sse_sessions[session.id] = session
        elif place == MESSAGES:
            self._message(request, response)
        else:
            super().answer(request, response)

    def _stopped(self, request: ServedRequest) -> HttpReply | None:
        """Return the response of the token check, if authorization is enabled and access is not granted."""
        return self.gate.answer(Request(request.head, request.body)) if self.gate is not None else None

    def _refused(self, head: RequestHead, place: str) -> RequestRefusal | None:
        if place in _OLD and self.state.handshakes:
            if head.method != _OLD[place]:
                return refusal(405, f"Method not allowed: {head.method[:20]}", [("Allow", _OLD[place])])
            if place == STREAM and not accepts(head, "text/event-stream"):
                return refusal(406, "Accept must include text/event-stream.")
            if place == MESSAGES and content_type(head) != "application/json":
                return refusal(415, "The body must be application/json.")
            return None
        refused = super().screen(head)
        if refused is not None or head.method == "OPTIONS":
            return refused
        kinds = ("application/json", "text/event-stream") if head.method == "POST" else ()
        if kinds and (head.field("accept") is None or not all(accepts(head, kind) for kind in kinds)):
            return refusal(406, f"Accept must include {' and '.join(kinds)}.")
        return None

    def _message(self, request: ServedRequest, response: ServedResponse) -> None:
        """Handle a POST of HTTP+SSE."""
        query = request.head.target.partition("?")[2].split("&")
        names = [parameter.removeprefix("session_id=") for parameter in query if parameter.startswith("session_id=")]
        session = self.sse_sessions.get(names[0]) if names else None
        if session is None:
            response.whole(*refusal(404 if names else 400, f"Unknown session: start with GET {STREAM}"))
            return
        try:
            message = decode(request.body)
        except RpcError as problem:
            response.whole(400, encode(error(None, problem)), JSON)
            return
        response.whole(202, b"Accepted", (("Content-Type", "text/plain"),))
        session.receive(message)

    def _session_for(self, arrived: ClientMessage, head: RequestHead, response: ServedResponse) -> ClientSession | None:
        """Return the session of a message; None if it was refused, which has been answered."""
        message, name = arrived.message, head.field(SESSION_FIELD)
        modern = head.field(VERSION_FIELD) in MODERN or head.field("mcp-method") is not None or is_modern(message)
        if not self.state.handshakes or (self.state.modern and modern):
            return self._shared_session(head, begins=False)
        if name is None and isinstance(message, dict) and message.get("method") == "initialize" and "id" in message:
            try:
                check_initialize(message.get("params"))
            except RpcError as problem:
                response.whole(200, encode(error(message["id"], problem)), JSON)
                return None
            return self._new_session(message, response)
        if name is None and message is None:
            return self._shared_session(head, begins=False)  # it answers that this is not JSON
        refused = self._session_refusal(name, ())
        if refused is not None:
            response.whole(*refused)
        return self._sessions.get(name or "")


def serve_http(
    state: DemoState, host: str, port: int, *, auth: IssuerSettings | None = None, attached: bool = False
) -> None:
    """Serves until interrupted or terminated; writes the URL to stderr first.

    With `auth` only clients that log in; when `attached`, also only until stdin ends.
    """
    try:
        asyncio.run(_serve(DemoServer(state, host, port), auth, attached))
    except UsageError as problem:
        raise SystemExit(str(problem)) from None


async def _serve(server: DemoServer, auth: IssuerSettings | None, attached: bool) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    watch_signals([number for number in ENDING if number != signal.SIGINT], lambda number: stop.set())
    await server.start()
    issuers = None
    if auth is not None:
        from inspector.demo.auth.listening import open_gate

        server.gate, issuers = await open_gate(auth, server.origin)
    print(f"demo server on {server.url}", file=sys.stderr, flush=True)
    if server.state.handshakes:
        print(f"and with HTTP+SSE on {server.origin}{STREAM}", file=sys.stderr, flush=True)
    for authority in server.gate.authorities if server.gate is not None else ():
        print(f"authorization server: {authority.issuer}", file=sys.stderr, flush=True)
    if attached:
        threading.Thread(target=_wait_for_stdin, args=(loop, stop), daemon=True).start()
    try:
        await stop.wait()
    finally:
        await server.stop()
        if issuers is not None:
            await issuers.close()


def _wait_for_stdin(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    while sys.stdin.buffer.read(65536):
        pass
    loop.call_soon_threadsafe(stop.set)
