"""Errors that nobody expected, on the event loop of a command: logged, and the command ends with one sentence."""

from __future__ import annotations

import asyncio
from typing import Any

from inspector.config.logfile import remark, report
from inspector.errors import InspectorError


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
            remark(str(context.get("message")))
            return
        problem = report(error)
        if self.problem is None:
            self.problem = problem
            if self._task is not None and not self.closing:
                self._task.cancel()
