"""A server that floods its client: `flood.py KIND` over stdio, `flood.py KIND --http PORT` over HTTP (port 0: any).

With `--sse` it is HTTP+SSE. Over HTTP the URL is written to stderr. The floods come on the standing stream, or in the answer to `tools/call`. Every
flood ends after `--count` items (0: never), so that a test knows when all of it has arrived.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KINDS = ("none", "pings", "elicitations", "logs", "progress", "gzip", "stderr", "orphans", "silent")
LINGER = 120.0
"""Seconds after which the server ends by itself."""
_SLEEPER = "import os, time; os.setsid(); time.sleep({})"


def answer(message: Any) -> dict[str, Any] | None:
    """The answer to a request that has nothing to do with the flood."""
    if not isinstance(message, dict) or "method" not in message or "id" not in message:
        return None
    result: dict[str, Any] = {}
    if message["method"] == "initialize":
        result = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "flood", "version": "1"},
        }
    elif message["method"] == "tools/list":
        result = {"tools": [{"name": "flood", "inputSchema": {"type": "object"}}]}
    elif message["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": "done"}]}
    elif message["method"] != "ping":
        return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "Method not found"}}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def flood(kind: str, count: int, size: int) -> Iterator[bytes]:
    """The messages of a flood, each without its delimiter."""
    for n in itertools.count() if not count else range(count):
        message: dict[str, Any] = {"jsonrpc": "2.0"}
        if kind == "pings":
            message |= {"id": f"p{n}", "method": "ping"}
        elif kind == "elicitations":
            schema = {"type": "object", "properties": {"name": {"type": "string"}}}
            params = {"message": f"Question {n}", "requestedSchema": schema}
            message |= {"id": f"e{n}", "method": "elicitation/create", "params": params}
        elif kind == "progress":
            message |= {"method": "notifications/progress", "params": {"progressToken": 1, "progress": n}}
        else:
            params = {"level": "info", "data": "x" * size}
            message |= {"method": "notifications/message", "params": params}
        yield json.dumps(message, separators=(",", ":")).encode()


class Stdio:
    """The flood over stdio; it begins with `tools/call`, or with `notifications/initialized` where `at_once`."""

    def __init__(self, words: argparse.Namespace) -> None:
        self.words = words
        self._lock = threading.Lock()

    def run(self) -> None:
        """Serve until stdin ends."""
        if self.words.kind == "orphans":
            for _ in range(2):
                child = subprocess.Popen([sys.executable, "-c", _SLEEPER.format(LINGER)])
                print(f"orphan {child.pid}", file=sys.stderr, flush=True)
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if message.get("method") == ("notifications/initialized" if self.words.at_once else "tools/call"):
                # Another thread sends it: this one goes on to read the answers.
                threading.Thread(target=self._flood, args=(message,), daemon=True).start()
            elif (reply := answer(message)) is not None:
                self._write([json.dumps(reply).encode()])

    def _flood(self, message: Any) -> None:
        words = self.words
        if words.kind == "stderr":
            line = b"e" * words.size + b"\n"
            for _ in itertools.count() if not words.count else range(words.count):
                os.write(2, line)
        elif words.kind in ("pings", "elicitations", "logs", "progress"):
            items = flood(words.kind, words.count, words.size)
            while block := list(itertools.islice(items, 200)):
                self._write(block)
        if (reply := answer(message)) is not None:
            self._write([json.dumps(reply).encode()])

    def _write(self, messages: list[bytes]) -> None:
        data = b"\n".join(messages) + b"\n"
        with self._lock:
            while data:
                data = data[os.write(1, data) :]


class Http(BaseHTTPRequestHandler):
    """The flood over Streamable HTTP, without sessions."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    words: argparse.Namespace

    def log_message(self, format: str, *args: Any) -> None:
        """Keep stderr for the URL."""

    def do_GET(self) -> None:
        """The standing stream: the flood, where it is to come at once."""
        if not self.words.at_once:
            self._reply(405, b"", "text/plain")
            return
        self._stream(None)

    def do_DELETE(self) -> None:
        self._reply(405, b"", "text/plain")

    def do_POST(self) -> None:
        """One message of the client."""
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = answer(message)
        if reply is None:
            self._reply(202, b"", "text/plain")
        elif message["method"] == "tools/call":
            self._stream(reply)
        else:
            self._reply(200, json.dumps(reply).encode(), "application/json")

    def _stream(self, last: dict[str, Any] | None) -> None:
        words = self.words
        packed = words.kind == "gzip"
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        if packed:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        pack = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
        items = flood("logs" if packed else words.kind, words.count, words.size)
        while words.kind not in ("silent", "none") and (block := list(itertools.islice(items, 500))):
            self._out(b"".join(b"data: %b\n\n" % raw for raw in block), pack if packed else None)
        if last is None:
            time.sleep(LINGER)
        self._out(b"data: %b\n\n" % json.dumps(last).encode(), pack if packed else None)
        if packed:
            self._chunk(pack.flush())
        self.wfile.write(b"0\r\n\r\n")

    def _out(self, data: bytes, pack: Any) -> None:
        self._chunk(data if pack is None else pack.compress(data))

    def _chunk(self, data: bytes) -> None:
        if data:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _reply(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Sse(Http):
    """The flood over HTTP+SSE: all messages of the server come on the stream of the last GET."""

    stream: Http
    lock = threading.Lock()

    def do_GET(self) -> None:
        """The stream, which names the endpoint first."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self._chunk(b"event: endpoint\ndata: /mcp\n\n")
        type(self).stream = self
        time.sleep(LINGER)

    def do_POST(self) -> None:
        """One message of the client; its answer comes on the stream."""
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._reply(202, b"", "text/plain")
        if (reply := answer(message)) is None:
            return
        with self.lock:
            if message["method"] == "tools/call" and self.words.kind != "none":
                items = flood(self.words.kind, self.words.count, self.words.size)
                while block := list(itertools.islice(items, 500)):
                    self.stream._chunk(b"".join(b"data: %b\n\n" % raw for raw in block))
            self.stream._chunk(b"data: %b\n\n" % json.dumps(reply).encode())


class Listener(ThreadingHTTPServer):
    """Loopback only; a client that disconnects causes no traceback."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing."""


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--http", type=int)
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--size", type=int, default=200)
    parser.add_argument("--at-once", action="store_true")
    parser.add_argument("--sse", action="store_true")
    words = parser.parse_args()
    ends = threading.Timer(LINGER, os._exit, (9,))
    ends.daemon = True
    ends.start()
    if words.http is None:
        Stdio(words).run()
        return
    listener = Listener(("127.0.0.1", words.http), type("Handler", (Sse if words.sse else Http,), {"words": words}))
    print(f"http://127.0.0.1:{listener.server_address[1]}/mcp", file=sys.stderr, flush=True)
    listener.serve_forever()


if __name__ == "__main__":
    main()
