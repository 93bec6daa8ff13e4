"""Tasks: work of the server that outlives the answer to the request that began it.

Two designs, one table: the experimental core tasks of 2025-11-25 (asked for by the client, the result fetched with
`tasks/result`; C-TASK-01) and the extension `io.modelcontextprotocol/tasks` of 2026 (made when the server likes, the
result inside `tasks/get`; C-TASK-02, C-TASK-03). Sources: specification 2025-11-25, "Tasks"; SEP-2663.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from inspector.client.engine.calls import Call, server_error
from inspector.client.engine.input_requests import InputRound
from inspector.client.engine.listening import FOR_EVER
from inspector.client.inbox import TASKS_EXTENSION
from inspector.errors import (
    ConnectionProblem,
    InputRefused,
    InspectorError,
    InvalidAnswer,
    NotOffered,
    RequestCancelled,
    ServerError,
)

if TYPE_CHECKING:
    from inspector.client.recorded import RecordedSession
    from inspector.client.session import Session

OVER = frozenset(("completed", "failed", "cancelled"))
POLL = 1.0
"""Seconds between two looks where the server names no interval."""
SHORTEST_POLL, LONGEST_POLL = 0.05, 3600.0
WAITING_POLL = 2.0
"""Seconds at least between two looks while it is we who keep the task waiting."""
KEPT = 1000
"""Tasks in the table; finished ones are dropped first."""
MOST_PAGES = 100
FAILED_LOOKS = 5
"""Looks in a row without an answer, after which a task is no longer followed."""


class Task:
    """One task as far as it is known. Texts come from the server and are not to be trusted."""

    def __init__(self, id: str, *, call: Call | None = None) -> None:
        self.id = id
        self.status = "working"
        self.message = ""
        self.created = ""
        self.updated = ""
        self.ttl: int | None = None
        """Milliseconds that the server keeps it; None: it does not say, or for ever."""
        self.poll = POLL
        """Seconds between two looks."""
        self.mine = call is not None
        """A call of this session made it; others come from `tasks/list`."""
        self.method = call.method if call is not None else ""
        self.title = call.name if call is not None else ""
        self.call = call
        self.call_n = call.n if call is not None else 0
        """The number of the request that made it."""
        self.last_n = 0
        """The newest message that told of it."""
        self.answer_n = 0
        """The message that holds its result."""
        self.result: Any = None
        self.error: InspectorError | None = None
        self.done = False
        """It is over, or no longer followed."""
        self.asked: set[str] = set()
        """Keys of the input requests that have been put to the inbox (C-TASK-03)."""
        self.rounds: list[InputRound] = []
        self.fetching = False
        self.followed = False
        """It is looked at again and again."""
        self.wake = asyncio.Event()

    @property
    def waits_for_us(self) -> bool:
        """A question of the task is open in the inbox."""
        return any(asked.open for asked in self.rounds)

    def take(self, n: int, told: dict[str, Any]) -> None:
        """Take in a task object, whatever its fields are."""
        self.last_n = n
        status, message = told.get("status"), told.get("statusMessage")
        self.status = status if isinstance(status, str) else self.status
        self.message = message if isinstance(message, str) else ""
        self.created = _text(told.get("createdAt")) or self.created
        self.updated = _text(told.get("lastUpdatedAt")) or self.updated
        ttl = told.get("ttlMs", told.get("ttl"))
        self.ttl = ttl if type(ttl) is int and ttl >= 0 else None
        self.poll = _seconds(told.get("pollIntervalMs", told.get("pollInterval")))


class Tasks:
    """The tasks of a session, in the order in which they became known. They outlive a reconnect."""

    def __init__(self, session: Session | RecordedSession) -> None:
        self.shown = session
        self.items: dict[str, Task] = {}

    @property
    def offered(self) -> bool:
        """Whether the server has tasks, by the design of the revision that is spoken."""
        server = self.shown.server
        if server.features.tasks_extension:
            extensions = server.capabilities.get("extensions")
            return type(extensions) is dict and TASKS_EXTENSION in extensions
        return server.features.tasks and server.can("tasks")

    @property
    def can_list(self) -> bool:
        """Whether `tasks/list` exists; the extension has none."""
        return self.shown.server.features.tasks and self._declares("list")

    @property
    def can_cancel(self) -> bool:
        """Whether `tasks/cancel` exists; the extension always has it."""
        return self.offered and (self.shown.server.features.tasks_extension or self._declares("cancel"))

    def _declares(self, part: str) -> bool:
        tasks = self.shown.server.capabilities.get("tasks")
        return type(tasks) is dict and tasks.get(part) not in (None, False)

    def support(self, tool: dict[str, Any]) -> str:
        """`required`, `optional` or `forbidden`: whether a tool is called as a task by our wish (C-TOOL-06)."""
        if not self.session.server.features.tasks:
            return "forbidden"
        value: Any = self.session.server.capabilities
        for name in ("tasks", "requests", "tools", "call"):
            value = value.get(name) if type(value) is dict else None
        execution = tool.get("execution")
        wanted = execution.get("taskSupport") if type(execution) is dict else None
        return wanted if value not in (None, False) and wanted in ("required", "optional") else "forbidden"

    # A call becomes a task

    def begin(self, call: Call, n: int, told: Any) -> None:
        """The answer to a call is a task: the call goes on until the task is over."""
        id = told.get("taskId") if type(told) is dict else None
        if not isinstance(id, str):
            problem = InvalidAnswer(
                f"The answer to {call.method} is a task without a taskId.",
                hint=f"Message {n} in the recording shows it.",
            )
            self.session.pending.fail(call, problem)
            return
        call.held = True
        call.task_id = id
        task = Task(id, call=call)
        self._keep(task)
        self._took(task, n, told)
        self.session.run(self._follow(task))

    def _keep(self, task: Task) -> None:
        self.items.pop(task.id, None)
        self.items[task.id] = task
        if len(self.items) > KEPT:
            over = next((id for id, known in self.items.items() if known.done), next(iter(self.items)))
            del self.items[over]
        self._changed()

    @property
    def session(self) -> Session:
        """The live session; a recording's tasks are only looked at."""
        return cast("Session", self.shown)

    def _changed(self) -> None:
        self.shown.changes.bump("tasks")

    # Following it

    async def _follow(self, task: Task) -> None:
        """Look at the server's interval until the task is over (C-TASK-01, C-TASK-02)."""
        failed = 0
        task.followed = True
        while not task.done:
            try:
                async with asyncio.timeout(max(task.poll, WAITING_POLL) if task.waits_for_us else task.poll):
                    await task.wake.wait()
            except TimeoutError:
                pass
            task.wake.clear()
            if task.done:
                return
            try:
                await self._look(task)
                failed = 0
            except ServerError as error:
                self._over(task, error=error)
            except InspectorError as error:
                failed += 1
                if self.session.phase != "ready":
                    task.followed = False
                    return  # `resume` goes on when there is a connection again.
                if failed >= FAILED_LOOKS:
                    self._over(task, error=error)

    async def _look_once(self, task: Task) -> None:
        try:
            await self._look(task)
        except InspectorError as error:
            self._over(task, error=error)

    async def _look(self, task: Task) -> None:
        call = self.session.start("tasks/get", {"taskId": task.id}, progress=False, background=True)
        told = await call.result()
        if type(told) is dict and told.get("taskId", task.id) == task.id:
            self._took(task, call.answer_n, told)

    def _took(self, task: Task, n: int, told: dict[str, Any]) -> None:
        """The newest state of a task, by an answer or by a notification."""
        if task.done:
            return
        task.take(n, told)
        if task.call is not None and task.call.fate == "pending":
            task.call.alive()
            self.session.changes.bump("calls")
        if self.session.server.features.tasks_extension:
            self._took_extension(task, n, told)
        elif task.status in OVER or task.status == "input_required":
            # The server asks on the stream of `tasks/result`, and answers it when the task is over.
            self._fetch(task)
        self._changed()

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
        new = {key: value for key, value in requests.items() if key not in task.asked} if type(requests) is dict else {}
        if not new:
            return
        task.asked.update(new)
        session = self.session

        def done(responses: dict[str, Any] | None, why: str) -> None:
            if task.done:
                return
            if responses is None:
                self._over(task, error=InputRefused(f"The task wants input and will not get it: {why}."))
                self.cancel(task)
            else:
                session.run(self._update(task, responses))

        asked = InputRound(session.inbox, session.server.features, new, done)
        task.rounds.append(asked)
        asked.ask(n, task.call_n, session.journal.index.time(n))

    async def _update(self, task: Task, responses: dict[str, Any]) -> None:
        params = {"taskId": task.id, "inputResponses": responses}
        await self.session.start("tasks/update", params, progress=False, background=True).result()
        task.wake.set()

    def _fetch(self, task: Task) -> None:
        if not task.fetching:
            task.fetching = True
            self.session.run(self._result(task))

    async def _result(self, task: Task) -> None:
        """`tasks/result`: answered when the task is over, with what the request itself would have been answered."""
        call = self.session.start(
            "tasks/result", {"taskId": task.id}, timeout=FOR_EVER, progress=False, background=True
        )
        try:
            result = await call.result()
        except ConnectionProblem:
            task.fetching = False
            raise
        except InspectorError as error:
            task.answer_n = call.answer_n
            self._over(task, error=_cancelled(task) if task.status == "cancelled" else error)
            return
        task.answer_n = call.answer_n
        task.status = task.status if task.status in OVER else "completed"
        self._over(task, result=result)

    def _over(self, task: Task, *, result: Any = None, error: InspectorError | None = None) -> None:
        task.done = True
        task.followed = False
        task.result = result
        task.error = error
        task.wake.set()
        for asked in task.rounds:
            asked.withdraw()
        call = task.call
        if call is not None and call.fate == "pending":
            call.answer_n = task.answer_n or task.last_n
            if error is not None:
                self.session.pending.fail(call, error)
            else:
                self.session.pending.done(call, result)
        self._changed()

    # What the user does, and what the server tells

    def updated(self, n: int, params: dict[str, Any]) -> None:
        """`notifications/tasks/status` or `notifications/tasks`: the whole state, sooner than the next look."""
        id = params.get("taskId")
        task = self.items.get(id) if isinstance(id, str) else None
        if task is not None:
            self._took(task, n, params)

    def cancel(self, task: Task) -> None:
        """`tasks/cancel`. The server decides; what becomes of the task is seen at the next look."""
        self.session.run(self._cancel(task))

    async def _cancel(self, task: Task) -> None:
        if not self.can_cancel:
            raise NotOffered("The server does not offer to cancel tasks.")
        call = self.session.start("tasks/cancel", {"taskId": task.id}, progress=False, background=True)
        told = await call.result()
        if type(told) is dict and told.get("taskId") == task.id:
            self._took(task, call.answer_n, told)
        task.wake.set()

    def refresh(self, task: Task) -> None:
        """Look now."""
        if task.followed:
            task.wake.set()
        elif task.answer_n == 0:
            # It is of another session, and may have been over when it was listed: nobody has seen what came of it.
            task.done = False
            self.session.run(self._look_once(task))

    async def list(self) -> None:
        """`tasks/list`: also what other sessions began. Known tasks stay as they are."""
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            params = {} if cursor is None else {"cursor": cursor}
            call = self.session.start("tasks/list", params, progress=False, background=True)
            result = await call.result()
            told = result.get("tasks") if type(result) is dict else None
            for item in told if type(told) is list else ():
                self._found(call.answer_n, item)
            cursor = result.get("nextCursor") if type(result) is dict else None
            if not isinstance(cursor, str):
                break

    def _found(self, n: int, told: Any) -> None:
        id = told.get("taskId") if type(told) is dict else None
        if not isinstance(id, str):
            return
        task = self.items.get(id)
        if task is not None:
            self._took(task, n, told)
            return
        task = Task(id)
        task.take(n, told)
        task.done = task.status in OVER
        self._keep(task)

    def replay(self, n: int, told: dict[str, Any], *, fetched: bool = False) -> None:
        """Take in what message `n` of a recording told of a task, or of several; `fetched`: it is the result itself."""
        several = told.get("tasks")
        for item in several if type(several) is list else (told,):
            id = item.get("taskId") if type(item) is dict else None
            if not isinstance(id, str):
                continue
            task = self.items.get(id)
            if task is None:
                task = Task(id)
                self._keep(task)
            if fetched:
                task.answer_n, task.result = n, item
            else:
                task.take(n, item)
                if "result" in item:
                    task.answer_n, task.result = n, item["result"]
                if task.status == "failed" and "error" in item:
                    task.answer_n, task.error = n, server_error(item["error"], task.method or "the task")
            task.done = task.status in OVER
        self._changed()

    def resume(self) -> None:
        """The connection is made anew: go on with what is not over."""
        for task in self.items.values():
            if not task.done and task.mine:
                task.fetching = False
                self.session.run(self._follow(task))


def _cancelled(task: Task) -> RequestCancelled:
    return RequestCancelled(f"The task {task.title or task.id[:60]} was cancelled.")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _seconds(interval: Any) -> float:
    """A poll interval in milliseconds, in seconds and within reason."""
    if type(interval) not in (int, float) or not interval >= 0:
        return POLL
    return float(min(max(min(interval, LONGEST_POLL * 1000) / 1000, SHORTEST_POLL), LONGEST_POLL))
