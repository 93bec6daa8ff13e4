"""The count of code lines omits blank lines, comments and docstrings."""

from __future__ import annotations

from pathlib import Path

from tests.code_size import code_lines, sizes

SOURCE = '''"""A docstring
of two lines."""

# a comment
text = """
lines of a text are code
"""  # 5, 6, 7


class Thing:
    """One line."""

    name: str
    """The docstring of a field."""

    def method(self, *,
               given: int) -> None:
        """Return nothing."""
'''


def test_blank_lines_comments_and_docstrings_do_not_count() -> None:
    assert code_lines(SOURCE) == {5, 6, 7, 10, 13, 16, 17}


def test_lines_are_counted_by_folder(tmp_path: Path) -> None:
    (tmp_path / "inner" / "deep").mkdir(parents=True)
    for name, text in {"a.py": "a = 1\n", "inner/b.py": "b = 1\nc = 2\n", "inner/deep/d.py": "# no\nd = 1\n"}.items():
        (tmp_path / name).write_text(text)
    assert sizes(tmp_path) == {".": 1, "inner": 3}
