"""The judge's findings in a recording as results of checks, for each revision that it uses.

A check without a fault passes only if its subject was observed. A finding outweighs the outcome of the check's own
probe: no check passes if the same recording shows a violation. The outcomes of probes are in the recording of the run
that sent them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from inspector.check.check_table import Check, TransportName
from inspector.check.judge.judge import Judge
from inspector.check.judge.observations import Observations
from inspector.check.outcome import Outcome, Skip, Visited, bad, doubtful, good, remark, skipped
from inspector.check.result import OBSERVED, Result
from inspector.journal import channels
from inspector.journal.findings import Finding, Findings
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.members import array_at, objects_at, value_at
from inspector.protocol.names import VERSION_KEY
from inspector.protocol.revisions import REVISIONS
from inspector.text import quantity

_WORDS = {
    "told": "",
    "asked": "request ",
    "input": "input_required result",
    "structured": "structured content",
    "media": "image or audio",
    "annotations": "content with annotations",
    "result": "result of ",
    "error": "error of ",
}
"""Names of the kinds of observations in a sentence."""
_MADE = {"good": good, "bad": bad, "doubtful": doubtful, "remark": remark}
_AT_ONCE = 100
"""Events that are read at once."""
MAX_EVIDENCE = 10
"""Events that are listed as evidence of one fault."""
MAX_OTHERS = 3
"""Other faults that are named with the worst one."""
COUNTS_AS = {"C-BASE-02": "BASE-01", "C-LIFE-07": "RES-01", "C-PAG-03": "UTIL-02", "C-TASK-02": "TASK-05"}
"""The check for findings whose rule has no check of its own."""
_BEGINS = ("reopen", "session-lost")


@dataclass(slots=True)
class RevisionSpan:
    """The events of one connection while it uses one revision."""

    first: int
    revision: str = ""
    """Empty if none was negotiated."""
    last: int = 0
    observations: Observations = field(default_factory=Observations)
    findings: list[Finding] = field(default_factory=list)
    has_messages: bool = False
    """Count a message."""
    channels: set[str] = field(default_factory=set)
    visit: str = ""
    """The revision of the visit whose check opened the connection; empty for any other connection."""

    @property
    def transport(self) -> TransportName:
        """The transport of its messages."""
        return channels.transport_of(self.channels)

    def learn(self, journal: Journal, event: Event) -> None:
        """Read the revision from a message, if it shows one."""
        index, n, message = journal.index, event.n, event.message
        self.has_messages = True
        self.channels.add(channels.family(event.ch))
        shape, method = index.shape(n), index.method(n)
        if shape == Shape.RESULT and method == "initialize":
            self.revision = str(value_at(message, "result", "protocolVersion") or "")
        elif not self.revision and shape == Shape.REQUEST and event.dir == Dir.SEND and method != "server/discover":
            named = value_at(message, "params", "_meta", VERSION_KEY)
            self.revision = named if isinstance(named, str) else ""


def record_outcomes(journal: Journal, results: Iterable[Result]) -> None:
    """Write into a recording what the probes found that are in it, as one event."""
    rows = [
        {
            "id": result.check.id,
            "revision": result.visited.revision,
            "transport": result.visited.transport,
            "seen": result.outcome.seen,
            "text": result.outcome.text,
            "evidence": list(result.outcome.evidence),
        }
        for result in results
        if result.check.probe is not None and result.outcome.seen != "nothing"
    ]
    if rows:
        journal.record_note(f"outcomes of {quantity(len(rows), 'check')}", outcomes=rows)


def _recorded(rows: Any) -> Iterator[tuple[tuple[Any, ...], Outcome]]:
    """Yield the outcomes in a recording with their check, revision and transport; ignore those of another shape."""
    for row in objects_at(rows):
        seen = row.get("seen")
        make = _MADE.get(seen) if isinstance(seen, str) else None
        key = tuple(row.get(name) for name in ("id", "revision", "transport"))
        if make is not None and all(type(part) is str for part in key):
            text = row.get("text")
            evidence = [n for n in array_at(row.get("evidence"))[:MAX_EVIDENCE] if type(n) is int and n > 0]
            yield key, make(text if type(text) is str else "", *evidence)


class JudgedRecording:
    """Everything that a recording shows, judged once, event by event, as it grows."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._findings = Findings()
        self._judge = Judge(journal, self._findings, thorough=True)
        self._parts: list[RevisionSpan] = []
        self._now: dict[int, int] = {}
        """By connection, the index in `_parts` of its open part."""
        self._part_of: list[int] = [0]
        """By event, the index in `_parts` of its part."""
        self._outcomes: dict[tuple[Any, ...], Outcome] = {}
        """By check, revision and transport, what a probe found that is in the recording."""
        self._work: Iterator[None] = iter(())
        self._works_to_end = False
        self.stopped = ""
        """Why the rest is not judged."""

    def judge(self, seconds: float = math.inf, *, to_end: bool = True) -> bool:
        """Judge the events since the last time, for about so many seconds. Returns whether all of them are judged.

        With `to_end`, also what is certain only at the end, and the findings are those of the parts. A judge that was
        interrupted goes on where it was.
        """
        until = monotonic() + seconds
        while not self.stopped:
            for _ in self._work:
                if monotonic() >= until:
                    return False
            if self._works_to_end >= to_end and len(self._part_of) > len(self.journal):
                break
            self._work, self._works_to_end = self._steps(to_end), to_end
        self._works_to_end = False
        return True

    def stop(self, reason: str) -> None:
        """Judge no more: checks without a finding are skipped for this reason."""
        self.stopped, self._work = reason, iter(())
        self._read_to(self._judge.judged)
        self._share()

    def _steps(self, to_end: bool) -> Iterator[None]:
        while len(self._part_of) <= len(self.journal):
            last = min(len(self.journal), len(self._part_of) + _AT_ONCE - 1)
            yield from self._judge.steps(last)
            self._read_to(last)
        if to_end:
            yield from self._judge.end()
            self._share()

    def _share(self) -> None:
        """Give the findings to the parts."""
        for part in self._parts:
            part.findings = []
        for finding in _once((*self._findings.all(), *self.journal.findings.all())):
            if 0 < finding.n < len(self._part_of):
                self._parts[self._part_of[finding.n]].findings.append(finding)

    def _read_to(self, last: int) -> None:
        first = len(self._part_of)
        for event in self.journal.events(first, last) if first <= last else ():
            self._read(event)

    def _read(self, event: Event) -> None:
        conn = self.journal.index.conn(event.n)
        at = self._now.get(conn)
        begins = event.kind == Kind.LIFE and event.fields.get("event") in _BEGINS
        if at is None or (begins and self._parts[at].has_messages):
            at = self._now[conn] = len(self._parts)
            made_for = event.fields.get("visit") if event.kind == Kind.LIFE else None
            self._parts.append(RevisionSpan(event.n, visit=made_for if isinstance(made_for, str) else ""))
        part = self._parts[at]
        part.last = event.n
        self._part_of.append(at)
        if event.kind == Kind.NOTE and "outcomes" in event.fields:
            self._outcomes.update(_recorded(event.fields["outcomes"]))
        if event.kind == Kind.RPC:
            part.learn(self.journal, event)
        if not self._judge.was_provoked(event.n):
            part.observations.count(event, self.journal.index.method(event.n))

    def visits(self) -> list[Visited]:
        """The revisions of the recording, with their transports, as visits."""
        visits: dict[tuple[str, TransportName], Visited] = {}
        named = {part.revision for part in self._parts if not part.visit}
        for part in self._parts:
            if part.visit and part.revision in named:
                continue  # A connection of one check; it may overlap with the next visit.
            key = part.revision, part.transport
            if part.revision in REVISIONS:
                known = visits.get(key)
                visits[key] = Visited(*key, part.first if known is None else known.first, part.last)
        return list(visits.values())

    def of_visit(self, visited: Visited, visits: Sequence[Visited]) -> VisitEvents:
        """The part of the recording that belongs to one of several visits."""
        events = VisitEvents(self.stopped)
        for part in self._parts:
            if _visit_of(part, visits) is visited:
                events.observations.counts.update(part.observations.counts)
                for finding in part.findings:
                    events.findings.setdefault(COUNTS_AS.get(finding.rule, finding.rule), []).append(finding)
        events.outcomes = {
            id: outcome
            for (id, revision, transport), outcome in self._outcomes.items()
            if (revision, transport) == (visited.revision, visited.transport)
        }
        return events


