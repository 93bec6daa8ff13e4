"""stdio: the server is a child process; messages are lines on its stdin and stdout.

Source: specification, "Transports", "stdio" of every revision (C-STDIO-01 … C-STDIO-10). Raw file descriptors on the
event loop instead of asyncio's subprocess streams: those copy each line twice and are quadratic on long ones.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

from inspector.errors import LimitReached, ServerExited, SessionLost, SpawnError
from inspector.transports.base import LONGEST_MESSAGE, Outgoing, Sink

READ_SIZE = 1 << 18
FIRST_READ = 1 << 14
STDERR_READ = 1 << 16
MANY_LINES = 4096
"""Lines in one read above which less is read at a time, so that a flood of short ones leaves time for the rest."""
LONGEST_LINE = LONGEST_MESSAGE
STDERR_LINE = 1 << 16
"""Bytes of one stderr line at most; a longer one is recorded in pieces."""
LAST_WORDS = 20
"""Lines of stderr kept for the error message."""
GRACE = 0.4
"""Seconds a child has to end by itself after its stdin closed, and again after SIGTERM."""
GUARD_AFTER = 0.5
"""Seconds after which a guard process is started; a child that a one-shot command ends sooner needs none."""

GATHER_AFTER = 2
"""Messages that are written one by one before the next ones, sent without waiting, are gathered."""

_PIPE_SIZE = 1 << 20
_F_SETPIPE_SZ = 1031

INHERITED = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TMP", "TEMP", "PWD",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
    "SYSTEMROOT", "SYSTEMDRIVE", "APPDATA", "LOCALAPPDATA", "PROGRAMFILES", "USERPROFILE", "USERNAME", "HOMEDRIVE",
    "HOMEPATH", "COMSPEC", "PATHEXT", "PROCESSOR_ARCHITECTURE",
)  # fmt: skip
"""Variables that a child gets from us. Everything else must be given with `--env` or in the config entry."""
INHERITED_PREFIXES = ("LC_", "XDG_")

# Waits for us to die (its stdin ends without a word), then ends the child's process group.
_GUARD = 'read -r word && exit 0; kill -s TERM -- "-$1" 2>/dev/null; sleep 1; kill -s KILL -- "-$1" 2>/dev/null'


def child_environment(extra: Mapping[str, str], environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The child's environment: what every program needs, plus what was asked for."""
    ours = os.environ if environ is None else environ
    kept = {name: value for name, value in ours.items() if name in INHERITED or name.startswith(INHERITED_PREFIXES)}
    return kept | dict(extra)


