"""A server's process: its environment, its start and its end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from inspector import command_words
from inspector.command_words import FAMILY, Family, with_variables
from inspector.config import inherited_variables
from inspector.config.targets import StdioTarget
from inspector.config.text_checks import one_line
from inspector.errors import SpawnError
from inspector.hints import Hint, Parameter
from inspector.reasons import os_reason
from inspector.system.processes import ProcessTree

EXIT_SECONDS = 0.4
"""Seconds for our server to exit after its stdin closed, and again after SIGTERM."""
OTHERS_EXIT_SECONDS = 5.0
"""Seconds for a server that is not ours to exit: of a tap, after its stdin closed; of `--start`, after SIGTERM."""
TERM_SECONDS = 1.0
"""Seconds for the server of a tap to exit after SIGTERM."""
WORK_TIME = 0.05
"""Seconds of processor time, within `WORK_SECONDS`, that show a server at work.

On a busy machine it gets little; an idle one uses less.
"""
WORK_SECONDS = 5.0

INHERITED = inherited_variables.NAMES | frozenset(
    """
    SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE
    HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy
    """.split()
)
"""Variables that a child inherits. All others must be given to it: see `ServerVariables`."""
PROXIES = frozenset(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"))
"""Those of them that may contain a user name and a password, which a child does not get."""
_NOT_A_PROGRAM = 193
"""`ERROR_BAD_EXE_FORMAT` of Windows."""
RELATIVE_PATH = Hint(
    "Check the path. It is relative to the current folder, or to ",
    Parameter.CWD,
    ". Hosts start a command in their own folder: a config needs an absolute path.",
)
"""The hint for a command with a relative path that does not exist."""


def child_environment(
    extra: Mapping[str, str],
    environ: Mapping[str, str] | None = None,
    *,
    inherits: bool = False,
    family: Family = FAMILY,
) -> dict[str, str]:
    """Return the child's environment: what every program needs, plus the requested variables. Passwords of proxies are
    removed. A child that `inherits` gets all variables as they are."""
    ours = os.environ if environ is None else environ
    if inherits:
        return with_variables(ours, extra, family)
    kept = {
        name: _without_userinfo(value) if known in PROXIES else value
        for name, value in ours.items()
        for known in [name if family == "posix" else name.upper()]
        if known in INHERITED or known.startswith(inherited_variables.PREFIXES)
    }
    return with_variables(kept, extra, family)


def environment_of(target: StdioTarget, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment that this target starts with, without a mark."""
    if target.starter is not None:
        return with_variables(target.starter.environ, target.env)
    return child_environment(target.env, environ, inherits=target.inherits)


def _without_userinfo(url: str) -> str:
    """Return a proxy's address without user name and password."""
    scheme, separator, rest = url.partition("://")
    return scheme + separator + rest.rpartition("@")[2] if separator else url.rpartition("@")[2]


def _spawn_error(error: Exception, name: str, program: str | None, cwd: str | None) -> SpawnError:
    if cwd and not os.path.isdir(cwd):
        return SpawnError(
            f"The folder {cwd} does not exist, so {name} was not started.",
            hint=Hint("Check ", Parameter.CWD_OR_ENTRY, "."),
        )
    if isinstance(error, command_words.NotPassed):
        return SpawnError(
            f"The argument “{one_line(error.word[:80])}” has a line break, which cmd.exe cannot pass to {name}.",
            hint="Start the program that the batch file starts, or leave the line break out.",
        )
    if getattr(error, "winerror", 0) == _NOT_A_PROGRAM:
        return SpawnError(f"“{name}” is not a program of Windows.", hint="Start it with its interpreter.")
    if isinstance(error, FileNotFoundError):
        if program:
            return SpawnError(
                f"The interpreter in the first line of {program} was not found.",
                hint="Check the “#!” line of the script.",
            )
        if os.path.isabs(name):
            hint = Hint("Check the path.")
        elif os.sep in name:
            hint = RELATIVE_PATH
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


def describe_status(status: int) -> str:
    """Describe an exit status: `ended with exit code 3`, `was ended by SIGSEGV`."""
    if status >= 0:
        return f"ended with exit code {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"was ended by {name}"


class ServerProcess(ProcessTree):
    """A started server with all processes that it starts. `end` kills what is left of them, and so does our end."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        cwd: str | None,
        *,
        stdin: int = subprocess.PIPE,
        stderr: int = subprocess.PIPE,
    ) -> None:
        """Start the command, with three pipes unless told otherwise. Raises `SpawnError` with the reason."""
        program = command_words.find_program(command[0], environment, cwd or "")
        try:
            super().__init__(command, program, environment, cwd, stdin=stdin, stderr=stderr)
        except (OSError, ValueError) as error:
            raise _spawn_error(error, command[0], program, cwd) from error
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
        self._stop_watching = self.when_ended(lambda: self.exited.set_result(None))
        self._worked = (0.0, 0.0)
        """A time, and the processor time that it had used then."""

    async def wait(self, seconds: float) -> int | None:
        """Wait for its exit at most so long. Returns its exit code; None if it still runs."""
        await asyncio.wait((self.exited,), timeout=seconds)
        return self.status

    def has_worked(self) -> bool:
        """Return whether it has used the processor since the last call."""
        now, used = self._loop.time(), self.processor_time()
        since, before = self._worked
        works = used - before >= WORK_TIME
        if works or now - since > WORK_SECONDS:
            self._worked = (now, used)
        return works

    def end(self) -> None:
        """Kill all its processes. Idempotent."""
        self._stop_watching()
        super().end()
