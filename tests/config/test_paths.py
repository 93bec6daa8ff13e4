"""Our own folders and files: where they are, and that only their user can read them."""

from __future__ import annotations

import ast
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.config import paths
from inspector.errors import ConfigError
from tests.sources import PACKAGE, sources


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_overrides_move_the_folders(tmp_path: Path) -> None:
    environ = {"INSPECTOR_CONFIG_HOME": str(tmp_path / "c"), "INSPECTOR_STATE_HOME": str(tmp_path / "s")}
    assert paths.config_folder(environ) == tmp_path / "c"
    assert paths.state_folder(environ) == tmp_path / "s"
    assert paths.cache_folder(environ) == tmp_path / "s" / "cache"
    assert paths.log_folder(environ) == tmp_path / "s" / "log"
    assert paths.recordings_folder(environ) == tmp_path / "s" / "recordings"
    assert paths.log_file(environ) == tmp_path / "s" / "log" / "inspector.log"
    assert (tmp_path / "s" / "log").is_dir()


def test_the_folders_are_the_users_alone(tmp_path: Path) -> None:
    paths.recordings_folder({"INSPECTOR_STATE_HOME": str(tmp_path / "s")})
    assert mode(tmp_path / "s") == mode(tmp_path / "s" / "recordings") == 0o700


def test_an_override_may_be_relative_or_begin_with_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert paths.state_folder({"INSPECTOR_STATE_HOME": "~/x"}) == tmp_path / "x"
    assert paths.state_folder({"INSPECTOR_STATE_HOME": "y"}) == tmp_path / "y"


def test_without_an_override_the_platforms_folders_are_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "XDG_CACHE_HOME",
        "INSPECTOR_STATE_HOME",
        "INSPECTOR_CONFIG_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder in (paths.config_folder(), paths.state_folder(), paths.cache_folder(), paths.log_folder()):
        assert tmp_path in folder.parents
        assert "inspector" in folder.parts
        assert not folder.exists()


def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir(mode=0o755)
    paths.private_folder(tmp_path / "s" / "below")
    assert (mode(tmp_path / "s"), mode(tmp_path / "s" / "below")) == (0o755, 0o700)


def test_a_folder_that_cannot_be_made_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be created") as caught:
        paths.private_folder(tmp_path / "file" / "below")
    assert "INSPECTOR_STATE_HOME" in caught.value.hint


def test_files_are_private_from_their_first_moment_and_made_so_where_they_were_not(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with paths.private_open(tmp_path / "new", "x", encoding="utf-8") as file:
            assert mode(tmp_path / "new") == 0o600
            file.write("text")
        (tmp_path / "old").write_text("old")
        (tmp_path / "old").chmod(0o644)
        with paths.private_open(tmp_path / "old", "ab") as file:
            file.write(b" new")
        paths.write_private(tmp_path / "whole", b"content")
    finally:
        os.umask(before)
    assert {mode(path) for path in tmp_path.iterdir()} == {0o600}
    assert (tmp_path / "old").read_text() == "old new"
    assert (tmp_path / "whole").read_bytes() == b"content"


def test_the_folder_of_a_temporary_file_is_private_and_removed_whole() -> None:
    before = os.umask(0)
    try:
        with paths.private_temporary("value.json") as path:
            assert path.name == "value.json"
            assert (mode(path.parent), list(path.parent.iterdir())) == (0o700, [])
            for left in ("value.json", "value.json~", ".value.json.swp"):
                path.with_name(left).write_text("x")
    finally:
        os.umask(before)
    assert not path.parent.exists()


SHARED = {"calls/writing.py", "calls/snapshots.py"}
"""Folders of files that a team shares follow the umask, as the files do."""


def test_no_other_folder_is_created_without_a_mode() -> None:
    files = set()
    for path, text in sources().items():
        for node in ast.walk(ast.parse(text)) if "mkdir(" in text or "makedirs(" in text else ():
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("mkdir", "makedirs"):
                modes = [word.arg for word in node.keywords if word.arg == "mode"] or node.args[1:]
                if not modes:
                    files.add(path.relative_to(PACKAGE).as_posix())
    assert files == SHARED


def test_a_device_is_written_to_and_left_alone() -> None:
    before = mode(Path("/dev/null"))
    with paths.private_open(Path("/dev/null")) as file:
        file.write(b"x")
    assert mode(Path("/dev/null")) == before


def test_a_write_that_fails_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths.write_private(tmp_path / "f", b"old")

    def fails(source: str, target: Path) -> None:
        raise OSError("disk")

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(OSError, match="disk"):
        paths.write_private(tmp_path / "f", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
    assert (tmp_path / "f").read_bytes() == b"old"


def test_bundled_files_are_found_in_a_checkout_and_in_an_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert paths.data_folder("themes").is_dir()
    for place in ("inspector/_data/themes", "themes"):
        root = tmp_path / place.replace("/", "-")
        (root / "inspector").mkdir(parents=True)
        (root / "inspector" / "__init__.py").touch()
        (root / place).mkdir(parents=True)
        monkeypatch.setattr("importlib.resources.files", lambda name, root=root: root / name)
        assert paths.data_folder("themes") == root / place
    with pytest.raises(ConfigError, match="recordings are missing"):
        paths.data_folder("recordings")


def test_a_system_without_a_home_folder_is_lived_with(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    assert not paths.home_folder().exists()


@pytest.mark.slow
def test_importing_targets_loads_nothing_heavy() -> None:
    script = (
        "import sys, inspector.config.targets, inspector.config.settings, inspector.config.servers\n"
        "heavy = {'platformdirs', 'keyring', 'pydantic', 'pydantic_core', 'yaml', 'httpx', 'textual', 'rich',\n"
        "         'difflib', 'tempfile', 'importlib.resources', 'typing_extensions', 'jsonschema_rs'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert ran.stdout.strip() == "[]"


def test_reports_name_a_path_relative_to_the_folder_or_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    work = tmp_path / "home" / "work"
    work.mkdir(parents=True)
    monkeypatch.chdir(work)
    assert paths.display_path(work / "kept" / "a.mcp.jsonl") == "kept/a.mcp.jsonl"
    assert paths.display_path(Path("kept/a.mcp.jsonl")) == "kept/a.mcp.jsonl"
    assert paths.display_path(tmp_path / "home" / ".local" / "a") == "~/.local/a"
    assert paths.display_path(tmp_path / "other" / "a") == str(tmp_path / "other" / "a")
