"""A report as one web page without scripts or external resources, with plots in SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from html import escape
from pathlib import Path

from inspector.features.load.plan import number_text, rate_text
from inspector.features.load.report import LoadReport
from inspector.features.load.reports.text import plan_line, row_limits, shown_times, time_text
from inspector.html_page import page_head
from inspector.text import count, safe, size
from inspector.version import __version__

_WIDTH, _HEIGHT, _LEFT = 900, 120, 70
_ROW = 20


def as_html(report: LoadReport) -> str:
    """Return the page."""
    return "\n".join(_lines(report)) + "\n"


def _text(value: object, limit: int = 2000) -> str:
    return escape(safe(value, limit))


def _lines(report: LoadReport) -> Iterator[str]:
    title = f"Load of {safe(', '.join(report.plan.tools), 200)}"
    yield page_head(title, Path(__file__).with_name("report.css").read_text(encoding="utf-8"))
    yield f"<body><h1>{escape(title)}</h1>"
    yield f"<p>{_text(plan_line(report.plan))}</p><p><code>{_text(report.target, 400)}</code></p>"
    if report.incomplete:
        yield f'<p class="bad">Incomplete: {_text(report.incomplete)}</p>'
    yield f'<p class="verdict">{_text(report.verdict)}</p>'
    if report.conditions:
        yield '<table><tr><th class="text">condition</th><th>found</th><th></th></tr>'
        for condition in report.conditions:
            failing = condition in report.failing
            mark = '<td class="bad">failed</td>' if failing else '<td class="good">passed</td>'
            cells = f'<td class="text">{_text(condition.text)}</td><td>{_text(condition.figure(report))}</td>{mark}'
            yield f"<tr>{cells}</tr>"
        yield "</table>"
    yield from _steps(report)
    yield from _figures(report)
    yield from _tools(report)
    yield from _plots(report)
    yield from _errors(report)
    yield f"<p>Written by inspector {__version__}.</p></body></html>"


def _steps(report: LoadReport) -> Iterator[str]:
    if report.steps:
        yield '<h2>Rates</h2><table><tr><th>rate</th><th>answers</th><th>p99</th><th class="text">bound</th></tr>'
        for step in sorted(report.steps, key=lambda step: step.rate):
            figures = (rate_text(step.rate), rate_text(step.throughput, 4), time_text(step.p99))
            cells = "".join(f"<td>{_text(figure)}</td>" for figure in figures)
            yield f'<tr>{cells}<td class="text">{_text(step.broken or "held")}</td></tr>'
        yield "</table>"


def _figures(report: LoadReport) -> Iterator[str]:
    rows = [
        ("sent", count(report.sent)),
        ("done", f"{count(report.done)} ({rate_text(report.throughput, 4)})"),
        ("failed", count(report.failed)),
        ("not sent", count(report.not_sent)),
    ]
    if report.at_server or report.queued:
        rows += [("at the server at the end", count(report.at_server)), ("in the queue", count(report.queued))]
    if report.cpu is not None:
        rows.append(("CPU of the server", f"{report.cpu:.2f} s"))
    if report.rss is not None:
        rows.append(("memory of the server", size(report.rss)))
    if report.floor is not None:
        rows.append(("own latency, p50", time_text(report.floor.p50)))
    rows.append(("CPU of Inspector", f"{100 * report.own_cpu:.0f} % of a core"))
    yield "<h2>Figures after the warm-up</h2><table>"
    yield "".join(f'<tr><td class="text">{name}</td><td>{_text(value)}</td></tr>' for name, value in rows)
    yield "</table>"
    if report.latency.count:
        first = "latency" if report.is_closed else "from the planned start"
        yield f"<h2>Latency</h2><table><tr><th></th><th>{first}</th><th>service time</th></tr>"
        for name in shown_times(report.latency):
            times = "".join(
                f"<td>{_text(time_text(column.value(name)))}</td>" for column in (report.latency, report.service)
            )
            yield f'<tr><td class="text">{name}</td>{times}</tr>'
        yield "</table>"


def _tools(report: LoadReport) -> Iterator[str]:
    if report.tools:
        heads = "".join(f"<th>{name}</th>" for name in ("done", "failed", "p50", "p99", "service time, p99"))
        yield f'<h2>By tool</h2><table><tr><th class="text">tool</th>{heads}</tr>'
        for tool in report.tools:
            times = (tool.latency.percentile(50), tool.latency.percentile(99), tool.service.percentile(99))
            figures = (count(tool.done), count(tool.failed), *map(time_text, times))
            cells = "".join(f"<td>{_text(figure)}</td>" for figure in figures)
            yield f'<tr><td class="text">{_text(tool.tool, 200)}</td>{cells}</tr>'
        yield "</table>"


def _plots(report: LoadReport) -> Iterator[str]:
    limits = row_limits((report.latency, report.service))
    if limits:
        names = ("Latency" if report.is_closed else "From the planned start", "Service time")
        columns = [times.rows(limits) for times in (report.latency, report.service)]
        yield f"<h2>Histogram (log scale)</h2>{_histogram(limits, names, columns)}"
    points = report.series
    if len(points) < 2:
        return
    warm_up, width = report.plan.warm_up, report.width
    times = [sample.t for sample in points]

    def plot(name: str, values: Sequence[float], form: Callable[[float], str]) -> str:
        return f"<h2>{name}</h2>{_series(times, values, width, warm_up, form)}"

    yield plot("Answers per second", report.result_rates, partial(rate_text, digits=4))
    yield plot("Waiting calls", [float(sample.waiting) for sample in points], "{:.0f}".format)
    yield plot("p99", [sample.p99 or 0.0 for sample in points], time_text)
    if any(sample.cpu is not None for sample in points):
        yield plot("CPU of the server", [100 * (sample.cpu or 0.0) for sample in points], "{:.0f} %".format)
        yield plot(
            "Memory of the server", [float(sample.rss or 0) for sample in points], lambda value: size(int(value))
        )


def _histogram(limits: Sequence[float], names: Sequence[str], columns: Sequence[Sequence[int]]) -> str:
    largest = max(max(column) for column in columns)
    height = _ROW * (len(limits) + 1)
    wide = (_WIDTH - _LEFT) / 2
    parts = [f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="Histogram of latencies">']
    for at, (name, column) in enumerate(zip(names, columns, strict=True)):
        left = _LEFT + at * wide
        parts.append(f'<text x="{left:.0f}" y="14">{escape(name)}</text>')
        for row, number in enumerate(column):
            top = _ROW * (row + 1)
            length = (wide - 90) * number / largest
            parts.append(f'<rect class="bar" x="{left:.0f}" y="{top + 3}" width="{length:.1f}" height="{_ROW - 6}"/>')
            parts.append(f'<text x="{left + length + 6:.1f}" y="{top + 14}">{count(number)}</text>')
    for row, limit in enumerate(limits):
        parts.append(f'<text x="0" y="{_ROW * (row + 1) + 14}">{_text(time_text(limit))}</text>')
    return "".join((*parts, "</svg>"))


def _series(
    times: Sequence[float], values: Sequence[float], width: float, warm_up: float, form: Callable[[float], str]
) -> str:
    largest = max(values) or 1.0
    end = times[-1] + width
    scale = (_WIDTH - _LEFT) / end
    parts = [f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT + 20}" role="img">']
    for t, value in zip(times, values, strict=True):
        tall = _HEIGHT * value / largest
        kind = "warm-up" if t < warm_up else "bar"
        parts.append(
            f'<rect class="{kind}" x="{_LEFT + t * scale:.1f}" y="{_HEIGHT - tall:.1f}" '
            f'width="{max(width * scale - 0.5, 0.5):.1f}" height="{tall:.1f}"/>'
        )
    parts.append(f'<line class="axis" x1="{_LEFT}" y1="{_HEIGHT}" x2="{_WIDTH}" y2="{_HEIGHT}"/>')
    parts.append(f'<text x="0" y="12">{_text(form(largest))}</text><text x="0" y="{_HEIGHT}">0</text>')
    parts.append(f'<text x="{_LEFT}" y="{_HEIGHT + 16}">0 s</text>')
    parts.append(f'<text x="{_WIDTH}" y="{_HEIGHT + 16}" text-anchor="end">{number_text(end, 3)} s</text>')
    return "".join((*parts, "</svg>"))


def _errors(report: LoadReport) -> Iterator[str]:
    if not report.errors:
        return
    yield '<h2>Errors</h2><table><tr><th>count</th><th>kind</th><th class="text">message</th><th>from</th></tr>'
    for error in report.errors:
        kind = error.kind if error.code is None else f"{error.kind} {error.code}"
        yield (
            f'<tr><td>{count(error.count)}</td><td>{_text(kind)}</td><td class="text">{_text(error.message)}</td>'
            f"<td>{error.first:.1f} s</td></tr>"
        )
    yield "</table>"
