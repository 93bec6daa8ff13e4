"""`inspector skills`: what it prints, what it writes, and its exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, Script
from tests.features.skills.conftest import RULES, SKILL_MD, URI, block, entry, listed

pytestmark = pytest.mark.slow

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"resources": {}, "extensions": {"io.modelcontextprotocol/skills": {}}},
    "serverInfo": {"name": "n", "version": "1"},
}


def server(script: Script, *entries: Any, rules: bytes = RULES) -> list[str]:
    """A legacy server of skills; every read answers with both files."""
    contents = [block(URI, SKILL_MD), block(URI.replace("SKILL.md", "references/RULES.md"), rules)]
    answers: dict[str, Any] = {
        "initialize": {"result": HELLO},
        "skills/list": {"result": {"skills": list(entries) or [entry()]}},
        "skills/get": {"error": {"code": -32602, "message": "no"}},
        "resources/read": {"result": {"contents": contents}},
    }
    return script(**answers)


def test_the_list_reads_no_file(run: Run, script: Script, tmp_path: Path) -> None:
    """C-SKILL-03, C-SKILL-04, C-SKILL-16."""
    kept = tmp_path / "kept.mcp.jsonl"
    ran = run("skills", "--era", "legacy", "--record", str(kept), *server(script))
    assert ran.code == 0
    assert ran.out.split()[:6] == ["tide-table", "2", "files", "198", "B", URI]
    assert "defined for 2026-07-28" in ran.err
    assert '"resources/read"' not in kept.read_text()
    assert '\\"io.modelcontextprotocol/skills\\":{}' in kept.read_text()


def test_files_that_match(run: Run, script: Script) -> None:
    ran = run("skills", "--era", "legacy", "--verify", "--json", *server(script))
    assert ran.code == 0
    (skill,) = ran.json["skills"]
    assert skill["state"] == "matches"
    assert [file["outcome"] for file in skill["files"]] == ["matches", "matches"]


def test_a_file_that_differs_is_exit_code_5_and_is_not_saved(run: Run, script: Script, tmp_path: Path) -> None:
    """C-SKILL-17."""
    out = tmp_path / "out"
    ran = run("skills", "--era", "legacy", "-o", str(out), *server(script, rules=b"x" * 35))
    assert ran.code == 5
    assert (
        "failed       references/RULES.md"
        in run("skills", "--era", "legacy", "--verify", *server(script, rules=b"x" * 35)).out
    )
    assert "not written: references/RULES.md: digest differs." in ran.err
    assert "  failed       references/RULES.md" in ran.out
    assert [path.name for path in out.rglob("*") if path.is_file()] == ["SKILL.md"]


def test_a_recording_shows_the_same(run: Run, script: Script, tmp_path: Path) -> None:
    kept = tmp_path / "kept.mcp.jsonl"
    live = run("skills", "--era", "legacy", "--verify", "--json", "--record", str(kept), *server(script))
    again = run("skills", "--json", str(kept), "tide-table")
    assert [{**skill, "server": ""} for skill in again.json["skills"]] == [
        {**skill, "server": ""} for skill in live.json["skills"]
    ]
    assert run("skills", "--verify", str(kept)).code == 2


def test_escapes_of_a_server_are_not_printed(run: Run, script: Script) -> None:
    """C-EXT-11."""
    raw = entry(frontmatter={"name": "tide-table", "description": "a\x1b[31mb\u202ec"})
    ran = run("skills", "--era", "legacy", *server(script, raw))
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out


@pytest.mark.parametrize(
    ("entries", "what"),
    [
        ([entry(resources=None)], "The skill tide-table"),
        ([None], "An entry of skills/list"),
        ([entry(listed("SKILL.md", SKILL_MD, size=1 << 30))], "The skill tide-table"),
    ],
)
def test_entries_that_are_not_read(run: Run, script: Script, entries: list[Any], what: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = run("skills", "--era", "legacy", "-o", str(out), *server(script, *entries))
    assert ran.code in (0, 5)
    assert f"{what} is not read" in ran.err
    assert not out.exists()


def test_an_empty_list_does_not_mean_that_there_are_no_skills(run: Run, script: Script) -> None:
    """C-SKILL-06."""
    ran = run(
        "skills", "--era", "legacy", *script(initialize={"result": HELLO}, skills__list={"result": {"skills": []}})
    )
    assert (ran.code, ran.out) == (0, "")
    assert "it may still serve some that are opened by their URI" in ran.err


def test_a_server_without_skills(run: Run, script: Script) -> None:
    hello = json.loads(json.dumps(HELLO))
    hello["capabilities"]["extensions"] = {"io.modelcontextprotocol/skills": True}
    ran = run("skills", "--era", "legacy", *script(initialize={"result": hello}))
    assert ran.code == 1
    assert "not an object" in ran.err


@pytest.mark.parametrize(("folder", "is_named"), [(".claude/skills", True), ("link", True), ("out", False)])
def test_a_folder_from_which_programs_load_skills_is_named(
    run: Run, script: Script, tmp_path: Path, folder: str, is_named: bool
) -> None:
    (tmp_path / ".claude" / "skills").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / ".claude" / "skills")
    ran = run("skills", "--era", "legacy", "-o", str(tmp_path / folder), *server(script))
    assert ran.code == 0
    assert (f"Programs load skills from {tmp_path / folder}" in ran.err) is is_named
