import pytest

from inspector.tui.widgets.lines_view import LinesView
from inspector.tui.widgets.markdown import MarkdownSection
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.sections import TEXT_LINE, PieceSection, TextSection
from inspector.tui.widgets.text_view import SHOWN_AT_FIRST, MarkdownView, TextView
from tests.tui.tui_screens import Stage, burst, on_stage, press, screen_lines, screen_text, settle


async def test_text_is_wrapped_at_words_and_scrolled_by_the_keys():
    view = TextView("one two three four five six seven\n\n" + "\n".join(f"line {at}" for at in range(30)))
    async with on_stage(view, (16, 6)) as (app, pilot, _):
        wrapped = [" one two three", " four five six", " seven", "", " line 0", " line 1"]
        assert [line[:14].rstrip() for line in screen_lines(app)] == wrapped
        for keys, line, words in (
            ("down", 0, " four five"), ("pagedown up", 0, " line 2"), ("end", 5, " line 29"), ("home", 0, " one two"),
        ):  # fmt: skip
            await pilot.press(*keys.split())
            assert screen_lines(app)[line].startswith(words)


async def test_the_place_is_kept_when_the_width_changes():
    view = TextView("\n".join(f"paragraph {at} of some words that wrap" for at in range(200)))
    async with on_stage(view, (60, 10)) as (app, pilot, _):
        await burst(pilot, "pagedown", "pagedown", "pagedown")
        top = screen_lines(app)[0].split()[1]
        await pilot.resize_terminal(20, 10)
        assert screen_lines(app)[0].split()[:2] == ["paragraph", top]


async def test_very_long_text_shows_its_beginning_and_all_on_a_key():
    text = "".join(f"row {at:06}\n" for at in range(40_000))
    async with on_stage(TextView(text), (40, 6)) as (app, pilot, view):
        assert len(view.section_at(0)[0].raw) <= SHOWN_AT_FIRST
        await pilot.press("end")
        assert "more: a show all" in screen_lines(app)[5]
        assert screen_lines(app)[3].startswith(" row ")
        await press(pilot, "a", "end", shows="row 039999")
        await pilot.press("c")
        assert app.clipboard == text
        # A megabyte in one line is measured beside.
        view.load("word " * 200_000)
        await press(pilot, "a", until=lambda: view.is_measured)
        assert view.rows.count > 200_000 / 8
        await pilot.press("end")
        assert "word" in screen_lines(app)[4]


def test_long_lines_become_several_and_nothing_is_lost():
    section = TextSection("a" * (2 * TEXT_LINE + 5) + "\r\nb\rc")
    assert [len(section.text(line)) for line in range(len(section))] == [TEXT_LINE, TEXT_LINE, 5, 3]
    assert section.text(3) == "b␍c"


async def test_hostile_text_and_markdown_are_shown_and_not_obeyed():
    view = TextView("\x1b]0;title\x07 \x9b31m \u202eevil\u202c [red]x[/red] \udcff\x00")
    async with on_stage(view, (80, 3)) as (app, pilot, _):
        assert screen_lines(app)[0] == " ␛]0;title␇ ‹9B›31m ‹202E›evil‹202C› [red]x[/red] ‹DCFF›␀"
        await pilot.press("c")
    view = MarkdownView("# a\x1b[2J\n[\u202ex](javascript:alert\x07)\n" + "*" * 5000 + "\n" + "`" * 5000 + "[" * 5000)
    async with on_stage(view, (60, 8)) as (app, pilot, _):
        assert screen_lines(app)[0].startswith(" a␛[2J")
        assert screen_lines(app)[1].startswith(" ‹202E›x (javascript:alert␇)")
        await burst(pilot, "end", "a", "c")


async def test_searching_scrolls_a_text_to_the_place():
    view = TextView("\n".join(f"line {at}" for at in range(300)))
    async with on_stage(Pane(view), (30, 12)) as (app, pilot, _):
        await pilot.press("slash", *"line 200", "enter")
        assert "line 200" in screen_text(app)
        assert view.has_focus
        await pilot.press("n")
        assert "line 200" in screen_text(app)


async def test_without_wrapping_the_view_goes_sideways():
    async with on_stage(TextView("0123456789" * 8, wrap=False), (22, 3)) as (app, pilot, _):
        assert screen_lines(app)[0] == " 0123456789012345678…"
        await pilot.press("right")
        assert screen_lines(app)[0] == " …789012345678901234…"
        await burst(pilot, *["right"] * 9)
        assert screen_lines(app)[0].endswith("789")
        await burst(pilot, *["left"] * 9)
        assert screen_lines(app)[0] == " 0123456789012345678…"


