"""A recording's state by topic: each topic keeps the numbers of its events.

Moving forward processes the next of them. Moving back starts at the nearest known state: the event itself if only the
last one counts, the start of a listing, or a checkpoint. All work has a `Budget`. The server's questions are its
requests, or the input requests of a modern result (C-MRTR-01); as in a live session only the latest are kept, so that a
jump to any moment reads a bounded number of messages.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from copy import copy
from itertools import islice
from operator import is_not
from time import perf_counter
from typing import Any, Generic, Literal, TypeVar

from inspector.client.inbox import MAX_QUESTIONS, TOPICS, Inbox, Question, QuestionStatus
from inspector.client.state.calls import Progress
from inspector.client.state.catalog import KINDS, ListName
from inspector.client.state.model import SessionModel
from inspector.client.state.server import Server, discovered
from inspector.client.state.tasks import Task
from inspector.journal import durations
from inspector.journal.exchange import RECEIVED_RESULTS, given_up_at, is_open, newest_progress, walk_open
from inspector.journal.format import Dir, Event
from inspector.journal.index import State as Standing
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.members import object_at, subject_of, text_at, texts_at, value_at
from inspector.protocol.names import VERSION_KEY

SECONDS = 0.01
"""Seconds that one call of `RecordedSession.advance` reads; the next call continues."""

LOOKED_AT, READ = 2000, 200
"""Events before a task's first mention that are searched, and responses among them that are read."""
MAX_SIZE = 1 << 16
"""Maximum bytes of a response that may create a task, or is searched for input requests."""
MAX_TASKS = 300
"""Maximum tasks of a recording whose requests are searched; a hostile recording may name one per message."""

TrackState = TypeVar("TrackState")


class Budget:
    """The work allowed in one call. The first piece is always allowed, so that there is progress."""

    def __init__(self) -> None:
        self._end = perf_counter() + SECONDS
        self._fresh = True

    @property
    def left(self) -> bool:
        """Whether another piece of work may start."""
        fresh, self._fresh = self._fresh, False
        return fresh or perf_counter() < self._end


class Checkpoints(Generic[TrackState]):
    """States of a reduction after some of its events, at growing distances, so that they stay few and small."""

    MAX_COUNT = 32
    ROOM = 20_000
    """Maximum entries of all states together."""

    def __init__(self, step: int = 256) -> None:
        self._step = step
        self._kept: list[tuple[int, TrackState, int]] = []

    def due(self, position: int) -> bool:
        """Whether to store the state after `position` events."""
        return position >= (self._kept[-1][0] if self._kept else 0) + self._step

    def keep(self, position: int, state: TrackState, size: int) -> None:
        """Store a state that has `size` entries."""
        self._kept.append((position, state, size))
        while len(self._kept) > self.MAX_COUNT or sum(size for _, _, size in self._kept) > self.ROOM:
            self._step *= 2
            if len(self._kept) == 1:
                self._kept.clear()
            else:
                del self._kept[::2]

    def before(self, position: int) -> tuple[int, TrackState] | None:
        """Return the last state at or before `position` events."""
        return next(((at, state) for at, state, _ in reversed(self._kept) if at <= position), None)


class Track:
    """The events of one topic (`events`, ascending); the first `done` of them make the shown state."""

    def __init__(self, model: SessionModel) -> None:
        self.model = model
        self.events = array("I")
        self.done = 0

    def go_to(self, n: int, budget: Budget) -> bool:
        """Set the state to that after event `n`. False: the budget did not suffice."""
        want = bisect_right(self.events, n)
        if want == self.done:
            return True
        self.done = self.begin(want)
        while self.done < want and budget.left:
            self.process(self.events[self.done])
            self.done += 1
        return self.done == want

    def begin(self, want: int) -> int:
        """Return the number of processed events from which `want` is reached, after moving back if needed."""
        if want >= self.done:
            return self.done
        return self.go_back(want)

    def go_back(self, want: int) -> int:
        """Set the state back to at most `want` events, and return their number."""
        raise NotImplementedError

    def process(self, n: int) -> None:
        """Process event `n`, the next one."""
        raise NotImplementedError


