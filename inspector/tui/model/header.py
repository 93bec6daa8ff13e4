"""Says what the header of a session shows: its state, and what needs the user. Everything else is on the Server tab."""

from __future__ import annotations

from typing import NamedTuple

from inspector.text import count, quantity

MAX_NOTICE = 40
"""Characters of a notice in the header; the Server tab has a longer one."""

_PHASES = {
    "new": ("starting", "progress"),
    "connecting": ("connecting", "progress"),
    "ready": ("connected", "received"),
    "failed": ("not connected", "error"),
    "lost": ("connection lost", "error"),
    "closed": ("closed", "muted"),
}


class HeaderNotice(NamedTuple):
    """A matter for the user: in words, in fewer words, and its role."""

    text: str
    short: str
    role: str


class HeaderFacts(NamedTuple):
    """The facts about a session on which its header depends."""

    phase: str = "ready"
    instead: tuple[str, str] | None = None
    """The state of another thing than the connection, with its role."""
    exchange_lost: bool = False
    """A request lost its connection, and no new one was made."""
    unauthorized: bool = False
    """The connection failed for lack of a login."""
    unchecked: bool = False
    """The certificate of the server is not checked."""
    host: str = ""
    """Why the host is not the one that it looks like."""
    incomplete: str = ""
    """Why the recording is incomplete."""
    questions: int = 0
    """Open questions of the server."""
    declined: int = 0
    """Questions that were declined without the user."""
    findings: int = 0
    notices: tuple[str, ...] = ()
    """What is unusual about the recording."""


def state(facts: HeaderFacts) -> tuple[str, str]:
    """Return the state of the session, and its role."""
    if facts.instead is not None:
        return facts.instead
    if facts.phase == "failed" and facts.unauthorized:
        return ("not authorized", "error")
    if facts.phase == "ready" and facts.exchange_lost:
        return _PHASES["lost"]
    if facts.phase == "ready" and facts.unchecked:
        return ("certificate not checked", "error")
    return _PHASES[facts.phase]


def needs(facts: HeaderFacts) -> list[HeaderNotice]:
    """Return what needs the user, the most urgent first."""
    notices = []
    if facts.questions:
        notices.append(HeaderNotice(quantity(facts.questions, "question"), count(facts.questions), "ask"))
    if facts.declined:
        declined = f"{quantity(facts.declined, 'question')} declined unseen"
        notices.append(HeaderNotice(declined, f"{count(facts.declined)} declined", "finding"))
    if facts.host:
        notices.append(HeaderNotice(facts.host, "host", "finding"))
    if facts.incomplete:
        notices.append(HeaderNotice(facts.incomplete, facts.incomplete, "error"))
    if facts.notices:
        notice_count = f"{quantity(len(facts.notices), 'notice')}: Server tab"
        long = facts.notices[0] if len(facts.notices) == 1 and len(facts.notices[0]) <= MAX_NOTICE else notice_count
        notices.append(HeaderNotice(long, quantity(len(facts.notices), "notice"), "finding"))
    if facts.findings:
        notices.append(
            HeaderNotice(f"{quantity(facts.findings, 'finding')} in Messages", count(facts.findings), "finding")
        )
    return notices
