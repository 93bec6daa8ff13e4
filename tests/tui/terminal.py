"""A real pseudo-terminal with Inspector in it, and just enough of a screen to read what it shows."""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType

from rich.cells import cell_len

from tests.processes import environment, has_output, left_of

PATIENCE = 60.0
"""Seconds to wait for something to appear."""

_SEQUENCE = re.compile(
    r"\x1b\[([<-?]*)([0-9;:]*)([ -/]*)([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[P_^][^\x1b]*\x1b\\|\x1b[ -/]*[0-~]"
)
_UNFINISHED = re.compile(r"\x1b(?:\[[ -?]*|\][^\x07\x1b]*\x1b?|[P_^][^\x1b]*\x1b?|[ -/]*)?$")


class Grid:
    """The cells of a terminal: text, wrapped where it is too long, cursor movement, modes; colours are passed over."""

    def __init__(self, columns: int, rows: int) -> None:
        self.size(columns, rows)
        self.modes: dict[str, bool] = {}
        self.rest = ""

    def size(self, columns: int, rows: int) -> None:
        """Start again with another size."""
        self.columns, self.rows = columns, rows
        self.cells = [[" "] * columns for _ in range(rows)]
        self.x = self.y = 0

    def feed(self, text: str) -> None:
        """Take in what the program writes."""
        text = self.rest + text
        unfinished = _UNFINISHED.search(text)
        self.rest = text[unfinished.start() :] if unfinished else ""
        text = text[: len(text) - len(self.rest)]
        at = 0
        for match in _SEQUENCE.finditer(text):
            self._write(text[at : match.start()])
            at = match.end()
            if match[4]:
                self._control(match[1], match[2], match[4])
        self._write(text[at:])

    def _write(self, text: str) -> None:
        for char in text:
            if char == "\r":
                self.x = 0
            elif char == "\n":
                self.y = min(self.y + 1, self.rows - 1)
            elif char >= " ":
                width = cell_len(char)
                if self.x + width > self.columns:
                    self.x, self.y = 0, min(self.y + 1, self.rows - 1)
                self.cells[self.y][self.x : self.x + width] = [char] + [""] * (width - 1) if width else []
                self.x += width

    def _control(self, private: str, numbers: str, final: str) -> None:
        if final in "hl" and private == "?":
            for mode in numbers.split(";"):
                self.modes[mode] = final == "h"
        elif final == "H" and not private:
            row, _, column = numbers.partition(";")
            self.y = min(int(row or 1), self.rows) - 1
            self.x = min(int(column or 1), self.columns) - 1
        elif final == "J" and not private:
            self.cells = [[" "] * self.columns for _ in range(self.rows)]

    @property
    def text(self) -> str:
        """The text on the screen."""
        return "\n".join("".join(row).rstrip() for row in self.cells)


class Terminal:
    """`inspector WORDS` in a pseudo-terminal of its own session; it and all it started are gone when this ends."""

    def __init__(
        self, home: Path, words: Sequence[str], size: tuple[int, int] = (120, 35), *, script: str = "", **more: str
    ) -> None:
        self.grid = Grid(*size)
        self.raw = b""
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self.status: int | None = None
        variables = environment(home, TERM="xterm-256color", COLORTERM="truecolor") | more
        self.pid, self.fd = pty.fork()
        if not self.pid:
            try:
                os.chdir(home)
                start = ["-c", script] if script else ["-m", "inspector"]
                os.execve(sys.executable, [sys.executable, *start, *words], variables)
            finally:
                os._exit(127)
        self.resize(*size, tell=False)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.hang_up()
        if self.status is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        assert left_of(self.pid) == []

    def hang_up(self) -> None:
        """Close the terminal, as by closing its window."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def resize(self, columns: int, rows: int, *, tell: bool = True) -> None:
        """Give the terminal another size."""
        self.grid.size(columns, rows)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if tell:
            os.kill(self.pid, signal.SIGWINCH)

    def press(self, keys: str) -> None:
        """Type."""
        os.write(self.fd, keys.encode())

    def read(self, seconds: float = 0.05) -> bool:
        """Take in what there is, waiting a little; False where the program is gone."""
        if not has_output(self.fd, seconds):
            return True
        try:
            data = os.read(self.fd, 1 << 16)
        except OSError:  # Linux says so where the last process has closed its end.
            return False
        self.raw += data
        self.grid.feed(self._decode(data))
        return bool(data)

    def rest(self, seconds: float) -> None:
        """Press nothing for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.read():
            pass

    def until(self, so: Callable[[], bool], what: str) -> None:
        """Read until something is so."""
        end = time.monotonic() + PATIENCE
        while not so():
            if not self.read() or time.monotonic() > end:
                raise AssertionError(f"never {what}:\n{self.grid.text}\n{self.raw[-300:]!r}")

    def shows(self, *words: str) -> None:
        """Read until the screen shows all these words."""
        self.until(lambda: all(word in self.grid.text for word in words), f"{words}")

    def ends(self) -> int:
        """Read until the program has ended; returns its exit code, negative for a signal."""
        end = time.monotonic() + PATIENCE
        while self.status is None and time.monotonic() < end:
            if self.fd >= 0 and not self.read():
                self.hang_up()
            elif self.fd < 0:
                time.sleep(0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        assert self.status is not None, f"still running:\n{self.grid.text}"
        while self.fd >= 0 and has_output(self.fd, 0) and self.read():
            pass
        return self.status

    def quits(self, key: str = "q") -> None:
        """Press a key that ends the program well; the terminal is as it was."""
        self.press(key)
        assert self.ends() == 0
        assert self.is_restored

    @property
    def is_restored(self) -> bool:
        """Whether the alternate screen was left, the cursor is shown, and mouse, paste and focus reports are off."""
        modes = self.grid.modes
        off = ("1049", "1000", "1003", "1006", "1015", "1004", "2004")
        return modes.get("25") is True and not any(modes.get(mode, False) for mode in off)


def recordings(home: Path) -> Iterator[Path]:
    """The recordings kept in a home."""
    yield from sorted((home / "recordings").glob("*.mcp.jsonl"))
