"""A field with `x-mcp-file`: the user picks a file, and its bytes are sent as a data URI."""

import sys
from pathlib import Path

import pytest

from inspector.config.targets import StdioTarget
from inspector.tui.widgets.pick_file import PickFile
from tests.tui.live_app import running, shows
from tests.tui.small_server import small_server
from tests.tui.tui_screens import press, screen_text

pytestmark = pytest.mark.slow

CHART = {"type": "string", "format": "uri", "x-mcp-file": {"accept": ["image/png"], "maxSize": 3}}
SCHEMA = {"type": "object", "required": ["chart"], "properties": {"chart": CHART}}
SERVER = small_server({
    "tools/list": repr({"tools": [{"name": "draw", "inputSchema": SCHEMA}]}),
    "tools/call": '{"content": [{"type": "text", "text": "got " + params["arguments"]["chart"]}]}',
})  # fmt: skip


async def test_a_file_is_picked_read_and_sent(tmp_path: Path) -> None:
    """C-FILE-01, C-FILE-03, C-FILE-04."""
    file = tmp_path / "c.png"
    file.write_bytes(b"\x00\xff\xe4\n")
    async with running(StdioTarget((sys.executable, "-c", SERVER)), until="draw") as (app, pilot):
        await press(pilot, "enter", shows="file, image/png, at most 3 B")
        await press(pilot, "alt+f", until=lambda: isinstance(app.screen, PickFile), what="the dialog")
        await press(pilot, *"/nothing", "enter", shows="/nothing cannot be read")
        await press(pilot, "ctrl+u", *str(file), "enter", shows="data:image/png;base64,AP/kCg==")
        await shows(app, pilot, "Warning:")
        await press(pilot, "ctrl+r", shows="got ‹redacted file image/png 4 bytes")
        assert "c.png" not in screen_text(app)
