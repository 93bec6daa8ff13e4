"""Statistics of a mock server: counted while it runs, reported at its end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import excerpt
from inspector.text import quantity, repr_of
from inspector.transports.request_matching import HANDSHAKE

MAX_KEPT = 1000
"""Maximum misses that are stored; further ones are only counted."""
EXCERPT = 200
"""Characters of the parameters of a request that are stored."""


@dataclass(frozen=True, slots=True)
class UnrecordedRequest:
    """A request that was not in the recording."""

    client: int
    method: str
    params: str
    """The start of the parameters, as JSON."""
    nearest: int
    """The most similar recorded request; 0: none of its method was recorded."""
    became: str
    """`error`, `last` or `passthrough`."""


class MockStatistics:
    """Counts all requests, and stores the missed ones."""

    def __init__(self) -> None:
        self.clients = 0
        self.requests = 0
        self.counts: Counter[str] = Counter()
        """`answered`, `missed`, `unanswered`, `empty`, `refused`, `cancelled`, `invalid`; `fault:…` by kind."""
        self.missed: list[UnrecordedRequest] = []
        self.used: set[int] = set()
        """Recorded requests that matched a client's request."""

    def miss(self, missed: UnrecordedRequest) -> None:
        """Store a request that was not in the recording."""
        self.counts["missed"] += 1
        if len(self.missed) < MAX_KEPT:
            self.missed.append(missed)


@dataclass(frozen=True, slots=True)
class MockReport:
    """The report at the end."""

    recording: str
    seed: str
    clients: int
    requests: int
    counts: dict[str, int]
    missed: list[UnrecordedRequest]
    never_asked: list[tuple[int, str, str]]
    """Event number, method and parameters of unused recorded requests, up to `MAX_KEPT`."""
    never_asked_count: int
    recordings: list[str]
    """The recordings of the clients."""

    def __repr__(self) -> str:
        return repr_of(
            self, self.recording, quantity(self.requests, "request"), f"{self.counts.get('missed', 0):,} missed"
        )

    def as_json(self) -> dict[str, Any]:
        """Return the report as one JSON document."""
        faults = {name.removeprefix("fault:"): n for name, n in self.counts.items() if name.startswith("fault:")}
        return {
            "path": self.recording,
            "seed": self.seed,
            "clients": self.clients,
            "requests": self.requests,
            **{name: self.counts.get(name, 0) for name in COUNTED},
            "faults": faults,
            "misses": [
                {
                    "client": request.client,
                    "method": request.method,
                    "params": request.params,
                    "nearest": request.nearest or None,
                    "became": request.became,
                }
                for request in self.missed
            ],
            "never_requested": [
                {"event": n, "method": method, "params": params} for n, method, params in self.never_asked
            ],
            "never_requested_count": self.never_asked_count,
            "recordings": self.recordings,
        }


COUNTED = ("answered", "missed", "unanswered", "refused", "cancelled", "invalid")


def report(
    statistics: MockStatistics, journal: Journal, requests: dict[str, list[int]], seed: str, recordings: list[str]
) -> MockReport:
    """Create the report. `requests` are the recorded ones by method; handshakes are not reported as unused."""
    asked = (events for method, events in requests.items() if method not in HANDSHAKE)
    numbers = sorted(n for events in asked for n in events if n not in statistics.used)
    never = [
        (n, journal.index.method(n), params_text(journal.event(n).message.get("params"))) for n in numbers[:MAX_KEPT]
    ]
    return MockReport(
        str(journal.path or ""),
        seed,
        statistics.clients,
        statistics.requests,
        dict(statistics.counts),
        statistics.missed,
        never,
        len(numbers),
        recordings,
    )


def params_text(params: Any) -> str:
    """Return the start of the parameters, as JSON, without `_meta`."""
    if type(params) is dict:
        params = {key: value for key, value in params.items() if key != "_meta"}
    return excerpt(params, EXCERPT) if params else ""
