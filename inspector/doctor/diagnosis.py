"""The doctor's result: steps as data, the cause in one sentence, and the fix. Nothing here is printed.

All texts may contain a server's text: show them only through `inspector.text.safe`. Secrets are already removed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal

from inspector.config.command_lines import CommandLine
from inspector.doctor.privacy import Privacy
from inspector.hints import Hint
from inspector.text import repr_of

if TYPE_CHECKING:
    from inspector.journal.journal import Journal

DoctorVerdict = Literal["ok", "warn", "failed", "info", "skipped"]
DoctorOutcome = Literal["connects", "authorization", "trust", "fails", "opens", "starts"]

EXIT_CODES: dict[DoctorOutcome, int] = {
    "connects": 0,
    "opens": 0,
    "starts": 0,
    "authorization": 3,
    "trust": 3,
    "fails": 4,
}
_MAX_LENGTH = 2000
_MAX_DETAILS = 40


class Weight(IntEnum):
    """How directly a sentence names the cause. Of several with one weight, the first step's is used."""

    SYMPTOM = 1
    """A visible symptom: an exit code, or no output."""
    LIKELY = 2
    """The usual reason of a symptom."""
    SEEN = 3
    """A fault that was seen in this run, which a likely reason such as an old version does not hide."""
    PROOF = 4
    """The proven cause."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A fix: a sentence, a command to run, or both; `folder` is where to run it."""

    text: str = ""
    command: str = ""
    folder: str = ""

    @property
    def hint(self) -> Hint:
        """The sentence as data, for the terminal or the interface to render."""
        return Hint(self.text)

    def as_json(self) -> dict[str, str]:
        """Return the parts that are set."""
        parts = (("text", self.hint.command_line), ("command", self.command), ("folder", self.folder))
        return {name: value for name, value in parts if value}


NO_FIX = Fix()


@dataclass(frozen=True, slots=True)
class DoctorStep:
    """One step of the connection. `seconds` is its duration, None if that is not relevant."""

    name: str
    verdict: DoctorVerdict
    text: str
    details: tuple[str, ...] = ()
    seconds: float | None = None
    fix: Fix = NO_FIX

    def as_json(self) -> dict[str, Any]:
        """Return the step for `--json`."""
        seconds = None if self.seconds is None else round(self.seconds, 6)
        body: dict[str, Any] = {"name": self.name, "verdict": self.verdict, "text": self.text, "seconds": seconds}
        return body | {"details": list(self.details), "fix": self.fix.as_json() or None}


@dataclass(frozen=True, slots=True)
class FailureCause:
    """The cause of the failure, in one sentence."""

    text: str
    weight: Weight
    fix: Fix = NO_FIX


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The complete diagnosis. `target` describes the target, `kind` is stdio, http or recording."""

    target: str
    kind: str
    outcome: DoctorOutcome
    cause: str
    fix: Fix
    steps: tuple[DoctorStep, ...]
    last_words: tuple[str, ...] = ()
    """The last lines of the server's stderr."""
    seconds: float = 0.0
    recording: str = ""
    unusable: bool = False
    """Whether a recording cannot be read."""

    def __repr__(self) -> str:
        return repr_of(self, self.target, self.outcome, self.cause)

    @property
    def exit_code(self) -> int:
        """The exit code of the command."""
        return 2 if self.unusable else EXIT_CODES[self.outcome]

    def as_json(self) -> dict[str, Any]:
        """Return the document of `--json`."""
        return {
            "exit_code": self.exit_code,
            "target": self.target,
            "kind": self.kind,
            "outcome": self.outcome,
            "cause": self.cause,
            "fix": self.fix.as_json() or None,
            "steps": [step.as_json() for step in self.steps],
            "stderr": list(self.last_words),
            "seconds": round(self.seconds, 3),
            "recording": self.recording or None,
        }


StepCallback = Callable[[DoctorStep], object]
"""Called with each step when it is known."""


@dataclass(slots=True)
class StepCollector:
    """Collects steps and causes. Secrets are removed from everything that is added."""

    privacy: Privacy
    line: CommandLine = field(default_factory=CommandLine)
    """The command line that opens the target; a fix repeats it with a change."""
    journal: Journal | None = None
    """Where each step is recorded as a note."""
    on_step: StepCallback = lambda _step: None
    added: list[DoctorStep] = field(default_factory=list)
    causes: list[FailureCause] = field(default_factory=list)
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
        """Add a step; with `cause`, a sentence that may name the cause of the failure."""
        fix = self._private(fix)
        private_details = tuple(self.privacy(detail)[:_MAX_LENGTH] for detail in list(details)[:_MAX_DETAILS])
        step = DoctorStep(name, verdict, self.privacy(text)[:_MAX_LENGTH], private_details, seconds, fix)
        self.added.append(step)
        if cause:
            self.blame(cause, weight, fix)
        if self.journal is not None:
            self.journal.record_note(f"{name}: {step.text}", doctor=step.as_json())
        self.on_step(step)

    def blame(self, cause: str, weight: Weight, fix: Fix = NO_FIX) -> None:
        """Add a sentence that may name the cause of the failure."""
        self.causes.append(FailureCause(self.privacy(cause)[:_MAX_LENGTH], weight, self._private(fix)))

    def _private(self, fix: Fix) -> Fix:
        return (
            Fix(fix.hint.mapped(self.privacy), self.privacy(fix.command), self.privacy(fix.folder))
            if fix != NO_FIX
            else fix
        )

    def cause(self) -> FailureCause | None:
        """Return the cause with the highest weight, the first of several."""
        return max(self.causes, key=lambda cause: cause.weight, default=None)


class Stopwatch:
    """Measures the duration of a step: `seconds` since its creation."""

    __slots__ = ("_began",)

    def __init__(self) -> None:
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since its creation."""
        return time.perf_counter() - self._began


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Time limits in seconds. The session has those of its own options, as in every other command."""

    others: float = 55.0
    """For everything except the session."""
    answer: float = 10.0
    """For the response to a request of the doctor's own."""
    name: float = 5.0
    """For the resolution of a name."""
    port: float = 4.0
    """For a connection to a port, and for a TLS handshake."""
    version: float = 5.0
    """For a program to report its version."""
    framing: float = 3.0
    """For a silent server to respond to another framing."""
    paths: float = 12.0
    """For trying the usual paths."""
    login: float = 12.0
    """For the discovery of the authorization server."""
