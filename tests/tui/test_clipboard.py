"""A copied text goes to the terminal, and to the programs that put it on the clipboard."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from inspector.tui.app import InspectorApp
from inspector.tui.clipboard_programs import clipboard_programs, give
from tests.tui.live_app import hostile, running, shows
from tests.tui.tui_screens import press


@pytest.mark.parametrize(("environ", "platform", "programs"), [
    ({}, "linux", []),
    ({"TMUX": "/tmp/tmux/default,1,0"}, "linux", ["tmux"]),
    ({"DISPLAY": ":0"}, "linux", ["xclip"]),
    ({"DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0"}, "linux", ["wl-copy"]),
    ({"TMUX": "x", "DISPLAY": ":0"}, "linux", ["tmux", "xclip"]),
    ({"TMUX": "x", "DISPLAY": ":0", "SSH_CONNECTION": "a b c d"}, "linux", ["tmux"]),
    ({"SSH_TTY": "/dev/pts/1"}, "darwin", []),
    ({}, "darwin", ["pbcopy"]),
])  # fmt: skip
def test_which_programs_there_are(environ: dict[str, str], platform: str, programs: list[str]) -> None:
    assert [commands[0][0] for commands in clipboard_programs(environ, platform)] == programs


@pytest.mark.slow
def test_the_programs_of_the_system_get_the_text(tmp_path: Path) -> None:
    for name, code in (("tmux", f'[ "$2" = - ] && cat > {tmp_path}/tmux.txt'), ("xsel", f"cat > {tmp_path}/xsel.txt")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{code}\n")
        (tmp_path / name).chmod(0o755)
    environ = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "TMUX": "x", "DISPLAY": ":0"}
    if subprocess.run(["sh", "-c", "command -v xclip"], capture_output=True).returncode == 0:
        (tmp_path / "xclip").write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / "xclip").chmod(0o755)
    give("a text\nof two lines, é \ud800", environ)
    # An older tmux does not know -w; xclip is not there, or fails.
    assert (tmp_path / "tmux.txt").read_text() == "a text\nof two lines, é ?"
    assert (tmp_path / "xsel.txt").read_text() == "a text\nof two lines, é ?"


@pytest.mark.slow
def test_a_program_that_is_missing_or_broken_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "xclip").write_text("not a program")
    (tmp_path / "xclip").chmod(0o755)
    give("text", {"PATH": str(tmp_path), "TMUX": "x", "DISPLAY": ":0"})


@pytest.mark.slow
async def test_only_a_key_that_copies_does_so(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []
    monkeypatch.setattr(InspectorApp, "copy_to_clipboard", lambda app, text: copied.append(text))
    async with running(hostile("escapes"), until="connected") as (app, pilot):
        for key in ("down", "enter", "ctrl+r", "tab", "down", "enter", "2", "3", "4", "5", "6", "down", "enter", "1"):
            await pilot.press(key)
        await shows(app, pilot, "gpj.exe")
        assert copied == []
        app.screen.panes.work.result.focus_inside()  # type: ignore[attr-defined]
        await press(pilot, "c", until=lambda: len(copied) == 1, what="copied")
