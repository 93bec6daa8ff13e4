"""Inspector in a soak run: `soak_program.py COUNTS [ARGUMENTS …]` is `inspector ARGUMENTS …`.

On SIGUSR1 it writes what only the process itself can count into the file COUNTS, as JSON: tasks of the event loop,
threads of Python, and objects. `SOAK_FAULT` breaks it on purpose, so that a run is seen to fail: `leak` keeps a
kilobyte for each read from a server, `task`, `descriptor` and `thread` leave one behind for each thousand reads, and
`lose` drops one of them.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

KEPT: list[Any] = []


def tell(counts: Path) -> None:
    """Write the counts; complete, because a rename puts them there."""
    try:
        tasks = [task.get_name() for task in asyncio.all_tasks()]
    except RuntimeError:
        tasks = []
    threads = [thread.name for thread in threading.enumerate()]
    if os.environ.get("SOAK_TYPES"):
        gc.collect()
        types = Counter(f"{type(thing).__module__}.{type(thing).__qualname__}" for thing in gc.get_objects())
        with counts.with_suffix(".types").open("a") as file:
            file.write(json.dumps(types.most_common(60)) + "\n")
    made = counts.with_suffix(".making")
    made.write_text(json.dumps({"tasks": tasks, "threads": threads, "objects": len(gc.get_objects())}))
    made.rename(counts)


def break_it(fault: str) -> None:
    """Put a fault into what every received message goes through."""
    from inspector.journal.journal import Journal

    received = Journal.record_received
    seen = 0

    def record_received(self: Journal, channel: str, raws: Any, *rest: Any, **named: Any) -> Any:
        nonlocal seen
        before, seen = seen, seen + len(raws)
        if fault == "leak":
            KEPT.extend(bytearray(1024) for _ in raws)
        elif before // 1000 != seen // 1000:
            if fault == "task":
                KEPT.append(asyncio.get_running_loop().create_task(asyncio.sleep(1e6)))
            elif fault == "descriptor":
                KEPT.append(os.dup(2))
            elif fault == "thread":
                threading.Thread(target=time.sleep, args=(1e6,), daemon=True).start()
            elif fault == "lose":
                raws = raws[:-1]
        return received(self, channel, raws, *rest, **named)

    Journal.record_received = record_received  # type: ignore[method-assign]


if __name__ == "__main__":
    from inspector.cli.main import main

    at = Path(sys.argv.pop(1))
    signal.signal(signal.SIGUSR1, lambda *_: tell(at))
    if os.environ.get("SOAK_FAULT"):
        break_it(os.environ["SOAK_FAULT"])
    main()