class StdioTransport:
    """A server started as a child in a process group of its own.

    `command` is argv; `env` are the variables added to the inherited few; `cwd` is the folder it starts in; `limit` the
    bytes of a line that does not end.
    """

    name = "stdio"
    channel = "stdio"

    def __init__(
        self,
        command: Sequence[str],
        sink: Sink,
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        limit: int = LONGEST_LINE,
    ) -> None:
        self.command = list(command)
        self.sink = sink
        self.env = dict(env or {})
        self.cwd = cwd
        self.process: subprocess.Popen[bytes] | None = None
        self.last_words: deque[str] = deque(maxlen=LAST_WORDS)
        self.status: int | None = None
        """Exit code of the child, negative for a signal; None while it runs."""
        self._loop: asyncio.AbstractEventLoop
        self._view = memoryview(bytearray(READ_SIZE))
        self._ask = FIRST_READ
        self._parts: list[bytes] = []
        self._held_bytes = 0
        self._limit = limit
        self._stderr = b""
        self._queue: deque[memoryview] = deque()
        self._held: list[bytes] = []
        self._unanswered = 0
        self._stdin = self._stdout = self._stderr_fd = -1
        self._closing = False
        self._said_lost = False
        self._ended: asyncio.Future[None]
        self._watch: asyncio.Task[None] | None = None
        self._unheard: list[Outgoing] = []
        self._deaf: asyncio.Task[None] | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        self._guard_timer: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        """Start the child. Raises `SpawnError` with the reason: missing, not executable, no such folder."""
        self._loop = asyncio.get_running_loop()
        self._ended = self._loop.create_future()
        environment = child_environment(self.env)
        program = shutil.which(self.command[0], path=environment.get("PATH"))
        try:
            self.process = subprocess.Popen(  # noqa: ASYNC220 - a fork is a millisecond; asyncio's streams cost more per line
                [*self.command],
                executable=program,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=self.cwd,
                env=environment,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise self._spawn_error(error, program) from error
        self.sink.life(
            self.channel, "spawn", argv=self.command, program=program or self.command[0], cwd=self.cwd or os.getcwd(),
            env=sorted(environment), pid=self.process.pid,
        )  # fmt: skip
        self._stdin = _take(self.process.stdin)
        self._stdout = _take(self.process.stdout)
        self._stderr_fd = _take(self.process.stderr)
        self._loop.add_reader(self._stdout, self._read_stdout)
        self._loop.add_reader(self._stderr_fd, self._read_stderr)
        self._guard_timer = self._loop.call_later(GUARD_AFTER, self._start_guard)

    def _spawn_error(self, error: Exception, program: str | None) -> SpawnError:
        name = self.command[0]
        if self.cwd and not os.path.isdir(self.cwd):
            return SpawnError(
                f"The folder {self.cwd} does not exist, so {name} was not started.",
                hint="Check --cwd or the config entry.",
            )
        if isinstance(error, FileNotFoundError):
            if program:
                return SpawnError(
                    f"{program} was found, but the interpreter in its first line was not.",
                    hint="Check the “#!” line of the script.",
                )
            return SpawnError(
                f"The command “{name}” was not found.",
                hint="Is it installed, and on the PATH? A path such as ./server needs its folder; see --cwd.",
            )
        if isinstance(error, PermissionError) and os.path.isdir(os.path.join(self.cwd or "", name)):
            return SpawnError(f"“{name}” is a folder.", hint="Name the program in it that is the server.")
        if isinstance(error, PermissionError):
            return SpawnError(
                f"“{name}” may not be executed.", hint=f"Try: chmod +x {name} — or start it with its interpreter."
            )
        reason = getattr(error, "strerror", None) or str(error)
        return SpawnError(
            f"“{name}” could not be started: {reason}.", hint="Check the command; it is run without a shell."
        )

    # Reading

    def _read(self, fd: int, size: int) -> bytes | None:
        """What is there, up to `size` bytes, empty at the end; None where there is nothing yet.

        Read into a buffer of our own: `os.read` would ask for and give back a large block of memory each time.
        """
        try:
            return self._view[: os.readv(fd, (self._view[:size],))].tobytes()
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            return b""

    def _read_stdout(self) -> None:
        block = self._read(self._stdout, self._ask)
        if block is None:
            return
        if not block:
            self._stdout_ended()
            return
        if not self._held:
            self._unanswered = 0
        if b"\n" not in block:
            self._ask = READ_SIZE
            self._parts.append(block)
            self._held_bytes += len(block)
            if self._held_bytes > self._limit:
                self._give_up_line()
            return
        self._held_bytes = 0
        lines = block.split(b"\n")
        self._ask = min(READ_SIZE, max(FIRST_READ >> 1, len(block) * MANY_LINES // len(lines)))
        if self._parts:
            self._parts.append(lines[0])
            lines[0] = b"".join(self._parts)
            self._parts.clear()
        rest = lines.pop()
        if rest:
            self._parts.append(rest)
        self.sink.received(self.channel, lines)

    def _give_up_line(self) -> None:
        """A line without an end would fill the memory: keep its beginning, say so, end the server."""
        held, self._parts = self._held_bytes, self._parts[:4]
        self._stdout_ended(watch=False)
        error = LimitReached(
            f"The server wrote {held >> 20} MiB in one line that does not end.",
            hint="Raise max_body_bytes in the settings if it is meant; the first part of the line is in the recording.",
        )
        self._said_lost = True
        self.sink.life(self.channel, "line-too-long", bytes=held)
        self.kill_now()
        self.sink.lost(error)

    def _stdout_ended(self, *, watch: bool = True) -> None:
        self._loop.remove_reader(self._stdout)
        _close(self._stdout)
        self._stdout = -1
        if self._parts:
            rest = b"".join(self._parts)
            self._parts.clear()
            self.sink.received(self.channel, [rest], cut=True)
        if watch and not self._closing and self._watch is None:
            self._watch = self._loop.create_task(self._watch_exit())

    def _read_stderr(self) -> None:
        block = self._read(self._stderr_fd, STDERR_READ)
        if block is None:
            return
        if not block:
            self._loop.remove_reader(self._stderr_fd)
            _close(self._stderr_fd)
            self._stderr_fd = -1
            lines, self._stderr = [self._stderr] if self._stderr else [], b""
        else:
            *lines, self._stderr = (self._stderr + block).split(b"\n")
            while len(self._stderr) > STDERR_LINE:
                lines.append(self._stderr[:STDERR_LINE])
                self._stderr = self._stderr[STDERR_LINE:]
        if lines:
            self.last_words.extend(line.decode("utf-8", "replace").rstrip() for line in lines[-LAST_WORDS:])
            self.sink.stderr(lines)

    async def _watch_exit(self) -> None:
        """stdout has ended: find out how the child did, and say so once."""
        process = self.process
        assert process is not None
        for _ in range(40):
            if process.poll() is not None:
                break
            await asyncio.sleep(0.01)
        await self._drain_stderr()
        self._lost(process.poll())

    async def _drain_stderr(self) -> None:
        """The last words come after the last answer: give them a moment, but not the whole life of a grandchild."""
        for _ in range(20):
            if self._stderr_fd < 0:
                return
            await asyncio.sleep(0.005)

    def _lost(self, status: int | None) -> None:
        if self._said_lost:
            return
        self._said_lost = True
        self.status = status
        what = "closed its output and runs on" if status is None else describe_status(status)
        if status is not None:
            self.sink.life(self.channel, "exit", status=status, signal=-status if status < 0 else None)
        else:
            self.sink.life(self.channel, "closed", by="server")
        words = tuple(self.last_words)
        hint = "Its last words on stderr are shown with this error." if words else "It said nothing on stderr."
        self.sink.lost(ServerExited(f"The server {what}.", hint=hint, status=status, stderr=words))

    # Writing

    def send(self, outgoing: Outgoing) -> None:
        """Record the message and write it as one line."""
        if self._said_lost or self._closing:
            raise (
                SessionLost("The server's input is closed.", hint="Restart it.")
                if self.status is None
                else ServerExited(
                    f"The server {describe_status(self.status)}.",
                    hint="Restart it.",
                    status=self.status,
                    stderr=tuple(self.last_words),
                )
            )
        if self._stdin < 0:
            self._send_unheard(outgoing)
            return
        # One message at a time goes out at once. Where several follow each other without anything coming back, they are
        # gathered to the end of this turn of the event loop and cost one write together.
        self._unanswered += 1
        gather = self._unanswered > GATHER_AFTER
        self.sink.sent(self.channel, outgoing, hold=gather)
        if not gather:
            self._write(outgoing.data + b"\n")
            return
        if not self._held:
            self._loop.call_soon(self._send_held)
        self._held.append(outgoing.data)

    def _send_unheard(self, outgoing: Outgoing) -> None:
        """The child has stopped reading, mostly since it is ending: how it ended is the better reason, so wait."""
        self.sink.sent(self.channel, outgoing)
        self._unheard.append(outgoing)
        if self._deaf is None:
            self._deaf = self._loop.create_task(self._fail_unheard())

    async def _fail_unheard(self) -> None:
        await asyncio.sleep(GRACE)
        if self._said_lost:
            return
        self._deaf = None
        error = ServerExited(
            "The server closed its input and runs on.", hint="Restart it.", stderr=tuple(self.last_words)
        )
        unheard, self._unheard = self._unheard, []
        for outgoing in unheard:
            self.sink.failed(outgoing, error)

    def _send_held(self) -> None:
        if self._held:
            self.sink.flush()
            self._held.append(b"")
            data = b"\n".join(self._held)
            self._held.clear()
            if self._stdin >= 0:
                self._write(data)

    def _write(self, data: bytes) -> None:
        if self._queue:
            self._queue.append(memoryview(data))
            return
        try:
            written = os.write(self._stdin, data)
        except (BlockingIOError, InterruptedError):
            written = 0
        except OSError:
            self._input_broke()
            return
        if written < len(data):
            self._queue.append(memoryview(data)[written:])
            self._loop.add_writer(self._stdin, self._write_queue)

    def _write_queue(self) -> None:
        while self._queue:
            view = self._queue[0]
            try:
                written = os.write(self._stdin, view)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                self._input_broke()
                return
            if written < len(view):
                self._queue[0] = view[written:]
                return
            self._queue.popleft()
        self._loop.remove_writer(self._stdin)
        if self._closing:
            self._close_stdin()

    def _input_broke(self) -> None:
        """The child does not read any more. What it still writes is read; its end is found at stdout's end."""
        self._queue.clear()
        self._close_stdin()

    def _close_stdin(self) -> None:
        if self._stdin >= 0:
            self._loop.remove_writer(self._stdin)
            _close(self._stdin)
            self._stdin = -1

    def unread(self) -> int | None:
        """Bytes that the child has not read from its stdin yet; None where the system does not tell."""
        if self._stdin < 0 or not sys.platform.startswith("linux"):
            return None
        import fcntl
        import struct
        import termios

        try:
            waiting = fcntl.ioctl(self._stdin, termios.FIONREAD, b"\0\0\0\0")
        except OSError:
            return None
        return int(struct.unpack("i", waiting)[0]) + sum(map(len, self._queue)) + sum(map(len, self._held))

    def agreed(self, revision: str, *, version_header: bool, resumable: bool, listen: bool) -> None:
        """Nothing on stdio depends on the revision."""

    async def settled(self) -> None:
        """A pipe keeps the order; there is nothing to wait for."""

    def abandon(self, id: int | str) -> None:
        """Nothing is held for a request on stdio."""

    def close_stream(self, id: int | str) -> bool:
        """One pipe serves all requests: cancelling one takes a notification (C-STDIO-07)."""
        return False

    # Ending

    def _start_guard(self) -> None:
        """A small process that ends the child's group if we are killed (nobody else can, after a `kill -9`)."""
        if self.process is None or self.process.poll() is not None or os.name != "posix":
            return
        with suppress(OSError):
            self._guard = subprocess.Popen(
                ["/bin/sh", "-c", _GUARD, "inspector-guard", str(self.process.pid)],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True, env={}, cwd="/",
            )  # fmt: skip

    def _stop_guard(self) -> None:
        if self._guard_timer is not None:
            self._guard_timer.cancel()
        if self._guard is not None and self._guard.stdin is not None:
            with suppress(OSError):
                self._guard.stdin.write(b"done\n")
                self._guard.stdin.close()
            self._guard.wait()
            self._guard = None

    async def close(self) -> None:
        """Close stdin, wait, SIGTERM, wait, SIGKILL: within about a second (C-STDIO-04, C-STDIO-05). Idempotent."""
        process = self.process
        if process is None:
            return
        first = not self._closing
        self._closing = True
        self._send_held()
        if not self._queue:
            self._close_stdin()
        try:
            if first and process.poll() is None:
                await self._wait_exit(GRACE)
            if process.poll() is None:
                self._signal_group(signal.SIGTERM)
                await self._wait_exit(GRACE)
        finally:
            # Also on cancellation: whatever is left of the group goes now, children of the child included.
            self._signal_group(signal.SIGKILL)
            if process.poll() is None:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(0.5)
            self._finish(process.poll())

    async def _wait_exit(self, seconds: float) -> None:
        process = self.process
        assert process is not None
        end = self._loop.time() + seconds
        pause = 0.001
        while process.poll() is None and self._loop.time() < end:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.02)

    def _finish(self, status: int | None) -> None:
        for task in (self._watch, self._deaf):
            if task is not None:
                task.cancel()
        self._close_stdin()
        # Answers and last words that were still in the pipes belong into the recording; a flood does not, for ever.
        end = self._loop.time() + GRACE
        for fd, reader in ((self._stdout, self._read_stdout), (self._stderr_fd, self._read_stderr)):
            for _ in range(64):
                if fd not in (self._stdout, self._stderr_fd) or not _readable(fd) or self._loop.time() > end:
                    break
                reader()
        for fd in (self._stdout, self._stderr_fd):
            if fd >= 0:
                self._loop.remove_reader(fd)
                _close(fd)
        self._stdout = self._stderr_fd = -1
        self._stop_guard()
        if not self._said_lost:
            self._said_lost = True
            self.status = status
            self.sink.life(
                self.channel, "exit", status=status, signal=-status if status and status < 0 else None, by="us"
            )

    def kill_now(self) -> None:
        """End the child's group at once, without waiting: for exits that leave no time for `close`."""
        if self.process is not None:
            self._signal_group(signal.SIGKILL)

    def _signal_group(self, number: int) -> None:
        assert self.process is not None
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, number)


def describe_status(status: int) -> str:
    """An exit status in words: `ended with exit code 3`, `was ended by SIGSEGV`."""
    if status >= 0:
        return f"ended with exit code {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"was ended by {name}"


def _take(pipe: IO[bytes] | None) -> int:
    """Our own non-blocking descriptor of a pipe, as large as the system allows."""
    assert pipe is not None
    fd = os.dup(pipe.fileno())
    pipe.close()
    os.set_blocking(fd, False)
    if sys.platform.startswith("linux"):
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(fd, _F_SETPIPE_SZ, _PIPE_SIZE)
    return fd


def _readable(fd: int) -> bool:
    import select

    if fd < 0:
        return False
    poll = select.poll()
    poll.register(fd, select.POLLIN | select.POLLHUP)
    return bool(poll.poll(0))


def _close(fd: int) -> None:
    if fd >= 0:
        with suppress(OSError):
            os.close(fd)
