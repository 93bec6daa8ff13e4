"""The catalog of checks: one row per check, next to its code. Each module of `checks/` has a table of them.

A row has the rule and a fix. Its level decides whether and how badly a server is at fault. Ids and levels are those of
the check list in docs/reference/checks.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal, NamedTuple, cast, get_args

from inspector.protocol.revisions import REVISIONS

if TYPE_CHECKING:
    from inspector.check.outcome import Outcome
    from inspector.check.visit.visit import Visit

CheckLevel = Literal["must", "should", "type", "robust", "lint", "security", "quality", "info"]
"""`must` and `type` (the schema) are requirements of the specification, `should` its advice; the others are experience.
"""
CheckMode = Literal["passive", "active", "tool", "auth", "intrusive"]
"""What a check needs: only recorded messages; harmless requests; tool calls; a login; harmful or slow requests."""
TransportName = Literal["stdio", "http", "sse"]
Probe = Callable[["Visit"], Awaitable["Outcome"]]

EVERYWHERE: frozenset[TransportName] = frozenset(("stdio", "http", "sse"))


class Check(NamedTuple):
    """One check."""

    id: str
    level: CheckLevel
    revisions: frozenset[str]
    mode: CheckMode
    says: str
    """The rule, as a sentence about a correct server."""
    fix: str
    """The fix: what to change in the server."""
    page: str
    """The page of the specification without its revision: `basic/transports#stdio`; or the name of another document.
    """
    group: str
    transports: frozenset[TransportName] = EVERYWHERE
    observations: tuple[str, ...] = ()
    """Observations (any of these, see `observations.py`) without which a missing finding means nothing.

    For a check with a probe, these let a recording pass it; if empty, a recording can only show a fault.
    """
    probe: Probe | None = None
    """The function that asks the server; None if the judge decides the check."""
    apart: bool = False
    """It needs its own connections, and runs after the checks that use the shared one."""
    once: bool = False
    """It concerns the server, not a revision: it runs in one visit only."""
    judged: bool = False
    """The judge also reports faults under its id."""
    surveys: bool = False
    """It judges the response to each revision, so the run offers all of them."""

    @property
    def watches(self) -> bool:
        """Whether it needs the messages of the warm-up, because the judge decides part of it."""
        return self.probe is None or self.judged or bool(self.observations)


def revisions_of(text: str) -> frozenset[str]:
    """The revisions of `r2+`, `r1-r4` or `r5`, counted from the oldest."""
    first, _, last = text.partition("-")
    begin = int(first.strip("r+"))
    end = int(last.strip("r")) if last else len(REVISIONS) if text.endswith("+") else begin
    return frozenset(REVISIONS[begin - 1 : end])


class CheckTable:
    """The checks of one module, by id. The keywords are defaults for its rows."""

    def __init__(
        self,
        group: str,
        *,
        page: str = "",
        transports: frozenset[TransportName] = EVERYWHERE,
        mode: CheckMode = "active",
    ) -> None:
        self.rows: dict[str, Check] = {}
        self._group = group
        self._page = page
        self._transports = transports
        self._mode = mode

    def passive(
        self,
        head: str,
        *observations: str,
        says: str,
        fix: str,
        page: str = "",
        transports: frozenset[TransportName] | None = None,
    ) -> None:
        """Add a check whose faults the judge finds under the same id. `head`: id, level, revisions."""
        self._enter(self._row(head, "passive", says, fix, page, transports)._replace(observations=observations))

    def active(
        self,
        head: str,
        *,
        says: str,
        fix: str,
        page: str = "",
        transports: frozenset[TransportName] | None = None,
        mode: CheckMode | None = None,
        apart: bool = False,
        once: bool = False,
        judged: bool = False,
        surveys: bool = False,
        shown: tuple[str, ...] = (),
    ) -> Callable[[Probe], Probe]:
        """Add a check that the decorated function performs. `shown`: observations that let a recording decide it."""

        row = self._row(head, mode or self._mode, says, fix, page, transports)
        row = row._replace(observations=shown, apart=apart, once=once, judged=judged, surveys=surveys)

        def entered(probe: Probe) -> Probe:
            self._enter(row._replace(probe=probe))
            return probe

        return entered

    def _row(
        self, head: str, mode: CheckMode, says: str, fix: str, page: str, transports: frozenset[TransportName] | None
    ) -> Check:
        id, level, revisions = head.split()
        page = page or self._page
        assert level in get_args(CheckLevel), head
        assert page, head
        where = self._transports if transports is None else transports
        return Check(id, cast(CheckLevel, level), revisions_of(revisions), mode, says, fix, page, self._group, where)

    def _enter(self, check: Check) -> None:
        assert check.id not in self.rows, check.id
        self.rows[check.id] = check
