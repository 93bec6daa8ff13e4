"""Runs one check within its time limit, and detects whether it broke the server."""

from __future__ import annotations

import asyncio
import time

from inspector.check.check_table import Check
from inspector.check.judge.rules import is_unread
from inspector.check.outcome import Outcome, Skip, bad, doubtful, skipped
from inspector.check.selection import CheckSelection, limit_reached
from inspector.check.visit.raw_connection import ServerState
from inspector.check.visit.visit import MAX_RESTARTS, Visit
from inspector.config.logfile import skip_failed
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import ConnectionProblem, InspectorError
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.transports.http_url import parse_url

_RESTART_SECONDS = 10.0
_TOO_MANY_REQUESTS = 429


class CheckExecution:
    """Runs the checks of one run, and restarts a server that has ended."""

    def __init__(
        self,
        target: StdioTarget | HttpTarget,
        journal: Journal,
        selection: CheckSelection,
        server: ServerState,
        restarts: list[str],
    ) -> None:
        """Each end of the server is added to `restarts`, as a sentence."""
        self._target = target
        self._journal = journal
        self._selection = selection
        self._server = server
        self._restarts = restarts
        self.until = 0.0
        """When the time of the run is over."""

    async def outcome(self, visit: Visit, check: Check) -> Outcome:
        """Run a check. A reason to skip it, and a fault that it shows by its effect on the server, are outcomes too."""
        refused = self._selection.refuses(check)
        if refused or check.probe is None:
            return skipped(refused)
        is_over = time.monotonic() > self.until
        if visit.shared.problem and not is_over:
            return skipped(Skip.NO_SESSION, visit.shared.problem)
        reason = self._server.loss or (limit_reached(self._selection) if is_over else "")
        in_session = not check.apart and not check.surveys
        if not reason and in_session and visit.session.phase != "ready":
            reason = await self._restart(visit)
        if reason:
            return skipped(Skip.NOT_RUN, reason)
        before = len(self._journal)
        try:
            async with asyncio.timeout(self._selection.limits.check):
                outcome = await check.probe(visit)
        except TimeoutError:
            outcome = skipped(Skip.NOT_RUN, f"it took longer than {self._selection.limits.check:g} s")
        except ConnectionProblem as error:
            outcome = skipped(Skip.NOT_RUN, f"connecting failed: {error.message}")
        except InspectorError as error:
            outcome = skipped(error.message)
        except Exception as error:  # noqa: BLE001 - a check of another package; another error is raised again
            outcome = skipped(Skip.NOT_RUN, skip_failed(error).message)
        statuses = self._statuses_since(before)
        if _TOO_MANY_REQUESTS in statuses:
            return skipped(Skip.RATE_LIMIT)  # Such a response says nothing about the request.
        if outcome.seen in ("bad", "doubtful") and (unread := self._unread_since(before)):
            return skipped(Skip.UNREAD, f"message {unread}")  # It may be the response.
        if outcome.seen == "bad" and not visit.overdue.keys().isdisjoint(outcome.evidence):
            outcome = doubtful(outcome.text, *outcome.evidence)  # A timeout alone is not a failure.
        if check.mode == "tool" and in_session and visit.session.phase == "ready":
            await self._restart_if_blocked(visit, check)
        if in_session and visit.session.phase == "lost":
            problem = visit.session.error.message if visit.session.error is not None else "the connection was lost"
            self._restarts.append(f"{check.id} ({visit.visited.name}): {problem}")
            if outcome.seen in ("nothing", "good"):
                outcome = bad(f"The server exited during this check: {problem}", before + 1)
        elif outcome.seen not in ("good", "remark") or any(status >= 500 for status in statuses):
            reason = await self._refusal(visit, check)
            if reason and _TOO_MANY_REQUESTS not in self._statuses_since(before):
                self._server.lose(f"the server stopped accepting connections after {check.id} ({visit.visited.name})")
                self._restarts.append(
                    f"{check.id} ({visit.visited.name}): the server stopped accepting connections: {reason}"
                )
                outcome = doubtful(f"After this check the server stopped accepting connections: {reason}", before + 1)
        return outcome

    async def _restart_if_blocked(self, visit: Visit, check: Check) -> None:
        """Detect a tool that blocks the server, and restart the server, so that later checks are reliable."""
        if not await visit.is_served():
            await visit.settle()
            self._restarts.append(f"{check.id} ({visit.visited.name}): the server stopped responding")
            await self._restart(visit)

    def _statuses_since(self, before: int) -> set[int]:
        """The statuses of the HTTP responses after event `before`."""
        index = self._journal.index
        heads = (n for n in range(before + 1, index.count + 1) if index.kind(n) == Kind.HTTP)
        return {self._journal.event(n).fields.get("status") or 0 for n in heads if index.dir(n) == Dir.RECV}

    def _unread_since(self, before: int) -> int:
        """A message after event `before` that is too big to be read; 0 if there is none."""
        last = self._journal.index.count
        return next((n for n in range(before + 1, last + 1) if is_unread(self._journal, n)), 0)

    async def _refusal(self, visit: Visit, check: Check) -> str:
        """Why a server on HTTP accepts no connections; empty if it does. The transport watches a process itself."""
        if not isinstance(self._target, HttpTarget):
            return ""
        if not await self._takes_connections(self._target):
            return "it does not accept a connection"
        if not check.apart and await visit.is_served():
            return ""
        try:
            async with visit.new_connection() as link:
                first = await link.request("server/discover", {}) if visit.modern else link.opened
                reason = first.reason if first is not None else ""
        except ConnectionProblem as error:
            return error.message
        return reason if reason or check.apart else await self._restart(visit)

    async def _takes_connections(self, target: HttpTarget) -> bool:
        """Whether the server accepts new connections: existing ones may work although it does not."""
        if target.proxy:
            return True
        url = parse_url(target.url)
        try:
            async with asyncio.timeout(self._selection.limits.request):
                _, writer = await asyncio.open_connection(url.host, url.port)
        except (OSError, TimeoutError):
            return False
        writer.close()
        return True

    async def _restart(self, visit: Visit) -> str:
        """Restart a crashed server. Returns why that failed, or an empty text."""
        if not visit.shared.may_restart():
            return f"the server exited {MAX_RESTARTS} times"
        try:
            async with asyncio.timeout(_RESTART_SECONDS):
                await visit.session.reopen()
        except (TimeoutError, InspectorError) as error:
            return f"the server could not be restarted: {error}"
        return ""
