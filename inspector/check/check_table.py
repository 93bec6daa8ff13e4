"""The catalog of checks. Each part of the protocol has a file of rules in `checks/`, and its code beside it.

A row has the rule, a fix, and a class, which decides the verdict (`result.FAULT_VERDICTS`). Ids, levels and classes are
those of the check list in docs/reference/checks.md.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Awaitable, Callable
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

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


_FOLDER = Path(__file__).with_name("checks")
_REVISIONS = re.compile(r"r[1-9](\+|-r[1-9])?")
_SHARED = ("group", "page", "transports", "check_class", "draft")
"""The members of a file of rules that are defaults for its rows."""


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
    transports: frozenset[TransportName] = frozenset(get_args(TransportName))
    observations: tuple[str, ...] = ()
    """Observations (any of these, see `observations.py`) without which a missing finding means nothing.

    For a check with a probe, these let a recording pass it; if empty, a recording can only show a fault.
    """
    draft: str = ""
    """The extension of a draft: the check runs if the client offers it, or if it is named."""
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
    """The checks of one part of the protocol, by id, in the order of the file with their rules."""

    def __init__(self, rules: str | Path, *, mode: CheckMode = "active", needs: Need = Need.SESSION) -> None:
        """Read the rules from `checks/NAME.toml`, or the file of a feature.

        The judge decides those for which no probe is added.
        """
        file = rules if isinstance(rules, Path) else _FOLDER / f"{rules}.toml"
        content = tomllib.loads(file.read_text(encoding="utf-8"))
        self._mode = mode
        self._needs = needs
        shared = {name: content.pop(name) for name in _SHARED if name in content}
        self.rows = {id: _row(id, shared | facts) for id, facts in content.items()}

    def active(
        self,
        id: str,
        *,
        mode: CheckMode | None = None,
        apart: bool = False,
        once: bool = False,
        judged: bool = False,
        surveys: bool = False,
        stage: Stage = Stage.SHARED,
        needs: Need | None = None,
    ) -> Callable[[Probe], Probe]:
        """Let the decorated function perform a check."""
        least = Need.NOTHING if apart or surveys else Need.SESSION

        def entered(probe: Probe) -> Probe:
            assert self.rows[id].probe is None, id
            self.rows[id] = self.rows[id]._replace(
                mode=mode or self._mode,
                probe=probe,
                apart=apart,
                once=once,
                judged=judged,
                surveys=surveys,
                stage=stage,
                needs=max(self._needs if needs is None else needs, least),
            )
            return probe

        return entered


def _row(id: str, facts: dict[str, Any]) -> Check:
    """A check without a probe. `facts`: the members of `Check` that its file has."""
    levels = get_args(CheckLevel)
    missing = [name for name in ("level", "revisions", "says", "fix", "page", "group") if name not in facts]
    if missing:
        raise ValueError(f"{id} has no {missing[0]}")
    if facts["level"] not in levels:
        raise ValueError(f"level of {id} is {facts['level']!r}, not one of {', '.join(levels)}")
    if not _REVISIONS.fullmatch(facts["revisions"]):
        raise ValueError(f"revisions of {id} are {facts['revisions']!r}, not such as r1+, r1-r4 or r5")
    facts["revisions"] = revisions_of(facts["revisions"])
    facts["observations"] = tuple(facts.get("observations", ()))
    if "transports" in facts:
        facts["transports"] = frozenset(facts["transports"])
    row = Check(id, mode="passive", **facts)
    return row if "check_class" in facts else row._replace(check_class=_class_of(row))


def _class_of(row: Check) -> CheckClass:
    if row.breaks:
        return "breaks"
    return "advice" if row.is_withdrawn else _CLASSES.get(row.level, "advice")
