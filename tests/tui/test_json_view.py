import json
import threading
from contextlib import asynccontextmanager
from unittest.mock import ANY

import pytest

from inspector.tui.widgets.clipboard import Copied
from inspector.tui.widgets.json_view import AT_ONCE, JsonView
from inspector.tui.widgets.pane import Pane
from inspector.tui.widgets.search import SearchLine, pattern_of
from inspector.tui.widgets.sections import json_spans
from inspector.tui.widgets.virtual_list import VirtualList
from tests.tui.tui_screens import Stage, burst, on_stage, screen_lines, screen_text, settle

ANSWER = (
    '{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"Echo: hello"}],"isError":false,'
    '"structured":{"amount":12.50,"amount":1e3,"deep":[[1,2],[{"x":null}]]}}}'
)


@asynccontextmanager
async def on_json(view: JsonView | str, width: int = 60, height: int = 30):
    """A screen of this size with a view of a JSON text, drawn."""
    view = JsonView(view) if isinstance(view, str) else view
    async with on_stage(view, (width, height), css="JsonView { height: 1fr; }") as (app, pilot, _):
        yield app, pilot, view


def strip_at(app: Stage, line: int):
    return app.screen._compositor.render_strips()[line]


def inks(app: Stage, line: int) -> dict[str, str]:
    """Return, for each run of a line, its text and the role of its colour."""
    theme = app.current_theme.palette
    roles = {theme.style(f"json-{kind}").color: kind for kind in ("key", "string", "number", "mark")}
    roles[theme.style("json-word").color] = "word"
    strip = strip_at(app, line)
    return {segment.text.strip(): roles.get(segment.style.color, "") for segment in strip if segment.text.strip()}


async def test_json_is_indented_kept_as_it_was_spelled_and_each_kind_of_value_has_its_colour():
    async with on_json(ANSWER) as (app, pilot, _view):
        assert screen_lines(app)[:12] == [
            " {",
            '   "jsonrpc": "2.0",',
            '   "id": 7,',
            '   "result": {',
            '     "content": [',
            '       { "type": "text", "text": "Echo: hello" }',
            "     ],",
            '     "isError": false,',
            '     "structured": {',
            '       "amount": 12.50,',
            '       "amount": 1e3,',
            '       "deep": [',
        ]
        await pilot.press("end")
        assert inks(app, 1) == {'"jsonrpc"': "key", ":": "mark", '"2.0"': "string", ",": "mark"}
        assert inks(app, 7) == {'"isError"': "key", ":": "mark", "false": "word", ",": "mark"}
        assert inks(app, 10) == {'"amount"': "key", ":": "mark", "1e3": "number", ",": "mark"}


def test_strings_that_look_like_json_are_strings():
    spans = json_spans(r'"a": "x: \"12\", true", -1.5e+3')
    assert [role for _, _, role in spans] == ["json-key", "json-mark", "json-string", "json-mark", "json-number"]
    assert [role for _, _, role in json_spans('"cut off')] == ["json-string"]


async def test_values_fold_and_unfold():
    async with on_json(ANSWER) as (app, pilot, view):
        whole = screen_text(app)
        await burst(pilot, *["down"] * 3, "space")
        assert screen_lines(app)[3:5] == ['   "result": {  3 fields', " }"]
        assert view.line == 3
        await pilot.press("space")
        assert screen_text(app) == whole
        await pilot.press("down", "enter")
        assert screen_lines(app)[4] == '     "content": [  1 item'
        await pilot.press("right")
        assert screen_text(app) == whole
        # Everything folds but the outermost.
        await pilot.press("minus")
        folded = ["{", '"jsonrpc": "2.0",', '"id": 7,', '"result": {  3 fields', "}"]
        assert [line.strip() for line in screen_lines(app)[:5]] == folded
        await pilot.press("equals_sign")
        assert '"x": null' in screen_text(app)


async def test_left_folds_and_then_goes_to_what_is_around_and_right_goes_in():
    async with on_json(ANSWER) as (_app, pilot, view):
        for keys, line, folded in (
            (["down"] * 5 + ["left"], 4, {}),
            (["left", "left"], 3, {4: 6}),
            (["right", "right"], 4, {}),
            (["left"] * 4, 0, ANY),
        ):
            await burst(pilot, *keys)
            assert (view.line, view.rows.folded) == (line, folded)


