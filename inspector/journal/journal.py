"""The journal: a recording that grows, with its index. Live session, finished file and followed file alike.

`Journal.create` writes one, `Journal.open` reads one; both are read the same way.
"""

from __future__ import annotations

import json
import os
import threading
import time
import uuid
from array import array
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from inspector.config.private_keys import MARK as KEY
from inspector.config.private_keys import PrivateKeyFilter, may_have_key
from inspector.config.secret_forms import SecretFinder
from inspector.errors import RecordingError
from inspector.hints import Hint, Parameter
from inspector.journal import saved_index
from inspector.journal.findings import Finding, Findings
from inspector.journal.format import (
    DIR_NAMES,
    FORMAT,
    KIND_NAMES,
    VERSION,
    Dir,
    Event,
    Kind,
    dumps,
    escape,
    event_line,
    extra_json,
    header_line,
    outline,
    parsed_line,
    read_envelope,
    read_event,
    read_outline,
    to_base64,
)
from inspector.journal.index import Index, conn_of
from inspector.journal.marks import Marks, append, end_of_events, mark_fields, reopened, write_at
from inspector.journal.overflow import Overflow
from inspector.journal.redaction import Redactor, describe
from inspector.journal.storage import KEEP_FREE, Storage
from inspector.protocol.jsonrpc import NotJson, Shape, parse, shape_of
from inspector.text import count, size
from inspector.times import parse_time
from inspector.version import __version__

_CACHE_EVENTS = 512
_CACHE_LARGEST = 1 << 18
_BLOCK = 1 << 20
_NEAR = 1 << 16
"""Bytes that are read at once for several events."""
_HEADER_LIMIT = 1 << 20
_MAX_NAMES, _MAX_OF_NAME = 5, 40
"""Unknown kinds of events that are named, and the characters of each name."""
_KEPT_OF_LINE = 4096
_MAX_EXTRA = 1024
"""Characters of a message's other members that are kept without its body."""

# A lookup of an enum member costs as much as all other work on a message.
_SEND, _RECV, _RPC, _INVALID = Dir.SEND, Dir.RECV, Kind.RPC, Kind.INVALID
_NONE, _NOTIFICATION, _REQUEST = Shape.NONE, Shape.NOTIFICATION, Shape.REQUEST
_ANSWERS = (Shape.RESULT, Shape.ERROR)


class Frame:
    """A recorded message on its way to the session: written, indexed and parsed."""

    __slots__ = ("channel", "message", "n", "shape", "t")

    def __init__(self, n: int, t: int, channel: str, shape: Shape, message: Any) -> None:
        self.n = n
        self.t = t
        self.channel = channel
        self.shape = shape
        self.message = message


