"""The table of tests that Windows leaves out names tests that exist."""

from __future__ import annotations

import re

import pytest

from tests.windows.left_out import FILES, POSIX_TEXTS, ROOT


@pytest.mark.parametrize("file", [*FILES, *POSIX_TEXTS])
def test_each_file_and_test_of_the_table_exists(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    missing = [
        name for name in POSIX_TEXTS.get(file, "").split() if not re.search(rf"^ *(?:async )?def {name}\(", text, re.M)
    ]
    assert missing == []
