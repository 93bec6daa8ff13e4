"""A hostile MCP server: `hostile.py --case NAME` over stdio, with `--http PORT` over HTTP (port 0: any).

Over HTTP the answer is a JSON body, or a stream with `--sse`; the URL is written to stderr. The hostility is in
`cases.py`, this program only sends it. Whatever it does without end, it ends after `--linger` seconds, so that a test
that fails leaves no process behind.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cases import (
    BANNER,
    CASES,
    ENDLESS_START,
    ERRORS_AT_START,
    EVIL,
    FLOOD,
    FLOOD_LINE,
    HTML,
    ID,
    Case,
    evil_results,
)

ECHO = {"name": "echo", "inputSchema": {"type": "object", "properties": {"message": {"type": "string"}}}}
PIECE = b"a" * 65536
FOR_EVER = 3600


class Script:
    """What a case says to which message, whatever the transport."""

    def __init__(self, case: Case, at: str, count: int) -> None:
        self.case = case
        self.at = at
        self.count = count
        self.evil = evil_results() if case.name == "escapes" else {}
        self.waiting: list[Any] = []  # ids of the calls of a pair
        self.cancelled: list[Any] = []
        self.released = False
        self.news = threading.Condition()

    def is_hostile_to(self, message: Any) -> bool:
        """Whether this is the request that the case is about."""
        return isinstance(message, dict) and "id" in message and self.at in (message.get("method"), "*")

    def normal(self, message: Any) -> bytes | None:
        """The answer of a well-behaved server; None for what gets none."""
        if not isinstance(message, dict) or "id" not in message or "method" not in message:
            return None
        method, params = message["method"], message.get("params") or {}
        results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": params.get("protocolVersion", "2025-06-18"),
                "capabilities": {"tools": {}, "logging": {}, "resources": {}, "prompts": {}, "completions": {}},
                "serverInfo": {"name": "hostile", "version": "1.0"},
            },
            "ping": {},
            "logging/setLevel": {},
            "tools/list": {"tools": [ECHO]},
            "tools/call": {"content": [{"type": "text", "text": "hello"}]},
            "resources/list": {"resources": []},
            "resources/templates/list": {"resourceTemplates": []},
            "prompts/list": {"prompts": []},
        }
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        if self.evil and params.get("name") == "error":
            reply["error"] = {"code": -32000, "message": EVIL, "data": EVIL}
        elif method in results or method in self.evil:
            reply["result"] = results.get(method, {}) | self.evil.get(method, {})
        else:
            reply["error"] = {"code": -32601, "message": f"Method not found: {method}"}
        return json.dumps(reply, separators=(",", ":")).encode()

    def flood(self) -> Iterator[bytes]:
        """The messages of a flood: `count` of them, or without end for 0."""
        number = 0
        while not self.count or number < self.count:
            number += 1
            yield FLOOD % number

    def flood_stderr(self) -> None:
        """Writes `count` lines to stderr, or lines without end for 0."""
        number = 0
        while not self.count or number < self.count:
            number += 1
            sys.stderr.buffer.write(FLOOD_LINE % number)
        sys.stderr.buffer.flush()


# --- stdio -----------------------------------------------------------------------------------------------------------


class Stdio:
    """The case over stdin and stdout."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.case = script.case

    def run(self) -> None:
        """Serves until stdin ends."""
        if self.case.behaviour == "banner":
            self.write(BANNER)
        for line in sys.stdin.buffer:
            try:
                self.take(json.loads(line))
            except ValueError:
                continue

    def write(self, raw: bytes) -> None:
        """Writes all of it, and lets a client that is gone end the process."""
        try:
            while raw:
                raw = raw[os.write(1, raw) :]
        except BrokenPipeError:
            os._exit(0)

    def take(self, message: Any) -> None:
        """One message from the client."""
        if self.case.behaviour == "late" and message.get("method") == "notifications/cancelled":
            self.write(self.case.sent(message["params"]["requestId"], "stdio"))
        if self.script.is_hostile_to(message):
            self.answer_badly(message)
            return
        if self.case.name == "escapes" and message.get("method") == "tools/call":
            sys.stderr.buffer.write(EVIL.encode() + b"\n")
            sys.stderr.buffer.flush()
            self.write(evil_log() + b"\n")
        reply = self.script.normal(message)
        if reply is not None:
            self.write(reply + b"\n")
        if self.case.behaviour == "exit" and message.get("method") == "initialize":
            os._exit(4)

    def answer_badly(self, message: Any) -> None:
        """The one answer that matters."""
        behaviour, request_id = self.case.behaviour, message["id"]
        if behaviour in ("silent", "late"):
            return
        if behaviour == "flood":
            for raw in self.script.flood():
                self.write(raw + b"\n")
        elif behaviour == "flood-stderr":
            self.script.flood_stderr()
        elif behaviour == "pair":
            self.script.waiting.append(request_id)
            if len(self.script.waiting) < 2:
                return
            self.write(self.case.sent(self.script.waiting.pop(), "stdio"))
            request_id = self.script.waiting.pop()
        elif behaviour == "endless":
            self.write(ENDLESS_START.replace(ID, json.dumps(request_id).encode()))
            while True:
                self.write(PIECE)
        self.write(self.case.sent(request_id, "stdio"))
        if self.case.dies_after is not None:
            os._exit(5)


