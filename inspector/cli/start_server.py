"""Starts a server with a command, waits until its URL responds, and stops it with its children afterwards."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import ssl
import subprocess
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from inspector.config.private_keys import PrivateKeyFilter
from inspector.errors import ConnectionProblem, ServerExited, UsageError
from inspector.transports.child import (
    MARK,
    ChildGuard,
    ExitWatch,
    describe_status,
    exit_status,
    mark_limits,
    new_mark,
    signal_left,
)
from inspector.transports.http_url import parse_url

if TYPE_CHECKING:
    from inspector.config.targets import HttpTarget

WAIT = 20.0
"""Seconds to wait until the URL responds."""
LAST_LINES = 20
_LINE = 500
_BETWEEN = 0.1
_GRACE = 5.0


def words_of(command: str) -> list[str]:
    """Split a command line as a shell does. Raises `UsageError`."""
    try:
        words = shlex.split(command)
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
    mark = new_mark()
    guard = ChildGuard(mark[MARK])
    try:
        process = _spawn(words, mark)
    except BaseException:
        guard.stop()
        raise
    guard.watch(process.pid)
    mark_limits(process.pid, mark[MARK])
    last: deque[str] = deque(maxlen=LAST_LINES)
    reader = asyncio.create_task(_read(process, last))
    try:
        await _wait(process, words, target, seconds, last)
        yield
        if exit_status(process) is not None:
            raise _ended(process, words, "during the check", last)
    finally:
        await _end(process)
        signal_left(mark[MARK], signal.SIGKILL)
        guard.stop()
        reader.cancel()
        with suppress(asyncio.CancelledError):
            await reader


def _spawn(words: list[str], mark: dict[str, str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
            env={**os.environ, **mark},
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "its words contain NUL"
        raise ConnectionProblem(
            f"“{words[0][:80]}” could not be started: {reason}.", hint="Correct --start; it runs without a shell."
        ) from None


async def _read(process: subprocess.Popen[bytes], last: deque[str]) -> None:
    """Read the output, so that the server never blocks, and keep its last lines."""
    assert process.stdout is not None
    pipe = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(pipe), process.stdout
    )
    try:
        await _take(pipe, last)
    finally:
        transport.close()


async def _take(pipe: asyncio.StreamReader, last: deque[str]) -> None:
    rest, keys = b"", PrivateKeyFilter()
    while chunk := await pipe.read(1 << 16):
        *lines, rest = (rest + chunk).split(b"\n")
        last.extend(line[:_LINE].decode("utf-8", "replace") for line in map(keys.line, lines))
        rest = rest[:_LINE]
    if rest:
        last.append(keys.line(rest).decode("utf-8", "replace"))


async def _wait(
    process: subprocess.Popen[bytes], words: list[str], target: HttpTarget, seconds: float, last: deque[str]
) -> None:
    try:
        async with asyncio.timeout(seconds):
            while not await _answers(target):
                if exit_status(process) is not None:
                    await asyncio.sleep(_BETWEEN)  # The last lines may still be in the pipe.
                    raise _ended(process, words, f"before {target.url} responded", last)
                await asyncio.sleep(_BETWEEN)
    except TimeoutError:
        raise ServerExited(
            f"{target.url} did not respond within {seconds:g} s after “{words[0][:80]}” was started.",
            hint="Increase --wait, or check the port.",
            stderr=tuple(last),
        ) from None


def _ended(process: subprocess.Popen[bytes], words: list[str], when: str, last: deque[str]) -> ServerExited:
    status = exit_status(process) or 0
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


async def _end(process: subprocess.Popen[bytes]) -> None:
    """Terminate the command and its process group, then kill it.

    The leader is reaped last, because until then the group id cannot be reused.
    """
    ended = asyncio.Event()
    watch = ExitWatch(process, ended.set)
    _signal(process, signal.SIGTERM)
    with suppress(TimeoutError):
        async with asyncio.timeout(_GRACE):
            await ended.wait()
            await asyncio.sleep(_BETWEEN)  # Its children may need a little longer.
    watch.stop()
    _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    process.wait()


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
