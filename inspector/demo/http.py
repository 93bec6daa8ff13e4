"""The Streamable HTTP transport on the standard library's threading server: sessions, and requests without one."""

from __future__ import annotations

import os
import socket
import sys
import threading
from contextlib import closing
from socketserver import ThreadingTCPServer
from urllib.parse import urlsplit

from inspector.demo import http_modern, sse
from inspector.demo.http_connection import HttpRefusal, ResponseConnection
from inspector.demo.legacy import LegacySession
from inspector.demo.revisions import HANDSHAKE, MODERN
from inspector.demo.rpc import RpcError, decode, kind_of
from inspector.demo.streams import Streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from inspector.demo.auth.issuer import IssuerSettings
    from inspector.demo.auth.token_check import TokenCheck
    from inspector.demo.server_state import DemoState
    from inspector.demo.streams import Stream

ENDPOINT = "/mcp"
MAX_SESSIONS = 1000
MAX_BODY = 64 * 1024 * 1024
KEEP_ALIVE = 15.0
FLUSH_TIMEOUT = 5.0  # seconds to send the end of a stream before the process exits
_OLD = {sse.STREAM: "GET", sse.MESSAGES: "POST"}  # the method of each HTTP+SSE endpoint
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}
_EVERYWHERE = {"0.0.0.0", "::"}


class HttpSession:
    """A session and its streams, with the id that the client sends back."""

    def __init__(self, world: DemoState) -> None:
        self.id = os.urandom(16).hex()
        self.streams = Streams()
        self.session = LegacySession(world, self.streams, "http")

    def close(self) -> None:
        """Ends the session, its calls and its streams."""
        self.session.close()
        self.streams.end()


