"""A run as text: a line for each flow, what failed, and the counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from inspector.config.paths import shown
from inspector.flows.results import ExpectationResult, FlowResult, RunResult, StepResult
from inspector.text import cell_len, duration, quantity, safe, signs

Colour = str | None
Paint = Callable[[str, Colour], str]
_WIDEST_NAME = 40
_WIDEST_PATH = 60
_INDENT = "    "
DRY_RUN = "This was a dry run: each server was started or contacted for its lists, and no call was sent."
_ORDER = ("failed", "passed", "skipped", "not_run")
_COLOURS = {"passed": "green", "failed": "red", "skipped": "yellow", "not_run": "yellow"}


def plain(text: str, _colour: Colour) -> str:
    """Text without colours."""
    return text


class TextReport:
    """Lines for people. `widths` are those of the columns of all flows."""

    def __init__(self, paths: Mapping[str, str], *, ascii: bool = False, paint: Paint = plain) -> None:
        """`paths`: the names of the flows by path."""
        self.ascii = ascii
        self.paint = paint
        self._path = min(max(map(cell_len, map(self._safe, paths)), default=0), _WIDEST_PATH)
        self._name = min(max(map(cell_len, map(self._safe, paths.values())), default=0), _WIDEST_NAME)
        shown = signs(ascii)
        self._signs = {"passed": shown.done, "failed": shown.failed, "skipped": shown.later, "not_run": shown.later}

    def _safe(self, text: str, limit: int = 1000) -> str:
        return safe(text, limit, ascii=self.ascii)

    def _sign(self, outcome: str) -> str:
        return self.paint(self._signs[outcome], _COLOURS[outcome])

    def flow(self, flow: FlowResult) -> str:
        """The line of one flow."""
        path = _padded(self._safe(flow.display_path or str(flow.path)), self._path)
        name = _padded(self._safe(flow.name), self._name)
        steps = _padded(steps_of(flow), 26)
        return f"{self._sign(flow.outcome)} {path}    {name}    {steps} {duration(flow.seconds * 1e6):>8}".rstrip()

    def step(self, step: StepResult) -> str:
        """The line of one step, with -v."""
        row = f" row {step.row}" if step.row else ""
        name = self._safe(step.name, 200)
        reason = f"  {self._safe(step.error, 200)}" if step.outcome in ("skipped", "not_run") and step.error else ""
        took = duration(step.seconds * 1e6) if step.outcome in ("passed", "failed") else step.outcome.replace("_", " ")
        indent = "    " if step.parent else "  "
        return f"{indent}{self._sign(step.outcome)} {step.number} {name}{row}  {took}{reason}"

    def failures(self, flow: FlowResult) -> Iterator[str]:
        """Yield the lines about the failures of a flow."""
        if flow.error and flow.outcome != "passed" and not flow.failed_steps:
            yield ""
            what = "failed" if flow.outcome == "failed" else "not run"
            yield f"{self._sign(flow.outcome)} {what}  {self._safe(flow.display_path or str(flow.path))}"
            yield ""
            yield f"{_INDENT}{self._safe(flow.error, 2000)}"
            if flow.recording is not None:
                yield f"{_INDENT}recording  {self._safe(shown(flow.recording))}"
        for step in flow.failed_steps:
            yield from self.failure(flow, step)

    def failure(self, flow: FlowResult, step: StepResult) -> Iterator[str]:
        """One step that failed."""
        where = f"{self._safe(str(step.path or flow.display_path or flow.path))}:{place_of(step)}"
        row = f" row {step.row}" if step.row else ""
        named = f" {self._safe(step.name, 200)}" if step.name != step.label else ""
        yield ""
        yield (
            f"{self._sign('failed')} failed  {where}  step {step.number}{row}{named}  {self._safe(step.label, 200)}"
            f"    {duration(step.seconds * 1e6)}"
        )
        yield ""
        if step.error:
            yield f"{_INDENT}{self._safe(step.error, 2000)}"
        for each in step.failures:
            yield from self._expectation(each)
        if step.tries > 1:
            yield f"{_INDENT}tries      {step.tries}"
        if step.command:
            yield f"{_INDENT}repeat     {self._safe(step.command, 8000)}"
        if flow.recording is None:
            return
        yield f"{_INDENT}recording  {self._safe(shown(flow.recording))}"
        if step.request:
            answer = f" and {step.answer}" if step.answer else ""
            yield f"{_INDENT}{'events' if answer else 'event '}     {step.request}{answer}"

    def _expectation(self, each: ExpectationResult) -> Iterator[str]:
        yield f"{_INDENT}{self._safe(each.path or each.text, 500)}"
        yield f"{_INDENT}expected   {self._safe(each.expected, 2000)}"
        yield f"{_INDENT}found      {self._safe(each.found, 2000)}"
        for at, line in enumerate(each.note.split("\n") if each.note else []):
            yield f"{_INDENT}{'note       ' if not at else '           '}{self._safe(line, 2000)}"
        yield ""

    def totals(self, run: RunResult) -> str:
        """The counts of a run in one line."""
        counts = run.counts()
        parts = []
        for noun, found in (("flow", counts["flows"]), ("step", counts["steps"])):
            words = [quantity(sum(found.values()), noun)]
            for outcome in _ORDER:
                if found[outcome]:  # type: ignore[index]
                    text = f"{found[outcome]} {outcome.replace('_', ' ')}"  # type: ignore[index]
                    words.append(self.paint(text, _COLOURS[outcome]) if outcome == "failed" else text)
            parts.append("   ".join(words))
        return f"{'      '.join(parts)}    {duration(run.seconds * 1e6)}"

    def notes(self, run: RunResult) -> list[str]:
        """Return sentences that a reader of the counts needs."""
        return [DRY_RUN] * run.dry + ["The run was interrupted: this report is incomplete."] * run.interrupted


def steps_of(flow: FlowResult) -> str:
    """How many steps passed: `2 of 3 steps, 1 skipped`."""
    counts = flow.counts()
    total = sum(counts.values())
    text = f"{counts['passed']} of {quantity(total, 'step')}"
    if counts["skipped"]:
        text += f", {counts['skipped']} skipped"
    if counts["not_run"]:
        text += f", {counts['not_run']} not run"
    return text


def failure_text(flow: FlowResult) -> str:
    """Return the failures of a flow as plain text: for exceptions, tests and reports."""
    report = TextReport({flow.display_path: flow.name})
    return "\n".join(report.failures(flow)).strip("\n")


def place_of(step: StepResult) -> str:
    """Line and column of the first expectation that failed, else the line of the step."""
    return next((f"{each.line}:{each.column}" for each in step.failures if each.line), str(step.line))


def _padded(text: str, cells: int) -> str:
    return text + " " * max(cells - cell_len(text), 0)
