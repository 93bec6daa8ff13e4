"""stdio: the server is a child process; messages are lines on its stdin and stdout.

Source: specification, "Transports", "stdio" of every revision (C-STDIO-01 … C-STDIO-10).

The process that we start may not be the server: `npx` and shells start the server and wait for it, `setsid` and others
start it and exit. While the process that we started runs, only the end of stdout ends the connection. If it has ended
and stdout is still open, another process has inherited stdout:

- The process failed, or was the server itself (it read what we sent, or sent messages): the server is gone. We read the
  remaining output, report the loss with its exit code and last lines of stderr, and kill the rest of its process group,
  which can serve no more requests. With exit code 0, messages that keep coming delay that.
- The process exited with code 0 before it read or sent anything, and another process has stdin open: it was a launcher,
  and the server is the process that reads what we send. If no process does within `TAKE_UP`, the connection is lost.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress

from inspector.config.private_keys import MARK as KEY
from inspector.errors import LimitReached, ServerExited, SessionLost
from inspector.hints import Hint
from inspector.journal import channels
from inspector.log_lines import searched, shown
from inspector.text import safe
from inspector.transports.base import MAX_MESSAGE, Outgoing, Sink
from inspector.transports.child import (
    MARK,
    ChildGuard,
    ExitWatch,
    child_environment,
    describe_status,
    exit_status,
    find_program,
    new_mark,
    processor_ticks,
    signal_left,
    start_guarded,
)
from inspector.transports.pipes import InputPipe, LinePipe, StderrPipe
from inspector.transports.reading_pause import ReadingPause
from inspector.transports.withheld import passing_hint, withheld_names

MAX_LINE = MAX_MESSAGE
LAST_WORDS = 20
"""Lines of stderr kept for the error message."""
STDERR_SHOWN = 300
"""Characters of one line of stderr in the note of an error."""
GRACE = 0.4
"""Seconds for a child to exit after its stdin closed, and again after SIGTERM."""
HEARD_OUT = 0.3
"""Seconds of silence, after the end of the server's process, that end the wait for more output."""
LAST_WORDS_WITHIN = 0.1
"""Seconds for stderr to end after everything else."""
TAKE_UP = 5.0
"""Seconds for the process that a launcher left behind to read what we sent: many servers need that long to start."""
LOOK_EVERY = 0.05
"""Seconds between two checks whether it has."""

WORK_TICKS = 5
"""Hundredths of a second of processor time, within `WORK_SECONDS`, that show a server at work.

On a busy machine it gets little; an idle one uses less.
"""
WORK_SECONDS = 5.0

MAX_REPLIES = 1 << 20
"""Bytes of replies that the server has not read, beyond its pipe, above which we stop reading from it."""
GATHER_AFTER = 2
"""Messages that are written one by one before further ones, sent without waiting, are combined."""
GATHER_MOST = 32
"""Messages that are combined at most: the server works on these while the next ones are prepared."""


