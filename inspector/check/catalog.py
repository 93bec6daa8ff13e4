"""What can be checked: one row per check, beside the code that does it. Each module of `checks/` has a table of them.

A row says what a good server does and what to change where one does not; whether a server is at fault, and how badly,
follows from the row's level. Ids and levels are those of the check list in docs/reference/checks.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal, NamedTuple, cast, get_args

from inspector.protocol.revisions import REVISIONS

if TYPE_CHECKING:
    from inspector.check.outcome import Outcome
    from inspector.check.visit import Visit

Level = Literal["must", "should", "type", "robust", "lint", "security", "quality", "info"]
"""`must` and `type` (the schema) are the specification's demands, `should` its advice; the others are experience."""
Mode = Literal["passive", "active", "tool", "auth", "intrusive"]
"""What it takes: what passes by anyway; harmless requests; calls of tools; a login; what may do damage or take long."""
Transport = Literal["stdio", "http", "sse"]
Probe = Callable[["Visit"], Awaitable["Outcome"]]

EVERYWHERE: frozenset[Transport] = frozenset(("stdio", "http", "sse"))


class Check(NamedTuple):
    """One check."""

    id: str
    level: Level
    revisions: frozenset[str]
    mode: Mode
    says: str
    """What a good server does, as a sentence."""
    fix: str
    """What to change in a server that does not."""
    page: str
    """The page of the specification, without its revision: `basic/transports#stdio`; or another document's name."""
    group: str
    transports: frozenset[Transport] = EVERYWHERE
    observations: tuple[str, ...] = ()
    """What must have been seen (any of these, see `observations.py`) for the absence of findings to mean anything. Of a
    check with a probe: what lets a recording decide it; empty where a recording can only show its fault.
    """
    probe: Probe | None = None
    """What asks the server; None: the judge sees it."""
    apart: bool = False
    """It needs connections of its own, and comes after what the shared one is needed for."""
    once: bool = False
    """It is about the server and not about a revision: one visit is enough."""
    judged: bool = False
    """The judge finds faults under its id as well, in whatever passes."""
    surveys: bool = False
    """It judges what the server answers to each revision, so all of them are offered."""

    @property
    def watches(self) -> bool:
        """Whether it needs the messages of the warm-up, because the judge has a part in it."""
        return self.probe is None or self.judged or bool(self.observations)


def revisions_of(text: str) -> frozenset[str]:
    """The revisions that `r2+`, `r1-r4` or `r5` mean, counted from the oldest."""
    first, _, last = text.partition("-")
    begin = int(first.strip("r+"))
    end = int(last.strip("r")) if last else len(REVISIONS) if text.endswith("+") else begin
    return frozenset(REVISIONS[begin - 1 : end])


class CheckTable:
    """The checks of one module, by id. The keywords are what the rows have unless they say otherwise."""

    def __init__(
        self, group: str, *, page: str = "", transports: frozenset[Transport] = EVERYWHERE, mode: Mode = "active"
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
        transports: frozenset[Transport] | None = None,
    ) -> None:
        """Enter a check whose faults the judge finds, under the same id. `head`: id, level, revisions."""
        self._enter(self._row(head, "passive", says, fix, page, transports)._replace(observations=observations))

    def active(
        self,
        head: str,
        *,
        says: str,
        fix: str,
        page: str = "",
        transports: frozenset[Transport] | None = None,
        mode: Mode | None = None,
        apart: bool = False,
        once: bool = False,
        judged: bool = False,
        surveys: bool = False,
        shown: tuple[str, ...] = (),
    ) -> Callable[[Probe], Probe]:
        """Enter a check that the decorated function does. `shown`: what a recording must show to decide it."""

        row = self._row(head, mode or self._mode, says, fix, page, transports)
        row = row._replace(observations=shown, apart=apart, once=once, judged=judged, surveys=surveys)

        def entered(probe: Probe) -> Probe:
            self._enter(row._replace(probe=probe))
            return probe

        return entered

    def _row(
        self, head: str, mode: Mode, says: str, fix: str, page: str, transports: frozenset[Transport] | None
    ) -> Check:
        id, level, revisions = head.split()
        page = page or self._page
        assert level in get_args(Level), head
        assert page, head
        where = self._transports if transports is None else transports
        return Check(id, cast(Level, level), revisions_of(revisions), mode, says, fix, page, self._group, where)

    def _enter(self, check: Check) -> None:
        assert check.id not in self.rows, check.id
        self.rows[check.id] = check
