"""Runs many flows, each on a session of its own or on a shared one, and opens these sessions."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspector.calls.environments import in_effect
from inspector.calls.observation import last_line, last_words
from inspector.calls.progress import EventJudge, FlowProgress, JudgeOf
from inspector.calls.recipients import CredentialCheck
from inspector.calls.results import FlowResult, RunResult, not_run, step_label
from inspector.calls.runner import INTERRUPTED, FlowContext, FlowRun, with_failure
from inspector.calls.variables import Generators, Variables, check, names_in
from inspector.calls.yaml_text import CallsError
from inspector.client.inbox import StandingAnswers
from inspector.client.new_recording import new_journal
from inspector.client.session import Session
from inspector.config.command_lines import CommandLine, line_of
from inspector.config.foreign_files import nearest
from inspector.config.output_files import cannot_write, check_free, create_beside
from inspector.config.paths import RECORDING_SUFFIX, make_private
from inspector.errors import ConnectionProblem, InspectorError, ServerExited, UsageError
from inspector.hints import Hint
from inspector.journal.redaction import Redactor
from inspector.text import file_stem, safe, sentences
from inspector.transports.withheld import variables_hint

if TYPE_CHECKING:
    from inspector.calls.collection import Flow
    from inspector.calls.environments import Environment
    from inspector.calls.variables import Secrets
    from inspector.client.options import Options
    from inspector.config.settings import Settings
    from inspector.config.targets import HttpTarget, StdioTarget


class FlowSession:
    """One open session of a run."""

    def __init__(
        self,
        session: Session,
        findings: EventJudge | None,
        secrets: Secrets,
        live: list[Session],
        closed: Callable[[Session], object],
    ) -> None:
        self._live = live
        self._on_closed = closed
        live.append(session)
        self.session = session
        self.findings = findings
        self._secrets = secrets
        self._known = secrets.known
        self._closed = False

    async def close(self, reason: str) -> None:
        """Close the session and its recording; secrets that came up meanwhile are taken out of the recording."""
        if self._closed:
            return
        self._closed = True
        await self.session.close(reason)
        self._live.remove(self.session)
        self._on_closed(self.session)
        self.session.journal.release()
        new = self._secrets.known - self._known
        path = self.session.journal.path
        if new and path is not None:
            redact_recording(path, new)


class SessionOpener:
    """Opens the sessions of a run."""

    def __init__(
        self,
        server_of: Callable[[str], StdioTarget | HttpTarget],
        options_of: Callable[[StdioTarget | HttpTarget], Options],
        settings: Settings,
        *,
        folder: Path | None = None,
        file: Path | None = None,
        record: bool = True,
        judge: JudgeOf | None = None,
        line: Callable[[StdioTarget | HttpTarget], CommandLine] | None = None,
    ) -> None:
        """`server_of` says what the text of `server` means. Recordings go to `folder`, that of one flow to `file`; else
        to the state folder, or nowhere without `record`. `line` is the command line that examines a target.
        """
        self.server_of = server_of
        self.options_of = options_of
        self.settings = settings
        self.folder = folder
        self.file = file
        self.record = record
        self.judge = judge
        self.opened: Callable[[Session], object] = lambda session: None
        """Is called with each session that is open."""
        self.closed: Callable[[Session], object] = lambda session: None
        """Is called with each session that is closed."""
        self.line = line or (lambda target: line_of(target, os.environ, "doctor"))
        self._targets: dict[str, StdioTarget | HttpTarget] = {}
        self.live: list[Session] = []
        """The sessions that are not closed."""

    async def __call__(self, flow: Flow, server: str, topics: Collection[str], secrets: Secrets) -> FlowSession:
        target = self.target(server)
        options = self.options_of(target)
        options = replace(options, standing=declared(options.standing, topics))
        label = flow.path.stem
        journal = new_journal(
            target,
            record=self._path(flow) if self.record else None,
            keep=self.record,
            settings=self.settings,
            label=label,
            secrets=secrets.known,
            purpose="run",
        )
        # The secrets of the target are redacted from the beginning: only later ones are removed at the end.
        journal.redactor.tell(secrets.add)()
        session = Session(target, journal, options)
        judge = self.judge(journal) if self.judge else None
        flow_session = FlowSession(session, judge, secrets, self.live, self.closed)
        try:
            await session.open()
        except BaseException as error:
            if isinstance(error, InspectorError):
                journal.redactor.error(error)
                error.recording = str(journal.path or "")
            if isinstance(error, ConnectionProblem) and error.connecting:
                if isinstance(error, ServerExited) and (words := last_words(error)):
                    # A report has room for one line.
                    variables = variables_hint(target, error.stderr)
                    error.hint = Hint(last_line(words), " " if variables else "", variables)
                error.hint = error.hint.then(f"To find the cause, run {self.line(target)}")
            await flow_session.close("closed")
            raise
        self.opened(session)
        return flow_session

    def target(self, server: str) -> StdioTarget | HttpTarget:
        """The target that a text names, found once. Raises `TargetError`, `ConfigError`, `TrustNeeded`."""
        if server not in self._targets:
            self._targets[server] = self.server_of(server)
        return self._targets[server]

    def check(self, servers: Mapping[Flow, str]) -> None:
        """Find all targets, and make the folder of the recordings, before the first server is opened.

        Raises `CallsError` for a target that a flow names, `TrustNeeded`, and `UsageError` for the folder.
        """
        if self.file is not None:
            check_free(self.file)
        if self.folder is not None and self.record:
            try:
                make_private(self.folder)
            except OSError as error:
                raise cannot_write(self.folder, error) from None
        for flow, server in servers.items():
            self.target_of(flow, server)

    def target_of(self, flow: Flow, server: str) -> StdioTarget | HttpTarget:
        """The target of a flow. Raises `CallsError` for one that the flow names, `UsageError` and `TrustNeeded`."""
        try:
            return self.target(server)
        except CallsError:
            raise
        except UsageError as error:
            if server != flow.model.server:
                raise
            raise flow.error(("server",), f"{error.message.rstrip('.')}.", hint=error.hint) from None

    def kill_now(self) -> None:
        """Kill all servers without waiting."""
        for session in self.live:
            session.kill_now()

    def _path(self, flow: Flow) -> Path | None:
        """The file of the recording; in the folder of recordings, one that does not exist. None: the state folder."""
        if self.folder is None:
            return self.file
        stem = file_stem(str(Path(flow.display_path).with_suffix("")), 200)
        path = self.folder / f"{stem}{RECORDING_SUFFIX}"
        count = 1
        while path.exists():
            count += 1
            path = self.folder / f"{stem}-{count}{RECORDING_SUFFIX}"
        return path


def redact_recording(path: Path, secrets: Collection[str]) -> None:
    """Take secrets out of a finished recording that became known only while it was written."""
    redactor = Redactor(secrets)
    if not redactor.active:
        return
    new, descriptor = create_beside(path)
    changed = False
    try:
        with open(descriptor, "wb") as file, open(path, "rb") as old:
            os.chmod(new, path.stat().st_mode & 0o777)
            for line in old:
                clean = _redacted_line(line, redactor)
                changed = changed or clean != line
                file.write(clean)
        if changed:
            os.replace(new, path)
    finally:
        with suppress(OSError):
            new.unlink()


def _redacted_line(line: bytes, redactor: Redactor) -> bytes:
    text = line.decode("utf-8", "surrogateescape")
    if not redactor.text(text)[1]:
        return line
    try:
        body = json.loads(text)
    except ValueError:
        return redactor.text(text)[0].encode("utf-8", "surrogateescape")
    if isinstance(body, dict) and isinstance(body.get("raw"), str) and body.get("kind") == "rpc":
        body["raw"] = redactor.json(body["raw"])[0]
    body = _redacted(body, redactor)
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"


def _redacted(value: Any, redactor: Redactor) -> Any:
    if isinstance(value, str):
        return redactor.text(value)[0]
    if isinstance(value, dict):
        return {key: item if key == "format" else _redacted(item, redactor) for key, item in value.items()}
    if isinstance(value, list):
        return [_redacted(item, redactor) for item in value]
    return value


COLLECT_AFTER = 16
"""Sessions that are closed between two collections of garbage."""


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
        self.progress = progress or FlowProgress()
        self.flows = list(flows)
        self.selected = select(self.flows, options.only)
        given = options.given or {}
        for flow in self.selected:
            check(flow, {name for environment in options.environments for name in environment.names} | set(given))
        plain, secret = in_effect(options.environments, given)
        servers = {flow: options.server or self._server_of(flow, plain, secret) for flow in self.selected}
        for flow, server in servers.items():
            if server == "":
                raise flow.error((), "The saved call does not name a server.", hint="Add “server:”, or give a TARGET.")
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
        self._opened: dict[str, asyncio.Task[FlowSession]] = {}
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
        reason = INTERRUPTED if self.interrupted else "Another saved call failed, and --bail stops there."
        flows = tuple(self._results.get(flow) or not_run(flow, reason, self.selected[flow]) for flow in self.selected)
        return RunResult(flows, self._seconds, self.interrupted, self.options.dry, self.options.seed)

    async def _flow(self, flow: Flow) -> None:
        if self._bailed:
            return
        self.progress.flow_began(flow)
        began = time.monotonic()
        opened: FlowSession | None = None
        key = self.servers[flow]
        run: FlowRun | None = None
        result: FlowResult | None = None
        try:
            opened = await self._open(flow)
            stop_telling = self.secrets.tell(opened.session.journal.redactor.add)
            try:
                async with self._locks.setdefault(key, asyncio.Lock()) if self.options.shared else nullcontext():
                    if self._bailed:
                        return
                    context = FlowContext(
                        flow,
                        opened.session,
                        self.variables[flow],
                        self.progress,
                        self.options.update,
                        self.options.bail,
                        self.options.dry,
                        opened.findings,
                    )
                    run = FlowRun(context, only=self.selected[flow])
                    if (
                        self.options.shared
                    ):  # Its recording has the runs of all flows: the filter “run:” tells them apart.
                        display_path = flow.display_path
                        opened.session.journal.record_note(f"run {display_path}", run=display_path)
                    await run.run()
            finally:
                stop_telling()
        except InspectorError as error:
            message = self.secrets.mask(sentences(error.message, error.hint.command_line))
            failed = replace(
                not_run(flow, message, self.selected[flow]),
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

    async def _open(self, flow: Flow) -> FlowSession:
        server = self.servers[flow]
        if not self.options.shared:
            return await self.open_session(flow, server, topics_answered(flow), self.secrets)
        if server not in self._opened:
            topics = {
                topic for other in self.selected if self.servers[other] == server for topic in topics_answered(other)
            }
            self._opened[server] = asyncio.create_task(self.open_session(flow, server, topics, self.secrets))
        return await asyncio.shield(self._opened[server])


def select(flows: Sequence[Flow], globs: Sequence[str]) -> dict[Flow, set[int] | None]:
    """The flows to run, and the numbers of their steps where not all are wanted."""
    if not globs:
        return dict.fromkeys(flows)
    chosen: dict[Flow, set[int] | None] = {}
    for glob in globs:
        for flow, numbers in _select_by(flows, glob).items():
            old = chosen.get(flow, set())
            chosen[flow] = None if numbers is None or old is None else old | numbers
    return {flow: chosen[flow] for flow in flows if flow in chosen}


def _select_by(flows: Sequence[Flow], glob: str) -> dict[Flow, set[int] | None]:
    """Return the flows that a glob names, else those with steps that it names, with their numbers.

    Raises `UsageError` where it names nothing.
    """
    whole: dict[Flow, set[int] | None] = {flow: None for flow in flows if flow.matches(glob)}
    if whole:
        return whole
    chosen: dict[Flow, set[int] | None] = {}
    for flow in flows:
        numbers = {
            number
            for number, step in enumerate(flow.steps, 1)
            if fnmatchcase(step.name, glob) or fnmatchcase(step_label(step), glob)
        }
        if numbers:
            chosen[flow] = numbers
    if not chosen:
        names = [name for flow in flows for name in (flow.display_path, flow.name)]
        names += [step.name or step_label(step) for flow in flows for step in flow.steps]
        near = nearest(glob, names)
        raise UsageError(
            f"No saved call and no step is named “{safe(glob, 80)}”.",
            hint=f"Did you mean “{safe(near, 80)}”?"
            if near
            else "Give a path, a name or a glob of a saved call or step.",
        )
    return chosen


def topics_answered(flow: Flow) -> set[str]:
    """Return what the steps of a flow, and of those that it uses, answer: `elicitation`, `sampling`, `roots`."""
    topics: set[str] = set()
    for step in flow.steps:
        answer = getattr(step, "answer", None)
        if answer is not None:
            topics |= answer.model_fields_set
    for used in flow.used.values():
        topics |= topics_answered(used)
    return topics


def declared(base: StandingAnswers, topics: Iterable[str]) -> StandingAnswers:
    """The standing answers of a session whose steps answer `topics`: these are declared, and declined elsewhere."""
    topics = set(topics)
    return StandingAnswers(
        sampling=base.sampling if base.sampling is not None or "sampling" not in topics else "decline",
        elicitation=base.elicitation if base.elicitation is not None or "elicitation" not in topics else "decline",
        roots=base.roots if base.roots is not None or "roots" not in topics else (),
    )
