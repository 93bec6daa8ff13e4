"""Runs a plan on connections of its own and measures it."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from inspector.calls.variables import Secrets
from inspector.client.engine.connect import transport_for
from inspector.client.state.catalog import CatalogList
from inspector.config.server_memory import left_out, without_secrets
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import HttpError, NotOffered, SchemaError, ServerError, UsageError
from inspector.features.load.connection import ConnectionPool, LoadConnection
from inspector.features.load.measurement import Measurement
from inspector.features.load.plan import ClosedArrivals, LoadPlan, OpenArrivals, PlannedCall, WeightedRotation
from inspector.features.load.report import Floor, LoadReport
from inspector.features.load.samples import ExchangeSample, KeptExchange
from inspector.features.load.server_process import LoadedServer, OwnCpu
from inspector.hints import Hint, Parameter
from inspector.journal.journal import Journal
from inspector.protocol.result_shape import schema_errors
from inspector.protocol.validation import Validator
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
_STOPPED = "stopped by the user"
_ERROR_TEXT = 200
_MAX_WAIT = 0.25
"""Seconds after which the run looks around, even if no call is due."""


@dataclass(frozen=True, slots=True)
class _End:
    """The last figures, taken before the server is closed."""

    seconds: float
    queued: int
    own_cpu: float = 0.0
    """The share of one core that the thread of the run used after the warm-up."""


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
        on_progress: Callable[[LoadRun], object] = lambda run: None,
    ) -> None:
        """`journal` records how the connection is set up, and the sample of exchanges at the end.

        `measure_floor` measures our own share of the latency before the run (`floor.measure_floor`). `allowed` are
        tools that are called although they are not annotated read-only. `prepared` returns the calls of the plan once
        the tools are known. `on_progress` is called about four times a second, and when the phase changes.
        """
        self.target, self.plan, self.journal = target, plan, journal
        # No person answers during a load, and a call that waits for a person does not time out.
        self.options = replace(options, standing=options.standing.unattended)
        self.phase: LoadPhase = "connecting"
        self.measurement = Measurement(plan)
        self.arrivals = ClosedArrivals(plan) if plan.users else OpenArrivals(plan)
        self.process = LoadedServer()
        self.floor: Floor | None = None
        self.pool = ConnectionPool(self._reconnected)
        self.sample = ExchangeSample()
        self.incomplete = ""
        """Why it ended before its time, as a sentence."""
        self._allowed = allowed
        self._measure_floor = measure_floor
        self._prepared = prepared
        self._connect = connect
        self._on_progress = on_progress
        self._own_cpu = OwnCpu(plan.warm_up)
        self._schemas = ResultSchemas()
        self._wake = asyncio.Event()
        self._zero = 0.0
        """When the first call was due; 0 before that."""
        self._progress_at = 0.0
        self._end: _End | None = None

    def now(self) -> float:
        """Return the seconds since the start of the run."""
        return time.monotonic() - self._zero if self._zero else 0.0

    @property
    def has_begun(self) -> bool:
        """Whether a call was sent, in the warm-up too."""
        return bool(self.measurement.sent or self.measurement.warm_up_sent)

    def stop(self) -> None:
        """End the run now; `go` returns the report so far."""
        self.incomplete = _STOPPED
        self._wake.set()

    def change_rate(self, rate: float) -> None:
        """Let calls arrive at another rate from now on; 0 pauses. Only in the open model."""
        if isinstance(self.arrivals, OpenArrivals):
            self.arrivals.change_rate(self.now(), rate)
            self.plan = replace(self.plan, rate=rate or self.plan.rate)
            self._wake.set()

    def kill_now(self) -> None:
        """Kill the server processes without waiting."""
        self.pool.kill_now()

    async def go(self) -> LoadReport:
        """Connect, run the plan, wait for the last answers, and close. Raises the error of a failed connection.

        If it is cancelled, it closes and `report` has the figures so far.
        """
        async with self._connected() as session:
            if self._measure_floor is not None:
                self._enter("floor")
                self.floor = await self._measure_floor(self.target, self.options, self.plan, session)
            with self._measured():
                await self._drive()
        return self.report()

    async def check(self) -> LoadPlan:
        """Connect, check that the plan can be run, and close. Returns the plan with its arguments; calls nothing."""
        async with self._connected():
            return self.plan

    def input_schemas(self) -> dict[str, Any]:
        """Return the schemas of the arguments of the plan's tools, by tool, as the server lists them."""
        return input_schemas(self.plan, self.pool.connections[0].session)

    def report(self) -> LoadReport:
        """Return the figures so far."""
        m, plan = self.measurement, self.plan
        counted = max(min(self.seconds, plan.seconds), m.last_answer) - plan.warm_up
        session = self.pool.connections[0].session if self.pool.connections else None
        return LoadReport(
            plan,
            m.sent,
            m.done,
            m.failed,
            m.not_sent,
            self._end.queued if self._end is not None else self.arrivals.queued,
            self.seconds,
            m.answers / counted if counted > 0 else 0.0,
            m.latency,
            m.service,
            m.own_delay,
            m.service_few,
            m.service_many,
            m.gap.longest,
            sorted(m.errors.values(), key=lambda error: -error.count),
            list(m.series.points),
            m.series.width,
            self.process.cpu,
            self.process.most_rss,
            self._end.own_cpu if self._end is not None else 0.0,
            self.floor,
            self.pool.lost,
            self.incomplete,
            stderr=self.pool.stderr,
            warm_up_sent=m.warm_up_sent,
            last_answer=m.last_answer,
            first_latency=m.first_latency.value,
            last_latency=m.last_latency.value,
            tools=list(m.tools.values()),
            target=self.target.describe(),
            server=session.server.name if session is not None else "",
            transport=session.transport.name if session is not None and session.phase != "new" else "",
            recording=str(self.journal.path or "") if self.sample.written else "",
        )

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Session]:
        """Every connection is open, and the plan can be run on the server."""
        self._on_progress(self)
        try:
            yield await self._open()
        except asyncio.CancelledError:
            self.incomplete = _STOPPED
            raise
        finally:
            self._finish(0.0)
            await self.pool.close()
            self._on_progress(self)

    async def _open(self) -> Session:
        secrets = Secrets()
        for number in range(self.plan.connections):
            journal = self.journal if not number else Journal.unnamed(self.target.as_header(), self.target.secrets)
            connection = LoadConnection(self.target, journal, self.options, self._connect)
            self.pool.connections.append(connection)
            await connection.open()
            if not number:
                session = connection.session
                if self._prepared is not None:
                    self.plan = replace(self.plan, calls=await self._prepared(session))
                check_tools(self.plan, session, self._allowed)
                self._schemas.learn(session.catalog.tools, self.plan.tools)
                secrets = secret_arguments(self.plan, session)
                self.plan = replace(self.plan, calls=tuple(call.masking(secrets) for call in self.plan.calls))
            secrets.tell(journal.redactor.add)
        return self.pool.connections[0].session

    @contextmanager
    def _measured(self) -> Iterator[None]:
        """The time in which calls are sent and answered."""
        for connection in self.pool.connections:
            connection.begin()
        self.process.read(self.pool.pids)
        gc.collect()
        gc.freeze()  # A collection in the middle of the run would look at all modules, and cost milliseconds.
        self._zero = time.monotonic()
        zero_in_recording = self.journal.now()
        try:
            self._enter("running")
            yield
        finally:
            gc.unfreeze()
            now = self.now()
            cpu = self.process.read(self.pool.pids, now)
            self.measurement.series.finish(now, self.waiting, cpu, self.process.rss)
            self._finish(now)
            self._record_sample(zero_in_recording)

    async def _drive(self) -> None:
        """Send the calls when they are due, and wait for the answers."""
        loop = asyncio.get_running_loop()
        rotation = WeightedRotation(self.plan.calls)
        end = self.plan.seconds
        patience = end + self.options.timeout
        while not self.incomplete:
            now = self.now()
            if self.pool.is_given_up:
                last = self.pool.loss
                self.incomplete = last.message if last is not None else "The connection was lost."
                return
            self.pool.reconnect_lost()
            self.arrivals.advance(now)
            if now >= end and self.phase == "running":
                self._enter("draining")
            if now >= patience:
                self.arrivals.drop_queue()
            for intended in self.arrivals.not_sent:
                self.measurement.count_not_sent(intended)
            self.arrivals.not_sent.clear()
            self._send(rotation)
            if now >= end and not self.arrivals.queued and not self.arrivals.at_server:
                return
            self._look_around(now)
            due = self.arrivals.next_due()
            until = min(due if due is not None else now + _MAX_WAIT, now + _MAX_WAIT, self.measurement.series.end)
            timer = loop.call_at(self._zero + until, self._wake.set)
            await self._wake.wait()
            self._wake.clear()
            timer.cancel()

    def _send(self, rotation: WeightedRotation) -> None:
        """Send every call that is due, as far as the connections have room."""
        largest = (not self.plan.users and self.plan.in_flight) or self.plan.at_once
        while (connection := self.pool.free(largest)) is not None:
            intended = self.arrivals.next_start(self.now())
            if intended is None:
                return
            self._start(connection, rotation.next(), intended)

    def _start(self, connection: LoadConnection, planned: PlannedCall, intended: float) -> None:
        at_server, slots = self.arrivals.at_server, self.arrivals.slots
        sent = self.now()
        self.measurement.count_sent(intended, sent, idle=at_server == 1)
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
        now = call.started + call.elapsed - self._zero
        connection.in_flight -= 1
        if self.arrivals.at_server >= self.arrivals.slots:
            self.measurement.free_since = now
        self.arrivals.ended(now)
        self._wake.set()
        if self.phase == "over" or call.fate == "cancelled":
            return
        error = error_of(call, tool, self._schemas)
        if error is not None:
            text = connection.journal.redactor.sentence(error[2][:_ERROR_TEXT]).partition("\n")[0]
            error = (*error[:2], text)
        is_answer = call.fate in ("done", "error") or refusing_status(call) is not None
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
        if self.sample.wants(now - intended, failed=failed) and call.outgoing is not None:
            number, raw = connection.response
            kept = KeptExchange(
                sent,
                now,
                self.pool.connections.index(connection),
                channel,
                call.outgoing.data,
                raw if number == call.answer_n else b"",
                call.fate,
                error[2] if error is not None else "",
            )
            self.sample.keep(now - intended, kept, failed=failed)
        call.drop_value()

    def _reconnected(self, is_back: bool) -> None:
        if is_back:
            self.measurement.free_since = self.now()
        self._wake.set()

    def _look_around(self, now: float) -> None:
        """Complete the point of the series, and tell the listener."""
        self._own_cpu.start_after_warm_up(now)
        if now >= self.measurement.series.end:
            cpu = self.process.read(self.pool.pids, now)
            self.measurement.series.advance(now, self.waiting, cpu, self.process.rss)
        if now - self._progress_at >= _MAX_WAIT:
            self._progress_at = now
            self._on_progress(self)

    @property
    def waiting(self) -> int:
        """Calls without an answer: in our queue, and at the server."""
        return self.arrivals.queued + self.arrivals.at_server

    def _enter(self, phase: LoadPhase) -> None:
        self.phase = phase
        self._on_progress(self)

    def _finish(self, now: float) -> None:
        if self._end is None:
            self._end = _End(now, self.arrivals.queued, self._own_cpu.share(now))
            self.phase = "over"

    @property
    def seconds(self) -> float:
        """Seconds that the run took so far."""
        return self._end.seconds if self._end is not None else self.now()

    def _record_sample(self, zero: int) -> None:
        """Record the slowest and the first failed exchanges, before the end of the connections."""
        journal, m = self.journal, self.measurement
        if not journal.live:
            return
        journal.bound(journal.limit)
        numbers = [0, *(journal.new_conn() for _ in self.pool.connections[1:])]
        self.sample.write(journal, zero, numbers)
        if kept := self.sample.written:
            journal.record_note(
                f"A load test made {count(m.warm_up_sent + m.sent)} calls; the slowest and the first failed ones of "
                f"them are recorded here ({count(kept)})."
            )


