"""Handles unexpected errors that no caller awaits: in a callback of the event loop, in a task, in a worker.

Without this module such an error would be lost, or written across the screen. It goes to the log file, and the user
sees where; the interface continues, because a drawing error must not end a recording.
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

MAX_COUNT = 20
"""Errors that are logged in one run: an error that repeats with each message would fill the disk."""


class UnexpectedErrors:
    """Handles such errors. `tell` shows one to the user and returns whether it could."""

    def __init__(self, tell: Callable[[InspectorError], bool]) -> None:
        self._tell = tell
        self._count = 0
        self.untold: InspectorError | None = None
        """The first error that could not be shown because the screen was gone."""

    def watch(self, loop: asyncio.AbstractEventLoop) -> None:
        """Handle the errors of an event loop from now on."""
        loop.set_exception_handler(self._on_loop_error)

    def handle(self, error: BaseException) -> None:
        """Log an error and show it; our own errors have a message and need no traceback."""
        self._count += 1
        if self._count > MAX_COUNT:
            return
        problem = error if isinstance(error, InspectorError) else report(error)
        if not self._tell(problem) and self.untold is None:
            self.untold = problem

    def _on_loop_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if error is None:  # a remark of the loop, such as a task that was not awaited
            remark(str(context.get("message")))
        elif not isinstance(error, InspectorError):  # the call has the result of its request
            self.handle(error)


class WatchedWorkers(WorkerManager):
    """The workers of an app; `UnexpectedErrors` handles those that fail without ending it."""

    def __init__(self, app: App[Any], unexpected: UnexpectedErrors) -> None:
        super().__init__(app)
        self._unexpected = unexpected

    def _remove_worker(self, worker: Worker[Any]) -> None:
        # Private: the only place that every worker passes, whatever started it and however it ended.
        super()._remove_worker(worker)
        failed = worker.state is WorkerState.ERROR and not worker.exit_on_error
        # A cancelled worker, or one that the exit overtakes, may fail on objects that are gone.
        overtaken = worker.is_cancelled or not worker.node.is_attached or not self._app.is_running
        if failed and not overtaken and worker.error is not None:
            self._unexpected.handle(worker.error)
