"""Requests in flight: one `Call` each, with its clock, its progress and its fate."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

from inspector.client.state.calls import Fate, Progress, server_error
from inspector.errors import ConnectionProblem, InspectorError, RequestCancelled, RequestTimeout
from inspector.hints import Hint, Parameter
from inspector.protocol.jsonrpc import id_key
from inspector.transports.base import Outgoing


class Response(NamedTuple):
    """The response to a request: its number in the journal, the message, and the error that HTTP made of it, if any."""

    n: int
    message: dict[str, Any]
    failure: InspectorError | None = None

    def result(self, method: str) -> Any:
        """The result. Raises the error that the response is."""
        error = self.message.get("error")
        if error is not None or "result" not in self.message:
            raise self.failure or server_error(error, method)
        return self.message["result"]


class Takeover:
    """A call that goes on after a response. A coroutine sees to its end (`Driver.intercepts_response`)."""

    def __init__(self) -> None:
        self.task: asyncio.Task[Any] | None = None
        self.begun = False
        self.extra: dict[str, Any] = {}
        """Parameters of the newest request only: what the server wanted, for this call and no other (C-MRTR-03)."""
        self._answer: asyncio.Future[Response] | None = None

    @property
    def in_flight(self) -> bool:
        """Whether a request was sent and has no response."""
        return self._answer is not None and not self._answer.done()

    def expect(self, extra: dict[str, Any]) -> asyncio.Future[Response]:
        """Another request is sent, with these parameters besides its own; the future has its response."""
        self.extra = extra
        self._answer = asyncio.get_running_loop().create_future()
        return self._answer

    def deliver(self, response: Response) -> bool:
        """A response came. False where none is expected: the request was answered before."""
        if self._answer is None or self._answer.done():
            return False
        self._answer.set_result(response)
        return True

    def stop(self) -> None:
        """The call is over: cancel the coroutine."""
        if self.task is not None:
            if self.begun:
                self.task.cancel()
            else:  # One that has not begun could not clean up.
                self.task.get_loop().call_soon(self.task.cancel)


class Call:
    """A request that was sent. Await `result()`; `cancel()` and `extend()` at any time."""

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
        self.id: int | str = 0
        self.token: Any = None
        """Its progress token, where it has one."""
        self.headers: tuple[tuple[str, str], ...] = ()
        """HTTP header fields that the user wants on this request only."""
        self.outgoing: Outgoing | None = None
        self.answer_n = 0
        """The answer's number, also of a late one; 0 while there is none."""
        self.fate: Fate = "pending"
        self.progress: Progress | None = None
        self.value: Any = None
        """The result, once `fate` is `done`."""
        self.error: InspectorError | None = None
        self.late = False
        """The answer came after we had given up."""
        self.started = loop.time()
        self.sent_at = self.started
        """When its newest request was sent: a call is sent again with the input that the server wanted."""
        self.ended = 0.0
        self.timeout = timeout
        """Seconds without progress that are allowed."""
        self.ceiling = ceiling
        """Seconds allowed altogether."""
        self.takeover: Takeover | None = None
        """Set when a response was not the end of the call: the server wants input, or works on it as a task."""
        self.background = False
        """The session's own: nobody waits for it."""
        self.on_result: Callable[[Call], None] | None = None
        self._loop = loop
        self._quiet_since = self.started
        self._paused_at: float | None = None
        self._person_time = 0.0
        self._asked = 0.0
        self._waiters: list[asyncio.Future[None]] = []
        self._pending: Pending | None = None

    @property
    def n(self) -> int:
        """The request's number in the journal; 0 before it was sent."""
        return self.outgoing.n if self.outgoing is not None else 0

    @property
    def in_flight(self) -> bool:
        """Whether its newest request has no response; a call may go on without one in flight."""
        return self.takeover is None or self.takeover.in_flight

    @property
    def name(self) -> str:
        """What the request is about: the tool's or prompt's name, or the resource's URI."""
        params = self.params or {}
        name = params.get("name") or params.get("uri") or ""
        return name if isinstance(name, str) else ""

    @property
    def elapsed(self) -> float:
        """Seconds since it was sent, up to its end."""
        return (self.ended or self._loop.time()) - self.started

    @property
    def server_time(self) -> float:
        """Seconds since its newest request was sent, up to its end, without those in which a person was asked."""
        end = self.ended or self._loop.time()
        asking = end - max(self._paused_at, self.sent_at) if self._paused_at is not None else 0.0
        return max(end - self.sent_at - self._person_time - asking, 0.0)

    @property
    def allowed(self) -> float:
        """Seconds after the start at which it will time out unless there is progress."""
        return self.due - self.started

    async def result(self) -> Any:
        """Wait for the result. Raises `ServerError`, `RequestTimeout`, `RequestCancelled` or a `ConnectionProblem`."""
        if self.fate == "pending":
            waiter = self._loop.create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                self._waiters.remove(waiter)
                if not self._waiters:
                    self.cancel("the caller went away")
                raise
        if self.error is not None:
            raise self.error
        return self.value

    def drop_value(self) -> None:
        """Let go of the result, which is in the journal: one of many megabytes takes five times that as objects."""
        self.value = None

    def cancel(self, reason: str = "cancelled by the user") -> None:
        """Give up, and tell the server by the transport's rule. No effect once it has ended."""
        if self.fate == "pending" and self._pending is not None:
            self._pending.cancel(self, reason)

    def extend(self, seconds: float) -> None:
        """Allow more time, also beyond the ceiling."""
        self.timeout += seconds
        self.ceiling += seconds

    # The clock

    def touched(self, progress: Progress) -> None:
        """Progress came: the quiet time begins anew (C-LIFE-09)."""
        self.progress = progress
        self.alive()

    def alive(self) -> None:
        """The server showed that it works on the call."""
        self._quiet_since = self._loop.time()

    def pause(self) -> None:
        """Stop the clock while a person is being asked something on behalf of this call."""
        if self._paused_at is None:
            self._paused_at = self._loop.time()

    def resume(self) -> None:
        """Let the clock run again; the time in between does not count."""
        if self._paused_at is not None:
            now = self._loop.time()
            paused = now - self._paused_at
            self._person_time += now - max(self._paused_at, self.sent_at)
            self._paused_at = None
            self._asked += paused
            self._quiet_since += paused
            self.ceiling += paused

    @property
    def person_time(self) -> float:
        """Seconds of `elapsed` for which the call waited for a person, in all its rounds; overlaps count once."""
        if self._paused_at is None:
            return self._asked
        return self._asked + (self.ended or self._loop.time()) - self._paused_at

    @property
    def paused(self) -> bool:
        """Whether the clock stands still."""
        return self._paused_at is not None

    @property
    def due(self) -> float:
        """When, on the loop's clock, it times out unless there is progress; while the clock stands still, later."""
        if self._paused_at is not None:
            return self._loop.time() + self.timeout
        return min(self._quiet_since + self.timeout, self.started + self.ceiling)

    def _end(self, fate: Fate, value: Any = None, error: InspectorError | None = None) -> None:
        self.fate = fate
        self.value = value
        self.error = error
        self.ended = self._loop.time()
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)


