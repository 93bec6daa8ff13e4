"""Which events belong to the making of a connection, live and read back, and the filter that names them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.journal.filters import FilteredView, FilterError, parse
from inspector.journal.format import Dir
from inspector.journal.journal import Journal

LIFE = ("spawn", "ready", "failed", "reopen", "session-lost", "lost", "negotiation")
STEPS = (
    *LIFE,
    "initialize",
    "server/discover",
    "notifications/initialized",
    "tools/list",
    "answer",
    "asked",
    "http",
    "stderr",
)


def play(journal: Journal, *steps: str) -> None:
    """Record one event for each step."""
    for id, step in enumerate(steps, len(journal) + 1):
        if step in LIFE:
            journal.record_life("", step, **({"for": id - 1} if step == "lost" and id > 1 else {}))
        elif step == "http":
            journal.record_http("post-1", Dir.SEND, method="POST", url="http://127.0.0.1/")
        elif step == "stderr":
            journal.record_stderr("stderr", [b"warming up"])
        elif step in ("answer", "asked"):
            message = {"id": id - 1, "result": {}} if step == "answer" else {"id": id, "method": "roots/list"}
            journal.record_received("stdio", [json.dumps(message).encode()])
        else:
            message = {"method": step} if step.startswith("notifications/") else {"id": id, "method": step}
            journal.record_sent("stdio", json.dumps(message).encode(), message)


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    made = Journal.create(tmp_path / "x.mcp.jsonl", {"kind": "stdio"})
    yield made
    made.release()


def ranges(journal: Journal) -> list[tuple[int, int]]:
    return list(journal.index.connections.between(1, len(journal)))


HANDSHAKE = ("spawn", "initialize", "answer", "notifications/initialized")


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((), []),
        (("spawn", "initialize"), [(1, 2)]),  # The negotiation has not ended.
        ((*HANDSHAKE, "ready", "tools/list", "answer"), [(1, 5)]),
        (("server/discover", "answer", "negotiation", *HANDSHAKE, "ready", "tools/list"), [(1, 8)]),
        ((*HANDSHAKE, "tools/list", "answer"), [(1, 4)]),  # No `initialized` was sent, but the connection is used.
        (("tools/list", "answer"), []),
        (("spawn", "asked", "answer", "ready"), [(1, 4)]),  # A request of the server does not end it.
        ((*HANDSHAKE, "ready", "tools/list", "reopen", *HANDSHAKE, "ready", "http"), [(1, 5), (7, 12)]),
        ((*HANDSHAKE, "ready", "tools/list", "session-lost", "initialize", "answer", "tools/list"), [(1, 5), (7, 9)]),
        ((*HANDSHAKE, "ready", "tools/list", "lost", "server/discover", "initialize"), [(1, 5)]),
        (("spawn", "failed", "spawn", "initialize", "ready", "tools/list"), [(1, 2), (3, 5)]),
        (("spawn", "reopen", "spawn", "ready"), [(1, 1), (2, 4)]),
        (("failed", "failed"), [(1, 1), (2, 2)]),
        (("ready", "ready", "http"), [(1, 1)]),
    ],
)
def test_from_the_beginning_of_a_connection_until_it_stands(
    journal: Journal, steps: tuple[str, ...], expected: list[tuple[int, int]]
) -> None:
    play(journal, *steps)
    assert ranges(journal) == expected


def test_a_part_is_cut_out_of_them(journal: Journal) -> None:
    play(journal, *HANDSHAKE, "ready", "tools/list", "reopen", *HANDSHAKE, "ready", "http", "reopen", "spawn")
    between = journal.index.connections.between
    assert list(between(3, 8)) == [(3, 5), (7, 8)]
    assert list(between(6, 6)) == []
    assert list(between(13, 15)) == [(14, 15)]
    assert list(between(15, 15)) == [(15, 15)]


@given(st.lists(st.sampled_from(STEPS), max_size=30))
def test_it_is_the_same_live_slice_by_slice_and_read_back(steps: list[str]) -> None:
    journal = Journal.unnamed({})
    view = FilteredView(journal, parse("phase:negotiation"))
    for step in steps:
        play(journal, step)
        view.extend()
    numbers = parse("phase:negotiation").numbers(journal)
    assert view.numbers.tolist() == numbers
    assert [n for n in range(1, len(journal) + 1) if parse("phase:negotiation").matches(journal, n)] == numbers
    inside = [n for low, high in ranges(journal) for n in range(low, high + 1)]
    assert [n for n in inside if steps[n - 1] != "stderr"] == numbers
    again = Journal.unnamed({})
    for event in journal.events():
        if event.fields.get("event"):
            again.index.add_life(event.t, event.kind, event.ch, 0, event.fields)
        else:
            again.index.add(event.t, event.dir, event.kind, event.ch, 0, 0, event.message)
    assert ranges(again) == ranges(journal)
    for made in (journal, again):
        made.release()


def test_a_recording_that_is_read_has_the_same(journal: Journal, tmp_path: Path) -> None:
    play(journal, *HANDSHAKE, "ready", "tools/list", "stderr", "reopen", *HANDSHAKE, "failed")
    journal.close()
    read = Journal.open(tmp_path / "x.mcp.jsonl")
    while read.refresh(3):
        pass
    assert ranges(read) == ranges(journal) == [(1, 5), (8, 13)]
    read.release()


def test_the_filter_leaves_out_what_the_server_writes_to_stderr(journal: Journal) -> None:
    play(journal, "spawn", "stderr", "http", "initialize", "answer", "ready", "tools/list", "stderr")
    assert parse("phase:negotiation").numbers(journal) == [1, 3, 4, 5, 6]
    assert parse("-phase:Negotiation").numbers(journal) == [2, 7, 8]
    assert parse("phase:negotiation dir:recv").numbers(journal) == [5]
    assert parse("phase:negotiation").numbers(journal, 4, 7) == [4, 5, 6]


def test_a_phase_that_does_not_exist() -> None:
    with pytest.raises(FilterError, match="the only phase is negotiation"):
        parse("phase:later")


def test_events_of_any_type_change_nothing(journal: Journal) -> None:
    for event in ("", "x", "ready "):
        journal.record_life("", event)
    index = journal.index
    index.add_life(0, journal.event(1).kind, "", 0, {"event": {"a": 1}})
    index.add_life(0, journal.event(1).kind, "", 0, {})
    assert ranges(journal) == [(1, 5)]
