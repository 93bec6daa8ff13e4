"""Recordings written line by line, with chosen times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from inspector.journal.journal import Journal

HEADER = {"format": "mcp-recording", "version": 1, "started": "2026-11-19T13:00:00Z", "target": {"kind": "stdio"}}


class Tape:
    """Event lines; `at` is the time of the next ones in seconds."""

    def __init__(self) -> None:
        self.lines = [json.dumps(HEADER)]
        self.at = 0.0
        self.id = 0

    @property
    def last(self) -> int:
        """The number of the event that was written last."""
        return len(self.lines) - 1

    def event(self, kind: str = "note", dir: str = "local", **fields: Any) -> int:
        """Write an event; returns its number."""
        line = {"n": len(self.lines), "t": round(self.at * 1e6), "dir": dir, "kind": kind, "ch": "stdio", **fields}
        self.lines.append(json.dumps(line))
        return self.last

    def message(self, dir: str, message: Any) -> int:
        """Write a message."""
        return self.event("rpc", dir, raw=json.dumps({"jsonrpc": "2.0", **message}))

    def ask(self, method: str, params: Any = None, dir: str = "send") -> int:
        """Write a request; `self.id` is its id."""
        self.id += 1
        return self.message(dir, {"id": self.id, "method": method} | ({} if params is None else {"params": params}))

    def answer(self, result: Any, id: int | None = None, dir: str = "recv") -> int:
        """Write the answer to the newest request, or to another."""
        return self.message(dir, {"id": self.id if id is None else id, "result": result})

    def tell(self, method: str, params: Any = None, dir: str = "recv") -> int:
        """Write a notification."""
        return self.message(dir, {"method": method} | ({} if params is None else {"params": params}))

    def end(self) -> None:
        """Write the line that ends a recording."""
        self.lines.append(json.dumps({"kind": "end", "events": self.last, "t": round(self.at * 1e6)}))

    def write(self, path: Path) -> Path:
        """Write the file, or add to it what is new."""
        path.write_text("\n".join(self.lines) + "\n")
        return path

    def journal(self, path: Path) -> Journal:
        """The recording, read to its end."""
        return read(self.write(path))


def read(path: Path) -> Journal:
    """A recording, read to its end."""
    journal = Journal.open(path)
    while journal.refresh():
        pass
    return journal
