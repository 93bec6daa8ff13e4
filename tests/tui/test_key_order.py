import asyncio
import time

import pytest
from textual import work
from textual.app import App, ComposeResult
from textual.events import Key, Paste
from textual.screen import ModalScreen
from textual.widget import Widget

from inspector.tui.key_order import FORM, LISTS, KeysInOrder
from inspector.tui.widgets.editor import Editor
from inspector.tui.work.request import RequestPane
from tests.tui.live_app import becomes, main_screen, on_demo, shows, to_tool
from tests.tui.tui_screens import Stage, burst, on_stage, press, screen_text, settle


async def test_keys_of_one_burst_go_where_the_focus_is_by_then():
    one, two = Editor(), Editor()
    app = Stage(one, two)
    async with app.run_test(size=(20, 4)) as pilot:
        await burst(pilot, *"ab", "backspace", "c", "tab", *"de", "left", "f", "shift+tab", "home", "g")
        assert (one.value, two.value) == ("gac", "dfe")


async def test_a_key_that_comes_when_the_screens_are_gone_does_nothing():
    app = Stage(Editor())
    async with app.run_test(size=(20, 4)):
        pass
    assert app.screen_stack == []
    await app.on_event(Key("a", "a"))


async def test_keys_wait_for_a_form_that_is_being_made():
    field = Editor()
    app = Stage(Widget(), field)
    async with app.run_test(size=(20, 4)) as pilot:

        async def comes() -> None:
            await asyncio.sleep(0.2)
            app.screen.set_focus(field)

        app.screen.set_focus(None)
        app.run_worker(comes(), group=FORM)
        await burst(pilot, *"echo")
        await settle(pilot, lambda: field.value == "echo")
        await pilot.press("x")
        assert field.value == "echox"


async def test_keys_wait_for_the_first_screen_however_long_it_takes(monkeypatch):
    monkeypatch.setattr("inspector.tui.key_order.OPENING", 0.0)
    app = Stage(field := Editor())
    app.screen_comes = True
    async with app.run_test(size=(20, 4)) as pilot:
        for key in "ab":
            app.post_message(Key(key, key))
        await pilot.pause(0.1)
        assert field.value == ""
        app.screen_comes = False
        await settle(pilot, lambda: field.value == "ab")


async def test_keys_wait_for_the_lists_but_not_those_that_act_without_them():
    field = Editor()
    app = Stage(field)
    done = []
    app.action_done = lambda: done.append(True)
    async with app.run_test(size=(20, 4)) as pilot:
        app.bind("f9", "done")
        come = asyncio.Event()
        app.run_worker(come.wait(), group=LISTS)
        await pilot.press("f9")
        assert done == [True]
        app.post_message(Key("a", "a"))
        await pilot.pause(0.1)
        assert field.value == ""
        come.set()
        await settle(pilot, lambda: field.value == "a")


async def test_what_is_typed_for_a_text_that_was_hidden_meanwhile_does_nothing(monkeypatch):
    monkeypatch.setattr("inspector.tui.key_order.STILL_TYPING", 60.0)
    field, other = Editor(), Widget()
    other.can_focus = True
    app = Stage(field, other)
    done = []
    app.action_done = lambda: done.append(True)
    async with app.run_test(size=(20, 4)) as pilot:
        app.bind("x", "done")
        field.focus()
        await pilot.press("a")
        field.display = False
        app.screen.set_focus(other)
        await pilot.press("x", "x")
        assert done == []
        await pilot.press("down", "x")
        assert done == [True], "another key ends the text"


@pytest.mark.slow
async def test_a_letter_typed_while_the_server_dies_does_not_restart_it(monkeypatch):
    monkeypatch.setattr("inspector.tui.key_order.STILL_TYPING", 60.0)
    async with on_demo() as (app, pilot):
        await to_tool(app, pilot, "echo")
        session = main_screen(app).session
        await pilot.press("h")
        session.call_tool("crash", {})
        await shows(app, pilot, "r start again")
        await pilot.press("r", "e")
        assert session.phase == "lost"
        assert not app.screen.is_modal
        await press(pilot, "down", "r", until=lambda: session.phase == "ready", what="ready")


