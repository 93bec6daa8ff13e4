"""Runs the checks of a session's server, on separate connections and in a separate recording. Draws nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

from inspector.check.check_table import Check, CheckLevel
from inspector.check.outcome import Visited
from inspector.check.reports.summary import Report, report_of
from inspector.check.run import Run, Runner, of_recording, renewed
from inspector.check.selection import CheckSelection
from inspector.check.visit.visit import Allowed
from inspector.client.new_recording import new_journal
from inspector.client.session_state import SessionState
from inspector.config.settings import Settings
from inspector.config.targets import RecordingTarget
from inspector.hosts import Fact, host_facts
from inspector.journal.journal import Journal


class _Running:
    """The run that goes on."""

    def __init__(self, run: Run, before: Run | None) -> None:
        """`before` is a run of which some checks are repeated."""
        self._run, self._before = run, before
        self.now = "connecting"
        """The current check."""

    @property
    def progress(self) -> tuple[int, int, str]:
        """How many results there are, how many there will be (0: not known yet), and the current check."""
        return len(self._run.results), self._run.total, self.now

    def report(self, path: Path | None) -> Report:
        """Return the results so far."""
        run = self._run if self._before is None else renewed(self._before, self._run)
        return Report(replace(run, results=list(run.results)), str(path or ""))


class CheckRun:
    """The results so far. Calls `on_change` whenever there are more results, or another check starts."""

    def __init__(self, session: SessionState, settings: Settings, on_change: Callable[[], None], *, keep: bool) -> None:
        self.session = session
        self.journal: Journal | None = None
        """The recording of the run; evidence refers to its events."""
        self.report: Report | None = None
        self.allowed = Allowed()
        """What the next run may do beyond harmless requests."""
        self.hosts: tuple[str, ...] = ()
        """The hosts whose limits the next run checks; empty: none."""
        self.stopped = False
        """The results are those of a run that was stopped before its end."""
        self._settings, self._keep, self._on_change = settings, keep, on_change
        self._running: _Running | None = None

    @property
    def running(self) -> bool:
        """Whether checks run."""
        return self._running is not None

    @property
    def progress(self) -> tuple[int, int, str] | None:
        """How many results there are, how many there will be (0: not known yet), and the current check."""
        return self._running.progress if self._running is not None else None

    async def go(self, only: str = "") -> None:
        """Run all checks, or one again. If cancelled, keep the results so far."""
        target = self.session.target
        session = self.session.commands
        if isinstance(target, RecordingTarget) or session is None:
            return
        selection = CheckSelection(
            allowed=self.allowed, only=frozenset((only,)) if only else frozenset(), hosts=self._host_facts()
        )
        before = self.report.run if only and self.report is not None else None
        if self.journal is None or not only:
            self.release()
            self.journal = new_journal(target, settings=self._settings, keep=self._keep, purpose="check")
        else:
            self.journal.go_on()
        runner = Runner(
            target,
            self.journal,
            session.options,
            selection,
            on_result=lambda _result: self._on_change(),
            began=self._began,
        )
        self._running = running = _Running(runner.run, before)
        self.report = running.report(self.journal.path)
        # One check that runs again does not complete the others.
        self.stopped = self.stopped and bool(only)
        self._on_change()
        try:
            await runner.go()
        except BaseException:
            self.stopped = True
            raise
        finally:
            self._running, self.report = None, running.report(self.journal.path)
            # It stays readable as the evidence; another program, and the start list, see that it has ended.
            self.journal.close("closed")
            self._on_change()
        self.report = await asyncio.to_thread(report_of, self.report.run, self.journal)
        self._on_change()

    def read(self) -> None:
        """Check the messages of the session's recording, in a thread. Raises `RecordingError`."""
        target = self.session.target
        assert isinstance(target, RecordingTarget)
        journal = Journal.open(target.path)
        try:
            while journal.refresh():
                pass
            report = report_of(of_recording(journal, target.label, CheckSelection(hosts=self._host_facts())), journal)
        except BaseException:
            journal.release()
            raise
        self.release()
        self.journal, self.report = journal, report

    def _host_facts(self) -> tuple[Fact, ...]:
        return host_facts().choose(self.hosts) if self.hosts else ()

    def release(self) -> None:
        """Close the recording of the run."""
        if self.journal is not None:
            if self.journal.storage.writable:
                self.journal.close("closed")
            self.journal.release()
            self.journal = None

    @property
    def path(self) -> Path:
        """The path of the run's recording; only a name if it is not kept in a file."""
        path = self.journal.path if self.journal is not None else None
        return path or Path("checks")

    def _began(self, visited: Visited, check: Check) -> None:
        if self._running is not None:
            self._running.now = f"{visited.name}: {check.id}"
            self._on_change()

    def sum_up(self) -> None:
        """Bring `report` up to date with the results so far."""
        if self._running is not None and self.journal is not None:
            self.report = self._running.report(self.journal.path)


def levels() -> list[str]:
    """Return the levels of checks, the strictest first."""
    return list(get_args(CheckLevel))
