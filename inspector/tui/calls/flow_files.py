"""Compares the files of saved calls with those that were read, and their flows with those that ran."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from inspector.calls.collection import Flow
from inspector.calls.snapshots import read_snapshot, snapshot_path
from inspector.errors import InspectorError
from inspector.protocol.forms.values import json_of
from inspector.tui.calls.steps import action_of

_ENDINGS = (".yaml", ".yml", ".json")

FilesState = dict[Path, tuple[int, int, int]]
"""By file what changes when it is written: time, size, inode."""


def files_state(folder: Path) -> FilesState:
    """The files below a folder on which its flows may depend. Never raises."""
    found: FilesState = {}
    for where, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (Path(where, name) for name in files if name.endswith(_ENDINGS)):
            with suppress(OSError):
                stat = path.stat()
                found[path] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    return found


def digest(flow: Flow) -> str:
    """Identify what a flow does and expects, with the flows that it uses and its snapshots. Comments do not count."""
    found = hashlib.sha256(json_of(flow.located.value).encode("utf-8", "surrogatepass"))
    for number in sorted(flow.used):
        found.update(digest(flow.used[number]).encode())
    for number in range(1, len(flow.steps) + 1):
        expect = flow.raw_step(number).get("expect")
        name = expect.get("same_as") if isinstance(expect, dict) else None
        if isinstance(name, str):
            with suppress(InspectorError):  # A file that is missing is a state, too.
                found.update(hashlib.sha256(read_snapshot(snapshot_path(flow.path, name))).digest())
    return found.hexdigest()


def step_now(before: Flow, number: int, now: Flow) -> int:
    """Find a step in its flow that was read again; 0 if that is not certain.

    A step whose expectations or arguments were edited keeps its number; others are found by their content.
    """
    if before is now:
        return number
    step = before.raw_step(number)
    steps = [now.raw_step(each) for each in range(1, len(now.steps) + 1)]
    same = [each for each, other in enumerate(steps, 1) if other == step]
    if number in same or len(same) == 1:
        return number if number in same else same[0]
    wanted = (step.get("name"), action_of(step))
    named = [each for each, other in enumerate(steps, 1) if (other.get("name"), action_of(other)) == wanted]
    return number if number in named else named[0] if len(named) == 1 else 0
