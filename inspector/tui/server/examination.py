"""Runs the doctor in the background, in a separate recording, after a failed connection."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from inspector.client.recording import new_journal
from inspector.client.session_state import Commands
from inspector.config.command_lines import line_of
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.text import duration, safe
from inspector.tui.advice import advice
from inspector.tui.themes import signs_now
from inspector.tui.widgets.fact_rows import Row, paragraph, text_lines

if TYPE_CHECKING:
    from inspector.config.settings import Settings
    from inspector.doctor.diagnosis import Diagnosis, DoctorStep, Fix

TITLE = 15
TIME = 10
MAX_DETAILS = 6
DETAIL = 160
"""Characters of a detail that are shown: a PATH would fill the pane. The report has all of it."""
NARROW = 60
"""Width in cells up to which the text of a step is below its title."""


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
            self.diagnosis = await diagnose(target, journal, options, told=self._told, line=line)
        finally:
            journal.close("closed")
            journal.release()
        self._changed()

    def _told(self, step: DoctorStep) -> None:
        self.steps.append(step)
        self._changed()

    def rows(self, width: int) -> list[Row]:
        """Return the cause and the fix first, then the steps and the last lines of stderr."""
        found = self.diagnosis
        rows = paragraph(found.cause if found is not None else "The doctor checks each step …", "bright")
        if found is not None and (found.fix.text or found.fix.command):
            rows += fix_rows(found.fix)
        rows.append(Row())
        for step in self.steps:
            rows += step_rows(step, width)
        if found is None:
            return rows
        if found.last_words:
            rows += [Row(), Row([("stderr, last lines", "muted")])]
            for line in found.last_words:
                rows += paragraph(line, indent=2)
        if found.recording:
            rows += [Row(), Row([(f"recording: {found.recording}", "faint")])]
        return rows


def fix_rows(fix: Fix) -> list[Row]:
    """Return the fix: a command or a sentence."""
    where = f"   in {fix.folder}" if fix.folder and fix.command else ""
    label = "Try   " if fix.command else "Fix   "
    rows = [Row([(label, "bright"), (fix.command or advice(fix.hint), "normal"), (where, "muted")], 6)]
    if fix.command and fix.text:
        rows.append(Row([("      ", "normal"), (advice(fix.hint), "muted")], 6))
    return rows


def step_rows(step: DoctorStep, width: int) -> list[Row]:
    """Return a step and, below it, what is known about its failure."""
    signs = signs_now()
    marks = {
        "ok": (signs.done, "received"),
        "warn": (signs.finding, "finding"),
        "failed": (signs.failed, "error"),
        "info": (signs.later, "muted"),
        "skipped": (signs.later, "faint"),
    }
    mark, role = marks[step.verdict]
    said = "error" if step.verdict == "failed" else "faint" if step.verdict == "skipped" else "normal"
    took = duration(step.seconds * 1e6) if step.seconds is not None else ""
    indent = TITLE + TIME + 4
    head = [(f"{mark} ", role), (f"{step.name:<{TITLE}}", "muted"), (f"{took:>{TIME}}  ", "faint")]
    first, *rest = text_lines(step.text)
    rows = [Row([*head, (first, said)], indent)]
    if width <= NARROW:
        indent = 4
        rows = [Row(head, indent), Row([(" " * indent, said), (first, said)], indent)]
    details = step.details if step.verdict in ("failed", "warn") and step.name != "stderr" else ()
    below = [safe(line, DETAIL) for line in (*rest, *details)[:MAX_DETAILS]]
    return rows + [Row([(" " * indent, "muted"), (line, "muted")], indent) for line in below]
