"""The outcome of a check: what it saw, and the evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple, Protocol

Seen = Literal["good", "bad", "doubtful", "remark", "nothing"]


class Skip(StrEnum):
    """Why a check was skipped, for reasons that many checks share; each value is a sentence.

    The sentences are for the command line and the reports. The interface names its own keys (`tui/check/rows.py`).
    """

    CALLS = "needs tool calls: allow them with --allow-calls read-only, NAME or all"
    LOGIN = "needs a login: allow it with --auth"
    SKILL_FILES = "needs to read files of skills: allow it with --read-skills"
    INTRUSIVE = "may be harmful or slow: allow it with --intrusive"
    FOREIGN_TOKEN = "needs a token for another server: set --foreign-token-env"
    DELIVERIES = "needs an address for deliveries: name one with --webhook URL --listen HOST:PORT"
    RECORDING = "needs a live server, not a recording"
    NOT_SHOWN = "the recording does not show it"
    RATE_LIMIT = "the server limits the rate of requests (status 429): raise the limit, and run the check again"
    UNREAD = "the server sent a message that is too big to be judged"
    NO_SESSION = "the session could not be opened at this revision"
    NOT_RUN = "it could not be run"


PREVENTED = frozenset((Skip.RATE_LIMIT, Skip.UNREAD, Skip.NO_SESSION, Skip.NOT_RUN))
"""The reasons that lie in the server or in the time of the run, rather than in what the user allows."""


class Outcome(NamedTuple):
    """The outcome of a check. Made by `good`, `bad`, `doubtful`, `remark` and `skipped`."""

    seen: Seen
    text: str = ""
    """One sentence. Contains text of the server: show it only through `inspector.text.safe`."""
    evidence: tuple[int, ...] = ()
    """Event numbers in the recording of the run."""
    skip: Skip | None = None
    """The shared reason for which it was skipped, if any."""
    more: str = ""
    """The part of `text` after the sentence of `skip`."""


def good(text: str = "", *evidence: int) -> Outcome:
    """The server follows the rule."""
    return Outcome("good", text, evidence)


def bad(text: str, *evidence: int) -> Outcome:
    """The server breaks the rule."""
    return Outcome("bad", text, evidence)


def doubtful(text: str, *evidence: int) -> Outcome:
    """The server breaks the rule in one reading of the specification: a warning at most."""
    return Outcome("doubtful", text, evidence)


def remark(text: str, *evidence: int) -> Outcome:
    """Worth knowing, but not a fault."""
    return Outcome("remark", text, evidence)


def skipped(reason: str, more: str = "") -> Outcome:
    """The check could not decide: `reason` is a sentence, or a `Skip` with details in `more`."""
    text = f"{reason}: {more}" if more else str(reason)
    return Outcome("nothing", text, skip=reason, more=more) if isinstance(reason, Skip) else Outcome("nothing", text)


class Response(Protocol):
    """A response of the server, with its evidence."""

    @property
    def events(self) -> tuple[int, ...]:
        """Event numbers in the recording of the run."""


def expect(
    response: Response, holds: object, wrong: str, fault: Callable[..., Outcome] = bad, *, text: str = ""
) -> Outcome:
    """`good` with `text` if `holds` is true of a response, else `fault` with the sentence `wrong`."""
    return good(text, *response.events) if holds else fault(wrong, *response.events)


@dataclass(frozen=True, slots=True)
class Visited:
    """One checked revision over one transport."""

    revision: str
    transport: str
    first: int = 0
    """Its first event in the recording."""
    last: int = 0
    """Its last event."""
    problem: str = ""
    """Why it was not checked, or not completely."""

    @property
    def name(self) -> str:
        """`2025-11-25 over stdio`."""
        return f"{self.revision} over {self.transport}"


def events_named(numbers: Sequence[int]) -> str:
    """Return the numbers of events as evidence: `event 50`, `events 32, 33`; empty without any."""
    return f"event{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}" if numbers else ""
