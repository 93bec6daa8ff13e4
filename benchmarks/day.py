"""A recording of a day at 1,000 messages a second: how long it takes to open, and how much memory.

`python benchmarks/day.py [MESSAGES]`

`run` leaves it out: the recording takes 20 GB of disk, and a quarter of an hour to make and to read. It is opened
twice: read from its start, and from its saved index.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress

from made_recordings import messages
from rows import CACHE
from terminal import PROGRAM, Late, running

DAY = 86_400_000
TURNS = 720
"""Turns of five seconds that reading may take."""


def opened(count: int) -> dict[str, float]:
    """Open the recording until it has been read, and quit. Memory is in megabytes."""
    with running(PROGRAM, "replay", str(messages(count))) as terminal:
        first = terminal.shows(b"step 0 of 0") - terminal.started
        for _ in range(TURNS):
            with suppress(Late):
                read = terminal.shows(f"event {count:,} of {count:,}".encode(), patience=5.0) - terminal.started
                break
            terminal.press(b"")  # What was written until now is not searched again.
        terminal.watch(5.0)
        figures = {
            "first_rows_s": first, "read_s": read, "private_mb": terminal.memory("RssAnon"),
            "most_mb": terminal.memory("VmHWM"),
        }  # fmt: skip
        terminal.press(b"q")
        with suppress(Late):  # It ended, after it saved the index.
            terminal.watch(60.0)
    return figures


def main() -> int:
    """Print the figures of both times."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else DAY
    os.environ["XDG_CACHE_HOME"] = str(CACHE / "day")
    print(json.dumps({"messages": count, "read": opened(count), "from the saved index": opened(count)}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
