"""The server of a soak run, over stdio. Standard library only.

    soak_server.py LEDGER [--rate N]

It sends N numbered log messages a second (1,000) and offers the tools `echo`, `slow` (answers never, until cancelled),
`ask` (asks the user first) and `crash`. In LEDGER, a folder, each process writes one file, a line of JSON for each
event: `start`, `listed`, `call`, `cancelled`, `answered`, and at the end `end` with what it sent and received.
"""

import argparse
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
TICK = 0.02
PROGRESS_EACH = 5
"""Ticks between two progress notifications of a running call."""
LAST_WORDS = 50
"""Messages that the tool `crash` sends at once before the process ends."""
TOOLS = ("echo", "slow", "ask", "crash")
SCHEMA = {"type": "object", "properties": {"text": {"type": "string", "default": "hello"}}}
QUESTION = {
    "message": "Which city?",
    "requestedSchema": {
        "type": "object",
        "properties": {"city": {"type": "string", "default": "Oslo"}},
        "required": ["city"],
    },
}


class Server:
    """One process. `sent` and `received` count messages by kind."""

    def __init__(self, ledger, rate):
        self.rate = rate
        self.name = time.time_ns()
        """Names this process: in a long run, the system gives a process id a second time."""
        self.ledger = (Path(ledger) / f"{self.name}.jsonl").open("x")
        self.lock = threading.Lock()
        self.flood = threading.Thread(target=self._flood)
        self.stopping = threading.Event()
        self.sent = {"message": 0, "progress": 0, "response": 0, "request": 0}
        self.received = {"request": 0, "notification": 0, "response": 0}
        self.slow = {}
        """Progress tokens of running calls, by the id of the request."""
        self.asked = {}
        """Ids of the calls that wait for an answer, by the id of our question."""
        self.note("start")

    def note(self, what, **facts):
        self.ledger.write(json.dumps({"event": what, "name": self.name, "pid": os.getpid(), **facts}) + "\n")
        self.ledger.flush()

    def send(self, kind, *messages):
        """Write messages of one kind in one go, and count them. The caller has the lock."""
        view = memoryview(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        while view:
            view = view[os.write(1, view) :]
        self.sent[kind] += len(messages)

    def numbered(self, count):
        first = self.sent["message"]
        return [
            notification("message", level="info", logger="soak", data=f"{self.name} {number} {'x' * 80}")
            for number in range(first, first + count)
        ]

    def _flood(self):
        began, dropped, tick = time.monotonic(), 0, 0
        while not self.stopping.wait(TICK):
            tick += 1
            with self.lock:
                due = int((time.monotonic() - began) * self.rate) - self.sent["message"] - dropped
                count = min(due, self.rate)
                dropped += due - count
                self.send("message", *self.numbered(count))
                if tick % PROGRESS_EACH == 0:
                    for token in self.slow.values():
                        self.send("progress", notification("progress", progressToken=token, progress=tick))

    def handle(self, message):
        """Process one message of the client."""
        method, id = message.get("method"), message.get("id")
        if method is None:
            self.received["response"] += 1
            call = self.asked.pop(id, None)
            if call is not None:
                self.note("answered", result=message.get("result"))
                self.respond(call, text_of(json.dumps(message.get("result"))))
        elif id is None:
            self.received["notification"] += 1
            if method == "notifications/initialized":
                self.flood.start()
            elif method == "notifications/cancelled" and message["params"]["requestId"] in self.slow:
                del self.slow[message["params"]["requestId"]]
                self.note("cancelled")
        else:
            self.received["request"] += 1
            self.request(method, id, message.get("params") or {})

    def request(self, method, id, params):
        if method == "initialize":
            revision = params.get("protocolVersion")
            agreed = revision if revision in REVISIONS else REVISIONS[-1]
            info = {"name": "soak", "version": "1"}
            capabilities = {"tools": {}, "logging": {}}
            self.respond(id, {"protocolVersion": agreed, "capabilities": capabilities, "serverInfo": info})
        elif method == "tools/list":
            self.note("listed")
            self.respond(id, {"tools": [{"name": name, "inputSchema": SCHEMA} for name in TOOLS]})
        elif method in ("ping", "logging/setLevel"):
            self.respond(id, {})
        elif method == "tools/call":
            self.call(params["name"], id, params)
        else:
            error = {"code": -32601, "message": "Method not found"}
            self.send("response", {"jsonrpc": "2.0", "id": id, "error": error})

    def call(self, name, id, params):
        self.note("call", tool=name)
        if name == "slow":
            self.slow[id] = params.get("_meta", {}).get("progressToken", 0)
        elif name == "ask":
            question = f"{os.getpid()}-{self.sent['request']}"
            self.asked[question] = id
            self.send("request", {"jsonrpc": "2.0", "id": question, "method": "elicitation/create", "params": QUESTION})
        elif name == "crash":
            self.send("message", *self.numbered(LAST_WORDS))
            self.end()
            os._exit(3)
        else:
            self.respond(id, text_of(params.get("arguments", {}).get("text", "")))

    def respond(self, id, result):
        self.send("response", {"jsonrpc": "2.0", "id": id, "result": result})

    def end(self):
        self.note("end", sent=self.sent, received=self.received)

    def serve(self):
        """Serve until stdin ends or SIGTERM comes."""
        rest = b""
        try:
            while block := os.read(0, 1 << 16):
                *lines, rest = (rest + block).split(b"\n")
                for line in lines:
                    with self.lock:
                        self.handle(json.loads(line))
        finally:
            self.stopping.set()
            if self.flood.is_alive():
                self.flood.join()
            self.end()


def notification(method, **params):
    return {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}


def text_of(text):
    return {"content": [{"type": "text", "text": text}]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("ledger")
    parser.add_argument("--rate", type=int, default=1000)
    words = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    Server(words.ledger, words.rate).serve()
