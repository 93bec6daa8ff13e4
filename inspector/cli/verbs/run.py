"""`inspector run`: saved calls, their expectations, and reports of both."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inspector.calls.progress import FlowProgress
from inspector.cli.flow_options import ENVIRONMENT, SET, warn_of_unused
from inspector.cli.options import COUNT, REPORTS, Option, Value
from inspector.cli.output import Output
from inspector.cli.output_files import check_outputs, write_reports
from inspector.cli.verb import PositionalArgument, Verb
from inspector.errors import Interrupted, UsageError

if TYPE_CHECKING:
    from inspector.calls.collection import Collection, Flow
    from inspector.calls.collection_run import CollectionRun, RunOptions, SessionOpener
    from inspector.calls.reports import TextReport
    from inspector.calls.results import FlowResult, RunResult
    from inspector.calls.variables import Secrets
    from inspector.cli.verb import Invocation
    from inspector.client.session import Session
    from inspector.config.targets import HttpTarget, StdioTarget
    from inspector.config.trust import Consent

_REPORTS = ("junit", "markdown", "html")


def run(invocation: Invocation) -> int:
    """Run the flows; 5 where an expectation failed."""
    out = invocation.output
    if invocation.option("schema"):
        return _print_schema(out)
    if invocation.option("record") is not None:
        raise UsageError("--record names one file, and each saved call has a recording.", hint="Use --keep DIR.")
    to_stdout = check_outputs(invocation, *_REPORTS)
    try:
        with _for_good():
            collection, options = _read(invocation, out)
            warn_of_unused(out, collection.flows, options.given or {})
            made, opener, progress = _made(invocation, out, collection, options, prints_text=not to_stdout)
        result = _run(made, opener)
    finally:
        gc.unfreeze()
    _report(invocation, out, result, progress, to_stdout=to_stdout)
    return result.exit_code


@contextmanager
def _for_good() -> Iterator[None]:
    """Keep what is made here out of the garbage collector, until `gc.unfreeze`.

    The flows stay until the end. To visit thousands of them at each collection takes longer than to read them.
    """
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


def _made(
    invocation: Invocation, out: Output, collection: Collection, options: RunOptions, *, prints_text: bool
) -> tuple[CollectionRun, SessionOpener, _Progress]:
    """The run, checked before anything is sent."""
    from inspector.calls.collection_run import CollectionRun
    from inspector.calls.recipients import CredentialCheck
    from inspector.calls.variables import Secrets
    from inspector.cli import session_setup

    secrets = Secrets()
    consent = session_setup.consent_of(invocation)
    opener = _opener(invocation, options, consent)
    progress = _Progress(out, collection.flows, verbose=bool(invocation.option("verbose")), prints_text=prints_text)
    credentials = CredentialCheck(opener.target_of, consent, session_setup.credentials_of(invocation))
    made = CollectionRun(collection.flows, opener, secrets, options, progress, credentials)
    for recipient in made.recipients:
        out.note(f"note: {recipient.sentence()}")
    progress.flows(list(made.selected))
    opener.opened = progress.opened(secrets)
    opener.closed = lambda session: session_setup.warn_of_incomplete(out, session.journal, named=True)
    opener.check(made.servers)
    return made, opener, progress


def _read(invocation: Invocation, out: Output) -> tuple[Collection, RunOptions]:
    """The files, and how they are run. Raises `CallsError` and other `UsageError`s."""
    from inspector.calls.collection import Collection
    from inspector.calls.collection_run import RunOptions

    paths = invocation.arguments["paths"]
    collection = Collection.read(paths)
    if invocation.option("verbose"):
        for file, reason in collection.ignored:
            out.note(f"note: {out.safe(str(file))} is left alone: {reason}")
    if not collection.flows:
        where = ", ".join(map(str, paths)) or "calls"
        raise UsageError(
            f"No saved call was found in {out.safe(where, 300)}.",
            hint="A saved call is a YAML file that begins with “inspector: 1”.",
        )
    return collection, RunOptions(
        environments=[collection.environment(name) for name in invocation.option("environment", ())],
        given=dict(invocation.option("set", ())),
        only=invocation.option("only", ()),
        jobs=invocation.option("jobs", 1),
        bail=bool(invocation.option("bail")),
        update=bool(invocation.option("update")),
        dry=bool(invocation.option("dry-run")),
        shared=bool(invocation.option("shared")),
        seed=invocation.option("seed"),
        server=_server(invocation),
    )


def _server(invocation: Invocation) -> str:
    """The text that stands for the server of the command line; empty where each flow names its own."""
    from inspector import command_words

    return command_words.join(invocation.target_words) if invocation.target_words else invocation.option("server", "")


def _opener(invocation: Invocation, options: RunOptions, consent: Consent) -> SessionOpener:
    """Opens the sessions, as other verbs do. The judge looks at each exchange."""
    from inspector.calls.collection_run import SessionOpener
    from inspector.check.judge.judge import Judge
    from inspector.cli import session_setup

    settings = session_setup.settings_of(invocation)

    def server_of(text: str) -> StdioTarget | HttpTarget:
        from inspector.cli.parser import is_whole_target
        from inspector.config.targets import RecordingTarget

        words, command = [text], False
        if invocation.target_words and text == options.server:
            words = invocation.target_words
            command = invocation.command and not (len(words) == 1 and is_whole_target(words[0]))
        target = session_setup.target_from(invocation, words, command, consent)
        if isinstance(target, RecordingTarget):
            raise UsageError(
                f"{target.describe()} is a recording, and saved calls need a server.",
                hint="`inspector serve FILE` is a server that answers from a recording.",
            )
        return target

    return SessionOpener(
        server_of,
        lambda target: session_setup.options_of(invocation, target, settings, in_interface=False),
        settings,
        folder=invocation.option("keep"),
        record=settings.record and not invocation.option("no-record"),
        judge=Judge,
        line=lambda target: invocation.line_for("doctor", target),
    )


def _run(made: CollectionRun, opener: SessionOpener) -> RunResult:
    """Run until the end, or until the user interrupts."""
    from inspector.cli.signals import until_interrupted

    async def work() -> RunResult:
        try:
            return await until_interrupted(made.run(), opener.kill_now)
        except Interrupted as interrupted:
            return replace(made.result(), interrupted_with=interrupted.exit_code)

    return asyncio.run(work())


class _Progress(FlowProgress):
    """Prints a line for each flow that is over, and the details of what failed at the end."""

    def __init__(self, out: Output, flows: list[Flow], *, verbose: bool, prints_text: bool) -> None:
        self.out = out
        self.verbose = verbose
        self.prints_text = prints_text and not out.json
        self.report: TextReport
        self.flows(flows)
        self._printed: set[str] = set()

    def flows(self, flows: list[Flow]) -> None:
        """The flows that are run: the columns are as wide as they need."""
        from inspector.calls.reports import TextReport
        from inspector.cli.colours import Colours

        paint: Any = Colours()
        self.report = TextReport({flow.display_path: flow.name for flow in flows}, ascii=self.out.ascii, paint=paint)

    def opened(self, secrets: Secrets) -> Any:
        """Tells each server once, when its first session is open."""

        def tell(session: Session) -> None:
            target = session.target
            named = [target.label] if target.label.startswith("@") else []
            words = [*named, target.describe(), session.transport_name, session.server.revision]
            line = "  ".join(self.out.safe(secrets.mask(word), 300) for word in words if word)
            if self.prints_text and line not in self._printed:
                self.out.lines(["", line, ""] if self._printed else [line, ""])
                self._printed.add(line)

        return tell

    def flow_ended(self, result: FlowResult) -> None:
        if self.prints_text:
            self.out.line(self.report.flow(result))
            if self.verbose:
                self.out.lines(self.report.step(step) for step in result.steps)


def _report(invocation: Invocation, out: Output, result: RunResult, progress: _Progress, *, to_stdout: bool) -> None:
    """Write the reports that were asked for, and the end of the text."""
    from inspector.calls.reports import DRY_RUN

    if out.json:
        out.document(result.as_json())
    elif not to_stdout:
        lines = [line for flow in result.flows for line in progress.report.failures(flow)]
        out.lines([*lines, "", progress.report.totals(result), *([DRY_RUN] if result.dry else [])])
    if result.interrupted:
        out.warn("note: The run was interrupted. The reports are incomplete.")
    write_reports(invocation, out, _REPORTS, lambda name: _document(name, result))


def _document(name: str, result: RunResult) -> str:
    from inspector.calls.reports import as_html, as_junit, as_markdown

    return {"junit": as_junit, "markdown": as_markdown, "html": as_html}[name](result)


def _print_schema(out: Output) -> int:
    import json

    from inspector.calls.models import flow_schema

    out.lines(json.dumps(flow_schema(), indent=2, ensure_ascii=False).split("\n"))
    return 0


def _seed(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise UsageError(f"“{word[:80]}” is not a whole number.", hint="Write one like 42.") from None


RUN = Verb(
    "run",
    run,
    slots=(PositionalArgument("paths", "paths", shown="PATH ...", completes="file"),),
    target="optional",
    options=(
        Option("--server", "The server of all saved calls: @NAME, a URL or a command", "SERVER"),
        ENVIRONMENT,
        SET,
        Option("--only", "Only saved calls or steps of this path or name; repeatable", "GLOB", many=True),
        Option("--jobs", "How many saved calls run beside each other", COUNT),
        Option("--shared", "Use one session for all saved calls of one server"),
        Option("--bail", "Stop at the first failure"),
        Option("--update", "Write the files of same_as"),
        Option("--dry-run", "Open each server, check names and arguments against its lists, and send no call"),
        *(REPORTS[name] for name in _REPORTS),
        Option("--seed", "Make generated values the same in each run", Value("N", _seed)),
        Option("--schema", "Print the JSON Schema of a saved call"),
        Option("-v --verbose", "Tell each step, and files that are not saved calls"),
    ),
)
