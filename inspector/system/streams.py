"""Pipes and our own standard streams on the event loop, and the loop itself."""

from __future__ import annotations

import sys

from inspector.system.thread_reader import READ_SIZE, Reader

if sys.platform == "win32":
    from inspector.system.windows.streams import (
        StandardStream,
        Writer,
        exact_loop,
        open_reader,
        readiness,
        take_pipe,
    )
else:
    from inspector.system.posix.streams import (
        StandardStream,
        Writer,
        exact_loop,
        open_reader,
        readiness,
        take_pipe,
    )

__all__ = [
    "READ_SIZE",
    "Reader",
    "StandardStream",
    "Writer",
    "exact_loop",
    "open_reader",
    "readiness",
    "take_pipe",
]
