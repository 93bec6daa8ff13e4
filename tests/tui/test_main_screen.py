"""The main screen over real servers: connecting, lists, tabs, layouts, messages, leaving."""

from __future__ import annotations

import json
import re
import resource
from pathlib import Path
from typing import Any

import pytest

from inspector.client.recorded import RecordedSession
from inspector.client.session import Session
from inspector.config.settings import Settings
from inspector.journal.journal import Journal
from inspector.text import safe
from inspector.tui.app import InspectorApp
from inspector.tui.log.detail import DetailPane
from inspector.tui.log.message_list import MessageList
from inspector.tui.log.pane import MessagesPane
from inspector.tui.main.chrome import header
from inspector.tui.widgets.filter_input import FilterInput
from inspector.tui.widgets.status_lines import TabLine
from inspector.tui.work.catalog import CatalogPane
from inspector.tui.work.request import RequestPane
from inspector.tui.work.result import ResultPane
from inspector.tui.work.running import RunningPane
from tests.tui.live_app import (
    MEDIUM,
    NARROW,
    SESSION,
    WIDE,
    becomes,
    click,
    demo,
    has_all_lists,
    hostile,
    main_screen,
    on_demo,
    on_recording,
    running,
    shows,
    to_tool,
)
from tests.tui.live_demo import sent
from tests.tui.tui_screens import press, screen_lines, screen_text


@pytest.mark.slow
async def test_it_connects_by_itself_and_fills_the_lists() -> None:
    async with running(demo(), until="connected") as (app, pilot):
        await becomes(app, pilot, lambda: has_all_lists(app), "all lists")
        lines = screen_lines(app)
        assert lines[0].startswith(" Demo server ")
        assert "stdio  2025-11-25 legacy" in lines[0]
        assert "● connected" in lines[0]
        assert "● rec " in lines[0]
        assert "echo message" in lines[3]
        assert app.focused is not None
        assert main_screen(app).query_one(CatalogPane).has_focus_within


@pytest.mark.slow
async def test_a_number_or_a_click_shows_a_tab_and_focuses_what_it_lists() -> None:
    async with on_demo() as (app, pilot):
        for key, words in (
            ("2", "demo://"), ("3", "Item"), ("4", "greet"), ("6", "Capabilities"), ("7", "The server has no questions"),
            ("1", "echo message"),
        ):  # fmt: skip
            await pilot.press(key)
            await shows(app, pilot, words)
            assert app.focused.is_on_screen
            assert app.focused.region.x < WIDE[0] // 3
        await click(app, pilot, "4 Prompts")
        await shows(app, pilot, "greet")
        await click(app, pilot, "6 Server")
        await shows(app, pilot, "Capabilities")


@pytest.mark.slow
async def test_a_click_selects_an_item_and_shows_what_can_be_done_with_it() -> None:
    async with on_demo() as (app, pilot):
        await click(app, pilot, "what-time")
        await shows(app, pilot, "What time is it?")


@pytest.mark.slow
async def test_a_recording_that_cannot_be_written_is_reported_in_the_header() -> None:
    async with on_demo() as (app, pilot):
        assert isinstance(app.session, Session)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (app.session.journal.storage.size, before[1]))
        try:
            await app.session.request("ping")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        await shows(app, pilot, "not on disk: ")
        assert "● connected" not in screen_text(app)


@pytest.mark.slow
async def test_three_widths_show_three_columns_two_or_one() -> None:
    async with on_demo(size=WIDE) as (app, pilot):
        assert {"Tools", "Result", "Messages"} <= panes(app)
        assert panes(app) & {"Echo", "echo"}, "the form of the first tool"
        assert main_screen(app).query_one("#detail").region.width > 40
        await pilot.resize_terminal(*MEDIUM)
        await becomes(app, pilot, lambda: not main_screen(app).query_one("#detail").is_on_screen)
        log = main_screen(app).query_one("#log").region
        assert (log.x, log.width) == (0, MEDIUM[0]), "the log is a dock below"
        assert {"Tools", "Messages"} <= panes(app)
        await pilot.resize_terminal(*NARROW)
        await becomes(app, pilot, lambda: panes(app) == {"Tools"}, "one pane")
        assert "m messages" in screen_lines(app)[-2], "the last message in one line"
        assert all(len(line) <= NARROW[0] for line in screen_lines(app))


