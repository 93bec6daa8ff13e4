"""The main screen over real servers: connecting, lists, tabs, layouts, messages, leaving."""

from __future__ import annotations

import json
import re
import resource
from pathlib import Path

import pytest

from inspector.client.recorded_session import RecordedSession
from inspector.client.session import Session
from inspector.config.settings import Settings
from inspector.journal.journal import Journal
from inspector.text import safe
from inspector.tui import key_order
from inspector.tui.app import InspectorApp
from inspector.tui.log.detail import DetailPane
from inspector.tui.log.message_list import MessageList
from inspector.tui.log.pane import MessagesPane
from inspector.tui.main.chrome import header
from inspector.tui.main.screen import MainScreen
from inspector.tui.pane_messages import HintsChanged
from inspector.tui.widgets.filter_input import FilterInput
from inspector.tui.widgets.status_lines import Footer, TabLine
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
    panes,
    running,
    shows,
    to_tool,
)
from tests.tui.live_demo import sent
from tests.tui.tui_screens import press, screen_lines, screen_text

GOLDEN = SESSION.read_bytes().splitlines(keepends=True)


@pytest.mark.slow
async def test_it_connects_fills_the_lists_and_shows_a_tab_by_its_number_or_a_click() -> None:
    async with running(demo(), until="connected") as (app, pilot):
        await becomes(app, pilot, lambda: has_all_lists(app), "all lists")
        lines = screen_lines(app)
        assert lines[0].startswith(" Demo server ")
        assert lines[0].split() == ["Demo", "server", "●", "connected"]
        assert "echo " in lines[3]
        assert main_screen(app).query_one(CatalogPane).has_focus_within
        for key, words in (
            ("2", "demo://"), ("4", "greet"), ("6", "Capabilities"), ("7", "The server has no questions"),
            ("1", "roll-dice"),
        ):  # fmt: skip
            await press(pilot, key, shows=words)
            assert app.focused.is_on_screen
            assert app.focused.region.x < WIDE[0] // 3
        for tab, words in (("4 Prompts", "greet"), ("6 Server", "Capabilities")):
            await click(app, pilot, tab)
            await shows(app, pilot, words)
        # Textual may move the focus from a hidden list to the filter beside it, which is hidden too.
        hidden = app.screen.query_one("#catalog FilterInput", FilterInput)
        app.screen.set_focus(hidden, scroll_visible=False)
        app.screen.focused = hidden
        await press(pilot, "1", shows="roll-dice")
        assert hidden.value == "", "no key goes to a hidden field"
        await click(app, pilot, "what-time")
        await shows(app, pilot, "What time is it?")


