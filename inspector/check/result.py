"""The verdict of an outcome, according to the level of its check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from inspector.check.check_table import Check, CheckLevel
from inspector.check.outcome import Outcome, Visited

Verdict = Literal["pass", "fail", "warn", "note", "skip"]

VERDICTS: tuple[Verdict, ...] = ("fail", "warn", "note", "skip", "pass")
"""Worst first."""
_OF_A_FAULT: dict[CheckLevel, Verdict] = {
    "must": "fail",
    "type": "fail",
    "should": "warn",
    "robust": "warn",
    "lint": "warn",
    "security": "warn",
    "quality": "warn",
    "info": "note",
}


class SdkOrigin(NamedTuple):
    """The SDK that is responsible for a finding, instead of the author of the server."""

    sdk: str
    """Name and versions of the SDK: `Python SDK 1.9 to 1.26`."""
    option: str = ""
    """How an author can change it on this SDK, as a sentence; empty if that is impossible."""


@dataclass(frozen=True, slots=True)
class Result:
    """One check in one visit."""

    check: Check
    visited: Visited
    outcome: Outcome
    seconds: float = 0.0
    origin: SdkOrigin | None = None
    """The responsible SDK, if it is not the author of the server."""

    @property
    def verdict(self) -> Verdict:
        """The verdict, according to the level of the check."""
        seen = self.outcome.seen
        if seen == "bad":
            return _OF_A_FAULT[self.check.level]
        if seen == "doubtful":
            return "note" if self.check.level == "info" else "warn"
        return "pass" if seen == "good" else "note" if seen == "remark" else "skip"

    @property
    def is_fault(self) -> bool:
        """Whether the server does something wrong, for certain or probably."""
        return self.verdict in ("fail", "warn")

    def is_worse_than(self, other: Result) -> bool:
        """Whether the verdict is worse than that of another result."""
        return VERDICTS.index(self.verdict) < VERDICTS.index(other.verdict)

    def as_json(self) -> dict[str, Any]:
        """For `--json` and the other reports."""
        check = self.check
        return {
            "id": check.id,
            "verdict": self.verdict,
            "level": check.level,
            "group": check.group,
            "mode": check.mode,
            "revision": self.visited.revision,
            "transport": self.visited.transport,
            "says": check.says,
            "seen": self.outcome.text,
            "evidence": list(self.outcome.evidence),
            "page": check.page,
            "fix": check.fix,
            "seconds": round(self.seconds, 4),
            "origin": "sdk" if self.origin is not None else "server",
            "sdk": self.origin.sdk if self.origin is not None else None,
            "option": (self.origin.option or None) if self.origin is not None else None,
        }
