"""The steps of a login: unfolded steps, the cursor, malformed steps in a recording."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.pilot import Pilot

from inspector.auth import rerun_step
from inspector.client.state.login import AuthStep, LoginStepState
from inspector.journal.journal import Journal
from inspector.tui.login.screen import LoginDocument, document_of, looked_at
from inspector.tui.login.steps import LoginStepRows, LoginStepsView, step_rows
from inspector.tui.widgets.fact_rows import Row, plain
from tests.tui.tui_screens import Stage, assert_in, on_stage, screen_lines, screen_text

LONG = [Row(f"line {number}") for number in range(40)]


def step(n: int, name: str = "metadata", outcome: LoginStepState = "ok", **facts: Any) -> AuthStep:
    return AuthStep(n, 0, name, outcome, f"text {n}", facts=facts)


@asynccontextmanager
async def on_steps(
    *steps: AuthStep, at: int = -1, rows: list[Row] | None = None, height: int = 12
) -> AsyncIterator[tuple[Stage, Pilot[None], LoginStepsView]]:
    """A screen with these steps, and the focus on them."""
    view = LoginStepsView(
        LoginStepRows(lambda step, has_text_above: rows if rows is not None else [Row(f"about {step.n}")])
    )
    view.call_later(lambda: view.show(steps, at=at))
    async with on_stage(view, (80, height), css="LoginStepsView { height: 1fr; }") as (stage, pilot, _):
        view.focus()
        yield stage, pilot, view


async def test_a_step_opens_and_closes_and_the_cursor_goes_from_step_to_step() -> None:
    async with on_steps(step(1), step(2), step(3)) as (stage, pilot, view):
        await pilot.press("down", "enter")
        assert "about 2" in screen_text(stage)
        await pilot.press("down")
        assert view.place == 2
        await pilot.press("up", "up")
        assert view.place == 0
        assert "about 2" in screen_text(stage), "it stays open"
        await pilot.press("down", "enter")
        assert "about 2" not in screen_text(stage)
        await pilot.press("end")
        assert view.step.n == 3
        await pilot.press("home")
        assert view.place == 0
        await pilot.press("enter")
        await pilot.click(LoginStepsView, offset=(10, 2))
        assert (view.place, view.cursor) == (0, 0), "a click on what is reported of a step is one on the step"


async def test_the_step_that_is_wanted_stands_open_alone_and_in_view() -> None:
    async with on_steps(*(step(n) for n in range(30)), at=25, height=10) as (stage, pilot, view):
        assert "about 25" in screen_text(stage)
        view.show(view.step_rows.steps, at=3)
        await pilot.pause()
        assert "about 3" in screen_text(stage)
        assert view.step_rows.open == {3}


async def test_what_is_longer_than_the_view_is_read_line_by_line_before_the_cursor_goes_on() -> None:
    async with on_steps(step(1), step(2), rows=LONG, at=0, height=10) as (stage, pilot, view):
        await pilot.press("down")
        assert view.place == 0
        assert "line 8" in screen_text(stage)
        await pilot.press(*["pagedown"] * 5)
        assert view.place == 1
        await pilot.press("up")
        assert view.place == 0


async def test_text_that_fits_in_its_row_is_not_said_twice() -> None:
    flags: list[bool] = []

    def say(step: AuthStep, has_text_above: bool) -> list[Row]:
        flags.append(has_text_above)
        return []

    view = LoginStepRows(say)
    view.steps = [step(1), AuthStep(2, 0, "metadata", "ok", "x" * 100)]
    view.open = {0, 1}
    view.lay_out(90)
    assert flags == [True, False]


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
names = st.sampled_from("challenge resource server metadata issuer authorize callback token x".split())
facts = st.dictionaries(
    st.sampled_from(["expected", "found", "places", "asked", "challenge", "field", "issuer", "redirect_uri", "again", "z"]),
    json, max_size=6,
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=4 * settings.default.max_examples)
@given(names, facts, st.text(max_size=40))
def test_any_facts_of_a_step_can_be_drawn(name: str, step_facts: dict[str, Any], text: str) -> None:
    one = AuthStep(1, 0, name, "failed", text, "C-AUTH-10", text, step_facts)
    words = plain(step_rows(one))
    assert "\x1b" not in words
    assert isinstance(looked_at(one), str)
    assert document_of([one], 0) == (0, 0)
    rerun_step.before([(one.name, one.rule, one.facts)])


def fetched(journal: Journal, **more: Any) -> int:
    sides = {
        "request": {"headers": [["Accept", "x/y"]], "body": "grant_type=refresh_token&scope=a+b"},
        "response": {"headers": [["Date", "today"]], "body": '{"issuer": "https://a", "more": {"a/b": 1}}'},
    }
    about = {"method": "POST", "url": "https://a/token", "status": 200, "ms": 12.0, **sides, **more}
    return journal.record_auth("fetch", True, "the token", facts=about)


async def test_a_document_is_shown_from_all_its_sides_with_the_place_that_counts() -> None:
    journal = Journal.unnamed({})
    n = fetched(journal)
    document = LoginDocument(journal)
    stage = Stage(document)
    async with stage.run_test(size=(80, 20)) as pilot:
        document.show(4, step(n, "issuer"), n, field="issuer")
        await pilot.pause()
        top = screen_lines(stage)[0]
        assert all(words in top for words in ("4 issuer", "POST 200", "12 ms", "43 B"))
        assert '"issuer": "https://a"' in screen_text(stage)
        document.step_tab(1)
        await pilot.pause()
        assert_in(screen_text(stage), "grant_type  refresh_token", "scope  a b")
        document.step_tab(1)
        await pilot.pause()
        assert_in(screen_text(stage), "Accept: x/y", "Date: today")


@pytest.mark.parametrize("more", [
    {"status": None}, {"response": {"body": "<html>"}}, {"response": {"body": ""}}, {"request": 7, "response": []},
    {"method": {}, "url": [], "status": "x", "ms": "soon"}, {"ms": 1e300}, {"response": {"body": "[" * 5000}},
])  # fmt: skip
async def test_strange_requests_are_shown_all_the_same(more: dict[str, Any]) -> None:
    journal = Journal.unnamed({})
    n = fetched(journal, **more)
    document = LoginDocument(journal)
    async with Stage(document).run_test(size=(80, 20)) as pilot:
        for field in ("issuer", "no/such~thing", "~", "more/a~1b"):
            document.show(1, step(n), n, field=field)
            for _ in range(3):
                await pilot.pause()
                document.step_tab(1)
        document.clear()
        await asyncio.sleep(0)
