"""What a check has seen, and where it looked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple

Seen = Literal["good", "bad", "doubtful", "remark", "nothing"]


class Skip(StrEnum):
    """Why a check was not done, where that is the same for many checks; each carries its sentence.

    That is for the command line and the reports. The interface says by which key it is allowed (`tui/check/rows.py`).
    """

    CALLS = "it calls tools: --allow-calls read-only, NAME or all allows that"
    LOGIN = "it needs a login: --auth allows it"
    INTRUSIVE = "it may do damage or take long: --intrusive allows it"
    FOREIGN_TOKEN = "no token for another server was given (--foreign-token-env)"
    RECORDING = "a recording cannot be asked"
    NOT_SHOWN = "the recording does not show it"
    NO_SESSION = "there is no session at this revision"


class Outcome(NamedTuple):
    """What a check saw. Made by `good`, `bad`, `doubtful`, `remark` and `skipped`."""

    seen: Seen
    text: str = ""
    """One sentence with what was seen. Holds text of the server: show it only through `inspector.text.safe`."""
    evidence: tuple[int, ...] = ()
    """Numbers of events in the recording of the run."""
    skip: Skip | None = None
    """The kind of reason for which it was not done, if it is one of those."""
    more: str = ""
    """What `text` says after the sentence of `skip`."""


def good(text: str = "", *evidence: int) -> Outcome:
    """The server does what the check says."""
    return Outcome("good", text, evidence)


def bad(text: str, *evidence: int) -> Outcome:
    """It does not."""
    return Outcome("bad", text, evidence)


def doubtful(text: str, *evidence: int) -> Outcome:
    """It does not, in a way that a reading of the specification allows: a warning at most."""
    return Outcome("doubtful", text, evidence)


def remark(text: str, *evidence: int) -> Outcome:
    """Worth knowing, and no fault."""
    return Outcome("remark", text, evidence)


def skipped(why: str, more: str = "") -> Outcome:
    """It could not be seen, and why: a sentence, or a `Skip` with `more` about it."""
    text = f"{why}: {more}" if more else str(why)
    return Outcome("nothing", text, skip=why, more=more) if isinstance(why, Skip) else Outcome("nothing", text)


@dataclass(frozen=True, slots=True)
class Visited:
    """One revision over one transport, as it was checked."""

    revision: str
    transport: str
    first: int = 0
    """Its events in the recording, from this one …"""
    last: int = 0
    """… to this one."""
    problem: str = ""
    """Why it was not checked, or not to its end."""

    @property
    def name(self) -> str:
        """`2025-11-25 over stdio`."""
        return f"{self.revision} over {self.transport}"
