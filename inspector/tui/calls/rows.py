"""The rows of saved calls: those of the list, and those of one flow with its steps."""

from __future__ import annotations

import re
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rich.segment import Segment

from inspector.calls.collection import Flow
from inspector.calls.models import MATCHERS
from inspector.calls.results import ExpectationResult, FlowOutcome, StepResult
from inspector.calls.yaml_text import CallsError
from inspector.protocol.forms.values import json_of
from inspector.text import cell_len, duration, ellipsis, quantity, safe
from inspector.tui.calls.saved_calls import NewestRun, Running, SavedCalls
from inspector.tui.calls.steps import PlainStep, action_of, arguments_of, name_of, rows_of_each
from inspector.tui.themes import signs_now
from inspector.tui.widgets import paint
from inspector.tui.widgets.fact_rows import Row, text_lines
from inspector.tui.widgets.paint import Piece, Pieces
from inspector.tui.widgets.row_source import ListRows

LABELS = 9
"""Cells of the column of names and labels, at least."""
_NAME = 18
"""Cells of that column at most."""
_LEAD = 4
_VALUE = 400
"""Characters of an argument or a captured value that are shown on the line of its step."""
_SHORT_VALUE = 24
"""Characters up to which a value is shown at the right of an expectation that holds."""
_LINES = 12
"""Lines of an expected or found value that are shown."""
_TEMPLATE = re.compile(r"\{\{[^{}]*\}\}")


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
    """Return the sign of an outcome."""
    signs = signs_now()
    if outcome == "passed":
        return (signs.done, "received")
    if outcome == "failed":
        return (signs.failed, "error")
    return (signs.later, "muted")


def took(outcome: FlowOutcome, seconds: float) -> str:
    """Return how long something took, or that it was skipped; nothing for what did not run."""
    if outcome == "skipped":
        return "skipped"
    return duration(seconds * 1_000_000) if outcome != "not_run" else ""


class CallsRows(ListRows[ListRow]):
    """A `RowSource` over the collection. `reload` reads it again; `words` narrows the flows and steps."""

    def __init__(self, saved: SavedCalls) -> None:
        super().__init__(lambda row: row.key)
        self._saved = saved
        self.words = ""

    def reload(self) -> None:
        """Take in what the collection holds now."""
        saved = self._saved
        rows: list[ListRow] = []
        files: list[tuple[Path, Flow | CallsError]] = [
            *((flow.path, flow) for flow in saved.flows),
            *((error.path, error) for error in saved.errors),
        ]
        words = self.words.casefold().split()
        for path, content in sorted(files, key=lambda file: str(file[0])):
            file_rows = (
                self._error(path, content) if isinstance(content, CallsError) else self._flow(path, content, words)
            )
            if file_rows:
                rows += [*([ListRow("blank", number=len(rows))] if rows else []), *file_rows]
        if saved.environments and not words:
            rows += [ListRow("blank", number=len(rows))] if rows else []
            rows.append(ListRow("folder", saved.folder / "env"))
            rows += [
                ListRow("environment", environment.path, name=name) for name, environment in saved.environments.items()
            ]
        self.rows = rows

    def _flow(self, path: Path, flow: Flow, words: list[str]) -> list[ListRow]:
        head = ListRow("flow", path, line=1, flow=flow)
        file = f"{self._saved.path_text(path)} {flow.name}".casefold()
        rows = []
        for number, step in enumerate(self._saved.steps(flow), 1):
            name = name_of(step)
            row_count = rows_of_each(step)
            if all(word in f"{file} {name.casefold()}" for word in words):
                line = flow.line_of_step(number)
                rows.append(
                    ListRow(
                        "step",
                        path,
                        number,
                        line,
                        f"{name} {signs_now().times}{row_count}" if row_count else name,
                        flow,
                    )
                )
        return [head, *rows] if rows or all(word in file for word in words) else []

    def _error(self, path: Path, error: CallsError) -> list[ListRow]:
        return [ListRow("error", path, line=error.line, name=error.problem, error=error)]

    def failure_after(self, at: int, by: int) -> int | None:
        """Return the row of the next failed step or file with an error, or None. It wraps around."""
        wrong = [index for index, row in enumerate(self.rows) if self._is_failure(row)]
        ahead = [index for index in wrong if (index > at if by > 0 else index < at)]
        candidates = ahead or wrong
        return None if not candidates else candidates[0 if by > 0 else -1]

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
            return [(saved.path_text(row.path), "bright")], ""
        if row.kind == "environment":
            used = row.name == saved.environment
            count = quantity(len(saved.environments[row.name].names), "variable")
            return [f"  {row.name}"], [("in use", "bright")] if used else count
        if row.kind == "error":
            where = f"{saved.path_text(row.path)}:{row.line}" if row.line else saved.path_text(row.path)
            return [(f"{signs_now().failed} ", "error"), (where, "bright"), f"  {row.name}"], ""
        run, running = saved.run_of(row.path), saved.running
        now = running is not None and running.flow.path == row.path
        if row.kind == "flow":
            sign = (signs_now().progress, "progress") if now else sign_of(run.outcome if run else "not_run")
            pinned = [(f" {signs_now().progress}", "progress")] if row.path in saved.pinned else []
            changed = "changed" if run is not None and run.outdated else ""
            right = "running" if now else changed or (took(run.outcome, run.seconds) if run else "")
            return [sign, " ", (saved.path_text(row.path), "bright"), *pinned], right
        outcome = run.outcome_of(row.number) if run else "not_run"
        if now and running is not None and running.number == row.number:
            return ["  ", (signs_now().progress, "progress"), f" {row.name}"], running.state
        return ["  ", sign_of(outcome), f" {row.name}"], took(outcome, run.seconds_of(row.number)) if run else ""


