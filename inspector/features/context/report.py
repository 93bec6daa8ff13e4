"""Text that a server repeats: what `$defs` would save inside a tool, and what stands in several tools."""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from inspector.features.context.cost import ServerCost
from inspector.hosts import EvaluatedResult, Fact, HostNote, ServerDefinitions, evaluate, host_facts
from inspector.protocol.jsonrpc import compact_json
from inspector.protocol.subschemas import subschemas
from inspector.protocol.token_costs import ResultCost, ToolCost, result_cost

MINIMUM = 80
"""Characters from which a repeated part is worth sharing."""
LEAST_DESCRIPTION = 20
"""Characters from which a description that several tools have is worth a line."""
MAX_WORK = 2_000_000
"""Characters of parts that are compared in one tool, and in all tools together."""
MAX_GROUPS = 20
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)
_PART = "part of the input schema"
_SHARED_KEYS = frozenset(("type", "properties", "enum", "anyOf", "items"))
_REFERENCE = len('{"$ref":"#/$defs/N"}')
_ENTRY = len('"N":') + len(",")
_KEYWORD = len(',"$defs":{}') - len(",")
"""The keyword itself; the first entry has no comma."""


class DefsSaving(NamedTuple):
    """Characters that `$defs` would save in one tool."""

    tool: str
    characters: int
    parts: int
    """Different parts that would be shared."""
    largest: str
    """The pointer of the part that saves most."""
    times: int
    """How often that part occurs."""
    is_least: bool = False
    """Whether the schema was too large to compare all of it, so that `$defs` would save more."""


class RepeatedText(NamedTuple):
    """A text that stands in several tools. Nothing can be shared across tools, because each schema stands alone."""

    what: str
    """`description`, `input schema`, or `part of the input schema`."""
    characters: int
    tools: tuple[str, ...]


def savings(cost: ServerCost) -> list[DefsSaving]:
    """Return the tools in which `$defs` would save characters, the largest saving first.

    A part counts if it has at least `MINIMUM` characters and occurs twice or more, annotations included.
    """
    defs_savings = [saving for tool in cost.tools if (saving := _saving(tool)) is not None]
    return sorted(defs_savings, key=lambda saving: -saving.characters)


def _saving(tool: ToolCost) -> DefsSaving | None:
    if len(tool.schema) < 2 * MINIMUM:
        return None
    places: dict[str, list[str]] = {}
    work = 0
    is_least = False
    for part in subschemas(tool.definition.get("inputSchema")):
        if part.pointer and not _SHARED_KEYS.isdisjoint(part.schema) and "$ref" not in part.schema:
            text = _with_sorted_keys(part.schema)
            work += len(text)
            if work > MAX_WORK:
                is_least = True
                break
            if len(text) >= MINIMUM:
                places.setdefault(text, []).append(part.pointer)
    saved = parts = 0
    taken: list[str] = []
    best: tuple[int, str, int] = (0, "", 0)
    for text, all_places in sorted(places.items(), key=lambda item: -len(item[0])):
        free = [place for place in all_places if not any(place.startswith(f"{other}/") for other in taken)]
        gain = (len(free) - 1) * len(text) - len(free) * _REFERENCE - _ENTRY
        if len(free) > 1 and gain > 0:
            saved, parts = saved + gain, parts + 1
            taken += free
            best = max(best, (gain, free[0], len(free)))
        if len(taken) > 1_000:
            is_least = True
            break
    schema = tool.definition.get("inputSchema")
    if not (type(schema) is dict and schema.get("$defs")):
        saved -= _KEYWORD
    return DefsSaving(tool.name, saved, parts, best[1], best[2], is_least) if saved > 0 else None


def _with_sorted_keys(schema: Any) -> str:
    """Return a schema as JSON with its keys sorted on every level, so that equal schemas have equal texts."""
    try:
        return _ENCODER.encode(schema)
    except RecursionError:
        return ""  # Nested too deeply to be compared.


def repeated(cost: ServerCost) -> list[RepeatedText]:
    """Return the long texts that stand in several tools, the costliest first."""
    repetitions: list[RepeatedText] = []
    for what, least, texts in (
        ("description", LEAST_DESCRIPTION, [(tool.description, tool.name) for tool in cost.tools]),
        ("input schema", MINIMUM, [(tool.schema, tool.name) for tool in cost.tools]),
        (_PART, MINIMUM, _parts(cost.tools)),
    ):
        groups: dict[str, dict[str, None]] = {}
        for text, name in texts:
            if len(text) >= least:
                groups.setdefault(text, {})[name] = None
        repetitions += (RepeatedText(what, len(text), tuple(names)) for text, names in groups.items() if len(names) > 1)
    repetitions.sort(key=lambda repetition: -repetition.characters * len(repetition.tools))
    return _without_inner(repetitions)[:MAX_GROUPS]


