"""The query, the cursor and the verbs of the message log, without a screen."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.tui.model.log import (
    EXCHANGE_VERBS,
    LOG_VERBS,
    LogCursor,
    LogFacts,
    LogQuery,
    exchange_filter,
    footer_verbs,
    without_negotiation,
)
from tests.tui.recorded_conversation import Talk, example


def narrowed(text: str, **fields: Any) -> LogQuery:
    return LogQuery().narrowed(text, 5)._replace(**fields)


# The query


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
def test_a_text_that_is_wrong_or_incomplete_leaves_the_rows_and_says_why(
    text: str, incomplete: str, problem: str
) -> None:
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


@pytest.mark.parametrize(
    "change", [{"folds": False}, {"by_exchange": True}, {"filter": narrowed("b").filter}, {"filter": None}]
)
def test_other_rows_are_needed_for_another_filter_or_kind_of_row(change: dict[str, Any]) -> None:
    assert narrowed("a")._replace(**change).rows != narrowed("a").rows


def test_nothing_else_needs_other_rows() -> None:
    assert narrowed("a", problem="odd", run="b", set_after=3, changed_after=8).rows == narrowed("a").rows


@pytest.mark.parametrize(
    ("text", "is_one"), [("exchange:2", True), ("exchange:2|exchange:#9", True), ("exchange:2 dir:recv", False), ("", False)]
)  # fmt: skip
def test_one_exchange_is_told_from_other_filters(text: str, is_one: bool) -> None:
    assert narrowed(text).is_one_exchange is is_one


def in_rounds() -> Talk:
    """A call that is answered (1-2), and one that follows it in another exchange (3)."""
    talk = Talk()
    talk.call(7, "ask")
    talk.say(7, "x")
    return talk


def test_a_filter_of_the_program_ends_with_another_call() -> None:
    talk = in_rounds()
    query = LogQuery().narrowed("exchange:7", 2).by_program(2)
    assert query.after_calls(talk.journal) == query
    talk.notice("message", level="info", data="not a call")
    assert query.after_calls(talk.journal).source == "exchange:7"
    talk.call(8, "echo")
    after = query.after_calls(talk.journal)
    assert after.filter is None
    assert after.searched == query.searched
    assert after.after_calls(talk.journal) == after


def test_a_filter_of_the_program_stays_while_its_exchange_goes_on() -> None:
    talk = in_rounds()
    query = LogQuery().narrowed("name:ask", 2).by_program(2)
    talk.call(9, "ask")
    later = query.after_calls(talk.journal)
    assert (later.source, later.set_after) == ("name:ask", 3)
    talk.call(10, "other")
    assert later.after_calls(talk.journal).filter is None


def test_a_filter_of_the_program_moves_with_the_rounds_of_its_call() -> None:
    talk = Talk()
    asked = {"method": "elicitation/create", "params": {"message": "Size?"}}
    talk.call(1, "order")
    talk.answer(1, {"resultType": "input_required", "inputRequests": {"size": asked}, "requestState": "s"})
    query = LogQuery().narrowed("exchange:1", 2).by_program(2)
    answers = {"size": {"action": "accept", "content": {"size": "l"}}}
    talk.ask(2, "tools/call", {"name": "order", "arguments": {}, "inputResponses": answers, "requestState": "s"})
    assert query.after_calls(talk.journal).source == "exchange:1|exchange:2"


def test_a_filter_of_the_user_stays() -> None:
    talk = in_rounds()
    query = LogQuery().narrowed("exchange:7", 2).by_program(2).by_user()
    talk.call(8, "echo")
    assert query.after_calls(talk.journal) is query


@pytest.mark.parametrize(
    ("before", "run", "shown"),
    [
        (LogQuery(), "id:1", "id:1"),
        (narrowed("id:1", run="id:1"), "id:2", "id:2"),
        (narrowed("id:1", run="id:1"), "", ""),
        (narrowed("dir:recv", run="id:1"), "id:2", "dir:recv"),
        (narrowed("dir:recv"), "id:2", "dir:recv"),
        (LogQuery(run="id:1"), "id:1", ""),
    ],
)
def test_the_log_shows_the_run_of_the_row_unless_the_user_typed_a_filter(
    before: LogQuery, run: str, shown: str
) -> None:
    after = before.with_run(run, 9)
    assert (after.source, after.run) == (shown, run)
    assert after.set_after == (9 if shown != before.source else before.set_after)


def test_a_run_that_was_left_by_a_filter_is_shown_when_the_list_goes_to_another() -> None:
    query = LogQuery().with_run("id:1", 3).narrowed("", 4)
    assert query.with_run("id:1", 5).filter is None, "the user cleared it"
    assert query.with_run("id:2", 5).source == "id:2"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "-phase:negotiation"),
        ("dir:recv", "dir:recv -phase:negotiation"),
        ("a | b", "(a | b) -phase:negotiation"),
        ("(a | b)", "(a | b) -phase:negotiation"),
        ('"a | b"', '"a | b" -phase:negotiation'),
    ],
)
def test_hiding_the_negotiation_adds_to_the_filter_and_takes_it_back(before: str, after: str) -> None:
    assert without_negotiation(before) == after
    assert without_negotiation(after) in (before, f"({before})")


def test_an_exchange_is_named_by_its_id_where_that_is_clear() -> None:
    talk = example()
    assert exchange_filter(talk.journal, 5) == "exchange:2"
    assert exchange_filter(talk.journal, 10) == "exchange:#10"
    talk.call(2, "the same id again")
    assert exchange_filter(talk.journal, 5) == "exchange:#4"


# The cursor


def test_the_event_selected_in_a_row_is_shown_until_the_cursor_leaves_the_row() -> None:
    cursor = LogCursor().selected(row=4, n=7)
    assert cursor.shown(4, answer=9) == 7
    assert cursor.moved(4).shown(4, answer=9) == 7
    assert cursor.moved(5).moved(4).shown(4, answer=9) == 9
    assert cursor.shown(5, answer=0) == 5
    assert LogCursor().shown(0, answer=0) == 0


def test_what_was_on_the_screen_counts_as_read_when_the_view_goes_back() -> None:
    cursor = LogCursor().seen(9, at_end=False).seen(3, at_end=False)
    assert cursor.read_to == 9
    assert cursor.seen(4, at_end=True).read_to == 4, "the end of other rows"


@pytest.mark.parametrize(
    ("choices", "compared", "pair"), [([3], 3, None), ([3, 5], 0, (3, 5)), ([3, 3], 0, None), ([3, 0], 0, None)]
)
def test_two_choices_of_different_messages_are_a_pair(
    choices: list[int], compared: int, pair: tuple[int, int] | None
) -> None:
    cursor, found = LogCursor(), None
    for n in choices:
        cursor, found = cursor.chosen(n)
    assert (cursor.compared, found) == (compared, pair)


# The verbs

QUIET = LogFacts(rows=3, current=1)
"""A live log without filter, findings, marks, or folded rows; the cursor is on an event of the server."""


def titles(facts: LogFacts, *verbs: str) -> list[str | None]:
    """The titles of verbs in the footer, None for those that it does not have."""
    shown = dict(footer_verbs(facts))
    return [shown.get(verb) for verb in verbs]


def test_the_footer_of_a_quiet_log_has_what_always_works() -> None:
    assert [verb for verb, _ in footer_verbs(QUIET)] == [
        "list.select", "messages.filter", "messages.mark", "messages.exchange", "messages.timeline", "messages.follow",
        "messages.times", "app.zoom",
    ]  # fmt: skip
    assert footer_verbs(QUIET._replace(rows=0, marks=2)) == [("messages.filter", "")]


def test_the_footer_of_a_busy_log_is_in_order() -> None:
    busy = QUIET._replace(by_exchange=True, searched=True, findings=1, marks=1, hidden=4, has_partner=True, sent=True)
    assert [verb.partition(".")[2] for verb, _ in footer_verbs(busy)] == [
        "select", "filter", "next-hit", "next-finding", "mark", "next-mark", "fold", "exchange", "partner", "timeline",
        "send-again", "edit-again", "follow", "times",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "verb", "title"),
    [
        ({}, "list.select", ""),
        ({"live": False}, "list.select", "go there"),
        ({"marked": True}, "messages.mark", "unmark"),
        ({}, "messages.mark", "mark"),
        ({"current": 0}, "messages.mark", None),
        ({"is_one_exchange": True}, "messages.exchange", "all"),
        ({}, "messages.fold", None),
        ({"hidden": 2}, "messages.fold", "unfold"),
        ({"folds": False}, "messages.fold", "fold"),
        ({"sent": True}, "messages.send-again", ""),
        ({"sent": True, "live": False}, "messages.send-again", None),
        ({"sent": True, "live": False}, "messages.edit-again", None),
        ({"searched": True, "at_end": False}, "messages.next-hit", ""),
    ],
)
def test_the_footer_names_a_verb_by_what_it_does_now(change: dict[str, Any], verb: str, title: str | None) -> None:
    assert titles(QUIET._replace(**change), verb) == [title]


@pytest.mark.parametrize(
    ("verb", "change"),
    [
        ("messages.all", {"can_clear": True}),
        ("messages.send-again", {"live": True}),
        ("messages.edit-again", {"live": True}),
        ("messages.next-hit", {"at_end": True}),
        ("messages.previous-hit", {"at_end": True}),
        ("messages.next-finding", {"at_end": True}),
        ("messages.previous-finding", {"at_end": True}),
    ],
)
def test_a_key_goes_past_the_log_when_its_verb_does_not_work(verb: str, change: dict[str, Any]) -> None:
    idle = QUIET._replace(live=False, at_end=False)
    assert not LOG_VERBS.available(verb, idle)
    assert LOG_VERBS.available(verb, idle._replace(**change))
    assert LOG_VERBS.available("messages.copy", idle)


@pytest.mark.parametrize(
    ("change", "verbs"),
    [
        ({}, "filter select timeline send-again compare follow times export"),
        ({"live": False}, "filter select timeline compare follow times export"),
        ({"hidden": 1}, "filter select timeline send-again fold compare follow times export"),
    ],
)
def test_the_keys_below_the_exchanges(change: dict[str, Any], verbs: str) -> None:
    facts = QUIET._replace(by_exchange=True, **change)
    assert [verb.partition(".")[2] for verb, _ in EXCHANGE_VERBS.line(facts)] == verbs.split()


def test_the_export_below_the_exchanges_says_how_many_events_match() -> None:
    facts = QUIET._replace(by_exchange=True, matching=1200)
    assert dict(EXCHANGE_VERBS.line(facts))["messages.export"] == "export"
    assert dict(EXCHANGE_VERBS.line(facts._replace(filtered=True)))["messages.export"] == "export these 1,200"
