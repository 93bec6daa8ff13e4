"""Tasks: server work that outlives the response to its request.

Two designs, one table: the experimental core tasks of 2025-11-25 (requested by the client, the result fetched with
`tasks/result`; C-TASK-01) and the extension `io.modelcontextprotocol/tasks` of 2026 (created by the server, the result
inside `tasks/get`; C-TASK-02, C-TASK-03). Sources: specification 2025-11-25, "Tasks"; SEP-2663.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from inspector.client.engine.engine import Engine
from inspector.client.engine.input_requests import InputRequests, InputUnavailable
from inspector.client.engine.pending_requests import Call
from inspector.client.engine.subscription_stream import FOR_EVER
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
from inspector.protocol.jsonrpc import excerpt
from inspector.protocol.members import array_at, object_at, value_at

WAITING_POLL = 2.0
"""Minimum seconds between two polls while the task waits for our input."""
MAX_PAGES = 100
FAILED_LOOKS = 5
"""Consecutive failed polls after which a task is not polled any more."""


class PolledTask:
    """A polled task, and the call that waits for it."""

    def __init__(self, task: Task, call: Call | None) -> None:
        self.task = task
        self.call = call
        self.asked: set[str] = set()
        """Keys of the input requests that were added to the inbox (C-TASK-03)."""
        self.asking: list[InputRequests] = []
        self.fetching = False
        """Whether its result is requested."""
        self.again_and_again = False
        """Whether the task is polled until it ends."""
        self.wake = asyncio.Event()
        self.over = asyncio.Event()

    @property
    def waits_for_us(self) -> bool:
        """Whether a question of the task is open in the inbox."""
        return any(asked.open for asked in self.asking)


class TaskPoller:
    """Polls and controls the tasks of a session. `SessionState.tasks` holds what is known of them."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.table = engine.state.tasks
        self._followed: dict[str, PolledTask] = {}

    # A call becomes a task

    def begin(self, call: Call, n: int, task_object: Any) -> Coroutine[Any, Any, Any]:
        """Handle response `n` that makes a call a task. Return the wait for its result. Raises `InvalidAnswer`."""
        id = value_at(task_object, "taskId")
        if not isinstance(id, str):
            raise InvalidAnswer(
                f"The response to {call.method} is a task without a taskId.",
                hint=self.engine.state.journal.shows(n),
            )
        task = Task(id)
        task.made_by(call.n, call.method, call.name)
        self.table.keep(task)
        followed = self._followed[id] = PolledTask(task, call)
        self._took(task, n, task_object)
        self.engine.run(self._follow(followed))
        return self._outcome(followed, call)

    async def _outcome(self, followed: PolledTask, call: Call) -> Any:
        """Wait until a task ends, for its call. Cancelling the call cancels the task."""
        task = followed.task
        try:
            await followed.over.wait()
        except asyncio.CancelledError:
            if call.fate in ("cancelled", "timeout") and not task.done:
                self.cancel(task)
            raise
        call.answer_n = task.answer_n or task.report.n
        if task.error is not None:
            raise task.error
        return task.result

    # Polling

    def _of(self, task: Task) -> PolledTask:
        """Return the polling state of a task; one of another session has no call."""
        return self._followed.setdefault(task.id, PolledTask(task, None))

    async def _follow(self, followed: PolledTask) -> None:
        """Poll at the server's interval until the task ends (C-TASK-01, C-TASK-02)."""
        task, failed = followed.task, 0
        followed.again_and_again = True
        while not task.done:
            try:
                async with asyncio.timeout(max(task.poll, WAITING_POLL if followed.waits_for_us else 0)):
                    await followed.wake.wait()
            except TimeoutError:
                pass
            followed.wake.clear()
            if task.done:
                return
            try:
                await self._poll(task)
                failed = 0
            except (ServerError, InvalidAnswer) as error:
                self._over(task, error=error)
            except InspectorError as error:
                failed += 1
                if self.engine.state.phase != "ready":
                    followed.again_and_again = False
                    return  # `resume` continues after a reconnect.
                if failed >= FAILED_LOOKS:
                    self._over(task, error=error)

    async def _look_once(self, task: Task) -> None:
        try:
            await self._poll(task)
        except InspectorError as error:
            self._over(task, error=error)

    async def _poll(self, task: Task) -> None:
        call = self.engine.start("tasks/get", {"taskId": task.id}, progress=False, background=True)
        task_object = await call.result()
        if type(task_object) is not dict:
            return
        other = task_object.get("taskId", task.id)
        if other != task.id:
            raise InvalidAnswer(
                f"The response to tasks/get for the task {excerpt(task.id, 60)} is about {excerpt(other, 60)}.",
                hint=self.engine.state.journal.shows(call.answer_n),
            )
        self._took(task, call.answer_n, task_object)

    def _took(self, task: Task, n: int, task_object: dict[str, Any]) -> None:
        """Handle a task's new state, from a response or a notification."""
        if task.done:
            return
        task.update(n, task_object)
        call = self._of(task).call
        if call is not None and call.fate == "pending":
            call.deadline.alive(task.poll)
            self.engine.state.changes.bump("calls")
        if self.engine.state.server.features.tasks_extension:
            self._took_extension(task, n, task_object)
        elif task.status in OVER or task.status == "input_required":
            # The server asks on the stream of `tasks/result`, and responds to it when the task ends.
            self._fetch(task)
        self.table.changed()

    def _took_extension(self, task: Task, n: int, task_object: dict[str, Any]) -> None:
        if task.status == "completed":
            task.answer_n = n
            result = task_object.get("result")
            asks = value_at(result, "resultType") == "input_required"
            error = asks_at_the_end(task.method or "the task", n, self.engine) if asks else None
            self._over(task, result=result, error=error)
        elif task.status == "failed":
            task.answer_n = n
            self._over(task, error=server_error(task_object.get("error"), task.method or "the task"))
        elif task.status == "cancelled":
            self._over(task, error=_cancelled(task))
        elif task.status == "input_required":
            self._ask(task, n, task_object.get("inputRequests"))

    def _ask(self, task: Task, n: int, requests: Any) -> None:
        """Add new input requests to the inbox; the answers are sent with `tasks/update`."""
        followed, engine = self._of(task), self.engine
        new = {key: value for key, value in object_at(requests).items() if key not in followed.asked}
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
        except InputUnavailable as refused:
            if not task.done:
                self._over(task, error=InputRefused(f"The task requires input and does not get it: {refused.reason}."))
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

    async def _result(self, followed: PolledTask) -> None:
        """Send `tasks/result`: its response, at the task's end, is the result of the original request."""
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

    # Actions of the user, and notifications of the server

    def updated(self, n: int, params: dict[str, Any]) -> None:
        """Handle `notifications/tasks/status` or `notifications/tasks`: the full state before the next poll."""
        task = self.table.get(params.get("taskId"))
        if task is not None:
            self._took(task, n, params)

    def cancel(self, task: Task) -> None:
        """Send `tasks/cancel`. The server decides; the next poll shows the outcome."""
        self.engine.run(self._cancel(task))

    async def _cancel(self, task: Task) -> None:
        if not self.table.can_cancel:
            raise NotOffered("The server does not offer task cancellation.")
        call = self.engine.start("tasks/cancel", {"taskId": task.id}, progress=False, background=True)
        task_object = await call.result()
        if type(task_object) is dict and task_object.get("taskId") == task.id:
            self._took(task, call.answer_n, task_object)
        self._of(task).wake.set()

    def refresh(self, task: Task) -> None:
        """Poll now."""
        followed = self._followed.get(task.id)
        if followed is not None and followed.again_and_again:
            followed.wake.set()
        elif task.answer_n == 0:
            # A task of another session may have ended when it was listed: its result was never read.
            task.done = False
            self.engine.run(self._look_once(task))

    async def list(self) -> None:
        """Send `tasks/list`: it includes tasks of other sessions. Known tasks keep their state."""
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            params = {} if cursor is None else {"cursor": cursor}
            call = self.engine.start("tasks/list", params, progress=False, background=True)
            result = await call.result()
            for item in array_at(result, "tasks"):
                known = self.table.add_listed(call.answer_n, item)
                if known is not None:
                    self._took(known, call.answer_n, item)
            cursor = value_at(result, "nextCursor")
            if not isinstance(cursor, str):
                break

    def resume(self) -> None:
        """Continue to poll unfinished tasks after a reconnect."""
        for task in self.table.items.values():
            if not task.done and task.call_n:
                followed = self._of(task)
                followed.fetching = False
                self.engine.run(self._follow(followed))


def asks_at_the_end(method: str, n: int, engine: Engine) -> InvalidAnswer:
    """Return the error for a final result, in message `n`, that requires input: nothing can be answered any more."""
    return InvalidAnswer(
        f"The final result of {method} is of the type input_required, which is not allowed there.",
        hint=engine.state.journal.shows(n),
    )


def _cancelled(task: Task) -> RequestCancelled:
    return RequestCancelled(f"The task {task.title or task.id[:60]} was cancelled.")
