"""What a recording had told by a moment, topic by topic: each topic keeps the numbers of the events that it is about.

Going on takes in the next of them. Going back begins at the nearest place from which the state is known, which is the
event itself where only the last one counts, the beginning of a listing, or a checkpoint. All work is given a `Budget`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from copy import copy
from time import perf_counter
from typing import Any, Generic, TypeVar

from inspector.client.state.catalog import KINDS, ListName
from inspector.client.state.model import SessionModel
from inspector.client.state.server import VERSION_KEY, Server, discovered
from inspector.client.state.tasks import Task
from inspector.journal.exchange import RECEIVED_RESULTS
from inspector.journal.format import Dir, Event
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape

SECONDS = 0.01
"""How long one call of `RecordedSession.advance` reads; what is left is done by the next."""

LOOKED_AT, READ = 2000, 200
"""Events before the first news of a task that are looked at, and answers among them that are read."""
LARGEST = 1 << 16
"""Bytes of an answer beyond which it is no answer that makes a task."""
MOST = 300
"""Tasks of a recording whose makers are looked for; a hostile one may name as many as it has messages."""

State = TypeVar("State")


class Budget:
    """How much may still be done in this turn. The first piece of work is always allowed, so that there is progress."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._end = perf_counter() + seconds
        self._fresh = True

    @property
    def left(self) -> bool:
        """Whether another piece of work may begin."""
        fresh, self._fresh = self._fresh, False
        return fresh or perf_counter() < self._end


class Checkpoints(Generic[State]):
    """States of a reduction after some of its events, ever further apart, so that they are few and take little room."""

    MOST = 32
    ROOM = 20_000
    """Entries of all states together."""

    def __init__(self, step: int = 256) -> None:
        self._step = step
        self._kept: list[tuple[int, State, int]] = []

    def due(self, position: int) -> bool:
        """Whether the state after `position` events is worth keeping."""
        return position >= (self._kept[-1][0] if self._kept else 0) + self._step

    def keep(self, position: int, state: State, size: int) -> None:
        """Keep a state that has `size` entries."""
        self._kept.append((position, state, size))
        while len(self._kept) > self.MOST or sum(size for _, _, size in self._kept) > self.ROOM:
            self._step *= 2
            if len(self._kept) == 1:
                self._kept.clear()
            else:
                del self._kept[::2]

    def before(self, position: int) -> tuple[int, State] | None:
        """The last state that is not beyond `position` events."""
        return next(((at, state) for at, state, _ in reversed(self._kept) if at <= position), None)


class Track:
    """The events of one topic (`events`, ascending), of which the first `done` make the state that is shown."""

    def __init__(self, model: SessionModel) -> None:
        self.model = model
        self.events = array("I")
        self.done = 0

    def go_to(self, n: int, budget: Budget) -> bool:
        """Make the state what it was after event `n`. False: the budget did not suffice."""
        want = bisect_right(self.events, n)
        if want == self.done:
            return True
        self.done = self.begin(want)
        while self.done < want and budget.left:
            self.take(self.events[self.done])
            self.done += 1
        return self.done == want

    def begin(self, want: int) -> int:
        """How many events the state stands for from which `want` is to be reached, having been put so where needed."""
        if want >= self.done:
            return self.done
        return self.go_back(want)

    def go_back(self, want: int) -> int:
        """Put the state back to one of no more than `want` events, and say of how many."""
        raise NotImplementedError

    def take(self, n: int) -> None:
        """Take in event `n`, the next one."""
        raise NotImplementedError


class ServerTrack(Track):
    """Who the server is: the last answer to `initialize` or `server/discover` says it, all of it."""

    def begin(self, want: int) -> int:
        if not want:
            self._show(Server())
        return max(want - 1, 0)

    def take(self, n: int) -> None:
        journal = self.model.journal
        result, request = result_of(journal.event(n)), journal.index.pair(n)
        if journal.index.method(n) == "initialize":
            self._show(Server(result))
            return
        meta = params_of(journal.event(request)).get("_meta") if request else None
        revision = meta.get(VERSION_KEY) if type(meta) is dict else None
        self._show(discovered(result, revision if isinstance(revision, str) else ""))

    def _show(self, server: Server) -> None:
        self.model.server = server
        self.model.changes.bump("server")


class ListTrack(Track):
    """One of the lists. Its pages are taken from where their listing began."""

    def __init__(self, model: SessionModel, name: ListName) -> None:
        super().__init__(model)
        self._name: ListName = name
        self._found = model.catalog[name]
        self._begins = array("I")
        """Positions of the events that began a listing, as far as they have been taken in once."""

    def go_back(self, want: int) -> int:
        self._found.clear()
        self.model.changes.bump(self._name)
        at = bisect_left(self._begins, want)
        return self._begins[at - 1] if at else 0

    def take(self, n: int) -> None:
        journal, found = self.model.journal, self._found
        request = journal.index.pair(n)
        if not request or "cursor" not in params_of(journal.event(request)):
            found.begin()
            if not self._begins or self._begins[-1] < self.done:
                self._begins.append(self.done)
        found.page(result_of(journal.event(n)))
        found.loading = False
        self.model.changes.bump(self._name)


