"""`inspector.load`: the load test of `inspector load`, and a client for load tests by other programs."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, Self

from inspector.config.targets import RecordingTarget
from inspector.errors import ConnectionProblem, ToolFailed, UsageError
from inspector.features.load.connection import LoadConnection
from inspector.features.load.find_limit import STEP_SECONDS, LimitSearch
from inspector.features.load.floor import measure_floor
from inspector.features.load.plan import RATE, SECONDS, WAITING, WARM_UP, LoadPlan, PlannedCall, is_this_machine
from inspector.features.load.report import FailCondition, LoadReport
from inspector.features.load.runner import LoadRun
from inspector.journal.journal import Journal
from inspector.library.opening import open as opened
from inspector.library.session import Session, parts, recorded, running
from inspector.library.sync import LoopThread
from inspector.text import repr_of

if TYPE_CHECKING:
    from inspector.library.apps import InProcess

__all__ = ["LoadClient", "LoadReport", "PlannedCall", "load"]


async def load(
    target: str | Sequence[str] | InProcess | Session,
    tool: str | Iterable[PlannedCall],
    arguments: Mapping[str, Any] | None = None,
    *,
    rate: float = RATE,
    users: int = 0,
    seconds: float | None = None,
    warm_up: float | None = None,
    max_waiting: int = WAITING,
    in_flight: int = 0,
    connections: int = 1,
    fail_on: str | Iterable[str] = (),
    find_limit: bool = False,
    allow_calls: str | Iterable[str] = (),
    allow_remote: bool = False,
    floor: bool = True,
    told: Callable[[LoadReport], object] | None = None,
    record: str | os.PathLike[str] | bool = False,
    fail: str | Iterable[str] = (),
    **options: Any,
) -> LoadReport:
    """Call a tool at a constant rate, and measure how the server answers.

    `tool`: a name, or `PlannedCall`s with weights. `rate`: calls per second; `users`: the closed model instead;
    `seconds`: length of the run (30) with its `warm_up` (3). `fail_on`: conditions such as `"p99>300ms"`; those
    that hold are in `LoadReport.failing`. `find_limit`: step the rate up until one of them breaks. `allow_calls`:
    tools that are called although they are not annotated read-only, or `"all"`; `allow_remote`: the server may be
    on another machine. `told` is called with the report so far, four times a second. `record`: the file for the
    slowest and the failed calls; True: the folder of recordings. `fail` is the old name of `fail_on`. The rest is
    as with `inspector.open`.

    Raises `UsageError` for an invalid plan and a tool that is not allowed, `NotOffered` for an unknown one, and the
    error of a connection that could not be made.
    """
    meant, how = parts(target if isinstance(target, Session) else opened(target, **options))
    if isinstance(meant, RecordingTarget):
        raise UsageError(f"{meant.describe()} is a recording.", hint="A load needs a server.")
    if not allow_remote and not is_this_machine(meant):
        raise UsageError(
            f"{meant.describe_fully()} is not on this machine.", hint="If you may load it, set allow_remote."
        )
    length = seconds if seconds is not None else STEP_SECONDS if find_limit else SECONDS
    plan = LoadPlan(
        (PlannedCall(tool, dict(arguments or {})),) if isinstance(tool, str) else tuple(tool),
        rate,
        users,
        length,
        min(WARM_UP, length / 5) if warm_up is None else warm_up,
        max_waiting,
        connections,
        in_flight,
    )
    texts = fail_on or fail
    conditions = [FailCondition.parse(text) for text in ((texts,) if isinstance(texts, str) else texts)]
    names = frozenset((allow_calls,) if isinstance(allow_calls, str) else allow_calls)
    allowed: frozenset[str] | Literal["all"] = "all" if names == {"all"} else names
    with recorded(meant, record, "load") as journal:

        async def run(plan: LoadPlan) -> LoadReport:
            return await LoadRun(
                meant,
                how,
                plan,
                journal,
                allowed=allowed,
                measure_floor=measure_floor if floor else None,
                on_progress=lambda run: None if told is None else told(run.report()),
            ).go()

        async with running(meant):
            report = await (LimitSearch(plan, conditions, run).go() if find_limit else run(plan))
        return report.judged(conditions)


class LoadClient:
    """A connection for load tests by other programs: its memory does not grow with the calls, and nothing is recorded.

    Methods block, and may be called from several threads at once. All clients of a process share one event loop.
    """

    _loop: LoopThread | None = None
    _lock = threading.Lock()

    def __init__(self, target: str | Sequence[str], **options: Any) -> None:
        """`target` and `options` as in `inspector.open`. Raises the failure to connect."""
        self._target, self._options = parts(opened(target, **options))
        self._connection: LoadConnection
        with LoadClient._lock:
            if LoadClient._loop is None or not LoadClient._loop.is_alive:
                LoadClient._loop = LoopThread("inspector load")
            self._thread = LoadClient._loop
        self._thread.run(self._open())

    def __repr__(self) -> str:
        return repr_of(self, self._target.describe())

    async def _open(self) -> None:
        if isinstance(self._target, RecordingTarget):
            raise UsageError(f"{self._target.describe()} is a recording.", hint="A load needs a server.")
        journal = Journal.unnamed(self._target.as_header(), self._target.secrets)
        self._connection = LoadConnection(self._target, journal, self._options)
        try:
            await self._connection.open()
        except BaseException:
            await self._close()
            raise
        self._connection.begin()

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """Call a tool and return its result. Raises `ToolFailed`, `ServerError` or a `ConnectionProblem`.

        A connection that was lost is made again first.
        """
        return self._thread.run(self._call(tool, dict(arguments or {})))

    async def _call(self, tool: str, arguments: dict[str, Any]) -> Any:
        session = self._connection.session
        if session.phase == "lost" and not await self._connection.reconnect():
            raise session.error or ConnectionProblem("The connection was lost.")
        result = await session.call_tool(tool, arguments).result()
        if type(result) is dict and result.get("isError") is True:
            content = result.get("content")
            texts = [block.get("text") for block in (content if type(content) is list else ()) if type(block) is dict]
            raise ToolFailed(next((text for text in texts if type(text) is str), ""), result, tool=tool)
        return result

    def close(self) -> None:
        """Close the connection. Idempotent."""
        with suppress(ConnectionProblem):
            self._thread.run(self._close())

    async def _close(self) -> None:
        await self._connection.close()
        self._connection.journal.close()
        self._connection.journal.release()
        await asyncio.sleep(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
