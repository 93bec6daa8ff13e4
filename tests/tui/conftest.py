"""Every test of the interface has a home of its own: no settings, no recordings, nothing remembered."""

from __future__ import annotations

import math
from contextlib import nullcontext
from pathlib import Path

import pytest
from textual.app import App

from inspector.tui import key_order


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home, which is the current folder too."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in ("HOME", "INSPECTOR_STATE_HOME", "INSPECTOR_CONFIG_HOME"):
        monkeypatch.setenv(name, str(folder))
    for name in ("NO_COLOR", "LC_ALL", "LC_CTYPE", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.chdir(folder)
    # A test sees at once where the focus is.
    monkeypatch.setattr(key_order, "SEEN", -math.inf)
    return folder


@pytest.fixture(autouse=True)
def quick_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user reads a question at once."""
    monkeypatch.setattr("inspector.tui.work.pane.READ_TIME", 0.01)


@pytest.fixture
def lent_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The app gives its terminal to another program, though it has none."""
    monkeypatch.setattr(App, "suspend", lambda _: nullcontext())
