"""One connection over HTTP, for all transports of the demo: responses, streams, refusals."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler

from inspector.demo.event_stream import is_gone
from inspector.demo.rpc import INVALID_REQUEST, RpcError, encode, error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


class HttpRefusal(Exception):
    """A request that is refused with an HTTP status; the body is a JSON-RPC error without an id."""

    def __init__(self, status: int, words: str, *, code: int = INVALID_REQUEST, close: bool = False) -> None:
        super().__init__(words)
        self.status = status
        self.body = encode(error(None, RpcError(code, words)))
        self.close = close


class ResponseConnection(BaseHTTPRequestHandler):
    """The responses on one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # buffered, so that headers and body leave in one packet

    def log_message(self, format: str, *args: Any) -> None:
        """Keeps stderr quiet."""

    def refuse(self, status: int, words: str) -> NoReturn:
        """Refuses the request with an HTTP status."""
        raise HttpRefusal(status, words)

    def client_is_gone(self) -> bool:
        """Whether the client has closed its connection."""
        return is_gone(self.connection)

    def begin_stream(self) -> None:
        """Sends the head of a stream of server-sent events."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Accel-Buffering", "no")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()

    def reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
        """Sends a response that is not a stream."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def write_chunk(self, data: bytes) -> None:
        """Sends a piece of a stream; an empty one ends it."""
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()
