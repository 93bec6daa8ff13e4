"""Files on this system: in binary, renamed while they are open, locked, read at a position."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from inspector.system import files

NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL


def test_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    descriptor = files.open_file(tmp_path / "a", NEW)
    os.write(descriptor, b"a\nb\r\nc\x1ad")
    os.close(descriptor)
    descriptor = files.open_file(tmp_path / "a", os.O_RDONLY | files.NO_WAIT)
    assert os.read(descriptor, 100) == b"a\nb\r\nc\x1ad"
    os.close(descriptor)


def test_a_new_file_replaces_none_and_an_appended_one_keeps_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"before")
    with pytest.raises(FileExistsError):
        files.open_file(path, NEW)
    with pytest.raises(FileNotFoundError):
        files.open_file(tmp_path / "none", os.O_RDWR)
    with pytest.raises(IsADirectoryError):
        files.open_file(tmp_path, os.O_RDWR)
    for text in (b", after", b", more"):
        descriptor = files.open_file(path, os.O_WRONLY | os.O_APPEND)
        os.write(descriptor, text)
        os.close(descriptor)
    assert path.read_bytes() == b"before, after, more"
    os.close(files.open_file(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
    assert path.read_bytes() == b""


def test_an_open_file_can_be_renamed_and_removed(tmp_path: Path) -> None:
    descriptor = files.open_file(tmp_path / "a", NEW)
    os.replace(tmp_path / "a", tmp_path / "b")
    os.write(descriptor, b"x")
    os.unlink(tmp_path / "b")
    assert files.read_at(descriptor, 10, 0) == b"x"
    os.close(descriptor)
    assert not list(tmp_path.iterdir())


def test_reads_and_writes_at_a_position(tmp_path: Path) -> None:
    descriptor = files.open_file(tmp_path / "a", NEW)
    os.write(descriptor, b"0123456789")
    assert files.write_at(descriptor, memoryview(b"ab"), 3) == 2
    assert files.read_at(descriptor, 4, 2) == b"2ab5"
    assert files.read_at(descriptor, 4, 8) == b"89"
    assert files.read_at(descriptor, 4, 10) == b""
    files.reserve(descriptor, 10, 90)
    assert os.fstat(descriptor).st_size == 100
    os.close(descriptor)


def test_a_read_between_two_appended_parts_does_not_move_them() -> None:
    descriptor = files.open_temporary()
    for number in range(10):
        files.append(descriptor, b"%d" % number)
        assert files.read_at(descriptor, 2, 0)[:1] == b"0"
    assert files.read_at(descriptor, 100, 0) == b"0123456789"
    os.close(descriptor)


def test_a_lock_keeps_others_from_locking_and_not_from_reading(tmp_path: Path) -> None:
    path = tmp_path / "a"
    first, second = files.open_file(path, NEW), files.open_file(path, os.O_RDWR)
    os.write(first, b"text")
    assert not files.is_locked(second)
    assert files.try_lock(first)
    assert not files.try_lock(second)
    assert files.is_locked(second)
    assert path.read_bytes() == b"text"
    os.close(first)
    assert not files.is_locked(second)
    assert files.try_lock(second)
    os.close(second)


def test_a_temporary_file_has_no_name_afterwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    descriptor = files.open_temporary()
    os.write(descriptor, b"text")
    assert files.read_at(descriptor, 10, 0) == b"text"
    os.close(descriptor)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems name every file first")
def test_a_temporary_file_on_a_file_system_that_names_every_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = os.open

    def named_only(path: str, flags: int, *rest: Any) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        return really(path, flags, *rest)

    monkeypatch.setattr(os, "open", named_only)
    test_a_temporary_file_has_no_name_afterwards(tmp_path, monkeypatch)


def test_the_disk_of_a_file_has_a_size(tmp_path: Path) -> None:
    descriptor = files.open_file(tmp_path / "a", NEW)
    total, free = files.free_disk(descriptor) or (0, 0)
    os.close(descriptor)
    assert total >= free > 0
    assert files.free_disk(descriptor) is None


def test_files_and_folders_of_ours_are_ours(tmp_path: Path) -> None:
    os.close(files.open_file(tmp_path / "a", NEW))
    assert files.is_ours(os.stat(tmp_path / "a"))
    assert files.is_private(os.stat(tmp_path))
    assert not files.is_private(os.stat(tmp_path / "a"))
