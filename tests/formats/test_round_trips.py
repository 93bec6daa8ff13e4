"""Exporting and importing again results in the same messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.formats import import_file
from inspector.formats.json_edits import portable
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape
from inspector.text import escape_json
from tests.formats.journals import RECORDINGS, exported, hostile, opened

SAMPLES = ("demo-tour", "demo-http", "hostile")


def again(journal: Journal, format: str, folder: Path) -> Journal:
    """A recording, exported and imported: the format is told by the content."""
    file, out = folder / "file", folder / "again.mcp.jsonl"
    file.write_text(exported(journal, format), encoding="utf-8", newline="\n")
    out.unlink(missing_ok=True)
    made = import_file(file, out)
    assert made.format == format
    read_back = opened(out)
    assert not read_back.end_is_missing
    assert made.events == len(read_back)
    assert sum(1 for _ in messages(read_back)) == made.messages
    return read_back


def messages(journal: Journal) -> list[Event]:
    return [event for event in journal.events() if event.kind in (Kind.RPC, Kind.INVALID)]


def texts(journal: Journal, *, objects: bool = False) -> list[tuple[Dir, str]]:
    """Direction and text of every message that is JSON, as exports write it."""
    pairs = []
    for event in messages(journal):
        text = portable(event.text) if event.kind is Kind.RPC else None
        if text is not None and (not objects or type(event.message) is dict):
            pairs.append((event.dir, escape_json(text)))
    return pairs


@pytest.mark.parametrize("name", SAMPLES)
def test_a_cassette_has_the_same_messages_at_the_same_milliseconds(name: str, tmp_path: Path) -> None:
    journal = opened(RECORDINGS / f"{name}.mcp.jsonl")
    read_back = again(journal, "mcp-cassette", tmp_path)
    assert texts(read_back) == texts(journal)
    assert [event.t // 1000 for event in messages(read_back)] == [event.t // 1000 for event in messages(journal)]
    assert len(messages(read_back)) == len(messages(journal))
    assert read_back.started == journal.started
    assert read_back.index.errors == journal.index.errors


@pytest.mark.parametrize("name", SAMPLES)
def test_mcporters_recording_has_every_object(name: str, tmp_path: Path) -> None:
    journal = opened(RECORDINGS / f"{name}.mcp.jsonl")
    assert texts(again(journal, "mcporter", tmp_path)) == texts(journal, objects=True)


@pytest.mark.parametrize("name", SAMPLES)
def test_mcpsnoops_log_has_messages_and_stderr_at_the_same_microseconds(name: str, tmp_path: Path) -> None:
    journal = opened(RECORDINGS / f"{name}.mcp.jsonl")
    read_back = again(journal, "mcpsnoop", tmp_path)
    assert texts(read_back, objects=True) == [
        (dir, text) for dir, whole in texts(journal) for text in unbatched(whole) if text.startswith("{")
    ]
    kinds = (Kind.RPC, Kind.INVALID, Kind.STDERR)
    before = [event for event in journal.events() if event.kind in kinds and type(event.message) is not list]
    after = [event for event in read_back.events() if event.kind in kinds and not event.fields.get("batch")]
    if name != "hostile":
        assert [event.t for event in after] == [event.t for event in before]
    lines = [event.text for event in journal.events() if event.kind is Kind.STDERR]
    assert [event.text for event in read_back.events() if event.kind is Kind.STDERR] == lines


def unbatched(text: str) -> list[str]:
    value = json.loads(text)
    if type(value) is not list:
        return [text]
    return [json.dumps(item, separators=(",", ":"), ensure_ascii=False) for item in value]


def test_an_archive_of_http_has_heads_bodies_and_streams(tmp_path: Path) -> None:
    journal = opened(RECORDINGS / "demo-http.mcp.jsonl")
    read_back = again(journal, "har", tmp_path)
    assert sorted(texts(read_back)) == sorted(texts(journal))
    assert [text for dir, text in texts(read_back) if dir is Dir.SEND] == [
        text for dir, text in texts(journal) if dir is Dir.SEND
    ]

    def heads(journal: Journal) -> list[tuple[Any, ...]]:
        return sorted(
            (event.dir, event.fields.get("method", ""), event.fields.get("status", 0), len(event.fields["headers"]))
            for event in journal.events()
            if event.kind is Kind.HTTP
        )

    assert heads(read_back) == heads(journal)
    index = read_back.index
    requests = [n for n in range(1, len(read_back) + 1) if index.shape(n) is Shape.REQUEST]
    paired = [n for n in requests if index.pair(n)]
    assert len(paired) == sum(
        1 for n in range(1, len(journal) + 1)
        if journal.index.shape(n) is Shape.REQUEST and journal.index.pair(n)
    )  # fmt: skip


def test_an_archive_of_stdio_has_every_message_its_own_way(tmp_path: Path) -> None:
    journal = opened(RECORDINGS / "demo-tour.mcp.jsonl")
    read_back = again(journal, "har", tmp_path)
    assert sorted(texts(read_back)) == sorted(texts(journal))
    assert {event.ch for event in messages(read_back)} == {"stdio"}


def test_a_recorder_cassette_has_what_the_client_asked_and_its_answers(tmp_path: Path) -> None:
    journal = opened(RECORDINGS / "demo-tour.mcp.jsonl")
    index = journal.index
    expected = [
        text for event in messages(journal) if event.dir is Dir.SEND
        and event.shape in (Shape.REQUEST, Shape.NOTIFICATION) and (text := portable(event.text))
    ]  # fmt: skip
    read_back = again(journal, "mcp-recorder", tmp_path)
    assert [text for dir, text in texts(read_back) if dir is Dir.SEND] == expected
    for n in range(1, len(read_back) + 1):
        if read_back.index.shape(n) is Shape.RESULT:
            assert read_back.index.pair(n)
    assert sum(1 for dir, _ in texts(read_back) if dir is Dir.RECV) == sum(
        1 for n in range(1, len(journal) + 1)
        if index.shape(n) is Shape.REQUEST and index.dir(n) is Dir.SEND and index.pair(n)
    )  # fmt: skip


@pytest.mark.parametrize("name", ["demo-tour", "demo-http"])
def test_bare_messages_get_the_directions_that_they_had(name: str, tmp_path: Path) -> None:
    journal = opened(RECORDINGS / f"{name}.mcp.jsonl")
    read_back = again(journal, "jsonl", tmp_path)
    wrong = [
        (was, now) for was, now in zip(texts(journal), texts(read_back), strict=True)
        if was != now and '"ping"' not in was[1] and '"id"' not in was[1]
    ]  # fmt: skip
    assert [text for _, text in texts(read_back)] == [text for _, text in texts(journal)]
    assert wrong == []


@pytest.mark.parametrize("format", ["mcpsnoop", "mcp-cassette", "mcporter", "har", "jsonl"])
@pytest.mark.parametrize("http", [False, True])
def test_the_worst_recording_goes_there_and_back(format: str, http: bool, tmp_path: Path) -> None:
    read_back = again(hostile(http=http), format, tmp_path)
    assert len(messages(read_back)) > 10
    assert {event.kind for event in read_back.events()} >= {Kind.RPC, Kind.NOTE}


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
ids = st.integers(0, 2**60) | st.text(min_size=1)
sent = st.builds(lambda id, method, params: {"jsonrpc": "2.0", "id": id, "method": method, "params": params},
                 ids, st.text(), values)  # fmt: skip
came = st.builds(lambda id, result: {"jsonrpc": "2.0", "id": id, "result": result}, ids, values)
steps = st.lists(
    st.tuples(st.just(Dir.SEND), sent) | st.tuples(st.just(Dir.RECV), came) | st.tuples(st.just(Dir.RECV), sent),
    min_size=1, max_size=8,
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("format", ["mcpsnoop", "mcp-cassette", "mcporter"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=steps, spaces=st.booleans())
def test_whatever_is_reported_returns(
    steps: list[tuple[Dir, Any]], spaces: bool, format: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    journal = Journal.unnamed({"label": "made up"})
    for dir, message in steps:
        data = json.dumps(message, separators=None if spaces else (",", ":")).encode()
        if dir is Dir.SEND:
            journal.record_sent("stdio", data, message)
        else:
            journal.record_received("stdio", [data])
    assert texts(again(journal, format, tmp_path_factory.mktemp("again"))) == texts(journal)
