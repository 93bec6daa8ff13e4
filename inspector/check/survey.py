"""Finds out which revisions a server supports over a transport, by offering each on its own connection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from inspector.check.asked import Asked
from inspector.check.raw_connection import Pace, RawConnection
from inspector.check.visit import Limits
from inspector.client.engine.connect import Connect, transport_for
from inspector.client.options import Options
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import ConnectionProblem
from inspector.journal.journal import Journal
from inspector.protocol.revisions import FEATURES, LEGACY, MODERN


@dataclass(slots=True)
class Survey:
    """The response to each offered revision."""

    answers: dict[str, Asked] = field(default_factory=dict)
    """By revision: the response to `initialize` or `server/discover`."""
    problems: dict[str, str] = field(default_factory=dict)
    """By revision: why it could not be offered."""

    @property
    def spoken(self) -> tuple[str, ...]:
        """The supported revisions, oldest first."""
        return tuple(revision for revision in FEATURES if self.speaks(revision))

    @property
    def why_none(self) -> str:
        """Why no revision is supported. Some servers exit when their first client disconnects."""
        silent = {revision: asked.shown for revision, asked in self.answers.items() if not asked.answered}
        silent |= self.problems
        refused = "The server supports none of the offered revisions."
        if not silent:
            return refused
        why = next(iter(silent.values())).rstrip(".")
        if len(silent) == len({*self.answers, *self.problems}):
            return f"The server answered one client, but no later one: {why}."
        return f"{refused} There was no response to {', '.join(sorted(silent))}: {why}."

    @property
    def offered(self) -> set[str]:
        """The revisions that were offered."""
        return {*self.answers, *self.problems}

    def speaks(self, revision: str) -> bool:
        """Whether the server agrees to an offered revision."""
        asked = self.answers.get(revision)
        if asked is None:
            return False
        if revision in LEGACY:
            return asked.body.get("protocolVersion") == revision
        versions = asked.body.get("supportedVersions")
        return type(versions) is list and revision in versions


async def survey(
    target: StdioTarget | HttpTarget,
    journal: Journal,
    options: Options,
    limits: Limits,
    revisions: Iterable[str],
    found: Survey,
    *,
    connect: Connect = transport_for,
    pace: Pace | None = None,
) -> None:
    """Offer each of the revisions on its own connection, and write the responses into `found`."""
    for revision in revisions:
        link = RawConnection(target, journal, options, revision, limits.request, connect=connect, pace=pace)
        try:
            opened = await link.open()
            if revision in MODERN:
                opened = await link.ask("server/discover", {}, id="survey")
            if opened is not None:
                found.answers[revision] = opened
        except ConnectionProblem as error:
            found.problems[revision] = error.message
        finally:
            await link.close()
