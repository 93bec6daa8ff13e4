"""Skills in a folder of the user: no path of a server leaves it, and only what matches is written."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector.config.output_files import OutputExists
from inspector.errors import UsageError
from inspector.features.skills.entries import SkillFile, read_entry
from inspector.features.skills.saving import folder_of, is_read_by_agents, save_skill
from inspector.features.skills.verify import FileCheck, verify
from tests.features.skills.conftest import RULES, SKILL_MD, URI, entry


def checks(raw: dict[str, Any], *data: bytes) -> list[FileCheck]:
    skill = read_entry(raw)
    return [verify(skill, file, content) for file, content in zip(skill.files, data, strict=True)]


def everything(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def test_a_skill_lies_under_label_and_uri(tmp_path: Path) -> None:
    """C-SKILL-13, C-SKILL-14."""
    skill = read_entry(entry())
    saved = save_skill(skill, "@shop", checks(entry(), SKILL_MD, RULES), tmp_path / "out")
    assert everything(tmp_path) == [
        "out/@shop/skill/harbour/tide-table/SKILL.md", "out/@shop/skill/harbour/tide-table/references/RULES.md",
    ]  # fmt: skip
    assert saved.folder == folder_of(skill, "@shop", tmp_path / "out")
    assert (saved.folder / "references" / "RULES.md").read_bytes() == RULES
    # Windows may start any file.
    assert sys.platform == "win32" or not os.access(saved.folder / "SKILL.md", os.X_OK)


def test_only_files_that_match_are_written(tmp_path: Path) -> None:
    """C-SKILL-17."""
    skill = read_entry(entry())
    saved = save_skill(skill, "s", checks(entry(), SKILL_MD, b"changed"), tmp_path)
    assert [path.name for path in saved.written] == ["SKILL.md"]
    assert saved.left_out == [("references/RULES.md", "size differs")]


def test_a_dynamic_skill_is_saved_without_digests_and_without_what_the_recording_lacks(tmp_path: Path) -> None:
    raw = entry(resources="dynamic")
    skill = read_entry(raw)
    missing = FileCheck(SkillFile(f"{URI}x", "x", "", -1), "unverified", "the recording hides a secret in it")
    empty = FileCheck(SkillFile(f"{URI}e", "e", "", -1), "unverified", size=0)
    saved = save_skill(skill, "s", [verify(skill, skill.skill_md, SKILL_MD), missing, empty], tmp_path)
    assert [path.name for path in saved.written] == ["SKILL.md", "e"]
    assert saved.left_out == [("x", "the recording hides a secret in it")]


def test_a_file_in_place_of_a_directory_is_left_out(tmp_path: Path) -> None:
    files = [FileCheck(SkillFile(URI, path, "", 1), "matches", data=b"x") for path in ("a", "a/b", "c/d/e", "c/d", "f")]
    saved = save_skill(read_entry(entry()), "s", files, tmp_path)
    assert [path.relative_to(saved.folder).as_posix() for path in saved.written] == ["a", "c/d/e", "f"]
    assert saved.left_out == [
        ("a/b", "its directory is also a file of the skill"),
        ("c/d", "it is also a directory of the skill"),
    ]


@pytest.mark.parametrize(
    "path", ["../../x", "/etc/passwd", "a/../../../x", "..\\x", "C:\\x", "con", "\x00", "~/.ssh/x", "."]
)
def test_no_path_leaves_the_folder(tmp_path: Path, path: str) -> None:
    """C-SKILL-14."""
    skill = read_entry(entry())
    hostile = FileCheck(SkillFile(URI, path, "", 1), "matches", data=b"x")
    out = tmp_path / "deep" / "er" / "out"
    save_skill(skill, "../..", [hostile], out)
    (written,) = everything(tmp_path)
    assert written.startswith("deep/er/out/%2E.%2F.%2E/skill/harbour/tide-table/")
    assert ".." not in Path(written).parts


@pytest.mark.parametrize("label", ["..", "/", "", "a/b", "@x:y", "con"])
def test_no_label_leaves_the_folder(tmp_path: Path, label: str) -> None:
    out = tmp_path / "out"
    save_skill(read_entry(entry()), label, checks(entry(), SKILL_MD, RULES), out)
    assert len(everything(out)) == 2


def test_a_link_in_the_folder_is_not_followed(tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    (out / "s").symlink_to(elsewhere)
    with pytest.raises(UsageError, match="is not a folder"):
        save_skill(read_entry(entry()), "s", checks(entry(), SKILL_MD, RULES), out)
    assert everything(elsewhere) == []


def test_a_link_in_place_of_a_file_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("kept")
    folder = folder_of(read_entry(entry()), "s", tmp_path / "out")
    folder.mkdir(parents=True)
    (folder / "SKILL.md").symlink_to(target)
    with pytest.raises(OutputExists):
        save_skill(read_entry(entry()), "s", checks(entry(), SKILL_MD, RULES), tmp_path / "out")
    save_skill(read_entry(entry()), "s", checks(entry(), SKILL_MD, RULES), tmp_path / "out", force=True)
    assert target.read_text() == "kept"
    assert (folder / "SKILL.md").read_bytes() == SKILL_MD


def test_a_name_that_is_too_long_is_omitted(tmp_path: Path) -> None:
    long = FileCheck(SkillFile(URI, "a" * 300, "", 1), "matches", data=b"x")
    saved = save_skill(read_entry(entry()), "s", [long], tmp_path)
    assert saved.left_out[0][1] == "its name is too long for a file"


@pytest.mark.parametrize(
    ("path", "read"), [("~/.claude/skills", True), ("x/.agents/skills/a", True), ("skills", False)]
)
def test_folders_that_agents_read_are_known(path: str, read: bool) -> None:
    assert is_read_by_agents(Path("/home/ada", path.replace("~", "x"))) == read


def test_folders_that_agents_read_are_known_through_links_in_both_directions(tmp_path: Path) -> None:
    agents = tmp_path / ".claude" / "skills"
    agents.mkdir(parents=True)
    (tmp_path / "to-skills").symlink_to(agents)
    (tmp_path / "to-claude").symlink_to(agents.parent)
    (tmp_path / "mine").mkdir()
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "skills").symlink_to(tmp_path / "mine")
    for name in ("to-skills", "to-skills/new", "to-claude/skills", "mine/../to-skills", ".codex/skills", ".X/Skills"):
        assert is_read_by_agents(tmp_path / name), name
    for name in ("mine", ".claude/skills/../../mine", "to-claude/other"):
        assert not is_read_by_agents(tmp_path / name), name


def test_every_folder_of_a_saved_skill_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        save_skill(read_entry(entry()), "s", checks(entry(), SKILL_MD, RULES), tmp_path / "new" / "out")
    finally:
        os.umask(before)
    made = [path for path in (tmp_path / "new").rglob("*") if path.is_dir()]
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "new", *made)} == {0o700}
