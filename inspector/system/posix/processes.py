"""Processes on Linux and macOS.

A program is started in a process group of its own. On Linux a variable and a resource limit mark it, so that those of
its processes that moved to another session are found too.
"""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

assert sys.platform != "win32"

MARK = "INSPECTOR_CHILD"
"""The environment variable that identifies all processes of a program, in any session."""
MAX_SWEEPS = 5
"""Most searches for remaining processes: one that is being ended may start more."""
LOOK_EVERY = 0.2
"""Seconds between two checks of a process, if the system does not report its end."""
REAP_SECONDS = 1.0
"""Seconds for a killed program to disappear."""
PROC = "/proc"
"""The list of processes on Linux."""

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")

# Reads the leader of the program's process group, waits until we die (its stdin then ends without a word), then ends
# that group and all marked processes.
_GUARD = """
read -r leader && [ "$leader" != done ] && read -r word && exit 0
[ "$leader" = done ] && exit 0
left() {
    for file in $(grep -ls -e "$1" /proc/[0-9]*/environ; grep -ls -e "timeout *$2 " /proc/[0-9]*/limits); do
        pid=${file#/proc/}
        kill -s "$3" "${pid%%/*}" 2>/dev/null
    done
    [ -n "$leader" ] && kill -s "$3" -- "-$leader" 2>/dev/null
}
left "$1" "$2" TERM
sleep 1
left "$1" "$2" KILL
left "$1" "$2" KILL
"""


class ProcessTree:
    """A started program with all processes that it starts. `end` ends what is left of them, and so does our end."""

    def __init__(
        self,
        command: Sequence[str],
        program: str | None,
        environment: Mapping[str, str],
        cwd: str | None,
        *,
        stdin: int = subprocess.PIPE,
        stdout: int = subprocess.PIPE,
        stderr: int = subprocess.PIPE,
    ) -> None:
        """Start a command, with three pipes by default. `program` is its file. Raises OSError, ValueError."""
        self._mark = os.urandom(8).hex()
        self.ended = False
        # Before the program, because we may be killed at any moment; without one, the start below raises the reason.
        self._guard = _Guard(self._mark) if program is not None else None
        try:
            self.popen = subprocess.Popen(
                [*command],
                executable=program,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                bufsize=0,
                cwd=cwd,
                env={**environment, MARK: self._mark},
                start_new_session=True,
            )
        except BaseException:
            if self._guard is not None:
                self._guard.stop()
            raise
        self.pid = self.popen.pid
        if self._guard is not None:
            self._guard.watch(self.pid)
        _mark_limits(self.pid, self._mark)

    @property
    def status(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs.

        If possible, it is not reaped: until then its number cannot be reused, so that a signal to its group reaches
        only its own processes.
        """
        if self.popen.returncode is not None:
            return self.popen.returncode
        if sys.platform != "linux":
            return self.popen.poll()
        try:
            info = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return self.popen.poll()
        if info is None:
            return None
        return info.si_status if info.si_code == os.CLD_EXITED else -info.si_status

    def when_ended(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call `call` once, from the event loop, when the program has ended. Returns what stops that."""
        return _ExitWatch(self, call).stop

    def send_signal(self, number: int) -> None:
        """Send a signal to its process group. Afterwards its number may belong to another group."""
        if not self.ended:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def terminate_program(self) -> None:
        """Ask the program alone to end, as a client does."""
        if not self.ended:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)

    def terminate(self) -> None:
        """Ask all its processes to end, in any session."""
        self._signal_all(signal.SIGTERM)

    def kill(self) -> None:
        """End all its processes, in any session."""
        self._signal_all(signal.SIGKILL)

    def _signal_all(self, number: int) -> None:
        if not self.ended:
            self.send_signal(number)
            _signal_left(self._mark, number)

    def processor_time(self) -> float:
        """Return the seconds of processor time that its group has used; 0 if the system does not tell."""
        return sum(int(fields[11]) + int(fields[12]) for fields in _group(self.pid)) / _TICKS  # utime and stime

    def running(self) -> int:
        """Return how many processes of its group run; 1 for several if the system does not tell."""
        if not os.path.isdir(PROC):
            self.popen.poll()  # Without a list of processes, the ended leader would count.
        try:
            os.killpg(self.pid, 0)
        except (ProcessLookupError, PermissionError):
            return 0
        if not os.path.isdir(PROC):
            return 1
        return sum(fields[0] not in (b"Z", b"X") for fields in _group(self.pid))

    def end(self) -> None:
        """Kill all its processes. It is reaped only then, so that its number is not reused before. Idempotent."""
        if self.ended:
            return
        self.kill()
        with suppress(subprocess.TimeoutExpired):
            self.popen.wait(REAP_SECONDS)
        self.ended = True
        if self._guard is not None:
            self._guard.stop()


