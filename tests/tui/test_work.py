"""The work pane over a real server: forms, calls, results, and what each item keeps."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from inspector.client.session import Session
from inspector.config.server_memory import ServerMemory
from inspector.tui.pane_messages import ShowExchange
from inspector.tui.work.catalog_item import CatalogItem
from inspector.tui.work.outcome import CallOutcome
from inspector.tui.work.request import RequestPane
from inspector.tui.work.work_items import PAST, EarlierRun, WorkItem, label
from tests.tui.live_app import NARROW, TOOLS, WIDE, becomes, demo, main_screen, running
from tests.tui.live_demo import asked_by, at_item, desk, enter_form, go, in_form, sent, write
from tests.tui.tui_screens import press, screen_lines, screen_text, settle

pytestmark = pytest.mark.slow


async def test_a_tool_with_one_text_takes_three_steps(tmp_path: Path) -> None:
    async with in_form(tmp_path, "tools", "echo") as (session, app, pilot):
        await write(app, pilot, "hello")
        await press(pilot, "ctrl+r", shows="last calls  hello")
        assert sent(session, "tools/call") == [{"name": "echo", "arguments": {"message": "hello"}}]
        assert " ms" in screen_text(app)
        assert app.work.request.has_focus_within, "the focus stays where one types"


async def test_the_list_sends_what_a_form_holds_and_says_what_is_missing_first(tmp_path: Path) -> None:
    async with at_item(tmp_path, "tools", "what-time") as (session, app, pilot):
        await press(pilot, "ctrl+r", until=lambda: len(sent(session, "tools/call")) == 1)
        await go(app, pilot, "tools", "echo")
        await press(pilot, "ctrl+r", shows="again: send anyway")
        assert "is required" in screen_text(app)
        assert app.work.request.has_focus_within
        assert len(sent(session, "tools/call")) == 1
        await press(pilot, "ctrl+r", until=lambda: len(sent(session, "tools/call")) == 2)
        assert sent(session, "tools/call")[-1]["arguments"] == {}


async def test_typing_takes_back_the_wish_to_send_it_anyway(tmp_path: Path) -> None:
    async with at_item(tmp_path, "tools", "add") as (session, app, pilot):
        await press(pilot, "ctrl+r", until=lambda: app.work.request.sends_anyway)
        await press(pilot, "x", until=lambda: not app.work.request.sends_anyway)
        await press(pilot, "ctrl+r", until=lambda: app.work.request.sends_anyway)
        assert sent(session, "tools/call") == []


async def test_each_item_keeps_its_form_and_its_result(tmp_path: Path) -> None:
    async with in_form(tmp_path, "tools", "echo") as (_session, app, pilot):
        await write(app, pilot, "zulu")
        await press(pilot, "ctrl+r", shows="last calls  zulu")
        await write(app, pilot, " two")
        await go(app, pilot, "tools", "what-time")
        assert "zulu" not in screen_text(app)
        await go(app, pilot, "tools", "echo")
        await settle(pilot, lambda: "zulu two" in screen_text(app))
        await settle(pilot, lambda: "last calls  zulu" in screen_text(app))
        assert re.search(r" \d+ B .* token", screen_text(app))


async def test_json_that_is_not_finished_waits_for_its_user(tmp_path: Path) -> None:
    async with in_form(tmp_path, "tools", "echo") as (_session, app, pilot):
        await pilot.press("ctrl+e")
        await write(app, pilot, "[broken")
        await settle(pilot, lambda: "not JSON" in screen_text(app))
        await go(app, pilot, "tools", "what-time")
        assert "broken" not in screen_text(app)
        await go(app, pilot, "tools", "echo")
        await settle(pilot, lambda: "[broken" in screen_text(app))


async def test_several_calls_run_at_once_each_with_its_item(tmp_path: Path) -> None:
    async with desk(tmp_path, "tools") as (session, app, pilot):
        forgotten = await go(app, pilot, "tools", "forget")
        await press(pilot, "ctrl+r", until=lambda: forgotten.is_running)
        await settle(pilot, lambda: "running" in screen_text(app))
        await go(app, pilot, "tools", "what-time")
        await pilot.press("ctrl+r")
        await settle(pilot, lambda: "running" not in screen_text(app) and "last calls" in screen_text(app))
        assert forgotten.is_running
        await go(app, pilot, "tools", "forget")
        await settle(pilot, lambda: "running" in screen_text(app))
        await pilot.press("enter")
        await settle(pilot, lambda: app.work.request.has_focus_within or app.work.running.has_focus_within)
        await press(pilot, "escape", shows="You cancelled it after")
        await press(pilot, "escape", until=lambda: app.catalog.has_focus_within)
        assert len(session.pending) == 0


async def test_a_call_that_takes_its_time_gets_the_focus_and_gives_it_back_to_the_list(tmp_path: Path) -> None:
    async with at_item(tmp_path, "tools", "slow") as (_session, app, pilot):
        await app.work.request.form.load({"seconds": 600})
        await press(pilot, "ctrl+r", until=lambda: app.work.running.has_focus_within)
        await press(pilot, "escape", until=lambda: app.catalog.has_focus_within)


async def test_the_end_of_a_call_never_moves_the_focus_into_a_field(tmp_path: Path) -> None:
    async with in_form(tmp_path, "tools", "slow") as (_session, app, pilot):
        await app.work.request.form.load({"seconds": 600})
        await press(pilot, "ctrl+r", until=lambda: app.work.running.has_focus_within)
        await press(pilot, "escape", shows="You cancelled it after")
        await press(pilot, "m", until=lambda: bool(app.heard(ShowExchange)))
        assert app.work.request.form.value == {"seconds": 600}
        await press(pilot, "ctrl+r", until=lambda: app.work.running.has_focus_within)
        await press(
            pilot, "escape", until=lambda: app.work.result.has_focus_within, what="called again from the result"
        )


async def test_a_result_that_is_only_sentences_takes_keys(tmp_path: Path) -> None:
    async with in_form(tmp_path, "tools", "crash") as (_session, app, pilot):
        await press(pilot, "ctrl+r", shows="no answer")
        await press(pilot, "alt+r", until=lambda: app.work.result.has_focus_within)
        await press(pilot, "m", until=lambda: bool(app.heard(ShowExchange)))


async def test_a_user_who_types_on_keeps_the_focus(tmp_path: Path) -> None:
    async with desk(tmp_path, "tools") as (_session, app, pilot):
        work = await go(app, pilot, "tools", "slow")
        await app.work.request.form.load({"seconds": 600})
        await enter_form(app, pilot)
        app.work.on_request_pane_send(RequestPane.Send(work, {"seconds": 600}))
        await pilot.press("7")
        app.work.move_to_call(work)
        assert app.work.request.has_focus_within


async def test_past_calls_come_back_by_up_and_what_was_being_typed_after_them(tmp_path: Path) -> None:
    async with desk(tmp_path, "tools") as (_session, app, pilot):
        work = await go(app, pilot, "tools", "echo")
        await enter_form(app, pilot)
        for word in ("one", "two"):
            await pilot.press("ctrl+u", *word, "ctrl+r")
            await settle(pilot, lambda word=word: bool(work.past) and work.past[0].label == word)
        await pilot.press("ctrl+u")
        await write(app, pilot, "draft")
        form = app.work.request.form
        for expected in ("two", "one", "draft"):
            await press(pilot, "ctrl+up", until=lambda expected=expected: form.value == {"message": expected})


async def test_the_last_arguments_are_remembered_for_the_next_session(tmp_path: Path) -> None:
    async with in_form(tmp_path, "tools", "echo") as (session, app, pilot):
        await write(app, pilot, "again")
        await pilot.press("ctrl+r")
        memory = ServerMemory(session.target, tmp_path)
        await settle(pilot, lambda: memory.last_arguments("echo") == {"message": "again"})
    async with at_item(tmp_path, "tools", "echo") as (_session, app, pilot):
        await settle(pilot, lambda: app.work.request.form.value == {"message": "again"})
        assert "last calls  again" in screen_text(app)


async def test_a_secret_is_not_remembered(tmp_path: Path) -> None:
    async with desk(tmp_path, "tools") as (session, app, pilot):
        work = await go(app, pilot, "tools", "echo")
        done = CallOutcome("tools/call", 1, 2, {}, None, late=False, took=10, gave_up=0)
        app.work.work_items.keep(work.catalog_item, {"message": "x", "api_key": "hunter2"}, done)
        memory = ServerMemory(session.target, tmp_path)
        await settle(pilot, lambda: memory.last_arguments("echo") is not None)
        assert memory.last_arguments("echo") == {"message": "x"}


def test_destructive_tools_say_so() -> None:
    """C-TOOL-01."""
    tool = CatalogItem("tools", {"name": "x", "annotations": {"destructiveHint": True, "openWorldHint": True}})
    assert tool.facts == [[("destructive", "error")], [("open-world", "muted")]]


async def test_a_resource_is_read_by_enter_and_followed_by_u(tmp_path: Path) -> None:
    async with in_form(tmp_path, "resources", "demo://clock") as (session, app, pilot):
        await press(pilot, "enter", shows="resource  demo://clock")
        await press(pilot, "u", until=lambda: "demo://clock" in session.subscriptions)
        await settle(pilot, lambda: "changed" in screen_lines(app)[0])
        await press(pilot, "u", until=lambda: "demo://clock" not in session.subscriptions)


async def test_a_template_shows_what_it_comes_to_and_completes_its_variables(tmp_path: Path) -> None:
    async with in_form(tmp_path, "templates", "demo://weather/{country}/{city}") as (session, _app, pilot):
        await press(pilot, *"it", shows="tab takes")
        await press(pilot, "tab", shows="reads demo://weather/italy/")
        await press(pilot, "tab", "t", shows="torino")
        asked = sent(session, "completion/complete")[-1]
        assert asked["context"] == {"arguments": {"country": "italy"}}
        await press(pilot, "tab", "ctrl+r", shows="Sunny in torino")
        assert sent(session, "resources/read") == [{"uri": "demo://weather/italy/torino"}]


async def test_tab_leaves_an_empty_argument_empty_and_down_chooses_a_value(tmp_path: Path) -> None:
    async with at_item(tmp_path, "prompts", "explain-code") as (_session, app, pilot):
        await press(pilot, "enter", shows="javascript")
        await pilot.press("tab")
        assert "language" not in app.work.request.form.value
        await press(pilot, "shift+tab", shows="javascript")
        await press(pilot, "down", "down", "tab", until=lambda: bool(app.work.request.form.value.get("language")))


async def test_a_long_form_has_the_rows_that_an_empty_result_does_not_need(tmp_path: Path) -> None:
    async with at_item(tmp_path, "tools", "book-trip") as (_session, app, pilot):
        assert app.work.result.size.height <= 4
        assert app.work.request.outer_size.height >= app.work.size.height - 6
        await pilot.press("enter", *"Ada")
        assert app.work.request.form.value == {"traveller": {"name": "Ada"}}, "it begins with the first field"
        assert "to result" not in screen_text(app), "there is none"
        await pilot.press("ctrl+r", "ctrl+r")
        await settle(pilot, lambda: app.work.work is not None and app.work.work.answer is not None)
        assert app.work.result.size.height > 4
        await settle(pilot, lambda: "alt-r to result" in screen_text(app))
        await press(pilot, "alt+r", until=lambda: app.work.result.has_focus_within)


def describe(session: Session, tool: str, text: str) -> None:
    """Let the server list a tool with another description."""
    fresh = [dict(item) for item in session.catalog.tools.items]
    next(item for item in fresh if item["name"] == tool)["description"] = text
    session.catalog.tools.begin()
    session.catalog.tools.page({"tools": fresh})
    session.changes.bump("tools")


DOCSTRING = "Place an order.\n\n    The order is checked.\n    It is stored.\n"
"""A description as the official Python SDK sends the docstring of a function."""


@pytest.mark.parametrize(("height", "is_cut"), [(24, True), (40, False)])
async def test_a_docstring_has_no_indentation_and_leaves_a_long_form_its_room(
    tmp_path: Path, height: int, is_cut: bool
) -> None:
    async with desk(tmp_path, "tools", size=(110, height)) as (session, app, pilot):
        describe(session, "book-trip", DOCSTRING)
        await go(app, pilot, "tools", "book-trip")
        await settle(pilot, lambda: "Place an order." in screen_text(app))
        if is_cut:
            await settle(pilot, lambda: "f2 whole text" in screen_text(app))
            assert "The order is checked" not in screen_text(app)
            await pilot.press("enter", "f2")
        await settle(pilot, lambda: any("│ The order is checked." in line for line in screen_lines(app)))


async def test_a_description_that_is_cut_says_so_above_a_result_on_a_small_screen(tmp_path: Path) -> None:
    async with desk(tmp_path, "tools", size=(110, 22)) as (session, app, pilot):
        describe(session, "add", "word " * 200)
        await go(app, pilot, "tools", "add")
        await settle(pilot, lambda: "f2 whole text" in screen_text(app))
        await pilot.press("enter", "1", "tab", "2", "ctrl+r")
        await settle(pilot, lambda: app.work.work is not None and app.work.work.answer is not None)
        await settle(pilot, lambda: app.work.request.outer_size.height < 14)
        assert "f2 whole text" in screen_text(app)


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_the_focused_field_stays_in_view_when_a_result_comes_below_the_form(size: tuple[int, int]) -> None:
    async with running(demo(), size=size, until=f"─ {TOOLS} ─") as (app, pilot):
        main_screen(app).show_address("tools", "book-trip")
        form = main_screen(app).query_one(RequestPane)
        await becomes(app, pilot, lambda: form.has_focus_within, "in the form")
        await pilot.press("ctrl+r")
        last = [field for field in form.form.children if field.focusable][-1]
        for _ in range(40):
            if app.focused is not last:
                await pilot.press("tab")
        assert app.focused is last
        before = last.region
        await pilot.press("ctrl+r")
        await becomes(app, pilot, lambda: form.work is not None and form.work.answer is not None, "answered")
        await becomes(app, pilot, lambda: last.region != before and app.focused is last, "smaller")
        view = form.form.content_region
        assert view.y <= last.region.y
        assert last.region.bottom <= view.bottom


@pytest.mark.parametrize(
    ("place", "item", "offered", "field"),
    [
        ("prompts", "explain-code", "javascript", "language"),
        ("templates", "demo://weather/{country}/{city}", "italy", "country"),
    ],
)
async def test_enter_takes_the_suggestion_that_was_picked(
    tmp_path: Path, place: str, item: str, offered: str, field: str
) -> None:
    async with desk(tmp_path, place) as (_session, app, pilot):
        await go(app, pilot, place, item)
        await press(pilot, "enter", until=lambda: offered in screen_text(app))
        await press(pilot, "down", "down", shows="enter takes")
        editor = app.focused
        await pilot.press("enter")
        picked = app.work.request.form.value[field]
        assert picked
        assert app.focused is editor, "the first enter takes the value, the next one leaves the field"
        await pilot.press("enter")
        assert app.focused is not editor
        assert app.work.request.form.value[field] == picked


async def test_enter_keeps_what_was_typed_where_nothing_was_picked(tmp_path: Path) -> None:
    async with at_item(tmp_path, "prompts", "explain-code") as (_session, app, pilot):
        await press(pilot, "enter", *"py", shows="tab takes")
        await pilot.press("enter")
        assert app.work.request.form.value["language"] == "py"


async def test_suggestions_stand_directly_under_their_field_or_it_says_there_are_none(tmp_path: Path) -> None:
    async with at_item(tmp_path, "prompts", "explain-code") as (_session, app, pilot):
        await press(pilot, "enter", shows="javascript")
        lines = screen_lines(app)
        at = next(number for number, line in enumerate(lines) if "language" in line and "required" in line)
        assert "javascript" in lines[at + 2]
        await press(pilot, *"zz", until=lambda: "suggestions: none" in screen_lines(app)[at + 2])


async def test_an_edited_form_returns_as_a_draft_in_the_next_session(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"message": {"type": "string"}}}
    async with at_item(tmp_path, "tools", "echo") as (session, app, pilot):
        await pilot.press("enter", *"half a", "q")
        await go(app, pilot, "tools", "what-time")
        memory = ServerMemory(session.target, tmp_path)
    assert memory.draft("echo") == {"message": "half aq"}
    async with at_item(tmp_path, "tools", "echo") as (session, app, pilot):
        await settle(pilot, lambda: "unsent draft" in screen_text(app))
        assert app.work.request.form.value == {"message": "half aq"}
        await press(pilot, "ctrl+r", until=lambda: "half aq" in screen_text(app) and app.work.result.display)
        await settle(pilot, lambda: memory.draft("echo") is None)
        await settle(pilot, lambda: "unsent draft" not in screen_text(app))
        await pilot.press("enter", *"more")
    assert memory.draft("echo") == {"message": "more"}, "kept when the interface ends"
    memory.remember_drafts({"login": ({"user": "ada", "password": "xyzzy"}, schema)})
    assert memory.draft("login") == {"user": "ada"}


async def test_values_of_an_earlier_session_say_so_and_are_cleared_by_a_key(tmp_path: Path) -> None:
    async with at_item(tmp_path, "tools", "list-orders") as (session, app, pilot):
        await app.work.request.form.load({"count": 41})
        await press(pilot, "enter", "ctrl+r", until=lambda: app.work.result.answer is not None)
        assert "values of" not in screen_text(app)
        memory = ServerMemory(session.target, tmp_path)
        await settle(pilot, lambda: bool(memory.past_calls("list-orders")))
    async with at_item(tmp_path, "tools", "list-orders") as (_session, app, pilot):
        await settle(pilot, lambda: "values of today" in screen_text(app) and "alt-l clears" in screen_text(app))
        assert app.work.request.form.value == {"count": 41}
        await press(pilot, "enter", "alt+l", until=lambda: app.work.request.form.value == {})
        await settle(pilot, lambda: "values of" not in screen_text(app))


@pytest.mark.parametrize("leave", [("escape", "q"), ("ctrl+q",)])
async def test_leaving_keeps_an_edited_form_as_a_draft(leave: tuple[str, ...]) -> None:
    async with running(demo(), until=f"─ {TOOLS} ─") as (app, pilot):
        form = await in_echo(app, pilot)
        await press(pilot, *"Quay 4 q", until=lambda: form.form.value == {"message": "Quay 4 q"}, what="typed")
        await press(pilot, *leave, until=lambda: app.return_value is not None or not app.is_running, what="left")
    async with running(demo(), until=f"─ {TOOLS} ─") as (app, pilot):
        form = await in_echo(app, pilot)
        await becomes(app, pilot, lambda: "unsent draft" in screen_text(app), "the draft is back")
        assert form.form.value == {"message": "Quay 4 q"}


async def in_echo(app: Any, pilot: Any) -> RequestPane:
    """Go to the form of `echo`."""
    main_screen(app).show_address("tools", "echo")
    form = main_screen(app).query_one(RequestPane)
    await becomes(app, pilot, lambda: form.has_focus_within, "in the form")
    return form


async def test_a_prompt_is_got_with_texts_and_shown_role_by_role(tmp_path: Path) -> None:
    async with at_item(tmp_path, "prompts", "greet") as (session, app, pilot):
        await settle(pilot, lambda: "no arguments" in screen_text(app))
        assert "add a key" not in screen_text(app)
        await go(app, pilot, "prompts", "explain-code")
        await app.work.request.form.load({"language": "python", "code": "x"})
        await press(pilot, "ctrl+r", shows="Explain this python code")
        assert sent(session, "prompts/get") == [
            {"name": "explain-code", "arguments": {"language": "python", "code": "x"}}
        ]


@pytest.mark.parametrize("item", [{}, {"name": 7}, {"name": ["x"], "inputSchema": []}, {"name": "\x1b[2J"}])
async def test_items_of_wrong_types_can_be_looked_at_and_sent(tmp_path: Path, item: dict[str, Any]) -> None:
    async with desk(tmp_path) as (_session, app, pilot):
        app.work.show_item("tools", item)
        await settle(pilot, lambda: app.work.request.form.form is (app.work.work and app.work.work.form))
        assert "\x1b" not in screen_text(app)
        app.work.send()
        await settle(pilot, lambda: app.work.request.sends_anyway or "error" in screen_text(app))
        app.work.send()
        await settle(pilot, lambda: "error" in screen_text(app))


async def test_without_a_connection_a_call_says_so(tmp_path: Path) -> None:
    async with at_item(tmp_path, "tools", "crash") as (session, app, pilot):
        await press(pilot, "ctrl+r", shows="✗ no answer")
        await settle(pilot, lambda: session.phase == "lost")
        await go(app, pilot, "tools", "what-time")
        await press(pilot, "ctrl+r", shows="Not sent: not connected to the server.")
        await session.reopen()
        await settle(pilot, lambda: "Not sent" not in screen_text(app))


async def test_nothing_to_show_is_no_trouble(tmp_path: Path) -> None:
    async with desk(tmp_path, "tools") as (_session, app, pilot):
        await settle(pilot, lambda: app.work.work is not None)
        app.work.show_item("tools", None)
        app.work.send()
        app.work.focus_work()
        await pilot.pause()
        assert app.work.hints() == []


async def test_a_linked_resource_is_shown_and_read(tmp_path: Path) -> None:
    async with desk(tmp_path, "resources") as (_session, app, pilot):
        app.work.open_resource("demo://planets")
        await settle(pilot, lambda: "Mercury" in screen_text(app))
        app.work.open_resource("demo://nowhere")
        await settle(pilot, lambda: "protocol error" in screen_text(app))


@pytest.mark.parametrize(
    ("arguments", "name"),
    [({}, "{}"), ({"a": "hi\nthere"}, "hi there"), ({"a": 1}, '{"a": 1}'), ([1], "[1]"), ("x", '"x"')],
)
def test_a_past_call_is_named_by_its_text_or_its_json(arguments: Any, name: str) -> None:
    assert label(arguments) == name
    assert len(label({"a": "x" * 1000})) <= 24


async def test_a_list_read_again_brings_the_new_schema_and_keeps_what_was_filled_in(tmp_path: Path) -> None:
    async with desk(tmp_path, "tools") as (session, app, pilot):
        work = await go(app, pilot, "tools", "echo")
        await enter_form(app, pilot)
        await write(app, pilot, "kept")
        before = work.catalog_item.item
        fresh = [dict(item) for item in session.catalog.tools.items]
        fresh[0]["inputSchema"] = {"type": "object", "properties": {"message": {"type": "string"}, "twice": {}}}
        fresh[0]["description"] = "Says it once or twice."
        session.catalog.tools.begin()
        session.catalog.tools.page({"tools": fresh})
        session.changes.bump("tools")
        await settle(pilot, lambda: "Says it once or twice." in screen_text(app))
        await settle(pilot, lambda: "twice  " in screen_text(app) and "kept" in screen_text(app))
        assert work.catalog_item.item is not before
        assert app.work.request.form.value == {"message": "kept"}


async def test_escape_leads_from_the_result_to_the_list(tmp_path: Path) -> None:
    async with at_item(tmp_path, "tools", "what-time") as (_session, app, pilot):
        await press(pilot, "ctrl+r", until=lambda: app.work.result.answer is not None)
        app.work.result.focus_inside()
        await press(pilot, "escape", until=lambda: app.catalog.has_focus_within)


def test_the_same_arguments_are_listed_once_as_the_newest() -> None:
    work = WorkItem(CatalogItem("tools", {"name": "x"}))
    for text in ("a", "b", "a"):
        work.remember(EarlierRun({"t": text}, text, "1 ms", "muted"))
    assert [past.label for past in work.past or ()] == ["a", "b"]
    for number in range(100):
        work.remember(EarlierRun({"t": number}, str(number), "", "muted"))
    assert len(work.past or ()) == PAST


async def test_where_no_item_is_left_there_is_no_form(tmp_path: Path) -> None:
    async with at_item(tmp_path, "tools", "echo") as (_, app, pilot):
        await settle(pilot, lambda: "The text to return" in screen_text(app))
        await press(pilot, "slash", *"qqq", shows="No match")
        await settle(pilot, lambda: "The text to return" not in screen_text(app))
        assert "The selected item is shown here." in screen_text(app)
        await press(pilot, "backspace", "backspace", "backspace", *"echo", shows="The text to return")


async def test_past_calls_bring_back_their_result_and_other_arguments_mute_it(tmp_path: Path) -> None:
    async with in_form(tmp_path, "tools", "echo") as (_session, app, pilot):
        await write(app, pilot, "first")
        await press(pilot, "ctrl+r", shows="last calls  first")
        await write(app, pilot, "-second")
        await settle(pilot, lambda: "result of other arguments" in screen_text(app))
        assert app.work.result.body.content.muted
        await press(pilot, "ctrl+r", shows="last calls  first-second")
        assert "other arguments" not in screen_text(app)
        newest = app.work.result.answer
        await press(pilot, "ctrl+up", until=lambda: app.work.result.answer is not newest)
        assert app.work.result.answer.outcome.value["content"][0]["text"].endswith("first")
        assert "other arguments" not in screen_text(app)
        assert not app.work.result.body.content.muted


async def test_a_cancelled_call_is_one_in_the_next_session_too(tmp_path: Path) -> None:
    for turn in ("first", "next"):
        async with desk(tmp_path, "tools") as (_session, app, pilot):
            forgotten = await go(app, pilot, "tools", "forget")
            if turn == "first":
                await press(pilot, "ctrl+r", until=lambda work=forgotten: work.is_running)
                forgotten.call.cancel("enough")
            await settle(pilot, lambda: any("cancelled" in row for row in screen_lines(app) if "last calls" in row))


async def test_a_large_result_of_a_past_call_is_read_back_from_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.tui.work.work_items.LARGE", 10)
    async with in_form(tmp_path, "tools", "echo") as (_session, app, pilot):
        for sent_before, text in enumerate(("one", "two")):
            await write(app, pilot, text)
            await press(pilot, "ctrl+r", until=lambda n=sent_before: len(app.work.work.past) > n)
        assert app.work.work.past[1].answer is None
        await press(pilot, "ctrl+up", until=lambda: app.work.result.answer.outcome.value["content"][0]["text"] == "one")


async def test_the_request_is_sent_again_from_the_result(tmp_path: Path) -> None:
    async with at_item(tmp_path, "tools", "list-orders") as (session, app, pilot):
        await press(pilot, "ctrl+r", shows="500 rows")
        app.work.result.focus_inside()
        await press(pilot, "ctrl+r", until=lambda: len(sent(session, "tools/call")) == 2)
        await settle(
            pilot, lambda: "^r call again" in " ".join(f"{hint.label} {hint.title}" for hint in app.work.hints())
        )


async def test_the_view_is_remembered_for_the_tool(tmp_path: Path) -> None:
    async with at_item(tmp_path, "tools", "list-orders") as (_session, app, pilot):
        await press(pilot, "ctrl+r", shows="500 rows")
        app.work.result.focus_inside()
        await press(pilot, "d", "ctrl+r", until=lambda: app.work.result.answer.tab == "structured")
        await go(app, pilot, "tools", "weather")
    async with at_item(tmp_path, "tools", "list-orders") as (_session, app, pilot):
        await pilot.press("ctrl+r")
        await settle(pilot, lambda: app.work.result.answer is not None and app.work.result.answer.tab == "structured")


async def test_the_time_that_a_person_took_stands_apart(tmp_path: Path) -> None:
    async with asked_by(tmp_path, "ask-user") as (session, app, pilot):
        session.journal._zero -= 14 * 10**9
        await press(pilot, "ctrl+d", until=lambda: " yours" in screen_text(app) and app.work.result.answer is not None)
        outcome = app.work.result.answer.outcome
        assert 14_000_000 <= outcome.person < outcome.took
        assert outcome.server_time < 10_000_000
        assert re.search(r"\d m?s \+14\.\d s yours$", outcome.time)
        await settle(pilot, lambda: outcome.time in screen_text(app))
        assert outcome.in_brief[0] == outcome.time.partition(" +")[0]
        assert round(session.latency * 1e6) == outcome.server_time, "the header has the same figure"