async def test_values_and_paths_are_copied_exactly_and_enter_opens_a_single_value():
    async with on_json(ANSWER) as (app, pilot, _view):
        for keys, copied in (
            (["down"] * 9 + ["c"], "12.50"),
            (["p"], "/result/structured/amount"),
            (["up"] * 5 + ["c"], '[{"type":"text","text":"Echo: hello"}]'),
        ):
            await burst(pilot, *keys)
            assert app.clipboard == copied
        assert [m.what for m in app.messages_of(Copied)] == ["the value", "the path", "the value"]
        await burst(pilot, "up", "up", "enter")
        assert [(m.pointer, m.raw) for m in app.messages_of(JsonView.Opened)] == [("/id", "7")]
        assert app.messages_of(VirtualList.Selected) == []


async def test_searching_finds_what_is_folded_and_goes_round():
    view = JsonView(ANSWER)
    async with on_stage(Pane(view, title="detail"), (60, 30)) as (app, pilot, _):
        await pilot.press("minus", "slash")
        line = app.query_one(SearchLine)
        assert line.has_focus
        assert [hint.title for hint in line.hints()] == ["to match", "end search"], "there are no rows"
        await burst(pilot, *"AMOUNT")
        assert "not found" in screen_text(app)
        await burst(pilot, "ctrl+u", *"amount")
        assert view.line == 9
        await pilot.press("enter")
        assert view.has_focus
        assert not line.display
        for key, expected in (("n", 10), ("n", 9), ("N", 10)):
            await pilot.press(key)
            assert view.line == expected
        strip = strip_at(app, 10)
        at = strip.text.index("amount")
        assert next(iter(strip.crop(at, at + 1))).style.reverse
        await pilot.press("slash", "escape")
        assert view.has_focus


def test_a_search_finds_any_case_unless_it_names_one_and_what_json_escapes():
    assert pattern_of("echo").search('"Echo"')
    assert not pattern_of("Echo").search('"echo"')
    assert pattern_of("é").search('"caf\\u00e9"')
    assert pattern_of('say "x"').search(json.dumps('say "x"'))
    assert pattern_of("a.b").search("a.b")
    assert not pattern_of("a.b").search("axb")


@pytest.mark.parametrize(("raw", "expected"), [
    ("not json \x1b[31m at all", ["not json ␛[31m at all"]),
    ('{"a": 1,\n "b": }', ['{"a": 1,', ' "b": }']),
    ('{"a":', ['{"a":']),
    ('"\x00"', ['"␀"']),
])  # fmt: skip
async def test_what_is_not_json_is_shown_unchanged(raw, expected):
    async with on_json(raw, height=8) as (app, pilot, view):
        assert [line[1:] for line in screen_lines(app)[: len(expected)]] == expected
        assert [m.problem for m in app.messages_of(JsonView.Loaded)] == [view.problem]
        await burst(pilot, "space", "left", "right", "minus", "p", "c")


async def test_the_line_where_json_stops_is_shown_in_red():
    async with on_json("[1,\n" + "2,\n" * 50 + "oops]\n", 40, 10) as (app, pilot, view):
        at = next(at for at, text in enumerate(screen_lines(app)) if "oops" in text)
        assert view.problem is not None
        await pilot.press("up")
        assert next(iter(strip_at(app, at).crop(2, 3))).style.color == app.current_theme.palette.style("error").color


MEGABYTES = json.dumps([{"name": f"tool {at}", "text": "x" * 50} for at in range(2000)])


async def test_megabytes_are_laid_out_beside_and_the_view_says_so():
    assert len(MEGABYTES) > AT_ONCE
    view = JsonView(MEGABYTES)
    assert view.empty == "formatting 169 kB…"
    async with on_json(view, height=8) as (app, pilot, _):
        await settle(pilot, lambda: view.document is not None)
        assert '"name": "tool 0"' in screen_text(app)
        await pilot.press("end")
        assert screen_lines(app)[7].startswith(" ]")
        # What is loaded last is shown, whatever is still being laid out.
        view.load(MEGABYTES)
        view.load('{"last": 1}')
        await pilot.pause(0.1)
        assert '"last": 1' in screen_text(app)
        view.load("")
        await pilot.pause()
        assert screen_text(app).strip() == ""


class Patient(JsonView):
    is_patient = True


@pytest.mark.slow
async def test_a_patient_view_lays_megabytes_out_after_the_work_for_others_or_with_the_focus():
    done, begun = threading.Event(), threading.Event()

    def prepare() -> None:
        begun.set()
        done.wait(30)

    async with on_json(Patient(), height=8) as (app, pilot, view):
        app.screen.set_focus(None)
        app.run_worker(prepare, thread=True, group="prepare")
        try:
            await settle(pilot, begun.is_set)
            looked = asked_after_rest(view)
            view.load(MEGABYTES)
            await settle(pilot, lambda: len(looked) >= 2)
            assert view.document is None
            view.focus()
            await settle(pilot, lambda: view.document is not None)
            app.screen.set_focus(None)
            view.load(MEGABYTES)
            assert view.document is None
        finally:
            done.set()
        await settle(pilot, lambda: view.document is not None)


