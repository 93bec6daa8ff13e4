"""The player: a clock and a position over a recording, stepped by a clock of the test."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest

from inspector.journal.filters import parse
from inspector.journal.findings import Finding
from inspector.journal.journal import Journal
from inspector.replay import player as player_module
from inspector.replay.player import Player
from inspector.replay.positions import TypedPosition
from tests.replay.written_recordings import Tape, read


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def made(times: list[float], path: Path) -> Journal:
    tape = Tape()
    for tape.at in times:
        tape.event(text="x")
    tape.end()
    return tape.journal(path)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def second(tmp_path: Path, clock: Clock) -> Player:
    """Ten events, one a second."""
    return Player(made([float(t) for t in range(10)], tmp_path / "a.mcp.jsonl"), clock=clock)


def passes(player: Player, clock: Clock, seconds: float) -> None:
    clock.now += seconds
    player.tick()


def test_it_stands_at_the_end_and_plays_from_the_beginning(second: Player, clock: Clock) -> None:
    assert second.at_end
    assert second.position == 10
    second.play()
    assert second.position == 0
    passes(second, clock, 0)
    assert second.position == 1
    passes(second, clock, 1.5)
    assert second.position == 2
    assert second.now == 1_500_000
    passes(second, clock, 0.5)
    assert second.position == 3
    passes(second, clock, 60)
    assert second.at_end
    assert not second.playing
    passes(second, clock, 60)
    assert second.position == 10


def test_paused_it_stays_and_the_pause_is_not_made_up_for(second: Player, clock: Clock) -> None:
    second.play()
    passes(second, clock, 2.2)
    second.toggle()
    passes(second, clock, 50)
    assert second.position == 3
    second.toggle()
    passes(second, clock, 0.7)
    assert second.position == 3
    passes(second, clock, 0.2)
    assert second.position == 4


@pytest.mark.parametrize(("speed", "position"), [(0.1, 1), (0.5, 2), (1.0, 3), (2.0, 5), (4.0, 9), (100.0, 10)])
def test_speeds(second: Player, clock: Clock, speed: float, position: int) -> None:
    second.speed = speed
    second.play()
    passes(second, clock, 2.0)
    assert second.position == position


def test_speed_changes_in_steps_up_to_as_fast_as_it_goes(second: Player) -> None:
    seen = []
    while not seen or second.speed != seen[-1]:
        seen.append(second.speed)
        second.change_speed(1)
    assert seen == [1, 2, 4, 10, 25, 100, inf]
    for _ in range(20):
        second.change_speed(-1)
    assert second.speed == 0.1


def test_as_fast_as_it_goes_is_a_bounded_number_of_events_a_tick(
    second: Player, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player_module, "STEPS", 4)
    second.speed = inf
    second.play()
    for position in (4, 8, 10):
        second.tick()
        assert second.position == position
    assert second.at_end


def test_a_tick_is_bounded_whatever_time_has_passed(
    second: Player, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(player_module, "STEPS", 4)
    second.play()
    passes(second, clock, 1000)
    assert second.position == 4
    passes(second, clock, 1.0)
    assert second.position == 5


def test_gaps_are_folded(tmp_path: Path, clock: Clock) -> None:
    player = Player(made([0, 1, 3600, 3601], tmp_path / "a.mcp.jsonl"), clock=clock)
    player.play()
    passes(player, clock, 2.9)
    assert player.position == 2
    assert player.now == 2_900_000
    passes(player, clock, 0.1)
    assert player.position == 3
    assert player.now == 3_600_000_000


def test_without_folding_a_gap_takes_its_time(tmp_path: Path, clock: Clock) -> None:
    player = Player(made([0, 1, 3600], tmp_path / "a.mcp.jsonl"), clock=clock, fold=0)
    player.play()
    passes(player, clock, 3599)
    assert player.position == 2
    passes(player, clock, 1)
    assert player.at_end


def test_a_clock_that_runs_backwards_neither_hangs_nor_sorts(tmp_path: Path, clock: Clock) -> None:
    player = Player(made([5, 4, -3, 3, 2, 2, 1e9, 0], tmp_path / "a.mcp.jsonl"), clock=clock)
    player.play()
    passes(player, clock, 0)
    assert player.position == 3
    passes(player, clock, 2)
    assert player.position == 6
    passes(player, clock, 2)
    assert player.at_end
    clock.now = 0
    player.play()
    clock.now = -50
    player.tick()
    assert player.position == 3


def test_steps_pause(second: Player, clock: Clock) -> None:
    second.step(-1)
    assert (second.position, second.at_end) == (9, False)
    second.play()
    second.step(-3)
    assert (second.position, second.playing) == (6, False)
    second.step(1)
    assert second.position == 7
    assert second.now == 6_000_000
    second.step(99)
    assert second.at_end
    second.step(-99)
    assert second.position == 0
    assert second.now == 0


def test_going_somewhere_plays_on_from_there(second: Player, clock: Clock) -> None:
    second.play()
    second.go_to(TypedPosition("time", 5_500_000))
    assert (second.position, second.playing) == (6, True)
    passes(second, clock, 1)
    assert second.position == 7
    second.go(None)
    assert not second.playing


@pytest.mark.parametrize(
    ("place", "position"),
    [
        (TypedPosition("time", 3_000_000), 4),
        (TypedPosition("time", 0), 1),
        (TypedPosition("time", -1), 0),
        (TypedPosition("time", 2_500_000, relative=True), 7),
        (TypedPosition("time", -2_500_000, relative=True), 2),
        (TypedPosition("number", 7), 7),
        (TypedPosition("number", 700), 10),
        (TypedPosition("number", -2, relative=True), 3),
        (TypedPosition("number", -20, relative=True), 0),
        (TypedPosition("end", 0), 0),
        (TypedPosition("end", 1), 10),
    ],
)
def test_places(second: Player, place: TypedPosition, position: int) -> None:
    while second.profile.advance():
        pass
    second.go(5)
    second.go_to(place)
    assert second.position == position
    assert second.at_end == (position == 10)


def test_exchanges_end_with_the_answer_to_an_outermost_request(tmp_path: Path) -> None:
    tape = Tape()
    tape.ask("initialize")
    first = tape.answer({})
    lost = tape.ask("tools/call", {"name": "never"})
    outer = tape.ask("tools/call", {"name": "asks"})
    tape.message("recv", {"id": "q", "method": "ping"})
    tape.message("send", {"id": "q", "result": {}})
    second = tape.answer({}, id=tape.id)
    tape.tell("notifications/message")
    player = Player(tape.journal(tmp_path / "a.mcp.jsonl"))
    index = player.journal.index
    player.go(0)
    stops = []
    while not player.at_end:
        player.step_exchange(1)
        stops.append(player.position)
    nested = [n for n in (6,) if not index.parent(index.pair(n))]
    assert stops == [first, lost, *nested, second, tape.last]
    back = []
    while player.position:
        player.step_exchange(-1)
        back.append(player.position)
    assert back == [*stops[-2::-1], 0]
    assert outer not in stops


@pytest.mark.slow
def test_exchanges_are_found_beyond_any_number_of_other_events(tmp_path: Path) -> None:
    journal = Journal.unnamed({})
    journal.record_sent("stdio", b'{"jsonrpc":"2.0","id":0,"method":"ping"}', {"id": 0, "method": "ping"})
    note = b'{"jsonrpc":"2.0","method":"notifications/message","params":{}}'
    journal.record_received("stdio", [note] * 70_000)
    journal.record_received("stdio", [b'{"jsonrpc":"2.0","id":0,"result":{}}', note])
    player = Player(journal)
    player.go(0)
    player.step_exchange(1)
    assert player.position == 70_002
    player.step_exchange(1)
    assert player.at_end
    player.step_exchange(-1)
    assert player.position == 70_002
    player.step_exchange(-1)
    assert player.position == 0


def test_findings_and_matches(second: Player) -> None:
    for n in (0, 3, 7):
        second.journal.findings.add(Finding(n, "X-1", "must", "so"))
    second.go(0)
    assert [second.go_to_problem(1) and second.position for _ in range(3)] == [3, 7, False]
    assert second.position == 7
    assert [second.go_to_problem(-1) and second.position for _ in range(2)] == [3, False]
    assert second.next_match(parse("n:5-6"), 1) == 5
    assert second.next_match(parse("n:1-2"), -1) == 2
    assert second.next_match(parse("n:1-2"), 1) == 0
    assert [second.near_match(parse("n:5-6"), 1), second.near_match(parse("n:1-2"), -1)] == [5, 2]
    assert [second.near_match(parse("n:1-2"), 1), second.near_match(parse("n:5-6"), -1)] == [0, 0]


def test_a_match_far_away_is_not_looked_for_at_once(second: Player, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player_module, "NEAR", 3)
    monkeypatch.setattr(player_module, "NEAR_READ", 1)
    second.go(4)
    assert [second.near_match(parse(f"n:{n}"), 1) for n in (7, 8)] == [7, 0]
    assert [second.near_match(parse(f"n:{n}"), -1) for n in (1, 3)] == [1, 3]
    assert [second.near_match(parse("x"), by) for by in (1, -1)] == [5, 3]


def test_it_stays_at_the_end_of_a_recording_that_grows(tmp_path: Path, clock: Clock) -> None:
    tape = Tape()
    tape.event()
    path = tape.write(tmp_path / "a.mcp.jsonl")
    player = Player(read(path), clock=clock, follow=True)
    tape.at = 1
    tape.event()
    tape.event()
    tape.write(path)
    player.journal.refresh()
    assert player.position == 3
    player.step(-2)
    tape.event()
    tape.write(path)
    player.journal.refresh()
    assert player.position == 1
    player.play()
    passes(player, clock, 1)
    assert player.at_end
    assert player.playing
    tape.event()
    tape.end()
    tape.write(path)
    player.journal.refresh()
    player.tick()
    assert player.position == 5
    assert not player.playing


def test_a_recording_of_nothing(tmp_path: Path, clock: Clock) -> None:
    player = Player(Tape().journal(tmp_path / "a.mcp.jsonl"), clock=clock)
    player.play()
    assert not player.playing
    assert (player.position, player.now, player.place) == (0, 0, 0)
    for move in (lambda: player.step(1), lambda: player.step(-1), lambda: player.step_exchange(1)):
        move()
        assert player.position == 0
    player.step_exchange(-1)
    player.go_to(TypedPosition("time", 5))
    assert not player.go_to_problem(1)
    assert player.position == 0
