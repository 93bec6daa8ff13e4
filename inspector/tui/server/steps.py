"""The rows of a pane without a connection: its steps, stderr, and the doctor's run in a separate recording."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from inspector.client.engine.negotiation import BLIND_LIMIT
from inspector.client.engine.pending_requests import Call
from inspector.client.new_recording import new_journal
from inspector.client.session_state import Commands
from inspector.client.state.steps import ConnectionStep, connection_steps, last_start
from inspector.config.command_lines import line_of
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.doctor.report import ASCII_SIGNS, SIGNS
from inspector.journal.format import Dir, Kind
from inspector.journal.query import Query
from inspector.log_lines import display_lines
from inspector.text import duration, quantity, safe
from inspector.tui.advice import advice
from inspector.tui.themes import ascii_only, signs_now
from inspector.tui.widgets.fact_rows import Row, paragraph, text_lines

if TYPE_CHECKING:
    from inspector.config.settings import Settings
    from inspector.doctor.diagnosis import Diagnosis, DoctorStep, Fix

TITLE, DOCTOR_TITLE = 11, 15
TIME = 10
MIN_BESIDE = 40
"""Cells that the detail needs beside the title; with fewer it is below."""
TEXT_BELOW_UP_TO = 60
"""Width in cells up to which the text of a doctor's step is below its title."""
MAX_LINES = 6
DETAIL = 160
"""Characters of a doctor's detail that are shown: a PATH would fill the pane. The report has all of it."""


def step_rows(steps: list[ConnectionStep], width: int) -> list[Row]:
    """Return each step: sign, title, time since the start of the connection, and its text."""
    rows: list[Row] = []
    for step in steps:
        lines = text_lines(step.detail)
        text = [(line, "error" if step.outcome == "failed" else "normal") for line in lines[:MAX_LINES]]
        if len(lines) > MAX_LINES:
            text.append((f"{signs_now().cut} {len(lines) - MAX_LINES:,} more lines", "muted"))
        below = width - TITLE - TIME - 4 < MIN_BESIDE
        rows += _step(step.outcome, f"{step.title:<{TITLE}}", duration(step.t), text, below=below)
    return rows


def doctor_rows(step: DoctorStep, width: int) -> list[Row]:
    """Return a step of the doctor and, below it, what is known about its failure."""
    role = "error" if step.verdict == "failed" else "faint" if step.verdict == "skipped" else "normal"
    time = duration(step.seconds * 1e6) if step.seconds is not None else ""
    first, *rest = text_lines(step.text)
    details = step.details if step.verdict in ("failed", "warn") and step.name != "stderr" else ()
    text = [(first, role), *((safe(line, DETAIL), "muted") for line in (*rest, *details)[:MAX_LINES])]
    return _step(step.verdict, f"{step.name:<{DOCTOR_TITLE}}", time, text, below=width <= TEXT_BELOW_UP_TO)


def _step(outcome: str, title: str, time: str, text: list[tuple[str, str]], *, below: bool) -> list[Row]:
    """Return the rows of a step, its text beside the title or below it."""
    signs = signs_now()
    sign, role = {
        "ok": (signs.done, "received"),
        "note": (signs.finding, "finding"),
        "warn": (signs.finding, "finding"),
        "failed": (signs.failed, "error"),
        "waiting": (signs.progress, "progress"),
        "open": (signs.later, "faint"),
        "info": (signs.later, "muted"),
        "skipped": ((ASCII_SIGNS if ascii_only() else SIGNS)["skipped"], "faint"),
    }[outcome]
    indent = 4 if below else len(title) + TIME + 4
    head = [(f"{sign} ", role), (title, "muted"), (f"{time:>{TIME}}  ", "faint")]
    rows = [Row(head if below else [*head, text.pop(0)], indent)]
    return rows + [Row([(" " * indent, "muted"), line], indent) for line in text]


_STDERR_LINES = 8
_STDERR_READ = 100
_STDERR = Query(kind=Kind.STDERR, dir=Dir.RECV)


def connecting_rows(session: Commands, width: int) -> list[Row]:
    """Return the steps of the connection so far, and the last lines of stderr."""
    waiting = {call.n: call for call in session.calls_in_flight()}
    steps = [_timed(step, waiting.get(step.n), session) for step in connection_steps(session.journal)]
    rows = step_rows(steps, width) if steps else paragraph("Starting …", "muted")
    lines = stderr_lines(session)
    if lines:
        rows += [Row(), Row([("stderr, last lines", "muted")])]
        for line in lines:
            rows += paragraph(line, indent=2, limit=3)
    return rows


