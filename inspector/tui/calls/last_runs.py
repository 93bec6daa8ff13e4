"""Outcomes and times of the last runs of flows, kept between sessions: no value that was sent or received.

One JSON file for each collection folder, in `calls` of the state folder. A file that is damaged counts as empty.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeGuard

from inspector.config import files, jsonc, paths
from inspector.errors import ConfigError
from inspector.flows.results import OUTCOMES, Outcome

MOST = 1000
"""Flows that are remembered of a folder, those that ran last."""
_FILE_BYTES = 4 * 1024 * 1024

StepTimes = dict[int, tuple[Outcome, float, float]]
"""By number of the step: its outcome, how many seconds it took, and when it passed last (0: never)."""
FlowTimes = tuple[float, float, Outcome, StepTimes]
"""When a flow ran last (seconds since the epoch), how many seconds it took, its outcome, its steps."""


def read_last_runs(folder: Path) -> dict[str, FlowTimes]:
    """The last runs of the flows of a folder, by path as it is shown. Never raises."""
    try:
        found = jsonc.parse(files.read_text(_file(folder), limit=_FILE_BYTES))
    except (ConfigError, jsonc.JsoncError):
        return {}
    flows = found.get("flows") if isinstance(found, dict) else None
    return dict(_flows(flows)) if isinstance(flows, dict) else {}


def keep_last_runs(folder: Path, runs: Mapping[str, FlowTimes]) -> None:
    """Write the last runs, beside those that are kept of other flows. What cannot be written is not kept."""
    kept = {**read_last_runs(folder), **runs}
    newest = sorted(kept.items(), key=lambda flow: flow[1][0])[-MOST:]
    data = {
        "flows": {
            path: {"when": when, "seconds": seconds, "outcome": outcome, "steps": {str(n): s for n, s in steps.items()}}
            for path, (when, seconds, outcome, steps) in newest
        }
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
        when, seconds, outcome = flow.get("when"), flow.get("seconds"), flow.get("outcome")
        if not _is_number(when) or not _is_number(seconds) or outcome not in OUTCOMES:
            continue
        steps: StepTimes = {}
        for number, step in flow["steps"].items():
            has_three = number.isdecimal() and isinstance(step, list) and len(step) == 3
            if has_three and step[0] in OUTCOMES and _is_number(step[1]) and _is_number(step[2]):
                steps[int(number)] = (step[0], step[1], step[2])
        yield path, (when, seconds, outcome, steps)


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e12
