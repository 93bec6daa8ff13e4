"""An HTTP server that speaks enough MCP to be opened, and keeps every request."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

CERTIFICATES = Path(__file__).parent / "transports" / "certificates"


class Noting(ThreadingHTTPServer):
    """Speaks enough MCP to be opened, and keeps every byte of its requests."""

    daemon_threads = True
    seen = ""
    wants_login = False
    metadata: Any = None
    """Its protected resource metadata; None for none."""
    refuses = b""
    """The body of a 400 to every request; empty for none."""

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a client that refuses the certificate."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Noting

    def do_GET(self) -> None:
        self._note()
        document = self.server.metadata if "oauth-protected-resource" in self.path else None
        self._answer(405 if document is None else 200, document)

    do_DELETE = do_CONNECT = do_GET

    def do_POST(self) -> None:
        body = self._note()
        if self.server.refuses:
            self._answer(400, self.server.refuses)
            return
        if self.server.wants_login and "uthorization" not in str(self.headers):
            self._answer(401, None, ("WWW-Authenticate", "Bearer"))
            return
        message = json.loads(body)
        if "id" not in message:
            self._answer(202, None)
        elif message["method"] == "initialize":
            about = {"name": "noting", "version": "1"}
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}
            self._answer(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})
        elif message["method"] == "tools/list":
            self._answer(200, {"jsonrpc": "2.0", "id": message["id"], "result": {"tools": []}})
        else:
            error = {"code": -32601, "message": "no"}
            self._answer(200, {"jsonrpc": "2.0", "id": message["id"], "error": error})

    def _note(self) -> bytes:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen += f"{self.requestline}\n{self.headers}{body.decode()}"
        return body

    def _answer(self, status: int, body: Any, *fields: tuple[str, str]) -> None:
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in (("Content-Type", "application/json"), ("Content-Length", str(len(data))), *fields):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


@contextmanager
def noting(*, certificate: bool = False) -> Iterator[Noting]:
    """A server on a port of its own, with a self-signed certificate on request."""
    with Noting(("127.0.0.1", 0), Handler) as server:
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATES / "localhost.pem", CERTIFICATES / "key.pem")
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def at(server: Noting, scheme: str = "http") -> str:
    """The URL of a server."""
    return f"{scheme}://localhost:{server.server_address[1]}/mcp"
