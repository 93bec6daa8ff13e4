"""What the user wants of a session."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from inspector.client.engine.era_memory import Verdicts
from inspector.client.inbox import Standing
from inspector.config.targets import HttpTarget
from inspector.transports.base import Credential, HttpOptions, Sink

if TYPE_CHECKING:
    from inspector.auth.person import Person


class Authorize(Protocol):
    """Logs in where a server wants it. One for a session, and for all its connections."""

    person: Person
    """Who is asked."""

    def for_session(self, person: Person) -> Authorize:
        """Return one for one session of several: its logins are its own, and `person` is asked."""

    def opening(self, seconds: float) -> None:
        """A session begins whose requests may take so long: what has failed before may be tried again."""

    def credential(self, target: HttpTarget, sink: Sink) -> Credential:
        """What authorizes the requests of a connection; `sink` is where its steps are recorded."""


@dataclass(frozen=True, slots=True)
class Options:
    """Passed down once; a session never looks anywhere else."""

    timeout: float = 60.0
    """Seconds without an answer or progress after which a request is given up."""
    max_timeout: float = 600.0
    """Seconds after which a request is given up in spite of progress."""
    era: Literal["auto", "legacy", "modern"] = "auto"
    protocol: str = ""
    """The revision to offer; empty: the newest."""
    standing: Standing = field(default_factory=Standing)
    log_level: str = ""
    """Log messages wanted from the server (`debug` … `emergency`); empty: as the server likes."""
    verdicts: Verdicts | None = None
    """Where it is remembered which era a server speaks; None: nothing is."""
    http: HttpOptions = field(default_factory=HttpOptions)
    authorize: Authorize | None = None
    """What answers a server that wants authorization; None: only what the header fields hold."""
