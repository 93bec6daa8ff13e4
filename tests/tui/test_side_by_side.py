"""Two sessions side by side: one form, both called with one key, their answers compared."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from inspector.config.settings import Settings
from inspector.tui.diff.answers import AnswersScreen, AnswersView, ComparedAnswers, compare_answers, message_sides
from inspector.tui.diff.side import AnswerSide
from inspector.tui.main.screen import MainScreen
from inspector.tui.side_by_side.screen import PairScreen, shared_schema, split_arguments
from tests.tui.live_app import NARROW, WIDE, Live, becomes, call, demo, main_screen, on_demo, shows, to_tool
from tests.tui.live_demo import sent
from tests.tui.recorded_conversation import Talk
from tests.tui.tui_screens import assert_not_in, press, screen_lines, screen_text, settle

OLD = {"type": "object", "properties": {"a": {"type": "string"}, "gone": {}}, "required": ["a"]}
NEW = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "fresh": {"$ref": "#/$defs/F"}},
    "required": ["fresh"],
    "$defs": {"F": {"type": "boolean"}},
}


def test_the_form_has_the_arguments_of_both() -> None:
    assert shared_schema(OLD, OLD) == OLD
    schema = shared_schema(OLD, NEW)
    assert schema["properties"] == {"a": {"type": "string"}, "gone": {}, "fresh": {"$ref": "#/$defs/F"}}
    assert schema["required"] == ["a", "fresh"]
    assert schema["$defs"] == {"F": {"type": "boolean"}}


@pytest.mark.parametrize("schema", [None, True, "x", [], {"properties": 3, "required": "a"}, {"$defs": []}])
def test_a_broken_schema_makes_a_form_all_the_same(schema: Any) -> None:
    assert isinstance(shared_schema(schema, NEW), dict)
    assert isinstance(shared_schema(NEW, schema), dict)
    assert split_arguments(schema, schema, {"a": 1}) == ({"a": 1}, [])


def test_each_side_gets_what_it_knows_and_what_neither_knows() -> None:
    arguments = {"a": 1, "gone": 2, "fresh": 3, "typed": 4}
    assert split_arguments(OLD, NEW, arguments) == ({"a": 1, "gone": 2, "typed": 4}, ["fresh"])
    assert split_arguments(NEW, OLD, arguments) == ({"a": 1, "fresh": 3, "typed": 4}, ["gone"])
    assert split_arguments({**OLD, "additionalProperties": True}, NEW, arguments) == (arguments, [])
    assert split_arguments({**OLD, "anyOf": [NEW]}, NEW, arguments) == (arguments, [])


@asynccontextmanager
async def two(
    size: tuple[int, int] = WIDE, tool: str = "echo", settings: Settings | None = None
) -> AsyncIterator[tuple[Live, PairScreen]]:
    """Two sessions on the demo server, side by side with a tool."""
    async with on_demo(size=size, settings=settings) as live:
        app, pilot = live
        first = app.sessions.opened[0]
        app.navigator.open_beside(demo())
        await becomes(app, pilot, lambda: len(app.sessions.opened) == 2, "opened")
        second = app.sessions.opened[1]
        await becomes(app, pilot, lambda: bool(second.session.catalog.tools.items), "its tools")
        app.navigator.show_session(first)
        await settle(pilot, lambda: app.screen is first.screen)
        await to_tool(app, pilot, tool)
        await press(pilot, "alt+s", until=lambda: isinstance(app.screen, PairScreen))
        pair = app.screen
        assert isinstance(pair, PairScreen)
        await shows(app, pilot, "in A and B")
        yield live, pair


@pytest.mark.slow
async def test_one_key_calls_both_and_their_answers_are_compared() -> None:
    async with two() as ((app, pilot), pair):
        await settle(pilot, lambda: pair.query_one("#pair-arguments").has_focus_within)
        await press(pilot, *"hello", "ctrl+r", shows="The two answers are equal")
        for opened in app.sessions.opened:
            assert sent(opened.session, "tools/call") == [{"name": "echo", "arguments": {"message": "hello"}}]
        await press(pilot, "escape", until=lambda: app.screen is app.sessions.opened[0].screen)
        await press(pilot, "alt+s", until=lambda: app.screen is pair)
        await shows(app, pilot, "The two answers are equal")
        await press(pilot, "f7", until=lambda: app.screen is app.sessions.opened[1].screen)
        await press(pilot, "vertical_line", until=lambda: app.screen is pair)
        # Answers are text, and JSON with a key.
        await shows(app, pilot, "hello")
        assert '"jsonrpc"' not in screen_text(app)
        pair.query_one(AnswersView).focus_inside()
        await press(pilot, "v", shows='"jsonrpc"')
        await press(pilot, "v", until=lambda: '"jsonrpc"' not in screen_text(app))


@pytest.mark.slow
async def test_differences_are_shown_alone_where_there_is_no_room() -> None:
    async with two(size=(80, 20), tool="what-time") as ((app, pilot), _pair):
        await press(pilot, "ctrl+r", shows="The two answers are equal")
        assert "both answers from 100 columns" in screen_text(app)


@pytest.mark.slow
async def test_a_tool_that_may_destroy_something_is_called_after_a_question() -> None:
    async with two(tool="delete-everything", settings=Settings(ask_before_call="annotated")) as ((app, pilot), pair):
        await press(pilot, "ctrl+r", "ctrl+r", shows="The tool is annotated as destructive.")
        await press(pilot, "escape", until=lambda: app.screen is pair)
        assert not any(sent(opened.session, "tools/call") for opened in app.sessions.opened)
        await press(pilot, "ctrl+r", "ctrl+r", shows="Call delete-everything?")
        await press(pilot, "a", until=lambda: all(sent(one.session, "tools/call") for one in app.sessions.opened))


@pytest.mark.slow
async def test_a_form_with_errors_is_sent_with_the_second_press() -> None:
    async with two() as ((app, pilot), _pair):
        await press(pilot, "ctrl+r", shows="the same key again: send anyway")
        assert not any(sent(opened.session, "tools/call") for opened in app.sessions.opened)
        await pilot.press("ctrl+r")
        await becomes(app, pilot, lambda: all(sent(one.session, "tools/call") for one in app.sessions.opened), "sent")


@pytest.mark.slow
async def test_an_earlier_call_of_either_side_fills_the_form_and_clears_the_comparison() -> None:
    async with two() as ((app, pilot), pair):
        other = pair.b.opened.session.commands
        other.start("tools/call", {"name": "echo", "arguments": {"message": "said in B"}})
        await press(pilot, *"hello", "ctrl+r", shows="The two answers are equal")
        await settle(pilot, lambda: pair.query_one("#pair-arguments").has_focus_within)
        await press(pilot, "up", shows='"said in B"')
        await shows(app, pilot, '"hello"')
        await press(pilot, "end", "enter", until=lambda: app.screen is pair)
        await shows(app, pilot, "said in B")
        assert_not_in(screen_text(app), "The two answers are equal", "Echo: hello")
        await press(pilot, "ctrl+r", shows="The two answers are equal")
        # A session that is closed ends the pair.
        await press(pilot, "f3", until=lambda: app.screen is not pair)
        await app.navigator.close_session(app.sessions.opened[1])
        await becomes(app, pilot, lambda: not pair.is_attached, "gone")


@pytest.mark.slow
async def test_a_question_of_either_side_is_reached_with_one_key() -> None:
    async with two(tool="ask-model") as ((app, pilot), pair):
        await press(pilot, "ctrl+r", shows="^g to question")
        await becomes(app, pilot, lambda: all(side.opened.questions for side in pair.sides), "asked by both")
        await press(pilot, "ctrl+g", until=lambda: app.screen is pair.a.opened.screen)
        await becomes(app, pilot, lambda: pair.a.opened.screen.pane_layout.place == "inbox", "its inbox")  # type: ignore[attr-defined]
        await press(pilot, "vertical_line", until=lambda: app.screen is pair)
        await press(pilot, "escape", until=lambda: not any(side.is_running for side in pair.sides), what="cancelled")
        await shows(app, pilot, "cancelled")
        assert app.screen is pair


@pytest.mark.slow
async def test_a_new_call_shows_nothing_of_the_comparison_before() -> None:
    async with two(tool="slow") as ((app, pilot), pair):
        view = pair.query_one(AnswersView)
        view.compare(*(AnswerSide(name, text=_result(f"old {name}")) for name in "AB"), "tools/call", "slow")
        await shows(app, pilot, "1 difference", "old B")
        await press(pilot, "ctrl+r", shows="waiting")
        assert_not_in(screen_text(app), "old A", "1 difference")
        await pilot.press("escape")


def _result(*texts: str, **more: Any) -> str:
    content = [{"type": "text", "text": text} for text in texts]
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"content": content, **more}})


def _compared(a: str, b: str) -> ComparedAnswers:
    return compare_answers(AnswerSide("A", text=a), AnswerSide("B", text=b), "tools/call", "x")


def test_lines_that_differ_are_marked_in_the_text() -> None:
    compared = _compared(_result("one\ntwo\nthree", "same"), _result("one\n2\nthree", "same"))
    assert compared.readable is not None
    texts = [[section.text(line) for section in side.sections for line in range(len(section))]
             for side in compared.readable]  # fmt: skip
    assert [[text[line] for line in sorted(side.marked)] for text, side in zip(texts, compared.readable, strict=True)] == [
        ["two"], ["2"]
    ]  # fmt: skip
    ((line_a, line_b),) = compared.readable_lines
    assert (texts[0][line_a or 0], texts[1][line_b or 0]) == ("two", "2")


@pytest.mark.parametrize(("text", "readable"), [
    (_result("x"), True),
    (_result('{"n": 1}', structuredContent={"n": 1}), True),
    (_result("see there", structuredContent={"n": 1}), False),
    (_result(), False),
    ('{"jsonrpc": "2.0", "id": 1, "error": {"code": -1, "message": "no"}}', False),
    ('{"result": {"content": 7}}', False),
    ('{"result": []}', False),
    ("[]", False),
])  # fmt: skip
def test_only_content_that_a_person_reads_is_text(text: str, readable: bool) -> None:
    assert (_compared(text, text).readable is not None) == readable
    assert _compared(_result("x"), text).readable is None or readable


@pytest.mark.slow
@pytest.mark.parametrize("lost", [0, 1])
async def test_only_connected_sessions_are_offered(lost: int) -> None:
    async with on_demo() as (app, pilot):
        await press(pilot, "vertical_line", shows="No other session is connected.")
        app.navigator.open_beside(demo())
        await becomes(
            app, pilot, lambda: [opened.is_connected for opened in app.sessions.opened] == [True, True], "both"
        )
        app.sessions.opened[lost].session.commands.call_tool("crash", {})  # type: ignore[union-attr]
        await becomes(app, pilot, lambda: not app.sessions.opened[lost].is_connected, "lost")
        await becomes(app, pilot, lambda: "Open now" in screen_text(app), "the start list")
        await pilot.press("tab", "home", "down")
        assert "side by side" not in screen_lines(app)[-1]
        await press(pilot, "escape", until=lambda: isinstance(app.screen, MainScreen))
        await pilot.press("alt+s")
        await shows(app, pilot, "No other session is connected." if lost else "This session is not connected.")
        assert not isinstance(app.screen, PairScreen)


# Two answers, and the keys that compare them


def side(value: object, id: int = 1) -> AnswerSide:
    return AnswerSide("a", (), json.dumps({"jsonrpc": "2.0", "id": id, "result": value}))


def test_the_names_of_two_messages_have_the_arguments_that_differ() -> None:
    talk = Talk()
    for id, city in ((1, "Oslo"), (2, "Rome")):
        talk.call(id, "weather", city=city, unit="C")
        talk.say(id, "sunny")
    assert [side.label for side in message_sides(talk.journal, 2, 4)] == ['← 1  city="Oslo"', '← 2  city="Rome"']
    assert [side.label for side in message_sides(talk.journal, 1, 4)] == ['→ 1  city="Oslo"', '← 2  city="Rome"']
    assert [side.label for side in message_sides(talk.journal, 1, 2)] == ["→ 1", "← 1"]
    notice = talk.notice("x")
    assert message_sides(talk.journal, notice, 4)[0].label.startswith("↯")


def test_the_rules_of_diff_decide_and_each_difference_knows_its_lines() -> None:
    one = side({"content": [], "structuredContent": {"n": 1, "old": True, "uptime": 5}})
    other = side({"content": [], "structuredContent": {"n": 2, "new": True, "uptime": 9}}, id=7)
    compared = compare_answers(one, other, "tools/call", "t")
    assert [(difference.kind, str(difference.path)) for difference in compared.differences] == [
        ("changed", "$.result.structuredContent.n"),
        ("removed", "$.result.structuredContent.old"),
        ("added", "$.result.structuredContent.new"),
    ]
    assert compared.ignored == 2, "the ids of the messages and the uptime"
    assert compared.ignored_places[0].startswith("/id (")
    (changed_a, changed_b), (removed_a, removed_b), (added_a, added_b) = compared.lines
    assert None not in (changed_a, changed_b, removed_a, added_b)
    assert removed_b is None
    assert added_a is None
    assert compared.a.marked == {changed_a, removed_a}
    assert compared.b.marked == {changed_b, added_b}


def test_a_text_that_repeats_the_structured_result_is_compared_once() -> None:
    def answer(value: object, text: str = "") -> str:
        return _result(text or json.dumps(value, indent=1), structuredContent=value)

    compared = _compared(answer({"n": 1, "m": 2}), answer({"n": 1, "m": 3}))
    assert [str(difference.path) for difference in compared.differences] == ["$.result.structuredContent.m"]
    assert compared.repeated == 1
    assert compared.readable is not None
    assert compared.readable_lines == [(min(compared.readable[0].marked), min(compared.readable[1].marked))]
    other = _compared(answer({"m": 2}, "two"), answer({"m": 3}, "three"))
    assert ([str(difference.path) for difference in other.differences], other.repeated) == (
        ["$.result.content[0].text", "$.result.structuredContent.m"], 0
    )  # fmt: skip


def test_equal_missing_and_broken_answers_are_said() -> None:
    same = compare_answers(side({"n": 1}), side({"n": 1}), "tools/call", "t")
    assert not same.differences
    assert not same.problem
    absent = compare_answers(side({"n": 1}), AnswerSide("b", missing="no tool t"), "tools/call", "t")
    assert absent.problem == "no tool t"
    broken = compare_answers(side({"n": 1}), AnswerSide("b", (), "{"), "tools/call", "t")
    assert broken.problem.startswith("Not compared: ")


@pytest.mark.slow
async def test_one_key_compares_a_result_with_the_call_before() -> None:
    async with on_demo() as live:
        app, pilot = live
        await call(live, "weather", {"city": "Lima"})
        await shows(app, pilot, "m messages")
        assert "D compare" not in screen_text(app), "it was not called before"
        await call(live, "echo", {"message": "between"})
        await call(live, "weather", {"city": "Kyoto"})
        await shows(app, pilot, "D compare")
        await press(pilot, "D", shows='.city "Lima"')
        assert '"Kyoto"' in screen_text(app)
        await press(pilot, "escape", until=lambda: app.screen is main_screen(app))


@pytest.mark.slow
async def test_two_answers_of_the_log_are_compared_also_on_a_narrow_screen() -> None:
    async with on_demo(size=NARROW) as live:
        app, pilot = live
        await call(live, "weather", {"city": "Lima"})
        await call(live, "weather", {"city": "Kyoto"})
        messages = main_screen(app).panes.messages
        await press(pilot, "escape", "m", "end", until=lambda: messages.has_focus_within and messages.current > 0)
        await press(pilot, "d", "up", "up", "d", until=lambda: isinstance(app.screen, AnswersScreen))
        await shows(app, pilot, '.city "Kyoto"')
        a, b = (app.screen.query_one(f"#answers-{name}") for name in ("a", "b"))
        await settle(pilot, lambda: a.region.height > 4 and b.region.y == a.region.bottom)
        assert '"Lima"' in screen_text(app)
