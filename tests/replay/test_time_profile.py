"""The profile of a recording: positions, density and errors, read once as it grows."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.replay import player as profile_module
from inspector.replay.player import ActivityProfile
from tests.replay.written_recordings import Tape

FOLD = 2_000_000


def measured(journal: Journal, fold: int = FOLD, limit: int = 7) -> ActivityProfile:
    profile = ActivityProfile(journal, fold)
    while profile.advance(limit):
        pass
    return profile


def of_times(times: list[int]) -> Journal:
    journal = Journal.unnamed({})
    for t in times:
        journal.index.add(t, Dir.LOCAL, Kind.NOTE, "", 0, 0)
    return journal


@given(st.lists(st.integers(-(1 << 40), 1 << 40) | st.integers(0, 5), max_size=700), st.integers(1, 80))
def test_places_rise_with_every_event_whatever_its_clock_says(times: list[int], cells: int) -> None:
    profile = measured(of_times(times), limit=300)
    places = [profile.place(n) for n in range(len(times) + 1)]
    assert all(after > before for before, after in pairwise(places))
    assert all(after - before <= FOLD for before, after in pairwise(places))
    assert profile.length == places[-1]
    assert [profile.number_at(place) for place in places] == list(range(len(times) + 1))
    assert sum(events for events, _ in profile.columns(cells)) == len(times)
    assert profile.latest == max([0, *times])


@given(st.lists(st.integers(-100, 1000), min_size=1, max_size=600), st.integers(-200, 1200))
def test_a_time_leads_to_the_last_event_before_anything_later(times: list[int], t: int) -> None:
    n = measured(of_times(times)).number_at_time(t)
    assert all(time <= t for time in times[:n])
    assert n == len(times) or times[n] > t


@given(st.lists(st.integers(0, 10_000_000), min_size=1, max_size=300), st.integers(1, 40), st.data())
def test_a_cell_leads_to_its_first_event(times: list[int], cells: int, data: st.DataObject) -> None:
    profile = measured(of_times(sorted(times)))
    cell = data.draw(st.integers(0, cells - 1))
    inside = [n for n in range(1, len(times) + 1) if profile.cell(profile.place(n), cells) == cell]
    before = [n for n in range(1, len(times) + 1) if profile.cell(profile.place(n), cells) < cell]
    assert profile.number_in(cell, cells) == (inside[0] if inside else max(before, default=1))


def test_parts_get_longer_as_the_recording_does() -> None:
    journal = of_times([step * 1_000_000 for step in range(10_000)])
    profile = measured(journal, limit=900)
    counts = [events for events, _ in profile.columns(100)]
    assert sum(counts) == 10_000
    assert max(counts) - min(counts) <= 20
    assert profile._width * profile_module.BINS >= profile.length


def test_errors_are_marked_where_they_came(tmp_path: Path) -> None:
    tape = Tape()
    for second in range(20):
        tape.at = second
        tape.ask("tools/call", {"name": "x"})
        if second == 5:
            tape.message("recv", {"id": tape.id, "error": {"code": -1, "message": "no"}})
        elif second == 10:
            tape.answer({"isError": True, "content": []})
        elif second == 15:
            tape.event("life", event="timeout", **{"for": tape.last})
        elif second == 19:
            tape.event("invalid", "recv", raw="not JSON")
        else:
            tape.answer({})
    profile = measured(tape.journal(tmp_path / "a.mcp.jsonl"))
    assert [at for at, (_, errors) in enumerate(profile.columns(20)) if errors] == [5, 10, 15, 19]
    assert profile.errors == 4


def test_nothing_has_no_places() -> None:
    profile = measured(of_times([]))
    assert profile.columns(10) == [(0, 0)] * 10
    assert profile.columns(0) == []
    assert profile.number_in(3, 10) == 0
    assert profile.cell(0, 10) == 0