class _Guard:
    """A small process that ends a program and its processes if we are killed (even by `kill -9`).

    It is started before the program, which it finds by the mark.
    """

    def __init__(self, mark: str) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError):
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _GUARD, "inspector-guard", f"{MARK}={mark}", str(_limit(mark))],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env={},
                cwd="/",
            )

    def watch(self, leader: int) -> None:
        """Set the group of the started program: `leader` is its number."""
        self._say(f"{leader}\n")

    def stop(self) -> None:
        """End the guard, because the group has ended or there is none. Idempotent."""
        self._say("done\n")
        guard, self._process = self._process, None
        if guard is not None and guard.stdin is not None:
            with suppress(OSError):
                guard.stdin.close()
            guard.wait()

    def _say(self, line: str) -> None:
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.write(line.encode())
                self._process.stdin.flush()


class _ExitWatch:
    """Calls `call` once when a program has ended."""

    def __init__(self, tree: ProcessTree, call: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._tree = tree
        self._call = call
        self._descriptor = -1
        self._timer: asyncio.TimerHandle | None = None
        if sys.platform == "linux":
            with suppress(OSError):
                self._descriptor = os.pidfd_open(tree.pid)
        if self._descriptor >= 0:
            self._loop.add_reader(self._descriptor, self._exited)
        else:
            self._poll()

    def _poll(self) -> None:
        if self._tree.status is not None:
            self._exited()
        else:
            self._timer = self._loop.call_later(LOOK_EVERY, self._poll)

    def _exited(self) -> None:
        self.stop()
        self._call()

    def stop(self) -> None:
        """Stop watching. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
        if self._descriptor >= 0:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = -1


def _limit(mark: str) -> int:
    """Return the same mark as a limit: microseconds of real-time processor time, more than any process can use."""
    return 1 << 61 | int(mark, 16) & (1 << 61) - 1


def _mark_limits(pid: int, mark: str) -> None:
    """Mark a process that was just started, and its children, also by a resource limit.

    Those that it has started before it was marked are marked one by one, as far as their parents still run.

    Every process inherits its limits, and keeps them when it moves to another session or empties its environment. The
    limit is the soft one of `RLIMIT_RTTIME`, which is unlimited unless a process sets it, and affects only processes of
    a real-time scheduling class. Ours stays unchanged, so that other children of this process have no mark.
    """
    if sys.platform == "linux":
        with suppress(OSError, ValueError):
            soft, hard = resource.prlimit(pid, resource.RLIMIT_RTTIME)
            if soft == resource.RLIM_INFINITY:
                resource.prlimit(pid, resource.RLIMIT_RTTIME, (_limit(mark), hard))
                # Read when it is marked: all that it starts from now on inherits the mark.
                for child in children(pid):
                    _mark_limits(child, mark)


def children(pid: int) -> list[int]:
    """Return the running children of a process; none if the system does not list them."""
    pids: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"{PROC}/{pid}/task"):
            with suppress(OSError), open(f"{PROC}/{pid}/task/{thread}/children", "rb") as file:
                pids.extend(map(int, file.read().split()))
    return pids


def usage(pid: int) -> tuple[float, int] | None:
    """Return the processor time, in seconds, and the memory, in bytes, of a process; None if unknown."""
    fields = _status(pid)
    try:
        return (int(fields[11]) + int(fields[12])) / _TICKS, int(fields[21]) * _PAGE
    except (ValueError, IndexError):
        return None


def waiting_processes() -> float:
    """Return how many processes ran or waited for a processor in the last minute; 0 if unknown."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return 0.0


def on_fork(callback: Callable[[], None]) -> None:
    """Call `callback` each time that this process has copied itself; the copy does not call it."""
    os.register_at_fork(after_in_parent=callback)


def _status(pid: int | str) -> list[bytes]:
    """Return the fields of /proc/PID/stat from the third one on, the state; none if it has ended."""
    try:
        with open(f"{PROC}/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2].split()
    except OSError:
        return []


def _group(leader: int) -> list[list[bytes]]:
    """Return the fields of the processes in a group; none if the system does not list them."""
    try:
        names = os.listdir(PROC)
    except OSError:
        return []
    group = b"%d" % leader
    processes = (_status(name) for name in names if name.isdecimal())
    return [fields for fields in processes if len(fields) > 12 and fields[2] == group]


def _marked(mark: str) -> list[int]:
    """Return the processes with the mark in their environment or limits; none if the system shows neither."""
    variable, limit = f"{MARK}={mark}".encode(), _limit(mark)
    pids: list[int] = []
    with suppress(OSError), os.scandir(PROC) as entries:
        pids.extend(int(entry.name) for entry in entries if entry.name.isdecimal())
    return [pid for pid in pids if _has_limit(pid, limit) or _has_variable(pid, variable)]


def _has_limit(pid: int, limit: int) -> bool:
    if sys.platform == "linux":
        with suppress(OSError):
            return resource.prlimit(pid, resource.RLIMIT_RTTIME)[0] == limit
    return False


def _has_variable(pid: int, variable: bytes) -> bool:
    with suppress(OSError), open(f"{PROC}/{pid}/environ", "rb", buffering=0) as file:
        return variable in file.read()
    return False


def _signal_left(mark: str, number: int) -> None:
    """Send a signal to all processes with a mark, in any session.

    With SIGKILL, repeat until none is left. A process that emptied its environment is found by its limits.
    """
    if sys.platform != "linux":
        return
    for _ in range(MAX_SWEEPS if number == signal.SIGKILL else 1):
        pids = _marked(mark)
        for pid in pids:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        if not pids:
            return
