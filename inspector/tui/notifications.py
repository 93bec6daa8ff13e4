"""Notices about sessions out of sight, with a bell or a desktop notification by the setting.

A session is out of sight behind another screen, or in front while the terminal says that it has no focus. Terminals
that do not say it count as focused. Each event costs O(1): the notices are made later, from the state at that time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Literal

from textual.app import App

from inspector.client.engine.pending_requests import Call
from inspector.client.inbox import Question
from inspector.config.settings import AttentionMode
from inspector.text import duration, quantity, safe
from inspector.tui.sessions import USER_REQUESTS, OpenSession, Sessions

Signal = Literal["", "bell", "osc9", "osc777"]

LONG_CALL = 10.0
"""Seconds above which the end of a call is told."""
SOON = 0.05
"""Seconds in which events of the same cause are told together."""
SHOWN = 5.0
"""Seconds that a notice is shown, and the least time between two of the same session."""
RING_APART = 1.0
"""The least seconds between two rings."""
_NAME = 40
_MAX_COUNT = 200
"""Characters of a desktop notification."""


def signal_for(mode: AttentionMode, environ: Mapping[str, str]) -> Signal:
    """Return how to ring. Over ssh only if `mode` begins with `always-`.

    The terminal is recognized by the variables that it sets. One that has no known desktop notification, and a
    terminal multiplexer, which would drop the sequence, get the bell.
    """
    always = mode.startswith("always-")
    if mode == "off" or (not always and ("SSH_CONNECTION" in environ or "SSH_TTY" in environ)):
        return ""
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    if mode.endswith("bell") or "TMUX" in environ or term.startswith(("screen", "tmux")):
        return "bell"
    if term.startswith(("foot", "rxvt")) or "VTE_VERSION" in environ:
        return "osc777"
    known = program in ("iTerm.app", "WezTerm", "ghostty") or term in ("xterm-kitty", "xterm-ghostty")
    return "osc9" if known or "WT_SESSION" in environ or "ConEmuPID" in environ else "bell"


def signal_sequence(signal: Signal, text: str) -> str:
    """Return what to write to the terminal. The text may be untrusted: control characters are escaped."""
    if not signal:
        return ""
    if signal == "bell":
        return "\a"
    safe_text = safe(text, _MAX_COUNT)
    # ST, not BEL, ends the sequence: a terminal that does not know it then stays silent.
    return (
        f"\x1b]9;Inspector: {safe_text}\x1b\\" if signal == "osc9" else f"\x1b]777;notify;Inspector;{safe_text}\x1b\\"
    )


@dataclass
class _ReportedNews:
    """The news of a session that the user has, and the calls that ended since then."""

    questions: set[Question] = field(default_factory=set)
    logins: int = 0
    failed_at: float = 0.0
    at: float = -SHOWN
    """When the last notice was shown, on the monotonic clock."""
    ended: int = 0
    failed: int = 0
    last: str = ""
    """A sentence about the last ended call."""


class SessionNotifier:
    """Watches the open sessions of a window. `write` sends text to the terminal."""

    def __init__(
        self,
        app: App[Any],
        sessions: Sessions,
        mode: AttentionMode,
        environ: Mapping[str, str],
        write: Callable[[str], None],
    ) -> None:
        self._app = app
        self._sessions = sessions
        self._signal = signal_for(mode, environ)
        self._write = write
        self._reported: dict[OpenSession, _ReportedNews] = {}
        self._rang = -RING_APART
        self._scheduled = False
        sessions.on_call_ended = self._call_ended

    def look_soon(self) -> None:
        """Tell what is new in the sessions. It may be called any number of times."""
        self._schedule(SOON)

    def _schedule(self, seconds: float) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._app.set_timer(seconds, self._report_news)

    def _is_seen(self, opened: OpenSession) -> bool:
        return self._app.app_focus and opened.screen in self._app.screen_stack

    def _call_ended(self, opened: OpenSession, call: Call) -> None:
        if call.background or call.method not in USER_REQUESTS or call.fate in ("cancelled", "lost"):
            return  # the notice of a lost connection stands for its calls
        failed = call.fate != "done" or (isinstance(call.value, dict) and call.value.get("isError") is True)
        if (not failed and call.elapsed <= LONG_CALL) or self._is_seen(opened):
            return
        reported = self._reported.setdefault(opened, _ReportedNews())
        reported.ended += 1
        reported.failed += failed
        outcome = "failed" if failed else "finished"
        reported.last = f"{safe(call.name or call.method, _NAME)} {outcome} after {duration(call.elapsed * 1_000_000)}"
        self.look_soon()

    def _report_news(self) -> None:
        self._scheduled = False
        now, sentences, later = monotonic(), [], 0.0
        self._reported = {opened: self._reported.get(opened) or _ReportedNews() for opened in self._sessions.opened}
        for opened, reported in self._reported.items():
            parts, failure = _news(opened, reported)
            wait = reported.at + SHOWN - now
            if parts and wait > 0 and not self._is_seen(opened):
                later = min(later or wait, wait)
                continue
            self._reported[opened] = _known(opened, reported.at)
            if parts and not self._is_seen(opened):
                self._reported[opened].at = now
                sentence = f"{safe(opened.name, _NAME)}: {', '.join(parts)}"
                sentences.append(sentence)
                self._app.notify(sentence, severity="warning" if failure else "information", timeout=SHOWN)
        if sentences and now - self._rang >= RING_APART:
            self._rang = now
            self._write(signal_sequence(self._signal, "; ".join(sentences)))
        if later:
            self._schedule(later)


def _news(opened: OpenSession, reported: _ReportedNews) -> tuple[list[str], bool]:
    """Return what the user does not know yet, and whether some of it is a failure."""
    session, parts, failure = opened.session, [], False
    if session.commands is None:
        return [], False
    questions = sum(question not in reported.questions for question in session.inbox.open())
    if questions:
        parts.append(quantity(questions, "new question"))
    if len(opened.dialogs) > reported.logins:
        parts.append("login")
    if session.phase in ("failed", "lost") and session.phase_since != reported.failed_at:
        parts.append("connection lost" if session.phase == "lost" else "connection failed")
        failure = True
    if reported.ended == 1:
        parts.append(reported.last)
    elif reported.ended:
        parts.append(f"{quantity(reported.ended, 'call')} ended, {reported.failed} failed")
    return parts, failure or reported.failed > 0


def _known(opened: OpenSession, at: float) -> _ReportedNews:
    session = opened.session
    failed_at = session.phase_since if session.phase in ("failed", "lost") else 0.0
    return _ReportedNews(set(session.inbox.open()), len(opened.dialogs), failed_at, at)
