"""The rows of the list of saved calls: files with their steps, files that cannot be used, and the environments."""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Literal, NamedTuple

from rich.segment import Segment

from inspector.calls.collection import Flow
from inspector.calls.yaml_text import CallsError
from inspector.flows.results import FlowOutcome
from inspector.text import duration, quantity
from inspector.tui.calls.saved_calls import SavedCalls
from inspector.tui.calls.steps import name_of, rows_of_each
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.row_source import ListRows

CallRowKind = Literal["flow", "step", "error", "folder", "environment", "blank"]


class ListRow(NamedTuple):
    """One row. `path` is the file; `line` its line; `number` that of a step, from 1."""

    kind: CallRowKind
    path: Path | None = None
    number: int = 0
    line: int = 0
    name: str = ""
    flow: Flow | None = None
    error: CallsError | None = None

    @property
    def key(self) -> Hashable:
        """The identity of the row when the files are read again."""
        return self.kind, self.path, self.number or self.line, self.name


def sign_of(outcome: FlowOutcome) -> paint.Piece:
    """The sign of an outcome."""
    signs = signs_now()
    if outcome == "passed":
        return (signs.done, "received")
    if outcome == "failed":
        return (signs.failed, "error")
    return (signs.later, "muted")


def took(outcome: FlowOutcome, seconds: float) -> str:
    """How long something took, or that it was skipped; nothing for what did not run."""
    if outcome == "skipped":
        return "skipped"
    return duration(seconds * 1_000_000) if outcome != "not_run" else ""


class CallsRows(ListRows[ListRow]):
    """A `RowSource` over the collection. `take` reads it again; `words` narrows the flows and steps."""

    def __init__(self, saved: SavedCalls) -> None:
        super().__init__(lambda row: row.key)
        self._saved = saved
        self.words = ""

    def take(self) -> None:
        """Take in what the collection holds now."""
        saved = self._saved
        rows: list[ListRow] = []
        files: list[tuple[Path, Flow | CallsError]] = [
            *((flow.path, flow) for flow in saved.flows),
            *((error.path, error) for error in saved.errors),
        ]
        words = self.words.casefold().split()
        for path, found in sorted(files, key=lambda file: str(file[0])):
            shown = self._error(path, found) if isinstance(found, CallsError) else self._flow(path, found, words)
            if shown:
                rows += [*([ListRow("blank", number=len(rows))] if rows else []), *shown]
        if saved.environments and not words:
            rows += [ListRow("blank", number=len(rows))] if rows else []
            rows.append(ListRow("folder", saved.folder / "env"))
            rows += [ListRow("environment", each.path, name=name) for name, each in saved.environments.items()]
        self.rows = rows

    def _flow(self, path: Path, flow: Flow, words: list[str]) -> list[ListRow]:
        head = ListRow("flow", path, line=1, flow=flow)
        file = f"{self._saved.shown(path)} {flow.name}".casefold()
        rows = []
        for number, step in enumerate(self._saved.steps(flow), 1):
            name = name_of(step)
            each = rows_of_each(step)
            if all(word in f"{file} {name.casefold()}" for word in words):
                line = flow.line_of_step(number)
                rows.append(
                    ListRow("step", path, number, line, f"{name} {signs_now().times}{each}" if each else name, flow)
                )
        return [head, *rows] if rows or all(word in file for word in words) else []

    def _error(self, path: Path, error: CallsError) -> list[ListRow]:
        return [ListRow("error", path, line=error.line, name=error.problem, error=error)]

    def failure_after(self, at: int, by: int) -> int | None:
        """Return the row of the next failed step or file with an error, or None. It wraps around."""
        wrong = [index for index, row in enumerate(self.rows) if self._is_failure(row)]
        ahead = [index for index in wrong if (index > at if by > 0 else index < at)]
        found = ahead or wrong
        return None if not found else found[0 if by > 0 else -1]

    def _is_failure(self, row: ListRow) -> bool:
        if row.kind == "error":
            return True
        run = self._saved.run_of(row.path) if row.path is not None else None
        return row.kind == "step" and run is not None and run.outcome_of(row.number) == "failed"

    def render(self, index: int, width: int, selected: bool, focused: bool) -> list[Segment]:
        """Draw one row."""
        left, right = self._pieces(self.rows[index])
        return paint.spread(paint.segments(left, room=width), paint.segments(right, "muted"), width)

    def _pieces(self, row: ListRow) -> tuple[list[paint.Piece], paint.Pieces]:
        saved = self._saved
        if row.kind == "blank" or row.path is None:
            return [], ""
        if row.kind == "folder":
            return [(saved.shown(row.path), "bright")], ""
        if row.kind == "environment":
            used = row.name == saved.environment
            count = quantity(len(saved.environments[row.name].names), "variable")
            return [f"  {row.name}"], [("in use", "bright")] if used else count
        if row.kind == "error":
            where = f"{saved.shown(row.path)}:{row.line}" if row.line else saved.shown(row.path)
            return [(f"{signs_now().failed} ", "error"), (where, "bright"), f"  {row.name}"], ""
        run, running = saved.run_of(row.path), saved.running
        now = running is not None and running.flow.path == row.path
        if row.kind == "flow":
            sign = (signs_now().progress, "progress") if now else sign_of(run.outcome if run else "not_run")
            pinned = [(f" {signs_now().progress}", "progress")] if row.path in saved.pinned else []
            changed = "changed" if run is not None and run.outdated else ""
            right = "running" if now else changed or (took(run.outcome, run.seconds) if run else "")
            return [sign, " ", (saved.shown(row.path), "bright"), *pinned], right
        outcome = run.outcome_of(row.number) if run else "not_run"
        if now and running is not None and running.number == row.number:
            return ["  ", (signs_now().progress, "progress"), f" {row.name}"], running.state
        return ["  ", sign_of(outcome), f" {row.name}"], took(outcome, run.seconds_of(row.number)) if run else ""
