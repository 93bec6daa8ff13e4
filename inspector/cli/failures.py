"""Errors that nobody expected: the traceback goes to the log file, one sentence to the user."""

from __future__ import annotations

import asyncio
from typing import Any

from inspector.errors import InspectorError


def report(error: BaseException) -> InspectorError:
    """Write the traceback to the log file; returns what to tell the user of it."""
    try:
        where = f"The traceback is in {_log('inspector failed', error)}."
    except (InspectorError, OSError):
        where = "The log file cannot be written, so the traceback is lost."
    problem = InspectorError(f"Inspector itself failed: {type(error).__name__}.", hint=f"{where} Please report it.")
    problem.code = "internal"
    return problem


def _log(headline: str, error: BaseException | None) -> str:
    import traceback
    from datetime import UTC, datetime

    from inspector.config import paths

    path = paths.log_file()
    with paths.private_open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"{datetime.now(UTC).isoformat(timespec='seconds')} {headline}\n")
        if error is not None:
            file.writelines(traceback.format_exception(error))
        file.write("\n")
    return str(path)


class Unexpected:
    """What goes wrong on the event loop where nobody awaits it: in a callback, or in a task left to itself.

    The first such error ends what the current task is doing, for nothing can be relied on any more; `problem` tells the
    user. Errors of ours are none of these: whoever wants their outcome has it.
    """

    def __init__(self) -> None:
        self.problem: InspectorError | None = None
        self.closing = False
        """The session is being closed, which must not be broken off."""
        self._task: asyncio.Task[Any] | None = asyncio.current_task()
        asyncio.get_running_loop().set_exception_handler(self._on_error)

    def _on_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, InspectorError):
            return
        if error is None:  # A remark of the loop, such as a task that was not awaited.
            try:
                _log(str(context.get("message")), None)
            except (InspectorError, OSError):
                pass
            return
        problem = report(error)
        if self.problem is None:
            self.problem = problem
            if self._task is not None and not self.closing:
                self._task.cancel()
