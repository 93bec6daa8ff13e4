"""Every text of the project follows the rules of writing that a pattern can check (`tests/words.py`)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.words import EXCEPTIONS, ROOT, all_faults, faults, files


@pytest.mark.slow
def test_every_text_follows_the_rules() -> None:
    assert all_faults() == []


def test_the_exceptions_are_few() -> None:
    assert len(EXCEPTIONS) < 20


@pytest.mark.parametrize(
    ("name", "content", "advice"),
    [
        ("a.py", '"""Return the number."""\n', []),
        ("a.py", '"""What is left."""\n', ["begin with the subject and a verb"]),
        ("a.py", "x = 'It is no number'\n", ['write "is not a"']),
        ("a.py", "# Nothing is made anew.\n", ['write "again"']),
        ("a.py", "def nobody() -> None: ...\n", ["rename it"]),
        ("a.py", f'"""{"word " * 21}."""\n', ["a first sentence of at most 20 words"]),
        ("a.py", f'def f():\n    """\n    {"word " * 21}\n    """\n', ["a first sentence of at most 20 words"]),
        ("a.py", f"class C:\n    '{'word ' * 21}'\n", ["a first sentence of at most 20 words"]),
        ("a.py", 'async def f(): "Who it is for."\n', ["begin with the subject and a verb"]),
        ("a.py", f'x = """{"word " * 21}"""\n', []),
        ("a.py", f'x = 1\n"""{"word " * 21}"""\n', []),
        ("a.toml", 'says = "It is no number."\n', ['write "is not a"']),
        ("a.md", "It is no longer kept.\n", []),
        ("a.md", "Who writes? We do.\n", []),
        ("a.md", "Who writes, reads.\n", ["begin with the subject and a verb"]),
        ("a.md", "word " * 30 + "\n", ["at most 100 characters in a line"]),
        ("a.md", "```\nthere is no limit: is no number\n```\n", []),
    ],
)
def test_a_fault_is_found(tmp_path: Path, name: str, content: str, advice: list[str]) -> None:
    (tmp_path / name).write_text(content)
    assert [instead for _, _, instead in faults(tmp_path / name)] == advice


_FLOW = re.compile(r"(?<![-\w./“_`])[Ff]lows?\b(?![.(]\w)")
_OTHER_FLOWS = re.compile(r"device flow|login flow|usual flow|\*flows\*|while a flow runs|flows of five calls")
"""Flows of OAuth and of a server, and a row of the published benchmarks."""


@pytest.mark.slow
def test_a_user_reads_saved_call_and_not_flow() -> None:
    """In sentences of the program and of its pages; options, files and members of JSON keep their names."""
    problems = []
    for path in (file for file in files("inspector", "docs", "README.md") if file.suffix in (".py", ".md")):
        content = path.read_text(encoding="utf-8")
        if not _FLOW.search(content):
            continue
        texts: Iterable[str] = re.sub(r"```.*?```|`[^`\n]*`", "", content, flags=re.DOTALL).split("\n")
        if path.suffix == ".py":
            module = ast.parse(content)
            docstrings = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
            strings = (
                node for node in ast.walk(module) if isinstance(node, ast.Constant) and id(node) not in docstrings
            )
            texts = [node.value for node in strings if isinstance(node.value, str) and " " in node.value.strip()]
        problems += [
            f"{path.relative_to(ROOT)}: {text[:90]}"
            for text in texts
            if _FLOW.search(text)
            and not _OTHER_FLOWS.search(text)
            and "MainScreen {" not in text
            and "Mapping[Flow" not in text
        ]
    problems += [
        str(page) for page in (ROOT / "inspector" / "cli" / "pages").glob("*.txt") if _FLOW.search(page.read_text())
    ]
    assert problems == []