@pytest.mark.slow
async def test_resizing_keeps_the_selection_and_keeps_it_in_view() -> None:
    async with on_demo(size=WIDE) as (app, pilot):
        await pilot.press("end", "up", "up")
        name = selected(app)
        for size in (MEDIUM, NARROW, (100, 16), WIDE):
            await pilot.resize_terminal(*size)
            await becomes(app, pilot, lambda: any(name in line for line in screen_lines(app)), f"{name} in view")
            assert selected(app) == name


@pytest.mark.slow
async def test_the_key_of_the_log_says_where_it_goes() -> None:
    async with on_demo(size=WIDE) as (app, pilot):
        assert "m messages" in screen_lines(app)[-1]
        await press(pilot, "m", until=lambda: "m list" in screen_lines(app)[-1], what="the way back")
        assert "m messages" not in screen_lines(app)[-1]
        await press(pilot, "m", until=lambda: "m messages" in screen_lines(app)[-1], what="the way to the log")


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_the_key_of_the_log_leads_from_the_messages_of_a_result_back_to_it(size: tuple[int, int]) -> None:
    async with on_demo(size=size) as (app, pilot):
        work = main_screen(app).panes.work
        await to_tool(app, pilot, "echo")
        await press(pilot, *"hi", "ctrl+r", "alt+r", until=lambda: work.result.has_focus_within)
        await press(pilot, "m", until=lambda: "m back" in screen_lines(app)[-1], what="the way back")
        await press(pilot, "m", until=lambda: work.result.has_focus_within)
        await press(pilot, "escape", "m", until=lambda: "m list" in screen_lines(app)[-1], what="from the list")


@pytest.mark.slow
async def test_one_column_goes_to_the_work_and_back() -> None:
    async with on_demo(size=NARROW) as (app, pilot):
        await press(pilot, "enter", shows="Tools › ")
        assert "Returns its message." in screen_text(app)
        await press(pilot, "escape", until=lambda: "Tools › " not in screen_text(app))
        await press(pilot, "m", until=lambda: panes(app) == {"Messages"}, what="the log")
        await becomes(app, pilot, lambda: "m list" in screen_lines(app)[-1], "the way back")
        assert "m messages" not in screen_text(app)
        await press(pilot, "m", until=lambda: panes(app) == {"Tools"}, what="the list")


@pytest.mark.slow
async def test_escape_goes_from_a_message_to_the_log_and_in_one_column_on_to_the_list() -> None:
    async with on_demo(size=NARROW) as (app, pilot):
        await press(pilot, "m", "enter", shows="parsed  raw  http  findings")
        assert "esc messages" in screen_lines(app)[-1]
        await press(pilot, "escape", until=lambda: panes(app) == {"Messages"}, what="the log")
        await press(pilot, "escape", until=lambda: panes(app) == {"Tools"}, what="the list")
    async with on_demo() as (app, pilot):
        screen = main_screen(app)
        await press(pilot, "m", "enter", until=lambda: screen.query_one(DetailPane).has_focus_within)
        await press(pilot, "escape", "escape", until=lambda: screen.query_one(MessagesPane).has_focus_within)


