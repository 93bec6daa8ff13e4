"""What came of a rerun: how each exchange with the live server compares with the recorded one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from inspector.compare.values import Difference
from inspector.errors import InspectorError

RerunVerdict = Literal["same", "different", "no answer", "not sent", "not recorded", "not asked"]
"""How a live exchange compares with the recorded one. `not recorded`: the server asked something new, or answers now
what it did not answer then; `not asked`: it did not ask what it asked then."""


@dataclass(slots=True)
class RerunOutcome:
    """What became of one recorded request, or of one question of the server."""

    recorded: int
    """Its number in the recording; 0 for what is new."""
    method: str
    name: str = ""
    """The tool, prompt or resource that it was about."""
    live: int = 0
    """Its number in the new recording; 0 where it was not sent."""
    verdict: RerunVerdict = "not sent"
    differences: Sequence[Difference] = ()
    note: str = ""
    question: bool = False
    """The server asked it."""
    seconds: float = 0.0
    """From the live request to its answer; 0 where there was none."""

    @property
    def differs(self) -> bool:
        """Whether the live server did something else."""
        return self.verdict != "same" and not (self.verdict == "not recorded" and not self.question)

    def as_json(self) -> dict[str, Any]:
        """For `--json`: numbers in both recordings, what it was about, the verdict, the differences, the note."""
        shown: dict[str, Any] = {
            "recorded": self.recorded or None, "live": self.live or None, "method": self.method, "name": self.name,
            "asked_by": "server" if self.question else "client", "verdict": self.verdict, "differs": self.differs,
        }  # fmt: skip
        if self.differences:
            shown["differences"] = [difference.as_json() for difference in self.differences]
        return shown | ({"note": self.note} if self.note else {})


@dataclass(slots=True)
class RerunReport:
    """What came of a rerun, in the order of the recording."""

    outcomes: list[RerunOutcome] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    error: InspectorError | None = None
    """Why it ended before its end."""

    @property
    def first(self) -> RerunOutcome | None:
        """The first one that differs."""
        return next((outcome for outcome in self.outcomes if outcome.differs), None)

    @property
    def clean(self) -> bool:
        """Whether the live server did what the recorded one did."""
        return self.error is None and self.first is None

    def as_json(self) -> dict[str, Any]:
        """The result as one document: whether it is clean, counts by verdict, the first difference, every exchange."""
        first = self.first
        return {
            "clean": self.clean,
            "counts": dict(Counter(outcome.verdict for outcome in self.outcomes)),
            "first": first.as_json() if first is not None else None,
            "error": self.error.as_json() if self.error is not None else None,
            "notes": self.notes,
            "exchanges": [outcome.as_json() for outcome in self.outcomes],
        }
