import json
import threading

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


def stage(view: JsonView) -> Stage:
    return Stage(view, css="JsonView { height: 1fr; }")


def inks(app: Stage, line: int) -> dict[str, str]:
    """Return, for each run of a line, its text and the role of its colour."""
    look = app.current_theme.palette
    roles = {look.style(f"json-{kind}").color: kind for kind in ("key", "string", "number", "mark")}
    roles[look.style("json-word").color] = "word"
    strip = app.screen._compositor.render_strips()[line]
    return {segment.text.strip(): roles.get(segment.style.color, "") for segment in strip if segment.text.strip()}


async def test_json_is_indented_and_kept_as_it_was_spelled():
    async with stage(JsonView(ANSWER)).run_test(size=(60, 30)) as pilot:
        await pilot.pause()
        assert screen_lines(pilot.app)[:12] == [
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


async def test_each_kind_of_value_has_its_colour():
    app = stage(JsonView(ANSWER))
    async with app.run_test(size=(60, 30)) as pilot:
        await pilot.press("end")
        assert inks(app, 1) == {'"jsonrpc"': "key", ":": "mark", '"2.0"': "string", ",": "mark"}
        assert inks(app, 7) == {'"isError"': "key", ":": "mark", "false": "word", ",": "mark"}
        assert inks(app, 10) == {'"amount"': "key", ":": "mark", "1e3": "number", ",": "mark"}


def test_strings_that_look_like_json_are_strings():
    spans = json_spans(r'"a": "x: \"12\", true", -1.5e+3')
    assert [role for _, _, role in spans] == ["json-key", "json-mark", "json-string", "json-mark", "json-number"]
    assert [role for _, _, role in json_spans('"cut off')] == ["json-string"]


async def test_values_fold_and_unfold():
    view = JsonView(ANSWER)
    async with stage(view).run_test(size=(60, 30)) as pilot:
        whole = screen_text(pilot.app)
        await burst(pilot, *["down"] * 3, "space")
        assert screen_lines(pilot.app)[3:5] == ['   "result": {  3 fields', " }"]
        assert view.line == 3
        await pilot.press("space")
        assert screen_text(pilot.app) == whole
        await pilot.press("down", "enter")
        assert screen_lines(pilot.app)[4] == '     "content": [  1 item'
        await pilot.press("right")
        assert screen_text(pilot.app) == whole


async def test_left_folds_and_then_goes_to_what_is_around_and_right_goes_in():
    view = JsonView(ANSWER)
    async with stage(view).run_test(size=(60, 30)) as pilot:
        await burst(pilot, *["down"] * 5, "left")
        assert view.line == 4
        await pilot.press("left", "left")
        assert view.line == 3
        assert view.rows.folded == {4: 6}
        await pilot.press("right", "right")
        assert (view.line, view.rows.folded) == (4, {})
        await burst(pilot, "left", "left", "left", "left")
        assert view.line == 0


async def test_everything_folds_but_the_outermost_and_unfolds():
    view = JsonView(ANSWER)
    async with stage(view).run_test(size=(60, 30)) as pilot:
        await pilot.press("minus")
        assert [line.strip() for line in screen_lines(pilot.app)[:5]] == [
            "{",
            '"jsonrpc": "2.0",',
            '"id": 7,',
            '"result": {  3 fields',
            "}",
        ]
        await pilot.press("equals_sign")
        assert '"x": null' in screen_text(pilot.app)


async def test_values_and_paths_are_copied_exactly():
    view = JsonView(ANSWER)
    app = stage(view)
    async with app.run_test(size=(60, 30), message_hook=app.hear) as pilot:
        await burst(pilot, *["down"] * 9, "c")
        assert app.clipboard == "12.50"
        await pilot.press("p")
        assert app.clipboard == "/result/structured/amount"
        await burst(pilot, *["up"] * 5, "c")
        assert app.clipboard == '[{"type":"text","text":"Echo: hello"}]'
        assert [m.what for m in app.heard(Copied)] == ["the value", "the path", "the value"]


async def test_enter_on_a_single_value_opens_it():
    app = stage(JsonView(ANSWER))
    async with app.run_test(size=(60, 30), message_hook=app.hear) as pilot:
        await burst(pilot, *["down"] * 2, "enter")
        assert [(m.pointer, m.raw) for m in app.heard(JsonView.Opened)] == [("/id", "7")]
        assert app.heard(VirtualList.Selected) == []


async def test_searching_finds_what_is_folded_and_goes_round():
    view = JsonView(ANSWER)
    async with on_stage(Pane(view, title="detail"), (60, 30)) as (app, pilot, _):
        await pilot.press("minus", "slash")
        line = app.query_one(SearchLine)
        assert line.has_focus
        await burst(pilot, *"AMOUNT")
        assert "not found" in screen_text(app)
        await burst(pilot, "ctrl+u", *"amount")
        assert view.line == 9
        await pilot.press("enter")
        assert view.has_focus
        assert not line.display
        await pilot.press("n")
        assert view.line == 10
        await pilot.press("n")
        assert view.line == 9
        await pilot.press("N")
        assert view.line == 10
        strip = app.screen._compositor.render_strips()[10]
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


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("not json \x1b[31m at all", ["not json ␛[31m at all"]),
        ('{"a": 1,\n "b": }', ['{"a": 1,', ' "b": }']),
        ('{"a":', ['{"a":']),
        ('"\x00"', ['"␀"']),
    ],
)
async def test_what_is_not_json_is_shown_unchanged(raw, shown):
    view = JsonView(raw)
    app = stage(view)
    async with app.run_test(size=(60, 8), message_hook=app.hear) as pilot:
        await pilot.pause()
        assert [line[1:] for line in screen_lines(app)[: len(shown)]] == shown
        assert [m.problem for m in app.heard(JsonView.Loaded)] == [view.problem]
        await burst(pilot, "space", "left", "right", "minus", "p", "c")


