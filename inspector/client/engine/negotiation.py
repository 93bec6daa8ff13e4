"""Which era a server speaks, over which transport: found out by asking, quickly, and without breaking the server.

Source: specification 2026-07-28, "Versioning", "stdio: Backward Compatibility", "Streamable HTTP: Backward
Compatibility" (C-MOD-04 … C-MOD-07, C-SSE-03). What was concluded from which answer is in the journal, as life events
`negotiation`; how the verdict came about stands in the event `ready`.

The order of things, `auto`:

- Ask `server/discover`. An answer, or an error that only that era has, means modern; nothing else is asked.
- Any other answer: the handshake on the same connection. No answer, or a child that died of the question: a fresh
  child, since the first may be in a state that no handshake gets it out of, and the handshake there.
- A handshake that is answered with the modern era's error about versions: modern after all, a slow one.
- Over HTTP, a handshake that is refused as well: the same URL may be that of the older HTTP+SSE transport.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Protocol

from inspector.client.engine.driver import Driver
from inspector.client.engine.engine import Engine
from inspector.client.engine.legacy import LegacyDriver
from inspector.client.engine.modern import ModernDriver, supported, versions_of
from inspector.client.engine.pending_requests import Call
from inspector.client.engine.tasks import Tasks
from inspector.client.state.server import Server
from inspector.config.targets import HttpTarget, Target
from inspector.errors import (
    AuthorizationNeeded,
    ConnectionProblem,
    HandshakeError,
    HttpError,
    InspectorError,
    RequestTimeout,
    ServerError,
    ServerExited,
    SessionLost,
)
from inspector.hints import Hint, Parameter, UnsetParameters
from inspector.journal.redaction import unkeyed
from inspector.protocol.jsonrpc import HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION
from inspector.protocol.revisions import LEGACY, MODERN, NEWEST_MODERN

SILENT_AFTER = 1.0
"""Seconds after a child has read the question, by which every server that answers at all has answered."""
UNREAD_LIMIT = 10.0
"""Seconds for a child to read it: some take long to start."""
BLIND_LIMIT = 5.0
"""Seconds for an answer where it cannot be seen whether the question was read."""
_LOOK_EVERY = 0.01


class Reason(Enum):
    """What a conclusion about a server rests on."""

    PINNED = auto()
    """The user named era or revision."""
    REMEMBERED = auto()
    """It was so the last time."""
    DISCOVERED = auto()
    """It answered `server/discover`."""
    SILENCE = auto()
    """It did not answer `server/discover`."""
    EXIT = auto()
    """It exited at `server/discover`."""
    STATUS = auto()
    """Its answer to `server/discover` is an HTTP status."""
    ANSWER = auto()
    """Its answer to `server/discover` is not that of a modern server."""
    HANDSHAKE = auto()
    """What became of the handshake."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A reason, and the sentence by which it is told: `Server.how`, and the events `negotiation`."""

    reason: Reason
    sentence: str


_PINNED = Conclusion(Reason.PINNED, "pinned")
_REMEMBERED = Conclusion(Reason.REMEMBERED, "remembered")
_DISCOVERED = Conclusion(Reason.DISCOVERED, "it answered server/discover")
_SILENT = Conclusion(Reason.SILENCE, "it did not answer server/discover")
_EXITED = Conclusion(Reason.EXIT, "it exited at server/discover")
_NO_VERSIONS = Conclusion(Reason.ANSWER, "its answer to server/discover names no supportedVersions")
_OLDER_ONLY = Conclusion(Reason.ANSWER, "it names revisions of the handshake era only")
_REFUSED = Conclusion(Reason.HANDSHAKE, "it refused the handshake")
_FRESH_START = Conclusion(Reason.HANDSHAKE, "the handshake, on a fresh start")
_NAMES_ENDPOINT = Conclusion(Reason.HANDSHAKE, "its event stream names an endpoint")


def _status(code: int) -> Conclusion:
    return Conclusion(Reason.STATUS, f"it answered server/discover with status {code}")


