"""Check a server several times, on an idle and on a busy machine, and print the verdicts that differ.

`python -m tests.check.stability [--runs N] [--busy N] [--calls all|read-only] [--profile app] URL | COMMAND …`

Each run is recorded, and the recording is checked too: a verdict that a run and its recording do not share differs.
Without a target: each fault of raw_server.py over stdio, which a run and its recording must fail, and the server without
a fault, which neither may fail.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.check import raw_server
from tests.check.raw_server import FAULTS

BUSY = "while True: pass"


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Keep the machine busy with so many processes."""
    running = [subprocess.Popen((sys.executable, "-S", "-c", BUSY)) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def verdicts(target: list[str], more: list[str]) -> tuple[dict[str, str], dict[str, str], int, int]:
    """The verdicts by check and revision of one run and of its recording, and both exit codes."""
    with tempfile.TemporaryDirectory() as folder:
        recording = f"{folder}/run.mcp.jsonl"
        live = checked([*more, "--record", recording, *(target if len(target) == 1 else ["--", *target])])
        again = checked([*(word for word in more if word.startswith("--profile")), recording])
    return named(live[0]), named(again[0]), live[1], again[1]


def checked(words: list[str]) -> tuple[dict[str, Any], int]:
    command = [sys.executable, "-m", "inspector", "check", "--json", "--max-time", "3000", *words]
    ran = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    return json.loads(ran.stdout), ran.returncode


def named(report: dict[str, Any]) -> dict[str, str]:
    return {f"{result['id']} {result['revision']}": result["verdict"] for result in report["results"]}


def compare(target: list[str], runs: int, more: list[str]) -> tuple[set[tuple[int, int]], list[str]]:
    """The exit codes of a run and of its recording, and what was not the same in all runs."""
    seen: dict[str, list[str]] = {}
    codes = set()
    for _ in range(runs):
        live, recorded, *exits = verdicts(target, more)
        codes.add((exits[0], exits[1]))
        for name, verdict in live.items():
            seen.setdefault(name, []).append(verdict)
            # What a run could not ask, a recording may not show.
            if verdict != "skip" and recorded.get(name) != verdict:
                seen[name][-1] = f"{verdict}/{recorded.get(name)}"
    same = {
        name: each for name, each in seen.items() if len(set(each)) == 1 and len(each) == runs and "/" not in each[0]
    }
    return codes, [f"{name} {' '.join(each)}" for name, each in sorted(seen.items()) if name not in same]


def main() -> int:
    """Print a line for each target and one for each verdict that was not always the same."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--busy", type=int, default=0, help="processes that keep the machine busy")
    parser.add_argument("--calls", default="", help="what --allow-calls gets")
    parser.add_argument("--profile", help="the profile of the check")
    parser.add_argument("--revision", help="one revision only")
    parser.add_argument("target", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    options = {"--revision": given.revision, "--allow-calls": given.calls, "--profile": given.profile}
    more = [f"{name}={value}" for name, value in options.items() if value]
    wrong = 0
    with busy(given.busy):
        for fault, target in [("", given.target)] if given.target else planted():
            codes, differing = compare(target, given.runs, more if given.target else ["--allow-calls=all"])
            expected = {(0, 0)} if fault == "none" else {(5, 5)} if fault else codes
            wrong += codes != expected or bool(differing)
            load = os.getloadavg()[0]
            print(f"{fault or target[0]}: {given.runs} runs, exit codes {sorted(codes)}, load {load:.1f}", *differing,
                  sep="\n    ", flush=True)  # fmt: skip
    return bool(wrong)


def planted() -> Iterator[tuple[str, list[str]]]:
    for fault in ("none", *FAULTS):
        yield fault, [sys.executable, "-S", "-E", raw_server.__file__, fault]


if __name__ == "__main__":
    sys.exit(main())
