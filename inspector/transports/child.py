"""A server's process: its environment, its start and end, and a guard that ends it if Inspector is killed."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from inspector.config.targets import StdioTarget
from inspector.errors import SpawnError
from inspector.hints import Hint, Parameter
from inspector.reasons import os_reason

if sys.platform == "linux":
    import resource

MARK = "INSPECTOR_CHILD"
"""The environment variable that identifies all processes of a child, in any session."""
MAX_SWEEPS = 5
"""Most searches for remaining processes: one that is being ended may start more."""
LOOK_EVERY = 0.2
"""Seconds between two checks of a process, if the system does not report its end."""
EXIT_SECONDS = 0.4
"""Seconds for our server to exit after its stdin closed, and again after SIGTERM."""
CLIENT_EXIT_SECONDS = 5.0
"""The same for the server of a client that is gone: it gets SIGTERM only then."""
TERM_SECONDS = 1.0
"""Seconds for the server of such a client to exit after SIGTERM."""
REAP_SECONDS = 1.0
"""Seconds for a killed server to disappear."""
WORK_TICKS = 5
"""Hundredths of a second of processor time, within `WORK_SECONDS`, that show a server at work.

On a busy machine it gets little; an idle one uses less.
"""
WORK_SECONDS = 5.0

INHERITED = tuple(
    """
    PATH HOME USER LOGNAME SHELL TERM LANG LANGUAGE TZ TMPDIR TMP TEMP PWD SSL_CERT_FILE SSL_CERT_DIR
    NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy
    no_proxy SYSTEMROOT SYSTEMDRIVE APPDATA LOCALAPPDATA PROGRAMFILES USERPROFILE USERNAME HOMEDRIVE HOMEPATH COMSPEC
    PATHEXT PROCESSOR_ARCHITECTURE
    """.split()
)
"""Variables that a child inherits. All others must be given to it: see `ServerVariables`."""
PROXIES = frozenset(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"))
"""Those of them that may contain a user name and a password, which a child does not get."""
INHERITED_PREFIXES = ("LC_", "XDG_")

# Reads the leader of the child's process group, waits until we die (its stdin then ends without a word), then ends that
# group and all marked processes.
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


def child_environment(
    extra: Mapping[str, str], environ: Mapping[str, str] | None = None, *, inherits: bool = False
) -> dict[str, str]:
    """Return the child's environment: what every program needs, plus the requested variables. Passwords of proxies are
    removed. A child that `inherits` gets all variables as they are."""
    ours = os.environ if environ is None else environ
    if inherits:
        return dict(ours) | dict(extra)
    kept = {
        name: _without_userinfo(value) if name in PROXIES else value
        for name, value in ours.items()
        if name in INHERITED or name.startswith(INHERITED_PREFIXES)
    }
    return kept | dict(extra)


def environment_of(target: StdioTarget, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment that this target starts with, without a mark."""
    if target.starter is not None:
        return dict(target.starter.environ) | dict(target.env)
    return child_environment(target.env, environ, inherits=target.inherits)


def _without_userinfo(url: str) -> str:
    """Return a proxy's address without user name and password."""
    scheme, separator, rest = url.partition("://")
    return scheme + separator + rest.rpartition("@")[2] if separator else url.rpartition("@")[2]


def new_mark() -> dict[str, str]:
    """Return the variable that marks one child and its processes; add it to the child's environment."""
    return {MARK: os.urandom(8).hex()}


def _limit(mark: str) -> int:
    """Return the same mark as a limit: microseconds of real-time processor time, more than any process can use."""
    return 1 << 61 | int(mark, 16) & (1 << 61) - 1


def mark_limits(pid: int, mark: str) -> None:
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
                for child in _children(pid):
                    mark_limits(child, mark)


def _children(pid: int) -> list[int]:
    """Return the running children of a process; none if the system does not list them."""
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found.extend(map(int, file.read().split()))
    return found


