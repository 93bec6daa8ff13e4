"""Entries of skills: rules, limits, URIs, names of folders. No file is read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.features.skills import uris
from inspector.features.skills.entries import read_entry
from tests.features.skills.conftest import FRONT, ROOT, RULES, SKILL_MD, entry, listed


def broken(raw: Any, level: str = "must") -> list[str]:
    """The rules that an entry breaks."""
    return sorted({problem.check for problem in read_entry(raw).problems if problem.level == level})


def test_a_valid_entry_has_no_problem() -> None:
    skill = read_entry(entry())
    assert (skill.kind, skill.problems, skill.name, skill.size) == ("static", (), "tide-table", 198)
    assert [file.path for file in skill.files] == ["SKILL.md", "references/RULES.md"]


def test_a_dynamic_skill_lists_no_digests() -> None:
    skill = read_entry(entry(resources="dynamic"))
    assert (skill.kind, skill.files, skill.problems) == ("dynamic", (), ())


@pytest.mark.parametrize("resources", [None, {}, "Dynamic", 1])
def test_an_entry_without_usable_resources_is_invalid(resources: Any) -> None:
    """C-SKILL-10."""
    skill = read_entry(entry(resources=resources))
    assert skill.kind == "invalid"
    assert broken(entry(resources=resources)) == ["SKILL-12"]
    assert "neither a list nor" in skill.why_invalid


@pytest.mark.parametrize("raw", [None, "x", [], 1])
def test_an_entry_that_is_not_an_object_is_invalid(raw: Any) -> None:
    assert read_entry(raw).kind == "invalid"


def test_a_manifest_without_its_own_skill_md() -> None:
    assert broken(entry(listed("references/RULES.md", RULES))) == ["SKILL-13"]
    twice = [listed("SKILL.md", SKILL_MD), listed("SKILL.md", SKILL_MD)]
    assert broken(entry(*twice)) == ["SKILL-13"]


@pytest.mark.parametrize(
    "uri",
    [
        f"{ROOT}/../x.md", f"{ROOT}2/x.md", "skill://other/tide-table/x.md", "https://harbour/tide-table/x.md",
        f"{ROOT}/%2e%2e/x.md", f"{ROOT}/a%2fb", f"{ROOT}/a%5Cb", f"{ROOT}/a%00b", f"{ROOT}/a\x00b", f"{ROOT}/a?b",
        f"{ROOT}/a#b", f"{ROOT}/", f"{ROOT}/a//b", f"{ROOT}/.", "skill:harbour/tide-table/x.md", "/etc/passwd", "",
        f"{ROOT}/%ff", f"{ROOT}/{'a' * 5000}",
    ],
)  # fmt: skip
def test_a_file_outside_the_directory_is_not_a_file_of_the_skill(uri: str) -> None:
    raw = entry(listed("SKILL.md", SKILL_MD), {**listed("x", b""), "uri": uri})
    assert "SKILL-14" in broken(raw)
    assert [file.path for file in read_entry(raw).files] == ["SKILL.md", ""]


@pytest.mark.parametrize("digest", ["sha256:" + "A" * 64, "sha512:" + "a" * 64, "sha256:" + "a" * 63, None, 5])
def test_a_digest_of_another_form(digest: Any) -> None:
    assert broken(entry(listed("SKILL.md", SKILL_MD, digest=digest))) == ["SKILL-15"]


@pytest.mark.parametrize("size", [-1, 1.5, 1e300, "12", True, None])
def test_a_size_that_is_not_a_count(size: Any) -> None:
    assert broken(entry(listed("SKILL.md", SKILL_MD, size=size))) == ["SKILL-16"]


@pytest.mark.parametrize("name", ["tide--table", "Tide", "-t", "t-", "a" * 65, "", "tide_table"])
def test_a_name_that_breaks_the_rules(name: str) -> None:
    raw = entry(uri=f"skill://harbour/{name}/SKILL.md", frontmatter={**FRONT, "name": name}, resources="dynamic")
    assert "SKILL-10" in broken(raw)


def test_a_name_with_other_lowercase_letters_is_only_doubtful() -> None:
    raw = entry(
        uri="skill://harbour/gezeiten-tafél/SKILL.md", frontmatter={**FRONT, "name": "gezeiten-tafél"},
        resources="dynamic",
    )  # fmt: skip
    assert broken(raw) == []
    assert broken(raw, "should") == ["SKILL-10"]


def test_the_name_is_the_last_segment_of_the_directory() -> None:
    assert broken(entry(frontmatter={**FRONT, "name": "table"})) == ["SKILL-09"]
    alone = entry(uri="skill://tide-table/SKILL.md", resources="dynamic")
    assert broken(alone) == []


@pytest.mark.parametrize(
    ("fields", "rule", "level"),
    [
        ({"description": ""}, "SKILL-11", "must"), ({"description": "x" * 1025}, "SKILL-11", "must"),
        ({"compatibility": "x" * 501}, "SKILL-11", "must"), ({"license": 1}, "SKILL-11", "must"),
        ({"metadata": {"a": 1}}, "SKILL-11", "must"), ({"allowed-tools": ["a"]}, "SKILL-11", "should"),
        ({"allowed-tools": {}}, "SKILL-11", "must"), ({"description": None}, "SKILL-08", "must"),
        ({"metadata": {"io.modelcontextprotocol/x": "1"}}, "SKILL-33", "should"),
    ],
)  # fmt: skip
def test_fields_of_the_front_matter(fields: dict[str, Any], rule: str, level: str) -> None:
    """C-SKILL-12: a reserved key is a note, and the skill stays valid."""
    raw = entry(frontmatter=FRONT | fields)
    assert broken(raw, level) == [rule]
    assert rule != "SKILL-33" or read_entry(raw).kind == "static"


def test_the_limits_of_a_skill() -> None:
    """C-SKILL-11."""
    whole = [listed("SKILL.md", SKILL_MD, size=163)]
    rest = [listed(f"f{n}", b"", size=0) for n in range(511)]
    assert read_entry(entry(*whole, *rest)).over_limit == ""
    assert "513 files" in read_entry(entry(*whole, *rest, listed("g", b""))).over_limit
    assert read_entry(entry(*whole, listed("f", b"", size=(16 << 20) - 163))).over_limit == ""
    assert "16,777,217 bytes" in read_entry(entry(*whole, listed("f", b"", size=(16 << 20) - 162))).over_limit


def test_a_hundred_thousand_files_are_counted_and_not_kept() -> None:
    files = [listed(f"f{n}", b"") for n in range(2)]
    skill = read_entry(entry(resources=files * 50_000))
    assert skill.count == 100_000
    assert len(skill.files) == 4096
    assert "100,000 files" in skill.over_limit


@given(st.text(max_size=40))
def test_every_text_is_one_recoverable_name(text: str) -> None:
    """C-SKILL-14."""
    name = uris.folder_name(text)
    assert uris.folder_text(name) == text
    assert name not in ("", ".", "..")
    assert not name.startswith(".")
    assert not set(name) & set('/\\\0:*?"<>|')
    assert not name.endswith((" ", "."))


@pytest.mark.parametrize("text", ["..", ".", "a/b", "a\\b", "con", "NUL.txt", "%2e%2e", ".ssh", "a.", "", "\x00", "ä"])
def test_names_that_mean_something_to_a_system_are_encoded(text: str) -> None:
    name = uris.folder_name(text)
    assert "%" in name
    assert uris.folder_text(name) == text


@given(st.text(max_size=60))
def test_a_uri_never_leaves_the_directory(text: str) -> None:
    root = uris.parse(f"{ROOT}/SKILL.md")
    assert isinstance(root, uris.SkillUri)
    path = uris.path_in(root, f"{ROOT}/{text}")
    assert path is None or not {"", ".", ".."} & set(path.split("/"))
