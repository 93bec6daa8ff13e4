"""A flow of others compares with files of its own folder only, also where paths are written as on Windows."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from inspector.calls.collection import leaves_folder


@pytest.mark.parametrize("text", ["/etc/passwd", "../x.json", "a/../../x.json"])
def test_a_path_that_leaves_the_folder(text: str) -> None:
    assert leaves_folder(PurePosixPath(text))
    assert leaves_folder(PureWindowsPath(text))


@pytest.mark.parametrize("text", ["C:x.json", r"C:\x.json", r"\x.json", r"\\server\share\x.json", r"a\..\..\x.json"])
def test_a_path_that_leaves_the_folder_on_windows(text: str) -> None:
    assert leaves_folder(PureWindowsPath(text))


@pytest.mark.parametrize("text", ["x.json", "a/b/x.json", "a..b.json"])
def test_a_path_below_the_folder(text: str) -> None:
    assert not leaves_folder(PurePosixPath(text))
    assert not leaves_folder(PureWindowsPath(text))
