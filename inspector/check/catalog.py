"""What can be checked: one row per check, beside the code that does it. The modules of `checks/` fill the catalogue.

A row says what a good server does and what to change where one does not; whether a server is at fault, and how badly,
follows from the row's level. Ids and levels are those of the check list in docs/check.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Literal, NamedTuple

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
    subjects: tuple[str, ...] = ()
    """What must have been seen (any of these, see `subjects`) for the absence of findings to mean anything. Of a check
    with a probe: what lets a recording decide it; empty where a recording can only show its fault.
    """
    probe: Probe | None = None
    """What asks the server; None: the judge sees it."""
    apart: bool = False
    """It needs connections of its own, and comes after what the shared one is needed for."""
    once: bool = False
    """It is about the server and not about a revision: one visit is enough."""


_checks: dict[str, Check] = {}


def checks() -> dict[str, Check]:
    """Every check by its id, in the order of the groups."""
    import inspector.check.checks  # noqa: F401 - its modules enter them, all in one go and in the same order

    return _checks


def unknown(names: Iterable[str]) -> list[str]:
    """Which of these names are of no check and no group, in order."""
    known = {name for check in checks().values() for name in (check.id, check.group)}
    return sorted(set(names) - known)


def revisions_of(text: str) -> frozenset[str]:
    """The revisions that `r2+`, `r1-r4` or `r5` mean, counted from the oldest."""
    first, _, last = text.partition("-")
    begin = int(first.strip("r+"))
    end = int(last.strip("r")) if last else len(REVISIONS) if text.endswith("+") else begin
    return frozenset(REVISIONS[begin - 1 : end])


def passive(
    id: str, level: Level, revisions: str, *subjects: str, says: str, fix: str, page: str, group: str,
    transports: frozenset[Transport] = EVERYWHERE,
) -> None:  # fmt: skip
    """Enter a check whose faults the judge finds, under the same id."""
    _enter(Check(id, level, revisions_of(revisions), "passive", says, fix, page, group, transports, subjects))


def active(
    id: str, level: Level, revisions: str, *, says: str, fix: str, page: str, group: str, mode: Mode = "active",
    transports: frozenset[Transport] = EVERYWHERE, apart: bool = False, once: bool = False,
    shown: tuple[str, ...] = (),
) -> Callable[[Probe], Probe]:  # fmt: skip
    """Enter a check that the decorated function does. `shown`: what a recording must show to decide it."""

    def entered(probe: Probe) -> Probe:
        known = revisions_of(revisions)
        _enter(Check(id, level, known, mode, says, fix, page, group, transports, shown, probe, apart, once))
        return probe

    return entered


def _enter(check: Check) -> None:
    assert check.id not in _checks, check.id
    _checks[check.id] = check