class Journal:
    """A recording and its index. See the module's docstring; create one with `create`, `unnamed` or `open`."""

    def __init__(self, storage: Storage, header: dict[str, Any], redactor: Redactor | None = None) -> None:
        self.storage = storage
        self.header = header
        self.index = Index()
        self.findings = Findings()
        self.marks = Marks()
        self.redactor = redactor or Redactor()
        self.index.methods.redact = lambda text: self.redactor.text(text)[0]
        self.ended: dict[str, Any] | None = None
        """The end line, if there is one. None in a finished file means that the writer was killed."""
        self.notices: list[str] = []
        """Unusual facts about the file, as sentences for its reader."""
        self._unknown: list[str] = []
        """The first kinds of events that this version does not know."""
        self.raw_only = False
        """The file has a newer major version: events are shown, not interpreted."""
        self.moment: int | None = None
        """The time in microseconds for new events, if they happened earlier. None: now."""
        self.exact_frames = False
        """Frames have the exact bytes that arrived, including secrets, for code that forwards messages. Otherwise the
        redacted ones."""
        self.on_arrival: Callable[[Any], object] | None = None
        """Told of each parsed message before it is recorded: what it adds to `redactor` is not in the recording."""
        self.limit: int | None = None
        """The largest size of the recording in bytes, as set with `bound`."""
        self._overflow = Overflow()
        self._keys: dict[tuple[str, int], PrivateKeyFilter] = {}
        """By channel and connection, the private key that is being printed there."""
        self._last_of_stderr: tuple[tuple[str, int], bytes] = (("", 0), b"")
        """Channel and connection of the last line of stderr, and its end: a secret may begin in it."""
        self._mark = ""
        """Members of the lines of messages sent now, as JSON: see `probing`."""
        self._conns = 0
        self._zero = time.monotonic_ns()
        self._scanned = 0
        self._end_at = 0
        """Where the end line starts in the file; 0 without one."""
        self._finding_notes = array("I")
        """The notes with a finding, ascending."""
        self._may_save = True
        self._is_begun = False
        """Whether reading has begun."""
        self._read_as: dict[str, Any] | None = None
        """Of a long recording that is read: its identity when that began."""
        self._cache: OrderedDict[int, Event] = OrderedDict()
        self._lock = threading.Lock()

    # Create

    @classmethod
    def create(
        cls, path: Path, target: dict[str, Any], secrets: Iterable[str] = (), about: Mapping[str, Any] | None = None
    ) -> Journal:
        """Start a recording in `path`, which must be a new file. `target` describes the target, without secrets.

        `about` overrides members of the header: `started` and `tool` of an imported file.
        """
        return cls._begin(Storage.create(path), target, secrets, about)

    @classmethod
    def unnamed(cls, target: dict[str, Any], secrets: Iterable[str] = ()) -> Journal:
        """Start a recording in a file without a name."""
        return cls._begin(Storage.unnamed(), target, secrets)

    @classmethod
    def _begin(
        cls, storage: Storage, target: dict[str, Any], secrets: Iterable[str], about: Mapping[str, Any] | None = None
    ) -> Journal:
        redactor = Redactor(secrets)
        body = {
            "id": str(uuid.uuid4()),
            "started": datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
            "tool": f"inspector/{__version__}",
            "target": target,
            "redaction": describe(),
            **(about or {}),
        }
        line = redactor.text(header_line(body).decode())[0].encode()
        journal = cls(storage, {"format": FORMAT, "version": VERSION, **body}, redactor)
        journal.bound(None)
        storage.append(line)
        journal._scanned = storage.size
        return journal

    @classmethod
    def open(cls, path: Path) -> Journal:
        """Open a recording to read. Nothing is indexed yet: call `refresh` until it returns False.

        Raises `RecordingError` if the file is missing, empty, binary or not a recording.
        """
        storage = Storage.read(path)
        try:
            first = storage.pread(0, _HEADER_LIMIT)
            end = first.find(b"\n")
            header = _read_header(path, first if end < 0 else first[:end])
        except RecordingError:
            storage.close()
            raise
        journal = cls(storage, header)
        version = header.get("version")
        if type(version) is not int or version > VERSION:
            journal.raw_only = True
            journal.notices.append(
                f"This recording has format version {version}; this Inspector supports version {VERSION}. "
                "Its lines are shown unchanged."
            )
        journal._scanned = end + 1 if end >= 0 else storage.size
        return journal

    def follower(self) -> Journal:
        """Return a reader of the same file with an index of its own, for another thread.

        Call `refresh` as the file grows. The reader stays readable after this journal was released. It reads only what
        is on the disk.
        """
        reader = Journal(Storage(os.dup(self.storage.fd), self.path, writable=False), self.header)
        reader._may_save = False
        reader._scanned = len(self.storage.pread(0, _HEADER_LIMIT).partition(b"\n")[0]) + 1
        return reader

    # Write

    def bound(self, limit: int | None, *, keep_free: int = KEEP_FREE, overflow: Overflow | None = None) -> None:
        """Limit the recording to `limit` bytes (None: no limit), and never use the last `keep_free` bytes of the disk.

        A new recording has no limit, and leaves the disk free. What counts is what is appended: whole lines. Beyond
        that, bodies are counted but not recorded: see `overflow`.
        """
        self.limit = limit
        self._overflow = overflow or Overflow.for_limit(limit)
        self.storage.bound(limit, keep_free, self._overflow.outlines)

    @property
    def dropped(self) -> tuple[int, int]:
        """Return the number of bodies that were not recorded because the recording was full, and their bytes."""
        if self.ended is not None and not self.live:
            about = self.ended.get("dropped")
            events, octets = (about.get("events"), about.get("bytes")) if type(about) is dict else (0, 0)
            return (events, octets) if isinstance(events, int) and isinstance(octets, int) else (0, 0)
        return self._overflow.events, self._overflow.bytes

    @property
    def incomplete(self) -> str:
        """Return why the recording is incomplete, as a short phrase; empty if it is complete."""
        if self.storage.problem:
            return f"not on disk: {self.storage.problem}"
        events, octets = self.dropped
        if not events and not self.storage.full:
            return ""
        reason = {"limit": "recording full", "disk": "disk nearly full"}.get(self.storage.full, "recording was full")
        what = "1 body" if events == 1 else f"{count(events)} bodies"
        return f"{reason}: {what} not recorded ({size(octets)})"

    def _stays_full(self, size: int) -> bool:
        """Whether the recording was full, and `size` bytes of bodies do not fit either."""
        return self._overflow.is_told and self._is_full(size)

    def _is_full(self, size: int) -> bool:
        """Whether lines of `size` bytes do not fit. Records a note when that changes, which moves the next number."""
        storage, overflow = self.storage, self._overflow
        full = not storage.has_room(size)
        if self.index.count >= overflow.most_events:
            storage.full, full = "limit", True
        if full is not overflow.is_told:
            overflow.is_told = full
            if full:
                n = self.record_life("", "recording-full", reason=storage.full, bytes=storage.size)
                overflow.marker = n
                if self.index.count > overflow.most_events:
                    overflow.outlines = 0
            else:
                self.record_life("", "recording-resumed", events=overflow.events, bytes=overflow.bytes)
        return full

    def _count(
        self,
        t: int,
        dir: Dir,
        kind: Kind,
        channel: str,
        raw: bytes,
        message: Any = None,
        extra: str = "",
        *,
        conn: int = 0,
    ) -> int:
        """Add an event without a body. Returns its number, or that of the note that the recording is full."""
        overflow, index = self._overflow, self.index
        overflow.count(len(raw))
        n, shape = index.count + 1, shape_of(message)
        short = outline(message)
        dropped = {"bytes": len(raw), **({"message": short} if short is not None else {})}
        about = (extra if len(extra) <= _MAX_EXTRA else "") + ',"dropped":' + dumps(dropped)
        if self.redactor.active:
            about, _ = self.redactor.text(about)
        line = event_line(n, t, DIR_NAMES[dir], KIND_NAMES[kind], channel, None, False, about).encode(
            "utf-8", "replace"
        )
        offset = self.storage.size
        if overflow.takes_line(len(line)):
            self.storage.append(line)
        elif not self._is_needed(dir, kind, shape, message, conn):
            return overflow.marker
        index.dropped.append(n)
        index.add(t, dir, kind, channel, offset, len(raw), short, conn=conn)
        text, binary, _ = self._text(raw, "", json=kind is _RPC)
        if not binary:
            overflow.keep(Event(n, t, dir, kind, channel, text, None, {"dropped": dropped}), len(raw))
        return n

    def _is_needed(self, dir: Dir, kind: Kind, shape: Shape, message: Any, conn: int) -> bool:
        """Whether an event needs its own number even if it is not written: requests, and the answers to ours."""
        if kind is not _RPC:
            return False
        if dir is _SEND:
            return shape is _REQUEST
        if shape is _REQUEST:
            self._overflow.requests -= 1
            return self._overflow.requests >= 0
        return shape in _ANSWERS and self.index.awaits(message, conn)

    @property
    def live(self) -> bool:
        """Whether this process is writing the recording."""
        return self.storage.writable and self.storage.fd >= 0

    def now(self) -> int:
        """Return the microseconds since the recording began, on the monotonic clock, or `moment` if that is set."""
        return (time.monotonic_ns() - self._zero) // 1000 if self.moment is None else self.moment

    def new_conn(self) -> int:
        """Return a number for a further connection: the `conn` of all its events."""
        self._conns += 1
        return self._conns

    @contextmanager
    def probing(self, check: str) -> Iterator[None]:
        """Mark messages sent meanwhile as probes: deliberately invalid messages. Empty: not a probe.

        The mark is on the line of the message itself, so that it cannot be separated from it. Do not await inside,
        otherwise messages of other tasks are marked too.
        """
        before, self._mark = self._mark, f',"probe":{escape(check)}' if check else ""
        try:
            yield
        finally:
            self._mark = before

    def record_received(
        self,
        channel: str,
        messages: Sequence[bytes],
        extra: str = "",
        *,
        cut: bool = False,
        heeded: Collection[str] | None = None,
        conn: int = 0,
    ) -> list[Frame]:
        """Record the messages of one read, in one write, and return the frames for the session.

        Each item is one message without its delimiter. A message that is not JSON becomes an `invalid` event without a
        frame. `extra` is ready JSON members for each line (`,"status":200`); `cut` marks a last message without its
        end; `heeded` are the methods of notifications that need a frame (None: all).
        """
        index, storage = self.index, self.storage
        if self.on_arrival is not None:
            for raw in messages:
                with suppress(NotJson, UnicodeDecodeError):
                    self.on_arrival(parse(raw))
        if conn:
            extra += f',"conn":{conn}'
        if self._stays_full(sum(map(len, messages))):
            return self._count_received(channel, messages, extra, heeded, conn)
        t = self.now()
        hides = self.redactor.active
        exact = not (cut or hides)
        arrived: list[Any] = []
        rest = f',"t":{t},"dir":"recv","kind":"rpc","ch":{escape(channel)}{extra},"raw":'
        lines: list[bytes] = []
        parsed: list[tuple[Kind, Shape, Any]] = []
        for n, raw in enumerate(messages, index.count + 1):
            reason, shown = "", None
            try:
                message = parse(raw)
                if hides:
                    arrived.append(message)
                    message, shown = self._as_shown(raw, message)
                parsed.append((_RPC, shape_of(message), message))
                if exact:
                    lines.append(parsed_line(f'{{"n":{n}{rest}', raw))
                    continue
            except NotJson as problem:
                reason = ',"why":' + dumps(str(problem) if raw.strip() else "an empty line")
                parsed.append((_INVALID, _NONE, None))
                arrived.append(None)
                raw = self._without_keys(channel, conn, raw)
            except UnicodeDecodeError:
                pass
            more = extra + reason + (',"cut":true' if cut else "")
            lines.append(self._line(n, t, "recv", parsed[-1][0], channel, raw, more, shown))
        data = lines[0] if len(lines) == 1 else b"".join(lines)
        if self._is_full(len(data)):
            return self._count_received(channel, messages, extra, heeded, conn)
        offset = storage.size
        storage.append(data)
        # Only now, so that a reader in another thread finds in the file what is in the index.
        frames: list[Frame] = []
        for at, (raw, line, (kind, shape, message)) in enumerate(zip(messages, lines, parsed, strict=True)):
            n = index.add(t, _RECV, kind, channel, offset, len(raw), message, shape, conn)
            offset += len(line)
            if hides and self.exact_frames:
                message = arrived[at]
            if kind is _RPC and (heeded is None or shape is not _NOTIFICATION or message["method"] in heeded):
                frames.append(Frame(n, t, channel, shape, message))
        return frames

    def _count_received(
        self, channel: str, messages: Sequence[bytes], extra: str, heeded: Collection[str] | None, conn: int
    ) -> list[Frame]:
        """Do the work of `record_received` while the recording is full."""
        t = self.now()
        frames: list[Frame] = []
        for raw in messages:
            reason, kind = "", _RPC
            try:
                message = shown = parse(raw)
                if self.redactor.active:
                    shown, _ = self._as_shown(raw, message)
            except NotJson as problem:
                message = shown = None
                kind, reason = _INVALID, ',"why":' + dumps(str(problem) if raw.strip() else "an empty line")
                raw = self._without_keys(channel, conn, raw)
            n = self._count(t, _RECV, kind, channel, raw, shown, extra + reason, conn=conn)
            given, shape = message if self.exact_frames else shown, shape_of(shown)
            if kind is _RPC and (heeded is None or shape is not _NOTIFICATION or given["method"] in heeded):
                frames.append(Frame(n, t, channel, shape, given))
        return frames

    def _as_shown(self, raw: bytes, message: Any) -> tuple[Any, tuple[str, bool]]:
        """Return the value of a received message as recorded; and its text, with whether that was changed."""
        shown, changed = self.redactor.json(raw.decode("utf-8", "replace"))
        return parse(shown.encode("utf-8", "surrogatepass")) if changed else message, (shown, changed)

    def _line(
        self,
        n: int,
        t: int,
        dir: str,
        kind: Kind,
        channel: str,
        raw: bytes,
        extra: str,
        shown: tuple[str, bool] | None = None,
    ) -> bytes:
        """Return the line of any message, for any bytes, without its secrets. `shown`: see `_as_shown`."""
        text, binary, extra = self._text(raw, extra, ',"encoding":"not UTF-8"', json=kind is _RPC, shown=shown)
        return event_line(n, t, dir, KIND_NAMES[kind], channel, text, binary, extra).encode("utf-8")

    def _text(
        self,
        raw: bytes,
        extra: str,
        unreadable: str = "",
        *,
        json: bool = False,
        shown: tuple[str, bool] | None = None,
    ) -> tuple[str, bool, str]:
        """Return bytes for a line, redacted: the text, whether it is base64, and the `extra` about it."""
        text, binary = _decoded(raw)
        if binary:
            extra += unreadable
        if not self.redactor.active:
            return text, binary, extra + (',"redacted":true' if KEY in text else "")
        extra, hidden = self.redactor.text(extra) if extra else (extra, False)
        text, changed = shown if shown and not binary else self._redact(raw, text, binary, json=json)
        hidden = hidden or changed or KEY in text
        return text, binary, extra + (',"redacted":true' if hidden else "")

    def record_sent(
        self, channel: str, data: bytes, message: Any = None, extra: str = "", *, hold: bool = False, conn: int = 0
    ) -> int:
        """Record a message before it is sent. `message` is its parsed form; None: bytes that are not JSON. Returns `n`.

        With `hold` it is written with the next event or at `flush`, which must come before the bytes are sent.
        """
        kind = _RPC if message is not None else _INVALID
        if conn:
            extra += f',"conn":{conn}'
        extra += self._mark
        if self._stays_full(len(data)):
            return self._count(self.now(), _SEND, kind, channel, data, message, extra, conn=conn)
        t, index, storage = self.now(), self.index, self.storage
        n, line = index.count + 1, b""
        if kind is _RPC and not self.redactor.active:
            head = f'{{"n":{n},"t":{t},"dir":"send","kind":"rpc","ch":{escape(channel)}{extra},"raw":'
            try:
                line = parsed_line(head, data)
            except UnicodeDecodeError:
                pass  # its line is another one
        line = line or self._line(n, t, "send", kind, channel, data, extra)
        if self._is_full(len(line)):
            return self._count(t, _SEND, kind, channel, data, message, extra, conn=conn)
        offset = storage.size
        storage.append(line, hold=hold)
        return index.add(t, _SEND, kind, channel, offset, len(data), message, conn=conn)

    def blank(self, secrets: Iterable[str]) -> bool:
        """Overwrite secrets in what is recorded already, such as a token that a later answer told to be one.

        Each character becomes `*` (of a number `9`), so that all events stay where they are. True if one was found. It
        may run in a thread; `flush` must come before.
        """
        if not self.storage.blank(SecretFinder(secrets)):
            return False
        with self._lock:
            self._cache.clear()
        return True

    def flush(self) -> None:
        """Write what was recorded with `hold`."""
        if self.storage.tail and not self.storage.problem:
            self.storage.flush()

    def _redact(self, raw: bytes, text: str, binary: bool, *, json: bool = False) -> tuple[str, bool]:
        """Return the text of a line without secrets, and whether it was changed."""
        if binary:
            shown, changed = self.redactor.text(raw.decode("utf-8", "surrogateescape"), cut=True)
            return (to_base64(shown.encode("utf-8", "surrogateescape")), True) if changed else (text, False)
        return self.redactor.json(text) if json else self.redactor.text(text, cut=True)

    def _without_keys(self, channel: str, conn: int, line: bytes) -> bytes:
        """Return the next line of an output without what belongs to a private key."""
        keys = self._keys.get((channel, conn))
        if keys is None:
            if not may_have_key(line):
                return line
            keys = self._keys[channel, conn] = PrivateKeyFilter()
        shown = keys.line(line)
        if not keys.inside:
            del self._keys[channel, conn]
        return shown

    def record_stderr(self, channel: str, lines: Sequence[bytes], *, conn: int = 0) -> Sequence[bytes]:
        """Record what the server wrote to stderr, one event per line. Returns the lines as they are recorded."""
        written = lines
        if self._keys or may_have_key(b"".join(lines)):
            lines = [self._without_keys(channel, conn, line) for line in lines]
        if self.redactor.active and lines:
            whose, before = self._last_of_stderr
            self._last_of_stderr = (channel, conn), lines[-1][-_KEPT_OF_LINE:]
            lines = self.redactor.lines(lines, before if whose == (channel, conn) else b"")
        extra = f',"conn":{conn}' if conn else ""
        out: list[bytes] = []
        full = self._stays_full(sum(map(len, lines)))
        t = self.now()
        if not full:
            for n, (raw, line) in enumerate(zip(lines, written, strict=True), self.index.count + 1):
                text, binary = _decoded(raw)
                more = extra if raw == line else extra + ',"redacted":true'
                out.append(event_line(n, t, "recv", "stderr", channel, text, binary, more).encode("utf-8"))
            full = self._is_full(sum(map(len, out)))
        if full:
            for raw in lines:
                self._count(t, _RECV, Kind.STDERR, channel, raw, extra=extra, conn=conn)
            return lines
        offset = self.storage.size
        self.storage.append(b"".join(out))
        for raw, line in zip(lines, out, strict=True):
            self.index.add(t, _RECV, Kind.STDERR, channel, offset, len(raw), conn=conn)
            offset += len(line)
        return lines

    def record_life(self, channel: str, event: str, **fields: Any) -> int:
        """Record an event of the connection or of a request. Returns its number.

        `for` in `fields` names the request. With 0, the request is not recorded, and neither is the event: returns 0.
        """
        if fields.get("for") == 0:
            return 0
        return self._record_local("life", Kind.LIFE, channel, {"event": event, **fields})

    def record_auth(
        self, step: str, ok: bool, text: str, *, rule: str = "", fix: str = "", facts: dict[str, Any] | None = None
    ) -> int:
        """Record a step of an authorization: its action or decision, its rule, and its facts.

        `fix` is the expected value of a step that is not `ok`, or a `Hint`, whose parts are recorded as well. Secrets
        among the facts are also redacted by their names.
        """
        hint = Hint(fix).mapped(self.redactor.sentence)
        told = Hint(fix).command_line
        plain = {"step": step, "ok": ok, "text": text, "rule": rule, "fix": told, "facts": facts or {}}
        shown = {
            name: self.redactor.sentence(value) if isinstance(value, str) else value for name, value in plain.items()
        }
        shown["fix"], shown["facts"] = hint.command_line, self.redactor.facts(plain["facts"])
        kept = {name: value for name, value in shown.items() if name in ("step", "ok", "text") or value}
        changed = shown != plain
        if parts := hint.as_json():
            kept["fix_parts"] = parts
        return self._record_local("auth", Kind.AUTH, "", kept, changed=changed)

    def record_http(self, channel: str, dir: Dir, **fields: Any) -> int:
        """Record an HTTP request's or response's head: method, url, status, headers as pairs, timings in ms."""
        changed = False
        if "headers" in fields:
            fields["headers"], changed = self.redactor.headers(fields["headers"])
        if "url" in fields:
            fields["url"], hidden = self.redactor.url(str(fields["url"]))
            changed = changed or hidden
        return self._record_local("http", Kind.HTTP, channel, fields, dir, changed)

    def record_sse(self, channel: str, text: str, **fields: Any) -> int:
        """Record an SSE event that carries no message (priming, retry, comment, endpoint)."""
        return self._record_local("sse", Kind.SSE, channel, fields, Dir.RECV, raw=text)

    def record_note(self, text: str, finding: Finding | None = None, **fields: Any) -> int:
        """Record a note of Inspector; with a finding, attach that too."""
        if finding is not None:
            fields["finding"] = {"n": finding.n, "rule": finding.rule, "level": finding.level, "page": finding.page}
            self.findings.add(finding)
        n = self._record_local("note", Kind.NOTE, "", {"text": text, **fields})
        if finding is not None:
            self._finding_notes.append(n)
        return n

    def mark(self, n: int, note: str = "", *, on: bool = True) -> None:
        """Mark event `n`, with a note, or remove its mark. In a finished recording this changes the file.

        Raises `RecordingError` if the recording may not be changed.
        """
        fields = mark_fields(n, note, on=on)
        if self.live and self.ended is None:
            self._record_local("mark", Kind.MARK, "", fields)
        else:
            self._append_mark(fields)

    def _append_mark(self, fields: dict[str, Any]) -> None:
        """Write a mark into a finished recording, before its end line."""
        path = self.path
        if path is None or self.raw_only:
            raise RecordingError(
                "This recording cannot be marked: "
                + ("it has no file." if path is None else "it has a newer format than this Inspector."),
                hint=Hint("Record it with ", Parameter.RECORD.to("FILE"), ".") if path is None else "Update Inspector.",
            )
        storage = self.storage
        with reopened(path, storage.fd, is_locked=storage.writable) as fd:
            while self.refresh():
                pass
            is_known = self._read_as is not None and self._read_as == saved_index.identity(fd)
            offset, end = end_of_events(fd)
            n, t = self.index.count + 1, self.index.latest()
            line = event_line(n, t, "local", "mark", "", None, False, extra_json(fields)).encode("utf-8", "replace")
            if end:
                ended = {**(self.ended or {}), "kind": "end", "events": n}
                write_at(fd, path, offset, line + (dumps(ended) + "\n").encode("utf-8", "replace"))
            else:
                append(path, b"\n" + line if self.torn else line)
            if is_known:
                self._read_as = saved_index.identity(fd)
            if storage.writable:  # A reader finds the mark by itself; what we wrote is not read again.
                storage.disk_size = os.fstat(fd).st_size
                self.marks.take(n, fields)
                self.index.add_life(t, Kind.MARK, "", offset, fields)
        while self.refresh():
            pass

    def _record_local(
        self,
        name: str,
        kind: Kind,
        channel: str,
        fields: dict[str, Any],
        dir: Dir = Dir.LOCAL,
        changed: bool = False,
        raw: str | None = None,
    ) -> int:
        extra = extra_json(fields)
        if dir is _SEND:
            extra += self._mark
        if self.redactor.active:
            extra, hidden = self.redactor.text(extra)
            changed = changed or hidden
            if raw is not None:
                raw, hidden = self.redactor.text(raw)
                changed = changed or hidden
        if changed:
            extra += ',"redacted":true'
        t, n = self.now(), self.index.count + 1
        tail = (DIR_NAMES[dir], name, channel, raw, False, extra)
        line = event_line(n, t, *tail).encode("utf-8", "replace")
        full = self._is_full(len(line))
        if full and raw is not None:
            return self._count(t, dir, kind, channel, raw.encode("utf-8", "replace"), None, extra, conn=conn_of(fields))
        if n != self.index.count + 1:  # a note that the recording is full, or no longer, has this number
            n = self.index.count + 1
            line = event_line(n, t, *tail).encode("utf-8", "replace")
        offset = self.storage.size
        if not full or self._overflow.takes_line(len(line)):
            self.storage.append(line)
        elif kind == Kind.HTTP:
            self._overflow.count(0)
            return self._overflow.marker
        else:
            self._overflow.keep(Event(n, t, dir, kind, channel, raw, None, fields), len(line))
        if kind in (Kind.LIFE, Kind.MARK):
            if kind == Kind.MARK:
                self.marks.take(n, fields)
            return self.index.add_life(t, kind, channel, offset, fields)
        return self.index.add(t, dir, kind, channel, offset, len(raw or ""), conn=conn_of(fields))

    def close(self, reason: str = "closed") -> None:
        """Write the end line and close the file for writing; the journal can be read until `release`."""
        if self.ended is None and self.live:
            index = self.index
            self.ended = {
                "kind": "end",
                "events": index.count,
                "t": self.now(),
                "reason": reason,
                "invalid": index.invalid,
                "errors": index.errors,
            }
            if self._overflow.events:
                self.ended["dropped"] = {"events": self._overflow.events, "bytes": self._overflow.bytes}
            self.storage.append((dumps(self.ended) + "\n").encode())
            self.storage.flush()

    def go_on(self) -> None:
        """Record again after `close`: the end line is removed, and the next `close` writes another."""
        if self.ended is None or not self.live:
            return
        if self.storage.flush():
            offset, end = end_of_events(self.storage.fd)
            if end:
                self.storage.cut(offset)
        self.ended = None

    def release(self) -> None:
        """Close the file. Idempotent. The index of a long recording is saved, so that it opens fast the next time."""
        if self.storage.fd >= 0:
            if self.index.in_files:
                self._save_index()
            self.index.close_files()
        self.storage.close()

    def _save_index(self) -> None:
        """Save the index if it covers the whole file as it is now, and the file has a name."""
        storage, path, at = self.storage, self.path, self._scanned
        if path is None or self.raw_only or not self._may_save:
            return
        if storage.writable:
            if self.ended is None or self._overflow.events or storage.problem or storage.tail:
                return
        elif self._read_as is None or self._read_as != saved_index.identity(storage.fd):
            return
        if self.ended is not None:
            at, end = end_of_events(storage.fd)
            if not end:
                return
        rest = {"scanned": at, "marks": self.marks.numbers(), "findings": list(self._finding_notes)}
        saved_index.save(storage.fd, path, self.index, rest, self.redactor, with_open=not storage.writable)

    def _begin_reading(self) -> None:
        """Take the saved index of a long recording, if there is one."""
        self._is_begun = True
        storage, index = self.storage, self.index
        if not self._may_save or self.raw_only or storage.disk_size < saved_index.MIN_BYTES:
            return
        self._read_as = saved_index.identity(storage.fd)
        rest = saved_index.load(storage.fd, self._read_as, index)
        if rest is None:
            return
        self._scanned = rest["scanned"]
        for n in rest["marks"]:
            self.marks.take(n, self._read(n).fields)
        for n in rest["findings"]:
            event = self._read(n)
            if type(event.fields.get("finding")) is dict:
                self._take_finding(n, event)

    # Read

    def __len__(self) -> int:
        return self.index.count

    @property
    def path(self) -> Path | None:
        """The path of the recording; None for one without a name."""
        return self.storage.path

    @property
    def started(self) -> datetime:
        """When the recording began; the epoch if the header does not have it."""
        return parse_time(self.header.get("started")) or datetime.fromtimestamp(0, UTC)

    def clock(self, t: int) -> datetime:
        """The local wall-clock time of `t` microseconds after the start."""
        try:
            return (self.started + timedelta(microseconds=t)).astimezone()
        except (OverflowError, ValueError):
            return self.started

    def event(self, n: int) -> Event:
        """Read event `n` (from 1). Raises IndexError outside 1…len."""
        if not 0 < n <= self.index.count:
            raise IndexError(n)
        with self._lock:
            kept = self._cache.get(n)
            if kept is not None:
                self._cache.move_to_end(n)
                return kept
        event = self._read(n)
        if self.index.views.sizes[n - 1] < _CACHE_LARGEST:
            with self._lock:
                self._cache[n] = event
                while len(self._cache) > _CACHE_EVENTS:
                    self._cache.popitem(last=False)
        return event

    def line(self, n: int) -> bytes:
        """Return the line of event `n` in the file, without its line feed."""
        start, end = self._span(n)
        if end - start > _BLOCK and self.storage.pread(end - 1, 1) == b"\n":
            end -= 1  # Without a copy of a long line.
        return self.storage.pread(start, end - start).rstrip(b"\n")

    def _span(self, n: int) -> tuple[int, int]:
        """Return where the line of event `n` begins and ends in the file. A line feed is part of it."""
        offsets = self.index.views.offsets
        start = offsets[n - 1]
        return start, offsets[n] if n < self.index.count else min(self.storage.size, start + self._last_length(start))

    def _last_length(self, start: int) -> int:
        length = 4096
        while True:
            block = self.storage.pread(start, length)
            found = block.find(b"\n")
            if found >= 0:
                return found + 1
            if len(block) < length:
                return len(block)
            length *= 8

    def _read(self, n: int) -> Event:
        recent = self._overflow.recent(n)
        return self._parsed(n, self.line(n)) if recent is None else recent

    def _parsed(self, n: int, line: bytes) -> Event:
        """Return the event of a line."""
        index = self.index
        if not line and self.live and self.storage.full:
            # Indexed when even lines without a body were no longer written.
            dropped = {"dropped": {"bytes": index.views.sizes[n - 1]}}
            return Event(
                n, index.views.times[n - 1], index.dir(n), index.kind(n), index.channel(n), None, None, dropped
            )
        try:
            value = parse(line)
        except NotJson:
            value = None
        if self.raw_only or type(value) is not dict:
            reason = "a line of a newer format" if self.raw_only else "this line of the recording cannot be parsed"
            try:
                text, data = line.decode() or None, None
            except UnicodeDecodeError:
                text, data = None, line
            return Event(n, index.views.times[n - 1], Dir.LOCAL, Kind.OTHER, "", text, data, {"why": reason})
        del line
        event = read_event(value, n)
        event.n = n
        return event

    def events(self, first: int = 1, last: int | None = None) -> Iterator[Event]:
        """Yield the events from `first` to `last`, not cached."""
        return self.events_of(range(first, (last or self.index.count) + 1))

    def events_of(self, numbers: Sequence[int]) -> Iterator[Event]:
        """Yield the events with these ascending numbers, not cached. Those that are near each other are read at once.

        Each read lets other threads run, and then waits for them: one read for each event would take ten times as long.
        """
        if len(numbers) == 1:
            yield self._read(numbers[0])
            return
        block, start = b"", 0
        for n in numbers:
            begin, end = self._span(n)
            if end - begin > _NEAR:
                yield self._read(n)
                continue
            if begin < start or end > start + len(block):
                last = min(begin + _NEAR, self._span(numbers[-1])[1])
                block, start = self.storage.pread(begin, max(end, last) - begin), begin
            recent = self._overflow.recent(n)
            yield self._parsed(n, block[begin - start : end - start].rstrip(b"\n")) if recent is None else recent

    def refresh(self, limit: int = 20_000) -> bool:
        """Index up to `limit` new lines of the file. Returns True if there may be more."""
        storage = self.storage
        if self.storage.writable:
            return False
        if not self._is_begun:
            self._begin_reading()
        if storage.grown() and self.ended is not None and self._end_at:
            # A mark was added: the end line has moved.
            self._scanned, self.ended = self._end_at, None
        taken = 0
        while taken < limit and self._scanned < storage.size:
            block = storage.pread(self._scanned, _BLOCK)
            end = block.rfind(b"\n")
            if end < 0:
                length = self._long_line(len(block))
                if not length:
                    return False
                del block
                self._take(storage.pread(self._scanned, length), self._scanned)
                taken += 1
                self._scanned += length + 1
                continue
            offset = self._scanned
            for line in block[:end].split(b"\n"):
                if line:
                    self._take(line, offset)
                    taken += 1
                offset += len(line) + 1
                if taken >= limit:
                    break
            self._scanned = offset
        return self._scanned < storage.size

    def _long_line(self, known: int) -> int:
        """Return the bytes of the line at `_scanned`, which has more than `known`; 0 if it has no end."""
        at = self._scanned + known
        while block := self.storage.pread(at, _BLOCK):
            end = block.find(b"\n")
            if end >= 0:
                return at + end - self._scanned
            at += len(block)
        return 0

    def _take(self, line: bytes, offset: int) -> None:
        index = self.index
        try:
            value = parse(line)
        except NotJson:
            value = None
        if type(value) is not dict or self.raw_only:
            index.add(
                index.views.times[index.count - 1] if index.count else 0, Dir.LOCAL, Kind.OTHER, "", offset, len(line)
            )
            return
        if value.get("kind") == "end" and "n" not in value:
            self.ended, self._end_at = value, offset
            if self.dropped[0]:
                self.notices.append(f"This recording is not complete: {self.incomplete}.")
            return
        raw = value.get("raw")
        if value.get("kind") == "rpc" and type(raw) is str:
            if len(raw) >= _BLOCK:
                del line
                with suppress(ValueError, RecursionError):
                    self._take_long(value, raw, read_outline(raw), offset)
                    return
            self._take_message(value, raw.encode("utf-8", "surrogatepass"), offset)
            return
        event = read_event(value, index.count + 1)
        size = len(event.bytes) if event.data is not None or event.raw is not None else event.dropped or 0
        if event.kind is Kind.OTHER:
            self._tell_unknown(event.kind_name)
        if event.kind == Kind.MARK:
            self.marks.take(index.count + 1, event.fields)
        if event.kind in (Kind.LIFE, Kind.AUTH, Kind.MARK):
            index.add_life(event.t, event.kind, event.ch, offset, event.fields)
            return
        message = event.message
        if event.dropped is not None:
            index.dropped.append(index.count + 1)
        kind = _INVALID if event.kind is _RPC and message is None else event.kind
        n = index.add(event.t, event.dir, kind, event.ch, offset, size, message, conn=conn_of(event.fields))
        if event.kind == Kind.NOTE and type(event.fields.get("finding")) is dict:
            self._take_finding(n, event)

    def _take_message(self, line: dict[str, Any], raw: bytes, offset: int) -> None:
        """Fast path of `_take` for most lines, without an `Event`."""
        t, dir, channel = read_envelope(line)
        conn = conn_of(line) if "conn" in line else 0
        try:
            self.index.add(t, dir, _RPC, channel, offset, len(raw), parse(raw), conn=conn)
        except NotJson:
            self.index.add(t, dir, _INVALID, channel, offset, len(raw), conn=conn)

    def _take_long(self, line: dict[str, Any], raw: str, message: Any, offset: int) -> None:
        """Do the same for a long message, of which only the outline is parsed."""
        t, dir, channel = read_envelope(line)
        octets = len(raw) if raw.isascii() else len(raw.encode("utf-8", "surrogatepass"))
        self.index.add(t, dir, _RPC, channel, offset, octets, message, conn=conn_of(line))

    def _tell_unknown(self, kind: str) -> None:
        """Name a kind of event that this version does not know among the notices."""
        name = f"“{kind[:_MAX_OF_NAME]}”"
        if name in self._unknown or len(self._unknown) >= _MAX_NAMES:
            return
        notice, self._unknown = _unknown_notice(self._unknown), [*self._unknown, name]
        self.notices[:] = [each for each in self.notices if each != notice] + [_unknown_notice(self._unknown)]
        # A saved index does not have the names.
        self._may_save = False

    def _take_finding(self, n: int, event: Event) -> None:
        about = event.fields["finding"]
        level = about.get("level")
        self._finding_notes.append(n)
        self.findings.add(
            Finding(
                about["n"] if type(about.get("n")) is int else n,
                str(about.get("rule", "")),
                level if level in ("must", "should", "note") else "note",
                str(event.fields.get("text", "")),
                page=str(about.get("page", "")),
            )
        )

    @property
    def torn(self) -> bool:
        """Whether the file ends in the middle of a line."""
        return not self.storage.writable and self._scanned < self.storage.size

    @property
    def end_is_missing(self) -> bool:
        """Whether the whole file was read and has no end line: its writer was killed, or still writes."""
        return not self.storage.writable and self.ended is None


