"""Runs flows: one step after the other on an open session. The interface, the command line, the library and pytest use
the same code; what differs is who opens the session.
"""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from inspector.calls import models
from inspector.calls.environments import in_effect
from inspector.calls.models import Answer, Expect, StepModel, given, verb_of
from inspector.calls.recipients import CredentialCheck
from inspector.calls.variables import Generators, Variables, check, names_in
from inspector.client.inbox import TOPICS, StandingAnswers
from inspector.compare.json_places import places
from inspector.config.command_lines import line_of
from inspector.config.foreign_files import nearest
from inspector.config.text_checks import checked_headers, root_uri
from inspector.errors import InspectorError, ServerError, ServerExited, TargetError, UsageError
from inspector.flows.expectations import Observed, judge, seconds_of
from inspector.flows.reports.text import failure_text
from inspector.flows.results import ExpectationResult, FlowOutcome, FlowResult, RunResult, StepResult
from inspector.flows.step_command import repeat
from inspector.journal.exchange import Exchange
from inspector.journal.format import Dir, Kind
from inspector.journal.index import State
from inspector.journal.query import Query
from inspector.log_lines import shown
from inspector.protocol.jsonrpc import Shape
from inspector.text import safe, sentences

if TYPE_CHECKING:
    from inspector.calls.collection import Collection as Calls
    from inspector.calls.collection import Flow
    from inspector.calls.environments import Environment
    from inspector.calls.variables import Secrets
    from inspector.client.engine.pending_requests import Call
    from inspector.client.session import Session
    from inspector.journal.journal import Journal

_METHODS = {topic: method for method, topic in TOPICS.items()}
_LOOK_EVERY = 0.02
"""Seconds between two looks for a notification that is waited for."""
_LIST_CHANGED = "/list_changed"
COLLECT_AFTER = 16
"""Sessions that are closed between two collections of garbage."""
LARGE = 256 * 1024
"""Bytes of an answer from which on it is judged in a thread."""
JUDGED_AT_ONCE = 1000
"""Events that are judged in one turn of the event loop."""
INTERRUPTED = "The run was interrupted."


class FlowProgress(Protocol):
    """Is told how a run goes on. Each method returns at once."""

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


class Silent:
    """A `FlowProgress` that tells nothing."""

    def flow_began(self, flow: Flow) -> None:
        pass

    def step_began(self, flow: Flow, number: int, row: int) -> None:
        pass

    def answer_compared(self, flow: Flow, number: int, size: int) -> None:
        pass

    def step_ended(self, flow: Flow, result: StepResult) -> None:
        pass

    def flow_ended(self, result: FlowResult) -> None:
        pass


class EventJudge(Protocol):
    """Attaches findings to the events of a journal: `inspector.check.judge.judge.Judge`."""

    journal: Journal
    judged: int
    """The number of the last event that was judged."""

    def run_to(self, last: int) -> None:
        """Judge everything up to an event."""


JudgeOf = Callable[["Journal"], EventJudge]


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
    run = FlowRun(
        flow, session, variables, progress or Silent(), only=only, update=update, bail=bail, dry=dry, findings=findings
    )
    run.progress.flow_began(flow)
    try:
        await run.run()
    finally:
        result = run.result()
        run.progress.flow_ended(result)
    return result


