"""What a check has seen, and what that means for the server."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from inspector.check.catalog import Check, Level

Seen = Literal["good", "bad", "doubtful", "remark", "nothing"]
Verdict = Literal["pass", "fail", "warn", "note", "skip"]

VERDICTS: tuple[Verdict, ...] = ("fail", "warn", "note", "skip", "pass")
"""Worst first."""
_OF_A_FAULT: dict[Level, Verdict] = {
    "must": "fail", "type": "fail", "should": "warn", "robust": "warn", "lint": "warn", "security": "warn",
    "quality": "warn", "info": "note",
}  # fmt: skip


class Skip(StrEnum):
    """Why a check was not done, where that is the same for many checks; each carries its sentence."""

    CALLS = "it calls tools: --allow-calls read-only, NAME or all allows that"
    LOGIN = "it needs a login: --auth allows it"
    INTRUSIVE = "it may do damage or take long: --intrusive allows it"
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
    return Outcome("nothing", text, skip=why if isinstance(why, Skip) else None)


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


class Origin(NamedTuple):
    """The SDK that a server is written on, where it and not the server's author is responsible for a finding."""

    sdk: str
    """Its name, and the versions that the fact holds for: `Python SDK 1.9 to 1.26`."""
    option: str = ""
    """How an author can change it on this SDK, as a sentence; empty where they cannot."""


@dataclass(frozen=True, slots=True)
class Result:
    """One check in one visit."""

    check: Check
    visited: Visited
    outcome: Outcome
    seconds: float = 0.0
    origin: Origin | None = None
    """Who is responsible where it is not the server's author."""

    @property
    def verdict(self) -> Verdict:
        """What it means for the server, by the level of the check."""
        seen = self.outcome.seen
        if seen == "bad":
            return _OF_A_FAULT[self.check.level]
        if seen == "doubtful":
            return "note" if self.check.level == "info" else "warn"
        return "pass" if seen == "good" else "note" if seen == "remark" else "skip"

    def as_json(self) -> dict[str, Any]:
        """For `--json` and the other reports."""
        check = self.check
        return {
            "id": check.id, "verdict": self.verdict, "level": check.level, "group": check.group, "mode": check.mode,
            "revision": self.visited.revision, "transport": self.visited.transport, "says": check.says,
            "seen": self.outcome.text, "evidence": list(self.outcome.evidence),
            "page": check.page, "fix": check.fix, "seconds": round(self.seconds, 4),
            "origin": "sdk" if self.origin is not None else "server",
            "sdk": self.origin.sdk if self.origin is not None else None,
            "option": (self.origin.option or None) if self.origin is not None else None,
        }  # fmt: skip
