"""A report as rows of panes: plan, counts, histogram, series, errors, server process. Draws nothing itself."""

from __future__ import annotations

from collections.abc import Callable

from inspector.features.load.measurement import Sample
from inspector.features.load.plan import LoadPlan, rate_text
from inspector.features.load.report import LoadReport
from inspector.features.load.reports.text import row_limits, time_text
from inspector.protocol.jsonrpc import excerpt
from inspector.text import count, quantity, safe
from inspector.tui.themes import signs_now
from inspector.tui.widgets.fact_rows import Row, fact
from inspector.tui.widgets.paint import Piece

_AXIS = 9
"""Cells of the labels beside a chart or a histogram."""
_PERCENTILES = ("p50", "p90", "p99", "p99.9", "max")
_SHORT = 60
_EXPLAINED = (
    "Service time starts when the request is sent. The left column adds the time in the queue, "
    "so a stall counts in full."
)


def plan_rows(plan: LoadPlan) -> list[Row]:
    """Return the plan."""
    rows: list[Row] = []
    for call in plan.calls[:20]:
        weight = f" {signs_now().times}{call.weight}" if call.weight > 1 else ""
        rows += fact("tool", f"{call.tool}{weight}", "bright")
        for at, (name, value) in enumerate(list(call.shown.items())[:8]):
            rows += fact("arguments" if not at else "", f"{name}={excerpt(value, _SHORT)}")
    model = f"closed, {plan.users} users" if plan.users else f"open, {rate_text(plan.rate)}"
    rows += fact("model", model, "bright")
    rows += fact("duration", f"{plan.seconds:g} s")
    rows += fact("warm-up", f"{plan.warm_up:g} s")
    rows += fact("connections", f"{plan.connections}")
    if not plan.users:
        if plan.in_flight:
            rows += fact("at once", quantity(plan.at_once, "call"))
        rows += fact("most waiting", count(plan.max_waiting))
    return rows


def now_rows(report: LoadReport, now: float, at_server: int, queued: int, cells: int) -> list[Row]:
    """Return the counts so far, and how much of the run is over."""
    plan = report.plan
    share = min(now / plan.seconds, 1.0)
    filled = round(cells * share)
    bar = signs_now().bars[-1]
    head: list[Piece] = [(f"{min(now, plan.seconds):.1f} s", "bright bold"), (f" of {plan.seconds:g} s", "muted")]
    if now < plan.warm_up:
        head.append(("  warm-up", "progress"))
    counted = max(min(now, plan.seconds) - plan.warm_up, 0.0)
    rows = [Row(head), Row([(bar * filled, "chart"), (signs_now().bars[0] * (cells - filled), "faint")]), Row()]
    failed = 100 * report.failed / report.sent if report.sent else 0.0
    rows.append(_number(cells, "sent", report.sent, rate_text(report.sent / counted, 4) if counted else ""))
    rows.append(_number(cells, "done", report.done, rate_text(report.throughput, 4) if counted else ""))
    rows.append(_number(cells, "failed", report.failed, f"{failed:.2g} %", "error" if report.failed else "bright"))
    many = queued or at_server >= plan.max_waiting
    limit = "" if plan.users else f"of {count(plan.max_waiting)}"
    rows.append(_number(cells, "waiting", at_server + queued, limit, "finding" if many else "bright"))
    rows.append(_number(cells, "  at the server", at_server, "", "normal"))
    rows.append(_number(cells, "  in the queue", queued, "", "normal"))
    if not plan.users:
        rows.append(_number(cells, "not sent", report.not_sent, "", "finding" if report.not_sent else "bright"))
    rows.append(Row())
    if report.floor is not None:
        floor, room = time_text(report.floor.p50), max(cells - 23, 0)
        rows.append(Row([(f"{'own latency':<15}", "muted"), (f"{floor:>8}", "normal"), ("p50".rjust(room), "muted")]))
    if report.lost:
        rows.append(_number(cells, "lost", report.lost, "connections", "finding"))
    return rows


def _number(cells: int, label: str, number: int, beside: str = "", role: str = "bright") -> Row:
    room = max(cells - 24, 0)  # What does not fit stands in the plan, too.
    side = f" {beside.rjust(room)}" if len(beside) <= room else ""
    return Row([(f"{label:<15}", "muted"), (f"{count(number):>8}", role), (side, "muted")])


