"""The commands that start parts of this program in new processes, however it is installed."""

from __future__ import annotations

import sys

archive = ""
"""The zipapp that this program was started from; its start sets this. It runs a module after `-m`, as Python does."""


def module_command(module: str) -> list[str]:
    """Return the command that runs a module of ours: `inspector`, `inspector.demo`."""
    # -P: Python alone would look for it, and for all that it imports, in the current folder first.
    return [sys.executable, archive or "-P", "-m", module]