# --- HTTP ------------------------------------------------------------------------------------------------------------


class Http(BaseHTTPRequestHandler):
    """The case over HTTP, without sessions; one message a POST."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    script: Script
    form: str
    status: int
    location: str

    def log_message(self, format: str, *args: Any) -> None:
        """Keeps stderr for what the cases write."""

    def do_GET(self) -> None:
        """There is no stream to listen to."""
        self.reply(405, b"", "text/plain")

    do_DELETE = do_GET

    def do_POST(self) -> None:
        """One message from the client."""
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        case = self.script.case
        if case.behaviour == "late" and message.get("method") == "notifications/cancelled":
            with self.script.news:
                self.script.cancelled.append(message["params"]["requestId"])
                self.script.news.notify_all()
        if self.script.is_hostile_to(message):
            self.answer_badly(message)
            return
        reply = self.script.normal(message)
        if reply is None:
            self.reply(202, b"", "text/plain")
        elif case.name == "escapes" and message["method"] == "tools/call":
            sys.stderr.buffer.write(EVIL.encode() + b"\n")
            sys.stderr.buffer.flush()
            self.reply(200, event(evil_log()) + event(reply), "text/event-stream")
        else:
            self.reply(200, reply, "application/json")
        if case.behaviour == "exit" and message.get("method") == "initialize":
            os._exit(4)

    def answer_badly(self, message: Any) -> None:
        """The one answer that matters."""
        case, behaviour, request_id = self.script.case, self.script.case.behaviour, message["id"]
        if behaviour == "redirect":
            self.reply(self.status or 307, b"", "text/plain", location=self.location)
        elif behaviour == "html":
            self.reply(self.status or 500, HTML, "text/html; charset=utf-8")
        elif behaviour == "silent":
            time.sleep(FOR_EVER)
        elif behaviour == "endless":
            self.send_endlessly(request_id)
        elif behaviour == "flood":
            self.send_flood(request_id)
        elif case.dies_after is not None:
            whole = case.whole(request_id, self.form)
            self.head(200, self.content_type, len(whole))
            self.wfile.write(whole[: case.dies_after])
            self.wfile.flush()
            os._exit(5)
        elif behaviour == "late":
            with self.script.news:
                self.script.news.wait_for(lambda: request_id in self.script.cancelled)
            self.reply_badly(request_id)
        elif behaviour == "pair":
            with self.script.news:
                self.script.waiting.append(request_id)
                second = len(self.script.waiting) == 2
                self.script.news.wait_for(lambda: second or self.script.released)
            self.reply_badly(request_id)
            with self.script.news:
                self.script.released = True
                self.script.news.notify_all()
        else:
            if behaviour == "flood-stderr":
                self.script.flood_stderr()
            self.reply_badly(request_id)

    def reply_badly(self, request_id: Any) -> None:
        """The bytes of the case, whole."""
        self.reply(200, self.script.case.sent(request_id, self.form), self.content_type)

    def send_flood(self, request_id: Any) -> None:
        """A stream of log messages, and then the answer."""
        self.head(200, "text/event-stream", None)
        for raw in self.script.flood():
            self.chunk(event(raw))
        self.chunk(self.script.case.sent(request_id, "sse"))
        self.chunk(b"")

    def send_endlessly(self, request_id: Any) -> None:
        """The beginning of an answer, and more of it for ever."""
        self.head(200, self.content_type, None)
        start = ENDLESS_START.replace(ID, json.dumps(request_id).encode())
        self.chunk(b"data: " + start if self.form == "sse" else start)
        while True:
            self.chunk(PIECE)

    @property
    def content_type(self) -> str:
        """The media type of the chosen form."""
        return "text/event-stream" if self.form == "sse" else "application/json"

    def head(self, status: int, kind: str, length: int | None, location: str = "") -> None:
        """Status and headers; without a length the body is chunked."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if location:
            self.send_header("Location", location)
        if length is None:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def reply(self, status: int, body: bytes, kind: str, location: str = "") -> None:
        """A whole answer."""
        self.head(status, kind, len(body), location)
        self.wfile.write(body)
        self.wfile.flush()

    def chunk(self, data: bytes) -> None:
        """One chunk of a body; an empty one ends it."""
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))


