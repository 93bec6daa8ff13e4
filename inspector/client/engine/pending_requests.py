"""Requests in flight: one `Call` each, with its timeout, progress and fate."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

from inspector.client.state.calls import Fate, Progress, server_error
from inspector.errors import ConnectionProblem, InspectorError, RequestCancelled, RequestTimeout
from inspector.hints import Hint, Parameter
from inspector.protocol.jsonrpc import id_key
from inspector.protocol.members import subject_of
from inspector.transports.base import Outgoing


class RpcResponse(NamedTuple):
    """A response: its number in the journal, the message, and the error from its HTTP status, if any."""

    n: int
    message: dict[str, Any]
    failure: InspectorError | None = None

    def result(self, method: str) -> Any:
        """Return the result. Raises the response's error."""
        error = self.message.get("error")
        if error is not None or "result" not in self.message:
            raise self.failure or server_error(error, method)
        return self.message["result"]


class Waiting:
    """A call without a result so far: it waits for a response."""

    fate: Fate = "pending"
    value: Any = None
    error: InspectorError | None = None
    late = False

    @property
    def in_flight(self) -> bool:
        """Whether a request was sent and has no response yet."""
        return True


WAITING = Waiting()


class ContinuedCall(Waiting):
    """A call that a response did not end: the server requires input, or runs it as a task.

    A coroutine completes it (`Driver.intercepts_response`).
    """

    def __init__(self) -> None:
        self.task: asyncio.Task[Any] | None = None
        self.begun = False
        self.extra: dict[str, Any] = {}
        """Parameters of the latest request only: the input that the server required for this call (C-MRTR-03)."""
        self._answer: asyncio.Future[RpcResponse] | None = None

    @property
    def in_flight(self) -> bool:
        """Whether a request was sent and has no response yet."""
        return self._answer is not None and not self._answer.done()

    def expect(self, extra: dict[str, Any]) -> asyncio.Future[RpcResponse]:
        """Expect the response to another request with these extra parameters; the future receives it."""
        self.extra = extra
        self._answer = asyncio.get_running_loop().create_future()
        return self._answer

    def deliver(self, response: RpcResponse) -> bool:
        """Pass on a response. False if none is expected: the request already has one."""
        if self._answer is None or self._answer.done():
            return False
        self._answer.set_result(response)
        return True

    def stop(self) -> None:
        """Cancel the coroutine: the call has ended."""
        if self.task is not None:
            if self.begun:
                self.task.cancel()
            else:  # A coroutine that has not started cannot clean up.
                self.task.get_loop().call_soon(self.task.cancel)


class Ended:
    """The end of a call: its result, if `fate` is `done`, else its error. `at` is a time of the loop's clock."""

    __slots__ = ("at", "error", "fate", "in_flight", "late", "value")

    def __init__(self, fate: Fate, value: Any, error: InspectorError | None, at: float) -> None:
        self.fate = fate
        self.value = value
        self.error = error
        self.at = at
        self.late = False
        """The response came after the call was given up."""
        self.in_flight = False
        """The call was given up while a request had no response."""


class Deadline:
    """When a call times out: `timeout` seconds after the last sign of life, `ceiling` in total, not while paused."""

    # Defaults of the class, as in `Call`.
    _paused = 0.0
    """Seconds of all pauses that have ended."""
    _paused_at: float | None = None

    def __init__(self, clock: Callable[[], float], timeout: float, ceiling: float) -> None:
        self._clock = clock
        self.timeout = timeout
        self.ceiling = ceiling
        self.started = self._quiet_since = clock()

    def extend(self, seconds: float) -> None:
        """Allow more time, even beyond the total limit."""
        self.timeout += seconds
        self.ceiling += seconds

    def alive(self, silence: float = 0.0) -> None:
        """Handle a sign that the server works on the call: the timeout starts again, after an agreed `silence`."""
        self._quiet_since = self._clock() + silence

    def pause(self) -> None:
        """Stop the clock while a person answers a question for this call."""
        if self._paused_at is None:
            self._paused_at = self._clock()

    def resume(self) -> None:
        """Continue; the paused time does not count."""
        if self._paused_at is not None:
            paused = self._clock() - self._paused_at
            self._paused_at = None
            self._paused += paused
            self._quiet_since += paused
            self.ceiling += paused

    @property
    def paused(self) -> bool:
        """Whether the clock is stopped."""
        return self._paused_at is not None

    def paused_before(self, time: float) -> float:
        """Return the seconds of all pauses up to `time`; overlapping ones count once."""
        return self._paused if self._paused_at is None else self._paused + time - self._paused_at

    @property
    def due(self) -> float:
        """Time at which the call times out without a sign of life; later while paused."""
        if self._paused_at is not None:
            return self._clock() + self.timeout
        silent, total = self._quiet_since + self.timeout, self.started + self.ceiling
        return silent if silent < total else total


