"""The recording that an import creates: events with their original times, and notes about what is missing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from inspector.config.targets import HttpTarget, StdioTarget
from inspector.formats.source import JsonArrayDocument, Source
from inspector.journal.format import Dir, extra_json
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import NotJson, Shape, id_key, parse, shape_of
from inspector.times import parse_time
from inspector.version import __version__

PLACES = 20
"""Unreadable places that are named; further ones are only counted."""
MAX_SECRETS = 32
"""Maximum credentials of the imported file that are searched for in all of it."""
MIN_SECRET = 12
"""Minimum characters of a credential: a shorter session id could match other text."""
LATEST = 1 << 52
"""Maximum time in microseconds."""

_CREDENTIALS = frozenset(
    ("authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-auth-token", "mcp-session-id")
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


ImportedTarget = tuple[dict[str, Any], tuple[str, ...]]
"""The `target` of a recording, and the secrets in it, which the recording does not have."""


class RecordingBuilder:
    """Writes the recording. First `begin`, then events in order, then `end`."""

    def __init__(self, out: Path, format: str, source: Source, limit: int | None = None) -> None:
        self.notes: list[str] = []
        """What the format does not keep, and what could not be read, as sentences."""
        self.messages = 0
        self._out = out
        self._format = format
        self.source = source
        self._limit = limit
        self._journal: Journal | None = None
        self._zero = 0
        self._last = 0
        self._secrets = 0
        self._unread = 0

    @property
    def journal(self) -> Journal:
        """The recording; before `begin` an empty one."""
        if self._journal is None:
            self.begin(None, ({}, ()))
        assert self._journal is not None
        return self._journal

    @property
    def begun(self) -> bool:
        """Whether the recording has its header."""
        return self._journal is not None

    def begin(self, started: int | None, target: ImportedTarget, tool: str = "") -> None:
        """Write the header. `started` is in microseconds of Unix time, `tool` is the writer that the file names."""
        name = self.source.path.name
        self._zero = started or 0
        about = {
            "started": _written(self._zero),
            "tool": f"inspector/{__version__}, import of {self._format}",
            "imported": {"format": self._format, "file": name, **({"tool": tool[:200]} if tool else {})},
        }
        header = {"kind": "stdio", "argv": [], **target[0]}
        header.setdefault("label", name)
        self._journal = Journal.create(self._out, header, target[1], about)
        self._journal.bound(self._limit)

    def lines(self) -> Iterator[tuple[str, bytes]]:
        """Yield the lines of the file, each with its place; one that is too long is noted."""
        for number, line in self.source.lines():
            if line is None:
                self.unread(f"Line {number:,}", "it is too long")
            else:
                yield f"Line {number:,}", line

    def at(self, moment: int | None) -> None:
        """Set the time of the next event in microseconds of Unix time; None: that of the last event."""
        if moment is not None:
            self._last = min(max(moment - self._zero, 0), LATEST)
        self.journal.moment = self._last

    def message(self, dir: Dir, channel: str, data: bytes, **fields: Any) -> int:
        """Record a message, with further `fields` of its line. Return its number."""
        journal = self.journal
        self.messages += 1
        if dir is Dir.RECV:
            journal.record_received(channel, [data], extra_json(fields) if fields else "")
            return len(journal)
        reason: dict[str, Any] = {}
        message = None
        try:
            message = parse(data)
        except NotJson as problem:
            reason = {"why": str(problem)}
        return journal.record_sent(channel, data, message, extra_json(fields | reason))

    def stderr(self, data: bytes) -> None:
        """Record one or more lines of stderr."""
        self.journal.record_stderr("stderr", data.split(b"\n"))

    def learn(self, headers: Iterable[tuple[str, str]]) -> None:
        """Redact the credentials in these headers in all further events, as in our own sessions."""
        for name, value in headers:
            if name.lower() in _CREDENTIALS and "‹redacted " not in value and self._secrets < MAX_SECRETS:
                secret = value.rpartition(" ")[2] if "authorization" in name.lower() else value
                if len(secret) >= MIN_SECRET:
                    self._secrets += 1
                    self.journal.redactor.add(secret)

    def unread(self, place: str, reason: str) -> None:
        """Note that something in the file cannot be read."""
        self._unread += 1
        if self._unread <= PLACES:
            self.note(f"{place} cannot be read: {reason}.")

    def unread_rest(self, document: JsonArrayDocument, noun: str) -> None:
        """Note the part of a document after the place where it stops being JSON."""
        if document.broken is not None:
            self.unread(f"The part after {noun} {len(document.items):,}", str(document.broken))

    def note(self, sentence: str) -> None:
        """Add a note to the recording and the result."""
        self.notes.append(sentence)

    def end(self) -> None:
        """Write the notes and the end."""
        if self._unread > PLACES:
            self.note(f"{self._unread - PLACES:,} more places cannot be read.")
        if self.journal.incomplete:
            self.note(f"The recording is not complete: {self.journal.incomplete}.")
        self.at(None)
        for sentence in self.notes:
            self.journal.record_note(sentence)
        self.journal.close("imported")

    def release(self) -> None:
        """Close the file."""
        if self._journal is not None:
            self._journal.release()


def moment(value: Any) -> int | None:
    """Return microseconds of Unix time for an RFC 3339 date or a number of milliseconds; None for anything else."""
    if type(value) in (int, float):
        return int(value * 1000) if 0 < value < LATEST / 1000 else None
    time = parse_time(value)
    return None if time is None else (time - _EPOCH) // timedelta(microseconds=1)


def _written(moment: int) -> str:
    """Return microseconds of Unix time in the format of a recording's header."""
    try:
        time = _EPOCH + timedelta(microseconds=moment)
    except OverflowError:
        time = _EPOCH
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z")


