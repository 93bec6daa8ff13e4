"""Runs one step of a flow on an open session, and judges it."""

from __future__ import annotations

import asyncio
import os
import re
import threading
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from inspector.calls import models
from inspector.calls.expectations import Observed, judge, seconds_of
from inspector.calls.models import Expect, StepModel, given
from inspector.calls.observation import Observation, last_line, last_words, values_at
from inspector.calls.progress import EventJudge, FlowProgress
from inspector.calls.reports import failure_text
from inspector.calls.results import ExpectationResult, FlowOutcome, FlowResult, StepResult, step_label
from inspector.calls.step_requests import headers_of, repeat, request_of, with_meta
from inspector.config.command_lines import line_of
from inspector.config.foreign_files import nearest
from inspector.errors import TargetError
from inspector.hints import FOR_SOME_CLIENTS
from inspector.journal.format import Dir
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.text import safe

if TYPE_CHECKING:
    from inspector.calls.collection import Flow
    from inspector.calls.variables import Variables
    from inspector.client.session import Session

_LOOK_EVERY = 0.02
"""Seconds between two looks for a notification that is waited for."""
LARGE = 256 * 1024
"""Bytes of an answer from which on it is judged in a thread."""


@dataclass(frozen=True, slots=True)
class FlowContext:
    """One flow and how it is run; see `run_flow`."""

    flow: Flow
    session: Session
    variables: Variables
    progress: FlowProgress
    update: bool = False
    bail: bool = False
    dry: bool = False
    findings: EventJudge | None = None
    used_by: int = 0
    """The number of the step whose `use` runs the flow; 0: it runs by itself."""