class SubscriptionTrack(Track):
    """Which resources were followed, and how often each had changed."""

    def __init__(self, model: SessionModel) -> None:
        super().__init__(model)
        self._checkpoints: Checkpoints[tuple[dict[str, int], dict[str, int]]] = Checkpoints()

    def go_back(self, want: int) -> int:
        found = self.model.subscriptions
        at, (uris, counts) = self._checkpoints.before(want) or (0, ({}, {}))
        found.uris, found.counts = dict(uris), dict(counts)
        self.model.changes.bump("subscriptions")
        return at

    def take(self, n: int) -> None:
        journal, found = self.model.journal, self.model.subscriptions
        if self._checkpoints.due(self.done):
            self._checkpoints.keep(self.done, (dict(found.uris), dict(found.counts)), len(found.uris))
        method = journal.index.method(n)
        if method == "notifications/resources/updated":
            found.updated(params_of(journal.event(n)).get("uri"), n)
        elif method == "subscriptions/listen":
            self._listen(params_of(journal.event(n)))
        else:
            request = journal.index.pair(n)
            uri = params_of(journal.event(request)).get("uri") if request else None
            if type(uri) is str:
                (found.add if method == "resources/subscribe" else found.remove)(uri)

    def _listen(self, params: dict[str, Any]) -> None:
        """Each listening stream takes the place of the one before it."""
        found, wanted = self.model.subscriptions, params.get("notifications")
        uris = wanted.get("resourceSubscriptions") if type(wanted) is dict else None
        kept = [uri for uri in uris if isinstance(uri, str)] if type(uris) is list else []
        for uri in set(found.uris).difference(kept):
            found.remove(uri)
        for uri in kept:
            found.add(uri)


class TaskTrack(Track):
    """The tasks, and how each stood."""

    def __init__(self, model: SessionModel) -> None:
        super().__init__(model)
        self._checkpoints: Checkpoints[list[Task]] = Checkpoints()
        self._makers_sought = 0

    def go_back(self, want: int) -> int:
        at, tasks = self._checkpoints.before(want) or (0, [])
        self.model.tasks.items = {task.id: copy(task) for task in tasks}
        self.model.changes.bump("tasks")
        return at

    def take(self, n: int) -> None:
        journal, tasks = self.model.journal, self.model.tasks
        if self._checkpoints.due(self.done):
            self._checkpoints.keep(self.done, [copy(task) for task in tasks.items.values()], len(tasks.items))
        event, request, fetched = journal.event(n), journal.index.pair(n), False
        told = params_of(event)
        if journal.index.shape(n) == Shape.RESULT:
            result = result_of(event)
            if type(result) is not dict or not request:
                return
            told = {**params_of(journal.event(request)), **result}
            fetched = journal.index.method(n) == "tasks/result"
        id = told.get("taskId")
        known = isinstance(id, str) and id in tasks.items
        tasks.replay(n, told, fetched=fetched)
        task = tasks.items.get(id) if isinstance(id, str) else None
        if task is not None and not known and self._makers_sought < MOST:
            self._makers_sought += 1
            _find_maker(journal, task, n)


def _find_maker(journal: Journal, task: Task, n: int) -> None:
    """Tell a task by which request it was made, where that stands before message `n`: its answer names the task."""
    index = journal.index
    read = 0
    for m in RECEIVED_RESULTS.backwards(index, max(n - LOOKED_AT, 0), n - 1):
        if not index.pair(m) or index.size(m) > LARGEST:
            continue
        if index.method(m).startswith("tasks/"):
            continue
        read += 1
        if read > READ:
            return
        message = journal.event(m).message
        result = message.get("result") if type(message) is dict else None
        made = result.get("task", result) if type(result) is dict else None
        if type(made) is dict and made.get("taskId") == task.id:
            _made_by(journal, task, index.pair(m))
            return


def _made_by(journal: Journal, task: Task, request: int) -> None:
    message = journal.event(request).message
    params = message.get("params") if type(message) is dict else None
    name = (params.get("name") or params.get("uri")) if type(params) is dict else None
    task.made_by(request, journal.index.method(request), name if isinstance(name, str) else "")


def routes(tracks: dict[str, Track]) -> dict[str, tuple[Track, frozenset[tuple[Dir, Shape]]]]:
    """By method: which track takes which of its messages in."""
    answer = frozenset(((Dir.RECV, Shape.RESULT),))
    told = frozenset(((Dir.RECV, Shape.NOTIFICATION),))
    asked = frozenset(((Dir.SEND, Shape.REQUEST),))
    subscriptions, tasks = tracks["subscriptions"], tracks["tasks"]
    return {
        "initialize": (tracks["server"], answer),
        "server/discover": (tracks["server"], answer),
        **{kind.method: (tracks[name], answer) for name, kind in KINDS.items()},
        "resources/subscribe": (subscriptions, answer),
        "resources/unsubscribe": (subscriptions, answer),
        "subscriptions/listen": (subscriptions, asked),
        "notifications/resources/updated": (subscriptions, told),
        **{f"tasks/{name}": (tasks, answer) for name in ("get", "result", "list", "cancel")},
        "notifications/tasks": (tasks, told),
        "notifications/tasks/status": (tasks, told),
    }


def result_of(event: Event) -> Any:
    """The result of an answer; None where there is none."""
    message = event.message
    return message.get("result") if type(message) is dict else None


def params_of(event: Event) -> dict[str, Any]:
    """The `params` of a message, empty where they are no object."""
    message = event.message
    params = message.get("params") if type(message) is dict else None
    return params if type(params) is dict else {}
