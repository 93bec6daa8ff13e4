"""A terminal driver that keeps working after its terminal is gone, and knows `alt` from a typed letter.

After the window is closed, the kernel answers every write with an error. Textual's writer thread then dies, its queue
fills up, and the next write blocks forever: Inspector and its server would keep running.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, TextIO

from textual import events
from textual.driver import Driver
from textual.message import Message


class TerminalOutput:
    """The file of a terminal. After the terminal is gone, it discards what is written."""

    def __init__(self, file: TextIO) -> None:
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
