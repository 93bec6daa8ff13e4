"""The palette finds verbs, what the server offers, and themes; nothing in a name does harm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.config.settings import Settings, load_settings, settings_file
from inspector.tui.app import InspectorApp
from inspector.tui.log.pane import MessagesPane
from inspector.tui.main import session_verbs
from inspector.tui.palette import Heading, PaletteRows, doable
from inspector.tui.verbs import VERBS
from inspector.tui.widgets.editor import Editor
from inspector.tui.widgets.filter_input import FilterInput
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.work.catalog import CatalogPane
from inspector.tui.work.request import RequestPane
from tests.tui.live_app import NARROW, SESSION, WIDE, main_screen, on_demo, on_recording, running, shows, to_tool
from tests.tui.tui_screens import press, screen_lines, screen_text, settle

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
    assert isinstance(rows, PaletteRows)
    drawn = [rows.render(at, 110, False, False) for at in range(len(rows)) if rows.entry_at(at) is not None]
    return ["".join(one.text for one in row).strip() for row in drawn]


def headings(app: InspectorApp) -> list[str]:
    """The headings above the rows, each with its number of rows."""
    rows = app.screen.query_one(VirtualList).source
    assert isinstance(rows, PaletteRows)
    return [f"{row.title} {row.entries}" for row in rows.visible if isinstance(row, Heading) and row.title]


def offered(app: InspectorApp) -> set[str]:
    """The ids of the verbs that work at the focus."""
    return {verb.id for verb, _ in doable(app.focused or app.screen).values()}


async def test_without_words_every_verb_that_works_here_is_listed_moves_last() -> None:
    async with on_recording(until="echo") as (app, pilot):
        names = [row.split("  ")[0] for row in await find(app, pilot, "")]
        assert names.index("filter") < names.index("export") < names.index("page up")
        assert not {"revision", "palette"} & set(names)
        # Every verb is listed once.
        rows = app.screen.query_one(VirtualList).source
        assert isinstance(rows, PaletteRows)
        listed = [(entry.name, entry.about) for entry in rows.entries if entry.order != 2]
        assert {verb.title for verb in VERBS} - {name for name, _ in listed} == {"palette"}
        assert len(listed) == len(set(listed))
        assert ("revision", "a recording sends nothing") in {(entry.name, entry.reason) for entry in rows.entries}


@pytest.mark.slow
@pytest.mark.usefixtures("home")
async def test_the_file_of_the_settings_is_found_and_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    edited: list[Path] = []

    async def edit(_app: object, path: Path) -> None:
        assert path.parent.is_dir()
        edited.append(path)

    monkeypatch.setattr(session_verbs, "edit_file", edit)
    async with on_recording(until="echo") as (app, pilot):
        rows = await find(app, pilot, "settings")
        assert rows[0].startswith("settings")
        await press(pilot, "enter", until=lambda: edited == [settings_file()], what="opened")


@pytest.mark.slow
async def test_verbs_tools_and_themes_are_found_and_done(home: Path) -> None:
    (home / "themes").mkdir()
    (home / "themes" / "[red]mine[_].yaml").write_text("dark: true\nroles:\n  accent: '#ff8800'\n")
    async with on_recording(until="echo") as (app, pilot):
        rows = await find(app, pilot, "hide mess")
        assert rows[0].startswith("hide")
        assert " M " in rows[0], "with its key"
        await press(pilot, "enter", until=lambda: not main_screen(app).panes.log.display, what="hidden")
        await pilot.press("6")
        rows = await find(app, pilot, "echo")
        assert rows[0].startswith("echo")
        assert "tool" in rows[0]
        await press(pilot, "enter", until=lambda: main_screen(app).pane_layout.place == "tools", what="on tools")
        assert main_screen(app).query_one(CatalogPane).item["name"] == "echo"
        assert [row.split("  ")[0] for row in await find(app, pilot, "theme mine")] == ["theme [red]mine[_]"]
        await press(pilot, "enter", until=lambda: app.theme_switch.name == "[red]mine[_]", what="worn")
        # As under load: enter comes before the list was drawn for the last letters.
        await find(app, pilot, "theme")
        app.screen.query_one(Editor).show_without_change("theme mono")
        await press(pilot, "enter", until=lambda: app.theme_switch.name == "mono" and not app.screen.is_modal)
        await find(app, pilot, "qqzz")
        await press(pilot, "enter", shows="No match. Try fewer letters.")
        assert app.screen.is_modal
        await pilot.press("escape")
        # A dialog has none.
        await press(pilot, "x", shows="Export the recording")
        await pilot.press("ctrl+p")
        await pilot.pause(0.1)
        assert "Palette" not in screen_text(app)


async def test_a_chosen_theme_is_kept_for_the_next_start(home: Path) -> None:
    (home / "settings.json").write_text('{"timeout": 30} // seconds\n')
    async with on_recording(until="echo") as (app, pilot):
        await find(app, pilot, "theme mono")
        await press(pilot, "enter", shows="Theme mono, kept in settings.json.")
    assert load_settings().theme == "mono"
    assert (home / "settings.json").read_text().endswith('"timeout": 30} // seconds\n')


async def test_every_verb_is_found_from_everywhere_with_its_place_and_done_there() -> None:
    verb_by_words = {
        "curl": "as curl", "load test": "load test", "history": "earlier calls", "timeline": "timeline", "waterfall": "zoom",
        "cost": "sort by cost", "doctor": "doctor", "login": "login", "save call": "save call",
    }  # fmt: skip
    async with on_recording(until="echo") as (app, pilot):
        for words, verb in verb_by_words.items():
            rows = await find(app, pilot, words)
            assert rows[0].startswith(verb), words
            if words == "curl":  # Of a row of the log, or of the message beside it
                assert sum(row.startswith(verb) for row in rows) == 1
            await pilot.press("escape")
            if app.screen.is_modal:  # The first one clears what was typed.
                await pilot.press("escape")
        row = (await find(app, pilot, "show only the messages that match a filter"))[0]
        assert row.startswith("filter   ")
        assert "  Messages  " in row
        log = main_screen(app).query_one(MessagesPane)
        await press(pilot, "enter", until=lambda: log.has_focus_within, what="in the log")
        await press(pilot, "t", "o", until=lambda: log.query_one(FilterInput).value == "to")
        # One that cannot be done now leads to its place.
        assert "  Checks  " in (await find(app, pilot, "show only failures"))[0]
        await press(pilot, "enter", shows="cannot be done now: no check has run. It works in “Checks” with o.")
        assert main_screen(app).pane_layout.place == "check"


@pytest.mark.parametrize(("words", "shows_then"), [("timeline", "+ - zoom"), ("stderr", "/ kind:stderr")])
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_places_of_the_log_are_one_row_of_the_palette(words: str, shows_then: str, size: tuple[int, int]) -> None:
    async with on_recording(until="echo", size=size) as (app, pilot):
        assert (await find(app, pilot, words))[0].startswith(f"{words} ")
        await pilot.press("enter")
        await shows(app, pilot, shows_then)
        assert "cannot be done now" not in screen_text(app)


@pytest.mark.slow
async def test_only_a_resource_is_offered_to_be_read_or_subscribed_to() -> None:
    async with on_demo() as (app, pilot):
        await press(pilot, "enter", until=lambda: main_screen(app).query_one(RequestPane).has_focus_within)
        assert {"form.call", "form.json"} <= offered(app)
        assert not {"resource.read", "resource.subscribe"} & offered(app)
        assert "  Forms  " in (await find(app, pilot, "subscribe"))[0]
        await press(pilot, "escape", until=lambda: main_screen(app).query_one(RequestPane).has_focus_within)
        await pilot.press("escape", "2", "enter")
        await settle(pilot, lambda: main_screen(app).query_one(RequestPane).has_focus_within)
        assert {"resource.read", "resource.subscribe"} <= offered(app)


@pytest.mark.slow
async def test_a_hostile_name_is_shown_as_text(tmp_path: Path) -> None:
    path = with_tools(tmp_path / "evil.mcp.jsonl", ["plain", EVIL])
    async with on_recording(path, until="plain") as (app, pilot):
        rows = await find(app, pilot, "owned")
        assert "[bold red]x[/]" in rows[0]
        assert not any(ord(char) < 32 for line in screen_lines(app) for char in line)


@pytest.mark.slow
async def test_verbs_are_those_of_the_focus_and_keys_those_of_the_users_keymap() -> None:
    async with on_recording(until="echo", settings=Settings(keymap={"app.export": "f9"})) as (app, pilot):
        assert "catalog.filter" in offered(app)
        assert "messages.follow" not in offered(app)
        await press(pilot, "m", until=lambda: "messages.follow" in offered(app))
        assert any("f9" in row for row in await find(app, pilot, "export"))


async def test_the_start_screen_has_a_palette_of_its_own_verbs() -> None:
    async with running(None, until="Recordings") as (app, pilot):
        await pilot.press("tab")
        names = [row.split("  ")[0] for row in await find(app, pilot, "")]
        assert "demo" in names
        assert "zoom" not in names


@pytest.mark.slow
async def test_without_words_what_one_does_with_a_result_stands_above_what_one_does_with_its_json() -> None:
    async with on_demo() as (app, pilot):
        await to_tool(app, pilot, "add")
        await press(pilot, *"1", "tab", *"2", "ctrl+r", shows="sum 3")
        main_screen(app).pane_layout.focus_in(main_screen(app).panes.work.result)
        await find(app, pilot, "")
        places = [heading.rpartition(" ")[0] for heading in headings(app)]
        assert places[0] == "Result"
        assert places.index("JSON") < places.index("everywhere")


async def test_rows_are_under_headings_that_the_cursor_skips() -> None:
    async with on_recording(until="echo") as (app, pilot):
        rows = await find(app, pilot, "")
        at_first = headings(app)
        assert [heading.rpartition(" ")[0] for heading in at_first] == [
            "Catalogues",
            "Forms",
            "A recording",
            "everywhere",
            "Lists",
        ]
        assert sum(int(heading.rpartition(" ")[2]) for heading in at_first) == len(rows)
        entries = app.screen.query_one(VirtualList)
        assert isinstance(entries.source, PaletteRows)
        for key, times in (("down", 12), ("pagedown", 9), ("up", 20), ("pageup", 9)):
            for _ in range(times):
                await pilot.press(key)
                assert entries.source.entry_at(entries.cursor) is not None
        await pilot.press(*"log")
        name, about = headings(app)
        assert name.startswith("name ")
        assert about.startswith("description ")
        await pilot.press(*"qqz")
        await shows(app, pilot, "No match. Try fewer letters.")
        assert headings(app) == []


async def test_a_key_goes_to_the_place_of_a_row_and_does_nothing_there() -> None:
    async with on_recording(until="echo") as (app, pilot):
        screen, folded = main_screen(app), main_screen(app).panes.messages.log_query.fold
        await find(app, pilot, "show one row per message")
        await press(pilot, "tab", until=lambda: screen.panes.messages.has_focus_within, what="in the log")
        assert screen.panes.messages.log_query.fold is folded
        await find(app, pilot, "save baseline")
        await press(pilot, "tab", until=lambda: screen.pane_layout.place == "check", what="at the checks")
        assert "cannot be done now" not in screen_text(app)
        await find(app, pilot, "echo")
        await press(pilot, "tab", until=lambda: screen.query_one(CatalogPane).has_focus_within, what="in the list")
        assert screen.query_one(CatalogPane).item["name"] == "echo"
        # A theme has no place: the palette stays.
        await find(app, pilot, "theme mono")
        await pilot.press("tab")
        assert app.screen.is_modal
        assert app.theme_switch.name != "mono"


async def test_what_is_typed_is_searched_for_in_messages() -> None:
    async with on_recording(until="echo") as (app, pilot):
        await find(app, pilot, "initialize")
        await press(pilot, "ctrl+f", shows=("Search", "initialize"))
        assert app.screen.query_one(Editor).value == "initialize"


async def test_a_verb_that_does_not_work_now_has_the_reason_of_its_pane() -> None:
    async with on_recording(until="echo") as (app, pilot):
        for words, reason in {
            "send the request with the values": "a recording sends nothing",
            "compare the result with that": "this item was not called before",
            "decline the question": "no question is open",
        }.items():
            assert (await find(app, pilot, words))[0].endswith(f"not now: {reason}")
            await pilot.press("escape", "escape")