class Call:
    """A sent request. Await `result()`; `cancel()`, or extend its `deadline`, at any time."""

    # Defaults of the class: most calls never set them, and every call is on the hot path.
    id: int | str = 0
    token: Any = None
    """Its progress token, if any."""
    headers: tuple[tuple[str, str], ...] = ()
    """HTTP header fields of this request only."""
    outgoing: Outgoing | None = None
    answer_n = 0
    """The response's number in the journal, even if it came late; 0 without one."""
    outcome: Waiting | Ended = WAITING
    """Whether it waits for a response (`Waiting`), continues after one (`ContinuedCall`) or has ended (`Ended`)."""
    progress: Progress | None = None
    background = False
    """The session's own call, which no caller awaits."""
    on_result: Callable[[Call], None] | None = None
    _paused_before_sent = 0.0
    _pending: PendingRequests | None = None
    _waiters: tuple[asyncio.Future[None], ...] = ()

    def __init__(
        self,
        method: str,
        params: dict[str, Any] | None,
        timeout: float,
        ceiling: float,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.method = method
        self.params = params
        deadline = self.deadline = Deadline(loop.time, timeout, ceiling)
        self.started = self.sent_at = deadline.started
        """`sent_at` is the time of its latest request: a call is resent with the input that the server requires."""
        self._loop = loop

    @property
    def n(self) -> int:
        """The request's number in the journal; 0 before it was sent."""
        return self.outgoing.n if self.outgoing is not None else 0

    @property
    def in_flight(self) -> bool:
        """Whether its latest request has no response; a call may be open without a request in flight."""
        return self.outcome.in_flight

    @property
    def fate(self) -> Fate:
        """How it ended; `pending` before its end."""
        return self.outcome.fate

    @property
    def value(self) -> Any:
        """The result, once `fate` is `done`."""
        return self.outcome.value

    @property
    def error(self) -> InspectorError | None:
        """Why it failed, once it has."""
        return self.outcome.error

    @property
    def name(self) -> str:
        """The tool's or prompt's name, or the resource's URI."""
        return subject_of(self.params)

    @property
    def elapsed(self) -> float:
        """Seconds from its start to its end, or to now."""
        return self._until - self.started

    @property
    def _until(self) -> float:
        """Its end, or now, on the loop's clock."""
        return self.outcome.at if isinstance(self.outcome, Ended) else self._loop.time()

    @property
    def server_time(self) -> float:
        """Seconds from its latest request to its end, without the time that a person took."""
        end = self._until
        return max(end - self.sent_at - self.deadline.paused_before(end) + self._paused_before_sent, 0.0)

    @property
    def person_time(self) -> float:
        """Seconds of `elapsed` in which the call waited for a person, in all rounds."""
        return self.deadline.paused_before(self._until)

    @property
    def allowed(self) -> float:
        """Seconds after the start at which it times out without progress."""
        return self.deadline.due - self.started

    async def result(self) -> Any:
        """Wait for the result. Raises `ServerError`, `RequestTimeout`, `RequestCancelled` or a `ConnectionProblem`."""
        if self.outcome.fate == "pending":
            waiter = self._loop.create_future()
            self._waiters = (*self._waiters, waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                self._waiters = tuple(other for other in self._waiters if other is not waiter)
                if not self._waiters:
                    self.cancel("the caller stopped waiting")
                raise
        end = self.outcome
        if end.error is not None:
            raise end.error
        return end.value

    def drop_value(self) -> None:
        """Release the result, which the journal holds: objects take five times the memory of their bytes."""
        if isinstance(self.outcome, Ended):
            self.outcome.value = None

    def cancel(self, reason: str = "cancelled by the user") -> None:
        """Cancel, and notify the server by the transport's rule. No effect after its end."""
        if self.fate == "pending" and self._pending is not None:
            self._pending.cancel(self, reason)

    def _resent(self, id: int | str) -> None:
        self.id = id
        self.sent_at = self._loop.time()
        self._paused_before_sent = self.deadline.paused_before(self.sent_at)


class PendingRequests:
    """The table of calls by id.

    `tell_cancelled(call, reason)` notifies the server of a cancellation; `intercept(call, n, response)` returns a
    coroutine that completes the call, or None if the response ends it, and `run` runs that coroutine. `conceal(error)`
    removes secrets from the error that ends a call.
    """

    KEPT_GIVEN_UP = 1024

    def __init__(
        self,
        tell_cancelled: Callable[[Call, str], None],
        changed: Callable[[], None],
        explain: Callable[[Call], str],
        intercept: Callable[[Call, int, dict[str, Any]], Coroutine[Any, Any, Any] | None],
        run: Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]],
        conceal: Callable[[InspectorError], None],
    ) -> None:
        self._calls: dict[Any, Call] = {}
        self._given_up: dict[Any, Call] = {}
        self._tell_cancelled = tell_cancelled
        self._changed = changed
        self._explain = explain
        self._intercept = intercept
        self._run = run
        self._conceal = conceal
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        """When it is due, on the loop's clock."""
        self.on_ended: Callable[[Call], None] | None = None
        """Receives each call that has ended."""
        self.latest: Call | None = None
        """The call of the user or of a list that got the latest response."""

    def __len__(self) -> int:
        return len(self._calls)

    def calls(self) -> list[Call]:
        """The calls in flight, oldest first."""
        return list(self._calls.values())

    def get(self, id: Any) -> Call | None:
        """The call in flight with this id."""
        return self._calls.get(id_key(id))

    def by_token(self, token: Any) -> Call | None:
        """Return the call in flight with this progress token. Tokens are ids unless the user set one."""
        key = id_key(token)
        call = self._calls.get(key)
        if call is not None and call.token == key:
            return call
        return next((call for call in self._calls.values() if key is not None and call.token == key), None)

    def add(self, call: Call) -> None:
        """Add a call and start its timeout."""
        self._calls[call.id] = call
        call._pending = self
        due = call.deadline.due
        if self._timer is None or due < self._timer_at:
            self._watch(call._loop, due)
        self._changed()

    def rename(self, call: Call, id: int | str) -> None:
        """Assign a resent call its new id."""
        self._calls.pop(call.id, None)
        call._resent(id)
        self._calls[id] = call

    def answer(self, n: int, message: dict[str, Any]) -> Call | None:
        """Handle a response: settle its call, or mark it late. Return the call, or None if it matches no call."""
        key = id_key(message.get("id"))
        call = self._calls.get(key)
        if call is None:
            call = self._given_up.pop(key, None)
            if call is not None and isinstance(call.outcome, Ended):
                call.answer_n = n
                call.outcome.late = True
                self._changed()
            return call
        if call.outcome is not WAITING:
            return call if self._deliver(call, RpcResponse(n, message)) else None
        call.answer_n = n
        if not self.intercepted(call, n, message):
            error = message.get("error")
            if error is not None or "result" not in message:
                self.fail(call, server_error(error, call.method))
            else:
                self.done(call, message["result"])
        if not call.background:
            self.latest = call
        return call

    def intercepted(self, call: Call, n: int, message: dict[str, Any]) -> bool:
        """Whether a call continues after response `n`; a coroutine of the driver then completes it."""
        try:
            work = self._intercept(call, n, message)
        except InspectorError as error:
            self.fail(call, error)
            return True
        if work is None:
            return False
        continuation = call.outcome = ContinuedCall()
        task = continuation.task = self._run(self._carry_on(call, continuation, work))
        task.add_done_callback(lambda _: work.close())  # The coroutine did not start if the task ended first.
        self._changed()
        return True

    async def _carry_on(self, call: Call, continuation: ContinuedCall, work: Coroutine[Any, Any, Any]) -> None:
        continuation.begun = True
        try:
            value = await work
        except InspectorError as error:
            continuation.task = None
            self.fail(call, error)
        else:
            continuation.task = None
            self.done(call, value)

    def _deliver(self, call: Call, response: RpcResponse) -> bool:
        """Pass a response to the coroutine that completes the call. False if it expects none."""
        if not isinstance(call.outcome, ContinuedCall) or not call.outcome.deliver(response):
            return False
        call.answer_n = response.n
        if not call.background:
            self.latest = call
        self._changed()
        return True

    def refused(self, call: Call, n: int, message: dict[str, Any], error: InspectorError) -> None:
        """Handle an error response that is not a message: HTTP made `error` of `message`."""
        if call.outcome is not WAITING:
            self._deliver(call, RpcResponse(n, message, error))
        elif not self.intercepted(call, n, message):
            self.fail(call, error)

    def _watch(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        """Schedule the next check at `due`: one timer for all calls, moved only to an earlier time."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = due
        self._timer = loop.call_at(due, self._expire_due, loop)

    def _expire_due(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        now = loop.time() + 0.001
        for call in self.calls():
            if call.deadline.due <= now:
                self.expire(call)
        if self._calls:
            self._watch(loop, min(call.deadline.due for call in self._calls.values()))

    def done(self, call: Call, value: Any) -> None:
        """End the call with its result."""
        if self._calls.pop(call.id, None) is not None:
            self._settled(call, Ended("done", value, None, call._loop.time()))

    def fail(self, call: Call, error: InspectorError) -> None:
        """End the call with an error."""
        if self._calls.pop(call.id, None) is not None:
            self._conceal(error)
            fate: Fate = "lost" if isinstance(error, ConnectionProblem) else "error"
            self._settled(call, Ended(fate, None, error, call._loop.time()))

    def _settled(self, call: Call, end: Ended) -> None:
        if type(call.outcome) is ContinuedCall:
            call.outcome.stop()
        call.outcome = end
        for waiter in call._waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._changed()
        if call.on_result is not None:
            call.on_result(call)
        if self.on_ended is not None:
            self.on_ended(call)

    def fail_all(self, error: InspectorError) -> list[Call]:
        """End every call with `error`: the connection is lost. Returns them."""
        calls = self.calls()
        for call in calls:
            self.fail(call, error)
        if self._timer is not None and not self._calls:
            self._timer.cancel()  # It would keep the whole session in memory until it is due.
            self._timer = None
        return calls

    def cancel(self, call: Call, reason: str) -> None:
        """Cancel a call for the user."""
        error = RequestCancelled(f"{call.method} {call.name} was cancelled.".replace("  ", " "))
        self._give_up(call, "cancelled", error, reason)

    def expire(self, call: Call) -> None:
        """End a call whose timeout expired (C-LIFE-09)."""
        at_ceiling = call.elapsed + 0.001 >= call.deadline.ceiling
        seconds = call.deadline.ceiling if at_ceiling else call.deadline.timeout
        final = "final " if isinstance(call.outcome, ContinuedCall) else ""
        text = f"No {final}response to {call.method} {call.name}".rstrip() + f" within {seconds:g} s"
        text += ", the total limit." if at_ceiling and call.progress else "."
        hint = self._explain(call) or Hint("Allow more time with ", Parameter.TIMEOUT.to("SECONDS"), ".")
        self._give_up(call, "timeout", RequestTimeout(text, hint=hint), "timed out")

    def _give_up(self, call: Call, fate: Fate, error: InspectorError, reason: str) -> None:
        self._calls.pop(call.id, None)
        if len(self._given_up) >= self.KEPT_GIVEN_UP:
            self._given_up.pop(next(iter(self._given_up)))
        self._given_up[call.id] = call
        self._conceal(error)
        end = Ended(fate, None, error, call._loop.time())
        end.in_flight = call.in_flight
        self._settled(call, end)
        self._tell_cancelled(call, reason)
