"""The console's modes, and signals, on Windows."""

from __future__ import annotations

import asyncio
import ctypes
import msvcrt
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from inspector.system.windows import api

assert sys.platform == "win32"

ENDING: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM, signal.SIGBREAK)
"""The signals that end a program: ^c, one that it sends to itself, and ^break or the end of the console."""

_ECHO = 4
"""`ENABLE_ECHO_INPUT`."""
_LOOK_EVERY = 0.05
"""Seconds between two looks for a key."""


def watch_signals(
    numbers: Sequence[int], handle: Callable[[int], object], at_once: Callable[[int], object] | None = None
) -> Callable[[], None]:
    """Call `handle` from the event loop for each signal, until the returned function is called.

    `at_once` is called in the middle of whatever runs. Does nothing outside of the main thread.
    """
    loop = asyncio.get_running_loop()
    before = {}

    def came(number: int, frame: object) -> None:
        if at_once is not None:
            at_once(number)
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(handle, number)

    for number in numbers:
        with suppress(ValueError):
            before[number] = signal.signal(number, came)

    def stop() -> None:
        while before:
            signal.signal(*before.popitem())

    return stop


@contextmanager
def no_echo(descriptor: int) -> Iterator[None]:
    """Do not show what is typed. Does nothing where the descriptor is not a console."""
    mode = api.DWORD()
    try:
        handle = msvcrt.get_osfhandle(descriptor)
    except (OSError, ValueError):
        handle = 0
    if not handle or not api.kernel.GetConsoleMode(handle, ctypes.byref(mode)):
        yield
        return
    api.kernel.SetConsoleMode(handle, mode.value & ~_ECHO)
    try:
        yield
    finally:
        api.kernel.SetConsoleMode(handle, mode.value)


async def key_pressed(descriptor: int) -> None:
    """Wait for a key, without an echo. Returns at once where the descriptor is not a console."""
    mode = api.DWORD()
    try:
        handle = msvcrt.get_osfhandle(descriptor)
    except (OSError, ValueError):
        return
    if not api.kernel.GetConsoleMode(handle, ctypes.byref(mode)):
        return
    while True:
        await asyncio.sleep(_LOOK_EVERY)
        if msvcrt.kbhit():
            msvcrt.getwch()
            return
