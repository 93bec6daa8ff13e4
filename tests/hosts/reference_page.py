"""The table of docs/reference/hosts.md, written from the facts: `python -m tests.hosts.reference_page`."""

from __future__ import annotations

from pathlib import Path

from inspector.hosts import Fact, host_facts

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "hosts.md"
BEGIN = "<!-- the facts, written by `python -m tests.hosts.reference_page` -->"
END = "<!-- end of the facts -->"


def table() -> str:
    """The facts by host, a row each."""
    facts = host_facts()
    lines: list[str] = []
    for host, label in facts.labels.items():
        own = [fact for fact in facts.facts if fact.host == host]
        uses = ", ".join(f"`{name}`" for name in facts.uses.get(host, ()))
        lines += ["", f"### {label}", "", f"`--host {host}`{f'; uses {uses}' if uses else ''}", ""]
        lines += ["| Id | Fact | Effect if exceeded | Source |", "|---|---|---|---|"]
        lines += [_row(fact) for fact in own]
    return "\n".join(lines).strip()


def _row(fact: Fact) -> str:
    effect = fact.effect + (" (whole request)" if fact.fails_request else "")
    doubt = "" if fact.confidence == "high" else f", confidence {fact.confidence}"
    cells = (fact.id, fact.what, effect, f"{fact.provenance}: {fact.origin} ({fact.date}{doubt})")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def written(page: str) -> str:
    """The page with the table of today."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
