"""Check a server several times, on an idle and on a busy machine, and print the verdicts that differ.

`python -m tests.check.stability [--runs N] [--busy N] [--calls all|read-only] URL | COMMAND …`
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

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


def verdicts(target: list[str], calls: str, more: list[str]) -> dict[str, str]:
    """The verdict of each check in each revision, in one run."""
    words = [sys.executable, "-m", "inspector", "check", "--json", "--no-record", "--max-time", "3000", *more]
    words += ["--allow-calls", calls] if calls else []
    words += target if len(target) == 1 else ["--", *target]
    report = json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=False).stdout)
    return {f"{result['id']} {result['revision']}": result["verdict"] for result in report["results"]}


def main() -> int:
    """Print a line for each run, and one for each verdict that was not always the same."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--busy", type=int, default=0, help="processes that keep the machine busy")
    parser.add_argument("--calls", default="", help="what --allow-calls gets")
    parser.add_argument("--revision", help="one revision only")
    parser.add_argument("target", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    more = ["--revision", given.revision] if given.revision else []
    seen: dict[str, list[str]] = {}
    with busy(given.busy):
        for run in range(given.runs):
            found = verdicts(given.target, given.calls, more)
            print(f"run {run + 1}: {len(found)} results", flush=True)
            for name, verdict in found.items():
                seen.setdefault(name, []).append(verdict)
    differing = {name: each for name, each in seen.items() if len(set(each)) > 1 or len(each) < given.runs}
    for name, each in sorted(differing.items()):
        print(name, " ".join(each))
    print(f"{len(seen) - len(differing)} verdicts are the same in {given.runs} runs, {len(differing)} differ")
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main())
