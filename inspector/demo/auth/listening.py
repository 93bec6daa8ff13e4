"""The listening socket of the authorization servers, and the sending of their responses."""

from __future__ import annotations

import socket
import threading
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from urllib.parse import urlsplit

from inspector.demo.auth.clients import LOOPBACK
from inspector.demo.auth.http_values import MAX_FORM, HttpReply, Request
from inspector.demo.auth.token_check import TokenCheck
from inspector.demo.event_stream import is_gone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.auth.issuer import IssuerSettings


class AuthServer(ThreadingTCPServer):
    """The listening socket of the authorization servers."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, settings: IssuerSettings, server_url: str) -> None:
        parts = urlsplit(server_url)
        host = str(parts.hostname)
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, settings.port), _Handler)
        name = f"[{host}]" if ":" in host else host
        self.url = f"http://{name}:{self.server_address[1]}"
        self.gate = TokenCheck(settings, server_url, self.url)

    def start(self) -> None:
        """Serves on a thread of its own, until the process ends."""
        threading.Thread(target=self.serve_forever, name="authorization", daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores clients that disconnect early."""
        import sys

        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def open_gate(settings: IssuerSettings, server_url: str) -> TokenCheck:
    """Opens the gate of an MCP server and starts its authorization servers. Ends the process if they cannot listen."""
    if settings.layout in ("same-origin", "defaults"):
        return TokenCheck(settings, server_url, server_url)
    try:
        server = AuthServer(settings, server_url)
    except OSError as problem:
        raise SystemExit(
            f"The authorization server cannot listen on port {settings.port}: {problem.strerror}"
        ) from None
    server.start()
    return server.gate


def send(handler: BaseHTTPRequestHandler, answer: HttpReply) -> None:
    """Sends a response; one in pieces only while its client is connected."""
    handler.send_response(answer.status)
    for name, value in answer.headers.items():
        handler.send_header(name, value)
    if isinstance(answer.body, bytes):
        handler.send_header("Content-Length", str(len(answer.body)))
    else:
        handler.send_header("Connection", "close")
    handler.end_headers()
    if isinstance(answer.body, bytes):
        if handler.command != "HEAD":
            handler.wfile.write(answer.body)
        return
    for piece in answer.body:
        if is_gone(handler.connection):
            break
        handler.wfile.write(piece)
        handler.wfile.flush()


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: AuthServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, format: str, *args: Any) -> None:
        """Keeps stderr quiet."""

    def do_GET(self) -> None:
        """Handles every method; the path determines which are served."""
        body = self._read_body()
        if body is None:
            return
        if not self._is_here(f"//{self.headers.get('Host', '')}") or not self._is_here(self.headers.get("Origin")):
            # Otherwise a web page could rebind its own name to this machine, or send a form to it.
            answer: HttpReply | None = HttpReply(403, {"Content-Type": "text/plain"}, b"Only this machine is served")
        else:
            answer = self.server.gate.ask(Request(self.command, self.path, self.headers, body))
        send(self, answer or HttpReply(404, {"Content-Type": "text/plain"}, b"There is nothing here"))

    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_HEAD = do_GET

    def _is_here(self, url: str | None) -> bool:
        try:
            return url is None or urlsplit(url).hostname in (*LOOPBACK, urlsplit(self.server.url).hostname)
        except ValueError:
            return False

    def _read_body(self) -> bytes | None:
        """Returns the body; None if it was refused."""
        length = self.headers.get("Content-Length", "" if self.command == "POST" else "0")
        if length.isascii() and length.isdigit() and len(length) < 10 and int(length) <= MAX_FORM:
            return self.rfile.read(int(length))
        status = 413 if length.isascii() and length.isdigit() else 411
        send(
            self, HttpReply(status, {"Content-Type": "text/plain", "Connection": "close"}, b"The body is not accepted")
        )
        self.close_connection = True
        return None
