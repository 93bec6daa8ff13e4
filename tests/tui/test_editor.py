from textual import events
from textual.containers import Vertical
from textual.geometry import Size

from inspector.tui.widgets.editor import MAX_ROWS, Editor
from inspector.tui.widgets.filter_input import FilterInput
from inspector.tui.widgets.visible_characters import shown
from tests.tui.tui_screens import Stage, burst, on_stage, screen_lines, screen_text


async def test_typing_moving_deleting():
    async with on_stage(Editor(), (30, 5)) as (app, pilot, editor):
        await burst(pilot, *"hello", "left", "left", "X", "backspace", "delete", "home", "O", "end", "!")
        assert editor.value == "Ohelo!"
        assert app.heard(Editor.Changed)[-1].value == "Ohelo!"
        await pilot.press("ctrl+w")
        assert editor.value == ""
        await pilot.press("ctrl+z")
        assert editor.value == "Ohelo!"
        await pilot.press("ctrl+y")
        assert editor.value == ""


async def test_selecting_and_the_clipboard():
    editor = Editor("one two")
    async with Stage(editor).run_test(size=(30, 5)) as pilot:
        await pilot.press("ctrl+shift+left", "ctrl+x")
        assert editor.value == "one "
        assert pilot.app.clipboard == "two"
        await pilot.press("home", "ctrl+v")
        assert editor.value == "twoone "
        await burst(pilot, "ctrl+shift+a", "ctrl+c", "x")
        assert editor.value == "x"
        assert pilot.app.clipboard == "twoone "


async def test_the_caret_is_seen_only_with_focus():
    one, two = Editor("one"), Editor("two")
    async with Stage(one, two).run_test(size=(20, 4)) as pilot:
        assert screen_lines(pilot.app)[:2] == ["one▏", "two"]
        await pilot.press("tab")
        assert screen_lines(pilot.app)[:2] == ["one", "two▏"]


async def test_a_long_line_scrolls_with_the_cursor_and_back():
    editor = Editor()
    async with Stage(editor).run_test(size=(10, 3)) as pilot:
        editor.value = "0123456789abcdef"
        await pilot.pause()
        assert screen_lines(pilot.app)[0] == "789abcdef▏"
        await pilot.press("home")
        assert screen_lines(pilot.app)[0] == "0123456789"
        await burst(pilot, "end", *["backspace"] * 8)
        assert screen_lines(pilot.app)[0] == "01234567▏"


async def test_lines_grow_to_a_bound_and_then_scroll():
    editor = Editor(multiline=True)
    box = Vertical(editor)
    async with Stage(box, css="Vertical { height: auto; }").run_test(size=(20, 20)) as pilot:
        await burst(pilot, "a", "ctrl+j", "b", "ctrl+j", "c")
        assert editor.value == "a\nb\nc"
        assert editor.size == Size(20, 3)
        await burst(pilot, *["ctrl+j"] * 8, "z")
        assert editor.size.height == MAX_ROWS
        assert screen_lines(pilot.app)[MAX_ROWS - 1] == "z▏"
        await burst(pilot, *["up"] * 10)
        assert screen_lines(pilot.app)[0] == "a"


async def test_a_line_that_is_too_long_is_broken_and_grows_the_editor():
    editor = Editor(multiline=True)
    box = Vertical(editor)
    async with Stage(box, css="Vertical { height: auto; }").run_test(size=(12, 9)) as pilot:
        await burst(pilot, *("space" if char == " " else char for char in "a poem of abcdefghijklm"))
        assert editor.value == "a poem of abcdefghijklm"
        assert screen_lines(pilot.app)[:3] == ["a poem of", "abcdefghijk", "lm▏"]
        assert editor.size.height == 3
        await burst(pilot, "up", "up", "end", "X", "down", "home", "Y")
        assert editor.value == "a poem ofX Yabcdefghijklm"
        await burst(pilot, "down", "down")
        await pilot.press("ctrl+u")
        assert (editor.value, editor.size.height) == ("lm", 1)


async def test_json_and_secrets_are_not_broken():
    coded = Editor("[1, 2, 3, 4, 5, 6]", multiline=True, highlight=lambda line: [])
    secret = Editor("one two three four", multiline=True)
    secret.concealed = True
    async with Stage(coded, secret).run_test(size=(10, 5)):
        assert (coded.size.height, secret.size.height) == (1, 1)


async def test_up_and_down_leave_a_text_at_its_ends():
    class Pane(Vertical):
        BINDINGS = [("up", "past", ""), ("down", "past", "")]  # noqa: RUF012
        times = 0

        def action_past(self) -> None:
            self.times += 1

    editor = Editor("one\ntwo", multiline=True)
    pane = Pane(editor)
    async with Stage(pane).run_test(size=(20, 5)) as pilot:
        await pilot.press("up")
        assert pane.times == 0
        await burst(pilot, "up", "down", "down")
        assert pane.times == 2


async def test_enter_submits_and_a_single_line_has_no_line_ends():
    async with on_stage(Editor(), (20, 5)) as (app, pilot, editor):
        await burst(pilot, "a", "ctrl+j", "b", "enter")
        assert [m.value for m in app.heard(Editor.Submitted)] == ["ab"]
        editor.post_message(events.Paste("\none\r\ntwo\n"))
        await pilot.pause()
        assert editor.value == "abone two"