async def test_sections_follow_one_another():
    view = LinesView([TextSection(""), TextSection("a\nb"), PieceSection([("12 ms", [(0, 2, "bright")])], copied="12")])
    async with on_stage(view, (22, 6)) as (app, pilot, _):
        assert screen_lines(app)[:4] == ["", " a", " b", " 12 ms"]
        await pilot.press("end", "c")
        assert app.clipboard == "12"
        view.set_sections([])
        await pilot.pause()
        assert view.line == -1
        await pilot.press("c", "n", "slash", "right", "W")


async def test_a_failure_beside_is_reported_where_the_text_would_be():
    class Fails(TextSection):
        def text(self, line: int) -> str:
            if line > 1000:
                raise OverflowError("no more")
            return super().text(line)

    view = LinesView([Fails("some line\n" * 2000)])
    async with Stage(view).run_test(size=(60, 6)) as pilot:
        await settle(pilot, lambda: "This cannot be drawn: OverflowError('no more')" in screen_text(pilot.app))


# Markdown


def drawn(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return each line of a markdown text and, of what is drawn otherwise, its words and role."""
    section = MarkdownSection(text)
    lines = []
    for line in range(len(section)):
        text_of_line = section.text(line)
        lines.append(
            (text_of_line, [(text_of_line[start:end], role) for start, end, role in section.spans(line, text_of_line)])
        )
    return lines


@pytest.mark.parametrize(("text", "expected", "spans"), [
    ("# Title #", "Title", [("Title", "bright bold")]),
    ("a **b c** d", "a b c d", [("b c", "bright bold")]),
    ("a *b* and _c_", "a b and c", [("b", "normal italic"), ("c", "normal italic")]),
    ("use `x **y**`", "use x **y**", [("x **y**", "json-string")]),
    ("**a `b`**", "a b", [("a ", "bright bold"), ("b", "json-string")]),
    ("see [docs](https://x.y/z) now", "see docs (https://x.y/z) now",
     [("docs", "normal underline"), (" (https://x.y/z)", "muted")]),
    ("[https://x.y](https://x.y)", "https://x.y", [("https://x.y", "normal underline")]),
    ("![cat](http://evil/c.png)", "cat (http://evil/c.png)",
     [("cat", "normal underline"), (" (http://evil/c.png)", "muted")]),
    ("snake_case_name and 2*3*4", "snake_case_name and 2*3*4", []),
    (r"\*no\* \[x]", "*no* [x]", []),
    ("    code * here*", "  code * here*", [("code * here*", "json-string")]),
    ("| a | b |", "| a | b |", []),
    ("<b>html</b> &amp; [bold]rich[/bold]", "<b>html</b> &amp; [bold]rich[/bold]", []),
    ("**never closed", "**never closed", []),
])  # fmt: skip
def test_markdown_is_drawn_as_text(text, expected, spans):
    assert drawn(text) == [(expected, spans)]


def test_lines_of_a_paragraph_are_joined_and_blocks_are_not():
    text = "one\ntwo\n\n- item\n  - nested\n3. third\n> quote\n---\n```js\n# not a heading\n```\nend"
    assert [line for line, _ in drawn(text)] == [
        "one two",
        "",
        "· item",
        "  · nested",
        "3. third",
        "▏ quote",
        "────────",
        "  # not a heading",
        "end",
    ]
    section = MarkdownSection("- item\n  10. ten")
    assert [section.hang(0), section.hang(1)] == [2, 6]


def test_a_table_has_columns():
    table = "| Month | Revenue |\n|:--|--:|\n| May | 1,200 |\n| **June** | a\\|b | more |\n\nx | y"
    assert [line for line, _ in drawn(table)] == [
        "Month  Revenue",
        "─────  ───────",
        "May      1,200",
        "June       a|b  more",
        "",
        "x | y",
    ]
    assert drawn(table)[0][1] == [("Month", "bright bold"), ("Revenue", "bright bold")]
    assert drawn(table)[3][1] == [("June", "bright bold")]
    # A long cell moves the rest of its row only.
    lines = [line for line, _ in drawn("a | b\n-|-\n" + "x" * 90 + " | 1\ny | 2")]
    assert lines[2:4] == ["x" * 90 + "  1", "y" + " " * 41 + "2"]


@pytest.mark.parametrize("text", ["| a |\n| b |", "a | b\n---", "a | b\n-|-|-", "a | b\n- : | -"])
def test_bars_without_the_line_of_a_table_are_text(text):
    assert next(line for line, _ in drawn(text)) == text.split("\n")[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "part", ["**a b* ", "[a](b", "`a``b", "[](x", "__a_b", "*_", '[a]( "', "> - # ", "\\", "a|b\n-|-\n"]
)
def test_markdown_of_any_shape_is_read_line_by_line(part):
    section = MarkdownSection(part * 30_000)
    assert len(section) >= len(part) * 30_000 // TEXT_LINE
    assert sum(len(section.text(line)) for line in range(len(section))) > 0
