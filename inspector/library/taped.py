"""A session that is recorded the first time and answered from its recording afterwards: what tests want."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from inspector.errors import RecordingError
from inspector.library.opening import open as open_session
from inspector.library.serving import ReplayedSession
from inspector.library.session import Session

if TYPE_CHECKING:
    from types import TracebackType

    from inspector.compare.rules import Rules

Mode = Literal["once", "none", "rewrite", "check", "live"]
"""`once`: record where there is no recording yet, else replay. `none`: replay only. `rewrite`: record anew. `check`:
ask the live server and compare with the recording, which stays. `live`: ask the live server, record nothing."""
MODES: tuple[Mode, ...] = get_args(Mode)

_REPLAYED = ("timeout", "max_timeout", "sampling", "elicit", "roots", "log_level")
"""Options of a session that mean something to a recording, too."""
MOST_LINES = 60
"""Lines that tell what was missed."""


class Taped:
    """Gives the session with `async with`. A recording is kept only if what is done with the session comes off."""

    def __init__(
        self,
        target: str | Sequence[str],
        path: Path,
        mode: Mode,
        options: Mapping[str, Any],
        rules: Rules | None = None,
    ) -> None:
        """`options` are those of `inspector.open`; `rules` say what may differ with `check`."""
        self.path = path
        self.mode = mode
        self.session: Session | None = None
        self.keeps = True
        """Whether a new recording is kept, and the end explained: not where something else has failed."""
        self._missing: list[str] = []
        self._target = target
        self._options = dict(options)
        self._rules = rules
        self._temporary: Path | None = None

    async def __aenter__(self) -> Session:
        """Open the live server or the recording. Raises `RecordingError` where a recording is needed and missing."""
        there = self.path.exists()
        if not there and self.mode in ("none", "check"):
            raise RecordingError(
                f"There is no recording at {self.path}, and the mode is “{self.mode}”.",
                hint="Record it once, with the mode “once” or “rewrite”.",
            )
        if there and self.mode in ("once", "none"):
            options = {name: value for name, value in self._options.items() if name in _REPLAYED}
            self.session = open_session(str(self.path), **options)
        elif self.mode == "live":
            self.session = open_session(self._target, **self._options)
        else:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._temporary = self.path.with_name(f".{os.getpid()}-{self.path.name}")
            self._temporary.unlink(missing_ok=True)
            self.session = open_session(self._target, **self._options, record=self._temporary)
        try:
            return await self.session.connect()
        except BaseException:
            self._discard()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close, and keep, compare or explain. Raises `RecordingError` where something asked was not in a recording,
        and AssertionError where a live server does something else than the recorded one.
        """
        session = self.session
        assert session is not None
        self._missing = self.missing()
        try:
            await session.__aexit__(kind, error, trace)
            if error is not None or not self.keeps:
                return
            if self._missing:
                raise RecordingError(
                    "\n".join([f"Not everything that was asked is in the recording {self.path}:", *self._missing]),
                    hint="If the test has changed, record it anew, with the mode “rewrite”.",
                )
            if self._temporary is not None:
                if self.mode == "check":
                    self._compare(self._temporary)
                else:
                    os.replace(self._temporary, self.path)
        finally:
            self._discard()

    def _discard(self) -> None:
        if self._temporary is not None:
            with suppress(OSError):
                self._temporary.unlink(missing_ok=True)

    def missing(self) -> list[str]:
        """What was asked and is not in the recording, in lines, with what is nearest to it there."""
        session = self.session
        live = isinstance(session, ReplayedSession) and session.opened
        return _missing(session) if live else self._missing  # type: ignore[arg-type]

    def _compare(self, made: Path) -> None:
        from inspector.compare.conversation import compare_conversations
        from inspector.compare.rules import DEFAULT
        from inspector.library.differences import drift
        from inspector.library.recordings import recording

        with recording(self.path) as before, recording(made) as now:
            found = compare_conversations(before.journal, now.journal, self._rules or DEFAULT)
        if not found.same:
            text = f"The server does something else than in the recording {self.path}:"
            raise AssertionError("\n".join([text, *drift(found)]))


def _missing(session: ReplayedSession) -> list[str]:
    """What was asked and is not in the recording, each with what is nearest to it there."""
    from inspector.library.differences import differences
    from inspector.replay.mock_tally import shown
    from inspector.transports.recorded_requests import HANDSHAKE

    missed = {
        (each.method, each.params): each.nearest for each in session.report.missed if each.method not in HANDSHAKE
    }
    lines: list[str] = []
    for exchange in session.recording.exchanges("dir:send") if missed else ():
        params = shown(exchange.params)
        nearest = missed.pop((exchange.method, params), None)
        if nearest is None:
            continue
        lines.append(f"  {exchange.method} {params}")
        if nearest:
            lines.append(f"  nearest to it is event {nearest} of the recording:")
            recorded = session.mock.requests.params(nearest)
            lines += (f"    {line}" for line in differences(_plain(recorded), _plain(exchange.params)))
        if len(lines) > MOST_LINES:
            return [*lines, "  …"]
    return lines


def _plain(params: Any) -> Any:
    """Parameters without what each request carries about itself."""
    return {key: value for key, value in params.items() if key != "_meta"} if type(params) is dict else params