def _decoded(raw: bytes) -> tuple[str, bool]:
    """Return bytes as a text for a line; if they are not UTF-8, as base64, and True."""
    try:
        return raw.decode("utf-8"), False
    except UnicodeDecodeError:
        return to_base64(raw), True


def _unknown_notice(names: Sequence[str]) -> str:
    kinds = "the kind" if len(names) == 1 else "the kinds"
    return (
        f"This recording has events of {kinds} {', '.join(names)}, which this Inspector does not know: it shows their "
        "fields only. A newer version may show more."
    )


def _read_header(path: Path, line: bytes) -> dict[str, Any]:
    if not line.strip():
        raise RecordingError(f"{path} is empty, so it is not a recording.", hint="Choose another file.")
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        header = None
    if type(header) is not dict or header.get("format") != FORMAT:
        raise RecordingError(
            f"{path} is not a recording: “{FORMAT}” is missing in its first line.",
            hint=Hint("Recordings are made by ", Parameter.MAKE_RECORDING, " and end in .mcp.jsonl."),
        )
    return header


@contextmanager
def whole_journal(path: Path) -> Iterator[Journal]:
    """Return the recording in `path`, indexed to its present end. Raises `RecordingError`."""
    journal = Journal.open(path)
    try:
        while journal.refresh():
            pass
        yield journal
    finally:
        journal.release()
