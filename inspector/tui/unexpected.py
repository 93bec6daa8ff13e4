"""Errors that nobody expected and nobody waits for: in a callback of the event loop, in a task, in a worker.

Each would be lost, or written across the screen. Here it goes to the log file and the user is told where; the interface
goes on, for a recording is not to be given up for a picture that failed to draw.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from textual.app import App
from textual.worker import Worker, WorkerState
from textual.worker_manager import WorkerManager

from inspector.config.logfile import remark, report
from inspector.errors import InspectorError

MOST = 20
"""Errors that are logged in one run: one that comes back with each message would fill the disk."""


class Unexpected:
    """Takes such errors. `tell` shows one to the user, and says whether it could."""

    def __init__(self, tell: Callable[[InspectorError], bool]) -> None:
        self._tell = tell
        self._count = 0
        self.untold: InspectorError | None = None
        """The first that could not be told, because there was no screen any more."""

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take what goes wrong on an event loop from now on."""
        loop.set_exception_handler(self._on_loop_error)

    def take(self, error: BaseException) -> None:
        """Log an error and tell of it; errors of ours have their words and need no traceback."""
        self._count += 1
        if self._count > MOST:
            return
        problem = error if isinstance(error, InspectorError) else report(error)
        if not self._tell(problem) and self.untold is None:
            self.untold = problem

    def _on_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if error is None:  # A remark of the loop, such as a task that was not awaited.
            remark(str(context.get("message")))
        elif not isinstance(error, InspectorError):  # Who wants the outcome of a request has it in its call.
            self.take(error)


class WatchedWorkers(WorkerManager):
    """The workers of an app; those that fail without ending it are told to `Unexpected`."""

    def __init__(self, app: App[Any], unexpected: Unexpected) -> None:
        super().__init__(app)
        self._unexpected = unexpected

    def _remove_worker(self, worker: Worker[Any]) -> None:
        # Private: the only place that every worker passes, whoever started it and whatever became of it.
        super()._remove_worker(worker)
        failed = worker.state is WorkerState.ERROR and not worker.exit_on_error
        # What was given up, or is overtaken by the end, may fail on what is no longer there.
        overtaken = worker.is_cancelled or not worker.node.is_attached or not self._app.is_running
        if failed and not overtaken and worker.error is not None:
            self._unexpected.take(worker.error)