async def test_the_line_where_json_stops_is_shown_in_red():
    view = JsonView("[1,\n" + "2,\n" * 50 + "oops]\n")
    app = stage(view)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        at = next(at for at, text in enumerate(screen_lines(app)) if "oops" in text)
        strip = app.screen._compositor.render_strips()[at]
        assert view.problem is not None
        await pilot.press("up")
        strip = app.screen._compositor.render_strips()[at]
        assert next(iter(strip.crop(2, 3))).style.color == app.current_theme.palette.style("error").color


async def test_megabytes_are_laid_out_beside_and_the_view_says_so():
    raw = json.dumps([{"name": f"tool {at}", "text": "x" * 50} for at in range(2000)])
    assert len(raw) > AT_ONCE
    view = JsonView(raw)
    app = stage(view)
    assert view.empty == "formatting 169 kB…"
    async with app.run_test(size=(60, 8), message_hook=app.hear) as pilot:
        await settle(pilot, lambda: view.document is not None)
        assert '"name": "tool 0"' in screen_text(app)
        await pilot.press("end")
        assert screen_lines(app)[7].startswith(" ]")
        # What is loaded last is shown, whatever is still being laid out.
        view.load(raw)
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
    raw = json.dumps([{"name": f"tool {at}", "text": "x" * 50} for at in range(2000)])
    view = Patient()
    app = stage(view)
    done, begun = threading.Event(), threading.Event()

    def prepare() -> None:
        begun.set()
        done.wait(30)

    async with app.run_test(size=(60, 8), message_hook=app.hear) as pilot:
        app.screen.set_focus(None)
        app.run_worker(prepare, thread=True, group="prepare")
        try:
            await settle(pilot, begun.is_set)
            looked = asked_after_rest(view)
            view.load(raw)
            await settle(pilot, lambda: len(looked) >= 2)
            assert view.document is None
            view.focus()
            await settle(pilot, lambda: view.document is not None)
            app.screen.set_focus(None)
            view.load(raw)
            assert view.document is None
        finally:
            done.set()
        await settle(pilot, lambda: view.document is not None)


