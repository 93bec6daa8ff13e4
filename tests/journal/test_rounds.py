"""The rounds of a call that needed input are found by their contents, not by their order."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.journal.exchange import rounds, whole_exchange
from inspector.journal.journal import Journal
from tests.formats.journals import call, live, result


def asked(id: int, state: str | None = None, *keys: str) -> bytes:
    """An answer that requires input."""
    given: dict[str, Any] = {"resultType": "input_required", "inputRequests": {key: {} for key in keys}}
    return result(id, given | ({"requestState": state} if state is not None else {}))


def again(state: str | None = None, *keys: str, name: str = "x") -> dict[str, Any]:
    """The parameters of a further round."""
    return {"name": name, "inputResponses": {key: {} for key in keys}} | ({"requestState": state} if state else {})


@pytest.fixture
def journal() -> Journal:
    """Two calls of three and two rounds, one inside the other, and others around them."""
    journal = live()
    call(journal, 1, "tools/call", {"name": "x"}, asked(1, "s1", "a"))  # 1, 2
    call(journal, 2, "tools/call", {"name": "y"}, asked(2, "t1", "a"))  # 3, 4
    call(journal, 3, "tools/call", again("t1", "a", name="y"), result(3, {"content": []}))  # 5, 6
    call(journal, 4, "tools/call", again("s1", "a"), asked(4, "s2"))  # 7, 8
    call(journal, 5, "tools/call", {"name": "z"}, result(5, {"content": []}))  # 9, 10
    call(journal, 6, "prompts/get", again("s2"), result(6, {}))  # 11, 12
    call(journal, 7, "tools/call", again("s2"), result(7, {"content": []}))  # 13, 14
    return journal


@pytest.mark.parametrize(
    ("request_n", "expected"),
    [(1, [1, 7, 13]), (7, [1, 7, 13]), (13, [1, 7, 13]), (3, [3, 5]), (5, [3, 5]), (9, [9]), (11, [11])],
)
def test_the_rounds_of_a_call_are_found_from_each_of_them(
    journal: Journal, request_n: int, expected: list[int]
) -> None:
    assert rounds(journal, request_n) == expected


def test_an_answer_to_a_question_that_was_not_asked_is_no_further_round() -> None:
    journal = live()
    call(journal, 1, "tools/call", {"name": "x"}, asked(1, None, "a"))
    call(journal, 2, "tools/call", again(None, "b"), result(2, {"content": []}))
    call(journal, 3, "tools/call", again(None, "a", name="y"), None)
    call(journal, 4, "tools/call", again(None, "a"), None)
    assert rounds(journal, 1) == [1, 6]
    assert rounds(journal, 3) == [3]
    assert rounds(journal, 5) == [5], "of another tool"


def test_all_rounds_are_one_exchange_to_show(journal: Journal) -> None:
    assert whole_exchange(journal, 8) == [1, 2, 7, 8, 13, 14]
    assert whole_exchange(journal, 10) == [9, 10]
    alone = journal.record_life("stdio", "ended")
    assert whole_exchange(journal, alone) == [alone]
