"""The lines of code of the package, by folder: `python -m tests.code_size`."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from pathlib import Path

from tests.processes import ROOT

NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}  # fmt: skip


def code_lines(source: str) -> set[int]:
    """Return the numbers of the lines that are not blank, comment or docstring."""
    docstrings = {
        line
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return {
        line
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type not in NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    } - docstrings


def sizes(package: Path) -> Counter[str]:
    """Return the lines of code of each folder of a package."""
    counted: Counter[str] = Counter()
    for path in package.rglob("*.py"):
        folder = path.relative_to(package).parts[0] if path.parent != package else "."
        counted[folder] += len(code_lines(path.read_text(encoding="utf-8")))
    return counted


def main() -> None:
    counted = sizes(ROOT / "inspector")
    largest = ", ".join(f"{folder} {lines:,}" for folder, lines in counted.most_common())
    print(f"inspector/: {counted.total():,} lines of code ({largest})")


if __name__ == "__main__":
    main()
