"""Which lines the parts of the work pane get, over sizes of the screen."""

from __future__ import annotations

import itertools

import pytest

from inspector.tui.model.room import (
    EDGES,
    EMPTY_RESULT,
    SHARES,
    FormNeeds,
    FormRoom,
    band_lines,
    dock_lines,
    form_room,
)

AROUND = 3
"""The header, the tabs and the footer; one column has the line of the last message too."""
HEADS = 2
"""The views of a table and its head."""
TABLE = 500 + HEADS + EDGES
ORDERS = FormNeeds(roomy=7, slim=4, about=2, calls=1)
"""Three fields, a description of two lines, and earlier calls."""


def work_lines(width: int, height: int, rows: int = 14) -> int:
    body = height - AROUND - (width < 100)
    return body - dock_lines(body, rows) if 100 <= width < 140 else body


def result_rows(width: int, height: int, needs: FormNeeds = ORDERS, lines: int = TABLE) -> int:
    pane = work_lines(width, height)
    form = form_room(pane, needs, "result", lines).lines
    if width >= 140:
        form = band_lines(pane, form, 14, "result", lines)
    return max(min(pane - form, lines) - EDGES - HEADS, 0)


@pytest.mark.parametrize(
    ("width", "height", "rows"), [(160, 45, 22), (120, 35, 12), (100, 30, 8), (80, 24, 6), (50, 12, 1)]
)
def test_a_long_result_has_rows_on_every_screen(width: int, height: int, rows: int) -> None:
    for fields in (1, 3, 8, 40):
        needs = FormNeeds(roomy=4 * fields, slim=fields + 1, about=3, uri=1, calls=1)
        assert result_rows(width, height, needs) >= rows


@pytest.mark.parametrize("width", [50, 80, 100, 120, 160])
@pytest.mark.parametrize("lines", [EMPTY_RESULT, 9, 24, TABLE])
@pytest.mark.parametrize("fields", [1, 3, 12])
def test_a_higher_screen_never_shows_less(width: int, lines: int, fields: int) -> None:
    needs = FormNeeds(roomy=4 * fields, slim=fields + 1, about=3, uri=1, calls=1)
    before: list[float] = []
    for height in range(12, 80):
        room = form_room(work_lines(width, height), needs, "result", lines)
        # Of the fields, those that are seen.
        fields_seen = room.fields / (needs.slim if room.slim else needs.roomy)
        now = [result_rows(width, height, needs, lines), work_lines(width, height), fields_seen, room.about, room.calls]
        assert all(more >= less for less, more in itertools.zip_longest(before, now, fillvalue=0)), (
            height,
            before,
            now,
        )
        before = now


def test_a_bigger_screen_shows_more_of_a_result() -> None:
    sizes = [(50, 12), (80, 24), (100, 30), (120, 35), (160, 45)]
    seen = [result_rows(*size) for size in sizes]
    assert seen == sorted(seen)


@pytest.mark.parametrize(
    ("height", "needs", "below", "lines", "room"),
    [
        # All fits with lines for names and descriptions; then a long result needs the room.
        (42, ORDERS, "result", EMPTY_RESULT, FormRoom(14, False, 7, 2, 1, 0, 0, 2)),
        (42, ORDERS, "result", 24, FormRoom(14, False, 7, 2, 1, 0, 0, 2)),
        (42, ORDERS, "result", TABLE, FormRoom(10, True, 4, 2, 1, 0, 0, 1)),
        (22, ORDERS, "result", EMPTY_RESULT, FormRoom(10, True, 4, 2, 1, 0, 0, 1)),
        (22, ORDERS, "result", TABLE, FormRoom(8, True, 4, 1, 1, 0, 0, 0)),
        # The description goes first, then all but the focused field.
        (16, ORDERS, "result", TABLE, FormRoom(6, True, 4, 0, 0, 0, 0, 0)),
        (8, ORDERS, "result", TABLE, FormRoom(3, True, 1, 0, 0, 0, 0, 0)),
        (22, ORDERS, "question", 22, FormRoom(4, True, 2, 0, 0, 0, 0, 0)),
        (22, ORDERS, "other-question", 22, FormRoom(10, True, 4, 2, 1, 0, 0, 1)),
        # A description that is read whole leaves one line to the fields at least.
        (22, ORDERS._replace(about=30, whole=True), "result", EMPTY_RESULT, FormRoom(19, True, 1, 14, 1, 0, 0, 1)),
    ],
)
def test_the_room_of_the_form(height: int, needs: FormNeeds, below: str, lines: int, room: FormRoom) -> None:
    assert form_room(height, needs, below, lines) == room


def test_all_parts_are_inside_the_pane() -> None:
    for height, fields, below in itertools.product(range(3, 60), range(0, 30, 3), SHARES):
        needs = FormNeeds(
            roomy=4 * fields, slim=fields + 1, about=fields % 4, hints=fields % 2, uri=fields % 2, calls=1
        )
        room = form_room(height, needs, below, height)
        assert room.lines == EDGES + room.fields + room.about + room.gap + room.hints + room.uri + room.calls
        assert EDGES < room.lines <= height


@pytest.mark.parametrize(
    ("height", "rows", "lines"), [(27, 14, 5), (32, 2, 4), (32, 0, 3), (25, 14, 3), (9, 14, 3), (60, 99, 5)]
)
def test_the_log_below_is_as_high_as_its_rows(height: int, rows: int, lines: int) -> None:
    assert dock_lines(height, rows) == lines


@pytest.mark.parametrize(("form", "rows", "lines"), [(16, 99, 16), (5, 99, 8), (5, 4, 6), (5, 0, 5)])
def test_the_log_beside_a_form_is_as_high_as_the_form_with_some_rows_at_least(form: int, rows: int, lines: int) -> None:
    assert band_lines(42, form, rows) == lines


def test_a_line_of_the_description_goes_before_the_hints() -> None:
    needs = FormNeeds(roomy=9, slim=2, about=3, hints=1, calls=1)
    room = form_room(8, needs, "result", 3)
    assert (room.about, room.hints) == (1, 0)
