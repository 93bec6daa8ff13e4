"""Completion: asked for once, a moment after the last key, and remembered (C-COMP-01)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from inspector.errors import NotOffered, RequestTimeout, ServerError
from inspector.tui.work import completion
from inspector.tui.work.completion import Completer

REF = {"type": "ref/prompt", "name": "p"}


class Session:
    """Answers as it is told, and counts."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self.tasks: list[asyncio.Task[Any]] = []

    def run(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        self.tasks.append(asyncio.get_running_loop().create_task(work))
        return self.tasks[-1]

    async def complete(self, _ref: Any, argument: str, value: str, context: dict[str, str]) -> list[str]:
        self.asked.append((argument, value, context))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return list(answer)

    async def done(self) -> None:
        await asyncio.gather(*self.tasks, return_exceptions=True)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(completion, "PAUSE", 0)


def completer(session: Session) -> tuple[Completer, list[Any]]:
    answers: list[Any] = []
    return Completer(session, lambda *what: answers.append(what)), answers  # type: ignore[arg-type]


async def test_only_what_was_typed_last_is_requested_and_only_once() -> None:
    """C-COMP-01."""
    session = Session(["python"], ["perl"])
    asks, answers = completer(session)
    asks.typed(REF, "language", "p", {"a": "1"})
    asks.typed(REF, "language", "py", {"a": "1"})
    await session.done()
    asks.typed(REF, "language", "py", {"a": "1"})
    assert session.asked == [("language", "py", {"a": "1"})]
    assert answers == [("language", "py", ["python"])] * 2
    asks.typed(REF, "language", "py", {"a": "2"})
    await session.done()
    assert len(session.asked) == 2, "other arguments may lead to other values"


@pytest.mark.parametrize("error", [NotOffered("no"), ServerError(-32601, "Method not found")])
async def test_a_server_without_completion_is_asked_once(error: Exception) -> None:
    session = Session(error)
    asks, answers = completer(session)
    for value in ("a", "b"):
        asks.typed(REF, "x", value, {})
        await session.done()
    assert len(session.asked) == 1
    assert all(values == [] for _, _, values in answers)


async def test_a_failure_is_no_reason_to_stop_asking() -> None:
    session = Session(RequestTimeout("late"), ServerError(-32602, "Invalid"), ["x"])
    asks, answers = completer(session)
    for value in ("a", "b", "c"):
        asks.typed(REF, "x", value, {})
        await session.done()
    assert answers == [("x", "b", []), ("x", "c", ["x"])]


async def test_many_values_are_cut() -> None:
    session = Session([str(number) for number in range(1000)])
    asks, answers = completer(session)
    asks.typed(REF, "x", "", {})
    await session.done()
    assert len(answers[0][2]) == completion.SHOWN
