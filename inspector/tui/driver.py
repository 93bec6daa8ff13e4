"""A terminal driver that draws on the terminal, survives its end, and knows `alt` from a typed letter.

After the window is closed, the kernel answers every write with an error. Textual's writer thread then dies, its queue
fills up, and the next write blocks forever: Inspector and its server would keep running.

Textual draws on stderr. With `2>FILE` its frames would be in the file, and the terminal would stay blank.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any, TextIO

from textual import events
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
    """Return the same driver, which writes through a `TerminalOutput` and types no letter of a key with `alt`."""

    class ResilientDriver(driver):  # type: ignore[misc, valid-type]
        _file: Any

        def __init__(self, *words: Any, **more: Any) -> None:
            super().__init__(*words, **more)
            self._file = TerminalOutput(self._file)

        def process_message(self, message: Message) -> None:
            # Textual gives `alt+s` the character `s`, so that a field with the focus would type it.
            if isinstance(message, events.Key) and "alt+" in message.key:
                message.character = None
            super().process_message(message)

    return ResilientDriver