class FormatReader(NamedTuple):
    """Reads the files of one format."""

    fits: Callable[[Source], bool]
    """Whether a file has this format, by its start."""
    read: Callable[[RecordingBuilder], None]


def stdio_target(argv: Any, cwd: Any = None, label: Any = None) -> ImportedTarget:
    """Return the target of a command of another tool, as far as it is known."""
    words = tuple(word for word in argv if isinstance(word, str)) if type(argv) is list else ()
    if not words:
        return {"kind": "stdio", "argv": []} | _label(label), ()
    target = StdioTarget(words, cwd=cwd if isinstance(cwd, str) else None)
    return target.as_header() | _label(label), target.secrets


def http_target(url: Any, label: Any = None) -> ImportedTarget:
    """Return the target of a URL of another tool."""
    if not isinstance(url, str) or not url:
        return {"kind": "http"} | _label(label), ()
    target = HttpTarget(url)
    return target.as_header() | _label(label), target.secrets


def _label(label: Any) -> dict[str, Any]:
    return {"label": label[:200]} if isinstance(label, str) and label else {}


MAX_WAITING = 100_000
"""Maximum open requests that are tracked."""

_OF_SERVERS = frozenset(
    """
    sampling/createMessage elicitation/create roots/list notifications/message notifications/progress
    notifications/tools/list_changed notifications/prompts/list_changed notifications/resources/list_changed
    notifications/resources/updated notifications/elicitation/complete notifications/tasks/status
    notifications/subscriptions/acknowledged
    """.split()
)
"""Notifications that usually only servers send: clients may send progress too, but rarely do."""


class Senders:
    """Tracks the messages of one connection in order."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[tuple[Dir, Any], None] = OrderedDict()

    def of(self, message: Any, known: Dir | None = None) -> Dir:
        """Return the direction of the next message; `known` if the file has it."""
        shape = shape_of(message)
        if shape is Shape.BATCH:
            directions = [self.of(item, known) for item in message if type(item) is dict]
            return directions[0] if directions else Dir.RECV if known is None else known
        if shape in (Shape.RESULT, Shape.ERROR):
            return self._answered(id_key(message.get("id")), known)
        if shape not in (Shape.REQUEST, Shape.NOTIFICATION):
            return Dir.RECV if known is None else known
        dir = known
        if dir is None:
            dir = Dir.RECV if message["method"] in _OF_SERVERS else Dir.SEND
        if shape is Shape.REQUEST:
            self._waiting[dir, id_key(message["id"])] = None
            if len(self._waiting) > MAX_WAITING:
                self._waiting.popitem(last=False)
        return dir

    def _answered(self, id: Any, known: Dir | None) -> Dir:
        """Return the direction of a response: opposite to its request; of two with the same id, the server's.

        A server sends its request while one of the client is open, and is answered first.
        """
        if known is None:
            asked = Dir.SEND
            for key in ((Dir.RECV, id), (Dir.SEND, id)):
                if key in self._waiting:
                    asked = key[0]
                    break
            known = Dir.RECV if asked is Dir.SEND else Dir.SEND
        self._waiting.pop((Dir.SEND if known is Dir.RECV else Dir.RECV, id), None)
        return known
