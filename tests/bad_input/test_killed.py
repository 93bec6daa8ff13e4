"""`kill -9` in a flood: what was read stands in the recording, and the server does not outlive us."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.cli.recorded import whole_journal
from inspector.journal.format import Kind
from tests.bad_input.conftest import Run, Running, Serve
from tests.processes import left_of, spawned

FLOOD = 20_000


@pytest.mark.parametrize("kind", ["flood-stdout", "flood-stderr"])
def test_what_was_read_before_a_kill_stands_in_the_recording(
    start: Callable[..., Running], run: Run, serve: Serve, recording: Path, kind: str
) -> None:
    server = serve(kind, "stdio", "--count", "0")
    running = start("call", "echo", "--quiet", "--record", str(recording), *server)
    word = b"flood line" if kind == "flood-stderr" else b"notifications/message"
    seen, at = 0, 0
    while seen < FLOOD:
        assert running.process.poll() is None
        with recording.open("rb") if recording.exists() else open("/dev/null", "rb") as file:
            file.seek(at)
            block = file.read()
        whole = block.rfind(b"\n") + 1
        at += whole
        seen += block[:whole].count(word)
    running.process.send_signal(signal.SIGKILL)
    running.process.wait()
    (pid,) = spawned(recording)
    assert left_of(pid) == []
    with whole_journal(recording) as journal:
        assert journal.end_is_missing
        events = list(journal.events())
        assert [event.n for event in events] == list(range(1, len(events) + 1))
        if kind == "flood-stderr":
            flood = [int(event.text.split()[-1]) for event in events if event.kind is Kind.STDERR]
        else:
            told = (event.message for event in events if event.kind is Kind.RPC and "flood" in event.text)
            flood = [int(message["params"]["data"].split()[-1]) for message in told]
        assert len(flood) >= FLOOD
        assert flood == list(range(1, len(flood) + 1))
    ran = run("info", str(recording))
    assert (ran.code, "end is missing" in ran.err) == (0, True)
