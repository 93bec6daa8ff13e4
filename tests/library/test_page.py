"""The programs of docs/reference/library.md run."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import inspector
from tests.processes import ROOT
from tests.test_docs import blocks

PAGE = ROOT / "docs" / "reference" / "library.md"
PROGRAMS = list(blocks(PAGE, "python"))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_a_program_of_the_page_runs(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command = f"{sys.executable} -m inspector.demo"
    exec(compile(PROGRAMS[number].replace("python -m inspector.demo", command), str(PAGE), "exec"), {})
    printed = capsys.readouterr()
    assert printed.out
    assert not printed.err


def test_every_method_of_a_session_is_on_the_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for kind in (inspector.Session, inspector.Recording, inspector.Exchange):
        public = {name for name in vars(kind) if not name.startswith("_")} - {"connect", "close", "engine", "n"}
        missing = {name for name in public if not re.search(rf"\b{name}\b", text)}
        assert missing <= {"header", "path", "started", "notices", "is_complete", "dir"}
