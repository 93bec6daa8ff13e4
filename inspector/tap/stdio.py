"""A tap on stdio: between a client, which started us, and the server's command, which we start.

Bytes are passed on as they come, in both directions and on stderr, unchanged and at once. The server gets the whole
environment and the folder that the client gave us; signals that end us are passed to it, and its exit code becomes
ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from inspector.journal import channels
from inspector.journal.alterations import ConnectionFilter, Sender
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import NotJson, parse
from inspector.serving.base import MAX_UNSENT
from inspector.serving.line_splitter import LineBuffer
from inspector.serving.standard_streams import StandardStreams, StreamWriter
from inspector.system.streams import StandardStream
from inspector.system.terminal import ENDING, watch_signals
from inspector.tap.filtered_lines import FilteredLines, Put
from inspector.transports.base import MessageFilter
from inspector.transports.child import OTHERS_EXIT_SECONDS, TERM_SECONDS, ServerProcess
from inspector.transports.pipes import BlockPipe, InputPipe

MAX_LENGTH = 1 << 28
"""Bytes of an unfinished line above which its beginning is recorded as an incomplete message."""
BEGINNING = 1 << 20
_STDERR_LINE = 1 << 16


class LineRecorder:
    """Records what the client writes (`sent`), what the server writes (`received`), and its stderr."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._sent, self._received, self._stderr = LineBuffer(), LineBuffer(), LineBuffer()

    def sent(self, block: bytes) -> None:
        """Record data of the client; empty at the end."""
        lines = self._sent.feed(block) if block else []
        for line in lines:
            self._record_sent(line)
        if self._sent.held > MAX_LENGTH or (not block and self._sent.held):
            self._record_sent(self._sent.rest()[:BEGINNING], cut=True)

    def _record_sent(self, line: bytes, *, cut: bool = False) -> None:
        try:
            message = None if cut else parse(line)
        except NotJson:
            message = None
        self.journal.record_sent(channels.STDIO, line, message, ',"cut":true' if cut else "")

    def received(self, block: bytes) -> None:
        """Record data of the server; empty at the end."""
        lines = self._received.feed(block) if block else []
        if lines:
            self.journal.record_received(channels.STDIO, lines)
        if self._received.held > MAX_LENGTH or (not block and self._received.held):
            self.journal.record_received(channels.STDIO, [self._received.rest()[:BEGINNING]], cut=True)

    def complained(self, block: bytes) -> None:
        """Record stderr of the server; empty at the end."""
        lines = self._stderr.feed(block) if block else []
        if self._stderr.held > _STDERR_LINE or (not block and self._stderr.held):
            lines.append(self._stderr.rest())
        if lines:
            self.journal.record_stderr(channels.STDERR, lines)


PAUSE_ABOVE = 1 << 22
"""Bytes that one side has not read yet, above which we stop reading from the other: it has to wait, as without us."""
DRAIN_SECONDS = 0.2
"""Seconds after the server's end for its remaining output; a process that it left behind may hold its pipes."""


async def run_tap(
    command: Sequence[str],
    journal: Journal,
    environment: Mapping[str, str],
    cwd: str | None,
    filter: MessageFilter | None = None,
) -> int:
    """Start the server and pass everything on until one side ends. Returns the exit code for the client.

    `filter` may change messages. Raises `SpawnError` if it cannot be started.
    """
    process = ServerProcess(command, environment, cwd)
    journal.record_life(channels.STDIO, "spawn", **process.spawned, by="tap")
    tap = StdioTap(process, journal, filter)
    stop_watching = watch_signals(ENDING, tap.pass_signal)
    try:
        return await tap.run()
    finally:
        stop_watching()
        process.end()
        tap.close()


