"""Shares the lines of the work pane between the form and what stands below it."""

from __future__ import annotations

from typing import NamedTuple

COMPACT_BELOW = 30
"""Lines below which the panes hide their keys, which the footer also shows."""

LOW = 12
"""Lines of the pane below which form and result keep only what cannot be missed."""
ROOM_OF_RESULT = 18
"""Lines that a long result gets before the form gets more than `FORM_BESIDE_RESULT`: a table then has 12 rows."""
_EDGE = 2
FORM_BESIDE_RESULT = 8
"""Lines that a form has above a result, on any screen that is high enough."""
EMPTY_RESULT = 4
"""Lines of a result pane without a result; a long form has the others."""


class FormRoom(NamedTuple):
    """The lines of the form. `brief`: with one line of the description."""

    lines: int
    brief: bool


def form_room(height: int, below: str, *, calls: bool, result_lines: int) -> FormRoom:
    """Return the room of the form in a pane of `height` lines.

    `below` is what stands below it: `question`, `other-question` (one that need not be answered now), `running`,
    `result` or `no-result`. `calls`: there was a call, or no item is shown. `result_lines` fit a result.
    """
    compact, brief = height < COMPACT_BELOW, below == "question"
    least = (3 if brief else 9) if compact else 9
    if below == "no-result":
        return FormRoom(min(max(height - EMPTY_RESULT, least), height), brief)
    share = 0.3 if brief else 0.6 if calls or below == "other-question" else 0.75
    lines = max(int(height * (0.2 if compact and brief else share)), min(least, height // 2))
    if below == "result":
        least = FORM_BESIDE_RESULT if height >= LOW else height // 2
        lines = max(min(lines, height - min(ROOM_OF_RESULT, result_lines + _EDGE)), least)
    return FormRoom(lines, brief)
