"""`kill -9` in a flood: what was read stands in the recording, and the server does not outlive us."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector.cli.open_recording import whole_journal
from inspector.journal.format import Kind
from inspector.journal.journal import Journal
from tests.bad_input.conftest import OnTerminal, Run, Running, Serve
from tests.processes import left_of, spawned

pytestmark = pytest.mark.slow

FLOOD = 20_000


def kill_in_the_flood(process: subprocess.Popen[bytes], recording: Path, word: bytes) -> None:
    """Kills once the recording has `FLOOD` whole lines with `word`, while more are coming."""
    seen = at = 0
    while seen < FLOOD:
        assert process.poll() is None
        if recording.exists():
            with recording.open("rb") as file:
                file.seek(at)
                block = file.read()
            whole = block.rfind(b"\n") + 1
            at += whole
            seen += block[:whole].count(word)
    process.send_signal(signal.SIGKILL)
    process.wait()
    (pid,) = spawned(recording)
    assert left_of(pid) == []


def flood_of(journal: Journal, kind: Kind) -> list[int]:
    """The numbers of the messages or lines of the flood in order; every event before the last is complete."""
    events = list(journal.events())
    assert [event.n for event in events] == list(range(1, len(events) + 1))
    if kind is Kind.STDERR:
        return [int(event.text.split()[-1]) for event in events if event.kind is kind]
    told = (event.message for event in events if event.kind is kind and "flood" in event.text)
    return [int(message["params"]["data"].split()[-1]) for message in told]


def is_kept(recording: Path, kind: Kind) -> bool:
    """Whether the recording opens, says that its end is missing, and has the flood from its first message on."""
    with whole_journal(recording) as journal:
        assert journal.end_is_missing
        flood = flood_of(journal, kind)
        return len(flood) >= FLOOD and flood == list(range(1, len(flood) + 1))


@pytest.mark.parametrize(
    ("case", "word", "kind"),
    [("flood-stdout", b"notifications/message", Kind.RPC), ("flood-stderr", b"flood line", Kind.STDERR)],
    ids=["stdout", "stderr"],
)
def test_a_killed_command_has_kept_what_it_read(
    start: Callable[..., Running], run: Run, serve: Serve, recording: Path, case: str, word: bytes, kind: Kind
) -> None:
    server = serve(case, "stdio", "--count", "0")
    running = start("call", "echo", "--quiet", "--record", str(recording), *server)
    kill_in_the_flood(running.process, recording, word)
    assert is_kept(recording, kind)
    ran = run("info", str(recording))
    assert (ran.code, "The end of the recording is missing" in ran.err) == (0, True)


def test_a_killed_interface_has_kept_what_it_read(
    on_terminal: Callable[..., OnTerminal], serve: Serve, recording: Path
) -> None:
    server = serve("flood-stdout", "stdio", "--at", "tools/list", "--count", "0")
    shown = on_terminal("xterm-256color", "--record", str(recording), *server)
    kill_in_the_flood(shown.process, recording, b"notifications/message")
    assert is_kept(recording, Kind.RPC)
