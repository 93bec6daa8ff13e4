"""The normal form of a JSON Schema: schemas that mean the same have the same form, however they are written.

A form is a list of alternatives (`Branch`). Each allows values of one JSON type and says what must hold of them, in the
vocabulary of 2020-12. References are followed; `allOf` is merged; `anyOf`, `oneOf`, `if` and the like become
alternatives; those that no value can match are dropped. A keyword that cannot be read stays in it as `unread`. Titles,
descriptions, defaults and unknown keywords are not part of it. Schemas are read when they are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import count
from math import ceil, floor, lcm
from typing import Any, NamedTuple

from inspector.compare.json_values import exact_digest
from inspector.compare.json_values import type_of as json_type
from inspector.compare.schema_documents import (
    ANY,
    REFERENCES,
    Document,
    Node,
    Part,
    label_of,
    refers,
    value_key,
)
from inspector.protocol.exact_json.tokens import escape_step
from inspector.protocol.validation import Validator

MAX_BRANCHES = 256
"""Alternatives of one schema; a keyword that makes more of them stays unread."""
MAX_DEPTH = 24
"""Levels of `allOf`, references and the like in one place, and of required members; deeper ones stay unread."""
MAX_VISITS = 5_000
"""Visits of a subschema to a value in one validation."""
MAX_CHECKED = 2_000
"""Listed values of one schema that are validated one by one."""
INFINITE = float("inf")
TYPES = ("null", "boolean", "number", "string", "array", "object")


class TooMuch(Exception):
    """The effort that is allowed is used up."""


class Effort:
    """The steps that are left for a comparison; those of a part count for the whole, too."""

    def __init__(self, steps: int, whole: Effort | None = None) -> None:
        self.left = steps
        self._whole = whole

    def spend(self, steps: int = 1) -> None:
        """Count steps. Raises `TooMuch` when there are none left."""
        self.left -= steps
        if self.left < 0:
            raise TooMuch
        if self._whole is not None:
            self._whole.spend(steps)


class Members(NamedTuple):
    """Which members of an object have to match what."""

    properties: Mapping[str, Node]
    patterns: Mapping[str, Node]
    rest: Node
    """For names that are not listed and match no pattern."""


class Items(NamedTuple):
    """Which items of an array have to match what."""

    first: tuple[Node, ...] = ()
    rest: Node = ANY

    def at(self, index: int) -> Node:
        """Return the schema of the item at `index`."""
        return self.first[index] if index < len(self.first) else self.rest


class Contains(NamedTuple):
    """How many items have to match a schema."""

    node: Node
    least: int
    most: int | None


@dataclass(frozen=True, eq=False)
class Branch:
    """One alternative: values of one type."""

    type: str
    rules: Mapping[str, Any] = field(default_factory=dict)
    """What must hold, by keyword; see `_MEET` for the values. A keyword that is not there restricts nothing."""
    values: Mapping[str, Any] | None = None
    """The only values, if they are listed, by `value_key`."""
    label: str = ""
    """What people call it: the name of a definition, a title, a type."""

    @cached_property
    def members(self) -> tuple[Members, ...]:
        """The rules for an object's members, all of which hold."""
        properties: tuple[Members, ...] = self.rules.get("properties", ())
        return properties

    @cached_property
    def items(self) -> Items:
        """The schemas of an array's items."""
        items: Items = self.rules.get("items", Items())
        return items

    @cached_property
    def names(self) -> dict[str, None]:
        """The listed names of members, in order, without those that may not be there."""
        absent = self.rules.get("absent", ())
        return {name: None for members in self.members for name in members.properties if name not in absent}

    @cached_property
    def required(self) -> frozenset[str]:
        """The names of members that have to be there, also those that another one requires."""
        names: frozenset[str] = self.rules.get("required", frozenset())
        pairs = self.rules.get("dependentRequired", ())
        while more := {other for name, other in pairs if name in names and other not in names}:
            names |= more
        return names

    @property
    def is_free(self) -> bool:
        """Whether it allows every value of its type."""
        return not self.rules and self.values is None


