"""The catalog of checks: one row per check, next to its code. Each module of `checks/` has a table of them.

A row has the rule, a fix, and a class, which decides the verdict (`result.FAULT_VERDICTS`). Ids, levels and classes are
those of the check list in docs/reference/checks.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import IntEnum
from typing import TYPE_CHECKING, Literal, NamedTuple, cast, get_args

from inspector.protocol.revisions import MODERN, NEWEST_LEGACY, REVISIONS

if TYPE_CHECKING:
    from inspector.check.outcome import Outcome
    from inspector.check.visit.visit import Visit

CheckLevel = Literal["must", "should", "type", "robust", "lint", "security", "quality", "info"]
"""`must` and `type` (the schema) are requirements of the specification, `should` its advice; the others are experience.
"""
CheckClass = Literal["breaks", "rule", "advice"]
"""`breaks`: a client that exists fails, data is lost or altered, or someone gets what they may not have. `rule`: a
requirement of the specification, or of security, that no known client depends on. `advice`: the rest.
"""
_CLASSES: dict[CheckLevel, CheckClass] = {"must": "rule", "type": "rule", "security": "rule"}
CheckMode = Literal["passive", "active", "tool", "auth", "intrusive"]
"""What a check needs: only recorded messages; harmless requests; tool calls; a login; harmful or slow requests."""
TransportName = Literal["stdio", "http", "sse"]
Probe = Callable[["Visit"], Awaitable["Outcome"]]


class Stage(IntEnum):
    """When a check with connections of its own runs over stdio, so that many checks share one process."""

    SHARED = 0
    """On the process of the session."""
    LEAVING = 1
    """As the last one there, and then on a new process before its handshake."""
    UNOPENED = 2
    """On a new process before its handshake."""
    OPENING = 3
    """It sends the first handshake to that process."""
    OPENED = 4
    """It judges that handshake, or what follows it."""
    SPOILING = 5
    """On that process afterwards, or on one of its own: it may leave the process in any state."""
    ENDING = 6
    """It ends a process."""


class Need(IntEnum):
    """The preparation that a check needs. Each includes the ones before it."""

    NOTHING = 0
    SESSION = 1
    """The shared session was open, and its lists are read."""
    CALLS = 2
    """Each allowed tool was called, see `visit.tool_calls`."""


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
    check_class: CheckClass = "advice"
    breaks: str = ""
    """The evidence of the class `breaks`: which client fails, and how. A sentence."""
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
    """It judges the response to each revision: the run offers all of them before this check."""
    stage: Stage = Stage.SHARED
    """Its place among the checks with `apart`."""
    needs: Need = Need.NOTHING

    @property
    def is_withdrawn(self) -> bool:
        """Whether only revisions have this requirement that a later one of their era replaced."""
        return self.level in _CLASSES and NEWEST_LEGACY not in self.revisions and self.revisions.isdisjoint(MODERN)

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
        rules: bool = False,
        needs: Need = Need.SESSION,
    ) -> None:
        """With `rules`, every check of the table is at least of the class `rule`, except those of the level `info`."""
        self.rows: dict[str, Check] = {}
        self._group = group
        self._page = page
        self._transports = transports
        self._mode = mode
        self._rules = rules
        self._needs = needs

    def passive(
        self,
        head: str,
        *observations: str,
        says: str,
        fix: str,
        breaks: str = "",
        check_class: CheckClass | None = None,
        page: str = "",
        transports: frozenset[TransportName] | None = None,
    ) -> None:
        """Add a check whose faults the judge finds under the same id. `head`: id, level, revisions."""
        row = self._row(head, "passive", says, fix, breaks, page, transports)
        self._enter(row._replace(observations=observations, check_class=check_class or row.check_class))

    def active(
        self,
        head: str,
        *,
        says: str,
        fix: str,
        breaks: str = "",
        page: str = "",
        transports: frozenset[TransportName] | None = None,
        mode: CheckMode | None = None,
        apart: bool = False,
        once: bool = False,
        judged: bool = False,
        surveys: bool = False,
        stage: Stage = Stage.SHARED,
        needs: Need | None = None,
        shown: tuple[str, ...] = (),
    ) -> Callable[[Probe], Probe]:
        """Add a check that the decorated function performs. `shown`: observations that let a recording decide it."""

        row = self._row(head, mode or self._mode, says, fix, breaks, page, transports)
        row = row._replace(observations=shown, apart=apart, once=once, judged=judged, surveys=surveys, stage=stage)
        least = Need.NOTHING if apart or surveys else Need.SESSION
        row = row._replace(needs=max(self._needs if needs is None else needs, least))

        def entered(probe: Probe) -> Probe:
            self._enter(row._replace(probe=probe))
            return probe

        return entered

    def _row(
        self,
        head: str,
        mode: CheckMode,
        says: str,
        fix: str,
        breaks: str,
        page: str,
        transports: frozenset[TransportName] | None,
    ) -> Check:
        id, name, revisions = head.split()
        page = page or self._page
        assert name in get_args(CheckLevel), head
        assert page, head
        level = cast(CheckLevel, name)
        where = self._transports if transports is None else transports
        row = Check(
            id, level, revisions_of(revisions), mode, says, fix, page, self._group, breaks=breaks, transports=where
        )
        return row._replace(check_class=self._class_of(row))

    def _class_of(self, row: Check) -> CheckClass:
        if row.breaks:
            return "breaks"
        if row.is_withdrawn:
            return "advice"
        return "rule" if self._rules and row.level != "info" else _CLASSES.get(row.level, "advice")

    def _enter(self, check: Check) -> None:
        assert check.id not in self.rows, check.id
        self.rows[check.id] = check
