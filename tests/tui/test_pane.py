from typing import ClassVar

import pytest
from textual.geometry import Region
from textual.widgets import Static

from inspector.tui.keymap import KeyHint, Keymap
from inspector.tui.widgets.key_line import KeyLine
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.tab_row import TabLabel, TabRow
from inspector.tui.widgets.virtual_list import TextRows, VirtualList
from tests.tui.tui_screens import Stage, assert_in, on_stage, screen_lines, screen_text, settle

HINTS = Keymap().hints(["form.call", "form.json", "form.editor"])
TABS = (TabLabel("parsed", "parsed"), TabLabel("raw", "raw"), TabLabel("findings", "findings", "2"))


def ink(app: Stage, x: int, y: int):
    """Return the colour of the cell at a place of the screen, and whether it is bold."""
    strip = app.screen._compositor.render_strips()[y]
    segment = next(iter(strip.crop(x, x + 1)))
    return segment.style.color, bool(segment.style.bold)


async def test_title_at_the_left_facts_at_the_right_keys_at_the_bottom():
    pane = Pane(VirtualList(TextRows(["one"])), title="Result", facts=["12 ms", "29 B"], keys=HINTS)
    pane.note = "✓ valid"
    async with Stage(pane).run_test(size=(60, 8)) as pilot:
        lines = screen_lines(pilot.app)
        assert lines[0].startswith("╭─ Result ──")
        assert lines[0].endswith("── 12 ms  29 B ─╮")
        assert len(lines[0]) == 60
        assert lines[1] == "│ one" + " " * 54 + "│"
        assert lines[6].startswith("│ ^r send   ^e json   ^o $EDITOR ")
        assert lines[6].endswith(" ✓ valid │")
        assert lines[7] == "╰" + "─" * 58 + "╯"


@pytest.mark.parametrize(
    ("name", "title", "top"),
    [
        ("trigger-long", "  A title that says the same", "╭─ trigger-long  A title … ─ 2 to fix ─╮"),
        ("trigger-long-running", "  Title", "╭─ trigger-long-running  … ─ 2 to fix ─╮"),
    ],
)
async def test_facts_give_way_to_a_name_and_not_to_what_follows_it(name, title, top):
    pane = Pane(title=[name, title], facts=["2 to fix", "read-only", "additive"])
    pane.name_cells = len(name)
    async with Stage(pane).run_test(size=(40, 5)) as pilot:
        assert screen_lines(pilot.app)[0] == top


async def test_a_name_gives_way_to_the_facts_that_change_what_is_sent():
    pane = Pane(title="get-recipes-by-category-and-name", facts=["1 to fix; ^r sends anyway", "unsent draft", "app"])
    pane.name_cells = len(pane.title)
    async with Stage(pane).run_test(size=(60, 5)) as pilot:
        assert screen_lines(pilot.app)[0] == "╭─ get-recipes-by-category-a… ─ 1 to fix; ^r sends anyway ─╮"
        pane.firm_facts = 2
        pane.facts = ["1 required", "unsent draft", "app"]
        await settle(pilot, lambda: screen_lines(pilot.app)[0].endswith("-an… ─ 1 required  unsent draft ─╮"))
        pane.facts = ["1 required", "values of today 07:42", "app"]
        await settle(pilot, lambda: screen_lines(pilot.app)[0].endswith("… ─ 1 required  values of today 07:42 ─╮"))


async def test_a_long_title_is_cut_before_facts_are_dropped_and_then_the_last_fact_goes_first():
    pane = Pane(title="trigger-elicitation-request-schema", facts=["waiting 4.1 s", "form"])
    async with Stage(pane).run_test(size=(60, 5)) as pilot:
        for width in (60, 52, 45, 36, 30, 24, 18, 12, 8, 5, 3):
            await pilot.resize_terminal(width, 5)
            await pilot.pause()
            top = screen_lines(pilot.app)[0]
            assert len(top) == width, top
            assert top[0] + top[-1] == "╭╮"
            if "form" in top:
                assert "waiting 4.1 s" in top
            if width >= 36:
                assert "waiting" in top
                assert "trigger-el" in top
            if width >= 12:
                assert "tr" in top
        assert "waiting" not in top


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (3, 1), (1, 5), (5, 2)])
async def test_a_pane_without_room_draws_what_it_can(size):
    pane = Pane(VirtualList(TextRows(["one"])), title="Result", facts=["12 ms"], keys=HINTS, tabs=TABS)
    async with Stage(pane).run_test(size=size) as pilot:
        await pilot.pause()
        assert len(screen_lines(pilot.app)) == size[1]


async def test_only_the_pane_with_the_focus_wears_the_accent_and_a_change_draws_no_content():
    drawn: list[int] = []

    class Rows(TextRows):
        def render(self, index, width, selected, focused):
            drawn.append(index)
            return super().render(index, width, selected, focused)

    one, two = Pane(VirtualList(Rows(["a"] * 5)), title="One"), Pane(VirtualList(TextRows(["two"])), title="Two")
    app = Stage(one, two, css="Pane { height: 5; }")
    async with app.run_test(size=(30, 10)) as pilot:
        await pilot.pause()
        accent, edge = (app.current_theme.palette.style(role).color for role in ("accent", "edge"))
        assert ink(app, 0, 0) == (accent, False)
        assert ink(app, 3, 0)[1], "the title is bold where the focus is"
        assert ink(app, 0, 5)[0] == edge
        assert not ink(app, 3, 5)[1]
        drawn.clear()
        await pilot.press("tab")
        await pilot.pause()
        assert set(drawn) <= {0}
        for x, y in ((0, 0), (0, 2), (29, 2), (12, 4), (29, 4)):
            assert ink(app, x, y)[0] == edge
            assert ink(app, x, y + 5)[0] == accent


