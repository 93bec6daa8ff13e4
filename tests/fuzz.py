"""Run the property tests again and again with examples that were not tried before, until the time is over.

`python -m tests.fuzz --minutes N [PATH …]`

One file at a time, each in a process of its own. A fault is a test that fails, that needs more than `MAX_CPU` seconds of
processor time or `MAX_SIZE` bytes of memory, or a file that takes more than `MAX_LENGTH` seconds. No example has a
deadline: a busy machine is not a fault. Hypothesis prints how to repeat a failed example. This module is also the pytest
plugin that measures.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAX_LENGTH = 1800.0
"""Seconds that one file may take; 400 examples of each of its properties take a minute or two on an idle machine."""
MAX_CPU = 300.0
"""Seconds of processor time for all examples of one test."""
MAX_SIZE = 200 << 20
"""Bytes of memory that one test may take, beyond what its process has."""


def property_tests(paths: list[Path]) -> list[Path]:
    """The test files below `paths` that use hypothesis."""
    files = sorted(
        file for path in map(Path.absolute, paths) for file in ([path] if path.is_file() else path.rglob("test_*.py"))
    )
    return [file for file in files if re.search(r"^from hypothesis", file.read_text(encoding="utf-8"), re.MULTILINE)]


def run(file: Path) -> list[str]:
    """Run one file with new examples. Returns its faults."""
    words = (
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "0",
        "-p",
        "tests.fuzz",
        "-m",
        "hypothesis",
        "--hypothesis-seed",
        str(random.getrandbits(32)),
    )
    environment = os.environ | {"HYPOTHESIS_PROFILE": "fuzz"}
    child = subprocess.Popen(
        (*words, str(file)), cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        output, _ = child.communicate(timeout=MAX_LENGTH)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return [f"it took more than {MAX_LENGTH:g} s"]
    return [] if child.returncode in (0, 5) else [output[-4000:]]


def make_tables() -> None:
    """Let Hypothesis write its table of characters, which takes 205 MB the first time in a checkout, in any test."""
    # In a process of its own: the processes that follow would begin with its size.
    code = "from hypothesis import strategies; strategies.text().validate()"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def _resident() -> int:
    """Bytes of memory that this process has now (Linux), else the most that it had so far."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except FileNotFoundError:
        return _peak()


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Fail a test that takes too much memory or processor time."""
    resident, peak, began = _resident(), _peak(), time.process_time()
    yield
    if time.process_time() - began > MAX_CPU:
        pytest.fail(f"{item.nodeid} took {time.process_time() - began:.0f} s of processor time")
    if _peak() > max(peak, resident + MAX_SIZE):
        pytest.fail(f"{item.nodeid} took {_peak() - resident >> 20} MB of memory")


def main() -> int:
    """Print a line for each file that was run, and each fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("paths", nargs="*", type=Path)
    given = parser.parse_args()
    files = property_tests(given.paths or [ROOT / "tests"])
    make_tables()
    end = time.monotonic() + given.minutes * 60
    fault_count = runs = 0
    while time.monotonic() < end:
        random.shuffle(files)
        for file in files:
            if time.monotonic() >= end:
                break
            began = time.monotonic()
            faults = run(file)
            runs += 1
            fault_count += len(faults)
            print(f"{time.monotonic() - began:6.1f} s  {file.relative_to(ROOT)}", *faults, sep="\n    ", flush=True)
    print(f"{runs} runs of {len(files)} files, {fault_count} faults")
    return bool(fault_count)


if __name__ == "__main__":
    sys.exit(main())
