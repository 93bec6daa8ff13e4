"""A recording's state by topic: each topic keeps the numbers of its events.

Moving forward processes the next of them. Moving back starts at the nearest known state: the event itself if only the
last one counts, the start of a listing, or a checkpoint. All work has a `Budget`.
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
"""Seconds that one call of `RecordedSession.advance` reads; the next call continues."""

LOOKED_AT, READ = 2000, 200
"""Events before a task's first mention that are searched, and responses among them that are read."""
MAX_SIZE = 1 << 16
"""Maximum bytes of a response that may create a task."""
MAX_COUNT = 300
"""Maximum tasks of a recording whose requests are searched; a hostile recording may name one per message."""

TrackState = TypeVar("TrackState")


class Budget:
    """The work allowed in one call. The first piece is always allowed, so that there is progress."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._end = perf_counter() + seconds
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
            self.take(self.events[self.done])
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

    def take(self, n: int) -> None:
        """Process event `n`, the next one."""
        raise NotImplementedError


class ServerTrack(Track):
    """The server's identity: the last response to `initialize` or `server/discover` contains all of it."""

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
    """One of the lists. Its pages are processed from the start of their listing."""

    def __init__(self, model: SessionModel, name: ListName) -> None:
        super().__init__(model)
        self._name: ListName = name
        self._found = model.catalog[name]
        self._begins = array("I")
        """Positions of the events that started a listing, as far as processed."""

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
    """The subscribed resources, and the number of updates of each."""

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
        """Handle a listening stream, which replaces the one before it."""
        found, wanted = self.model.subscriptions, params.get("notifications")
        uris = wanted.get("resourceSubscriptions") if type(wanted) is dict else None
        kept = [uri for uri in uris if isinstance(uri, str)] if type(uris) is list else []
        for uri in set(found.uris).difference(kept):
            found.remove(uri)
        for uri in kept:
            found.add(uri)


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
        if task is not None and not known and self._makers_sought < MAX_COUNT:
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
    """Return, by method, the track that processes which of its messages."""
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
    """Return the result of a response; None without one."""
    message = event.message
    return message.get("result") if type(message) is dict else None


def params_of(event: Event) -> dict[str, Any]:
    """Return the `params` of a message; empty if they are not an object."""
    message = event.message
    params = message.get("params") if type(message) is dict else None
    return params if type(params) is dict else {}
