"""The saved calls of a session: flows and environments as they were read, and the results of runs. Draws nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from inspector.calls.collection import Collection, Flow
from inspector.calls.environments import Environment, in_effect
from inspector.calls.progress import FlowProgress
from inspector.calls.recipients import CredentialCheck
from inspector.calls.results import FlowOutcome, FlowResult, StepResult
from inspector.calls.variables import Variables, check
from inspector.calls.yaml_text import CallsError, display_path
from inspector.client.session_state import SessionState
from inspector.config.secret_values import MASK
from inspector.config.targets import HttpTarget, RecordingTarget, StdioTarget
from inspector.config.trust import Exposure, TrustAnswer
from inspector.errors import InspectorError, TrustNeeded
from inspector.journal.filters.completion import quoted
from inspector.reasons import os_reason
from inspector.text import size
from inspector.tui.advice import error_text
from inspector.tui.calls.drafts import names_server
from inspector.tui.calls.last_runs import (
    FilesState,
    digest,
    files_state,
    keep_environment_in_use,
    keep_last_runs,
    read_environment_in_use,
    read_last_runs,
    step_now,
)
from inspector.tui.calls.steps import PlainStep

if TYPE_CHECKING:
    from inspector.calls.progress import EventJudge

FOLDER = "calls"
"""The folder of the working directory that holds the collection, unless the settings name another."""


@dataclass
class NewestRun:
    """The newest run of a flow, and of its steps. Some steps may have run alone later."""

    when: float = 0.0
    """Seconds since the epoch; 0: it did not run."""
    seconds: float = 0.0
    outcome: FlowOutcome = "not_run"
    error: str = ""
    turned: str = ""
    """How the outcome differs from that before a restart of the server; empty where it does not."""
    steps: dict[int, list[StepResult]] = field(default_factory=dict)
    """Results by the number of the step in the file: one, or one for each row of `each`."""
    nested: dict[int, list[StepResult]] = field(default_factory=dict)
    """Results of the steps of another flow, by the number of the step that uses it."""
    captured: dict[str, Any] = field(default_factory=dict)
    filter: str = ""
    """The filter that leaves the messages of the run; empty for a run of another session."""
    first: int = 0
    last: int = 0
    """The first and the last event of the run in the journal of the session; 0 for a run of another session."""
    passed_at: dict[int, float] = field(default_factory=dict)
    """When each step passed last, in seconds since the epoch."""
    digest: str = ""
    """Identifies the flow as it was when it ran."""
    outdated: bool = False
    """The flow has changed since: nothing is known of its steps as they are now."""

    def outcome_of(self, number: int) -> FlowOutcome:
        """Return the outcome of a step: the worst of its rows."""
        return worst(result.outcome for result in self.steps.get(number, ()))

    @property
    def worst_step(self) -> int:
        """The number of the first step that failed, else of the last one that ran; 0 if none did."""
        failed = [number for number in self.steps if self.outcome_of(number) == "failed"]
        return failed[0] if failed else max(self.steps, default=0)

    def message_of(self, number: int) -> int:
        """Return the event that shows a step: the answer of its first failed row, else the last; or 0."""
        results = self.steps.get(number, []) if self.first else []
        chosen = [result for result in results if result.outcome == "failed"] or results[-1:]
        return (chosen[0].answer or chosen[0].request) if chosen else 0

    def seconds_of(self, number: int) -> float:
        """Return how long a step took, all its rows together."""
        return sum(result.seconds for result in self.steps.get(number, ()))


def worst(outcomes: Iterable[FlowOutcome]) -> FlowOutcome:
    """Return the outcome of several results: failed if one failed, passed if one passed."""
    distinct = set(outcomes)
    order: tuple[FlowOutcome, ...] = ("failed", "passed", "skipped")
    return next((outcome for outcome in order if outcome in distinct), "not_run")


@dataclass(frozen=True)
class Running:
    """The step that runs now; `number` is 0 before the first."""

    flow: Flow
    number: int = 0
    row: int = 0
    comparing: int = 0
    """The size in bytes of a large answer that is compared with the expectations; 0 before it has come."""

    @property
    def state(self) -> str:
        """`running`, or `comparing 40 MB`."""
        return f"comparing {size(self.comparing)}" if self.comparing else "running"


class SavedCalls:
    """The collection of a folder and its runs on the open session.

    `listeners` are called whenever there is something else to show. `read` reads files: call it in a thread.
    """

    def __init__(self, session: SessionState, folder: Path) -> None:
        self.session = session
        self.folder = folder
        self.listeners: list[Callable[[], None]] = []
        self.collection: Collection | None = None
        self.problem = ""
        """Why the folder could not be read at all."""
        self._reading = Lock()
        self._files: FilesState = {}
        """The files when they were read."""
        self._digests: dict[Path, str] = {}
        self.environment = ""
        self.runs: dict[Path, NewestRun] = {}
        self.before: dict[Path, NewestRun] = {}
        """The runs before the newest ones."""
        self.running: Running | None = None
        self.findings: EventJudge | None = None
        """What judges the messages of a run by the rules of the specification."""
        self.watched: Callable[[], bool] = lambda: False
        """Whether a change of a file restarts the server."""
        self.blanked: Callable[[], None] = lambda: None
        """Called when recorded events have changed because a secret was overwritten."""
        self.ask: Callable[[Exposure], Awaitable[TrustAnswer]] = _refuse
        """Asks the user about an environment that is not the user's own."""
        self._answers: dict[str, TrustAnswer] = {}
        """By fingerprint of what was asked about, the answer in this session."""
        self.pinned: set[Path] = set()
        """The flows that run again after each restart of a watched server."""
        self._secrets: set[str] = set()
        self._counts: dict[str, int] = {}
        """How often each flow ran in this session."""
        self.changes: dict[Path, dict[int, list[str]]] = {}
        """What the newest run after a restart changed, by flow and step."""

    def note_change(self) -> None:
        """There is something else to show."""
        for listener in self.listeners:
            listener()

    @property
    def flows(self) -> Sequence[Flow]:
        """The flows, in the order of their paths."""
        return self.collection.flows if self.collection is not None else ()

    @property
    def errors(self) -> Sequence[CallsError]:
        """The errors in files of the folder."""
        return self.collection.errors if self.collection is not None else ()

    @property
    def environments(self) -> Mapping[str, Environment]:
        """The environments by name."""
        return self.collection.environments if self.collection is not None else {}

    def path_text(self, path: Path) -> str:
        """Return a path of the collection as it is shown: relative to the working directory where it lies below it."""
        return display_path(path)

    def read_if_changed(self) -> bool:
        """Read the files again if one has changed since they were read. Returns whether that was so."""
        if files_state(self.folder) == self._files:
            return False
        self.read()
        return True

    def read(self) -> None:
        """Read the files again. What came of the runs of a flow stays while the file has the flow."""
        with self._reading:
            self._read()

    def _read(self) -> None:
        self.problem = ""
        self._files = files_state(self.folder)
        recalls = self.collection is None
        if recalls:
            self._recall()
        try:
            present = self.folder.is_dir()
            collection = Collection.read([self.folder], strict=False) if present else None
        except (InspectorError, OSError) as error:
            self.problem = error.message if isinstance(error, InspectorError) else os_reason(error)
            collection = None
        self._digests = {flow.path: digest(flow) for flow in collection.flows} if collection is not None else {}
        self.collection = collection
        if recalls and not self.environment and (name := read_environment_in_use(self.folder)) in self.environments:
            self.environment = name

    def use_environment(self, name: str) -> None:
        """Use the variables of an environment from now on, and in later sessions; `""` for those of the flows alone."""
        self.environment = name
        keep_environment_in_use(self.folder, name)
        self.note_change()

    def _recall(self) -> None:
        """Take in what is remembered of runs in earlier sessions."""
        for path_text, (when, seconds, outcome, steps, of) in read_last_runs(self.folder).items():
            run = NewestRun(when, seconds, outcome, digest=of)
            for number, (step_outcome, took, passed) in steps.items():
                run.steps[number] = [StepResult(number, outcome=step_outcome, seconds=took)]
                if passed:
                    run.passed_at[number] = passed
            self.runs.setdefault(Path(path_text).absolute(), run)

    def _keep(self, flow: Flow, run: NewestRun) -> None:
        steps = {
            number: (run.outcome_of(number), run.seconds_of(number), run.passed_at.get(number, 0.0))
            for number in run.steps
        }
        kept = {self.path_text(flow.path): (run.when, run.seconds, run.outcome, steps, run.digest)}
        keep_last_runs(self.folder, kept)

    def flow(self, path: Path) -> Flow | None:
        """Return the flow of a file."""
        return next((flow for flow in self.flows if flow.path == path), None)

    def run_of(self, path: Path) -> NewestRun | None:
        """Return the newest run of a flow as it may be shown. Of a flow that has changed since, no outcome."""
        run = self.runs.get(path)
        if run is None or run.digest == self._digests.get(path, run.digest):
            return run
        unknown = NewestRun(run.when, captured=run.captured, filter=run.filter, outdated=True)
        return replace(unknown, first=run.first, last=run.last)

    def other_server(self, flow: Flow) -> str:
        """Return the server that a flow names, where that is not the server of this session; else an empty text."""
        named, target = flow.model.server, self.session.target
        known = not named or "{{" in named or isinstance(target, RecordingTarget)
        return "" if known or names_server(named, target) else named

    def flows_to_run(self) -> list[Flow]:
        """Return the flows that “run all” means: those of this server, or all of them where each names another one."""
        return [flow for flow in self.flows if not self.other_server(flow)] or list(self.flows)

    def steps(self, flow: Flow) -> list[PlainStep]:
        """Return the steps of a flow with the keys of the file."""
        return [flow.raw_step(number) for number in range(1, len(flow.steps) + 1)]

    @property
    def _in_use(self) -> list[Environment]:
        chosen = self.environments.get(self.environment)
        return [chosen] if chosen is not None else []

    def plain_values(self, flow: Flow | None) -> dict[str, Any]:
        """Return the variables that are not secret, by name."""
        values, secret = in_effect(self._in_use, {})
        merged = {**(flow.model.vars if flow is not None else {}), **values}
        return {name: value for name, value in merged.items() if name not in secret}

    def secrets(self) -> list[str]:
        """Return the secret values that are known: those of earlier runs, and those that the environment may read."""
        return sorted({*self._secrets, *self.named_secrets()})

    def named_secrets(self) -> dict[str, str]:
        """By secret value that the environment may read, its variable.

        A keyring is not asked: it may want the user's consent.
        """
        names: dict[str, str] = {}
        for name, environment in in_effect(self._in_use, {})[1].items():
            with suppress(InspectorError):
                if environment.reference(name).kind != "keyring":
                    names[environment.read(name)] = name
        return names

    def values(self, flow: Flow | None) -> dict[str, Any]:
        """Return the variables that a step sees before it runs, as they are written: secrets are references."""
        variables: dict[str, Any] = dict(flow.model.vars) if flow is not None else {}
        for environment in self._in_use:
            variables.update(environment.values)
            variables.update(environment.references)
        return variables

    # Running

    async def run(self, chosen: Sequence[Flow] | None = None, only: int = 0) -> str:
        """Run flows, or all of this server, one after the other; of one flow, `only` the step of this number.

        The files are read first, because they may have changed since they were shown. Returns why nothing ran.
        """
        if self.running is not None or self.session.commands is None:
            return ""
        await asyncio.to_thread(self.read)
        self.note_change()
        flows = self.flows_to_run() if chosen is None else [now for one in chosen if (now := self.flow(one.path))]
        if only and flows and chosen is not None:
            [before], [now] = chosen, flows
            only = step_now(before, only, now)
            if not only:
                return f"{self.path_text(now.path)} has changed: choose the step again."
        try:
            self._answers = {print: answer for print, answer in self._answers.items() if answer != "no"}
            for flow in flows:
                await self._run(flow, only, flows)
        finally:
            self.running = None
            self.note_change()
        return ""

    async def _allow(self, flows: Sequence[Flow]) -> None:
        """Ask before the environment gets secrets of the user's, if its file is not the user's own.

        Raises `TrustNeeded` where the user does not allow it, and `CallsError` for a variable that is not set.
        """
        target = cast("StdioTarget | HttpTarget", self.session.target)
        check = CredentialCheck(lambda *_: target, lambda exposure: self._answers.get(exposure.fingerprint, "no"))
        servers = dict.fromkeys(flows, "")
        try:
            check(servers, self._in_use, {}, named=True)
        except TrustNeeded as error:
            if error.exposure.fingerprint in self._answers:
                raise
            self._answers[error.exposure.fingerprint] = await self.ask(error.exposure)
            check(servers, self._in_use, {}, named=True)

    async def _run(self, flow: Flow, only: int, flows: Sequence[Flow]) -> None:
        commands = self.session.commands
        assert commands is not None
        from inspector.calls.runner import run_flow

        before = self.runs.get(flow.path)
        if before is not None:
            self.before[flow.path] = before
        now = await asyncio.to_thread(digest, flow)
        is_same = before is not None and before.digest == now
        run = NewestRun(time.time(), passed_at=dict(before.passed_at) if before and is_same else {}, digest=now)
        if only and before is not None:
            # A step alone sees what the others captured.
            run.captured = dict(before.captured)
        if only and before is not None and is_same:
            # It changes nothing of what is known of them.
            run.steps = {**before.steps}
            run.nested = {number: steps for number, steps in before.nested.items() if number != only}
            run.steps.pop(only, None)
        journal = self.session.journal
        path_text = self.path_text(flow.path)
        self._counts[path_text] = count = self._counts.get(path_text, 0) + 1
        run.filter = f"run:{quoted(path_text if count == 1 else f'{path_text}#{count}')}"
        run.first = journal.record_note(f"run {path_text}", run=path_text)
        self.runs[flow.path] = run
        self.running = Running(flow)
        self.note_change()
        variables: Variables | None = None
        stops: list[Callable[[], None]] = []
        blanking: list[asyncio.Task[None]] = []
        try:
            await self._allow(flows)
            variables = self._variables(flow, run if only else None)
            if not only:
                check(flow, [name for environment in self._in_use for name in environment.names])
            # Before the first byte is sent, so that no secret is recorded or shown.
            stops.append(variables.secrets.tell(journal.redactor.add))
            # A server may have told a token, on stderr for example, before its answer shows that it is one.
            stops.append(variables.secrets.tell(lambda secret: self._blank_soon(secret, blanking), new=True))
            await run_flow(
                flow,
                commands,
                variables,
                _Progress(self, run),
                only=[only] if only else None,
                findings=self.findings,
            )
        except InspectorError as error:
            run.error, run.outcome = error_text(error), "failed"
        finally:
            run.last = journal.record_note(f"ran {path_text}: {run.outcome.replace('_', ' ')}", run_ended=path_text)
            for stop in stops:
                stop()
            await asyncio.gather(*blanking)
            if variables is not None:
                self._secrets |= variables.secrets.known
            await asyncio.to_thread(self._keep, flow, run)

    def _blank_soon(self, secret: str, tasks: list[asyncio.Task[None]]) -> None:
        tasks.append(asyncio.get_running_loop().create_task(self._blank(secret)))

    async def _blank(self, secret: str) -> None:
        """Overwrite a secret where it is recorded already, and have the screen drawn without it."""
        journal = self.session.journal
        journal.flush()
        if await asyncio.to_thread(journal.blank, [secret]):
            self.blanked()

    def _variables(self, flow: Flow, captured: NewestRun | None) -> Variables:
        made = Variables.for_flow(flow, self._in_use)
        if captured is not None:
            # A secret is masked in a result; without it the step says which variable it lacks.
            made.captured.update({name: value for name, value in captured.captured.items() if value != MASK})
        return made


