"""The catalogue pane over the demo server's lists, and over lists that break off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.client.recorded_session import RecordedSession
from inspector.client.state.catalog import ListName
from inspector.config.server_memory import ServerMemory
from inspector.errors import ConnectionProblem, NotOffered
from inspector.journal.journal import Journal
from inspector.protocol.token_costs import tool_cost
from inspector.tui.pane_messages import ItemHighlighted, ItemOpened
from inspector.tui.work.catalog import CatalogPane
from tests.tui.live_app import TOOLS
from tests.tui.live_demo import Ticking, demo, on_pane
from tests.tui.tui_screens import assert_in, press, screen_lines, screen_text, settle


def recorded() -> RecordedSession:
    return RecordedSession(Journal.unnamed({}), Path("none"))


def give(session: RecordedSession, name: ListName, items: list[Any], *, more: bool = False) -> None:
    catalog_list = session.catalog[name]
    if not catalog_list.loading:
        catalog_list.begin()
    cursor = {"nextCursor": str(catalog_list.pages)} if more else {}
    catalog_list.page({catalog_list.kind.key: items, **cursor})
    session.changes.bump(name)


def shown_name(app: Ticking) -> Any:
    messages = app.messages_of(ItemHighlighted)
    item = messages[-1].item if messages else None  # type: ignore[attr-defined]
    return item and item.get("name")


@pytest.mark.slow
async def test_each_list_keeps_its_cursor_and_its_filter() -> None:
    async with (
        demo("tools", "resources", "prompts") as session,
        on_pane(CatalogPane(session), (34, 12), focus=False) as (app, pilot, pane),
    ):
        await settle(pilot, lambda: shown_name(app) == "echo")
        pane.focus_inside()
        await press(pilot, "slash", *"count", "down", "down", until=lambda: f"of {TOOLS}" in screen_lines(app)[0])
        there = shown_name(app)
        pane.show("prompts")
        await settle(pilot, lambda: "Prompts" in screen_text(app))
        assert f"of {TOOLS}" not in screen_text(app)
        assert "filter" in screen_lines(app)[-2]
        pane.show("tools")
        await settle(pilot, lambda: shown_name(app) == there)
        assert "count" in screen_lines(app)[-2]
        await pilot.press("enter")
        assert [message.item["name"] for message in app.messages_of(ItemOpened)] == [there]


@pytest.mark.slow
async def test_typing_filters_at_once_escape_brings_all_back_and_enter_opens_the_item_at_the_cursor() -> None:
    async with demo("tools") as session, on_pane(CatalogPane(session), (40, 20)) as (app, pilot, pane):
        await pilot.press("slash", "enter")
        assert app.messages_of(ItemOpened) == [], "nothing was typed: enter goes to the rows"
        for keys in (
            ("slash", *"order pizza"),
            ("escape", "escape", "slash", *"echo", "down", "slash", *"order pizza", "down"),
        ):
            await press(pilot, *keys, until=lambda: shown_name(app) == "order-pizza")
            assert f"1 of {TOOLS}" in screen_lines(app)[0]
            await press(pilot, "escape", until=lambda: f"of {TOOLS}" not in screen_lines(app)[0])
            assert shown_name(app) == "order-pizza", "the cursor stays with the item"
        await pilot.press("escape")
        assert pane.has_focus_within, "there is nothing more to leave"
        await press(pilot, "slash", *"qqqq", shows="No match")
        assert shown_name(app) is None
        await press(pilot, "escape", *"ech", "enter", until=lambda: bool(app.messages_of(ItemOpened)))
        assert [message.item["name"] for message in app.messages_of(ItemOpened)] == ["echo"]


async def test_pages_that_come_leave_the_cursor_where_it_is() -> None:
    session = recorded()
    give(session, "tools", [{"name": f"t{at:03}"} for at in range(50)], more=True)
    async with on_pane(CatalogPane(session), (40, 12)) as (app, pilot, _pane):
        await settle(pilot, lambda: "50 so far …" in screen_lines(app)[0])
        await pilot.press("pagedown", "down")
        before = [line[:20] for line in screen_lines(app)[1:9]]
        give(session, "tools", [{"name": f"u{at:03}"} for at in range(500)])
        await settle(pilot, lambda: " 550 " in screen_lines(app)[0])
        assert [line[:20] for line in screen_lines(app)[1:9]] == before


async def test_a_list_that_breaks_off_keeps_what_has_come_and_says_why() -> None:
    session = recorded()
    give(session, "tools", [{"name": "one"}, "odd", {"name": 2}], more=True)
    session.catalog.tools.end(ConnectionProblem("The pipe broke.", hint="Start it again."))
    async with on_pane(CatalogPane(session), (40, 16), focus=False) as (app, pilot, _pane):
        await settle(pilot, lambda: "The pipe broke." in screen_text(app))
        text = screen_text(app)
        assert_in(text, "one", "(unnamed)", "Start it again.", "1 entry is not an object")


async def test_enter_just_before_the_list_comes_opens_its_first_item() -> None:
    session = recorded()
    session.catalog["tools"].begin()
    async with on_pane(CatalogPane(session), (34, 12)) as (app, pilot, _pane):
        await pilot.press("enter")
        assert not app.messages_of(ItemOpened)
        give(session, "tools", [{"name": "first"}, {"name": "second"}])
        await settle(pilot, lambda: bool(app.messages_of(ItemOpened)))
        opened: list[Any] = app.messages_of(ItemOpened)
        assert [message.item["name"] for message in opened] == ["first"]
        give(session, "tools", [])
        give(session, "tools", [{"name": "third"}])
        await settle(pilot, lambda: shown_name(app) == "third")
        assert len(app.messages_of(ItemOpened)) == 1, "once"


async def test_an_empty_list_says_what_would_be_there() -> None:
    session = recorded()
    async with on_pane(CatalogPane(session), (50, 10), focus=False) as (app, pilot, pane):
        await settle(pilot, lambda: "Reading the recording" in screen_text(app))
        session.advance()
        await settle(pilot, lambda: "has no list of tools" in screen_text(app))
        give(session, "tools", [])
        await settle(pilot, lambda: "This server offers no tools." in screen_text(app))
        session.catalog.prompts.end(NotOffered("The server does not offer prompts."))
        pane.show("prompts")
        await settle(pilot, lambda: "This server offers no prompts." in screen_text(app))


@pytest.mark.slow
async def test_an_item_is_gone_to_by_its_name_in_spite_of_a_filter_and_a_list_is_read_again_or_not_yet() -> None:
    async with (
        demo("tools", "resources") as session,
        on_pane(CatalogPane(session), (40, 12)) as (app, pilot, pane),
    ):
        before = session.catalog.tools.version
        await pilot.press("r")
        await settle(pilot, lambda: session.catalog.tools.version > before and not session.catalog.tools.loading)
        assert len(session.catalog.tools) == TOOLS
        await pilot.press("slash", *"echo", "down")
        for name, address, label in (("tools", "weather", "weather"), ("resources", "demo://planets", "planets")):
            assert pane.select(name, address)
            await settle(pilot, lambda label=label: shown_name(app) == label)
        assert not pane.select("resources", "demo://nowhere")
        pane.show("prompts")
        await settle(pilot, lambda: "Not listed yet." in screen_text(app))


@pytest.mark.slow
async def test_tools_are_sorted_by_cost_and_the_order_is_remembered(tmp_path: Path) -> None:
    async with demo("tools", "prompts") as session:
        memory = ServerMemory(session.target, tmp_path)
        async with on_pane(CatalogPane(session, memory=memory), (70, 20), focus=False) as (app, pilot, pane):
            await settle(pilot, lambda: shown_name(app) == "echo")
            pane.focus_inside()
            await press(pilot, "o", until=lambda: "by cost" in screen_lines(app)[0])
            assert pane.item["name"] == "echo", "the cursor stays on its tool"
            await pilot.press("home")
            limit = max(session.catalog.tools.items, key=lambda tool: tool_cost(tool).characters)["name"]
            await settle(pilot, lambda: shown_name(app) == limit)
            await settle(pilot, memory.tools_by_cost)
            pane.show("prompts")
            await settle(pilot, lambda: "Prompts" in screen_text(app))
            assert "by cost" not in screen_lines(app)[0]
        async with on_pane(CatalogPane(session, memory=memory), (140, 20), focus=False) as (app, pilot, later):
            await settle(pilot, lambda: "by cost" in screen_lines(app)[0])
            later.focus_inside()
            await press(pilot, "o", until=lambda: "by cost" not in screen_lines(app)[0])
            await settle(pilot, lambda: not memory.tools_by_cost())
