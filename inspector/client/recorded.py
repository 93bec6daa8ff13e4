"""A recording seen as a session: the same attributes, reduced from the journal's frames instead of from a live wire."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector.client.answers import TOPICS, Inbox, Question, Standing
from inspector.client.catalog import BY_METHOD, Catalog, SurfaceChange
from inspector.client.changes import Changes
from inspector.client.header_fields import VERSION_KEY
from inspector.client.modern import discovered
from inspector.client.pending import Pending
from inspector.client.recorded_tasks import MOST, find_maker
from inspector.client.server import Server
from inspector.client.session import Phase
from inspector.client.subscriptions import Subscriptions
from inspector.client.tasks import Tasks
from inspector.config.targets import RecordingTarget
from inspector.errors import InspectorError
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape


class RecordedSession:
    """What `Session` shows, for a finished or growing recording. Nothing can be sent.

    Call `advance()` whenever the journal may have grown: it reads only the few frames that change what is shown.
    """

    can_send = False

    def __init__(self, journal: Journal, path: Path) -> None:
        self.target = RecordingTarget(path)
        self.journal = journal
        self.changes = Changes()
        self.phase: Phase = "ready"
        self.error: InspectorError | None = None
        self.server = Server()
        self.catalog = Catalog()
        self.surface_changes: list[SurfaceChange] = []
        self.tasks = Tasks(self)
        self.refused_tools: dict[str, list[str]] = {}
        self.subscriptions = Subscriptions(lambda: self.changes.bump("subscriptions"))
        self.pending = Pending(lambda _call, _reason: None, lambda: None)
        self.inbox = Inbox(Standing(), lambda _q, _r, _e: None, lambda: self.changes.bump("inbox"), lambda _s: None)
        self._seen = 0
        self._makers_sought = 0

    def advance(self, limit: int = 50_000) -> bool:
        """Reduce up to `limit` more frames. True: there are more already."""
        index = self.journal.index
        last = min(index.count, self._seen + limit)
        if last == self._seen:
            return False
        names = index.method_names.texts
        methods, codes = index.methods, index.codes
        for n in range(self._seen + 1, last + 1):
            code = codes[n - 1]
            if code & 15 == Kind.RPC and methods[n - 1] and names[methods[n - 1]] in _INTERESTING:
                self._reduce(n, names[methods[n - 1]])
        self._seen = last
        self.changes.bump("log")
        return last < index.count

    def _reduce(self, n: int, method: str) -> None:
        index = self.journal.index
        shape, dir = index.shape(n), index.dir(n)
        if dir == Dir.RECV and shape == Shape.RESULT:
            self._reduce_result(n, method)
        elif shape == Shape.REQUEST and dir == Dir.RECV and method in TOPICS:
            self._reduce_question(n, method)
        elif dir == Dir.SEND and method in TOPICS and shape in (Shape.RESULT, Shape.ERROR):
            self._reduce_answer(index.pairs[n - 1], n)
        elif method == "subscriptions/listen" and shape == Shape.REQUEST:
            self._reduce_listen(_params(self.journal.event(n)))
        elif method in _TASK_NEWS and dir == Dir.RECV:
            self._replay_task(n, _params(self.journal.event(n)))
        elif dir == Dir.RECV and method == "notifications/resources/updated":
            params = _params(self.journal.event(n))
            self.subscriptions.updated(params.get("uri"), n)

    def _reduce_result(self, n: int, method: str) -> None:
        message = self.journal.event(n).message
        result = message.get("result") if type(message) is dict else None
        request = self.journal.index.pairs[n - 1]
        if method == "initialize":
            self.server = Server(result)
            self.changes.bump("server")
        elif method == "server/discover":
            meta = _params(self.journal.event(request)).get("_meta") if request else None
            revision = meta.get(VERSION_KEY) if type(meta) is dict else None
            self.server = discovered(result, revision if isinstance(revision, str) else "")
            self.changes.bump("server")
        elif method in BY_METHOD:
            kind = BY_METHOD[method]
            found = self.catalog[kind.name]
            if "cursor" not in _params(self.journal.event(request)):
                found.begin()
            found.page(result)
            found.loading = False
            self.changes.bump(kind.name)
        elif method.startswith("tasks/") and type(result) is dict:
            told = {**_params(self.journal.event(request)), **result}
            self._replay_task(n, told, fetched=method == "tasks/result")
        elif method in ("resources/subscribe", "resources/unsubscribe"):
            uri = _params(self.journal.event(request)).get("uri")
            if type(uri) is str:
                (self.subscriptions.add if method == "resources/subscribe" else self.subscriptions.remove)(uri)

    def _replay_task(self, n: int, told: dict[str, Any], *, fetched: bool = False) -> None:
        id = told.get("taskId")
        known = isinstance(id, str) and id in self.tasks.items
        self.tasks.replay(n, told, fetched=fetched)
        task = self.tasks.items.get(id) if isinstance(id, str) else None
        if task is not None and not known and self._makers_sought < MOST:
            self._makers_sought += 1
            find_maker(self.journal, task, n)

    def _reduce_listen(self, params: dict[str, Any]) -> None:
        """Each listening stream takes the place of the one before it."""
        wanted = params.get("notifications")
        uris = wanted.get("resourceSubscriptions") if type(wanted) is dict else None
        kept = [uri for uri in uris if isinstance(uri, str)] if type(uris) is list else []
        for uri in set(self.subscriptions.uris).difference(kept):
            self.subscriptions.remove(uri)
        for uri in kept:
            self.subscriptions.add(uri)

    def _reduce_question(self, n: int, method: str) -> None:
        event = self.journal.event(n)
        message = event.message
        question = Question(
            n, message.get("id"), TOPICS[method], _params(event), self.journal.index.parents[n - 1], event.t, self.inbox
        )
        question.state = "lost"
        self.inbox.questions.append(question)
        self.changes.bump("inbox")

    def _reduce_answer(self, request: int, n: int) -> None:
        question = next((asked for asked in self.inbox.questions if asked.n == request), None)
        if question is not None:
            message = self.journal.event(n).message
            question.answer = message.get("result", message.get("error"))
            action = question.answer.get("action") if type(question.answer) is dict else None
            refused = "error" in message or action == "decline"
            question.state = "declined" if refused else "cancelled" if action == "cancel" else "answered"


_INTERESTING = frozenset((
    "initialize", "server/discover", "resources/subscribe", "resources/unsubscribe", "notifications/resources/updated",
    "subscriptions/listen", "tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "notifications/tasks",
    "notifications/tasks/status", *BY_METHOD, *TOPICS,
))  # fmt: skip
_TASK_NEWS = frozenset(("notifications/tasks", "notifications/tasks/status"))


def _params(event: Event) -> dict[str, Any]:
    message = event.message
    params = message.get("params") if type(message) is dict else None
    return params if type(params) is dict else {}