_TRY_MODERN = Hint(
    "The server speaks the modern era only: try ",
    Parameter.ERA.to("modern"),
    ", or ",
    UnsetParameters((Parameter.ERA,)),
    ".",
)
_TRY_LEGACY = Hint(
    "Try ", Parameter.ERA.to("legacy"), ", or ", UnsetParameters((Parameter.ERA, Parameter.PROTOCOL)), "."
)
_MAY_BE_LEGACY = Hint(
    "A server of the handshake era may do that: try ",
    Parameter.ERA.to("legacy"),
    ", or ",
    UnsetParameters((Parameter.ERA,)),
    ".",
)
_TRY_SSE = frozenset((400, 404, 405, 406, 410, 415, 501))
"""Statuses of a POST after which the URL may be that of an HTTP+SSE server."""
_NO_VERDICT = frozenset((429, 502, 503, 504))
"""Statuses that say something of the moment, not of the server."""


class Opener(Engine, Protocol):
    """An engine that can be given a transport and a driver."""

    @property
    def target(self) -> Target:
        """What is to be opened."""

    task_follower: Tasks

    async def attach(self, target: Target) -> None:
        """Make a fresh connection to `target` instead of the one that was there."""

    def use(self, driver: Driver) -> None:
        """Speak by this driver from now on."""


