"""One revision over one transport, as the checks see it: the shared session, and means to make other connections."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from inspector.check.asked import Asked
from inspector.check.outcome import Visited
from inspector.check.raw_connection import Pace, RawConnection, status_of
from inspector.check.web import Web
from inspector.client.engine.connect import Connect, transport_for
from inspector.client.engine.pending_requests import Call
from inspector.client.engine.wire import Wire
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.client.state.catalog import ListName
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import InspectorError, ServerError
from inspector.journal.exchange import Exchange
from inspector.journal.journal import Journal
from inspector.protocol.revisions import LEGACY, Features, features
from inspector.protocol.views import is_read_only


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may take."""

    request: float = 5.0
    """Seconds for one answer."""
    check: float = 20.0
    """Seconds for one check in one visit."""
    run: float = 600.0
    """Seconds for all of it."""
    quiet: float = 0.25
    """Seconds that are waited for what should not come."""
    patience: float = 3.0
    """Times `request` after which a request without an answer counts as never answered, if others are answered."""
    patience_with_tools: float = 12.0
    """The same for a call: a tool may work for long, it has the minute that clients commonly wait."""
    items: int = 20
    """Resources that are read, prompts that are got, tools that are called: of each at most so many in one check."""

    @property
    def start(self) -> float:
        """Seconds for the first answers of a connection: the server may have to start, on a busy machine."""
        return 4 * self.request

    def grace(self, method: str) -> float:
        """Seconds after which a request without an answer counts as never answered, if others are answered."""
        return (self.patience_with_tools if method == "tools/call" else self.patience) * self.request


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the user allows beyond harmless requests."""

    calls: str | tuple[str, ...] = ()
    """Tools: `read-only` (those that say so of themselves), `all`, or names."""
    auth: bool = False
    intrusive: bool = False
    foreign_token: str = field(default="", repr=False)
    """A token that was issued for another server, which this one must refuse."""


class SessionWanted(Exception):
    """A check asks for the shared session of a visit that has not opened one: the run does, and repeats the check."""


class CallsWanted(Exception):
    """A check asks for the calls of tools in a visit that has not made them: the run does, and repeats the check."""


class Visit:
    """What a check is given. `session` is open while checks are run that are not `apart`."""

    def __init__(
        self, target: StdioTarget | HttpTarget, journal: Journal, options: Options, visited: Visited, limits: Limits,
        allowed: Allowed, session: Session, connect: Connect = transport_for, pace: Pace | None = None,
    ) -> None:  # fmt: skip
        self.target = target
        self.journal = journal
        self.options = options
        self.visited = visited
        self.limits = limits
        self.allowed = allowed
        self.has_session = False
        """The shared session was opened, or cannot be: see `SessionWanted`."""
        self.problem = ""
        """Why the shared session did not open."""
        self._session = session
        self.spoken: tuple[str, ...] = ()
        """All revisions that the server speaks over this transport, oldest first."""
        self.remembered: dict[str, Any] = {}
        """What one check has found out and another may use."""
        self.check = ""
        """The check that is done now."""
        self.overdue: dict[int, float] = {}
        """Requests without an answer, and for how many seconds it was waited for: it may still come."""
        self._waiting: list[Call] = []
        """Requests on the shared session whose answer is still waited for, though not by the check that made them."""
        self.found_silent = False
        """A request of this run never got an answer."""
        self._connect = connect
        self._pace = pace or Pace()
        self._web: Web | None = None
        self._link: RawConnection | None = None

    @property
    def session(self) -> Session:
        """The shared session, with what it has listed. Raises `SessionWanted` if it was not opened yet."""
        if not self.has_session:
            raise SessionWanted
        return self._session

    @property
    def revision(self) -> str:
        """The revision that is spoken."""
        return self.visited.revision

    @property
    def features(self) -> Features:
        """What it has."""
        return features(self.revision)

    @property
    def modern(self) -> bool:
        """Whether it is of the era without a handshake."""
        return self.features.era == "modern"

    def can(self, capability: str, part: str = "") -> bool:
        """Whether the server declares a capability, or a part of one."""
        return self.session.server.can(capability, part)

    def items(self, name: ListName) -> list[dict[str, Any]]:
        """What the server lists: `tools`, `resources`, `templates`, `prompts`."""
        return self.session.catalog[name].items

    def callable(self) -> list[dict[str, Any]]:
        """The tools that may be called."""
        calls = self.allowed.calls
        return [tool for tool in self.items("tools") if calls == "all" or _may(tool, calls)]

    async def agrees_to(self, revision: str) -> str:
        """The revision that the server answers a handshake with where this one is offered; empty where it refuses.

        Revisions that the run leaves out (`--revision`) are asked for once, on a connection of their own.
        """
        if revision in self.spoken:
            return revision
        known: dict[str, str] = self.remembered.setdefault("agreed", {})
        if revision not in known:
            async with self.fresh(revision=revision, handshake=False) as link:
                asked = await link.initialize()
            version = asked.body.get("protocolVersion") if asked.ok else ""
            known[revision] = version if isinstance(version, str) else ""
        return known[revision]

    async def serves_handshakes(self) -> bool:
        """Whether the server also serves clients of the era with a handshake."""
        if any(name in LEGACY for name in self.spoken):
            return True
        return await self.agrees_to(LEGACY[-1]) in LEGACY

    # Asking on the shared session

    async def ask(
        self, method: str, params: dict[str, Any] | None = None, *, timeout: float | None = None, probe: bool = False,
        patient: bool = True,
    ) -> Asked:  # fmt: skip
        """A request on the shared session, as a client would make it. Never raises for what the server does.

        A task, or a server that keeps asking or reports progress, may make it last twice as long as `timeout`, and no
        longer. With `patient` the request is not cancelled then: `settle` looks whether the answer ever comes. With
        `probe` the check has made the parameters wrong, and judges the answer itself.
        """
        seconds = self.limits.request if timeout is None else timeout
        with self.journal.probing(self.check if probe else ""):
            call = self.session.start(method, params, timeout=self.limits.run, progress=False)
        asked = Asked(method, call.n)
        ended = asyncio.create_task(_ended(call))
        await asyncio.wait([ended], timeout=seconds)
        if not ended.done() and (call.takeover is not None or self._is_worked_on(call)):
            await asyncio.wait([ended], timeout=seconds)
        asked.seconds = call.elapsed
        if not ended.done():
            asked.why = f"no answer within {asked.seconds:.1f} s"
            self.overdue[call.n] = asked.seconds
            if not patient or call.takeover is not None:
                call.cancel("it takes too long")
            else:
                self._waiting.append(call)
        elif call.error is None:
            asked.message = {"result": call.value}
        elif isinstance(call.error, ServerError):
            error = call.error
            asked.message = {"error": {"code": error.rpc_code, "message": error.rpc_message, "data": error.data}}
        else:
            asked.why = call.error.message
        asked.answer_n = call.answer_n
        asked.status = status_of(self.journal, call.n) if call.n else 0
        return asked

    async def is_served(self) -> bool:
        """Whether the shared session still gets answers."""
        return (await self.ask("ping" if self.features.ping else "server/discover", {})).answered

    @property
    def waits(self) -> bool:
        """Whether requests on the shared session are without an answer that may still come."""
        return any(call.fate == "pending" for call in self._waiting)

    async def settle(self) -> None:
        """Give requests without an answer their time, and record which of them never got one."""
        waiting = [call for call in self._waiting if call.fate == "pending"]
        self._waiting.clear()
        if not waiting:
            return
        left = max(0.0, *(self.limits.grace(call.method) - call.elapsed for call in waiting))
        if self.found_silent:
            return  # It has been shown: the verdict does not depend on how often.
        ends = [asyncio.create_task(_ended(call)) for call in waiting]
        await asyncio.wait(ends, timeout=left)
        waiting = [call for call in waiting if call.fate == "pending" and not self._is_worked_on(call)]
        if waiting and self.session.phase == "ready":
            await self.is_served()  # What is answered now was sent after them: the server reads, and answers.
            self._waiting.clear()
        for call in waiting:
            if call.fate == "pending":
                self.found_silent = True
                self.journal.record_life(
                    "", "unanswered", **{"for": call.n, "after_ms": round(call.elapsed * 1000), "by": "check"}
                )

    def _is_worked_on(self, call: Call) -> bool:
        """Whether the server has told of progress since a request was sent, or asked for something that it needs."""
        return call.takeover is not None or bool(Exchange(self.journal, call.n).progress)

    # Connections of a check's own

    @asynccontextmanager
    async def link(self) -> AsyncIterator[RawConnection]:
        """A connection on which anything may be said. Checks share it, one after the other; one that is lost is made
        anew for the next. `frames` holds what has come since this check has it. Raises a `ConnectionProblem`.
        """
        link = self._link
        if link is None or link.lost is not None:
            if link is not None:
                await link.close()
            link = self._link = self._make(self.revision, None)
            await link.open()
        link.frames = []
        link.check = self.check
        yield link

    @asynccontextmanager
    async def fresh(
        self, *, revision: str = "", capabilities: dict[str, Any] | None = None, handshake: bool = True
    ) -> AsyncIterator[RawConnection]:
        """A connection (stdio: a process) for this check alone, closed at the end. Raises a `ConnectionProblem`."""
        link = self._make(revision or self.revision, capabilities)
        try:
            await link.open(handshake=handshake)
            yield link
        finally:
            await link.close()

    def _make(self, revision: str, capabilities: dict[str, Any] | None) -> RawConnection:
        return RawConnection(
            self.target, self.journal, self.options, revision, self.limits.request, capabilities,
            connect=self._connect, check=self.check, overdue=self.overdue, pace=self._pace,
        )  # fmt: skip

    @property
    def web(self) -> Web:
        """Plain HTTP requests to the server."""
        assert isinstance(self.target, HttpTarget)
        if self._web is None:
            self._web = Web(self.target, self.journal, self.limits.request, self.check, self.overdue)
        self._web.check = self.check
        return self._web

    async def token_fields(self) -> Sequence[tuple[str, str]]:
        """The header fields that authorize a request by the login that there is; none where there is none."""
        authorize = self.options.authorize
        if authorize is None or not isinstance(self.target, HttpTarget):
            return ()
        wire = Wire(self.journal, self._session, lambda: None)
        return await authorize.credential(self.target, wire).fields("POST", self.target.url)

    async def close(self) -> None:
        """Close the connections that checks share."""
        if self._web is not None:
            await self._web.close()
        if self._link is not None:
            await self._link.close()


async def _ended(call: Call) -> None:
    """Wait until a call has ended, however it did."""
    with suppress(InspectorError):
        await call.result()


def _may(tool: dict[str, Any], calls: str | tuple[str, ...]) -> bool:
    if calls == "read-only":
        return is_read_only(tool)
    return tool.get("name") in calls
