"""The connection itself, opened as a session does, and its result according to its recording."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from inspector.client.engine.connect import Connect, transport_for
from inspector.client.listening_address import listening_address
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.client.state.server import Server
from inspector.config.private_keys import PrivateKeyFilter
from inspector.config.targets import HttpTarget, StdioTarget, Target
from inspector.doctor.diagnosis import StepCollector, Stopwatch, TimeLimits
from inspector.errors import InspectorError, RequestTimeout
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal
from inspector.text import decode_log
from inspector.transports.base import Sink, Transport

MAX_EVENTS = 20_000
"""Maximum events of one connection that are read."""
_LOOK_EVERY = 0.02
_LISTENS_EVERY = 0.5
_LISTENS_FOR = 3.0
"""Seconds without reading its stdin after which a server is at the URL that it reports, and is not waited for."""
_LAST_EVENTS = 200
_KEPT = 400
_KEPT_LINE = 20_000
"""Characters of a line on stderr: a JSON log line may have a whole stack."""


@dataclass(slots=True)
class OpenResult:
    """The result of opening a session."""

    server: Server | None = None
    transport: str = ""
    error: InspectorError | None = None
    seconds: float = 0.0
    connection: ConnectionRecord = field(default_factory=lambda: ConnectionRecord())
    read_stdin: bool | None = None
    """Whether it read what was sent; None if the system does not tell, or nothing was sent."""


@dataclass(slots=True)
class ConnectionRecord:
    """The content of a part of a recording. Times are in seconds since the server's latest start."""

    started: list[Event] = field(default_factory=list)
    first_byte: float | None = None
    """From the first start to the first byte on stdout or stderr."""
    noise: list[bytes] = field(default_factory=list)
    """Output on stdout that is not a message."""
    carriage_returns: bool = False
    """Whether messages end in CR LF."""
    stderr: list[str] = field(default_factory=list)
    exits: list[Event] = field(default_factory=list)
    """Exits of the server that we did not cause."""
    lived: float | None = None
    """Seconds from the last start to the last exit."""
    asked: dict[str, float] = field(default_factory=dict)
    """When each method was first requested, in seconds since the first start."""
    answered: dict[str, float] = field(default_factory=dict)
    """The response time of each method, in seconds."""
    steps: list[str] = field(default_factory=list)
    """The conclusions of the negotiation."""

    @property
    def status(self) -> int | None:
        """The exit status of the last such exit; negative for a signal."""
        status = self.exits[-1].fields.get("status") if self.exits else None
        return status if type(status) is int else None


@dataclass
class SessionDoctor:
    """Opens sessions with a target and reports to `steps`; everything is recorded in `journal`."""

    steps: StepCollector
    journal: Journal
    options: Options
    limits: TimeLimits
    connect: Connect = field(default=transport_for, kw_only=True)


async def open_session(
    target: Target, journal: Journal, options: Options, *, connect: Connect = transport_for
) -> OpenResult:
    """Open a session and close it again. Never raises a failure of the server."""
    opened, first, watch = OpenResult(), len(journal) + 1, Stopwatch()
    attached: list[Transport] = []

    def connected(target: Target, sink: Sink, options: Options) -> Transport:
        attached.append(connect(target, sink, options))
        return attached[-1]

    # The diagnosis neither uses nor stores a remembered era.
    session = Session(target, journal, replace(options, verdicts=None, log_level=""), connect=connected)
    opening = asyncio.ensure_future(session.open())
    stdin_watch = asyncio.ensure_future(_watch_stdin(attached, opened))
    listening = asyncio.ensure_future(_listens_elsewhere(journal, first, opened))
    listening.add_done_callback(lambda _: opening.cancel())
    try:
        await opening
        opened.server = session.server
        opened.transport = session.transport.name
    except InspectorError as error:
        opened.error = error
    except asyncio.CancelledError:
        if not listening.done():
            raise
        opened.error = RequestTimeout(f"No response within {watch.seconds:.0f} s: it listens at a URL.")
    finally:
        stdin_watch.cancel()
        listening.cancel()
        opened.seconds = watch.seconds
        await session.leave()
    opened.connection = read_connection(journal, first)
    return opened


