"""The listener of a run, and the judge of its messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from inspector.calls.collection import Flow
    from inspector.calls.results import FlowResult, StepResult
    from inspector.journal.journal import Journal


class FlowProgress:
    """Is told how a run goes on; this one ignores it. Each method returns at once."""

    def flow_began(self, flow: Flow) -> None:
        """A flow begins."""

    def step_began(self, flow: Flow, number: int, row: int) -> None:
        """A step begins; `row` is that of `each`, from 1, else 0."""

    def answer_compared(self, flow: Flow, number: int, size: int) -> None:
        """The answer of a step has come, and is so large (`size` bytes) that comparing it takes time."""

    def step_ended(self, flow: Flow, result: StepResult) -> None:
        """A step is over, or will not be run."""

    def flow_ended(self, result: FlowResult) -> None:
        """A flow is over."""


class EventJudge(Protocol):
    """Attaches findings to the events of a journal: `inspector.check.judge.judge.Judge`."""

    journal: Journal
    judged: int
    """The number of the last event that was judged."""

    def run_to(self, last: int) -> None:
        """Judge everything up to an event."""


JudgeOf = Callable[["Journal"], EventJudge]
