"""Where pins are kept: by target, private, without secrets, and never silently useless."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.client.pins import Pins
from inspector.config.targets import HttpTarget, RecordingTarget, StdioTarget
from inspector.errors import ConfigError


def test_pins_belong_to_a_command_or_url(tmp_path: Path) -> None:
    pins = Pins(tmp_path / "pins")
    one = StdioTarget(("server", "--token=abcdef123456"))
    pins.put(one, {"tools": []})
    pins.put(HttpTarget("https://host.example/mcp?x=1"), {"tools": None})
    assert pins.has(one)
    assert pins.has(HttpTarget("https://host.example/mcp"))
    assert not pins.has(StdioTarget(("server",)))
    assert not pins.has(RecordingTarget(tmp_path / "x.mcp.jsonl"))
    assert "abcdef123456" not in pins.path_of(one).read_text()
    (tmp_path / "pins" / "other.txt").write_text("x")
    assert [pin.label for pin in pins.all()] == ["host.example", "server"]


def test_what_is_too_deep_to_be_kept_is_reported(tmp_path: Path) -> None:
    deep: list[Any] = []
    for _ in range(50_000):
        deep = [deep]
    with pytest.raises(ConfigError):
        Pins(tmp_path).put(StdioTarget(("server",)), {"tools": deep})


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "pins").write_text("a file")
    with pytest.raises(ConfigError):
        Pins(tmp_path / "pins").put(StdioTarget(("server",)), {})
    assert Pins(tmp_path / "pins").all() == []


def test_texts_that_utf_8_cannot_carry_are_kept(tmp_path: Path) -> None:
    target = StdioTarget(("server",))
    surface = {"instructions": "lone \ud800", "tools": [{"name": "x", "number": 10**40}]}
    Pins(tmp_path).put(target, surface)
    pin = Pins(tmp_path).get(target)
    assert pin is not None
    assert pin.surface == surface
