"""The keys that the footer names in a form work there, each of them, whatever has the focus."""

from __future__ import annotations

import re
from typing import Any

import pytest

from inspector.tui.app import InspectorApp
from inspector.tui.ask.question import QuestionPane
from inspector.tui.available_verbs import who_does
from inspector.tui.verbs import BY_ID
from inspector.tui.widgets.fields.base import FieldFrame
from inspector.tui.widgets.status_lines import Footer
from inspector.tui.widgets.virtual_list import VirtualList
from inspector.tui.work.history import EarlierCalls
from inspector.tui.work.request import RequestPane
from tests.tui.live_app import NARROW, WIDE, becomes, main_screen, on_demo, to_tool
from tests.tui.tui_screens import press, screen_lines, screen_text

pytestmark = pytest.mark.slow

STARTS: dict[str, Any] = {
    "book-trip": {
        "traveller": {"name": "Ada", "passport": {"number": "X"}},
        "insurance": True,
        "legs": [{"from": "Bergen", "to": "Oslo"}, {"from": "Oslo", "to": "Kiel"}],
    },
    "order-pizza": {"toppings": ["olives"]},
    "set-nickname": {"nickname": None},
    "configure": {},
}
_FIELD_CONTEXTS = {"field", "choices", "items"}


@pytest.mark.parametrize("size", [NARROW, WIDE])
async def test_every_key_that_is_shown_in_a_form_works(size: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    original = InspectorApp.run_action

    async def noted(self: InspectorApp, action: Any, *words: Any, **more: Any) -> bool:
        result = await original(self, action, *words, **more)
        if result:
            done.append(action if isinstance(action, str) else action[1])
        return result

    monkeypatch.setattr(InspectorApp, "run_action", noted)
    async with on_demo(size=size) as (app, pilot):
        screen = main_screen(app)
        request = screen.query_one(RequestPane)
        pressed: set[str] = set()
        for tool, value in STARTS.items():
            await to_tool(app, pilot, tool)
            await request.form.load(value)
            await pilot.pause()
            count = len(focusable(request))
            assert count
            for at in range(count):
                for number in range(20):
                    fields = focusable(request)
                    if at >= len(fields):
                        break
                    fields[at].focus()
                    await pilot.pause()
                    key_hints = screen.query_one(Footer).hints_for(200)
                    if number >= len(key_hints):
                        break
                    hint = key_hints[number]
                    verb = BY_ID[hint.verb]
                    assert not (hint.key.isalpha() and len(hint.key) == 1), f"a letter acts in a form: {hint}"
                    assert who_does(fields[at], verb) is not None, f"{hint.verb} of {tool} {fields[at].field.path}"
                    if verb.context not in _FIELD_CONTEXTS:
                        continue
                    done.clear()
                    await pilot.press(hint.key)
                    assert verb.action in done, f"{hint.key} ({hint.verb}) on {tool} {fields[at].field.path}"
                    pressed.add(verb.id)
                    await request.form.load(value)
                    await pilot.pause()
        assert {"items.add", "items.open", "items.remove", "choices.choose", "field.clear", "field.null"} <= pressed


def focusable(request: RequestPane) -> list[FieldFrame]:
    """The fields that can have the focus."""
    return [field for field in request.form.query(FieldFrame) if field.focusable]


async def test_the_title_of_the_json_key_says_what_it_does_next() -> None:
    async with on_demo() as (app, pilot):
        screen = main_screen(app)
        await to_tool(app, pilot, "ask-user")
        for pane in (RequestPane, QuestionPane):
            await becomes(app, pilot, lambda pane=pane: screen.query_one(pane).has_focus_within)  # type: ignore[misc]
            for title in ("form", "json"):
                await pilot.press("ctrl+e")
                await becomes(app, pilot, lambda title=title: titles_of_json_key(app)[-1:] == [title])  # type: ignore[misc]
            if pane is RequestPane:
                await pilot.press("ctrl+r")


def titles_of_json_key(app: InspectorApp) -> list[str]:
    """Return the labels on the screen of the key that switches between form and JSON."""
    return re.findall(r"\^e (\w+)", screen_text(app))


async def test_letters_are_never_actions_and_go_to_a_field_that_takes_text() -> None:
    async with on_demo() as (app, pilot):
        await to_tool(app, pilot, "book-trip")
        screen, request = app.screen, main_screen(app).panes.work.request

        def focused() -> str:
            return app.focused.field.path

        def focus(path: str) -> None:
            screen.set_focus(next(field for field in focusable(request) if field.field.path == path))

        # On the head of an object they go to its first field.
        focus("/traveller")
        await pilot.press("space", "space")
        assert focused() == "/traveller", "a blank folds, and unfolds"
        await becomes(app, pilot, lambda: len(focusable(request)) > 3, "unfolded")
        await pilot.press(*"Ada L.")
        assert focused() == "/traveller/name"
        assert request.form.value == {"traveller": {"name": "Ada L."}}
        focus("/traveller/passport")
        await press(pilot, "space", until=lambda: len(focusable(request)) > 6, what="unfolded")
        await pilot.press(*"X 7")
        assert request.form.value == {"traveller": {"name": "Ada L.", "passport": {"country": "X 7"}}}
        focus("/traveller")
        await pilot.press(*"Grace")
        assert request.form.value["traveller"]["name"] == "Grace", "it replaces what was there, as after tab"
        # On a field that takes no text they do nothing, and on a list they are typed in a new item.
        value = request.form.value
        focus("/insurance")
        await pilot.press(*"qmbxzMRrcw27")
        assert app.screen is screen, "still here"
        assert (focused(), request.form.value) == ("/insurance", value)
        focus("/legs")
        await pilot.press(*"qmbxzMRrcw27")
        assert app.screen is screen, "still here"
        legs = value | {"legs": [{"from": "qmbxzMRrcw27"}]}
        await becomes(app, pilot, lambda: request.form.value == legs, "typed in a new item")
        await pilot.press("shift+tab")
        assert app.focused is not None, "the form is open, and its keys work on"


async def test_the_footer_says_what_works_in_an_open_list_of_choices() -> None:
    async with on_demo() as (app, pilot):
        await pilot.press("slash", *"pizza", "enter", "tab", "tab")
        await becomes(app, pilot, lambda: "space choose" in screen_lines(app)[-1], "the choices of toppings")
        await pilot.press("q")
        await becomes(
            app, pilot, lambda: all(key in screen_lines(app)[-1] for key in ("enter choose", "esc close")), "the list"
        )
        await press(pilot, "escape", until=lambda: "space choose" in screen_lines(app)[-1], what="the field")


async def test_down_leaves_the_last_line_of_a_field_for_the_next_one() -> None:
    async with on_demo() as (app, pilot):
        await to_tool(app, pilot, "add")
        await pilot.press("1", "down", "2")
        form = main_screen(app).panes.work.request.form
        await becomes(app, pilot, lambda: form.value == {"a": 1, "b": 2}, "a digit in each field")


async def test_up_lists_past_calls_from_a_field_far_down_a_form_too() -> None:
    async with on_demo(size=NARROW) as (app, pilot):
        await to_tool(app, pilot, "book-trip")
        request = main_screen(app).panes.work.request
        await request.form.load(STARTS["book-trip"])
        await becomes(app, pilot, lambda: any(f.field.path == "/legs/1/to" for f in focusable(request)), "unfolded")
        app.screen.set_focus(next(field for field in focusable(request) if field.field.path == "/legs/1/to"))
        await becomes(app, pilot, lambda: request.form.scroll_y > 0, "scrolled")
        await press(pilot, "up", until=lambda: isinstance(app.screen, EarlierCalls), what="the earlier calls")


async def test_the_footer_says_what_the_keys_do_with_a_value_that_the_server_offers() -> None:
    async with on_demo() as (app, pilot):
        main_screen(app).show_address("templates", "demo://weather/{country}/{city}")
        form = main_screen(app).panes.work.request
        await becomes(app, pilot, lambda: form.has_focus_within and bool(focusable(form)), "in the form")
        assert "tab next field" in screen_lines(app)[-1]
        await press(pilot, *"ita", until=lambda: "tab take value" in screen_lines(app)[-1], what="offered")
        await press(pilot, "tab", until=lambda: form.form.value == {"country": "italy"}, what="taken")
        await becomes(app, pilot, lambda: "tab next field" in screen_lines(app)[-1], "as before")


async def test_the_way_back_from_a_result_is_to_the_field_that_was_edited_last_or_the_first() -> None:
    async with on_demo() as (app, pilot):
        request, result = main_screen(app).query_one(RequestPane), main_screen(app).panes.work.result

        def field() -> str:
            return app.focused.field.path if isinstance(app.focused, FieldFrame) else ""

        await to_tool(app, pilot, "add")
        await request.form.load({"a": 1, "b": 2})
        for edited, expected in (([], "/a"), (["tab", "backspace", "7", "shift+tab"], "/b")):
            await press(pilot, *edited, "ctrl+r", until=lambda: result.has_focus_within, what="the result")
            await press(pilot, "shift+tab", until=lambda: request.form.has_focus_within, what="the form")
            assert field() == expected


async def test_tab_goes_between_panes_and_fields_and_not_to_a_filter() -> None:
    """A filter has a key of its own: letters that are typed after the tab must not narrow a list."""
    async with on_demo(size=WIDE) as (app, pilot):
        screen = main_screen(app)
        catalog, form = screen.panes.catalog, screen.panes.work.request
        await to_tool(app, pilot, "echo")
        await press(pilot, "shift+tab", until=lambda: catalog.has_focus_within, what="the pane before")
        assert isinstance(screen.focused, VirtualList)
        await press(pilot, "tab", until=lambda: form.has_focus_within, what="the form")
        await press(pilot, "escape", "slash", *"ech", "tab", until=lambda: form.has_focus_within, what="the form again")
        await press(pilot, "shift+tab", until=lambda: isinstance(screen.focused, VirtualList), what="the row")