class DemoServer(ThreadingTCPServer):
    """The listening socket, and the sessions."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, world: DemoState, host: str, port: int) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.world = world
        self.sessions: dict[str, HttpSession] = {}
        self.sse_sessions: dict[str, sse.SseSession] = {}
        self.answering: set[http_modern.Answering] = set()
        self.lock = threading.Lock()
        self.gate: TokenCheck | None = None
        # Only names of this machine are accepted: otherwise a web page could rebind its own name to us.
        self.hosts = None if host in _EVERYWHERE else _LOOPBACK | {host.lower()}
        super().__init__((host, port), HttpHandler)

    @property
    def url(self) -> str:
        """The URL of the server; the MCP endpoint is ENDPOINT below it."""
        host, port = self.server_address[:2]
        name = f"[{host!s}]" if ":" in str(host) else str(host)
        return f"http://{name}:{port}"

    def keep(self, session: HttpSession) -> None:
        """Stores a session; drops the oldest if there are too many."""
        with self.lock:
            self.sessions[session.id] = session
            oldest = self.sessions.pop(next(iter(self.sessions))) if len(self.sessions) > MAX_SESSIONS else None
        if oldest is not None:
            oldest.close()

    def forget(self, session: HttpSession) -> None:
        """Ends a session."""
        with self.lock:
            self.sessions.pop(session.id, None)
        session.close()

    def stop(self) -> None:
        """Ends the subscriptions and their streams."""
        for subscription in list(self.world.subscriptions):
            subscription.stop()
        for answering in list(self.answering):
            if answering.ended:
                answering.flushed.wait(FLUSH_TIMEOUT)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores clients that disconnect early."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class HttpHandler(ResponseConnection):
    """The requests of one connection: assigns each to its endpoint, session and era."""

    server: DemoServer

    def do_POST(self) -> None:
        """Handles one message from the client."""
        self._guarded(self._post)

    def do_GET(self) -> None:
        """Opens a stream for messages that belong to no request, or resumes one."""
        self._guarded(self._get)

    def do_DELETE(self) -> None:
        """Ends a session for its client."""
        self._guarded(self._delete)

    def do_PUT(self) -> None:
        """Refuses every other method, with a list of the allowed ones."""
        self._guarded(self._refuse_method)

    do_PATCH = do_OPTIONS = do_HEAD = do_PUT

    def _refuse_method(self) -> None:
        self.refuse(405, f"Method not allowed: {self.command}")

    def _guarded(self, serve: Callable[[], None]) -> None:
        try:
            # The body is read before a refusal: a client that is still sending may miss the response.
            self._body = self._read_body()
            self._check_address()
            if not self._is_stopped():
                self._check_place()
                serve()
        except HttpRefusal as problem:
            headers = {"Content-Type": "application/json"}
            if problem.status == 405:
                here = "GET, POST, DELETE" if self.server.world.handshakes else "POST"
                headers["Allow"] = _OLD.get(self.place, here)
            if problem.close:
                headers["Connection"] = "close"
            self.reply(problem.status, headers, problem.body)

    def _read_body(self) -> bytes:
        length = self.headers.get("Content-Length", "" if self.command == "POST" else "0")
        if not (length.isascii() and length.isdigit()):
            raise HttpRefusal(411, "Content-Length is required", close=True)
        if len(length) > 12 or int(length) > MAX_BODY:
            raise HttpRefusal(413, f"The body is larger than {MAX_BODY} bytes", close=True)
        return self.rfile.read(int(length))

    def _check_address(self) -> None:
        allowed = self.server.hosts
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        if allowed is not None and _name_in("//" + host) not in allowed:
            raise HttpRefusal(403, f"This server does not have the host name {host}")
        if allowed is not None and origin is not None and _name_in(origin) not in allowed:
            raise HttpRefusal(403, f"Requests from the origin {origin} are refused")

    def _is_stopped(self) -> bool:
        """Whether authorization is enabled and has sent its own response."""
        gate = self.server.gate
        if gate is None:
            return False
        from inspector.demo.auth.http_values import Request
        from inspector.demo.auth.listening import send

        answer = gate.answer(Request(self.command, self.path, self.headers, self._body))
        if answer is not None:
            send(self, answer)
        return answer is not None

    def _check_place(self) -> None:
        self.place = self.path.partition("?")[0]
        if self.place not in (ENDPOINT, *(_OLD if self.server.world.handshakes else ())):
            raise HttpRefusal(404, f"The MCP endpoint is {ENDPOINT}")
        if self.command != _OLD.get(self.place, self.command):
            self._refuse_method()

    def _post(self) -> None:
        if self.place == ENDPOINT:
            self._check_accept("application/json", "text/event-stream")
        if self.headers.get_content_type() != "application/json":
            raise HttpRefusal(415, "The body must be application/json")
        try:
            if self.place == sse.MESSAGES:
                sse.receive(self, self._body, self.server.sse_sessions)
                return
            message = decode(self._body)
            if http_modern.is_for_modern(self.headers, message, self.server.world):
                http_modern.serve(self, message, self.server.world, self.server.answering)
                return
            messages = message if isinstance(message, list) else [message]
            kinds = [kind_of(each) for each in messages]
        except RpcError as problem:
            raise HttpRefusal(400, problem.message, code=problem.code) from None
        begins = isinstance(message, dict) and kinds == ["request"] and message["method"] == "initialize"
        if begins and "Mcp-Session-Id" not in self.headers:
            self._initialize(message)
            return
        session = self._session()
        if isinstance(message, list):
            try:
                session.session.check_batch(message)
            except RpcError as problem:
                raise HttpRefusal(400, problem.message, code=problem.code) from None
        if "request" not in kinds:
            session.session.receive(message, session.streams)
            self.reply(202, {}, b"")
            return
        stream = session.streams.open(endless=False)
        if session.session.receive(message, stream) and len(stream.messages()) == 1:
            self._reply_json(stream)
        else:
            self._stream(session, stream, 0)

    def _initialize(self, message: Any) -> None:
        session = HttpSession(self.server.world)
        stream = session.streams.open(endless=False)
        session.session.receive(message, stream)
        features = session.session.features
        if features is None:  # refused: no session was opened
            session.close()
            self._reply_json(stream)
            return
        session.streams.primed = features.primed_streams
        self.server.keep(session)
        self._reply_json(stream, {"Mcp-Session-Id": session.id})

    def _get(self) -> None:
        self._check_era()
        self._check_accept("text/event-stream")
        if self.place == sse.STREAM:
            sse.serve(self, self.server.world, self.server.sse_sessions)
            return
        session = self._session()
        found = session.streams.find(self.headers.get("Last-Event-ID", ""))
        if found is None:
            self._stream(session, session.streams.open(endless=True), 0)
        else:
            self._stream(session, *found)

    def _delete(self) -> None:
        self._check_era()
        self.server.forget(self._session())
        self.reply(204, {}, b"")

    def _check_era(self) -> None:
        if not self.server.world.handshakes or self.headers.get("MCP-Protocol-Version") in MODERN:
            self._refuse_method()

    def _session(self) -> HttpSession:
        name = self.headers.get("Mcp-Session-Id")
        if name is None:
            raise HttpRefusal(400, "Mcp-Session-Id is missing: start with initialize")
        session = self.server.sessions.get(name)
        if session is None:
            raise HttpRefusal(404, "Unknown session: start again with initialize")
        revision = self.headers.get("MCP-Protocol-Version")
        if revision is not None and revision not in HANDSHAKE:
            raise HttpRefusal(400, f"Unsupported MCP-Protocol-Version: {revision}")
        return session

    def _check_accept(self, *wanted: str) -> None:
        accepted = [each.partition(";")[0].strip().lower() for each in self.headers.get("Accept", "").split(",")]
        for kind in wanted:
            if not {kind, kind.partition("/")[0] + "/*", "*/*"} & set(accepted):
                raise HttpRefusal(406, f"Accept must allow {' and '.join(wanted)}")

    def _reply_json(self, stream: Stream, headers: dict[str, str] | None = None) -> None:
        """Sends a stream's response as JSON."""
        self.reply(200, {"Content-Type": "application/json", **(headers or {})}, stream.messages()[0])

    def _stream(self, session: HttpSession, stream: Stream, after: int) -> None:
        self.begin_stream()
        try:
            with closing(stream.follow(after, KEEP_ALIVE)) as following:
                for events in following:
                    self.write_chunk(events)
            self.write_chunk(b"")
        except ConnectionError:
            self.close_connection = True  # the call continues: a lost connection is not a cancellation
        finally:
            if stream.endless:
                session.streams.leave(stream)


