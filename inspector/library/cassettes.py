"""Sessions and servers for tests that are recorded once and replayed afterwards."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from inspector.client.new_recording import new_journal
from inspector.config.paths import make_private
from inspector.config.settings import Settings
from inspector.config.targets import HttpTarget, RecordingTarget
from inspector.errors import RecordingError, UsageError
from inspector.journal.appending import append_recordings
from inspector.library.opening import open as open_session
from inspector.library.serving import LiveServer, MockServer, ReplayedSession
from inspector.library.session import Session, need_asyncio, parts, running
from inspector.library.sync import SyncSession
from inspector.own_commands import module_command
from inspector.replay.mock.server import MockOptions
from inspector.text import safe
from inspector.transports.request_matching import HANDSHAKE

if TYPE_CHECKING:
    from types import TracebackType

    from inspector.client.bare_connection import BareConnection, ConnectionListener
    from inspector.compare.rules import ComparisonRules
    from inspector.journal.journal import Journal
    from inspector.replay.mock.statistics import MockReport, UnrecordedRequest

Mode = Literal["once", "new-episodes", "none", "rewrite", "check", "live"]
"""`once`: record if no recording exists, else replay. `new-episodes`: replay what is recorded, request the rest from
the live server and append it. `none`: replay only. `rewrite`: record again. `check`: run against the live server and
compare with the recording, which is unchanged. `live`: run against the live server, record nothing.
"""
MODES: tuple[Mode, ...] = get_args(Mode)

_REPLAYED = ("timeout", "max_timeout", "sampling", "elicit", "roots", "log_level")
"""Options of a session that also apply to a recording."""
MAX_LINES = 60
"""Maximum lines that list missed requests."""


class Cassette:
    """A recording that a test creates or uses. A new one is kept only if the test's block succeeds."""

    def __init__(
        self,
        target: str | Sequence[str],
        path: Path,
        mode: Mode,
        options: Mapping[str, Any],
        rules: ComparisonRules | None = None,
        accept: str = "",
    ) -> None:
        """`options` are those of `inspector.open`; `rules` say what may differ with `check`.

        `accept` is the command that records again.
        """
        self.path = path
        self.mode = mode
        self.keeps = True
        """Whether a new recording is kept and its differences reported: False after another failure."""
        self._missing: list[str] = []
        self._target = target
        self._options = dict(options)
        self._rules = rules
        self._accept = accept
        self._made: list[Path] = []
        """New recordings that were not moved to their final path yet."""

    @property
    def _replays(self) -> bool:
        """Whether the recording is replayed. Raises `RecordingError` if it is required and missing."""
        there = self.path.exists()
        if not there and self.mode in ("none", "check"):
            raise RecordingError(
                f"No recording exists at {self.path}, and the mode is “{self.mode}”.",
                hint=self._advice("record it") or "Record it once, with the mode “once” or “rewrite”.",
            )
        return there and self.mode in ("once", "new-episodes", "none")

    def _advice(self, what: str) -> str:
        return f"To {what}, run: {self._accept}" if self._accept else ""

    def _new_path(self) -> Path:
        """Return the temporary path of a new recording, beside its final path."""
        make_private(self.path.parent)
        made = self.path.with_name(f".{os.getpid()}-{len(self._made)}-{self.path.name}")
        made.unlink(missing_ok=True)
        self._made.append(made)
        return made

    def _live(self) -> LiveServer | None:
        """Return the live server for requests that are not recorded, with `new-episodes`."""
        if self.mode != "new-episodes":
            return None
        from inspector.client.bare_connection import BareConnection

        target, options = parts(self._opened())

        def connect(journal: Journal, listener: ConnectionListener) -> BareConnection:
            return BareConnection(target, journal, listener, options)

        return LiveServer(target, connect, lambda: new_journal(target, settings=Settings(), record=self._new_path()))

    def _opened(self, **more: Any) -> Session:
        return open_session(self._target, **self._options, **more)

    def _conclude(self, replayed: bool) -> None:
        """Keep, append, compare or report, after the block succeeded."""
        if self._missing:
            raise RecordingError(
                "\n".join(
                    [
                        f"Some requests are not in the recording {self.path}:",
                        *self._missing,
                        self._advice("accept the change")
                        or "To accept the change, record again with the mode “rewrite”.",
                    ]
                )
            )
        made = [path for path in self._made if path.exists()]
        if replayed:
            if made:
                append_recordings(self.path, made)
        elif made:
            if len(made) > 1:
                append_recordings(made[0], made[1:])
            if self.mode == "check":
                self._compare(made[0])
            else:
                os.replace(made[0], self.path)

    def _discard(self) -> None:
        for path in self._made:
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _compare(self, made: Path) -> None:
        from inspector.compare.conversation import compare_conversations
        from inspector.compare.rules import DEFAULT
        from inspector.library.differences import drift
        from inspector.library.recordings import recording

        with recording(self.path) as before, recording(made) as now:
            conversations = compare_conversations(before.journal, now.journal, self._rules or DEFAULT)
        if not conversations.same:
            text = f"The server's behaviour differs from the recording {self.path}:"
            advice = self._advice("accept the change")
            raise AssertionError("\n".join(filter(None, [text, *drift(conversations), advice])))