class StdioTap:
    """Passes on what comes from our stdin to a started server, and from its stdout and stderr to ours."""

    def __init__(self, process: ServerProcess, journal: Journal, filter: MessageFilter | None = None) -> None:
        self.process = process
        self.journal = journal
        self._recorder = LineRecorder(journal)
        self._loop = asyncio.get_running_loop()
        self._unheard: asyncio.Future[None] = self._loop.create_future()
        """Done when the server's output has no reader."""
        self._silent: asyncio.Future[None] = self._loop.create_future()
        """Done when the server's output has ended."""
        self._signalled: asyncio.Future[None] = self._loop.create_future()
        """Done when a signal has asked us to end."""
        self._hanging_up: asyncio.Task[None] | None = None
        self._files = StandardStreams(0, 1)
        self._stderr = StandardStream(2)
        self._to_server = InputPipe(process.popen.stdin)
        self._to_client = self._files.writer(MAX_UNSENT, self._client_deaf, self._client_hears)
        self._to_person = StreamWriter(self._stderr.copy(), MAX_UNSENT, lambda: None, self._person_hears)
        self._from_server = BlockPipe(process.popen.stdout, self._on_server_block)
        self._from_stderr = BlockPipe(process.popen.stderr, self._complained)
        self._from_client = self._files.reader(self._asked)
        self._filter: ConnectionFilter | None = None
        self._filtered: FilteredLines | None = None
        if filter is not None:
            self._filter = filter.connection(lambda by, text: journal.record_life("", "addon", by=by, text=text))
            passes: dict[Sender, Put] = {"client": self._pass_to_server, "server": self._pass_to_client}
            writes: dict[Sender, Put] = {"client": self._to_server.write, "server": self._to_client.write}
            self._filtered = FilteredLines(self._filter, journal, passes, writes)

    async def run(self) -> int:
        """Wait for the server's end, or for the client's and then the server's. Returns the exit code."""
        self._from_client.resume()
        if self._filter is not None:
            self._filter.opened()
        await asyncio.wait((self.process.exited, self._unheard), return_when=asyncio.FIRST_COMPLETED)
        if not self.process.exited.done():
            await self._see_out()
        elif self._from_server.open:
            await self._hear_out()
        until = self._loop.time() + DRAIN_SECONDS
        for pipe in (self._from_server, self._from_stderr):
            pipe.drain(until)
        for end in (self._recorder.received, self._recorder.complained, self._recorder.sent):
            end(b"")
        status = self.process.status
        self.journal.record_life(
            channels.STDIO, "exit", status=status, signal=-status if status is not None and status < 0 else None
        )
        await self._flush()
        return status if status is not None and status >= 0 else 128 - (status or 0)

    def close(self) -> None:
        """Close all pipes and restore our own streams."""
        if self._filter is not None:
            self._filter.ended()
        self._from_client.close()
        if self._hanging_up is not None:
            self._hanging_up.cancel()
        for end in (self._from_server, self._from_stderr, self._to_client, self._to_person, self._to_server):
            end.close()
        self._files.close()
        self._stderr.close()

    async def _hear_out(self) -> None:
        """Wait for the output of an ended process that another one still holds, for a limited time."""
        handed_over = self.process.status == 0 and self._to_server.has_reader()
        if handed_over:
            self.journal.record_life(channels.STDIO, "handed-over", status=0)
        await asyncio.wait(
            (self._unheard, self._silent),
            timeout=None if handed_over else DRAIN_SECONDS,
            return_when=asyncio.FIRST_COMPLETED,
        )

    async def _see_out(self) -> None:
        """End the server if it does not exit by itself, because the client reads nothing more."""
        for seconds, end in ((OTHERS_EXIT_SECONDS, self.process.terminate), (TERM_SECONDS, self.process.kill)):
            if await self.process.wait(seconds) is not None:
                return
            end()
        await self.process.wait(TERM_SECONDS)

    async def _flush(self) -> None:
        """Flush: a slow client gets everything, however long that takes; stderr may be dropped."""
        flushed = asyncio.ensure_future(self._to_client.drained(0))
        await asyncio.wait((flushed, self._signalled), return_when=asyncio.FIRST_COMPLETED)
        complained = asyncio.ensure_future(self._to_person.drained(0))
        await asyncio.wait((flushed, complained), timeout=TERM_SECONDS)
        for waiting in (flushed, complained):
            waiting.cancel()

    def _asked(self, block: bytes) -> None:
        """Handle data from the client; empty at the end. The bytes are passed on before they are parsed."""
        if not block:
            if self._filtered is not None:
                self._filtered.end("client")
            self._recorder.sent(block)
            self.journal.record_life(channels.STDIO, "client-closed")
            self._to_server.close(after_queue=True)
            if not self._unheard.done():
                self._to_client.watch_reader()  # A client that stopped writing may be gone.
            return
        if self._filtered is not None:
            self._filtered.feed("client", block)
        else:
            self._pass_to_server(block)
        if self._to_server.queued > PAUSE_ABOVE:
            self._from_client.pause()
            self._loop.call_later(0.01, self._ask_on)

    def _pass_to_server(self, block: bytes) -> None:
        self._to_server.write(block)
        self._recorder.sent(block)

    def _pass_to_client(self, block: bytes) -> None:
        self._to_client.write(block)
        self._recorder.received(block)

    def _ask_on(self) -> None:
        if self._to_server.open and self._to_server.queued > PAUSE_ABOVE // 2:
            self._loop.call_later(0.01, self._ask_on)
        else:
            self._from_client.resume()

    def _on_server_block(self, block: bytes) -> None:
        """Handle data from the server; empty at the end."""
        if not block:
            if self._filtered is not None:
                self._filtered.end("server")
            self._silent.set_result(None)
            self._hanging_up = self._loop.create_task(self._hang_up())
            return
        if self._filtered is not None:
            self._filtered.feed("server", block)
        else:
            self._pass_to_client(block)
        if self._to_client.queued > PAUSE_ABOVE:
            self._from_server.pause()

    async def _hang_up(self) -> None:
        """Close our stdout after the server's, when the client has read the rest; the server may still run."""
        await self._to_client.drained(0)
        self._to_client.close()
        self._files.hang_up()

    def _complained(self, block: bytes) -> None:
        if not block:
            return
        self._to_person.write(block)
        self._recorder.complained(block)
        if self._to_person.queued > PAUSE_ABOVE:
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
        self.journal.record_life(channels.STDIO, "client-gone")
        self._from_server.drain(self._loop.time() + DRAIN_SECONDS)
        self._from_server.close()
        self._to_server.close()

    def pass_signal(self, number: int) -> None:
        """Pass a signal from the client to the server."""
        if not self._signalled.done():
            self._signalled.set_result(None)
        self.journal.record_life(channels.STDIO, "signal", signal=number)
        self.process.send_signal(number)