@dataclass
class FlowPage:
    """The rows of a flow, and what some of them are about."""

    rows: list[Row] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    """The number of the step that each row belongs to; 0 for none."""
    lines: list[int] = field(default_factory=list)
    """The line of the file that each row is about."""
    heads: dict[int, int] = field(default_factory=dict)
    """The row on which each step begins."""

    def add(self, row: Row, step: int = 0, line: int = 0) -> None:
        """Add a row."""
        self.rows.append(row)
        self.steps.append(step)
        self.lines.append(line)


def day_and_time(when: float, now: float | None = None) -> str:
    """Return a time (seconds since the epoch) for people: `today 09:14`, `yesterday 17:02`, `2026-11-20 17:02`."""
    moment = datetime.fromtimestamp(when)
    days = (datetime.fromtimestamp(time.time() if now is None else now).date() - moment.date()).days
    day = {0: "today", 1: "yesterday"}.get(days, f"{moment:%Y-%m-%d}")
    return f"{day} {moment:%H:%M}"


def page_of(
    flow: Flow,
    shown_path: str,
    steps: Sequence[PlainStep],
    run: NewestRun | None,
    variables: Mapping[str, Any],
    opened: set[int],
    width: int,
    running: Running | None = None,
    changed: Mapping[int, Sequence[str]] | None = None,
    other_server: str = "",
) -> FlowPage:
    """Return the rows of a flow. `opened` are the numbers of the steps of which everything is shown.

    `other_server` is the server that the flow names where that is not the server of the session.
    """
    page = FlowPage()
    head: list[Piece] = [(shown_path, "muted")]
    if run is not None and run.when:
        head.append((f"  {day_and_time(run.when)}", "muted"))
        if run.outdated:
            head.append(("  changed since it ran", "finding"))
        elif run.outcome != "not_run":
            head.append((f"  {took(run.outcome, run.seconds)}", "muted"))
    page.add(Row(head), line=1)
    if other_server:
        server = (safe(other_server, 200), "finding")
        page.add(Row([("server  ", "muted"), server, ("  not this one", "muted")]), line=1)
    if variables:
        page.add(Row([("variables  ", "muted"), *_pairs(variables)], 11), line=1)
    if run is not None and run.error:
        page.add(Row([(run.error, "error")]), line=1)
    if run is not None and run.turned:
        page.add(Row([(f"It {run.turned}.", "error" if run.outcome == "failed" else "received")]), line=1)
    for number, step in enumerate(steps, 1):
        page.add(Row())
        here = running is not None and running.flow.path == flow.path and running.number == number
        now = running.state if running is not None and here else ""
        _Step(page, flow, number, step, run, width, column=_column(steps), running=now).add(
            opened=number in opened, changed=(changed or {}).get(number, ())
        )
    if not steps:
        page.add(Row())
        page.add(Row([("The saved call has no steps yet.", "muted")]), line=1)
    return page


def _column(steps: Sequence[PlainStep]) -> int:
    names = [step.get("name") or action_of(step)[0] for step in steps]
    return min(max([LABELS, *(cell_len(str(name)) + 2 for name in names)]), _NAME)


def _pairs(values: Mapping[str, Any]) -> list[Piece]:
    pieces: list[Piece] = []
    for name, value in values.items():
        pieces += [("   " if pieces else "", "muted"), (f"{name} ", "muted"), *templates(plain(value))]
    return pieces


def plain(value: Any) -> str:
    """Return a value on one line: text as it is, everything else as JSON."""
    text = value if isinstance(value, str) else json_of(value)
    return safe(" ".join(text[: _VALUE + 1].split()) if isinstance(value, str) else text[: _VALUE + 1], _VALUE)


