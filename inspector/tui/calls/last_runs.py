"""Outcomes and times of the last runs of flows, and the name of the environment in use, kept between sessions.

No value that was sent or received is kept.

One JSON file for each collection folder, in `calls` of the state folder. A file that is damaged counts as empty.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeGuard

from inspector.calls.collection import Flow
from inspector.calls.results import OUTCOMES, FlowOutcome
from inspector.calls.snapshots import read_snapshot, snapshot_path
from inspector.config import foreign_files, jsonc, paths
from inspector.errors import ConfigError, InspectorError
from inspector.protocol.forms.values import json_of
from inspector.tui.calls.steps import action_of

MAX_COUNT = 1000
"""Flows that are remembered of a folder, those that ran last."""
_FILE_BYTES = 4 * 1024 * 1024

StepTimes = dict[int, tuple[FlowOutcome, float, float]]
"""By number of the step: its outcome, how many seconds it took, and when it passed last (0: never)."""
FlowTimes = tuple[float, float, FlowOutcome, StepTimes, str]
"""When a flow ran last (seconds since the epoch), how many seconds it took, its outcome, its steps, and its digest."""


def read_last_runs(folder: Path) -> dict[str, FlowTimes]:
    """Return the last runs of the flows of a folder, by path as it is shown. Never raises."""
    flows = _read(folder).get("flows")
    return dict(_flows(flows)) if isinstance(flows, dict) else {}


def read_environment_in_use(folder: Path) -> str:
    """Return the name of the environment that was used last in a folder; empty for none. Never raises."""
    name = _read(folder).get("environment")
    return name if isinstance(name, str) else ""


def _read(folder: Path) -> dict[str, Any]:
    try:
        data = jsonc.parse(foreign_files.read_text(_file(folder), limit=_FILE_BYTES))
    except (ConfigError, jsonc.JsoncError):
        return {}
    return data if isinstance(data, dict) else {}


def keep_last_runs(folder: Path, runs: Mapping[str, FlowTimes]) -> None:
    """Write the last runs, beside those that are kept of other flows. What cannot be written is not kept."""
    _keep(folder, {**read_last_runs(folder), **runs}, read_environment_in_use(folder))


def keep_environment_in_use(folder: Path, name: str) -> None:
    """Write the name of the environment that is used from now on, or an empty text."""
    _keep(folder, read_last_runs(folder), name)


def _keep(folder: Path, kept: Mapping[str, FlowTimes], environment: str) -> None:
    newest = sorted(kept.items(), key=lambda flow: flow[1][0])[-MAX_COUNT:]
    data = {
        "environment": environment,
        "flows": {
            path: {
                "when": when,
                "seconds": seconds,
                "outcome": outcome,
                "steps": {str(n): s for n, s in steps.items()},
                "digest": digest,
            }
            for path, (when, seconds, outcome, steps, digest) in newest
        },
    }
    try:
        path = _file(folder)
        paths.private_folder(path.parent)
        paths.write_private(path, json.dumps(data).encode("ascii"))
    except (OSError, ConfigError, ValueError):
        return


def _file(folder: Path) -> Path:
    name = hashlib.sha256(str(folder.absolute()).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return paths.state_folder() / "calls" / f"{name}.json"


def _flows(flows: dict[str, Any]) -> Iterator[tuple[str, FlowTimes]]:
    for path, flow in flows.items():
        if not isinstance(flow, dict) or not isinstance(flow.get("steps"), dict):
            continue
        when, seconds, outcome, digest = map(flow.get, ("when", "seconds", "outcome", "digest"))
        if not _is_number(when) or not _is_number(seconds) or outcome not in OUTCOMES or not isinstance(digest, str):
            continue
        steps: StepTimes = {}
        for number, step in flow["steps"].items():
            has_three = number.isdecimal() and isinstance(step, list) and len(step) == 3
            if has_three and step[0] in OUTCOMES and _is_number(step[1]) and _is_number(step[2]):
                steps[int(number)] = (step[0], step[1], step[2])
        yield path, (when, seconds, outcome, steps, digest)


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e12


_ENDINGS = (".yaml", ".yml", ".json")

FilesState = dict[Path, tuple[int, int, int]]
"""By file what changes when it is written: time, size, inode."""


def files_state(folder: Path) -> FilesState:
    """Return the files below a folder on which its flows may depend. Never raises."""
    state: FilesState = {}
    for where, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (Path(where, name) for name in files if name.endswith(_ENDINGS)):
            with suppress(OSError):
                stat = path.stat()
                state[path] = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
    return state


def digest(flow: Flow) -> str:
    """Identify what a flow does and expects, with the flows that it uses and its snapshots. Comments do not count."""
    hasher = hashlib.sha256(json_of(flow.located.value).encode("utf-8", "surrogatepass"))
    for number in sorted(flow.used):
        hasher.update(digest(flow.used[number]).encode())
    for number in range(1, len(flow.steps) + 1):
        expect = flow.raw_step(number).get("expect")
        name = expect.get("same_as") if isinstance(expect, dict) else None
        if isinstance(name, str):
            with suppress(InspectorError):  # A file that is missing is a state, too.
                hasher.update(hashlib.sha256(read_snapshot(snapshot_path(flow.path, name))).digest())
    return hasher.hexdigest()


def step_now(before: Flow, number: int, now: Flow) -> int:
    """Find a step in its flow that was read again; 0 if that is not certain.

    A step whose expectations or arguments were edited keeps its number; others are found by their content.
    """
    if before is now:
        return number
    step = before.raw_step(number)
    steps = [now.raw_step(at) for at in range(1, len(now.steps) + 1)]
    same = [at for at, other in enumerate(steps, 1) if other == step]
    if number in same or len(same) == 1:
        return number if number in same else same[0]
    identity = (step.get("name"), action_of(step))
    named = [at for at, other in enumerate(steps, 1) if (other.get("name"), action_of(other)) == identity]
    return number if number in named else named[0] if len(named) == 1 else 0
