"""Appending to a recording leaves what it is: its mode, and the link that leads to it."""

from __future__ import annotations

import os
from pathlib import Path

from inspector.journal.appending import append_recordings
from inspector.journal.journal import Journal, whole_journal


def recorded(path: Path) -> Path:
    journal = Journal.create(path, {"kind": "stdio"})
    journal.record_life("stdio", "spawn")
    journal.close("closed")
    journal.release()
    return path


def test_a_recording_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    kept, more = recorded(tmp_path / "a.mcp.jsonl"), recorded(tmp_path / "b.mcp.jsonl")
    kept.chmod(0o644)
    link = tmp_path / "link.mcp.jsonl"
    link.symlink_to(kept)
    append_recordings(link, [more])
    assert link.is_symlink()
    assert os.stat(kept).st_mode & 0o777 == 0o644
    with whole_journal(kept) as journal:
        assert len(journal) == 3
