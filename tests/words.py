"""The rules of writing that a pattern can check, over every text of the project: `python -m tests.words [PATH…]`.

It reads the comments, strings, docstrings and names of Python files, the prose of Markdown files (not their code
blocks), and TOML files, such as the rules of the checks. `tests/test_words.py` runs it over everything.
"""

from __future__ import annotations

import ast
import inspect
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAX_WORDS = 20
"""Words in the first line of a docstring."""
LINE = 100
"""Characters in a line of the docs, tables, links and code blocks excepted."""

WORDS = {
    r"\bis no\b(?! longer| more than| less than)": 'write "is not a"',
    r"\b(?:nobody|somebody|anybody)\b": "name who does it",
    r"\b[Ww]hoever\b": "name who does it",
    r"\banew\b": 'write "again"',
    r"\bmend(?:s|ed|ing)?\b": 'write "fix"',
    r"\bin the place of\b": 'write "instead of"',
    r"\bby the words of\b": 'write "according to"',
    r"\bfor want of\b": 'write "because … is missing"',
    r"\bcome by\b": 'write "get"',
    r"\bis left out\b|\bare left out\b|\bwas left out\b": 'write "is not set", "is missing", or "omits"',
    r"\bwaited for no more\b|\bno more asked\b": 'write "timed out"',
}
RIDDLE = re.compile(r"(?:^|(?<=[.!] ))(?:What|Who|That which)\s(?![^.!?\n]*\?)[^.!?]*", re.MULTILINE)
"""A sentence that begins with What or Who and does not ask anything."""
_ANY_WORD = re.compile("|".join(WORDS))
NAMES = {"nobody", "somebody", "anybody", "whoever", "anew", "mend", "mends", "mended", "hearer", "dress", "dressed"}
_ANY_NAME = re.compile("|".join(NAMES), re.IGNORECASE)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""The parts of a statement that hold statements; no other part has a docstring."""

PLACES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "inspector", "docs", "tests", "benchmarks")

EXCEPTIONS: tuple[tuple[str, str], ...] = (
    ("tests/words.py", ""),
    ("tests/test_words.py", ""),
    # The words of prompt injections.
    ("inspector/check/poison/phrases.toml", ""),
    # Made by an export: a bullet is one line.
    ("tests/formats/golden/session.md", ""),
)
"""(path, part of the text): texts of others that stay as they are, such as quotations of a specification."""


def faults(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield (line, text, what to write instead) for each place of one file that breaks a rule."""
    content = path.read_text(encoding="utf-8")
    read = {".md": _markdown, ".toml": lambda text: _prose(text, 1)}.get(path.suffix, _python)
    yield from read(content)


def _python(content: str) -> Iterator[tuple[int, str, str]]:
    # Most files have none of the words. Splitting a file into tokens takes a hundred times as long as this search.
    if _ANY_WORD.search(content) or _ANY_NAME.search(content):
        for token in tokenize.generate_tokens(io.StringIO(content).readline):
            if token.type == tokenize.NAME:
                if NAMES & set(token.string.lower().split("_")):
                    yield token.start[0], token.string, "rename it"
            elif token.type in _TEXT:
                yield from _prose(token.string, token.start[0])
    todo: list[ast.AST] = [ast.parse(content)] if _may_have_a_faulty_docstring(content) else []
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text:
                yield from _docstring(text, getattr(node, "lineno", 1))
        for block in _BLOCKS:
            todo += getattr(node, block, ())


def _may_have_a_faulty_docstring(content: str) -> bool:
    """Whether a text in the place of a docstring breaks a rule; only a parser finds docstrings."""
    for match in _OPENING.finditer(content):
        # Quotes at the end of a line end a text, except after a colon or at the beginning.
        if content[match.end() : match.end() + 1] != "\n" or content[: match.start()].rstrip()[-1:] in ("", ":"):
            end = content.find(match[1] if len(match[1]) == 3 else "\n", match.end())
            if next(_docstring(inspect.cleandoc(content[match.end() : end]), 1), None):
                return True
    return False


_OPENING = re.compile(r"""(?:^|:)[ \t]*[rRuU]?(\"{3}|'{3}|"|')""", re.MULTILINE)
_TEXT = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


def _docstring(text: str, line: int) -> Iterator[tuple[int, str, str]]:
    first = text.split("\n\n")[0].split(". ")[0]
    if len(first.split()) > MAX_WORDS:
        yield line, first[:80], f"a first sentence of at most {MAX_WORDS} words"
    for match in RIDDLE.finditer(first):
        yield line, match[0][:80], "begin with the subject and a verb"


def _markdown(content: str) -> Iterator[tuple[int, str, str]]:
    in_code = False
    for n, line in enumerate(content.splitlines(), 1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            yield from _prose(line, n)
            for match in RIDDLE.finditer(re.sub(r"^[#>*\-|\s\d.]+", "", line)):
                yield n, match[0][:80], "begin with the subject and a verb"
            if len(line) > LINE and not line.startswith("|") and "](" not in line:
                yield n, line[:80], f"at most {LINE} characters in a line"


def _prose(text: str, line: int) -> Iterator[tuple[int, str, str]]:
    for pattern, instead in WORDS.items():
        for match in re.finditer(pattern, text):
            start = text.rfind("\n", 0, match.start()) + 1
            yield (
                line + text.count("\n", 0, match.start()),
                text[start : match.end() + 40].split("\n")[0].strip(),
                instead,
            )


def files(*under: str) -> list[Path]:
    """Return the Python, Markdown and TOML files of the project below `under`, or all."""
    places = [ROOT / name for name in under or PLACES]
    candidates = {file for place in places for file in ([place] if place.is_file() else place.rglob("*"))}
    return sorted(
        file for file in candidates if file.suffix in (".py", ".md", ".toml") and "__pycache__" not in file.parts
    )


def all_faults(*under: str) -> list[str]:
    """Return a line for each fault that is not an exception."""
    lines = []
    for path in files(*under):
        name = path.relative_to(ROOT).as_posix()
        for line, text, instead in faults(path):
            if not any(name == place and part in text for place, part in EXCEPTIONS):
                lines.append(f"{name}:{line}: {text!r}: {instead}")
    return lines


if __name__ == "__main__":
    lines = all_faults(*sys.argv[1:])
    print("\n".join(lines))
    raise SystemExit(bool(lines))
