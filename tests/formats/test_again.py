"""A recording of what was chosen of a recording, and its bare messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.formats.json_edits import portable
from inspector.journal.filters import parse
from inspector.journal.journal import Journal
from tests.formats.journals import RECORDINGS, SESSION, call, exported, live, opened


def again(journal: Journal, folder: Path, numbers: list[int] | None = None) -> Journal:
    path = folder / "again.mcp.jsonl"
    path.write_text(exported(journal, "recording", numbers), encoding="utf-8")
    return opened(path)


@pytest.mark.parametrize("name", ["demo-tour", "demo-http", "hostile"])
def test_the_whole_of_a_recording_is_the_same_recording(name: str, tmp_path: Path) -> None:
    first = opened(RECORDINGS / f"{name}.mcp.jsonl")
    second = again(first, tmp_path)
    assert len(second) == len(first)
    numbers = range(1, len(first) + 1)
    for one, other in zip(first.events(), second.events(), strict=True):
        assert one.bytes == other.bytes
        assert {**one.fields, "was": one.n} == other.fields
    for fact in ("pair", "parent"):
        assert [getattr(second.index, fact)(n) for n in numbers] == [getattr(first.index, fact)(n) for n in numbers]
    assert second.ended == first.ended
    assert second.header["from"] == {"id": first.header["id"], "events": len(first)}
    assert second.header["id"] != first.header["id"]


def test_filtered_events_are_renumbered_and_keep_their_old_numbers(tmp_path: Path) -> None:
    first = opened(SESSION)
    numbers = parse("method:tools/*").numbers(first)
    second = again(first, tmp_path, numbers)
    assert [event.n for event in second.events()] == list(range(1, len(numbers) + 1))
    assert [event.fields["was"] for event in second.events()] == numbers
    assert second.index.duration(1) == first.index.duration(numbers[0])
    assert second.ended is not None
    assert second.ended["events"] == len(numbers)


def test_a_part_of_a_part_keeps_the_first_numbers(tmp_path: Path) -> None:
    first = opened(SESSION)
    second = again(first, tmp_path, [4, 6, 7, 9])
    (tmp_path / "more").mkdir()
    third = again(second, tmp_path / "more", [2, 3])
    assert [event.fields["was"] for event in third.events()] == [6, 7]
    assert third.header["from"]["id"] == first.header["id"]


def test_references_lead_to_the_same_events(tmp_path: Path) -> None:
    journal = live()
    for id in (1, 2):
        call(journal, id, "tools/call", {"name": "slow"}, None)
    for n in (1, 2):
        journal.record_life("", "timeout", **{"for": n})
    second = again(journal, tmp_path, [2, 3, 4])
    assert [event.fields.get("for") for event in second.events()] == [None, None, 1]
    assert [event.fields.get("for_was") for event in second.events()] == [None, 1, None]
    assert second.index.state(1) == journal.index.state(2)


def test_a_finding_stays_with_its_event(tmp_path: Path) -> None:
    path = tmp_path / "noted.mcp.jsonl"
    lines: list[dict[str, Any]] = [
        {"format": "mcp-recording", "version": 1, "id": "x"},
        {"n": 1, "t": 1, "dir": "recv", "kind": "rpc", "ch": "stdio", "raw": '{"method":"a"}'},
        {"n": 2, "t": 2, "dir": "recv", "kind": "rpc", "ch": "stdio", "raw": '{"method":"b"}'},
        {"n": 3, "t": 3, "dir": "local", "kind": "note", "ch": "", "text": "no", "finding": {"n": 2, "rule": "R"}},
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    second = again(opened(path), tmp_path, [2, 3])
    (finding,) = second.findings.all()
    assert (finding.n, finding.rule) == (1, "R")


def test_a_line_that_is_none_is_kept_as_bytes(tmp_path: Path) -> None:
    path = tmp_path / "edited.mcp.jsonl"
    path.write_bytes(b'{"format":"mcp-recording","version":1}\nhello \xff\n')
    second = again(opened(path), tmp_path)
    (event,) = second.events()
    assert (event.kind_name, event.bytes) == ("unreadable", b"hello \xff")


def test_a_recording_without_an_end_gets_none(tmp_path: Path) -> None:
    torn = tmp_path / "torn.mcp.jsonl"
    torn.write_bytes(SESSION.read_bytes()[:-150])
    assert again(opened(torn), tmp_path).end_is_missing
    journal = live(b'{"method":"x"}')
    (tmp_path / "live").mkdir()
    ended = again(journal, tmp_path / "live").ended
    assert ended is not None
    assert ended["reason"] == "the session was still open"


# Bare messages


def test_messages_stand_alone_one_a_line() -> None:
    journal = live(b'{"jsonrpc":"2.0","id":1.0,\r\n "result":{"a":1e2}}', b"noise", b'[{"method":"x"}]')
    journal.record_stderr("stderr", [b"not me"])
    assert exported(journal, "jsonl") == '{"jsonrpc":"2.0","id":1.0,   "result":{"a":1e2}}\n[{"method":"x"}]\n'.replace(
        "   ", "   "
    )


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ('{"a":"\\ud83d\\ude42"}', '{"a":"\\ud83d\\ude42"}'),
        ('{"a":"\\ud83d"}', '{"a":"\ufffd"}'),
        ('{"a":"\\ude42\\ud83d x\\ud83d\\n"}', '{"a":"\ufffd\ufffd x\ufffd\\n"}'),
        ('{"a":"\\\\ud83d"}', '{"a":"\\\\ud83d"}'),
        ('{"a":"\\ud83d\\ud83d\\ude42"}', '{"a":"\ufffd\\ud83d\\ude42"}'),
        ('\ufeff [NaN,-Infinity,"NaN"]\n', '[null,-1e999,"NaN"]'),
        ('"\ud800"', '"\ufffd"'),
        ('{"a":"\u2028\x85"}', '{"a":"\\u2028\\u0085"}'),
        ("{", None),
        ("[" * 100_000 + "]" * 100_000, None),
    ],
)
def test_json_is_corrected_for_strict_parsers(text: str, corrected: str | None) -> None:
    assert portable(text) == corrected
