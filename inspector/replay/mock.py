"""A mock server: it answers from a recording, over whichever transport its clients use.

`Mock` is given clients by an end of `inspector.serving` (`opens` is what that end calls). Each client has its own
order, its own faults and its own recording; the recording that is served is read once for all.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Literal

from inspector.journal.journal import Journal
from inspector.replay.mock_client import MockClient
from inspector.replay.mock_faults import Fault
from inspector.replay.mock_http import Conduct
from inspector.replay.mock_passthrough import Upstream
from inspector.replay.mock_tally import Report, Tally, report
from inspector.replay.mock_tasks import TaskEnds
from inspector.replay.mock_timeline import Timeline
from inspector.serving.base import Client
from inspector.serving.http import Binding
from inspector.transports.recorded import load
from inspector.transports.recorded_requests import Match, RecordedRequests

OnMiss = Literal["error", "last", "passthrough"]
MOST_RECORDED = 100
"""Clients of one run whose recordings are kept; those of further ones are not."""


@dataclass(frozen=True, slots=True)
class MockOptions:
    """How a recording is served."""

    match: Match = "params"
    on_miss: OnMiss = "error"
    speed: float | None = None
    """1.0 is the recorded pace, 2.0 twice as fast, None as fast as it goes."""
    faults: tuple[Fault, ...] = ()
    seed: str = ""
    """What faults are drawn with; empty: something that is different each time."""


class Mock:
    """Serves `journal`, which the caller opened and releases. `load` it before any client comes.

    `new_journal` makes the recording of a client by its number, from 1; without it none is kept. `said` gets the lines
    of the recorded stderr. `upstream` connects to the live server that is asked what was never recorded.
    """

    def __init__(
        self,
        journal: Journal,
        options: MockOptions | None = None,
        *,
        new_journal: Callable[[int], Journal] | None = None,
        said: Callable[[bytes], None] = lambda line: None,
        upstream: Upstream | None = None,
        live_journal: Callable[[], Journal] = lambda: Journal.unnamed({}),
        sleep: Callable[[float], Awaitable[Any]] = asyncio.sleep,
    ) -> None:
        self.journal = journal
        self.options = options or MockOptions()
        self.seed = self.options.seed or secrets.token_hex(4)
        self.requests = RecordedRequests(journal)
        self.timeline = Timeline(journal)
        self.tasks = TaskEnds(journal)
        self.tally = Tally()
        self.said = said
        self.upstream = upstream if self.options.on_miss == "passthrough" else None
        self.live_journal = live_journal
        """Makes the recording of a connection to the live server."""
        self.sleep = sleep
        self.recordings: list[str] = []
        self._new_journal = new_journal

    async def load(self, **binding: Any) -> None:
        """Read the recording to its end. Raises `RecordingError` where nothing in it could answer.

        `binding` is what of the HTTP endpoint is not for the recording to say: path, names, origins, limits.
        """
        await load(self.requests, self.journal)
        await self.timeline.read()
        self.conduct = Conduct(self.journal)
        self.binding: Binding = self.conduct.binding(**binding)

    def opens(self, client: Client) -> MockClient:
        """The handler of a new client."""
        self.tally.clients += 1
        return MockClient(self, client, self.tally.clients)

    def new_journal(self, number: int) -> Journal:
        """The recording of a client."""
        if self._new_journal is None or number > MOST_RECORDED:
            return Journal.unnamed({})
        made = self._new_journal(number)
        if made.path is not None:
            self.recordings.append(str(made.path))
        return made

    async def wait(self, microseconds: int) -> None:
        """Let so much recorded time pass, at the pace that was asked for."""
        if self.options.speed is not None and microseconds > 0:
            await self.sleep(microseconds / 1e6 / self.options.speed)

    def report(self) -> Report:
        """What was asked, missed, never asked."""
        return report(self.tally, self.journal, self.requests.methods, self.seed, self.recordings)

    async def close(self) -> None:
        """Stop reading. The clients are closed by the end that has them."""
        await self.requests.aclose()
