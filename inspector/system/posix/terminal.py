"""The terminal's modes, and signals, on Linux and macOS."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

assert sys.platform != "win32"

ENDING: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that end a program."""


def watch_signals(
    numbers: Sequence[int], handle: Callable[[int], object], at_once: Callable[[int], object] | None = None
) -> Callable[[], None]:
    """Call `handle` from the event loop for each signal, until the returned function is called.

    `at_once` is called in the middle of whatever runs. Does nothing outside of the main thread.
    """
    loop = asyncio.get_running_loop()
    for number in numbers:
        with suppress(NotImplementedError, ValueError, RuntimeError):
            loop.add_signal_handler(number, handle, number)
            if at_once is not None:
                signal.signal(number, lambda number, frame: at_once(number))  # The loop is still woken up.

    def stop() -> None:
        for number in numbers:
            with suppress(NotImplementedError, ValueError, RuntimeError):
                loop.remove_signal_handler(number)

    return stop


@contextmanager
def no_echo(descriptor: int) -> Iterator[None]:
    """Do not show what is typed. Does nothing where the descriptor is not a terminal."""
    import termios

    try:
        before = termios.tcgetattr(descriptor)
    except (OSError, ValueError, termios.error):
        yield
        return
    silent = list(before)
    silent[3] &= ~termios.ECHO
    termios.tcsetattr(descriptor, termios.TCSADRAIN, silent)
    try:
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


async def key_pressed(descriptor: int) -> None:
    """Wait for a key, without an echo. Returns at once where the descriptor is not a terminal."""
    import termios
    import tty

    try:
        before = termios.tcgetattr(descriptor)
    except (OSError, ValueError, termios.error):
        return
    pressed, loop = asyncio.Event(), asyncio.get_running_loop()
    try:
        tty.setcbreak(descriptor)
        loop.add_reader(descriptor, pressed.set)
        await pressed.wait()
        with suppress(OSError):
            os.read(descriptor, 1024)
    finally:
        loop.remove_reader(descriptor)
        with suppress(termios.error):
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