def asked_after_rest(view: JsonView) -> list[bool]:
    """Count how often the view looked whether it may begin."""
    looked: list[bool] = []
    after_rest = view._after_rest

    def look() -> None:
        looked.append(True)
        after_rest()

    view._after_rest = look
    return looked


async def test_long_lines_are_cut_with_a_sign_scroll_and_wrap():
    view = JsonView('{"text": "' + "word " * 30 + 'end"}')
    async with stage(view).run_test(size=(30, 12)) as pilot:
        assert len(screen_lines(pilot.app)[1]) == 29
        assert screen_lines(pilot.app)[1].endswith("…")
        await pilot.press("W")
        assert screen_lines(pilot.app)[1:4] == [
            '   "text": "word word word',
            "     word word word word word",
            "     word word word word word",
        ]
        assert 'end"' in screen_text(pilot.app)
        await burst(pilot, "down", "down", "c")
        assert view.line == 1


async def test_hostile_depth_and_length_are_bounded():
    deep = "[" * 3000 + "]" * 3000
    view = JsonView(deep)
    async with stage(view).run_test(size=(100, 10)) as pilot:
        await burst(pilot, "end", "up", "space", "left", "left", "minus", "equals_sign", "p")
        await burst(pilot, "W", "end", "home")
        view.load('{"k": "' + "y" * 200_000 + '"}')
        await settle(pilot, lambda: view.document is not None)
        await pilot.press("end")
        assert view.rows.count < 20_000 / 50


async def test_a_pointer_is_shown_and_marked():
    view = JsonView(ANSWER)
    app = stage(view)
    async with app.run_test(size=(60, 8)) as pilot:
        assert view.show_pointer("/result/structured/deep/1", mark=True)
        assert not view.show_pointer("/nothing/here")
        await pilot.pause()
        assert view.document is not None
        assert view.marked == {view.line}
        assert view.document.pointer(view.line) == "/result/structured/deep/1"
        app.set_focus(None)
        await pilot.pause()
        strip = app.screen._compositor.render_strips()[7]
        assert next(iter(strip)).style.bgcolor == app.current_theme.palette.style("selection-dim").bgcolor


async def test_a_narrower_view_keeps_the_line():
    view = JsonView(ANSWER, wrap=True)
    async with stage(view).run_test(size=(60, 8)) as pilot:
        await burst(pilot, *["down"] * 9)
        await pilot.resize_terminal(20, 6)
        await pilot.pause()
        assert view.line == 9
        assert screen_lines(pilot.app)[5] == '       "amount":'


async def test_strings_of_several_lines_are_drawn_as_blocks_on_demand():
    view = JsonView('{"name":"x","report":"# Revenue\\n\\n  up 4 %","rows":[{"note":"one\\r\\ntwo"}],"esc":"a\\\\n"}')
    async with stage(view).run_test(size=(40, 20)) as pilot:
        await pilot.press("s")
        assert screen_lines(pilot.app)[:15] == [
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
        assert '"report": "# Revenue\\n\\n  up 4 %"' in screen_text(pilot.app)
        assert view.line == 2


async def test_notes_stand_in_rows_of_their_own_below_a_line():
    view = JsonView('{"a":1,"b":2}', wrap=True)
    async with stage(view).run_test(size=(40, 8)) as pilot:
        view.blocks = True
        view.load('{"a":1,"b":2}')
        await pilot.pause()
        view.annotate({1: [("expected string, got 1 " * 3, "finding", 4)]})
        await pilot.pause()
        assert screen_lines(pilot.app)[:6] == [
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
    view = JsonView("", wrap=True)
    app = stage(view)
    async with app.run_test(size=(41, 12)) as pilot:
        await pilot.pause()
        view.load(json.dumps({"text": words}))
        await settle(pilot, lambda: view.show_vertical_scrollbar)
        await pilot.pause()
        shown = " ".join(line.strip() for line in screen_lines(app)[1:])
        assert json.dumps({"text": words}).startswith(f"{{{shown}")
