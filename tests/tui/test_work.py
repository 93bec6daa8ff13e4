"""The work pane over a real server: forms, calls, results, and what each item keeps."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from inspector.client.session import Session
from inspector.config.server_memory import ServerMemory
from inspector.tui import key_order
from inspector.tui.model.room import EMPTY_RESULT
from inspector.tui.model.widths import THREE_COLUMNS
from inspector.tui.pane_messages import ShowExchange
from inspector.tui.work.catalog_item import CatalogItem
from inspector.tui.work.outcome import CallOutcome
from inspector.tui.work.request import RequestPane
from inspector.tui.work.work_items import PAST, EarlierRun, WorkItem, label
from tests.tui.live_app import NARROW, TOOLS, WIDE, becomes, demo, main_screen, running, to_tool
from tests.tui.live_demo import asked_by, at_item, desk, enter_form, go, in_form, sent, write
from tests.tui.tui_screens import burst, press, screen_lines, screen_text, settle

pytestmark = pytest.mark.slow


def text_of(app: Any) -> str:
    """The text of the result that is shown, or nothing."""
    answer = app.work.result.answer
    return "" if answer is None else answer.outcome.value["content"][0]["text"]


async def back_to_form(app: Any, pilot: Any) -> None:
    """Wait for the focus in the result of a call, and go back to the form."""
    await press(pilot, until=lambda: app.work.result.has_focus_within)
    await press(pilot, "shift+tab", until=lambda: app.work.request.has_focus_within)


async def test_after_a_call_keys_act_on_its_result_unless_the_form_was_changed_since(tmp_path: Path) -> None:
    async with in_form(tmp_path, "tools", "echo") as (_session, app, pilot):
        await write(app, pilot, "hi")
        await press(pilot, "ctrl+r", until=lambda: app.work.result.has_focus_within)
        await press(pilot, "shift+tab", until=lambda: app.work.request.has_focus_within)
        await press(pilot, "ctrl+r", "x", until=lambda: app.work.work.answer is not None)
        app.work.move_to_call(app.work.work)
        assert app.work.request.has_focus_within, "the letter is for the form"


@pytest.mark.parametrize("selected", [False, True])
async def test_a_character_typed_as_the_focus_moves_to_a_call_stays_in_its_field(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, selected: bool
) -> None:
    monkeypatch.setattr(key_order, "SEEN", 60)
    async with in_form(tmp_path, "tools", "echo") as (_session, app, pilot):
        field = app.focused
        await write(app, pilot, "hi")
        await press(
            pilot, *(["ctrl+shift+a"] if selected else []), "ctrl+r", until=lambda: app.work.result.has_focus_within
        )
        await burst(pilot, "m", "c")
        await settle(pilot, lambda: app.focused is field)
        assert app.work.request.form.value == {"message": "mc" if selected else "himc"}
        assert not app.messages_of(ShowExchange)
        await press(pilot, "ctrl+r", until=lambda: app.work.result.has_focus_within)
        # A key without a character is meant for the new place, and what follows too.
        await press(pilot, "down", "m", until=lambda: bool(app.messages_of(ShowExchange)))


async def test_a_character_typed_as_the_focus_goes_from_the_list_to_a_call_is_for_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(key_order, "SEEN", 60)
    async with at_item(tmp_path, "tools", "slow") as (_session, app, pilot):
        await app.work.request.form.load({"seconds": 600})
        await press(pilot, "ctrl+r", until=lambda: app.work.running.has_focus_within)
        await press(pilot, "m", until=lambda: app.catalog.has_focus_within)
        assert not app.messages_of(ShowExchange)
        assert app.work.running_call is not None


async def test_a_tool_is_called_and_each_item_keeps_its_form_its_result_and_unfinished_json(tmp_path: Path) -> None:
    async with in_form(tmp_path, "tools", "echo") as (session, app, pilot):
        await write(app, pilot, "zulu")
        await press(pilot, "ctrl+r", shows=("earlier calls  zulu", " ms"))
        assert sent(session, "tools/call") == [{"name": "echo", "arguments": {"message": "zulu"}}]
        assert app.work.request.has_focus_within, "the focus stays where one types"
        await write(app, pilot, " two")
        await go(app, pilot, "tools", "what-time")
        assert "zulu" not in screen_text(app)
        await go(app, pilot, "tools", "echo")
        await press(pilot, shows=("zulu two", "earlier calls  zulu"))
        assert re.search(r" \d+ B .* token", screen_text(app))
        await enter_form(app, pilot)
        await pilot.press("ctrl+e")
        await write(app, pilot, "[broken")
        await press(pilot, shows="not JSON")
        await go(app, pilot, "tools", "what-time")
        assert "broken" not in screen_text(app)
        await go(app, pilot, "tools", "echo")
        await press(pilot, shows="[broken")


async def test_text_that_is_not_json_is_neither_sent_nor_saved(tmp_path: Path) -> None:
    async with at_item(tmp_path, "tools", "echo") as (session, app, pilot):
        await enter_form(app, pilot)
        await write(app, pilot, "typed first")
        await pilot.press("ctrl+e")
        await write(app, pilot, "[broken")
        await press(pilot, shows="not JSON")
        for key, use in (("ctrl+r", "sent"), ("ctrl+r", "sent"), ("ctrl+s", "saved")):
            await pilot.press(key)
            await settle(pilot, lambda: bool(app._notifications))
            assert f"The text is not JSON, so it cannot be {use}" in str([one.message for one in app._notifications])
            app.clear_notifications()
        assert sent(session, "tools/call") == []
        assert "sends anyway" not in screen_text(app)


async def test_the_list_sends_what_a_form_holds_and_says_what_is_missing_first(tmp_path: Path) -> None:
    async with at_item(tmp_path, "tools", "what-time") as (session, app, pilot):
        await press(pilot, "ctrl+r", until=lambda: len(sent(session, "tools/call")) == 1)
        await go(app, pilot, "tools", "echo")
        await press(pilot, "ctrl+r", shows=("sends anyway", "is required"))
        assert app.work.request.has_focus_within
        assert len(sent(session, "tools/call")) == 1
        await press(pilot, "ctrl+r", until=lambda: len(sent(session, "tools/call")) == 2)
        assert sent(session, "tools/call")[-1]["arguments"] == {}
        await go(app, pilot, "tools", "add")
        await press(pilot, "ctrl+r", until=lambda: app.work.request.sends_anyway)
        await press(pilot, "x", until=lambda: not app.work.request.sends_anyway, what="taken back by typing")
        await press(pilot, "ctrl+r", until=lambda: app.work.request.sends_anyway)
        assert len(sent(session, "tools/call")) == 2


@pytest.mark.slow
async def test_the_key_that_sends_what_is_invalid_is_whole_at_the_edge_of_a_narrow_pane() -> None:
    async with running(demo(), size=(THREE_COLUMNS, 40), until=f"─ {TOOLS} ─") as (app, pilot):
        await press(pilot, "slash", *"echo", "enter", "enter", shows="1 required")
        await press(pilot, "ctrl+r", shows="─ ^r sends anyway ─")
        assert main_screen(app).panes.work.request.outer_size.width < 50


async def test_several_calls_run_at_once_each_with_its_item(tmp_path: Path) -> None:
    async with desk(tmp_path, "tools") as (session, app, pilot):
        forgotten = await go(app, pilot, "tools", "forget")
        await press(pilot, "ctrl+r", shows="running", until=lambda: forgotten.is_running)
        await go(app, pilot, "tools", "what-time")
        await press(pilot, "ctrl+r", shows="earlier calls", hides="running")
        assert forgotten.is_running
        await go(app, pilot, "tools", "forget")
        await press(pilot, shows="running")
        await pilot.press("enter")
        await settle(pilot, lambda: app.work.request.has_focus_within or app.work.running.has_focus_within)
        await press(pilot, "escape", shows="You cancelled it after")
        await press(pilot, "escape", until=lambda: app.catalog.has_focus_within)
        assert len(session.pending) == 0


async def test_a_call_that_takes_its_time_gets_the_focus_unless_the_user_types_on_and_gives_it_back(
    tmp_path: Path,
) -> None:
    async with at_item(tmp_path, "tools", "slow") as (_session, app, pilot):
        await app.work.request.form.load({"seconds": 600})
        await press(pilot, "ctrl+r", until=lambda: app.work.running.has_focus_within)
        await press(pilot, "escape", until=lambda: app.catalog.has_focus_within)
        # After a key for the call its end moves the focus into no field.
        await enter_form(app, pilot)
        await press(pilot, "ctrl+r", until=lambda: app.work.running.has_focus_within)
        await press(pilot, "escape", shows="You cancelled it after")
        await press(pilot, "m", until=lambda: bool(app.messages_of(ShowExchange)))
        assert app.work.request.form.value == {"seconds": 600}
        await press(pilot, "ctrl+r", until=lambda: app.work.running.has_focus_within)
        await press(pilot, "escape", until=lambda: app.work.result.has_focus_within)  # Called again from the result
        work = app.work.work
        app.work.request.focus_inside()
        await settle(pilot, lambda: app.work.request.has_focus_within)
        app.work.on_request_pane_send(RequestPane.Send(work, {"seconds": 600}))
        await pilot.press("7")
        app.work.move_to_call(work)
        assert app.work.request.has_focus_within


async def test_after_a_long_call_its_result_has_the_focus_and_shift_tab_leads_back_to_the_form(tmp_path: Path) -> None:
    async with in_form(tmp_path, "tools", "slow") as (_session, app, pilot):
        await app.work.request.form.load({"seconds": 1})
        field = app.focused
        await press(pilot, "ctrl+r", until=lambda: app.work.running.has_focus_within)
        await settle(pilot, lambda: app.work.result.has_focus_within, "in the result")
        await press(pilot, "2", "shift+tab", until=lambda: app.work.request.has_focus_within)
        assert app.work.request.form.value == {"seconds": 1}, "a key for the result is not text"
        await press(pilot, "shift+tab", "shift+tab", until=lambda: app.focused is field)
        await press(pilot, "2", until=lambda: app.work.request.form.value == {"seconds": 2})


def newest(memory: ServerMemory) -> Any:
    """The arguments of the newest stored call of `echo`, or None."""
    return next((call.arguments for call in memory.past_calls("echo")), None)


async def test_past_calls_come_back_by_up_and_what_was_being_typed_after_them(tmp_path: Path) -> None:
    async with desk(tmp_path, "tools") as (session, app, pilot):
        work = await go(app, pilot, "tools", "echo")
        await enter_form(app, pilot)
        for word in ("one", "two"):
            await pilot.press("ctrl+u", *word, "ctrl+r")
            await settle(pilot, lambda word=word: bool(work.past) and work.past[0].label == word)
            await back_to_form(app, pilot)
        await pilot.press("ctrl+u")
        await write(app, pilot, "draft")
        form = app.work.request.form
        await press(pilot, "up", shows=('{"message": "two"}', '{"message": "one"}'))
        await press(pilot, "escape", until=lambda: app.work.request.has_focus_within)
        assert form.value == {"message": "draft"}
        for place, expected in (("home", "two"), ("end", "one")):
            await press(pilot, "up", shows="Earlier calls")
            await press(pilot, place, "enter", until=lambda expected=expected: form.value == {"message": expected})
        await pilot.press("ctrl+u")
        await write(app, pilot, "draft")
        # The last arguments are remembered for the next session, but no secret.
        await press(pilot, "ctrl+r", shows="earlier calls  draft")
        memory = ServerMemory(session.target, tmp_path)
        await settle(pilot, lambda: newest(memory) == {"message": "draft"})
    async with at_item(tmp_path, "tools", "echo") as (_session, app, pilot):
        await press(
            pilot, shows="earlier calls  draft", until=lambda: app.work.request.form.value == {"message": "draft"}
        )
        done = CallOutcome("tools/call", 1, 2, {}, None, late=False, took=10, gave_up=0)
        app.work.work_items.keep(app.work.work.catalog_item, {"message": "x", "api_key": "hunter2"}, done)
        await settle(pilot, lambda: newest(memory) == {"message": "x"})


@pytest.mark.parametrize(
    "text",
    [
        "\n        Writes a file.\n\n            path: where\n        ",
        "Writes a file.\n\n        path: where",
        "\n        Writes a file.\n\n            path: where\nLines that were inserted.",
    ],
)
def test_a_description_is_shown_without_the_indentation_of_its_source(text):
    description = CatalogItem("tools", {"name": "x", "description": text}).about[0][0]
    assert description.startswith("Writes a file.\n\n")
    assert {line for line in description.splitlines() if line.startswith(" ")} <= {"    path: where"}


def test_destructive_tools_say_so() -> None:
    """C-TOOL-01."""
    tool = CatalogItem("tools", {"name": "x", "annotations": {"destructiveHint": True, "openWorldHint": True}})
    assert (tool.facts, tool.hints) == ([[("may delete", "error")]], "reaches other systems")


async def test_a_resource_is_read_by_enter_and_followed_by_u_and_a_link_leads_to_another(tmp_path: Path) -> None:
    async with in_form(tmp_path, "resources", "demo://clock") as (session, app, pilot):
        await press(pilot, "enter", shows="resource  demo://clock")
        await press(pilot, "u", until=lambda: "demo://clock" in session.subscriptions)
        await settle(pilot, lambda: "changed" in screen_lines(app)[0])
        await settle(pilot, lambda: app.work.result.has_focus_within)
        await settle(pilot, lambda: "unsubscribe" in [hint.title for hint in app.work.hints()])
        await press(pilot, "u", until=lambda: "demo://clock" not in session.subscriptions)
        app.work.open_resource("demo://planets")
        await press(pilot, shows="Mercury")
        app.work.open_resource("demo://nowhere")
        await press(pilot, shows="protocol error")


async def test_a_template_shows_what_it_comes_to_and_completes_its_variables(tmp_path: Path) -> None:
    async with in_form(tmp_path, "templates", "demo://weather/{country}/{city}") as (session, _app, pilot):
        await press(pilot, *"it", shows="tab takes")
        await press(pilot, "tab", shows="reads demo://weather/italy/")
        await press(pilot, "tab", "t", shows="torino")
        asked = sent(session, "completion/complete")[-1]
        assert asked["context"] == {"arguments": {"country": "italy"}}
        await press(pilot, "tab", "ctrl+r", shows="Sunny in torino")
        assert sent(session, "resources/read") == [{"uri": "demo://weather/italy/torino"}]


async def test_a_field_that_a_refused_call_goes_to_is_completed(tmp_path: Path) -> None:
    async with in_form(tmp_path, "templates", "demo://weather/{country}/{city}") as (session, _app, pilot):
        await press(pilot, *"it", shows="tab takes")
        await press(pilot, "tab", shows="reads demo://weather/italy/")
        await press(pilot, "ctrl+r", shows="1 to fix")
        await press(pilot, until=lambda: "torino" in screen_text(pilot.app))
        assert sent(session, "completion/complete")[-1]["argument"] == {"name": "city", "value": ""}


async def test_suggestions_are_taken_by_down_and_tab_or_enter_and_else_what_was_typed_stays(tmp_path: Path) -> None:
    async with at_item(tmp_path, "prompts", "explain-code") as (_session, app, pilot):
        form = app.work.request.form
        await press(pilot, "enter", shows="javascript")
        lines = screen_lines(app)
        at = next(number for number, line in enumerate(lines) if "language" in line and "required" in line)
        assert "javascript" in lines[at + 1], "directly under the field"
        await press(pilot, *"zz", until=lambda: "suggestions: none" in screen_lines(app)[at + 1])
        await press(pilot, "ctrl+u", shows="javascript")
        await pilot.press("tab")
        assert not form.value.get("language"), "tab leaves an empty argument empty"
        await press(pilot, "shift+tab", shows="javascript")
        await press(pilot, "down", "down", "tab", until=lambda: bool(form.value.get("language")))
        await press(pilot, "ctrl+u", *"py", shows="tab takes")
        await pilot.press("enter")
        assert form.value["language"] == "py"


async def test_a_long_form_has_the_rows_that_an_empty_result_does_not_need(tmp_path: Path) -> None:
    async with at_item(tmp_path, "tools", "book-trip") as (_session, app, pilot):
        assert app.work.result.outer_size.height == EMPTY_RESULT
        assert app.work.request.form.max_scroll_y == 0, "all its fields are seen"
        await pilot.press("enter", *"Ada")
        assert app.work.request.form.value == {"traveller": {"name": "Ada"}}, "it begins with the first field"
        assert "to result" not in screen_text(app), "there is none"
        await pilot.press("ctrl+r", "ctrl+r")
        await settle(pilot, lambda: app.work.work.answer is not None)
        assert app.work.result.outer_size.height > EMPTY_RESULT
        await press(pilot, "alt+r", until=lambda: app.work.result.has_focus_within)


def describe(session: Session, tool: str, text: str, **changes: Any) -> None:
    """Let the server list a tool with another description, and other changes."""
    fresh = [dict(item) for item in session.catalog.tools.items]
    next(item for item in fresh if item["name"] == tool).update(description=text, **changes)
    session.catalog.tools.begin()
    session.catalog.tools.page({"tools": fresh})
    session.changes.bump("tools")


DOCSTRING = "Place an order.\n\n    The order is checked.\n    It is stored.\n"
"""A description as the official Python SDK sends the docstring of a function."""


@pytest.mark.parametrize(("height", "is_cut"), [(14, True), (40, False)])
async def test_a_docstring_is_shown_without_its_indentation(tmp_path: Path, height: int, is_cut: bool) -> None:
    async with desk(tmp_path, "tools", size=(110, height)) as (session, app, pilot):
        describe(session, "book-trip", DOCSTRING)
        await go(app, pilot, "tools", "book-trip")
        await press(pilot, shows="Place an order.")
        if is_cut:
            await press(pilot, shows="f2 whole text", hides="The order is checked")
            await pilot.press("enter", "f2")
        await press(pilot, shows="│ The order is checked.")


async def test_a_description_that_is_cut_says_so_above_a_result_on_a_small_screen(tmp_path: Path) -> None:
    async with desk(tmp_path, "tools", size=(110, 22)) as (session, app, pilot):
        describe(session, "add", "word " * 200)
        await go(app, pilot, "tools", "add")
        await press(pilot, shows="f2 whole text")
        await pilot.press("enter", "1", "tab", "2", "ctrl+r")
        await settle(pilot, lambda: app.work.work.answer is not None)
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
        await press(pilot, "ctrl+r", until=lambda: form.work.answer is not None)
        await becomes(app, pilot, lambda: form.form.content_region.contains_region(last.region), "in view")
        assert app.focused is last


@pytest.mark.parametrize(
    ("place", "item", "offered", "field"),
    [
        ("prompts", "explain-code", "javascript", "language"),
        ("templates", "demo://weather/{country}/{city}", "italy", "country"),
    ],
)
async def test_enter_takes_what_was_picked(tmp_path: Path, place: str, item: str, offered: str, field: str) -> None:
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


async def test_an_edited_form_returns_as_a_draft_in_the_next_session(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"message": {"type": "string"}}}
    async with at_item(tmp_path, "tools", "echo") as (session, app, pilot):
        await pilot.press("enter", *"half a", "q")
        await go(app, pilot, "tools", "what-time")
        memory = ServerMemory(session.target, tmp_path)
    assert memory.draft("echo") == {"message": "half aq"}
    async with at_item(tmp_path, "tools", "echo") as (session, app, pilot):
        await press(pilot, shows="unsent draft")
        assert app.work.request.form.value == {"message": "half aq"}
        await press(pilot, "ctrl+r", until=lambda: "half aq" in screen_text(app) and app.work.result.display)
        await settle(pilot, lambda: memory.draft("echo") is None)
        await press(pilot, hides="unsent draft")
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
        assert app.work.request.firm_facts == 2, "also beside a long name"
        await press(pilot, "enter", "alt+l", until=lambda: app.work.request.form.value == {})
        await press(pilot, hides="values of")


@pytest.mark.parametrize("leave", [("escape", "q"), ("ctrl+q",)])
async def test_leaving_keeps_an_edited_form_as_a_draft(leave: tuple[str, ...]) -> None:
    async with running(demo(), until=f"─ {TOOLS} ─") as (app, pilot):
        await to_tool(app, pilot, "echo")
        form = main_screen(app).query_one(RequestPane).form
        await press(pilot, *"Quay 4 q", until=lambda: form.value == {"message": "Quay 4 q"})
        await press(pilot, *leave, until=lambda: app.return_value is not None or not app.is_running)
    assert ServerMemory(demo()).draft("echo") == {"message": "Quay 4 q"}


async def test_a_prompt_is_got_with_texts_and_shown_role_by_role(tmp_path: Path) -> None:
    async with at_item(tmp_path, "prompts", "greet") as (session, app, pilot):
        await press(pilot, shows="no arguments", hides="add a key")
        await go(app, pilot, "prompts", "explain-code")
        await app.work.request.form.load({"language": "python", "code": "x"})
        await press(pilot, "ctrl+r", shows="Explain this python code")
        assert sent(session, "prompts/get") == [
            {"name": "explain-code", "arguments": {"language": "python", "code": "x"}}
        ]


async def test_items_of_wrong_types_can_be_looked_at_and_sent(tmp_path: Path) -> None:
    items: list[dict[str, Any]] = [{}, {"name": 7}, {"name": ["x"], "inputSchema": []}, {"name": "\x1b[2J"}]
    async with desk(tmp_path) as (_session, app, pilot):
        for item in items:
            app.work.show_item("tools", item)
            await settle(pilot, lambda: app.work.request.form.form is app.work.work.form)
            await press(pilot, hides=("\x1b", "error"))
            app.work.send()
            await settle(pilot, lambda: app.work.request.sends_anyway or "error" in screen_text(app))
            app.work.send()
            await press(pilot, shows="error")


async def test_without_a_connection_a_call_says_so(tmp_path: Path) -> None:
    async with at_item(tmp_path, "tools", "crash") as (session, app, pilot):
        await press(pilot, "ctrl+r", shows="✗ no answer")
        # A result that is only sentences takes keys.
        app.work.request.focus_inside()
        await press(pilot, "alt+r", until=lambda: app.work.result.has_focus_within)
        await press(pilot, "m", until=lambda: bool(app.messages_of(ShowExchange)))
        await settle(pilot, lambda: session.phase == "lost")
        await go(app, pilot, "tools", "what-time")
        await press(pilot, "ctrl+r", shows="Not sent: not connected to the server.")
        await session.reopen()
        await press(pilot, hides="Not sent")


@pytest.mark.parametrize(
    ("arguments", "name"),
    [({}, "no arguments"), ({"a": "hi\nthere"}, "hi there"), ({"a": 1}, '{"a": 1}'), ([1], "[1]"), ("x", '"x"')],
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
        schema = {"type": "object", "properties": {"message": {"type": "string"}, "twice": {}}}
        describe(session, "echo", "Says it once or twice.", inputSchema=schema)
        await press(pilot, shows=("Says it once or twice.", "twice  ", "kept"))
        assert work.catalog_item.item is not before
        assert app.work.request.form.value == {"message": "kept"}


def test_the_same_arguments_are_listed_once_as_the_newest() -> None:
    work = WorkItem(CatalogItem("tools", {"name": "x"}))
    for text in ("a", "b", "a"):
        work.remember(EarlierRun({"t": text}, text, "1 ms", "muted"))
    assert [past.label for past in work.past or ()] == ["a", "b"]
    for number in range(100):
        work.remember(EarlierRun({"t": number}, str(number), "", "muted"))
    assert len(work.past or ()) == PAST


async def test_where_no_item_is_left_there_is_no_form_and_no_trouble(tmp_path: Path) -> None:
    async with at_item(tmp_path, "tools", "echo") as (session, app, pilot):
        await press(pilot, shows="Returns its message.")
        none = "The selected item is shown here."
        await press(pilot, "slash", *"qqq", shows=("No match", none), hides="Returns its message.")
        await press(pilot, "backspace", "backspace", "backspace", *"echo", shows="Returns its message.")
        app.work.show_item("tools", None)
        app.work.send()
        app.work.send()
        app.work.focus_work()
        await pilot.pause()
        assert app.work.hints() == []
        assert sent(session, "tools/call") == []
        assert (app.work.request.title, app.work.request.facts, app.work.request.needs.about) == ([], [], 0)


async def test_past_calls_bring_back_their_result_and_other_arguments_mute_it(tmp_path: Path) -> None:
    async with in_form(tmp_path, "tools", "echo") as (_session, app, pilot):
        await write(app, pilot, "first")
        await press(pilot, "ctrl+r", shows="earlier calls  first")
        await back_to_form(app, pilot)
        await pilot.press("end")
        await write(app, pilot, "-second")
        await press(pilot, shows="result of other arguments")
        assert app.work.result.body.content.muted
        await press(pilot, "ctrl+r", shows="earlier calls  first-second", hides="other arguments")
        newest = app.work.result.answer
        await back_to_form(app, pilot)
        await press(pilot, "up", shows="Earlier calls")
        await press(pilot, "end", "enter", until=lambda: app.work.result.answer is not newest)
        assert text_of(app).endswith("first")
        assert "other arguments" not in screen_text(app)
        assert not app.work.result.body.content.muted


async def test_a_cancelled_call_is_one_in_the_next_session_too(tmp_path: Path) -> None:
    for turn in ("first", "next"):
        async with desk(tmp_path, "tools") as (_session, app, pilot):
            forgotten = await go(app, pilot, "tools", "forget")
            if turn == "first":
                await press(pilot, "ctrl+r", until=lambda work=forgotten: work.is_running)
                forgotten.call.cancel("enough")
            await settle(pilot, lambda: any("cancelled" in row for row in screen_lines(app) if "earlier calls" in row))


async def test_a_large_past_result_is_read_from_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector.tui.work.work_items.LARGE", 10)
    async with in_form(tmp_path, "tools", "echo") as (_session, app, pilot):
        for sent_before, text in enumerate(("one", "two")):
            await write(app, pilot, text)
            await press(pilot, "ctrl+r", until=lambda n=sent_before: len(app.work.work.past) > n)
            await back_to_form(app, pilot)
        assert app.work.work.past[1].answer is None
        await press(pilot, "up", shows="Earlier calls")
        await press(pilot, "end", "enter", until=lambda: text_of(app) == "one")


async def test_a_result_sends_its_request_again_in_the_view_that_the_tool_remembers(tmp_path: Path) -> None:
    async with at_item(tmp_path, "tools", "list-orders") as (session, app, pilot):
        await press(pilot, "ctrl+r", shows="500 rows")
        app.work.result.focus_inside()
        await press(pilot, "right_curly_bracket", "ctrl+r", until=lambda: len(sent(session, "tools/call")) == 2)
        await settle(pilot, lambda: app.work.result.answer.tab == "structured")
        await settle(pilot, lambda: ("^r", "send again") in [(hint.label, hint.title) for hint in app.work.hints()])
        await press(pilot, "escape", until=lambda: app.catalog.has_focus_within)
        await go(app, pilot, "tools", "weather")
    async with at_item(tmp_path, "tools", "list-orders") as (_session, app, pilot):
        await press(pilot, "ctrl+r", until=lambda: (answer := app.work.result.answer) and answer.tab == "structured")


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
