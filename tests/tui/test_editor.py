import pytest
from textual import events
from textual.containers import Vertical
from textual.geometry import Size

from inspector.tui.widgets.editor import MAX_ROWS, Editor, character_cells
from inspector.tui.widgets.filter_input import FilterInput
from tests.tui.tui_screens import Stage, burst, on_stage, screen_lines, screen_text


async def paste(pilot, editor: Editor, text: str) -> str:
    """Paste a text; returns the value."""
    editor.post_message(events.Paste(text))
    await pilot.pause()
    return editor.value


@pytest.mark.parametrize(("begin", "steps"), [
    # Typing, moving, deleting
    ("", [
        ("h e l l o left left X backspace delete home O end !", "Ohelo!", ""), ("ctrl+w", "", ""),
        ("ctrl+z", "Ohelo!", ""), ("ctrl+y", "", ""),
    ]),
    # Selecting, and the clipboard
    ("one two", [
        ("ctrl+shift+left ctrl+x", "one ", "two"), ("home ctrl+v", "twoone ", "two"),
        ("ctrl+shift+a ctrl+c x", "x", "twoone "),
    ]),
])  # fmt: skip
async def test_keys_edit_the_text(begin, steps):
    async with on_stage(Editor(begin), (30, 5)) as (app, pilot, editor):
        for keys, value, copied in steps:
            await burst(pilot, *keys.split())
            assert (editor.value, app.clipboard) == (value, copied), keys
            assert app.messages_of(Editor.Changed)[-1].value == value


async def test_the_caret_is_seen_only_with_focus():
    one, two = Editor("one"), Editor("two")
    async with Stage(one, two).run_test(size=(20, 4)) as pilot:
        assert screen_lines(pilot.app)[:2] == ["one▏", "two"]
        await pilot.press("tab")
        assert screen_lines(pilot.app)[:2] == ["one", "two▏"]


async def test_a_long_line_scrolls_with_the_cursor_and_back():
    async with on_stage(Editor(), (10, 3)) as (app, pilot, editor):
        editor.value = "0123456789abcdef"
        await pilot.pause()
        for keys, line in (([], "789abcdef▏"), (["home"], "0123456789"), (["end", *["backspace"] * 8], "01234567▏")):
            await burst(pilot, *keys)
            assert screen_lines(app)[0] == line


async def test_lines_grow_to_a_bound_and_then_scroll():
    box = Vertical(editor := Editor(multiline=True))
    async with on_stage(box, (20, 20), css="Vertical { height: auto; }") as (app, pilot, _):
        await burst(pilot, "a", "ctrl+j", "b", "ctrl+j", "c")
        assert (editor.value, editor.size) == ("a\nb\nc", Size(20, 3))
        await burst(pilot, *["ctrl+j"] * 8, "z")
        assert editor.size.height == MAX_ROWS
        assert screen_lines(app)[MAX_ROWS - 1] == "z▏"
        await burst(pilot, *["up"] * 10)
        assert screen_lines(app)[0] == "a"


async def test_a_line_that_is_too_long_is_broken_and_grows_the_editor():
    box = Vertical(editor := Editor(multiline=True))
    async with on_stage(box, (12, 9), css="Vertical { height: auto; }") as (app, pilot, _):
        await burst(pilot, *("space" if char == " " else char for char in "a poem of abcdefghijklm"))
        assert (editor.value, editor.size.height) == ("a poem of abcdefghijklm", 3)
        assert screen_lines(app)[:3] == ["a poem of", "abcdefghijk", "lm▏"]
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

    async with on_stage(Pane(Editor("one\ntwo", multiline=True)), (20, 5)) as (_app, pilot, pane):
        await pilot.press("up")
        assert pane.times == 0
        await burst(pilot, "up", "down", "down")
        assert pane.times == 2


async def test_enter_submits_and_lines_are_pasted_only_where_lines_may_be():
    async with on_stage(Editor(), (20, 5)) as (app, pilot, editor):
        await burst(pilot, "a", "ctrl+j", "b", "enter")
        assert [m.value for m in app.messages_of(Editor.Submitted)] == ["ab"]
        assert await paste(pilot, editor, "\none\r\ntwo\n") == "abone two"
    async with on_stage(Editor(multiline=True, limit=100), (20, 5)) as (app, pilot, editor):
        assert await paste(pilot, editor, "one\r\ntwo\rthree") == "one\ntwo\nthree"
        assert await paste(pilot, editor, "") == "one\ntwo\nthree"
        # A text that is too long is handed on whole.
        assert await paste(pilot, editor, "x" * 100) == "one\ntwo\nthree"
        assert [m.value for m in app.messages_of(Editor.TooLong)] == ["one\ntwo\nthree" + "x" * 100]


