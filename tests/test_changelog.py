"""CHANGELOG.md is in order: versions from new to old, each kind of change once, no entry twice."""

from __future__ import annotations

import re

from inspector.version import __version__
from tests.processes import ROOT

KINDS = {"Changed", "Fixed", "Added"}
_, *SECTIONS = re.split(r"^## (.+)\n", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
VERSIONS = dict(zip(SECTIONS[::2], SECTIONS[1::2], strict=True))


def test_the_newest_version_is_that_of_the_program() -> None:
    unreleased, newest, *older = VERSIONS
    assert unreleased == "Unreleased"
    assert re.fullmatch(rf"{re.escape(__version__)}, \d{{4}}-\d\d-\d\d", newest)
    assert all(re.match(r"\d+\.\d+\.\d+, ", title) for title in older)


def test_each_kind_of_change_stands_once_in_a_version() -> None:
    for version, text in VERSIONS.items():
        kinds = re.findall(r"^### (.+)$", text, re.MULTILINE)
        assert len(kinds) == len(set(kinds)), version
        assert set(kinds) <= KINDS, version


def test_no_entry_stands_twice() -> None:
    for version, text in VERSIONS.items():
        entries = re.split(r"^- ", text, flags=re.MULTILINE)[1:]
        first_lines = [entry.partition("\n")[0] for entry in entries]
        assert {line for line in first_lines if first_lines.count(line) > 1} == set(), version