def _meet_items(a: Items, b: Items) -> Items:
    most = max(len(a.first), len(b.first))
    return Items(tuple(a.at(index) | b.at(index) for index in range(most)), a.rest | b.rest)


def _common_multiple(a: Fraction, b: Fraction) -> Fraction:
    below = lcm(a.denominator, b.denominator)
    return Fraction(lcm(int(a * below), int(b * below)), below)


def _both(a: Any, b: Any) -> Any:
    return a | b


_MEET: dict[str, Callable[[Any, Any], Any]] = {
    # Lower bounds are (number, 1 if excluded), upper ones (number, 1 if included): the stricter one is max, and min.
    "minimum": max,
    "maximum": min,
    "multipleOf": _common_multiple,
    **dict.fromkeys(("minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maxLength", "maxItems", "maxProperties"), min),
    "items": _meet_items,
    "properties": lambda a, b: a + tuple(members for members in b if members not in a),
    # True; or sets of which all must hold: texts, `Contains`, names, pairs of names, `Node`s; `propertyNames` is a
    # `Node`; `unread` has values by keyword and digests.
    **dict.fromkeys(("uniqueItems", "pattern", "format", "contains", "required", "absent", "dependentRequired"), _both),
    **dict.fromkeys(("propertyNames", "not", "unread"), _both),
}
"""Every rule of a branch, and what two of them are together."""
_COUNTS = (("minLength", "maxLength"), ("minItems", "maxItems"), ("minProperties", "maxProperties"))


def meet(a: Branch, b: Branch) -> Branch:
    """Return what matches two branches of one type."""
    rules = dict(a.rules)
    for key, value in b.rules.items():
        rules[key] = _MEET[key](rules[key], value) if key in rules else value
    values = a.values if b.values is None else b.values
    if a.values is not None and b.values is not None:
        values = {key: value for key, value in a.values.items() if key in b.values}
    return Branch(a.type, rules, values, b.label or a.label)


EVERYTHING = (
    Branch("null", values={"null": None}),
    Branch("boolean", values={"true": True, "false": False}),
    *map(Branch, TYPES[2:]),
)
"""The form of a schema without restrictions."""
STRINGS = Document({"type": "string"}).root
"""The schema of all strings."""


