"""Negotiation of the era and the transport, quickly and without breaking the server.

Source: specification 2026-07-28, "Versioning", "stdio: Backward Compatibility", "Streamable HTTP: Backward
Compatibility" (C-MOD-04 … C-MOD-07, C-SSE-03). Each conclusion is in the journal, as a life event `negotiation`; the
event `ready` has the reason of the verdict.

The order for `auto`:

- Send `server/discover`. A result, or an error that only the modern era has, means modern; nothing else is sent.
- Any other response: the handshake on the same connection. No response, or a process that exited: the handshake with a
  new process, since the first may be in a state in which no handshake works.
- A handshake that fails with the modern era's version error: modern after all, but slow.
- No timeout ends a server that is starting: its process has written nothing yet and uses the processor.
- Over HTTP, a handshake that is refused as well: the URL may be that of the older HTTP+SSE transport.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from enum import Enum, auto
from typing import NamedTuple, Protocol

from inspector.client.engine.engine import Driver, Engine
from inspector.client.engine.legacy import LegacyDriver
from inspector.client.engine.modern import ModernDriver, supported, versions_of
from inspector.client.engine.pending_requests import Call
from inspector.client.engine.tasks import TaskPoller
from inspector.client.state.server import Server
from inspector.config.targets import HttpTarget, StdioTarget, Target
from inspector.errors import (
    AuthorizationNeeded,
    ConnectionProblem,
    HandshakeError,
    HttpError,
    InspectorError,
    NoSseEndpoint,
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
"""Seconds after the process has read the probe; every server that responds at all has responded by then."""
BLIND_LIMIT = 5.0
"""Seconds to wait for a response if it is unknown whether the probe was read."""
_POLL_SECONDS = 0.01
STARTS_LOOKED_AT = 0.5
"""Seconds between two looks at a server that has not responded yet: whether it is starting."""
SLOW_START = 5.0
"""Seconds after which a step says that the server is starting."""


STARTING = "The server is starting: it uses the processor and has written nothing yet"


class Reason(Enum):
    """The reason of a conclusion about a server."""

    PINNED = auto()
    """The user set the era or revision."""
    REMEMBERED = auto()
    """An earlier session found it."""
    DISCOVERED = auto()
    """The server answered `server/discover`."""
    SILENCE = auto()
    """The server did not answer `server/discover`."""
    EXIT = auto()
    """The server exited at `server/discover`."""
    STATUS = auto()
    """The response to `server/discover` is an HTTP status."""
    ANSWER = auto()
    """The response to `server/discover` is not from a modern server."""
    HANDSHAKE = auto()
    """The handshake's result."""


class Conclusion(NamedTuple):
    """A reason, and its sentence for `Server.how` and the `negotiation` events."""

    reason: Reason
    sentence: str


_PINNED = Conclusion(Reason.PINNED, "requested")
_REMEMBERED = Conclusion(Reason.REMEMBERED, "known from an earlier session")
_DISCOVERED = Conclusion(Reason.DISCOVERED, "server/discover got a result")
_SILENT = Conclusion(Reason.SILENCE, "server/discover got no response")
_EXITED = Conclusion(Reason.EXIT, "the server exited at server/discover")
_NO_VERSIONS = Conclusion(Reason.ANSWER, "the result of server/discover has no supportedVersions")
_OLDER_ONLY = Conclusion(Reason.ANSWER, "the server lists legacy revisions only")
_REFUSED = Conclusion(Reason.HANDSHAKE, "the server rejected initialize")
_FRESH_START = Conclusion(Reason.HANDSHAKE, "initialize after a restart")
_NAMES_ENDPOINT = Conclusion(Reason.HANDSHAKE, "the event stream names an endpoint")


def _status(code: int) -> Conclusion:
    return Conclusion(Reason.STATUS, f"server/discover got status {code}")


_TRY_MODERN = Hint(
    "The server supports the modern era only: try ",
    Parameter.ERA.to("modern"),
    ", or ",
    UnsetParameters((Parameter.ERA,)),
    ".",
)
_TRY_LEGACY = Hint(
    "Try ", Parameter.ERA.to("legacy"), ", or ", UnsetParameters((Parameter.ERA, Parameter.REVISION)), "."
)
_MAY_BE_LEGACY = Hint(
    "A server of the legacy era may respond this way: try ",
    Parameter.ERA.to("legacy"),
    ", or ",
    UnsetParameters((Parameter.ERA,)),
    ".",
)
_NEITHER = Hint("It takes no POST either: check the path of the URL. Many servers use /mcp.")
_TRY_SSE = frozenset((400, 404, 405, 406, 410, 415, 501))
"""Statuses of a POST after which the URL may be an HTTP+SSE server."""
_NO_VERDICT = frozenset((429, 502, 503, 504))
"""Temporary statuses that say nothing about the server's era."""


