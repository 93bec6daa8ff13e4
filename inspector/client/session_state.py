"""What readers see of a session, live or recorded, and what can be done with a live one."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, Protocol

from inspector.client.engine.pending_requests import Call
from inspector.client.inbox import Inbox, Question
from inspector.client.inbox import State as QuestionState
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
    """A session as it is read. Readers need not know whether it is live or a recording: see `commands`."""

    journal: Journal
    changes: Changes
    """Which of the fields below are new."""
    phase: Phase
    phase_since: float
    """When `phase` began, by the monotonic clock in seconds."""
    error: InspectorError | None
    """Why the session failed or was lost."""
    server: Server
    catalog: Catalog
    surface_changes: list[SurfaceChange]
    """What is different since the connection before this one."""
    subscriptions: Subscriptions
    tasks: TaskTable
    refused_tools: dict[str, list[str]]
    """Tools that must not be called by the rules of the transport, and why (C-HTTP-34)."""
    inbox: Inbox

    @property
    def commands(self) -> Commands | None:
        """What can be done with the session; None for a recording, with which nothing can be sent."""

    @property
    def target(self) -> Target:
        """What the session is of."""

    @property
    def transport_name(self) -> str:
        """The transport that is in use; the kind of the target while there is no connection."""

    @property
    def latency(self) -> float:
        """Seconds that the server took for the newest answer to a request of the user or a list; 0 for none yet."""

    # The moment that is shown. Of a live session it is always now.

    @property
    def at_end(self) -> bool:
        """Whether the newest event is shown, and the next ones will be as they come."""

    @property
    def upto(self) -> int:
        """The last event of what is shown; 0 where it is before the first."""

    @property
    def now(self) -> int:
        """The moment that is shown, in microseconds since the recording began."""

    def advance(self) -> bool:
        """Take in what the journal has gained, where that is not done by itself. True: there is more."""

    # Calls and questions

    def calls_in_flight(self) -> Sequence[CallState]:
        """The requests of ours without an answer, oldest first."""

    def call_in_flight(self, n: int) -> CallState | None:
        """Request `n` of ours, if it has no answer yet at the moment that is shown."""

    def answer_to(self, question: Question) -> tuple[QuestionState, Any]:
        """How a question ends and what was answered, as far as the journal knows, also after the moment."""

    def reply_to(self, question: Question) -> tuple[int, QuestionState]:
        """The number of the message that answers a question, 0 where that is not known, and how the question ends."""


class Commands(SessionState, Protocol):
    """A live session: what can be read of it, and what can be done with it. Requests return at once, as a `Call`."""

    options: Options

    @property
    def transport(self) -> Transport:
        """The newest connection."""

    async def open(self) -> None:
        """Connect, find out what the server speaks, agree. Raises what went wrong; `phase` and `error` say it too."""

    async def reopen(self) -> None:
        """Connect once more on the same journal; lists are read again and compared."""

    async def stopped(self, error: InspectorError) -> None:
        """Keep `error` as the reason why opening, which was cancelled, came to nothing."""

    async def close(self, reason: str = "closed") -> None:
        """End everything this session started, and write the recording's end. Idempotent."""

    def remember_outcome(self) -> None:
        """Keep, for the start screen, whether the server was opened or the error it failed with, once that is known."""

    def run(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run something that belongs to this session: it ends with it."""

    def recorder(self) -> Sink:
        """What records the steps of a login in this session's journal."""

    # Requests and messages

    @property
    def next_id(self) -> int:
        """The id that the next request will have."""

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
        """Send a request. A connection that is gone shows in the call's result."""

    def notify(self, method: str, params: dict[str, Any] | None = None) -> int:
        """Send a notification. Returns its number in the journal, 0 if the connection is gone."""

    def send_raw(self, data: bytes) -> int | Call:
        """Send bytes composed by hand, valid or not. A request becomes a `Call`."""

    def calls_in_flight(self) -> list[Call]:
        """The calls without an answer, oldest first."""

    # What a server offers

    def call_tool(
        self,
        name: str,
        arguments: dict[str, Any] | None = None,
        *,
        timeout: float | None = None,
        as_task: bool = False,
        anyway: bool = False,
    ) -> Call:
        """`tools/call`. Raises `NotOffered` for a tool that the rules forbid to call, unless `anyway`."""

    def read_resource(self, uri: str) -> Call:
        """`resources/read`."""

    def get_prompt(self, name: str, arguments: dict[str, str] | None = None) -> Call:
        """`prompts/get`."""

    async def complete(
        self, ref: dict[str, Any], argument: str, value: str, context: dict[str, str] | None = None
    ) -> list[str]:
        """`completion/complete`: the values offered for one argument of a prompt or template."""

    async def load(
        self, name: ListName, *, page_limit: int = 0, cursor: str | None = None, fresh: bool = False
    ) -> None:
        """Read a list, page by page, into the catalogue."""

    def load_all(self) -> None:
        """Begin to read every list that the server offers."""

    async def listen(self) -> None:
        """Be told of list changes, also in the era where that has to be asked for."""

    async def subscribe(self, uri: str) -> None:
        """Ask to be told when a resource changes."""

    async def unsubscribe(self, uri: str) -> None:
        """Ask no longer to be told."""

    async def set_log_level(self, level: str) -> None:
        """Choose which log messages the server sends."""

    # Tasks

    async def list_tasks(self) -> None:
        """`tasks/list`: also what other sessions began. Known tasks stay as they are."""

    def refresh_task(self, task: Task) -> None:
        """Ask the server now how a task stands."""

    def cancel_task(self, task: Task) -> None:
        """`tasks/cancel`. The server decides; what becomes of the task is seen at the next look."""
