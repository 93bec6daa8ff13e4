"""Unexpected errors on the event loop of a command: they are logged, and the command ends with one sentence."""

from __future__ import annotations

import asyncio
from typing import Any

from inspector.config.logfile import remark, report
from inspector.errors import InspectorError


class Unexpected:
    """Handles exceptions of callbacks and of tasks that no code awaits.

    The first such error cancels the current task, because the state is unreliable afterwards; `problem` has the message
    for the user. Errors of Inspector itself are excluded, because code that needs their outcome handles them.
    """

    def __init__(self) -> None:
        self.problem: InspectorError | None = None
        self.closing = False
        """The session is closing, which must not be interrupted."""
        self._task: asyncio.Task[Any] | None = asyncio.current_task()
        asyncio.get_running_loop().set_exception_handler(self._on_error)

    def _on_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, InspectorError):
            return
        if error is None:  # A message of the loop, such as a task that was not awaited.
            remark(str(context.get("message")))
            return
        problem = report(error)
        if self.problem is None:
            self.problem = problem
            if self._task is not None and not self.closing:
                self._task.cancel()
