from contextlib import asynccontextmanager

from textual.containers import Vertical
from textual.events import MouseScrollDown
from textual.geometry import Size

from inspector.tui.widgets import paint
from inspector.tui.widgets.form import Note
from inspector.tui.widgets.virtual_list import TextRows, VirtualList
from tests.tui.tui_screens import Stage, burst, on_stage, screen_lines, screen_text, settle


class Numbers:
    """Numbered rows, which counts what it is asked to draw."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.drawn: list[int] = []

    def __len__(self) -> int:
        return self.count

    def render(self, index, width, selected, focused):
        self.drawn.append(index)
        mark = ">" if selected else " "
        return paint.segments(f"{mark}row {index}{' here' if focused else ''}", room=width)


class Keyed:
    """Rows that are names, and keep their identity when others come and go."""

    def __init__(self, *names: str) -> None:
        self.names = list(names)

    def __len__(self) -> int:
        return len(self.names)

    def key_at(self, index):
        return self.names[index]

    def index_of(self, key):
        return self.names.index(key) if key in self.names else None

    def render(self, index, width, selected, focused):
        return paint.segments(self.names[index], room=width)


@asynccontextmanager
async def on_list(source, size=(40, 10), **more):
    """A screen with a list of these rows, drawn once."""
    async with on_stage(VirtualList(source, **more), size) as (app, pilot, view):
        if isinstance(source, Numbers):
            source.drawn.clear()
        yield app, pilot, view


async def changed(pilot, view: VirtualList, first: int = 0) -> None:
    """Tell the list that the rows from `first` on are others."""
    view.source_changed(first)
    await pilot.pause()


def count_layouts(app: Stage) -> list[object]:
    """A list that gets an entry for each layout of the screen from now on."""
    layouts: list[object] = []
    app.screen.screen_layout_refresh_signal.subscribe(app.screen, layouts.append)
    return layouts


async def test_only_visible_rows_of_a_million_are_drawn():
    source = Numbers(1_000_000)
    async with on_stage(VirtualList(source), (40, 10)) as (app, pilot, view):
        assert set(source.drawn) <= set(range(12))
        await pilot.press("end")
        assert view.cursor == 999_999
        assert "row 999999" in screen_lines(app)[9]
        assert len(set(source.drawn)) < 60


async def test_only_rows_that_changed_are_drawn_again():
    source = Numbers(100)
    async with on_list(source) as (app, pilot, view):
        await pilot.press("down")
        assert sorted(source.drawn) == [0, 1], "a move draws two rows"
        source.drawn.clear()
        view.rows_changed([3, 70])
        await pilot.pause()
        assert source.drawn == [3]
        # Appended rows out of sight draw nothing.
        source.drawn.clear()
        layouts = count_layouts(app)
        source.count = 100_000
        await changed(pilot, view, 100)
        assert source.drawn == []
        assert view.virtual_size == Size(0, 100_000)
        assert view.vertical_scrollbar.window_virtual_size == 100_000
        assert not layouts, "the screen is not laid out again for a row"
        source.count = 5
        await changed(pilot, view, 5)
        assert not view.show_vertical_scrollbar


async def test_a_widget_that_comes_is_laid_out_once_and_draws_no_scroll_bar_again():
    async with on_list(Numbers(100)) as (app, pilot, view):
        layouts, drawn = count_layouts(app), []
        bar = view.vertical_scrollbar
        bar.refresh = lambda *regions, **more: drawn.append(regions) or bar
        await app.mount(Note(("new", "error")))
        await pilot.pause()
        assert len(layouts) == 1
        drawn.clear()
        app.query_one(Note).refresh(layout=True)
        await pilot.pause()
        assert not drawn, "the list has the size it had"


async def test_every_key_moves_as_it_says_and_the_cursor_stays_in_view():
    moves = "down 1 j 2 up 1 k 0 k 0 pagedown 10 pageup 0 end 99 down 99 home 0 G 99 g 0".split()
    async with on_list(Numbers(100)) as (app, pilot, view):
        for key, row in zip(moves[::2], moves[1::2], strict=True):
            await pilot.press(key)
            assert view.cursor == int(row), key
        for _ in range(5):
            app.simulate_key("down")
        await pilot.pause()
        assert view.cursor == 5, "five keys at once move five rows"
        for keys, row in ((["down"] * 7, 12), (["up"] * 11, 1)):
            await burst(pilot, *keys)
            assert f">row {row} here" in screen_text(app)
        await pilot._post_mouse_events([MouseScrollDown], view, (2, 2))
        await pilot.pause()
        assert view.scroll_offset.y > 0, "the wheel scrolls without moving the cursor"
        assert view.cursor == 1
        # A smaller window keeps the cursor in view, and a list that cannot follow does not.
        view.cursor = 9
        await pilot.resize_terminal(30, 6)
        assert ">row 9 here" in screen_text(app)
        await pilot.press("end")
        assert not view.follow
        view.follow = True
        assert not view.follow


async def test_enter_and_double_click_select_and_a_click_highlights():
    async with on_stage(VirtualList(Keyed("a", "b", "c")), (40, 10)) as (app, pilot, view):
        await pilot.click(view, offset=(3, 2))
        assert view.cursor == 2
        assert app.messages_of(VirtualList.Selected) == []
        await pilot.click(view, offset=(3, 1), times=2)
        await pilot.press("enter")
        assert [(m.index, m.key) for m in app.messages_of(VirtualList.Selected)] == [(1, "b"), (1, "b")]
        assert [m.key for m in app.messages_of(VirtualList.Highlighted)] == ["a", "c", "b"]
        await pilot.click(view, offset=(3, 8))
        assert view.cursor == 1


async def test_the_selection_stays_with_its_thing_when_rows_come_and_go():
    source = Keyed("b", "d", "f")
    async with on_stage(VirtualList(source), (40, 10)) as (app, pilot, view):
        await pilot.press("down")
        # What was chosen is chosen again when a filter lets it back.
        for names, selected in (("abcdf", "d"), ("af", "f"), ("abcdf", "d")):
            source.names = [*names]
            await changed(pilot, view)
            assert view.row_key(view.cursor) == selected
        assert [m.key for m in app.messages_of(VirtualList.Highlighted)] == ["b", "d", "f", "d"]


async def test_the_row_under_the_cursor_does_not_move_on_the_screen():
    source = Keyed(*(f"n{i}" for i in range(50)))
    async with on_list(source) as (app, pilot, view):
        view.cursor = 20
        view.cursor = 15
        await pilot.pause()
        line = next(at for at, text in enumerate(screen_lines(app)) if text.split()[0] == "n15")
        source.names[:0] = ["x", "y", "z"]
        await changed(pilot, view)
        assert screen_lines(app)[line].split()[0] == "n15"


async def test_a_list_that_empties_and_fills():
    source = Keyed("a")
    async with on_list(source, empty="No tools here.\nr lists them again") as (app, pilot, view):
        source.names = []
        await changed(pilot, view)
        assert view.cursor == -1
        assert screen_lines(app)[:2] == [" No tools here.", " r lists them again"]
        await burst(pilot, "enter", "down", "up", "end", "home", "pagedown")
        assert view.cursor == -1
        source.names = ["b", "c"]
        await changed(pilot, view)
        assert view.cursor == 0
        assert [(m.index, m.key) for m in app.messages_of(VirtualList.Highlighted)] == [(0, "a"), (-1, None), (0, "b")]
        assert app.messages_of(VirtualList.Selected) == []


async def test_enter_on_an_empty_list_counts_for_the_row_that_comes_next():
    source = Keyed()
    async with on_list(source) as (app, pilot, view):
        view.takes_early_enter = True
        await pilot.press("enter")
        source.names = ["a", "b"]
        view.source_changed()
        await settle(pilot, lambda: bool(app.messages_of(VirtualList.Selected)))
        app.set_focus(None)
        await pilot.pause()
        assert [(m.index, m.key) for m in app.messages_of(VirtualList.Selected)] == [(0, "a")]


async def test_following_ends_when_the_cursor_leaves_the_end_and_resumes_on_end():
    source = Numbers(20)
    async with on_list(source, follow=True) as (app, pilot, view):

        async def grows_to(count: int, *, line: int | None = 9) -> None:
            """Add rows; the row of the cursor is then on this line of the screen."""
            first, source.count = source.count, count
            await changed(pilot, view, first)
            assert f">row {view.cursor} here" in (screen_text(app) if line is None else screen_lines(app)[line])

        assert view.cursor == 19
        await grows_to(30)
        assert view.cursor == 29
        await pilot.press("up")
        assert not view.follow
        await grows_to(40, line=None)
        assert view.cursor == 28
        await pilot.press("end")
        assert view.follow
        await grows_to(41)
        assert view.cursor == 40
        assert [m.follow for m in app.messages_of(VirtualList.FollowChanged)] == [False, True]


async def test_a_resized_list_goes_on_following_until_it_is_scrolled_away():
    source = Numbers(100)
    async with on_list(source, follow=True) as (app, pilot, view):
        for height in (20, 5, 12):
            await pilot.resize_terminal(40, height)
            assert view.follow
            assert ">row 99 here" in screen_lines(app)[height - 1]
        view.scroll_to(y=50, animate=False, force=True)
        await pilot.pause()
        assert not view.follow
        source.count = 120
        await changed(pilot, view, 100)
        assert "row 50" in screen_lines(app)[0]


async def test_the_selected_row_has_another_ground_without_focus():
    one, two = VirtualList(Numbers(2)), VirtualList(Numbers(2))
    app = Stage(one, two)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        theme = app.current_theme.palette
        assert grounds(one, 0) == {theme.style("selection").bgcolor}
        assert grounds(two, 0) == {theme.style("selection-dim").bgcolor}
        assert grounds(two, 1) == {theme.style("ground").bgcolor}
        await pilot.press("tab")
        assert grounds(one, 0) == {theme.style("selection-dim").bgcolor}
        app.switch.use("light")
        await pilot.pause()
        assert grounds(two, 0) == {app.current_theme.palette.style("selection").bgcolor}


def grounds(view: VirtualList, line: int):
    with view.app._context():
        return {segment.style.bgcolor for segment in view.render_line(line)}


class TwoLines(VirtualList):
    row_height = 2

    def render_row(self, index, width, selected, focused):
        from textual.strip import Strip

        return [Strip(paint.segments(f"rule {index}")), Strip(paint.segments(f"seen {index}"))]


async def test_rows_may_be_higher_than_one_line():
    view = TwoLines(Numbers(30))
    async with Stage(view).run_test(size=(40, 9)) as pilot:
        assert [line[:7] for line in screen_lines(pilot.app)[:4]] == [" rule 0", " seen 0", " rule 1", " seen 1"]
        await burst(pilot, *["down"] * 10)
        assert [line[:8] for line in screen_lines(pilot.app)[7:]] == [" rule 10", " seen 10"]
        await pilot.click(view, offset=(3, 0))
        assert view.cursor == 6


async def test_hostile_text_stays_in_its_row():
    rows = TextRows([[("a\x1b[31mb\nc\u202ed[bold]e[/]", "bright")], "\ud800 日本語" * 40, "x" * 100_000])
    async with Stage(VirtualList(rows)).run_test(size=(40, 6)) as pilot:
        lines = screen_lines(pilot.app)
        assert lines[0] == " a␛[31mb↵c‹202E›d[bold]e[/]"
        assert "\x1b" not in "".join(lines)
        assert lines[2].endswith("…")


async def test_a_list_in_a_box_takes_the_height_of_its_rows():
    view = VirtualList(Numbers(3))
    async with on_stage(Vertical(view), (40, 10), css="Vertical, VirtualList { height: auto; }") as (_app, _pilot, _):
        assert view.size.height == 3
