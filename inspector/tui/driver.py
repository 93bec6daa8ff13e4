"""A driver that outlives its terminal.

Where the window was closed, the kernel answers every write with an error. Textual's writing thread ends of it, the
queue before it fills up, and whoever writes next waits for ever: Inspector would stay, and its server with it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, TextIO

from textual.driver import Driver


class Output:
    """The file of a terminal; once the terminal is gone, what is written goes nowhere."""

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
    """Return the same driver, writing through an `Output`."""

    class Enduring(driver):  # type: ignore[misc, valid-type]
        _file: Any

        def __init__(self, *words: Any, **more: Any) -> None:
            super().__init__(*words, **more)
            self._file = Output(self._file)

    return Enduring