@pytest.mark.slow
async def test_one_column_shows_the_keys_of_the_start_list_and_the_export_everywhere() -> None:
    async with on_demo(size=NARROW) as (app, pilot):

        def bar() -> str:
            return screen_lines(app)[-1]

        assert "enter open   ^r call   / filter   x export   b start" in bar()
        assert "m messages" in screen_lines(app)[-2]
        await pilot.press("enter")
        await becomes(app, pilot, lambda: "m messages" not in screen_lines(app)[-2], "no key that would be typed")
        assert bar().endswith("f1 help")
        await press(pilot, "escape", "m", until=lambda: "m list   x export   b start" in bar(), what="the log")
        await press(pilot, "enter", until=lambda: "c copy   esc messages" in bar(), what="the message")
        assert "x export exchange   b start" in bar()
        await press(pilot, "x", shows="Export 2 messages")
        await press(pilot, "escape", "escape", "z", until=lambda: bar().endswith("z restore"), what="the maximised log")
    async with on_demo() as (app, pilot):
        await press(pilot, "enter", until=lambda: "tab next field   f3 start" in screen_lines(app)[-1], what="the form")
        await press(pilot, *"hello", "ctrl+r", shows="^r call again")
        await press(pilot, "alt+r", "x", shows="Export 2 messages")


@pytest.mark.slow
async def test_two_columns_show_a_message_beside_the_log_until_escape() -> None:
    async with on_demo(size=MEDIUM) as (app, pilot):
        screen = main_screen(app)
        messages, detail = screen.query_one(MessagesPane), screen.query_one(DetailPane)
        await press(pilot, "m", "enter", shows="parsed  raw  http  findings")
        assert detail.has_focus_within
        assert "Tools" in panes(app)
        assert messages.is_on_screen
        assert detail.region.height == messages.region.height, "both are in the dock"
        assert detail.region.right == MEDIUM[0]
        assert detail.region.width >= MEDIUM[0] // 2
        await press(pilot, "z", until=lambda: detail.region.width == MEDIUM[0], what="the message alone")
        await press(pilot, "z", until=lambda: messages.is_on_screen and detail.is_on_screen, what="both again")
        await pilot.press("escape")
        await becomes(app, pilot, lambda: messages.region.width == MEDIUM[0], "the log has the whole dock")
        assert messages.has_focus_within
        assert not detail.is_on_screen
        # Also from the log itself, after Tab or a click.
        await press(pilot, "enter", shows="parsed  raw  http  findings")
        await pilot.press("shift+tab", "shift+tab")  # over the filter
        await becomes(app, pilot, lambda: isinstance(screen.focused, MessageList))
        await press(pilot, "escape", until=lambda: not detail.is_on_screen, what="the log has the whole dock")
        assert messages.has_focus_within


@pytest.mark.slow
async def test_a_message_that_has_the_focus_stays_visible_at_every_width() -> None:
    async with on_demo(size=WIDE) as (app, pilot):
        detail = main_screen(app).query_one(DetailPane)
        await pilot.press("m", "tab", "tab")  # over the filter
        await becomes(app, pilot, lambda: detail.has_focus_within)
        for size in (MEDIUM, NARROW, MEDIUM, WIDE):
            await pilot.resize_terminal(*size)
            await becomes(app, pilot, lambda size=size: app.size == size and detail.is_on_screen, f"it at {size}")
            assert detail.has_focus_within


@pytest.mark.slow
async def test_a_call_from_the_list_is_cancelled_by_escape_which_goes_back_to_the_list() -> None:
    async with on_demo() as (app, pilot):
        screen = main_screen(app)
        await pilot.press("slash", *"forget", "down", "ctrl+r")
        await becomes(app, pilot, lambda: screen.query_one(RunningPane).has_focus_within, "the call has the focus")
        await press(pilot, "escape", shows="You cancelled it after")
        await becomes(app, pilot, lambda: screen.query_one(CatalogPane).has_focus_within, "back in the list")


