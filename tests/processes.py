"""Run `inspector` as its user does, and find processes that a test left running (only in /proc, on Linux)."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
INSPECTOR = (sys.executable, "-m", "inspector")
DEMO = ("--", sys.executable, "-m", "inspector.demo")
PATIENCE = 20.0
"""Seconds that processes which have been told to end may take to be gone."""


def environment(home: Path, **more: str) -> dict[str, str]:
    """The environment of a user whose home is `home`, with UTF-8 and without settings."""
    ours = {name: str(home) for name in ("HOME", "INSPECTOR_STATE_HOME", "INSPECTOR_CONFIG_HOME")}
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES", "LC_ALL", "LC_CTYPE")}
    return kept | ours | {"LANG": "C.UTF-8", "PYTHONPATH": str(ROOT)} | more


@dataclass(frozen=True)
class Ran:
    """The result of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """stdout, which must be one JSON document."""
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        """stderr, which must be one line of JSON with an error."""
        (line,) = self.err.splitlines()
        body: dict[str, Any] = json.loads(line)["error"]
        return body


def has_output(descriptor: int, seconds: float) -> bool:
    """Whether there is something to read within a time.

    Not `select`: after thousands of tests a process may hold more descriptors than that can name.
    """
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        return bool(selector.select(seconds))


def run(home: Path, words: Sequence[str], *, timeout: float = 60, **more: str) -> Ran:
    """Runs `inspector WORDS` to its end, in a session of its own so that none of its processes can hide."""
    process = subprocess.Popen(
        [*INSPECTOR, *words],
        env=environment(home, **more),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise
    assert left_of(process.pid) == []
    return Ran(process.returncode, out.decode(), err.decode())


def _processes() -> Iterator[tuple[str, bytes, int]]:
    """Every living process: its id, its name, its session. None where the system does not show them as files."""
    for pid in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if not pid.isdecimal():
            continue
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                head, _, tail = file.read().rpartition(b")")
        except OSError:
            continue  # it has ended in the meantime
        fields = tail.split()
        if fields[0] not in (b"Z", b"X"):
            yield pid, head.partition(b"(")[2], int(fields[3])


def _words(pid: str) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return []


def of_session(leader: int) -> list[str]:
    """The command lines of the processes in the session of `leader`, and of the guard that watches it."""
    lines = []
    for pid, name, session in _processes():
        ours = leader in (int(pid), session)
        if ours or name == b"sh":
            words = _words(pid)
            if ours or {"inspector-guard", str(leader)} <= set(words):
                lines.append(" ".join(words).strip() or name.decode("utf-8", "replace"))
    return lines


def left_of(leader: int) -> list[str]:
    """The same, after waiting for processes that are ending."""
    end = time.monotonic() + PATIENCE
    while (lines := of_session(leader)) and time.monotonic() < end:
        time.sleep(0.01)
    return lines


def spawned(recording: Path) -> list[int]:
    """The ids of the server processes in a recording."""
    lines = (json.loads(line) for line in recording.read_bytes().splitlines() if b'"event":"spawn"' in line)
    return [line["pid"] for line in lines if line.get("kind") == "life"]
