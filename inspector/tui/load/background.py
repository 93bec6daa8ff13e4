"""Runs a load in a thread of its own, so that drawing does not delay its calls."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable

from inspector.errors import InspectorError
from inspector.load.precise_timers import run
from inspector.load.report import LoadReport
from inspector.load.runner import LoadRun

_SWITCH_SECONDS = 0.0005
"""Seconds after which the interpreter lets the other thread run: a call waits no longer for a drawing."""
_JOIN_SECONDS = 2.0


class BackgroundRun:
    """One run. Methods are called in the interface's thread; `run` may be read there at any time."""

    def __init__(self, run: LoadRun, ended: Callable[[LoadReport | None, InspectorError | None], None]) -> None:
        """`ended` is called in the run's thread, with the report or the error."""
        self.run = run
        self._ended = ended
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[LoadReport] | None = None
        self._thread = threading.Thread(target=self._main, name="inspector-load", daemon=True)

    def start(self) -> None:
        """Start the thread and the run."""
        self._thread.start()

    def _main(self) -> None:
        before = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_SECONDS)
        try:
            run(self._go())
        finally:
            sys.setswitchinterval(before)

    async def _go(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(self.run.go())
        report: LoadReport | None = None
        problem: InspectorError | None = None
        try:
            report = await self._task
        except InspectorError as error:
            problem = error
        except asyncio.CancelledError:
            report = self.run.report() if self.run.has_begun else None
        self._ended(report, problem)

    def _do(self, action: Callable[[], object]) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(action)

    def stop(self) -> None:
        """End the run: the report so far is its result."""
        if self.run.phase in ("connecting", "floor"):
            self._do(lambda: self._task is not None and self._task.cancel())
        else:
            self._do(self.run.stop)

    def change_rate(self, rate: float) -> None:
        """Let calls arrive at another rate; 0 pauses."""
        self._do(lambda: self.run.change_rate(rate))

    def close(self) -> None:
        """End the run without a report, and stop its servers. Waits for a moment."""
        self._do(lambda: self._task is not None and self._task.cancel())
        self._thread.join(_JOIN_SECONDS)
        if self._thread.is_alive():
            self.run.kill_now()
