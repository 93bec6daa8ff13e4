"""A recorded conversation to look at, with a clock that the test sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inspector.client.recorded_session import RecordedSession
from inspector.journal.journal import Journal


class Talk:
    """Builds a journal message by message; `at` says when, in milliseconds since the start."""

    def __init__(self, target: dict[str, Any] | None = None) -> None:
        self.journal = Journal.unnamed({"kind": "stdio", "argv": ["server"]} if target is None else target)
        self.journal.header["started"] = "2026-03-04T10:20:30.000Z"
        self.ms = 0.0
        self.journal.now = lambda: int(self.ms * 1000)  # type: ignore[method-assign]

    def at(self, ms: float) -> Talk:
        self.ms = ms
        return self

    def send(self, message: Any, channel: str = "stdio") -> int:
        return self.journal.record_sent(channel, json.dumps(message).encode(), message)

    def receive(self, message: Any, channel: str = "stdio") -> int:
        return self.receive_raw(json.dumps(message).encode(), channel)

    def receive_raw(self, raw: bytes, channel: str = "stdio") -> int:
        self.journal.record_received(channel, [raw])
        return len(self.journal)

    def ask(self, id: Any, method: str, params: Any = None) -> int:
        message = {"jsonrpc": "2.0", "id": id, "method": method}
        return self.send(message if params is None else {**message, "params": params})

    def call(self, id: Any, name: str, **arguments: Any) -> int:
        return self.ask(id, "tools/call", {"name": name, "arguments": arguments, "_meta": {"progressToken": id}})

    def answer(self, id: Any, result: Any) -> int:
        return self.receive({"jsonrpc": "2.0", "id": id, "result": result})

    def say(self, id: Any, text: str, *, failed: bool = False) -> int:
        result: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
        return self.answer(id, {**result, "isError": True} if failed else result)

    def fail(self, id: Any, code: int = -32602, message: str = "no such tool") -> int:
        return self.receive({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})

    def notice(self, method: str, **params: Any) -> int:
        return self.receive({"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params})

    @property
    def session(self) -> RecordedSession:
        return RecordedSession(self.journal, Path("talk.mcp.jsonl"))


def read(path: Path) -> RecordedSession:
    """Return a recording, all of it read."""
    journal = Journal.open(path)
    while journal.refresh():
        pass
    return caught_up(RecordedSession(journal, path))


def caught_up(session: RecordedSession) -> RecordedSession:
    """Let a session read what is recorded."""
    while session.advance():
        pass
    return session


def example() -> Talk:
    """Return a conversation: list, call with progress, failed call, stderr, invalid JSON.

    The events: 1 spawn, 2-3 list, 4-7 a call with progress and a log message, 8-9 one that fails, 10 stderr, 11 not JSON.
    """
    talk = Talk()
    talk.journal.record_life("stdio", "spawn", argv=["server", "--fast"], pid=7)
    talk.at(211).ask(1, "tools/list")
    talk.at(225).answer(1, {"tools": [{"name": "echo"}, {"name": "pay"}]})
    talk.at(8700).call(2, "echo", message="hello")
    talk.at(8705).notice("progress", progressToken=2, progress=1, total=2)
    talk.at(8706).notice("message", level="info", data="half way")
    talk.at(8712).say(2, "Echo: hello")
    talk.at(9100).call(3, "pay")
    talk.at(9712).say(3, "card declined", failed=True)
    talk.journal.record_stderr("stderr", [b"warming \x1b[31mup"])
    talk.receive_raw(b"Server running on port 3000")
    return talk


def order(talk: Talk) -> Talk:
    """Add a call of 15.7 s, 14 of which the server waited for a person."""
    start = talk.ms
    size = {"action": "accept", "content": {"size": "l"}}
    talk.call(21, "order-pizza")
    asked = {"jsonrpc": "2.0", "id": 7, "method": "elicitation/create", "params": {"message": "Size?"}}
    talk.at(start + 500).receive(asked)
    talk.at(start + 14_500).send({"jsonrpc": "2.0", "id": 7, "result": size})
    talk.at(start + 15_700).say(21, "ordered")
    return talk
