"""The rules of the work pane: what stands below the form, and what a question of the server changes.

`Work` is the state. `update` returns the next one, with what is to be done; `lower_part` and the other functions read
it. `Facts` are of the session and of the item that is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from math import inf
from typing import Literal, NamedTuple

from inspector.client.inbox import Question
from inspector.client.state.calls import CallState

ZoomedPart = Literal["", "request", "lower"]

_ANSWERED = ("answered", "declined", "cancelled")
"""The states of a question after a key of the user."""


class Standing(Enum):
    """The place of a question that no call caused.

    `NEW`: it has the whole pane, because the user has done nothing since it came. `READ`: it was there long enough to
    be read, so the keys of the list answer it. `BELOW`: it is below the form, and has keys of its own.
    """

    NEW = auto()
    READ = auto()
    BELOW = auto()


class Unprompted(NamedTuple):
    """A question that no call caused. It is shown where a result is missing, until something is sent."""

    question: Question
    standing: Standing = Standing.BELOW


@dataclass(frozen=True, slots=True)
class Work:
    """The state of the pane. `chosen` is the question that the user went to; `zoom` is the part shown alone.

    `asks` is the open question that is shown. `changed` is when it came or left without a key of the user, in seconds.
    `waiting` are the questions that were open at the last look.
    """

    chosen: Question | None = None
    unprompted: Unprompted | None = None
    zoom: ZoomedPart = ""
    asks: Question | None = field(default=None, compare=False)
    changed: float = field(default=-inf, compare=False)
    waiting: Sequence[Question] = field(default=(), compare=False)


class Facts(NamedTuple):
    """The facts that the pane depends on.

    `questions` are those of the inbox, oldest first, and `waiting` the open ones. `call` is the newest of the item.
    `request_n` is the request of a recording that is shown. `asking` is the question in its pane, whether shown or
    hidden; `answering`: it has the focus. `can_return`: the user went to the question from a widget that can have the
    focus again. `now` is in seconds.
    """

    live: bool = True
    questions: Sequence[Question] = ()
    waiting: Sequence[Question] = ()
    has_item: bool = False
    call: CallState | None = None
    answered: bool = False
    request_n: int = 0
    asking: Question | None = None
    answering: bool = False
    can_return: bool = False
    now: float = 0.0

    @property
    def running(self) -> CallState | None:
        """The call of the item, while it runs."""
        return self.call if self.call is not None and self.call.fate == "pending" else None


# What stands below the form


class ResultPart(NamedTuple):
    """The result, or the text that replaces a missing one."""


class RunningPart(NamedTuple):
    """The progress of a call."""

    call: CallState


class Asking(NamedTuple):
    """A question of the server, or its answer."""

    question: Question


Lower = ResultPart | RunningPart | Asking


def lower_part(work: Work, facts: Facts) -> Lower:
    """Return what stands below the form."""
    question = question_to_show(work, facts)
    if question is not None:
        return Asking(question)
    return RunningPart(facts.running) if facts.running is not None else ResultPart()


def question_to_show(work: Work, facts: Facts) -> Question | None:
    """Return the chosen question, else that of the shown call, else one that no call caused."""
    if work.chosen is not None:
        return work.chosen
    if not facts.live:
        # In a recording at a moment: the question that the server had asked inside the call, or its answer.
        n = facts.request_n
        return next((question for question in facts.waiting if n and question.parent == n), None)
    if facts.running is not None:
        return _question_of(facts.running, facts.questions, facts.asking)
    return work.unprompted.question if work.unprompted is not None and shows_unprompted(work, facts) else None


def shows_unprompted(work: Work, facts: Facts) -> bool:
    """Whether the question outside every call is shown: it is open or being read, and no result needs the room."""
    if work.unprompted is None or facts.answered:
        return False
    question = work.unprompted.question
    return question.state == "open" or (facts.answering and facts.asking is question)


def shows_form(work: Work, facts: Facts) -> bool:
    """Whether the form is above the lower part: not above a question that does not concern the item."""
    question = question_to_show(work, facts)
    if question is None or not facts.has_item:
        return facts.has_item
    if is_unprompted(work, question):
        return work.unprompted is not None and work.unprompted.standing is Standing.BELOW
    return 0 < question.parent == facts.request_n or belongs(question, facts.call)


def is_unprompted(work: Work, question: Question | None) -> bool:
    """Whether this is the question that no call caused."""
    return question is not None and work.unprompted is not None and work.unprompted.question is question


def answered_from_list(work: Work, facts: Facts, *, visible: bool) -> bool:
    """Whether the keys of the list answer the question: only once it could be read.

    `visible`: the pane is on the screen; only roots can be answered without it, from the line above the footer.
    """
    if work.unprompted is None or work.unprompted.standing is not Standing.READ or facts.answering:
        return False
    question = work.unprompted.question
    return question.state == "open" and facts.asking is question and (visible or question.topic == "roots")


def next_question(work: Work, facts: Facts, *, asking: bool) -> Question | None:
    """Return the open question to go to: the one that waits here, else the oldest. `asking`: one is shown."""
    waiting = facts.waiting if facts.live else []
    here = facts.asking if asking else work.unprompted.question if work.unprompted is not None else None
    return here if here in waiting else next(iter(waiting), None)


def belongs(question: Question, call: CallState | None) -> bool:
    """Whether a question was asked inside a call."""
    return call is not None and question.parent == call.n and question.parent > 0


def _question_of(call: CallState, questions: Iterable[Question], asking: Question | None) -> Question | None:
    """Return the question of a running call: an open one, the shown one first, else the last.

    An answered question stays until the next progress of the call.
    """
    mine = [question for question in questions if belongs(question, call)]
    waiting = [question for question in mine if question.state == "open"]
    if waiting:
        return asking if asking in waiting else waiting[0]
    last = mine[-1] if mine else None
    if last is None or last.state not in _ANSWERED:
        return None
    return None if call.progress is not None and call.progress.n > last.n else last


# What changes it


class ItemChosen(NamedTuple):
    """Another item is shown. `moved`: the user left one for it."""

    moved: bool


class Sent(NamedTuple):
    """A request was sent. `is_shown`: of the item that is shown."""

    is_shown: bool


class QuestionChosen(NamedTuple):
    """The user chose a question of the inbox, or went to the next one."""

    question: Question


class QuestionCame(NamedTuple):
    """The server asked something that no call caused. `untouched`: the user has done nothing yet."""

    question: Question
    untouched: bool


class QuestionRead(NamedTuple):
    """The question was shown long enough to be read."""

    question: Question


class CallAsks(NamedTuple):
    """New questions came while the call runs, and the user is not typing."""

    questions: Sequence[Question]


class FormEntered(NamedTuple):
    """The user goes to the form of the item."""


class Postponed(NamedTuple):
    """The user leaves the question in the inbox."""


class QuestionLeft(NamedTuple):
    """The user leaves the pane of the question."""


class QuestionAnswered(NamedTuple):
    """The user answered a question."""

    question: Question


class Looked(NamedTuple):
    """The session was looked at again."""


Event = (
    ItemChosen
    | Sent
    | QuestionChosen
    | QuestionCame
    | QuestionRead
    | CallAsks
    | FormEntered
    | Postponed
    | QuestionLeft
    | QuestionAnswered
    | Looked
)


class AnswerNext(NamedTuple):
    """Go to the answer of a question, as soon as it is there."""

    question: Question


class Do(Enum):
    """An effect. `RETURN` leads to where the user was, `LEAVE` to the list."""

    RETURN = auto()
    LEAVE = auto()
    SAY_WITHDRAWN = auto()


Effect = AnswerNext | Do


def update(work: Work, event: Event, facts: Facts) -> tuple[Work, Effect | None]:
    """Return the state after an event, and what is to be done."""
    after, effect = _after(work, event, facts)
    asks = _open_question(after, facts)
    return replace(after, asks=asks, changed=_changed(work, event, facts, after, asks)), effect


def _changed(work: Work, event: Event, facts: Facts, after: Work, asks: Question | None) -> float:
    """Return when the key that sends got something else to act on, without a key of the user."""
    asked = work.asks
    for came in (work.unprompted, after.unprompted):
        if came is not None and came.standing is Standing.BELOW and not facts.answering:
            return -inf  # It acts on the form.
    if asks is asked:
        return work.changed
    if asks is not None:
        by_user = isinstance(event, QuestionChosen)
    else:
        by_user = not isinstance(event, Looked) or (asked is not None and asked.state in _ANSWERED)
    return -inf if by_user else facts.now


def sends_unseen(work: Work, facts: Facts, read_time: float) -> str:
    """Return why the key that sends does nothing; empty if the user saw what it acts on for `read_time` seconds."""
    if facts.now - work.changed >= read_time:
        return ""
    return "the question has just appeared" if work.asks is not None else "the question has just disappeared"


def _open_question(work: Work, facts: Facts) -> Question | None:
    question = question_to_show(work, facts) if facts.live else None
    return question if question is not None and question.state == "open" else None


def _after(work: Work, event: Event, facts: Facts) -> tuple[Work, Effect | None]:
    match event:
        case ItemChosen(moved):
            return replace(_below(work) if moved else work, chosen=None), None
        case Sent(is_shown):
            return replace(work, unprompted=None, chosen=None if is_shown else work.chosen), None
        case QuestionChosen(question):
            return replace(work, chosen=question), None
        case QuestionCame(question, untouched):
            if facts.running is not None:
                return work, None  # The call shows it.
            return replace(work, unprompted=Unprompted(question, Standing.NEW if untouched else Standing.BELOW)), None
        case QuestionRead(question):
            came = work.unprompted
            if came is None or came.question is not question or came.standing is not Standing.NEW:
                return work, None
            return replace(work, unprompted=Unprompted(question, Standing.READ)), None
        case CallAsks(questions):
            return _call_asks(work, questions, facts)
        case FormEntered():
            return (_below(work) if facts.has_item else work), None
        case Postponed():
            return replace(work, unprompted=None), None
        case QuestionLeft():
            after = replace(work, unprompted=None)
            return (replace(after, chosen=None), Do.RETURN) if facts.can_return else (after, None)
        case QuestionAnswered(question):
            return _answered(work, question, facts)
        case Looked():
            came, here = work.unprompted, question_to_show(work, facts)
            if came is not None and came.question.state == "withdrawn" and not shows_unprompted(work, facts):
                work = replace(work, unprompted=None)
            gone = any(question.state == "withdrawn" and question is not here for question in work.waiting)
            waiting = tuple(facts.waiting) if facts.live else ()
            return replace(work, waiting=waiting), Do.SAY_WITHDRAWN if gone else None


def _below(work: Work) -> Work:
    """Show the form above the question that no call caused: keys may go to its fields."""
    came = work.unprompted
    return work if came is None else replace(work, unprompted=Unprompted(came.question))


def _call_asks(work: Work, questions: Sequence[Question], facts: Facts) -> tuple[Work, Effect | None]:
    mine = next((question for question in questions if belongs(question, facts.call)), None)
    if mine is not None:
        return work, AnswerNext(mine)
    # With several calls in flight, stdio does not tell which one a question belongs to: the shown one waits too.
    uncaused = next((question for question in questions if not question.parent), None)
    return (work, None) if uncaused is None else (replace(work, chosen=uncaused), AnswerNext(uncaused))


def _answered(work: Work, question: Question, facts: Facts) -> tuple[Work, Effect | None]:
    """Go to the next question that no call caused, or back to where the user was."""
    came = work.unprompted
    if came is not None and came.question is question:
        following = next((one for one in facts.waiting if not one.parent), None)
        after = replace(work, chosen=None, unprompted=None)
        if following is not None:
            after = replace(after, unprompted=Unprompted(following, came.standing))
        if not facts.answering:
            return after, None
        if following is not None:
            chosen = None if shows_unprompted(after, facts) else following
            return replace(after, chosen=chosen), AnswerNext(following)
        return after, Do.RETURN if facts.can_return else Do.LEAVE
    if facts.can_return and not question.parent:
        return replace(work, chosen=None), Do.RETURN
    mine = (facts.running is not None and not question.parent) or belongs(question, facts.call)
    return (replace(work, chosen=None) if work.chosen is question and mine else work), None