CallError = tuple[str, int | None, str]
"""See `ErrorCount`: kind, code and text of the server."""


def error_of(call: Call, tool: str, schemas: ResultSchemas) -> CallError | None:
    """Return the error of an ended call; None for a result that matches the output schema of its tool."""
    if call.fate == "done":
        value = call.value
        if type(value) is not dict or value.get("isError") is not True:
            problem = schemas.problem(tool, value)
            return ("schema", None, problem) if problem else None
        content = value.get("content")
        texts = (block.get("text") for block in (content if type(content) is list else ()) if type(block) is dict)
        return "tool", None, next((text for text in texts if type(text) is str), "")
    error = call.error
    if isinstance(error, ServerError):
        return "server", error.rpc_code if type(error.rpc_code) is int else None, error.rpc_message
    if call.fate == "timeout":
        return "timeout", None, f"No answer within {call.deadline.timeout:g} s"
    return error.code if error is not None else call.fate, refusing_status(call), str(error or "")


def refusing_status(call: Call) -> int | None:
    """Return the HTTP status with which the server refused a call; None otherwise."""
    return call.error.status if isinstance(call.error, HttpError) else None


class ResultSchemas:
    """The output schemas of the tools of a plan; each is compiled once."""

    def __init__(self) -> None:
        self._validators: dict[str, Validator] = {}

    def learn(self, listed: CatalogList, tools: Iterable[str]) -> None:
        """Compile the output schemas of some tools. An invalid one is the judge's finding, and no error of a call."""
        for name in tools:
            tool = listed.get(name)
            schema = tool.get("outputSchema") if tool is not None else None
            if schema is not None and name not in self._validators:
                try:
                    self._validators[name] = Validator(schema)
                except SchemaError:
                    continue

    def problem(self, tool: str, result: Any) -> str:
        """Return why a result without `isError` does not match the schema of its tool; empty if it does."""
        validator = self._validators.get(tool)
        if validator is None:
            return ""
        errors = schema_errors(validator, result, 1)
        return f"{errors[0].path or '/'}: {errors[0].message}" if errors else ""


