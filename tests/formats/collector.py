"""An OpenTelemetry collector on loopback that keeps what it gets, and answers what a test wants."""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Collector:
    """A collector on loopback. `answers` are its next statuses with bodies; then it accepts."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, Any]] = []
        self.more_headers: dict[str, str] = {}
        self.delay = 0.0
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.asked = threading.Event()
        """Set when a request has arrived that is not answered yet."""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.set()
                time.sleep(outer.delay)
                outer.paths.append(self.path)
                outer.headers.append(dict(self.headers))
                status, answer = outer.answers.pop(0) if outer.answers else (200, {})
                if status == 200:
                    outer.requests.append(body)
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                for name, value in outer.more_headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                with suppress(ConnectionError):  # An exporter that waited too long has left.
                    self.end_headers()
                    self.wfile.write(data)

            def log_message(self, *words: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def spans(self) -> list[dict[str, Any]]:
        return [span for body in self.requests for span in body["resourceSpans"][0]["scopeSpans"][0]["spans"]]

    @property
    def names(self) -> list[str]:
        return [span["name"] for span in self.spans]
