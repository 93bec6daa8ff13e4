"""A server that answers at once, over stdio or Streamable HTTP.

A load on it shows our own share of a latency. Run it as a script in a process of its own:
`python echo_server.py stdio`, or `python echo_server.py http`, which prints its port and ends with its stdin. Standard
library only. It answers valid requests of both eras and checks nothing.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

TOOL = "echo"
_MODERN = "2026-07-28"
_LISTED = {
    "name": TOOL,
    "description": "Returns at once.",
    "inputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": True},
}
_KEPT_FRESH = {"ttlMs": 0, "cacheScope": "private"}


def answer(message: dict[str, Any]) -> bytes | None:
    """Return the response to a message; None for a notification."""
    if "id" not in message:
        return None
    method, params = message.get("method"), message.get("params") or {}
    is_modern = any(key.endswith("/protocolVersion") for key in params.get("_meta") or ())
    result: dict[str, Any] = {"resultType": "complete"} if is_modern else {}
    if method == "tools/call":
        result["content"] = [{"type": "text", "text": "ok"}]
    elif method == "tools/list":
        result |= {"tools": [_LISTED]} | (_KEPT_FRESH if is_modern else {})
    elif method == "initialize":
        result |= {
            "protocolVersion": params.get("protocolVersion"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": TOOL, "version": "1"},
        }
    elif method == "server/discover" and is_modern:
        result |= {"supportedVersions": [_MODERN], "capabilities": {"tools": {}}, **_KEPT_FRESH}
    else:
        error = {"code": -32601, "message": f"Method not found: {method}"}
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode()
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}, separators=(",", ":")).encode()


def serve_stdio() -> None:
    """Answer each line of stdin."""
    for line in sys.stdin.buffer:
        reply = answer(json.loads(line))
        if reply is not None:
            sys.stdout.buffer.write(reply + b"\n")
            sys.stdout.buffer.flush()


class EchoConnection(asyncio.Protocol):
    """One HTTP connection: requests with Content-Length, one after another."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        self._data = b""

    def data_received(self, data: bytes) -> None:
        self._data += data
        while (end := self._data.find(b"\r\n\r\n")) >= 0:
            head = self._data[:end].lower()
            _, separator, rest = head.partition(b"content-length:")
            length = int(rest.partition(b"\r\n")[0]) if separator else 0
            if len(self._data) < end + 4 + length:
                return
            body = self._data[end + 4 : end + 4 + length]
            self._data = self._data[end + 4 + length :]
            self._reply(answer(json.loads(body)) if head.startswith(b"post") else b"", head.startswith(b"post"))

    def _reply(self, body: bytes | None, is_post: bool) -> None:
        if not is_post:
            self._transport.write(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
        elif body is None:
            self._transport.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
        else:
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
            self._transport.write(head + body)


async def serve_http() -> None:
    """Answer on a free port of the loopback interface until stdin ends."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(EchoConnection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    if sys.argv[1] == "http":
        asyncio.run(serve_http())
    else:
        serve_stdio()