class Negotiation:
    """Opens one connection of a session: chooses era, revision and transport."""

    def __init__(self, engine: Opener) -> None:
        self.engine = engine
        self.target: Target = engine.target
        self.options = engine.options
        self._began = time.perf_counter()
        self._unheard = False
        """The child ended without having read what it was asked: that was not the reason."""

    async def open(self) -> Server:
        """Connect and agree. Leaves transport and driver in the session. Raises what went wrong."""
        era, protocol = self.options.era, self.options.protocol
        if protocol in MODERN:
            era = "modern"
        elif protocol and era == "auto":
            era = "legacy"  # The handshake can offer any revision, also one that nobody knows.
        elif isinstance(self.target, HttpTarget) and self.target.transport == "sse":
            era = "legacy"
        if era == "legacy":
            return await self._pinned_legacy()
        if era == "modern":
            return await self._pinned_modern()
        return await self._auto()

    def _step(self, step: str, text: str) -> None:
        ms = round((time.perf_counter() - self._began) * 1000, 1)
        self.engine.state.journal.record_life("", "negotiation", step=step, text=text, ms=ms)

    # Pinned

    async def _pinned_legacy(self) -> Server:
        await self._attach()
        try:
            return await self._handshake_or_sse(_PINNED)
        except HandshakeError as error:
            if error.wants_modern:
                error.hint = _TRY_MODERN
            raise

    async def _pinned_modern(self) -> Server:
        await self._attach()
        driver = self._modern(self.options.protocol or NEWEST_MODERN)
        try:
            return self._found(await driver.open(), _PINNED)
        except ServerError as error:
            words = ", ".join(supported(error)[:10])
            raise HandshakeError(
                f"The server does not speak {driver.revision}: it answered server/discover with "
                f"error {error.rpc_code}: {error.rpc_message}" + (f" It supports: {words}." if words else ""),
                hint=_TRY_LEGACY,
            ) from error
        except (RequestTimeout, ServerExited) as error:
            error.hint = _MAY_BE_LEGACY
            raise

    # By asking

    async def _auto(self) -> Server:
        remembered = self.options.verdicts.get(self.target) if self.options.verdicts is not None else None
        if remembered is not None and remembered.era == "legacy":
            server = await self._as_remembered(remembered.transport, f"{remembered.server}\0{remembered.revision}")
            if server is not None:
                return server
        await self._attach()
        driver = self._modern(NEWEST_MODERN)
        verdict = await self._probe(driver)
        if isinstance(verdict, Server):
            return self._found(verdict, _DISCOVERED)
        return await self._handshake_after(verdict)

    async def _as_remembered(self, transport: str, known: str) -> Server | None:
        """The handshake without a question before it. None where that does not work any more."""
        self._step("remembered", f"this server spoke the handshake era over {transport} before")
        verdicts = self.options.verdicts
        assert verdicts is not None
        try:
            await self._attach(sse=transport == "sse")
            server = await self._handshake()
        except AuthorizationNeeded:
            raise
        except InspectorError as error:
            verdicts.forget(self.target)
            self._step("wrong", f"it does not any more: {error.message}")
            return None
        if f"{_named(server)}\0{server.revision}" != known:
            verdicts.forget(self.target)  # Another version: what it speaks is found out at the next start.
            return self._ready(server, _REMEMBERED)
        return self._found(server, _REMEMBERED)

    async def _probe(self, driver: ModernDriver) -> Server | Conclusion:
        """Ask `server/discover`. The server, or why the handshake is to be tried."""
        for attempt in (1, 2):
            call = driver.discover(f"d{attempt}")
            error = await self._answer_to(call)
            if error is None:
                if not versions_of(call.value):
                    return _NO_VERSIONS
                if not any(name in MODERN for name in versions_of(call.value)) and any(
                    name in LEGACY for name in versions_of(call.value)
                ):
                    return _OLDER_ONLY
                return driver.opened(call.value)
            if attempt == 1 and driver.corrected(error):
                self._step("again", error.message)
                continue
            return self._read_error(error)
        raise AssertionError  # the second attempt returns or raises

    def _read_error(self, error: InspectorError) -> Conclusion:
        """What an error says of the server's era. Raises it where it says nothing, or where only it can be shown."""
        if isinstance(error, RequestTimeout):
            return _SILENT
        if isinstance(error, ServerExited) and not self._unheard:
            return _EXITED
        if isinstance(error, ServerError):
            names = supported(error)
            if error.rpc_code == UNSUPPORTED_VERSION and names and not any(name in LEGACY for name in names):
                raise HandshakeError(
                    f"The server speaks {', '.join(names[:10])}; Inspector speaks {', '.join((*LEGACY, *MODERN))}.",
                    hint="A newer Inspector may be needed.",
                ) from error
            if error.rpc_code in (HEADER_MISMATCH, MISSING_CAPABILITY):
                raise error
            return Conclusion(Reason.ANSWER, f"it answered server/discover with error {error.rpc_code}")
        if isinstance(error, HttpError) and error.status is not None and error.status not in _NO_VERDICT:
            return _status(error.status)
        if isinstance(error, SessionLost):
            return _status(404)
        raise error

    async def _answer_to(self, call: Call) -> InspectorError | None:
        """Wait for as long as an answer can be hoped for; then give the call up, without a word to the server."""
        transport = self.engine.transport
        answered = asyncio.ensure_future(call.result())
        loop = asyncio.get_running_loop()
        began = loop.time()
        read_at: float | None = None
        self._unheard = False
        try:
            while True:
                done, _ = await asyncio.wait([answered], timeout=_LOOK_EVERY)
                if done:
                    await answered
                    return None
                now, unread = loop.time(), transport.unread()
                if call.paused:  # Somebody is logging in.
                    began, silent = now, False
                elif unread is None:
                    silent = now - began > min(BLIND_LIMIT, self.options.timeout)
                else:
                    if unread == 0 and read_at is None:
                        read_at = now
                    # What took long to start, on a loaded machine say, may take as long to answer.
                    silent = read_at is not None and now - read_at > max(SILENT_AFTER, read_at - began)
                    silent = silent or now - began > min(UNREAD_LIMIT, self.options.timeout)
                if silent:
                    break
        except InspectorError as error:
            self._unheard = read_at is None and transport.unread() not in (0, None)
            return error
        waited = loop.time() - began
        silence = RequestTimeout(f"No answer to server/discover within {waited:.1f} s.")
        self.engine.state.journal.record_life(
            "", "timeout", **{"for": call.n, "reason": "no answer", "after_ms": round(waited * 1000)}
        )
        self.engine.pending.fail(call, silence)
        transport.abandon(call.id)
        await asyncio.wait([answered])
        answered.exception()
        return silence

    # The handshake, and what is behind its failure

    async def _handshake_after(self, why: Conclusion) -> Server:
        """The handshake after a question that was not answered as a modern server does."""
        over_http = self.engine.transport.name == "http"
        fresh = over_http
        if why.reason in (Reason.SILENCE, Reason.EXIT) and not over_http:
            self._step("respawn", f"{why.sentence}: a server of the handshake era, started anew")
            await self._attach()
            fresh = True
        else:
            self._step("legacy", f"{why.sentence}: the handshake is tried")
        try:
            return await self._handshake_or_sse(why)
        except HandshakeError as error:
            if error.wants_modern or (over_http and why.reason is Reason.SILENCE):
                return await self._modern_after_all(error)
            if fresh:
                raise
            return await self._respawned(error)
        except ServerExited as error:
            if fresh:
                raise
            return await self._respawned(error)

    async def _respawned(self, error: ConnectionProblem) -> Server:
        """The handshake failed on a child that was asked something else before: a fresh one is not guilty of that."""
        self._step("respawn", f"{error.message} The server is started anew")
        await self._attach()
        return self._found(await self._handshake(), _FRESH_START)

    async def _modern_after_all(self, error: HandshakeError) -> Server:
        """The handshake was refused by a server that may only have been slow to answer what it was asked first."""
        self._step("modern", f"{error.message} It is asked once more")
        driver = self._modern(NEWEST_MODERN)
        try:
            return self._found(await driver.open(), _REFUSED)
        except (ServerError, HttpError):
            raise error from None

    async def _handshake_or_sse(self, why: Conclusion) -> Server:
        """The handshake; where HTTP refuses it, the same URL as that of an HTTP+SSE server (C-SSE-03).

        A path that ends in `/sse` and has refused one POST already is not sent a second.
        """
        refused: HttpError | HandshakeError | None = None
        if not (why.reason is Reason.STATUS and _path(self.target).endswith("/sse") and self._may_be_sse()):
            try:
                return self._found(await self._handshake(), why)
            except (HttpError, HandshakeError) as error:
                if not self._may_be_sse() or not _is_refusal(error):
                    raise
                refused = error
        self._step("sse", "the POST was refused: an event stream is asked for at the same URL")
        try:
            await self._attach(sse=True)
        except HttpError as error:
            if refused is None or error.status is None:
                raise
            raise refused from error
        return self._found(await self._handshake(), why if why.reason is Reason.PINNED else _NAMES_ENDPOINT)

    def _may_be_sse(self) -> bool:
        return isinstance(self.target, HttpTarget) and self.target.transport == "auto"

    # Pieces

    async def _attach(self, *, sse: bool = False) -> None:
        """A fresh connection, by the transport that the target wants or the older one of HTTP."""
        target = self.target
        if sse and isinstance(target, HttpTarget):
            target = replace(target, transport="sse")
        await self.engine.attach(target)

    def _modern(self, revision: str) -> ModernDriver:
        driver = ModernDriver(self.engine, self.engine.task_follower, revision)
        self.engine.use(driver)
        return driver

    async def _handshake(self) -> Server:
        driver = LegacyDriver(self.engine, self.engine.task_follower)
        self.engine.use(driver)
        return await driver.open()

    def _found(self, server: Server, how: Conclusion) -> Server:
        """What was found out is said, and remembered."""
        verdicts = self.options.verdicts
        if verdicts is not None and how.reason is not Reason.PINNED:
            name = self.engine.transport.name
            named = unkeyed(self.engine.state.journal.redactor.text(_named(server))[0])
            verdicts.put(self.target, server.era, server.revision, name, named)
        return self._ready(server, how)

    def _ready(self, server: Server, how: Conclusion) -> Server:
        server.how = how.sentence
        return server


def _is_refusal(error: HttpError | HandshakeError) -> bool:
    """Whether a POST was refused in a way that an HTTP+SSE server at the same URL may refuse it."""
    return error.status in _TRY_SSE if isinstance(error, HttpError) else not error.wants_modern


def _named(server: Server) -> str:
    return f"{server.name} {server.version}"[:200]


def _path(target: Target) -> str:
    return target.url.partition("?")[0].rstrip("/") if isinstance(target, HttpTarget) else ""