class StepRun:
    """One step, or one row of its `each`."""

    def __init__(self, context: FlowContext, number: int, step: StepModel, row: int = 0) -> None:
        self.number, self.step, self.row = number, step, row
        self.lost = False
        """Whether the connection was lost in it."""
        self._context = context
        self._flow, self._session, self._variables = context.flow, context.session, context.variables
        self._observation = Observation(context.session, context.variables, context.findings)

    async def run(self, after: int) -> StepResult:
        """Run it. A `wait` looks for notifications after event `after`."""
        step = self.step
        try:
            if isinstance(step, models.WaitStep):
                return await self._wait(step, after)
            if isinstance(step, models.NotifyStep):
                return self._notify(step)
            return await self._request(step)
        except TargetError as error:  # A header or a root with the value of a variable in it.
            return self.made(outcome="failed", error=f"{error.message}.")

    def made(self, **fields: Any) -> StepResult:
        """A result of this step, without secrets."""
        label, flow = step_label(self.step), self._flow
        path = flow.path if self._context.used_by else None
        made = StepResult(
            self.number,
            self.row,
            self.step.name or label,
            label,
            flow.line_of_step(self.number),
            path=path,
            parent=self._context.used_by,
            **fields,
        )
        return made.masked(self._variables.secrets)

    def _notify(self, step: models.NotifyStep) -> StepResult:
        params = with_meta(step, self._variables.insert(step.params), self._variables)
        began = time.monotonic()
        n = self._session.notify(
            str(self._variables.insert(step.notify)), params or None, headers=headers_of(step, self._variables)
        )
        seconds = time.monotonic() - began
        if not n:
            return self.made(outcome="failed", seconds=seconds, arguments=params, error=self._loss())
        return self.made(outcome="passed", seconds=seconds, arguments=params, request=n)

    async def _wait(self, step: models.WaitStep, after: int) -> StepResult:
        began = time.monotonic()
        if re.fullmatch(models.DURATION, step.wait):
            await asyncio.sleep(seconds_of(step.wait))
            return self.made(outcome="passed", seconds=time.monotonic() - began)
        limit = seconds_of(step.expect.within) if step.expect.within else self._session.options.timeout
        query = Query(dir=Dir.RECV, shape=Shape.NOTIFICATION, method=step.wait)
        journal = self._session.journal
        with self._observation.standing(step.answer if given(step, "answer") else None):
            while True:
                numbers = query.numbers(journal.index, after, None)
                for n in numbers:
                    message = journal.event(n).message
                    params = journal.redactor.restored(message.get("params")) if isinstance(message, dict) else None
                    observed = Observed(result=params or {}, has_result=True, seconds=time.monotonic() - began)
                    expectations = self._judged(step.expect, observed)
                    if all(expectation.ok for expectation in expectations) or not step.expect.result:
                        return self._finished(observed, expectations, {}, 0, n, self._captures(observed))
                    after = n
                left = limit - (time.monotonic() - began)
                if self._session.phase != "ready":
                    self.lost = True
                    return self.made(outcome="failed", seconds=time.monotonic() - began, error=self._loss())
                if left <= 0:
                    break
                await asyncio.sleep(min(_LOOK_EVERY, left))
        missing = ExpectationResult(
            f"a notification {step.wait}",
            False,
            expected=f"a notification {step.wait}",
            found="none came",
            note=f"Waited {limit:g} s.",
            at=self._flow.located.position(("steps", self.number - 1)),
        )
        return self.made(outcome="failed", seconds=time.monotonic() - began, expectations=(missing,))

    async def _request(self, step: StepModel) -> StepResult:
        request = cast("models.CallStep", step)  # All of them have the keys that are read here.
        await self._load_tools(step)
        repeated = request.repeat if given(request, "repeat") else None
        began = time.monotonic()
        asked = 0.0
        tries = 0
        while True:
            tries += 1
            method, params = request_of(step, self._variables)
            observed, call, n = await self._observation.exchange(request, method, params)
            asked += call.person_time
            expectations, captures = await self._judged_answer(request, observed, call.answer_n)
            passed = all(expectation.ok for expectation in expectations)
            if passed or repeated is None or self._session.phase != "ready":
                break
            left = seconds_of(repeated.for_) - (time.monotonic() - began)
            if left <= 0:
                break
            await asyncio.sleep(min(seconds_of(repeated.every), left))
        if self._session.phase != "ready":
            self.lost = True
        seconds = time.monotonic() - began - asked if tries > 1 else observed.seconds
        if not passed and method == "tools/call":
            expectations = self._with_unknown_tool(expectations, observed, str(params.get("name", "")))
        made = self._finished(observed, expectations, params, n, call.answer_n, captures, seconds=seconds, tries=tries)
        if made.outcome == "failed":  # A capture that finds nothing fails a step, too.
            command = self._command(request, method, params)
            return replace(made, command=self._variables.secrets.mask(command))
        return made

    def _finished(
        self,
        observed: Observed,
        expectations: list[ExpectationResult],
        params: dict[str, Any],
        n: int,
        answer: int,
        captures: dict[str, list[Any]],
        *,
        seconds: float | None = None,
        tries: int = 1,
    ) -> StepResult:
        captured, missing = self._capture(observed, captures)
        expectations = [*expectations, *missing]
        passed = all(expectation.ok for expectation in expectations)
        arguments = params.get("arguments") if isinstance(params.get("arguments"), dict) else params
        return self.made(
            outcome="passed" if passed else "failed",
            seconds=observed.seconds if seconds is None else seconds,
            arguments=arguments or {},
            captured=captured,
            expectations=tuple(expectations),
            request=n,
            answer=answer,
            tries=tries,
        )

    def _capture(
        self, observed: Observed, captures: dict[str, list[Any]]
    ) -> tuple[dict[str, Any], list[ExpectationResult]]:
        step = self.step
        captured: dict[str, Any] = {}
        missing: list[ExpectationResult] = []
        failed = isinstance(observed.result, dict) and observed.result.get("isError") is True
        if not observed.has_result or (failed and not given(step.expect, "tool_error")):  # type: ignore[union-attr]
            return captured, missing
        for name, written in getattr(step, "capture", {}).items():
            path, values = self._variables.insert_text(written), captures[name]
            if len(values) == 1:
                captured[name] = self._variables.captured[name] = values[0]
                if name in getattr(step, "secret", []):
                    self._variables.secrets.add(values[0])
                continue
            at = self._flow.located.position(("steps", self.number - 1, "capture", name), key=True)
            missing.append(
                ExpectationResult(
                    f"capture {name} = {path}",
                    False,
                    path=path,
                    expected="one value",
                    found="several values" if values else "nothing at this path",
                    note="Name one of them, such as $.content[0].text." if values else "",
                    at=at,
                )
            )
        return captured, missing

    def _judged(self, expect: Expect, observed: Observed, **how: Any) -> list[ExpectationResult]:
        place = ("steps", self.number - 1)
        return judge(expect, observed, self._variables, self._flow, place, update=self._context.update, **how)

    async def _judged_answer(
        self, step: models.CallStep, observed: Observed, answer: int
    ) -> tuple[list[ExpectationResult], dict[str, list[Any]]]:
        """Judge an answer, and find what the step captures of it.

        A large answer is looked at in a thread, so that the interface stays usable and the run can be stopped.
        """
        size = self._session.journal.index.size(answer) if answer else 0
        if size < LARGE:
            return self._judged(step.expect, observed), self._captures(observed)
        self._context.progress.answer_compared(self._flow, self.number, size)
        stop = threading.Event()

        def judge_answer() -> tuple[list[ExpectationResult], dict[str, list[Any]]]:
            return self._judged(step.expect, observed, stopped=stop.is_set), self._captures(observed)

        try:
            return await asyncio.to_thread(judge_answer)
        finally:
            stop.set()  # Of a run that was stopped, the thread ends at the next value.

    def _captures(self, observed: Observed) -> dict[str, list[Any]]:
        """By variable that the step captures, what its path finds: two values at most."""
        if not observed.has_result:
            return {}
        written = getattr(self.step, "capture", {})
        return {name: list(values_at(observed.result, path, 2, self._variables)) for name, path in written.items()}

    async def _load_tools(self, step: StepModel) -> None:
        """The list of tools has the schema of results, and what is repeated in the HTTP header."""
        session = self._session
        if isinstance(step, models.CallStep) and not session.catalog["tools"].pages and session.server.can("tools"):
            await session.load("tools")

    def _with_unknown_tool(
        self, expectations: list[ExpectationResult], observed: Observed, name: str
    ) -> list[ExpectationResult]:
        """Say that the server lists no tool of this name, with the nearest name, where that may be the cause."""
        listed = self._session.catalog["tools"]
        names = [item["name"] for item in listed.items if isinstance(item.get("name"), str)]
        if not names or name in names or expectations[0].ok:
            return expectations
        near = nearest(name, names)
        why = f"Did you mean “{safe(near, 80)}”?" if near else f"{FOR_SOME_CLIENTS}, such as sampling or roots."
        note = f"The server lists no tool “{safe(name, 80)}”. {why}"
        first = expectations[0]
        return [replace(first, note=f"{note} {first.note}".strip()), *expectations[1:]]

    def _command(self, step: models.CallStep, method: str, params: dict[str, Any]) -> str:
        secrets = self._variables.secrets
        answer = self._variables.insert(step.answer.model_dump(exclude_unset=True)) if given(step, "answer") else {}
        return repeat(
            method,
            secrets.mask_value(params),
            line_of(self._session.target, os.environ).opened,
            headers=secrets.mask_value(dict(headers_of(step, self._variables))),
            answer=secrets.mask_value(answer),
        )

    def _loss(self) -> str:
        """Why the step lost its connection: the reason, with the last line on stderr."""
        error = self._session.error
        words = last_words(error) if error is not None else []
        return loss_of(self._session) + (f" {last_line(words)}" if words else "")

    async def check(self) -> StepResult:
        """`--dry-run`: whether the server has what the step names, and whether the arguments match its schema."""
        from inspector.calls.dry_run import problem_of

        place = ("steps", self.number - 1)
        problem = await problem_of(
            self._session,
            self.step,
            self._variables,
            lambda *inside: self._flow.located.position((*place, *inside), key=True),
        )
        at = self._flow.located.position(place)
        result = problem or ExpectationResult("names and arguments are known", True, at=at)
        return self.made(outcome="failed" if problem else "passed", expectations=(result,))


def loss_of(session: Session) -> str:
    """Why a session lost its connection."""
    return session.error.message if session.error is not None else "The connection was lost."


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
                if (self._only is None or number in self._only) and not self._is_reported(number):
                    self._add(self._not_run(number, step, INTERRUPTED))
            raise
        finally:
            stop_telling()
            self.seconds = time.monotonic() - began

    def _is_reported(self, number: int) -> bool:
        used_by = self._context.used_by
        path = self._context.flow.path if used_by else None
        return any((step.number, step.path, step.parent) == (number, path, used_by) for step in self.steps)

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
        failed = [result for result in self.steps[first:] if result.outcome in ("failed", "not_run")]
        self.stopped = self.stopped or inner.stopped
        self.exit_code = self.exit_code or inner.exit_code
        self.error = self.error or inner.error
        problem = f"Step {failed[0].number} of {step.use} {failed[0].outcome.replace('_', ' ')}." if failed else ""
        outcome = "failed" if failed else "passed"
        return StepRun(self._context, number, step, row).made(outcome=outcome, seconds=inner.seconds, error=problem)


def with_failure(result: FlowResult) -> FlowResult:
    """The result with the text about its failures."""
    return replace(result, failure=failure_text(result)) if result.outcome == "failed" else result
