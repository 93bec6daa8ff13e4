"""Tasks: work of the server that outlives the answer to the request that began it.

Two designs, one table: the experimental core tasks of 2025-11-25 (asked for by the client, the result fetched with
`tasks/result`; C-TASK-01) and the extension `io.modelcontextprotocol/tasks` of 2026 (made when the server likes, the
result inside `tasks/get`; C-TASK-02, C-TASK-03). Sources: specification 2025-11-25, "Tasks"; SEP-2663.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from inspector.client.engine.engine import Engine
from inspector.client.engine.input_requests import InputRequests, Unanswered
from inspector.client.engine.listening import FOR_EVER
from inspector.client.engine.pending_requests import Call
from inspector.client.state.calls import server_error
from inspector.client.state.tasks import OVER, Task
from inspector.errors import (
    ConnectionProblem,
    InputRefused,
    InspectorError,
    InvalidAnswer,
    NotOffered,
    RequestCancelled,
    ServerError,
)

WAITING_POLL = 2.0
"""Seconds at least between two looks while it is we who keep the task waiting."""
MOST_PAGES = 100
FAILED_LOOKS = 5
"""Looks in a row without an answer, after which a task is no longer followed."""


class Followed:
    """A task that is looked at again and again, and the call that waits for it."""

    def __init__(self, task: Task, call: Call | None) -> None:
        self.task = task
        self.call = call
        self.asked: set[str] = set()
        """Keys of the input requests that have been put to the inbox (C-TASK-03)."""
        self.asking: list[InputRequests] = []
        self.fetching = False
        """Its result is asked for."""
        self.again_and_again = False
        """The server is asked for it until it is over."""
        self.wake = asyncio.Event()
        self.over = asyncio.Event()

    @property
    def waits_for_us(self) -> bool:
        """A question of the task is open in the inbox."""
        return any(asked.open for asked in self.asking)


class Tasks:
    """Follows the tasks of a session and acts on them. What is known of them is in `SessionState.tasks`."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.table = engine.state.tasks
        self._followed: dict[str, Followed] = {}

    # A call becomes a task

    def begin(self, call: Call, n: int, told: Any) -> Coroutine[Any, Any, Any]:
        """Response `n` to a call is a task. Returns what waits for its result. Raises `InvalidAnswer`."""
        id = told.get("taskId") if type(told) is dict else None
        if not isinstance(id, str):
            raise InvalidAnswer(
                f"The answer to {call.method} is a task without a taskId.",
                hint=f"Message {n} in the recording shows it.",
            )
        task = Task(id)
        task.made_by(call.n, call.method, call.name)
        self.table.keep(task)
        followed = self._followed[id] = Followed(task, call)
        self._took(task, n, told)
        self.engine.run(self._follow(followed))
        return self._outcome(followed, call)

    async def _outcome(self, followed: Followed, call: Call) -> Any:
        """Wait until a task is over, for the call that made it. A call that is given up cancels its task."""
        task = followed.task
        try:
            await followed.over.wait()
        except asyncio.CancelledError:
            if call.fate in ("cancelled", "timeout") and not task.done:
                self.cancel(task)
            raise
        call.answer_n = task.answer_n or task.last_n
        if task.error is not None:
            raise task.error
        return task.result

    # Following it

    def _of(self, task: Task) -> Followed:
        """What is done for a task; one of another session has no call."""
        return self._followed.setdefault(task.id, Followed(task, None))

    async def _follow(self, followed: Followed) -> None:
        """Look at the server's interval until the task is over (C-TASK-01, C-TASK-02)."""
        task, failed = followed.task, 0
        followed.again_and_again = True
        while not task.done:
            try:
                async with asyncio.timeout(max(task.poll, WAITING_POLL) if followed.waits_for_us else task.poll):
                    await followed.wake.wait()
            except TimeoutError:
                pass
            followed.wake.clear()
            if task.done:
                return
            try:
                await self._look(task)
                failed = 0
            except ServerError as error:
                self._over(task, error=error)
            except InspectorError as error:
                failed += 1
                if self.engine.state.phase != "ready":
                    followed.again_and_again = False
                    return  # `resume` goes on when there is a connection again.
                if failed >= FAILED_LOOKS:
                    self._over(task, error=error)

    async def _look_once(self, task: Task) -> None:
        try:
            await self._look(task)
        except InspectorError as error:
            self._over(task, error=error)

    async def _look(self, task: Task) -> None:
        call = self.engine.start("tasks/get", {"taskId": task.id}, progress=False, background=True)
        told = await call.result()
        if type(told) is dict and told.get("taskId", task.id) == task.id:
            self._took(task, call.answer_n, told)

    def _took(self, task: Task, n: int, told: dict[str, Any]) -> None:
        """The newest state of a task, by an answer or by a notification."""
        if task.done:
            return
        task.take(n, told)
        call = self._of(task).call
        if call is not None and call.fate == "pending":
            call.alive()
            self.engine.state.changes.bump("calls")
        if self.engine.state.server.features.tasks_extension:
            self._took_extension(task, n, told)
        elif task.status in OVER or task.status == "input_required":
            # The server asks on the stream of `tasks/result`, and answers it when the task is over.
            self._fetch(task)
        self.table.changed()

    def _took_extension(self, task: Task, n: int, told: dict[str, Any]) -> None:
        if task.status == "completed":
            task.answer_n = n
            self._over(task, result=told.get("result"))
        elif task.status == "failed":
            task.answer_n = n
            self._over(task, error=server_error(told.get("error"), task.method or "the task"))
        elif task.status == "cancelled":
            self._over(task, error=_cancelled(task))
        elif task.status == "input_required":
            self._ask(task, n, told.get("inputRequests"))

    def _ask(self, task: Task, n: int, requests: Any) -> None:
        """Put what is new among the input requests to the inbox; the answers go back with `tasks/update`."""
        followed, engine = self._of(task), self.engine
        wanted = requests if type(requests) is dict else {}
        new = {key: value for key, value in wanted.items() if key not in followed.asked}
        if not new:
            return
        followed.asked.update(new)

        asked = InputRequests(engine.state.inbox, engine.state.server.features, new)
        followed.asking.append(asked)
        asked.ask(n, task.call_n, engine.state.journal.index.time(n))
        engine.run(self._update(task, asked))

    async def _update(self, task: Task, asked: InputRequests) -> None:
        try:
            responses = await asked.answers()
        except Unanswered as refused:
            if not task.done:
                self._over(task, error=InputRefused(f"The task wants input and will not get it: {refused.why}."))
                self.cancel(task)
            return
        if task.done:
            return
        params = {"taskId": task.id, "inputResponses": responses}
        await self.engine.start("tasks/update", params, progress=False, background=True).result()
        self._of(task).wake.set()

    def _fetch(self, task: Task) -> None:
        followed = self._of(task)
        if not followed.fetching:
            followed.fetching = True
            self.engine.run(self._result(followed))

    async def _result(self, followed: Followed) -> None:
        """`tasks/result`: answered when the task is over, with what the request itself would have been answered."""
        task = followed.task
        call = self.engine.start("tasks/result", {"taskId": task.id}, timeout=FOR_EVER, progress=False, background=True)
        try:
            result = await call.result()
        except ConnectionProblem:
            followed.fetching = False
            raise
        except InspectorError as error:
            task.answer_n = call.answer_n
            self._over(task, error=_cancelled(task) if task.status == "cancelled" else error)
            return
        task.answer_n = call.answer_n
        task.status = task.status if task.status in OVER else "completed"
        self._over(task, result=result)

    def _over(self, task: Task, *, result: Any = None, error: InspectorError | None = None) -> None:
        task.end(result=result, error=error)
        followed = self._followed.pop(task.id, None)
        if followed is not None:
            followed.again_and_again = False
            followed.wake.set()
            followed.over.set()
            for asked in followed.asking:
                asked.withdraw()
        self.table.changed()

    # What the user does, and what the server tells

    def updated(self, n: int, params: dict[str, Any]) -> None:
        """`notifications/tasks/status` or `notifications/tasks`: the whole state, sooner than the next look."""
        task = self.table.get(params.get("taskId"))
        if task is not None:
            self._took(task, n, params)

    def cancel(self, task: Task) -> None:
        """`tasks/cancel`. The server decides; what becomes of the task is seen at the next look."""
        self.engine.run(self._cancel(task))

    async def _cancel(self, task: Task) -> None:
        if not self.table.can_cancel:
            raise NotOffered("The server does not offer to cancel tasks.")
        call = self.engine.start("tasks/cancel", {"taskId": task.id}, progress=False, background=True)
        told = await call.result()
        if type(told) is dict and told.get("taskId") == task.id:
            self._took(task, call.answer_n, told)
        self._of(task).wake.set()

    def refresh(self, task: Task) -> None:
        """Look now."""
        followed = self._followed.get(task.id)
        if followed is not None and followed.again_and_again:
            followed.wake.set()
        elif task.answer_n == 0:
            # It is of another session, and may have been over when it was listed: its result was never read.
            task.done = False
            self.engine.run(self._look_once(task))

    async def list(self) -> None:
        """`tasks/list`: also what other sessions began. Known tasks stay as they are."""
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            params = {} if cursor is None else {"cursor": cursor}
            call = self.engine.start("tasks/list", params, progress=False, background=True)
            result = await call.result()
            told = result.get("tasks") if type(result) is dict else None
            for item in told if type(told) is list else ():
                known = self.table.found(call.answer_n, item)
                if known is not None:
                    self._took(known, call.answer_n, item)
            cursor = result.get("nextCursor") if type(result) is dict else None
            if not isinstance(cursor, str):
                break

    def resume(self) -> None:
        """There is a new connection: go on with what is not over."""
        for task in self.table.items.values():
            if not task.done and task.mine:
                followed = self._of(task)
                followed.fetching = False
                self.engine.run(self._follow(followed))


def _cancelled(task: Task) -> RequestCancelled:
    return RequestCancelled(f"The task {task.title or task.id[:60]} was cancelled.")