def _name_in(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def serve_http(
    world: DemoState, host: str, port: int, *, auth: IssuerSettings | None = None, attached: bool = False
) -> None:
    """Serves until interrupted or terminated; writes the URL to stderr first.

    With `auth` only clients that log in; when `attached`, also only until stdin ends.
    """
    import signal

    with DemoServer(world, host, port) as server:

        def end(number: int, frame: Any) -> None:
            # An exception could strike while a connection is handed to its thread, and close it without its answer.
            threading.Thread(target=server.shutdown, daemon=True).start()

        signal.signal(signal.SIGTERM, end)
        if auth is not None:
            from inspector.demo.auth.listening import open_gate

            server.gate = open_gate(auth, server.url)
        print(f"demo server on {server.url}{ENDPOINT}", file=sys.stderr, flush=True)
        if world.handshakes:
            print(f"and with HTTP+SSE on {server.url}{sse.STREAM}", file=sys.stderr, flush=True)
        for authority in server.gate.authorities if server.gate is not None else ():
            print(f"authorization server: {authority.issuer}", file=sys.stderr, flush=True)
        if attached:
            threading.Thread(target=_wait_for_stdin, args=(server,), daemon=True).start()
        try:
            server.serve_forever(poll_interval=0.1)
        finally:
            server.stop()


def _wait_for_stdin(server: DemoServer) -> None:
    while sys.stdin.buffer.read(65536):
        pass
    server.shutdown()
