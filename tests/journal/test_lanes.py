"""The lanes of a timeline: rows, numbers in flight, and events, compared with a plain evaluation."""

from __future__ import annotations

import random

import pytest

from inspector.journal.durations import OPEN
from inspector.journal.gaps import FoldedTime
from inspector.journal.lanes import LaneRows, Lanes, RequestLane, number_at
from tests.tui.recorded_conversation import Talk, example


def lanes_of(talk: Talk) -> Lanes:
    lanes = Lanes(talk.journal)
    assert not lanes.advance(len(talk.journal))
    return lanes


def in_rows(rows: LaneRows, lane: RequestLane) -> list[list[int]]:
    return [[lane.requests[position] for position in row] for row in rows.rows]


def busy(calls: int, seed: int = 3) -> tuple[Talk, list[tuple[int, int]]]:
    """Return a talk of random calls, and the begin and end of each in µs."""
    chance, talk = random.Random(seed), Talk()
    moments = []
    for id in range(1, calls + 1):
        begin = chance.randrange(calls * 10)
        moments += [(begin, 0, id), (begin + 1 + chance.randrange(200), 1, id)]
    spans: dict[int, list[int]] = {}
    for ms, ends, id in sorted(moments):
        talk.at(ms)
        spans.setdefault(id, []).append(ms * 1000)
        talk.say(id, "x") if ends else talk.call(id, "a")
    return talk, [(low, high) for low, high in spans.values()]


def test_overlapping_requests_are_in_rows_of_their_own() -> None:
    talk = Talk()
    a, b = talk.at(10).call(1, "a"), talk.at(20).call(2, "b")
    talk.at(30).say(1, "x")
    c = talk.at(40).call(3, "c")
    talk.at(50).say(2, "x")
    d = talk.at(60).call(4, "d")
    lane = lanes_of(talk).sent
    assert in_rows(lane.rows, lane) == [[a, c], [b, d]]
    assert [lane.end_of(n) for n in (a, b, c, d)] == [30_000, 50_000, OPEN, OPEN]
    assert lane.in_flight == 2


def test_rows_stay_when_events_are_added_in_any_slices() -> None:
    talk, _ = busy(60)
    whole = lanes_of(talk).sent
    growing = Lanes(talk.journal)
    for last in range(1, len(talk.journal) + 1):
        growing.advance(last)
    assert in_rows(growing.sent.rows, growing.sent) == in_rows(whole.rows, whole)


@pytest.mark.parametrize(("begin", "end"), [(0, 90_000), (100_000, 100_000), (250_000, 400_000), (0, 1 << 40)])
def test_a_period_has_the_requests_that_overlap_it(begin: int, end: int) -> None:
    talk, spans = busy(80)
    lane = lanes_of(talk).sent
    expected = sorted(low for low, high in spans if low <= end and high >= begin)
    positions = [position for row in range(len(lane.rows)) for position in lane.rows.within(row, begin, end)]
    assert sorted(lane.begins[position] for position in positions) == expected
    assert lane.overlapping(begin, end) == len(expected)
    assert len(lane.at(begin, end, 1000)) == len(expected)


def test_the_number_in_flight_is_the_largest_of_a_period() -> None:
    talk, spans = busy(700)
    lane = lanes_of(talk).sent

    def flying(t: int) -> int:
        return sum(low <= t < high for low, high in spans)

    moments = sorted({t for span in spans for t in span})
    for begin, end in ((0, 300_000), (5_000, 5_000), (1_000_000, 1_400_000), (0, 1 << 40), (999_000, 1_000_500)):
        inside = [begin - 1, *(t for t in moments if begin <= t <= end)]
        assert lane.flying(begin, end) == max(map(flying, inside)), (begin, end)


def test_packed_rows_leave_room_for_a_label() -> None:
    talk = Talk()
    for id, ms in enumerate((10, 20, 50, 60), 1):
        talk.at(ms).call(id, "a")
        talk.at(ms + 5).say(id, "x")
    lane = lanes_of(talk).sent
    assert in_rows(lane.rows, lane) == [[1, 3, 5, 7]]
    assert in_rows(lane.packed(30_000), lane) == [[1, 5], [3, 7]]


def test_a_row_skips_what_is_in_the_same_step() -> None:
    talk = Talk()
    for id in range(1, 101):
        talk.at(id).call(id, "a")
        talk.at(id + 0.5).say(id, "x")
    lane = lanes_of(talk).sent
    begins = [lane.begins[position] for position in lane.rows.within(0, 0, 200_000, 20_000)]
    assert begins == [1000, 20_000, 40_000, 60_000, 80_000, 100_000]


def test_a_request_ends_by_its_fate_too() -> None:
    talk = Talk()
    a, b, c = (talk.at(id).call(id, "a") for id in (1, 2, 3))
    talk.at(10).send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    talk.at(20)
    talk.journal.record_life("", "timeout", **{"for": b, "reason": "", "after_ms": 18})
    lane = lanes_of(talk).sent
    assert [lane.end_of(n) for n in (a, b, c)] == [10_000, 20_000, OPEN]


