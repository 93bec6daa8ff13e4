"""A run as text: a line for each flow, what failed, and the counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from html import escape
from pathlib import Path

from inspector.calls.results import ExpectationResult, FlowResult, RunResult, StepResult
from inspector.config.paths import display_path
from inspector.html_page import page_head
from inspector.junit import Case, Suite, junit_xml
from inspector.markup import fence, span
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
    """Lines for people. Each column is as wide as the longest path or name in `paths` needs."""

    def __init__(self, paths: Mapping[str, str], *, ascii: bool = False, paint: Paint = plain) -> None:
        """`paths`: the names of the flows by path."""
        self.ascii = ascii
        self.paint = paint
        self._path = min(max(map(cell_len, map(self._safe, paths)), default=0), _WIDEST_PATH)
        self._name = min(max(map(cell_len, map(self._safe, paths.values())), default=0), _WIDEST_NAME)
        sign = signs(ascii)
        self._signs = {"passed": sign.done, "failed": sign.failed, "skipped": sign.later, "not_run": sign.later}

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
                yield f"{_INDENT}recording  {self._safe(display_path(flow.recording))}"
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
        for failure in step.failures:
            yield from self._expectation(failure)
        if step.tries > 1:
            yield f"{_INDENT}tries      {step.tries}"
        if step.command:
            yield f"{_INDENT}repeat     {self._safe(step.command, 8000)}"
        if flow.recording is None:
            return
        yield f"{_INDENT}recording  {self._safe(display_path(flow.recording))}"
        if step.request:
            answer = f" and {step.answer}" if step.answer else ""
            yield f"{_INDENT}{'events' if answer else 'event '}     {step.request}{answer}"

    def _expectation(self, expectation: ExpectationResult) -> Iterator[str]:
        yield f"{_INDENT}{self._safe(expectation.path or expectation.text, 500)}"
        yield f"{_INDENT}expected   {self._safe(expectation.expected, 2000)}"
        yield f"{_INDENT}found      {self._safe(expectation.found, 2000)}"
        for at, line in enumerate(expectation.note.split("\n") if expectation.note else []):
            yield f"{_INDENT}{'note       ' if not at else '           '}{self._safe(line, 2000)}"
        yield ""

    def totals(self, run: RunResult) -> str:
        """The counts of a run in one line."""
        counts = run.counts()
        parts = []
        for noun, outcomes in (("saved call", counts["flows"]), ("step", counts["steps"])):
            words = [quantity(sum(outcomes.values()), noun)]
            for outcome in _ORDER:
                if outcomes[outcome]:  # type: ignore[index]
                    text = f"{outcomes[outcome]} {outcome.replace('_', ' ')}"  # type: ignore[index]
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
    return next((f"{failure.line}:{failure.column}" for failure in step.failures if failure.line), str(step.line))


def _padded(text: str, cells: int) -> str:
    return text + " " * max(cells - cell_len(text), 0)


def as_junit(run: RunResult) -> str:
    """The document. A flow that could not be run has one case more, with the error."""
    return junit_xml([_suite(flow, run) for flow in run.flows])


def _suite(flow: FlowResult, run: RunResult) -> Suite:
    path = flow.display_path or str(flow.path)
    cases = [_case(flow, step, path) for step in flow.steps]
    if flow.error and flow.outcome == "failed" and not flow.failed_steps:
        cases.append(Case("connection", path, error=flow.error, details=flow.error, file=path, line=1))
    properties = [("path", path), ("outcome", flow.outcome)]
    if flow.target:
        properties.append(("target", flow.target))
    if flow.recording is not None:
        properties.append(("recording", display_path(flow.recording)))
    if run.seed is not None:
        properties.append(("seed", str(run.seed)))
    if run.dry:
        properties.append(("dry_run", "true"))
    if run.interrupted:
        properties.append(("complete", "false"))
    return Suite(flow.name, cases, properties, max(flow.seconds, sum(case.seconds for case in cases)))


def _case(flow: FlowResult, step: StepResult, path: str) -> Case:
    number = f"{step.parent}.{step.number}" if step.parent else str(step.number)
    name = f"{number} {step.name}" + (f" row {step.row}" if step.row else "")
    file, line = str(step.path or path), int(place_of(step).partition(":")[0])
    seconds = 0.0 if step.label.startswith("use ") else step.seconds  # Its steps have the time.
    if step.outcome == "failed":
        first = next(iter(step.failures), None)
        message = step.error or (f"{first.text}: expected {first.expected}, found {first.found}" if first else "failed")
        details = "\n".join(TextReport({path: flow.name}).failure(flow, step)).strip("\n")
        return Case(name, path, failure=message, seconds=seconds, details=details, file=file, line=line)
    if step.outcome in ("skipped", "not_run"):
        return Case(name, path, skipped=step.error or step.outcome.replace("_", " "), file=file, line=line)
    return Case(name, path, seconds=seconds, file=file, line=line)


_WORDS = {"passed": "passed", "failed": "**failed**", "skipped": "skipped", "not_run": "not run"}


def as_markdown(run: RunResult) -> str:
    """The document: the counts, a table of flows, and what failed."""
    lines = ["# Saved calls", "", f"{TextReport({}).totals(run)}", ""]
    for note in TextReport({}).notes(run):
        lines += [note, ""]
    lines += ["| Outcome | File | Saved call | Steps | Time |", "|---|---|---|---|---|"]
    for flow in run.flows:
        path = span(flow.display_path or str(flow.path)).replace("|", "\\|")
        name = span(flow.name).replace("|", "\\|")
        took = duration(flow.seconds * 1e6)
        lines.append(f"| {_WORDS[flow.outcome]} | {path} | {name} | {steps_of(flow)} | {took} |")
    for flow in run.flows:
        if flow.outcome == "failed":
            lines += ["", f"## {span(flow.display_path or str(flow.path))}", "", fence(failure_text(flow))]
    return "\n".join(lines) + "\n"


def as_html(run: RunResult) -> str:
    """The page: the counts, and for each flow its steps and what failed."""
    note = "".join(f"<p>{_text(line)}</p>" for line in TextReport({}).notes(run))
    flows = "\n".join(map(_flow_html, run.flows))
    return page_head("Saved calls", Path(__file__).with_name("report.css").read_text(encoding="utf-8")) + (
        f"<body>\n<h1>Saved calls</h1>\n<p>{_text(TextReport({}).totals(run))}</p>{note}\n{flows}\n</body></html>\n"
    )


def _flow_html(flow: FlowResult) -> str:
    path = _text(flow.display_path or str(flow.path))
    rows = "\n".join(map(_step_html, flow.steps))
    failed = f"<pre>{_text(failure_text(flow), 100_000)}</pre>" if flow.outcome == "failed" else ""
    recording = f"<p>Recording: {_text(display_path(flow.recording))}</p>" if flow.recording is not None else ""
    return (
        f'<h2><span class="{flow.outcome}">{_text(flow.outcome.replace("_", " "))}</span> {_text(flow.name)}</h2>\n'
        f"<p>{path}, {_text(steps_of(flow))}, {_text(duration(flow.seconds * 1e6))}</p>\n"
        f"<table><tr><th>Outcome<th>Step<th>Does<th>Time</tr>\n{rows}</table>\n{failed}{recording}"
    )


def _step_html(step: StepResult) -> str:
    number = f"{step.parent}.{step.number}" if step.parent else str(step.number)
    row = f" row {step.row}" if step.row else ""
    took = duration(step.seconds * 1e6) if step.outcome in ("passed", "failed") else ""
    reason = f" ({step.error})" if step.outcome in ("skipped", "not_run") and step.error else ""
    return (
        f'<tr><td class="{step.outcome}">{step.outcome.replace("_", " ")}<td>{number} {_text(step.name)}{row}'
        f"<td>{_text(step.label + reason)}<td>{_text(took)}</tr>"
    )


def _text(text: str, limit: int = 4000) -> str:
    return escape(safe(text, limit, multiline=True))
