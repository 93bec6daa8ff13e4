"""The open sessions of this window: the one in front, news of the others, and closing them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from textual.message import Message
from textual.screen import Screen

from inspector.client.engine.pending_requests import Call
from inspector.client.extensions import declared_settings
from inspector.client.session_state import SessionState
from inspector.text import ellipsis, quantity, safe
from inspector.tui.model.tabs import Tab
from inspector.tui.themes import signs_now
from inspector.tui.widgets.paint import Piece

if TYPE_CHECKING:
    from inspector.formats.otlp_stream import OtlpStream

_NAME = 20
"""Cells of a session's name in the first line."""
USER_REQUESTS = frozenset({"tools/call", "resources/read", "prompts/get"})
"""Requests that the user sent; lists, completions and the like are sent automatically."""


@dataclass(eq=False)
class OpenSession:
    """One open session with its screen, which stays mounted while another one is in front."""

    session: SessionState
    screen: Screen[Any]
    among: Sequence[OpenSession] = ()
    """The open sessions of the window."""
    dialogs: dict[Screen[Any], Callable[[Any], None] | None] = field(default_factory=dict)
    """Dialogs that wait for the session to be in front, with the callbacks for their answers."""
    stream: OtlpStream | None = None
    """Sends its spans to a collector, if the settings name one."""

    @property
    def name(self) -> str:
        """The server's own name, as in its header; the target's label where that is missing or not the only one."""
        label = self.session.target.label
        alike = [other for other in self.among if other is not self and other._title == self._title]
        is_clear = all(other.session.target.label == label for other in alike)
        return safe(self._title if is_clear else label, 80)

    @property
    def _title(self) -> str:
        return self.session.server.title or self.session.target.label

    @property
    def is_connected(self) -> bool:
        """Whether calls can be sent in it now."""
        return self.session.commands is not None and self.session.phase == "ready" and not self.session.exchange_lost

    @property
    def questions(self) -> int:
        """The number of open questions of the server."""
        return len(self.session.inbox.open()) if self.session.commands is not None else 0

    @property
    def waits(self) -> int:
        """The number of questions and logins that wait for the user."""
        return self.questions + len(self.dialogs)

    @property
    def wants(self) -> str:
        """Describe what waits for the user; empty for nothing."""
        asked = [quantity(self.questions, "question")] if self.questions else []
        return ", ".join([*asked, *(["login"] if self.dialogs else [])])

    @property
    def state(self) -> tuple[str, str]:
        """The state in a few words, and its role."""
        if self.session.commands is None:
            return "recording", "muted"
        if self.session.phase == "ready" and self.session.exchange_lost:
            return "connection lost", "error"
        for_time = _time(time.monotonic() - self.session.phase_since)
        return {
            "new": ("not connected", "muted"),
            "connecting": (f"connecting {for_time}", "progress"),
            "ready": (f"connected {for_time}", "normal"),
            "failed": ("not connected", "error"),
            "lost": ("connection lost", "error"),
            "closed": ("closed", "muted"),
        }[self.session.phase]

    @property
    def sign(self) -> Piece:
        """The mark before the name."""
        signs = signs_now()
        if self.session.commands is None:
            return (signs.local, "muted")
        phase = self.session.phase
        if phase in ("failed", "lost") or self.session.exchange_lost:
            return (signs.failed, "error")
        return (signs.live, "received" if phase == "ready" else "progress")


class ShowSession(Message):
    """Go back to this open session."""

    def __init__(self, opened: OpenSession) -> None:
        super().__init__()
        self.opened = opened


class CloseSession(Message):
    """End this open session."""

    def __init__(self, opened: OpenSession) -> None:
        super().__init__()
        self.opened = opened


