"""A lock between processes: one at a time refreshes a login.

A refresh token may be valid for one use only (C-AUTH-32), and some servers revoke the whole login when it is used
twice. The operating system keeps the locks, so a process that dies releases its lock.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path

from inspector.config import foreign_files, paths
from inspector.errors import ConfigError

WAIT_SECONDS = 30.0
"""Maximum seconds to wait for the lock; a token endpoint responds sooner, or not at all."""
_POLL_SECONDS = 0.02


class Lock:
    """A process's lock on a file. Not for two tasks of one process."""

    def __init__(self, path: Path) -> None:
        """`path` is created if missing, and stays: it is empty."""
        self._path = path
        self._descriptor = -1

    async def acquire(self, seconds: float = WAIT_SECONDS) -> bool:
        """Acquire the lock. False if it timed out or locks are not supported: the caller continues without."""
        if self._descriptor >= 0:
            return True
        try:
            paths.private_folder(self._path.parent)
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        except (OSError, ConfigError):
            return False
        try:
            async with asyncio.timeout(seconds):
                # Only a blocked thread learns that a lock is free, and it cannot be cancelled, so this polls.
                while self._descriptor < 0:
                    if foreign_files.try_lock(descriptor):
                        self._descriptor = descriptor
                    else:
                        await asyncio.sleep(_POLL_SECONDS)
        except (TimeoutError, OSError):
            pass
        finally:
            if self._descriptor < 0:
                os.close(descriptor)
        return self._descriptor >= 0

    def release(self) -> None:
        """Release the lock. Idempotent."""
        if self._descriptor >= 0:
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = -1
