"""The verdict of an outcome, according to the class of its check."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from inspector.check.check_table import Check, CheckClass
from inspector.check.outcome import Outcome, Seen, Visited
from inspector.text import repr_of

Verdict = Literal["pass", "fail", "warn", "note", "skip"]

VERDICTS: tuple[Verdict, ...] = ("fail", "warn", "note", "skip", "pass")
"""Worst first."""
OBSERVED: tuple[Seen, ...] = ("bad", "doubtful", "remark", "good", "nothing")
"""What a check saw, worst first."""
FAULT_VERDICTS: dict[tuple[CheckClass, Seen], tuple[Verdict, Verdict]] = {
    # (by default, with --strict)
    ("breaks", "bad"): ("fail", "fail"),
    ("breaks", "doubtful"): ("warn", "warn"),
    ("rule", "bad"): ("warn", "fail"),
    ("rule", "doubtful"): ("note", "warn"),
    ("advice", "bad"): ("note", "warn"),
    ("advice", "doubtful"): ("note", "note"),
}
"""The verdict of a fault, by the class of its check. Reports, score, baseline and exit code follow from it."""
_OTHER: dict[Seen, Verdict] = {"good": "pass", "remark": "note", "nothing": "skip"}


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
    strict: bool = False
    """Judged as with `--strict`."""

    def __repr__(self) -> str:
        return repr_of(self, self.check.id, self.visited.revision, self.verdict)

    @property
    def verdict(self) -> Verdict:
        """The verdict, according to the class of the check."""
        seen = self.outcome.seen
        verdicts = FAULT_VERDICTS.get((self.check.check_class, seen))
        return _OTHER[seen] if verdicts is None else verdicts[self.strict]

    @property
    def class_name(self) -> str:
        """The class of its check; one step lower, and not counted as broken, if the fault is in doubt."""
        return f"{self.check.check_class}{' in doubt' * (self.outcome.seen == 'doubtful')}"

    @property
    def is_fault(self) -> bool:
        """Whether the server does something wrong, for certain or probably."""
        return self.outcome.seen in ("bad", "doubtful")

    def is_worse_than(self, other: Result) -> bool:
        """Whether it saw something worse than another result of the same check."""
        return OBSERVED.index(self.outcome.seen) < OBSERVED.index(other.outcome.seen)

    def as_json(self) -> dict[str, Any]:
        """For `--json` and the other reports."""
        check = self.check
        return {
            "id": check.id,
            "verdict": self.verdict,
            "class": check.check_class,
            "breaks": check.breaks or None,
            "outcome": self.outcome.seen,
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
