"""A report as text, for terminals and files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from inspector.config.paths import display_path
from inspector.features.load.histogram import Histogram
from inspector.features.load.plan import LoadPlan, number_text, rate_text
from inspector.features.load.report import LoadReport, percent
from inspector.junit import Case, Suite, junit_xml
from inspector.markup import fence, span
from inspector.text import cell_len, count, duration, ellipsis, quantity, safe, signs, size

Colour = str | None
Paint = Callable[[str, Colour], str]
_ROWS = 18
_BAR = 24
_LINE = 60
"""Cells of a line of the series."""
_ERRORS = 10
_TOOL = 60
_HISTOGRAM = 50
"""Fewer times make no histogram: the percentiles say all."""
_STEPS = (1.0, 1.3, 1.8, 2.4, 3.2, 4.2, 5.6, 7.5)
"""Limits of the rows of the histogram within one power of ten: eight rows of about the same width on a log scale."""


def plain(text: str, _colour: Colour) -> str:
    """Text without colours."""
    return text


def time_text(seconds: float) -> str:
    """Return a time with its unit; two digits of one below a millisecond."""
    return f"{seconds * 1e3:.2g} ms" if 0 < seconds < 1e-3 else duration(seconds * 1e6)


def row_limits(times: Sequence[Histogram]) -> list[float]:
    """Return the limits of rows on a log scale, in seconds, that cover some histograms."""
    ends = [upper for histogram in times for upper, _ in histogram.buckets()]
    if not ends:
        return []
    least, largest = max(min(ends), 1e-5), max(ends)
    steps = [step * 10**power for power in range(-5, 6) for step in _STEPS]
    first = max(next((at for at, limit in enumerate(steps) if limit >= least), 0), 0)
    last = next((at for at, limit in enumerate(steps) if limit >= largest), len(steps) - 1)
    every = 1 + (last - first) // _ROWS
    limits = steps[last::-every]
    return [limit for limit in reversed(limits) if limit >= steps[first]]


def shown_times(times: Histogram) -> Sequence[str]:
    """Return the percentiles that so many times have, with the longest one and the mean."""
    return [
        name for name in ("p50", "p90", "p95", "p99", "p99.9", "max", "mean") if name != "p99.9" or times.count >= 1000
    ]


def plan_line(plan: LoadPlan) -> str:
    """Return the plan in a sentence; it says so if it is the closed model."""
    warm_up = f", the first {plan.warm_up:g} s are warm-up" if plan.warm_up else ""
    if plan.users:
        users = "the user sends" if plan.users == 1 else f"each of {count(plan.users)} users sends"
        return (
            f"Closed model: {users} the next call after the answer, so calls that a stall delays are not counted; "
            f"{plan.seconds:g} s{warm_up}"
        )
    return f"Open model: {number_text(plan.rate)} calls/s at constant arrival for {plan.seconds:g} s{warm_up}"


class LoadText:
    """Lines for people."""

    def __init__(self, report: LoadReport, *, ascii: bool = False, paint: Paint = plain) -> None:
        self.report = report
        self.paint = paint
        self._ascii = ascii
        self._bars = signs(ascii).bars

    def _safe(self, text: str, limit: int = 200) -> str:
        return safe(text, limit, ascii=self._ascii)

    def lines(self) -> Iterator[str]:
        """Yield the whole report."""
        report = self.report
        yield self._safe(plan_line(report.plan), 300)
        tools = ", ".join(
            f"{call.tool} ×{call.weight}" if call.weight > 1 else call.tool for call in report.plan.calls[:20]
        )
        yield self._safe(f"{tools}  {report.target}", 400)
        yield ""
        if report.incomplete:
            yield self.paint(self._safe(f"Incomplete: {report.incomplete}", 500), "yellow")
        yield self.paint(self._safe(report.verdict, 500), "bold")
        yield ""
        yield from self._steps()
        yield from self._counts()
        yield from self._times()
        yield from self._tools()
        yield from self._histogram()
        yield from self._series()
        yield from self._errors()
        yield from self._last_words()
        yield from self._ends()

    def _steps(self) -> Iterator[str]:
        report = self.report
        if not report.steps:
            return
        yield f"{'rate':>10}{'answers':>12}{'p99':>12}{'failed':>9}"
        for step in sorted(report.steps, key=lambda step: step.rate):
            rates = f"{rate_text(step.rate):>10}{rate_text(step.throughput, 4):>12}"
            yield (
                f"{rates}{time_text(step.p99):>12}{step.failed:>9}  "
                f"{self.paint(step.broken, 'red') if step.broken else ''}"
            ).rstrip()
        yield ""

    def _counts(self) -> Iterator[str]:
        report = self.report
        seconds = max(min(report.seconds, report.plan.seconds) - report.plan.warm_up, 1e-9)
        yield f"sent      {count(report.sent):>10}  {rate_text(report.sent / seconds, 4)}"
        yield f"done      {count(report.done):>10}  {rate_text(report.throughput, 4)}"
        share = f"  {percent(report.failed / max(report.sent, 1))}" if report.failed else ""
        yield self.paint(f"failed    {count(report.failed):>10}{share}", "red" if report.failed else None)
        if not report.is_closed:
            text = f"not sent  {count(report.not_sent):>10}"
            if any(sample.waiting >= report.plan.max_waiting for sample in report.series):
                text += f"  {count(report.plan.max_waiting)} calls were waiting already"
            yield self.paint(text, "yellow" if report.not_sent else None)
        if report.at_server:
            yield f"at server {count(report.at_server):>10}  without an answer at the end"
        if report.queued:
            yield f"in queue  {count(report.queued):>10}  due, and not sent at the end"
        yield ""

    def _times(self) -> Iterator[str]:
        report = self.report
        if not report.latency.count:
            return
        first = "latency" if report.is_closed else "from the planned start"
        yield f"{'':6}{first:>26}{'service time':>18}"
        for name in shown_times(report.latency):
            left, right = time_text(report.latency.value(name)), time_text(report.service.value(name))
            yield f"{name:<6}{left:>26}{right:>18}"
        yield ""
        if report.has_gap:
            text = f"The longest time without an answer was {time_text(report.longest_gap)}."
            if report.is_closed:
                missing = round(report.longest_gap * report.throughput)
                text += (
                    f" The users sent nothing meanwhile: at their mean rate, {quantity(missing, 'call')} are missing."
                )
            yield text
            yield ""

    def _tools(self) -> Iterator[str]:
        tools = self.report.tools
        if not tools:
            return
        wide = min(max(cell_len(self._safe(tool.tool)) for tool in tools), 40)
        yield f"{'by tool':<{wide}}{'done':>10}{'failed':>9}{'p50':>10}{'p99':>10}{'service p99':>14}"
        for tool in tools:
            name = ellipsis(self._safe(tool.tool), wide, signs(self._ascii).cut)
            times = (tool.latency.percentile(50), tool.latency.percentile(99), tool.service.percentile(99))
            p50, p99, service = map(time_text, times)
            row = f"{name}{' ' * (wide - cell_len(name))}{count(tool.done):>10}{count(tool.failed):>9}"
            yield f"{row}{p50:>10}{p99:>10}{service:>14}"
        yield ""

    def _histogram(self) -> Iterator[str]:
        report = self.report
        limits = row_limits((report.latency, report.service))
        if report.latency.count < _HISTOGRAM:
            return
        columns = [report.latency.rows(limits), report.service.rows(limits)]
        largest = max(max(column) for column in columns)
        for at, limit in enumerate(limits):
            cells = "".join(f"  {self._bar(column[at], largest)}{count(column[at]):>8}" for column in columns)
            yield f"{time_text(limit):>8}{cells}"
        yield ""

    def _bar(self, number: int, largest: int) -> str:
        length = max(round(_BAR * number / largest), 1) if number else 0
        return (self._bars[-1] * length).ljust(_BAR)

    def _series(self) -> Iterator[str]:
        report = self.report
        points = report.series
        if len(points) < 2:
            return
        end = points[-1].t + report.width
        yield self._spark("answers/s", report.result_rates, partial(rate_text, digits=4))
        yield self._spark("waiting", [float(sample.waiting) for sample in points], "{:.0f}".format)
        yield self._spark("p99", [sample.p99 or 0.0 for sample in points], time_text)
        if any(sample.cpu is not None for sample in points):
            yield self._spark("server CPU", [100 * (sample.cpu or 0) for sample in points], "{:.0f} %".format)
            yield self._spark("memory", [(sample.rss or 0) / 1e6 for sample in points], "{:.0f} MB".format)
        cells = min(len(points), _LINE)
        yield f"{'':12}0 s{f'{number_text(end, 3)} s':>{max(cells - 3, 6)}}"
        yield ""

    def _spark(self, name: str, values: Sequence[float], form: Callable[[float], str]) -> str:
        """Return one line of bars. Several points share a bar if there are more than fit, and the highest is shown."""
        cells = min(len(values), _LINE)
        heights = [
            max(values[at * len(values) // cells : max((at + 1) * len(values) // cells, at * len(values) // cells + 1)])
            for at in range(cells)
        ]
        largest = max(heights)
        top = len(self._bars) - 1
        bars = "".join(self._bars[round(top * value / largest)] if largest and value else " " for value in heights)
        return f"{name:<12}{bars}  max {form(largest)}"

    def _errors(self) -> Iterator[str]:
        errors = self.report.errors
        if not errors:
            return
        yield "errors"
        for error in errors[:_ERRORS]:
            kind = "isError" if error.kind == "tool" else str(error.code) if error.code is not None else error.kind
            text = ellipsis(self._safe(error.message), _TOOL, signs(self._ascii).cut)
            pad = " " * max(_TOOL - cell_len(text), 0)
            yield f"{count(error.count):>10}  {self._safe(kind, 20):<10}{text}{pad}  from {error.first:.1f} s"
        if len(errors) > _ERRORS:
            yield f"{'':10}  and {quantity(len(errors) - _ERRORS, 'other kind')}"
        yield ""

    def _last_words(self) -> Iterator[str]:
        if self.report.stderr:
            yield "stderr of the server before its end"
            yield from (f"  {self._safe(line)}" for line in self.report.stderr)
            yield ""

    def _ends(self) -> Iterator[str]:
        report = self.report
        share = report.server_share
        if share is not None and report.cpu is not None:
            memory = f", memory up to {size(report.rss)}" if report.rss else ""
            yield f"server      CPU {report.cpu:.2f} s ({100 * share:.0f} % of a core){memory}"
        else:
            yield "server      CPU and memory are unknown: its process is not our child"
        if report.floor is not None:
            over = "stdio" if report.transport == "stdio" else "http"
            yield (
                f"own latency p50 {time_text(report.floor.p50)}, p99 {time_text(report.floor.p99)}: "
                f"a server that answers at once, over {over}, with the same plan"
            )
        else:
            yield "own latency not measured"
        yield f"inspector   {100 * report.own_cpu:.0f} % of a core"
        for condition in report.conditions:
            failing = condition in report.failing
            sign = signs(self._ascii).failed if failing else f"{signs(self._ascii).done} not"
            yield self.paint(
                f"{sign} {self._safe(condition.text, 100)}  found {condition.figure(report)}",
                "red" if failing else "green",
            )


def as_junit(report: LoadReport) -> str:
    """Return the document. Without conditions, and for a run that ended early, it has the case “complete”."""
    details = "\n".join(LoadText(report).lines())
    cases = [
        Case(
            condition.text,
            "load",
            failure=f"{condition.text} holds: {condition.figure(report)}" if condition in report.failing else "",
            details=details if condition in report.failing else "",
        )
        for condition in report.conditions
    ]
    problem = report.incomplete or report.loss
    if problem or not cases:
        cases.append(Case("complete", "load", error=problem, details=details if problem else ""))
    properties = [("plan", plan_line(report.plan)), ("verdict", report.verdict)]
    if report.recording:
        properties.append(("recording", display_path(Path(report.recording))))
    return junit_xml([Suite(f"load of {', '.join(report.plan.tools)}", cases, properties, report.seconds)])


def as_markdown(report: LoadReport) -> str:
    """Return the document: the result, the conditions that hold, and the figures as text."""
    lines = [f"# Load test of {span(', '.join(report.plan.tools))}", "", span(report.verdict), ""]
    lines += [
        f"- **failed**: {span(condition.text)}, found {span(condition.figure(report))}" for condition in report.failing
    ]
    lines += [""] if report.failing else []
    return "\n".join((*lines, fence("\n".join(LoadText(report).lines()))))