class CassetteSession(Cassette):
    """HandlerFactory the session: with `async with`, or with `with` a synchronous one."""

    session: Session | None = None

    def _begin(self) -> Session:
        if self._replays:
            options = {name: value for name, value in self._options.items() if name in _REPLAYED}
            session = open_session(str(self.path), **options)
            assert isinstance(session, ReplayedSession)
            session.live = self._live()
            self.session = session
        elif self.mode == "live":
            self.session = self._opened()
        else:
            self.session = self._opened(record=self._new_path())
        return self.session

    async def __aenter__(self) -> Session:
        """Open the live server or the recording. Raises `RecordingError` if a required recording is missing."""
        session = self._begin()
        try:
            return await session.connect()
        except BaseException:
            self._discard()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close, then keep, append, compare or report.

        Raises `RecordingError` if a request was not in a recording, and AssertionError if a live server behaves
        differently from the recorded one.
        """
        assert self.session is not None
        self._missing = self.missing()
        try:
            await self.session.__aexit__(kind, error, trace)
            self._ended(error)
        finally:
            self._discard()

    def __enter__(self) -> SyncSession:
        """As with `async with`, but the session's methods are synchronous."""
        self._waiting = SyncSession(self._begin())
        try:
            return self._waiting.connect()
        except BaseException:
            self._discard()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._missing = self.missing()
        try:
            self._waiting.__exit__(kind, error, trace)
            self._ended(error)
        finally:
            self._discard()

    def _ended(self, error: BaseException | None) -> None:
        if error is None and self.keeps:
            self._conclude(isinstance(self.session, ReplayedSession))

    def missing(self) -> list[str]:
        """Requests that are not in the recording, as lines, each with the nearest recorded request."""
        session = self.session
        live = isinstance(session, ReplayedSession) and session.opened
        return _missing(session) if live else self._missing  # type: ignore[arg-type]


class CassetteServer(Cassette):
    """A server for another client: `url` for HTTP, `command` for stdio. Use it with `async with`.

    The first run forwards everything to the real server and records it; later runs answer from the recording.
    """

    _url = ""
    _mock: MockServer | None = None
    _stack: AsyncExitStack

    @property
    def url(self) -> str:
        """The URL for clients."""
        if not self._url:
            raise UsageError("The server is not open.", hint="Use it with `async with`.")
        return self._url

    @property
    def command(self) -> list[str]:
        """The command of the same server over stdio, for clients that start their servers."""
        return [*module_command("inspector"), "tap", "--no-record", self.url]

    async def __aenter__(self) -> Self:
        """Listen on loopback. Raises `RecordingError` if a required recording is missing."""
        need_asyncio()
        self._stack = stack = AsyncExitStack()
        try:
            if self._replays:
                live = self._live()
                options = MockOptions(match="params", on_miss="error" if live is None else "passthrough")
                self._mock = await stack.enter_async_context(MockServer(self.path, options, "127.0.0.1", 0, live))
                self._url = self._mock.url
            else:
                self._url = await self._tap(stack)
        except BaseException:
            await stack.aclose()
            self._discard()
            raise
        return self

    async def _tap(self, stack: AsyncExitStack) -> str:
        """Start a proxy in front of the live server; return its URL."""
        from inspector.serving.http import Binding, HttpServer
        from inspector.tap.bridge import Bridge
        from inspector.tap.http import HttpTap

        target, options = parts(self._opened())
        if isinstance(target, RecordingTarget):
            raise UsageError(f"{target.describe()} is a recording.", hint="Serve it with inspector.serve.")
        await stack.enter_async_context(running(target))
        journals = stack.enter_context(ExitStack())

        def journal() -> Journal:
            record = None if self.mode == "live" else self._new_path()
            made = new_journal(target, settings=Settings(), record=record, keep=False)
            journals.callback(made.release)
            journals.callback(made.close, "closed")
            return made

        if isinstance(target, HttpTarget) and target.network is None:
            tap = HttpTap(target, journal())
            stack.push_async_callback(tap.close)
            await tap.start()
            return tap.url
        end = HttpServer(Bridge(target, journal, options).opens, "127.0.0.1", 0, Binding())
        stack.push_async_callback(end.close)
        await end.start()
        return end.url

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop, then keep, append, compare or report, as `CassetteSession` does."""
        self._missing = self.missing()
        try:
            await self._stack.aclose()
            if error is None and self.keeps:
                self._conclude(self._mock is not None)
        finally:
            self._discard()

    def missing(self) -> list[str]:
        """Requests that are not in the recording, as lines."""
        if self._mock is None:
            return []
        lines: list[str] = []
        for request in _missed(self._mock.report):
            lines.append(f"  {safe(request.method, 200)} {request.params}")
            lines += [f"  the nearest is event {request.nearest} of the recording"] if request.nearest else []
        return [*lines[:MAX_LINES], "  …"] if len(lines) > MAX_LINES else lines


def _missed(report: MockReport) -> list[UnrecordedRequest]:
    """Return the requests that were neither in the recording nor sent to a live server."""
    return [request for request in report.missed if request.method not in HANDSHAKE and request.became != "passthrough"]


def _missing(session: ReplayedSession) -> list[str]:
    """Return the requests that are not in the recording, each with the nearest recorded request."""
    from inspector.library.differences import differences
    from inspector.replay.mock.statistics import params_text

    missed = {(request.method, request.params): request.nearest for request in _missed(session.report)}
    lines: list[str] = []
    for exchange in session.recording.exchanges("dir:send") if missed else ():
        params = params_text(exchange.params)
        nearest = missed.pop((exchange.method, params), None)
        if nearest is None:
            continue
        lines.append(f"  {exchange.method} {params}")
        if nearest:
            lines.append(f"  the nearest is event {nearest} of the recording:")
            recorded = session.mock.requests.params(nearest)
            lines += (f"    {line}" for line in differences(_plain(recorded), _plain(exchange.params)))
        if len(lines) > MAX_LINES:
            return [*lines, "  …"]
    return lines


def _plain(params: Any) -> Any:
    """Return the parameters without each request's own metadata."""
    return {key: value for key, value in params.items() if key != "_meta"} if type(params) is dict else params
