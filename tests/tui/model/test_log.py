"""The query and the cursor of the message log."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.tui.model.log import Fold, LogCursor, LogQuery, exchange_filter
from tests.tui.recorded_conversation import Talk, example


def narrowed(text: str, **fields: Any) -> LogQuery:
    return LogQuery().narrowed(text, 5)._replace(**fields)


@pytest.mark.parametrize(
    ("text", "incomplete", "problem"),
    [
        ("dir:recvx", "", "did you mean `recv`"),
        ('"open', "", "quot"),
        ("(a", "", "is not closed"),
        ("met", "enter searches for “met”", "enter searches for “met”"),
        ("method:tools/c", "method:tools/c is not complete", "method:tools/c is not complete"),
    ],
)
def test_a_wrong_or_incomplete_text_leaves_the_rows(text: str, incomplete: str, problem: str) -> None:
    before = narrowed("dir:recv")
    after = before.narrowed(text, 9, incomplete)
    assert problem in after.problem
    assert after.rows == before.rows
    assert after._replace(problem="") == before
    assert not after.narrowed("dir:recv", 9).problem


def test_the_last_filter_is_searched_for_though_it_was_cleared() -> None:
    query = narrowed("hello").narrowed("", 9)
    assert query.filter is None
    assert query.searched.source == "hello"
    assert LogQuery().narrowed(" ", 9).searched is None


def test_what_fails_is_shown_from_the_change_of_the_filter_on() -> None:
    query = narrowed("hello")
    assert query.changed_after == 5
    assert query.narrowed(" hello ", 9).changed_after == 5, "the same filter"
    assert query.narrowed("bye", 9).changed_after == 9
    assert query.narrowed("(bye", 9).changed_after == 5, "not in force"


def test_other_rows_are_needed_for_another_filter_or_kind_of_row_and_for_nothing_else() -> None:
    query = narrowed("a")
    for change in (
        {"chosen_fold": Fold.NOTHING},
        {"by_exchange": True},
        {"filter": narrowed("b").filter},
        {"filter": None},
    ):
        assert query._replace(**change).rows != query.rows
    assert query._replace(problem="odd", run="b", set_after=3, changed_after=8).rows == query.rows


@pytest.mark.parametrize(("query", "folds"), [
    (LogQuery(), [Fold.START, Fold.MESSAGE, Fold.NOTHING, Fold.START]),
    # A filter, or exchanges: each match has a row.
    (narrowed("hello"), [Fold.MESSAGE, Fold.NOTHING, Fold.MESSAGE]),
    (LogQuery(by_exchange=True), [Fold.MESSAGE, Fold.NOTHING, Fold.MESSAGE]),
])  # fmt: skip
def test_each_press_of_a_key_folds_less_and_after_the_last_one_all_again(query: LogQuery, folds: list[Fold]) -> None:
    seen = []
    for _ in folds:
        seen.append(query.fold)
        query = query.unfolded()
    assert seen == folds


@pytest.mark.parametrize(
    ("text", "is_one"), [("exchange:2", True), ("exchange:2|exchange:#9", True), ("exchange:2 dir:recv", False), ("", False)]
)  # fmt: skip
def test_one_exchange_is_told_from_other_filters(text: str, is_one: bool) -> None:
    assert narrowed(text).is_one_exchange is is_one


@pytest.fixture
def answered() -> Talk:
    """A call that is answered (1-2)."""
    talk = Talk()
    talk.call(7, "ask")
    talk.say(7, "x")
    return talk


def test_a_filter_of_the_program_ends_with_another_call_and_one_of_the_user_stays(answered: Talk) -> None:
    query = LogQuery().narrowed("exchange:7", 2).by_program(2)
    assert query.after_calls(answered.journal) == query
    answered.notice("message", level="info", data="not a call")
    assert query.after_calls(answered.journal).source == "exchange:7"
    answered.call(8, "echo")
    after = query.after_calls(answered.journal)
    assert after.filter is None
    assert after.searched == query.searched
    assert after.after_calls(answered.journal) == after
    of_user = query.by_user()
    assert of_user.after_calls(answered.journal) is of_user


def test_a_filter_of_the_program_stays_while_its_exchange_goes_on(answered: Talk) -> None:
    query = LogQuery().narrowed("name:ask", 2).by_program(2)
    answered.call(9, "ask")
    later = query.after_calls(answered.journal)
    assert (later.source, later.set_after) == ("name:ask", 3)
    answered.call(10, "other")
    assert later.after_calls(answered.journal).filter is None


def test_a_filter_of_the_program_moves_with_the_rounds_of_its_call() -> None:
    talk = Talk()
    asked = {"method": "elicitation/create", "params": {"message": "Size?"}}
    talk.call(1, "order")
    talk.answer(1, {"resultType": "input_required", "inputRequests": {"size": asked}, "requestState": "s"})
    query = LogQuery().narrowed("exchange:1", 2).by_program(2)
    answers = {"size": {"action": "accept", "content": {"size": "l"}}}
    talk.ask(2, "tools/call", {"name": "order", "arguments": {}, "inputResponses": answers, "requestState": "s"})
    assert query.after_calls(talk.journal).source == "exchange:1|exchange:2"


@pytest.mark.parametrize(
    ("before", "source", "set_after"),
    [
        (LogQuery(), "", None),
        (narrowed("dir:recv"), "dir:recv", None),
        (narrowed("id:1", run="id:1", set_after=4), "id:1", 9),
    ],
)
def test_leaving_the_log_ends_a_filter_of_the_program_and_not_one_of_the_user(
    before: LogQuery, source: str, set_after: int | None
) -> None:
    assert before.ended(9) is before, "nothing was set by the program, except the run of the list"
    filtered = before.narrowed_by_program("exchange:7", 8).narrowed_by_program("exchange:8", 8)
    after = filtered.ended(9)
    assert (filtered.source, after.source, after.set_after) == ("exchange:8", source, set_after)
    assert filtered.by_user().ended(9).source == "exchange:8", "the user went on with it"


def test_the_filter_of_the_user_is_in_force_again_after_another_call(answered: Talk) -> None:
    query = narrowed("dir:recv").narrowed_by_program("exchange:7", 2)
    answered.call(8, "echo")
    after = query.after_calls(answered.journal)
    assert (after.source, after.set_after) == ("dir:recv", None)


@pytest.mark.parametrize(
    ("before", "run", "source"),
    [
        (LogQuery(), "id:1", "id:1"),
        (narrowed("id:1", run="id:1"), "id:2", "id:2"),
        (narrowed("id:1", run="id:1"), "", ""),
        (narrowed("dir:recv", run="id:1"), "id:2", "dir:recv"),
        (narrowed("dir:recv"), "id:2", "dir:recv"),
        (LogQuery(run="id:1"), "id:1", ""),
    ],
)
def test_the_run_of_a_row_is_shown_unless_the_user_filters(before: LogQuery, run: str, source: str) -> None:
    after = before.with_run(run, 9)
    assert (after.source, after.run) == (source, run)
    assert after.set_after == (9 if source != before.source else before.set_after)


def test_a_filter_that_the_user_cleared_does_not_come_back_after_a_run(answered: Talk) -> None:
    query = narrowed("dir:recv").narrowed_by_program("exchange:7", 2).by_user().narrowed("", 2).with_run("id:1", 2)
    answered.call(8, "echo")
    assert query.after_calls(answered.journal).filter is None


def test_a_run_that_was_left_by_a_filter_is_shown_when_the_list_goes_to_another() -> None:
    query = LogQuery().with_run("id:1", 3).narrowed("", 4)
    assert query.with_run("id:1", 5).filter is None, "the user cleared it"
    assert query.with_run("id:2", 5).source == "id:2"


def test_an_exchange_is_named_by_its_id_where_that_is_clear() -> None:
    talk = example()
    assert exchange_filter(talk.journal, 5) == "exchange:2"
    assert exchange_filter(talk.journal, 10) == "exchange:#10"
    talk.call(2, "the same id again")
    assert exchange_filter(talk.journal, 5) == "exchange:#4"


def test_the_event_selected_in_a_row_is_shown_until_the_cursor_leaves_the_row() -> None:
    cursor = LogCursor().selected(row=4, n=7)
    assert cursor.event_to_show(4, answer=9) == 7
    assert cursor.moved(4).event_to_show(4, answer=9) == 7
    assert cursor.moved(5).moved(4).event_to_show(4, answer=9) == 9
    assert cursor.event_to_show(5, answer=0) == 5
    assert LogCursor().event_to_show(0, answer=0) == 0


def test_what_was_on_the_screen_counts_as_read_when_the_view_goes_back() -> None:
    cursor = LogCursor().seen(9, at_end=False).seen(3, at_end=False)
    assert cursor.read_to == 9
    assert cursor.seen(4, at_end=True).read_to == 4, "the end of other rows"


def test_two_choices_of_different_messages_are_a_pair() -> None:
    first, pair = LogCursor().chosen(3)
    assert (first.compared, pair) == (3, None)
    assert [first.chosen(n) for n in (5, 3, 0)] == [(LogCursor(), (3, 5)), (LogCursor(), None), (LogCursor(), None)]