def _marked(mark: str) -> list[int]:
    """Return the processes with the mark in their environment or limits; none if the system shows neither."""
    wanted, limit = f"{MARK}={mark}".encode(), _limit(mark)
    pids: list[int] = []
    with suppress(OSError), os.scandir("/proc") as entries:
        pids.extend(int(entry.name) for entry in entries if entry.name.isdecimal())
    return [pid for pid in pids if _has_limit(pid, limit) or _has_variable(pid, wanted)]


def _has_limit(pid: int, limit: int) -> bool:
    if sys.platform == "linux":
        with suppress(OSError):
            return resource.prlimit(pid, resource.RLIMIT_RTTIME)[0] == limit
    return False


def _has_variable(pid: int, wanted: bytes) -> bool:
    with suppress(OSError), open(f"/proc/{pid}/environ", "rb", buffering=0) as file:
        return wanted in file.read()
    return False


def signal_left(mark: str, number: int) -> None:
    """Send a signal to all processes of the marked child, in any session.

    With SIGKILL, repeat until none is left. A process that emptied its environment is found by its limits.
    """
    if sys.platform != "linux":
        return
    for _ in range(MAX_SWEEPS if number == signal.SIGKILL else 1):
        found = _marked(mark)
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        if not found:
            return


def _processor_ticks(group: int) -> int:
    """Return the processor time that the processes of a group have used, in ticks of the system's clock.

    0 if the system does not say; a tick is a hundredth of a second on Linux.
    """
    used = 0
    with suppress(OSError), os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdecimal():
                with suppress(OSError, ValueError, IndexError), open(f"{entry.path}/stat", "rb") as file:
                    fields = file.read().rpartition(b") ")[2].split()
                    if int(fields[2]) == group:
                        used += int(fields[11]) + int(fields[12])  # utime and stime: fields 14 and 15 of proc(5).
    return used


