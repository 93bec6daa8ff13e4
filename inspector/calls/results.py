"""Results of saved calls: a run has flows, a flow has steps, a step has expectations.

Every text in a result is masked when the result is made: no secret of an environment, of a target or of a capture is
in it. All surfaces (command line, reports, interface, library, pytest) read these classes and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from inspector.calls.models import StepModel, verb_of
from inspector.text import repr_of, safe

if TYPE_CHECKING:
    from inspector.calls.collection import Flow
    from inspector.calls.variables import Secrets

FlowOutcome = Literal["passed", "failed", "skipped", "not_run"]
OUTCOMES: tuple[FlowOutcome, ...] = ("passed", "failed", "skipped", "not_run")


@dataclass(frozen=True, slots=True)
class ExpectationResult:
    """One expectation of a step, and whether it holds."""

    text: str
    """The expectation as one reads it: `within 800 ms`, `$.structuredContent.status is "new"`."""
    ok: bool
    path: str = ""
    """The place in the result that it is about; empty for one about the whole step."""
    expected: str = ""
    """JSON text, or a phrase such as `matches "order"`. At most a few thousand characters."""
    found: str = ""
    """JSON text or a phrase; shortened where the value is large."""
    note: str = ""
    """One sentence that explains the failure, or lists the differences."""
    at: tuple[int, int] = (0, 0)
    """Line and column of the expectation, or of the argument at fault; those of the step for a default check."""

    @property
    def line(self) -> int:
        """The line of the file, from 1; 0 if unknown."""
        return self.at[0]

    @property
    def column(self) -> int:
        """The column in this line, from 1; 0 if unknown."""
        return self.at[1]

    def masked(self, mask: Callable[[str], str]) -> ExpectationResult:
        """The result without secrets."""
        return replace(
            self,
            text=mask(self.text),
            expected=mask(self.expected),
            found=mask(self.found),
            note=mask(self.note),
        )

    def as_json(self) -> dict[str, Any]:
        """The members of this object in the document of `--json`."""
        members: dict[str, Any] = {"text": self.text, "ok": self.ok, "line": self.line, "column": self.column}
        more = {"json_path": self.path, "expected": self.expected, "found": self.found, "note": self.note}
        return members | {name: value for name, value in more.items() if value}


@dataclass(frozen=True, slots=True)
class StepResult:
    """One step that ran or did not, or one row of its `each`."""

    number: int
    """From 1, as written in the file."""
    row: int = 0
    """The row of `each`, from 1; 0 for a step without `each`."""
    name: str = ""
    """The step's `name`; else its label."""
    label: str = ""
    """What the step does: `call create-order`, `read order://4711`, `wait 2 s`."""
    line: int = 0
    outcome: FlowOutcome = "not_run"
    seconds: float = 0.0
    """From sent to answer, without the time that a person took; of all tries of a `repeat`."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """What was sent, with variables inserted and secrets masked."""
    captured: dict[str, Any] = field(default_factory=dict)
    """Variable → value; secret values are masked."""
    expectations: tuple[ExpectationResult, ...] = ()
    error: str = ""
    """Why the step failed without an expectation (the connection, a capture), or was skipped or not run."""
    request: int = 0
    """The number of the request in the recording; 0 where nothing was sent."""
    answer: int = 0
    """The number of the response in the recording; 0 where there is none."""
    command: str = ""
    """Of a step that failed: the command line that repeats the call, quoted for the shell."""
    tries: int = 1
    """How often it was sent: more than once with `repeat`."""
    parent: int = 0
    """Of a step of a flow that `use` runs: the number of the step that has the `use`; else 0."""
    path: Path | None = None
    """The file that has the step, where it is not the file of the flow (`use`)."""

    def masked(self, secrets: Secrets) -> StepResult:
        """The result without secrets."""
        if not secrets.known:
            return self
        return replace(
            self,
            name=secrets.mask(self.name),
            label=secrets.mask(self.label),
            error=secrets.mask(self.error),
            command=secrets.mask(self.command),
            arguments=secrets.mask_value(self.arguments),
            captured=secrets.mask_value(self.captured),
            expectations=tuple(expectation.masked(secrets.mask) for expectation in self.expectations),
        )

    @property
    def failures(self) -> list[ExpectationResult]:
        """The expectations that do not hold."""
        return [expectation for expectation in self.expectations if not expectation.ok]

    def __repr__(self) -> str:
        return repr_of(self, self.name, self.outcome)

    def as_json(self) -> dict[str, Any]:
        """This step in the document of `--json`."""
        members: dict[str, Any] = {
            "number": self.number,
            "name": self.name,
            "label": self.label,
            "line": self.line,
            "outcome": self.outcome,
            "seconds": round(self.seconds, 6),
        }
        if self.row:
            members["row"] = self.row
        if self.parent:
            members["parent"] = self.parent
        if self.path is not None:
            members["path"] = str(self.path)
        if self.tries > 1:
            members["tries"] = self.tries
        for name in ("arguments", "captured", "request", "answer", "command"):
            if value := getattr(self, name):
                members[name] = value
        if self.error:
            members["problem"] = self.error
        members["expectations"] = [expectation.as_json() for expectation in self.expectations]
        return members


@dataclass(frozen=True, slots=True)
class FlowResult:
    """One flow that ran or did not."""

    path: Path
    name: str
    target: str = ""
    """The server as it was opened, without secrets; empty where none was."""
    outcome: FlowOutcome = "not_run"
    steps: tuple[StepResult, ...] = ()
    seconds: float = 0.0
    recording: Path | None = None
    error: str = ""
    """Why the flow did not run or did not end: no connection, a login, an interrupt."""
    exit_code: int = 0
    """The exit code that this flow alone gives: 0, 3 login, 4 no connection, 5 failed."""
    display_path: str = ""
    """The path as it is printed, relative to the working directory where it lies below it."""
    failure: str = ""
    """The failures, as text for a person; empty unless the flow failed."""

    def __repr__(self) -> str:
        return repr_of(self, self.display_path or self.path, self.outcome, self.error)

    @property
    def failed_steps(self) -> list[StepResult]:
        """The steps that failed."""
        return [step for step in self.steps if step.outcome == "failed"]

    def counts(self) -> dict[FlowOutcome, int]:
        """How many steps had which outcome."""
        counts = Counter(step.outcome for step in self.steps)
        return {outcome: counts[outcome] for outcome in OUTCOMES}

    def as_json(self) -> dict[str, Any]:
        """This flow in the document of `--json`."""
        return {
            "path": self.display_path or str(self.path),
            "name": self.name,
            "target": self.target,
            "outcome": self.outcome,
            "seconds": round(self.seconds, 6),
            "recording": str(self.recording) if self.recording is not None else None,
            "problem": self.error or None,
            "steps": [step.as_json() for step in self.steps],
        }


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run."""

    flows: tuple[FlowResult, ...]
    seconds: float = 0.0
    interrupted: bool = False
    """The run was ended by the user: flows and steps that did not run are `not_run`."""
    dry: bool = False
    """No call was sent: `--dry-run`."""
    seed: int | None = None
    interrupted_with: int = 130
    """The exit code if it was interrupted."""

    def counts(self) -> dict[str, dict[FlowOutcome, int]]:
        """How many `flows` and `steps` had which outcome."""
        flows = Counter(flow.outcome for flow in self.flows)
        steps = Counter(step.outcome for flow in self.flows for step in flow.steps)
        return {
            "flows": {outcome: flows[outcome] for outcome in OUTCOMES},
            "steps": {outcome: steps[outcome] for outcome in OUTCOMES},
        }

    @property
    def exit_code(self) -> int:
        """0 all hold; 5 an expectation failed; 4 no connection; 3 login; interrupted: 128 and the signal."""
        if self.interrupted:
            return self.interrupted_with
        codes = {flow.exit_code for flow in self.flows}
        return next((code for code in (3, 4, 5) if code in codes), max(codes, default=0))

    def as_json(self) -> dict[str, Any]:
        """The document of `inspector run --json`."""
        return {
            "format": "mcp-run",
            "version": 1,
            "complete": not self.interrupted,
            "dry_run": self.dry,
            "seed": self.seed,
            "exit_code": self.exit_code,
            "seconds": round(self.seconds, 6),
            "counts": self.counts(),
            "flows": [flow.as_json() for flow in self.flows],
        }


def step_label(step: StepModel) -> str:
    """Return what a step does, as it stands in the file: `call create-order`."""
    verb = verb_of(step)
    return safe(f"{verb} {getattr(step, verb)}", 200)


def not_run(flow: Flow, reason: str, numbers: Collection[int] | None = None) -> FlowResult:
    """The result of a flow of which no step was run."""
    steps = tuple(
        StepResult(
            number,
            0,
            step.name or step_label(step),
            step_label(step),
            flow.line_of_step(number),
            outcome="skipped" if step.skip else "not_run",
            error=step.skip or reason,
        )
        for number, step in enumerate(flow.steps, 1)
        if numbers is None or number in numbers
    )
    return FlowResult(flow.path, flow.name, steps=steps, error=reason, display_path=flow.display_path)
