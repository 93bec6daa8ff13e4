"""The state of a session, live or recorded, and the commands of a live one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

from inspector.client.engine.pending_requests import Call
from inspector.client.inbox import Inbox, Question
from inspector.client.inbox import QuestionStatus as QuestionState
from inspector.client.options import Options
from inspector.client.state.calls import CallState
from inspector.client.state.catalog import Catalog, ListName, SurfaceChange
from inspector.client.state.model import Changes, Phase
from inspector.client.state.server import Server
from inspector.client.state.subscriptions import Subscriptions
from inspector.client.state.tasks import Task, TaskTable
from inspector.config.targets import Target
from inspector.errors import InspectorError
from inspector.journal.journal import Journal
from inspector.transports.base import Sink, Transport


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
    def commands(self) -> Commands | None:
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


class Commands(SessionState, Protocol):
    """A live session: its state and its commands. Requests return immediately, as a `Call`."""

    options: Options

    @property
    def transport(self) -> Transport:
        """The newest connection."""

    async def open(self) -> None:
        """Connect and negotiate. Raises the failure, which `phase` and `error` show too."""

    async def open_with_lists(self) -> None:
        """Connect as `open` does, then `follow_lists`."""

    def follow_lists(self) -> None:
        """Start to load every list, and to listen for changes of them."""

    async def reopen(self) -> None:
        """Connect again on the same journal; reload and compare the lists."""

    async def stopped(self, error: InspectorError) -> None:
        """Store `error` as the reason why opening, which was cancelled, failed."""

    async def close(self, reason: str = "closed") -> None:
        """Stop everything this session started, and end the recording. Idempotent."""

    def remember_outcome(self) -> None:
        """Store for the start screen whether the server was opened, or its error."""

    def run(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run a coroutine that belongs to this session and ends with it."""

    def recorder(self) -> Sink:
        """The recorder of login steps in this session's journal."""

    # Requests and messages

    @property
    def next_id(self) -> int:
        """The id of the next request."""

    def start(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        progress: bool = True,
        background: bool = False,
        id: str | None = None,
    ) -> Call:
        """Send a request. A lost connection shows in the call's result."""

    def notify(self, method: str, params: dict[str, Any] | None = None) -> int:
        """Send a notification. Return its number in the journal, 0 if the connection is lost."""

    def send_raw(self, data: bytes) -> int | Call:
        """Send bytes written by hand, valid or not. A request becomes a `Call`."""

    def calls_in_flight(self) -> list[Call]:
        """Return the calls without a response, oldest first."""

    def listen_to_ends(self, listener: Callable[[Call], None] | None) -> None:
        """Call `listener` (cheap) with each call that has ended."""

    # The server's offers

    def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        as_task: bool = False,
        anyway: bool = False,
    ) -> Call:
        """Send `tools/call`. Raises `NotOffered` for a tool that the rules forbid to call, unless `anyway`."""

    def read_resource(self, uri: str) -> Call:
        """Send `resources/read`."""

    def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> Call:
        """Send `prompts/get`."""

    async def complete(
        self, ref: dict[str, Any], argument: str, value: str, context: dict[str, str] | None = None
    ) -> list[str]:
        """Send `completion/complete`: return the values for one argument of a prompt or template."""

    async def load(
        self, name: ListName, *, page_limit: int = 0, cursor: str | None = None, fresh: bool = False
    ) -> None:
        """Load a list, page by page, into the catalogue."""

    async def listen(self) -> None:
        """Subscribe to list changes, in an era that needs a subscription."""

    async def subscribe(self, uri: str) -> None:
        """Subscribe to changes of a resource."""

    async def unsubscribe(self, uri: str) -> None:
        """Unsubscribe from changes of a resource."""

    async def set_log_level(self, level: str) -> None:
        """Set the minimum level of the server's log messages."""

    # Tasks

    async def list_tasks(self) -> None:
        """Send `tasks/list`: it includes tasks of other sessions. Known tasks keep their state."""

    def refresh_task(self, task: Task) -> None:
        """Poll a task's state now."""

    def cancel_task(self, task: Task) -> None:
        """Send `tasks/cancel`. The server decides; the next poll shows the outcome."""
