"""A process of the interface that draws for a browser, by the protocol of Textual's web driver.

The process writes one line when it is ready. After that, each packet of either direction is a letter, the length of the
rest in four bytes, and the rest: `D` is what a terminal would read or write, `M` a JSON object about the session.
"""

from __future__ import annotations

import asyncio
import json
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from typing import IO, Any, NamedTuple

from inspector.text import safe, wants_ascii

READY = b"__GANGLION__\n"
QUIT_SECONDS = 10.0
"""Seconds for the interface to end its sessions before it is killed."""
MAX_ERROR = 4000
"""Bytes of the end of stderr that are shown."""
MAX_CELLS = 1000

_OTHER_TERMINALS = (
    "TMUX", "STY", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "WT_SESSION", "KITTY_WINDOW_ID", "VTE_VERSION",
)  # fmt: skip
"""Variables that describe the terminal of the parent process."""


class Size(NamedTuple):
    """The size of the terminal in the page, in cells."""

    width: int = 80
    height: int = 24

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> Size:
        """Return the size that a page sent; the default for what is not one."""
        try:
            width, height = int(value["width"]), int(value["height"])
        except (KeyError, TypeError, ValueError, OverflowError):
            return cls()
        return cls(min(max(width, 1), MAX_CELLS), min(max(height, 1), MAX_CELLS))


def environment(environ: Mapping[str, str], driver: Mapping[str, str], size: Size) -> dict[str, str]:
    """Return the environment of the interface. `driver` is the variable that chooses Textual's web driver."""
    kept = {name: value for name, value in environ.items() if name not in _OTHER_TERMINALS}
    # The page draws every character, whatever the locale of the shell is.
    locale = {"LC_ALL": "C.UTF-8"} if wants_ascii(environ, None) else {}
    return {
        **kept,
        **locale,
        **driver,
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "PYTHONIOENCODING": "utf-8",
        "COLUMNS": str(size.width),
        "ROWS": str(size.height),
    }


class Program:
    """The process: `start` it, read `frames` to their end, and `end` it.

    Its stderr is the file `errors`: another program that it has started could hold a pipe open after its end.
    """

    def __init__(self, process: Process, errors: IO[bytes]) -> None:
        self._process = process
        self._errors = errors

    @classmethod
    async def start(cls, command: Sequence[str], environ: Mapping[str, str], errors: IO[bytes]) -> Program:
        """Start the interface, in a session of its own: `^c` on our terminal must not reach it."""
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=errors, env=dict(environ), start_new_session=True
        )
        return cls(process, errors)

    async def frames(self) -> AsyncIterator[bytes]:
        """Yield what the interface draws, until it ends."""
        output = self._process.stdout
        assert output is not None
        with suppress(asyncio.IncompleteReadError):
            await output.readuntil(READY)
            while True:
                kind = await output.readexactly(1)
                payload = await output.readexactly(int.from_bytes(await output.readexactly(4), "big"))
                if kind == b"D":
                    yield payload

    def type(self, text: str) -> None:
        """Send what was typed, pasted or clicked, as a terminal sends it."""
        self._send(b"D", text.encode("utf-8", "replace"))

    def tell(self, kind: str, **values: Any) -> None:
        """Send a message about the session: `resize`, `focus`, `blur`, `quit`."""
        self._send(b"M", json.dumps({"type": kind, **values}).encode())

    def _send(self, kind: bytes, payload: bytes) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        if not stdin.is_closing():
            stdin.write(kind + len(payload).to_bytes(4, "big") + payload)

    async def ended(self) -> str:
        """Wait for the end. Return the end of stderr, or else the exit code if the user did not quit."""
        code = await self._process.wait()
        self._errors.seek(max(self._errors.seek(0, os.SEEK_END) - MAX_ERROR, 0))
        error = safe(self._errors.read().decode("utf-8", "replace").strip(), multiline=True)
        return error or (f"exit code {code}" if code else "")

    async def end(self) -> None:
        """Quit as the user does, and kill the process if that takes long. Idempotent."""
        self.tell("quit")
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            async with asyncio.timeout(QUIT_SECONDS):
                await self._process.wait()
        except TimeoutError:
            self.kill()
            await self._process.wait()

    def kill(self) -> None:
        """End the process at once; a guard of its own then ends the servers that it has started."""
        with suppress(ProcessLookupError):
            self._process.kill()
