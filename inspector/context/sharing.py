"""Text that a server repeats: what `$defs` would save inside a tool, and what stands in several tools."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from inspector.context.cost import ServerCost, ToolCost
from inspector.protocol.jsonrpc import compact_json
from inspector.protocol.subschemas import subschemas

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
    found = [saving for tool in cost.tools if (saving := _saving(tool)) is not None]
    return sorted(found, key=lambda saving: -saving.characters)


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
    found: list[RepeatedText] = []
    for what, least, texts in (
        ("description", LEAST_DESCRIPTION, [(tool.description, tool.name) for tool in cost.tools]),
        ("input schema", MINIMUM, [(tool.schema, tool.name) for tool in cost.tools]),
        (_PART, MINIMUM, _parts(cost.tools)),
    ):
        groups: dict[str, dict[str, None]] = {}
        for text, name in texts:
            if len(text) >= least:
                groups.setdefault(text, {})[name] = None
        found += (RepeatedText(what, len(text), tuple(names)) for text, names in groups.items() if len(names) > 1)
    found.sort(key=lambda each: -each.characters * len(each.tools))
    return _without_inner(found)[:MAX_GROUPS]


def _parts(tools: Sequence[ToolCost]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    work = 0
    for tool in tools:
        for part in subschemas(tool.definition.get("inputSchema")):
            if not part.pointer or _SHARED_KEYS.isdisjoint(part.schema):
                continue
            text = compact_json(part.schema)
            work += len(text)
            if work > MAX_WORK:
                return found
            found.append((text, tool.name))
    return found


def _without_inner(groups: list[RepeatedText]) -> list[RepeatedText]:
    """Leave out a part whose tools repeat something larger already."""
    kept: list[RepeatedText] = []
    told: Counter[tuple[str, ...]] = Counter()
    for each in groups:
        if each.what != _PART or not told[each.tools]:
            kept.append(each)
            told[each.tools] += 1
    return kept
