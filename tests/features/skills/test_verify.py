"""Files against their entry: the vectors of the contract, and results of resources/read that have no content."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from inspector.features.skills.entries import read_entry
from inspector.features.skills.verify import WORDS, NotReadable, check_result, content_of, verify
from tests.features.skills.conftest import FRONT, ROOT, RULES, SKILL_MD, URI, entry, listed

CRLF = SKILL_MD.replace(b"\n", b"\r\n")
BOM = b"\xef\xbb\xbf" + SKILL_MD


def outcome(raw: dict[str, Any], path: str, data: bytes) -> str:
    skill = read_entry(raw)
    file = skill.file(path) or skill.skill_md
    return verify(skill, file, data).outcome


def test_the_digests_of_the_vectors() -> None:
    assert hashlib.sha256(SKILL_MD).hexdigest() == "416087abcb17da7393a71f694c3b8311835b752b4145064c9b73d6594b040d74"
    assert hashlib.sha256(RULES).hexdigest() == "e916568003f6812c0b76020e286bf795d05f68ba9329559805b63980d45907e4"
    assert hashlib.sha256(CRLF).hexdigest() == "1ae75b9cff7b7719d6856e6af6364da000e000bb0a1d3802317b01ff021830cd"
    assert hashlib.sha256(BOM).hexdigest() == "53d739089911e4fc767afd346b32e3a2a6b09fad589e6d06efef93b55833b5a9"


@pytest.mark.parametrize(
    ("raw", "path", "data", "expected"),
    [
        (entry(), "SKILL.md", SKILL_MD, "matches"), (entry(), "references/RULES.md", RULES, "matches"),
        (entry(), "references/RULES.md", RULES.replace(b"two", b"six"), "digest"), (entry(), "SKILL.md", CRLF, "size"),
        (entry(listed("SKILL.md", CRLF)), "SKILL.md", CRLF, "matches"),
        (entry(listed("SKILL.md", BOM)), "SKILL.md", BOM, "matches"),
        (entry(frontmatter={k: v for k, v in FRONT.items() if k != "metadata"}), "SKILL.md", SKILL_MD, "frontmatter"),
        (entry(frontmatter={**FRONT, "metadata": {"owner": ["harbour"]}}), "SKILL.md", SKILL_MD, "frontmatter"),
        (entry(resources="dynamic"), "SKILL.md", SKILL_MD, "unverified"),
        (entry(resources="dynamic"), "SKILL.md", SKILL_MD.replace(b"boat", b"ship"), "frontmatter"),
        (entry(listed("SKILL.md", SKILL_MD), listed("e", b"")), "e", b"", "matches"),
        (entry(listed("SKILL.md", SKILL_MD, digest="x")), "SKILL.md", SKILL_MD, "digest"),
        (entry(listed("SKILL.md", b"no front matter")), "SKILL.md", b"no front matter", "frontmatter"),
    ],
    ids=range(13),
)  # fmt: skip
def test_vectors(raw: dict[str, Any], path: str, data: bytes, expected: str) -> None:
    """C-SKILL-17, C-SKILL-18, C-SKILL-34: a dynamic skill never matches."""
    assert outcome(raw, path, data) == expected


def test_a_wrong_size_is_found_without_a_digest() -> None:
    """C-SKILL-17."""
    skill = read_entry(entry())
    check = verify(skill, skill.skill_md, CRLF)
    assert (check.outcome, check.digest, check.size) == ("size", "", 170)
    assert check.detail == "170 bytes instead of 163"


def test_texts_that_other_readers_convert_stay_texts() -> None:
    data = b"---\nname: tide-table\ndescription: d\nversion: 2026-01-01\nx: no\n---\n"
    front = {"name": "tide-table", "description": "d", "version": "2026-01-01", "x": "no"}
    assert outcome(entry(listed("SKILL.md", data), frontmatter=front), "SKILL.md", data) == "matches"


def test_the_block_with_the_uri_that_was_requested_counts() -> None:
    """C-SKILL-32."""
    blocks = [{"uri": f"{ROOT}/other", "text": "x"}, {"uri": URI, "blob": "AP8QCg=="}]
    assert content_of({"contents": blocks}, URI) == bytes.fromhex("00ff100a")
    assert content_of({"contents": [{"uri": URI.replace("tide", "%74ide"), "text": "é"}]}, URI) == "é".encode()


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (None, "no contents"), ({}, "no contents"), ({"contents": {}}, "no contents"), ({"contents": []}, "none of the 0"),
        ({"contents": [{"uri": f"{ROOT}/x", "text": ""}] * 5}, "none of the 5"), ({"contents": [{"uri": URI}]}, "neither"),
        ({"contents": [{"uri": URI, "text": "a", "blob": "AA=="}]}, "both"),
        ({"contents": [{"uri": URI, "blob": "%%%"}]}, "not base64"), ({"contents": [{"uri": URI, "blob": "AAA"}]}, "base64"),
        ({"contents": [None, 1, "x"]}, "none of the 3"), ({"contents": [{"uri": URI, "text": "\ud800"}]}, "UTF-8"),
    ],
)  # fmt: skip
def test_a_result_without_content_is_not_a_mismatch(result: Any, reason: str) -> None:
    """C-SKILL-32."""
    with pytest.raises(NotReadable, match=reason):
        content_of(result, URI)
    skill = read_entry(entry())
    assert check_result(skill, skill.skill_md, result).outcome == "unreadable"


def test_a_match_is_not_called_trust() -> None:
    """C-SKILL-24."""
    assert WORDS["matches"] == "matches the server's own list"
    assert not {"safe", "signed", "trusted", "verified"} & set(WORDS["matches"].split())


def test_a_skill_md_of_another_skill_is_a_plain_file() -> None:
    """C-SKILL-26: its front matter is not compared with the entry."""
    skill = read_entry(entry(listed("SKILL.md", SKILL_MD), listed("weather/SKILL.md", b"no front matter")))
    nested = skill.files[1]
    assert skill.nested == [nested]
    check = verify(skill, nested, b"no front matter")
    assert (check.outcome, check.front_matter) == ("matches", None)
