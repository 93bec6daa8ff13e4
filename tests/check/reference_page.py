"""The tables of docs/reference/checks.md, written from the catalogue and the table of SDKs: `python -m tests.check.reference_page`."""

from __future__ import annotations

from pathlib import Path

from inspector.check.check_table import Check
from inspector.check.registry import checks
from inspector.check.reports.sdks import SDKS
from inspector.protocol.revisions import REVISIONS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "checks.md"
BEGIN = "<!-- the checks, written by `python -m tests.check.reference_page` -->"
END = "<!-- end of the checks -->"
SDKS_BEGIN = "<!-- the SDKs, written by `python -m tests.check.reference_page` -->"
SDKS_END = "<!-- end of the SDKs -->"
BREAKS_BEGIN = "<!-- what breaks clients, written by `python -m tests.check.reference_page` -->"
BREAKS_END = "<!-- end of what breaks clients -->"
DECIDED_BEGIN = "<!-- what recordings decide, written by `python -m tests.check.reference_page` -->"
DECIDED_END = "<!-- end of what recordings decide -->"
SHOWN = {
    "answer": "an answer of the server",
    "input": "a result that wants input",
    "request": "a request of the server",
    "structured": "a result with `structuredContent`",
    "media": "a result with an image or audio",
    "task": "a result that is a task",
}
HOW = {"passive": "watches", "active": "asks", "tool": "calls", "auth": "login", "intrusive": "intrusive"}


def table() -> str:
    """The checks by group, a row each."""
    lines: list[str] = []
    group = ""
    for check in checks().values():
        if check.group != group:
            group = check.group
            lines += [
                "",
                f"### {group}",
                "",
                "| Id | Class | Level | How | Since | Rule |",
                "|---|---|---|---|---|---|",
            ]
        cells = (check.id, check.check_class, check.level, HOW[check.mode], _revisions(check), check.says)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines).strip()


def _revisions(check: Check) -> str:
    known = [revision for revision in REVISIONS if revision in check.revisions]
    if known[-1] == REVISIONS[-1]:
        return known[0]
    return known[0] if len(known) == 1 else f"{known[0]} to {known[-1]}"


def sdks() -> str:
    """The SDKs, a row each: which checks they are responsible for."""
    lines = ["| SDK | Checks | Option |", "|---|---|---|"]
    for sdk in SDKS:
        fixed = sorted(cause.check for cause in sdk.causes if not cause.option)
        optional = sorted(cause.check for cause in sdk.causes if cause.option)
        lines.append(f"| {sdk.name} | {', '.join(fixed)} | {', '.join(optional)} |")
    return "\n".join(lines)


def breaking() -> str:
    """The checks of the class `breaks`, a row each: what a client does."""
    rows = [f"| {check.id} | {check.breaks} |" for check in checks().values() if check.breaks]
    return "\n".join(["| Check | What a client does |", "|---|---|", *rows])


def decided() -> str:
    """The checks with a probe that a recording can pass, a row each: what it must show."""
    rows = [check for check in checks().values() if check.probe is not None and check.observations]
    lines = [
        f"| {check.id} | {', '.join(_described(observation) for observation in check.observations)} |" for check in rows
    ]
    return "\n".join(["| Check | A recording decides it with one of |", "|---|---|", *lines])


def _described(observation: str) -> str:
    kind, _, method = observation.partition(":")
    return f"`{method}`" if method else SHOWN[kind]


def written(page: str) -> str:
    """The page with the tables of today."""
    for begin, end, content in (
        (BREAKS_BEGIN, BREAKS_END, breaking()),
        (DECIDED_BEGIN, DECIDED_END, decided()),
        (SDKS_BEGIN, SDKS_END, sdks()),
        (BEGIN, END, table()),
    ):
        before, _, rest = page.partition(begin)
        _, _, after = rest.partition(end)
        page = f"{before}{begin}\n\n{content}\n\n{end}{after}"
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