class VisitEvents:
    """The events of one visit, from its recording."""

    def __init__(self, unjudged: str = "") -> None:
        """`unjudged`: why some of them were not judged."""
        self._unjudged = unjudged
        self.findings: dict[str, list[Finding]] = {}
        """By the id of the check to which they count."""
        self.observations = Observations()
        self.outcomes: dict[str, Outcome] = {}
        """By check, what its probe found."""

    def outcome(self, check: Check) -> Outcome:
        """The outcome of a check from its messages, or that of its probe if it is worse."""
        outcome = self._of_messages(check)
        probed = self.outcomes.get(check.id) if check.probe is not None else None
        return outcome if probed is None else min(probed, outcome, key=lambda one: OBSERVED.index(one.seen))

    def _of_messages(self, check: Check) -> Outcome:
        findings = self.findings.get(check.id, [])
        if check.probe is not None:
            findings = [finding for finding in findings if finding.level != "note"]
        if findings:
            return _fault(check, findings)
        if self._unjudged:
            return skipped(self._unjudged)
        seen = self.observations.any(check.observations)
        if seen:
            return good(f"{seen:,} checked")
        if check.probe is not None and not check.observations:
            return skipped(Skip.RECORDING)
        nothing = _nothing(check.observations[0]) if check.observations else ""
        return skipped(nothing) if check.probe is None else skipped(Skip.NOT_SHOWN, nothing)

    def veto(self, result: Result) -> Result:
        """The outcome of a probe, or of the findings if that is worse."""
        findings = [finding for finding in self.findings.get(result.check.id, []) if finding.level != "note"]
        if not findings:
            return result
        vetoed = replace(result, outcome=_fault(result.check, findings))
        return vetoed if vetoed.is_worse_than(result) else result


