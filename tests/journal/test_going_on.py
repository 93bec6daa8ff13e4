"""A finished recording can be extended, and is finished again."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector.client.recordings_folder import read_info
from inspector.journal.journal import Journal, whole_journal


@pytest.mark.parametrize("named", [True, False])
def test_a_recording_goes_on_after_its_end(tmp_path: Path, named: bool) -> None:
    path = tmp_path / "a.mcp.jsonl"
    journal = Journal.create(path, {}) if named else Journal.unnamed({})
    journal.record_note("one")
    journal.close()
    assert not named or (read_info(path).ended and not read_info(path).growing)
    journal.mark(1) if named else None
    journal.go_on()
    assert not named or read_info(path).growing
    two = journal.record_note("two")
    assert journal.event(two).fields["text"] == "two"
    journal.close()
    journal.go_on()
    journal.close()
    journal.release()
    if named:
        assert path.read_bytes().count(b'"kind":"end"') == 1
        with whole_journal(path) as read:
            assert [read.event(n).fields.get("text") for n in (1, two)] == ["one", "two"]
            assert read.marks.of(1) is not None


def test_a_recording_that_has_not_ended_or_is_read_does_not_change(tmp_path: Path) -> None:
    path = tmp_path / "a.mcp.jsonl"
    journal = Journal.create(path, {})
    journal.record_note("one")
    journal.go_on()
    journal.close()
    before = path.read_bytes()
    with whole_journal(path) as read:
        read.go_on()
    assert path.read_bytes() == before
    journal.release()
