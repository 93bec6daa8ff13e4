"""The responses of a hostile server, for any transport."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from typing import Any

from cases import EVIL, FLOOD, FLOOD_LINE, Case, evil_results

ECHO = {"name": "echo", "inputSchema": {"type": "object", "properties": {"message": {"type": "string"}}}}
PIECE = b"a" * 65536
FOR_EVER = 3600


class Script:
    """The responses of a case to each message, for any transport."""

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


def event(raw: bytes) -> bytes:
    """One server-sent event."""
    return b"event: message\ndata: " + raw + b"\n\n"


def evil_log() -> bytes:
    """A log message that is hostile to a terminal."""
    params = {"level": "info", "logger": EVIL, "data": EVIL}
    return json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": params}).encode()