@pytest.mark.slow
async def test_three_widths_show_three_columns_two_or_one_and_keep_the_selection_in_view() -> None:
    async with on_demo(size=WIDE) as (app, pilot):
        assert {"Tools", "Result", "Messages"} <= titles(app)
        assert titles(app) & {"Echo", "echo"}, "the form of the first tool"
        work, log = main_screen(app).query_one("#work").region, main_screen(app).query_one("#log").region
        assert (log.y, log.right) == (work.y, work.right), "the log is beside the form"
        assert main_screen(app).query_one("#result").region.width == work.width
        await pilot.resize_terminal(*MEDIUM)
        await becomes(app, pilot, lambda: main_screen(app).query_one("#log").region.x == 0)
        log = main_screen(app).query_one("#log").region
        assert (log.x, log.width) == (0, MEDIUM[0]), "the log is a dock below"
        assert {"Tools", "Messages"} <= titles(app)
        await pilot.resize_terminal(*NARROW)
        await becomes(app, pilot, lambda: titles(app) == {"Tools"}, "one pane")
        assert all(len(line) <= NARROW[0] for line in screen_lines(app))
        await pilot.press("end", "up", "up")
        name = selected(app)
        for size in (MEDIUM, NARROW, (100, 16), WIDE):
            await pilot.resize_terminal(*size)
            await becomes(app, pilot, lambda: any(name in line for line in screen_lines(app)), f"{name} in view")
            assert selected(app) == name
        # A message that has the focus stays visible, too.
        detail = main_screen(app).query_one(DetailPane)
        await press(pilot, "m", "tab", until=lambda: detail.has_focus_within)  # over the filter
        for size in (MEDIUM, NARROW, MEDIUM, WIDE):
            await pilot.resize_terminal(*size)
            await becomes(app, pilot, lambda size=size: app.size == size and detail.is_on_screen, f"it at {size}")
            assert detail.has_focus_within
        messages = main_screen(app).query_one(MessagesPane)
        await press(pilot, "escape", until=lambda: messages.has_focus_within)
        await press(pilot, "escape", until=lambda: not messages.has_focus_within and not detail.display, what="out")


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_the_key_of_the_log_leads_from_the_messages_of_a_result_back_to_it(size: tuple[int, int]) -> None:
    async with on_demo(size=size) as (app, pilot):
        work = main_screen(app).panes.work
        await to_tool(app, pilot, "echo")
        await press(pilot, *"hi", "ctrl+r", "alt+r", until=lambda: work.result.has_focus_within)
        await becomes(app, pilot, lambda: "m messages" in screen_lines(app)[-1], "the footer names the key")
        await press(pilot, "m", until=lambda: "m back" in screen_lines(app)[-1], what="the way back")
        await press(pilot, "m", until=lambda: work.result.has_focus_within)
        await press(pilot, "escape", "m", until=lambda: "m list" in screen_lines(app)[-1], what="from the list")


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_the_key_of_the_result_leads_there_from_everywhere_and_back_to_the_form(size: tuple[int, int]) -> None:
    async with on_demo(size=size) as (app, pilot):
        work = main_screen(app).panes.work
        await to_tool(app, pilot, "echo")
        assert not main_screen(app).check_action("result", ()), "there is none"
        await press(pilot, *"hi", "ctrl+r", until=lambda: work.work.answer is not None)
        await press(pilot, "escape", "alt+r", until=lambda: work.result.has_focus_within, what="from the list")
        await press(pilot, "alt+r", *"!", until=lambda: work.request.form.value == {"message": "!"}, what="the form")
        await press(pilot, "alt+r", "m", "alt+r", until=lambda: work.result.has_focus_within, what="from the log")
        await press(pilot, "z", "alt+r", until=lambda: work.request.has_focus_within, what="from the zoomed result")


@pytest.mark.slow
async def test_the_key_of_the_result_pressed_as_the_focus_goes_there_does_not_lead_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(key_order, "SEEN", 60)
    async with on_demo() as (app, pilot):
        work = main_screen(app).panes.work
        await to_tool(app, pilot, "echo")
        await press(pilot, *"hi", "ctrl+r", until=lambda: work.result.has_focus_within)
        await press(pilot, "alt+r", "m", until=lambda: "m back" in screen_lines(app)[-1], what="the messages")
        await press(pilot, "m", "alt+r", until=lambda: work.request.has_focus_within)


@pytest.mark.slow
async def test_the_result_of_a_recording_leads_back_to_the_list() -> None:
    async with on_recording(until="echo") as (app, pilot):
        panes = main_screen(app).panes
        await press(pilot, "home", until=lambda: panes.work.work.answer is not None)
        await press(pilot, "alt+r", until=lambda: panes.work.result.has_focus_within)
        await press(pilot, "alt+r", until=lambda: panes.catalog.has_focus_within)


@pytest.mark.slow
async def test_one_column_goes_to_a_pane_and_back_and_shows_the_keys_of_each() -> None:
    async with on_demo(size=NARROW) as (app, pilot):

        def bar() -> str:
            return screen_lines(app)[-1]

        await press(pilot, "enter", shows=("Tools › ", "Returns its message."))
        await press(pilot, "escape", hides="Tools › ")
        await press(pilot, "m", until=lambda: titles(app) == {"Messages"} and "m list" in bar())
        await press(pilot, "m", until=lambda: titles(app) == {"Tools"}, what="the list")
        await press(pilot, "m", until=lambda: "m list" in bar(), what="the log")
        await press(pilot, "minus", "end", shows="6 prompts  ", what="the calls of the start")
        parts = "parsed  raw  process"
        await press(
            pilot, "enter", shows=parts, until=lambda: "c copy" in bar() and "esc messages" in bar(), what="the message"
        )
        await press(pilot, "x", shows="Export 2 messages")
        await press(pilot, "escape", "escape", until=lambda: titles(app) == {"Messages"}, what="the log")
        await press(pilot, "escape", until=lambda: titles(app) == {"Tools"}, what="the list")
        await press(pilot, "m", "z", until=lambda: "z restore" in bar(), what="the maximised log")
    async with on_demo() as (app, pilot):
        await press(pilot, "enter", until=lambda: "tab next field" in screen_lines(app)[-1], what="the form")
        await press(pilot, *"hello", "ctrl+r", "alt+r", shows="^r send again")
        await press(pilot, "x", shows="Export 2 messages")