@pytest.mark.slow
async def test_the_log_is_gone_to_hidden_and_maximised() -> None:
    async with on_demo() as (app, pilot):
        screen = main_screen(app)
        await press(pilot, "m", until=lambda: screen.query_one(MessagesPane).has_focus_within)
        await press(pilot, "m", until=lambda: screen.query_one(CatalogPane).has_focus_within)
        await press(pilot, "M", until=lambda: "Messages" not in panes(app))
        assert screen.query_one("#work").region.right == WIDE[0]
        await press(pilot, "M", until=lambda: "Messages" in panes(app))
        await press(pilot, "m", "z", until=lambda: "Tools" not in panes(app))
        assert screen.query_one("#messages").region.width > WIDE[0] // 2
        assert screen.query_one(MessagesPane).has_focus_within
        assert "z restore" in screen_lines(app)[-1]
        await press(pilot, "z", until=lambda: {"Tools", "Messages"} <= panes(app))
        assert screen.query_one(MessagesPane).has_focus_within
        assert "z zoom" in screen_lines(app)[-1]


@pytest.mark.slow
async def test_any_pane_is_zoomed_and_restored() -> None:
    async with on_demo() as (app, pilot):
        screen = main_screen(app)
        await press(pilot, "z", until=lambda: panes(app) == {"Tools"}, what="the list alone")
        assert screen.query_one("#catalog").region.width == WIDE[0]
        assert screen_lines(app)[-1].endswith("z restore")
        await press(pilot, "z", "slash", *"list-orders", "enter", "enter", "ctrl+r", shows="500 rows")
        screen.query_one(ResultPane).focus_inside()
        for size in (WIDE, MEDIUM, NARROW):
            await pilot.resize_terminal(*size)
            await press(pilot, "z", shows="list-orders › Result")
            assert screen.query_one(ResultPane).region.size == (size[0], size[1] - 3 - (size == NARROW))
            assert screen_lines(app)[-1].endswith("z restore")
            await press(pilot, "z", until=lambda: "list-orders › Result" not in screen_text(app), what="restored")
        await pilot.resize_terminal(*WIDE)
        await pilot.press("6", "tab", "z")
        await becomes(app, pilot, lambda: panes(app) in ({"Server"}, {"Connection"}, {"stderr"}), "one pane of them")
        await press(pilot, "1", until=lambda: {"Tools", "Messages"} <= panes(app), what="a tab restores the panes")


@pytest.mark.slow
async def test_a_zoomed_form_makes_room_for_its_result_and_z_is_text_in_a_field() -> None:
    async with on_demo() as (app, pilot):
        screen = main_screen(app)
        await pilot.press("slash", *"echo", "enter", "enter", *"zz", "alt+z")
        await becomes(app, pilot, lambda: "Messages" not in panes(app), "the form alone")
        assert screen.query_one(RequestPane).form.value == {"message": "zz"}
        await pilot.press("ctrl+r")
        await becomes(app, pilot, lambda: {"Messages", "Result"} <= panes(app), "all panes, with the result")


@pytest.mark.slow
async def test_a_user_who_went_elsewhere_while_it_connects_stays_there() -> None:
    async with on_demo() as (app, pilot):
        await press(pilot, "6", "r", "m", shows="Reconnected")
        assert main_screen(app).query_one(MessagesPane).has_focus_within


@pytest.mark.slow
async def test_quitting_asks_only_while_a_call_is_in_flight() -> None:
    async with on_demo() as (app, pilot):
        app.session.start("tools/call", {"name": "forget", "arguments": {}})
        await press(pilot, "q", shows="Quit with a call in flight?")
        assert "tools/call forget has no answer yet." in screen_text(app)
        await press(pilot, "escape", until=lambda: app.screen is main_screen(app))
        assert app.is_running
        await pilot.press("escape", "escape")
        assert app.is_running, "escape never leaves"
        await press(pilot, "q", shows="Quit with a call in flight?")
        await press(pilot, "y", until=lambda: app.return_code == 0 and not app._running)
    async with on_demo() as (app, pilot):
        await press(pilot, "q", until=lambda: not app._running)


