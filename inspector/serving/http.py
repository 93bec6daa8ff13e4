"""A Streamable HTTP endpoint for clients: POST, GET and DELETE on one path, optionally with sessions.

Sources: MCP "Streamable HTTP" of 2025-03-26 to 2026-07-28. The handler interprets messages; the endpoint reads only
what the binding needs: whether a message starts a session, and whether its era has none.
"""

from __future__ import annotations

import asyncio
import errno
import secrets
from abc import ABC, abstractmethod
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from inspector.errors import InspectorError, UsageError
from inspector.journal import channels
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.names import SESSION_FIELD, VERSION_FIELD, VERSION_KEY
from inspector.protocol.revisions import MODERN, R4
from inspector.reasons import os_reason
from inspector.serving.base import ClientMessage, Fields, HandlerFactory, RequestHead
from inspector.serving.http_connection import (
    ConnectionLimits,
    RequestRefusal,
    ServedConnection,
    ServedRequest,
    ServedResponse,
)
from inspector.serving.http_origins import RequestGuard
from inspector.serving.http_session import JSON, ClientSession

_METHODS = "GET, POST, DELETE, OPTIONS"
_ONLY_POST = "POST, OPTIONS"
MAX_SESSIONS = 200
"""Client sessions at a time, above which the oldest is ended: each may have open files."""
SAME_PORT_TRIES = 5
CLOSE_WITHIN = 2.0
"""Seconds for handlers to end, and for connections to send what was written."""
_LOOK_EVERY = 0.005
"""Seconds between two looks whether the connections have ended."""


@dataclass(frozen=True, slots=True)
class Binding:
    """The options that the protocol leaves to the server."""

    path: str = "/mcp"
    sessions: bool = True
    """The answer to `initialize` names a session."""
    listening: bool = True
    """A GET opens a stream for messages outside of requests; otherwise the answer is 405."""
    resumable: bool = False
    """Events have ids, and a client may resume a stream."""
    names: tuple[str, ...] = ()
    """Accepted host names, besides its own."""
    origins: tuple[str, ...] = ()
    """Origins whose pages may use the server, besides its own."""
    limits: ConnectionLimits = field(default_factory=ConnectionLimits)


class HttpListener(ABC):
    """Listens on an address: `start` it, `close` it. `screen` may refuse a request by its head, `answer` serves it."""

    def __init__(self, host: str, port: int, binding: Binding) -> None:
        self.binding = binding
        self.limits = binding.limits
        self.connections: set[ServedConnection] = set()
        self.port = port
        """The port in use, after `start`."""
        self._host = host
        self._guard = RequestGuard(host, binding.names, binding.origins)
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._closed = False

    @abstractmethod
    def screen(self, head: RequestHead) -> RequestRefusal | None:
        """Return the refusal of a request, decided by its head."""

    @abstractmethod
    def answer(self, request: ServedRequest, response: ServedResponse) -> None:
        """Serve a request, of which the body may not be complete."""

    async def start(self) -> None:
        """Listen. Raises `UsageError` if the address cannot be used."""
        try:
            self._server = await self._listen()
        except (OSError, OverflowError, UnicodeError) as error:
            taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
            reason = "another process uses the port" if taken else os_reason(error)
            raise UsageError(
                f"Cannot listen on {self._host}:{self.port}: {reason}.",
                hint="Choose another port, or 0 for any free one.",
            ) from None
        self.port = self._server.sockets[0].getsockname()[1]

    async def _listen(self) -> asyncio.Server:
        """Listen on all addresses of a name, on the same port."""
        loop = asyncio.get_running_loop()
        port = self.port
        for _ in range(SAME_PORT_TRIES):
            server = await loop.create_server(lambda: ServedConnection(self), self._host, port, backlog=128)
            ports = {socket.getsockname()[1] for socket in server.sockets}
            if len(ports) == 1:
                return server
            port = ports.pop()
            server.close()
        raise OSError("no port is free on all addresses of that name")

    @property
    def url(self) -> str:
        """The URL of the endpoint."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self.port}{self.binding.path}"

    def own(self, work: Coroutine[Any, Any, None]) -> None:
        """Do some work in a task, which `close` waits for."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End all work and connections, within about two seconds. Idempotent."""
        if self._closed:
            return
        self._closed = True
        if self._server is not None:
            self._server.close()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_WITHIN)
        for connection in list(self.connections):
            connection.shut()
        for _ in range(int(CLOSE_WITHIN / _LOOK_EVERY)):
            if not self.connections:
                return
            await asyncio.sleep(_LOOK_EVERY)
        for connection in list(self.connections):
            connection.kill()


