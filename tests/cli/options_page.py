"""The table of shared options in docs/reference/commands.md, from those of the parser: `python -m tests.cli.options_page`."""

from __future__ import annotations

from pathlib import Path

from inspector.cli.options import GROUPS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "commands.md"
BEGIN = "<!-- options, written by `python -m tests.cli.options_page` -->"
END = "<!-- end of options -->"


def written(page: str) -> str:
    """The page with the options of today."""
    parts = []
    for title, options in GROUPS.items():
        rows = []
        for option in options:
            syntax = f"{', '.join(option.flags)} {option.metavar}".rstrip().replace("|", "\\|")
            rows.append(f"| `{syntax}` | {option.help} |")
        parts.append("\n".join([f"### {title}", "", "| Option | Does |", "|---|---|", *rows]))
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}\n\n" + "\n\n".join(parts) + f"\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
