"""The pages of the help: texts in `pages/`, one for each verb and topic."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

TOPICS = {
    "filters": "Select messages of a session or recording",
    "paths": "Name values in a message",
    "targets": "Name a server or a recording",
    "exit-codes": "Meaning of the exit codes",
    "hosts": "Names of hosts for --host",
    "agents": "Debug a server with a coding agent; also a skill file",
}
"""Each topic and its summary; `agents` is a page of `docs/how-to`."""
FEW_EXAMPLES = 3
"""The examples on a page that has no room for all."""
_GAP = re.compile(r" {2,}")


class OptionTable(NamedTuple):
    """A title and the lines below it."""

    title: str
    lines: tuple[str, ...]

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The lines of (syntax, meaning), which at least two spaces separate."""
        return [(syntax, meaning) for syntax, meaning in (_GAP.split(line, 1) for line in self.lines)]


class Page(NamedTuple):
    """An introduction, tables, and closing paragraphs."""

    about: str
    tables: list[OptionTable]
    notes: list[str]

    @property
    def examples(self) -> tuple[str, ...]:
        """The command lines on the page of a verb, which has one table."""
        return self.tables[0].lines

    def followed_by(self, about: str, examples: tuple[str, ...]) -> Page:
        """The page of a verb with more text and examples."""
        table = self.tables[0]._replace(lines=self.examples + examples)
        return Page(f"{self.about} {about}".rstrip(), [table], self.notes)

    @property
    def shortened(self) -> Page:
        """The page of a verb with fewer examples."""
        return self._replace(tables=[self.tables[0]._replace(lines=self.examples[:FEW_EXAMPLES])])


def read_page(name: str, texts: Mapping[str, str] | None = None, folder: Path | None = None) -> Page:
    """The page of a verb or a topic, with `texts` for its `{placeholders}`; `folder` is that of a feature.

    In the file paragraphs are wrapped, and the lines of a table are indented below its title.
    """
    text = ((folder or Path(__file__).parent) / "pages" / f"{name}.txt").read_text(encoding="utf-8")
    for placeholder, value in (texts or {}).items():
        text = text.replace(f"{{{placeholder}}}", value)
    blocks = [block.split("\n") for block in text.strip().split("\n\n")]
    about, *notes = (" ".join(block) for block in blocks if not block[-1].startswith(" "))
    tables = [
        OptionTable(title, tuple(map(str.strip, rows))) for title, *rows in blocks if rows and rows[-1].startswith(" ")
    ]
    return Page(about, tables, notes)