async def test_lines_are_pasted_where_lines_may_be():
    editor = Editor(multiline=True)
    async with Stage(editor).run_test(size=(20, 5)) as pilot:
        editor.post_message(events.Paste("one\r\ntwo\rthree"))
        await pilot.pause()
        assert editor.value == "one\ntwo\nthree"
        editor.post_message(events.Paste(""))
        await pilot.pause()
        assert editor.value == "one\ntwo\nthree"


async def test_a_text_that_is_too_long_is_handed_on_whole():
    async with on_stage(Editor("ab", limit=10), (20, 5)) as (app, pilot, editor):
        editor.post_message(events.Paste("x" * 100))
        await pilot.pause()
        assert editor.value == "ab"
        assert [m.value for m in app.heard(Editor.TooLong)] == ["ab" + "x" * 100]


async def test_no_character_of_a_value_reaches_the_terminal_as_it_is_if_it_has_no_shape():
    editor = Editor("a\x1b[31mb\x9bc\u202ed\u200be\x7f\ud800[bold]f\tg")
    async with Stage(editor).run_test(size=(90, 3)) as pilot:
        assert screen_lines(pilot.app)[0] == "a␛[31mb‹9B›c‹202E›d‹200B›e␡‹D800›[bold]f    g▏"
        await burst(pilot, "home", *["right"] * 8, "backspace")
        assert editor.value == "a\x1b[31mbc\u202ed\u200be\x7f\ud800[bold]f\tg", "what is shown as four cells is one"


async def test_wide_characters_and_marks_keep_the_cursor_on_its_cell():
    editor = Editor("日本e\u0301x")
    assert shown("日本e\u0301x") == (["日", "本", "e", "\u0301", "x"], [0, 2, 4, 5, 5, 6])
    assert shown("\u3000日\u3000") == (["‹3000›", "日", "\u3000"], [0, 6, 8, 10])
    assert shown("a\u00a0b") == (["a", "‹A0›", "b"], [0, 1, 5, 6])
    async with Stage(editor).run_test(size=(20, 3)) as pilot:
        await pilot.click(editor, offset=(2, 0))
        await pilot.press("|")
        assert editor.value == "日|本e\u0301x"
        await pilot.click(editor, offset=(19, 0))
        await pilot.press("!")
        assert editor.value == "日|本e\u0301x!"


async def test_dragging_selects():
    editor = Editor("hello world")
    async with Stage(editor).run_test(size=(20, 3)) as pilot:
        await pilot.mouse_down(editor, offset=(6, 0))
        await pilot.hover(editor, offset=(11, 0))
        await pilot.mouse_up(editor, offset=(11, 0))
        assert editor.buffer.selected == "world"


async def test_a_suggestion_is_taken_at_the_end_only():
    editor = Editor("py")
    editor.suggestion = "python"
    async with Stage(editor).run_test(size=(20, 3)) as pilot:
        assert screen_lines(pilot.app)[0] == "py▏thon"
        await burst(pilot, "left", "right", "right")
        assert editor.value == "python"
        await pilot.press("right")
        assert editor.value == "python"


async def test_a_value_shown_for_another_posts_nothing():
    async with on_stage(Editor("one"), (20, 3)) as (app, pilot, editor):
        editor.show_without_change("two")
        await pilot.pause()
        assert screen_lines(app)[0] == "two▏"
        assert app.heard(Editor.Changed) == []
        editor.value = "three"
        await pilot.pause()
        assert [m.value for m in app.heard(Editor.Changed)] == ["three"]


async def test_without_unicode_the_editor_is_ascii():
    editor = Editor("naïve")
    async with Stage(editor, ascii_only=True).run_test(size=(20, 3)) as pilot:
        assert screen_text(pilot.app).rstrip() == "na\\xefve|"


# The filter


async def test_the_filter_is_quiet_until_it_is_used():
    view = FilterInput()
    other = Editor()
    view.idle_note = [("esc", "key"), " all messages"]
    view.note = "since start  t"
    app = Stage(other, view)
    async with app.run_test(size=(50, 4)) as pilot:
        assert screen_lines(app)[1] == " / filter" + " " * 26 + "since start  t"
        view.focus()
        await burst(pilot, *"id:7")
        assert screen_lines(app)[1].startswith(" / id:7▏")
        other.focus()
        await pilot.pause()
        assert screen_lines(app)[1] == " / id:7" + " " * 26 + "esc all messages"


async def test_esc_clears_and_then_leaves_and_enter_leaves_with_the_filter_in_force():
    async with on_stage(FilterInput(), (40, 4)) as (app, pilot, view):
        await burst(pilot, *"abc", "enter")
        assert view.value == "abc"
        assert len(app.heard(FilterInput.Left)) == 1
        await pilot.press("escape")
        assert view.value == ""
        assert len(app.heard(FilterInput.Left)) == 1
        await pilot.press("escape")
        assert len(app.heard(FilterInput.Left)) == 2
        assert app.heard(Editor.Submitted) == []


async def test_the_words_of_a_filter_are_coloured():
    view = FilterInput(highlight=lambda text: [(0, 7, "json-key"), (7, 99, "error")])
    async with on_stage(view, (40, 4)) as (app, pilot, _):
        await burst(pilot, *"method:x")
        look = app.current_theme.palette
        strip = app.screen._compositor.render_strips()[0]
        assert next(iter(strip.crop(3, 4))).style.color == look.style("json-key").color
        assert next(iter(strip.crop(10, 11))).style.color == look.style("error").color
