"""Rules for the quality of tool definitions: whether a model can understand a tool, and tell it from another one.

A thorough judge applies them to each page of `tools/list`. No rule here is part of the specification.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from inspector.check.judge.rules import RuleVerdict, short
from inspector.hosts import ServerDefinitions, evaluate, host_facts
from inspector.protocol.jsonrpc import compact_json
from inspector.protocol.members import array_at, object_at, value_at
from inspector.protocol.subschemas import Subschema, subschemas

MAX_TOOLS = 1_000
"""Tools of one page that are checked."""
_NAMED = 5
"""Names in a finding."""
_MIN_WORDS = 4
"""Words that a description needs before two equal ones are a fault."""
_MAX_LENGTH = 20_000
"""Characters of a description that are read."""
_WORD = re.compile(r"\w+")
_MIXED = "HOST-CLAUDE-18"
"""The fact about tools that both read and write."""
_SECTION = re.compile(r"^(?P<indent>[ \t]*)(?:Args|Arguments|Parameters|Params):[ \t]*$", re.MULTILINE)
_ENTRY = re.compile(
    r"^[ \t]*+(?:[-*][ \t]++)?[`*]{0,2}(?P<name>[A-Za-z_]\w*+)[`*]{0,2}[ \t]*+(?:\([^()\n]*+\)[ \t]*+)?:[ \t]"
)
_TAGGED = re.compile(r"(?:^|\s)(?::param(?: [\w\[\], |]+)?|@param(?: \{[^{}\n]*+\})?) (?P<name>[A-Za-z_]\w*)")
_SIGNS = re.compile(r"-?\d+(?:\.\d+)?|[A-Za-z0-9]{1,2}")
"""A value that says nothing by itself: a number, one or two letters."""


def definition_rules(entries: list[Any]) -> tuple[RuleVerdict, ...]:
    """The findings about the tools of one page. A run reads the same page many times: it is judged once."""
    text = compact_json(entries)
    if not text:
        return tuple(_rules(entries))  # Nested too deeply to be written.
    key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    rules = _judged.get(key)
    if rules is None:
        if len(_judged) >= _KEPT:
            _judged.clear()
        rules = _judged[key] = tuple(_rules(entries))
    return rules


def _rules(entries: list[Any]) -> Iterator[RuleVerdict]:
    tools = [entry for entry in entries[:MAX_TOOLS] if type(entry) is dict and type(entry.get("name")) is str]
    for tool in tools:
        schema = tool.get("inputSchema")
        parts = list(subschemas(schema))
        missing = [name for name in _named(tool.get("description")) if name not in _names(parts)]
        if missing:
            yield (
                "DEF-02",
                "should",
                f"The description of {short(tool['name'])} names the parameter {short(missing[0])}, which it does not "
                "have.",
            )
        opaque = _opaque(schema)
        if opaque:
            yield "DEF-04", "note", f"The values of {short(opaque)} of {short(tool['name'])} are not explained."
    yield from _alike(tools)
    bare = [
        f"{short(name)} of {short(tool['name'])}"
        for tool in tools
        for name, property in _own_properties(tool.get("inputSchema"))
        if not _is_described(property, tool["inputSchema"])
    ]
    if bare:
        have = "parameters have" if len(bare) > 1 else "parameter has"
        yield "DEF-01", "note", f"{len(bare):,} {have} no description: {_listed(bare)}."
    for words in (_without(tools, "title"), _without(tools, "hints")):
        if words:
            yield "DEF-05", "note", words
    for note in evaluate(ServerDefinitions.of("server", tools), _mixed_facts()):
        if not note.ok:
            yield "DEF-06", "should", f"{short(note.tool)} both reads and writes: {note.actual}."


_KEPT = 64
_judged: dict[bytes, tuple[RuleVerdict, ...]] = {}
"""The findings of pages by their digest."""


def _mixed_facts() -> list[Any]:
    return [fact for fact in host_facts().facts if fact.id == _MIXED]


def _own_properties(schema: Any) -> Iterator[tuple[str, Any]]:
    properties = object_at(schema, "properties")
    yield from ((name, inner) for name, inner in properties.items() if type(name) is str)


def _is_described(schema: Any, root: Any) -> bool:
    """Whether a parameter has a description: itself, in a branch, or where its reference leads."""
    todo, seen = [schema], 0
    while todo and seen < 20:
        seen += 1
        item = todo.pop()
        if type(item) is not dict:
            continue
        text = item.get("description")
        if (type(text) is str and text.strip()) or "const" in item:
            return True
        reference = item.get("$ref")
        if type(reference) is str:
            for key in ("$defs", "definitions"):
                place = value_at(root, key)
                if reference.startswith(f"#/{key}/") and type(place) is dict:
                    todo.append(place.get(reference.rpartition("/")[2]))
        for key in ("anyOf", "oneOf", "allOf"):
            todo += array_at(item.get(key))
    return False


def _names(parts: list[Subschema]) -> set[str]:
    """The names of properties on every level."""
    names: set[str] = set()
    for part in parts:
        for key in ("properties", "patternProperties"):
            names.update(name for name in object_at(part.schema.get(key)) if type(name) is str)
    return names


def _named(description: Any) -> Iterator[str]:
    """The parameters that a description lists, as docstrings do: `Args:` with names below, `:param name:`."""
    text = description[:_MAX_LENGTH] if type(description) is str else ""
    yield from (match["name"] for match in _TAGGED.finditer(text))
    for section in _SECTION.finditer(text):
        own = len(section["indent"].expandtabs())
        inner = None
        for line in text[section.end() + 1 :].split("\n"):
            indent = len(line.expandtabs()) - len(line.expandtabs().lstrip())
            if not line.strip() or indent <= own:
                break
            inner = indent if inner is None else inner
            entry = _ENTRY.match(line)
            if entry is not None and indent == inner:
                yield entry["name"]


def _opaque(schema: Any) -> str:
    """The name of a parameter with values that say nothing, and no description; empty without one."""
    for name, property in _own_properties(schema):
        values = value_at(property, "enum")
        if type(values) is not list or len(values) < 2 or _is_described(property, schema):
            continue
        if all(type(value) in (int, float, str) and _SIGNS.fullmatch(str(value)) for value in values[:50]):
            return name
    return ""


def _alike(tools: list[dict[str, Any]]) -> Iterator[RuleVerdict]:
    """Two tools whose descriptions have the same words, in any order."""
    seen: dict[tuple[tuple[str, int], ...], str] = {}
    for tool in tools:
        text = tool.get("description")
        words = _WORD.findall(text[:_MAX_LENGTH].lower()) if type(text) is str else []
        if len(words) < _MIN_WORDS:
            continue
        other = seen.setdefault(tuple(sorted(Counter(words).items())), tool["name"])
        if other != tool["name"]:
            yield "DEF-03", "should", f"The descriptions of {short(other)} and {short(tool['name'])} say the same."


def _without(tools: list[dict[str, Any]], what: str) -> str:
    """A sentence about the tools without a title or without hints; empty if all have them."""
    lacking = []
    for tool in tools:
        hints = object_at(tool.get("annotations"))
        if what == "title":
            has = tool.get("title") or hints.get("title")
        else:
            has = any(type(hints.get(key)) is bool for key in ("readOnlyHint", "destructiveHint"))
        if not has:
            lacking.append(short(tool["name"]))
    if not lacking:
        return ""
    which = "title" if what == "title" else "readOnlyHint or destructiveHint"
    if len(tools) == 1:
        return f"The tool {lacking[0]} has no {which}."
    have = "has" if len(lacking) == 1 else "have"
    return f"{len(lacking)} of {len(tools)} tools {have} no {which}: {_listed(lacking)}."


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
