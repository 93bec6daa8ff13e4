"""A tap on stdio as a client starts it, and what it has recorded."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from tests.processes import INSPECTOR, environment

IMPATIENT = (
    "from inspector.tap import stdio; stdio.OTHERS_EXIT_SECONDS = 0.1; from inspector.cli.main import main; main()"
)
"""A tap that waits a shorter time for a server whose client is gone."""


class Tapped:
    """`inspector tap --record FILE -- COMMAND` on pipes of the test's."""

    def __init__(
        self,
        home: Path,
        command: Sequence[str],
        words: Sequence[str] = INSPECTOR,
        name: str = "tapped.mcp.jsonl",
        options: Sequence[str] = (),
    ) -> None:
        self.path = home / name
        self.process = subprocess.Popen(
            [*words, "tap", "--record", str(self.path), *options, "--", *command],
            env=environment(home), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True,
        )  # fmt: skip
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr

    def ask(self, line: bytes) -> bytes:
        """Write a line and read one."""
        self.stdin.write(line)
        self.stdin.flush()
        return self.stdout.readline()

    def talk(self, data: bytes = b"") -> tuple[int, bytes, bytes]:
        """Write everything, end stdin, read everything: exit code, stdout, stderr."""
        try:
            out, err = self.process.communicate(data, timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode, out, err

    def recorded(self) -> Recorded:
        """The recording so far."""
        return Recorded(self.path)


class Recorded:
    """Return the events of a finished recording."""

    def __init__(self, path: Path) -> None:
        journal = Journal.open(path)
        try:
            journal.refresh()
            events = [journal.event(n) for n in range(1, len(journal) + 1)]
            messages = [event for event in events if event.kind in (Kind.RPC, Kind.INVALID)]
            self.sent = [event.bytes for event in messages if event.dir == Dir.SEND]
            self.received = [event.bytes for event in messages if event.dir == Dir.RECV]
            self.complaints = [event.fields for event in events if event.kind == Kind.STDERR]
            self.life = [event.fields["event"] for event in events if event.kind == Kind.LIFE]
            self.exits = [event.fields for event in events if event.fields.get("event") == "exit"]
            self.notes = [event.fields["text"] for event in events if event.kind == Kind.NOTE]
            self.invalid = sum(event.kind == Kind.INVALID for event in events)
        finally:
            journal.release()


def python(script: str) -> list[str]:
    """The command of a small server."""
    return [sys.executable, "-S", "-c", script]
