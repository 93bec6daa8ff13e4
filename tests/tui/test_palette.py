"""The palette finds verbs, what the server offers, and themes; nothing in a name does harm."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest
from textual.command import Hits

from inspector.config.settings import Settings
from inspector.tui.app import InspectorApp
from inspector.tui.palette import Themes, doable, score
from inspector.tui.work.catalog import CatalogPane
from inspector.tui.work.request import RequestPane
from tests.tui.live_app import SESSION, becomes, main_screen, on_demo, on_recording, running, shows
from tests.tui.tui_screens import screen_lines, screen_text

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
    await pilot.press("ctrl+p")
    await shows(app, pilot, "Search for commands")
    await pilot.press(*words)
    before: list[str] = []
    for _ in range(100):
        await pilot.pause(0.03)
        found = listed(app)
        if found and found == before:
            return found
        before = found
    return before


def listed(app: InspectorApp) -> list[str]:
    """The rows of the palette on the screen."""
    from textual.command import CommandList

    if not app.screen.query(CommandList):
        return []
    options = app.screen.query_one(CommandList)
    return [str(options.get_option_at_index(at).prompt).strip() for at in range(options.option_count)]


@pytest.mark.slow
async def test_a_verb_is_found_and_done() -> None:
    async with on_recording(until="echo") as (app, pilot):
        found = await find(app, pilot, "hide mess")
        assert found[0].startswith("hide")
        assert " M " in found[0], "with its key"
        await pilot.press("enter")
        await becomes(app, pilot, lambda: main_screen(app).has_class("-log-hidden"), "hidden")


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
        await pilot.press("enter")
        await becomes(app, pilot, lambda: main_screen(app).pane_layout.place == "tools", "on tools")
        item = main_screen(app).query_one(CatalogPane).item
        assert item is not None
        assert item["name"] == "echo"


@pytest.mark.slow
async def test_a_theme_is_found_and_worn(home: Path) -> None:
    (home / "themes").mkdir()
    (home / "themes" / "[red]mine[_].yaml").write_text("dark: true\nroles:\n  accent: '#ff8800'\n")
    async with on_recording(until="echo") as (app, pilot):
        assert [row.split("  ")[0] for row in await find(app, pilot, "theme mine")] == ["theme [red]mine[_]"]
        await pilot.press("enter")
        await becomes(app, pilot, lambda: app.theme_switch.name == "[red]mine[_]", "worn")


@pytest.mark.slow
async def test_enter_acts_on_what_matches_the_whole_text(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As under load: enter is pressed while the matches of the first half are still listed."""
    async with on_recording(until="echo") as (app, pilot):
        assert (await find(app, pilot, "theme"))[0].split()[0] == "theme"
        go_on = asyncio.Event()
        search = Themes.search

        async def late(self: Themes, query: str) -> Hits:
            await go_on.wait()
            async for hit in search(self, query):
                yield hit

        monkeypatch.setattr(Themes, "search", late)
        await pilot.press(*" mono", "enter")
        assert app.screen.is_modal, "nothing is done yet"
        go_on.set()
        await becomes(app, pilot, lambda: app.theme_switch.name == "mono", "worn")
        assert not app.screen.is_modal


@pytest.mark.slow
async def test_that_nothing_matches_is_reported() -> None:
    async with on_recording(until="echo") as (app, pilot):
        await find(app, pilot, "qqzz")
        await becomes(app, pilot, lambda: listed(app) == ["No match. Try fewer letters."], "said")
        await pilot.press("enter")
        assert app.screen.is_modal


@pytest.mark.slow
async def test_only_a_resource_is_offered_to_be_read_or_subscribed_to() -> None:
    async with on_demo() as (app, pilot):
        await pilot.press("enter")
        await becomes(app, pilot, lambda: main_screen(app).query_one(RequestPane).has_focus_within, "in the form")
        offered = {one.verb.id for one in doable(app.focused or app.screen)}
        assert {"form.call", "form.json"} <= offered
        assert not {"resource.read", "resource.subscribe"} & offered
        assert not any("Subscribe" in line for line in await find(app, pilot, "subscribe"))
        await pilot.press("escape")
        await becomes(app, pilot, lambda: main_screen(app).query_one(RequestPane).has_focus_within, "in the form again")
        await pilot.press("escape", "2", "enter")
        await becomes(app, pilot, lambda: main_screen(app).query_one(RequestPane).has_focus_within, "in the form")
        assert {"resource.read", "resource.subscribe"} <= {one.verb.id for one in doable(app.focused or app.screen)}


@pytest.mark.slow
async def test_a_hostile_name_is_shown_as_text(tmp_path: Path) -> None:
    path = with_tools(tmp_path / "evil.mcp.jsonl", ["plain", EVIL])
    async with on_recording(path, until="plain") as (app, pilot):
        found = await find(app, pilot, "owned")
        assert "[bold red]x[/]" in found[0]
        assert not any(ord(char) < 32 for line in screen_lines(app) for char in line)


async def test_there_is_no_palette_over_a_dialog() -> None:
    async with on_recording(until="echo") as (app, pilot):
        await pilot.press("x")
        await shows(app, pilot, "Export the recording")
        await pilot.press("ctrl+p")
        await pilot.pause(0.1)
        assert "Search for commands" not in screen_text(app)


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
        assert app.focused is not None
        ids = {one.verb.id for one in doable(app.focused)}
        assert "catalog.filter" in ids
        assert "messages.follow" not in ids
        await pilot.press("m")
        await becomes(app, pilot, lambda: "messages.follow" in {one.verb.id for one in doable(app.focused)})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "better", "worse"),
    [
        ("get", "get-sum", "forget"),
        ("sum", "get-sum", "resume"),
        ("echo", "echo", "echo-all"),
        ("a b", "a b", "b and a"),
    ],
)
def test_beginnings_of_names_and_of_words_come_first(words: str, better: str, worse: str) -> None:
    assert score(words.split(), better) > score(words.split(), worse) > 0


def test_every_word_must_be_there() -> None:
    assert score(["get", "sum"], "get-total") == 0
    assert score([], "anything") == 0
    assert score(["x"], "") == 0


def test_no_name_makes_the_search_slow() -> None:
    started = time.process_time()
    for _ in range(2000):
        score(["ababababababababababab"], "ab" * 2000 + "c")
        score(["a", "b", "a", "b", "a", "b", "a", "b", "c"], "ab" * 50)
    assert score(["ababc"], "ab" * 50 + "c") > 0
    assert time.process_time() - started < 60
