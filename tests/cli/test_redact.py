"""`inspector redact`: look, check, write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.redact.test_recording import recorded
from tests.redact.test_scan import GITHUB

CLEAN = Path(__file__).parents[2] / "recordings" / "demo-tour.mcp.jsonl"


@pytest.fixture
def leaking(tmp_path: Path) -> Path:
    """A recording with secrets in it."""
    return recorded(tmp_path / "s.mcp.jsonl", {"params": {"token": GITHUB, "pin": 4711}}, {"x": GITHUB})


def test_it_shows_what_would_be_hidden_and_changes_nothing(run: Run, leaking: Path) -> None:
    before = leaking.read_bytes()
    ran = run("redact", str(leaking), "--rule", "$.params.pin")
    assert (ran.code, ran.err) == (0, "")
    assert "ghp_… 36" not in ran.out
    assert [line.split()[0] for line in ran.out.splitlines()] == ["named", "$.params.pin", "3"]
    assert "2 times" in ran.out
    assert "3 places would be hidden" in ran.out
    assert GITHUB[:8] not in ran.out
    assert leaking.read_bytes() == before


def test_check_ends_with_5_where_there_is_something(run: Run, leaking: Path) -> None:
    ran = run("redact", "--check", str(leaking))
    assert (ran.code, ran.err) == (5, "")
    assert "look like secrets" in ran.out
    clean = run("redact", "--check", str(CLEAN))
    assert (clean.code, clean.err) == (0, "")
    assert "No secret found." in clean.out


def test_the_copy_has_no_secrets_and_is_private(run: Run, leaking: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.mcp.jsonl"
    ran = run("redact", str(leaking), "-o", str(copy))
    assert ran.code == 0
    assert f"written: {copy}\n2 places are hidden.\n" in ran.err
    assert "Read the copy before you share it" in ran.err
    assert GITHUB not in copy.read_text(encoding="utf-8")
    assert copy.stat().st_mode & 0o777 == 0o600
    assert run("redact", "--check", str(copy)).code == 0
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".jsonl") == [
        "copy.mcp.jsonl",
        "s.mcp.jsonl",
    ]


def test_json_is_one_document(run: Run, leaking: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.mcp.jsonl"
    ran = run("redact", "--json", str(leaking), "-o", str(copy), "--rule", "$.params.pin")
    assert ran.json == {
        "exit_code": 0, "path": str(leaking), "written": str(copy), "places": 3, "lines": 2, "unlisted": 0,
        "found": [
            {"rule": "named", "head": "", "length": 40, "count": 2, "where": "$.params.token", "events": [1, 2]},
            {"rule": "$.params.pin", "head": "", "length": 4, "count": 1, "where": "$.params.pin", "events": [1]},
        ],
    }  # fmt: skip
    pin = json.loads(json.loads(copy.read_text(encoding="utf-8").splitlines()[1])["raw"])["params"]["pin"]
    assert pin.startswith("‹redacted ")


def test_rules_come_from_a_file_too(run: Run, leaking: Path, tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text("shapes: {github: false, named: false, entropy: false}\nrules: [$..pin]\n")
    ran = run("redact", "--json", str(leaking), "--rules", str(tmp_path / "rules.yaml"))
    assert [value["rule"] for value in ran.json["found"]] == ["$..pin"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rule", "githb"], "is not a rule"),
        (["--rules", "/no/such/file"], "cannot be read"),
        (["--check", "-o", "x"], "cannot be used with -o"),
        (["-o", "/no/such/folder/x"], "cannot be written"),
    ],
)
def test_what_cannot_be_done_is_said(run: Run, leaking: Path, words: list[str], message: str) -> None:
    ran = run("redact", str(leaking), *words)
    assert ran.code == 2
    assert message in ran.err


def test_a_recording_never_overwrites_itself(run: Run, leaking: Path, tmp_path: Path) -> None:
    before = leaking.read_bytes()
    assert run("redact", str(leaking), "-o", str(leaking)).code == 2
    assert leaking.read_bytes() == before
    assert run("redact", str(tmp_path / "none")).code == 2
