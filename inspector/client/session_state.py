"""The state of a session, live or recorded, and the commands of a live one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from inspector.client.inbox import Inbox, Question
from inspector.client.inbox import QuestionStatus as QuestionState
from inspector.client.state.calls import CallState
from inspector.client.state.catalog import Catalog, SurfaceChange
from inspector.client.state.model import Changes, Phase, Subscriptions
from inspector.client.state.server import Server
from inspector.client.state.tasks import TaskTable
from inspector.config.targets import Target
from inspector.errors import InspectorError
from inspector.journal.journal import Journal

if TYPE_CHECKING:
    from inspector.client.session import Session

Commands: TypeAlias = "Session"
"""A live session, as those see it who send through it; its module is not loaded for a recording."""


class SessionState(Protocol):
    """The read access to a session. Readers need not know whether it is live or a recording: see `commands`."""

    journal: Journal
    changes: Changes
    """Counts the changes of the fields below."""
    phase: Phase
    phase_since: float
    """When `phase` started, in seconds of the monotonic clock."""
    error: InspectorError | None
    """Why the session failed or was lost."""
    exchange_lost: bool
    """Whether the latest exchange over HTTP ended without an answer."""
    server: Server
    catalog: Catalog
    surface_changes: list[SurfaceChange]
    """Differences since the connection before this one."""
    subscriptions: Subscriptions
    tasks: TaskTable
    refused_tools: dict[str, list[str]]
    """Tools that the transport's rules forbid to call, with the reasons (C-HTTP-34)."""
    inbox: Inbox

    @property
    def commands(self) -> Session | None:
        """The commands of the session; None for a recording, which cannot send."""

    @property
    def target(self) -> Target:
        """The session's target."""

    @property
    def transport_name(self) -> str:
        """The transport in use; the kind of the target without a connection."""

    @property
    def latency(self) -> float:
        """Seconds for the latest response to a request of the user or a list; 0 before the first."""

    # The shown moment. For a live session it is always the present.

    @property
    def at_end(self) -> bool:
        """Whether the latest event is shown, and new ones are followed."""

    @property
    def catching_up(self) -> bool:
        """Whether the shown state is not yet that of the moment."""

    @property
    def upto(self) -> int:
        """The last event shown; 0 before the first."""

    @property
    def now(self) -> int:
        """The shown moment, in microseconds since the recording started."""

    def advance(self) -> bool:
        """Process new events of the journal, where that is not automatic. True: more are left."""

    # Calls and questions

    def calls_in_flight(self) -> Sequence[CallState]:
        """Return our requests without a response, oldest first."""

    def call_in_flight(self, n: int) -> CallState | None:
        """Return our request `n`, if it has no response at the shown moment."""

    def answer_to(self, question: Question) -> tuple[QuestionState, Any]:
        """Return how a question ends and its answer, as far as the journal has it, even after the moment."""

    def reply_to(self, question: Question) -> tuple[int, QuestionState]:
        """Return the message that answers a question, 0 if unknown, and how the question ends."""