class Opener(Engine, Protocol):
    """An engine whose transport and driver can be set."""

    @property
    def target(self) -> Target:
        """The target to open."""

    task_follower: TaskPoller

    async def attach(self, target: Target) -> None:
        """Replace the connection by a new one to `target`."""

    def use(self, driver: Driver) -> None:
        """Use this driver from now on."""


class Negotiation:
    """Opens one connection of a session: chooses era, revision and transport."""

    def __init__(self, engine: Opener) -> None:
        self.engine = engine
        self.target: Target = engine.target
        self.options = engine.options
        self._began = time.perf_counter()
        self._unheard = False
        """The process exited, or the timeout expired, before it read the probe: the probe was not the cause."""
        self._is_start_told = False

    async def open(self) -> Server:
        """Connect and negotiate. Sets transport and driver of the session. Raises the failure."""
        if not isinstance(self.target, StdioTarget):  # Only of a process that we start is it seen that it is starting.
            return await self._negotiate()
        self._look_later()
        try:
            return await self._negotiate()
        finally:
            self._look.cancel()

    def _look_later(self) -> None:
        delay = min(STARTS_LOOKED_AT, self.options.timeout / 4)
        self._look = asyncio.get_running_loop().call_later(delay, self._look_at_start)

    def _look_at_start(self) -> None:
        """Restart the timeouts if the server is starting."""
        self._look_later()
        calls = self.engine.pending.calls()
        if not calls or not self.engine.transport.is_starting():
            return
        for call in calls:
            call.deadline.alive()
        if not self._is_start_told and calls[0].elapsed > SLOW_START:
            self._is_start_told = True
            self._step("starting", STARTING)
            if self.options.noted is not None:
                self.options.noted(f"{STARTING}.")

    async def _negotiate(self) -> Server:
        era, protocol = self.options.era, self.options.protocol
        if protocol in MODERN:
            era = "modern"
        elif protocol and era == "auto":
            era = "legacy"  # The handshake can offer any revision, even an unknown one.
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
            return self._conclude(await driver.open(), _PINNED)
        except ServerError as error:
            words = ", ".join(supported(error)[:10])
            raise HandshakeError(
                f"The server does not speak {driver.revision}: server/discover got "
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
            return self._conclude(verdict, _DISCOVERED)
        return await self._handshake_after(verdict)

    async def _as_remembered(self, transport: str, known: str) -> Server | None:
        """Try the handshake without a probe. None if that does not work any more."""
        self._step("remembered", f"an earlier session with this server used the legacy era over {transport}")
        verdicts = self.options.verdicts
        assert verdicts is not None
        try:
            await self._attach(sse=transport == "sse")
            server = await self._handshake()
        except AuthorizationNeeded:
            raise
        except InspectorError as error:
            verdicts.forget(self.target)
            self._step("wrong", f"this failed now: {error.message}")
            return None
        if f"{_named(server)}\0{server.revision}" != known:
            verdicts.forget(self.target)  # The server has another version: the next start probes it.
            return self._ready(server, _REMEMBERED)
        return self._conclude(server, _REMEMBERED)

    async def _probe(self, driver: ModernDriver) -> Server | Conclusion:
        """Send `server/discover`. Return the server, or the reason to try the handshake."""
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
        """Return what an error says about the server's era. Raises it if it says nothing, or is final."""
        if isinstance(error, RequestTimeout) and not self._unheard:
            return _SILENT
        if isinstance(error, ServerExited) and not self._unheard:
            return _EXITED
        if isinstance(error, ServerError):
            names = supported(error)
            if error.rpc_code == UNSUPPORTED_VERSION and names and not any(name in LEGACY for name in names):
                if rejected := [name for name in names if name in MODERN]:
                    raise HandshakeError(
                        f"The server rejects {rejected[-1]}, which it lists as supported: server/discover got "
                        f"error {error.rpc_code}: {error.rpc_message}",
                        hint=Hint("Try ", Parameter.ERA.to("legacy"), "."),
                    ) from error
                raise HandshakeError(
                    f"The server speaks {', '.join(names[:10])}; Inspector speaks {', '.join((*LEGACY, *MODERN))}.",
                    hint="Check for a newer version of Inspector.",
                ) from error
            if error.rpc_code in (HEADER_MISMATCH, MISSING_CAPABILITY):
                raise error
            return Conclusion(Reason.ANSWER, f"server/discover got error {error.rpc_code}")
        if isinstance(error, HttpError) and error.status is not None and error.status not in _NO_VERDICT:
            return _status(error.status)
        if isinstance(error, SessionLost):
            return _status(404)
        raise error

    async def _answer_to(self, call: Call) -> InspectorError | None:
        """Wait as long as a response is likely; then give up the call without notifying the server."""
        transport = self.engine.transport
        answered = asyncio.ensure_future(call.result())
        loop = asyncio.get_running_loop()
        began = loop.time()
        read_at: float | None = None
        pause = _POLL_SECONDS
        self._unheard = False
        try:
            while True:
                done, _ = await asyncio.wait([answered], timeout=pause)
                if done:
                    await answered
                    return None
                now, unread = loop.time(), transport.unread()
                if call.deadline.paused:  # A person is logging in.
                    began, silent = now, False
                elif unread is None:
                    silent = now - began > min(BLIND_LIMIT, self.options.timeout)
                else:
                    if unread == 0 and read_at is None:
                        read_at = now
                    silent = False
                    if read_at is not None:
                        # A process that started slowly, on a loaded machine for example, may respond as slowly.
                        left = read_at + max(SILENT_AFTER, read_at - began) - now
                        silent, pause = left < 0, max(left, _POLL_SECONDS)
                # A probe that was not read says nothing: a first `npx` downloads for a minute. The timeout ends it.
                if silent:
                    break
        except InspectorError as error:
            self._unheard = read_at is None and transport.unread() not in (0, None)
            return error
        except asyncio.CancelledError:
            answered.cancel()
            raise
        waited = loop.time() - began
        silence = RequestTimeout(f"No response to server/discover within {waited:.1f} s.")
        self.engine.state.journal.record_life(
            "", "timeout", **{"for": call.n, "reason": "no answer", "after_ms": round(waited * 1000)}
        )
        self.engine.pending.fail(call, silence)
        transport.abandon(call.id)
        await asyncio.wait([answered])
        answered.exception()
        return silence

    # The handshake, and what is behind its failure

    async def _handshake_after(self, reason: Conclusion) -> Server:
        """Try the handshake after a probe without a modern response."""
        over_http = self.engine.transport.name == "http"
        fresh = over_http
        if reason.reason in (Reason.SILENCE, Reason.EXIT) and not over_http:
            self._step("respawn", f"{reason.sentence}: restarting it as a legacy server")
            await self._attach()
            fresh = True
        else:
            self._step("legacy", f"{reason.sentence}: trying the handshake")
        try:
            return await self._handshake_or_sse(reason)
        except HandshakeError as error:
            if error.wants_modern or (over_http and reason.reason is Reason.SILENCE):
                return await self._modern_after_all(error)
            if fresh:
                raise
            return await self._respawned(error)
        except ServerExited as error:
            if fresh:
                raise
            return await self._respawned(error)

    async def _respawned(self, error: ConnectionProblem) -> Server:
        """Retry a failed handshake with a new process: the probe may have disturbed the first one."""
        self._step("respawn", f"{error.message} Restarting the server")
        await self._attach()
        return self._conclude(await self._handshake(), _FRESH_START)

    async def _modern_after_all(self, error: HandshakeError) -> Server:
        """Probe again after a refused handshake: the server may have been too slow for the first probe."""
        self._step("modern", f"{error.message} Sending server/discover again")
        driver = self._modern(NEWEST_MODERN)
        try:
            return self._conclude(await driver.open(), _REFUSED)
        except (ServerError, HttpError):
            raise error from None

    async def _handshake_or_sse(self, reason: Conclusion) -> Server:
        """Try the handshake; if HTTP refuses it, the HTTP+SSE transport at the same URL (C-SSE-03).

        A URL that ends in `/sse` and refused one POST does not get a second.
        """
        refused: HttpError | HandshakeError | None = None
        if not (reason.reason is Reason.STATUS and _path(self.target).endswith("/sse") and self._may_be_sse()):
            try:
                return self._conclude(await self._handshake(), reason)
            except (HttpError, HandshakeError) as error:
                if not self._may_be_sse() or not _is_refusal(error):
                    raise
                refused = error
        self._step("sse", "the POST was refused: requesting an event stream at the same URL")
        try:
            await self._attach(sse=True)
        except HttpError as error:
            if refused is None or error.status is None:
                if isinstance(error, NoSseEndpoint) and self._may_be_sse():
                    error.hint = _NEITHER
                raise
            raise refused from error
        return self._conclude(await self._handshake(), reason if reason.reason is Reason.PINNED else _NAMES_ENDPOINT)

    def _may_be_sse(self) -> bool:
        return isinstance(self.target, HttpTarget) and self.target.transport == "auto"

    # Pieces

    async def _attach(self, *, sse: bool = False) -> None:
        """Open a new connection, with the target's transport or the older HTTP transport."""
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

    def _conclude(self, server: Server, how: Conclusion) -> Server:
        """Record and store the verdict."""
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
    """Whether a POST was refused with a status that an HTTP+SSE server may use at the same URL."""
    return error.status in _TRY_SSE if isinstance(error, HttpError) else not error.wants_modern


def _named(server: Server) -> str:
    return f"{server.name} {server.version}"[:200]


def _path(target: Target) -> str:
    return target.url.partition("?")[0].rstrip("/") if isinstance(target, HttpTarget) else ""
