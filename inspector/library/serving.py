"""Replay of recordings: `inspector.serve` for any client; `inspector.open` on one for our own session."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from inspector.client.options import Options
from inspector.config.targets import RecordingTarget, Target
from inspector.errors import ConnectionProblem, UsageError
from inspector.journal import channels
from inspector.journal.journal import Journal
from inspector.library.session import Session, need_asyncio, running
from inspector.own_commands import module_command
from inspector.replay.mock.passthrough import Upstream
from inspector.replay.mock.server import Mock, MockOptions
from inspector.replay.mock.statistics import MockReport
from inspector.serving.base import BodyForm, ClientMessage, Fields, Handler
from inspector.serving.http import HttpServer
from inspector.text import repr_of
from inspector.transports.base import Sink
from inspector.transports.memory import MemoryTransport, SendReply

if TYPE_CHECKING:
    from inspector.library.answering import ElicitationCallback, SamplingCallback

Match = Literal["exact", "params", "method", "sequence"]


class LiveServer(NamedTuple):
    """The live server behind a recording."""

    target: Target
    upstream: Upstream
    """Connects to it."""
    journal: Callable[[], Journal]
    """Creates the recording of such a connection."""


def _live_options(live: LiveServer | None) -> dict[str, Any]:
    return {} if live is None else {"upstream": live.upstream, "live_journal": live.journal}


class MockServer:
    """A recording that is served over Streamable HTTP on this machine, inside `async with`."""

    def __init__(self, path: Path, options: MockOptions, host: str, port: int, live: LiveServer | None = None) -> None:
        """Created by `inspector.serve`."""
        self._live = live
        self._hosting = AsyncExitStack()
        self.path = path
        self._options = options
        self._where = host, port
        self._journal: Journal | None = None
        self._mock: Mock | None = None
        self._end: HttpServer | None = None
        self._report: MockReport | None = None

    def __repr__(self) -> str:
        return repr_of(self, self.path, self._end.url if self._end is not None else "not served")

    async def __aenter__(self) -> Self:
        """Read the recording and listen. Raises `RecordingError`, or `UsageError` if the port cannot be used."""
        self._journal = Journal.open(self.path)
        need_asyncio()
        mock = self._mock = Mock(self._journal, self._options, **_live_options(self._live))
        try:
            if self._live is not None:
                await self._hosting.enter_async_context(running(self._live.target))
            await mock.load()
            self._end = HttpServer(mock.opens, *self._where, mock.binding)
            await self._end.start()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop serving. Idempotent; the report stays available."""
        if self._end is not None:
            await self._end.close()
        if self._mock is not None:
            await self._mock.close()
            await self._hosting.aclose()
            if self._journal is not None:
                self._report = self._mock.report()
                self._journal.release()
                self._journal = None

    @property
    def url(self) -> str:
        """The URL for clients."""
        if self._end is None:
            raise UsageError("The recording is not served.", hint="Use it with `async with`.")
        return self._end.url

    @property
    def command(self) -> list[str]:
        """Return a command that serves the same over stdio, for clients that start their servers. Needs no `async
        with`.
        """
        options = self._options
        words = [*module_command("inspector"), "serve", str(self.path), "--match", options.match]
        words += ["--on-miss", options.on_miss, "--no-record", "--quiet"]
        return words if options.speed is None else [*words, "--pace", str(options.speed)]

    @property
    def report(self) -> MockReport:
        """The requests so far: `requests`, `counts`, `missed`, `never_asked`."""
        if self._mock is None:
            raise UsageError("The recording is not served.", hint="Use it with `async with`.")
        return self._report or self._mock.report()


def serve(
    path: str | os.PathLike[str],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    match: Match = "params",
    on_miss: Literal["error", "last"] = "error",
    pace: float | None = None,
) -> MockServer:
    """Return a server that answers from a recording, for use with `async with`; clients connect to its `url`.

    `match`: how a recorded request is found (docs/how-to/mock-a-server.md); `on_miss`: the response if none is
    found; `pace`: 1.0 is as recorded, None as fast as possible; `port` 0 selects a free port.
    """
    return MockServer(Path(path), MockOptions(match=match, on_miss=on_miss, speed=pace), host, port)


