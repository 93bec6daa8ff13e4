"""Marks: events of the recording, written to one that grows and to a finished one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.errors import RecordingError
from inspector.journal.filters import parse
from inspector.journal.filters.view import FilteredView
from inspector.journal.folding import Folding
from inspector.journal.format import Kind
from inspector.journal.journal import Journal, whole_journal

REQUEST = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}'
ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'


def recorded(path: Path, *, ended: bool = True) -> Path:
    """A recording of one call: event 1 is the request, event 2 its answer."""
    journal = Journal.create(path, {"kind": "stdio"})
    journal.record_sent("stdio", REQUEST, json.loads(REQUEST))
    journal.record_received("stdio", [ANSWER])
    if ended:
        journal.close()
    journal.release()
    return path


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_a_mark_of_a_live_session_is_in_the_file(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path / "a.mcp.jsonl", {"kind": "stdio"}, secrets=["hunter2hunter2"])
    journal.record_sent("stdio", REQUEST, json.loads(REQUEST))
    journal.mark(1, "password is hunter2hunter2")
    journal.mark(1, "why?")
    mark = journal.marks.of(1)
    assert mark is not None
    assert mark.note == "why?"
    journal.close()
    journal.release()
    assert "hunter2hunter2" not in (tmp_path / "a.mcp.jsonl").read_text()
    with whole_journal(tmp_path / "a.mcp.jsonl") as read:
        assert read.marks.of(1) == mark
        assert [read.index.kind(n) for n in (2, 3)] == [Kind.MARK, Kind.MARK]
        assert read.index.exchange(1) == [1, 2, 3]


def test_a_finished_recording_can_be_marked_and_stays_whole(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.mcp.jsonl")
    before = lines(path)
    with whole_journal(path) as journal:
        journal.mark(2, "wrong answer")
        journal.mark(1)
        journal.mark(1, on=False)
        assert journal.marks.events() == [2]
        assert len(journal) == 5
        assert journal.ended is not None
        assert journal.event(5).fields == {"for": 1, "off": True}
    after = lines(path)
    assert after[: len(before) - 1] == before[:-1]
    assert [line["kind"] for line in after[len(before) - 1 :]] == ["mark", "mark", "mark", "end"]
    assert after[-1] == {**before[-1], "events": 5}
    with whole_journal(path) as again:
        assert again.marks.events() == [2]
        assert not again.torn
        assert not again.notices
        assert [again.event(n).kind for n in range(1, 6)] == [Kind.RPC, Kind.RPC, Kind.MARK, Kind.MARK, Kind.MARK]


def test_a_session_that_has_ended_can_still_be_marked(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path / "a.mcp.jsonl", {"kind": "stdio"})
    journal.record_sent("stdio", REQUEST, json.loads(REQUEST))
    journal.close()
    journal.mark(1, "late")
    journal.mark(1, "later")
    assert [journal.event(n).fields["text"] for n in (2, 3)] == ["late", "later"]
    journal.release()
    with whole_journal(tmp_path / "a.mcp.jsonl") as read:
        mark = read.marks.of(1)
        assert mark is not None
        assert mark.note == "later"
        assert len(read) == 3
        assert read.ended is not None


def test_two_windows_see_the_marks_of_each_other(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.mcp.jsonl")
    with whole_journal(path) as one, whole_journal(path) as other:
        one.mark(1, "first")
        other.mark(2, "second")
        one.refresh()
        assert one.marks.events() == other.marks.events() == [1, 2]
        assert len(one) == len(other) == 4


def test_a_recording_without_an_end_is_marked_at_its_end(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.mcp.jsonl", ended=False)
    with path.open("ab") as file:
        file.write(b'{"n":3,"t":9,"dir":"recv","kind":"rp')
    with whole_journal(path) as journal:
        journal.mark(1, "the writer was killed after this")
    with whole_journal(path) as read:
        assert read.marks.events() == [1]
        assert read.end_is_missing
        assert not read.torn
        assert read.event(3).kind is Kind.OTHER  # the torn line is kept


@pytest.mark.slow
def test_a_recording_that_another_process_writes_cannot_be_marked(tmp_path: Path) -> None:
    path = tmp_path / "a.mcp.jsonl"
    writer = (
        "import sys; from pathlib import Path; from inspector.journal.journal import Journal\n"
        "journal = Journal.create(Path(sys.argv[1]), {}); journal.record_note('hello'); print(flush=True); input()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", writer, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    with whole_journal(path) as journal:
        with pytest.raises(RecordingError, match="written by another process"):
            journal.mark(1)
        process.communicate("\n", timeout=10)
        journal.mark(1)
        assert journal.marks.events() == [1]


def test_a_recording_that_cannot_be_opened_to_write(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.mcp.jsonl")
    with whole_journal(path) as journal:
        path.unlink()
        with pytest.raises(RecordingError, match="cannot be written, so its messages cannot be marked: No such file"):
            journal.mark(1)


def test_a_recording_that_was_replaced_is_left_alone(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.mcp.jsonl")
    with whole_journal(path) as journal:
        os.replace(recorded(tmp_path / "b.mcp.jsonl"), path)
        before = path.read_bytes()
        with pytest.raises(RecordingError, match="replaced by another file"):
            journal.mark(1)
        assert path.read_bytes() == before


def test_a_recording_without_a_file_or_of_a_newer_format_cannot_be_marked(tmp_path: Path) -> None:
    unnamed = Journal.unnamed({})
    unnamed.record_sent("stdio", REQUEST, json.loads(REQUEST))
    unnamed.mark(1)  # while it lives, it has a file without a name
    unnamed.close()
    with pytest.raises(RecordingError, match="no file"):
        unnamed.mark(1)
    unnamed.release()
    newer = tmp_path / "n.mcp.jsonl"
    newer.write_text('{"format":"mcp-recording","version":2}\n{"n":1}\n')
    with whole_journal(newer) as journal, pytest.raises(RecordingError, match="newer format"):
        journal.mark(1)


@pytest.mark.parametrize("fields", [
    '"for":"1"', '"for":0', '"for":99', '"for":true', '"for":1,"text":7', '"text":"about nothing"', '"for":1,"off":1',
])  # fmt: skip
def test_marks_of_another_shape_do_no_harm(tmp_path: Path, fields: str) -> None:
    path = recorded(tmp_path / "a.mcp.jsonl", ended=False)
    with path.open("a") as file:
        file.write(f'{{"n":3,"t":9,"dir":"local","kind":"mark","ch":"",{fields}}}\n')
    with whole_journal(path) as journal:
        assert journal.marks.events() == ([1] if '"for":1,' in fields else [])
        assert len(journal) == 3


def test_the_filter_follows_the_marks(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path / "a.mcp.jsonl", {})
    journal.record_sent("stdio", REQUEST, json.loads(REQUEST))
    journal.record_received("stdio", [ANSWER])
    view, named = FilteredView(journal, parse("mark:*")), FilteredView(journal, parse("mark:slow"))
    journal.mark(2, "Slow answer")
    for filtered in (view, named):
        filtered.extend()
        assert list(filtered.numbers) == [2]
    journal.mark(2, "right")
    journal.mark(1)
    view.extend(), named.extend()
    assert list(view.numbers) == [1, 2]
    assert not named.numbers
    journal.mark(1, on=False)
    view.extend()
    assert list(view.numbers) == [2]
    journal.release()


def test_a_mark_is_folded_into_the_row_of_its_message(tmp_path: Path) -> None:
    with whole_journal(recorded(tmp_path / "a.mcp.jsonl")) as journal:
        journal.mark(2)
        folding = Folding(journal)
        folding.advance(len(journal))
        assert folding.row(3) == 2
        assert folding.folded(2) == [3]
