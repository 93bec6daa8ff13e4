"""Check servers several times, on an idle and on a busy machine, and print the verdicts that differ.

`python -m tests.check.stability [--runs N] [--busy N] [--calls all|read-only] [--profile app] URL | COMMAND …`
`python -m tests.check.stability --log FILE [--at-once N] [--servers FILE]`

Each run is recorded, and the recording is checked too: a verdict that a run and its recording do not share differs.
Without a target: each fault of raw_server.py over stdio, which a run and its recording must fail, and the server without
a fault, which neither may fail. With `--servers`, a JSON file with right servers, `{name: [option, …, "--", command, …]}`:
neither may fail with `--profile app`, which leaves out what the author of a server cannot change.

A long run is interrupted and continued with `--log`: each line is one run, and a run that is in the file is not made
again. The recording of a run that differs is kept beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from tests.check import raw_server
from tests.check.raw_server import FAULTS
from tests.check.test_planted_faults import CONVICTS, RULES

BUSY = "while True: pass"
MAX_SECONDS = "3000"
"""A busy machine must not end a run."""


@dataclass(frozen=True)
class Subject:
    """A server that is checked several times."""

    name: str
    target: tuple[str, ...]
    options: tuple[str, ...] = ()
    """Options of the check of a run."""
    judged: tuple[str, ...] = ()
    """Options of the checks of a run and of its recording: they decide about the exit code."""
    exits: tuple[int, int] | None = None
    """The exit codes that a run and its recording must have; None: they must be the same in each run."""
    convicts: frozenset[str] = frozenset()
    """Checks of which one at least must be a reason of the exit code."""


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


def checked(words: list[str]) -> tuple[dict[str, Any], int]:
    command = [sys.executable, "-m", "inspector", "check", "--json", *words]
    ran = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
    # A check that could not be made has written its error to stderr, and has another exit code.
    return json.loads(ran.stdout or b'{"results": [], "failing": []}'), ran.returncode


def named(report: dict[str, Any]) -> dict[str, str]:
    return {f"{result['id']} {result['revision']}": result["verdict"] for result in report["results"]}


def run_once(subject: Subject, recording: str) -> dict[str, Any]:
    """One run of a subject and the check of its recording, as a line of the log."""
    started = time.monotonic()
    target = subject.target if len(subject.target) == 1 else ("--", *subject.target)
    limit = ("--max-time", MAX_SECONDS)
    live, live_exit = checked([*limit, *subject.options, *subject.judged, "--record", recording, *target])
    again, again_exit = checked([*limit, *subject.judged, recording])
    verdicts, recorded = named(live), named(again)
    for name, verdict in verdicts.items():
        # What a run could not ask, a recording may not show.
        if verdict != "skip" and recorded.get(name) != verdict:
            verdicts[name] = f"{verdict}/{recorded.get(name)}"
    failing = [sorted({one["id"] for one in report["failing"]}) for report in (live, again)]
    return {
        "name": subject.name, "exits": [live_exit, again_exit], "failing": failing, "verdicts": verdicts,
        "load": round(os.getloadavg()[0], 1), "seconds": round(time.monotonic() - started, 1),
    }  # fmt: skip


def problems(subject: Subject, runs: list[dict[str, Any]]) -> list[str]:
    """Return what is not as it must be, or not the same in all runs."""
    wrong = []
    exits = sorted({tuple(run["exits"]) for run in runs})
    if len(exits) > 1 or (subject.exits is not None and exits != [subject.exits]):
        wrong.append(f"exit codes {exits}, must be {subject.exits or 'the same'}")
    if subject.convicts:
        missed = sum(not all(subject.convicts & set(failing) for failing in run["failing"]) for run in runs)
        wrong += [f"{missed} runs without one of {sorted(subject.convicts)}"] * bool(missed)
    for name in sorted({name for run in runs for name in run["verdicts"]}):
        verdicts = [run["verdicts"].get(name, "missing") for run in runs]
        if len(set(verdicts)) > 1 or "/" in verdicts[0]:
            wrong.append(
                f"{name} {' '.join(f'{verdicts.count(verdict)}x{verdict}' for verdict in sorted(set(verdicts)))}"
            )
    return wrong


def read_log(log: Path | None) -> list[dict[str, Any]]:
    """Return the runs of a log; the last line may be incomplete."""
    runs = []
    for line in log.read_text().splitlines() if log is not None and log.exists() else ():
        try:
            runs.append(json.loads(line))
        except ValueError:
            continue
    return runs


def run_all(subjects: list[Subject], runs: int, at_once: int, log: Path | None) -> dict[str, list[dict[str, Any]]]:
    """All runs of all subjects, each subject's first run before any second one."""
    made: dict[str, list[dict[str, Any]]] = {subject.name: [] for subject in subjects}
    for run in read_log(log):
        if run["name"] in made:
            made[run["name"]].append(run)
    lock = Lock()

    def work(subject: Subject) -> None:
        with tempfile.TemporaryDirectory() as folder:
            recording = f"{folder}/run.mcp.jsonl"
            run = run_once(subject, recording)
            with lock:
                known = made[subject.name]
                known.append(run)
                if log is not None:
                    with log.open("a") as file:
                        file.write(json.dumps(run) + "\n")
                    if problems(subject, [known[0], run]):
                        shutil.copy(recording, f"{log}-{subject.name}-{len(known)}.mcp.jsonl")

    with ThreadPoolExecutor(at_once) as pool:
        missing = [subject for n in range(runs) for subject in subjects if len(made[subject.name]) <= n]
        for done in [pool.submit(work, subject) for subject in missing]:
            done.result()
    return made