def _parts(tools: Sequence[ToolCost]) -> list[tuple[str, str]]:
    parts: list[tuple[str, str]] = []
    work = 0
    for tool in tools:
        for part in subschemas(tool.definition.get("inputSchema")):
            if not part.pointer or _SHARED_KEYS.isdisjoint(part.schema):
                continue
            text = compact_json(part.schema)
            work += len(text)
            if work > MAX_WORK:
                return parts
            parts.append((text, tool.name))
    return parts


def _without_inner(groups: list[RepeatedText]) -> list[RepeatedText]:
    """Leave out a part whose tools repeat something larger already."""
    kept: list[RepeatedText] = []
    reported: Counter[tuple[str, ...]] = Counter()
    for group in groups:
        if group.what != _PART or not reported[group.tools]:
            kept.append(group)
            reported[group.tools] += 1
    return kept


class ToolGrowth(NamedTuple):
    """The change of one tool; `before` or `after` is None if the tool is new or gone."""

    name: str
    before: int | None
    """Characters."""
    after: int | None
    tokens: int
    """The difference in tokens."""

    @property
    def characters(self) -> int:
        """The difference in characters."""
        return (self.after or 0) - (self.before or 0)

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "name": self.name,
            "before": self.before,
            "after": self.after,
            "characters": self.characters,
            "tokens": self.tokens,
        }


class CostGrowth(NamedTuple):
    """The changes of cost between two states."""

    source: str
    """What it is compared with, for people."""
    tools: tuple[ToolGrowth, ...]
    """Tools whose cost changed, the largest difference first."""
    characters: int
    tokens: int
    before: int
    """The tokens of everything before."""

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "source": self.source,
            "tools": [tool.as_json() for tool in self.tools],
            "characters": self.characters,
            "tokens": self.tokens,
            "before": {"tokens": self.before},
        }


class Sizes(NamedTuple):
    """The sizes of a server's tools, which are enough to compare two states."""

    tools: dict[str, tuple[int, int]]
    """Name to (characters, tokens)."""
    characters: int
    tokens: int
    method: str

    @classmethod
    def of(cls, cost: ServerCost) -> Sizes:
        """Return the sizes in a cost."""
        tools = {tool.name: (tool.characters, tool.tokens) for tool in cost.tools}
        return cls(tools, cost.characters, cost.tokens, cost.counter.method)


def sizes_in(document: Any) -> Sizes | None:
    """Return the sizes in a document of `inspector context --json`; None if it is something else."""
    tools, total = (document.get(key) if type(document) is dict else None for key in ("tools", "total"))
    if type(tools) is not list or type(total) is not dict or type(document.get("method")) is not str:
        return None
    sizes: dict[str, tuple[int, int]] = {}
    for tool in tools:
        counts = tool.get("characters") if type(tool) is dict else None
        characters = counts.get("total") if type(counts) is dict else None
        if type(characters) is not int or type(tool.get("tokens")) is not int or type(tool.get("name")) is not str:
            return None
        sizes[tool["name"]] = characters, tool["tokens"]
    if type(total.get("characters")) is not int or type(total.get("tokens")) is not int:
        return None
    return Sizes(sizes, total["characters"], total["tokens"], document["method"])


def growth(source: str, before: Sizes, after: Sizes) -> CostGrowth:
    """Return the changes from one state to another, both counted with the same method."""
    changed = []
    for name in {**before.tools, **after.tools}:
        was, now = before.tools.get(name), after.tools.get(name)
        if was != now:
            tokens = (now[1] if now else 0) - (was[1] if was else 0)
            changed.append(ToolGrowth(name, was[0] if was else None, now[0] if now else None, tokens))
    changed.sort(key=lambda tool: (-abs(tool.characters), tool.name))
    return CostGrowth(
        source, tuple(changed), after.characters - before.characters, after.tokens - before.tokens, before.tokens
    )


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
            "repeated": [repetition._asdict() for repetition in self.repeated],
            "loads": [load.as_json() for load in self.loads],
            "results": {tool: result.as_json() for tool, result in self.results.items()},
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
        measured = result_cost(result, cost.counter)
        if tool not in largest or _size(measured) > _size(largest[tool]):
            largest[tool] = measured
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
    """Return the load of a host of which the parts are known."""
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
