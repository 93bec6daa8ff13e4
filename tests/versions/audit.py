"""Compares the versions that are tested, and the lower bounds that users may install, with known advisories.

    python -m tests.versions.audit            offline; part of `make lint`
    python -m tests.versions.audit --refresh  asks osv.dev about every package of tested.txt, and prints what is missing

`tested.txt` is what `make` installs (`make lock` writes it). `advisories.json` has, for each known advisory of one of
those packages: the first affected version (`introduced`, all from the beginning without it) and the first fixed one.
It holds what was known when it was last refreshed, no more: add the lines that --refresh prints, after reading them.
"""

from __future__ import annotations

import json
import sys
import tomllib
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

HERE = Path(__file__).parent
PYPROJECT = HERE.parents[1] / "pyproject.toml"
OSV = "https://api.osv.dev/v1/query"


def requirements(pyproject: str) -> list[Requirement]:
    """The dependencies of users and of developers."""
    project = tomllib.loads(pyproject)["project"]
    extras = [line for lines in project.get("optional-dependencies", {}).values() for line in lines]
    return [Requirement(line) for line in (*project["dependencies"], *extras)]


def tested(lock: str) -> dict[str, Version]:
    """Package and version of each line of a lock file."""
    pins = [line.partition(";")[0].strip() for line in lock.splitlines() if line.strip() and not line.startswith("#")]
    return {canonicalize_name(name): Version(version) for name, _, version in (pin.partition("==") for pin in pins)}


def lowest(requirement: Requirement) -> Version | None:
    """The lowest version that a requirement allows; None for any."""
    bounds = [Version(each.version) for each in requirement.specifier if each.operator in (">=", "==", "~=")]
    return max(bounds, default=None)


def affects(advisory: Mapping[str, str], version: Version | None) -> bool:
    """Whether an advisory is about a version; None, the first one ever, is affected by all."""
    if version is None:
        return True
    introduced, fixed = Version(advisory.get("introduced", "0")), advisory.get("fixed")
    return introduced <= version and (fixed is None or version < Version(fixed))


def problems(pyproject: str, lock: str, advisories: Sequence[Mapping[str, str]]) -> Iterator[str]:
    """Yield a sentence for each problem."""
    pins = tested(lock)
    for requirement in requirements(pyproject):
        name = canonicalize_name(requirement.name)
        if name not in pins:
            yield f"{name} is not in tested.txt: run make lock."
        elif not requirement.specifier.contains(pins[name], prereleases=True):
            yield f"{name} {pins[name]} of tested.txt does not satisfy {requirement} of pyproject.toml: run make lock."
        for advisory in advisories:
            if advisory["package"] == name and affects(advisory, lowest(requirement)):
                yield f"pyproject.toml allows {name} {lowest(requirement) or 'in any version'}: {_said(advisory)}"
    bounded = {canonicalize_name(requirement.name) for requirement in requirements(pyproject)}
    for advisory in advisories:
        # Another package brings it, and an old environment would keep the version that it has.
        if advisory["package"] in pins.keys() - bounded:
            yield f"pyproject.toml has no lower bound for {advisory['package']}: {_said(advisory)}"
        version = pins.get(advisory["package"])
        if version is not None and affects(advisory, version):
            yield f"tested.txt has {advisory['package']} {version}: {_said(advisory)}"


def _said(advisory: Mapping[str, str]) -> str:
    fixed = f"fixed in {advisory['fixed']}" if "fixed" in advisory else "not fixed"
    return f"{advisory['id']}, {fixed} ({advisory['what']}). {advisory['source']}"


def unknown(package: str, answer: Mapping[str, Any], known: set[str]) -> Iterator[dict[str, str]]:
    """Advisories of an answer of osv.dev that are not known by any of their names."""
    for found in answer.get("vulns", []):
        names = {found["id"], *found.get("aliases", [])}
        if names & known or found.get("withdrawn"):
            continue
        for affected in found.get("affected", []):
            if canonicalize_name(affected.get("package", {}).get("name", "")) != package:
                continue
            for ranges in affected.get("ranges", []):
                events = {key: value for event in ranges.get("events", []) for key, value in event.items()}
                if ranges.get("type") == "ECOSYSTEM":
                    kept = {key: events[key] for key in ("introduced", "fixed") if events.get(key, "0") != "0"}
                    what = found.get("summary") or found.get("details", "")[:120]
                    source = f"https://osv.dev/vulnerability/{found['id']}"
                    identity = next((name for name in sorted(names) if name.startswith("CVE-")), found["id"])
                    yield {"package": package, "id": identity, **kept, "what": what, "source": source}
        known |= names


def refresh(pins: Mapping[str, Version], advisories: Sequence[Mapping[str, str]]) -> None:
    """Print what osv.dev knows beyond `advisories` of the packages, in every version."""
    known = {advisory["id"] for advisory in advisories} | {each["source"].rpartition("/")[2] for each in advisories}
    for package in pins:
        query = json.dumps({"package": {"name": package, "ecosystem": "PyPI"}}).encode()
        with urllib.request.urlopen(urllib.request.Request(OSV, query), timeout=30) as response:
            for advisory in unknown(package, json.load(response), known):
                print(json.dumps(advisory))


def main() -> int:
    """Returns the exit code: 1 where something is wrong."""
    pyproject, lock = PYPROJECT.read_text(), (HERE / "tested.txt").read_text()
    advisories = json.loads((HERE / "advisories.json").read_text())
    if "--refresh" in sys.argv:
        refresh(tested(lock), advisories)
        return 0
    found = list(problems(pyproject, lock, advisories))
    print(*(f"audit: {each}" for each in found), sep="\n", file=sys.stderr, end="\n" if found else "")
    if not found:
        print(f"audit: {len(tested(lock))} packages, none with one of {len(advisories)} known advisories")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