def test_a_batch_of_answers_ends_each_request() -> None:
    talk = Talk()
    for id in (1, 2):
        talk.at(id).call(id, "a")
    talk.at(9).receive([{"jsonrpc": "2.0", "id": id, "result": {}} for id in (1, 2)])
    lane = lanes_of(talk).sent
    assert list(lane.ends) == [9000, 9000]


def test_a_subscription_is_a_request_that_is_not_counted() -> None:
    talk = Talk()
    talk.ask(1, "subscriptions/listen")
    talk.at(5).call(2, "a")
    lane = lanes_of(talk).sent
    assert len(lane) == 2
    assert lane.in_flight == lane.flying(0, 10_000) == 1


def test_events_without_a_duration_have_lanes() -> None:
    talk = example()
    talk.journal.record_auth("token", True, "The server issued a token")
    lanes = lanes_of(talk)
    assert list(lanes.notifications.numbers) == [5, 6]
    assert list(lanes.process.numbers) == [1, 10]
    assert list(lanes.login.numbers) == [12]
    assert list(lanes.errors.numbers) == [9, 11]
    assert list(lanes.notifications.within(0, 9_000_000, 1_000_000)) == [(5, 2)]
    assert list(lanes.notifications.within(lanes.time(5) + 1, 9_000_000)) == [(6, 1)]


def test_a_gap_is_folded_unless_a_request_is_in_flight() -> None:
    talk = Talk()
    talk.at(0).call(1, "slow")
    talk.at(60_000).say(1, "x")
    talk.at(100_000).call(2, "echo")
    talk.at(100_050).say(2, "x")
    talk.at(101_000).notice("message", level="info", data="x")
    lanes = lanes_of(talk)
    clock = lanes.clock
    assert list(clock.between(0, lanes.latest)) == [(60_100_000, 40_000_000)]
    assert list(lanes.sent.begins) == [0, 60_200_000]
    assert list(lanes.sent.ends) == [60_000_000, 60_250_000]
    assert lanes.latest == 61_200_000
    assert [lanes.time(n) for n in range(1, 6)] == [0, 60_000_000, 60_200_000, 60_250_000, 61_200_000]
    for t in (0, 59_000_000, 60_000_000, 80_000_000, 100_000_000, 101_000_000, 200_000_000):
        assert clock.real(clock.folded(t)) == t


def test_a_journal_that_is_read_in_parts_has_the_same_gaps() -> None:
    talk = Talk()
    lanes = Lanes(talk.journal)
    for n in range(1, 5):
        talk.at(n * 10_000).notice("message", level="info", data="x")
        lanes.advance(n)
    whole = lanes_of(talk)
    assert list(lanes.clock.between(0, 1 << 40)) == list(whole.clock.between(0, 1 << 40))
    assert len(list(whole.clock.between(0, 1 << 40))) == 3
    assert len(list(whole.clock.between(10_000_000, 1 << 40, 10_000_000))) == 1
    assert lanes.latest == whole.latest == 10_600_000


def test_events_of_a_period_are_found_by_folded_times_and_few_of_them_are_folded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chance, talk, ms = random.Random(5), Talk(), 0
    for _ in range(300):
        ms += chance.choice([0, 1, 7, 900, 2_001, 50_000])
        talk.at(ms).notice("message", level="info", data="x")
    lanes = lanes_of(talk)
    times = {n: lanes.time(n) for n in lanes.notifications.numbers}
    folded: list[int] = []
    fold = FoldedTime.folded
    monkeypatch.setattr(FoldedTime, "folded", lambda self, t: (folded.append(t), fold(self, t))[1])
    for _ in range(300):
        begin, step = chance.randrange(lanes.latest), chance.choice([1, 1000, 99_999, 5_000_000])
        begin = chance.choice([begin, *times.values()])
        end = begin + step * chance.randrange(1, 40) - 1
        cells: dict[int, list[int]] = {}
        for n, t in times.items():
            if begin <= t <= end:
                cells.setdefault((t - begin) // step, []).append(n)
        folded.clear()
        assert list(lanes.notifications.within(begin, end, step)) == [(ns[0], len(ns)) for ns in cells.values()]
        assert len(folded) <= len(cells) + 1


def test_a_clock_that_runs_backwards_counts_as_stopped() -> None:
    talk = Talk()
    talk.at(50).call(1, "a")
    talk.at(10).call(2, "b")
    talk.at(20).say(1, "x")
    lane = lanes_of(talk).sent
    assert list(lane.begins) == [50_000, 50_000]
    assert lane.ends[0] == 50_000


def test_an_event_is_found_by_its_time() -> None:
    talk = example()
    assert [number_at(talk.journal.index, ms * 1000) for ms in (0, 211, 8699, 8700, 99_999)] == [1, 2, 3, 4, 11]
    assert number_at(talk.journal.index, -1) == 0


def test_a_request_that_ends_as_a_period_begins_is_in_it() -> None:
    talk = Talk()
    talk.at(10).call(1, "a")
    talk.at(20).say(1, "x")
    lane = lanes_of(talk).sent
    for begin, expected in ((20_000, 1), (20_001, 0)):
        counts = lane.overlapping(begin, 30_000), len(lane.at(begin, 30_000, 9)), lane.flying(begin, 30_000)
        assert counts == (expected,) * 3
