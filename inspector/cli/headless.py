"""A session without the interface: connect, do one thing, print, close; and stop the server in every case."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from inspector.cli import session_setup
from inspector.cli.output import Output
from inspector.cli.signals import Signals
from inspector.cli.telemetry import Telemetry
from inspector.client.session import Session
from inspector.config.logfile import remark, report
from inspector.errors import ConfigError, ConnectionProblem, InspectorError

if TYPE_CHECKING:
    from inspector.cli.live_messages import Watch
    from inspector.cli.verb import Invocation
    from inspector.client.options import Options
    from inspector.config.targets import Target
    from inspector.journal.journal import Journal
    from inspector.protocol.revisions import Era

TOLD = 10
"""Changes since the pin that are listed; `inspector pin` lists all."""
Work = Callable[[Session, Output], Awaitable[int]]
"""The work in an open session: prints the result and returns the exit code."""
Watcher = Callable[[Session, Output], "Watch"]


def run(
    invocation: Invocation,
    work: Work,
    target: Target | None = None,
    *,
    while_waiting: str | None = None,
    watcher: Watcher | None = None,
    era: Era | None = None,
    out: Output | None = None,
    check_pin: bool = True,
) -> int:
    """Connect to the target, run `work`, close; returns the exit code.

    `while_waiting` is a module that `work` needs: it is imported while the server starts. `watcher` makes the object
    that prints messages on stderr; the default is `Watch`, unless --quiet is set. `era` and `out` override the options.
    With `check_pin`, a pinned server is compared with its pin first.
    """
    out = out or invocation.output
    target = target or session_setup.live_target(invocation)
    if not invocation.target_words:
        out.target = target
    settings = session_setup.settings_of(invocation)
    options = session_setup.options_of(invocation, target, settings, in_interface=False)
    if era is not None:
        options = replace(options, era=era)
    if check_pin and settings.check_pins and era is None and not invocation.option("no-pin") and _has_pin(target):
        work = _compared(work)
    telemetry = Telemetry(out, settings.otlp)
    journal = session_setup.new_journal(invocation, target, settings)
    telemetry.follow(journal)
    try:
        for notice in journal.notices:
            out.note(f"note: {out.safe(notice)}")
        return asyncio.run(
            with_session(
                target,
                options,
                journal,
                out,
                work,
                while_waiting,
                watcher,
                asks=session_setup.asks_on_terminal(invocation),
                remembers=era is None,
            )
        )
    finally:
        journal.close("closed")
        journal.release()
        telemetry.finish()


async def with_session(
    target: Target,
    options: Options,
    journal: Journal,
    out: Output,
    work: Work,
    while_waiting: str | None = None,
    watcher: Watcher | None = None,
    *,
    asks: bool = False,
    remembers: bool = True,
) -> int:
    """Run `work` with an open session and return the exit code. Errors are printed before the session closes.

    `asks`: requests of the server without an answer from an option are shown at the terminal.

    `remembers`: the result of connecting is kept for the start screen and `inspector servers`.
    """
    session = Session(target, journal, options)
    signals = Signals(session.kill_now)
    unexpected = _LoopFailures()
    code, is_reported = 4, False
    if while_waiting is not None:
        # Runs when the loop is idle for the first time, after the request to the starting server was written.
        asyncio.get_running_loop().call_soon(import_module, while_waiting)
    try:
        code = await _work(session, out, work, watcher, asks=asks)
    except InspectorError as error:
        code, is_reported = error.exit_code, True
        journal.redactor.error(error)
        error.recording = str(journal.path or "")
        out.error(error, recording=isinstance(error, ConnectionProblem))
    except asyncio.CancelledError:
        if not signals.caught and unexpected.problem is None:
            raise
    finally:
        signals.closing = unexpected.closing = True
        await session.close("interrupted" if signals.caught else "closed")
        signals.remove()
        if remembers:
            session.remember_outcome()
    session_setup.warn_of_incomplete(out, journal)
    if unexpected.problem is not None and not is_reported:
        out.error(unexpected.problem)
        code = unexpected.problem.exit_code
    return 128 + signals.caught if signals.caught else code


async def _work(session: Session, out: Output, work: Work, watcher: Watcher | None, *, asks: bool) -> int:
    if watcher is None:
        if out.quiet and not asks:
            await session.open()
            return await work(session, out)
        from inspector.cli.live_messages import Watch

        watcher = Watch
    watch = watcher(session, out)
    if watch.precedes_results:
        out.before_result = watch.settle
    if asks:
        from inspector.cli.server_questions import QuestionPrompts

        watch.asker = QuestionPrompts(session, out, watch.hold)
    try:
        await session.open()
        return await work(session, out)
    finally:
        if watch.asker is not None:
            await watch.asker.close()
        watch.stop()


def _compared(work: Work) -> Work:
    """`work`, after comparing the server with its pin."""

    async def both(session: Session, out: Output) -> int:
        await _warn_of_drift(session, out)
        return await work(session, out)

    return both


def _has_pin(target: Target) -> bool:
    """Whether the target has a pin."""
    from inspector.client.pins import Pins

    return Pins().has(target)


async def _warn_of_drift(session: Session, out: Output) -> None:
    """Read the lists, compare them with the pin, and warn. Errors are reported and do not stop the command."""
    from inspector.client.pins import Pins
    from inspector.client.state.surfaces import read_surface

    try:
        pin = Pins().get(session.target)
        if pin is None:
            return
        await read_surface(session)
    except ConfigError as error:
        out.warn(f"warning: {out.safe(error.message, 500)} The comparison was skipped.")
        return
    except InspectorError as error:
        out.warn(f"warning: The server could not be compared with its pin: {out.safe(error.message, 500)}")
        return
    from inspector.check.drift import drift_of, note, phrase
    from inspector.cli.surface_report import WORDS

    drift = drift_of(session, pin)
    if drift is None:
        return
    note(session.journal, drift)
    out.warn(f"warning: {out.safe(drift.sentence, 1000)}")
    for change in drift.changes[:TOLD]:
        out.warn(f"  {WORDS.get(change.severity, change.severity):<11}  {out.safe(phrase(change), 300)}")
    if len(drift.changes) > TOLD:
        out.warn(f"  and {len(drift.changes) - TOLD:,} more")
    out.warn(f"hint: To see the changes, run {out.command('pin')} (with --update to accept them).")


class _LoopFailures:
    """Logs exceptions of callbacks and of tasks that no code awaits; the command ends with one sentence.

    The first such error cancels the current task, because the state is unreliable afterwards; `problem` has the message
    for the user. Errors of Inspector itself are excluded, because code that needs their outcome handles them.
    """

    def __init__(self) -> None:
        self.problem: InspectorError | None = None
        self.closing = False
        """The session is closing, which must not be interrupted."""
        self._task: asyncio.Task[Any] | None = asyncio.current_task()
        asyncio.get_running_loop().set_exception_handler(self._on_error)

    def _on_error(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, InspectorError):
            return
        if error is None:  # A message of the loop, such as a task that was not awaited.
            remark(str(context.get("message")))
            return
        problem = report(error)
        if self.problem is None:
            self.problem = problem
            if self._task is not None and not self.closing:
                self._task.cancel()
