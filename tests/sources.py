"""The Python files of the package, read once in a process, and parsed only where a test has to."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "inspector"
IMPORT = re.compile(r"^[ \t]*(?:from [\w.]+ import (?:\([^)]*\)|.*)|import .*)", re.MULTILINE)
"""An import statement. A text that holds one is matched, too."""


@cache
def sources() -> dict[Path, str]:
    """The text of each file of the package, in the order of their paths."""
    return {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}


def imports(source: str) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the import statements of a file, on any level.

    Parsing only these takes a tenth of the time of parsing the file.
    """
    for match in IMPORT.finditer(source):
        try:
            (node,) = ast.parse(textwrap.dedent(match[0])).body
        except (SyntaxError, ValueError):  # Part of a text.
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
