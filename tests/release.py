"""`make release VERSION=0.3.0`: cut the changelog, check, build, commit and tag. Nothing is pushed or uploaded."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from datetime import UTC, datetime
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSION_FILE, CHANGELOG = ROOT / "inspector" / "version.py", ROOT / "CHANGELOG.md"
CHECKS = "lint types test wheel docs"
"""Targets of make; the variable CHECKS names others."""
UNRELEASED = "## Unreleased\n"


class CannotRelease(Exception):
    """The reason, and what to do."""


def cut(changelog: str, version: str, date: str) -> str:
    """Return the changelog with what is unreleased as the section of `version`, which may exist already."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise CannotRelease(f"{version!r} is not a version. Write: make release VERSION=1.2.3")
    before, heading, after = changelog.partition(UNRELEASED)
    if not heading:
        raise CannotRelease('CHANGELOG.md has no section "Unreleased". Add it.')
    unreleased = after.partition("\n## ")[0].strip()
    existing = re.search(r"^## (\d+)\.(\d+)\.(\d+), ", after, re.MULTILINE)
    newest = tuple(map(int, existing.groups())) if existing else (0, 0, 0)
    requested = tuple(map(int, version.split(".")))
    if requested < newest or (requested == newest and unreleased):
        names = "below the newest" if requested < newest else "cut already, but more is unreleased"
        raise CannotRelease(f"{version} is {names}. Choose a version above {'.'.join(map(str, newest))}.")
    if requested == newest:
        return changelog
    if not unreleased:
        raise CannotRelease("CHANGELOG.md has nothing under Unreleased. Write what changed.")
    return f"{before}{UNRELEASED}\n## {version}, {date}\n{after}"


def read_back(folder: Path, version: str) -> list[Path]:
    """Return the wheel and the sdist in `folder`, if both are whole."""
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith(".dist-info/METADATA"))).decode()
    about = Parser().parsestr(metadata)
    relative = re.findall(r"\]\((?!https?:|#)[^)]*\)", about.get_payload())
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    bundled = {f"inspector/_data/{name}" for name in ("themes/dark.yaml", "docs/schemas/servers.json")}
    required = {"README.md", "CHANGELOG.md", "LICENSE", "inspector/version.py", "docs/index.md", "tests/release.py"}
    for problem in (
        about["Version"] != version and f"The wheel has the version {about['Version']}.",
        relative and f"The description has links that lead nowhere on PyPI: {relative}.",
        bundled - set(names) and f"The wheel lacks {', '.join(sorted(bundled - set(names)))}.",
        required - held and f"The sdist lacks {', '.join(sorted(required - held))}.",
    ):
        if problem:
            raise CannotRelease(problem)
    return [wheel, sdist]


def run(*words: str) -> str:
    """Run a command in the project: its output. Raises CannotRelease if it fails."""
    ran = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if ran.returncode:
        raise CannotRelease(f"{ran.stdout}\n{' '.join(words)} failed with {ran.returncode}.")
    return ran.stdout


def release(version: str) -> None:
    """Do all steps. If one fails, the files of the project are as before."""
    if run("git", "status", "--porcelain"):
        raise CannotRelease("The working tree has changes. Commit them first.")
    if run("git", "tag", "--list", f"v{version}"):
        raise CannotRelease(f"v{version} is released already. Choose a higher version.")
    kept = {path: path.read_text(encoding="utf-8") for path in (CHANGELOG, VERSION_FILE)}
    today = datetime.now(UTC).date().isoformat()
    CHANGELOG.write_text(cut(kept[CHANGELOG], version, today), encoding="utf-8")
    try:
        text = re.sub(r'(?<=__version__ = ").+(?=")', version, kept[VERSION_FILE])
        VERSION_FILE.write_text(text, encoding="utf-8")
        run("make", "--no-print-directory", *os.environ.get("CHECKS", CHECKS).split())
        folder = ROOT / "dist" / version
        run(sys.executable, "-m", "build", "--outdir", str(folder))
        built = read_back(folder, version)
    except BaseException:
        for path, before in kept.items():
            path.write_text(before, encoding="utf-8")
        raise
    if run("git", "status", "--porcelain"):
        run("git", "commit", "--quiet", "--all", "--message", f"Release {version}")
    run("git", "tag", "--annotate", "--message", f"Version {version}", f"v{version}")
    print(f"Version {version} is committed, tagged and built:", *built, sep="\n  ")
    print(f"Publish it: git push --follow-tags && python -m twine upload dist/{version}/*")


if __name__ == "__main__":
    try:
        release(sys.argv[1] if len(sys.argv) > 1 else "")
    except CannotRelease as error:
        raise SystemExit(f"Not released: {error}") from None
