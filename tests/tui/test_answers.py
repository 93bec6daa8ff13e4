"""Two answers side by side, and the keys that compare them."""

from __future__ import annotations

import json

import pytest

from inspector.tui.diff.answers import AnswersScreen, compare_answers
from inspector.tui.diff.side import AnswerSide
from tests.tui.live_app import NARROW, Live, main_screen, on_demo, shows
from tests.tui.tui_screens import press, screen_text, settle


def side(value: object, id: int = 1) -> AnswerSide:
    return AnswerSide("a", (), json.dumps({"jsonrpc": "2.0", "id": id, "result": value}))


def test_the_rules_of_diff_decide_and_each_difference_knows_its_lines() -> None:
    one = side({"content": [], "structuredContent": {"n": 1, "old": True, "uptime": 5}})
    other = side({"content": [], "structuredContent": {"n": 2, "new": True, "uptime": 9}}, id=7)
    found = compare_answers(one, other, "tools/call", "t")
    assert [(each.kind, str(each.path)) for each in found.differences] == [
        ("changed", "$.result.structuredContent.n"),
        ("removed", "$.result.structuredContent.old"),
        ("added", "$.result.structuredContent.new"),
    ]
    assert found.ignored == 2, "the ids of the messages and the uptime"
    (changed_a, changed_b), (removed_a, removed_b), (added_a, added_b) = found.lines
    assert None not in (changed_a, changed_b, removed_a, added_b)
    assert removed_b is None
    assert added_a is None
    assert found.a.marked == {changed_a, removed_a}
    assert found.b.marked == {changed_b, added_b}


def test_equal_missing_and_broken_answers_are_said() -> None:
    same = compare_answers(side({"n": 1}), side({"n": 1}), "tools/call", "t")
    assert not same.differences
    assert not same.problem
    absent = compare_answers(side({"n": 1}), AnswerSide("b", missing="no tool t"), "tools/call", "t")
    assert absent.problem == "no tool t"
    broken = compare_answers(side({"n": 1}), AnswerSide("b", (), "{"), "tools/call", "t")
    assert broken.problem.startswith("Not compared: ")


async def call(live: Live, tool: str, arguments: dict[str, object], answers: int) -> None:
    app, pilot = live
    screen = main_screen(app)
    screen.show_address("tools", tool)
    work = screen.panes.work
    await settle(pilot, lambda: work.request.has_focus_within)
    await work.request.form.load(arguments)
    await pilot.press("ctrl+r")
    await settle(pilot, lambda: work.result.answer is not None and len(work.work.past or ()) == answers)  # type: ignore[union-attr]


@pytest.mark.slow
async def test_one_key_compares_a_result_with_the_call_before() -> None:
    async with on_demo() as live:
        app, pilot = live
        await call(live, "weather", {"city": "Lima"}, 1)
        main_screen(app).panes.work.result.focus_inside()
        await shows(app, pilot, "m its messages")
        assert "D compare" not in screen_text(app), "it was not called before"
        await call(live, "echo", {"message": "between"}, 1)
        await call(live, "weather", {"city": "Kyoto"}, 2)
        main_screen(app).panes.work.result.focus_inside()
        await shows(app, pilot, "D compare")
        await press(pilot, "D", shows='.city "Lima"')
        assert '"Kyoto"' in screen_text(app)
        await press(pilot, "escape", until=lambda: app.screen is main_screen(app))


@pytest.mark.slow
async def test_two_answers_of_the_log_are_compared_also_on_a_narrow_screen() -> None:
    async with on_demo(size=NARROW) as live:
        app, pilot = live
        await call(live, "weather", {"city": "Lima"}, 1)
        await call(live, "weather", {"city": "Kyoto"}, 2)
        messages = main_screen(app).panes.messages
        await press(pilot, "escape", "m", "end", until=lambda: messages.has_focus_within and messages.current > 0)
        await press(pilot, "d", "up", "up", "d", until=lambda: isinstance(app.screen, AnswersScreen))
        await shows(app, pilot, '.city "Kyoto"')
        a, b = (app.screen.query_one(f"#answers-{name}") for name in ("a", "b"))
        await settle(pilot, lambda: a.region.height > 4 and b.region.y == a.region.bottom)
        assert '"Lima"' in screen_text(app)
