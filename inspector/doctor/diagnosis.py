"""What the doctor found: steps as data, the cause in one sentence, and the remedy. Nothing here is printed.

All texts may hold words of a server: show them only through `inspector.text.safe`. Secrets are out of them already.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal

from inspector.doctor.privacy import Privacy
from inspector.hints import Hint

if TYPE_CHECKING:
    from inspector.journal.journal import Journal

DoctorVerdict = Literal["ok", "warn", "failed", "info", "skipped"]
Outcome = Literal["connects", "authorization", "trust", "fails", "opens"]

EXIT_CODES: dict[Outcome, int] = {"connects": 0, "opens": 0, "authorization": 3, "trust": 3, "fails": 4}
_LONGEST = 2000
_MOST_DETAILS = 40


class Weight(IntEnum):
    """How near a sentence comes to the cause. Of several with one weight the first step's is taken."""

    SYMPTOM = 1
    """What can be seen of it: an exit code, a silence."""
    LIKELY = 2
    """What mostly is the reason for that."""
    PROOF = 3
    """What it certainly fails of."""


@dataclass(frozen=True, slots=True)
class Fix:
    """What mends it: a sentence, a command to type, or both; `folder` is where to type it."""

    text: str = ""
    command: str = ""
    folder: str = ""

    @property
    def hint(self) -> Hint:
        """The sentence as data, for a surface to render."""
        return Hint(self.text)

    def as_json(self) -> dict[str, str]:
        """The parts that there are."""
        parts = (("text", self.hint.command_line), ("command", self.command), ("folder", self.folder))
        return {name: value for name, value in parts if value}


NO_FIX = Fix()


@dataclass(frozen=True, slots=True)
class DoctorStep:
    """One step of the connection. `seconds` is what it took, None where that says nothing."""

    name: str
    verdict: DoctorVerdict
    text: str
    details: tuple[str, ...] = ()
    seconds: float | None = None
    fix: Fix = NO_FIX

    def as_json(self) -> dict[str, Any]:
        """The step for `--json`."""
        seconds = None if self.seconds is None else round(self.seconds, 6)
        body: dict[str, Any] = {"name": self.name, "verdict": self.verdict, "text": self.text, "seconds": seconds}
        return body | {"details": list(self.details), "fix": self.fix.as_json() or None}


@dataclass(frozen=True, slots=True)
class Cause:
    """Why it fails, in one sentence."""

    text: str
    weight: Weight
    fix: Fix = NO_FIX


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All of it. `target` is the target in words, `kind` stdio, http or recording."""

    target: str
    kind: str
    outcome: Outcome
    cause: str
    fix: Fix
    steps: tuple[DoctorStep, ...]
    last_words: tuple[str, ...] = ()
    """The last lines of the server's stderr."""
    seconds: float = 0.0
    recording: str = ""
    unusable: bool = False
    """A recording cannot be read."""

    @property
    def exit_code(self) -> int:
        """What ends the command."""
        return 2 if self.unusable else EXIT_CODES[self.outcome]

    def as_json(self) -> dict[str, Any]:
        """The document of `--json`."""
        return {
            "target": self.target, "kind": self.kind, "outcome": self.outcome, "cause": self.cause,
            "fix": self.fix.as_json() or None, "steps": [step.as_json() for step in self.steps],
            "stderr": list(self.last_words), "seconds": round(self.seconds, 3), "recording": self.recording or None,
        }  # fmt: skip


Told = Callable[[DoctorStep], object]
"""Called with each step as it is known."""


@dataclass(slots=True)
class Chart:
    """Collects the steps and the causes as they are found. Everything put on it loses its secrets first."""

    privacy: Privacy
    journal: Journal | None = None
    """Where each step is noted down."""
    told: Told = lambda _step: None
    steps: list[DoctorStep] = field(default_factory=list)
    causes: list[Cause] = field(default_factory=list)
    last_words: tuple[str, ...] = ()

    def add(
        self,
        name: str,
        verdict: DoctorVerdict,
        text: str,
        *,
        details: Iterable[str] = (),
        seconds: float | None = None,
        fix: Fix = NO_FIX,
        cause: str = "",
        weight: Weight = Weight.PROOF,
    ) -> None:
        """Put a step on the chart; with `cause`, a sentence that may be the answer to it all."""
        fix = self._private(fix)
        found = tuple(self.privacy(detail)[:_LONGEST] for detail in list(details)[:_MOST_DETAILS])
        step = DoctorStep(name, verdict, self.privacy(text)[:_LONGEST], found, seconds, fix)
        self.steps.append(step)
        if cause:
            self.blame(cause, weight, fix)
        if self.journal is not None:
            self.journal.record_note(f"{name}: {step.text}", doctor=step.as_json())
        self.told(step)

    def blame(self, cause: str, weight: Weight, fix: Fix = NO_FIX) -> None:
        """A sentence that may be the answer to it all."""
        self.causes.append(Cause(self.privacy(cause)[:_LONGEST], weight, self._private(fix)))

    def _private(self, fix: Fix) -> Fix:
        return (
            Fix(fix.hint.mapped(self.privacy), self.privacy(fix.command), self.privacy(fix.folder))
            if fix != NO_FIX
            else fix
        )

    def cause(self) -> Cause | None:
        """The heaviest of the causes, the first of several."""
        return max(self.causes, key=lambda cause: cause.weight, default=None)


class Watch:
    """Measures a step: `Watch().seconds`."""

    __slots__ = ("_began",)

    def __init__(self) -> None:
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since it was made."""
        return time.perf_counter() - self._began


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds that may be spent."""

    run: float = 55.0
    """For everything, what is closed at the end excepted."""
    open: float = 30.0
    """For the connection to be made and the era to be found out."""
    answer: float = 10.0
    """For one answer."""
    name: float = 5.0
    """For a name to be resolved."""
    port: float = 4.0
    """For a port to take a connection, and for a TLS handshake."""
    version: float = 5.0
    """For a program to say its version."""
    framing: float = 3.0
    """For a silent server to answer what is framed in another way."""
    paths: float = 12.0
    """For the usual paths to be tried."""
    login: float = 12.0
    """For the authorization server to be found."""