class Pending:
    """The table of calls by id.

    `tell_cancelled(call, reason)` is the era's way to say that we gave up; `intercept(call, n, response)` returns a
    coroutine that sees to the end of the call, or None where the response ends it, and `run` runs that coroutine.
    `conceal(error)` takes secrets out of the error that ends a call.
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
        self.latency = 0.0
        """Seconds that the server took for the newest answer to a request of the user or a list."""

    def __len__(self) -> int:
        return len(self._calls)

    def calls(self) -> list[Call]:
        """The calls in flight, oldest first."""
        return list(self._calls.values())

    def get(self, id: Any) -> Call | None:
        """The call in flight with this id."""
        return self._calls.get(id_key(id))

    def by_token(self, token: Any) -> Call | None:
        """The call in flight with this progress token. Tokens are ids unless the user chose one."""
        key = id_key(token)
        call = self._calls.get(key)
        if call is not None and call.token == key:
            return call
        return next((call for call in self._calls.values() if key is not None and call.token == key), None)

    def add(self, call: Call) -> None:
        """Take a call into the table and start its clock."""
        self._calls[call.id] = call
        call._pending = self
        self._watch(call._loop, call.due)
        self._changed()

    def rename(self, call: Call, id: int | str) -> None:
        """Give a call that is sent again its new id."""
        self._calls.pop(call.id, None)
        call.id = id
        call.sent_at = call._loop.time()
        call._person_time = 0.0
        self._calls[id] = call

    def answer(self, n: int, message: dict[str, Any]) -> Call | None:
        """An answer came: settle its call, or mark it late. Returns the call, or None if it answers nothing."""
        key = id_key(message.get("id"))
        call = self._calls.get(key)
        if call is None:
            call = self._given_up.pop(key, None)
            if call is not None:
                call.answer_n = n
                call.late = True
                self._changed()
            return call
        if call.takeover is not None:
            return call if self._deliver(call, Response(n, message)) else None
        call.answer_n = n
        if not call.background:
            self.latency = call.server_time
        if self.intercepted(call, n, message):
            return call
        error = message.get("error")
        if error is not None or "result" not in message:
            self.fail(call, server_error(error, call.method))
        else:
            self.done(call, message.get("result"))
        return call

    def intercepted(self, call: Call, n: int, message: dict[str, Any]) -> bool:
        """Whether a call goes on after response `n`; then a coroutine of the driver ends it."""
        try:
            continuation = self._intercept(call, n, message)
        except InspectorError as error:
            self.fail(call, error)
            return True
        if continuation is None:
            return False
        call.takeover = Takeover()
        task = call.takeover.task = self._run(self._carry_on(call, call.takeover, continuation))
        task.add_done_callback(lambda _: continuation.close())  # It was never begun where the task ended before.
        self._changed()
        return True

    async def _carry_on(self, call: Call, takeover: Takeover, continuation: Coroutine[Any, Any, Any]) -> None:
        takeover.begun = True
        try:
            value = await continuation
        except InspectorError as error:
            takeover.task = None
            self.fail(call, error)
        else:
            takeover.task = None
            self.done(call, value)

    def _deliver(self, call: Call, response: Response) -> bool:
        """Give a response to the coroutine that sees to the end of the call. False where it expects none."""
        if call.takeover is None or not call.takeover.deliver(response):
            return False
        call.answer_n = response.n
        if not call.background:
            self.latency = call.server_time
        self._changed()
        return True

    def refused(self, call: Call, n: int, message: dict[str, Any], error: InspectorError) -> None:
        """An error response came by another way than as a message: HTTP made `error` of `message`."""
        if call.takeover is not None:
            self._deliver(call, Response(n, message, error))
        elif not self.intercepted(call, n, message):
            self.fail(call, error)

    def _watch(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        """See to it that somebody looks at `due`: one timer for all calls, moved only to an earlier time."""
        if self._timer is None or due < self._timer.when():
            if self._timer is not None:
                self._timer.cancel()
            self._timer = loop.call_at(due, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        now = loop.time() + 0.001
        for call in self.calls():
            if call.due <= now:
                self.expire(call)
        if self._calls:
            self._watch(loop, min(call.due for call in self._calls.values()))

    def done(self, call: Call, value: Any) -> None:
        """The call has its result."""
        if self._calls.pop(call.id, None) is not None:
            self._settled(call, "done", value, None)

    def fail(self, call: Call, error: InspectorError) -> None:
        """The call ends without a result."""
        if self._calls.pop(call.id, None) is not None:
            fate: Fate = "lost" if isinstance(error, ConnectionProblem) else "error"
            self._settled(call, fate, None, error)

    def _settled(self, call: Call, fate: Fate, value: Any, error: InspectorError | None) -> None:
        if error is not None:
            self._conceal(error)
        if call.takeover is not None:
            call.takeover.stop()
        call._end(fate, value, error)
        self._changed()
        if call.on_result is not None:
            call.on_result(call)

    def fail_all(self, error: InspectorError) -> list[Call]:
        """The connection is gone: every call ends with `error`. Returns them."""
        calls = self.calls()
        for call in calls:
            self.fail(call, error)
        if self._timer is not None and not self._calls:
            self._timer.cancel()  # It would keep the whole session in memory until it is due.
            self._timer = None
        return calls

    def cancel(self, call: Call, reason: str) -> None:
        """The user gives up."""
        self._give_up(
            call, "cancelled", RequestCancelled(f"{call.method} {call.name} was cancelled.".replace("  ", " "))
        )
        self._tell_cancelled(call, reason)

    def expire(self, call: Call) -> None:
        """The clock ran out (C-LIFE-09)."""
        at_ceiling = call.elapsed + 0.001 >= call.ceiling
        seconds = call.ceiling if at_ceiling else call.timeout
        text = f"No answer to {call.method} {call.name}".rstrip() + f" within {seconds:g} s"
        text += ", the absolute limit." if at_ceiling and call.progress else "."
        hint = self._explain(call) or Hint("Allow more with ", Parameter.TIMEOUT.to("SECONDS"), ".")
        self._give_up(call, "timeout", RequestTimeout(text, hint=hint))
        self._tell_cancelled(call, "timed out")

    def _give_up(self, call: Call, fate: Fate, error: InspectorError) -> None:
        self._calls.pop(call.id, None)
        if len(self._given_up) >= self.KEPT_GIVEN_UP:
            self._given_up.pop(next(iter(self._given_up)))
        self._given_up[call.id] = call
        self._settled(call, fate, None, error)
