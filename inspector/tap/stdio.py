"""A tap on stdio: between a client, which started us, and the server's command, which we start.

Bytes are passed on as they come, in both directions and on stderr, unchanged and at once. The server gets the whole
environment and the folder that the client gave us; signals that end us are passed to it, and its exit code becomes
ours.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress

from inspector.journal import channels
from inspector.journal.journal import Journal
from inspector.serving.base import MAX_UNSENT
from inspector.serving.standard_streams import DescriptorReader, DescriptorWriter, StandardStreams, can_wait
from inspector.tap.line_recorder import LineRecorder
from inspector.transports.child import (
    MARK,
    ExitWatch,
    exit_status,
    find_program,
    new_mark,
    signal_left,
    start_guarded,
)
from inspector.transports.pipes import BlockPipe, InputPipe

PAUSE_ABOVE = 1 << 22
"""Bytes that one side has not read yet, above which we stop reading from the other: it has to wait, as without us."""
LEFT = 5.0
"""Seconds for a server to exit after its client is gone; then it gets SIGTERM, and a second later SIGKILL."""
AFTER_TERM = 1.0
LAST_WORDS = 0.2
"""Seconds after the server's end for its remaining output; a process that it left behind may hold its pipes."""


class StdioTap:
    """`run` passes everything on until one side ends; returns the exit code for the client."""

    def __init__(self, command: Sequence[str], journal: Journal, *, cwd: str | None = None) -> None:
        self.command = list(command)
        self.journal = journal
        self._cwd = cwd
        self._recorder = LineRecorder(journal)
        self._loop: asyncio.AbstractEventLoop
        self._process: subprocess.Popen[bytes]
        self._exited: asyncio.Future[None]
        self._unheard: asyncio.Future[None]
        """Done when the server's output has no reader."""
        self._silent: asyncio.Future[None]
        """Done when the server's output has ended."""
        self._hanging_up: asyncio.Task[None] | None = None
        self._told: asyncio.Future[None]
        """Done when a signal has asked us to end."""

    async def run(self, environment: dict[str, str] | None = None) -> int:
        """Start the server and pass everything on. Raises `SpawnError` if it cannot be started."""
        self._loop = asyncio.get_running_loop()
        self._exited, self._unheard, self._silent, self._told = (self._loop.create_future() for _ in range(4))
        mark = new_mark()
        self._mark = mark[MARK]
        given = (dict(os.environ) if environment is None else environment) | mark
        program = find_program(self.command, given)
        self._process, guard = start_guarded(self.command, program, given, self._cwd)
        self.journal.record_life(
            channels.STDIO,
            "spawn",
            argv=self.command,
            program=program or self.command[0],
            cwd=self._cwd or os.getcwd(),
            env=sorted(given),
            pid=self._process.pid,
            by="tap",
        )
        files = self._files = StandardStreams(0, 1)
        complaints = _OwnStderr()
        self._to_server = InputPipe(self._process.stdin)
        self._to_client = DescriptorWriter(files.stdout, MAX_UNSENT, self._client_deaf, self._client_hears)
        self._to_person = DescriptorWriter(complaints.fd, MAX_UNSENT, lambda: None, self._person_hears)
        self._from_server = BlockPipe(self._process.stdout, self._said)
        self._from_stderr = BlockPipe(self._process.stderr, self._complained)
        self._from_client = DescriptorReader(files.stdin, self._asked)
        watch = ExitWatch(self._process, lambda: self._exited.set_result(None))
        self._take_signals()
        self._from_client.start()
        try:
            return await self._until_over()
        finally:
            watch.stop()
            self._kill()
            self._give_signals_back()
            self._from_client.close()
            self._watch_client_no_more()
            if self._hanging_up is not None:
                self._hanging_up.cancel()
            for pipe in (self._from_server, self._from_stderr):
                pipe.close()
            for output in (self._to_client, self._to_person):
                output.close()
            self._to_server.close()
            guard.stop()
            files.close()
            complaints.close()

    async def _until_over(self) -> int:
        """Wait for the server's end, or for the client's and then the server's."""
        await asyncio.wait((self._exited, self._unheard), return_when=asyncio.FIRST_COMPLETED)
        if not self._exited.done():
            await self._see_out()
        elif self._from_server.open:
            await self._hear_out()
        until = self._loop.time() + LAST_WORDS
        for pipe in (self._from_server, self._from_stderr):
            pipe.drain(until)
        for end in (self._recorder.received, self._recorder.complained, self._recorder.sent):
            end(b"")
        status = exit_status(self._process)
        self.journal.record_life(
            channels.STDIO, "exit", status=status, signal=-status if status is not None and status < 0 else None
        )
        await self._flush()
        return status if status is not None and status >= 0 else 128 - (status or 0)

    async def _hear_out(self) -> None:
        """Wait for the output of an ended process that another one still holds, for a limited time."""
        handed_over = exit_status(self._process) == 0 and self._to_server.has_reader()
        if handed_over:
            self.journal.record_life(channels.STDIO, "handed-over", status=0)
        await asyncio.wait(
            (self._unheard, self._silent),
            timeout=None if handed_over else LAST_WORDS,
            return_when=asyncio.FIRST_COMPLETED,
        )

    async def _see_out(self) -> None:
        """End the server if it does not exit by itself, because the client reads nothing more."""
        for seconds, number in ((LEFT, signal.SIGTERM), (AFTER_TERM, signal.SIGKILL), (AFTER_TERM, None)):
            await asyncio.wait((self._exited,), timeout=seconds)
            if self._exited.done():
                return
            if number is not None:
                self._signal(number)

    async def _flush(self) -> None:
        """Flush: a slow client gets everything, however long that takes; stderr may be dropped."""
        flushed = asyncio.ensure_future(self._to_client.drained(0))
        await asyncio.wait((flushed, self._told), return_when=asyncio.FIRST_COMPLETED)
        complained = asyncio.ensure_future(self._to_person.drained(0))
        await asyncio.wait((flushed, complained), timeout=AFTER_TERM)
        for waiting in (flushed, complained):
            waiting.cancel()

    # Bytes

    def _asked(self, block: bytes) -> None:
        """Handle data from the client; empty at the end. The bytes are passed on before they are parsed."""
        if not block:
            self._recorder.sent(block)
            self.journal.record_life(channels.STDIO, "client-closed")
            self._to_server.close(after_queue=True)
            self._watch_client()
            return
        self._to_server.write(block)
        self._recorder.sent(block)
        if self._to_server.queued > PAUSE_ABOVE:
            self._from_client.pause()
            self._loop.call_later(0.01, self._ask_on)

    def _ask_on(self) -> None:
        if self._to_server.open and self._to_server.queued > PAUSE_ABOVE // 2:
            self._loop.call_later(0.01, self._ask_on)
        else:
            self._from_client.resume()

    def _said(self, block: bytes) -> None:
        """Handle data from the server; empty at the end."""
        if not block:
            self._silent.set_result(None)
            self._hanging_up = self._loop.create_task(self._hang_up())
            return
        self._to_client.write(block)
        self._recorder.received(block)
        if self._to_client.unsent > PAUSE_ABOVE:
            self._from_server.pause()

    async def _hang_up(self) -> None:
        """Close our stdout after the server's, when the client has read the rest; the server may still run."""
        await self._to_client.drained(0)
        self._watch_client_no_more()
        self._to_client.close()
        self._files.hang_up()

    def _complained(self, block: bytes) -> None:
        if not block:
            return
        self._to_person.write(block)
        self._recorder.complained(block)
        if self._to_person.unsent > PAUSE_ABOVE:
            self._from_stderr.pause()

    def _client_hears(self) -> None:
        self._from_server.resume()

    def _person_hears(self) -> None:
        self._from_stderr.resume()

    def _client_deaf(self) -> None:
        """Close the server's stdout, because its reader is gone, so that it notices as without us."""
        if self._unheard.done():
            return
        self._unheard.set_result(None)
        self._watch_client_no_more()
        self.journal.record_life(channels.STDIO, "client-gone")
        self._from_server.drain(self._loop.time() + LAST_WORDS)
        self._from_server.close()
        self._to_server.close()

    def _watch_client(self) -> None:
        """Detect a client that is gone after it stopped writing: then our stdout has no reader either."""
        if can_wait(self._files.stdout) and not self._unheard.done():
            self._loop.add_reader(self._files.stdout, self._look_for_client)

    def _look_for_client(self) -> None:
        self._watch_client_no_more()
        poll = select.poll()
        poll.register(self._files.stdout, 0)
        if poll.poll(0):  # only errors and hang-ups are requested, which are always reported
            self._to_client.close()
            self._client_deaf()

    def _watch_client_no_more(self) -> None:
        self._loop.remove_reader(self._files.stdout)

    # End

    def _take_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with suppress(NotImplementedError, ValueError, RuntimeError):
                self._loop.add_signal_handler(number, self._told_to_end, number)

    def _give_signals_back(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with suppress(NotImplementedError, ValueError, RuntimeError):
                self._loop.remove_signal_handler(number)

    def _told_to_end(self, number: int) -> None:
        """Pass a signal from the client to the server."""
        if not self._told.done():
            self._told.set_result(None)
        self.journal.record_life(channels.STDIO, "signal", signal=number)
        self._signal(number)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _kill(self) -> None:
        """Kill the rest of the server's group; it is reaped only then, so that its number is not reused before."""
        self._signal(signal.SIGKILL)
        signal_left(self._mark, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.5)


class _OwnStderr:
    """Our stderr, on its own descriptor; other processes may share it, so it is restored."""

    def __init__(self) -> None:
        try:
            self.fd = os.dup(2)
        except OSError:  # we were started without one
            self.fd = os.open(os.devnull, os.O_WRONLY)
        self._blocking = os.get_blocking(self.fd)

    def close(self) -> None:
        """Restore it."""
        with suppress(OSError):
            os.set_blocking(self.fd, self._blocking)
        os.close(self.fd)
