"""stdio: the server is a child process; messages are lines on its stdin and stdout.

Source: specification, "Transports", "stdio" of every revision (C-STDIO-01 … C-STDIO-10).

The process that we start may not be the server: `npx` and shells start the server and wait for it, `setsid` and others
start it and exit. While the process that we started runs, only the end of stdout ends the connection. If it has ended
and stdout is still open, another process has inherited stdout:

- The process failed, or was the server itself (it read what we sent, or sent messages): the server is gone. We read the
  remaining output, report the loss with its exit code and last lines of stderr, and kill the rest of its process group,
  which can serve no more requests. With exit code 0, messages that keep coming delay that.
- The process exited with code 0 before it read or sent anything, and another process has stdin open: it was a launcher,
  and the server is the process that reads what we send. If no process does within `SUCCESSOR_SECONDS`, the connection
  is lost.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto

from inspector.config.private_keys import MARK as KEY
from inspector.errors import InspectorError, LimitReached, ServerExited, SessionLost
from inspector.hints import Hint, Parameter
from inspector.journal import channels
from inspector.log_lines import display_lines, searched
from inspector.text import decode_log, safe
from inspector.transports.base import MAX_MESSAGE, Outgoing, Sink, Transport
from inspector.transports.child import EXIT_SECONDS, ServerProcess, child_environment, describe_status
from inspector.transports.pipes import LinePipe, StderrPipe
from inspector.transports.withheld import passing_hint, withheld_names
from inspector.transports.write_batch import WriteBatch

MAX_LINE = MAX_MESSAGE
LAST_WORDS = 20
"""Lines of stderr kept for the error message."""
STDERR_SHOWN = 300
"""Characters of one line of stderr in the note of an error."""
SILENCE_SECONDS = 0.3
"""Seconds of silence, after the end of the server's process, that end the wait for more output."""
STDERR_DRAIN_SECONDS = 0.1
"""Seconds for stderr to end after everything else."""
SUCCESSOR_SECONDS = 5.0
"""Seconds for the process that a launcher left behind to read what we sent: many servers need that long to start."""
LOOK_EVERY = 0.05
"""Seconds between two checks whether it has."""


class Lifetime(Enum):
    """The states of a server that was started."""

    RUNNING = auto()
    ENDING = auto()
    """Its process or its stdout has ended; more output may come."""
    HANDED_OVER = auto()
    """The process that we started has exited, and another one is the server."""
    LOST = auto()
    """It ended by itself, which was reported."""
    CLOSED = auto()
    """We end it."""


_OVER = (Lifetime.LOST, Lifetime.CLOSED)  # Looked up once: each message asks for them.
"""The states in which nothing is sent any more."""


