"""A server process started for a check: how it ends on request, and which processes it leaves behind."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from inspector.check.visit.machine_load import slowdown
from inspector.config.targets import StdioTarget
from inspector.errors import SpawnError
from inspector.journal import channels
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import parse
from inspector.transports.child import child_environment, find_program

LOOK_EVERY = 0.02
"""Seconds between two looks at a process group."""
_END_SECONDS = 1.0


class Child:
    """A started server. Made by `child`, which stops it."""

    def __init__(
        self, process: asyncio.subprocess.Process, journal: Journal, command: tuple[str, ...], conn: int, visit: str
    ) -> None:
        self.process = process
        self.journal = journal
        self.conn = conn
        self.spawned = journal.record_life(
            channels.STDIO, "spawn", argv=command, pid=process.pid, conn=conn, visit=visit
        )
        """The event of its start."""
        self.seconds = 0.0
        """Seconds from the last action until it ended, or until the check stopped waiting."""
        self.ended = 0
        """The event of its end."""
        self._answer = asyncio.Event()
        self._reading = [asyncio.create_task(self._read(pipe)) for pipe in (process.stdout, process.stderr)]

    async def _read(self, pipe: asyncio.StreamReader | None) -> None:
        """Read stdout so that the server never blocks; another check reads its content."""
        assert pipe is not None
        while await pipe.read(1 << 16):
            if pipe is self.process.stdout:
                self._answer.set()
        self._answer.set()

    async def greet(self, message: bytes, seconds: float) -> None:
        """Send one request to know that the server is up, and wait for output or its end."""
        assert self.process.stdin is not None
        self.journal.record_sent(channels.STDIO, message, parse(message), conn=self.conn)
        with suppress(ConnectionError, TimeoutError):
            self.process.stdin.write(message + b"\n")
            async with asyncio.timeout(seconds):
                await self.process.stdin.drain()
                await self._answer.wait()

    async def close_input(self, seconds: float) -> bool:
        """Close its stdin and wait for its end. Returns whether it ended."""
        assert self.process.stdin is not None
        self.journal.record_life(channels.STDIO, "input-closed", pid=self.process.pid, conn=self.conn)
        self.process.stdin.close()
        return await self._wait(seconds)

    async def terminate(self, seconds: float) -> bool:
        """Send SIGTERM to the process alone, as a client does. Returns whether it ended."""
        self.journal.record_life(channels.STDIO, "signal", pid=self.process.pid, signal="SIGTERM", conn=self.conn)
        with suppress(ProcessLookupError):
            self.process.terminate()
        return await self._wait(seconds)

    async def _wait(self, seconds: float) -> bool:
        """Wait for its end, longer on a busy machine."""
        began = time.monotonic()
        await self._look(seconds)
        if self.process.returncode is None:
            await self._look(seconds * (slowdown() - 1))
        self.seconds = time.monotonic() - began
        status = self.process.returncode
        if status is None:
            return False
        self.ended = self.journal.record_life(
            channels.STDIO, "exit", status=status, pid=self.process.pid, conn=self.conn
        )
        return True

    async def _look(self, seconds: float) -> None:
        for _ in range(int(seconds / LOOK_EVERY)):
            # Not `wait`: it lasts until every process closes the pipes, child processes too.
            if self.process.returncode is not None:
                break
            await asyncio.sleep(LOOK_EVERY)

    @property
    def status(self) -> int | None:
        """Its exit code, negative for a signal."""
        return self.process.returncode

    async def survivors(self, seconds: float) -> int:
        """The number of processes left in its group, after a short wait for them."""
        for _ in range(int(seconds / LOOK_EVERY)):
            if not self._left():
                return 0
            await asyncio.sleep(LOOK_EVERY)
        return self._left()

    def _left(self) -> int:
        try:
            os.killpg(self.process.pid, 0)
        except (ProcessLookupError, PermissionError):
            return 0
        return _members(self.process.pid)

    async def end(self) -> None:
        """Kill the whole group now."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_SECONDS):
                await self.process.wait()
        for task in self._reading:
            task.cancel()
        await asyncio.gather(*self._reading, return_exceptions=True)


@asynccontextmanager
async def child(target: StdioTarget, journal: Journal, visit: str) -> AsyncIterator[Child]:
    """Start a server in its own process group, and end the group afterwards. Raises `SpawnError`.

    `visit` is the revision of the visit to which the process belongs in the recording.
    """
    environment = child_environment(target.env)
    program = find_program(target.command, environment)
    try:
        process = await asyncio.create_subprocess_exec(
            program or target.command[0],
            *target.command[1:],
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=target.cwd,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise SpawnError(f"“{target.command[0]}” could not be started: {error.strerror}.") from error
    started = Child(process, journal, target.command, journal.new_conn(), visit)
    try:
        yield started
    finally:
        await started.end()


def _members(group: int) -> int:
    """The number of running processes of a group, without zombies."""
    found = 0
    try:
        numbers = [name for name in os.listdir("/proc") if name.isdecimal()]
    except OSError:
        return 1  # This system has no such list; the group exists.
    for number in numbers:
        with suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{number}/stat", "rb") as file:
                state, _, own = file.read().rpartition(b") ")[2].split()[:3]
            found += int(own) == group and state not in (b"Z", b"X")
    return found
