"""Where pins are kept: by target, private, without secrets, and never silently useless."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.client.pins import Pins
from inspector.config.targets import HttpTarget, RecordingTarget, StdioTarget
from inspector.errors import ConfigError
from inspector.protocol.exact_json.depth import MAX_DEPTH, MAX_READ


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


@pytest.mark.parametrize("levels", [MAX_READ, 3_000, 50_000])
@pytest.mark.parametrize("file", ["own.pin.json", ""])
def test_what_is_too_deep_to_be_read_again_is_not_kept_whatever_python_can_write(
    tmp_path: Path, levels: int, file: str
) -> None:
    deep: list[Any] = []
    for _ in range(levels):
        deep = [deep]
    pins = Pins(tmp_path, file=tmp_path / file if file else None)
    with pytest.raises(ConfigError, match="nested too deeply"):
        pins.put(StdioTarget(("server",)), {"tools": deep})
    assert list(tmp_path.iterdir()) == []


def test_what_can_be_read_again_is_kept(tmp_path: Path) -> None:
    deep: list[Any] = []
    for _ in range(MAX_DEPTH):
        deep = [deep]
    pins, target = Pins(tmp_path), StdioTarget(("server",))
    pins.put(target, {"tools": deep})
    pin = pins.get(target)
    assert pin is not None
    assert pin.surface == {"tools": deep}


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