class FlowRun:
    """One flow while it runs. `result` tells at any time what is known."""

    def __init__(
        self,
        flow: Flow,
        session: Session,
        variables: Variables,
        progress: FlowProgress,
        *,
        only: Collection[int] | None = None,
        update: bool = False,
        bail: bool = False,
        dry: bool = False,
        findings: EventJudge | None = None,
        parent: tuple[FlowRun, int] | None = None,
    ) -> None:
        self.flow = flow
        self.session = session
        self.variables = variables
        self.progress = progress
        self.only = only
        self.update = update
        self.bail = bail
        self.dry = dry
        self.findings = findings
        self.steps: list[StepResult] = parent[0].steps if parent else []
        self.stopped = ""
        """Why no further step is run."""
        self.exit_code = 0
        self.error = ""
        self.seconds = 0.0
        self._parent = parent
        self._waited = len(session.journal)
        """The newest event that a `wait` has used up."""
        self._before_step = len(session.journal)

    # The flow

    async def run(self) -> None:
        """Run the steps, in order."""
        began = time.monotonic()
        done = 0
        # A server may repeat a secret of its environment, a header or a login in a result.
        stop_telling = self.session.journal.redactor.tell(self.variables.secrets.add)
        try:
            if not self._parent and any(
                isinstance(step, models.WaitStep) and step.wait.endswith(_LIST_CHANGED) for step in self.flow.steps
            ):
                await self.session.listen()
            for number, step in enumerate(self.flow.steps, 1):
                if self.only is None or number in self.only:
                    await self._step(number, step)
                done = number
        except asyncio.CancelledError:
            self.stopped = self.error = INTERRUPTED
            self.exit_code = 130
            for number, step in enumerate(self.flow.steps[done:], done + 1):
                if (self.only is None or number in self.only) and not self._is_told(number):
                    self._add(self._not_run(number, step, INTERRUPTED))
            raise
        finally:
            stop_telling()
            self.seconds = time.monotonic() - began

    def _is_told(self, number: int) -> bool:
        path, parent = self._where()
        return any(each.number == number and each.path == path and each.parent == parent for each in self.steps)

    def result(self) -> FlowResult:
        """Return the result of the flow so far."""
        outcomes = {step.outcome for step in self.steps}
        outcome: FlowOutcome = "passed"
        if "failed" in outcomes or self.exit_code in (3, 4, 5):
            outcome = "failed"
        elif self.exit_code == 130 or (outcomes and outcomes <= {"not_run"}):
            outcome = "not_run"
        elif outcomes and outcomes <= {"skipped"}:
            outcome = "skipped"
        journal = self.session.journal
        made = FlowResult(
            self.flow.path,
            self.flow.name,
            target=self._masked(self.session.target.describe()),
            outcome=outcome,
            steps=tuple(self.steps),
            seconds=self.seconds,
            recording=journal.path,
            error=self._masked(self.error),
            exit_code=self.exit_code or (5 if outcome == "failed" else 0),
            display_path=self.flow.display_path,
        )
        return with_failure(made)

    def _add(self, result: StepResult, at: int | None = None) -> None:
        self.steps.insert(len(self.steps) if at is None else at, result)
        if self._parent is None:
            self.progress.step_ended(self.flow, result)

    def _where(self) -> tuple[Path | None, int]:
        """The file and the number of the `use` step that results of this run carry."""
        return (self.flow.path, self._parent[1]) if self._parent else (None, 0)

    def _made(self, number: int, step: StepModel, row: int = 0, **fields: Any) -> StepResult:
        """A result of a step, without secrets."""
        label = step_label(step)
        path, parent = self._where()
        made = StepResult(
            number, row, step.name or label, label, self.flow.line_of_step(number), path=path, parent=parent, **fields
        )
        if not self.variables.secrets.known:
            return made
        mask = self._masked
        return replace(
            made,
            name=mask(made.name),
            label=mask(made.label),
            error=mask(made.error),
            command=mask(made.command),
            arguments=self.variables.secrets.mask_value(made.arguments),
            captured=self.variables.secrets.mask_value(made.captured),
            expectations=tuple(self._masked_expectation(each) for each in made.expectations),
        )

    def _masked(self, text: str) -> str:
        return self.variables.secrets.mask(text)

    def _masked_expectation(self, each: ExpectationResult) -> ExpectationResult:
        mask = self._masked
        return replace(
            each, text=mask(each.text), expected=mask(each.expected), found=mask(each.found), note=mask(each.note)
        )

    def _not_run(self, number: int, step: StepModel, reason: str) -> StepResult:
        return self._made(number, step, outcome="not_run", error=reason)

    # One step

    async def _step(self, number: int, step: StepModel) -> None:
        if step.skip:
            self._add(self._made(number, step, outcome="skipped", error=step.skip))
            return
        if self.stopped:
            self._add(self._not_run(number, step, self.stopped))
            return
        rows = getattr(step, "each", []) or [None]
        for at, row in enumerate(rows, 1):
            row_number = 0 if row is None else at
            if self.stopped:
                self._add(self._made(number, step, row_number, outcome="not_run", error=self.stopped))
                continue
            self.progress.step_began(self.flow, number, row_number)
            first = len(self.steps)
            self.variables.row = {}
            try:
                try:
                    self.variables.row = self.variables.insert(row) if row is not None else {}
                    self._check_values(number)
                    if isinstance(step, models.UseStep):
                        result = await self._use(number, step, row_number)
                    else:
                        result = await self._run_step(number, step, row_number)
                except KeyError as error:
                    name = str(error.args[0])
                    result = self._made(
                        number,
                        step,
                        row_number,
                        outcome="not_run",
                        error=f"The variable {name} has no value: the step that captures it did not.",
                    )
                except asyncio.CancelledError:
                    self._add(self._made(number, step, row_number, outcome="not_run", error=INTERRUPTED))
                    raise
            finally:
                self.variables.row = {}
            self._add(result, first)  # A step with `use` stands before the steps that it runs.
            if result.outcome == "failed" and self.bail and not self.stopped:
                self.stopped = f"Step {number} failed, and --bail stops there."

    def _check_values(self, number: int) -> None:
        """Raise KeyError for a variable of a step that has no value: such a step sends nothing."""
        if self.dry:
            return
        for place, names in self.flow.inserted[number - 1]:
            for name in names if place[0] != "each" else ():
                self.variables.value(name)

    async def _run_step(self, number: int, step: StepModel, row: int) -> StepResult:
        if self.dry:
            return await self._check(number, step, row)
        before, self._before_step = self._before_step, len(self.session.journal)
        try:
            if isinstance(step, models.WaitStep):
                return await self._wait(number, step, row, before)
            if isinstance(step, models.NotifyStep):
                return self._notify(number, step, row)
            return await self._request(number, step, row)
        except TargetError as error:  # A header or a root with the value of a variable in it.
            return self._made(number, step, row, outcome="failed", error=f"{error.message}.")

    async def _use(self, number: int, step: models.UseStep, row: int) -> StepResult:
        used = self.flow.used[number]
        inner = FlowRun(
            used,
            self.session,
            self.variables.for_used(used, self.variables.insert(step.vars) | self.variables.row),
            self.progress,
            update=self.update,
            bail=self.bail,
            dry=self.dry,
            findings=self.findings,
            parent=(self, number),
        )
        first = len(self.steps)
        await inner.run()
        ran = self.steps[first:]
        failed = [each for each in ran if each.outcome in ("failed", "not_run")]
        self.stopped = self.stopped or inner.stopped
        self.exit_code = self.exit_code or inner.exit_code
        self.error = self.error or inner.error
        said = f"Step {failed[0].number} of {step.use} {failed[0].outcome.replace('_', ' ')}." if failed else ""
        return self._made(
            number, step, row, outcome="failed" if failed else "passed", seconds=inner.seconds, error=said
        )

    def _notify(self, number: int, step: models.NotifyStep, row: int) -> StepResult:
        params = self._params_of(step, self.variables.insert(step.params))
        began = time.monotonic()
        n = self.session.notify(str(self.variables.insert(step.notify)), params or None, headers=self._headers(step))
        seconds = time.monotonic() - began
        if not n:
            return self._made(
                number, step, row, outcome="failed", seconds=seconds, arguments=params, error=self._loss()
            )
        return self._made(number, step, row, outcome="passed", seconds=seconds, arguments=params, request=n)

    async def _wait(self, number: int, step: models.WaitStep, row: int, before: int) -> StepResult:
        began = time.monotonic()
        import re

        if re.fullmatch(models.DURATION, step.wait):
            await asyncio.sleep(seconds_of(step.wait))
            return self._made(number, step, row, outcome="passed", seconds=time.monotonic() - began)
        limit = seconds_of(step.expect.within) if step.expect.within else self.session.options.timeout
        query = Query(dir=Dir.RECV, shape=Shape.NOTIFICATION, method=step.wait)
        journal = self.session.journal
        after = max(before, self._waited)
        with self._standing(step.answer if given(step, "answer") else None):
            while True:
                numbers = query.numbers(journal.index, after, None)
                for n in numbers:
                    message = journal.event(n).message
                    params = journal.redactor.restored(message.get("params")) if isinstance(message, dict) else None
                    observed = Observed(result=params or {}, has_result=True, seconds=time.monotonic() - began)
                    expectations = self._judged(step.expect, observed, number)
                    if all(each.ok for each in expectations) or not step.expect.result:
                        self._waited = n
                        captures = self._found(step, observed)
                        return self._finished(number, step, row, observed, expectations, {}, 0, n, captures)
                    after = n
                left = limit - (time.monotonic() - began)
                if self.session.phase != "ready":
                    self._lose()
                    return self._made(
                        number, step, row, outcome="failed", seconds=time.monotonic() - began, error=self._loss()
                    )
                if left <= 0:
                    break
                await asyncio.sleep(min(_LOOK_EVERY, left))
        missing = ExpectationResult(
            f"a notification {step.wait}",
            False,
            expected=f"a notification {step.wait}",
            found="none came",
            note=f"Waited {limit:g} s.",
            at=self.flow.line_of("steps", number - 1),
        )
        return self._made(
            number, step, row, outcome="failed", seconds=time.monotonic() - began, expectations=(missing,)
        )

    async def _request(self, number: int, step: StepModel, row: int) -> StepResult:
        request = cast("models.CallStep", step)  # All of them have the keys that are read here.
        await self._load_tools(step)
        repeated = request.repeat if given(request, "repeat") else None
        began = time.monotonic()
        asked = 0.0
        tries = 0
        while True:
            tries += 1
            method, params = self._built(step)
            observed, call, n = await self._exchange(request, method, params)
            asked += call.person_time
            expectations, captures = await self._judged_answer(number, request, observed, call.answer_n)
            passed = all(each.ok for each in expectations)
            if passed or repeated is None or self.session.phase != "ready":
                break
            left = seconds_of(repeated.for_) - (time.monotonic() - began)
            if left <= 0:
                break
            await asyncio.sleep(min(seconds_of(repeated.every), left))
        if self.session.phase != "ready":
            self._lose()
        seconds = time.monotonic() - began - asked if tries > 1 else observed.seconds
        if not passed and method == "tools/call":
            expectations = self._with_unknown_tool(expectations, observed, str(params.get("name", "")))
        made = self._finished(
            number, step, row, observed, expectations, params, n, call.answer_n, captures, seconds=seconds, tries=tries
        )
        if made.outcome == "failed":  # A capture that finds nothing fails a step, too.
            return replace(made, command=self._masked(self._command(request, method, params)))
        return made

    def _finished(
        self,
        number: int,
        step: StepModel,
        row: int,
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
        captured, missing = self._capture(number, step, observed, captures)
        expectations = [*expectations, *missing]
        passed = all(each.ok for each in expectations)
        arguments = params.get("arguments") if isinstance(params.get("arguments"), dict) else params
        return self._made(
            number,
            step,
            row,
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
        self, number: int, step: StepModel, observed: Observed, captures: dict[str, list[Any]]
    ) -> tuple[dict[str, Any], list[ExpectationResult]]:
        captured: dict[str, Any] = {}
        missing: list[ExpectationResult] = []
        failed = isinstance(observed.result, dict) and observed.result.get("isError") is True
        if not observed.has_result or (failed and not given(step.expect, "tool_error")):  # type: ignore[union-attr]
            return captured, missing
        for name, written in getattr(step, "capture", {}).items():
            path, found = self.variables.insert_text(written), captures[name]
            if len(found) == 1:
                captured[name] = self.variables.captured[name] = found[0]
                if name in getattr(step, "secret", []):
                    self.variables.secrets.add(found[0])
                continue
            at = self.flow.located.position(("steps", number - 1, "capture", name), key=True)
            missing.append(
                ExpectationResult(
                    f"capture {name} = {path}",
                    False,
                    path=path,
                    expected="one value",
                    found="several values" if found else "nothing at this path",
                    note="Name one of them, such as $.content[0].text." if found else "",
                    at=at,
                )
            )
        return captured, missing

    def _judged(self, expect: Expect, observed: Observed, number: int) -> list[ExpectationResult]:
        return judge(expect, observed, self.variables, self.flow, ("steps", number - 1), update=self.update)

    async def _judged_answer(
        self, number: int, step: models.CallStep, observed: Observed, answer: int
    ) -> tuple[list[ExpectationResult], dict[str, list[Any]]]:
        """Judge an answer, and find what the step captures of it.

        A large answer is looked at in a thread, so that the interface stays usable and the run can be stopped.
        """
        size = self.session.journal.index.size(answer) if answer else 0
        if size < LARGE:
            return self._judged(step.expect, observed, number), self._found(step, observed)
        self.progress.answer_compared(self.flow, number, size)
        stop = threading.Event()

        def look() -> tuple[list[ExpectationResult], dict[str, list[Any]]]:
            place = ("steps", number - 1)
            made = judge(
                step.expect, observed, self.variables, self.flow, place, update=self.update, stopped=stop.is_set
            )
            return made, self._found(step, observed)

        try:
            return await asyncio.to_thread(look)
        finally:
            stop.set()  # Of a run that was stopped, the thread ends at the next value.

    def _found(self, step: StepModel, observed: Observed) -> dict[str, list[Any]]:
        """By variable that the step captures, what its path finds: two values at most."""
        if not observed.has_result:
            return {}
        return {name: list(self._at(observed.result, path, 2)) for name, path in getattr(step, "capture", {}).items()}

    def _at(self, value: Any, path: str, limit: int) -> Iterator[Any]:
        """The values at a path of a step; none where a variable makes it a wrong one."""
        try:
            for _, (_, found) in zip(range(limit), places(value, self.variables.insert_text(path)), strict=False):
                yield found
        except UsageError:
            return

    # Requests

    def _built(self, step: StepModel) -> tuple[str, dict[str, Any]]:
        """Method and parameters of a step, with variables inserted."""
        insert = self.variables.insert
        match step:
            case models.CallStep():
                params: dict[str, Any] = {"name": str(insert(step.call)), "arguments": insert(step.args)}
                method = "tools/call"
            case models.ReadStep():
                method, params = "resources/read", {"uri": _as_text(insert(step.read))}
            case models.PromptStep():
                arguments = {name: _as_text(insert(value)) for name, value in step.args.items()}
                params = {"name": str(insert(step.prompt)), **({"arguments": arguments} if arguments else {})}
                method = "prompts/get"
            case models.CompleteStep():
                named = str(insert(step.complete))
                ref = (
                    {"type": "ref/prompt", "name": named.removeprefix("prompt/")}
                    if named.startswith("prompt/")
                    else {"type": "ref/resource", "uri": named}
                )
                value = {"name": str(insert(step.argument)), "value": _as_text(insert(step.value))}
                method, params = "completion/complete", {"ref": ref, "argument": value}
            case models.RequestStep():
                method, params = str(insert(step.request)), insert(step.params)
            case _:
                raise AssertionError(step)
        return method, self._params_of(step, params)

    def _params_of(self, step: Any, params: dict[str, Any]) -> dict[str, Any]:
        if not step.meta:
            return params
        theirs = params.get("_meta")
        return {**params, "_meta": {**(theirs if isinstance(theirs, dict) else {}), **self.variables.insert(step.meta)}}

    def _headers(self, step: Any) -> tuple[tuple[str, str], ...]:
        return checked_headers((name, _as_text(self.variables.insert(value))) for name, value in step.headers.items())

    async def _exchange(self, step: models.CallStep, method: str, params: dict[str, Any]) -> tuple[Observed, Call, int]:
        """Send one request and observe what comes of it; also the call, and the number of its first request."""
        session = self.session
        before, known = len(session.journal), session.journal.findings.version
        observed = Observed()
        headers = self._headers(step)
        with self._standing(step.answer if given(step, "answer") else None), self._watching_secrets(step):
            try:
                call = self._send(step, method, params, headers)
                n = call.n
                if self.findings is not None and not given(step.expect, "findings"):
                    await self._judge_to(n)  # While the server works.
                result = await call.result()
                observed.result, observed.has_result = session.journal.redactor.restored(result), True
            except ServerError as error:
                observed.error = session.journal.redactor.restored(
                    {"code": error.rpc_code, "message": error.rpc_message}
                    | ({"data": error.data} if error.data is not None else {})
                )
            except InspectorError as error:
                observed.failure = error.message
                if words := last_words(error):
                    observed.why = "\n".join(("The last lines on stderr:", *words))
        observed.seconds = max(call.elapsed - call.person_time, 0.0)
        await self._observe(step, method, params, call, before, known, observed)
        return observed, call, n

    def _send(
        self, step: models.CallStep, method: str, params: dict[str, Any], headers: tuple[tuple[str, str], ...]
    ) -> Call:
        if isinstance(step, models.CallStep):
            return self.session.call_tool(
                params["name"],
                params["arguments"],
                as_task=step.task,
                anyway=True,
                meta=params.get("_meta"),
                headers=headers,
            )
        return self.session.start(method, params, headers=headers)

    async def _observe(
        self,
        step: models.CallStep,
        method: str,
        params: dict[str, Any],
        call: Call,
        before: int,
        known: int,
        observed: Observed,
    ) -> None:
        """Collect what came inside the exchange, as far as the step looks at it."""
        journal, expect = self.session.journal, step.expect
        last = call.answer_n or len(journal)
        if method == "tools/call" and observed.has_result:
            tool = self.session.catalog["tools"].get(str(params.get("name")))
            observed.output_schema = tool.get("outputSchema") if tool is not None else None
        if self.findings is not None and not given(expect, "findings"):
            observed.findings = await self._musts(call, before, last, known)
        restored = journal.redactor.restored

        def messages(numbers: Iterable[int]) -> list[Any]:
            found = (journal.event(n).message for n in numbers)
            return [restored(message) for message in found if isinstance(message, dict)]

        if given(expect, "progress"):
            observed.progress = [each.get("params") for each in messages(Exchange(journal, call.n).progress)]
        if given(expect, "log") or given(expect, "notifications"):
            came = messages(Query(dir=Dir.RECV, shape=Shape.NOTIFICATION).numbers(journal.index, before, last))
            observed.notifications = [
                {name: each[name] for name in ("method", "params") if name in each} for each in came
            ]
            observed.log = [each.get("params") for each in came if each.get("method") == "notifications/message"]
        if given(expect, "asked"):
            observed.asked = [
                {"method": _METHODS[question.topic], "params": restored(question.params)}
                for question in self.session.inbox.questions
                if before < question.n <= last
            ]

    async def _judge_to(self, last: int) -> None:
        """Judge the events up to `last`, in pieces: after a flood that takes long, and Ctrl-C must be heard."""
        assert self.findings is not None
        last = min(last, len(self.session.journal))
        while self.findings.judged < last:
            self.findings.run_to(min(self.findings.judged + JUDGED_AT_ONCE, last))
            if self.findings.judged < last:
                await asyncio.sleep(0)

    async def _musts(self, call: Call, before: int, last: int, known: int) -> list[str]:
        """The findings of level MUST on what the server sent inside an exchange; `known`: their version before it."""
        journal = self.session.journal
        index = journal.index
        await self._judge_to(last)
        if journal.findings.version == known:
            return []
        found = []
        for n in range(before + 1, last + 1):
            belongs = (
                n == call.answer_n
                or index.kind(n) is Kind.HTTP
                or call.n in (index.pair(n), index.parent(n))
                or index.state(n) in (State.DOUBLED, State.UNKNOWN)
            )
            if belongs and index.dir(n) is Dir.RECV:
                found += [f"{each.rule} {each.message}" for each in journal.findings.of(n) if each.level == "must"]
        return found

    @contextmanager
    def _standing(self, answer: Answer | None) -> Iterator[None]:
        """Have the questions of the server answered as this step says."""
        inbox = self.session.inbox
        old = inbox.standing
        if answer is not None:
            inbox.standing = standing_of(self.variables.insert(answer.model_dump(exclude_unset=True)), old)
        try:
            yield
        finally:
            inbox.standing = old

    @contextmanager
    def _watching_secrets(self, step: models.CallStep) -> Iterator[None]:
        """Learn the secrets that the answer holds before the answer is recorded."""
        wanted = [step.capture[name] for name in step.secret]
        journal = self.session.journal
        if not wanted:
            yield
            return

        def look(message: Any) -> None:
            result = message.get("result") if isinstance(message, dict) else None
            for value in (result, result.get("result") if isinstance(result, dict) else None):
                for path in wanted:
                    for found in self._at(value, path, 100):
                        self.variables.secrets.add(found)

        journal.on_arrival, old = look, journal.on_arrival
        try:
            yield
        finally:
            journal.on_arrival = old

    async def _load_tools(self, step: StepModel) -> None:
        """The list of tools has the schema of results, and what is repeated in the HTTP header."""
        session = self.session
        if isinstance(step, models.CallStep) and not session.catalog["tools"].pages and session.server.can("tools"):
            await session.load("tools")

    def _with_unknown_tool(
        self, expectations: list[ExpectationResult], observed: Observed, name: str
    ) -> list[ExpectationResult]:
        """Say that the server lists no tool of this name, with the nearest name, where that may be the cause."""
        listed = self.session.catalog["tools"]
        names = [item["name"] for item in listed.items if isinstance(item.get("name"), str)]
        if not names or name in names or expectations[0].ok:
            return expectations
        near = nearest(name, names)
        note = f"The server lists no tool “{safe(name, 80)}”." + (f" Did you mean “{safe(near, 80)}”?" if near else "")
        first = expectations[0]
        return [replace(first, note=f"{note} {first.note}".strip()), *expectations[1:]]

    def _command(self, step: models.CallStep, method: str, params: dict[str, Any]) -> str:
        secrets = self.variables.secrets
        answer = self.variables.insert(step.answer.model_dump(exclude_unset=True)) if given(step, "answer") else {}
        return repeat(
            method,
            secrets.mask_value(params),
            line_of(self.session.target, os.environ).opened,
            headers=secrets.mask_value(dict(self._headers(step))),
            answer=secrets.mask_value(answer),
        )

    def _lose(self) -> None:
        if not self.stopped:
            self.stopped = self.error = self._lost_reason()
            self.exit_code = 4

    def _lost_reason(self) -> str:
        error = self.session.error
        return error.message if error is not None else "The connection was lost."

    def _loss(self) -> str:
        """Why a step lost its connection: the reason, with the last line on stderr."""
        error = self.session.error
        words = last_words(error) if error is not None else []
        return self._lost_reason() + (f" {last_line(words)}" if words else "")

    # Without calls

    async def _check(self, number: int, step: StepModel, row: int) -> StepResult:
        """`--dry-run`: whether the server has what the step names, and whether the arguments match its schema."""
        from inspector.flows.dry_run import problem_of

        place = ("steps", number - 1)
        problem = await problem_of(
            self.session, step, self.variables, lambda *steps: self.flow.located.position((*place, *steps), key=True)
        )
        found = problem or ExpectationResult("names and arguments are known", True, at=self.flow.line_of(*place))
        return self._made(number, step, row, outcome="failed" if problem else "passed", expectations=(found,))


def last_words(error: InspectorError) -> list[str]:
    """The last lines on stderr of a server that ended; empty for another error."""
    return shown(error.stderr) if isinstance(error, ServerExited) else []


def last_line(words: Sequence[str]) -> str:
    """The sentence about the last of these lines."""
    return f"Its last line on stderr is “{words[-1]}”."


def standing_of(answer: dict[str, Any], base: StandingAnswers) -> StandingAnswers:
    """The standing answers of a step; topics that it leaves out are answered as in the session."""
    found = base
    if "elicitation" in answer:
        found = replace(found, elicitation=answer["elicitation"])
    if "sampling" in answer:
        found = replace(found, sampling=answer["sampling"])
    if "roots" in answer:
        found = replace(found, roots=tuple(map(root_uri, answer["roots"])))
    return found


def topics_answered(flow: Flow) -> set[str]:
    """Return what the steps of a flow, and of those that it uses, answer: `elicitation`, `sampling`, `roots`."""
    found: set[str] = set()
    for step in flow.steps:
        answer = getattr(step, "answer", None)
        if answer is not None:
            found |= answer.model_fields_set
    for used in flow.used.values():
        found |= topics_answered(used)
    return found


def declared(base: StandingAnswers, topics: Iterable[str]) -> StandingAnswers:
    """The standing answers of a session whose steps answer `topics`: these are declared, and declined elsewhere."""
    topics = set(topics)
    return StandingAnswers(
        sampling=base.sampling if base.sampling is not None or "sampling" not in topics else "decline",
        elicitation=base.elicitation if base.elicitation is not None or "elicitation" not in topics else "decline",
        roots=base.roots if base.roots is not None or "roots" not in topics else (),
    )


def step_label(step: StepModel) -> str:
    """Return what a step does, as it stands in the file: `call create-order`."""
    verb = verb_of(step)
    return safe(f"{verb} {getattr(step, verb)}", 200)


def select(flows: Sequence[Flow], glob: str) -> dict[Flow, set[int] | None]:
    """Return the flows that a glob names, else those with steps that it names, with their numbers.

    Raises `UsageError` where it names nothing.
    """
    whole: dict[Flow, set[int] | None] = {flow: None for flow in flows if flow.matches(glob)}
    if whole:
        return whole
    found: dict[Flow, set[int] | None] = {}
    for flow in flows:
        numbers = {
            number
            for number, step in enumerate(flow.steps, 1)
            if fnmatchcase(step.name, glob) or fnmatchcase(step_label(step), glob)
        }
        if numbers:
            found[flow] = numbers
    if not found:
        names = [name for flow in flows for name in (flow.display_path, flow.name)]
        names += [step.name or step_label(step) for flow in flows for step in flow.steps]
        near = nearest(glob, names)
        raise UsageError(
            f"No flow and no step is named “{safe(glob, 80)}”.",
            hint=f"Did you mean “{safe(near, 80)}”?" if near else "Give a path, a name or a glob of a flow or step.",
        )
    return found


def _as_text(value: Any) -> str:
    from inspector.calls.templates import text_of

    return text_of(value)


# Many flows


class OpenedSession(Protocol):
    """An open session of a run, and what belongs to it."""

    session: Session
    findings: EventJudge | None

    async def close(self, reason: str) -> None:
        """Close the session, end its recording, and take out of it what became known as a secret meanwhile."""


class SessionOpener(Protocol):
    """Opens sessions for a run."""

    async def __call__(self, flow: Flow, server: str, topics: Collection[str], secrets: Secrets) -> OpenedSession:
        """A session for this flow. `topics` are what it answers; `server` is what the flow names. Raises
        `InspectorError`.
        """


@dataclass(slots=True)
class RunOptions:
    """How a collection is run."""

    environments: Sequence[Environment] = ()
    given: dict[str, Any] | None = None
    """`--set`."""
    only: Sequence[str] = ()
    jobs: int = 1
    bail: bool = False
    update: bool = False
    dry: bool = False
    shared: bool = False
    seed: int | None = None
    environ: dict[str, str] | None = None
    server: str = ""
    """The server of all flows, instead of the one that each names."""


class CollectionRun:
    """A run of many flows. Making it checks everything that can be checked before the first byte is sent."""

    def __init__(
        self,
        flows: Sequence[Flow],
        open_session: SessionOpener,
        secrets: Secrets,
        options: RunOptions,
        progress: FlowProgress | None = None,
        check_credentials: CredentialCheck | None = None,
    ) -> None:
        """`check_credentials` is asked before a secret is read; by default a file of others gets none.

        Raises `CallsError` and other `UsageError`s for what is wrong with the files or the options, and `TrustNeeded`.
        """
        self.open_session = open_session
        self.secrets = secrets
        self.options = options
        self.progress = progress or Silent()
        self.flows = list(flows)
        self.selected = selected(self.flows, options.only)
        given = options.given or {}
        for flow in self.selected:
            check(flow, {name for environment in options.environments for name in environment.names} | set(given))
        plain, secret = in_effect(options.environments, given)
        servers = {flow: options.server or self._server_of(flow, plain, secret) for flow in self.selected}
        for flow, server in servers.items():
            if server == "":
                raise flow.error((), "The flow does not name a server.", hint="Add “server:”, or give a TARGET.")
        self.recipients = (check_credentials or CredentialCheck())(
            servers, options.environments, given, named=bool(options.server), dry=options.dry
        )
        """The servers that get credentials."""
        self.variables = {
            flow: Variables.for_flow(
                flow, options.environments, given, seed=options.seed, secrets=secrets, environ=options.environ
            )
            for flow in self.selected
        }
        self.servers = {
            flow: str(self.variables[flow].insert(flow.model.server)) if server is None else server
            for flow, server in servers.items()
        }
        self._results: dict[Flow, FlowResult] = {}
        self._opened: dict[str, asyncio.Task[OpenedSession]] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._bailed = False
        self._closed = 0
        self._seconds = 0.0
        self._began = 0.0
        self.interrupted = False

    def _server_of(self, flow: Flow, plain: Mapping[str, Any], secret: Collection[str]) -> str | None:
        """The server that a flow names; None where a secret stands in its text, which is not read yet."""
        if names_in(flow.model.server) & set(secret):
            return None
        generators = Generators(self.options.seed, flow.display_path)
        return str(Variables(flow.model.vars, plain, generators=generators).insert(flow.model.server))

    async def run(self) -> RunResult:
        """Run the flows. A flow that fails raises nothing; `asyncio.CancelledError` ends the run: see `result`."""
        self._began = time.monotonic()
        waiting = list(reversed(self.selected))

        async def work() -> None:
            while waiting:
                flow = waiting.pop()
                await self._flow(flow)

        workers = [asyncio.create_task(work()) for _ in range(min(max(self.options.jobs, 1), len(waiting) or 1))]
        try:
            await asyncio.gather(*workers)
        except BaseException as error:
            self.interrupted = isinstance(error, asyncio.CancelledError)
            for worker in workers:
                if not self.interrupted:  # Else they are cancelled already, and close their sessions.
                    worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            raise
        finally:
            await self._close_shared()
            self._seconds = time.monotonic() - self._began
        return self.result()

    async def _close_shared(self) -> None:
        for task in self._opened.values():
            if task.done() and not task.cancelled() and task.exception() is None:
                await task.result().close("interrupted" if self.interrupted else "closed")
            else:
                task.cancel()

    def result(self) -> RunResult:
        """Return the result so far; flows that did not run are `not_run`."""
        reason = INTERRUPTED if self.interrupted else "Another flow failed, and --bail stops there."
        flows = tuple(self._results.get(flow) or not_run(flow, reason, self._numbers(flow)) for flow in self.selected)
        return RunResult(flows, self._seconds, self.interrupted, self.options.dry, self.options.seed)

    def _numbers(self, flow: Flow) -> set[int] | None:
        return self.selected[flow]

    async def _flow(self, flow: Flow) -> None:
        if self._bailed:
            return
        self.progress.flow_began(flow)
        began = time.monotonic()
        opened: OpenedSession | None = None
        key = self.servers[flow]
        run: FlowRun | None = None
        result: FlowResult | None = None
        try:
            opened = await self._open(flow)
            stop_telling = self.secrets.tell(opened.session.journal.redactor.add)
            try:
                async with self._locks.setdefault(key, asyncio.Lock()) if self.options.shared else _NoLock():
                    if self._bailed:
                        return
                    run = FlowRun(
                        flow,
                        opened.session,
                        self.variables[flow],
                        self.progress,
                        only=self._numbers(flow),
                        update=self.options.update,
                        bail=self.options.bail,
                        dry=self.options.dry,
                        findings=opened.findings,
                    )
                    if (
                        self.options.shared
                    ):  # Its recording has the runs of all flows: the filter “run:” tells them apart.
                        shown = flow.display_path
                        opened.session.journal.record_note(f"run {shown}", run=shown)
                    await run.run()
            finally:
                stop_telling()
        except InspectorError as error:
            message = self.secrets.mask(sentences(error.message, error.hint.command_line))
            failed = replace(
                not_run(flow, message, self._numbers(flow)),
                outcome="failed",
                error=message,
                exit_code=error.exit_code if error.exit_code in (3, 4) else 4,
                seconds=time.monotonic() - began,
                recording=Path(error.recording) if error.recording else None,
            )
            result = with_failure(failed)
        finally:
            if opened is not None and not self.options.shared:
                self._closed += 1
                if self._closed % COLLECT_AFTER == 0:
                    gc.collect()  # A session that is over is in circles; hundreds of them would wait for the next time.
                task = asyncio.current_task()
                cancelled = task is not None and task.cancelling() > 0
                await opened.close("interrupted" if cancelled else "closed")
            if run is not None:
                result = result or run.result()
            if result is not None:
                self._results[flow] = result
                self.progress.flow_ended(result)
                if self.options.bail and result.outcome == "failed":
                    self._bailed = True

    async def _open(self, flow: Flow) -> OpenedSession:
        server = self.servers[flow]
        if not self.options.shared:
            return await self.open_session(flow, server, topics_answered(flow), self.secrets)
        if server not in self._opened:
            topics = {
                topic for other in self.selected if self.servers[other] == server for topic in topics_answered(other)
            }
            self._opened[server] = asyncio.create_task(self._open_shared(flow, server, topics))
        return await asyncio.shield(self._opened[server])

    async def _open_shared(self, flow: Flow, server: str, topics: Collection[str]) -> OpenedSession:
        return await self.open_session(flow, server, topics, self.secrets)


class _NoLock:
    async def __aenter__(self) -> None:
        return None

    async def __aexit__(self, *_: object) -> None:
        return None


def selected(flows: Sequence[Flow], globs: Sequence[str]) -> dict[Flow, set[int] | None]:
    """The flows to run, and the numbers of their steps where not all are wanted."""
    if not globs:
        return dict.fromkeys(flows)
    found: dict[Flow, set[int] | None] = {}
    for glob in globs:
        for flow, numbers in select(flows, glob).items():
            old = found.get(flow, set())
            found[flow] = None if numbers is None or old is None else old | numbers
    return {flow: found[flow] for flow in flows if flow in found}


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


def with_failure(result: FlowResult) -> FlowResult:
    """The result with the text about its failures."""
    return replace(result, failure=failure_text(result)) if result.outcome == "failed" else result


async def run_collection(
    collection: Calls,
    open_session: SessionOpener,
    secrets: Secrets,
    options: RunOptions | None = None,
    progress: FlowProgress | None = None,
) -> RunResult:
    """Check and run all flows of a collection. Raises `UsageError` before anything is sent."""
    return await CollectionRun(collection.flows, open_session, secrets, options or RunOptions(), progress).run()
