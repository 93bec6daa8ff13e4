"""The requirements of the specification on a client, with the code and the tests for each.

`requirements.json` has the list: an id, the level (empty where the text states none), the first and the last revision,
what is asked, the page that asks it and, where no test can hold it, `untested`: the reason. Run as
`python -m tests.requirements` this writes the table in docs/explanation/conformance.md.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from inspector.protocol.revisions import REVISIONS

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "explanation" / "conformance.md"
BEGIN = "<!-- requirements: made by `python -m tests.requirements`, tested to be true -->"
END = "<!-- end of requirements -->"
ID = re.compile(r"\bC-[A-Z]+-\d\d\b")
RANGE = re.compile(r"\b(C-[A-Z]+-)(\d\d) (?:…|to) \1(\d\d)\b")
SITE = "https://modelcontextprotocol.io/"

GROUPS = {
    "BASE": "Messages",
    "LIFE": "The legacy era",
    "MOD": "The modern era",
    "STDIO": "stdio",
    "HTTP": "Streamable HTTP",
    "SSE": "HTTP+SSE",
    "TOOL": "Tools",
    "RES": "Resources",
    "PROM": "Prompts",
    "COMP": "Completion",
    "PAG": "Pages of lists",
    "CACHE": "Caching",
    "PROG": "Progress",
    "CANC": "Cancelling",
    "PING": "Ping",
    "LOG": "Logging",
    "SUB": "Subscriptions",
    "ROOT": "Roots",
    "SAMP": "Sampling",
    "ELIC": "Elicitation",
    "MRTR": "Requests in several rounds",
    "TASK": "Tasks",
    "SEC": "URLs",
    "EVENT": "Events (draft extension)",
    "EXT": "Extensions",
    "SKILL": "Skills (extension)",
    "APP": "Apps (extension)",
    "CARD": "Server cards (experimental extension)",
    "REG": "Registries",
    "HINT": "Caching, as it is shown",
    "FILE": "Files as arguments (draft)",
}
"""The middle of an id and the heading of its table."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing that a client must, should or may do."""

    id: str
    level: str
    since: str
    until: str
    what: str
    page: str
    """Path on the specification's site, or a URL."""
    untested: str = ""
    """Why no test holds it."""

    @property
    def group(self) -> str:
        return self.id.split("-")[1]

    @property
    def revisions(self) -> str:
        """The revisions that require it, as text."""
        if self.since == self.until:
            return self.since
        if self.until == REVISIONS[-1]:
            return "all" if self.since == REVISIONS[0] else f"{self.since} on"
        return f"{self.since} to {self.until}"


@cache
def requirements() -> list[Requirement]:
    """The list, in its order."""
    rows = json.loads((ROOT / "tests" / "requirements.json").read_text(encoding="utf-8"))
    return [Requirement(**row) for row in rows]


@cache
def citing() -> dict[str, list[str]]:
    """The modules that cite an id, as paths from the root."""
    return _by_id((id, path) for path in _python("inspector") for id in cited(_read(path)))


def cited(source: str) -> set[str]:
    """The ids that a module cites, one by one or as a range."""
    asked = {item.id for item in requirements()}
    ranges = {
        f"{prefix}{number:02}"
        for prefix, first, last in RANGE.findall(source)
        for number in range(int(first), int(last) + 1)
    }
    return set(ID.findall(source)) | (ranges & asked)


@cache
def holding() -> dict[str, list[str]]:
    """The test files in which a test names an id: within the function or in the docstring of its class."""
    return _by_id((id, path) for path in _python("tests") if path.name.startswith("test_") for id in named(_read(path)))


def named(source: str) -> set[str]:
    """The ids that tests name in the text of a test file. Ids elsewhere in the file are not claims."""
    ids: set[str] = set()
    if not ID.search(source):
        return ids
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            ids |= set(ID.findall("\n".join(lines[first - 1 : node.end_lineno])))
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            ids |= set(ID.findall(ast.get_docstring(node) or ""))
    return ids


def table() -> str:
    """The Markdown between the marks on the page."""
    modules, tests = citing(), holding()
    parts: list[str] = []
    asked = requirements()
    for group, heading in GROUPS.items():
        rows = [
            f"| {item.id} | {item.level or '–'} | {item.revisions} | {item.what} ([text]({_url(item.page)})) "
            f"| {_links(modules.get(item.id, []))} | {_links(tests.get(item.id, [])) or item.untested} |"
            for item in asked
            if item.group == group
        ]
        head = ["| Id | Level | Revisions | What | Code | Tests |", "|---|---|---|---|---|---|"]
        parts.append("\n".join([f"### {heading}", "", *head, *rows]))
    return "\n\n".join(parts) + "\n"


def _url(page: str) -> str:
    return page if page.startswith("https://") else SITE + page


def write() -> None:
    """Write the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    PAGE.write_text(f"{before}{begin}\n\n{table()}\n{end}{after}", encoding="utf-8")


def _links(paths: list[str]) -> str:
    return ", ".join(f"[{path.removeprefix('inspector/').removeprefix('tests/')}](../../{path})" for path in paths)


def _python(folder: str) -> Iterator[Path]:
    return iter(sorted((ROOT / folder).rglob("*.py")))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _by_id(pairs: Iterator[tuple[str, Path]]) -> dict[str, list[str]]:
    by_id: dict[str, dict[str, None]] = {}
    for id, path in pairs:
        by_id.setdefault(id, {})[path.relative_to(ROOT).as_posix()] = None
    return {id: list(paths) for id, paths in by_id.items()}


if __name__ == "__main__":
    write()
