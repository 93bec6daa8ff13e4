"""One addon: a Python file, loaded again when it changes. Whatever its code does, the caller gets a result or nothing.

Functions run on the event loop, so an addon needs no locks. A function that does not return holds all messages, so it
is interrupted after `LIMIT`.
"""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from inspector.config.foreign_files import read_bytes
from inspector.errors import UsageError
from inspector.system.alarm import Alarm
from inspector.system.processes import on_fork
from inspector.text import safe

FUNCTIONS = ("on_connect", "on_request", "on_response", "on_notification", "on_question", "on_end")
_OF_CONNECTION = frozenset(("on_connect", "on_end"))
LIMIT = 5.0
"""Seconds that a function may take."""
_AGAIN_SECONDS = 0.5
"""Seconds to the next interruption, if the function went on after the first one."""
_COROUTINE = 0x80
Say = Callable[[str], None]
"""Tells the user one sentence."""


class TookTooLong(BaseException):
    """Interrupts a function; a function that catches `Exception` does not catch it."""


class Failed:
    """The result of a call whose function failed."""


FAILED = Failed()


class _Guard:
    """Runs foreign code: interrupts it after `LIMIT` where the system can, and ends a forked copy of us.

    The alarm is the process's own, so there is one guard. It is not set and cleared for each call, which would be two
    system calls for each message: it may ring while nothing runs, or while a later call still has time.
    """

    def __init__(self) -> None:
        self.error: BaseException | None = None
        """Why the code failed, or None."""
        self.has_forked = False
        """Whether the code copied this process."""
        self._pid = os.getpid()
        on_fork(self._on_fork)
        self._alarm = Alarm(self._interrupt)
        self._due = self._rings = math.inf
        """When the running code is interrupted, and when the alarm rings, as `time.monotonic` counts."""
        self._stdout = sys.stdout

    def run(self, function: Callable[..., Any], *arguments: Any, limited: bool = True) -> Any:
        """Return what a function returns; `FAILED` if it raised or took too long. Its prints go to stderr."""
        self._due = time.monotonic() + LIMIT if limited else math.inf
        self.has_forked = False
        with self:
            return function(*arguments)
        return FAILED

    def __enter__(self) -> None:
        self._stdout, sys.stdout = sys.stdout, sys.stderr
        if self._due < self._rings:
            self._set_alarm(LIMIT)

    def _on_fork(self) -> None:
        self.has_forked = True

    def _set_alarm(self, seconds: float) -> None:
        self._rings = time.monotonic() + seconds
        self._alarm.set(seconds, _AGAIN_SECONDS)

    def _interrupt(self) -> None:
        left = self._due - time.monotonic()
        if left <= 0:
            raise TookTooLong
        if left < math.inf:
            self._set_alarm(left)
        else:
            self._rings = math.inf
            self._alarm.clear()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        due, self._due = self._due, math.inf
        if os.getpid() != self._pid:  # Two processes would write to the same connections.
            os._exit(0)
        sys.stdout = self._stdout
        if error is None and time.monotonic() > due:  # It was not interrupted.
            error = TookTooLong()
        self.error = error
        return not isinstance(error, KeyboardInterrupt)


_guard = _Guard()


class Addon:
    """A loaded file. Raises `UsageError` if it cannot be loaded at first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self.functions: dict[str, Callable[..., Any]] = {}
        self._noted: set[tuple[str, str]] = set()
        self._file = str(path)
        self._stamp = self._read_stamp()
        _guard.run(self._load, limited=False)
        if _guard.error is not None:
            raise _unusable(self.name, _guard.error) from _guard.error

    def _read_stamp(self) -> tuple[int, ...]:
        try:
            status = os.stat(self._file)
        except OSError:
            return ()  # An editor replaces the file: it is there again before the next message.
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _load(self) -> None:
        module = ModuleType(f"inspector_addon_{self.path.stem}")
        module.__file__ = str(self.path)
        code = compile(read_bytes(self.path), str(self.path), "exec", dont_inherit=True)
        sys.modules[module.__name__] = module  # Dataclasses look their module up.
        exec(code, module.__dict__)
        named = {name: value for name, value in vars(module).items() if name.startswith("on_") and callable(value)}
        for name, function in named.items():
            if name not in FUNCTIONS:
                near = get_close_matches(name, FUNCTIONS, 1)
                known = f"Did you mean {near[0]}?" if near else f"The functions are {', '.join(FUNCTIONS)}."
                raise UsageError(f"{self.name} has a function {safe(name, 80)}, which is never called.", hint=known)
            if getattr(getattr(function, "__code__", None), "co_flags", 0) & _COROUTINE:
                raise UsageError(f"{name} in {self.name} is async, and is never awaited.", hint=f"Use def {name}(…).")
        if _guard.has_forked:
            raise UsageError(f"{self.name} forks as it is loaded.", hint="Start processes with subprocess.")
        self.functions = named

    @property
    def handles_messages(self) -> bool:
        """Whether it has functions for messages."""
        return not self.functions.keys() <= _OF_CONNECTION

    def refresh(self, say: Say) -> None:
        """Load the file again if it has changed. If it cannot be loaded, the functions from before stay."""
        stamp = self._read_stamp()
        if not stamp or stamp == self._stamp:
            return
        self._stamp = stamp
        self._noted.clear()
        _guard.run(self._load)
        if _guard.error is None:
            say(f"{self.name} has changed and was loaded again.")
        else:
            say(f"{_unusable(self.name, _guard.error).message} The version before it stays in use.")

    def call(self, name: str, say: Say, *arguments: Any) -> Any:
        """Return what a function returns; `FAILED` if it raised or took too long, which is said once."""
        returned = _guard.run(self.functions[name], *arguments)
        if _guard.has_forked:
            self.complain(say, name, "forked this process: the copy ends as the function returns.")
        error = _guard.error
        if error is None:
            return returned
        if isinstance(error, TookTooLong):
            del self.functions[name]
            again = "It is called again when the file changes."
            problem = f"did not return within {LIMIT:g} s: all messages waited. {again}"
        else:
            problem = f"failed: {_reason(error, self._file)}."
            if name not in _OF_CONNECTION:
                problem += " The message passes unchanged."
        self.complain(say, name, problem)
        return FAILED

    def complain(self, say: Say, name: str, problem: str) -> None:
        """Say what is wrong with a function, each kind once until the file changes: the kind is in two words."""
        entry = name, " ".join(problem.split()[:2])
        if entry not in self._noted:
            self._noted.add(entry)
            say(f"{name} in {self.name} {problem}")


def _unusable(name: str, error: BaseException) -> UsageError:
    """Return the error for a file that cannot be loaded."""
    if isinstance(error, UsageError):
        return error
    return UsageError(f"The addon {name} cannot be loaded: {_reason(error, name)}.", hint="Correct the file.")


def _reason(error: BaseException, path: str) -> str:
    """Return an error of foreign code in a few words: its class, its text and its line in the file."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {safe(error.msg, 200)}"
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename.endswith(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    text = safe(str(error), 200)
    return f"{type(error).__name__}{f': {text}' if text else ''}{f' (line {line})' if line else ''}"
