"""The recording that an import makes: events with the times they had, and what the other format did not keep."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from inspector.imports.source import Source
from inspector.journal.format import Dir, extra_json
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import NotJson, parse
from inspector.version import __version__

PLACES = 20
"""Places that are named where something cannot be read; more are counted."""
MOST_SECRETS = 32
"""Credentials of the imported file that are looked for in all of it."""
SHORTEST_SECRET = 12
"""Characters of such a one: a shorter session id would be found in what is something else."""
LATEST = 1 << 52
"""Microseconds; a time beyond is none."""

_CREDENTIALS = frozenset((
    "authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-auth-token", "mcp-session-id",
))  # fmt: skip
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Maker:
    """Writes the recording. First `begin`, then events in their order, then `end`."""

    def __init__(self, out: Path, format: str, source: Source) -> None:
        self.notes: list[str] = []
        """What the format did not keep, and what could not be read, in sentences."""
        self.messages = 0
        self._out = out
        self._format = format
        self._source = source
        self._journal: Journal | None = None
        self._zero = 0
        self._last = 0
        self._secrets = 0
        self._unread = 0

    @property
    def journal(self) -> Journal:
        """The recording; what is asked for it before `begin` is a recording of nothing."""
        if self._journal is None:
            self.begin(None, {})
        assert self._journal is not None
        return self._journal

    @property
    def begun(self) -> bool:
        """Whether the recording has its header."""
        return self._journal is not None

    def begin(self, started: int | None, target: dict[str, Any], tool: str = "", secrets: Iterable[str] = ()) -> None:
        """Write the header. `started` is in microseconds of Unix time, `tool` what the file says who wrote it."""
        name = self._source.path.name
        self._zero = started or 0
        about = {
            "started": _written(self._zero),
            "tool": f"inspector/{__version__}, import of {self._format}",
            "imported": {"format": self._format, "file": name, **({"tool": tool[:200]} if tool else {})},
        }
        told = {"kind": "stdio", "argv": [], **target}
        told.setdefault("label", name)
        self._journal = Journal.create(self._out, told, secrets, about)

    # Events

    def at(self, moment: int | None) -> None:
        """When what comes next happened, in microseconds of Unix time; None: when the last event did."""
        if moment is not None:
            self._last = min(max(moment - self._zero, 0), LATEST)
        self.journal.moment = self._last

    def message(self, dir: Dir, channel: str, data: bytes, **fields: Any) -> int:
        """Record a message, with further `fields` of its line. Returns its number."""
        journal = self.journal
        self.messages += 1
        if dir is Dir.RECV:
            journal.record_received(channel, [data], extra_json(fields) if fields else "")
            return len(journal)
        why: dict[str, Any] = {}
        message = None
        try:
            message = parse(data)
        except NotJson as problem:
            why = {"why": str(problem)}
        return journal.record_sent(channel, data, message, extra_json(fields | why))

    def stderr(self, data: bytes) -> None:
        """Record a line of stderr, or several."""
        self.journal.record_stderr("stderr", data.split(b"\n"))

    def learn(self, headers: Iterable[tuple[str, str]]) -> None:
        """Look for the credentials in these header fields in all that comes, as in a session of our own."""
        for name, value in headers:
            if name.lower() in _CREDENTIALS and "‹redacted " not in value and self._secrets < MOST_SECRETS:
                secret = value.rpartition(" ")[2] if "authorization" in name.lower() else value
                if len(secret) >= SHORTEST_SECRET:
                    self._secrets += 1
                    self.journal.redactor.add(secret)

    # What is to be said

    def unread(self, place: str, why: str) -> None:
        """Say that something in the file cannot be read."""
        self._unread += 1
        if self._unread <= PLACES:
            self.note(f"{place} cannot be read: {why}.")

    def note(self, sentence: str) -> None:
        """Say something in the recording and at the end."""
        self.notes.append(sentence)

    def end(self) -> None:
        """Write what is to be said, and the end."""
        if self._unread > PLACES:
            self.note(f"{self._unread - PLACES:,} more places cannot be read.")
        self.at(None)
        for sentence in self.notes:
            self.journal.record_note(sentence)
        self.journal.close("imported")

    def release(self) -> None:
        """Close the file."""
        if self._journal is not None:
            self._journal.release()


def moment(value: Any) -> int | None:
    """Microseconds of Unix time of a date as RFC 3339 writes it, or of a number of milliseconds; None for neither."""
    if type(value) in (int, float):
        return int(value * 1000) if 0 < value < LATEST / 1000 else None
    if type(value) is not str or len(value) > 64:
        return None
    try:
        found = datetime.fromisoformat(value)
        aware = found if found.tzinfo else found.replace(tzinfo=UTC)
        return (aware - _EPOCH) // timedelta(microseconds=1)
    except (ValueError, OverflowError):
        return None


def _written(moment: int) -> str:
    """Microseconds of Unix time as the header of a recording has them."""
    try:
        found = _EPOCH + timedelta(microseconds=moment)
    except OverflowError:
        found = _EPOCH
    return found.isoformat(timespec="microseconds").replace("+00:00", "Z")
