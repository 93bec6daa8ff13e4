"""One revision over one transport, for the checks: the shared session, and ways to open other connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from inspector.check.outcome import Visited
from inspector.check.visit.http import HttpClient
from inspector.check.visit.limits import RunLimits
from inspector.check.visit.process import Child, child
from inspector.check.visit.raw_connection import HandshakeState, RawConnection, ServerHealth, ServerState, status_of
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.shared_process import SessionConnection, SharedProcess
from inspector.client.bare_connection import ConnectionListener
from inspector.client.engine.connect import Connect, transport_for
from inspector.client.engine.pending_requests import Call, ContinuedCall
from inspector.client.engine.wire import Wire
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.client.state.catalog import ListName
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import InspectorError, ServerError
from inspector.journal.exchange import Exchange
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.revisions import LEGACY, Features, features
from inspector.protocol.views import is_read_only

if TYPE_CHECKING:
    from inspector.check.visit.supported_revisions import RevisionSurvey

MAX_RESTARTS = 5
"""Restarts of the server in one visit."""
_LISTS = ("tools", "resources", "prompts")
"""The capabilities whose lists a client reads only if they are declared."""
_ASKS_IF_SERVED = ("ping", "server/discover")
"""By whether `ping` is missing, the request that shows whether the session gets responses."""
OPENING = ("initialize", "server/discover")
"""The requests that open a session."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """Operations that the user allows besides harmless requests."""

    calls: str | tuple[str, ...] = ()
    """Tools: `read-only` (those with readOnlyHint), `all`, or names."""
    auth: bool = False
    intrusive: bool = False
    foreign_token: str = field(default="", repr=False)
    """A token that was issued for another server, which this one must reject."""
    more: Mapping[str, Any] = field(default_factory=dict)
    """What checks of features need, by names of theirs."""


@dataclass(slots=True)
class SharedSession:
    """The session that the checks of one visit share."""

    session: Session
    problem: str = ""
    """Why it could not be opened."""
    conns: set[int] = field(default_factory=lambda: {0})
    """The connections of the visit in the recording: of the session (0), and of its checks."""
    restarts: int = 0
    """How often the server had to be restarted."""

    def may_restart(self) -> bool:
        """Count one more restart of the server. Returns whether it is within the limit."""
        self.restarts += 1
        return self.restarts <= MAX_RESTARTS


class Visit:
    """The context of a check. `session` is open while checks run that are not `apart`."""

    def __init__(
        self,
        target: StdioTarget | HttpTarget,
        journal: Journal,
        options: Options,
        visited: Visited,
        limits: RunLimits,
        allowed: Allowed,
        session: Session,
        survey: RevisionSurvey,
        connect: Connect = transport_for,
        server: ServerState | None = None,
        process: SharedProcess | None = None,
    ) -> None:
        """`process` is the one of the session, if checks share it."""
        self.target = target
        self.journal = journal
        self.options = options
        self.visited = visited
        self.limits = limits
        self.allowed = allowed
        self.shared = SharedSession(session)
        self.survey = survey
        self.facts: dict[object, object] = {}
        """Facts that one check has found and another may use, by their `OnceInAVisit`."""
        self._offers: dict[str, RequestOutcome] = {}
        """The responses to revisions that the run did not offer."""
        self.check = ""
        """The current check."""
        self.overdue: dict[int, float] = {}
        """Requests without a response, and how many seconds the run waited; the response may still come."""
        self._waiting: list[Call] = []
        """Requests on the shared session whose response may still come, but whose check has moved on."""
        self._connect = connect
        self._server = server or ServerState()
        self._web: HttpClient | None = None
        self._process = process
        self._connection: RawConnection | None = None
        self._fresh: RawConnection | None = None

    @property
    def spoken(self) -> tuple[str, ...]:
        """The revisions that the server supports over this transport, as far as known, oldest first."""
        return self.survey.spoken

    @property
    def shares_processes(self) -> bool:
        """Whether the checks share processes: over stdio."""
        return self._process is not None

    @property
    def session(self) -> Session:
        """The shared session with its lists, for checks that need it."""
        return self.shared.session

    def newest(self, *methods: str) -> int:
        """The newest response to one of these methods in this visit; 0 if there is none."""
        index = self.journal.index
        responses = Query(dir=Dir.RECV, shape=Shape.RESULT, method=methods).backwards(index)
        return next((n for n in responses if index.conn(n) in self.shared.conns), 0)

    @property
    def revision(self) -> str:
        """The revision in use."""
        return self.visited.revision

    @property
    def features(self) -> Features:
        """The features of the revision."""
        return features(self.revision)

    @property
    def modern(self) -> bool:
        """Whether the revision belongs to the modern era."""
        return self.features.era == "modern"

    def can(self, capability: str, part: str = "") -> bool:
        """Whether the server declares a capability, or a part of one."""
        return self.session.server.can(capability, part)

    def items(self, name: ListName) -> list[dict[str, Any]]:
        """The lists of the server: `tools`, `resources`, `templates`, `prompts`."""
        return self.session.catalog[name].items

    def callable(self) -> list[dict[str, Any]]:
        """The tools that may be called."""
        calls = self.allowed.calls
        return [tool for tool in self.items("tools") if calls == "all" or _may(tool, calls)]

    async def agrees_to(self, revision: str) -> str:
        """The server's response if this revision is offered in initialize; empty if it rejects it.

        A revision that the run skips (`--revision`) is offered once, on its own connection.
        """
        response = await self.offered(revision)
        version = response.body.get("protocolVersion") if response.ok else ""
        return version if isinstance(version, str) else ""

    async def offered(self, revision: str) -> RequestOutcome:
        """The response to `initialize` with a revision. Raises a `ConnectionProblem`."""
        if revision in self.survey.answers:
            return self.survey.answers[revision]
        if revision not in self._offers:
            async with self.new_connection(revision=revision, handshake=False, why="to offer a revision") as connection:
                self._offers[revision] = await connection.initialize()
        return self._offers[revision]

    async def serves_handshakes(self) -> bool:
        """Whether the server also supports clients of the legacy era."""
        if any(name in LEGACY for name in self.spoken):
            return True
        return await self.agrees_to(LEGACY[-1]) in LEGACY

    # Requests on the shared session

    async def request(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        probe: bool = False,
        patient: bool = True,
    ) -> RequestOutcome:
        """Send a request on the shared session, as a client would. Never raises because of the server.

        A task, or a server that sends requests or progress, may take twice as long as `timeout`, but not longer. With
        `patient` the request is not cancelled then: `settle` finds out whether the response ever comes. With `probe`
        the params are deliberately wrong, and the check judges the response itself.
        """
        seconds = self.limits.request if timeout is None else timeout
        with self.journal.probing(self.check if probe else ""):
            call = self.session.start(method, params, timeout=self.limits.run, progress=False)
        response = RequestOutcome(method, call.n)
        ended = asyncio.create_task(_ended(call))
        await asyncio.wait([ended], timeout=seconds)
        if not ended.done() and (isinstance(call.outcome, ContinuedCall) or self._is_worked_on(call)):
            await asyncio.wait([ended], timeout=seconds)
        response.seconds = call.elapsed
        if not ended.done() and patient and not self._waiting and method not in _ASKS_IF_SERVED:
            # A server that the request has broken may end only when it reads the next one, which is not to blame.
            await self.is_served()
        if not ended.done():
            response.reason = f"no response within {response.seconds:.1f} s"
            self.overdue[call.n] = response.seconds
            if not patient or isinstance(call.outcome, ContinuedCall):
                call.cancel("it takes too long")
            else:
                self._waiting.append(call)
        elif call.error is None:
            response.message = {"result": call.value}
        elif isinstance(call.error, ServerError):
            error = call.error
            response.message = {"error": {"code": error.rpc_code, "message": error.rpc_message, "data": error.data}}
        else:
            response.reason = call.error.message
        response.response_n = call.answer_n
        response.status = status_of(self.journal, call.n) if call.n else 0
        return response

    async def is_served(self) -> bool:
        """Whether the shared session still gets responses."""
        return (await self.request(_ASKS_IF_SERVED[not self.features.ping], {})).answered

    @property
    def waits(self) -> bool:
        """Whether requests on the shared session wait for a response that may still come."""
        return any(call.fate == "pending" for call in self._waiting)

    async def settle(self) -> None:
        """Wait for late responses, and record which requests never got one."""
        waiting = [call for call in self._waiting if call.fate == "pending"]
        self._waiting.clear()
        if not waiting:
            return
        left = max(0.0, *(self.options.timeout - call.elapsed for call in waiting))
        if self._server.health is not ServerHealth.RESPONDING:
            return  # It is proven: the verdict does not depend on the number.
        ends = [asyncio.create_task(_ended(call)) for call in waiting]
        await asyncio.wait(ends, timeout=left)
        waiting = [call for call in waiting if call.fate == "pending" and not self._is_worked_on(call)]
        if waiting and self.session.phase == "ready":
            await self.is_served()  # Requests sent after them get responses, so the server is reading and responding.
            self._waiting.clear()
        for call in waiting:
            if call.fate == "pending":
                self._server.health = ServerHealth.SILENT
                self.journal.record_life(
                    "", "unanswered", **{"for": call.n, "after_ms": round(call.elapsed * 1000), "by": "check"}
                )

    def _is_worked_on(self, call: Call) -> bool:
        """Whether the server has sent progress or a request since a request was sent."""
        return isinstance(call.outcome, ContinuedCall) or bool(Exchange(self.journal, call.n).progress)

    # Connections of a check

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[RawConnection]:
        """A connection for any messages, shared by consecutive checks. One that is broken, or on which the server
        stopped reading, is replaced for the next check.

        `frames` has the messages since this check uses it. Raises a `ConnectionProblem`.
        """
        connection = self._connection
        if connection is None or not connection.serves:
            why = "" if connection is None else "because the connection before stopped"
            await self._leave_connection()
            if self._process is not None and self.shared.session.phase == "ready":
                join = partial(SessionConnection, self.shared.session, self._process)
                connection = self._connection = self._make(self.revision, None, join=join)
                connection.join(self.survey.answers.get(self.revision))
            else:
                connection = self._connection = self._make(self.revision, None, why)
                await connection.open()
        connection.lend(self.check)
        yield connection

    @asynccontextmanager
    async def fresh_connection(
        self, until: HandshakeState = "nothing", *, capabilities: dict[str, Any] | None = None
    ) -> AsyncIterator[RawConnection]:
        """A connection whose handshake has come to this point at most, or with `initialized`, is complete.

        Over stdio, consecutive checks share its process as long as it serves them; the process of the session ends
        before. Otherwise each check has its own. Raises a `ConnectionProblem`.
        """
        if self._process is None:
            async with self.new_connection(capabilities=capabilities, handshake=until == "initialized") as own:
                yield own
            return
        connection = self._fresh
        if connection is None or connection.health is not ServerHealth.RESPONDING or connection.is_past(until):
            await self.leave_processes()
            connection = self._fresh = self._make(self.revision, capabilities, "before the handshake")
            await connection.open(handshake=False)
        connection.lend(self.check, capabilities)
        if until == "initialized":
            await connection.complete_handshake()
        yield connection

    async def end_fresh_process(self, seconds: float) -> tuple[int, int] | None:
        """Close stdin of the process of `fresh_connection`. Returns its exit code and an event, or None."""
        connection, self._fresh = self._fresh, None
        if connection is None:
            return None
        try:
            if connection.health is not ServerHealth.RESPONDING:
                return None
            status = await connection.end_input(seconds)
            return None if status is None else (status, len(self.journal))
        finally:
            await connection.close()

    async def leave_processes(self) -> None:
        """Over stdio, end the processes that the checks have used, so that the server has one at a time."""
        if self._process is None:
            return
        await self.settle()
        await self._leave_connection()
        if self._fresh is not None:
            await self._fresh.close()
            self._fresh = None
        with suppress(InspectorError):
            await self.shared.session.leave()

    async def _leave_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()
            if connection.is_shared:
                with suppress(InspectorError):
                    await self.shared.session.leave()

    @asynccontextmanager
    async def new_connection(
        self, *, revision: str = "", capabilities: dict[str, Any] | None = None, handshake: bool = True, why: str = ""
    ) -> AsyncIterator[RawConnection]:
        """A connection (stdio: a process) for this check alone, closed at the end. Raises a `ConnectionProblem`."""
        connection = self._make(revision or self.revision, capabilities, why)
        try:
            await connection.open(handshake=handshake)
            yield connection
        finally:
            await connection.close()

    @asynccontextmanager
    async def process(self) -> AsyncIterator[Child]:
        """A process of a server over stdio for this check alone, which ends with it. Raises `SpawnError`."""
        assert isinstance(self.target, StdioTarget)
        await self.leave_processes()
        async with child(self.target, self.journal, self.revision, f"{self.check}, to end it") as started:
            yield started

    def _make(
        self,
        revision: str,
        capabilities: dict[str, Any] | None,
        why: str = "",
        join: Callable[[ConnectionListener], SessionConnection] | None = None,
    ) -> RawConnection:
        connection = RawConnection(
            self.target,
            self.journal,
            self.options,
            revision,
            self.limits.request,
            capabilities,
            connect=self._connect,
            check=self.check,
            overdue=self.overdue,
            server=self._server,
            patience=self.options.timeout,
            visit=self.revision,
            why=f"{self.check}{why and f', {why}'}",
            join=join,
            undeclared={f"{name}/list" for name in _LISTS if not self.can(name)},
        )
        self.shared.conns.add(connection.conn)
        return connection

    @property
    def web(self) -> HttpClient:
        """Plain HTTP requests to the server."""
        assert isinstance(self.target, HttpTarget)
        if self._web is None:
            self._web = HttpClient(self.target, self.journal, self.limits.request, self.check, self.overdue)
        self._web.check = self.check
        return self._web

    async def token_fields(self) -> Sequence[tuple[str, str]]:
        """The headers that authorize a request with the current login; empty without a login."""
        authorize = self.options.authorize
        if authorize is None or not isinstance(self.target, HttpTarget):
            return ()
        wire = Wire(self.journal, self.shared.session, lambda: None)
        return await authorize.credential(self.target, wire).fields("POST", self.target.url)

    async def close(self) -> None:
        """Close the shared connections."""
        if self._web is not None:
            await self._web.close()
        for connection in (self._connection, self._fresh):
            if connection is not None:
                await connection.close()


async def _ended(call: Call) -> None:
    """Wait until a call has ended in any way."""
    with suppress(InspectorError):
        await call.result()


def _may(tool: dict[str, Any], calls: str | tuple[str, ...]) -> bool:
    if calls == "read-only":
        return is_read_only(tool)
    return tool.get("name") in calls
