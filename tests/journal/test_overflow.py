"""A full recording: bodies are counted but not kept, and every reader handles that."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector import formats
from inspector.check.judge.judge import Judge
from inspector.journal import storage as storage_module
from inspector.journal.columns import STEP_BYTES
from inspector.journal.findings import Finding
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.journal.storage import Overflow
from inspector.replay.script import ClientScript

COLUMNS = ("states", "pairs", "parents", "methods", "sizes", "codes", "ids", "channels")
ROOM = 1500
"""Bytes that the recordings here may have: enough for a handshake and one call."""


def begin(path: Path, limit: int | None = ROOM, overflow: Overflow | None = None) -> Journal:
    journal = Journal.create(path, {"kind": "stdio", "argv": ["server"], "label": "server"})
    overflow = overflow or Overflow()
    journal.bound(None if limit is None else limit + overflow.outlines, keep_free=0, overflow=overflow)
    return journal


def ask(journal: Journal, id: int, method: str, params: object, answer: object) -> int:
    """Record a request and its answer; returns the number of the answer."""
    request = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    journal.record_sent("stdio", json.dumps(request).encode(), request)
    frames = journal.record_received("stdio", [json.dumps({"jsonrpc": "2.0", "id": id, "result": answer}).encode()])
    return frames[0].n


def talk(journal: Journal, calls: int = 8) -> None:
    """Record a handshake and some calls, each with every kind of message that a server may send."""
    about = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
    ask(journal, 0, "initialize", about, {**about, "serverInfo": {"name": "s", "version": "1"}})
    for id in range(1, calls + 1):
        meta = {"_meta": {"progressToken": id}}
        text = {"content": [{"type": "text", "text": "y" * 200}]}
        request = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "t", **meta}}
        journal.record_sent("stdio", json.dumps(request).encode(), request)
        progress = {"progressToken": id, "progress": 1}
        journal.record_received("stdio", [
            json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}).encode(),
            b'{"jsonrpc":"2.0","id":"q%d","method":"ping"}' % id,
            b"{broken",
            json.dumps({"jsonrpc": "2.0", "id": id, "result": text}).encode(),
        ])  # fmt: skip
        journal.record_stderr("stderr", [b"a line of stderr"])


def read(path: Path) -> Journal:
    journal = Journal.open(path)
    while journal.refresh():
        pass
    return journal


def test_beyond_the_limit_messages_are_counted_and_their_bodies_are_not_kept(tmp_path):
    path = tmp_path / "a.mcp.jsonl"
    journal = begin(path)
    talk(journal)
    journal.close()
    recording = read(path)
    lost = recording.event(recording.index.dropped[-2])
    assert (lost.kind, lost.raw, lost.data) == (Kind.RPC, None, None)
    assert lost.dropped == recording.index.size(lost.n) > 200
    assert recording.dropped == (
        len(recording.index.dropped),
        sum(recording.index.size(n) for n in recording.index.dropped),
    )
    assert recording.ended is not None
    assert "y" * 200 not in path.read_text().splitlines()[-3]


def test_what_was_not_kept_is_paired_live_and_later_alike(tmp_path):
    journal = begin(tmp_path / "a.mcp.jsonl")
    talk(journal)
    recording = read(tmp_path / "a.mcp.jsonl")
    assert [getattr(recording.index.views, name) for name in COLUMNS] == [
        getattr(journal.index.views, name) for name in COLUMNS
    ]
    assert recording.index.dropped == journal.index.dropped
    calls = [
        n for n in range(1, len(recording) + 1) if recording.index.method(n) == "tools/call" and recording.index.pair(n)
    ]
    assert {recording.index.state(n) for n in calls} == {State.DONE}


def test_the_recording_says_when_it_was_full_and_how_much_is_missing(tmp_path):
    path = tmp_path / "a.mcp.jsonl"
    journal = begin(path)
    assert journal.incomplete == ""
    talk(journal)
    events, octets = journal.dropped
    assert journal.incomplete.startswith(f"recording full: {events} bodies not recorded (")
    journal.close()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    (full,) = [line for line in lines if line.get("event") == "recording-full"]
    assert full["reason"] == "limit"
    assert lines[-1]["dropped"] == {"events": events, "bytes": octets}
    recording = read(path)
    assert recording.notices == [f"This recording is not complete: {recording.incomplete}."]


def test_the_newest_bodies_can_be_read_while_the_session_lives(tmp_path):
    journal = begin(tmp_path / "a.mcp.jsonl", overflow=Overflow())
    journal.recent.limit = 1000
    talk(journal)
    newest = ask(journal, 90, "tools/call", {"name": "t"}, {"content": []})
    assert journal.event(newest).message["result"] == {"content": []}
    assert journal.event(newest).dropped is None
    first = journal.index.dropped[0]
    assert journal.event(first).dropped == journal.index.size(first)


def test_a_body_in_memory_has_no_secrets_either(tmp_path):
    journal = begin(tmp_path / "a.mcp.jsonl")
    journal.redactor.add("s3cret-value")
    talk(journal)
    n = ask(journal, 90, "tools/call", {"name": "t"}, {"token": "s3cret-value"})
    ask(journal, 91, "s3cret-value", {}, {})
    assert "s3cret" not in journal.event(n).text
    journal.close()
    assert "s3cret" not in (tmp_path / "a.mcp.jsonl").read_text()


def test_when_the_room_for_outlines_is_gone_nothing_grows_but_requests_are_answered(tmp_path):
    path = tmp_path / "a.mcp.jsonl"
    journal = begin(path, overflow=Overflow(outlines=600))
    talk(journal)
    size, events = path.stat().st_size, len(journal)
    journal.record_stderr("stderr", [b"more"] * 1000)
    frames = journal.record_received("stdio", [b'{"jsonrpc":"2.0","method":"notifications/x"}'] * 1000)
    assert (path.stat().st_size, len(journal)) == (size, events)
    assert journal.event(frames[0].n).fields["event"] == "recording-full"
    n = ask(journal, 90, "tools/call", {"name": "t"}, {"content": []})
    assert journal.index.state(n - 1) == State.DONE
    assert journal.event(n).message["result"] == {"content": []}
    assert path.stat().st_size == size
    journal.close()
    assert read(path).dropped == journal.dropped


def test_the_index_is_bounded_too(tmp_path):
    journal = begin(tmp_path / "a.mcp.jsonl", limit=None, overflow=Overflow(most_events=20))
    journal.record_received("stdio", [b'{"jsonrpc":"2.0","method":"notifications/x"}'] * 20)
    for _ in range(50):
        journal.record_received("stdio", [b'{"jsonrpc":"2.0","method":"notifications/x"}'] * 10)
    assert len(journal) == 21
    assert journal.dropped[0] == 500


def test_the_last_free_bytes_of_the_disk_are_left_and_recording_goes_on_when_there_is_room(tmp_path, monkeypatch):
    free = [1000]
    monkeypatch.setattr(storage_module.files, "free_disk", lambda fd: (10**12, free[0]))
    monkeypatch.setattr(storage_module, "CHECK_EVERY", 1000)
    journal = Journal.create(tmp_path / "a.mcp.jsonl", {"kind": "stdio"})
    journal.bound(None, keep_free=900, overflow=Overflow())
    talk(journal, 2)
    assert "disk nearly full" in journal.incomplete
    free[0] = 10**9
    talk(journal, 8)
    assert journal.index.is_kept(len(journal))
    events = [journal.event(n).fields.get("event") for n in range(1, len(journal) + 1)]
    assert [event for event in events if event and event.startswith("recording-")] == [
        "recording-full", "recording-resumed",
    ]  # fmt: skip
    assert "recording was full" in journal.incomplete


LIMIT = 1 << 17
LINES = {
    "letters": b"x" * 198,
    "quotes": b'"' * 198,
    "control characters": b"\x01" * 198,
    "bytes that are not UTF-8": b"\xff" * 198,
    "one byte": b"x",
}
HEADERS = [[f"X-Header-{n}", '"' * 60] for n in range(40)]


def as_message(line: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","method":"notifications/x","params":"%b"}' % line.replace(b'"', b'\\"')


FLOODS: dict[str, Callable[[Journal, bytes], object]] = {
    "stderr": lambda journal, line: journal.record_stderr("stderr", [line] * 50),
    "messages": lambda journal, line: journal.record_received("stdio", [as_message(line)] * 50),
    "lines that are not JSON": lambda journal, line: journal.record_received("stdio", [line] * 50),
    "messages sent": lambda journal, line: journal.record_sent("stdio", as_message(line), {"method": "x"}),
    "bytes sent": lambda journal, line: journal.record_sent("stdio", line),
    "SSE events": lambda journal, line: journal.record_sse("get-1", line.decode("utf-8", "replace")),
    "HTTP heads": lambda journal, line: journal.record_http(
        "post-1", Dir.RECV, status=200, headers=[*HEADERS, ["X-Line", line.decode("utf-8", "replace")]]
    ),
    "life events": lambda journal, line: journal.record_life("", "refused", body=line.decode("utf-8", "replace")),
    "notes": lambda journal, line: journal.record_note(line.decode("utf-8", "replace")),
    "findings": lambda journal, line: journal.record_note(
        line.decode("utf-8", "replace"), Finding(1, "LIFE-04", "must", "found")
    ),
    "marks": lambda journal, line: journal.mark(1, line.decode("utf-8", "replace")),
    "login steps": lambda journal, line: journal.record_auth("fetch", True, line.decode("utf-8", "replace")),
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
@pytest.mark.parametrize("record", FLOODS.values(), ids=FLOODS)
def test_the_file_is_within_its_limit_whatever_is_recorded(tmp_path, record, line):
    path = tmp_path / "a.mcp.jsonl"
    journal = Journal.create(path, {"kind": "stdio"})
    journal.bound(LIMIT, keep_free=0)
    for _ in range(1500):
        record(journal, line)
        if journal.dropped[0] > 200 or journal.storage.size > 2 * LIMIT:
            break
    journal.close()
    assert journal.incomplete.startswith("recording full")
    assert LIMIT // 2 < path.stat().st_size <= LIMIT + 500


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_the_free_space_that_is_left_is_not_used_whatever_is_recorded(tmp_path, monkeypatch, line):
    left, outlines = (1 << 20) + STEP_BYTES, 1 << 10
    free = [left + outlines + (1 << 20)]

    def append(fd, data):
        free[0] -= len(data)
        return len(data)

    monkeypatch.setattr(storage_module.files, "append", append)
    monkeypatch.setattr(storage_module.files, "free_disk", lambda fd: (10**9, free[0]))
    journal = Journal.create(tmp_path / "a.mcp.jsonl", {"kind": "stdio"})
    journal.bound(None, keep_free=1 << 20, overflow=Overflow(outlines=outlines))
    for _ in range(400):
        journal.record_stderr("stderr", [line] * 50)
    assert journal.incomplete.startswith("disk nearly full")
    assert left < free[0] < left + 100_000


def test_what_is_written_although_it_is_full_has_its_room_on_a_small_disk_too(tmp_path, monkeypatch):
    monkeypatch.setattr(storage_module.files, "free_disk", lambda fd: (300 << 20, 100 << 20))
    journal = Journal.create(tmp_path / "a.mcp.jsonl", {})
    journal.record_stderr("stderr", [b"a line"])
    assert journal.incomplete.startswith("disk nearly full")


def test_a_recording_without_a_limit_leaves_the_disk_free_too(tmp_path, monkeypatch):
    monkeypatch.setattr(storage_module.files, "free_disk", lambda fd: (10**12, 1 << 30))
    for journal in (Journal.create(tmp_path / "a.mcp.jsonl", {}), Journal.unnamed({})):
        journal.record_stderr("stderr", [b"x" * 198])
        assert journal.incomplete.startswith("disk nearly full")


def test_the_disk_is_asked_rarely(tmp_path, monkeypatch):
    asked = []
    real = storage_module.files.free_disk
    monkeypatch.setattr(storage_module.files, "free_disk", lambda fd: asked.append(1) or real(fd))
    journal = Journal.create(tmp_path / "a.mcp.jsonl", {"kind": "stdio"})
    journal.bound(1 << 40, keep_free=1, overflow=Overflow())
    talk(journal, 100)
    assert len(asked) == 1


@pytest.mark.parametrize("format", formats.WRITABLE)
def test_every_export_copes_and_says_that_something_is_missing(tmp_path, format):
    journal = begin(tmp_path / "a.mcp.jsonl")
    talk(journal)
    journal.close()
    recording = read(tmp_path / "a.mcp.jsonl")
    out = io.StringIO()
    notes = formats.export(recording, format, out)
    assert notes[0] == f"The recording is not complete: {recording.incomplete}."
    assert out.getvalue()


def test_the_judge_does_not_blame_what_was_not_kept(tmp_path):
    journal = begin(tmp_path / "a.mcp.jsonl")
    talk(journal)
    journal.close()
    recording = read(tmp_path / "a.mcp.jsonl")
    judge = Judge(recording)
    judge.run_all()
    judge.end()
    assert not [finding for finding in recording.findings.all() if finding.n in recording.index.dropped]


def test_a_rerun_leaves_out_what_was_not_kept(tmp_path):
    journal = begin(tmp_path / "a.mcp.jsonl")
    talk(journal)
    journal.close()
    recording = read(tmp_path / "a.mcp.jsonl")
    sent = [step.n for step in ClientScript(recording).steps() if step.do == "send"]
    assert sent
    assert not set(sent) & set(recording.index.dropped)


class File:
    """The part of a storage that the overflow reads."""

    fd, size, tail = -1, 0, b""


def test_a_room_checks_the_limit_exactly_and_stays_full(monkeypatch):
    monkeypatch.setattr(storage_module, "CHECK_EVERY", 1 << 20)
    file = File()
    room = storage_module.Room(file, 1000, 0, 100)
    assert room.has(600)
    file.size = 600
    assert room.has(300)
    file.size = 900
    assert not room.has(1)
    assert room.full == "limit"
    file.size = 0
    assert not room.has(1), "a recording does not shrink"


def test_a_full_disk_is_looked_at_again_after_so_many_bytes(monkeypatch):
    looks, free = [], [50]
    monkeypatch.setattr(storage_module, "CHECK_EVERY", 100)
    monkeypatch.setattr(storage_module, "STEP_BYTES", 0)
    monkeypatch.setattr(storage_module.files, "free_disk", lambda fd: looks.append(fd) or (10**6, free[0] + 10))
    room = storage_module.Room(File(), None, 10, 0)
    assert not room.has(60)
    assert room.full == "disk"
    free[0] = 10**5
    assert [room.has(60) for _ in range(3)] == [False, True, True]
    assert len(looks) == 3
