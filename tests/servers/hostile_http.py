"""The cases over HTTP: one endpoint that answers POSTs with a body or stream, or two for HTTP+SSE."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cases import ENDLESS_START, EVIL, HTML, ID, UNFINISHED
from hostile_script import FOR_EVER, PIECE, Script, event, evil_log

ENDPOINT = "/messages?sessionId=hostile-session-1"


class Http(BaseHTTPRequestHandler):
    """The case over Streamable HTTP, without sessions; one message a POST."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Listener
    script: Script
    form: str
    status: int
    location: str
    endpoint: str

    def log_message(self, format: str, *args: Any) -> None:
        """Keeps stderr for what the cases write."""

    def do_GET(self) -> None:
        """GET opens no stream."""
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
            self.answer(evil_log(), reply)
        else:
            self.answer(reply)
        if case.behaviour == "exit" and message.get("method") == "initialize":
            os._exit(4)

    def answer_badly(self, message: Any) -> None:
        """The one answer that matters."""
        case, behaviour, request_id = self.script.case, self.script.case.behaviour, message["id"]
        if behaviour == "redirect":
            self.reply(self.status or 307, b"", "text/plain", location=self.location)
        elif behaviour == "html":
            self.reply(self.status or 500, HTML, "text/html; charset=utf-8")
        elif behaviour in ("page", "empty", "accepted"):
            self.take(behaviour, request_id)
        elif behaviour == "silent":
            time.sleep(FOR_EVER)
        elif behaviour == "endless":
            self.send_endlessly(request_id)
        elif behaviour == "flood":
            self.send_flood(request_id)
        elif behaviour in ("ends", "holds", "stays"):
            self.begin()
            self.out(case.sent(request_id, self.form) if behaviour == "stays" else UNFINISHED)
            self.end() if behaviour == "ends" else self.hold()
        elif case.dies_after is not None:
            whole = case.whole(request_id, self.form)
            self.begin(len(whole))
            self.part(whole[: case.dies_after])
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

    def send_flood(self, request_id: Any) -> None:
        """A stream of log messages, and then the answer."""
        self.begin(kind="text/event-stream")
        for raw in self.script.flood():
            self.out(event(raw))
        self.out(self.script.case.sent(request_id, "sse"))
        self.end()

    def send_endlessly(self, request_id: Any) -> None:
        """The beginning of an answer, and more of it for ever."""
        self.begin()
        start = ENDLESS_START.replace(ID, json.dumps(request_id).encode())
        self.out(start if self.form == "json" else b"data: " + start)
        while True:
            self.out(PIECE)

    # What is different with two endpoints

    def answer(self, *messages: bytes) -> None:
        """A good answer: a body, or a stream where there are several messages."""
        if len(messages) == 1:
            self.reply(200, messages[0], "application/json")
        else:
            self.reply(200, b"".join(map(event, messages)), "text/event-stream")

    def take(self, how: str, request_id: Any) -> None:
        """A success that says nothing, and no answer."""
        if how == "page":
            self.reply(200, HTML, "text/html; charset=utf-8")
        else:
            self.reply(200 if how == "empty" else 202, b"", "text/plain")

    def reply_badly(self, request_id: Any) -> None:
        """The bytes of the case, whole or in pieces."""
        whole = self.script.case.sent(request_id, self.form)
        if self.script.case.piece:
            self.begin()
            self.out(whole)
            self.end()
        else:
            self.reply(200, whole, self.content_type)

    def begin(self, length: int | None = None, kind: str = "") -> None:
        """The beginning of an answer whose bytes follow."""
        self.head(200, kind or self.content_type, length)

    def out(self, data: bytes) -> None:
        """Some bytes of the answer, in pieces of the size that the case wants."""
        size = self.script.case.piece or len(data) or 1
        for start in range(0, len(data), size):
            self.chunk(data[start : start + size])

    def part(self, data: bytes) -> None:
        """The bytes before the server dies."""
        self.wfile.write(data)
        self.wfile.flush()

    def end(self) -> None:
        """The end of the answer."""
        self.chunk(b"")

    def hold(self) -> None:
        """No more bytes, until the client leaves."""
        self.rfile.read(1)

    # HTTP

    @property
    def content_type(self) -> str:
        """The media type of the chosen form."""
        return "application/json" if self.form == "json" else "text/event-stream"

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


class TwoEndpoints(Http):
    """The case over HTTP+SSE: POSTs are only taken, and all answers are on the stream of one GET."""

    def do_GET(self) -> None:
        """The stream, until the client leaves."""
        self.head(200, "text/event-stream", None)
        self.server.stream = self
        self.chunk(b"event: endpoint\ndata: " + self.endpoint.encode() + b"\n\n")
        self.hold()

    def do_POST(self) -> None:
        """Messages are taken at the endpoint only."""
        if self.path == self.endpoint:
            super().do_POST()
        else:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.reply(405, b"", "text/plain")

    def answer(self, *messages: bytes) -> None:
        self.begin()
        for message in messages:
            self.out(event(message))

    def take(self, how: str, request_id: Any) -> None:
        super().take(how, request_id)
        self.out(self.script.case.sent(request_id, self.form))

    def reply_badly(self, request_id: Any) -> None:
        self.begin()
        self.out(self.script.case.sent(request_id, self.form))

    def begin(self, length: int | None = None, kind: str = "") -> None:
        self.reply(202, b"Accepted", "text/plain")

    def out(self, data: bytes) -> None:
        stream = self.server.stream
        assert stream
        with self.server.writing:
            Http.out(stream, data)

    part = out

    def end(self) -> None:
        stream = self.server.stream
        assert stream
        stream.chunk(b"")

    def hold(self) -> None:
        if self.server.stream is self:
            super().hold()


class Listener(ThreadingHTTPServer):
    """Ends quietly, also when clients hang up."""

    daemon_threads = True
    stream: Http | None = None
    """What brings the messages of HTTP+SSE: the last GET."""

    def __init__(self, *how: Any) -> None:
        super().__init__(*how)
        self.writing = threading.Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are expected; anything else is a fault of the test server."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def serve_http(
    script: Script, port: int, form: str, status: int = 0, location: str = "", endpoint: str = ENDPOINT
) -> Listener:
    """A listener for the case on this port of the loopback interface."""
    Http.script, Http.form, Http.status, Http.location, Http.endpoint = script, form, status, location, endpoint
    return Listener(("127.0.0.1", port), TwoEndpoints if form == "http+sse" else Http)