def judged(journal: Journal, checks: Sequence[Check], visited: Visited) -> Iterator[Result]:
    """The results of checks over a whole recording, as for one visit."""
    evidence = JudgedRecording(journal)
    evidence.judge()
    events = evidence.of_visit(visited, (visited,))
    yield from (Result(check, visited, events.outcome(check)) for check in checks)


def _visit_of(part: RevisionSpan, visits: Sequence[Visited]) -> Visited | None:
    """The visit of a part: with its revision, or that opened or contains it, or the first."""
    named = [visited for visited in visits if visited.revision == part.revision]
    for visited in named:
        if visited.transport == part.transport:
            return visited
    made_for = (visited for visited in visits if visited.revision == part.visit)
    around = (visited for visited in visits if visited.first <= part.first <= (visited.last or part.first))
    return next(iter(named), None) or next(made_for, None) or next(around, None) or next(iter(visits), None)


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings without duplicates: the recording may already contain those of the judge."""
    seen: set[tuple[int, str, str]] = set()
    for finding in findings:
        key = finding.n, finding.rule, finding.message
        if key not in seen:
            seen.add(key)
            yield finding


def _nothing(observation: str) -> str:
    """Why a check cannot pass: nothing of a kind was observed."""
    kind, _, method = observation.partition(":")
    return f"no {_WORDS.get(kind, f'{kind} ')}{method}".rstrip() + " was seen"


def _fault(check: Check, findings: list[Finding]) -> Outcome:
    worst = min(findings, key=lambda finding: ("must", "should", "note").index(finding.level))
    _, *others = dict.fromkeys((worst.message, *(finding.message for finding in findings)))
    more = "".join(f" Also: {message}" for message in others[:MAX_OTHERS])
    if len(others) > MAX_OTHERS:
        more += f" The messages show {quantity(len(others) - MAX_OTHERS, 'other fault')} of this kind."
    evidence = tuple(dict.fromkeys(finding.n for finding in findings))[:MAX_EVIDENCE]
    milder = worst.level == "should" and check.level in ("must", "type")
    make = remark if worst.level == "note" else doubtful if milder else bad
    return make(f"{worst.message}{more}", *evidence)
