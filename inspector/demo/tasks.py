"""Tasks: tool calls that continue after the response to their request, in either era."""

from __future__ import annotations

import os
import sys
import threading
import time

from inspector.demo.rpc import INTERNAL_ERROR, INVALID_PARAMS, Cancelled, Refused, RpcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    Question = tuple[str, dict[str, Any]]  # a method and its params

    class Cancellable(Protocol):
        """The call of a tool or of tasks/result, as tasks use it."""

        @property
        def cancelled(self) -> bool: ...

        def cancel(self) -> None: ...

        def when_cancelled(self, wake: Callable[[], None]) -> None: ...


FINAL = ("completed", "failed", "cancelled")
MAX_TASKS = 1000
MAX_LIFE = 3_600_000  # maximum milliseconds that a task is kept, also without a requested time
POLL_INTERVAL = 100  # milliseconds


class TaskQuestion:
    """A question of a task that waits for an answer."""

    def __init__(self, question: Question) -> None:
        self.method, self.params = question
        self.taken = False  # whether it is being asked now
        self.answer: dict[str, Any] | Refused | None = None


class DemoTask:
    """One task. `on_change` is called after each change, before the next one."""

    def __init__(self, life: int, on_change: Callable[[DemoTask], None]) -> None:
        self.id = os.urandom(16).hex()
        self.status = "working"
        self.message = "The work has started."
        self.created = self.updated = time.time()
        self.life = life
        self.result: dict[str, Any] | None = None
        self.error: RpcError | None = None
        self.questions: dict[str, TaskQuestion] = {}
        self.call: Cancellable | None = None
        self._asked = 0
        self._on_change = on_change
        self._news = threading.Condition()

    def run(self, call: Cancellable, work: Callable[[], dict[str, Any]], *, errors_fail: bool) -> None:
        """Starts the work on a thread. Cancelling the task cancels `call`.

        `work` returns the result of the tool. `errors_fail`: whether a result with isError is a failure of the task.
        """
        self.call = call
        threading.Thread(target=self._work, args=(work, errors_fail), daemon=True).start()

    def _work(self, work: Callable[[], dict[str, Any]], errors_fail: bool) -> None:
        try:
            outcome = work()
            failed = errors_fail and outcome.get("isError") is True
            words = "The tool reported an error." if outcome.get("isError") else "The work is done."
            self._change("failed" if failed else "completed", words, result=outcome)
        except Cancelled:
            self._change("cancelled", "The server cancelled it.")
        except RpcError as problem:
            self._change("failed", problem.message, error=problem)
        except Exception as problem:  # noqa: BLE001 - the outermost edge of a task: the server must outlive it
            sys.excepthook(type(problem), problem, problem.__traceback__)
            broken = RpcError(INTERNAL_ERROR, f"Internal error: {type(problem).__name__}")
            self._change("failed", broken.message, error=broken)

    @property
    def ended(self) -> bool:
        """Whether it has reached a final status."""
        return self.status in FINAL

    @property
    def expired(self) -> bool:
        """Whether its time to live has passed."""
        return time.time() >= self.created + self.life / 1000

    def say(self, message: str) -> None:
        """Sets the status message."""
        self._change("working", message)

    def cancel(self) -> None:
        """Cancels the task for the client."""
        self._change("cancelled", "It was cancelled.")
        if self.call is not None:
            self.call.cancel()

    def ask(self, questions: tuple[Question, ...]) -> list[dict[str, Any]]:
        """Asks and waits for all answers; raises Refused, or Cancelled if the task ends first."""
        with self._news:
            mine = []
            for question in questions:
                self._asked += 1
                mine.append(f"{question[0].partition('/')[0]}-{self._asked}")
                self.questions[mine[-1]] = TaskQuestion(question)
            asked = [self.questions[key] for key in mine]
            self._change("input_required", "Waiting for an answer of the client.")
            self._news.wait_for(lambda: self.ended or all(pending.answer is not None for pending in asked))
            for key in mine:
                del self.questions[key]
        if self.ended:
            raise Cancelled
        answers = []
        for pending in asked:
            if isinstance(pending.answer, Refused):
                raise pending.answer
            answers.append(pending.answer or {})
        return answers

    def answer(self, key: str, answer: dict[str, Any] | Refused) -> None:
        """Answers a question; no effect on one that was withdrawn or answered."""
        with self._news:
            asked = self.questions.get(key)
            if asked is None or asked.answer is not None:
                return
            asked.answer = answer
            if all(question.answer is not None for question in self.questions.values()):
                self._change("working", "The answer has arrived.")
            self._news.notify_all()

    def open_questions(self) -> dict[str, TaskQuestion]:
        """Returns the unanswered questions."""
        with self._news:
            return {key: asked for key, asked in self.questions.items() if asked.answer is None}

    def take_question(self, call: Cancellable) -> tuple[str, TaskQuestion] | None:
        """Waits for the next question that is not being asked, and takes it; None after the task's end.

        Raises Cancelled if the call on whose behalf it waits is cancelled.
        """

        def free() -> tuple[str, TaskQuestion] | None:
            waiting = self.questions.items()
            return next(((key, asked) for key, asked in waiting if not asked.taken and asked.answer is None), None)

        call.when_cancelled(self._wake)
        with self._news:
            self._news.wait_for(lambda: self.ended or call.cancelled or free() is not None)
            if call.cancelled:
                raise Cancelled
            question = None if self.ended else free()
            if question is not None:
                question[1].taken = True
            return question

    def put_back(self, key: str) -> None:
        """Returns a taken question that could not be asked, so that another request may ask it."""
        with self._news:
            if key in self.questions:
                self.questions[key].taken = False
            self._news.notify_all()

    def _wake(self) -> None:
        with self._news:
            self._news.notify_all()

    def _change(
        self, status: str, message: str, *, result: dict[str, Any] | None = None, error: RpcError | None = None
    ) -> None:
        with self._news:
            if self.ended:
                return
            self.status, self.message, self.updated = status, message, time.time()
            self.result, self.error = result, error
            self._news.notify_all()
            self._on_change(self)


