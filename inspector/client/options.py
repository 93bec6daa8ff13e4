"""The options of a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from inspector.client.engine.era_memory import Verdicts
from inspector.client.extensions import ClientIdentity
from inspector.client.inbox import StandingAnswers
from inspector.config.settings import MAX_TIMEOUT, TIMEOUT
from inspector.config.targets import HttpTarget
from inspector.protocol.extensions import TASKS, default_settings
from inspector.protocol.revisions import Features
from inspector.transports.base import Credential, HttpOptions, MessageFilter, Sink

if TYPE_CHECKING:
    from inspector.auth.person import Person


class LoginProvider(Protocol):
    """Logs in if a server requires it. One for a session and all its connections."""

    person: Person
    """The person who is asked."""

    def for_session(self, person: Person) -> LoginProvider:
        """Return one for one session of several: it has its own logins and asks `person`."""

    def opening(self, seconds: float) -> None:
        """Start a session whose requests have this timeout in seconds: earlier failures may be tried again."""

    def credential(self, target: HttpTarget, sink: Sink) -> Credential:
        """Return the credential for a connection's requests; its steps are recorded in `sink`."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one session, passed down once; a session reads no other settings."""

    timeout: float = TIMEOUT
    """Seconds without a response or progress after which a request times out."""
    max_timeout: float = MAX_TIMEOUT
    """Seconds after which a request times out in spite of progress."""
    noted: Callable[[str], None] | None = None
    """Told why the user waits while a connection opens."""
    era: Literal["auto", "legacy", "modern"] = "auto"
    protocol: str = ""
    """The revision to offer; empty: the newest."""
    standing: StandingAnswers = field(default_factory=StandingAnswers)
    client: ClientIdentity = field(default_factory=ClientIdentity)
    """The name that the server is told."""
    extensions: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict)
    """The extensions that the user offers, by id, with their settings, in every revision. None: not offered, although
    it is one of `default_extensions`."""
    default_extensions: tuple[str, ...] = (TASKS,)
    """The ids that are offered without being asked for, in revisions that define extensions (2026-07-28)."""
    declared: Mapping[str, Any] | None = None
    """The capabilities to declare, whatever `standing` answers; None: those that `standing` answers. Extensions are
    added in either case."""
    log_level: str = ""
    """Minimum level of the server's log messages (`debug` … `emergency`); empty: the server's default."""
    verdicts: Verdicts | None = None
    """The stored eras of servers; None: not stored."""
    http: HttpOptions = field(default_factory=HttpOptions)
    authorize: LoginProvider | None = None
    """Logs in if a server requires authorization; None: only the configured headers are sent."""
    filter: MessageFilter | None = None
    """Sees each message of each connection; None: messages are as the session and the server write them."""
    trace: bool = False
    """Whether requests and notifications carry the trace context of their spans (SEP-414)."""

    def capabilities(self, features: Features) -> dict[str, Any]:
        """Return the client capabilities to declare, in the form of a revision.

        The settings of an extension are passed on unchanged (C-EXT-01, C-EXT-02).
        """
        declared = self.standing.capabilities(features) if self.declared is None else dict(self.declared)
        extensions = self._extensions_in(features)
        return declared | ({"extensions": extensions} if extensions else {})

    def _extensions_in(self, features: Features) -> dict[str, Any]:
        """The extensions to offer. Only 2026-07-28 defines them: earlier revisions offer only what the user names."""
        extensions: dict[str, Any] = {}
        if features.tasks_extension:
            extensions = {id: default_settings(id) for id in self.default_extensions}
        for id, settings in self.extensions.items():
            extensions.pop(id, None)
            if settings is not None:
                extensions[id] = dict(settings)
        return extensions
