"""A server process started for a check: how it ends on request, and which processes it leaves behind."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from inspector.check.visit.machine_load import slowdown
from inspector.config.targets import StdioTarget
from inspector.journal import channels
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import parse
from inspector.transports.child import ServerProcess, environment_of
from inspector.transports.pipes import BlockPipe, InputPipe

LOOK_EVERY = 0.02
"""Seconds between two looks at a process group."""


class Child:
    """A started server. Made by `child`, which stops it."""

    def __init__(self, process: ServerProcess, journal: Journal, visit: str, why: str) -> None:
        self.process = process
        self.journal = journal
        self.conn = journal.new_conn()
        self.spawned = journal.record_life(
            channels.STDIO,
            "spawn",
            argv=process.spawned["argv"],
            pid=process.pid,
            conn=self.conn,
            visit=visit,
            why=why,
        )
        """The event of its start."""
        self.seconds = 0.0
        """Seconds from the last action until it ended, or until the check stopped waiting."""
        self.ended = 0
        """The event of its end."""
        self._answer = asyncio.Event()
        self._input = InputPipe(process.popen.stdin)
        self._outputs = (
            BlockPipe(process.popen.stdout, self._read_block),
            BlockPipe(process.popen.stderr, lambda block: None),
        )

    def _read_block(self, block: bytes) -> None:
        """Read stdout so that the server never blocks; another check reads its content. Empty at its end."""
        self._answer.set()

    async def greet(self, message: bytes, seconds: float) -> None:
        """Send one request to know that the server is up, and wait for output or its end."""
        self.journal.record_sent(channels.STDIO, message, parse(message), conn=self.conn)
        self._input.write(message + b"\n")
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._answer.wait()

    async def close_input(self, seconds: float) -> bool:
        """Close its stdin and wait for its end. Returns whether it ended."""
        self.journal.record_life(channels.STDIO, "input-closed", pid=self.process.pid, conn=self.conn)
        self._input.close()
        return await self._wait(seconds)

    async def terminate(self, seconds: float) -> bool:
        """Send SIGTERM to the process alone, as a client does. Returns whether it ended."""
        self.journal.record_life(channels.STDIO, "signal", pid=self.process.pid, signal="SIGTERM", conn=self.conn)
        self.process.terminate_program()
        return await self._wait(seconds)

    async def _wait(self, seconds: float) -> bool:
        """Wait for its end, longer on a busy machine; False if it still runs."""
        began = time.monotonic()
        status = await self.process.wait(seconds)
        if status is None:
            status = await self.process.wait(seconds * (slowdown() - 1))
        self.seconds = time.monotonic() - began
        if status is None:
            return False
        self.ended = self.journal.record_life(
            channels.STDIO, "exit", status=status, pid=self.process.pid, conn=self.conn
        )
        return True

    @property
    def status(self) -> int | None:
        """Its exit code, negative for a signal."""
        return self.process.status

    async def survivors(self, seconds: float) -> int:
        """The number of processes left in its group, after a short wait for them."""
        for _ in range(int(seconds / LOOK_EVERY)):
            if not self.process.running():
                return 0
            await asyncio.sleep(LOOK_EVERY)
        return self.process.running()

    def close_pipes(self) -> None:
        """Close stdin, stdout and stderr."""
        self._input.close()
        for pipe in self._outputs:
            pipe.close()


@asynccontextmanager
async def child(target: StdioTarget, journal: Journal, visit: str, why: str = "") -> AsyncIterator[Child]:
    """Start a server in its own process group, and end all its processes afterwards. Raises `SpawnError`.

    `visit` is the revision of the visit to which the process belongs in the recording, `why` its purpose.
    """
    process = ServerProcess(target.command, environment_of(target), target.cwd)
    try:
        started = Child(process, journal, visit, why)
        try:
            yield started
        finally:
            started.close_pipes()
    finally:
        process.end()
