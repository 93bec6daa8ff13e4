"""The decisions of `make release`: the cut of the changelog, and the README as PyPI shows it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from hatch_build import for_pypi
from tests import release
from tests.processes import ROOT
from tests.release import CannotRelease, cut

CHANGELOG = "# Changelog\n\n## Unreleased\n{}\n## 0.2.0, 2026-01-02\n\n### Fixed\n\n- One.\n\n## 0.1.0, not published\n"
NEW = "\n### Fixed\n\n- Two.\n"


def test_the_unreleased_becomes_the_version() -> None:
    cut_one = cut(CHANGELOG.format(NEW), "0.3.0", "2026-02-03")
    assert cut_one == CHANGELOG.format("\n## 0.3.0, 2026-02-03\n" + NEW)


def test_a_section_that_exists_is_released_as_it_is() -> None:
    assert cut(CHANGELOG.format(""), "0.2.0", "2026-02-03") == CHANGELOG.format("")


@pytest.mark.parametrize(
    ("unreleased", "version", "reason"),
    [
        (NEW, "", "not a version"),
        (NEW, "v0.3.0", "not a version"),
        (NEW, "0.3", "not a version"),
        (NEW, "0.1.9", "below the newest"),
        (NEW, "0.2.0", "more is unreleased"),
        ("", "0.3.0", "nothing under Unreleased"),
    ],
)
def test_a_wrong_release_says_what_to_do(unreleased: str, version: str, reason: str) -> None:
    with pytest.raises(CannotRelease, match=reason):
        cut(CHANGELOG.format(unreleased), version, "2026-02-03")


README = (ROOT / "README.md").read_text(encoding="utf-8")
TARGETS = re.compile(r"\]\(([^)\s]+)\)")


def test_every_link_of_the_readme_leads_to_the_repository_on_pypi() -> None:
    text = for_pypi(README, "https://host.example/me/inspector/", "1.2.3")
    assert all(target.startswith(("https://", "#")) for target in TARGETS.findall(text))
    of_files = re.findall(r"https://host\.example/me/inspector/(blob|raw)/v1\.2\.3/([^)#\s]+)", text)
    assert len(of_files) > 20
    for kind, path in of_files:
        assert (ROOT / path).is_file(), path
        assert (kind == "raw") == path.endswith(".svg")


def test_without_a_repository_no_link_of_the_readme_is_dead() -> None:
    text = for_pypi(README, "", "1.2.3")
    assert all(target.startswith(("https://", "#")) for target in TARGETS.findall(text))
    assert "![" not in text
    assert "[debug a connection]" not in text
    assert "debug a connection" in text


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of a small project whose Makefile has one check."""
    (tmp_path / "inspector").mkdir()
    (tmp_path / "inspector" / "version.py").write_text('__version__ = "0.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG.format(NEW))
    (tmp_path / "Makefile").write_text("check:\n\t@grep -q 0.3.0 inspector/version.py && test ! -e broken\n")
    (tmp_path / ".gitignore").write_text("broken\ndist/\n")
    for words in (
        "init --quiet",
        "config user.name T",
        "config user.email t@host.example",
        "add .",
        "commit --quiet --message First",
    ):
        subprocess.run(["git", *words.split()], cwd=tmp_path, check=True)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(release, "CHANGELOG", tmp_path / "CHANGELOG.md")
    monkeypatch.setattr(release, "VERSION_FILE", tmp_path / "inspector" / "version.py")
    monkeypatch.setenv("CHECKS", "check")
    ran = release.run
    monkeypatch.setattr(release, "run", lambda *words: "" if "build" in words else ran(*words))
    monkeypatch.setattr(release, "read_back", lambda folder, version: [])
    return tmp_path


def git(project: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=project, check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_a_release_is_committed_and_tagged_once(project: Path) -> None:
    release.release("0.3.0")
    assert git(project, "log", "--format=%s", "v0.3.0").split("\n")[0] == "Release 0.3.0"
    assert git(project, "show", "v0.3.0:inspector/version.py") == '__version__ = "0.3.0"\n'
    with pytest.raises(CannotRelease, match="released already"):
        release.release("0.3.0")


@pytest.mark.slow
def test_a_check_that_fails_leaves_the_project_as_it_was(project: Path) -> None:
    (project / "broken").touch()
    with pytest.raises(CannotRelease, match="check failed"):
        release.release("0.3.0")
    assert git(project, "status", "--porcelain") == ""
    assert git(project, "tag") == ""


@pytest.mark.slow
def test_nothing_is_released_with_uncommitted_changes(project: Path) -> None:
    (project / "more.py").touch()
    with pytest.raises(CannotRelease, match="Commit them first"):
        release.release("0.3.0")