@pytest.mark.slow
async def test_a_click_on_a_key_in_the_footer_presses_it() -> None:
    async with on_demo() as (app, pilot):
        await click(app, pilot, "x export   q quit")
        await shows(app, pilot, "Export the recording")


@pytest.mark.slow
async def test_the_session_is_recorded_where_it_was_wished(tmp_path: Path) -> None:
    path = tmp_path / "session.mcp.jsonl"
    async with on_demo(keep=True, record=path):
        pass
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert lines[0]["format"] == "mcp-recording"
    assert lines[-1]["kind"] == "end"
    assert path.stat().st_mode & 0o777 == 0o600


async def test_the_recording_opens_as_the_session_was() -> None:
    async with on_recording(until="event 20 of 20") as (app, pilot):
        app.clear_notifications()
        await shows(app, pilot, f"replay  {SESSION.name}")
        lines = screen_lines(app)
        assert lines[0].split()[:2] == ["replay", SESSION.name]
        assert "read-only" in lines[0]
        assert "1 notice: Server tab" in lines[-1], "an event of a kind that this version does not know"
        await shows(app, pilot, "echo")
        assert "1 Tools 1" in lines[1]
        await press(pilot, "6", shows="Capabilities")
        assert "reconnect" not in screen_text(app)
        assert "going on" in screen_text(app), "its stderr"


async def test_a_recording_without_its_end_is_shown_to_the_last_whole_line(tmp_path: Path) -> None:
    lines = SESSION.read_bytes().splitlines(keepends=True)
    torn = tmp_path / "torn.mcp.jsonl"
    torn.write_bytes(b"".join(lines[:12]) + lines[12][:40])
    async with on_recording(torn, until="end is missing") as (app, pilot):
        await shows(app, pilot, "event 11 of 11")


@pytest.mark.slow
async def test_a_recording_that_grows_is_followed_to_its_end(tmp_path: Path) -> None:
    lines = SESSION.read_bytes().splitlines(keepends=True)
    growing = tmp_path / "growing.mcp.jsonl"
    growing.write_bytes(b"".join(lines[:4]))
    async with on_recording(growing, follow=True, until="following") as (app, pilot):
        await shows(app, pilot, "event 3 of 3")
        with growing.open("ab") as file:
            file.write(b"".join(lines[4:10]) + lines[10][:30])
        await shows(app, pilot, "event 9 of 9")
        assert "1 Tools 1" in screen_lines(app)[1]
        with growing.open("ab") as file:
            file.write(lines[10][30:] + b"".join(lines[11:]))
        await shows(app, pilot, "event 20 of 20")
        await becomes(app, pilot, lambda: "following" not in screen_text(app))


@pytest.mark.slow
async def test_a_recording_of_a_newer_version_is_shown_raw_with_a_notice(tmp_path: Path) -> None:
    head, *rest = SESSION.read_bytes().splitlines(keepends=True)
    newer = tmp_path / "newer.mcp.jsonl"
    newer.write_bytes(head.replace(b'"version": 1', b'"version": 2') + b"".join(rest))
    async with on_recording(newer, until="This recording has format version 2") as (app, pilot):
        app.clear_notifications()
        await shows(app, pilot, "recording of a newer version", "event 21 of 21")


@pytest.mark.slow
async def test_the_theme_is_the_one_of_the_settings(home: Path) -> None:
    async with on_recording(until="echo", settings=Settings(theme="light")) as (app, _):
        assert app.theme_switch.name == "light"
        assert not app.current_theme.dark
    async with on_recording(until="Unknown theme `lihgt`", settings=Settings(theme="lihgt")) as (app, _):
        assert app.theme_switch.name == "dark"


@pytest.mark.slow
async def test_a_theme_is_chosen_by_dialog() -> None:
    async with on_recording(until="echo") as (app, pilot):
        await app.run_action("theme", main_screen(app))
        await shows(app, pilot, "high-contrast")
        await press(pilot, "home", "enter", until=lambda: app.theme_switch.name == "ansi")