async def _refuse(_: Exposure) -> TrustAnswer:
    return "no"


class _Progress(FlowProgress):
    """Takes in the results of a run as they come."""

    def __init__(self, saved: SavedCalls, run: NewestRun) -> None:
        self._saved, self._run = saved, run

    def step_began(self, flow: Flow, number: int, row: int) -> None:
        self._saved.running = Running(flow, number, row)
        self._saved.note_change()

    def answer_compared(self, flow: Flow, number: int, size: int) -> None:
        if self._saved.running is not None:
            self._saved.running = replace(self._saved.running, comparing=size)
            self._saved.note_change()

    def step_ended(self, flow: Flow, result: StepResult) -> None:
        run = self._run
        run.steps.setdefault(result.number, []).append(result)
        run.captured.update(result.captured)
        if run.outcome_of(result.number) == "passed":
            run.passed_at[result.number] = time.time()
        self._saved.note_change()

    def flow_ended(self, result: FlowResult) -> None:
        run = self._run
        alone = len(run.steps) > len({step.parent or step.number for step in result.steps})
        run.error = result.error
        run.seconds = sum(map(run.seconds_of, run.steps)) if alone else result.seconds
        run.outcome = worst(map(run.outcome_of, run.steps)) if alone else result.outcome
        for step in result.steps:
            if step.parent:
                run.nested.setdefault(step.parent, []).append(step)
