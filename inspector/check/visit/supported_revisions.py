"""Finds out which revisions a server supports over a transport, by offering each on its own connection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from inspector.check.visit.limits import RunLimits
from inspector.check.visit.raw_connection import RawConnection, ServerState
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.client.engine.connect import Connect, transport_for
from inspector.client.options import Options
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import ConnectionProblem
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.names import VERSION_KEY
from inspector.protocol.revisions import FEATURES, LEGACY, MODERN


@dataclass(slots=True)
class RevisionSurvey:
    """The response to each offered revision."""

    answers: dict[str, RequestOutcome] = field(default_factory=dict)
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
        silent = {revision: response.brief for revision, response in self.answers.items() if not response.answered}
        silent |= self.problems
        refused = "The server supports none of the offered revisions."
        if not silent:
            return refused
        reason = next(iter(silent.values())).rstrip(".")
        if len(silent) == len({*self.answers, *self.problems}):
            return f"The server answered one client, but no later one: {reason}."
        return f"{refused} There was no response to {', '.join(sorted(silent))}: {reason}."

    def learn(self, journal: Journal, first: int) -> None:
        """Read the responses to the opening requests of a session, which are recorded from event `first` on."""
        index = journal.index
        for n in Query(dir=Dir.SEND, shape=Shape.REQUEST, method=("initialize", "server/discover")).forwards(
            index, first
        ):
            request = journal.event(n)
            params = request.message.get("params") or {}
            named = params.get("protocolVersion") or (params.get("_meta") or {}).get(VERSION_KEY)
            if index.conn(n) or named not in FEATURES:
                continue
            response = RequestOutcome(index.method(n), n, index.pair(n), reason="no response")
            if response.response_n:
                answer = journal.event(response.response_n)
                response.message = answer.message if type(answer.message) is dict else {"result": answer.message}
                response.seconds = (answer.t - request.t) / 1_000_000
            self.answers[named] = response

    @property
    def offered(self) -> set[str]:
        """The revisions that were offered."""
        return {*self.answers, *self.problems}

    def answered(self, revision: str) -> bool:
        """Whether the offer of a revision got a response."""
        return revision in self.answers and self.answers[revision].answered

    def ended(self, revision: str, within: float) -> bool:
        """Whether the connection of an offer failed or ended before `within` seconds."""
        return revision in self.problems or self.answers[revision].seconds < within

    def speaks(self, revision: str) -> bool:
        """Whether the server agrees to an offered revision."""
        response = self.answers.get(revision)
        if response is None:
            return False
        if revision in LEGACY:
            return response.body.get("protocolVersion") == revision
        versions = response.body.get("supportedVersions")
        return type(versions) is list and revision in versions


async def offer_revisions(
    target: StdioTarget | HttpTarget,
    journal: Journal,
    options: Options,
    limits: RunLimits,
    revisions: Iterable[str],
    survey: RevisionSurvey,
    *,
    connect: Connect = transport_for,
    server: ServerState | None = None,
) -> None:
    """Offer each of the revisions on its own connection, one after the other, and write the responses into `survey`."""
    for revision in revisions:
        survey.answers.pop(revision, None)
        survey.problems.pop(revision, None)
        connection = RawConnection(
            target, journal, options, revision, limits.request, connect=connect, server=server, patience=options.timeout
        )
        try:
            outcome = await connection.open()
            if revision in MODERN:
                outcome = await connection.request("server/discover", {}, id="survey")
            if outcome is not None:
                survey.answers[revision] = outcome
        except ConnectionProblem as error:
            survey.problems[revision] = error.message
        finally:
            await connection.close()
