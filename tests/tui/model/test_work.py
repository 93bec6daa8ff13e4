"""The rules of the work pane: what stands below the form, and where a question of the server goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pytest

from inspector.client.inbox import Question
from inspector.client.state.calls import CallState, Fate
from inspector.tui.model.work import (
    AnswerNext,
    Asking,
    CallAsks,
    Do,
    Event,
    Facts,
    FormEntered,
    ItemChosen,
    Looked,
    Postponed,
    QuestionAnswered,
    QuestionCame,
    QuestionChosen,
    QuestionLeft,
    QuestionRead,
    ResultPart,
    RunningPart,
    Sent,
    Standing,
    Unprompted,
    Work,
    answered_from_list,
    lower_part,
    next_question,
    sends_unseen,
    shows_form,
    update,
)


@dataclass
class FakeCall:
    n: int
    fate: Fate = "pending"
    progress: Any = None


def call(n: int, fate: Fate = "pending", progress: int = 0) -> CallState:
    return cast(CallState, FakeCall(n, fate, FakeCall(progress) if progress else None))


def asked(n: int, parent: int = 0, state: str = "open", topic: str = "elicitation") -> Question:
    question = object.__new__(Question)
    for name, value in {"n": n, "parent": parent, "state": state, "topic": topic}.items():
        setattr(question, name, value)
    return question


ROOTS = asked(3, topic="roots")
INSIDE = asked(12, parent=10)
SECOND = asked(14, parent=10)
OVER = asked(12, parent=10, state="answered")
WITHDRAWN = asked(4, state="withdrawn")
NEW, READ, BELOW = (Unprompted(ROOTS, standing) for standing in Standing)
BESIDE = Facts(has_item=True, questions=(ROOTS,), waiting=(ROOTS,), asking=ROOTS)
IN_CALL = Facts(has_item=True, questions=(INSIDE, SECOND), waiting=(INSIDE, SECOND), call=call(10))


@pytest.mark.parametrize(
    ("work", "facts", "below"),
    [
        (Work(), Facts(), ResultPart()),
        (Work(), Facts(has_item=True, call=call(10, "done"), answered=True), ResultPart()),
        (Work(), IN_CALL, Asking(INSIDE)),
        (Work(), IN_CALL._replace(asking=SECOND), Asking(SECOND)),
        (Work(chosen=ROOTS), IN_CALL, Asking(ROOTS)),
        # A question outside every call gives way to a result and to a running call.
        (Work(unprompted=NEW), BESIDE, Asking(ROOTS)),
        (Work(unprompted=BELOW), BESIDE, Asking(ROOTS)),
        (Work(unprompted=BELOW), BESIDE._replace(answered=True), ResultPart()),
        (Work(unprompted=Unprompted(WITHDRAWN)), Facts(has_item=True), ResultPart()),
        (Work(unprompted=Unprompted(WITHDRAWN)), Facts(asking=WITHDRAWN, answering=True), Asking(WITHDRAWN)),
        # In a recording: the question inside the shown request, at that moment.
        (Work(), IN_CALL._replace(live=False, call=None, request_n=10), Asking(INSIDE)),
        (Work(), IN_CALL._replace(live=False, call=None, request_n=11), ResultPart()),
    ],
)
def test_what_stands_below_the_form(work: Work, facts: Facts, below: object) -> None:
    assert lower_part(work, facts) == below


def test_an_answered_question_stays_until_the_call_goes_on() -> None:
    waits = Facts(has_item=True, questions=(OVER,), call=call(10, progress=5))
    assert lower_part(Work(), waits) == Asking(OVER)
    goes_on = call(10, progress=13)
    assert lower_part(Work(), waits._replace(call=goes_on)) == RunningPart(goes_on)
    withdrawn = call(10)
    assert lower_part(Work(), Facts(questions=(asked(12, 10, "withdrawn"),), call=withdrawn)) == RunningPart(withdrawn)


@pytest.mark.parametrize(
    ("work", "facts", "is_shown"),
    [
        (Work(), Facts(), False),
        (Work(), Facts(has_item=True), True),
        (Work(unprompted=NEW), BESIDE, False),
        (Work(unprompted=BELOW), BESIDE, True),
        (Work(), IN_CALL, True),
        (Work(chosen=INSIDE), IN_CALL._replace(call=call(20)), False),
        (Work(chosen=INSIDE), Facts(has_item=True, live=False, request_n=10), True),
        (Work(chosen=ROOTS), Facts(has_item=True), False),
    ],
)
def test_the_form_is_above_what_concerns_its_item(work: Work, facts: Facts, is_shown: bool) -> None:
    assert shows_form(work, facts) is is_shown


@pytest.mark.parametrize(
    ("unprompted", "facts", "visible", "answered"),
    [
        (NEW, BESIDE, True, False),
        (READ, BESIDE, True, True),
        (BELOW, BESIDE, True, False),
        (READ, BESIDE._replace(answering=True), True, False),
        (READ, BESIDE._replace(asking=None), True, False),
        # Only roots can be answered without the pane.
        (READ, BESIDE, False, True),
        (Unprompted(asked(5), Standing.READ), BESIDE, False, False),
        (None, BESIDE, True, False),
    ],
)
def test_the_list_answers_what_could_be_read(
    unprompted: Unprompted | None, facts: Facts, visible: bool, answered: bool
) -> None:
    assert answered_from_list(Work(unprompted=unprompted), facts, visible=visible) is answered


def test_the_question_to_go_to_is_the_one_that_waits_here() -> None:
    assert next_question(Work(), IN_CALL._replace(asking=SECOND), asking=True) is SECOND
    assert next_question(Work(), IN_CALL._replace(asking=SECOND), asking=False) is INSIDE
    assert next_question(Work(unprompted=BELOW), BESIDE._replace(asking=None), asking=False) is ROOTS
    assert next_question(Work(), IN_CALL._replace(live=False), asking=True) is None


@pytest.mark.parametrize(
    ("work", "event", "facts", "after", "effect"),
    [
        # An item is chosen: the question that came first goes below its form.
        (Work(chosen=ROOTS, unprompted=NEW), ItemChosen(moved=True), BESIDE, Work(unprompted=BELOW), None),
        (Work(chosen=ROOTS, unprompted=NEW), ItemChosen(moved=False), BESIDE, Work(unprompted=NEW), None),
        (Work(unprompted=NEW), FormEntered(), BESIDE, Work(unprompted=BELOW), None),
        (Work(unprompted=NEW), FormEntered(), Facts(), Work(unprompted=NEW), None),
        # A request is sent: no question outside the call hides its result.
        (Work(chosen=ROOTS, unprompted=BELOW), Sent(is_shown=True), BESIDE, Work(), None),
        (Work(chosen=ROOTS, unprompted=BELOW), Sent(is_shown=False), BESIDE, Work(chosen=ROOTS), None),
        (Work(zoom="lower"), QuestionChosen(ROOTS), BESIDE, Work(chosen=ROOTS, zoom="lower"), None),
        # A question comes
        (Work(), QuestionCame(ROOTS, untouched=True), BESIDE, Work(unprompted=NEW), None),
        (Work(), QuestionCame(ROOTS, untouched=False), BESIDE, Work(unprompted=BELOW), None),
        (Work(), QuestionCame(ROOTS, untouched=True), IN_CALL, Work(), None),
        (Work(unprompted=NEW), QuestionRead(ROOTS), BESIDE, Work(unprompted=READ), None),
        (Work(unprompted=BELOW), QuestionRead(ROOTS), BESIDE, Work(unprompted=BELOW), None),
        (Work(unprompted=NEW), QuestionRead(WITHDRAWN), BESIDE, Work(unprompted=NEW), None),
        (Work(), CallAsks((ROOTS, INSIDE)), IN_CALL, Work(), AnswerNext(INSIDE)),
        (Work(), CallAsks((ROOTS,)), IN_CALL, Work(chosen=ROOTS), AnswerNext(ROOTS)),
        (Work(), CallAsks((asked(9, parent=8),)), IN_CALL, Work(), None),
        # It is left
        (Work(unprompted=BELOW), Postponed(), BESIDE, Work(), None),
        (Work(chosen=ROOTS, unprompted=BELOW), QuestionLeft(), BESIDE, Work(chosen=ROOTS), None),
        (Work(chosen=ROOTS), QuestionLeft(), BESIDE._replace(can_return=True), Work(), Do.RETURN),
        # It is withdrawn
        (Work(unprompted=Unprompted(WITHDRAWN), waiting=[WITHDRAWN]), Looked(), Facts(), Work(), Do.SAY_WITHDRAWN),
        (Work(unprompted=BELOW), Looked(), BESIDE, Work(unprompted=BELOW), None),
    ],
)
def test_what_an_event_changes(work: Work, event: Event, facts: Facts, after: Work, effect: object) -> None:
    assert update(work, event, facts) == (after, effect)


@pytest.mark.parametrize(
    ("work", "question", "facts", "after", "effect"),
    [
        # A question outside every call: the next one, else back to where the user came from.
        (Work(unprompted=BELOW), ROOTS, Facts(), Work(), None),
        (Work(unprompted=BELOW), ROOTS, Facts(answering=True), Work(), Do.LEAVE),
        (Work(unprompted=BELOW), ROOTS, Facts(answering=True, can_return=True), Work(), Do.RETURN),
        # One of the inbox, asked outside every call
        (Work(chosen=WITHDRAWN), WITHDRAWN, Facts(can_return=True), Work(), Do.RETURN),
        # One of the running call: its pane shows the call again.
        (Work(chosen=INSIDE), INSIDE, IN_CALL, Work(), None),
        (Work(chosen=ROOTS), ROOTS, IN_CALL, Work(), None),
        (Work(chosen=INSIDE), INSIDE, Facts(call=call(20, "done")), Work(chosen=INSIDE), None),
        (Work(chosen=INSIDE), INSIDE, IN_CALL._replace(can_return=True), Work(), None),
    ],
)
def test_where_an_answer_leads(work: Work, question: Question, facts: Facts, after: Work, effect: object) -> None:
    assert update(work, QuestionAnswered(question), facts) == (after, effect)


def test_after_an_answer_the_next_question_outside_every_call_is_shown() -> None:
    later = asked(5)
    answering = Facts(has_item=True, questions=(ROOTS, INSIDE, later), waiting=(INSIDE, later), answering=True)
    after, effect = update(Work(unprompted=READ), QuestionAnswered(ROOTS), answering)
    assert (after, effect) == (Work(unprompted=Unprompted(later, Standing.READ)), AnswerNext(later))
    # Where a result needs the room, the question was chosen.
    after, _ = update(Work(unprompted=READ), QuestionAnswered(ROOTS), answering._replace(answered=True))
    assert after.chosen is later


OPENED = BESIDE._replace(now=7.0)
ANSWERED, GONE = asked(12, 10, "answered"), asked(12, 10, "withdrawn")
RUNS = Facts(has_item=True, questions=(GONE,), call=call(10), now=7.0)


@pytest.mark.parametrize(
    ("work", "event", "facts", "changed"),
    [
        # A question came by itself: at the start, in a call, or after the answer to another one.
        (Work(), QuestionCame(ROOTS, untouched=True), OPENED, True),
        (Work(), Looked(), IN_CALL._replace(now=7.0), True),
        (Work(asks=INSIDE), Looked(), IN_CALL._replace(questions=(OVER, SECOND), waiting=(SECOND,), now=7.0), True),
        # The user went to it, or has answered it; below the form it has keys of its own.
        (Work(), QuestionChosen(ROOTS), OPENED, False),
        (Work(asks=ANSWERED), Looked(), RUNS._replace(questions=(ANSWERED,)), False),
        (Work(unprompted=BELOW), Looked(), OPENED, False),
        (Work(unprompted=NEW, asks=ROOTS), ItemChosen(moved=True), OPENED, False),
        # The server withdrew it.
        (Work(asks=GONE), Looked(), RUNS, True),
        (Work(unprompted=Unprompted(WITHDRAWN), asks=WITHDRAWN), Looked(), RUNS, False),
        (Work(unprompted=Unprompted(WITHDRAWN, Standing.READ), asks=WITHDRAWN), Looked(), RUNS, True),
        # In a recording nothing is sent.
        (Work(), Looked(), IN_CALL._replace(live=False, request_n=10, now=7.0), False),
    ],
)
def test_the_key_that_sends_waits_where_a_question_came_or_went_by_itself(
    work: Work, event: Event, facts: Facts, changed: bool
) -> None:
    after, _ = update(work, event, facts)
    assert (after.changed == 7.0) is changed
    assert bool(sends_unseen(after, facts._replace(now=7.4), 0.5)) is changed
    assert not sends_unseen(after, facts._replace(now=7.6), 0.5)


@pytest.mark.parametrize(
    ("work", "facts", "expected"),
    [
        (Work(waiting=[GONE]), RUNS, Do.SAY_WITHDRAWN),
        (Work(waiting=[GONE]), RUNS._replace(call=call(10, "done"), answered=True), Do.SAY_WITHDRAWN),
        # It waited in the inbox, while another one is shown.
        (Work(waiting=[WITHDRAWN, INSIDE]), IN_CALL, Do.SAY_WITHDRAWN),
        # The pane says it itself, where the user is in it or chose the question.
        (Work(chosen=GONE, waiting=[GONE]), RUNS, None),
        (Work(waiting=[ANSWERED]), RUNS._replace(questions=(ANSWERED,)), None),
        (Work(waiting=[asked(12, 10, "lost")]), RUNS, None),
    ],
)
def test_a_withdrawn_question_does_not_vanish_silently(work: Work, facts: Facts, expected: Do | None) -> None:
    after, effect = update(work, Looked(), facts)
    assert effect is expected
    assert update(after, Looked(), facts)[1] is None, "it is said once"