@pytest.mark.slow
async def test_a_keymap_moves_keys_in_bindings_hints_and_palette() -> None:
    keys = {"app.tab-6": "f6", "app.quit": "f10", "app.palette": "f1", "app.tab-1": "nonsense key"}
    async with on_recording(until="echo", settings=Settings(keymap=keys)) as (app, pilot):
        assert "f10 quit" in screen_lines(app)[-1]
        assert "Unknown key" in screen_text(app)
        app.clear_notifications()
        await shows(app, pilot, "f1 palette")
        await pilot.press("6")
        assert "Capabilities" not in screen_text(app)
        await press(pilot, "f6", shows="Capabilities")
        await pilot.press("ctrl+p")
        assert app.screen is main_screen(app)
        await press(pilot, "f1", until=lambda: app.screen is not main_screen(app))


@pytest.mark.slow
async def test_ascii_only_where_the_setting_or_the_locale_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with on_recording(until="echo", settings=Settings(ascii="always")) as (app, _):
        assert screen_text(app).isascii()
    monkeypatch.setenv("LANG", "C")
    async with on_recording(until="echo") as (app, _):
        assert screen_text(app).isascii()
    async with on_recording(until="echo", settings=Settings(ascii="never")) as (app, _):
        assert not screen_text(app).isascii()


@pytest.mark.slow
async def test_the_log_does_not_follow_its_end_where_the_setting_says_so() -> None:
    async with on_demo(settings=Settings(follow=False)) as (app, _):
        assert "follow" not in screen_lines(app)[2]
    async with on_demo() as (app, _):
        assert "follow" in screen_lines(app)[2]


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_no_text_of_a_server_reaches_the_terminal_as_anything_but_text(size: tuple[int, int]) -> None:
    async with running(hostile("escapes"), size=size, until="connected") as (app, pilot):
        await shows(app, pilot, safe("\x1b]0;owned\x07")[:6])
        app.session.start("tools/call", {"name": "echo", "arguments": {}})
        app.session.start("tools/call", {"name": "error", "arguments": {}})
        for keys in (
            ["1"], ["enter"], ["ctrl+r"], ["escape"], ["2"], ["3"], ["4"], ["enter"], ["escape"], ["6"],
            ["m"], ["end"], ["enter"], ["right_curly_bracket"], ["z"], ["z"], ["question_mark"], ["escape"],
            ["1", "ctrl+p", *"red"], ["escape"], ["x"], ["escape"],
        ):  # fmt: skip
            await pilot.press(*keys)
            await pilot.pause(0.06)
            assert_plain(app)


def assert_plain(app: InspectorApp) -> None:
    """No strip of the screen holds a character that a terminal would act on, or that hides or turns others."""
    for line in screen_lines(app):
        bad = [char for char in line if ord(char) < 32 or 127 <= ord(char) < 160 or char in "\u200b\u202e\u202c\u2066"]
        assert not bad, f"{bad!r} in {line!r}"


async def test_a_server_that_names_markup_and_a_title_is_quoted_in_notices() -> None:
    async with on_recording(until="echo") as (app, pilot):
        app.notify("\x1b]0;owned\x07 [bold red]markup[/]")
        await shows(app, pilot, "[bold red]markup[/]")
        assert_plain(app)


def panes(app: InspectorApp) -> set[str]:
    """The beginnings of the titles of the panes that are on the screen."""
    return {found for line in screen_lines(app) for found in re.findall(r"╭─ ([^─]+?)(?:  [^─]*)? ─", line)}


def selected(app: InspectorApp) -> str:
    """The name of the tool under the cursor."""
    item = main_screen(app).query_one(CatalogPane).item
    return str(item["name"])


