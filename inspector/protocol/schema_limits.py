"""Limits for JSON Schemas and for values, measured before a validator runs (C-BASE-15).

The validator cannot be interrupted and the server writes the schema, so the cost of a check is estimated first: the
estimate itself takes bounded time and never recurses.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from inspector.errors import SchemaTooLarge
from inspector.lazy_pattern import lazy_pattern
from inspector.protocol.exact_json.tokens import escape_step
from inspector.protocol.members import object_at

DEPTH_LIMIT = 200
"""Levels of nesting, in a schema and in a value (the validator's own limit is 255)."""
SUBSCHEMA_LIMIT = 20_000
NODE_LIMIT = 500_000
"""Values of any kind in a schema, such as the members of a large `enum`."""
TEXT_LIMIT = 8_000_000
"""Characters in all strings of a schema."""
PATTERN_LIMIT = 1_000
PATTERN_WEIGHT_LIMIT = 2_000_000
"""Size of all regular expressions of a schema, counted repetitions multiplied out."""
BASE_LIMIT = 50
"""Subschemas with their own `$id`."""

VISIT_LIMIT = 50_000_000
"""Pairs of a subschema and a value that one check may visit: about a second."""
PAIR_LIMIT = 400_000
"""Different such pairs that the estimate visits."""
REGEX_WORK_LIMIT = 20_000_000_000
"""Pattern size times text length in one check: a few seconds in the worst case."""
BACKTRACK_WORK_LIMIT = 4_000
"""Backtracking patterns times strings in one check."""

# The shapes of schema keywords that contain schemas.
IN_PLACE_LISTS = ("allOf", "anyOf", "oneOf")
IN_PLACE = ("not", "if", "then", "else")
IN_PLACE_MAPS = ("dependentSchemas", "dependencies")
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_RISKY = {*IN_PLACE_LISTS, *IN_PLACE, *IN_PLACE_MAPS, "patternProperties", "unevaluatedProperties", "unevaluatedItems"}
_RISKY |= {"contains"}

_BACKTRACKS = lazy_pattern(r"\\[1-9]|\\k[<{']|\(\?(?:[=!>]|<[=!])|[*+?}]\+")
_REPEAT = lazy_pattern(r"\{(\d{1,9})(?:,(\d{0,9}))?\}")


class SchemaFacts(NamedTuple):
    """The facts of a schema within the limits."""

    subschemas: int
    references: bool
    risky: bool
    """Whether one value can be visited more often than there are subschemas."""
    pattern_weight: int
    backtracking_patterns: int


class ValueFacts(NamedTuple):
    """The facts of a value to check."""

    nodes: int
    chars: int
    strings: int
    depth: int
    odd: bool
    """Whether it contains a `NaN` or an infinity, which JSON does not have."""


def levels(document: Any) -> Iterator[list[Any]]:
    """Yield the values in a JSON document level by level, the document first. Never recurses."""
    level = [document]
    while level:
        yield level
        below: list[Any] = []
        for item in level:
            if isinstance(item, (dict, list)):
                below.extend(item.values() if isinstance(item, dict) else item)
        level = below


def measure_schema(schema: Any) -> SchemaFacts:
    """Measure a schema in one walk. Raises `SchemaError` with the limit that it exceeds."""
    subschemas = nodes = chars = patterns = weight = backtracking = bases = 0
    seen: set[str] = set()
    for depth, level in enumerate(levels(schema), 1):
        if depth > DEPTH_LIMIT:
            raise _too("deep", f"{DEPTH_LIMIT} levels of nesting")
        nodes += len(level)
        if nodes > NODE_LIMIT:
            raise _too("large", f"{NODE_LIMIT:,} values")
        for item in level:
            if isinstance(item, str):
                chars += len(item)
            elif isinstance(item, dict):
                subschemas += 1
                seen.update(key for key in item if key in _RISKY or key in REFERENCES)
                bases += isinstance(item.get("$id"), str)
                for pattern in _patterns(item):
                    patterns += 1
                    weight += pattern_weight(pattern)
                    backtracking += _BACKTRACKS.search(pattern) is not None
                chars += sum(len(key) for key in item if isinstance(key, str))
        if subschemas > SUBSCHEMA_LIMIT:
            raise _too("large", f"{SUBSCHEMA_LIMIT:,} objects")
        if chars > TEXT_LIMIT:
            raise _too("large", f"{TEXT_LIMIT:,} characters")
    if patterns > PATTERN_LIMIT or weight > PATTERN_WEIGHT_LIMIT:
        limit = (
            f"{PATTERN_LIMIT:,} patterns" if patterns > PATTERN_LIMIT else f"a pattern size of {PATTERN_WEIGHT_LIMIT:,}"
        )
        raise _too("costly", limit)
    if bases > BASE_LIMIT:
        raise _too("complex", f"{BASE_LIMIT} values of $id")
    references = not seen.isdisjoint(REFERENCES)
    return SchemaFacts(subschemas, references, references and not seen.isdisjoint(_RISKY), weight, backtracking)


def _too(what: str, limit: str) -> SchemaTooLarge:
    return SchemaTooLarge(
        f"The schema is too {what}: more than {limit}",
        hint="Values are sent without validation; you can edit them as JSON.",
    )


def _patterns(schema: dict[str, Any]) -> Iterator[str]:
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        yield pattern
    keyed = schema.get("patternProperties")
    if isinstance(keyed, dict):
        yield from (key for key in keyed if isinstance(key, str))


def pattern_weight(pattern: str) -> int:
    """Estimate the size of a regular expression with counted repetitions multiplied out, at most 10^12."""
    totals, last = [0], 0
    at = 0
    while at < len(pattern):
        char = pattern[at]
        step = 1
        if char == "(":
            totals.append(0)
            last = 0
        elif char == ")":
            last = totals.pop() if len(totals) > 1 else 0
            totals[-1] += last
        elif char == "{" and (repeat := _REPEAT.match(pattern, at)):
            times = max(int(repeat[1]), int(repeat[2] or 0), 1)
            totals[-1] += last * (times - 1)
            last *= times
            step = len(repeat[0])
        else:
            step = 2 if char == "\\" else 1
            last = 1
            totals[-1] += 1
        totals[-1] = min(totals[-1], 10**12)
        last = min(last, 10**12)
        at += step
    return min(sum(totals), 10**12)


def measure_value(value: Any) -> ValueFacts:
    """Measure a value in one walk, down to `DEPTH_LIMIT`."""
    nodes = chars = strings = depth = 0
    odd = False
    level = [value]
    while level and depth <= DEPTH_LIMIT:
        depth += 1
        below: list[Any] = []
        nodes += len(level)
        for item in level:
            if isinstance(item, str):
                strings += 1
                chars += len(item)
            elif isinstance(item, dict):
                chars += sum(map(len, item))
                strings += len(item)
                below.extend(item.values())
            elif isinstance(item, list):
                below.extend(item)
            elif isinstance(item, float) and item - item != 0:
                odd = True
        level = below
    return ValueFacts(nodes, chars, strings, depth, odd)


def odd_numbers(value: Any, limit: int) -> list[tuple[str, float]]:
    """Return the JSON pointers and values of `NaN` and the infinities in a value, the first `limit` by depth."""
    numbers: list[tuple[str, float]] = []
    level: list[tuple[str, Any]] = [("", value)]
    for _ in range(DEPTH_LIMIT):
        below: list[tuple[str, Any]] = []
        for path, item in level:
            if isinstance(item, float) and item - item != 0:
                numbers.append((path, item))
                if len(numbers) >= limit:
                    return numbers
            elif isinstance(item, dict):
                below.extend((f"{path}/{escape_step(key)}", inner) for key, inner in item.items())
            elif isinstance(item, list):
                below.extend((f"{path}/{index}", inner) for index, inner in enumerate(item))
        level = below
    return numbers


class ReferenceTargets:
    """The subschemas that the references of a document may mean. The first reference reads the whole document, once."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._bases: list[Any] = []
        self._anchors: dict[str, list[Any]] = {}

    def of(self, reference: str) -> list[Any]:
        """Return every subschema that a reference may mean: with several `$id`s that depends on its position."""
        if not self._bases:
            self._read()
        _, _, fragment = reference.partition("#")
        if fragment and not fragment.startswith("/"):
            return self._anchors.get(fragment, [])
        targets = (resolve_pointer(base, fragment) for base in self._bases)
        return [target for target in targets if target is not None]

    def _read(self) -> None:
        bases = [self._document]
        anchors: dict[str, list[Any]] = {}
        for item in chain.from_iterable(levels(self._document)):
            if not isinstance(item, dict):
                continue
            has_id = isinstance(item.get("$id"), str) or isinstance(item.get("id"), str)
            if has_id and item is not self._document:
                bases.append(item)
            for name in ("$anchor", "$dynamicAnchor"):
                if isinstance(item.get(name), str):
                    anchors.setdefault(item[name], []).append(item)
            for name in ("$id", "id"):
                if isinstance(item.get(name), str) and item[name].startswith("#"):
                    anchors.setdefault(item[name][1:], []).append(item)
        # Validators are used in threads: the bases come last, because they say that everything was read.
        self._anchors = anchors
        self._bases = bases


def reckon(schema: Any, value: Any, *, references: ReferenceTargets, limit: int, by_size: bool = False) -> int | None:
    """Estimate how many pairs of subschema and value a check visits at most; None if above `limit`.

    `references` are those of the whole document. With `by_size` each visit counts as many times as the value has parts.
    Nothing is evaluated: every branch counts, every pattern is assumed to match.
    """
    return _SchemaMeasure(references, limit, by_size).run(schema, value)


class _SchemaMeasure:
    def __init__(self, references: ReferenceTargets, limit: int, by_size: bool) -> None:
        self.references = references
        self.limit = limit
        self.by_size = by_size
        self.sizes: dict[int, int] = {}

    def run(self, schema: Any, value: Any) -> int | None:
        done: dict[tuple[int, int], int] = {}
        open_pairs = {(id(schema), id(value))}
        stack = [(schema, value, self.below(schema, value))]
        totals = [self.unit(value)]
        while stack:
            here, item, children = stack[-1]
            child = next(children, None)
            if child is None:
                stack.pop()
                total = totals.pop()
                if isinstance(here, dict) and ("unevaluatedProperties" in here or "unevaluatedItems" in here):
                    total *= 2 + (len(item) if isinstance(item, (dict, list)) else 0)
                key = (id(here), id(item))
                open_pairs.discard(key)
                done[key] = total
                if len(done) > PAIR_LIMIT:
                    return None
                if not stack:
                    return total if total <= self.limit else None
                totals[-1] += total
                if totals[-1] > self.limit:
                    return None
                continue
            key = (id(child[0]), id(child[1]))
            known = done.get(key)
            if known is not None:
                totals[-1] += known
                if totals[-1] > self.limit:
                    return None
            elif key not in open_pairs and isinstance(child[0], dict):
                open_pairs.add(key)
                stack.append((*child, self.below(*child)))
                totals.append(self.unit(child[1]))
        return 0

    def unit(self, value: Any) -> int:
        if not self.by_size:
            return 1
        if isinstance(value, str):
            return 1 + len(value) // 64
        if not isinstance(value, (dict, list)):
            return 1
        size = self.sizes.get(id(value))
        if size is None:
            facts = measure_value(value)
            size = self.sizes[id(value)] = facts.nodes + facts.chars // 64
        return size

    def below(self, schema: Any, value: Any) -> Iterator[tuple[Any, Any]]:
        """Yield every (subschema, value) that checking `value` against `schema` visits directly."""
        if not isinstance(schema, dict):
            return
        for name in REFERENCES:
            if isinstance(schema.get(name), str):
                for target in self.references.of(schema[name]):
                    yield target, value
        for name in IN_PLACE_LISTS:
            if isinstance(schema.get(name), list):
                for part in schema[name]:
                    yield part, value
        for name in IN_PLACE:
            if name in schema:
                yield schema[name], value
        for name in IN_PLACE_MAPS:
            if isinstance(schema.get(name), dict):
                for part in schema[name].values():
                    yield part, value
        if isinstance(value, dict):
            yield from self.members(schema, value)
        elif isinstance(value, list):
            yield from self.items(schema, value)

    def members(self, schema: dict[str, Any], value: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        named = object_at(schema, "properties")
        for key in value:
            if key in named:
                yield named[key], value[key]
        for part in object_at(schema, "patternProperties").values():
            for inner in value.values():
                yield part, inner
        for name in ("additionalProperties", "unevaluatedProperties"):
            if isinstance(schema.get(name), dict):
                for key, inner in value.items():
                    if key not in named:
                        yield schema[name], inner
        if isinstance(schema.get("propertyNames"), dict):
            for key in value:
                yield schema["propertyNames"], key

    def items(self, schema: dict[str, Any], value: list[Any]) -> Iterator[tuple[Any, Any]]:
        for name in ("prefixItems", "items"):
            if isinstance(schema.get(name), list):
                yield from zip(schema[name], value, strict=False)
        for name in ("items", "additionalItems", "contains", "unevaluatedItems"):
            if isinstance(schema.get(name), dict):
                for inner in value:
                    yield schema[name], inner


def resolve_pointer(document: Any, fragment: str) -> Any:
    """Return the value of a URI fragment with a JSON pointer in a document (RFC 6901 section 6), or None."""
    from urllib.parse import unquote

    at = document
    for step in unquote(fragment).split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(at, dict) and name in at:
            at = at[name]
        elif isinstance(at, list) and name.isdecimal() and len(name) < 9 and int(name) < len(at):
            at = at[int(name)]
        else:
            return None
    return at