@pytest.mark.slow
async def test_two_columns_show_a_message_beside_the_log_until_escape() -> None:
    async with on_demo(size=MEDIUM) as (app, pilot):
        screen = main_screen(app)
        messages, detail = screen.query_one(MessagesPane), screen.query_one(DetailPane)
        await press(pilot, "m", "enter", shows="parsed  raw  process")
        assert detail.has_focus_within
        assert "Tools" in titles(app)
        assert messages.is_on_screen
        assert detail.region.height == messages.region.height, "both are in the dock"
        assert detail.region.right == MEDIUM[0]
        assert detail.region.width >= MEDIUM[0] // 2
        await press(pilot, "z", until=lambda: detail.region.width == MEDIUM[0], what="the message alone")
        await press(pilot, "z", until=lambda: messages.is_on_screen and detail.is_on_screen, what="both again")
        await press(pilot, "escape", until=lambda: messages.region.width == MEDIUM[0])
        assert messages.has_focus_within
        assert not detail.is_on_screen
        # Also from the log itself, after Tab or a click.
        await press(pilot, "enter", shows="parsed  raw  process")
        await pilot.press("shift+tab")
        await becomes(app, pilot, lambda: isinstance(screen.focused, MessageList))
        await press(pilot, "escape", until=lambda: not detail.is_on_screen, what="the log has the whole dock")
        assert messages.has_focus_within


@pytest.mark.slow
async def test_a_call_from_the_list_is_cancelled_by_escape_and_a_resource_read_by_two_keys() -> None:
    async with on_demo() as (app, pilot):
        parts, session = panes(app), main_screen(app).session
        await pilot.press("slash", *"forget", "down", "ctrl+r")
        await becomes(app, pilot, lambda: app.screen.query_one(RunningPane).has_focus_within, "the call has the focus")
        await press(pilot, "escape", shows="You cancelled it after", until=lambda: parts.catalog.has_focus_within)
        await press(pilot, "2", "enter", until=lambda: len(sent(session, "resources/read")) == 1)
        await becomes(app, pilot, lambda: parts.work.result.answer is not None, "its result")
        await pilot.press("escape", "enter")
        await pilot.pause(0.2)
        assert len(sent(session, "resources/read")) == 1, "what was read is shown, not read again"
        await press(pilot, "enter", until=lambda: len(sent(session, "resources/read")) == 2)
        # The inbox shows its question whenever one goes there.
        await press(pilot, "escape", "1", "escape", shows="roll-dice")  # without the filter
        session.call_tool("ask-user", {"message": "Who?"})
        await becomes(app, pilot, lambda: bool(session.inbox.open()), "asked")
        for _ in range(2):
            await press(pilot, "7", shows=("asks you", "Your answer goes to"))
            await press(pilot, "1", "down", hides="asks you")


@pytest.mark.slow
async def test_the_log_is_gone_to_hidden_and_maximised_and_its_key_says_where_it_goes() -> None:
    async with on_demo() as (app, pilot):
        screen = main_screen(app)
        log, lists = screen.query_one(MessagesPane), screen.query_one(CatalogPane)
        assert "m messages" in screen_lines(app)[-1]
        await press(pilot, "m", until=lambda: log.has_focus_within and "m list" in screen_lines(app)[-1])
        assert "m messages" not in screen_lines(app)[-1]
        await press(pilot, "m", until=lambda: lists.has_focus_within and "m messages" in screen_lines(app)[-1])
        await press(pilot, "M", until=lambda: "Messages" not in titles(app))
        assert screen.query_one("#work").region.right == WIDE[0]
        await press(pilot, "M", until=lambda: "Messages" in titles(app))
        await press(pilot, "m", "z", until=lambda: "Tools" not in titles(app))
        assert screen.query_one("#messages").region.width > WIDE[0] // 2
        assert log.has_focus_within
        assert "z restore" in screen_lines(app)[-1]
        await press(pilot, "z", until=lambda: {"Tools", "Messages"} <= titles(app))
        assert log.has_focus_within


