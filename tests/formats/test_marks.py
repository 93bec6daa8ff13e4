"""Marks and notes in the exports that have a place for them."""

from __future__ import annotations

import io
import json
from pathlib import Path

from inspector.formats import export
from inspector.journal.journal import Journal, whole_journal


def marked() -> Journal:
    journal = Journal.unnamed({"kind": "stdio", "label": "server"})
    journal.record_sent(
        "stdio", b'{"jsonrpc":"2.0","id":1,"method":"ping"}', {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    )
    journal.record_note("between")
    journal.record_received("stdio", [b'{"jsonrpc":"2.0","id":1,"result":{}}'])
    journal.mark(3, "`late` <b>answer</b>")
    journal.mark(1)
    return journal


def text(format: str, numbers: list[int] | None = None) -> str:
    out = io.StringIO()
    journal = marked()
    export(journal, format, out, numbers)
    journal.release()
    return out.getvalue()


def test_a_transcript_lists_the_marks_and_shows_each_at_its_message() -> None:
    transcript = text("md")
    assert "## Marked by the user (2)" in transcript
    assert "- event 1\n- event 3: `` `late` <b>answer</b> ``" in transcript
    assert transcript.count("**Marked**") == 2
    assert '"for"' not in transcript  # a mark has no heading of its own in a text to read


def test_a_page_has_the_notes_as_text() -> None:
    page = text("html")
    assert '"marks":{"1":"","3":"`late` \\u003cb>answer\\u003c/b>"}' in page.replace('": ', '":').replace(', "', ',"')


def test_a_json_document_has_them_in_its_head() -> None:
    assert json.loads(text("json"))["marks"] == [{"n": 1, "note": ""}, {"n": 3, "note": "`late` <b>answer</b>"}]


def test_a_recording_of_the_marked_messages_keeps_their_marks(tmp_path: Path) -> None:
    path = tmp_path / "part.mcp.jsonl"
    path.write_text(text("recording", [1, 3]))
    with whole_journal(path) as part:
        assert len(part) == 4
        assert part.marks.events() == [1, 2]
        mark = part.marks.of(2)
        assert mark is not None
        assert mark.note == "`late` <b>answer</b>"