@pytest.mark.slow
async def test_text_typed_right_after_enter_goes_to_the_form(monkeypatch):
    show = RequestPane.show

    async def slowly(self, work):
        await asyncio.sleep(0.2)
        await show(self, work)

    async with on_demo() as (app, pilot):
        monkeypatch.setattr(RequestPane, "show", slowly)
        await burst(pilot, "down", "enter", *"41", "enter", "1")
        await becomes(app, pilot, lambda: "▌ 41" in screen_text(app) and "▌ 1" in screen_text(app), "typed in the form")


async def test_a_paste_keeps_its_place_among_the_keys_and_the_time_of_the_newest_is_known():
    async with on_stage(Editor(), (20, 4)) as (app, pilot, one):
        assert app.key_came == 0.0
        before = time.monotonic()
        for event in (Key("a", None), Key("left", None), Paste("xyz"), Key("backspace", None)):
            app.post_message(event)
        await pilot.pause()
        assert one.value == "xya"
        assert app.key_came >= before, "known to threads that give way to it"
        await burst(pilot, "end", *(["b", "left"] * 200))
        assert one.value == "xya" + "b" * 200
        assert app._key_under_way is None


async def test_keys_behind_one_that_moves_the_focus_are_typed_where_it_moves_to():
    class Way(Widget, can_focus=True):
        BINDINGS = [("slash", "there", "")]  # noqa: RUF012

        async def action_there(self) -> None:
            for _ in range(100):  # Others have their turn, as while the screen is being drawn.
                await asyncio.sleep(0)
            field.focus()

    field = Editor()
    app = Stage(Way(), field)
    async with app.run_test(size=(20, 4)) as pilot:
        await burst(pilot, "slash", *"echo")
        await settle(pilot, lambda: field.value == "echo")


@pytest.mark.slow
async def test_keys_wait_while_what_a_key_means_is_reported_from_pane_to_pane() -> None:
    async with on_demo() as (app, pilot):
        for keys in (("enter",), ("escape", "slash", "ctrl+u", *"ech", "enter", "ctrl+u")):
            await burst(pilot, *keys, "x", "y")
            await shows(app, pilot, "▌ xy")
    async with on_demo() as (app, pilot):
        await burst(pilot, "slash", *"ech", "down", "q")
        await becomes(app, pilot, lambda: not app._running, "left: the filter no longer had the focus")


async def test_keys_behind_one_that_opens_a_dialog_are_typed_in_the_dialog() -> None:
    """They wait while its worker prepares it, and until its field has the focus; not for one that opens nothing."""

    class Asker(Widget, can_focus=True):
        BINDINGS = [("slash", "ask", ""), ("x", "nothing", "")]  # noqa: RUF012

        @work(group="dialog")
        async def action_ask(self) -> None:
            await asyncio.sleep(0.3)  # longer than a key waits otherwise
            await self.app.push_screen_wait(Dialog())

        @work(group="dialog")
        async def action_nothing(self) -> None:
            pass

    class Dialog(ModalScreen[None]):
        def compose(self) -> ComposeResult:
            yield Editor()

    async with on_stage(Asker(), (20, 4)) as (app, pilot, _):
        await burst(pilot, "x", "slash", *"x/echo")
        await settle(pilot, lambda: isinstance(app.focused, Editor) and app.focused.value == "x/echo")


async def test_a_key_that_removes_what_has_the_focus_holds_nothing_up():
    class Fleeting(Widget, can_focus=True):
        def on_key(self, event: Key) -> None:
            event.stop()
            self.remove()

    gone, stays = Fleeting(), Editor()
    app = Stage(gone, stays)
    async with app.run_test(size=(20, 4)) as pilot:
        await burst(pilot, "x", "y", "z")
        await settle(pilot, lambda: stays.value == "yz")


async def test_without_anything_to_focus_keys_reach_the_app():
    class Bare(KeysInOrder, App[None]):
        BINDINGS = [("x", "note", "")]  # noqa: RUF012
        noted = 0

        def action_note(self) -> None:
            self.noted += 1

    app = Bare()
    async with app.run_test(size=(20, 4)) as pilot:
        await burst(pilot, "x", "y", "x")
        assert app.noted == 2
