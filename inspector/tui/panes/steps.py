"""The steps of a connection as rows: what was done, how it went, when."""

from __future__ import annotations

from inspector.client.steps import Step
from inspector.text import duration
from inspector.tui.rows import beside
from inspector.tui.themes import signs_now
from inspector.tui.widgets.paint import Pieces

TITLE = 11
TIME = 8
INDENT = 2 + TITLE + TIME + 2
LEAST_BESIDE = 40
"""Cells for the detail beside the title; where there are fewer it stands below."""


def step_rows(steps: list[Step], width: int) -> list[Pieces]:
    """Each step: sign, title, time since the start of the recording, and the detail over as many lines as it needs."""
    signs = signs_now()
    marks = {
        "ok": (signs.done, "received"),
        "note": (signs.finding, "finding"),
        "failed": (signs.failed, "error"),
        "waiting": (signs.progress, "progress"),
        "open": (signs.later, "faint"),
    }
    rows: list[Pieces] = []
    for step in steps:
        mark, role = marks[step.outcome]
        below = width - INDENT < LEAST_BESIDE
        room = width - 4 if below else width - INDENT
        texts = beside(step.detail, room, "error" if step.outcome == "failed" else "normal", limit=6)
        time = f"{duration(step.t):>{TIME}}  "
        head = [(f"{mark} ", role), (f"{step.title:<{TITLE}}", "muted"), (time, "faint")]
        rows.append(head if below else [*head, texts.pop(0)])
        rows += [[" " * (4 if below else INDENT), line] for line in texts]
    return rows