@pytest.mark.slow
async def test_any_pane_is_zoomed_and_restored_and_a_form_makes_room_for_its_result() -> None:
    async with on_demo() as (app, pilot):
        screen = main_screen(app)
        await press(pilot, "z", until=lambda: titles(app) == {"Tools"}, what="the list alone")
        assert screen.query_one("#catalog").region.width == WIDE[0]
        assert "z restore" in screen_lines(app)[-1]
        await press(pilot, "z", "slash", *"list-orders", "enter", "enter", "ctrl+r", shows="500 rows")
        screen.query_one(ResultPane).focus_inside()
        for size in (WIDE, MEDIUM, NARROW):
            await pilot.resize_terminal(*size)
            await press(pilot, "z", shows="list-orders › Result")
            assert screen.query_one(ResultPane).region.size == (size[0], size[1] - 3 - (size == NARROW))
            assert "z restore" in screen_lines(app)[-1]
            await press(pilot, "z", hides="list-orders › Result")
        await pilot.resize_terminal(*WIDE)
        alone = ({"Server"}, {"Connection"}, {"stderr"})
        await press(pilot, "6", "tab", "z", until=lambda: titles(app) in alone, what="one pane of them")
        await press(pilot, "1", until=lambda: {"Tools", "Messages"} <= titles(app), what="a tab restores the panes")
        await to_tool(app, pilot, "echo")
        # In a field, z is text.
        await press(pilot, *"zz", "alt+z", until=lambda: "Messages" not in titles(app), what="the form alone")
        assert screen.query_one(RequestPane).form.value == {"message": "zz"}
        await press(pilot, "ctrl+r", until=lambda: {"Messages", "Result"} <= titles(app), what="all panes")


@pytest.mark.slow
async def test_a_user_who_went_elsewhere_while_it_connects_stays_there() -> None:
    async with on_demo() as (app, pilot):
        await press(pilot, "6", "r", "m", shows="Reconnected")
        assert main_screen(app).query_one(MessagesPane).has_focus_within


@pytest.mark.slow
async def test_quitting_asks_only_while_a_call_is_in_flight() -> None:
    async with on_demo() as (app, pilot):
        await click(app, pilot, "m messages   q quit")  # A click on a key in the footer presses it.
        await shows(app, pilot, "m list")
        await pilot.press("m")
        app.session.start("tools/call", {"name": "forget", "arguments": {}})
        await press(pilot, "q", shows=("Quit with a call in flight?", "tools/call forget has no answer yet."))
        await press(pilot, "escape", until=lambda: app.screen is main_screen(app))
        await pilot.press("escape", "escape")
        assert app.is_running, "escape never leaves"
        await press(pilot, "q", shows="Quit with a call in flight?")
        await press(pilot, "y", until=lambda: app.return_code == 0 and not app._running)
    async with on_demo() as (app, pilot):
        await press(pilot, "q", until=lambda: not app._running)


