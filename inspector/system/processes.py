"""Programs that we start, each with all processes that it starts; and figures of processes."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    from inspector.system.windows.processes import ProcessTree, children, on_fork, usage, waiting_processes
else:
    from inspector.system.posix.processes import ProcessTree, children, on_fork, usage, waiting_processes

__all__ = ["ProcessTree", "children", "on_fork", "usage", "waiting_processes"]
