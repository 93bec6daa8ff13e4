"""A recording in the interface: playing by a test clock, steps, seeks, the state at each moment."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event

import pytest
from textual.pilot import Pilot

from inspector.client.options import Options
from inspector.client.recorded_session import RecordedSession
from inspector.client.session import Session
from inspector.config.settings import Settings
from inspector.config.target_arguments import parse_target
from inspector.config.targets import RecordingTarget
from inspector.journal.failures import failures, problems
from inspector.journal.journal import Journal
from inspector.tui.app import InspectorApp
from inspector.tui.log.message_list import MessageList, empty_text
from inspector.tui.log.reader import LogReader, MessageView
from inspector.tui.log.rows import NOW, AllEvents, RowsWithMoment
from inspector.tui.main.screen import MainScreen
from inspector.tui.model.log import LogQuery
from inspector.tui.replay.playback import Playback, PlaybackOptions
from inspector.tui.replay.scrub import ScrubLine
from inspector.tui.replay.uses import words_of
from tests.replay.written_recordings import Tape
from tests.tui.live_app import MEDIUM, NARROW, WIDE, becomes, main_screen, shows
from tests.tui.tui_screens import assert_in, assert_not_in, press, screen_lines, screen_text

FORM = {
    "message": "Charge 12.50 EUR?",
    "requestedSchema": {"type": "object", "properties": {"confirmed": {"type": "boolean"}}},
}


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def shop() -> Tape:
    """Return a recording of a shop: connecting, a call with a question, an error.

    Seconds 0 to 4: connecting; 10: a call with progress; 12: a question, answered at 15; 16: the result; an error.
    """
    tape = Tape()
    tape.lines[0] = tape.lines[0].replace('"kind": "stdio"', '"kind": "stdio", "argv": ["python", "shop.py"]')
    tape.ask("initialize", {})
    tape.answer({"protocolVersion": "2025-11-25", "serverInfo": {"name": "shop"}, "capabilities": {"tools": {}}})
    tape.at = 1
    tape.ask("tools/list")
    schema = {"type": "object", "properties": {"invoice": {"type": "string"}}}
    tape.answer({"tools": [{"name": "pay", "inputSchema": schema}, {"name": "refund"}]})
    tape.at = 10
    tape.ask("tools/call", {"name": "pay", "arguments": {"invoice": "INV-7"}, "_meta": {"progressToken": "p"}})
    call = tape.id
    tape.at = 11
    tape.tell("notifications/progress", {"progressToken": "p", "progress": 3, "total": 4, "message": "asking the bank"})
    tape.at = 12
    tape.message("recv", {"id": "q", "method": "elicitation/create", "params": FORM})
    tape.at = 15
    tape.message("send", {"id": "q", "result": {"action": "accept", "content": {"confirmed": True}}})
    tape.at = 16
    tape.answer({"content": [{"type": "text", "text": "paid with thanks"}]}, id=call)
    tape.ask("tools/call", {"name": "refund", "arguments": {}})
    tape.message("recv", {"id": tape.id, "error": {"code": -32602, "message": "no such invoice"}})
    tape.at = 20
    tape.ask("tools/list")
    tape.answer({"tools": [{"name": "pay", "inputSchema": schema}]})
    tape.end()
    return tape


INITIALIZED, LISTED, CALLED, PROGRESSED, ASKED, ANSWERED, PAID, REFUSED, LAST = 2, 4, 5, 6, 7, 8, 9, 11, 13


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return shop().write(tmp_path / "shop.mcp.jsonl")


@asynccontextmanager
async def replayed(
    path: Path,
    *,
    size: tuple[int, int] = WIDE,
    follow: bool = False,
    settings: Settings | None = None,
    **playing: object,
) -> AsyncIterator[tuple[InspectorApp, Pilot[int], MainScreen]]:
    app = InspectorApp(
        RecordingTarget(path), Options(), settings or Settings(), follow=follow, playing=PlaybackOptions(**playing)  # type: ignore[arg-type]
    )  # fmt: skip
    async with app.run_test(size=size, notifications=True) as pilot:
        screen = main_screen(app)
        await becomes(app, pilot, lambda: not screen.connection.indexing, "read")
        yield app, pilot, screen


def playback(screen: MainScreen) -> Playback:
    assert isinstance(screen.playback, Playback)
    return screen.playback


async def goes_to(pilot: Pilot[int], n: int) -> None:
    playback(main_screen(pilot.app)).go_to(n)  # type: ignore[arg-type]
    await pilot.pause()


async def leads(pilot: Pilot[int], keys: str, n: int) -> None:
    """Press keys, which lead to event `n`."""
    await pilot.press(*keys.split())
    assert playback(main_screen(pilot.app)).player.position == n, keys  # type: ignore[arg-type]


async def test_it_opens_at_its_end_as_the_session_was_and_is_played_faster_and_from_a_click(path: Path) -> None:
    async with replayed(path) as (app, pilot, screen):
        await shows(app, pilot, f"event {LAST} of {LAST}")
        lines = screen_lines(app)
        assert lines[0].split()[:2] == ["replay", "shop.mcp.jsonl"]
        assert "read-only" in lines[0]
        assert_not_in(screen_text(app), "as it was", " now ─")
        assert "1 Tools 1" in lines[1]
        assert "space play" in lines[-1]
        assert "←→ event" in lines[-1]
        assert playback(screen).player.at_end
        # A click on the line of time, speeds by key and from the list
        player, line = playback(screen).player, screen.query_one("#scrub").query(ScrubLine).first()
        assert len(line.columns) == line.cells
        await pilot.click(line, offset=(1, 1))
        assert player.position == 1
        await pilot.click(line, offset=(line.cells, 1))
        assert player.position >= LAST - 1
        await pilot.press("less_than_sign", "less_than_sign")
        assert player.speed == 0.25
        await shows(app, pilot, "‖ 0.25×")


@pytest.mark.slow
async def test_at_a_moment_the_panes_show_what_was_known_then(path: Path) -> None:
    async with replayed(path) as (app, pilot, _screen):
        await goes_to(pilot, INITIALIZED)
        await shows(app, pilot, "as it was at 00:00.000")
        assert "1 Tools  2" in screen_lines(app)[1]
        await goes_to(pilot, LISTED)
        await shows(app, pilot, "1 Tools 2")
        await goes_to(pilot, PROGRESSED)
        await shows(app, pilot, "75 %  3 of 4")
        await shows(app, pilot, "asking the bank", "INV-7", "running 1.0 s")
        assert "1 in flight" in screen_lines(app)[1]
        await goes_to(pilot, PAID)
        await shows(app, pilot, "paid with thanks")
        assert "in flight" not in screen_lines(app)[1]
        await press(pilot, "left", shows="75 %  3 of 4")
        await press(pilot, "ctrl+end", shows="1 Tools 1")
        assert "as it was" not in screen_text(app)


@pytest.mark.slow
async def test_it_opens_with_the_last_call(tmp_path: Path) -> None:
    tape = Tape()
    tape.ask("tools/list")
    tape.answer({"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("first", "second")]})
    tape.ask("tools/call", {"name": "second", "arguments": {}})
    tape.answer({"content": [{"type": "text", "text": "said"}]})
    tape.end()
    async with replayed(tape.write(tmp_path / "two.mcp.jsonl")) as (app, pilot, screen):
        await shows(app, pilot, "said")
        assert "second" in screen_text(app).split("╭─")[2], "its tool is in front"
        assert screen.panes.catalog.has_focus_within


async def test_a_folded_row_counts_the_pages_so_far_as_the_tab_does(tmp_path: Path) -> None:
    tape = Tape()
    tape.ask("initialize", {})
    tape.answer({"protocolVersion": "2025-11-25", "serverInfo": {"name": "shop"}, "capabilities": {"tools": {}}})
    for number, more in ((1, {"nextCursor": "x"}), (2, {})):
        tape.ask("tools/list", {"cursor": "x"} if number == 2 else None)
        tape.answer({"tools": [{"name": f"tool-{number}", "inputSchema": {"type": "object"}}], **more})
    tape.end()
    async with replayed(tape.write(tmp_path / "pages.mcp.jsonl")) as (app, pilot, _screen):
        await shows(app, pilot, "connected: 2 tools")
        assert "1 Tools 2" in screen_lines(app)[1]
        await goes_to(pilot, LISTED)
        await shows(app, pilot, "connected: 1 tool ")
        assert "1 Tools 1" in screen_lines(app)[1]


@pytest.mark.parametrize("has_ready", [True, False])
async def test_the_row_of_a_start_says_connecting_until_the_connection_is_ready(
    tmp_path: Path, has_ready: bool
) -> None:
    tape = Tape()
    tape.event("life", "local", event="spawn", argv=["shop"])
    tape.ask("initialize", {})
    tape.answer({"protocolVersion": "2025-11-25", "serverInfo": {"name": "shop"}, "capabilities": {"tools": {}}})
    if has_ready:
        tape.event("life", "local", event="ready", revision="2025-11-25", era="legacy", transport="stdio")
    tape.ask("tools/list")
    tape.answer({"tools": [{"name": "pay", "inputSchema": {"type": "object"}}]})
    tape.end()
    async with replayed(tape.write(tmp_path / "start.mcp.jsonl")) as (app, pilot, _screen):
        await shows(app, pilot, "connected: 1 tool")
        for n in (1, 2):
            await goes_to(pilot, n)
            await shows(app, pilot, "connecting")
            assert_not_in("connected", screen_text(app), "0 ms")
        await goes_to(pilot, 4 if has_ready else 3)
        await shows(app, pilot, "connected")
        assert_not_in("connecting", screen_text(app))


@pytest.mark.slow
async def test_a_question_is_shown_with_the_answer_that_came_later_and_a_key_goes_there(path: Path) -> None:
    async with replayed(path) as (app, pilot, _screen):
        await goes_to(pilot, ASKED)
        await shows(app, pilot, "answered accept 3.0 s later, at 00:15.000")
        await shows(app, pilot, "shop asked", "Charge 12.50 EUR?", "[x]", "a go to answer")
        assert "7 Inbox 1" in screen_lines(app)[1]
        await leads(pilot, "a", ANSWERED)
        await becomes(app, pilot, lambda: "answered accept" not in screen_text(app))
        assert "7 Inbox 1" not in screen_lines(app)[1]
        await leads(pilot, "a", PAID)
        # In the inbox it waits until it is answered.
        await press(pilot, "7", shows="accepted")
        await goes_to(pilot, ASKED)
        await shows(app, pilot, "1 waiting")
        await goes_to(pilot, CALLED)
        await shows(app, pilot, "The server has no questions")


async def test_the_server_is_shown_as_far_as_it_had_introduced_itself(tmp_path: Path) -> None:
    tape = shop()
    tape.event("stderr", "recv", raw="going down")
    path = tape.write(tmp_path / "a.mcp.jsonl")
    async with replayed(path) as (app, pilot, _screen):
        await press(pilot, "6", shows="going down")
        await goes_to(pilot, 1)
        await shows(app, pilot, "The server has not introduced itself yet.")
        await becomes(app, pilot, lambda: not any("going down" in line[:90] for line in screen_lines(app)))
        await goes_to(pilot, INITIALIZED)
        await shows(app, pilot, "2025-11-25")


@pytest.mark.slow
async def test_the_log_shows_all_with_a_line_where_it_is_now_and_the_matches_are_gone_through(path: Path) -> None:
    async with replayed(path) as (app, pilot, screen):
        await pilot.press("m", "minus")
        await goes_to(pilot, PROGRESSED)
        await shows(app, pilot, "── now ──")
        assert f"{PROGRESSED} of {LAST} rows so far" in screen_text(app)
        assert screen.panes.messages.current == PROGRESSED
        for key, current in (("down", PROGRESSED + 1), ("up", PROGRESSED)):
            await leads(pilot, key, PROGRESSED)
            assert screen.panes.messages.current == current
        await leads(pilot, "down down enter", PROGRESSED + 2)
        await press(pilot, "ctrl+home", shows=f"0 of {LAST} rows so far")
        assert screen.panes.messages.current == 1
        # The matches of the filter
        screen.panes.messages.focus_inside()
        await pilot.press("slash", *"method:tools/call", "enter")
        await goes_to(pilot, INITIALIZED)
        for stop in (CALLED, PAID, 10, REFUSED):
            await press(pilot, "n", until=lambda stop=stop: playback(screen).player.position == stop)
        await press(pilot, "N", until=lambda: playback(screen).player.position == 10)
        assert "of 4 rows so far" in screen_text(app)
        await goes_to(pilot, LAST - 1)
        await press(pilot, "n", shows="No later message matches method:tools/call")


@pytest.mark.slow
async def test_it_plays_by_the_clock_and_pauses(path: Path) -> None:
    clock = Clock()
    async with replayed(path, clock=clock) as (app, pilot, screen):
        player = playback(screen).player
        screen.panes.messages.action_fold()  # The start of the session is one row.
        await press(pilot, "space", until=lambda: player.position == INITIALIZED, what="begun")
        await shows(app, pilot, "▶ 1×")
        assert "space pause" in screen_lines(app)[-1]
        clock.now = 1
        await becomes(app, pilot, lambda: player.position == LISTED, "a second further")
        await becomes(app, pilot, lambda: screen.panes.messages.current == LISTED, "in the log")
        clock.now = 2.5
        await shows(app, pilot, "as it was at 00:02.500")
        assert player.position == LISTED
        await pilot.press("space")
        clock.now = 100
        await shows(app, pilot, "‖ 1×")
        assert player.position == LISTED
        await pilot.press("space", "greater_than_sign")
        clock.now += 0.3
        await becomes(app, pilot, lambda: player.position == CALLED, "the folded gap")
        await shows(app, pilot, "▶ 2×")
        for seconds in range(101, 120):
            clock.now = seconds
            await pilot.pause()
        await becomes(app, pilot, lambda: player.at_end and not player.playing, "played")
        assert "as it was" not in screen_text(app)


@pytest.mark.slow
async def test_steps_by_frame_exchange_finding_and_to_what_is_typed(path: Path) -> None:
    async with replayed(path) as (app, pilot, screen):
        for keys, n in (
            ("left", LAST - 1), ("shift+left", REFUSED), ("shift+left", PAID), ("right shift+right", REFUSED),
        ):  # fmt: skip
            await leads(pilot, keys, n)
        journal, errors = screen.session.journal, screen.playback.player.profile.errors
        numbers = problems(journal.index, journal.findings)
        assert errors == failures(journal.index, 0, len(journal)).count(1) > 0
        assert len(numbers) > errors, "findings are gone to as well"
        footers = [screen_lines(app)[-1]]
        await pilot.press("ctrl+home")
        for n in numbers:
            await leads(pilot, "right_square_bracket", n)
            footers.append(screen_lines(app)[-1])
        kept = {footer.partition("[] error   ")[0] for footer in footers if "m messages" in footer}
        assert kept == {" space play   ←→ event   ⇧←→ call   "}, "the keys stay at each position"
        assert len(footers) == len([footer for footer in footers if "m messages" in footer])
        await press(pilot, "right_square_bracket", shows="No later error or finding.")
        for words, position in (("0:11", PROGRESSED), ("+4s", ANSWERED), ("-100s", 0), ("end", LAST), ("start", 0)):
            await leads(pilot, " ".join(["at", *words, "enter"]), position)
        await pilot.press("at")
        await press(pilot, *"soon", "enter", shows="Write 01:12.3")
        await leads(pilot, "escape", 0)
        for words, expected in (
            ("0:14", "No event between 00:12.000 and 00:15.000: this is the last one before 00:14.000."),
            ("1:00", "The recording ends at 00:20.000."),
            ("#99", "The last event is 13."),
        ):
            await press(pilot, "at", *words, "enter", shows=expected)


async def test_the_row_of_the_position_is_shown_where_rows_are_folded_slice_by_slice(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.journal.folding.SLICE", 2)
    monkeypatch.setattr("inspector.tui.log.reader.FOLD_TIME", 0.0)
    async with replayed(path) as (app, pilot, screen):
        log, events = screen.panes.messages, len(screen.session.journal)
        await becomes(app, pilot, lambda: log.folding.seen == events and log.stands_now, "at the end")


async def test_a_cursor_that_was_moved_before_the_rows_were_folded_stays(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LogReader, "is_folding", True)
    async with replayed(path) as (app, pilot, screen):
        log = screen.query_one(MessageList)
        await becomes(app, pilot, lambda: log.count > 3, "some rows")
        await press(pilot, "m", "home", "down")
        monkeypatch.setattr(LogReader, "is_folding", False)
        log.tick()
        await pilot.pause()
        assert log.cursor == 1


@pytest.mark.slow
@pytest.mark.parametrize("size", [(100, 30), (80, 24)])
async def test_the_row_of_the_position_is_shown_when_it_opens(path: Path, size: tuple[int, int]) -> None:
    async with replayed(path, size=size) as (app, pilot, screen):
        log = screen.panes.messages
        if size[0] < 100:
            await pilot.press("m")
        await becomes(app, pilot, lambda: log.rows_shown and log.stands_now, "at the end")
        assert "1 tool" in screen_text(app)


async def test_the_row_of_the_position_is_shown_if_the_log_had_no_rows_before(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tick, change, moved = MessageList.tick, MessageList.moment_changed, []

    def changed(log: MessageList, *, go: bool) -> None:
        moved.append(log.count)
        change(log, go=go)

    monkeypatch.setattr(MessageList, "moment_changed", changed)
    monkeypatch.setattr(MessageList, "tick", lambda log: tick(log) if moved else None)
    async with replayed(path) as (app, pilot, screen):
        log = screen.panes.messages
        await becomes(app, pilot, lambda: log.rows_shown and log.stands_now, "at the end")
        assert moved[0] == 0


async def test_the_cursor_stays_on_its_event_where_other_rows_are_read_in_a_thread(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("LONG", 0), ("STEP", 2), ("DRAWN", 0.0)):
        monkeypatch.setattr(f"inspector.tui.log.reader.{name}", value)
    async with replayed(path) as (app, pilot, screen):
        log = screen.panes.messages
        await becomes(app, pilot, lambda: log.rows_shown and log.stands_now, "at the end")
        await pilot.press("m", "z")
        await becomes(app, pilot, lambda: log.maximised and log.rows_shown and log.stands_now, "at the end")


async def test_a_key_moves_the_cursor_while_the_row_of_its_event_is_still_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan, goes_on = MessageView.scan, Event()

    def held(view: MessageView, last: int) -> object:
        if view.seen:  # Its first rows are there.
            goes_on.wait(20)
        return scan(view, last)

    for name, value in (("LONG", 0), ("STEP", 2), ("DRAWN", 0.0)):
        monkeypatch.setattr(f"inspector.tui.log.reader.{name}", value)
    async with replayed(path) as (app, pilot, screen):
        log = screen.panes.messages
        await becomes(app, pilot, lambda: log.rows_shown and log.stands_now, "at the end")
        monkeypatch.setattr(MessageView, "scan", held)
        await pilot.press("m", "z")
        await becomes(app, pilot, lambda: log.rows_shown == 1, "the first row")
        await pilot.press("home")
        goes_on.set()
        await becomes(app, pilot, lambda: log.rows_shown == 7, "all rows")
        assert log.current == 1


def test_a_log_says_that_it_is_read_until_it_is_known_to_be_empty(path: Path) -> None:
    session = RecordedSession(Journal.open(path), path)
    messages = MessageList(session, lambda: None)
    assert empty_text(messages, LogQuery()).startswith("Reading the recording")
    path.write_text(path.read_text().partition("\n")[0] + "\n")
    empty = RecordedSession(Journal.open(path), path)
    assert not empty.journal.refresh()
    assert empty_text(MessageList(empty, lambda: None), LogQuery()) == "The recording has no messages."


@pytest.mark.parametrize("size", [WIDE, MEDIUM, NARROW])
async def test_it_has_room_in_every_size(path: Path, size: tuple[int, int]) -> None:
    async with replayed(path, size=size) as (app, pilot, _screen):
        await goes_to(pilot, PROGRESSED)
        await shows(app, pilot, f"event {PROGRESSED} of {LAST}")
        text = screen_text(app)
        assert_in(text, "00:11.000", "of 00:20.000", "errors 1")
        if size != NARROW:
            assert "as it was at 00:11.000" in text
            return
        assert "space play" in screen_lines(app)[-1]
        await press(pilot, "m", shows="── now ──")
        await press(pilot, "m", "enter", shows="75 %")
        await goes_to(pilot, ASKED)
        await shows(app, pilot, "answered accept")
        await press(pilot, "escape", until=lambda: "answered accept" not in screen_text(app))


async def test_a_place_and_a_speed_can_be_given_at_first_and_in_ascii_it_is_all_ascii(path: Path) -> None:
    settings = Settings(ascii="always")
    async with replayed(path, settings=settings, at="#7", speed=4.0, fold=0.0) as (app, pilot, screen):
        await shows(app, pilot, f"event {ASKED} of {LAST}", "-- now --", "gaps in real time")
        assert "4x" in screen_lines(app)[0]
        assert not playback(screen).player.playing
        assert screen_text(app).isascii()


@pytest.mark.slow
async def test_at_the_end_of_a_growing_file_it_stays_there_and_elsewhere_it_stays_too(tmp_path: Path) -> None:
    tape, path = shop(), tmp_path / "growing.mcp.jsonl"
    lines = tape.lines

    def write(count: int | None) -> Path:
        tape.lines = lines[:count]
        return tape.write(path)

    async with replayed(write(7), follow=True) as (app, pilot, screen):
        await shows(app, pilot, "event 6 of 6")
        write(9)
        await shows(app, pilot, "event 8 of 8")
        await pilot.press("left")
        write(11)
        await shows(app, pilot, "event 7 of 10")
        await pilot.press("ctrl+end")
        write(None)
        await shows(app, pilot, f"event {LAST} of {LAST}")
        assert playback(screen).player.at_end


@pytest.mark.slow
async def test_it_is_served_here_and_by_a_command(path: Path) -> None:
    async with replayed(path) as (app, pilot, screen):
        await press(pilot, "s", shows="inspector serve --http 8000")
        await press(pilot, "s", shows="http://127.0.0.1:")
        session = Session(parse_target([playback(screen).server.url]), Journal.unnamed({}), Options(era="legacy"))
        await session.open()
        await session.load("tools")
        assert [tool["name"] for tool in session.catalog.tools.items] == ["pay", "refund"]
        await session.close()
        await shows(app, pilot, "from 1 client")
        await pilot.press("escape")
        assert playback(screen).server.url
        await press(pilot, "s", "s", shows="not running")


@pytest.mark.slow
async def test_it_is_run_again_on_a_target_that_is_requested_and_keys_of_fields_stay_theirs(path: Path) -> None:
    async with replayed(path) as (app, pilot, screen):
        await press(pilot, "r", shows="target  python shop.py")
        await press(pilot, "ctrl+u", "ctrl+r", shows="enter a target")
        await press(pilot, *"'half", "ctrl+r", shows="a quotation mark is not closed")
        await press(pilot, "ctrl+u", *"/no/such/program", "ctrl+r", shows="ended with exit code")
        await press(pilot, "escape", "escape", until=lambda: app.screen is main_screen(app))
        # The letters and arrows of a field and of a pane are not those of the player.
        await goes_to(pilot, PAID)
        await pilot.press("m", "slash", *"a s r")
        await leads(pilot, "left space", PAID)
        assert not playback(screen).player.playing
        await press(pilot, "escape", "escape", "escape", until=lambda: "←→ event" in screen_lines(app)[-1])
        await press(pilot, "m", "enter", until=lambda: screen.panes.detail.has_focus_within)
        await becomes(app, pilot, lambda: "←→ event" not in screen_lines(app)[-1], "the keys of the detail")
        await leads(pilot, "left right space", PAID)


def test_the_command_that_runs_again(path: Path) -> None:
    assert words_of(path, "python a.py --x 'b c'") == ["rerun", str(path), "--", "python", "a.py", "--x", "b c"]
    assert words_of(path, "https://x.example/mcp") == ["rerun", str(path), "https://x.example/mcp"]
    assert words_of(path, "@shop") == ["rerun", str(path), "@shop"]
    with pytest.raises(ValueError, match="quotation"):
        words_of(path, "'half")


@pytest.mark.slow
@pytest.mark.parametrize("lines", [
    [],
    ["{}"],
    ['{"n":1,"t":-5,"dir":"recv","kind":"rpc","raw":"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"result\\":[]}"}'] * 3,
    ['{"n":9,"t":"soon","dir":7,"kind":[],"ch":{}}', "not JSON", '{"kind":"hologram"}'],
    [f'{{"t":{t},"dir":"send","kind":"rpc","raw":"{{\\"id\\":1,\\"method\\":\\"x\\"}}"}}' for t in (9, 3, -1)],
])  # fmt: skip
async def test_whatever_a_file_holds_it_can_be_gone_through(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "odd.mcp.jsonl"
    path.write_text("\n".join([Tape().lines[0], *lines]))
    async with replayed(path, clock=Clock()) as (app, pilot, screen):
        keys = "left left right shift+left shift+right ctrl+home space space greater_than_sign n escape"
        more = "right_square_bracket left_square_bracket a ctrl+end m down enter z left right"
        for key in f"{keys} {more}".split():
            await pilot.press(key)
        for words in ("#2", "+1s", "1:00", "start", "end"):
            playback(screen).go_to_place(words)
            await pilot.pause()
        assert playback(screen).player.at_end
        assert app.is_running


def test_a_row_for_now_between_the_others() -> None:
    everything = AllEvents()
    rows = RowsWithMoment(everything, 3)
    for count, expected in ((5, [1, 2, 3, NOW, 4, 5]), (3, [1, 2, 3]), (4, [1, 2, 3, NOW, 4])):
        everything.count = count
        assert [rows[at] for at in range(len(rows))] == expected
        if count == 5:
            assert [rows.position(n) for n in (0, 1, 3, 4, 5, 6)] == [3, 0, 2, 4, 5, None]
        if count == 3:
            assert rows.position(NOW) is None
    before = RowsWithMoment(everything, 0)
    assert [before[at] for at in range(len(before))] == [NOW, 1, 2, 3, 4]


async def test_a_row_that_changed_is_drawn_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was drawn in each tick: at another moment, the rows of the log have other contents."""
    changed: list[list[int]] = []
    draw = MessageList.rows_changed
    monkeypatch.setattr(
        MessageList, "rows_changed", lambda self, rows: draw(self, changed.append([*rows]) or changed[-1])
    )
    async with replayed(path) as (_, pilot, screen):
        await press(pilot, "m", shows="go there")
        for n in (CALLED, LAST, 1):
            await goes_to(pilot, n)
            screen.panes.messages.tick()
            await pilot.pause()
        changed.clear()
        screen.panes.messages.tick()
        assert changed == [[]]