class StdioTransport:
    """A server started as a child in its own process group.

    `command` is argv; `env` has the variables added to the inherited few, or with `inherits` to all, or to those of
    `environ`; `cwd` is the folder to start in; `limit` is the most bytes of a line.
    """

    name = "stdio"
    channel = channels.STDIO

    def __init__(
        self,
        command: Sequence[str],
        sink: Sink,
        *,
        env: Mapping[str, str] | None = None,
        inherits: bool = False,
        environ: Mapping[str, str] | None = None,
        cwd: str | None = None,
        limit: int = MAX_LINE,
    ) -> None:
        self.command = list(command)
        self.sink = sink
        self.environment = child_environment(env or {}, environ, inherits=inherits or environ is not None)
        self.cwd = cwd
        self.process: subprocess.Popen[bytes] | None = None
        self.last_words: deque[str] = deque(maxlen=LAST_WORDS)
        self.status: int | None = None
        """Exit code of the child, negative for a signal; None while it runs."""
        self._limit = limit
        self._loop: asyncio.AbstractEventLoop
        self._in: InputPipe
        self._out: LinePipe
        self._err: StderrPipe
        self._out_ended: asyncio.Future[None]
        self._exited: asyncio.Future[None]
        self._watch: ExitWatch
        self._guard: ChildGuard
        self._mark = ""
        self._heard = 0
        """Reads with messages."""
        self._has_written = False
        """The server has written to stdout or stderr."""
        self._worked = (0.0, 0)
        """A time, and the processor time that the server had used then."""
        self._held: list[bytes] = []
        self._replies = 0
        """Bytes of replies in the queue for stdin."""
        self._paused = False
        self._pause = ReadingPause(sink, self.channel)
        self._unanswered = 0
        self._unheard: list[Outgoing] = []
        self._deaf: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self._heir = False
        """The process that we started has left its work to another one."""
        self._closing = False
        self._finished = False
        self._said_lost = False

    async def start(self) -> None:
        """Start the child. Raises `SpawnError` with the reason: missing, not executable, no such folder."""
        self._loop = asyncio.get_running_loop()
        self._out_ended, self._exited = self._loop.create_future(), self._loop.create_future()
        mark = new_mark()
        self._mark = mark[MARK]
        environment = self.environment | mark
        program = find_program(self.command, environment)
        process, self._guard = start_guarded(self.command, program, environment, self.cwd)
        self.process = process
        self.sink.life(
            self.channel,
            "spawn",
            argv=self.command,
            program=program or self.command[0],
            cwd=self.cwd or os.getcwd(),
            env=sorted(environment),
            pid=process.pid,
        )
        self._in = InputPipe(process.stdin, self._taken)
        self._out = LinePipe(
            process.stdout,
            limit=self._limit,
            received=self._received,
            ended=self._stdout_ended,
            too_long=self._too_long,
        )
        self._err = StderrPipe(process.stderr, self._complained)
        self._watch = ExitWatch(process, self._process_ended)

    # Read

    def _received(self, lines: list[bytes], cut: bool) -> None:
        self._has_written = True
        if not self._held:
            # Several answers at once: several requests are in flight, and more will follow in this turn.
            self._unanswered = GATHER_AFTER if len(lines) > 1 else 0
        if self.sink.received(self.channel, lines, cut=cut):
            self._heard += 1

    def _complained(self, lines: list[bytes]) -> None:
        self._has_written = True
        for line in self.sink.stderr(lines)[-LAST_WORDS:]:
            text = line.decode("utf-8", "replace").rstrip()
            if text != KEY or not self.last_words or self.last_words[-1] != KEY:
                self.last_words.append(text)

    def _too_long(self, size: int) -> None:
        """Handle an endless line, which would fill the memory: keep its beginning, report it, end the server."""
        self._said_lost = True
        self.sink.life(self.channel, "line-too-long", bytes=size)
        self.kill_now()
        self.sink.lost(
            LimitReached(
                f"The server wrote {size >> 20} MiB without a line end.",
                hint=(
                    "If the size is intended, raise max_body_bytes in the settings; the recording has the "
                    "start of the line."
                ),
            )
        )

    # End of the server

    def _stdout_ended(self) -> None:
        self._out_ended.set_result(None)
        self._find_out()

    def _process_ended(self) -> None:
        self._exited.set_result(None)
        self._find_out()

    def _find_out(self) -> None:
        if not self._closing and not self._said_lost and self._ending is None:
            self._ending = self._loop.create_task(self._end())

    async def _end(self) -> None:
        """stdout or the process has ended: wait for the other, then report once that the server is gone."""
        if self._out.open:
            await self._hear_out()
        else:
            await asyncio.wait((self._exited,), timeout=GRACE)
        for _ in range(int(LAST_WORDS_WITHIN / 0.005)):
            # The last stderr lines come after the last answer: wait for them, but not for the whole life of a
            # grandchild.
            if not self._err.open:
                break
            await asyncio.sleep(0.005)
        self._err.flush()
        left = self._out.open
        self._lost()
        if left:
            self._signal_group(signal.SIGTERM)
            await asyncio.sleep(GRACE)
            self._signal_group(signal.SIGKILL)

    async def _hear_out(self) -> None:
        """Handle an ended process with open stdout: wait while a server may be behind it (see the module docstring)."""
        status = self._exit_status()
        if status == 0 and not self._heard and not self._in.taken() and self._in.has_reader():
            self.sink.life(self.channel, "handed-over", status=status)
            if await self._is_taken_up():
                self._heir = True
                await self._silence(None)
            return
        while self._out.open:
            heard = self._heard
            await self._silence(HEARD_OUT)
            if status != 0 or heard == self._heard:
                return

    async def _silence(self, seconds: float | None) -> None:
        """Wait for the end of stdout, at most so many seconds."""
        await asyncio.wait((self._out_ended,), timeout=seconds)

    async def _is_taken_up(self) -> bool:
        """Whether another process reads what we send, or sends messages; waits while there is something to read."""
        waited = 0.0
        while not (taken := self._heard > 0 or bool(self._in.taken())):
            if not self._out.open or not self._in.has_reader() or waited >= TAKE_UP:
                break
            if self._in.unread() != 0:
                waited += LOOK_EVERY
            await self._silence(LOOK_EVERY)
        return taken

    def _lost(self) -> None:
        if self._said_lost:
            return
        self._said_lost = True
        status = self.status = self._exit_status()
        hint = "" if self.last_words else "It wrote nothing to stderr."
        if status is None:
            what = "closed its output but still runs"
            self.sink.life(self.channel, "closed", by="server")
        else:
            what = describe_status(status)
            if self._heir:
                what = f"closed its output; the command that started it {what}"
            elif self._out.open:
                hint = f"{hint} A process that it left behind is stopped too.".strip()
            self._out.close()
            self.sink.life(self.channel, "exit", status=status, signal=-status if status < 0 else None)
        self.sink.lost(self._exit_error(f"The server {what}.", hint, status))

    def _exit_error(self, message: str, hint: str, status: int | None = None) -> ServerExited:
        """Return the error for a child that ended. A note shows its stderr in a plain traceback."""
        words = tuple(self.last_words)
        # A server that has answered had its keys.
        names = withheld_names(searched(words), self.environment, guess=not self._heard)
        hint = Hint(hint).then(passing_hint(names)) if names else hint
        error = ServerExited(message, hint=hint, status=status, stderr=words)
        lines = [f"  {safe(line, STDERR_SHOWN)}" for line in shown(words)]
        if lines:
            error.add_note("\n".join(["Last lines on stderr:", *lines]))
        return error

    def _exit_status(self) -> int | None:
        assert self.process is not None
        return exit_status(self.process)

    def _is_gone(self) -> bool:
        """Whether the child and its successor have ended."""
        return self._exit_status() is not None and not self._out.open

    # Write

    def send(self, outgoing: Outgoing) -> None:
        """Record the message and write it as one line."""
        if self._said_lost or self._closing:
            raise (
                SessionLost("The server's input is closed.", hint="Restart it.")
                if self.status is None
                else self._exit_error(f"The server {describe_status(self.status)}.", "Restart it.", self.status)
            )
        if not self._in.open:
            self._send_unheard(outgoing)
            return
        # One message at a time is sent at once. Several in a row, without anything received in between, are combined at
        # the end of this turn of the event loop and cost one write together.
        self._unanswered += 1
        gather = self._unanswered > GATHER_AFTER
        self.sink.sent(self.channel, outgoing, hold=gather)
        if outgoing.id is None and not outgoing.method:
            self._replies += len(outgoing.data)
        if not gather:
            self._write(outgoing.data + b"\n")
            return
        if not self._held:
            self._loop.call_soon(self._send_held)
        self._held.append(outgoing.data)
        if len(self._held) >= GATHER_MOST:
            self._send_held()

    def _send_held(self) -> None:
        if self._held:
            self.sink.flush()
            self._held.append(b"")
            data = b"\n".join(self._held)
            self._held.clear()
            if self._in.open:
                self._write(data)

    def _write(self, data: bytes) -> None:
        """Write to stdin. While a server sends requests but does not read our replies, reading pauses, which bounds our
        memory."""
        self._in.write(data)
        if not self._in.queued:
            self._replies = 0
        elif self._replies > MAX_REPLIES and not self._paused:
            self._paused = True
            self._pause.begin()
            self._out.pause()

    def _taken(self) -> None:
        """The server has read all that was queued for it."""
        self._replies = 0
        if self._paused:
            self._paused = False
            self._pause.end()
            self._out.resume()

    def _send_unheard(self, outgoing: Outgoing) -> None:
        """The child has stopped reading, mostly because it is exiting: wait, because its exit status is the better
        reason."""
        self.sink.sent(self.channel, outgoing)
        self._unheard.append(outgoing)
        if self._deaf is None:
            self._deaf = self._loop.create_task(self._fail_unheard())

    async def _fail_unheard(self) -> None:
        await asyncio.sleep(GRACE)
        while self._ending is not None and not self._heir and not self._ending.done():
            await asyncio.wait((self._ending,), timeout=HEARD_OUT)
        if self._said_lost:
            return
        self._deaf = None
        error = self._exit_error("The server closed its input but still runs.", "Restart it.")
        unheard, self._unheard = self._unheard, []
        for outgoing in unheard:
            self.sink.failed(outgoing, error)

    def unread(self) -> int | None:
        """Return the bytes that the child has not read from its stdin; None if the system does not tell."""
        if self.process is None:
            return None
        waiting = self._in.unread()
        return None if waiting is None else waiting + sum(map(len, self._held))

    def is_starting(self) -> bool:
        """Return whether the child has written nothing so far and used the processor since the last call."""
        if self.process is None or self._has_written or self._said_lost:
            return False
        now, used = self._loop.time(), processor_ticks(self.process.pid)
        since, before = self._worked
        works = used - before >= WORK_TICKS
        if works or now - since > WORK_SECONDS:
            self._worked = (now, used)
        return works

    def agreed(self, revision: str, *, version_header: bool, resumable: bool, listen: bool) -> None:
        """Does nothing: stdio does not depend on the revision."""

    async def settled(self) -> None:
        """Does nothing: a pipe keeps the order."""

    def abandon(self, id: int | str) -> None:
        """Does nothing: a request on stdio holds no resources."""

    def close_stream(self, id: int | str) -> bool:
        """False: all requests share one pipe, so cancelling needs a notification (C-STDIO-07)."""
        return False

    # Close

    async def end_input(self, seconds: float) -> int | None:
        """Close stdin and wait for the end of the process. Returns its exit code; None if it still runs."""
        self._send_held()
        self._in.close(after_queue=True)
        await asyncio.wait((self._exited,), timeout=seconds)
        return self._exit_status()

    async def close(self) -> None:
        """Close stdin, wait, SIGTERM, wait, SIGKILL: within about a second (C-STDIO-04, C-STDIO-05). Idempotent."""
        process = self.process
        if process is None or self._finished:
            return
        first = not self._closing
        self._closing = True
        if self._ending is not None:
            self._ending.cancel()
        self._send_held()
        self._in.close(after_queue=True)
        try:
            if first:
                await self._wait_gone(GRACE)
            if not self._is_gone():
                self._signal_group(signal.SIGTERM)
                await self._wait_gone(GRACE)
        finally:
            # Also on cancellation: the rest of the group ends now, including children of the child.
            self._signal_group(signal.SIGKILL)
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.5)
            self._finish()

    async def _wait_gone(self, seconds: float) -> None:
        end = self._loop.time() + seconds
        pause = 0.001
        while not self._is_gone() and self._loop.time() < end:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.02)

    def _finish(self) -> None:
        assert self.process is not None
        self._finished = True
        self._watch.stop()
        if self._deaf is not None:
            self._deaf.cancel()
        self._in.close()
        # The recording includes answers and stderr lines that were still in the pipes, but not an endless flood.
        until = self._loop.time() + GRACE
        for pipe in (self._out, self._err):
            pipe.drain(until)
            pipe.close()
        self._guard.stop()
        if not self._said_lost:
            self._said_lost = True
            status = self.status = self.process.poll()
            self.sink.life(
                self.channel, "exit", status=status, signal=-status if status and status < 0 else None, by="us"
            )

    def kill_now(self) -> None:
        """Kill the child and its processes at once, without waiting: for exits without time for `close`."""
        if self.process is not None:
            self._signal_group(signal.SIGKILL)

    def _signal_group(self, number: int) -> None:
        assert self.process is not None
        if not self._finished:  # afterwards the number of the group may belong to another one
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)
            signal_left(self._mark, number)
