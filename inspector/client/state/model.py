"""The state of a session: one set of fields, filled from a live wire or a recording."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any, Literal, get_args

from inspector.client.inbox import Inbox
from inspector.client.state.cache import Cache
from inspector.client.state.catalog import Catalog, SurfaceChange
from inspector.client.state.server import Server
from inspector.client.state.tasks import TaskTable
from inspector.errors import InspectorError
from inspector.journal.journal import Journal


class Subscriptions:
    """The subscribed URIs of this session in order, with the latest update of each."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.uris: dict[str, int] = {}
        """URI → number of the latest update in the journal, 0 before the first."""
        self.counts: dict[str, int] = {}
        self.refused: list[str] = []
        """Requested notifications that the server does not send: list changes by the filter's names, URIs."""
        self._changed = changed

    def __contains__(self, uri: str) -> bool:
        return uri in self.uris

    def add(self, uri: str) -> None:
        """Add a subscription that the server accepted."""
        self.uris.setdefault(uri, 0)
        self._changed()

    def remove(self, uri: str) -> None:
        """Remove a subscription."""
        self.uris.pop(uri, None)
        self.counts.pop(uri, None)
        self._changed()

    def updated(self, uri: Any, n: int) -> None:
        """Handle `notifications/resources/updated`. A sub-resource counts for the subscription above it."""
        if type(uri) is not str:
            return
        match = uri if uri in self.uris else next((known for known in self.uris if uri.startswith(known)), None)
        if match is not None:
            self.uris[match] = n
            self.counts[match] = self.counts.get(match, 0) + 1
            self._changed()


Phase = Literal["new", "connecting", "ready", "failed", "lost", "closed"]
Topic = Literal[
    "phase", "server", "tools", "resources", "templates", "prompts", "calls", "inbox", "subscriptions", "tasks", "log"
]
_TOPICS: tuple[Topic, ...] = get_args(Topic)


class Changes:
    """Counts changes by topic, and wakes at most one listener once until it has read them.

    A reader keeps the counts it has seen and reads again when they differ. That is cheaper than messages, and safe in a
    flood: twenty thousand changes between two ticks of the interface are one.
    """

    def __init__(self) -> None:
        self.counts: dict[Topic, int] = dict.fromkeys(_TOPICS, 0)
        self._wake: Callable[[], None] | None = None

    def __getitem__(self, topic: Topic) -> int:
        return self.counts[topic]

    def bump(self, topic: Topic) -> None:
        """Count a change of `topic`."""
        self.counts[topic] += 1
        if self._wake is not None:
            self._wake()

    def listen(self, wake: Callable[[], None] | None) -> None:
        """Call `wake` (cheap, any number of times) whenever something changes."""
        self._wake = wake


class SessionModel:
    """The fields that are reduced from messages. `changes` counts their changes."""

    def __init__(self, journal: Journal, inbox: Inbox, phase: Phase) -> None:
        self.journal = journal
        self.inbox = inbox
        self.changes = Changes()
        self.phase: Phase = phase
        self.phase_since = monotonic()
        """When `phase` started, in seconds of the monotonic clock."""
        self.error: InspectorError | None = None
        """Why the session failed or was lost."""
        self.exchange_lost = False
        """Whether the latest exchange over HTTP ended without an answer. The session stays ready: the next may succeed.
        """
        self.server = Server()
        self.catalog = Catalog()
        self.cache = Cache()
        self.surface_changes: list[SurfaceChange] = []
        """Differences since the connection before this one."""
        self.subscriptions = Subscriptions(lambda: self.changes.bump("subscriptions"))
        self.tasks = TaskTable(lambda: self.server, lambda: self.changes.bump("tasks"))
        self.refused_tools: dict[str, list[str]] = {}
        """Tools that the transport's rules forbid to call, with the reasons (C-HTTP-34)."""

    def enter(self, phase: Phase) -> None:
        """Begin a phase."""
        self.phase, self.phase_since = phase, monotonic()
        self.changes.bump("phase")