class Forms:
    """Reads schemas into their forms. One object for each comparison; both schemas are read by it."""

    def __init__(self, effort: Effort) -> None:
        self.effort = effort
        self._branches: dict[Node, tuple[Branch, ...]] = {}
        self._depth = 0
        self._read: dict[Part, tuple[Branch, ...]] = {}
        self._reading: set[Part] = set()
        self._circular: set[Part] = set()
        """Schemas that apply themselves to the same value: what that means is not defined."""
        self._patterns: dict[str, Validator] = {}

    def branches(self, node: Node) -> tuple[Branch, ...]:
        """Return the alternatives of a schema; none if no value matches it."""
        if (known := self._branches.get(node)) is not None:
            return known
        unknown = _unread(EVERYTHING, "$ref", None, None)
        if self._depth > MAX_DEPTH:
            return unknown
        # Until it is known: a required member may lead back here. It is then neither empty nor part of anything.
        self._branches[node] = unknown
        self._depth += 1
        branches: tuple[Branch, ...] = EVERYTHING
        for part in sorted(node, key=lambda part: part.pointer):
            branches = self._meet(branches, self._part(part), part)
        branches = _merged(one for raw in branches if self._is_possible(one := self._tidied(self._checked(node, raw))))
        self._depth -= 1
        self._branches[node] = branches
        return branches

    def is_empty(self, node: Node) -> bool:
        """Whether no value matches a schema, as far as that is known."""
        return not self.branches(node)

    def alike(self, branch: Branch, node: Node) -> list[Branch]:
        """Return the alternatives of a schema that allow values of the type of `branch`."""
        return [one for one in self.branches(node) if one.type == branch.type]

    def meeting(self, a: Branch, b: Branch) -> Branch | None:
        """Return what matches both of two branches of one type; None if no value does."""
        branch = self._tidied(meet(a, b))
        return branch if self._is_possible(branch) else None

    def member(self, branch: Branch, name: str) -> Node:
        """Return what the member `name` of an object has to match."""
        return ANY.union(*(self.member_of(members, name) for members in branch.members))

    def member_of(self, members: Members, name: str) -> Node:
        """Return what the member `name` has to match according to one of an object's rules."""
        member = [members.properties[name]] if name in members.properties else []
        member += (node for pattern, node in members.patterns.items() if self._is_match(pattern, name))
        return ANY.union(*member) if member else members.rest

    def accepts(self, node: Node, value: Any) -> bool | None:
        """Whether a value matches a schema, according to the validator; None if it cannot tell."""
        sure = True
        for part in node:
            matches = None
            if (validator := part.document.validator) is not None:
                visits = validator.visits_at(part.pointer, value, MAX_VISITS)
                self.effort.spend(2 + (MAX_VISITS if visits is None else visits) // 2)
                matches = None if visits is None else validator.matches_at(part.pointer, value)
            if matches is False:
                return False
            sure = sure and matches is True
        return True if sure else None

    def _is_match(self, pattern: str, text: str) -> bool:
        """Whether a text matches a regular expression of a valid schema."""
        self.effort.spend()
        if pattern not in self._patterns:
            self._patterns[pattern] = Validator({"pattern": pattern})
        return self._patterns[pattern].is_valid(text)

    # Branches

    def _checked(self, node: Node, branch: Branch) -> Branch:
        """Return a branch of a schema without rules beside its listed values, which are validated instead."""
        if branch.values is None or not branch.rules or len(branch.values) > MAX_CHECKED:
            return branch
        matching = {key: self.accepts(node, value) for key, value in branch.values.items()}
        if None in matching.values():
            return branch
        return replace(branch, rules={}, values={key: one for key, one in branch.values.items() if matching[key]})

    def _tidied(self, branch: Branch) -> Branch:
        """Return a branch whose rules are written in one way, without those that restrict nothing."""
        rules = dict(branch.rules)
        if refused := rules.pop("not", None):
            refused = frozenset(one for one in refused if self.alike(branch, one))
            rules |= {"not": refused} if refused else {}
        if step := rules.get("multipleOf"):
            if "minimum" in rules:
                low, excluded = rules["minimum"]
                rules["minimum"] = ((floor(low / step) + 1 if excluded else ceil(low / step)) * step, 0)
            if "maximum" in rules:
                high, included = rules["maximum"]
                rules["maximum"] = ((floor(high / step) if included else ceil(high / step) - 1) * step, 1)
        if "items" in rules:
            first, rest = rules.pop("items")
            end = next((at for at, node in enumerate((*first, rest)) if self.is_empty(node)), INFINITE)
            end = min(end, rules.get("maxItems", INFINITE))
            rules |= {"maxItems": end} if end < INFINITE else {}
            items = Items(first[: min(end, len(first))], rest if end > len(first) else ANY)
            rules |= {"items": items} if any(items.first) or items.rest else {}
        if "propertyNames" in rules:
            names = self.branches(rules["propertyNames"])
            rules |= {} if names else {"maxProperties": 0}
            if any(one.is_free for one in names):
                del rules["propertyNames"]
        return replace(branch, rules=rules)

    def _is_possible(self, branch: Branch) -> bool:
        """Whether a value may match a branch; False only if none does."""
        rules = branch.rules
        if branch.values is not None:
            return bool(branch.values)
        if any(rules.get(least, 0) > rules.get(most, INFINITE) for least, most in _COUNTS):
            return False
        if "minimum" in rules and "maximum" in rules:
            (low, excluded), (high, included) = rules["minimum"], rules["maximum"]
            if low > high or (low == high and (excluded or not included)):
                return False
        if any(one.is_free for refused in rules.get("not", ()) for one in self.alike(branch, refused)):
            return False
        for some in rules.get("contains", ()):
            if some.least > rules.get("maxItems", INFINITE) or (some.least and self.is_empty(some.node)):
                return False
        required = branch.required
        if required & rules.get("absent", frozenset()) or len(required) > rules.get("maxProperties", INFINITE):
            return False
        return not any(self.is_empty(self.member(branch, name)) for name in sorted(required))

    def _meet(
        self, a: tuple[Branch, ...], b: Iterable[Branch], part: Part, keyword: str = "allOf"
    ) -> tuple[Branch, ...]:
        """Return what matches both of two lists of alternatives; `b` comes from a keyword of `part`."""
        b = tuple(b)
        self.effort.spend(1 + len(a) * len(b) // 8)
        branches = _merged(meet(one, other) for one in a for other in b if one.type == other.type)
        return branches if len(branches) <= MAX_BRANCHES else _unread(a, keyword, part.raw, part)

    # Schemas

    def _part(self, part: Part) -> tuple[Branch, ...]:
        """Return the alternatives of one schema, as they are written."""
        if (known := self._read.get(part)) is not None:
            return known
        if part in self._reading or len(self._reading) > MAX_DEPTH:
            self._circular.add(part)
            return _unread(EVERYTHING, "$ref", part.raw, part)
        self._reading.add(part)
        self.effort.spend()
        branches: tuple[Branch, ...] = ()
        if type(part.raw) is dict:
            branches = _own(part)
            for names, read in _IN_PLACE:
                given = {key: part.keys[key] for key in names if key in part.keys}
                try:
                    branches = self._meet(branches, read(self, part, given), part, names[0]) if given else branches
                except (TypeError, ValueError):
                    branches = _unread(branches, names[0], given, part)
        elif part.raw is not False:
            branches = _unread(EVERYTHING, "schema", part.raw, part)
        if part in self._circular:
            branches = _unread(EVERYTHING, "$ref", part.raw, part)
        self._reading.discard(part)
        self._read[part] = branches
        return branches

    def _alternatives(self, node: Node, label: str = "") -> tuple[Branch, ...]:
        """Return the alternatives of a schema of one part."""
        alternatives: tuple[Branch, ...] = EVERYTHING
        for part in node:
            alternatives = self._part(part)
        return tuple(replace(one, label=one.label or label) for one in alternatives) if label else alternatives

    def _reference(self, part: Part, given: Mapping[str, Any]) -> tuple[Branch, ...]:
        branches: tuple[Branch, ...] = EVERYTHING
        for key, reference in given.items():
            target = part.document.target(_as(reference, str))
            if target is None:
                branches = _unread(branches, key, reference, part)
            else:
                branches = self._meet(branches, self._alternatives(part.document.node(*target)), part, key)
        return branches

    def _all_of(self, part: Part, given: Mapping[str, Any]) -> tuple[Branch, ...]:
        branches: tuple[Branch, ...] = EVERYTHING
        for node in _children(part, "allOf"):
            branches = self._meet(branches, self._alternatives(node), part)
        return branches

    def _any_of(self, part: Part, given: Mapping[str, Any]) -> Iterable[Branch]:
        for node, raw in zip(_children(part, "anyOf"), given["anyOf"], strict=True):
            yield from self._alternatives(node, label_of(raw))

    def _one_of(self, part: Part, given: Mapping[str, Any]) -> Iterable[Branch]:
        """Read `oneOf` as alternatives, each of them without what another one matches."""
        nodes = _children(part, "oneOf")
        marks = [self._marks(node) for node in nodes]
        for at, raw in enumerate(given["oneOf"]):
            self.effort.spend(1 + len(nodes) // 4)
            others = (index for index, mark in enumerate(marks) if index != at and not _are_apart(mark, marks[at]))
            refused = {"not": overlapping} if (overlapping := frozenset(nodes[index] for index in others)) else {}
            yield from (meet(one, Branch(one.type, refused)) for one in self._alternatives(nodes[at], label_of(raw)))

    def _marks(self, node: Node) -> dict[str, set[str]]:
        """Return the values of required members that are listed, for a schema of objects."""
        marks: dict[str, set[str]] = {}
        branches = self._alternatives(node)
        for name in branches[0].required if len(branches) == 1 and branches[0].type == "object" else ():
            listed = [members.properties[name] for members in branches[0].members if name in members.properties]
            for part in listed[0] if listed else ():
                raw = part.raw if type(part.raw) is dict else {}
                values = [raw["const"]] if "const" in raw else raw.get("enum")
                if type(values) is list and not refers(raw):
                    marks[name] = set(map(value_key, values))
        return marks

    def _not(self, part: Part, given: Mapping[str, Any]) -> tuple[Branch, ...]:
        refused = _child(part, "not", given["not"])
        self._alternatives(refused)  # It may be circular.
        return _without(EVERYTHING, refused)

    def _if(self, part: Part, given: Mapping[str, Any]) -> tuple[Branch, ...]:
        if "if" not in given or len(given) == 1:
            return EVERYTHING
        condition, then, other = (
            _child(part, key, given[key]) if key in given else ANY for key in ("if", "then", "else")
        )
        matching = self._meet(self._alternatives(condition), self._alternatives(then), part, "if")
        return (*matching, *_without(self._alternatives(other), condition))

    def _dependent(self, part: Part, given: Mapping[str, Any]) -> tuple[Branch, ...]:
        """Read schemas that have to match when a member is there."""
        branches: tuple[Branch, ...] = EVERYTHING
        for key, schemas in given.items():
            for name, raw in _as(schemas, dict).items():
                if type(raw) is not list:  # Lists of names are rules: see `_RULES`.
                    then = self._alternatives(_child(part, f"{key}/{escape_step(name)}", raw))
                    there, absent = (Branch("object", {rule: frozenset((name,))}) for rule in ("required", "absent"))
                    objects = (absent, *(meet(there, one) for one in then if one.type == "object"))
                    branches = self._meet(branches, (*EVERYTHING[:-1], *objects), part, key)
        return branches


_IN_PLACE: tuple[tuple[tuple[str, ...], Callable[[Forms, Part, Mapping[str, Any]], Iterable[Branch]]], ...] = (
    (REFERENCES, Forms._reference),
    (("allOf",), Forms._all_of),
    (("anyOf",), Forms._any_of),
    (("oneOf",), Forms._one_of),
    (("not",), Forms._not),
    (("if", "then", "else"), Forms._if),
    (("dependentSchemas", "dependencies"), Forms._dependent),
)
"""The keywords with schemas for the same value. Their readers raise TypeError or ValueError for what they cannot be."""
COMBINING = tuple(name for names, _ in _IN_PLACE for name in names)


# What a schema says itself


def _own(part: Part) -> tuple[Branch, ...]:
    """Return what a schema says without the schemas that it applies to the same value."""
    keys = part.keys
    rules: dict[str, dict[str, Any]] = {name: {} for name in TYPES}
    unread: list[tuple[str, str]] = []
    for name, rule, keywords, read in _RULES:
        given = [key for key in keywords if key in keys]
        if given:
            try:
                value = read(part, keys[given[0]])
            except (TypeError, ValueError):
                unread += ((name, key) for key in given)
            else:
                mine = rules[name]
                restricts = bool(value) or rule.startswith("max")
                mine |= {rule: _MEET[rule](mine[rule], value) if rule in mine else value} if restricts else {}
    try:
        types = _types(keys.get("type", [*TYPES]))
        listed = _listed(keys)
    except (TypeError, ValueError):
        types, listed = frozenset(TYPES), None
        unread += ((name, key) for name in TYPES for key in ("type", "enum") if key in keys)
    if "integer" in types and "number" not in types:
        rules["number"]["multipleOf"] = _common_multiple(rules["number"].get("multipleOf", Fraction(1)), Fraction(1))
    own = [
        meet(one, Branch(one.type, rules[one.type], None if listed is None else listed[one.type]))
        for one in EVERYTHING
        if one.type in types or (one.type == "number" and "integer" in types)
    ]
    for name, key in unread:
        own = [two for one in own for two in (_unread([one], key, keys[key], part) if one.type == name else [one])]
    return tuple(own)


def _types(given: Any) -> frozenset[str]:
    names = frozenset([given] if type(given) is str else _as(given, list))
    if not names <= {*TYPES, "integer"}:
        raise TypeError
    return names


def _listed(keys: Mapping[str, Any]) -> dict[str, dict[str, Any]] | None:
    """Return the listed values by their types; None if none are listed."""
    listed: dict[str, Any] | None = None
    for values in (_as(keys["enum"], list) if "enum" in keys else None, [keys["const"]] if "const" in keys else None):
        if values is not None:
            keyed = {value_key(value): value for value in values}
            listed = keyed if listed is None else {key: one for key, one in listed.items() if key in keyed}
    if listed is None:
        return None
    return {name: {key: value for key, value in listed.items() if type_of(value) == name} for name in TYPES}


def _as(value: Any, kind: type) -> Any:
    """Return a value of a kind. Raises `TypeError` for another."""
    if type(value) is not kind:
        raise TypeError
    return value


def exact(value: float) -> Fraction:
    """Return a number as it is written. Raises `ValueError` for anything else, and for a very long one."""
    return Fraction(repr(value))


def _count(value: Any) -> int:
    number = exact(value)
    if number < 0 or number.denominator != 1:
        raise ValueError
    return int(number)


def _step(value: Any) -> Fraction:
    if exact(value) <= 0:
        raise ValueError
    return exact(value)


def _texts(value: Any) -> frozenset[str]:
    return frozenset(_as(one, str) for one in _as(value, list))


def _pairs(value: Any) -> frozenset[tuple[str, str]]:
    """Return which names require which, from `dependentRequired`, or from the lists in `dependencies`."""
    lists = ((name, others) for name, others in _as(value, dict).items() if type(others) is not dict)
    return frozenset((name, other) for name, others in lists if type(others) is not bool for other in _texts(others))


def _child(part: Part, step: str, raw: Any) -> Node:
    if type(raw) not in (dict, bool):
        raise TypeError
    return part.document.node(f"{part.pointer}/{step}", raw)


def _children(part: Part, key: str) -> list[Node]:
    return [_child(part, f"{key}/{at}", one) for at, one in enumerate(_as(part.keys.get(key, []), list))]


def _members(part: Part, _: Any) -> tuple[Members, ...]:
    keys = part.keys
    if "patternProperties" in keys and part.document.validator is None:
        raise ValueError  # A pattern may not be a regular expression.
    properties, patterns = (
        {name: _child(part, f"{key}/{escape_step(name)}", one) for name, one in _as(keys.get(key, {}), dict).items()}
        for key in ("properties", "patternProperties")
    )
    members = Members(properties, patterns, _rest(part, "additionalProperties", "unevaluatedProperties"))
    return (members,) if any(members) else ()


def _items(part: Part, _: Any) -> Items | None:
    old = type(part.keys.get("items")) is list
    first = _children(part, "items" if old else "prefixItems")
    rest = _rest(part, "additionalItems" if old else "items", "unevaluatedItems")
    return Items(tuple(first), rest) if any(first) or rest else None


def _rest(part: Part, key: str, unevaluated: str) -> Node:
    """Return the schema of the members or items that are not listed."""
    if key in part.keys:
        return _child(part, key, part.keys[key])
    if unevaluated not in part.keys:
        return ANY
    nearby = set(COMBINING) | ({"contains"} if key != "additionalProperties" else set())
    if nearby & part.keys.keys():
        raise ValueError  # It depends on what the other schemas say of the same value.
    return _child(part, unevaluated, part.keys[unevaluated])


def _contains(part: Part, raw: Any) -> frozenset[Contains]:
    keys = part.keys
    most = _count(keys["maxContains"]) if "maxContains" in keys else None
    rule = Contains(_child(part, "contains", raw), _count(keys.get("minContains", 1)), most)
    return frozenset((rule,) if rule.least or most is not None else ())


_Read = Callable[[Part, Any], Any]


def _plain(read: Callable[[Any], Any]) -> _Read:
    return lambda part, value: read(value)


_RULES: tuple[tuple[str, str, tuple[str, ...], _Read], ...] = (
    ("number", "minimum", ("minimum",), lambda part, value: (exact(value), 0)),
    ("number", "minimum", ("exclusiveMinimum",), lambda part, value: (exact(value), 1)),
    ("number", "maximum", ("maximum",), lambda part, value: (exact(value), 1)),
    ("number", "maximum", ("exclusiveMaximum",), lambda part, value: (exact(value), 0)),
    ("number", "multipleOf", ("multipleOf",), _plain(_step)),
    *(("string", key, (key,), _plain(_count)) for key in ("minLength", "maxLength")),
    *(("string", key, (key,), lambda part, value: _texts([value])) for key in ("pattern", "format")),
    *(("array", key, (key,), _plain(_count)) for key in ("minItems", "maxItems")),
    ("array", "uniqueItems", ("uniqueItems",), lambda part, value: _as(value, bool)),
    ("array", "items", ("items", "prefixItems", "unevaluatedItems"), _items),
    ("array", "contains", ("contains",), _contains),
    *(("object", key, (key,), _plain(_count)) for key in ("minProperties", "maxProperties")),
    ("object", "required", ("required",), _plain(_texts)),
    *(("object", "dependentRequired", (key,), _plain(_pairs)) for key in ("dependentRequired", "dependencies")),
    (
        "object",
        "properties",
        ("properties", "patternProperties", "additionalProperties", "unevaluatedProperties"),
        _members,
    ),
    ("object", "propertyNames", ("propertyNames",), lambda part, raw: _child(part, "propertyNames", raw) | STRINGS),
)
"""A type, its rule, the keywords that give it, and what reads the first of them that is there (see `_MEET`)."""


# Branches


_unknown = count()


def _unread(branches: Iterable[Branch], keyword: str, value: Any, part: Part | None) -> tuple[Branch, ...]:
    """Return branches with a keyword that cannot be read. Without a schema, it is equal to no other."""
    context = part.raw if part is not None and keyword.startswith("unevaluated") else value
    where: object = next(_unknown) if part is None else part.document.context(keyword, context)
    rules = {"unread": {(keyword, exact_digest(context), where): value}}
    return tuple(meet(one, Branch(one.type, rules)) for one in branches)


def _without(branches: Iterable[Branch], node: Node) -> tuple[Branch, ...]:
    return tuple(meet(one, Branch(one.type, {"not": frozenset((node,))})) for one in branches)


def _merged(branches: Iterable[Branch]) -> tuple[Branch, ...]:
    """Return branches with the listed values of a type in one of them, and none without values."""
    merged: list[Branch] = []
    listed: dict[str, int] = {}
    for branch in branches:
        if branch.values is not None and not branch.values:
            continue
        if branch.values is None or branch.rules or (at := listed.setdefault(branch.type, len(merged))) == len(merged):
            merged.append(branch)
        else:
            merged[at] = Branch(branch.type, {}, {**(merged[at].values or {}), **branch.values})
    return tuple(merged)


def _are_apart(a: Mapping[str, set[str]], b: Mapping[str, set[str]]) -> bool:
    """Whether a required member has other values in one than in the other."""
    return any(name in b and values.isdisjoint(b[name]) for name, values in a.items())


def constant(value: Any) -> Node:
    """Return the schema that only `value` matches."""
    return Document({"const": value}).root


def type_of(value: Any) -> str:
    """Return the type of a value; `number` for integers too."""
    name = json_type(value)
    return "number" if name == "integer" else name