async def test_no_character_of_a_value_reaches_the_terminal_as_it_is_if_it_has_no_shape():
    editor = Editor("a\x1b[31mb\x9bc\u202ed\u200be\x7f\ud800[bold]f\tg")
    async with Stage(editor).run_test(size=(90, 3)) as pilot:
        assert screen_lines(pilot.app)[0] == "a␛[31mb‹9B›c‹202E›d‹200B›e␡‹D800›[bold]f    g▏"
        await burst(pilot, "home", *["right"] * 8, "backspace")
        assert editor.value == "a\x1b[31mbc\u202ed\u200be\x7f\ud800[bold]f\tg", "what is shown as four cells is one"


async def test_wide_characters_and_marks_keep_the_cursor_on_its_cell():
    assert character_cells("日本e\u0301x") == (["日", "本", "e", "\u0301", "x"], [0, 2, 4, 5, 5, 6])
    assert character_cells("\u3000日\u3000") == (["‹3000›", "日", "\u3000"], [0, 6, 8, 10])
    assert character_cells("a\u00a0b") == (["a", "‹A0›", "b"], [0, 1, 5, 6])
    async with on_stage(Editor("日本e\u0301x"), (20, 3)) as (_app, pilot, editor):
        for x, key, value in ((2, "|", "日|本e\u0301x"), (19, "!", "日|本e\u0301x!")):
            await pilot.click(editor, offset=(x, 0))
            await pilot.press(key)
            assert editor.value == value


async def test_dragging_selects():
    async with on_stage(Editor("hello world"), (20, 3)) as (_app, pilot, editor):
        await pilot.mouse_down(editor, offset=(6, 0))
        await pilot.hover(editor, offset=(11, 0))
        await pilot.mouse_up(editor, offset=(11, 0))
        assert editor.buffer.selected == "world"


async def test_a_suggestion_is_taken_at_the_end_only():
    editor = Editor("py")
    editor.suggestion = "python"
    async with on_stage(editor, (20, 3)) as (app, pilot, _):
        assert screen_lines(app)[0] == "py▏thon"
        for keys in (["left", "right", "right"], ["right"]):
            await burst(pilot, *keys)
            assert editor.value == "python"


async def test_a_value_shown_for_another_posts_nothing():
    async with on_stage(Editor("one"), (20, 3)) as (app, pilot, editor):
        editor.show_without_change("two")
        await pilot.pause()
        assert screen_lines(app)[0] == "two▏"
        assert app.messages_of(Editor.Changed) == []
        editor.value = "three"
        await pilot.pause()
        assert [m.value for m in app.messages_of(Editor.Changed)] == ["three"]


async def test_without_unicode_the_editor_is_ascii():
    async with on_stage(Editor("naïve"), (20, 3), ascii_only=True) as (app, _pilot, _editor):
        assert screen_text(app).rstrip() == "na\\xefve|"


# The filter


async def test_the_filter_is_quiet_until_it_is_used():
    view, other = FilterInput(), Editor()
    view.idle_note = [("esc", "key"), " all messages"]
    view.note = "since start  t"
    async with Stage(other, view).run_test(size=(50, 4)) as pilot:
        assert screen_lines(pilot.app)[1] == " / filter" + " " * 26 + "since start  t"
        view.focus()
        await burst(pilot, *"id:7")
        assert screen_lines(pilot.app)[1].startswith(" / id:7▏")
        other.focus()
        await pilot.pause()
        assert screen_lines(pilot.app)[1] == " / id:7" + " " * 26 + "esc all messages"


async def test_esc_clears_and_then_leaves_and_enter_leaves_with_the_filter_in_force():
    async with on_stage(FilterInput(), (40, 4)) as (app, pilot, view):
        for keys, value, left in (("abc", "abc", 0), (["enter"], "abc", 1), (["escape"], "", 1), (["escape"], "", 2)):
            await burst(pilot, *keys)
            assert (view.value, len(app.messages_of(FilterInput.Left))) == (value, left)
        assert app.messages_of(Editor.Submitted) == []


async def test_the_words_of_a_filter_are_coloured():
    view = FilterInput(highlight=lambda text: [(0, 7, "json-key"), (7, 99, "error")])
    async with on_stage(view, (40, 4)) as (app, pilot, _):
        await burst(pilot, *"method:x")
        theme = app.current_theme.palette
        strip = app.screen._compositor.render_strips()[0]
        assert next(iter(strip.crop(3, 4))).style.color == theme.style("json-key").color
        assert next(iter(strip.crop(10, 11))).style.color == theme.style("error").color
