"""A driver that survives the end of what it draws on, and knows `alt` from a typed letter.

After the window is closed, the kernel answers every write with an error. Textual's writer thread then dies, its queue
fills up, and the next write blocks forever: Inspector and its server would keep running.

Textual draws on stderr. With `2>FILE` its frames would be in the file, and the terminal would stay blank.

Textual's web driver draws on stdout, in packets, for another process that shows them in a browser. After the end of
that process Textual waits forever, and its next frame fails.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Event, Thread
from typing import Any, TextIO, cast

from textual import events, messages
from textual.driver import Driver
from textual.message import Message


class TerminalOutput:
    """The file of a terminal: `file`, or stdout if only that is one. After the terminal is gone, it discards writes."""

    def __init__(self, file: TextIO) -> None:
        if not file.isatty() and sys.__stdout__ is not None and sys.__stdout__.isatty():
            file = sys.__stdout__
        self._file = file
        self.fileno = file.fileno
        self.isatty = file.isatty

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._file.flush()


def enduring(driver: type[Driver]) -> type[Driver]:
    """Return the same driver, which survives the end of the terminal or browser and types no letter with `alt`."""
    in_browser = driver.is_web is not Driver.is_web
    return cast(type[Driver], type(driver.__name__, (_InBrowser if in_browser else _OnTerminal, driver), {}))


class _KnowsAlt(Driver):
    def process_message(self, message: Message) -> None:
        # Textual gives `alt+s` the character `s`, so that a field with the focus would type it.
        if isinstance(message, events.Key) and "alt+" in message.key:
            message.character = None
        super().process_message(message)


class _OnTerminal(_KnowsAlt):
    _file: Any

    def __init__(self, *words: Any, **more: Any) -> None:
        super().__init__(*words, **more)
        self._file = TerminalOutput(self._file)


class _InBrowser(_KnowsAlt):
    """Below it in the classes stands Textual's `WebDriver`, of which it has the members."""

    fileno: int
    exit_event: Event
    run_input_thread: Callable[[], None]

    def __init__(self, *words: Any, **more: Any) -> None:
        super().__init__(*words, **more)
        # Only packets go to stdout: what else is printed, by programs that are started too, goes to stderr.
        packets = os.dup(self.fileno)
        os.dup2(2, self.fileno)
        self._write = partial(_write, packets)
        self._key_thread = Thread(target=self._read_input, name="textual-input")

    def _read_input(self) -> None:
        self.run_input_thread()
        if not self.exit_event.is_set():  # The other process is gone.
            self.send_message(messages.ExitApp())


def _write(descriptor: int, data: bytes) -> None:
    """Write all of `data`; after the reader is gone, discard it."""
    with suppress(OSError):
        while data:
            data = data[os.write(descriptor, data) :]