class HttpServer(HttpListener):
    """The endpoint: `start` it, give its `url` to clients, `close` it. It opens a handler for each client session.

    Clients without a session (the modern era, or a binding without sessions) share one handler per query of the URL:
    `/mcp?client=a` and `/mcp?client=b` are two clients. A new handler is opened when one starts with `server/discover`
    or `initialize` while no other request of it is running.
    """

    def __init__(
        self, new_handler: HandlerFactory, host: str = "127.0.0.1", port: int = 0, binding: Binding | None = None
    ) -> None:
        super().__init__(host, port, binding or Binding())
        self._new_handler = new_handler
        self._sessions: dict[str, ClientSession] = {}
        self._shared: dict[str, ClientSession] = {}
        self._posts = 0

    def __len__(self) -> int:
        """Return the number of current client sessions."""
        return len(self._sessions) + len(self._shared)

    # Requests

    def screen(self, head: RequestHead) -> RequestRefusal | None:
        """Refuse a request by its head if it is forbidden or not for this endpoint."""
        reason = self._guard.refusal(head)
        if reason:
            return refusal(403, reason)
        cors = self._guard.cors(head)
        if _path(head) != self.binding.path:
            return refusal(404, f"The MCP endpoint is {self.binding.path}.", cors)
        if head.method == "OPTIONS":
            fields = [("Allow", self._methods(head)), *cors]
            return RequestRefusal(
                204, b"", [*fields, *self._guard.preflight(head, self._methods(head))] if cors else fields
            )
        if head.method not in ("POST", "GET", "DELETE"):
            return self._not_allowed(head, cors)
        if head.method == "POST":
            return _post_refusal(head, cors)
        return self._listening_refusal(head, cors)

    def _methods(self, head: RequestHead) -> str:
        only_post = head.field(VERSION_FIELD) in MODERN or not (self.binding.sessions or self.binding.listening)
        return _ONLY_POST if only_post else _METHODS

    def _not_allowed(self, head: RequestHead, cors: Fields) -> RequestRefusal:
        allow = ("Allow", self._methods(head))
        return refusal(405, f"The method {head.method[:20]} is not allowed here.", [allow, *cors])

    def _listening_refusal(self, head: RequestHead, cors: Fields) -> RequestRefusal | None:
        """Return why a GET or DELETE is refused: its era must have them, and its session must be known."""
        if head.field(VERSION_FIELD) in MODERN or not (self.binding.listening or head.method == "DELETE"):
            return self._not_allowed(head, cors)
        if head.method == "GET" and not accepts(head, "text/event-stream"):
            return refusal(406, "Accept must include text/event-stream.", cors)
        name = head.field(SESSION_FIELD)
        if self.binding.sessions:
            return self._session_refusal(name, cors)
        return self._not_allowed(head, cors) if head.method == "DELETE" else None

    def _session_refusal(self, name: str | None, cors: Fields) -> RequestRefusal | None:
        if name is None:
            return refusal(400, f"{SESSION_FIELD} is missing: start with initialize.", cors)
        if name not in self._sessions:
            return refusal(404, "Unknown session: start again with initialize.", cors)
        return None

    def answer(self, request: ServedRequest, response: ServedResponse) -> None:
        """Pass a request to its session."""
        head = request.head
        response.always = self._guard.cors(head)
        if self._closed:
            response.abort()
        elif head.method == "POST":
            self._post(request, response)
        elif head.method == "GET":
            self._session_of(head).listen(response, head.field("last-event-id") or "")
        else:
            self._end_session(self._sessions.pop(head.field(SESSION_FIELD) or ""))
            response.whole(204)

    def _session_of(self, head: RequestHead) -> ClientSession:
        session = self._sessions.get(head.field(SESSION_FIELD) or "")
        return session or self._shared_session(head, begins=False)

    def _post(self, request: ServedRequest, response: ServedResponse) -> None:
        head = request.head
        arrived = ClientMessage.read(request.body, cut=not request.complete, head=head)
        try:
            session = self._session_for(arrived, head, response)
        except (InspectorError, OSError) as error:  # the handler cannot accept another client
            response.whole(
                *refusal(503, f"Cannot open a session: {os_reason(error) if isinstance(error, OSError) else error}")
            )
            return
        if session is None:
            return
        self._posts += 1
        reply = session.reply(channels.of_post(self._posts), response)
        session.handler.received(arrived, reply)

    def _session_for(self, arrived: ClientMessage, head: RequestHead, response: ServedResponse) -> ClientSession | None:
        """Return the session of a message; None if it was refused, which has been answered."""
        name = head.field(SESSION_FIELD)
        method = arrived.message["method"] if arrived.shape is Shape.REQUEST else ""
        if name is not None and name in self._sessions:
            return self._sessions[name]
        modern = is_modern(arrived.message, head)
        if not self.binding.sessions or modern or (name is None and method == "server/discover"):
            return self._shared_session(head, begins=method in ("initialize", "server/discover"))
        if method == "initialize":
            return self._new_session(arrived.message, response)
        if arrived.message is None and name is None:
            return self._shared_session(head, begins=False)
        refused = self._session_refusal(name, ())
        if refused is not None:
            response.whole(*refused)
        return None

    # Sessions

    def _new_session(self, message: dict[str, Any], response: ServedResponse) -> ClientSession:
        session = self._open(secrets.token_hex(16), _revision(message))
        self._sessions[session.session] = session
        if len(self._sessions) > MAX_SESSIONS:
            self._end_session(self._sessions.pop(next(iter(self._sessions))))
        response.always = (*response.always, (SESSION_FIELD, session.session))
        return session

    def _shared_session(self, head: RequestHead, *, begins: bool) -> ClientSession:
        query = urlsplit(head.target).query
        session = self._shared.get(query)
        if session is not None and begins and session.idle:
            self._end_session(self._shared.pop(query))
            session = None
        if session is None:
            session = self._shared[query] = self._open("", "")
            if len(self._shared) > MAX_SESSIONS:
                self._end_session(self._shared.pop(next(iter(self._shared))))
        return session

    def _open(self, id: str, revision: str) -> ClientSession:
        resumable = self.binding.resumable and bool(id)
        session = ClientSession(
            self._new_handler,
            id,
            resumable=resumable,
            primes=resumable and revision >= R4,
            keep_alive=self.limits.keep_alive,
        )
        session.on_drop = lambda: self._dropped(session)
        return session

    def _dropped(self, session: ClientSession) -> None:
        for sessions in (self._sessions, self._shared):
            for name in [name for name, other in sessions.items() if other is session]:
                self._end_session(sessions.pop(name))

    def _end_session(self, session: ClientSession) -> None:
        self.own(session.close())

    async def close(self) -> None:
        """End all sessions too."""
        if not self._closed:
            for session in [*self._sessions.values(), *self._shared.values()]:
                self._end_session(session)
        await super().close()


