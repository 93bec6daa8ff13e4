"""`inspector bundle`: one file for a bug report, which opens like any recording."""

from __future__ import annotations

import json
from pathlib import Path

from inspector.journal.journal import Journal, whole_journal
from tests.cli.conftest import Run

TOKEN = "ghp_" + "a1B2c3D4" * 4 + "e5F6"


def recorded(path: Path) -> Path:
    journal = Journal.create(path, {"kind": "stdio", "argv": ["server"], "label": "server"})
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "arguments": {"token": TOKEN}}}
    journal.record_sent("stdio", json.dumps(call).encode(), call)
    journal.record_stderr("stderr", [f"GITHUB_TOKEN={TOKEN}".encode()])
    journal.mark(1, f"fails with {TOKEN}")
    journal.close()
    journal.release()
    return path


def test_a_bundle_is_a_redacted_recording_with_marks_versions_and_diagnosis(tmp_path: Path, run: Run) -> None:
    source = recorded(tmp_path / "s.mcp.jsonl")
    ran = run("bundle", str(source))
    made = tmp_path / "s.bundle.mcp.jsonl"
    assert ran.code == 0
    assert "secrets were removed, 1 message is marked" in ran.out
    assert TOKEN not in made.read_text()
    with whole_journal(made) as journal:
        mark = journal.marks.of(1)
        assert mark is not None
        assert mark.note.startswith("fails with ‹redacted ")
        bundle = journal.header["bundle"]
    assert bundle.keys() == {"made", "by", "python", "system", "doctor"}
    assert bundle["doctor"]["cause"].startswith("It is a recording of server with 3 events")
    assert str(Path.home()) + "/" not in json.dumps(bundle)
    said = run("doctor", "-v", str(made)).out
    assert "bundled by: inspector/" in said
    assert "1 message marked by the user" in said


def test_a_bundle_never_replaces_a_file_unasked(tmp_path: Path, run: Run) -> None:
    source = recorded(tmp_path / "s.mcp.jsonl")
    before = source.read_bytes()
    assert run("bundle", str(source)).code == 0
    again = run("bundle", str(source))
    assert again.code == 2
    assert "exists" in again.err
    assert run("bundle", str(source), "--force").code == 0
    assert "is the input recording" in run("bundle", str(source), "-o", str(source), "--force").err
    assert source.read_bytes() == before


def test_a_bundle_as_json_and_to_stdout(tmp_path: Path, run: Run) -> None:
    source = recorded(tmp_path / "s.mcp.jsonl")
    found = json.loads(run("bundle", str(source), "--json").out)
    assert found == {
        "file": str(source), "written": str(tmp_path / "s.bundle.mcp.jsonl"), "marks": 1, "hidden": found["hidden"],
    }  # fmt: skip
    assert found["hidden"] >= 3
    assert json.loads(run("bundle", str(source), "-o", "-").out.splitlines()[0])["bundle"]["doctor"]
