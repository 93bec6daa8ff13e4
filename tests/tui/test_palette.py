"""The palette finds verbs, what the server offers, and themes; nothing in a name does harm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.config.settings import Settings, load_settings
from inspector.tui.app import InspectorApp
from inspector.tui.log.pane import MessagesPane
from inspector.tui.palette import Palette, PaletteRows, doable
from inspector.tui.verbs import BY_ID, VERBS
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.filter_input import FilterInput
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.work.catalog import CatalogPane
from inspector.tui.work.request import RequestPane
from tests.tui.live_app import NARROW, SESSION, WIDE, becomes, main_screen, on_demo, on_recording, running, shows
from tests.tui.tui_screens import press, screen_lines, screen_text

EVIL = "\x1b]0;owned\x07[bold red]x[/]"


def with_tools(path: Path, names: list[str]) -> Path:
    """The golden recording with other tools."""
    lines = SESSION.read_bytes().splitlines(keepends=True)
    event = json.loads(lines[7])
    message = json.loads(event["raw"])
    message["result"]["tools"] = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    event["raw"] = json.dumps(message)
    path.write_bytes(b"".join([*lines[:7], json.dumps(event).encode() + b"\n", *lines[8:]]))
    return path


async def find(app: InspectorApp, pilot, words: str) -> list[str]:
    """Open the palette, type, and return what it lists."""
    await press(pilot, "ctrl+p", shows="╭─ Palette ")
    await pilot.press(*words)
    return listed(app)


def listed(app: InspectorApp) -> list[str]:
    """The rows of the palette."""
    rows = app.screen.query_one(VirtualList).source
    return ["".join(one.text for one in rows.render(at, 110, False, False)).strip() for at in range(len(rows))]  # type: ignore[union-attr]


def offered(app: InspectorApp) -> set[str]:
    """The ids of the verbs that work at the focus."""
    return {verb.id for verb, _ in doable(app.focused or app.screen).values()}


@pytest.mark.slow
async def test_a_verb_is_found_and_done() -> None:
    async with on_recording(until="echo") as (app, pilot):
        found = await find(app, pilot, "hide mess")
        assert found[0].startswith("hide")
        assert " M " in found[0], "with its key"
        await press(pilot, "enter", until=lambda: not main_screen(app).panes.log.display, what="hidden")


async def test_without_words_every_verb_that_works_here_is_listed_moves_last() -> None:
    async with on_recording(until="echo") as (app, pilot):
        found = [row.split("  ")[0] for row in await find(app, pilot, "")]
        assert found.index("filter") < found.index("export") < found.index("page up")
        assert "reconnect" not in found
        assert "palette" not in found


@pytest.mark.slow
async def test_a_tool_is_found_and_gone_to() -> None:
    async with on_recording(until="echo") as (app, pilot):
        await pilot.press("6")
        found = await find(app, pilot, "echo")
        assert found[0].startswith("echo")
        assert "tool" in found[0]
        await press(pilot, "enter", until=lambda: main_screen(app).pane_layout.place == "tools", what="on tools")
        item = main_screen(app).query_one(CatalogPane).item
        assert item["name"] == "echo"


@pytest.mark.slow
async def test_a_theme_is_found_and_worn(home: Path) -> None:
    (home / "themes").mkdir()
    (home / "themes" / "[red]mine[_].yaml").write_text("dark: true\nroles:\n  accent: '#ff8800'\n")
    async with on_recording(until="echo") as (app, pilot):
        assert [row.split("  ")[0] for row in await find(app, pilot, "theme mine")] == ["theme [red]mine[_]"]
        await press(pilot, "enter", until=lambda: app.theme_switch.name == "[red]mine[_]", what="worn")


async def test_enter_acts_on_what_matches_the_whole_text() -> None:
    """As under load: enter comes before the list was drawn for the last letters."""
    async with on_recording(until="echo") as (app, pilot):
        await find(app, pilot, "theme")
        assert isinstance(app.screen, Palette)
        app.screen.query_one(Editor).show_without_change("theme mono")
        await press(pilot, "enter", until=lambda: app.theme_switch.name == "mono", what="worn")
        assert not app.screen.is_modal


async def test_a_chosen_theme_is_kept_for_the_next_start(home: Path) -> None:
    (home / "settings.json").write_text('{"timeout": 30} // seconds\n')
    async with on_recording(until="echo") as (app, pilot):
        await find(app, pilot, "theme mono")
        await press(pilot, "enter", shows="Theme mono, kept in settings.json.")
    assert load_settings().theme == "mono"
    assert (home / "settings.json").read_text().endswith('"timeout": 30} // seconds\n')


@pytest.mark.parametrize(
    ("words", "verb"),
    [
        ("curl", "as curl"),
        ("load test", "load test"),
        ("history", "past calls"),
        ("timeline", "timeline"),
        ("waterfall", "zoom"),
        ("cost", "sort by cost"),
        ("doctor", "doctor"),
        ("login", "login"),
        ("save call", "save call"),
    ],
)
async def test_every_verb_is_found_from_everywhere_with_its_key_and_place(words: str, verb: str) -> None:
    async with on_recording(until="echo") as (app, pilot):
        found = await find(app, pilot, words)
        assert found[0].startswith(verb)
        if words == "curl":
            assert sum(row.startswith(verb) for row in found) == 1, "of a row of the log, or of the message beside it"


async def test_a_verb_of_another_pane_is_done_there() -> None:
    async with on_recording(until="echo") as (app, pilot):
        row = (await find(app, pilot, "show only the messages that match a filter"))[0]
        assert row.startswith("filter   ")
        assert row.endswith("messages")
        await pilot.press("enter")
        await becomes(app, pilot, lambda: main_screen(app).query_one(MessagesPane).has_focus_within, "in the log")
        await pilot.press("t", "o")
        await becomes(app, pilot, lambda: main_screen(app).query_one(MessagesPane).query_one(FilterInput).value == "to")


async def test_a_verb_that_cannot_be_done_now_leads_to_its_place() -> None:
    async with on_recording(until="echo") as (app, pilot):
        assert (await find(app, pilot, "show only failures"))[0].endswith("checks")
        await pilot.press("enter")
        await becomes(app, pilot, lambda: main_screen(app).pane_layout.place == "check", "on the tab of checks")
        await shows(app, pilot, "cannot be done now. It is a verb of: checks.")


@pytest.mark.parametrize(("words", "shows_then"), [("timeline", "+ - zoom"), ("stderr", "/ kind:stderr")])
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_places_of_the_log_are_one_row_of_the_palette(words: str, shows_then: str, size: tuple[int, int]) -> None:
    async with on_recording(until="echo", size=size) as (app, pilot):
        assert (await find(app, pilot, words))[0].startswith(f"{words} ")
        await pilot.press("enter")
        await shows(app, pilot, shows_then)
        assert "cannot be done now" not in screen_text(app)


async def test_every_verb_is_listed_once() -> None:
    async with on_recording(until="echo") as (app, pilot):
        await find(app, pilot, "")
        rows = app.screen.query_one(VirtualList).source
        assert isinstance(rows, PaletteRows)
        about = [entry.about for entry in rows.entries if entry.key or entry.order != 2]
        assert {verb.description for verb in VERBS} - set(about) == {BY_ID["app.palette"].description}
        assert len([one for one in about if one in {verb.description for verb in VERBS}]) == len(
            set(about) & {verb.description for verb in VERBS}
        )


@pytest.mark.slow
async def test_that_nothing_matches_is_reported() -> None:
    async with on_recording(until="echo") as (app, pilot):
        await find(app, pilot, "qqzz")
        await shows(app, pilot, "No match. Try fewer letters.")
        await pilot.press("enter")
        assert app.screen.is_modal


@pytest.mark.slow
async def test_only_a_resource_is_offered_to_be_read_or_subscribed_to() -> None:
    async with on_demo() as (app, pilot):
        await pilot.press("enter")
        await becomes(app, pilot, lambda: main_screen(app).query_one(RequestPane).has_focus_within, "in the form")
        assert {"form.call", "form.json"} <= offered(app)
        assert not {"resource.read", "resource.subscribe"} & offered(app)
        assert (await find(app, pilot, "subscribe"))[0].endswith("a resource")
        await pilot.press("escape")
        await becomes(app, pilot, lambda: main_screen(app).query_one(RequestPane).has_focus_within, "in the form again")
        await pilot.press("escape", "2", "enter")
        await becomes(app, pilot, lambda: main_screen(app).query_one(RequestPane).has_focus_within, "in the form")
        assert {"resource.read", "resource.subscribe"} <= offered(app)


@pytest.mark.slow
async def test_a_hostile_name_is_shown_as_text(tmp_path: Path) -> None:
    path = with_tools(tmp_path / "evil.mcp.jsonl", ["plain", EVIL])
    async with on_recording(path, until="plain") as (app, pilot):
        found = await find(app, pilot, "owned")
        assert "[bold red]x[/]" in found[0]
        assert not any(ord(char) < 32 for line in screen_lines(app) for char in line)


async def test_there_is_no_palette_over_a_dialog() -> None:
    async with on_recording(until="echo") as (app, pilot):
        await press(pilot, "x", shows="Export the recording")
        await pilot.press("ctrl+p")
        await pilot.pause(0.1)
        assert "Palette" not in screen_text(app)


@pytest.mark.slow
async def test_the_palette_names_the_keys_of_the_users_keymap() -> None:
    async with on_recording(until="echo", settings=Settings(keymap={"app.export": "f9"})) as (app, pilot):
        assert any("f9" in row for row in await find(app, pilot, "export"))


async def test_the_start_screen_has_a_palette_of_its_own_verbs() -> None:
    async with running(None, until="Recordings") as (app, pilot):
        await pilot.press("tab")
        found = [row.split("  ")[0] for row in await find(app, pilot, "")]
        assert "demo" in found
        assert "zoom" not in found


async def test_verbs_are_those_of_the_focus() -> None:
    async with on_recording(until="echo") as (app, pilot):
        assert "catalog.filter" in offered(app)
        assert "messages.follow" not in offered(app)
        await press(pilot, "m", until=lambda: "messages.follow" in offered(app))