@pytest.mark.slow
async def test_the_keys_of_a_pane_without_the_focus_are_muted() -> None:
    async with on_demo() as (app, pilot):
        palette = app.current_theme.palette

        def inks() -> tuple[Any, Any]:
            """The colours of `^r` in the form, and of the last line's first key."""
            lines, drawn = screen_lines(app), app.screen._compositor.render_strips()
            at = next(y for y, line in enumerate(lines) if "^r call   ^e json" in line and y < len(lines) - 1)
            x = lines[at].index("^r call   ^e json")
            cells = drawn[at].crop(x, x + 1), drawn[-1].crop(1, 2)
            return tuple(next(iter(cell)).style.color for cell in cells)  # type: ignore[union-attr,return-value]

        muted, key = (palette.style(role).color for role in ("muted", "key"))
        assert inks() == (muted, key)
        await press(pilot, "enter", until=lambda: inks() == (key, key), what="bright")
        await press(pilot, "escape", until=lambda: inks() == (muted, key), what="muted again")


@pytest.mark.slow
async def test_the_inbox_shows_its_question_whenever_one_goes_there() -> None:
    async with on_demo() as (app, pilot):
        session = app.session
        session.call_tool("ask-user", {"message": "Who?"})
        await becomes(app, pilot, lambda: bool(session.inbox.open()), "asked")
        for _ in range(2):
            await press(pilot, "7", shows="asks you")
            await shows(app, pilot, "Your answer goes to")
            await press(pilot, "1", "down", until=lambda: "asks you" not in screen_text(app), what="the tool")


@pytest.mark.slow
async def test_a_key_never_goes_to_a_field_that_is_hidden() -> None:
    """Textual may move the focus from a hidden list to the filter beside it, which is hidden too."""
    async with on_demo() as (app, pilot):
        await press(pilot, "6", shows="Capabilities")
        hidden = app.screen.query_one("#catalog FilterInput", FilterInput)
        app.screen.set_focus(hidden, scroll_visible=False)
        app.screen.focused = hidden
        await press(pilot, "1", shows="echo message")
        assert hidden.value == ""


@pytest.mark.slow
async def test_an_empty_list_has_its_count_in_its_tab() -> None:
    async with running(demo("--items", "0"), until="connected") as (app, pilot):
        session = app.session
        await becomes(app, pilot, lambda: session.catalog.prompts.complete, "listed")
        session.catalog.prompts.begin()
        session.changes.bump("prompts")
        await becomes(app, pilot, lambda: tab(app, "prompts") == "", "not read again")
        session.catalog.prompts.page({"prompts": []})
        session.changes.bump("prompts")
        await becomes(app, pilot, lambda: tab(app, "prompts") == "0", "none")


def tab(app: InspectorApp, name: str) -> str:
    """The count in a tab."""
    return next(each.number for each in app.screen.query_one(TabLine).tabs if each.id == name)


def test_the_header_counts_questions_that_were_declined_unseen() -> None:
    session = RecordedSession(Journal.unnamed({}), Path("none"))
    before = header(session, None, 160)
    session.inbox.declined = 300
    *rest, told = header(session, None, 160)
    assert rest == before
    assert told.forms == [[("300 questions declined unseen", "finding")], [("300 declined", "finding")]]


@pytest.mark.slow
async def test_a_resource_is_read_by_two_keys() -> None:
    async with on_demo() as (app, pilot):
        await pilot.press("2", "enter")
        session = main_screen(app).session
        await becomes(app, pilot, lambda: len(sent(session, "resources/read")) == 1, "read")
        await becomes(app, pilot, lambda: main_screen(app).panes.work.result.answer is not None, "its result")
        await pilot.press("escape", "enter")
        await pilot.pause(0.2)
        assert len(sent(session, "resources/read")) == 1, "what was read is shown, not read again"
        await pilot.press("enter")
        await becomes(app, pilot, lambda: len(sent(session, "resources/read")) == 2, "read again by the key in it")
