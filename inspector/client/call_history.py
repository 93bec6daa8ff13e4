"""Calls across recordings: when a tool was called, with which arguments, and what came of it."""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from inspector.client.recordings_folder import RecordingInfo
from inspector.errors import RecordingError
from inspector.journal.durations import took
from inspector.journal.exchange import SENT_REQUESTS, Exchange
from inspector.journal.journal import Journal, whole_journal
from inspector.protocol.members import object_at
from inspector.protocol.summaries import answer_summary, first_line
from inspector.protocol.views import View

CALL = "tools/call"
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class PastCall:
    """One call of a tool in a recording. Its texts come from the file and are untrusted."""

    path: Path
    n: int
    """The number of the request in the recording."""
    when: datetime
    server: str
    """The label of the recording's target."""
    tool: str
    arguments: dict[str, Any]
    state: str
    """`done`, `error` (also a tool error), `cancelled`, `timeout`, `lost`, `pending`."""
    duration: int | None
    """Microseconds of the server; None without an answer."""
    result: str
    """What the result is, in a few words; of an error, its message."""

    def as_json(self) -> dict[str, Any]:
        """Return the object of `--json`."""
        return {
            "path": str(self.path),
            "n": self.n,
            "at": self.when.isoformat().replace("+00:00", "Z"),
            "server": self.server,
            "tool": self.tool,
            "arguments": self.arguments,
            "state": self.state,
            "seconds": None if self.duration is None else self.duration / 1e6,
            "result": self.result,
        }


def recorded_calls(infos: Iterable[RecordingInfo], tool: str = "") -> Iterator[PastCall]:
    """Yield the calls of a tool (empty: of every tool) in some recordings: file by file, the newest call first.

    A file that cannot contain the tool's name is not indexed; one that cannot be read is skipped.
    """
    for info in infos:
        if info.problem or not _mentions(info.path, tool or "tools"):
            continue
        with suppress(RecordingError):
            yield from _calls(info, tool)


def _mentions(path: Path, name: str) -> bool:
    """Whether a file may contain a name. Only a name without characters that JSON can write in two ways is searched."""
    if not _PLAIN.fullmatch(name):
        return True
    with ExitStack() as stack, suppress(OSError, ValueError):
        file = stack.enter_context(open(path, "rb"))
        data = stack.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return data.find(name.encode()) >= 0
    return False


def _calls(info: RecordingInfo, tool: str) -> Iterator[PastCall]:
    with whole_journal(info.path) as journal:
        yield from calls_of(journal, info.path, info.label, tool)


def calls_of(journal: Journal, path: Path, server: str, tool: str = "") -> Iterator[PastCall]:
    """Yield the calls of a tool (empty: of every tool) in an open recording, the newest first."""
    index = journal.index
    for n in reversed(SENT_REQUESTS.numbers(index)):
        if index.method(n) != CALL:
            continue
        exchange = Exchange(journal, n)
        if tool and exchange.name != tool:
            continue
        spent = took(index, n)
        yield PastCall(
            path,
            n,
            journal.clock(index.time(n)).astimezone(UTC),
            server,
            exchange.name,
            object_at(exchange.params, "arguments"),
            exchange.state,
            None if spent is None else spent.server,
            _in_words(exchange),
        )


def _in_words(exchange: Exchange) -> str:
    """Describe the result as the log does; of an error, its message."""
    error, result = exchange.error, exchange.result
    if type(error) is dict:
        return first_line(View(error).text("message"))[0]
    return answer_summary(View(result))[0] if type(result) is dict else ""
