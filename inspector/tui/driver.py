"""A terminal driver that keeps working after its terminal is gone.

After the window is closed, the kernel answers every write with an error. Textual's writer thread then dies, its queue
fills up, and the next write blocks forever: Inspector and its server would keep running.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, TextIO

from textual.driver import Driver


class Output:
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
    """Return the same driver, which writes through an `Output`."""

    class Enduring(driver):  # type: ignore[misc, valid-type]
        _file: Any

        def __init__(self, *words: Any, **more: Any) -> None:
            super().__init__(*words, **more)
            self._file = Output(self._file)

    return Enduring
