"""The steps of a connection as rows: action, result, time."""

from __future__ import annotations

from inspector.client.state.steps import ConnectionStep
from inspector.text import duration
from inspector.tui.themes import signs_now
from inspector.tui.widgets.fact_rows import Row, text_lines

TITLE = 11
TIME = 10
INDENT = 2 + TITLE + TIME + 2
MIN_BESIDE = 40
"""Cells that the detail needs beside the title; with fewer it is below."""
MAX_LINES = 6


def step_rows(steps: list[ConnectionStep], width: int) -> list[Row]:
    """Return each step: sign, title, time since the start of the connection, and its text."""
    signs = signs_now()
    marks = {
        "ok": (signs.done, "received"),
        "note": (signs.finding, "finding"),
        "failed": (signs.failed, "error"),
        "waiting": (signs.progress, "progress"),
        "open": (signs.later, "faint"),
    }
    rows: list[Row] = []
    for step in steps:
        mark, role = marks[step.outcome]
        below = width - INDENT < MIN_BESIDE
        indent = 4 if below else INDENT
        lines = text_lines(step.detail)
        said = [(line, "error" if step.outcome == "failed" else "normal") for line in lines[:MAX_LINES]]
        if len(lines) > MAX_LINES:
            said.append((f"{signs.cut} {len(lines) - MAX_LINES:,} more lines", "muted"))
        head = [(f"{mark} ", role), (f"{step.title:<{TITLE}}", "muted"), (f"{duration(step.t):>{TIME}}  ", "faint")]
        rows.append(Row(head if below else [*head, said.pop(0)], indent))
        rows += [Row([(" " * indent, "muted"), line], indent) for line in said]
    return rows