def latency_rows(report: LoadReport, cells: int) -> list[Row]:
    """Histogram and percentiles of both times, side by side."""
    limits = row_limits((report.latency, report.service))
    if not limits:
        return [Row([("No answer after the warm-up yet.", "muted")])]
    wide = max((cells - _AXIS) // 2, 14)
    columns = [report.latency.rows(limits), report.service.rows(limits)]
    largest = max(max(column) for column in columns)
    first = "latency" if report.is_closed else "from the planned start"
    if len(first) > wide - 2:
        first = "planned start"
    head: list[Piece] = [(" " * _AXIS, "muted"), (first.ljust(wide), "bright"), ("service time", "bright")]
    rows = [Row(head), Row()]
    room = wide - 9
    for at, limit in enumerate(limits):
        pieces: list[Piece] = [(f"{time_text(limit):>{_AXIS - 1}} ", "muted")]
        for column in columns:
            number = column[at]
            length = max(round(room * number / largest), 1) if number else 0
            pieces += [(signs_now().bars[-1] * length, "chart"), " " * (room - length)]
            pieces.append((f"{count(number) if number else '':>7}  ", "normal"))
        rows.append(Row(pieces))
    rows.append(Row())
    for name in _PERCENTILES:
        left, right = report.latency.value(name), report.service.value(name)
        loud = "finding bold" if name == "p99" and left > 4 * right else "bright"
        times = [(time_text(left).rjust(wide - 4).ljust(wide), loud), (time_text(right).rjust(wide - 4), "bright")]
        rows.append(Row([(f"{name:>{_AXIS - 1}} ", "muted"), *times]))
    if report.tools:
        rows += [Row(), Row([("p99 by tool", "bright")])]
    for tool in report.tools[:20]:
        left, right = tool.latency.percentile(99), tool.service.percentile(99)
        name = tool.tool[: wide + _AXIS - 12]
        times = [(time_text(left).rjust(8).ljust(12), "bright"), (time_text(right).rjust(wide - 4), "bright")]
        rows.append(Row([(name.ljust(wide + _AXIS - 12), "muted"), *times]))
    if not report.is_closed:
        rows += [Row(), Row([(_EXPLAINED, "muted")])]
    return rows


def series_rows(report: LoadReport, cells: int, lines: int) -> list[Row]:
    """Answers per second, waiting calls and p99 over the planned time; each chart has `lines` lines."""
    width = report.width or 1.0
    rows = _chart(
        "answers per second", report, lambda sample: (sample.done - sample.failed) / width, _rate, cells, lines
    )
    rows += _chart("waiting", report, lambda sample: float(sample.waiting), _whole, cells, lines)
    name = "p99" if report.is_closed else "p99 from the planned start"
    rows += _chart(name, report, lambda sample: sample.p99 or 0.0, time_text, cells, lines)
    end = f"{report.plan.seconds:g} s"
    rows.append(Row([(" " * _AXIS + "0 s" + end.rjust(max(cells - _AXIS - 3, 0)), "muted")]))
    since = report.queue_since
    if since is not None and not report.keeps_up:
        at = _AXIS + round((cells - _AXIS) * since / report.plan.seconds)
        rows.append(Row([(" " * min(at, cells - 8), "muted"), (f"{signs_now().finding} {since:.0f} s", "finding")]))
    return rows


def process_rows(report: LoadReport, cells: int, lines: int) -> list[Row]:
    """CPU and memory of the server's processes."""
    if report.cpu is None and not report.series:
        return [Row([("Measured while calls are made.", "muted")])]
    if report.cpu is None:
        return [Row([("Unknown: the server's process was not started by Inspector.", "muted")])]
    return [
        *_chart("CPU", report, lambda sample: 100 * (sample.cpu or 0.0), lambda value: f"{value:.0f} %", cells, lines),
        *_chart(
            "memory", report, lambda sample: (sample.rss or 0) / 1e6, lambda value: f"{value:.0f} MB", cells, lines
        ),
    ]


def error_rows(report: LoadReport, cells: int) -> list[Row]:
    """Errors by kind, the most frequent first."""
    rows = []
    for error in report.errors[:50]:
        kind = "isError" if error.kind == "tool" else str(error.code) if error.code is not None else error.kind
        since = f"from {error.first:.1f} s"
        room = max(cells - 8 - len(kind) - 2 - len(since) - 2, 8)
        text = error.message[:room]
        message = (f"{kind}  {text.ljust(room)}", "normal")
        rows.append(Row([(f"{count(error.count):>6}  ", "error"), message, (f"  {since}", "muted")]))
    if report.stderr:
        rows += [Row(), Row([("stderr of the server before its end", "bright")])]
        rows += [Row([(safe(line, cells), "normal")]) for line in report.stderr]
    return rows or [Row([("none", "muted")])]


def _rate(value: float) -> str:
    return rate_text(value, 3)


def _whole(value: float) -> str:
    return f"{value:.0f}"


def _chart(
    name: str,
    report: LoadReport,
    value: Callable[[Sample], float],
    form: Callable[[float], str],
    cells: int,
    lines: int,
) -> list[Row]:
    """Return a chart over the planned time: its name and newest value, then `lines` lines of bars."""
    room = max(cells - _AXIS, 10)
    points = [(sample.t, value(sample)) for sample in report.series]
    newest = points[-1][1] if points else 0.0
    largest = max((number for _, number in points), default=0.0)
    end = max(report.plan.seconds, points[-1][0] + report.width if points else 0.0)
    columns = [0.0] * room
    known = [False] * room
    for t, number in points:
        first = min(int(room * t / end), room - 1)
        last = min(max(int(room * (t + report.width) / end - 1e-9), first), room - 1)
        for at in range(first, last + 1):
            columns[at], known[at] = max(columns[at], number), True
    warm_up = int(room * report.plan.warm_up / end)
    gap = max(cells - len(name) - len(form(newest)) - 4, 1)
    rows = [Row([(name, "bright"), (" " * gap + f"now {form(newest)}", "muted")])]
    levels = signs_now().bars
    for line in range(lines, 0, -1):
        label = form(largest) if line == lines else "0" if line == 1 else ""
        text = ""
        for at in range(room):
            height = columns[at] / largest * lines if largest else 0.0
            part = height - (line - 1)
            if part <= 0:
                # The lowest line shows that there is a value.
                text += levels[0] if line == 1 and known[at] and columns[at] else " "
            else:
                text += levels[min(int(part * len(levels)), len(levels) - 1)]
        rows.append(
            Row([(f"{label:>{_AXIS - 1}} ", "muted"), (text[:warm_up], "chart-dim"), (text[warm_up:], "chart")])
        )
    return [*rows, Row()]
