"""Positions and speeds as a user types them."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.errors import UsageError
from inspector.journal.journal import Journal
from inspector.replay import speeds
from inspector.replay.positions import TypedPosition, beyond, read


@pytest.fixture(scope="module")
def journal() -> Journal:
    return Journal.unnamed({})


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("01:12.3", TypedPosition("time", 72_300_000)),
        (" 1:02:03 ", TypedPosition("time", 3_723_000_000)),
        ("90s", TypedPosition("time", 90_000_000)),
        ("90.0", TypedPosition("time", 90_000_000)),
        ("90", TypedPosition("number", 90)),
        ("+10", TypedPosition("number", 10, relative=True)),
        ("1.5min", TypedPosition("time", 90_000_000)),
        ("250 ms", TypedPosition("time", 250_000)),
        ("+30s", TypedPosition("time", 30_000_000, relative=True)),
        ("-2m", TypedPosition("time", -120_000_000, relative=True)),
        ("+0:30", TypedPosition("time", 30_000_000, relative=True)),
        ("#1204", TypedPosition("number", 1204)),
        ("+#10", TypedPosition("number", 10, relative=True)),
        ("-#1", TypedPosition("number", -1, relative=True)),
        ("start", TypedPosition("end", 0)),
        ("END", TypedPosition("end", 1)),
    ],
)
def test_places(journal: Journal, text: str, place: TypedPosition) -> None:
    assert read(text, journal) == place


def test_a_time_of_day_is_the_first_one_after_the_beginning(journal: Journal) -> None:
    began = journal.clock(0)
    minute = 60_000_000
    later = journal.clock(5 * minute)
    place = read(f"at {later:%H:%M:%S}", journal)
    assert abs(place.value - 5 * minute) < 1_000_000
    yesterday = journal.clock(-5 * minute)
    assert abs(read(f"at {yesterday:%H:%M}", journal).value - (24 * 60 - 5) * minute) < minute
    assert read(f"at {began:%H:%M:%S}", journal).value == 0


@pytest.mark.parametrize("text", ["", "soon", "1:2:3:4", "#", "#-1", "at 25:00", "at 13:60", "12:", "--3", "9" * 30])
def test_what_is_not_a_place_is_reported(journal: Journal, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(text, journal)
    assert caught.value.hint


def test_what_is_behind_the_end_is_reported() -> None:
    journal = Journal.unnamed({})
    assert beyond(read("7", journal), journal) == ""
    journal.record_note("one")
    assert beyond(read("1", journal), journal) == ""
    assert "event is 1:" in beyond(read("2", journal), journal)
    assert "going to its end" in beyond(read("1h", journal), journal)
    assert beyond(read("+1h", journal), journal) == beyond(read("end", journal), journal) == ""


@given(st.text(max_size=40))
def test_any_text_is_a_place_or_is_not(text: str) -> None:
    try:
        read(text, Journal.unnamed({}))
    except UsageError:
        pass


@pytest.mark.parametrize(
    ("text", "speed"),
    [("4", 4), ("0.5×", 0.5), ("1/4", 0.25), ("10x", 10), ("max", inf), ("0.1", 0.1), ("100", 100)],
)
def test_speeds(text: str, speed: float) -> None:
    assert speeds.read(text) == speed
    assert speeds.read(speeds.words(speed)) == speed


@pytest.mark.parametrize("text", ["", "fast", "0", "-1", "101", "inf", "nan", "1/0", "0.01"])
def test_what_is_not_a_speed(text: str) -> None:
    assert speeds.read(text) is None
