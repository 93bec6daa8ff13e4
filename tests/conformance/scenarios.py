"""The scenarios that are required, from `scenarios.toml`, and their table in docs/explanation/conformance-suite.md."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "explanation" / "conformance-suite.md"
BEGIN = "<!-- scenarios: made by `python -m tests.conformance.scenarios`, tested to be current -->"
END = "<!-- end of scenarios -->"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario at one revision."""

    name: str
    revision: str
    successes: int
    """Checks that must succeed, at least."""
    shows: str
    refusal: bool = False
    """Whether the client may end with an error."""
    opens_skills: bool = False
    """Whether the client is told to open and verify the listed skills; else it only lists them."""


_FILE = tomllib.loads((HERE / "scenarios.toml").read_text(encoding="utf-8"))
NOT_REQUIRED: dict[str, str] = _FILE.pop("not-required")
"""Why, by name or pattern."""
SCENARIOS = [Scenario(name, revision, **about) for revision, table in _FILE.items() for name, about in table.items()]


def is_known(name: str, revision: str) -> bool:
    """Whether the file lists a scenario at a revision, as required or with a reason why not."""
    required = any(known.name == name and known.revision == revision for known in SCENARIOS)
    return required or any(fnmatchcase(name, pattern) for pattern in NOT_REQUIRED)


def markdown() -> str:
    """Both tables."""
    required = [
        f"| `{scenario.name}` | {scenario.revision} | {scenario.successes} | {scenario.shows} |"
        for scenario in SCENARIOS
    ]
    rest = [f"| `{pattern}` | {reason} |" for pattern, reason in NOT_REQUIRED.items()]
    return "\n".join(
        [
            "| Scenario | Revision | Checks | What is seen there |",
            "|---|---|---:|---|",
            *required,
            *(["", "| Not required | Why |", "|---|---|", *rest] if rest else []),
            "",
        ]
    )


if __name__ == "__main__":
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{markdown()}{END}{rest.partition(END)[2]}", encoding="utf-8")
