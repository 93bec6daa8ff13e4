"""Runs a plan on connections of its own and measures it."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from inspector.calls.variables import Secrets
from inspector.client.engine.connect import transport_for
from inspector.config.server_memory import left_out, without_secrets
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import HttpError, NotOffered, ServerError, ServerExited, UsageError
from inspector.hints import Hint, Parameter
from inspector.journal.journal import Journal
from inspector.load.arrivals import ClosedArrivals, OpenArrivals
from inspector.load.connection import LoadConnection
from inspector.load.measurement import Measurement
from inspector.load.plan import LoadPlan, PlannedCall, WeightedRotation
from inspector.load.report import Floor, LoadReport
from inspector.load.result_schemas import ResultSchemas
from inspector.load.samples import ExchangeSample, KeptExchange
from inspector.load.server_process import ServerProcess
from inspector.protocol.views import is_read_only
from inspector.text import count

if TYPE_CHECKING:
    from inspector.client.engine.pending_requests import Call
    from inspector.client.options import Options
    from inspector.client.session import Session
    from inspector.transports.base import Sink, Transport

FloorMeasurement = Callable[
    ["StdioTarget | HttpTarget", "Options", LoadPlan, "Session"], Coroutine[Any, Any, Floor | None]
]
LoadPhase = Literal["connecting", "floor", "running", "draining", "over"]
_ERROR_TEXT = 200
_MAX_WAIT = 0.25
"""Seconds after which the run looks around, even if no call is due."""


class LoadRun:
    """One run of a plan. `go` runs it; the other attributes show its state meanwhile, and after it."""

    def __init__(
        self,
        target: StdioTarget | HttpTarget,
        options: Options,
        plan: LoadPlan,
        journal: Journal,
        *,
        allowed: frozenset[str] | Literal["all"] = frozenset(),
        measure_floor: FloorMeasurement | None = None,
        prepared: Callable[[Session], Awaitable[tuple[PlannedCall, ...]]] | None = None,
        connect: Callable[[Any, Sink, Options], Transport] = transport_for,
        told: Callable[[LoadRun], object] = lambda run: None,
    ) -> None:
        """`journal` records how the connection is set up, and the sample of exchanges at the end.

        `measure_floor` measures our own share of the latency before the run (`floor.measure_floor`). `allowed` are
        tools that are called although they are not annotated read-only. `prepared` returns the calls of the plan once
        the tools are known. `told` is called about four times a second, and when the phase changes.
        """
        self.target, self.plan, self.journal = target, plan, journal
        # No person answers during a load, and a call that waits for a person does not time out.
        self.options = replace(options, standing=options.standing.unattended)
        self.phase: LoadPhase = "connecting"
        self.measurement = Measurement(plan)
        self.arrivals = ClosedArrivals(plan) if plan.users else OpenArrivals(plan)
        self.process = ServerProcess()
        self.floor: Floor | None = None
        self.connections: list[LoadConnection] = []
        self.stopped = False
        """The user stopped it before its end."""
        self.ended_early = ""
        """Why it ended before its time, as a sentence."""
        self.own_cpu = 0.0
        """The share of one core that the thread of the run used after the warm-up."""
        self.kept = 0
        """Exchanges in the recording."""
        self._allowed = allowed
        self._measure_floor = measure_floor
        self._prepared = prepared
        self._connect = connect
        self._told = told
        self._turns = WeightedRotation(plan.calls)
        self._sample = ExchangeSample()
        self._schemas = ResultSchemas()
        self._wake = asyncio.Event()
        self._zero = 0.0
        self._zero_in_recording = 0
        self._free_since = 0.0
        self._cpu_before: float | None = None
        self._cpu_read_at = 0.0
        self._own_cpu_from: tuple[float, float] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._reconnecting: set[LoadConnection] = set()
        self._lost = self._gone = 0
        """Connections that broke, and those that could not be made again."""
        self._last_words: tuple[str, ...] = ()
        self._told_at = 0.0
        self._finished_at, self._queued_at_end = 0.0, 0

    def now(self) -> float:
        """Return the seconds since the start of the run."""
        return time.monotonic() - self._zero if self._zero else 0.0

    @property
    def has_begun(self) -> bool:
        """Whether a call was sent, in the warm-up too."""
        return bool(self.measurement.sent or self.measurement.warm_up_sent)

    def stop(self) -> None:
        """End the run now; `go` returns the report so far."""
        self.stopped = True
        self._wake.set()

    def change_rate(self, rate: float) -> None:
        """Let calls arrive at another rate from now on; 0 pauses. Only in the open model."""
        if isinstance(self.arrivals, OpenArrivals):
            self.arrivals.change_rate(self.now(), rate)
            self.plan = replace(self.plan, rate=rate or self.plan.rate)
            self._wake.set()

    def kill_now(self) -> None:
        """Kill the server processes without waiting."""
        for connection in self.connections:
            connection.kill_now()

    async def go(self) -> LoadReport:
        """Connect, run the plan, wait for the last answers, and close. Raises the error of a failed connection.

        If it is cancelled, it closes and `report` has the figures so far.
        """
        try:
            await self._open()
            if self._measure_floor is not None:
                self._enter("floor")
                session = self.connections[0].session
                self.floor = await self._measure_floor(self.target, self.options, self.plan, session)
            await self._run()
        except asyncio.CancelledError:
            self.stopped = True
            raise
        finally:
            self._finish()
            self._record_sample()
            await self._close()
        return self.report()

    async def check(self) -> LoadPlan:
        """Connect, check that the plan can be run, and close. Returns the plan with its arguments; calls nothing."""
        try:
            await self._open()
        finally:
            await self._close()
        return self.plan

    def input_schemas(self) -> dict[str, Any]:
        """The schemas of the arguments of the plan's tools, by tool, as the server lists them."""
        listed = self.connections[0].session.catalog.tools
        return {name: (listed.get(name) or {}).get("inputSchema") for name in self.plan.tools}

    async def _close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(connection.close() for connection in self.connections), return_exceptions=True)
        self._release()

    def report(self) -> LoadReport:
        """Return the figures so far."""
        m, plan = self.measurement, self.plan
        counted = max(min(self.seconds, plan.seconds), m.last_answer) - plan.warm_up
        session = self.connections[0].session if self.connections else None
        return LoadReport(
            plan,
            m.sent,
            m.done,
            m.failed,
            m.not_sent,
            self._queued_at_end if self.phase == "over" else self.arrivals.queued,
            self.seconds,
            m.answers / counted if counted > 0 else 0.0,
            m.latency,
            m.service,
            m.own_delay,
            m.service_few,
            m.service_many,
            m.longest_gap,
            sorted(m.errors.values(), key=lambda error: -error.count),
            list(m.series),
            m.width,
            self.process.cpu,
            self.process.most_rss,
            self.own_cpu,
            self.floor,
            self._lost,
            "stopped by the user" if self.stopped else self.ended_early,
            stderr=self._last_words,
            warm_up_sent=m.warm_up_sent,
            last_answer=m.last_answer,
            first_latency=m.first_latency.value,
            last_latency=m.last_latency.value,
            tools=list(m.tools.values()),
            target=self.target.describe(),
            server=session.server.name if session is not None else "",
            transport=session.transport.name if session is not None and session.phase != "new" else "",
            recording=str(self.journal.path or "") if self.kept else "",
        )

    # Set up

    async def _open(self) -> None:
        self._told(self)
        secrets = Secrets()
        for number in range(self.plan.connections):
            journal = self.journal if not number else Journal.unnamed(self.target.as_header(), self.target.secrets)
            connection = LoadConnection(self.target, journal, self.options, self._connect)
            self.connections.append(connection)
            await connection.open()
            if not number:
                if self._prepared is not None:
                    self.plan = replace(self.plan, calls=await self._prepared(connection.session))
                    self._turns = WeightedRotation(self.plan.calls)
                self._check_tools(connection)
                self._schemas.learn(connection.session.catalog.tools, self.plan.tools)
                secrets = self._secret_arguments()
                self.plan = replace(self.plan, calls=tuple(call.masking(secrets) for call in self.plan.calls))
            secrets.tell(journal.redactor.add)

    def _secret_arguments(self) -> Secrets:
        """Return the arguments that are secrets by their names or schemas: no report and no recording has them."""
        secrets, schemas = Secrets(), self.input_schemas()
        for call in self.plan.calls:
            for value in left_out(call.arguments, without_secrets(call.arguments, schemas.get(call.tool))):
                secrets.add(value)
        return secrets

    def _check_tools(self, connection: LoadConnection) -> None:
        """Raise unless the server lists the tools, and they are read-only or allowed."""
        listed = connection.session.catalog.tools
        for name in self.plan.tools:
            tool = listed.get(name)
            if tool is None:
                from inspector.config.foreign_files import nearest

                names = [item["name"] for item in listed.items if type(item.get("name")) is str]
                near = nearest(name, names)
                raise NotOffered(
                    f"The server does not list a tool “{name[:80]}”.",
                    hint=f"Did you mean “{near[:80]}”?" if near else "List them with `inspector tools`.",
                )
            if reasons := connection.session.refused_tools.get(name):
                raise NotOffered(f"The tool “{name[:80]}” must not be called over HTTP: {reasons[0]}.")
            if not is_read_only(tool) and self._allowed != "all" and name not in self._allowed:
                raise UsageError(
                    f"The tool “{name[:80]}” is not annotated read-only, so it is not called many times.",
                    hint=Hint("If calls of it do no harm, add ", Parameter.ALLOW_CALLS.to(name[:80]), "."),
                )

    # Run

    async def _run(self) -> None:
        for connection in self.connections:
            connection.begin()
        self._read_process(0.0)
        gc.collect()
        gc.freeze()  # A collection in the middle of the run would look at all modules, and cost milliseconds.
        try:
            self._zero = time.monotonic()
            self._zero_in_recording = self.journal.now()
            self._enter("running")
            await self._drive()
        finally:
            gc.unfreeze()

    async def _drive(self) -> None:
        loop = asyncio.get_running_loop()
        end = self.plan.seconds
        patience = end + self.options.timeout
        while True:
            now = self.now()
            if self.stopped:
                return
            if self._gone == len(self.connections):
                last = self.connections[0].session.error
                self.ended_early = last.message if last is not None else "The connection was lost."
                return
            self._reconnect_lost()
            self.arrivals.advance(now)
            if now >= end and self.phase == "running":
                self._enter("draining")
            if now >= patience:
                self.arrivals.drop_queue()
            for intended in self.arrivals.not_sent:
                self.measurement.count_not_sent(intended)
            self.arrivals.not_sent.clear()
            self._send()
            if now >= end and not self.arrivals.queued and not self.arrivals.at_server:
                return
            self._look_around(now)
            due = self.arrivals.next_due()
            until = min(due if due is not None else now + _MAX_WAIT, now + _MAX_WAIT, self._next_sample())
            timer = loop.call_at(self._zero + until, self._wake.set)
            await self._wake.wait()
            self._wake.clear()
            timer.cancel()

    def _next_sample(self) -> float:
        return self.measurement.current.t + self.measurement.width

    def _send(self) -> None:
        """Send every call that is due, as far as the connections have room."""
        while (connection := self._free()) is not None:
            now = self.now()
            intended = self.arrivals.take(now)
            if intended is None:
                return
            self._start(connection, intended)

    def _free(self) -> LoadConnection | None:
        """Return the connection with the fewest calls; None if each is full or lost."""
        largest = (not self.plan.users and self.plan.in_flight) or self.plan.at_once
        best = None
        for connection in self.connections:
            if not connection.is_ready or connection in self._reconnecting:
                continue
            if connection.in_flight < (largest if best is None else best.in_flight):
                best = connection
                if not connection.in_flight:
                    break
        return best

    def _start(self, connection: LoadConnection, intended: float) -> None:
        planned = self._turns.next()
        at_server, slots = self.arrivals.at_server, self.arrivals.slots
        sent = self.now()
        self.measurement.count_sent(intended, idle=at_server == 1)
        self.measurement.count_delay(intended, sent - max(intended, self._free_since))
        connection.in_flight += 1
        busy = at_server / slots
        call = connection.session.call_tool(planned.tool, dict(planned.arguments))
        end = partial(self._ended, connection, connection.channel, planned.tool, intended, sent, busy)
        if call.fate == "pending":
            call.on_result = end
        else:
            end(call)

    def _ended(
        self, connection: LoadConnection, channel: str, tool: str, intended: float, sent: float, busy: float, call: Call
    ) -> None:
        now = call.ended - self._zero
        connection.in_flight -= 1
        if self.arrivals.at_server >= self.arrivals.slots:
            self._free_since = now
        self.arrivals.ended(now)
        self._wake.set()
        if self.phase == "over" or call.fate == "cancelled":
            return
        error = self._error_of(connection, tool, call)
        is_answer = call.fate in ("done", "error") or _status_of(call) is not None
        self.measurement.count_ended(
            intended,
            sent,
            now,
            busy=busy,
            error=error,
            is_answer=is_answer,
            has_time=is_answer or call.fate == "timeout",
            tool=tool,
        )
        failed = error is not None
        if self._sample.wants(now - intended, failed=failed) and call.outgoing is not None:
            number, raw = connection.response
            kept = KeptExchange(
                sent,
                now,
                self.connections.index(connection),
                channel,
                call.outgoing.data,
                raw if number == call.answer_n else b"",
                call.fate,
                error[2] if error is not None else "",
            )
            self._sample.keep(now - intended, kept, failed=failed)
        call.drop_value()

    def _error_of(self, connection: LoadConnection, tool: str, call: Call) -> tuple[str, int | None, str] | None:
        """Return the kind, code and text of a call's error; None for a result."""
        if call.fate == "done":
            value = call.value
            if type(value) is not dict or value.get("isError") is not True:
                problem = self._schemas.problem(tool, value)
                return ("schema", None, self._shown(connection, problem)) if problem else None
            content = value.get("content")
            texts = (block.get("text") for block in (content if type(content) is list else ()) if type(block) is dict)
            text = next((text for text in texts if type(text) is str), "")
            return "tool", None, self._shown(connection, text)
        error = call.error
        if isinstance(error, ServerError):
            code = error.rpc_code if type(error.rpc_code) is int else None
            return "server", code, self._shown(connection, error.rpc_message)
        if call.fate == "timeout":
            return "timeout", None, f"No answer within {call.timeout:g} s"
        kind = error.code if error is not None else call.fate
        return kind, _status_of(call), self._shown(connection, str(error or ""))

    def _shown(self, connection: LoadConnection, text: str) -> str:
        return connection.journal.redactor.sentence(text[:_ERROR_TEXT]).partition("\n")[0]

    def _reconnect_lost(self) -> None:
        """Start to connect again where a connection has broken."""
        for connection in self.connections:
            if connection.session.phase == "lost" and connection not in self._reconnecting:
                self._reconnecting.add(connection)
                self._lost += 1
                self._learn_why(connection)
                task = asyncio.get_running_loop().create_task(self._reconnected(connection))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    def _learn_why(self, connection: LoadConnection) -> None:
        """Keep the last lines of stderr of the first server that wrote some before its end."""
        error = connection.session.error
        if isinstance(error, ServerExited) and not self._last_words:
            self._last_words = error.stderr

    async def _reconnected(self, connection: LoadConnection) -> None:
        if await connection.reconnect():
            self._reconnecting.discard(connection)
            self._free_since = self.now()
        else:
            self._gone += 1
            self._learn_why(connection)
        self._wake.set()

    # Look

    def _look_around(self, now: float) -> None:
        """Complete the point of the series, and tell the listener."""
        if self._own_cpu_from is None and now >= self.plan.warm_up:
            self._own_cpu_from = now, time.thread_time()
        if now >= self._next_sample():
            cpu = self._read_process(now)
            self.measurement.advance(now, self.waiting, cpu, self.process.rss)
        if now - self._told_at >= _MAX_WAIT:
            self._told_at = now
            self._told(self)

    @property
    def waiting(self) -> int:
        """Calls without an answer: in our queue, and at the server."""
        return self.arrivals.queued + self.arrivals.at_server

    def _read_process(self, now: float) -> float | None:
        """Read the server's processes. Returns CPU seconds per second since the last time."""
        self.process.read(connection.pid for connection in self.connections if connection.pid)
        cpu, before, passed = self.process.cpu, self._cpu_before, now - self._cpu_read_at
        self._cpu_before, self._cpu_read_at = cpu, now
        return (cpu - before) / passed if cpu is not None and before is not None and passed > 0 else None

    def _enter(self, phase: LoadPhase) -> None:
        self.phase = phase
        self._told(self)

    def _finish(self) -> None:
        """Take the last figures, before the server is closed."""
        now = self.now()
        self._finished_at, self._queued_at_end = now, self.arrivals.queued
        if self._zero:
            self.measurement.finish(now, self.waiting, self._read_process(now), self.process.rss)
        if self._own_cpu_from is not None:
            since, used = self._own_cpu_from
            self.own_cpu = (time.thread_time() - used) / max(now - since, 1e-3)
        self.phase = "over"

    @property
    def seconds(self) -> float:
        """Seconds that the run took so far."""
        return self._finished_at if self.phase == "over" else self.now()

    def _record_sample(self) -> None:
        """Record the slowest and the first failed exchanges, before the end of the connections."""
        journal, m = self.journal, self.measurement
        if not self._zero or not journal.live:
            return
        journal.bound(journal.limit)
        numbers = [0, *(journal.new_conn() for _ in self.connections[1:])]
        self.kept = self._sample.write(journal, self._zero_in_recording, numbers)
        if self.kept:
            journal.record_note(
                f"A load test made {count(m.warm_up_sent + m.sent)} calls; the slowest and the first failed ones of "
                f"them are recorded here ({count(self.kept)})."
            )

    def _release(self) -> None:
        for connection in self.connections[1:]:
            connection.journal.close()
            connection.journal.release()
        self._told(self)


def _status_of(call: Call) -> int | None:
    """The HTTP status with which the server refused a call; None otherwise."""
    return call.error.status if isinstance(call.error, HttpError) else None
