"""`inspector bundle`: one file for a bug report, which opens like any recording."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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
    assert "secrets were removed, 1 message is marked" in ran.err
    assert TOKEN not in made.read_text()
    with whole_journal(made) as journal:
        mark = journal.marks.of(1)
        assert mark is not None
        assert mark.note.startswith("fails with ‹redacted ")
        bundle = journal.header["bundle"]
    assert bundle.keys() == {"made", "by", "python", "system", "doctor"}
    assert bundle["doctor"]["cause"].startswith("It is a recording of server with 3 events")
    assert str(Path.home()) + "/" not in json.dumps(bundle)
    diagnosis = run("doctor", "-v", str(made)).out
    assert "bundled by: inspector/" in diagnosis
    assert "1 message marked by the user" in diagnosis


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
    document = json.loads(run("bundle", str(source), "--json").out)
    assert document == {
        "path": str(source), "written": str(tmp_path / "s.bundle.mcp.jsonl"), "marks": 1, "hidden": document["hidden"],
    }  # fmt: skip
    assert document["hidden"] >= 3
    assert json.loads(run("bundle", str(source), "-o", "-").out.splitlines()[0])["bundle"]["doctor"]


KEY = [
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    *(f"b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAt{n:x}" for n in range(14)),
    "KV00Gfdo/h/VT2AQ==",
    "-----END OPENSSH PRIVATE KEY-----",
]


@pytest.mark.slow
def test_no_line_of_a_private_key_is_in_a_bundle(tmp_path: Path, run: Run) -> None:
    """Also not of a recording that was made when they were recorded, and where only the last lines are read."""
    path = recorded(tmp_path / "s.mcp.jsonl")
    *lines, end = path.read_text().splitlines()
    for before, after in ((0, 1), (5200, 0)):
        printed = ["x"] * before + KEY + ["after"] * after
        more = [
            json.dumps({"n": n, "t": 9, "dir": "recv", "kind": "stderr", "ch": "stderr", "raw": text})
            for n, text in enumerate(printed, len(lines))
        ]
        path.write_text("\n".join([*lines, *more, end]) + "\n")
        made = tmp_path / f"{before}.mcp.jsonl"
        for words in (
            ("bundle", str(path), "-o", str(made)),
            ("doctor", "-v", str(path)),
            ("doctor", "--json", str(path)),
        ):
            output = run(*words).out + (made.read_text() if words[0] == "bundle" else "")
            assert not [line for line in KEY if line[:60] in output or line[-16:] in output]
    assert '"redacted"' in made.read_text()


def test_a_bundle_names_no_user_and_no_folder(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "of-alice" / "shop"
    folder.mkdir(parents=True)
    path = folder / "s.mcp.jsonl"
    target = {"kind": "stdio", "argv": ["python", f"{folder}/server.py"], "label": "server.py", "cwd": str(folder)}
    journal = Journal.create(path, target | {"source": "/home/alice/.cursor/mcp.json"})
    journal.record_life("stdio", "spawn", argv=target["argv"], cwd=str(folder), env=["PATH"], pid=1)
    journal.record_stderr("stderr", [f"reading {folder}/x and /Users/alice/y and {tmp_path}/of-alice/z".encode()])
    journal.record_note(f"see {folder}")
    journal.close()
    journal.release()
    monkeypatch.chdir(folder)
    assert "0 secrets were removed" in run("bundle", str(path), "-o", "b.mcp.jsonl").err
    text = (folder / "b.mcp.jsonl").read_text(encoding="utf-8").replace("of-alice/z", "")
    assert "alice" not in text
    header = json.loads(text.splitlines()[0])
    assert header["target"]["argv"] == ["python", "…/shop/server.py"]
    assert header["bundle"]["doctor"]["target"] == "s.mcp.jsonl"
    assert header["bundle"]["doctor"]["fix"] == {"command": "inspector replay s.mcp.jsonl"}
    run("bundle", str(path), "-o", "c.mcp.jsonl", "--rule", "no-home")
    assert json.dumps(f"{folder}/server.py") in (folder / "c.mcp.jsonl").read_text(encoding="utf-8")
