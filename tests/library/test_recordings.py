"""The content of a recording, for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import inspector
from inspector.journal.journal import Journal

GOLDEN = Path(__file__).parents[2] / "recordings" / "demo-tour.mcp.jsonl"


@pytest.fixture(scope="module")
def tour() -> inspector.Recording:
    """A recording with events of every kind."""
    return inspector.recording(GOLDEN)


def test_events_have_their_numbers(tour: inspector.Recording) -> None:
    assert [event.n for event in tour] == list(range(1, len(tour) + 1))
    assert tour[3].n == 3
    assert (tour.path, tour.is_complete, tour.notices) == (GOLDEN, True, [])
    assert tour.header["format"] == "mcp-recording"
    assert tour.started.year >= 2026
    with pytest.raises(IndexError):
        _ = tour[len(tour) + 1]


def test_a_filter_leaves_what_fits(tour: inspector.Recording) -> None:
    numbers = list(tour.numbers("method:tools/call dir:send"))
    assert numbers
    assert [event.n for event in tour.events("method:tools/call dir:send")] == numbers
    assert all(tour[n].dir == "send" and tour[n].message["method"] == "tools/call" for n in numbers)
    assert [message["id"] for message in tour.messages("method:tools/call dir:send")] == [
        tour[n].message["id"] for n in numbers
    ]
    assert len(list(tour.messages())) < len(tour)
    with pytest.raises(inspector.UsageError):
        tour.numbers("size:>huge")


def test_exchanges_are_requests_with_what_came_of_them(tour: inspector.Recording) -> None:
    ours = [exchange for exchange in tour.exchanges() if exchange.dir == "send"]
    theirs = [exchange for exchange in tour.exchanges() if exchange.dir == "recv"]
    assert ours
    assert theirs
    for exchange in (*ours, *theirs):
        assert exchange.request.message["method"] == exchange.method
        assert exchange.n in exchange.events
        if exchange.answer is None:
            assert (exchange.result, exchange.error, exchange.seconds) == (None, None, None)
        else:
            assert exchange.answer.n in exchange.events
            assert exchange.seconds is not None
            assert (exchange.result is None) != (exchange.error is None)
            again = tour.exchange(exchange.answer.n)
            assert again is not None
            assert again.n == exchange.n
        assert exchange.method in repr(exchange)
        assert (exchange.request.dir, exchange.request.kind) == (exchange.dir, "rpc")
    assert tour.exchange(1) is None
    assert [exchange.state for exchange in tour.exchanges("status:error")].count("error") > 0


def test_what_was_known_at_its_end(tour: inspector.Recording) -> None:
    assert tour.server.name == "inspector-demo"
    assert "echo" in [tool.name for tool in tour.tools]
    assert all(prompt.name for prompt in tour.prompts)
    assert isinstance(tour.resources, list)
    assert isinstance(tour.templates, list)


def test_it_is_judged_and_exported(tour: inspector.Recording) -> None:
    assert tour.findings() == tour.findings()
    assert list(tour.numbers("finding:*")) == sorted({finding.n for finding in tour.findings()})
    assert "tools/call" in tour.export("md")
    chosen = json.loads(tour.export("json", "method:tools/list"))
    assert len(chosen["events"]) == len(list(tour.numbers("method:tools/list")))


def test_one_that_grows_is_read_on(tmp_path: Path) -> None:
    path = tmp_path / "s.mcp.jsonl"
    writer = Journal.create(path, {})
    writer.record_received("stdio", [b'{"jsonrpc":"2.0","method":"a"}'])
    read = inspector.recording(path)
    assert (len(read), read.is_complete) == (1, False)
    writer.record_received("stdio", [b'{"jsonrpc":"2.0","method":"b"}'])
    writer.close()
    assert [message["method"] for message in read.refresh().messages()] == ["a", "b"]
    assert read.is_complete
    read.close()
    read.close()
    writer.release()


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.mcp.jsonl").write_text("{}\n")
    for path in (tmp_path / "none", tmp_path / "x.mcp.jsonl"):
        with pytest.raises(inspector.RecordingError):
            inspector.recording(path)