def check_tools(plan: LoadPlan, session: Session, allowed: frozenset[str] | Literal["all"]) -> None:
    """Raise unless the server lists the tools, and they are read-only or allowed."""
    listed = session.catalog.tools
    for name in plan.tools:
        tool = listed.get(name)
        if tool is None:
            from inspector.config.foreign_files import nearest

            names = [item["name"] for item in listed.items if type(item.get("name")) is str]
            near = nearest(name, names)
            raise NotOffered(
                f"The server does not list a tool “{name[:80]}”.",
                hint=f"Did you mean “{near[:80]}”?" if near else "List them with `inspector tools`.",
            )
        if reasons := session.refused_tools.get(name):
            raise NotOffered(f"The tool “{name[:80]}” must not be called over HTTP: {reasons[0]}.")
        if not is_read_only(tool) and allowed != "all" and name not in allowed:
            raise UsageError(
                f"The tool “{name[:80]}” is not annotated read-only, so it is not called many times.",
                hint=Hint("If calls of it do no harm, add ", Parameter.ALLOW_CALLS.to(name[:80]), "."),
            )


def input_schemas(plan: LoadPlan, session: Session) -> dict[str, Any]:
    """Return the schemas of the arguments of the plan's tools, by tool, as the server lists them."""
    listed = session.catalog.tools
    return {name: (listed.get(name) or {}).get("inputSchema") for name in plan.tools}


def secret_arguments(plan: LoadPlan, session: Session) -> Secrets:
    """Return the arguments that are secrets by their names or schemas: no report and no recording has them."""
    secrets, schemas = Secrets(), input_schemas(plan, session)
    for call in plan.calls:
        for value in left_out(call.arguments, without_secrets(call.arguments, schemas.get(call.tool))):
            secrets.add(value)
    return secrets
