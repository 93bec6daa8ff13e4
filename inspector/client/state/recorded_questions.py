"""The server's questions up to a moment of a recording, with the state of each.

Questions are requests of the server, or the input requests of a modern result (C-MRTR-01). As in a live session only
the latest are kept, so that a jump to any moment reads a bounded number of messages.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from itertools import islice
from typing import Any

from inspector.client.inbox import MAX_QUESTIONS, TOPICS, Inbox, Question, QuestionStatus
from inspector.client.state.model import SessionModel
from inspector.client.state.recorded_calls import RequestsInFlight
from inspector.client.state.recorded_tracks import Budget, params_of, result_of
from inspector.journal.format import Dir, Event
from inspector.journal.index import State as Standing
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape

MAY_ASK = frozenset(("tools/call", "prompts/get", "resources/read"))
"""Requests whose response may require input."""
MAX_SIZE = 1 << 16
"""Maximum bytes of a response that is searched for input requests."""
LOOKED_AHEAD, READ_AHEAD = 20_000, 50
"""Events after an input request that are searched for the retried request, and requests that are read."""


def wants_input(journal: Journal, n: int) -> bool:
    """Whether a response seems to require input. Costs one read and no parsing."""
    return journal.index.size(n) <= MAX_SIZE and b"input_required" in journal.line(n)


class Questions:
    """The questions of a recording: `events` are the numbers of the asking messages."""

    def __init__(self, model: SessionModel, flight: RequestsInFlight) -> None:
        self.model = model
        self._flight = flight
        self.events = array("I")
        self._known: dict[int, list[Question]] = {}
        self._replies: dict[tuple[int, Any], tuple[int, int]] = {}

    def go_to(self, n: int, budget: Budget, *, at_end: bool) -> bool:
        """Set the inbox to its state after event `n`. False: the budget did not suffice.

        `at_end`: the recording ends there, so an open question stays open.
        """
        want = bisect_right(self.events, n)
        wanted = self.events[max(want - Inbox.KEPT, 0) : want]
        for event in wanted:
            if event not in self._known:
                if not budget.left:
                    return False
                self._known[event] = self._asked(event)
        if len(self._known) > 2 * Inbox.KEPT:
            self._known = {event: self._known[event] for event in wanted}
            self._replies = {key: found for key, found in self._replies.items() if key[0] in self._known}
        questions = [question for event in wanted for question in self._known[event]]
        before = self.model.inbox.questions
        changed = len(before) != len(questions) or any(map(_differ, before, questions))
        for question in questions:
            changed = self._settle(question, n, at_end) or changed
        self.model.inbox.show(questions)
        if changed:
            self.model.changes.bump("inbox")
        return True

    def _asked(self, n: int) -> list[Question]:
        journal, inbox = self.model.journal, self.model.inbox
        event, index = journal.event(n), journal.index
        if index.shape(n) == Shape.REQUEST:
            message, topic = event.message, TOPICS[index.method(n)]
            return [Question(n, message.get("id"), topic, params_of(event), index.parent(n), event.t, inbox)]
        return [
            Question(n, key, TOPICS[method], params, index.pair(n), event.t, inbox)
            for key, method, params in _input_requests(event)
        ]

    # Their states

    def reply(self, question: Question) -> int:
        """Return the number of the message that answers a question, anywhere in the recording; 0 if none."""
        index = self.model.journal.index
        if index.shape(question.n) == Shape.REQUEST:
            return index.pair(question.n)
        found, looked = self._replies.get(question.key, (0, 0))
        if not found and looked != index.count:
            found = self._sought(question)
            self._replies[question.key] = (found, index.count)
        return found

    def _sought(self, question: Question) -> int:
        """Find the request that contains the required input: the same one as before, with the answer."""
        journal = self.model.journal
        again = Query(method=journal.index.method(question.n), dir=Dir.SEND, shape=Shape.REQUEST)
        for n in islice(again.each(journal.index, question.n, question.n + LOOKED_AHEAD), READ_AHEAD):
            responses = params_of(journal.event(n)).get("inputResponses")
            if type(responses) is dict and question.id in responses:
                return n
        return 0

    def answer(self, question: Question) -> tuple[QuestionStatus, Any]:
        """Return how a question ended, and its answer, at any time."""
        reply = self.reply(question)
        if not reply:
            return "lost", None
        event = self.model.journal.event(reply)
        message = event.message if type(event.message) is dict else {}
        if self.model.journal.index.shape(reply) == Shape.REQUEST:
            answer = params_of(event)["inputResponses"][question.id]
        else:
            answer = message.get("result", message.get("error"))
        action = answer.get("action") if type(answer) is dict else None
        refused = "error" in message or action == "decline"
        return "declined" if refused else "cancelled" if action == "cancel" else "answered", answer

    def _settle(self, question: Question, n: int, at_end: bool) -> bool:
        """Set a question to its state after event `n`. True: the state changed."""
        before, reply = question.state, self.reply(question)
        if 0 < reply <= n:
            if before not in ("answered", "declined", "cancelled"):
                question.state, question.answer = self.answer(question)
        else:
            question.answer = None
            taken_back = self.model.journal.index.state(question.n) == Standing.CANCELLED
            if taken_back and self._flight.settled_at(question.n) <= n:
                question.state = "withdrawn"
            else:
                question.state = "lost" if at_end else "open"
        return question.state != before


def _differ(one: Question, other: Question) -> bool:
    return one is not other


def _input_requests(event: Event) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the key, method and parameters of each supported input request of a response."""
    result = result_of(event)
    requests = result.get("inputRequests") if type(result) is dict else None
    found = []
    for key, request in list(requests.items())[:MAX_QUESTIONS] if type(requests) is dict else ():
        method = request.get("method") if type(request) is dict else None
        if isinstance(method, str) and method in TOPICS:
            params = request.get("params")
            found.append((key, method, params if type(params) is dict else {}))
    return found