def asked_after_rest(view: JsonView) -> list[bool]:
    """Count how often the view looked whether it may begin."""
    looked: list[bool] = []
    after_rest = view._after_rest

    def count_rest() -> None:
        looked.append(True)
        after_rest()

    view._after_rest = count_rest
    return looked


async def test_long_lines_are_cut_with_a_sign_scroll_and_wrap():
    async with on_json('{"text": "' + "word " * 30 + 'end"}', 30, 12) as (app, pilot, view):
        assert len(screen_lines(app)[1]) == 29
        assert screen_lines(app)[1].endswith("…")
        await pilot.press("W")
        more = "     word word word word word"
        assert screen_lines(app)[1:4] == ['   "text": "word word word', more, more]
        assert 'end"' in screen_text(app)
        await burst(pilot, "down", "down", "c")
        assert view.line == 1


async def test_hostile_depth_and_length_are_bounded():
    async with on_json("[" * 3000 + "]" * 3000, 100, 10) as (_app, pilot, view):
        await burst(pilot, "end", "up", "space", "left", "left", "minus", "equals_sign", "p")
        await burst(pilot, "W", "end", "home")
        view.load('{"k": "' + "y" * 200_000 + '"}')
        await settle(pilot, lambda: view.document is not None)
        await pilot.press("end")
        assert view.rows.count < 20_000 / 50


async def test_a_pointer_is_shown_and_marked():
    async with on_json(ANSWER, height=8) as (app, pilot, view):
        assert view.show_pointer("/result/structured/deep/1", mark=True)
        assert not view.show_pointer("/nothing/here")
        await pilot.pause()
        assert view.document is not None
        assert view.marked == {view.line}
        assert view.document.pointer(view.line) == "/result/structured/deep/1"
        app.set_focus(None)
        await pilot.pause()
        assert next(iter(strip_at(app, 7))).style.bgcolor == app.current_theme.palette.style("selection-dim").bgcolor


async def test_a_narrower_view_keeps_the_line():
    async with on_json(JsonView(ANSWER, wrap=True), height=8) as (app, pilot, view):
        await burst(pilot, *["down"] * 9)
        await pilot.resize_terminal(20, 6)
        assert view.line == 9
        assert screen_lines(app)[5] == '       "amount":'


async def test_strings_of_several_lines_are_drawn_as_blocks_on_demand():
    raw = '{"name":"x","report":"# Revenue\\n\\n  up 4 %","rows":[{"note":"one\\r\\ntwo"}],"esc":"a\\\\n"}'
    async with on_json(raw, 40, 20) as (app, pilot, view):
        await pilot.press("s")
        assert screen_lines(app)[:15] == [
            " {",
            '   "name": "x",',
            '   "report": 3 lines of text',
            "     # Revenue",
            "",
            "       up 4 %",
            '   "rows": [',
            "     {",
            '       "note": 2 lines of text',
            "         one",
            "         two",
            "     }",
            "   ],",
            '   "esc": "a\\\\n"',
            " }",
        ]
        await pilot.press("down", "down", "s")
        assert '"report": "# Revenue\\n\\n  up 4 %"' in screen_text(app)
        assert view.line == 2


async def test_notes_stand_in_rows_of_their_own_below_a_line():
    async with on_json(JsonView("", wrap=True), 40, 8) as (app, pilot, view):
        view.blocks = True
        view.load('{"a":1,"b":2}')
        await pilot.pause()
        view.annotate({1: [("expected string, got 1 " * 3, "finding", 4)]})
        await pilot.pause()
        assert screen_lines(app)[:6] == [
            " {",
            '   "a": 1,',
            "     expected string, got 1 expected",
            "     string, got 1 expected string, got",
            "     1",
            '   "b": 2',
        ]
        await pilot.press("end", "up")
        assert view.line == 2


async def test_no_letter_is_cut_where_the_bar_for_scrolling_comes() -> None:
    words = " ".join(f"word-{n:03}" for n in range(80))
    async with on_json(JsonView("", wrap=True), 41, 12) as (app, pilot, view):
        view.load(json.dumps({"text": words}))
        await settle(pilot, lambda: view.show_vertical_scrollbar)
        await pilot.pause()
        text = " ".join(line.strip() for line in screen_lines(app)[1:])
        assert json.dumps({"text": words}).startswith(f"{{{text}")
