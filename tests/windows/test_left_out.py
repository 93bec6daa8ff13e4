"""The table of tests that Windows leaves out names tests that exist, and no word of ours by mistake."""

from __future__ import annotations

import re

import pytest

from tests.windows.left_out import CASES, FILES, NAMES, POSIX_TEXTS, ROOT, TESTS


def defines(file: str, name: str) -> bool:
    """Whether a file of tests, by its path or its name, has a function whose name begins so."""
    paths = [ROOT / file] if "/" in file else (ROOT / "tests").rglob(file)
    return any(re.search(rf"^ *(?:async )?def {name}", path.read_text(encoding="utf-8"), re.M) for path in paths)


@pytest.mark.parametrize("file", FILES)
def test_each_file_of_the_table_exists(file: str) -> None:
    assert (ROOT / file).is_file()


@pytest.mark.parametrize(
    "name", [*TESTS, *CASES, *(f"{file}::{name}" for file in POSIX_TEXTS for name in POSIX_TEXTS[file].split())]
)
def test_each_test_of_the_table_exists(name: str) -> None:
    file, _, test = name.partition("::")
    assert defines(file, test.partition("[")[0])


@pytest.mark.parametrize(("source", "is_left_out"), [
    ("answer.resource.place", False),
    ("resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))", True),
    ("SIGNATURE.replace(a, b)", False),
    ("MAX_UNSIGNED", False),
    ("signal.SIGTERM", True),
    ('("SIGINT", 130)', True),
    ('ran(tmp_path, ["sh", str(script)])', True),
    ('run("completion", "bash")', False),
])  # fmt: skip
def test_a_name_of_posix_is_no_other_word(source: str, is_left_out: bool) -> None:
    assert any(re.search(name, source) for name in NAMES) == is_left_out