def main() -> int:
    """Print a line for each subject and one for each of its problems."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--busy", type=int, default=0, help="processes that keep the machine busy")
    parser.add_argument("--at-once", type=int, default=1, help="runs that are made at the same time")
    parser.add_argument("--log", type=Path, help="a line for each run; runs that are in it are not made again")
    parser.add_argument("--servers", type=Path, help="a JSON file with right servers: name and command")
    parser.add_argument("--calls", default="", help="what --allow-calls gets")
    parser.add_argument("--profile", help="the profile of the check")
    parser.add_argument("--revision", help="one revision only")
    parser.add_argument("target", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    if given.target:
        options = {"--revision": given.revision, "--allow-calls": given.calls}
        more = tuple(f"{name}={value}" for name, value in options.items() if value)
        judged = (f"--profile={given.profile}",) if given.profile else ()
        subjects = [Subject(given.target[0], tuple(given.target), more, judged)]
    else:
        subjects = list(right(given.servers) if given.servers else planted())
    wrong = 0
    with busy(given.busy):
        made = run_all(subjects, given.runs, given.at_once, given.log)
    for subject in subjects:
        runs = made[subject.name]
        mismatches = problems(subject, runs)
        wrong += bool(mismatches)
        loads = [run["load"] for run in runs]
        exits = sorted({tuple(run["exits"]) for run in runs})
        print(f"{subject.name}: {len(runs)} runs, exit codes {exits}, load {min(loads)} to {max(loads)}", *mismatches,
              sep="\n    ", flush=True)  # fmt: skip
    print(f"{len(subjects) - wrong} of {len(subjects)} servers as they must be")
    return bool(wrong)


def planted() -> Iterator[Subject]:
    """The raw server without a fault, and with each."""
    for fault in ("none", *FAULTS):
        target = (sys.executable, "-S", "-E", raw_server.__file__, fault)
        convicts = frozenset(CONVICTS.get(fault, ()) or RULES.get(fault, ()))
        judged = ("--strict",) if fault in RULES else ()
        yield Subject(fault, target, ("--allow-calls=all",), judged, (5, 5) if convicts else (0, 0), convicts)


def right(servers: Path) -> Iterator[Subject]:
    """Servers that must not fail."""
    for name, words in json.loads(servers.read_text()).items():
        at = words.index("--")
        options = ("--allow-calls=read-only", *words[:at])
        yield Subject(name, tuple(words[at + 1 :]), options, ("--profile=app",), (0, 0))


if __name__ == "__main__":
    sys.exit(main())
