"""The journal: a recording that grows, with its index. Live session, finished file and followed file alike.

`Journal.create` writes one, `Journal.open` reads one; both are read the same way.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from inspector.config.secret_forms import SecretFinder
from inspector.journal.alterations import Alteration, recorded
from inspector.journal.failures import failures
from inspector.journal.findings import Finding
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
)
from inspector.journal.index import conn_of
from inspector.journal.marks import end_of_events, mark_fields
from inspector.journal.recording import Recording, missing_bodies
from inspector.journal.redaction import LineText, Redactor, auth_fields, decoded, describe, http_fields
from inspector.journal.storage import KEEP_FREE, Overflow, Room, Storage
from inspector.protocol.jsonrpc import NotJson, Shape, parse, shape_of
from inspector.version import __version__

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


class Journal(Recording):
    """A recording that this process writes, or reads. Create one with `create`, `unnamed` or `open`."""

    def __init__(
        self, storage: Storage, header: dict[str, Any], redactor: Redactor | None = None, *, raw_only: bool = False
    ) -> None:
        super().__init__(storage, header, redactor, raw_only=raw_only)
        self.moment: int | None = None
        """The time in microseconds for new events, if they happened earlier. None: now."""
        self.exact_frames = False
        """Frames have what arrived, including secrets, for code that forwards messages; otherwise what is recorded."""
        self.on_arrival: Callable[[Any], object] | None = None
        """Told of each parsed message before it is recorded: what it adds to `redactor` is not in the recording."""
        self.limit: int | None = None
        """The largest size of the recording in bytes, as set with `bound`."""
        self._overflow = Overflow()
        self._room = Room(storage, None, 0, 0)
        self._texts = LineText(self.redactor)
        self._mark = ""
        """Members of the lines of messages sent now, as JSON: see `probing`."""
        self._conns = 0
        self._zero = time.monotonic_ns()

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
        body = _new_header(target) | dict(about or {})
        line = redactor.text(header_line(body).decode())[0].encode()
        journal = cls(storage, {"format": FORMAT, "version": VERSION, **body}, redactor)
        journal.bound(None)
        storage.append(line)
        journal._scanned = storage.size
        return journal

    def bound(self, limit: int | None, *, keep_free: int = KEEP_FREE, overflow: Overflow | None = None) -> None:
        """Limit the recording to `limit` bytes (None: no limit), and never use the last `keep_free` bytes of the disk.

        Whole lines count. Beyond that, bodies are counted but not recorded: see `overflow`.
        """
        self.limit = limit
        self._overflow = overflow or Overflow.for_limit(limit)
        self._room = Room(self.storage, limit, keep_free, self._overflow.outlines)

    @property
    def dropped(self) -> tuple[int, int]:
        """The number of bodies that were not recorded because the recording was full, and their bytes."""
        if self.ended is not None and not self.live:
            return super().dropped
        return self._overflow.events, self._overflow.bytes

    @property
    def incomplete(self) -> str:
        """Why the recording is incomplete, as a short phrase; empty if it is complete."""
        if self.storage.problem:
            return f"not on disk: {self.storage.problem}"
        if not self._room.full:
            return super().incomplete
        return missing_bodies("recording full" if self._room.full == "limit" else "disk nearly full", *self.dropped)

    def _is_full(self, size: int) -> bool:
        """Whether lines of `size` bytes do not fit. Records a note when that changes, which moves the next number."""
        room, overflow = self._room, self._overflow
        if self.index.count >= overflow.most_events:
            room.full = "limit"
        full = not room.has(size)
        if full is not overflow.is_told:
            overflow.is_told = full
            if full:
                size = self.storage.size
                overflow.marker = self.record_life("", "recording-full", reason=room.full, bytes=size)
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
        head = (n, t, DIR_NAMES[dir], KIND_NAMES[kind], channel)
        line = event_line(*head, None, False, about).encode("utf-8", "replace")
        offset = self.storage.size
        if overflow.takes_line(len(line)):
            self.storage.append(line)
        elif kind is not _RPC or not overflow.needs(dir, shape, index.awaits(message, conn)):
            return overflow.marker
        index.dropped.append(n)
        index.add(t, dir, kind, channel, offset, len(raw), short, conn=conn)
        text, binary, _ = self._texts.text(raw, "", json=kind is _RPC)
        if not binary:
            self.recent.keep(Event(n, t, dir, kind, channel, text, None, {"dropped": dropped}), len(raw))
        return n

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
        index = self.index
        if self.on_arrival is not None:
            for raw in messages:
                with suppress(NotJson, UnicodeDecodeError):
                    self.on_arrival(parse(raw))
        if conn:
            extra += f',"conn":{conn}'
        full = self._overflow.is_told and self._is_full(sum(map(len, messages)))
        t = self.now()
        hides = self.redactor.active
        arrived = self._texts.arrivals(channel, conn, messages)
        lines: list[bytes] = []
        if not full:
            ending = ',"cut":true' if cut else ""
            rest = f',"t":{t},"dir":"recv","kind":"rpc","ch":{escape(channel)}{extra},"raw":'
            for n, (kind, _, raw, _, _, redacted, reason) in enumerate(arrived, index.count + 1):
                if kind is _RPC and not (cut or hides):
                    try:
                        lines.append(parsed_line(f'{{"n":{n}{rest}', raw))
                        continue
                    except UnicodeDecodeError:
                        pass  # its line is another one
                lines.append(self._texts.line(n, t, "recv", kind, channel, raw, extra + reason + ending, redacted))
            data = lines[0] if len(lines) == 1 else b"".join(lines)
            full = self._is_full(len(data))
        offset = self.storage.size
        if full:
            t = self.now()
        else:
            self.storage.append(data)
        # Only now, so that a reader in another thread finds in the file what is in the index.
        frames: list[Frame] = []
        for at, (kind, shape, raw, message, kept, _, reason) in enumerate(arrived):
            if full:
                n = self._count(t, _RECV, kind, channel, raw, kept, extra + reason, conn=conn)
            else:
                n = index.add(t, _RECV, kind, channel, offset, len(raw), kept, shape, conn)
                offset += len(lines[at])
            if not self.exact_frames:
                message = kept
            if kind is _RPC and (heeded is None or shape is not _NOTIFICATION or message["method"] in heeded):
                frames.append(Frame(n, t, channel, shape, message))
        return frames

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
        if self._overflow.is_told and self._is_full(len(data)):
            return self._count(self.now(), _SEND, kind, channel, data, message, extra, conn=conn)
        t, index, storage = self.now(), self.index, self.storage
        n, line = index.count + 1, b""
        if kind is _RPC and not self.redactor.active:
            head = f'{{"n":{n},"t":{t},"dir":"send","kind":"rpc","ch":{escape(channel)}{extra},"raw":'
            try:
                line = parsed_line(head, data)
            except UnicodeDecodeError:
                pass  # its line is another one
        line = line or self._texts.line(n, t, "send", kind, channel, data, extra)
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
        self._reader.forget()
        return True

    def flush(self) -> None:
        """Write what was recorded with `hold`."""
        if self.storage.tail and not self.storage.problem:
            self.storage.flush()

    def record_stderr(self, channel: str, lines: Sequence[bytes], *, conn: int = 0) -> Sequence[bytes]:
        """Record what the server wrote to stderr, one event per line. Returns the lines as they are recorded."""
        written, lines = lines, self._texts.stderr(channel, conn, lines)
        extra = f',"conn":{conn}' if conn else ""
        out: list[bytes] = []
        full = self._overflow.is_told and self._is_full(sum(map(len, lines)))
        t = self.now()
        if not full:
            for n, (raw, line) in enumerate(zip(lines, written, strict=True), self.index.count + 1):
                text, binary = decoded(raw)
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
        fields, changed = auth_fields(self.redactor, step, ok, text, rule, fix, facts or {})
        return self._record_local("auth", Kind.AUTH, "", fields, changed=changed)

    def record_http(self, channel: str, dir: Dir, **fields: Any) -> int:
        """Record an HTTP request's or response's head: method, url, status, headers as pairs, timings in ms."""
        fields, changed = http_fields(self.redactor, fields)
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
            self.recent.keep(Event(n, t, dir, kind, channel, raw, None, fields), len(line))
        if kind in (Kind.LIFE, Kind.MARK):
            if kind == Kind.MARK:
                self.marks.apply(n, fields)
            return self.index.add_life(t, kind, channel, offset, fields)
        return self.index.add(t, dir, kind, channel, offset, len(raw or ""), conn=conn_of(fields))

    def close(self, reason: str = "closed") -> None:
        """Write the end line and close the file for writing; the journal can be read until `release`."""
        if self.ended is None and self.live:
            counts = {"invalid": self.index.invalid, "errors": self.index.errors, "failures": self._failures}
            self.ended = {"kind": "end", "events": len(self), "t": self.now(), "reason": reason, **counts}
            if self._overflow.events:
                self.ended["dropped"] = {"events": self._overflow.events, "bytes": self._overflow.bytes}
            self.storage.append((dumps(self.ended) + "\n").encode())
            self.storage.flush()

    @property
    def _failures(self) -> int:
        return failures(self.index, 0, self.index.count).count(1)

    def go_on(self) -> None:
        """Record again after `close`: the end line is removed, and the next `close` writes another."""
        if self.ended is None or not self.live:
            return
        if self.storage.flush():
            offset, end = end_of_events(self.storage.fd)
            if end:
                self.storage.cut(offset)
        self.ended = None


def altered(journal: Journal, alterations: Sequence[Alteration]) -> str:
    """Return the member of a message's line that says what a filter did to it, without secrets; empty for nothing."""
    if not alterations:
        return ""
    texts = [
        None if step.before is None else journal._texts.text(step.before, "", json=True)[:2] for step in alterations
    ]
    return ',"addon":' + dumps(recorded(alterations, texts))


def _new_header(target: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": str(uuid.uuid4()),
        "started": datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "tool": f"inspector/{__version__}",
        "target": target,
        "redaction": describe(),
    }


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
