"""The result of a rerun: a comparison of each live exchange with the recorded one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from inspector.compare.values import Difference
from inspector.errors import InspectorError
from inspector.text import repr_of

RerunVerdict = Literal["same", "different", "no answer", "not sent", "not recorded", "not asked"]
"""The result of comparing a live exchange with the recorded one. `not recorded`: a new question of the server, or a
response that the recording does not have; `not asked`: a recorded question that the server did not ask.
"""


@dataclass(slots=True)
class RerunOutcome:
    """The outcome of one recorded request, or of one question of the server."""

    recorded: int
    """Its number in the recording; 0 for a new one."""
    method: str
    name: str = ""
    """The tool, prompt or resource."""
    live: int = 0
    """Its number in the new recording; 0 if it was not sent."""
    verdict: RerunVerdict = "not sent"
    differences: Sequence[Difference] = ()
    note: str = ""
    question: bool = False
    """Whether it is a question of the server."""
    seconds: float = 0.0
    """Seconds from the live request to its response; 0 without one."""

    @property
    def differs(self) -> bool:
        """Whether the live server behaved differently."""
        return self.verdict != "same" and not (self.verdict == "not recorded" and not self.question)

    def as_json(self) -> dict[str, Any]:
        """Return numbers in both recordings, method, name, verdict, differences and note, for `--json`."""
        document: dict[str, Any] = {
            "recorded": self.recorded or None,
            "live": self.live or None,
            "method": self.method,
            "name": self.name,
            "asked_by": "server" if self.question else "client",
            "verdict": self.verdict,
            "differs": self.differs,
        }
        if self.differences:
            document["differences"] = [difference.as_json() for difference in self.differences]
        return document | ({"note": self.note} if self.note else {})


@dataclass(slots=True)
class RerunReport:
    """The result of a rerun, in the order of the recording."""

    outcomes: list[RerunOutcome] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    error: InspectorError | None = None
    """Why the rerun stopped early."""

    def __repr__(self) -> str:
        return repr_of(
            self,
            *(f"{count} {verdict}" for verdict, count in Counter(outcome.verdict for outcome in self.outcomes).items()),
            self.error,
        )

    @property
    def first(self) -> RerunOutcome | None:
        """Return the first outcome that differs."""
        return next((outcome for outcome in self.outcomes if outcome.differs), None)

    @property
    def clean(self) -> bool:
        """Whether the live server behaved as recorded."""
        return self.error is None and self.first is None

    @property
    def exit_code(self) -> int:
        """The exit code of `inspector rerun`."""
        return self.error.exit_code if self.error is not None else 0 if self.clean else 5

    def as_json(self) -> dict[str, Any]:
        """Return the document of `--json`: counts by verdict, the first difference, every exchange."""
        first = self.first
        return {
            "same": self.clean,
            "exit_code": self.exit_code,
            "counts": dict(Counter(outcome.verdict for outcome in self.outcomes)),
            "first": first.as_json() if first is not None else None,
            "error": self.error.as_json() if self.error is not None else None,
            "notes": self.notes,
            "exchanges": [outcome.as_json() for outcome in self.outcomes],
        }
