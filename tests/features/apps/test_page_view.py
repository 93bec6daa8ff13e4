"""Tools with a page: their marks, and the page as facts, text and source. Nothing of it is rendered."""

import sys

import pytest

from inspector.config.targets import StdioTarget
from tests.tui.live_app import running, shows
from tests.tui.tui_screens import assert_in, press, screen_text

pytestmark = pytest.mark.slow

SERVER = """
import json, sys
HTML = "<!doctype html><html><head><title>Tide</title></head><body><p>High \\x1b[31mwater</p>" \\
    "<script src='https://cdn.example.com/a.js'></script></body></html>"
BOARD = {"name": "board", "inputSchema": {"type": "object"}, "_meta": {"ui": {"resourceUri": "ui://harbour/board"}}}
REFRESH = {"name": "refresh", "inputSchema": {"type": "object"}, "_meta": {"ui": {"visibility": ["app"]}}}
reads = 0
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {}
    if message["method"] == "initialize":
        can = {"tools": {}, "resources": {}}
        result = {"protocolVersion": "2025-11-25", "capabilities": can, "serverInfo": {"name": "harbour", "version": "1"}}
    elif message["method"] == "tools/list":
        result = {"tools": [BOARD, REFRESH]}
    elif message["method"] == "resources/list":
        result = {"resources": []}
    elif message["method"] == "resources/read":
        reads += 1
        content = {"uri": message["params"]["uri"], "mimeType": "text/html;profile=mcp-app", "text": HTML + "x" * (reads // 3)}
        content["_meta"] = {"ui": {"csp": {"connectDomains": ["https://api.example.com"]}, "permissions": {"camera": {}}}}
        result = {"contents": [content]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
HARBOUR = StdioTarget((sys.executable, "-c", SERVER))


async def test_a_page_is_read_on_demand_and_shown_with_its_policy() -> None:
    """C-APP-05, C-APP-06, C-APP-07."""
    async with running(HARBOUR, until="app only") as (app, pilot):
        text = screen_text(app)
        assert_in(text, "board  UI", "page ui://harbour/board")
        await press(pilot, "u", shows="Not rendered and not run.")
        await shows(app, pilot, "permissions   camera")
        await press(pilot, "tab", "z", shows="https://api.example.com  csp.connectDomains")
        await shows(app, pilot, "script-src  https://cdn.example.com/a.js", "Not rendered and not run.")
        await press(pilot, "right_curly_bracket", shows="High ␛[31mwater")
        await press(pilot, "right_curly_bracket", shows="<script src='https://cdn.example.com/a.js'>")


async def test_a_second_read_says_whether_the_page_changed() -> None:
    """C-APP-12."""
    async with running(HARBOUR, until="app only") as (_app, pilot):
        await press(pilot, "u", shows="Not rendered and not run.")
        await press(pilot, "tab", "ctrl+r", shows="the same as at")
        await press(pilot, "ctrl+r", shows="differs from the read at")


async def test_a_tool_for_pages_says_so_and_has_no_page_key() -> None:
    async with running(HARBOUR, until="app only") as (app, pilot):
        await press(pilot, "down", shows="Only pages may call it")
        assert "u page" not in screen_text(app)
