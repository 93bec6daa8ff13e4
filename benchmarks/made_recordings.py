"""Recordings that are measured, as our own journal writes them; each is made once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rows import CACHE

if TYPE_CHECKING:
    from inspector.journal.journal import Journal

LINE = 50_000_000
"""Bytes of a long message."""
LONG_LINE = CACHE / "long-line.mcp.jsonl"


@contextmanager
def _made(path: Path) -> Iterator[Journal]:
    """A new journal, whose file gets its name when it is complete."""
    from inspector.journal.journal import Journal

    making = path.with_name(f"making-{path.name}")
    making.unlink(missing_ok=True)
    journal = Journal.create(making, {"kind": "stdio", "argv": ["server"]})
    yield journal
    journal.close()
    journal.release()
    making.rename(path)


def messages(count: int) -> Path:
    """A recording of so many messages: calls, each with six log messages, progress and a result."""
    from inspector.protocol import jsonrpc

    path = CACHE / f"{count}-messages.mcp.jsonl"
    if path.exists():
        return path
    with _made(path) as journal:
        for id in range(count // 10):
            params = {"name": "search", "arguments": {"query": f"word {id}"}, "_meta": {"progressToken": id}}
            request = jsonrpc.request(id, "tools/call", params)
            logs = (
                jsonrpc.notification(
                    "notifications/message", {"level": "info", "data": f"step {step} of {id}: " + "x" * 60}
                )
                for step in range(6)
            )
            progress = (
                jsonrpc.notification("notifications/progress", {"progressToken": id, "progress": step, "total": 2})
                for step in (1, 2)
            )
            result = jsonrpc.result(id, {"content": [{"type": "text", "text": f"found {id}"}]})
            journal.record_sent("stdio", jsonrpc.encode(request), request)
            answers = [jsonrpc.encode(message) for message in (*logs, *progress, result)]
            journal.record_received("stdio", answers)
    return path


def make_long_line() -> None:
    """Make the recording of one call with a result of `LINE` bytes."""
    from inspector.protocol import jsonrpc

    with _made(LONG_LINE) as journal:
        request = jsonrpc.request(1, "tools/call", {"name": "big", "arguments": {}})
        journal.record_sent("stdio", jsonrpc.encode(request), request)
        text = "0123456789 " * (LINE // 11)
        result = jsonrpc.result(1, {"content": [{"type": "text", "text": text}]})
        journal.record_received("stdio", [jsonrpc.encode(result)])
