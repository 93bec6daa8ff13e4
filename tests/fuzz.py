"""Run the property tests again and again with examples that were not tried before, until the time is over.

`python -m tests.fuzz --minutes N [PATH …]`

One file at a time, each in a process of its own. A fault is a test that fails, a file that takes more than `LONGEST`
seconds (a hang), or a process that grows beyond `LARGEST` bytes. Hypothesis prints how to repeat a failed example.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
LONGEST = 600.0
"""Seconds that one file may take; 400 examples of each of its properties take a minute or two on an idle machine."""
LARGEST = 500 << 20
"""Bytes of memory of a test process: pytest with the interface loaded takes 150 to 300 MB."""
PARTS = (
    "journal",
    "protocol",
    "transports",
    "serving",
    "imports",
    "redact",
    "config",
    "export",
    "compare",
    "tui",
    "tap",
    "auth",
)
"""Framing, event streams, JSON text, recordings, imports, YAML, filters, schemas, URI templates, and what shows them."""


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
        output, _ = child.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return [f"it took more than {LONGEST:g} s"]
    return [] if child.returncode in (0, 5) else [output[-4000:]]


def largest() -> int:
    """Bytes of memory that the largest child had so far."""
    import resource

    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def main() -> int:
    """Print a line for each file that was run, and each fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("paths", nargs="*", type=Path)
    given = parser.parse_args()
    files = property_tests(given.paths or [ROOT / "tests" / part for part in PARTS])
    end = time.monotonic() + given.minutes * 60
    found = runs = 0
    while time.monotonic() < end:
        random.shuffle(files)
        for file in files:
            if time.monotonic() >= end:
                break
            began, before = time.monotonic(), largest()
            faults = run(file)
            if largest() > max(before, LARGEST):
                faults.append(f"it took {largest() >> 20} MB of memory")
            runs += 1
            found += len(faults)
            print(f"{time.monotonic() - began:6.1f} s  {file.relative_to(ROOT)}", *faults, sep="\n    ", flush=True)
    print(f"{runs} runs of {len(files)} files, {found} faults, the largest process had {largest() >> 20} MB")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