def find_program(command: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Return the file that a command starts, by the child's search path."""
    return shutil.which(command[0], path=environment.get("PATH"))


def start_child(
    command: Sequence[str], program: str | None, environment: Mapping[str, str], cwd: str | None
) -> subprocess.Popen[bytes]:
    """Start a command in its own process group, with three pipes.

    The mark in `environment` is also set in the limits of the process. Raises `SpawnError` with the reason.
    """
    try:
        process = subprocess.Popen(
            [*command],
            executable=program,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=cwd,
            env=dict(environment),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise _spawn_error(error, command[0], program, cwd) from error
    if MARK in environment:
        mark_limits(process.pid, environment[MARK])
    return process


def _spawn_error(error: Exception, name: str, program: str | None, cwd: str | None) -> SpawnError:
    if cwd and not os.path.isdir(cwd):
        return SpawnError(
            f"The folder {cwd} does not exist, so {name} was not started.",
            hint=Hint("Check ", Parameter.CWD_OR_ENTRY, "."),
        )
    if isinstance(error, FileNotFoundError):
        if program:
            return SpawnError(
                f"The interpreter in the first line of {program} was not found.",
                hint="Check the “#!” line of the script.",
            )
        if os.path.isabs(name):
            hint = Hint("Check the path.")
        elif os.sep in name:
            hint = Hint("Check the path. It is relative to the current folder, or to ", Parameter.CWD, ".")
        else:
            hint = Hint("Check the spelling. Install it, or put its folder on the PATH.")
        return SpawnError(f"The command “{name}” was not found.", hint=hint)
    if isinstance(error, PermissionError) and os.path.isdir(os.path.join(cwd or "", name)):
        return SpawnError(f"“{name}” is a folder.", hint="Name the server's program in that folder.")
    if isinstance(error, PermissionError):
        return SpawnError(
            f"“{name}” is not executable.", hint=f"Try: chmod +x {name} — or start it with its interpreter."
        )
    reason = os_reason(error)
    return SpawnError(f"“{name}” could not be started: {reason}.", hint="Check the command; it is run without a shell.")


def exit_status(process: subprocess.Popen[bytes]) -> int | None:
    """Return how a process ended: its exit code, negative for a signal; None while it runs.

    If possible, the process is not reaped: until then its number cannot be reused, so that a signal to its group
    reaches only its own children.
    """
    if process.returncode is not None or not hasattr(os, "waitid"):
        return process.poll()
    try:
        found = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return process.poll()
    if found is None:
        return None
    return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def describe_status(status: int) -> str:
    """Describe an exit status: `ended with exit code 3`, `was ended by SIGSEGV`."""
    if status >= 0:
        return f"ended with exit code {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"was ended by {name}"


class ExitWatch:
    """Calls `ended` once, from the event loop, when a process has ended."""

    def __init__(self, process: subprocess.Popen[bytes], ended: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._process = process
        self._ended = ended
        self._fd = -1
        self._timer: asyncio.TimerHandle | None = None
        if sys.platform == "linux":
            with suppress(OSError):
                self._fd = os.pidfd_open(process.pid)
        if self._fd >= 0:
            self._loop.add_reader(self._fd, self._found)
        else:
            self._look()

    def _look(self) -> None:
        if exit_status(self._process) is not None:
            self._found()
        else:
            self._timer = self._loop.call_later(LOOK_EVERY, self._look)

    def _found(self) -> None:
        self.stop()
        self._ended()

    def stop(self) -> None:
        """Stop watching. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1


class ChildGuard:
    """A small process that ends a child and its processes if we are killed (even by `kill -9`).

    It is started before the child, which it finds by the mark: we may be killed at any moment.
    """

    def __init__(self, mark: str) -> None:
        """`mark` is the child's, see `new_mark`."""
        self._process: subprocess.Popen[bytes] | None = None
        if os.name == "posix":
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
        """Set the group of the started child: `leader` is its number."""
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


class ServerProcess:
    """A started server with all processes that it starts. `end` kills what is left of them."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], cwd: str | None) -> None:
        """Start the command in its own process group, with a guard. Raises `SpawnError` with the reason."""
        mark = new_mark()
        environment = {**environment, **mark}
        program = find_program(command, environment)
        self._mark = mark[MARK]
        if program is None:  # There is nothing to guard: this raises the reason.
            start_child(command, program, environment, cwd)
        self._guard = ChildGuard(self._mark)
        try:
            self.popen = start_child(command, program, environment, cwd)
        except BaseException:
            self._guard.stop()
            raise
        self._guard.watch(self.popen.pid)
        self.pid = self.popen.pid
        self.spawned = {
            "argv": list(command),
            "program": program or command[0],
            "cwd": cwd or os.getcwd(),
            "env": sorted(environment),
            "pid": self.pid,
        }
        """The facts of its start, for the recording."""
        self._loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[None] = self._loop.create_future()
        self._watch = ExitWatch(self.popen, lambda: self.exited.set_result(None))
        self._worked = (0.0, 0)
        """A time, and the processor time that it had used then."""
        self.ended = False

    @property
    def status(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return exit_status(self.popen)

    async def wait(self, seconds: float) -> int | None:
        """Wait for its exit at most so long. Returns its exit code; None if it still runs."""
        await asyncio.wait((self.exited,), timeout=seconds)
        return self.status

    def has_worked(self) -> bool:
        """Return whether its group has used the processor since the last call."""
        now, used = self._loop.time(), _processor_ticks(self.pid)
        since, before = self._worked
        works = used - before >= WORK_TICKS
        if works or now - since > WORK_SECONDS:
            self._worked = (now, used)
        return works

    def signal_group(self, number: int) -> None:
        """Send a signal to its process group. Afterwards its number may belong to another group."""
        if not self.ended:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    def signal_all(self, number: int) -> None:
        """Send a signal to all its processes, in any session."""
        if not self.ended:
            self.signal_group(number)
            signal_left(self._mark, number)

    def end(self) -> None:
        """Kill all its processes. It is reaped only then, so that its number is not reused before. Idempotent."""
        if self.ended:
            return
        self._watch.stop()
        self.signal_all(signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self.popen.wait(REAP_SECONDS)
        self.ended = True
        self._guard.stop()
