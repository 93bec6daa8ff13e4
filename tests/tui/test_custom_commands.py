"""The user's own commands on keys: what they get, where they work, how they are shown, and conflicts."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector.config.settings import Settings, load_settings
from inspector.errors import ConfigError
from inspector.tui.custom_commands import CustomCommands
from inspector.tui.keymap import Keymap
from tests.tui.live_app import MEDIUM, WIDE, Live, becomes, demo, running, shows
from tests.tui.terminal import Terminal
from tests.tui.tui_screens import press, screen_text

SCRIPT = """
import json, os, pathlib, stat, sys
file = pathlib.Path(sys.argv[1])
told = [file.read_text(), stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode), sys.argv[1:]]
out = pathlib.Path(sys.argv[2])
out.with_suffix(".new").write_text(json.dumps(told))
out.with_suffix(".new").rename(out)
"""


def own(**entry: str) -> dict[str, str]:
    return {"title": "", **entry}


@pytest.fixture
def settings(tmp_path: Path, lent_terminal: None) -> Settings:
    """Settings with a command for each place; each tells what it got in a file `told`."""
    script = tmp_path / "tell.py"
    script.write_text(SCRIPT)
    run = f"{sys.executable} {script} {{file}} {tmp_path / 'told'} 'a b; $(touch {tmp_path}/no) {{file}}'"

    commands = (
        own(key="ctrl+y", where="message", run=run, title="tell message"),
        own(key="ctrl+y", where="result", run=run, title="tell result"),
        own(key="Y", where="recording", run=run, title="tell all"),
    )
    return Settings(commands=commands)


async def command_output(live: Live, folder: Path) -> tuple[str, list[str]]:
    """Return the text and the arguments that the command got. Its file is private and gone."""
    app, pilot = live
    path = folder / "told"
    await becomes(app, pilot, path.exists, "told")
    text, mode, above, arguments = json.loads(path.read_text())
    path.unlink()
    assert (mode, above) == (stat.S_IRUSR | stat.S_IWUSR, stat.S_IRWXU)
    await becomes(app, pilot, lambda: not os.path.exists(arguments[0]), "removed")
    assert not Path(arguments[0]).parent.exists()
    return text, arguments


@pytest.mark.slow
async def test_each_command_gets_what_its_place_shows(tmp_path: Path, settings: Settings) -> None:
    async with running(demo(), size=WIDE, until="connected", settings=settings) as (app, pilot):
        await shows(app, pilot, "echo")
        await pilot.press("Y")
        text, arguments = await command_output((app, pilot), tmp_path)
        assert "tools/list" in text
        assert arguments[2] == f"a b; $(touch {tmp_path}/no) {arguments[0]}", "one argument, no shell"
        assert not (tmp_path / "no").exists()
        await press(pilot, "enter", *"hello", "Y", shows="helloY")
        assert not (tmp_path / "told").exists(), "a letter is text in a field"
        await press(pilot, "ctrl+r", shows="2 tokens")
        app.screen.panes.work.result.focus_inside()  # type: ignore[attr-defined]
        await pilot.press("ctrl+y")
        text, _ = await command_output((app, pilot), tmp_path)
        assert text == "helloY"
        await pilot.press("m", "ctrl+y")
        text, _ = await command_output((app, pilot), tmp_path)
        assert json.loads(text)["jsonrpc"] == "2.0"


@pytest.mark.slow
async def test_help_and_palette_show_them(settings: Settings) -> None:
    wrong = own(key="X", where="recording", run="/no/such/program {file}")
    settings = Settings(commands=(*settings.commands, wrong))
    async with running(demo(), size=MEDIUM, until="connected", settings=settings) as (app, pilot):
        await shows(app, pilot, "echo")
        await press(pilot, "question_mark", shows="Your commands")
        assert "tell all" in screen_text(app)
        assert "tell message" not in screen_text(app), "it does not work in the list"
        await press(pilot, "escape", "ctrl+p", *"tell", shows="tell all")
        await pilot.press("escape", "escape")
        await press(pilot, "X", shows="/no/such/program cannot be started")


def problems(*entries: dict[str, str], keymap: dict[str, str] | None = None) -> list[str]:
    return [problem.message for problem in CustomCommands(entries, Keymap(keymap).keys).problems]


def test_conflicts_and_wrong_commands_are_named() -> None:
    fine = own(key="f7", where="message", run="jq . {file}")
    assert not problems(fine)
    (conflict,) = problems(own(key="c", where="message", run="jq . {file}"))
    assert conflict.startswith("The settings give c to the command jq, but messages.copy uses it too (and ")
    assert problems(fine, keymap={"detail.copy": "f7"}) == [
        "The settings give f7 to the command jq, but detail.copy uses it too"
    ]
    assert "the command jq" in problems(fine, own(key="f7", where="message", run="x"))[0]
    assert "the command all" in problems(own(key="f7", where="recording", run="all"), fine)[-1]
    assert not problems(fine, own(key="f7", where="result", run="x")), "a message and a result are never both in front"
    assert problems(own(key="hyperspace", where="result", run="x"))[0].startswith("Unknown key `hyperspace`")
    assert "cannot be parsed" in problems(own(key="f7", where="result", run="jq 'x"))[0]
    assert "cannot be parsed" in problems(own(key="f7", where="result", run=" "))[0]


def test_only_the_file_sets_commands(home: Path) -> None:
    environ: dict[str, Any] = {"INSPECTOR_CONFIG_HOME": str(home)}
    with pytest.raises(ConfigError, match="INSPECTOR_COMMANDS cannot be set"):
        load_settings(environ=environ | {"INSPECTOR_COMMANDS": '[{"key":"f7","where":"result","run":"x"}]'})
    (home / "settings.json").write_text('{"commands": [{"key": "f7", "where": "result", "run": "jq . {file}"}]}')
    assert load_settings(environ=environ).commands == (own(key="f7", where="result", run="jq . {file}"),)


@pytest.mark.slow
def test_the_terminal_is_lent_until_a_key(home: Path) -> None:
    run = f"{sys.executable} -c 'import sys; print(len(open(sys.argv[1]).read()) > 9, \"from the program\")' {{file}}"
    commands = [{"key": "Y", "where": "recording", "run": run, "title": "count"}]
    (home / "settings.json").write_text(json.dumps({"commands": commands}))
    with Terminal(home, ["demo"]) as terminal:
        terminal.shows("connected", "echo")
        terminal.press("Y")
        terminal.shows("True from the program", "ended with exit code 0. Press a key.")
        terminal.press("\x03")
        terminal.rest(0.3)
        assert "Press a key" in terminal.grid.text, "an interrupt does not end Inspector"
        terminal.press(" ")
        terminal.until(lambda: "Press a key" not in terminal.grid.text, "back")
        terminal.shows("connected", "echo")
        terminal.quits()
