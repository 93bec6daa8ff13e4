"""The inbox under a flood: what waits is bounded, what is over is forgotten, and what was declined is said."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.client.inbox import Inbox, Question, StandingAnswers


def inbox(standing: StandingAnswers | None = None) -> tuple[Inbox, list[tuple[Question, Any, Any]]]:
    sent: list[tuple[Question, Any, Any]] = []
    made = Inbox(
        standing or StandingAnswers(elicitation="ask", sampling="decline"),
        lambda question, result, error: sent.append((question, result, error)), lambda: None, lambda schema: {},
    )  # fmt: skip
    return made, sent


def ask(made: Inbox, n: int, topic: Any = "elicitation") -> Question:
    return made.ask(n, f"q{n}", topic, {}, 0, 0)


def test_beyond_the_bound_questions_are_declined_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Inbox, "OPEN_LIMIT", 5)
    made, sent = inbox()
    counts: list[int] = []
    made.on_declined = lambda: counts.append(made.declined)
    for n in range(1, 118):
        ask(made, n)
    assert len(made.open()) == len(made.questions) == 5
    assert made.declined == len(sent) == 112
    assert {result["action"] for _, result, _ in sent} == {"decline"}
    assert counts == list(range(1, 113))


def test_a_place_that_is_free_again_is_taken_by_the_next_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Inbox, "OPEN_LIMIT", 2)
    made, _ = inbox()
    first, _ = ask(made, 1), ask(made, 2)
    first.cancel()
    assert ask(made, 3).state == "open"
    assert [question.n for question in made.open()] == [2, 3]


def test_what_is_over_is_forgotten_though_an_older_question_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Inbox, "KEPT", 20)
    made, _ = inbox()
    oldest = ask(made, 1)
    for n in range(2, 1000):
        ask(made, n, "sampling")
    assert made.questions[0] is oldest
    assert len(made.questions) < 40
    assert made.questions[-1].n == 999


def test_a_question_that_is_withdrawn_waits_no_longer() -> None:
    made, _ = inbox()
    question = ask(made, 1)
    assert made.withdraw("q1") is question
    assert made.open() == []
    assert question.state == "withdrawn"