async def _watch_stdin(attached: list[Transport], opened: OpenResult) -> None:
    """Check whether the process reads its stdin. This cannot be known after it has ended."""
    while True:
        await asyncio.sleep(_LOOK_EVERY)
        if attached and attached[-1].name == "stdio":
            unread = attached[-1].unread()
            if unread is not None:
                opened.read_stdin = unread == 0


async def _listens_elsewhere(journal: Journal, first: int, opened: OpenResult) -> None:
    """Return once a server has reported a URL and not read its stdin for a while."""
    unread = 0.0
    while unread < _LISTENS_FOR:
        await asyncio.sleep(_LISTENS_EVERY)
        is_elsewhere = opened.read_stdin is False and _reports_a_url(journal, first)
        unread = unread + _LISTENS_EVERY if is_elsewhere else 0.0


def _reports_a_url(journal: Journal, first: int) -> bool:
    events = map(journal.event, range(max(first, len(journal) - _LAST_EVENTS), len(journal) + 1))
    printed = (event for event in events if event.dir is Dir.RECV and event.kind in (Kind.STDERR, Kind.INVALID))
    return bool(listening_address(decode_log(event.bytes)[:_KEPT_LINE] for event in printed))


def read_connection(journal: Journal, first: int) -> ConnectionRecord:
    """Return the content of the recording from event `first` on."""
    connection_record = ConnectionRecord()
    began = latest = 0
    sent: dict[str, int] = {}
    # An older recording, or one of another program, may have private keys.
    keys, before = _key_filters(in_middle=first > 1), first - 1
    for event in _events(journal, first):
        name = event.fields.get("event")
        if name == "spawn" or event.n != before + 1:
            keys = _key_filters(in_middle=name != "spawn")
        before = event.n
        if event.kind == Kind.LIFE:
            if name == "spawn":
                began, latest = began or event.t, event.t
                connection_record.started.append(event)
            elif name == "exit" and event.fields.get("by") != "us":
                connection_record.exits.append(event)
                connection_record.lived = (event.t - latest) / 1e6
            elif name == "negotiation":
                connection_record.steps.append(str(event.fields.get("text"))[:_KEPT])
            continue
        if event.dir != Dir.RECV:
            if event.kind == Kind.RPC and (method := journal.index.method(event.n)):
                sent[method] = event.t
                connection_record.asked.setdefault(method, (event.t - began) / 1e6)
            continue
        if connection_record.first_byte is None and began and event.kind in (Kind.RPC, Kind.INVALID, Kind.STDERR):
            connection_record.first_byte = (event.t - began) / 1e6
        if event.kind == Kind.STDERR:
            connection_record.stderr.append(decode_log(keys[event.kind].line(event.bytes))[:_KEPT_LINE])
        elif event.kind == Kind.INVALID and len(connection_record.noise) < _KEPT:
            connection_record.noise.append(keys[event.kind].line(event.bytes))
        elif event.kind == Kind.RPC:
            connection_record.carriage_returns |= event.bytes.endswith(b"\r")
            method = journal.index.method(event.n)
            if method in sent:
                connection_record.answered.setdefault(method, (event.t - sent[method]) / 1e6)
    return connection_record


def _key_filters(*, in_middle: bool) -> dict[Kind, PrivateKeyFilter]:
    return {kind: PrivateKeyFilter(in_middle=in_middle) for kind in (Kind.STDERR, Kind.INVALID)}


def _events(journal: Journal, first: int) -> Iterator[Event]:
    """Yield the events from `first` on; of very many, those at the start and those at the end."""
    last = len(journal)
    if last - first < MAX_EVENTS:
        yield from (journal.event(n) for n in range(first, last + 1))
        return
    yield from (journal.event(n) for n in range(first, first + MAX_EVENTS // 2))
    yield from (journal.event(n) for n in range(last - MAX_EVENTS // 2, last + 1))


def label(target: Target) -> str:
    """Return the name of a server for a sentence."""
    return target.label if isinstance(target, (StdioTarget, HttpTarget)) else target.describe()