class ServerTrack(Track):
    """The server's identity: the last response to `initialize` or `server/discover` contains all of it."""

    def begin(self, want: int) -> int:
        if not want:
            self._show(Server())
        return max(want - 1, 0)

    def process(self, n: int) -> None:
        journal = self.model.journal
        result, request = result_of(journal.event(n)), journal.index.pair(n)
        if journal.index.method(n) == "initialize":
            self._show(Server(result))
            return
        revision = text_at(params_of(journal.event(request)), "_meta", VERSION_KEY) if request else ""
        self._show(discovered(result, revision))

    def _show(self, server: Server) -> None:
        self.model.server = server
        self.model.changes.bump("server")


class ListTrack(Track):
    """One of the lists. Its pages are processed from the start of their listing."""

    def __init__(self, model: SessionModel, name: ListName) -> None:
        super().__init__(model)
        self._name: ListName = name
        self._catalog_list = model.catalog[name]
        self._begins = array("I")
        """Positions of the events that started a listing, as far as processed."""

    def go_back(self, want: int) -> int:
        self._catalog_list.clear()
        self.model.changes.bump(self._name)
        at = bisect_left(self._begins, want)
        return self._begins[at - 1] if at else 0

    def process(self, n: int) -> None:
        journal, catalog_list = self.model.journal, self._catalog_list
        request = journal.index.pair(n)
        if not request or "cursor" not in params_of(journal.event(request)):
            catalog_list.begin()
            if not self._begins or self._begins[-1] < self.done:
                self._begins.append(self.done)
        catalog_list.page(result_of(journal.event(n)), journal.index.size(n))
        catalog_list.loading = False
        self.model.changes.bump(self._name)


class SubscriptionTrack(Track):
    """The subscribed resources, and the number of updates of each."""

    def __init__(self, model: SessionModel) -> None:
        super().__init__(model)
        self._checkpoints: Checkpoints[tuple[dict[str, int], dict[str, int]]] = Checkpoints()

    def go_back(self, want: int) -> int:
        subscriptions = self.model.subscriptions
        at, (uris, counts) = self._checkpoints.before(want) or (0, ({}, {}))
        subscriptions.uris, subscriptions.counts = dict(uris), dict(counts)
        self.model.changes.bump("subscriptions")
        return at

    def process(self, n: int) -> None:
        journal, subscriptions = self.model.journal, self.model.subscriptions
        if self._checkpoints.due(self.done):
            self._checkpoints.keep(
                self.done, (dict(subscriptions.uris), dict(subscriptions.counts)), len(subscriptions.uris)
            )
        method = journal.index.method(n)
        if method == "notifications/resources/updated":
            subscriptions.updated(params_of(journal.event(n)).get("uri"), n)
        elif method == "subscriptions/listen":
            self._listen(params_of(journal.event(n)))
        else:
            request = journal.index.pair(n)
            uri = params_of(journal.event(request)).get("uri") if request else None
            if type(uri) is str:
                (subscriptions.add if method == "resources/subscribe" else subscriptions.remove)(uri)

    def _listen(self, params: dict[str, Any]) -> None:
        """Handle a listening stream, which replaces the one before it."""
        subscriptions, kept = self.model.subscriptions, texts_at(params, "notifications", "resourceSubscriptions")
        for uri in set(subscriptions.uris).difference(kept):
            subscriptions.remove(uri)
        for uri in kept:
            subscriptions.add(uri)


class TaskTrack(Track):
    """The tasks, and their states."""

    def __init__(self, model: SessionModel) -> None:
        super().__init__(model)
        self._checkpoints: Checkpoints[list[Task]] = Checkpoints()
        self._makers_sought = 0

    def go_back(self, want: int) -> int:
        at, tasks = self._checkpoints.before(want) or (0, [])
        self.model.tasks.items = {task.id: copy(task) for task in tasks}
        self.model.changes.bump("tasks")
        return at

    def process(self, n: int) -> None:
        journal, tasks = self.model.journal, self.model.tasks
        if self._checkpoints.due(self.done):
            self._checkpoints.keep(self.done, [copy(task) for task in tasks.items.values()], len(tasks.items))
        event, request, fetched = journal.event(n), journal.index.pair(n), False
        task_object = params_of(event)
        if journal.index.shape(n) == Shape.RESULT:
            result = result_of(event)
            if type(result) is not dict or not request:
                return
            task_object = {**params_of(journal.event(request)), **result}
            fetched = journal.index.method(n) == "tasks/result"
        id = task_object.get("taskId")
        known = isinstance(id, str) and id in tasks.items
        tasks.replay(n, task_object, fetched=fetched)
        task = tasks.items.get(id) if isinstance(id, str) else None
        if task is not None and not known and self._makers_sought < MAX_TASKS:
            self._makers_sought += 1
            _find_maker(journal, task, n)


