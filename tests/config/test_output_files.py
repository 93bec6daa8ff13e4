"""Files that the user asks for: never lost, never followed, never half written."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from inspector.config.output_files import OutputExists, is_device, is_stream, new_file, new_text, write_file
from inspector.errors import UsageError


def test_a_new_file_is_private_and_appears_whole(tmp_path: Path) -> None:
    path = tmp_path / "report"
    with new_text(path) as file:
        file.write("half\n")
        assert not path.exists()
    assert path.read_text() == "half\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ["report"]


@pytest.mark.parametrize("kind", ["file", "link", "dangling link", "folder"])
def test_what_exists_is_refused_and_not_touched(tmp_path: Path, kind: str) -> None:
    target, path = tmp_path / "target", tmp_path / "report"
    if kind in ("file", "link"):
        target.write_text("precious")
    if kind == "folder":
        path.mkdir()
    elif kind == "file":
        path = target
    else:
        path.symlink_to(target)
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(OutputExists, match="already exists") as caught:
        write_file(path, b"new")
    assert "--force" in caught.value.hint.command_line
    assert sorted(os.listdir(tmp_path)) == before
    assert not target.exists() or target.read_text() == "precious"


def test_force_replaces_the_link_and_not_what_it_points_to(tmp_path: Path) -> None:
    target, path = tmp_path / "target", tmp_path / "report"
    target.write_text("precious")
    path.symlink_to(target)
    write_file(path, b"new", force=True)
    assert (path.read_bytes(), path.is_symlink(), target.read_text()) == (b"new", False, "precious")


def test_force_makes_a_shared_file_private(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_text("old")
    path.chmod(0o666)
    write_file(path, b"new", force=True)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o600)


def test_force_does_not_replace_a_folder(tmp_path: Path) -> None:
    (tmp_path / "report").mkdir()
    with pytest.raises(UsageError, match="not a regular file"):
        write_file(tmp_path / "report", b"new", force=True)


def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "report"

    def write() -> None:
        with new_file(path) as file:
            file.write(b"ours")
            path.write_text("theirs")

    with pytest.raises(OutputExists):
        write()
    assert (path.read_text(), os.listdir(tmp_path)) == ("theirs", ["report"])


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_text("old")

    def write() -> None:
        with new_file(path, force=True) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert (path.read_text(), os.listdir(tmp_path)) == ("old", ["report"])


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_text("old")
    program = (
        "import resource, sys; from pathlib import Path\n"
        "from inspector.config.output_files import write_file\n"
        "from inspector.errors import UsageError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "try: write_file(Path(sys.argv[1]), b'x' * 100_000, force=True)\n"
        "except UsageError as error: print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    assert "cannot be written: File too large" in ran.stdout
    assert (path.read_text(), os.listdir(tmp_path)) == ("old", ["report"])


def test_a_pipe_and_a_device_are_written_directly(tmp_path: Path) -> None:
    write_file(Path("/dev/null"), b"gone")
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(path.read_bytes()))
    reader.start()
    write_file(path, b"through")
    reader.join()
    assert read == [b"through"]
    assert path.is_fifo()


def test_a_link_to_a_pipe_or_a_device_is_a_file_that_exists(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for target in (Path("/dev/null"), Path("/dev/stdout"), pipe):
        path = tmp_path / f"to-{target.name}"
        path.symlink_to(target)
        with pytest.raises(OutputExists):
            write_file(path, b"new")
        write_file(path, b"new", force=True)
        assert path.read_bytes() == b"new"


def test_what_is_written_directly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("precious")
    assert is_device(Path("/dev/null"))
    assert not is_stream(Path(f"/dev/..{file}")), "the folder of a name is not where it begins"
    disk = os.stat_result((stat.S_IFBLK | 0o660, *os.stat("/dev/null")[1:]))
    monkeypatch.setattr(os, "stat", lambda path: disk)
    assert not is_stream(Path("/dev/sda")), "a disk is not written over"
