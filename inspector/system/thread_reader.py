"""Reads descriptors for which the event loop cannot wait, in a thread."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Protocol

READ_SIZE = 1 << 18
_PATIENCE = 0.02
"""Seconds in which the thread finds what is in a pipe."""


class Reader(Protocol):
    """The reading end of a descriptor, which it owns. It passes each block to a callback, an empty one at the end."""

    open: bool
    """Whether more data may come."""
    most: int
    """Most bytes of the next block."""

    def resume(self) -> None:
        """Begin to read, or continue."""

    def pause(self) -> None:
        """Stop reading for now: the writer has to wait."""

    def drain(self, until: float) -> None:
        """Read the available data, at most until the time `until` of the loop's clock."""

    def close(self) -> None:
        """Stop reading, and close the descriptor. Idempotent."""


class ThreadReader:
    """A `Reader` with a thread. It reads one block ahead of the event loop.

    A thread that waits in a read cannot be stopped: it closes the descriptor as soon as the read returns.
    """

    def __init__(self, descriptor: int, on_block: Callable[[bytes], None], size: int = READ_SIZE) -> None:
        self.open = True
        self.most = size
        self._descriptor = descriptor
        self._on_block = on_block
        self._loop = asyncio.get_running_loop()
        self._blocks: SimpleQueue[bytes] = SimpleQueue()
        self._may_read = threading.Event()
        self._paused = True
        threading.Thread(target=self._read, name=f"reader of {descriptor}", daemon=True).start()

    def _read(self) -> None:
        while True:
            self._may_read.wait()
            self._may_read.clear()
            try:
                block = os.read(self._descriptor, self.most) if self.open else b""
            except OSError:
                block = b""
            self._blocks.put(block)
            if self.open:
                with suppress(RuntimeError):  # the loop is closed
                    self._loop.call_soon_threadsafe(self._deliver)
            if not block:
                os.close(self._descriptor)
                return

    def _deliver(self, patience: float = 0) -> bool:
        """Pass on a block. False if there is none."""
        if self._paused and not patience:
            return False  # `resume` delivers it.
        try:
            block = self._blocks.get(timeout=patience) if patience else self._blocks.get_nowait()
        except Empty:
            return False
        if not self.open:
            return False
        if block:
            self._may_read.set()
        else:
            self.open = False
        self._on_block(block)
        return True

    def resume(self) -> None:
        """Begin to read, or continue."""
        if self._paused and self.open:
            self._paused = False
            if self._blocks.empty():
                self._may_read.set()
            else:
                self._loop.call_soon(self._deliver)

    def pause(self) -> None:
        """Stop reading for now: the writer has to wait."""
        self._paused = True

    def drain(self, until: float) -> None:
        """Read the available data, at most until the time `until` of the loop's clock."""
        if self._blocks.empty():
            self._may_read.set()
        while self.open and self._loop.time() < until and self._deliver(_PATIENCE):
            pass

    def close(self) -> None:
        """Stop reading; the descriptor is closed as soon as that is possible. Idempotent."""
        self.open = False
        self._may_read.set()
