"""The group *hosts*: limits of the programs that pass a server's tools to a model, as notes.

The facts are data (`inspector.hosts`), and each is a check of its own. They are not in `registry.checks`, because a run
evaluates them only for hosts that the user chose. They read what the server sent in the recording of the run.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from typing import Any

from inspector.check.check_table import Check, revisions_of
from inspector.check.outcome import Visited, good, remark, skipped
from inspector.check.result import Result
from inspector.hosts import EvaluatedResult, Fact, HostNote, ServerDefinitions, evaluate, host_facts
from inspector.hosts.evaluation import criteria_of
from inspector.hosts.recorded import results_in
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.members import array_at, object_at, value_at
from inspector.protocol.names import SERVER_KEY

GROUP = "hosts"
MAX_TOOLS = 5_000
"""Tools of one server that are evaluated."""
_SHOWN = 3
"""Tools named in one note."""
_LISTS = Query(kind=Kind.RPC, dir=Dir.RECV, shape=Shape.RESULT, method=("tools/list",))
_HANDSHAKES = Query(kind=Kind.RPC, dir=Dir.RECV, shape=Shape.RESULT, method=("initialize", "server/discover"))


def host_checks(facts: Iterable[Fact]) -> dict[str, Check]:
    """Return a check for each fact that can be evaluated, by id, in the order of the hosts."""
    labels = host_facts().labels
    return {
        fact.id: Check(
            fact.id,
            "info",
            revisions_of("r1+"),
            "passive",
            f"{labels[fact.host]}: {_first(fact.what)}",
            fact.remedy,
            f"{fact.origin} ({_dated(fact)})",
            GROUP,
            once=True,
        )
        for fact in facts
        if criteria_of(fact)
    }


def host_results(
    journal: Journal, visits: Sequence[Visited], facts: Sequence[Fact], name: str = ""
) -> Iterable[Result]:
    """Yield a result for each fact, on the newest visit that shows the server's tools.

    `name` is the name of the server in the user's config; the default is the server's own.
    """
    if not facts or not visits:
        return
    visited, tools, events = next(
        (listing for visit in visits if (listing := _tools(journal, visit))[1]), (visits[0], {}, {})
    )
    own, instructions, opened = _handshake(journal, visited)
    results: tuple[EvaluatedResult, ...] = results_in(journal)
    server = ServerDefinitions.of(name or own, tools.values(), instructions, results)
    checks = host_checks(facts)
    notes: dict[str, list[HostNote]] = {}
    for note in evaluate(server, facts):
        notes.setdefault(note.fact.id, []).append(note)
    for fact in facts:
        if fact.id in checks:
            yield _result(checks[fact.id], visited, notes.get(fact.id, []), events, opened)


def _result(check: Check, visited: Visited, notes: list[HostNote], events: dict[str, int], opened: int) -> Result:
    if not notes:
        return Result(check, visited, skipped("the server has nothing of that kind"))
    faults = [note for note in notes if not note.ok]
    texts = [f"{note.subject}: {note.actual}" for note in faults[:_SHOWN]]
    more = f"; {len(faults) - _SHOWN:,} more" if len(faults) > _SHOWN else ""
    seen = (events.get(note.tool, opened) for note in (faults or notes)[:10])
    evidence = [n for n in dict.fromkeys(seen) if n]
    if not faults:
        return Result(check, visited, good(f"{notes[0].actual} ({notes[0].limit})", *evidence))
    fact = notes[0].fact
    text = f"{'; '.join(texts)}{more}. The limit is {faults[0].limit}, the effect is “{fact.effect}”."
    return Result(check, visited, remark(text, *evidence))


def _first(text: str) -> str:
    """Return the first sentence."""
    return re.split(r"(?<=[.)]) (?=[A-Z`(])", text, maxsplit=1)[0]


def _dated(fact: Fact) -> str:
    confidence = "" if fact.confidence == "high" else f"confidence {fact.confidence}"
    return ", ".join(filter(None, (fact.date, fact.age(datetime.date.today()), confidence)))


def _tools(journal: Journal, visit: Visited) -> tuple[Visited, dict[str, dict[str, Any]], dict[str, int]]:
    """The tools that the server listed in a visit, and the event of each."""
    tools: dict[str, dict[str, Any]] = {}
    events: dict[str, int] = {}
    for n in _LISTS.numbers(journal.index, after=max(visit.first - 1, 0), upto=visit.last or len(journal)):
        for entry in array_at(_body(journal, n).get("tools")):
            name = value_at(entry, "name")
            if type(name) is str and (name in tools or len(tools) < MAX_TOOLS):
                tools[name], events[name] = entry, n
    return visit, tools, events


def _handshake(journal: Journal, visit: Visited) -> tuple[str, Any, int]:
    """The name and instructions of the server, and the event that has them."""
    last = visit.last or len(journal)
    for n in (*reversed(_HANDSHAKES.numbers(journal.index, upto=last)),):
        result = _body(journal, n)
        name = value_at(result.get("serverInfo") or value_at(result, "_meta", SERVER_KEY), "name")
        return (name if type(name) is str else ""), result.get("instructions"), n
    return "", "", 0


def _body(journal: Journal, n: int) -> dict[str, Any]:
    return object_at(journal.event(n).message, "result")
