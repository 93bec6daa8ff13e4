"""Runs flows: one step after the other on an open session. The interface, the command line, the library and pytest use
the same code; what differs is who opens the session.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from inspector.calls import models
from inspector.calls.models import StepModel
from inspector.flows.progress import EventJudge, FlowProgress
from inspector.flows.reports.text import failure_text
from inspector.flows.results import FlowOutcome, FlowResult, StepResult
from inspector.flows.step_run import FlowContext, StepRun, loss_of

if TYPE_CHECKING:
    from inspector.calls.collection import Flow
    from inspector.calls.variables import Variables
    from inspector.client.session import Session

_LIST_CHANGED = "/list_changed"
INTERRUPTED = "The run was interrupted."


async def run_flow(
    flow: Flow,
    session: Session,
    variables: Variables,
    progress: FlowProgress | None = None,
    *,
    only: Collection[int] | None = None,
    update: bool = False,
    bail: bool = False,
    dry: bool = False,
    findings: EventJudge | None = None,
) -> FlowResult:
    """Run a flow on an open session, and judge it.

    `only` are the numbers of the steps to run; `update` writes the files of `same_as`; `bail` stops at the first step
    that fails; `dry` checks names and arguments and sends no call. `findings` judges the messages; without it, rules
    of the specification are not looked at. A step that
    fails raises nothing; `asyncio.CancelledError` ends the run.
    """
    progress = progress or FlowProgress()
    context = FlowContext(flow, session, variables, progress, update, bail, dry, findings)
    run = FlowRun(context, only=only)
    progress.flow_began(flow)
    try:
        await run.run()
    finally:
        result = run.result()
        progress.flow_ended(result)
    return result


class FlowRun:
    """One flow while it runs. `result` tells at any time what is known."""

    def __init__(
        self, context: FlowContext, *, only: Collection[int] | None = None, steps: list[StepResult] | None = None
    ) -> None:
        """`steps` are those of the flow that uses this one: results are added there."""
        self.steps = [] if steps is None else steps
        self.stopped = ""
        """Why no further step is run."""
        self.exit_code = 0
        self.error = ""
        self.seconds = 0.0
        self._context = context
        self._only = only
        self._waited = self._before_step = len(context.session.journal)
        """The newest event that a `wait` has used up, and the newest one before the latest step."""

    async def run(self) -> None:
        """Run the steps, in order."""
        began = time.monotonic()
        done = 0
        # A server may repeat a secret of its environment, a header or a login in a result.
        stop_telling = self._context.session.journal.redactor.tell(self._context.variables.secrets.add)
        try:
            if not self._context.used_by and any(
                isinstance(step, models.WaitStep) and step.wait.endswith(_LIST_CHANGED)
                for step in self._context.flow.steps
            ):
                await self._context.session.listen()
            for number, step in enumerate(self._context.flow.steps, 1):
                if self._only is None or number in self._only:
                    await self._step(number, step)
                done = number
        except asyncio.CancelledError:
            self.stopped = self.error = INTERRUPTED
            self.exit_code = 130
            for number, step in enumerate(self._context.flow.steps[done:], done + 1):
                if (self._only is None or number in self._only) and not self._is_told(number):
                    self._add(self._not_run(number, step, INTERRUPTED))
            raise
        finally:
            stop_telling()
            self.seconds = time.monotonic() - began

    def _is_told(self, number: int) -> bool:
        used_by = self._context.used_by
        path = self._context.flow.path if used_by else None
        return any((each.number, each.path, each.parent) == (number, path, used_by) for each in self.steps)

    def result(self) -> FlowResult:
        """Return the result of the flow so far."""
        mask = self._context.variables.secrets.mask
        outcomes = {step.outcome for step in self.steps}
        outcome: FlowOutcome = "passed"
        if "failed" in outcomes or self.exit_code in (3, 4, 5):
            outcome = "failed"
        elif self.exit_code == 130 or (outcomes and outcomes <= {"not_run"}):
            outcome = "not_run"
        elif outcomes and outcomes <= {"skipped"}:
            outcome = "skipped"
        journal = self._context.session.journal
        made = FlowResult(
            self._context.flow.path,
            self._context.flow.name,
            target=mask(self._context.session.target.describe()),
            outcome=outcome,
            steps=tuple(self.steps),
            seconds=self.seconds,
            recording=journal.path,
            error=mask(self.error),
            exit_code=self.exit_code or (5 if outcome == "failed" else 0),
            display_path=self._context.flow.display_path,
        )
        return with_failure(made)

    def _add(self, result: StepResult, at: int | None = None) -> None:
        self.steps.insert(len(self.steps) if at is None else at, result)
        if not self._context.used_by:
            self._context.progress.step_ended(self._context.flow, result)

    def _not_run(self, number: int, step: StepModel, reason: str, row: int = 0) -> StepResult:
        return StepRun(self._context, number, step, row).made(outcome="not_run", error=reason)

    async def _step(self, number: int, step: StepModel) -> None:
        context, variables = self._context, self._context.variables
        if step.skip:
            self._add(StepRun(context, number, step).made(outcome="skipped", error=step.skip))
            return
        if self.stopped:
            self._add(self._not_run(number, step, self.stopped))
            return
        for at, row in enumerate(getattr(step, "each", []) or [None], 1):
            row_number = 0 if row is None else at
            if self.stopped:
                self._add(self._not_run(number, step, self.stopped, row_number))
                continue
            context.progress.step_began(context.flow, number, row_number)
            first = len(self.steps)
            variables.row = {}
            try:
                variables.row = variables.insert(row) if row is not None else {}
                self._check_values(number)
                if isinstance(step, models.UseStep):
                    result = await self._use(number, step, row_number)
                else:
                    result = await self._run_step(StepRun(context, number, step, row_number))
            except KeyError as error:
                reason = f"The variable {error.args[0]} has no value: the step that captures it did not."
                result = self._not_run(number, step, reason, row_number)
            except asyncio.CancelledError:
                self._add(self._not_run(number, step, INTERRUPTED, row_number))
                raise
            finally:
                variables.row = {}
            self._add(result, first)  # A step with `use` stands before the steps that it runs.
            if result.outcome == "failed" and context.bail and not self.stopped:
                self.stopped = f"Step {number} failed, and --bail stops there."

    def _check_values(self, number: int) -> None:
        """Raise KeyError for a variable of a step that has no value: such a step sends nothing."""
        if self._context.dry:
            return
        for place, names in self._context.flow.inserted[number - 1]:
            for name in names if place[0] != "each" else ():
                self._context.variables.value(name)

    async def _run_step(self, step: StepRun) -> StepResult:
        if self._context.dry:
            return await step.check()
        before, self._before_step = self._before_step, len(self._context.session.journal)
        result = await step.run(max(before, self._waited))
        if isinstance(step.step, models.WaitStep):
            self._waited = result.answer or self._waited
        if step.lost and not self.stopped:
            self.stopped = self.error = loss_of(self._context.session)
            self.exit_code = 4
        return result

    async def _use(self, number: int, step: models.UseStep, row: int) -> StepResult:
        used, variables = self._context.flow.used[number], self._context.variables
        inner_variables = variables.for_used(used, variables.insert(step.vars) | variables.row)
        context = replace(self._context, flow=used, variables=inner_variables, used_by=number)
        inner = FlowRun(context, steps=self.steps)
        first = len(self.steps)
        await inner.run()
        failed = [each for each in self.steps[first:] if each.outcome in ("failed", "not_run")]
        self.stopped = self.stopped or inner.stopped
        self.exit_code = self.exit_code or inner.exit_code
        self.error = self.error or inner.error
        said = f"Step {failed[0].number} of {step.use} {failed[0].outcome.replace('_', ' ')}." if failed else ""
        outcome = "failed" if failed else "passed"
        return StepRun(self._context, number, step, row).made(outcome=outcome, seconds=inner.seconds, error=said)


def with_failure(result: FlowResult) -> FlowResult:
    """The result with the text about its failures."""
    return replace(result, failure=failure_text(result)) if result.outcome == "failed" else result