@pytest.mark.slow
async def test_the_session_is_recorded_where_it_was_wished_or_the_header_says_why_not(tmp_path: Path) -> None:
    path = tmp_path / "session.mcp.jsonl"
    async with on_demo(keep=True, record=path):
        pass
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert lines[0]["format"] == "mcp-recording"
    assert lines[-1]["kind"] == "end"
    assert path.stat().st_mode & 0o777 == 0o600
    async with on_demo() as (app, pilot):
        assert isinstance(app.session, Session)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (app.session.journal.storage.size, before[1]))
        try:
            await app.session.request("ping")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        await shows(app, pilot, "not on disk: ")


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # An event is of a kind that this version does not know.
        (GOLDEN, ("event 20 of 20", f"replay  {SESSION.name}", "read-only", "1 notice: Server tab", "1 Tools 1", "echo")),
        ([*GOLDEN[:12], GOLDEN[12][:40]], ("end is missing", "event 11 of 11")),
        ([GOLDEN[0].replace(b'"version": 1', b'"version": 2'), *GOLDEN[1:]],
         ("This recording has format version 2", "recording of a newer version", "event 21 of 21")),
    ],
)  # fmt: skip
async def test_a_recording_is_shown_torn_or_newer_too(
    lines: list[bytes], expected: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / SESSION.name
    path.write_bytes(b"".join(lines))
    async with on_recording(path, until=expected[0]) as (app, pilot):
        app.clear_notifications()
        await shows(app, pilot, *expected[1:])


@pytest.mark.slow
async def test_a_recording_that_grows_is_followed_to_its_end(tmp_path: Path) -> None:
    lines, growing = GOLDEN, tmp_path / "growing.mcp.jsonl"
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
        await press(pilot, hides="following")


@pytest.mark.slow
async def test_the_theme_is_the_one_of_the_settings_or_of_the_dialog(home: Path) -> None:
    async with on_recording(until="echo", settings=Settings(theme="light")) as (app, pilot):
        assert app.theme_switch.name == "light"
        assert not app.current_theme.dark
        await app.run_action("theme", main_screen(app))
        await shows(app, pilot, "high-contrast")
        await press(pilot, "home", "enter", until=lambda: app.theme_switch.name == "ansi")
    async with on_recording(until="Unknown theme `lihgt`", settings=Settings(theme="lihgt")) as (app, _):
        assert app.theme_switch.name == "dark"


@pytest.mark.slow
async def test_a_keymap_moves_keys_in_bindings_hints_and_palette() -> None:
    keys = {"app.tab-6": "f6", "app.messages": "f11", "app.palette": "f1", "app.tab-1": "nonsense key"}
    async with on_recording(until="echo", settings=Settings(keymap=keys)) as (app, pilot):
        assert "f11 messages" in screen_lines(app)[-1]
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
    for locale, setting, is_ascii in (("C.UTF-8", "always", True), ("C", "auto", True), ("C", "never", False)):
        monkeypatch.setenv("LANG", locale)
        async with on_recording(until="echo", settings=Settings(ascii=setting)) as (app, _):
            assert screen_text(app).isascii() is is_ascii


@pytest.mark.slow
async def test_the_log_does_not_follow_its_end_where_the_setting_says_so() -> None:
    for follow in (False, True):
        async with on_demo(settings=Settings(follow=follow)) as (app, _):
            assert ("follow" in screen_lines(app)[2]) is follow


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


def titles(app: InspectorApp) -> set[str]:
    """The beginnings of the titles of the panes that are on the screen."""
    return {title for line in screen_lines(app) for title in re.findall(r"╭─ ([^─]+?)(?:  [^─]*)? ─", line)}


def selected(app: InspectorApp) -> str:
    """The name of the tool under the cursor."""
    item = main_screen(app).query_one(CatalogPane).item
    return str(item["name"])


@pytest.mark.slow
async def test_an_empty_list_has_its_count_in_its_tab() -> None:
    async with running(demo("--items", "0"), until="connected") as (app, pilot):
        session = app.session
        tabs = app.screen.query_one(TabLine)

        def count() -> str:
            return next(tab.number for tab in tabs.tabs if tab.id == "prompts")

        await becomes(app, pilot, lambda: session.catalog.prompts.complete, "listed")
        session.catalog.prompts.begin()
        session.changes.bump("prompts")
        await becomes(app, pilot, lambda: count() == "", "not read again")
        session.catalog.prompts.page({"prompts": []})
        session.changes.bump("prompts")
        await becomes(app, pilot, lambda: count() == "0", "none")


def test_the_header_counts_questions_that_were_declined_unseen() -> None:
    session = RecordedSession(Journal.unnamed({}), Path("none"))
    before = header(session, None, 160)
    session.inbox.declined = 300
    *rest, notice = header(session, None, 160)
    assert rest == before
    assert notice.forms == [[("▲ 300 questions declined unseen", "finding")], [("▲ 300 declined", "finding")]]


@pytest.mark.slow
async def test_the_key_of_a_cut_description_works_from_the_list_that_shows_it() -> None:
    async with on_demo(size=(110, 16)) as (app, pilot):
        await to_tool(app, pilot, "ask-user")
        await press(pilot, "escape", until=lambda: panes(app).catalog.has_focus_within, shows="f2 whole text")
        await press(pilot, "f2", hides="f2 whole text")
        await press(pilot, "f2", shows="f2 whole text")


@pytest.mark.slow
async def test_news_of_other_keys_searches_no_widgets_for_the_line_of_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes with each character that is typed."""
    searched: list[object] = []
    search = MainScreen.query
    monkeypatch.setattr(MainScreen, "query", lambda self, *of: (searched.extend(of), search(self, *of))[1])
    async with on_demo() as (app, pilot):
        searched.clear()
        main_screen(app).post_message(HintsChanged())
        await pilot.pause()
        assert Footer not in searched


@pytest.mark.slow
async def test_news_of_other_keys_while_the_screen_is_taken_down_ends_nothing() -> None:
    async with on_demo() as (app, pilot):
        screen = main_screen(app)
        await screen.query(Footer).remove()
        screen.post_message(HintsChanged())
        await pilot.pause()
        assert app.is_running
