"""The steps of a connection as rows: what was done, how it went, when."""

from __future__ import annotations

from inspector.client.steps import Step
from inspector.text import duration
from inspector.tui.themes import signs_now
from inspector.tui.widgets.paint import Pieces

TITLE = 12


def step_rows(steps: list[Step]) -> list[Pieces]:
    """One row a step: sign, title, detail, time since the start of the recording."""
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
        detail = "error" if step.outcome == "failed" else "normal"
        rows.append(
            [
                (f"  {mark} ", role),
                (f"{step.title:<{TITLE}}", "muted"),
                (step.detail, detail),
                (f"  {duration(step.t)}", "faint"),
            ]
        )
    return rows
