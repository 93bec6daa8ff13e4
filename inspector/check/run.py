"""A complete run: every revision that the server supports, and each check that applies to it.

Over stdio, one process of the server at a time: the session of a revision and all checks that neither need another
beginning nor spoil the process use the same one, see `Stage`. Results are in the order of the plan.

Nothing here raises because of the server. A skipped check has a reason; a crashed server is started again, and the
check that crashed it is named; if it cannot be started, the other checks are skipped with that reason.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache

from inspector.check.check_table import Check, Need, TransportName
from inspector.check.execution import CheckExecution
from inspector.check.hosts import host_checks, host_results
from inspector.check.outcome import Visited, skipped
from inspector.check.passive import JudgedRecording, record_outcomes
from inspector.check.registry import checks
from inspector.check.result import Result
from inspector.check.selection import CheckSelection, limit_reached
from inspector.check.visit.preparation import prepare
from inspector.check.visit.raw_connection import ServerState
from inspector.check.visit.shared_process import SharedProcess
from inspector.check.visit.supported_revisions import RevisionSurvey, offer_revisions
from inspector.check.visit.visit import Visit
from inspector.client.engine.connect import Connect, transport_for
from inspector.client.inbox import StandingAnswers
from inspector.client.options import Options
from inspector.client.session import Session
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import (
    AuthorizationNeeded,
    ConnectionProblem,
    InspectorError,
    RequestTimeout,
    SpawnError,
    UsageError,
)
from inspector.journal.alterations import authors
from inspector.journal.journal import Journal
from inspector.protocol.revisions import FEATURES, LEGACY, MODERN, REVISIONS

_JUDGED_IN_THREAD = 0.1
"""Seconds after which a judge in a thread can be stopped."""
_JUDGED_LATER = 5.0
"""Seconds beyond the limit of the run for which the messages that came are judged."""
_FROM_OUTSIDE = frozenset(("auth-resource", "auth-server"))
"""Groups whose checks need no session."""


@dataclass(slots=True)
class Run:
    """The state and results of a run. Grows during the run."""

    target: str
    results: list[Result] = field(default_factory=list)
    visits: list[Visited] = field(default_factory=list)
    problem: str = ""
    """Why the server could not be checked, or not completely."""
    problem_code: int = ConnectionProblem.exit_code
    """The exit code of this problem."""
    error: InspectorError | None = None
    """The error of the connection, if that is the problem."""
    unjudged: bool = False
    """Whether the run reached its limit before all messages were judged, so that it cannot pass."""
    deaths: list[str] = field(default_factory=list)
    """Checks after which the server had to be restarted, as sentences."""
    seconds: float = 0.0
    total: int = 0
    """The expected number of results; 0 if unknown."""


@dataclass(slots=True)
class _OpenVisit:
    """A visit and its checks."""

    visit: Visit
    first: int
    """The first event."""
    checks: list[Check]
    shared: list[Check] = field(init=False)
    """Those on the shared session."""
    apart: list[Check] = field(init=False)
    """Those with connections of their own."""
    passive: list[Check] = field(init=False)
    """Those without a result that the judge decides."""
    surveys: list[Check] = field(init=False)
    """Over stdio, those that need the response to every revision, and run after the visits."""
    visited: Visited | None = None
    """What it was, at its end."""

    def __post_init__(self) -> None:
        later = self.visit.shares_processes
        self.surveys = [check for check in self.checks if check.surveys and later]
        probes = [check for check in self.checks if check.probe is not None and check not in self.surveys]
        self.apart = [check for check in probes if check.apart]
        if later:
            self.apart.sort(key=lambda check: check.stage)
        self.shared = sorted((check for check in probes if not check.apart), key=_rank)
        self.passive = [check for check in self.checks if check.probe is None]


class Runner:
    """Checks one server. Calls `on_result` with each result, `began` with each check that starts."""

    def __init__(
        self,
        target: StdioTarget | HttpTarget,
        journal: Journal,
        options: Options,
        selection: CheckSelection,
        *,
        on_result: Callable[[Result], None] = lambda _result: None,
        began: Callable[[Visited, Check], None] = lambda _visited, _check: None,
        connect: Connect = transport_for,
    ) -> None:
        self.target = target
        self.journal = journal
        # Declare every capability and decline every request: requests of the server must not block a check or have
        # effects.
        standing = StandingAnswers(sampling="decline", elicitation="decline", roots=())
        self.options = replace(options, standing=standing, max_timeout=selection.limits.run, verdicts=None)
        drafts = ((check.group, check.draft) for check in checks().values() if check.draft)
        offered = (group for group, draft in drafts if options.extensions.get(draft) is not None)
        self.selection = replace(selection, drafts=selection.drafts.union(offered))
        self.run = Run(target.label)
        self._on_result = on_result
        self._began = began
        self._connect = connect
        self._server = ServerState()
        self._execution = CheckExecution(target, journal, self.selection, self._server, self.run.deaths)
        self._once: set[str] = set()
        self._failures: list[InspectorError] = []
        """Of revisions whose session did not open, although nothing was answered."""
        self._evidence = JudgedRecording(journal)
        self._ranks: list[tuple[int, ...]] = []
        """The place of each result in the order of the plan. Ascending."""

    async def go(self) -> Run:
        """Do the whole run. Cancelling it closes every connection."""
        started = time.monotonic()
        self._execution.until = started + self.selection.limits.run
        if isinstance(self.target, StdioTarget):
            await self._visit_processes()
        else:
            await self._visit_site()
        if self.run.visits and (self.run.unjudged or not self.run.problem):
            await self._judge_all()
            await asyncio.to_thread(self._veto)
            record_outcomes(self.journal, self.run.results)
            for result in await asyncio.to_thread(
                host_results, self.journal, self.run.visits, self.selection.hosts, self.target.name
            ):
                if self.selection.takes(result.check):
                    self._tell(result)
        self.run.seconds = time.monotonic() - started
        return self.run

    async def _visit_site(self) -> None:
        """Visit each revision over HTTP, after a survey of them."""
        session = Session(self.target, self.journal, self.options, connect=self._connect)
        try:
            transport = await self._transport(session)
        finally:
            await _end(session)
        if transport is None:
            return
        survey = await self._survey(transport)
        spoken = _in_order(revision for revision in survey.spoken if revision in self.selection.revisions)
        if not spoken:
            self.run.problem = survey.why_none
        self.run.total = self._expected(spoken, transport)
        for revision in spoken:
            session = Session(self.target, self.journal, self._options_for(revision), connect=self._connect)
            await self._visit(self._begin(Visited(revision, transport), survey, session))

    async def _transport(self, session: Session) -> TransportName | None:
        """Connect as a client does, and detect the transport; None if that fails."""
        limit = self.selection.limits.run
        try:
            async with asyncio.timeout(limit):
                await session.open()
            name = session.transport.name
            if name == "sse" and isinstance(self.target, HttpTarget):
                self.target = replace(self.target, transport="sse")
            return "http" if name == "http" else "sse" if name == "sse" else "stdio"
        except AuthorizationNeeded as error:
            self.run.problem_code = error.exit_code
            self.run.problem = f"not logged in: {error.message}"
            await _end(session)
            if self.selection.allowed.auth and isinstance(self.target, HttpTarget):
                await self._look_from_outside()
            return None
        except InspectorError as error:
            self.run.problem, self.run.error = error.message, error
            return None
        except TimeoutError:
            self.run.problem = f"No connection within {limit:g} s, the time limit of the run."
            return None

    async def _look_from_outside(self) -> None:
        """Check how a server that requires a login authorizes, by the rules of the newest selected legacy revision."""
        selected = self.selection.revisions
        revisions = [revision for revision in selected if revision in LEGACY] or list(selected)
        session = Session(self.target, self.journal, self.options, connect=self._connect)
        visited = Visited(revisions[-1], "http", len(self.journal) + 1)
        visit = self._visit_of(visited, RevisionSurvey(), session)
        try:
            for check in self.selection.rows():
                if check.group in _FROM_OUTSIDE and self._concerns(check, visited):
                    await self._one(visit, check)
        finally:
            await visit.close()
            self.run.visits.append(replace(visited, last=len(self.journal), problem="without a login"))

    async def _survey(self, transport: TransportName) -> RevisionSurvey:
        """Offer the revisions that have a check to run.

        A check that needs one visit runs at the first supported revision. If the server supports none of these
        revisions, the others are offered too.
        """
        survey = RevisionSurvey()

        async def offer(revisions: Iterable[str]) -> None:
            missing = [name for name in revisions if name in self.selection.revisions and name not in survey.offered]
            await offer_revisions(
                self.target,
                self.journal,
                self.options,
                self.selection.limits,
                missing,
                survey,
                connect=self._connect,
                server=self._server,
            )

        mine = [check for check in self.selection.rows() if transport in check.transports]
        if any(check.surveys for check in mine):
            await offer(self.selection.revisions)
        several = {name for check in mine if not check.once for name in check.revisions}
        await offer(name for name in self.selection.revisions if name in several)
        for check in mine:
            for name in _in_order(check.revisions) if check.once else ():
                await offer((name,))
                if survey.speaks(name):
                    break
        if not survey.spoken:
            await offer(self.selection.revisions)
        return survey

    def _expected(self, revisions: Sequence[str], transport: TransportName) -> int:
        """The expected number of results for visits with these revisions."""
        total = 0
        for check in self.selection.rows():
            if transport in check.transports:
                visits = len(check.revisions.intersection(revisions))
                total += min(visits, 1) if check.once else visits
        return total

    # One visit

    async def _visit(self, opened: _OpenVisit) -> None:
        """One visit: its checks, and what the judge finds in its messages."""
        try:
            await self._shared_checks(opened)
            await self._apart_checks(opened)
        finally:
            await self._close(opened)
        await self._judge(opened)

    async def _visit_processes(self) -> None:
        """Visit each revision over stdio, on one process each: its handshake shows whether the server supports it."""
        survey = RevisionSurvey()
        visits: list[_OpenVisit] = []
        for needed in (self._is_needed, lambda _: not survey.spoken):
            for revision in _in_order(self.selection.revisions):
                if revision not in survey.offered and needed(revision):
                    opened = await self._open_revision(revision, survey)
                    if self.run.problem:
                        return
                    if opened is not None:
                        visits.append(opened)
                        self.run.total = self._expected(self._may_come(survey), "stdio")
                        await self._visit(opened)
        if not survey.spoken:
            has_answered = any(survey.answered(name) for name in survey.offered)
            self.run.problem = survey.why_none
            if not has_answered and self._failures:
                self.run.problem, self.run.error = self._failures[0].message, self._failures[0]
        for opened in visits:
            try:
                for check in opened.surveys:
                    await self._one(opened.visit, check)
            finally:
                await _end(opened.visit.shared.session)
                await opened.visit.close()

    def _is_needed(self, revision: str) -> bool:
        """Whether a check still has to know this revision of a server over stdio."""
        mine = [check for check in self.selection.rows() if "stdio" in check.transports]
        return any(
            check.surveys or (revision in check.revisions and not (check.once and check.id in self._once))
            for check in mine
        )

    def _may_come(self, survey: RevisionSurvey) -> list[str]:
        """The revisions that the server supports, or may support."""
        return [name for name in self.selection.revisions if survey.speaks(name) or name not in survey.offered]

    async def _open_revision(self, revision: str, survey: RevisionSurvey) -> _OpenVisit | None:
        """Open the session of a revision; None if the server does not support it. Without time it has a problem.

        The first one is opened as a client does it, which also shows the era.
        """
        process = SharedProcess(self._connect)
        chooses = not survey.offered and revision in MODERN
        options = self.options if chooses else self._options_for(revision)
        session = Session(self.target, self.journal, options, connect=process.connect)
        first = len(self.journal) + 1
        began = time.monotonic()
        error: InspectorError | None = None
        try:
            await self._started(session, f"session of {'the server' if chooses else revision}")
            self._server.startup = max(self._server.startup, time.monotonic() - began)
        except InspectorError as failed:
            error = failed
        survey.learn(self.journal, first)
        if error is not None and not survey.answered(revision):
            survey.problems[revision] = error.message
            self._failures.append(error)
        opened = session.server.revision if chooses and error is None else revision
        is_over = time.monotonic() > self._execution.until
        unreached = is_over and bool(survey.spoken) and isinstance(error, RequestTimeout)
        if opened not in self.selection.revisions or not (survey.speaks(opened) or unreached):
            await _end(session)
            if error is not None and not survey.spoken:
                self.run.error = error if isinstance(error, ConnectionProblem) else None
                if chooses or isinstance(error, SpawnError):
                    self.run.problem = error.message
            return None
        visit = self._begin(Visited(opened, "stdio", first), survey, session, process)
        if error is not None:
            visit.visit.shared.problem = error.message
        return visit

    async def _started(self, session: Session, why: str) -> None:
        """Open a session over stdio, at most until the end of the run."""
        left = self._execution.until - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            self.journal.record_life("", "reopen", by="check", why=why)
            async with asyncio.timeout(left):
                await session.open()
        except TimeoutError:
            limit = self.selection.limits.run
            raise RequestTimeout(f"No connection within {limit:g} s, the time limit of the run.") from None

    def _begin(
        self, visited: Visited, survey: RevisionSurvey, session: Session, process: SharedProcess | None = None
    ) -> _OpenVisit:
        visit = self._visit_of(visited, survey, session, process)
        first = visited.first or len(self.journal) + 1
        return _OpenVisit(visit, first, [check for check in self.selection.rows() if self._concerns(check, visited)])

    def _visit_of(
        self, visited: Visited, survey: RevisionSurvey, session: Session, process: SharedProcess | None = None
    ) -> Visit:
        return Visit(
            self.target,
            self.journal,
            self.options,
            visited,
            self.selection.limits,
            self.selection.allowed,
            session,
            survey,
            self._connect,
            self._server,
            process,
        )

    async def _shared_checks(self, opened: _OpenVisit) -> None:
        """The checks on the shared session."""
        visit = opened.visit
        done = [check for check in opened.checks if not self.selection.refuses(check) and check not in opened.surveys]
        watches = any(check.watches for check in done)
        reads = self.selection.lists or self.selection.hosts or watches
        needs = max((check.needs for check in done), default=Need.NOTHING)
        await prepare(visit, max(needs, Need.SESSION) if reads else needs, watches=watches)
        for check in opened.shared:
            await self._one(visit, check)
        if not visit.waits and not visit.shares_processes:
            await _end(visit.shared.session)

    async def _apart_checks(self, opened: _OpenVisit) -> None:
        """The checks on connections of their own, one after the other."""
        if opened.visit.shares_processes:
            # Before a check ends the process of the session, and not within its time, which is shorter than a timeout.
            await opened.visit.settle()
        for check in opened.apart:
            await self._one(opened.visit, check)
        await opened.visit.settle()

    async def _close(self, opened: _OpenVisit) -> None:
        """Close the connections of a visit. Idempotent."""
        if opened.visited is not None:
            return
        visit = opened.visit
        try:
            await _end(visit.shared.session)
            await visit.close()
        finally:
            opened.visited = replace(
                visit.visited, first=opened.first, last=len(self.journal), problem=visit.shared.problem
            )
            self.run.visits.append(opened.visited)

    async def _judge(self, opened: _OpenVisit) -> None:
        """The results of the checks that the judge decides, once."""
        visited, passive = opened.visited, opened.passive
        if visited is None or not passive:
            return
        await self._judge_all()
        events = self._evidence.of_visit(visited, self.run.visits)
        for check in passive:
            self._tell(Result(check, visited, events.outcome(check)))
        passive.clear()

    async def _judge_all(self) -> None:
        """Judge all messages, in a thread, so that the interface, signals and the limit of the run are not blocked."""
        while not await asyncio.to_thread(self._evidence.judge, _JUDGED_IN_THREAD):
            if time.monotonic() > self._execution.until + _JUDGED_LATER:
                _stop(self._evidence, self.run, self.selection)

    def _veto(self) -> None:
        """Combine every result with all findings of the run, including those on the connections of probes."""
        visits = {visited.revision: visited for visited in self.run.visits}
        events = {name: self._evidence.of_visit(visited, self.run.visits) for name, visited in visits.items()}
        for at, result in enumerate(self.run.results):
            seen = events.get(result.visited.revision)
            if seen is not None and result.check.probe is None:
                self.run.results[at] = replace(result, outcome=seen.outcome(result.check))
            elif seen is not None:
                self.run.results[at] = seen.veto(result)
        mine = {check.id: check for check in self.selection.rows()}
        known = {(result.check.id, result.visited.revision) for result in self.run.results}
        found_once = {result.check.id: result for result in self.run.results if result.check.once and result.is_fault}
        for name, visited in visits.items():
            # For a check that was not reached or ran in another visit, findings still count.
            for id in events[name].findings:
                check = mine.get(id)
                if check is not None and (id, name) not in known and _may_concern(check, visited):
                    result = events[name].veto(Result(check, visited, skipped("it did not run in this visit")))
                    if result.verdict != "skip" and not _is_repeated(result, found_once):
                        self.run.results.append(result)

    def _options_for(self, revision: str) -> Options:
        return replace(self.options, era=FEATURES[revision].era, protocol=revision)

    def _concerns(self, check: Check, visited: Visited) -> bool:
        if check.once and check.id in self._once:
            return False
        if check.once and _may_concern(check, visited):
            self._once.add(check.id)
        return _may_concern(check, visited)

    async def _one(self, visit: Visit, check: Check) -> None:
        """Run one check within its time limit, and detect whether it broke the server."""
        began = time.monotonic()
        visit.check = check.id
        visit.overdue.clear()
        self._began(visit.visited, check)
        outcome = await self._execution.outcome(visit, check)
        # The sentence of a probe may have the URL, or what the server wrote before it was recorded.
        text, more = (self.journal.redactor.text(part, cut=True)[0] for part in (outcome.text, outcome.more))
        outcome = outcome._replace(text=text, more=more)
        self._tell(Result(check, visit.visited, outcome, time.monotonic() - began))

    def _tell(self, result: Result) -> None:
        """Add a result. Results are in the order of the plan, whatever ends first."""
        if self.options.filter is not None:
            result = self._without_addons(result)
        check, visited = result.check, result.visited
        rank = (*_by_era(visited.revision), _rank(check), _plan().get(check.id, len(_plan())))
        at = bisect(self._ranks, rank)
        self._ranks.insert(at, rank)
        self.run.results.insert(at, result)
        self._on_result(result)

    def _without_addons(self, result: Result) -> Result:
        """Skip a check that rests on messages which addons altered; a fault without evidence may rest on any."""
        evidence: Sequence[int] = result.outcome.evidence
        if not evidence and result.outcome.seen in ("bad", "doubtful", "remark"):
            evidence = range(1, len(self.journal) + 1)
        for n in evidence if result.outcome.seen != "nothing" else ():
            names = authors(self.journal.event(n).fields)
            if names:
                altered = f"{' and '.join(dict.fromkeys(names))} altered its messages (event {n})"
                return replace(result, outcome=skipped(f"the addon {altered}"))
        return result


def _may_concern(check: Check, visited: Visited) -> bool:
    return visited.transport in check.transports and visited.revision in check.revisions


def _in_order(revisions: Iterable[str]) -> list[str]:
    """The order of the visits: the newest of each era first, because checks of the whole server run there."""
    return sorted(revisions, key=_by_era)


def _by_era(revision: str) -> tuple[bool, int]:
    return revision not in MODERN, -REVISIONS.index(revision)


def _rank(check: Check) -> int:
    """The part of a visit in which a check has its result."""
    if check.probe is None:
        return 3
    if check.apart:
        return 2
    return int(check.mode == "tool")  # Checks of the tools' effects on the server come last.


async def _end(session: Session) -> None:
    """Close the connection of a session and leave its journal open."""
    with suppress(InspectorError):
        await session.leave()


@cache
def _plan() -> dict[str, int]:
    return {id: at for at, id in enumerate(checks())}


def renewed(run: Run, again: Run) -> Run:
    """A run in which some checks were repeated on the same recording: their last results count."""
    repeated = {result.check.id for result in again.results}
    kept = [result for result in run.results if result.check.id not in repeated]
    return replace(run, results=[*kept, *again.results], deaths=[*run.deaths, *again.deaths])


def _is_repeated(result: Result, found_once: Mapping[str, Result]) -> bool:
    """Whether a check that runs once has found this fault already: in which other visits it shows too is chance."""
    earlier = found_once.get(result.check.id)
    return earlier is not None and earlier is not result and not result.is_worse_than(earlier)


def _stop(evidence: JudgedRecording, run: Run, selection: CheckSelection) -> None:
    """Judge no more messages, because the time is over."""
    evidence.stop(limit_reached(selection))
    run.unjudged = True
    run.problem = f"Not all messages were judged: {limit_reached(selection)}."


def of_recording(journal: Journal, name: str, selection: CheckSelection) -> Run:
    """The run that a finished recording contains, for its revisions."""
    run = Run(name)
    evidence = JudgedRecording(journal)
    if not evidence.judge(selection.limits.run):
        _stop(evidence, run, selection)
    run.visits = evidence.visits()
    found_once: dict[str, Result] = {}
    for visited in run.visits:
        events = evidence.of_visit(visited, run.visits)
        for check in selection.rows():
            if visited.transport in check.transports and visited.revision in check.revisions:
                result = Result(check, visited, events.outcome(check))
                run.results.append(result)
                if check.once and check.id in events.outcomes and result.is_fault:
                    found_once[check.id] = result
    run.results = [result for result in run.results if not _is_repeated(result, found_once)]
    run.results += (
        result for result in host_results(journal, run.visits, selection.hosts) if selection.takes(result.check)
    )
    if not run.visits and not run.unjudged:
        run.problem = f"{name} contains no session: client and server did not agree on a revision."
        run.problem_code = UsageError.exit_code
    return run


def planned(
    selection: CheckSelection, transports: Sequence[TransportName], revisions: Sequence[str]
) -> list[tuple[Check, str]]:
    """The plan of a run: each check, and why it would be skipped (empty if it would run)."""
    rows = []
    for check in selection.rows():
        concerned = check.revisions & set(revisions) and check.transports & set(transports)
        rows.append(
            (check, selection.refuses(check) if concerned else "it does not apply to this revision or transport")
        )
    rows += [(check, "") for check in host_checks(selection.hosts).values() if selection.takes(check)]
    return rows
