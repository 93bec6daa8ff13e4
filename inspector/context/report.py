"""Everything that `inspector context` says about a server, as data for the command line and the interface."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any, NamedTuple

from inspector.context.cost import ServerCost
from inspector.context.growth import CostGrowth
from inspector.context.results import ResultCost, result_cost
from inspector.context.sharing import DefsSaving, RepeatedText, repeated, savings
from inspector.hosts import EvaluatedResult, Fact, HostNote, ServerDefinitions, evaluate, host_facts
from inspector.protocol.jsonrpc import compact_json


class HostLoad(NamedTuple):
    """The characters that one host passes to a model: with its names, and the parts that it passes on."""

    host: str
    parts: tuple[str, ...]
    characters: int
    tokens: int
    at_start: int
    """Characters that are there before the model looks for tools."""
    at_start_tokens: int

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "host": self.host,
            "parts": list(self.parts),
            "characters": self.characters,
            "tokens": self.tokens,
            "at_start": {"characters": self.at_start, "tokens": self.at_start_tokens},
        }


@dataclass(frozen=True)
class ContextReport:
    """The cost of a server, and what hosts make of it."""

    server: str
    """The name that hosts know it by."""
    cost: ServerCost
    savings: list[DefsSaving]
    repeated: list[RepeatedText]
    notes: list[HostNote]
    loads: list[HostLoad]
    results: dict[str, ResultCost]
    """By tool, the largest result of a recording."""
    against: CostGrowth | None = None

    @property
    def faults(self) -> list[HostNote]:
        """The notes beyond a limit, the worst effect first."""
        return sorted((note for note in self.notes if not note.ok), key=lambda note: note.fact.severity)

    def as_json(self, today: datetime.date) -> dict[str, Any]:
        """For `--json`."""
        cost = self.cost
        return cost.as_json() | {
            "hosts": [note.as_json(today) for note in self.notes],
            "against": None if self.against is None else self.against.as_json(),
            "server": self.server,
            "wire": {"characters": cost.wire},
            "parts": {
                "names": sum(len(tool.name) for tool in cost.tools),
                "descriptions": sum(len(tool.description) for tool in cost.tools),
                "schemas": sum(len(tool.schema) for tool in cost.tools),
                "parameter_texts": sum(tool.parameter_texts for tool in cost.tools),
                "choices": sum(tool.choices for tool in cost.tools),
            },
            "savings": [saving._asdict() for saving in self.savings],
            "repeated": [each._asdict() for each in self.repeated],
            "loads": [load.as_json() for load in self.loads],
            "results": {tool: each.as_json() for tool, each in self.results.items()},
        }


def report_of(
    server: str,
    cost: ServerCost,
    *,
    facts: tuple[Fact, ...] = (),
    results: tuple[EvaluatedResult, ...] = (),
    against: CostGrowth | None = None,
) -> ContextReport:
    """Return the report on a server that hosts know as `server`, with the notes of the given facts."""
    definitions = ServerDefinitions.of(server, (tool.definition for tool in cost.tools), cost.instructions, results)
    largest: dict[str, ResultCost] = {}
    for tool, result in results:
        each = result_cost(result, cost.counter)
        if tool not in largest or _size(each) > _size(largest[tool]):
            largest[tool] = each
    return ContextReport(
        definitions.name,
        cost,
        savings(cost),
        repeated(cost),
        evaluate(definitions, facts),
        [load for host in dict.fromkeys(fact.host for fact in facts) if (load := _load(host, definitions.name, cost))],
        largest,
        against,
    )


def _size(cost: ResultCost) -> int:
    return cost.content + (cost.structured or 0)


def _load(host: str, server: str, cost: ServerCost) -> HostLoad | None:
    """The load of a host of which the parts are known."""
    known = host_facts()
    parts = known.parts(host)
    if not parts:
        return None
    counts = []
    for chosen in (parts, known.at_start(host)):
        texts = [text for tool in cost.tools for text in _texts(host, server, tool.definition, chosen)]
        if "instructions" in chosen and cost.instructions:
            texts.append(cost.instructions)
        counts.append((sum(map(len, texts)), sum(map(cost.counter.count, texts))))
    return HostLoad(host, parts, *counts[0], *counts[1])


def _texts(host: str, server: str, tool: dict[str, Any], parts: tuple[str, ...]) -> list[str]:
    texts = []
    for part in parts:
        value = tool.get(part)
        if part == "name" and type(value) is str:
            rule = host_facts().name_rule(host)
            value = rule.full_name(server, value)[: rule.most] if rule else value
        if value is not None and part != "instructions":
            texts.append(value if type(value) is str else compact_json(value))
    return texts