class Sessions:
    """The open sessions in the order in which they were opened."""

    def __init__(self) -> None:
        self.opened: list[OpenSession] = []
        self.front: OpenSession | None = None
        """The session in front, or the last one that was there."""
        self.before: OpenSession | None = None
        """The session that was in front before it."""
        self.losses: list[str] = []
        """Sentences about spans that a collector did not get, to be told after the interface has ended."""
        self.on_call_ended: Callable[[OpenSession, Call], None] | None = None
        """Called with each request of a live session that has ended."""

    def add(self, session: SessionState, screen: Screen[Any]) -> OpenSession:
        """Add a session and put it in front."""
        opened = OpenSession(session, screen, self.opened)
        self.opened.append(opened)
        self.bring(opened)
        if session.commands is not None:
            session.commands.listen_to_ends(lambda call: self._call_ended(opened, call))
        return opened

    def bring(self, opened: OpenSession) -> None:
        """Put an open session in front."""
        if opened is not self.front:
            self.front, self.before = opened, self.front

    @property
    def other(self) -> OpenSession | None:
        """The session to switch to: the one that was in front before, else the next in order."""
        if self.before in self.opened and self.before is not self.front:
            return self.before
        if self.front not in self.opened:
            return None
        return self.opened[(self.opened.index(self.front) + 1) % len(self.opened)]

    def _call_ended(self, opened: OpenSession, call: Call) -> None:
        if self.on_call_ended is not None:
            self.on_call_ended(opened, call)

    def marks(self, besides: SessionState | None = None) -> list[list[Piece]]:
        """Return the sign, name and number of waiting questions of each session, for the first line."""
        marks: list[list[Piece]] = []
        for opened in self.opened:
            if opened.session is besides:
                continue
            mark: list[Piece] = [opened.sign, " ", (ellipsis(opened.name, _NAME, signs_now().cut), "normal")]
            if opened.waits:
                mark.append((f" {opened.waits}", "ask"))
            marks.append(mark)
        return marks

    async def close(self, opened: OpenSession) -> None:
        """Close a session; its screen must be gone."""
        if opened not in self.opened:
            return
        self.opened.remove(opened)
        if self.front is opened:
            self.front = self.opened[-1] if self.opened else None
        session = opened.session
        if session.commands is not None:
            session.commands.listen_to_ends(None)
            await session.commands.close()
        session.journal.release()
        if opened.stream is not None:
            report = await asyncio.to_thread(opened.stream.finish)
            if report.lost:
                self.losses.append(f"{opened.name}: {report.lost}")

    async def close_all(self) -> None:
        """Close all sessions at the same time. Raises the first error after all are closed."""
        outcomes = await asyncio.gather(*map(self.close, list(self.opened)), return_exceptions=True)
        for error in outcomes:
            if isinstance(error, BaseException):
                raise error

    def in_flight(self) -> list[Call]:
        """Return the unanswered calls that the user sent, of all sessions."""
        return [call for opened in self.opened for call in calls_in_flight(opened.session)]


def _time(seconds: float) -> str:
    if seconds < 60:
        return f"{int(seconds)} s"
    return f"{int(seconds // 60)} min" if seconds < 3600 else f"{int(seconds // 3600)} h"


def calls_in_flight(session: SessionState) -> list[Call]:
    """Return the unanswered calls that the user sent, of one session."""
    calls = session.commands.calls_in_flight() if session.commands is not None else []
    return [call for call in calls if call.method in USER_REQUESTS]


def is_down(session: SessionState) -> bool:
    """Whether a live session has no connection, and makes none by itself."""
    return session.commands is not None and session.phase in ("failed", "lost")


def is_lost(session: SessionState) -> bool:
    """Whether the header of a live session says that its connection is gone: also after one lost request."""
    return is_down(session) or (session.commands is not None and session.exchange_lost)


def offers(session: SessionState, tab: Tab) -> bool:
    """Whether the server has something for a tab, or may have it."""
    if tab.id == "tasks":
        return bool(session.tasks.items) or offers_tasks(session)
    return not tab.extension or declared_settings(session.server, tab.extension) is not None


def offers_tasks(session: SessionState) -> bool:
    """Whether the server declares that it may make tasks."""
    return session.server.known and session.tasks.offered
