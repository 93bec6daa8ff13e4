"""Every text of the project follows the rules of writing that a pattern can check (`tests/words.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.words import EXCEPTIONS, all_faults, faults


@pytest.mark.slow
def test_every_text_follows_the_rules() -> None:
    assert all_faults() == []


def test_the_exceptions_are_few() -> None:
    assert len(EXCEPTIONS) < 20


@pytest.mark.parametrize(
    ("name", "content", "found"),
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
def test_a_fault_is_found(tmp_path: Path, name: str, content: str, found: list[str]) -> None:
    (tmp_path / name).write_text(content)
    assert [instead for _, _, instead in faults(tmp_path / name)] == found