def _timed(step: ConnectionStep, call: Call | None, session: Commands) -> ConnectionStep:
    """Return a step; a pending one has its waiting time and its timeout."""
    if step.outcome != "waiting" or call is None:
        return step
    unread, allowed = session.transport.unread(), float(max(round(call.allowed), 1))
    if call.method == "server/discover" and unread is None:
        allowed = min(allowed, BLIND_LIMIT)
    paused = ", paused while you log in" if call.deadline.paused else ""
    what = "the server has not read it yet" if unread else "no answer yet"
    detail = f"{call.method} sent; {what}: {int(call.elapsed)} s of {allowed:g} s{paused}"
    return replace(step, detail=detail)


def stderr_lines(session: Commands) -> list[str]:
    """Return the last lines that the server wrote to stderr in the newest connection, as people read them."""
    journal = session.journal
    first = last_start(journal, len(journal))
    newest = list(islice(_STDERR.backwards(journal.index, first - 1), _STDERR_READ))
    return display_lines(journal.event(n).text for n in reversed(newest))[-_STDERR_LINES:]


def printed(session: Commands) -> str:
    """Return the number of stdout lines that are not messages, as text; empty for none."""
    invalid = session.journal.index.invalid
    return f"{quantity(invalid, 'line')} on stdout not JSON-RPC" if invalid else ""


class Examination:
    """One run of the doctor on a session's target. `changed` is called after each step and at the end."""

    def __init__(self, session: Commands, settings: Settings, keep: bool, changed: Callable[[], object]) -> None:
        self._session = session
        self._settings = settings
        self._keep = keep
        self._changed = changed
        self._task: asyncio.Task[object] | None = None
        self.steps: list[DoctorStep] = []
        self.diagnosis: Diagnosis | None = None

    def start(self) -> None:
        """Start. It ends with the session, and before the session is opened again."""
        self._task = self._session.run(self._work())

    @property
    def running(self) -> bool:
        """Whether more steps will come."""
        return self._task is not None and not self._task.done()

    def stop(self) -> None:
        """Cancel it and everything that it started."""
        if self._task is not None:
            self._task.cancel()

    async def _work(self) -> None:
        from inspector.doctor.run import diagnose
        from inspector.doctor.session_options import without_person

        target = self._session.target
        assert isinstance(target, (StdioTarget, HttpTarget))
        journal = new_journal(target, settings=self._settings, keep=self._keep, purpose="doctor")
        try:
            options = without_person(self._session.options)
            line = line_of(target, os.environ)
            self.diagnosis = await diagnose(target, journal, options, on_step=self._add_step, line=line)
        finally:
            journal.close("closed")
            journal.release()
        self._changed()

    def _add_step(self, step: DoctorStep) -> None:
        self.steps.append(step)
        self._changed()

    def rows(self, width: int) -> list[Row]:
        """Return the cause and the fix first, then the steps and the last lines of stderr."""
        diagnosis = self.diagnosis
        rows = paragraph(diagnosis.cause if diagnosis is not None else "The doctor checks each step …", "bright")
        if diagnosis is not None and (diagnosis.fix.text or diagnosis.fix.command):
            rows += fix_rows(diagnosis.fix)
        rows.append(Row())
        for step in self.steps:
            rows += doctor_rows(step, width)
        if diagnosis is None:
            return rows
        if diagnosis.last_words:
            rows += [Row(), Row([("stderr, last lines", "muted")])]
            for line in diagnosis.last_words:
                rows += paragraph(line, indent=2)
        if diagnosis.recording:
            rows += [Row(), Row([(f"recording: {diagnosis.recording}", "faint")])]
        return rows


def fix_rows(fix: Fix) -> list[Row]:
    """Return the fix: a command or a sentence."""
    where = f"   in {fix.folder}" if fix.folder and fix.command else ""
    label = "Try   " if fix.command else "Fix   "
    rows = [Row([(label, "bright"), (fix.command or advice(fix.hint), "normal"), (where, "muted")], 6)]
    if fix.command and fix.text:
        rows.append(Row([("      ", "normal"), (advice(fix.hint), "muted")], 6))
    return rows
