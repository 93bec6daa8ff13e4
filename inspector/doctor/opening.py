"""The connection itself, made as every session makes it; and what its recording tells of how that went."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from inspector.client.engine.connect import Connect, transport_for
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.client.state.server import Server
from inspector.config.targets import HttpTarget, StdioTarget, Target
from inspector.doctor.diagnosis import Limits, Watch
from inspector.errors import InspectorError, RequestTimeout
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal
from inspector.transports.base import Sink, Transport

MOST_EVENTS = 20_000
"""Events of one connection that are looked at."""
_LOOK_EVERY = 0.02
_KEPT = 400


@dataclass(slots=True)
class Opened:
    """How opening went."""

    server: Server | None = None
    transport: str = ""
    error: InspectorError | None = None
    seconds: float = 0.0
    heard: Heard = field(default_factory=lambda: Heard())
    read_stdin: bool | None = None
    """Whether it took what was sent; None where the system does not tell, or nothing was sent."""


@dataclass(slots=True)
class Heard:
    """What a stretch of a recording holds. Times are in seconds since the newest start of the server."""

    started: list[Event] = field(default_factory=list)
    first_byte: float | None = None
    """From the first start to the first byte on stdout or stderr."""
    noise: list[bytes] = field(default_factory=list)
    """What came on stdout and is no message."""
    carriage_returns: bool = False
    """Messages end in CR LF."""
    stderr: list[str] = field(default_factory=list)
    exits: list[Event] = field(default_factory=list)
    """Ends of the server that it came to by itself."""
    lived: float | None = None
    """Seconds from the last start to the last of these."""
    asked: dict[str, float] = field(default_factory=dict)
    """When each method was asked first, in seconds since the first start."""
    answered: dict[str, float] = field(default_factory=dict)
    """What each of them took to be answered."""
    steps: list[str] = field(default_factory=list)
    """What the negotiation concluded."""

    @property
    def status(self) -> int | None:
        """How the server ended the last time it ended by itself; negative for a signal."""
        status = self.exits[-1].fields.get("status") if self.exits else None
        return status if type(status) is int else None


async def opened(
    target: Target, journal: Journal, options: Options, limits: Limits, *, connect: Connect = transport_for
) -> Opened:
    """Open a session and close it again. Never raises what the server does wrong."""
    found, first, watch = Opened(), len(journal) + 1, Watch()
    attached: list[Transport] = []

    def connected(target: Target, sink: Sink, options: Options) -> Transport:
        attached.append(connect(target, sink, options))
        return attached[-1]

    # Nothing is remembered of what is found out here, and nothing that was remembered before counts.
    wanted = replace(
        options, timeout=min(options.timeout, limits.answer), max_timeout=limits.open, verdicts=None, log_level=""
    )
    session = Session(target, journal, wanted, connect=connected)
    looking = asyncio.ensure_future(_look(attached, found))
    try:
        async with asyncio.timeout(limits.open):
            await session.open()
            found.server = session.server
            found.transport = session.transport.name
    except TimeoutError:
        found.error = RequestTimeout(f"The connection was not made within {limits.open:g} s.")
    except InspectorError as error:
        found.error = error
    finally:
        looking.cancel()
        found.seconds = watch.seconds
        await session.leave()
    found.heard = heard(journal, first)
    return found


async def _look(attached: list[Transport], found: Opened) -> None:
    """See whether what was sent is taken, which nobody can tell any more afterwards."""
    while True:
        await asyncio.sleep(_LOOK_EVERY)
        if attached and attached[-1].name == "stdio":
            unread = attached[-1].unread()
            if unread is not None:
                found.read_stdin = unread == 0


def heard(journal: Journal, first: int) -> Heard:
    """What the recording holds from event `first` on."""
    found = Heard()
    began = latest = 0
    sent: dict[str, int] = {}
    for event in _events(journal, first):
        name = event.fields.get("event")
        if event.kind == Kind.LIFE:
            if name == "spawn":
                began, latest = began or event.t, event.t
                found.started.append(event)
            elif name == "exit" and event.fields.get("by") != "us":
                found.exits.append(event)
                found.lived = (event.t - latest) / 1e6
            elif name == "negotiation":
                found.steps.append(str(event.fields.get("text"))[:_KEPT])
            continue
        if event.dir != Dir.RECV:
            if event.kind == Kind.RPC and (method := journal.index.method(event.n)):
                sent[method] = event.t
                found.asked.setdefault(method, (event.t - began) / 1e6)
            continue
        if found.first_byte is None and began and event.kind in (Kind.RPC, Kind.INVALID, Kind.STDERR):
            found.first_byte = (event.t - began) / 1e6
        if event.kind == Kind.STDERR:
            found.stderr.append(event.text[:_KEPT])
        elif event.kind == Kind.INVALID and len(found.noise) < _KEPT:
            found.noise.append(event.bytes)
        elif event.kind == Kind.RPC:
            found.carriage_returns |= event.bytes.endswith(b"\r")
            method = journal.index.method(event.n)
            if method in sent:
                found.answered.setdefault(method, (event.t - sent[method]) / 1e6)
    return found


def _events(journal: Journal, first: int) -> Iterator[Event]:
    """The events from `first` on; of very many, those at the beginning and those at the end."""
    last = len(journal)
    if last - first < MOST_EVENTS:
        yield from (journal.event(n) for n in range(first, last + 1))
        return
    yield from (journal.event(n) for n in range(first, first + MOST_EVENTS // 2))
    yield from (journal.event(n) for n in range(last - MOST_EVENTS // 2, last + 1))


def label(target: Target) -> str:
    """What a server is called in a sentence."""
    return target.label if isinstance(target, (StdioTarget, HttpTarget)) else target.describe()