class StdioTransport(Transport):
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
        self.process: ServerProcess | None = None
        self.status: int | None = None
        """Exit code of the child, negative for a signal; None while it runs."""
        self._limit = limit
        self._output: _Output
        self._input: WriteBatch
        self._state = Lifetime.RUNNING
        self._following: asyncio.Task[None] | None = None
        """Follows the server until `close`."""
        self._unwritten: list[Outgoing] = []
        """Messages that the server has refused by closing its stdin."""
        self._failing: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the child. Raises `SpawnError` with the reason: missing, not executable, no such folder."""
        process = self.process = ServerProcess(self.command, self.environment, self.cwd)
        self.sink.life(self.channel, "spawn", **process.spawned)
        self._output = _Output(process, self.sink, self._limit, lambda messages: self._input.received(messages))
        self._input = WriteBatch(process.popen.stdin, self.sink, self.channel, self._output)
        self._following = asyncio.create_task(self._follow(process))

    @property
    def last_words(self) -> Sequence[str]:
        """The last lines of stderr."""
        return self._output.last_words

    async def _follow(self, process: ServerProcess) -> None:
        """Wait until stdout or the process has ended, then for the other, and report once that the server is gone."""
        output = self._output
        await asyncio.wait((output.ended, process.exited), return_when=asyncio.FIRST_COMPLETED)
        self._state = Lifetime.ENDING
        if output.open:
            await self._outlive(process)
        elif not output.too_long:
            await process.wait(EXIT_SECONDS)
        if output.too_long:
            self._report_too_long(output.too_long)
            return
        await output.stderr_ended()
        left = output.open
        self._report_loss(process)
        if left:
            process.terminate()
            await asyncio.sleep(EXIT_SECONDS)
            process.kill()

    async def _outlive(self, process: ServerProcess) -> None:
        """Handle an ended process with open stdout: wait while a server may be behind it (see the module docstring)."""
        output, pipe = self._output, self._input.pipe
        if process.status == 0 and not output.messages and not pipe.taken() and pipe.has_reader():
            self.sink.life(self.channel, "handed-over", status=0)
            if await self._has_successor():
                self._state = Lifetime.HANDED_OVER
                await output.silence(None)
            return
        while output.open:
            messages = output.messages
            await output.silence(SILENCE_SECONDS)
            if process.status != 0 or messages == output.messages:
                return

    async def _has_successor(self) -> bool:
        """Whether another process reads what we send, or sends messages; waits while there is something to read."""
        output, pipe = self._output, self._input.pipe
        waited = 0.0
        while not (taken := output.messages > 0 or bool(pipe.taken())):
            if not output.open or not pipe.has_reader() or waited >= SUCCESSOR_SECONDS:
                break
            if pipe.unread() != 0:
                waited += LOOK_EVERY
            await output.silence(LOOK_EVERY)
        return taken

    def _report_too_long(self, size: int) -> None:
        """Report an endless line, which would fill the memory; its beginning is recorded. End the server."""
        self._state = Lifetime.LOST
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

    def _report_loss(self, process: ServerProcess) -> None:
        handed_over = self._state is Lifetime.HANDED_OVER
        self._state = Lifetime.LOST
        status = self.status = process.status
        hint = "" if self.last_words else "It wrote nothing to stderr."
        if status is None:
            what = "closed its output but still runs"
            self.sink.life(self.channel, "closed", by="server")
        else:
            what = describe_status(status)
            if handed_over:
                what = f"closed its output; the command that started it {what}"
            elif self._output.open:
                hint = f"{hint} A process that it left behind is stopped too.".strip()
            self._output.close_stdout()
            self.sink.life(self.channel, "exit", status=status, signal=-status if status < 0 else None)
        self.sink.lost(self._exit_error(f"The server {what}.", hint, status))

    def _exit_error(self, message: str, hint: str, status: int | None = None) -> ServerExited:
        """Return the error for a child that ended. A note shows its stderr in a plain traceback."""
        words = tuple(self.last_words)
        # A server that has answered had its keys.
        names = withheld_names(searched(words), self.environment, guess=not self._output.messages)
        hint = Hint(hint).then(passing_hint(names)) if names else hint
        error = ServerExited(message, hint=hint, status=status, stderr=words)
        lines = [f"  {safe(line, STDERR_SHOWN)}" for line in display_lines(words)]
        if lines:
            error.add_note("\n".join(["Last lines on stderr:", *lines]))
        return error

    def send(self, outgoing: Outgoing) -> None:
        """Record the message and write it as one line."""
        if self._state in _OVER:
            raise self._closed_error()
        if self._input.pipe.open:
            self._input.send(outgoing)
            return
        # The child has stopped reading, mostly because it is exiting: wait, because its exit status is the better
        # reason.
        self.sink.sent(self.channel, outgoing)
        self._unwritten.append(outgoing)
        if self._failing is None:
            self._failing = asyncio.create_task(self._fail_unwritten())

    def _closed_error(self) -> InspectorError:
        if self.status is None:
            return SessionLost("The server's input is closed.", hint=Hint(Parameter.RECONNECT, "."))
        return self._exit_error(f"The server {describe_status(self.status)}.", "Restart it.", self.status)

    async def _fail_unwritten(self) -> None:
        await asyncio.sleep(EXIT_SECONDS)
        following = self._following
        while self._state is Lifetime.ENDING and following is not None and not following.done():
            await asyncio.wait((following,), timeout=SILENCE_SECONDS)
        if self._state is Lifetime.LOST:
            return
        self._failing = None
        error = self._exit_error("The server closed its input but still runs.", Hint(Parameter.RECONNECT, "."))
        unwritten, self._unwritten = self._unwritten, []
        for outgoing in unwritten:
            self.sink.failed(outgoing, error)

    def unread(self) -> int | None:
        """Return the bytes that the child has not read from its stdin; None if the system does not tell."""
        return None if self.process is None else self._input.unread()

    def is_starting(self) -> bool:
        """Return whether the child has written nothing so far and used the processor since the last call."""
        if self.process is None or self._output.has_written or self._state is Lifetime.LOST:
            return False
        return self.process.has_worked()

    async def end_input(self, seconds: float) -> int | None:
        """Close stdin and wait for the end of the process. Returns its exit code; None if it still runs."""
        assert self.process is not None
        self._input.close()
        return await self.process.wait(seconds)

    async def close(self) -> None:
        """Close stdin, wait, SIGTERM, wait, SIGKILL: within about a second (C-STDIO-04, C-STDIO-05). Idempotent."""
        process = self.process
        if process is None or process.ended:
            return
        following, self._following = self._following, None
        if following is not None:
            following.cancel()
        if self._state is not Lifetime.LOST:
            self._state = Lifetime.CLOSED
        self._input.close()
        try:
            if following is not None:  # else it is being closed already, and hurries now
                await self._wait_gone(process)
            if not self._is_gone(process):
                process.terminate()
                await self._wait_gone(process)
        finally:
            # Also on cancellation: the rest of the group ends now, including children of the child.
            if not process.ended:
                process.end()
                self._finish(process)

    def _is_gone(self, process: ServerProcess) -> bool:
        """Whether the child and its successor have ended."""
        return process.status is not None and not self._output.open

    async def _wait_gone(self, process: ServerProcess) -> None:
        end = asyncio.get_running_loop().time() + EXIT_SECONDS
        pause = 0.001
        while not self._is_gone(process) and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.02)

    def _finish(self, process: ServerProcess) -> None:
        if self._failing is not None:
            self._failing.cancel()
        self._input.pipe.close()
        self._output.close()
        if self._state is Lifetime.CLOSED:
            status = self.status = process.status
            signalled = -status if status and status < 0 else None
            self.sink.life(self.channel, "exit", status=status, signal=signalled, by="us")

    def kill_now(self) -> None:
        """Kill the child and its processes at once, without waiting: for exits without time for `close`."""
        if self.process is not None:
            self.process.kill()


class _Output:
    """Reads the server's stdout and stderr. `on_read` gets the number of messages of each read of stdout."""

    def __init__(self, process: ServerProcess, sink: Sink, limit: int, on_read: Callable[[int], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._sink = sink
        self._on_read = on_read
        self.ended: asyncio.Future[int] = self._loop.create_future()
        """Done when stdout has ended; the result is the size of a line above the limit, else 0."""
        self.messages = 0
        """Reads with valid messages."""
        self.has_written = False
        self.last_words: deque[str] = deque(maxlen=LAST_WORDS)
        self._stdout = LinePipe(
            process.popen.stdout,
            limit=limit,
            received=self._received,
            ended=lambda: self.ended.set_result(0),
            too_long=self.ended.set_result,
        )
        self._stderr = StderrPipe(process.popen.stderr, self._on_stderr)
        self.pause, self.resume = self._stdout.pause, self._stdout.resume

    def _received(self, lines: list[bytes], cut: bool) -> None:
        self.has_written = True
        self._on_read(len(lines))
        if self._sink.received(channels.STDIO, lines, cut=cut):
            self.messages += 1

    def _on_stderr(self, lines: list[bytes]) -> None:
        self.has_written = True
        for line in self._sink.stderr(lines)[-LAST_WORDS:]:
            text = decode_log(line).rstrip()
            if text != KEY or not self.last_words or self.last_words[-1] != KEY:
                self.last_words.append(text)

    @property
    def open(self) -> bool:
        """Whether more may come on stdout."""
        return self._stdout.open

    @property
    def too_long(self) -> int:
        """The size of the line above the limit that has ended it, else 0."""
        return self.ended.result() if self.ended.done() else 0

    async def silence(self, seconds: float | None) -> None:
        """Wait for the end of stdout, at most so many seconds."""
        await asyncio.wait((self.ended,), timeout=seconds)

    async def stderr_ended(self) -> None:
        """Wait a moment for the last lines of stderr, which come after the last answer.

        A process that the server left behind may hold stderr open for long.
        """
        for _ in range(int(STDERR_DRAIN_SECONDS / 0.005)):
            if not self._stderr.open:
                break
            await asyncio.sleep(0.005)
        self._stderr.flush()

    def close_stdout(self) -> None:
        """Stop reading stdout."""
        self._stdout.close()
        if not self.ended.done():
            self.ended.set_result(0)

    def close(self) -> None:
        """Read answers and stderr lines that are still in the pipes, but not an endless flood, and close them."""
        until = self._loop.time() + EXIT_SECONDS
        for pipe in (self._stdout, self._stderr):
            pipe.drain(until)
            pipe.close()
