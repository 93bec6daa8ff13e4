"""A secret of an environment or of a capture reaches no screen, no recording and no file of the interface."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector.config.settings import Settings
from inspector.config.targets import HttpTarget, StdioTarget, Target
from inspector.tui.log.message_list import MessageList
from tests.cli.test_run_secrets import FLOW, SECRETS, SERVER, leaks, ring
from tests.tui.idle import quiet
from tests.tui.live_app import main_screen, running, shows, to_tool
from tests.tui.test_calls import ran
from tests.tui.tui_screens import press, screen_text

pytestmark = pytest.mark.slow

__all__ = ["ring"]


@pytest.fixture(params=["stdio", "http"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Target]:
    values = tmp_path / "values.json"
    values.write_text(json.dumps(SECRETS))
    command = (sys.executable, "-S", "-E", str(SERVER), str(values))
    if request.param == "stdio":
        yield StdioTarget(command, name="leaky", env={"LEAKY_API_KEY": SECRETS["of_target"]})
        return
    process = subprocess.Popen([*command, "--http"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    headers = (("X-Api-Key", SECRETS["of_target"]),)
    yield HttpTarget(process.stdout.readline().strip(), name="leaky", headers=headers)
    process.kill()
    process.communicate()


async def test_no_secret_is_on_a_screen(target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_VALUE", SECRETS["of_env"])
    (tmp_path / "value.txt").write_text(SECRETS["of_file"])
    Path("calls/env").mkdir(parents=True)
    Path("calls/flow.yaml").write_text(FLOW.lstrip())
    Path("calls/env/staging.yaml").write_text(
        f"of_env: env:SHOP_VALUE\nof_file: file:{tmp_path / 'value.txt'}\nof_keyring: keyring:shop/ann\n"
    )
    recording = tmp_path / "r.mcp.jsonl"
    seen: list[str] = []
    async with running(target, until="Tools 3", size=(200, 110), settings=Settings(), record=recording) as (app, pilot):

        async def press_and_check(*keys: str) -> None:
            for key in keys:
                await pilot.press(key)
                await quiet(app)
                text = screen_text(app)
                seen.append(text)
                assert leaks(text) == [], text

        await press_and_check("9")
        await shows(app, pilot, "calls/flow.yaml")
        await press(pilot, "E", "down", "enter", shows="in use")
        await press_and_check("home", "ctrl+r")
        await ran(app, pilot, "found     error -32601")
        screen = main_screen(app)
        await press_and_check("enter", *["enter", "down"] * 12)
        assert "of_object = " in screen_text(app), "the captured values are shown"
        assert "***" in screen_text(app)
        rows = screen.panes.messages.query_one(MessageList)
        views = set()
        for _ in ("parsed", "raw", "http"):
            screen.set_focus(rows)
            await press_and_check("end", *["up"] * min(rows.count, 25), "end", "up")  # the last answer has each view
            views.add(screen.panes.detail.tab)
            screen.panes.detail.focus_inside()
            await press_and_check("right_curly_bracket")
        assert views == {"parsed", "raw", "http"} - ({"http"} if target.kind == "stdio" else set())
        await to_tool(app, pilot, "echo")
        await press_and_check("f5", "f5", "ctrl+s", "escape", "ctrl+p", "escape")
        any_of: Any = screen.session.journal
        assert leaks("\n".join(any_of.event(n).text for n in range(1, len(any_of) + 1))) == []
    assert any("tools/call" in text for text in seen)
    assert leaks(recording.read_text()) == []
    state = [path for path in tmp_path.rglob("*") if path.is_file() and path.name not in ("values.json", "value.txt")]
    assert [path for path in state if leaks(path.read_text(errors="replace"))] == []
