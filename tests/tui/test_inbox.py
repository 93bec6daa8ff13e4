"""The inbox: open questions first, each with its state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from inspector.client.inbox import Question
from inspector.client.recorded_session import RecordedSession
from inspector.journal.journal import Journal
from inspector.tui.ask import labels
from inspector.tui.ask.inbox import InboxPane
from tests.tui.live_demo import demo, on_pane
from tests.tui.tui_screens import screen_lines, screen_text, settle


@pytest.mark.slow
async def test_open_questions_come_first_and_what_was_answered_stays() -> None:
    async with demo() as session, on_pane(InboxPane(session), (60, 10), focus=False) as (app, pilot, pane):
        await settle(pilot, lambda: "The server has no questions" in screen_text(app))
        session.call_tool("ask-user", {"message": "First of all"})
        await settle(pilot, lambda: "First of all" in screen_text(app))
        assert screen_lines(app)[0].endswith(" 1 waiting ─╮"), "all of them: they are counted once"
        first = session.inbox.questions[0]
        assert pane.question is first
        pane.focus_inside()
        await pilot.press("enter")
        assert [message.question for message in app.messages_of(InboxPane.Opened)] == [first]
        first.decline()
        await settle(pilot, lambda: "declined" in screen_text(app))
        session.call_tool("where-am-i")
        await settle(pilot, lambda: "which folders" in screen_text(app))
        lines = screen_lines(app)
        assert "1 waiting  2" in lines[0]
        assert "roots" in lines[1]
        assert "First of all" in lines[2]


def question(topic: Any, params: dict[str, Any]) -> Question:
    session = RecordedSession(Journal.unnamed({}), Path("none"))
    return Question(1, 1, topic, params, 0, 0, session.inbox)


def test_a_question_is_reported_in_one_line_whatever_it_holds() -> None:
    message = {"role": "user", "content": {"type": "text", "text": "Write\na haiku"}}
    assert labels.summary(question("sampling", {"messages": [message]})) == "Write a haiku"
    assert (
        labels.summary(question("sampling", {"messages": [{"content": [{"type": "image"}, message["content"]]}]}))
        == "Write a haiku"
    )
    for messages in (None, [], [7], [{"content": 7}], [{"content": [[]]}], {"a": 1}):
        assert labels.summary(question("sampling", {"messages": messages})) == ""
    assert "\x1b" not in labels.summary(question("elicitation", {"message": "\x1b[2J" + "a" * 10_000}))
    assert len(labels.summary(question("elicitation", {"message": "a" * 10_000}))) <= 300
    assert labels.summary(question("elicitation", {"message": {"not": "text"}})) == ""
    assert labels.kind(question("elicitation", {"mode": ["x"]})) == "elicitation  form"