class ReplayedSession(Session):
    """A session whose server is a recording, in this process. Starts no process and sends nothing."""

    def __init__(
        self,
        path: Path,
        options: Options,
        *,
        record: Path | bool = False,
        sampling: SamplingCallback | None = None,
        elicitation: ElicitationCallback | None = None,
        match: Match = "params",
        live: LiveServer | None = None,
    ) -> None:
        """Created by `inspector.open`. `live` receives the requests that are not in the recording."""
        super().__init__(
            RecordingTarget(path),
            options,
            record=record,
            sampling=sampling,
            elicitation=elicitation,
            connect=self._attach,
        )
        self._path = path
        self._match = match
        self.live = live
        """Set before `connect`."""
        self._hosting = AsyncExitStack()
        self._journal: Journal | None = None
        self._report: MockReport | None = None
        self.mock: Mock

    async def connect(self) -> Self:
        """Open the recording as its recorded target. Raises `RecordingError` if nothing in it can answer."""
        journal = self._journal = Journal.open(self._path)
        try:
            options = MockOptions(match=self._match, on_miss="error" if self.live is None else "passthrough")
            self.mock = Mock(journal, options, **_live_options(self.live))
            if self.live is not None:
                await self._hosting.enter_async_context(running(self.live.target))
            await self.mock.load()
            if self._options.era == "auto" and not self._options.protocol:
                self._options = replace(self._options, era="modern" if self.mock.behaviour.modern else "legacy")
            await super().connect()
        except BaseException:
            await self.close()
            raise
        return self

    def _attach(self, _target: Any, sink: Sink, _options: Options) -> _Pipe:
        return _Pipe(sink, self.mock)

    @property
    def opened(self) -> bool:
        """Whether the recording is open: between `connect` and `close`."""
        return self._journal is not None and self._engine is not None

    @property
    def report(self) -> MockReport:
        """The requests, and those that were not in the recording."""
        return self._report if self._report is not None else self.mock.report()

    async def close(self) -> None:
        """Close the session. Idempotent."""
        await super().close()
        if self._journal is not None:
            journal, self._journal = self._journal, None
            self._report = self.mock.report()
            await self.mock.close()
            await self._hosting.aclose()
            journal.release()


class _Pipe(MemoryTransport):
    """A connection to a mock in this process."""

    def __init__(self, sink: Sink, mock: Mock) -> None:
        super().__init__(sink, self._received)
        self._handler: Handler = mock.opens(_PipeClient(self))

    async def _received(self, message: Any, reply: SendReply) -> None:
        from inspector.protocol.jsonrpc import encode

        data = message if isinstance(message, bytes) else encode(message)
        self._handler.received(ClientMessage.read(data), _PipeReply(self, reply))

    async def close(self) -> None:
        """Stop the mock server's work for this connection. Idempotent."""
        if not self._closed:
            await super().close()
            await self._handler.close(gone=True)


class _PipeClient:
    """The session as the mock server sees it."""

    transport: Literal["stdio", "http"] = "stdio"
    session = ""
    channel = channels.STDIO

    def __init__(self, pipe: _Pipe) -> None:
        self._pipe = pipe

    def push(self, data: bytes) -> None:
        self._pipe.reply(data)

    def drop(self) -> None:
        self._pipe.drop(ConnectionProblem("The recording ends the connection here."))

    async def drain(self) -> None:
        await asyncio.sleep(0)


class _PipeReply:
    """Receives the mock server's response to one message."""

    channel = channels.STDIO
    open = True

    def __init__(self, pipe: _Pipe, reply: SendReply) -> None:
        self._pipe = pipe
        self._reply = reply

    def begin(self, form: BodyForm, status: int = 200, fields: Fields = ()) -> None:
        pass

    def send(self, data: bytes) -> None:
        self._reply(data)

    def end(self) -> None:
        pass

    def cut(self, data: bytes = b"", retry: int | None = None) -> None:
        self._pipe.drop(ConnectionProblem("The recording breaks the connection here."))

    async def drain(self) -> None:
        await asyncio.sleep(0)