def templates(text: str, role: str = "bright") -> list[Piece]:
    """Return a text with its `{{name}}` in the colour of names."""
    pieces: list[Piece] = []
    at = 0
    for match in _TEMPLATE.finditer(text):
        pieces += [(text[at : match.start()], role)] if match.start() > at else []
        pieces.append((match.group(), "json-key"))
        at = match.end()
    return [*pieces, (text[at:], role)] if at < len(text) or not pieces else pieces


class _Step:
    """Adds the rows of one step to a page."""

    def __init__(
        self,
        page: FlowPage,
        flow: Flow,
        number: int,
        step: PlainStep,
        run: NewestRun | None,
        width: int,
        *,
        column: int,
        running: str,
    ) -> None:
        self.page, self.flow, self.number, self.step, self.run = page, flow, number, step, run
        self.width, self.running = width, running
        self.results = run.steps.get(number, []) if run is not None else []
        self.line = flow.line_of_step(number)
        self.column = _LEAD + column

    def add(self, *, opened: bool, changed: Sequence[str]) -> None:
        """Add the head, then what is sent, what is captured, what is expected."""
        self._head()
        arguments = dict(arguments_of(self.step))
        if arguments:
            self._labelled("args", _pairs(arguments))
        if isinstance(self.step.get("each"), list):
            self._labelled("each", [f"{quantity(len(self.step['each']), 'row')}"])
        captures = self.step.get("capture")
        if isinstance(captures, Mapping):
            for name, path in captures.items():
                self._labelled("capture" if name == next(iter(captures)) else "", self._capture(name, path))
        # Of a run of an earlier session only the outcome is known.
        if not any(result.expectations or result.error for result in self.results):
            self._expected_texts()
        for result in self.results:
            self._result(result, opened=opened)
        for result in self.run.nested.get(self.number, ()) if self.run is not None else ():
            self._nested(result, opened=opened)
        for at, text in enumerate(changed):
            self._labelled("changed" if not at else "", [(text, "finding")])

    def _head(self) -> None:
        signs = signs_now()
        action, subject = action_of(self.step)
        own = self.step.get("name")
        does = [(f"{action} " if own else "", "normal"), *templates(safe(subject, 200), "normal")]
        name = ellipsis(safe(str(own or action), 60), self.column - _LEAD - 1)
        outcome = self.run.outcome_of(self.number) if self.run is not None else "not_run"
        sign = (signs.progress, "progress") if self.running else sign_of(outcome)
        lead = f" {self.number} ".ljust(_LEAD - 1)
        tries = sum(result.tries for result in self.results)
        right = self.running or (took(outcome, self.run.seconds_of(self.number)) if self.run else "")
        if tries > max(len(self.results), 1):
            right = f"{tries} tries  {right}"
        left: list[Piece] = [sign, (lead, "muted"), (name.ljust(self.column - _LEAD), "bright bold"), *does]
        self.page.heads[self.number] = len(self.page.rows)
        self._add(self._spread(left, right), self.line, hang=self.column)
        skip = self.step.get("skip")
        if isinstance(skip, str) and skip:
            self._labelled("skip", [(skip, "muted")])

    def _capture(self, name: str, path: Any) -> list[Piece]:
        pieces: list[Piece] = [(f"{name} = ", "normal"), (plain(path), "muted")]
        value = next((result.captured[name] for result in self.results[::-1] if name in result.captured), None)
        if any(name in result.captured for result in self.results):
            pieces += [(f" {signs_now().sent} ", "muted"), (plain(value), "json-number")]
        return pieces

    def _expected_texts(self) -> None:
        for at, text in enumerate(expectation_texts(self.step.get("expect"))):
            self._labelled("expect" if not at else "", [(f"{signs_now().later} ", "muted"), *templates(text, "muted")])

    def _result(self, result: StepResult, *, opened: bool) -> None:
        signs = signs_now()
        many = len(self.results) > 1
        if many:
            what = f"row {result.row}" if result.row else result.name
            sent = "  ".join(f"{name} {plain(value)}" for name, value in result.arguments.items())
            left: list[Piece] = [sign_of(result.outcome), f" {what}  ", (sent[: self.width], "muted")]
            room = self._spread([" " * self.column, *left], took(result.outcome, result.seconds))
            self._add(room, result.line or self.line, hang=self.column + 2)
        if result.error:
            role = "error" if result.outcome == "failed" else "muted"
            for line in text_lines(result.error)[:_LINES]:
                self._labelled("", [(line, role)])
        expectations = [expectation for expectation in result.expectations if opened or not many or not expectation.ok]
        for at, expectation in enumerate(expectations):
            self._expectation(expectation, label="expect" if not at and not many else "", opened=opened)
        if opened:
            if result.command:
                self._labelled("repeat", [(result.command, "muted")])
            if result.request:
                message_numbers = f"{signs.sent} #{result.request}" + (
                    f"  {signs.received} #{result.answer}" if result.answer else ""
                )
                self._labelled("messages", [(message_numbers, "muted")])

    def _nested(self, result: StepResult, *, opened: bool) -> None:
        """A step of the flow that this one uses; what failed in it is shown."""
        left: list[Piece] = [" " * self.column, sign_of(result.outcome), f" {result.number} {result.name}"]
        self._add(self._spread(left, took(result.outcome, result.seconds)), self.line, hang=self.column + 4)
        if result.error and result.outcome == "failed":
            self._under([(result.error, "error")], self.line)
        for expectation in result.expectations:
            if opened or not expectation.ok:
                self._expectation(expectation, label="", opened=opened)

    def _expectation(self, expectation: ExpectationResult, *, label: str, opened: bool) -> None:
        signs = signs_now()
        line = expectation.line or self.line
        sign: Piece = (signs.done, "received") if expectation.ok else (signs.failed, "error")
        text = expectation.text if expectation.ok or not expectation.path else expectation.path
        lead = f"{' ' * _LEAD}{label:<{self.column - _LEAD}}"
        short = (
            expectation.ok
            and not opened
            and 0 < len(expectation.found) <= _SHORT_VALUE
            and expectation.found not in expectation.text
        )
        pieces: list[Piece] = [(lead, "muted"), sign, " ", *templates(text, "normal" if expectation.ok else "bright")]
        self._add(self._spread(pieces, expectation.found if short else ""), line, hang=self.column + 2)
        if expectation.ok and not opened:
            return
        if not expectation.ok or expectation.expected or expectation.found:
            self._value("expected", expectation.expected, "received", line)
            self._value("found", expectation.found, "normal" if expectation.ok else "error", line)
        if expectation.note:
            for text in text_lines(expectation.note)[:_LINES]:
                self._under([(text, "muted")], line)
        if not expectation.ok:
            passed = self.run.passed_at.get(self.number) if self.run is not None else None
            last_pass = f"last passed {day_and_time(passed)}   " if passed else ""
            self._under([(f"{last_pass}line {line}", "faint")], line)

    def _value(self, label: str, value: str, role: str, line: int) -> None:
        if not value:
            return
        lines = text_lines(value)
        for at, text in enumerate(lines[:_LINES]):
            self._under([(f"{label if not at else '':<10}", "muted"), (text, role)], line, hang=10)
        if len(lines) > _LINES:
            self._under([(f"{quantity(len(lines) - _LINES, 'more line')}", "faint")], line)

    def _under(self, pieces: list[Piece], line: int, hang: int = 0) -> None:
        self._add([(" " * (self.column + 2), "muted"), *pieces], line, hang=self.column + 2 + hang)

    def _labelled(self, label: str, pieces: Sequence[Piece]) -> None:
        lead = f"{' ' * _LEAD}{label:<{self.column - _LEAD}}"
        self._add([(lead, "muted"), *pieces], self.line, hang=self.column)

    def _spread(self, left: list[Piece], right: str) -> list[Piece]:
        """Return pieces with a text at the right end of the row; the last pieces are cut."""
        if not right:
            return left
        room = max(self.width - cell_len(right) - 2, 10)
        kept: list[Piece] = []
        used = 0
        for piece in left:
            text, role = (piece, "normal") if isinstance(piece, str) else piece
            text = ellipsis(safe(text), room - used, signs_now().cut) if room > used else ""
            used += cell_len(text)
            kept.append((text, role))
        return [*kept, (f"{' ' * max(self.width - used - cell_len(right), 2)}{right}", "muted")]

    def _add(self, pieces: Pieces, line: int, *, hang: int) -> None:
        self.page.add(Row(pieces, min(hang, max(self.width // 2, 4))), self.number, line)


def expectation_texts(expect: Any) -> list[str]:
    """Return the expectations of a step that did not run, a line each."""
    if not isinstance(expect, Mapping):
        return []
    texts: list[str] = []
    for key, value in expect.items():
        if key == "result" and isinstance(value, Mapping):
            texts += [f"{path} {_expectation_text(expectation)}" for path, expectation in value.items()]
        else:
            texts.append(f"{key} {plain(value)}")
    return texts


def _expectation_text(value: Any) -> str:
    """Return the text of one expectation: `is "new"`, `contains order`, `has status "new", lines 2`."""
    if not isinstance(value, Mapping):
        return f"is {json_of(value)}"
    if value and all(key in MATCHERS for key in value):
        return ", ".join(f"{key.replace('_', ' ')} {plain(operand)}" for key, operand in value.items())
    return f"has {', '.join(f'{key} {json_of(operand)}' for key, operand in value.items())}"