def is_modern(message: Any, head: RequestHead) -> bool:
    """Whether a message belongs to the era without sessions: by its metadata, else by the header."""
    params = message.get("params") if type(message) is dict else None
    meta = params.get("_meta") if type(params) is dict else None
    if type(meta) is dict and VERSION_KEY in meta:
        return True
    return head.field(VERSION_FIELD) in MODERN


def _revision(message: dict[str, Any]) -> str:
    params = message.get("params")
    revision = params.get("protocolVersion") if type(params) is dict else None
    return revision if type(revision) is str else ""


def _post_refusal(head: RequestHead, cors: Fields) -> RequestRefusal | None:
    if content_type(head) != "application/json":
        return refusal(415, "The body must be application/json.", cors)
    if not (accepts(head, "application/json") or accepts(head, "text/event-stream")):
        return refusal(406, "Accept must include application/json and text/event-stream.", cors)
    return None


def content_type(head: RequestHead) -> str:
    """Return the media type of a request's body, without parameters."""
    return (head.field("content-type") or "").partition(";")[0].strip().lower()


def accepts(head: RequestHead, kind: str) -> bool:
    """Whether a client accepts answers of this type; without a header it accepts all (RFC 9110 section 12.5.1)."""
    accept = head.field("accept")
    if accept is None:
        return True
    allowed = {media_range.partition(";")[0].strip().lower() for media_range in accept.split(",")}
    return bool(allowed & {kind, kind.partition("/")[0] + "/*", "*/*"})


def _path(head: RequestHead) -> str:
    """Return the path of a request's target, which may be a whole URL (RFC 9112 section 3.2.2)."""
    try:
        return urlsplit(head.target).path
    except ValueError:
        return ""


def refusal(status: int, text: str, fields: Sequence[tuple[str, str]] = ()) -> RequestRefusal:
    """Return a refusal as a JSON-RPC error without an id (MCP "Streamable HTTP", "Sending Messages")."""
    body = jsonrpc.encode({"jsonrpc": "2.0", "error": {"code": jsonrpc.INVALID_REQUEST, "message": text}})
    return RequestRefusal(status, body, (*JSON, *fields))