class Listener(ThreadingHTTPServer):
    """Ends quietly, also when clients hang up."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are expected; anything else is a fault of the test server."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def event(raw: bytes) -> bytes:
    """One server-sent event."""
    return b"event: message\ndata: " + raw + b"\n\n"


def evil_log() -> bytes:
    """A log message that is hostile to a terminal."""
    params = {"level": "info", "logger": EVIL, "data": EVIL}
    return json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": params}).encode()


def serve_http(script: Script, port: int, form: str, status: int = 0, location: str = "") -> Listener:
    """A listener for the case on this port of the loopback interface."""
    Http.script, Http.form, Http.status, Http.location = script, form, status, location
    return Listener(("127.0.0.1", port), Http)


def main() -> None:
    """Runs the case that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", required=True, choices=CASES)
    parser.add_argument("--at", help="the method that is answered badly (default: as the case says)")
    parser.add_argument("--count", type=int, default=20_000, help="size of a flood, 0 for one without end")
    parser.add_argument("--http", type=int, metavar="PORT")
    parser.add_argument("--sse", action="store_true", help="answer with a stream in place of a JSON body")
    parser.add_argument("--status", type=int, default=0, help="HTTP status of a redirection or error")
    parser.add_argument("--location", default="http://127.0.0.2:9/mcp", help="where a redirection leads")
    parser.add_argument("--linger", type=float, default=60, help="seconds after which it ends in any case")
    options = parser.parse_args()
    case = CASES[options.case]
    last_resort = threading.Timer(options.linger, os._exit, [9])
    last_resort.daemon = True
    last_resort.start()
    if case.behaviour == "dead":
        sys.stderr.buffer.write(ERRORS_AT_START)
        sys.stderr.buffer.flush()
        os._exit(3)
    if case.behaviour == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    script = Script(case, options.at or case.at, options.count)
    if options.http is None:
        Stdio(script).run()
    else:
        form = "sse" if options.sse else "json"
        with serve_http(script, options.http, form, options.status, options.location) as listener:
            print(f"hostile server on http://127.0.0.1:{listener.server_address[1]}/mcp", file=sys.stderr, flush=True)
            listener.serve_forever(poll_interval=0.1)
    if case.behaviour == "stubborn":
        time.sleep(FOR_EVER)


if __name__ == "__main__":
    main()
