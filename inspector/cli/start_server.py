"""Starts a server with a command, waits until its URL responds, and stops it with its children afterwards."""

from __future__ import annotations

import asyncio
import os
import ssl
import subprocess
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from inspector import command_words
from inspector.config.private_keys import PrivateKeyFilter
from inspector.errors import ConnectionProblem, ServerExited, SpawnError, UsageError
from inspector.text import decode_log
from inspector.transports.child import OTHERS_EXIT_SECONDS, ServerProcess, describe_status
from inspector.transports.http_url import parse_url
from inspector.transports.pipes import StderrPipe

if TYPE_CHECKING:
    from inspector.config.targets import HttpTarget

WAIT = 20.0
"""Seconds to wait until the URL responds."""
LAST_LINES = 20
_LINE_BYTES = 500
_POLL_SECONDS = 0.1


def words_of(command: str) -> list[str]:
    """Split a command line as a shell does. Raises `UsageError`."""
    try:
        words = command_words.split(command)
    except ValueError:
        words = []
    if not words:
        raise UsageError("The quotes in --start are not closed.", hint="Example: --start 'python server.py'")
    return words


@asynccontextmanager
async def started(words: list[str], target: HttpTarget, seconds: float) -> AsyncIterator[None]:
    """Run a command during the block, which starts when the target's URL responds.

    The command has our environment and working directory, and no input. Raises `UsageError` if the URL responds before
    the command is started, `ServerExited` with the last lines of output if the command exits or does not respond.
    """
    if await _answers(target):
        raise UsageError(
            f"{target.url} responds before --start has started the server.",
            hint="Stop the server that is running there, or remove --start.",
        )
    try:
        process = ServerProcess(words, os.environ, None, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    except SpawnError as error:
        raise ConnectionProblem(error.message, hint="Correct --start; it runs without a shell.") from None
    output = _Output(process)
    try:
        await _wait(process, words, target, seconds, output.last)
        yield
        if process.status is not None:
            raise _ended(process, words, "during the check", output.last)
    finally:
        try:
            await _end(process)
        finally:
            process.end()
            output.close()


class _Output:
    """Reads the output, so that the server never blocks, and keeps its last lines."""

    def __init__(self, process: ServerProcess) -> None:
        self.last: deque[str] = deque(maxlen=LAST_LINES)
        self._keys = PrivateKeyFilter()
        self._pipe = StderrPipe(process.popen.stdout, self._read)
        self.close = self._pipe.close

    def _read(self, lines: list[bytes]) -> None:
        self.last.extend(decode_log(line[:_LINE_BYTES]) for line in map(self._keys.line, lines))


async def _wait(process: ServerProcess, words: list[str], target: HttpTarget, seconds: float, last: deque[str]) -> None:
    try:
        async with asyncio.timeout(seconds):
            while not await _answers(target):
                if process.status is not None:
                    await asyncio.sleep(_POLL_SECONDS)  # The last lines may still be in the pipe.
                    raise _ended(process, words, f"before {target.url} responded", last)
                await asyncio.sleep(_POLL_SECONDS)
    except TimeoutError:
        raise ServerExited(
            f"{target.url} did not respond within {seconds:g} s after “{words[0][:80]}” was started.",
            hint="Increase --wait, or check the port.",
            stderr=tuple(last),
        ) from None


def _ended(process: ServerProcess, words: list[str], when: str, last: deque[str]) -> ServerExited:
    status = process.status or 0
    return ServerExited(
        f"“{words[0][:80]}” {describe_status(status)} {when}.",
        hint="Run the command of --start alone to see the cause.",
        status=status,
        stderr=tuple(last),
    )


async def _answers(target: HttpTarget) -> bool:
    """Whether the URL returns an HTTP response with any status. Sends only a HEAD request."""
    url = parse_url(target.url)
    context = None
    if target.url.lower().startswith("https:"):
        # Only the response counts; the checks connect with the target's own settings.
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    writer = None
    try:
        async with asyncio.timeout(2.0):
            reader, writer = await asyncio.open_connection(url.host, url.port, ssl=context)
            writer.write(f"HEAD / HTTP/1.1\r\nHost: {url.host}:{url.port}\r\nConnection: close\r\n\r\n".encode())
            return (await reader.read(5)).startswith(b"HTTP/")
    except (OSError, TimeoutError):
        return False
    finally:
        if writer is not None:
            writer.close()


async def _end(process: ServerProcess) -> None:
    """Terminate the command with its processes, and wait for them."""
    process.terminate()
    if await process.wait(OTHERS_EXIT_SECONDS) is not None:
        await asyncio.sleep(_POLL_SECONDS)  # Its children may need a little longer.