def _find_maker(journal: Journal, task: Task, n: int) -> None:
    """Find the request before message `n` that created a task: its response names the task."""
    index = journal.index
    read = 0
    for m in RECEIVED_RESULTS.backwards(index, max(n - LOOKED_AT, 0), n - 1):
        if not index.pair(m) or index.size(m) > MAX_SIZE:
            continue
        if index.method(m).startswith("tasks/"):
            continue
        read += 1
        if read > READ:
            return
        result = object_at(result_of(journal.event(m)))
        if value_at(result.get("task", result), "taskId") == task.id:
            request = index.pair(m)
            task.made_by(request, index.method(request), subject_of(params_of(journal.event(request))))
            return


def routes(tracks: dict[str, Track]) -> dict[str, tuple[Track, frozenset[tuple[Dir, Shape]]]]:
    """Return, by method, the track that processes which of its messages."""
    answer = frozenset(((Dir.RECV, Shape.RESULT),))
    notification = frozenset(((Dir.RECV, Shape.NOTIFICATION),))
    asked = frozenset(((Dir.SEND, Shape.REQUEST),))
    subscriptions, tasks = tracks["subscriptions"], tracks["tasks"]
    return {
        "initialize": (tracks["server"], answer),
        "server/discover": (tracks["server"], answer),
        **{kind.method: (tracks[name], answer) for name, kind in KINDS.items()},
        "resources/subscribe": (subscriptions, answer),
        "resources/unsubscribe": (subscriptions, answer),
        "subscriptions/listen": (subscriptions, asked),
        "notifications/resources/updated": (subscriptions, notification),
        **{f"tasks/{name}": (tasks, answer) for name in ("get", "result", "list", "cancel")},
        "notifications/tasks": (tasks, notification),
        "notifications/tasks/status": (tasks, notification),
    }


def result_of(event: Event) -> Any:
    """Return the result of a response; None without one."""
    return value_at(event.message, "result")


def params_of(event: Event) -> dict[str, Any]:
    """Return the `params` of a message; empty if they are not an object."""
    return object_at(event.message, "params")


BLOCK = 4096
"""Events between two snapshots of the calls in flight."""
KEPT = 200
"""Maximum calls in a snapshot: the latest."""
MAX_OPEN = 10_000
"""Maximum open requests that are tracked; a hostile recording may contain only such."""


class RecordedCall:
    """A call in flight, with the interface of a live one. `moment()` returns the shown last event and time."""

    fate: Literal["pending"] = "pending"
    allowed = 0.0
    """The timeout in seconds; unknown in a recording."""

    def __init__(self, flight: RequestsInFlight, n: int, moment: Callable[[], tuple[int, int]]) -> None:
        journal = flight.journal
        self.n = n
        self.method = journal.index.method(n)
        self.params = params_of(journal.event(n))
        self.started = journal.index.time(n)
        self._flight = flight
        self._moment = moment
        self._progress: tuple[int, Progress | None] = (0, None)

    @property
    def now(self) -> int:
        """The shown moment, in microseconds of the recording."""
        return self._moment()[1]

    @property
    def progress(self) -> Progress | None:
        """Its progress at the moment."""
        upto, _ = self._moment()
        if self._progress[0] != upto:
            self._progress = upto, self._flight.progress(self.n, upto)
        return self._progress[1]

    @property
    def name(self) -> str:
        """The tool's or prompt's name, or the resource's URI."""
        return subject_of(self.params)

    @property
    def elapsed(self) -> float:
        """Seconds since its start."""
        return max(self.now - self.started, 0) / 1_000_000

    @property
    def person_time(self) -> float:
        """Seconds of them in which it waited for a person."""
        duration = durations.took(self._flight.journal.index, self.n, until=self.now)
        return duration.person / 1_000_000 if duration is not None else 0.0


