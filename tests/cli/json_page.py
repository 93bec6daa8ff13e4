"""The tables of docs/reference/json.md, written from the schemas and errors: `python -m tests.cli.json_page`."""

from __future__ import annotations

import importlib
import json
import pkgutil
from pathlib import Path

import inspector
from inspector.errors import InspectorError

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "json.md"
FOLDER = ROOT / "docs" / "schemas" / "verbs"
BEGIN = "<!-- {}, written by `python -m tests.cli.json_page` -->"
END = "<!-- end of {} -->"


def every_error() -> list[type[InspectorError]]:
    """Every error of Inspector, outside its interface."""
    for module in pkgutil.walk_packages(inspector.__path__, "inspector."):
        surfaces = ("inspector.tui", "inspector.demo", "inspector.system.")
        if not module.name.startswith(surfaces) and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    errors: list[type[InspectorError]] = [InspectorError]
    for error in errors:
        errors += [
            subclass for subclass in error.__subclasses__() if not subclass.__module__.startswith("inspector.tui")
        ]
    return errors


def codes() -> dict[str, type[InspectorError]]:
    """The first error with each code, by code."""
    return {error.code: error for error in reversed(every_error())}


def _members() -> str:
    members = json.loads((FOLDER / "members.json").read_text(encoding="utf-8"))
    rows = [f"| `{name}` | {member['description']} |" for name, member in members.items()]
    return "\n".join(["| Member | Is |", "|---|---|", *rows])


def _verbs() -> str:
    names = sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != "members")
    return ",\n".join(f"[{name}](../schemas/verbs/{name}.json)" for name in names) + "."


def _codes() -> str:
    rows = []
    for code, error in sorted(codes().items(), key=lambda item: (item[1].exit_code, item[0])):
        meaning = (error.__doc__ or "").strip().split("\n")[0].partition(". ")[0].rstrip(".").partition(". `")[0]
        rows.append(f"| `{code}` | {error.exit_code} | {meaning} |")
    return "\n".join(["| Code | Exit code | Means |", "|---|---|---|", *rows])


def written(page: str) -> str:
    """The page with the tables of today."""
    for name, table in (("members", _members()), ("verbs", _verbs()), ("codes", _codes())):
        begin, end = BEGIN.format(name), END.format(name)
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n\n{table}\n\n{end}{rest.partition(end)[2]}"
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
