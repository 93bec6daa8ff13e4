"""The audit of dependencies finds what it should, and the lock is that of pyproject.toml."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.versions import audit

BAD = {"package": "a", "id": "CVE-1", "introduced": "1.5", "fixed": "2.0", "what": "bad", "source": "https://x/GHSA-1"}


def project(*dependencies: str) -> str:
    return f"[project]\ndependencies = {list(dependencies)}\n"


@pytest.mark.parametrize(
    ("bound", "pin", "says"),
    [
        ("a>=2.0", "a==2.1", []),
        ("a>=1.4", "a==2.0", []),
        ("a>=1.5", "a==2.0", ["pyproject.toml allows a 1.5: CVE-1, fixed in 2.0"]),
        ("A>=1.10,<3", "a==2.0 ; sys_platform == 'linux'", ["pyproject.toml allows a 1.10"]),
        ("a", "a==2.0", ["pyproject.toml allows a in any version"]),
        ("a>=2.0", "a==1.9", ["does not satisfy a>=2.0", "tested.txt has a 1.9: CVE-1"]),
        ("a>=2.0,<2.1", "a==2.1", ["does not satisfy"]),
        ("b", "c==2.0", ["b is not in tested.txt"]),
        ("b", "b==1\na==2.0", ["pyproject.toml has no lower bound for a: CVE-1"]),
        ("b", "b==1\na==1.9", ["pyproject.toml has no lower bound for a: CVE-1", "tested.txt has a 1.9: CVE-1"]),
    ],
)
def test_bounds_and_pins_are_held_against_advisories(bound: str, pin: str, says: list[str]) -> None:
    found = list(audit.problems(project(bound), pin, [BAD]))
    assert len(found) == len(says)
    assert all(part in sentence for part, sentence in zip(says, found, strict=True))


def test_an_advisory_without_a_fix_affects_every_later_version() -> None:
    unfixed = {key: value for key, value in BAD.items() if key != "fixed"}
    assert "not fixed" in "".join(audit.problems(project("a>=9"), "a==9", [unfixed]))


def test_what_osv_knows_is_reported_once_with_its_range() -> None:
    def vulnerability(name: str, *aliases: str, package: str = "a", **events: str) -> dict[str, object]:
        ranges = [{"type": "ECOSYSTEM", "events": [{key: value} for key, value in events.items()]}]
        affected = [{"package": {"name": package}, "ranges": ranges}]
        return {"id": name, "aliases": list(aliases), "summary": "s", "affected": affected}

    answer = {
        "vulns": [
            vulnerability("GHSA-1", introduced="0", fixed="1"),
            vulnerability("PYSEC-9", "CVE-1", introduced="0", fixed="1"),
            vulnerability("GHSA-2", "CVE-2", introduced="0", fixed="3"),
            vulnerability("PYSEC-2", "CVE-2", "GHSA-2", introduced="0", fixed="3"),
            vulnerability("GHSA-3", package="other", introduced="0"),
            vulnerability("GHSA-4", introduced="2.1"),
        ]
    }
    assert [(each["id"], each.get("introduced"), each.get("fixed")) for each in audit.unknown("a", answer, {"CVE-1", "GHSA-1"})] == [
        ("CVE-2", None, "3"), ("GHSA-4", "2.1", None),
    ]  # fmt: skip


def test_every_advisory_says_what_and_where() -> None:
    for advisory in json.loads((Path(audit.__file__).parent / "advisories.json").read_text()):
        assert {"package", "id", "what", "source"} <= advisory.keys()
        assert advisory["source"].startswith("https://")
        assert advisory["package"] == audit.canonicalize_name(advisory["package"])


def test_this_project_has_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert audit.main() == 0, capsys.readouterr().err
