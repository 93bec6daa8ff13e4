"""Processes on Windows: a job object holds a program with all processes that it starts.

The job ends them when its last handle closes, which is ours: so they also end when we are killed.
"""

from __future__ import annotations

import asyncio
import ctypes
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from inspector import command_words
from inspector.system.windows import api

assert sys.platform == "win32"

REAP_SECONDS = 1.0
"""Seconds for a killed program to disappear."""

_SUSPENDED = 0x4
_FLAGS = subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
"""The ^c of our console does not reach it, and it cannot change our console's modes."""
_KILL_ON_CLOSE = 0x2000
_LIMITS, _FIGURES = 9, 1
"""`JobObjectExtendedLimitInformation`, `JobObjectBasicAccountingInformation`."""
_TO_JOB = 0x0001 | 0x0100 | 0x0800
"""`PROCESS_TERMINATE`, `PROCESS_SET_QUOTA`, `PROCESS_SUSPEND_RESUME`."""
_TO_READ = 0x1000
"""`PROCESS_QUERY_LIMITED_INFORMATION`."""
_ALL_PROCESSES = 2
"""`TH32CS_SNAPPROCESS`."""
_KILLED = 1
"""The exit code of what we end, as with `TerminateProcess` of other clients."""
_PER_SECOND = 10_000_000


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
        self.ended = False
        start = command_words.windows_start(program or command[0], command[1:], environment)
        self._job = _new_job()
        try:
            # It starts nothing before it is in the job.
            self.popen = subprocess.Popen(
                start.line,
                executable=start.program,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                bufsize=0,
                cwd=cwd,
                env=dict(environment),
                creationflags=_FLAGS | _SUSPENDED,
            )
        except BaseException:
            api.kernel.CloseHandle(self._job)
            raise
        self.pid = self.popen.pid
        handle = api.kernel.OpenProcess(_TO_JOB, False, self.pid)
        api.kernel.AssignProcessToJobObject(self._job, handle)
        api.nt.NtResumeProcess(handle)
        api.kernel.CloseHandle(handle)

    @property
    def status(self) -> int | None:
        """Its exit code; None while it runs."""
        return self.popen.poll()

    def when_ended(self, call: Callable[[], None]) -> Callable[[], None]:
        """Call `call` once, from the event loop, when the program has ended. Returns what stops that."""
        loop = asyncio.get_running_loop()
        waits = [call]

        def ended() -> None:
            while waits:
                waits.pop()()

        def wait() -> None:
            self.popen.wait()
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(ended)

        threading.Thread(target=wait, name=f"end of {self.pid}", daemon=True).start()
        return waits.clear

    def send_signal(self, number: int) -> None:
        """End all its processes: Windows has no signals for programs without our console."""
        self.kill()

    def terminate_program(self) -> None:
        """End the program alone, as clients do."""
        if not self.ended:
            with suppress(OSError):
                self.popen.terminate()

    def terminate(self) -> None:
        """End all its processes: Windows cannot ask them."""
        self.kill()

    def kill(self) -> None:
        """End all its processes."""
        if not self.ended:
            api.kernel.TerminateJobObject(self._job, _KILLED)

    def processor_time(self) -> float:
        """Return the seconds of processor time that its processes have used."""
        figures = self._figures()
        return float(figures.user + figures.kernel) / _PER_SECOND

    def running(self) -> int:
        """Return how many of its processes run."""
        return int(self._figures().active)

    def _figures(self) -> api.JobFigures:
        figures = api.JobFigures()
        if not self.ended:
            api.kernel.QueryInformationJobObject(
                self._job, _FIGURES, ctypes.byref(figures), ctypes.sizeof(figures), None
            )
        return figures

    def end(self) -> None:
        """Kill all its processes. Idempotent."""
        if self.ended:
            return
        self.kill()
        with suppress(subprocess.TimeoutExpired):
            self.popen.wait(REAP_SECONDS)
        self.ended = True
        api.kernel.CloseHandle(self._job)


def _new_job() -> int:
    """Return the handle of a job that ends its processes when the handle closes. Raises OSError."""
    job = api.kernel.CreateJobObjectW(None, None)
    limits = api.JobLimits()
    limits.basic.flags = _KILL_ON_CLOSE
    if not job or not api.kernel.SetInformationJobObject(job, _LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)):
        raise api.last_error()
    return int(job)


def children(pid: int) -> list[int]:
    """Return the running children of a process; none if the system does not list them."""
    snapshot = api.kernel.CreateToolhelp32Snapshot(_ALL_PROCESSES, 0)
    if snapshot is None or snapshot == api.INVALID_HANDLE:
        return []
    pids, entry = [], api.ProcessEntry()
    entry.size = ctypes.sizeof(entry)
    try:
        more = api.kernel.Process32FirstW(snapshot, ctypes.byref(entry))
        while more:
            if entry.parent == pid:
                pids.append(int(entry.pid))
            more = api.kernel.Process32NextW(snapshot, ctypes.byref(entry))
    finally:
        api.kernel.CloseHandle(snapshot)
    return pids


def usage(pid: int) -> tuple[float, int] | None:
    """Return the processor time, in seconds, and the memory, in bytes, of a process; None if unknown."""
    handle = api.kernel.OpenProcess(_TO_READ, False, pid)
    if not handle:
        return None
    began, ended, system, own = (ctypes.c_int64() for _ in range(4))
    memory = api.MemoryFigures()
    try:
        if not api.kernel.GetProcessTimes(handle, *map(ctypes.byref, (began, ended, system, own))):
            return None
        if not api.kernel.K32GetProcessMemoryInfo(handle, ctypes.byref(memory), ctypes.sizeof(memory)):
            return None
    finally:
        api.kernel.CloseHandle(handle)
    return (system.value + own.value) / _PER_SECOND, int(memory.working_set)


def waiting_processes() -> float:
    """0: Windows does not tell how many processes wait for a processor."""
    return 0.0


def on_fork(callback: Callable[[], None]) -> None:
    """Never call `callback`: no process of Windows copies itself."""
