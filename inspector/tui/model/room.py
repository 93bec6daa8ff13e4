"""Shares the lines of the work pane between the parts of the form and what stands below it."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

EDGES = 2
"""Lines of a pane without its content."""

ROOMY_FROM = 37
"""Lines of the work pane from which a field may have lines of its own for its name and description."""

BESIDE_FORM = 8
"""Lines that the log has beside a form, if it has the rows."""

LOW = 12
"""Lines of the work pane below which only the footer shows keys."""

EMPTY_RESULT = 3
RUNNING = 10

SHARES = {"result": 0.6, "running": 0.6, "other-question": 0.4, "question": 0.8}
"""The part of the pane that what stands below the form may take from it, if it needs so much."""

_LEAST = EDGES + 1


class FormNeeds(NamedTuple):
    """The lines that the parts of a form need.

    The fields need `roomy` with lines of their own for name and description, `slim` with one line each.
    """

    roomy: int = 1
    slim: int = 1
    about: int = 0
    hints: int = 0
    uri: int = 0
    calls: int = 0
    whole: bool = False
    """The user wants to read the whole description."""


class FormRoom(NamedTuple):
    """The lines of the form and of its parts. `slim`: a field has one line. `gap` is empty, above the fields."""

    lines: int = 0
    slim: bool = False
    fields: int = 0
    about: int = 0
    gap: int = 0
    hints: int = 0
    uri: int = 0
    calls: int = 0


def form_room(height: int, needs: FormNeeds, below: str = "result", below_lines: int = 0) -> FormRoom:
    """Return the room of the form in a pane of `height` lines.

    `below` is what stands below it: `question`, `other-question` (one that need not be answered now), `running` or
    `result`; it fills `below_lines`.
    """
    gap = int(needs.about + needs.hints > 0)
    # A line that separates stands before the calls.
    whole = EDGES + needs.about + needs.hints + gap + needs.roomy + needs.uri + 2 * needs.calls
    if height >= ROOMY_FROM and whole + below_lines <= height:
        return FormRoom(whole, False, needs.roomy, needs.about, gap, needs.hints, needs.uri, 2 * needs.calls)
    least = min(_LEAST, height)
    most = max(height - min(below_lines, ceil(height * SHARES[below])), least)
    left = most - EDGES
    fields = _lines_given(left, needs.slim)
    if needs.whole:
        fields = min(fields, max(left - needs.about - gap, 1))
    left -= fields
    given = {"fields": fields, "about": 0}
    # In this order they get what is left; more lines never take one away.
    for part, needed in (
        ("uri", needs.uri),
        ("about", min(needs.about, 1)),
        ("hints", needs.hints),
        ("gap", gap),
        ("calls", needs.calls),
        ("about", needs.about - 1),
    ):
        lines = _lines_given(left, needed)
        given[part] = given.get(part, 0) + lines
        left -= lines
    return FormRoom(most - left, True, **given)


def _lines_given(left: int, needed: int) -> int:
    return max(min(left, needed), 0)


DOCK = 3
"""Rows of a log below two columns, until it is entered."""
_WORK_BEFORE_DOCK = 24


def dock_lines(height: int, rows: int) -> int:
    """Return the lines of the log below two columns in a body of `height` lines, with its edge."""
    return EDGES + max(min(rows, DOCK, height - _WORK_BEFORE_DOCK), 1)


def band_lines(height: int, form: int, rows: int, below: str = "result", below_lines: int = 0) -> int:
    """Return the lines of the form with the log beside it, in a pane of `height` lines."""
    most = height - min(below_lines, ceil(height * SHARES[below]))
    return max(form, min(BESIDE_FORM, rows + EDGES, most), _LEAST)
