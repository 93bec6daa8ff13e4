"""Turns: of all processes of one person, one at a time renews a login.

A refresh token may be good for one time only (C-AUTH-32), and some servers withdraw the whole login when they see it
twice. The system keeps the locks, so that a process which dies gives its turn away.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path

from inspector.config import files, paths
from inspector.errors import ConfigError

WAIT_SECONDS = 30.0
"""How long somebody else's turn is waited for; a token endpoint answers sooner, or not at all."""
_POLL_SECONDS = 0.02


class Lock:
    """One process's turn at what a lock file stands for. Not for two tasks of one process."""

    def __init__(self, path: Path) -> None:
        """`path` is made where it is missing, and stays: it is empty."""
        self._path = path
        self._descriptor = -1

    async def take(self, seconds: float = WAIT_SECONDS) -> bool:
        """Wait for it. False where it did not come in time, or where there can be no lock: then it is done without."""
        if self._descriptor >= 0:
            return True
        try:
            paths.private_folder(self._path.parent)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        except (OSError, ConfigError):
            return False
        try:
            async with asyncio.timeout(seconds):
                # A lock that is free is told to nobody but a thread that waits for it, and cannot be made to stop.
                while self._descriptor < 0:
                    if files.try_lock(descriptor):
                        self._descriptor = descriptor
                    else:
                        await asyncio.sleep(_POLL_SECONDS)
        except (TimeoutError, OSError):
            pass
        finally:
            if self._descriptor < 0:
                os.close(descriptor)
        return self._descriptor >= 0

    def give(self) -> None:
        """Give it to the next. Idempotent."""
        if self._descriptor >= 0:
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = -1