async def test_the_tone_is_that_of_what_is_inside():
    pane = Pane(VirtualList(TextRows(["one"])), title="everything asks you")
    async with on_stage(pane, (30, 5)) as (app, pilot, _):
        for tone, y, role in (("ask", 0, "ask"), ("error", 0, "error"), ("", 4, "accent")):
            pane.tone = tone
            await pilot.pause()
            assert ink(app, 0, y)[0] == app.current_theme.palette.style(role).color


async def test_what_is_set_later_is_drawn_later():
    pane = Pane(VirtualList(TextRows(["one"])))
    async with Stage(pane).run_test(size=(40, 8)) as pilot:
        assert screen_lines(pilot.app)[0] == "╭" + "─" * 38 + "╮"
        pane.title, pane.facts, pane.keys, pane.tabs = "T", ["1"], HINTS, TABS
        pane.tab_note = [("→ 7", "sent")]
        await pilot.pause()
        lines = screen_lines(pilot.app)
        assert lines[0].startswith("╭─ T ─")
        assert lines[0].endswith("─ 1 ─╮")
        assert lines[1] == "│ parsed  raw  findings 2          → 7 │"
        assert lines[2].strip("│ ") == ""
        assert lines[3].startswith("│ one")
        assert lines[6].startswith("│ ^r send   ^e json")
        pane.keys, pane.tabs = (), ()
        await pilot.pause()
        lines = screen_lines(pilot.app)
        assert lines[1].startswith("│ one")
        assert "send" not in screen_text(pilot.app)


async def test_a_click_on_a_key_focuses_its_pane_and_presses_the_key():
    class ExamplePane(Pane):
        BINDINGS: ClassVar = [("ctrl+e", "json", "json")]
        done = 0

        def action_json(self) -> None:
            self.done += 1

    one = VirtualList(TextRows(["one"]))
    pane = ExamplePane(VirtualList(TextRows(["two"])), keys=HINTS)
    app = Stage(one, pane, css="VirtualList { height: 1fr; }")
    async with app.run_test(size=(40, 12)) as pilot:
        assert app.focused is one
        await pilot.click(pane.key_line, offset=(11, 0))
        await settle(pilot, lambda: pane.done == 1)
        assert pane.has_focus_within
        await pilot.click(pane.key_line, offset=(9, 0))
        await pilot.pause()
        assert pane.done == 1, "between two hints nothing is pressed"


async def test_hints_that_do_not_fit_are_omitted_from_the_end_and_the_note_stays():
    async with Stage(KeyLine(HINTS, "2 to fix")).run_test(size=(44, 3)) as pilot:
        for width, expected in (
            (44, " ^r send   ^e json   ^o $EDITOR    2 to fix"),
            (39, " ^r send  ^e json             2 to fix"),
            (12, "   2 to fix"),
        ):
            await pilot.resize_terminal(width, 3)
            await pilot.pause()
            assert screen_lines(pilot.app)[0] == expected


async def test_tabs_are_chosen_by_click_and_by_step():
    row = TabRow(TABS)
    row.note = "in answer to → 7"
    async with on_stage(row, (50, 3)) as (app, pilot, _):
        await pilot.click(row, offset=(9, 0))
        assert row.active == "raw"
        row.step(1)
        row.step(1)
        row.choose("parsed")
        row.choose("nothing")
        await pilot.click(row, offset=(45, 0))
        await pilot.click(row, offset=(45, 1))
        await pilot.pause()
        assert [m.tab for m in app.messages_of(TabRow.Chosen)] == ["raw", "findings", "parsed"]
        assert len(app.messages_of(TabRow.NotePressed)) == 1
        row.tabs = (TabLabel("other", "other"),)
        await pilot.pause()
        assert row.active == "other"
        # Where room is missing, the note goes first.
        row.tabs = TABS
        await pilot.resize_terminal(30, 3)
        await pilot.pause()
        assert screen_lines(app)[0] == " parsed  raw  findings 2"


async def test_server_text_in_a_title_cannot_leave_it():
    pane = Pane(
        Static(""), title="a\x1b]0;x\x07\n[bold]b", facts=[("c\u202ed", "muted")], keys=[KeyHint("x", "\x1b[2J", "x")]
    )
    async with Stage(pane).run_test(size=(60, 5)) as pilot:
        text = screen_text(pilot.app)
        assert "\x1b" not in text
        assert_in(text, "╭─ a␛]0;x␇↵[bold]b ─", "c‹202E›d", "x ␛[2J")


async def test_without_unicode_the_edge_is_drawn_in_ascii():
    pane = Pane(VirtualList(TextRows(["one ✓"])), title="a-title-that-is-too-long", facts=["1"])
    async with Stage(pane, ascii_only=True).run_test(size=(26, 4)) as pilot:
        text = screen_text(pilot.app)
        assert text.isascii()
        assert text.startswith("+- a-title-that-is~ - 1 -+")


async def test_a_pane_may_take_the_height_of_its_content():
    view = VirtualList(TextRows(["a", "b"]))
    pane = Pane(view, keys=HINTS, tabs=TABS)
    async with on_stage(pane, (40, 20), css="Pane, VirtualList { height: auto; }") as (_app, pilot, _):
        await pilot.pause()
        assert pane.region == Region(0, 0, 40, 7)