class Tasks:
    """The tasks of one client, by id, in the order of their start."""

    def __init__(self) -> None:
        self._tasks: dict[str, DemoTask] = {}
        self._lock = threading.Lock()

    def add(self, life: int, on_change: Callable[[DemoTask], None]) -> DemoTask:
        """Adds a task that is kept for `life` milliseconds; raises RpcError if too many are running."""
        self._end_expired()
        task = DemoTask(min(life, MAX_LIFE), on_change)
        with self._lock:
            ended = [known.id for known in self._tasks.values() if known.ended]
            for name in ended[: max(len(self._tasks) - MAX_TASKS + 1, 0)]:
                del self._tasks[name]
            if len(self._tasks) >= MAX_TASKS:
                raise RpcError(INTERNAL_ERROR, f"{MAX_TASKS} tasks are running already")
            self._tasks[task.id] = task
        return task

    def all(self) -> list[DemoTask]:
        """Returns all tasks that have not expired."""
        self._end_expired()
        with self._lock:
            return list(self._tasks.values())

    def find(self, name: Any) -> DemoTask | None:
        """Returns a task by its id."""
        with self._lock:
            task = self._tasks.get(name) if isinstance(name, str) else None
        return None if task is None or task.expired else task

    def get(self, name: str) -> DemoTask:
        """Returns a task by a request's id; raises RpcError if it is unknown."""
        task = self.find(name)
        if task is None:
            raise RpcError(INVALID_PARAMS, "Task not found: unknown or expired")
        return task

    def drop(self) -> None:
        """Cancels all running tasks."""
        for task in self.all():
            task.cancel()

    def _end_expired(self) -> None:
        with self._lock:
            expired = [task for task in self._tasks.values() if task.expired]
            for task in expired:
                del self._tasks[task.id]
        for task in expired:
            task.cancel()


def moment(seconds: float) -> str:
    """Formats a time as ISO 8601 with milliseconds."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03d}Z"


def described(task: DemoTask, unit: str = "") -> dict[str, Any]:
    """Returns a task as clients see it. `unit` ends the names of its times: none in 2025-11-25, "Ms" in 2026-07-28."""
    return {
        "taskId": task.id,
        "status": task.status,
        "statusMessage": task.message,
        "createdAt": moment(task.created),
        "lastUpdatedAt": moment(task.updated),
        f"ttl{unit}": task.life,
        f"pollInterval{unit}": POLL_INTERVAL,
    }
