"""A hostile MCP server: `hostile.py --case NAME` over stdio, with `--http PORT` over HTTP (port 0: any).

Over HTTP the answer is a JSON body, a stream with `--form sse`, or on the one stream of HTTP+SSE with `--form
http+sse`; the URL is written to stderr. The hostility is in `cases.py`, this program only sends it. Whatever it does without end, it ends after `--linger` seconds, so that a test
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
from typing import Any

from cases import BANNER, CASES, ENDLESS_START, ERRORS_AT_START, EVIL, FORMS, ID
from hostile_http import serve_http
from hostile_script import FOR_EVER, PIECE, Script, evil_log


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


def main() -> None:
    """Runs the case that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", required=True, choices=CASES)
    parser.add_argument("--at", help="the method that is answered badly (default: as the case says)")
    parser.add_argument("--count", type=int, default=20_000, help="size of a flood, 0 for one without end")
    parser.add_argument("--http", type=int, metavar="PORT")
    parser.add_argument("--form", default="json", choices=FORMS[1:], help="how the answer comes over HTTP")
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
        with serve_http(script, options.http, options.form, options.status, options.location) as listener:
            print(f"hostile server on http://127.0.0.1:{listener.server_address[1]}/mcp", file=sys.stderr, flush=True)
            listener.serve_forever(poll_interval=0.1)
    if case.behaviour == "stubborn":
        time.sleep(FOR_EVER)


if __name__ == "__main__":
    main()