class RequestsInFlight:
    """Our requests without an end. `advance` reads the events in order; `at` returns those of any moment."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.seen = 0
        self._open: dict[int, None] = {}
        self._blocks: list[array[int]] = [array("I")]
        """The open requests after each `BLOCK` events."""
        self._progress: dict[int, tuple[int, int]] = {}
        """By request: the last event searched for its progress, and the latest progress up to there."""

    def advance(self, last: int, limit: int) -> bool:
        """Process the events up to `last`, about `limit` at most. True: all are processed."""
        high = min(last, self.seen + limit)
        while self.seen < high:
            self.seen = self._walk(self._open, self.seen, min(high, self.seen - self.seen % BLOCK + BLOCK))
            if self.seen % BLOCK == 0:
                self._blocks.append(array("I", list(self._open)[-KEPT:]))
        return self.seen >= last

    def at(self, n: int) -> list[int]:
        """Return the requests in flight after event `n`, oldest first, the latest `KEPT` of them."""
        n = min(n, self.seen)
        block = n // BLOCK
        in_flight = dict.fromkeys(self._blocks[block])
        self._walk(in_flight, block * BLOCK, n)
        return list(in_flight)[-KEPT:]

    def _walk(self, in_flight: dict[int, None], first: int, last: int) -> int:
        """Process the events after `first` up to `last`; return `last`."""
        walk_open(self.journal.index, in_flight, first, last, MAX_OPEN)
        return last

    def settled_at(self, request: int) -> int:
        """Return the event that gave up a request; beyond the last event if none did."""
        return given_up_at(self.journal.index, request)

    def is_open(self, request: int, n: int) -> bool:
        """Whether our request was still open after event `n`."""
        return is_open(self.journal.index, request, n)

    def progress(self, request: int, n: int) -> Progress | None:
        """Return the latest progress of a request after event `n`."""
        seen, progress = self._progress.get(request, (request, 0))
        if n < seen:
            seen, progress = request, 0
        progress = newest_progress(self.journal.index, request, seen, n) or progress
        if len(self._progress) > KEPT:
            self._progress.clear()
        self._progress[request] = (n, progress)
        if not progress:
            return None
        event = self.journal.event(progress)
        return Progress(progress, event.t, params_of(event), 1)


MAY_ASK = frozenset(("tools/call", "prompts/get", "resources/read"))
"""Requests whose response may require input."""
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
        events = self.events[max(want - Inbox.KEPT, 0) : want]
        for event in events:
            if event not in self._known:
                if not budget.left:
                    return False
                self._known[event] = self._asked(event)
        if len(self._known) > 2 * Inbox.KEPT:
            self._known = {event: self._known[event] for event in events}
            self._replies = {key: reply for key, reply in self._replies.items() if key[0] in self._known}
        questions = [question for event in events for question in self._known[event]]
        before = self.model.inbox.questions
        changed = len(before) != len(questions) or any(map(is_not, before, questions))
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
        reply, looked = self._replies.get(question.key, (0, 0))
        if not reply and looked != index.count:
            reply = self._sought(question)
            self._replies[question.key] = (reply, index.count)
        return reply

    def _sought(self, question: Question) -> int:
        """Find the request that contains the required input: the same one as before, with the answer."""
        journal = self.model.journal
        again = Query(method=journal.index.method(question.n), dir=Dir.SEND, shape=Shape.REQUEST)
        for n in islice(again.forwards(journal.index, question.n, question.n + LOOKED_AHEAD), READ_AHEAD):
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
        message = object_at(event.message)
        if self.model.journal.index.shape(reply) == Shape.REQUEST:
            answer = params_of(event)["inputResponses"][question.id]
        else:
            answer = message.get("result", message.get("error"))
        action = value_at(answer, "action")
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


def _input_requests(event: Event) -> list[tuple[str, str, dict[str, Any]]]:
    """Return the key, method and parameters of each supported input request of a response."""
    requests = islice(object_at(result_of(event), "inputRequests").items(), MAX_QUESTIONS)
    named = [(key, text_at(request, "method"), object_at(request, "params")) for key, request in requests]
    return [(key, method, params) for key, method, params in named if method in TOPICS]
