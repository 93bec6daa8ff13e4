"""Proves that every value of one JSON Schema matches another one.

A proof follows the forms: each alternative of the first has to be part of an alternative of the second, rule by rule,
or its values are few and each of them is validated. What is not proven may still be true.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from inspector.compare.schema_documents import ANY, Node
from inspector.compare.schema_forms import (
    INFINITE,
    MAX_CHECKED,
    Branch,
    Contains,
    Forms,
    Items,
    Members,
    constant,
    exact,
    type_of,
)

Mode = Literal["strict", "lenient", "named"]
"""What is proven: `strict`, as it stands. `lenient`, leaving out members that the first schema neither lists nor
restricts: clients do not send, and servers do not return, what their schema does not name. `named`, also that both list
the same names of members, which tell a reader more than which values match."""

MAX_DEPTH = 24
"""Levels of members and items that a proof follows."""
MAX_VALUES = 64
"""Integers in a range, or values of a member, that are looked at one by one."""


class Inclusion:
    """Proofs about the schemas of one comparison; each is made once."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self._proven: dict[tuple[Node, Node, Mode], bool] = {}
        """Results. A pair whose proof is under way counts as proven: values are finite, and a member is smaller."""
        self._trail: list[tuple[Node, Node, Mode]] = []
        """The pairs that were proven, perhaps by one that is under way."""
        self._depth = 0

    def included(self, a: Node, b: Node, *, mode: Mode = "lenient") -> bool:
        """Whether every value of `a` is proven to match `b`."""
        if b <= a:
            return True
        self.forms.effort.spend()  # Always: what is known when the effort ends may rest on a proof that did not.
        pair = (a, b, mode)
        if (known := self._proven.get(pair)) is not None:
            return known
        if self._depth >= MAX_DEPTH:
            return False
        self._proven[pair] = True
        start = len(self._trail)
        self._trail.append(pair)
        self._depth += 1
        proven = all(self.covers(b, branch, mode=mode) for branch in self.forms.branches(a))
        self._depth -= 1
        if not proven:
            for one in self._trail[start:]:
                del self._proven[one]
            del self._trail[start:]
            self._proven[pair] = False
        return proven

    def covers(self, node: Node, branch: Branch, *, mode: Mode = "lenient") -> bool:
        """Whether every value of a branch is proven to match a schema."""
        alternatives = self.forms.alike(branch, node)
        if branch.values is not None:
            return not any(self.outside(node, branch))
        if any(self.is_part(branch, one, mode=mode) for one in alternatives):
            return True
        refused = branch.rules.get("not", ())
        if any(self.is_part(branch, one, mode="strict") for no in refused for one in self.forms.alike(branch, no)):
            return True  # No value matches the branch.
        integers = _integers(branch)
        if integers is not None:
            return all(self.forms.accepts(node, value) for value in integers)
        return len(alternatives) > 1 and any(
            all(any(self.is_part(case, one, mode=mode) for one in alternatives) for case in cases)
            for cases in self._cases(branch)
        )

    def outside(self, node: Node, branch: Branch) -> tuple[list[Any], list[Any]]:
        """Return the listed values of a branch that a schema refuses, and those that it may refuse."""
        alternatives = self.forms.alike(branch, node)
        lists = [one for one in alternatives if one.values is not None]
        same = [one.values or {} for one in lists if all(self.obeys(branch, rule, one) for rule in one.rules)]
        left = [value for key, value in (branch.values or {}).items() if not any(key in one for one in same)]
        self.forms.effort.spend(len(left) // 100)
        if len(lists) == len(alternatives) and not any(one.rules for one in lists):
            return left, []
        matching = [self.forms.accepts(node, value) for value in left[:MAX_CHECKED]]
        pairs = list(zip(left, matching, strict=False))
        unknown = [value for value, matches in pairs if matches is None]
        return [value for value, matches in pairs if matches is False], unknown + left[MAX_CHECKED:]

    def _cases(self, branch: Branch) -> list[list[Branch]]:
        """Return a branch as cases, one for each value of a required member, in each possible way."""
        ways = []
        for name in sorted(branch.required):
            members = self.forms.branches(self.forms.member(branch, name))
            values = [value for one in members for value in (one.values or {}).values()]
            if 1 < len(values) <= MAX_VALUES and all(one.values is not None for one in members):
                only = ((Members({name: constant(value)}, {}, ANY),) for value in values)
                cases = (self.forms.meeting(branch, Branch("object", {"properties": one})) for one in only)
                ways.append([case for case in cases if case is not None])
        return ways

    def is_part(self, a: Branch, b: Branch, *, mode: Mode = "lenient") -> bool:
        """Whether every value of branch `a`, which lists none, is proven to match branch `b` of the same type."""
        if b.values is not None or (mode == "named" and a.names.keys() != b.names.keys()):
            return False
        return all(self.obeys(a, rule, b, mode=mode) for rule in b.rules)

    def obeys(self, a: Branch, rule: str, b: Branch, *, mode: Mode = "lenient") -> bool:
        """Whether the values of branch `a` are proven to obey a rule of branch `b`."""
        if rule not in b.rules:
            return True
        self.forms.effort.spend()
        return _CHECKS[rule](self, a, a.rules.get(rule), b.rules[rule], mode)

    # Rules: each is given the branch, its own rule, and that of the other schema

    def _properties(self, a: Branch, mine: tuple[Members, ...] | None, theirs: tuple[Members, ...], mode: Mode) -> bool:
        return all(self._members(a, one, mode) for one in theirs)

    def _members(self, a: Branch, theirs: Members, mode: Mode) -> bool:
        names, listed = a.names, a.rules.get("absent", frozenset())
        for name in dict.fromkeys((*names, *theirs.properties)):
            if name in listed or (mode == "lenient" and name not in names and not self.forms.member(a, name)):
                continue
            if not self.included(self.forms.member(a, name), self.forms.member_of(theirs, name), mode=mode):
                return False
        return any(self._others(one, theirs, mode) for one in a.members or (Members({}, {}, ANY),))

    def _others(self, mine: Members, theirs: Members, mode: Mode) -> bool:
        """Whether members that are not listed obey: those of a pattern, and the rest."""
        for pattern, node in theirs.patterns.items():
            same = mine.patterns.get(pattern)
            possible = (*mine.patterns.values(), mine.rest) if same is None else (same,)
            if not all(self.included(one, node, mode=mode) for one in possible):
                return False
        possible = (mine.rest, *(node for pattern, node in mine.patterns.items() if pattern not in theirs.patterns))
        return all(self.included(one, theirs.rest, mode=mode) for one in possible)

    def _items(self, a: Branch, mine: Items | None, theirs: Items, mode: Mode) -> bool:
        end = min(a.rules.get("maxItems", INFINITE), max(len(a.items.first), len(theirs.first)) + 1)
        return all(self.included(a.items.at(at), theirs.at(at), mode=mode) for at in range(int(end)))

    def _contains(self, a: Branch, mine: Any, theirs: frozenset[Contains], mode: Mode) -> bool:
        given = [*(mine or ()), Contains(ANY, a.rules.get("minItems", 0), a.rules.get("maxItems"))]
        return all(any(self._counts(a, one, other, mode) for one in given) for other in theirs)

    def _counts(self, a: Branch, mine: Contains, theirs: Contains, mode: Mode) -> bool:
        """Whether arrays with `mine` have the number of items of a kind that `theirs` requires."""
        some = mine.node | (a.items.rest if not a.items.first else ANY)
        enough = not theirs.least or (mine.least >= theirs.least and self.included(some, theirs.node, mode=mode))
        few = theirs.most is None or (
            mine.most is not None and mine.most <= theirs.most and self.included(theirs.node, mine.node, mode="strict")
        )
        return enough and few

    def _property_names(self, a: Branch, mine: Node | None, theirs: Node, mode: Mode) -> bool:
        if self.included(mine or ANY, theirs, mode=mode):
            return True
        return self.is_closed(a) and all(self.forms.accepts(theirs, name) for name in a.names)

    def is_closed(self, a: Branch) -> bool:
        """Whether an object has no members but those that are listed."""
        return any(not one.patterns and self.forms.is_empty(one.rest) for one in a.members)

    def _not(self, a: Branch, mine: frozenset[Node] | None, theirs: frozenset[Node], mode: Mode) -> bool:
        return all(
            any(self.included(refused, one, mode="strict") for one in mine or ()) or self._apart(a, refused)
            for refused in theirs
        )

    def _apart(self, a: Branch, node: Node) -> bool:
        """Whether no value of a branch is proven to match a schema."""
        others = [
            other
            for one in self.forms.alike(a, node)
            for other in ([one] if one.values is None else map(_around, one.values.values()))
        ]
        return all(self.forms.meeting(a, other) is None for other in others)


_Check = Callable[[Inclusion, Branch, Any, Any, Mode], bool]


def _at_least(_: Inclusion, a: Branch, mine: Any, theirs: Any, mode: Mode) -> bool:
    return mine is not None and mine >= theirs


def _at_most(_: Inclusion, a: Branch, mine: Any, theirs: Any, mode: Mode) -> bool:
    return mine is not None and mine <= theirs


_CHECKS: dict[str, _Check] = {
    **dict.fromkeys(("minimum", "minLength", "minItems"), _at_least),
    **dict.fromkeys(("maximum", "maxLength", "maxItems"), _at_most),
    **dict.fromkeys(("pattern", "format"), _at_least),  # Sets: every text of the other is there.
    "unread": lambda _, a, mine, theirs, mode: mine is not None and theirs.keys() <= mine.keys(),
    "multipleOf": lambda _, a, mine, theirs, mode: mine is not None and mine % theirs == 0,
    "uniqueItems": lambda _, a, mine, theirs, mode: mine is True or a.rules.get("maxItems", INFINITE) <= 1,
    "items": Inclusion._items,
    "contains": Inclusion._contains,
    "minProperties": lambda _, a, mine, theirs, mode: max(mine or 0, len(a.required)) >= theirs,
    "maxProperties": lambda proofs, a, mine, theirs, mode: (
        (INFINITE if mine is None else mine) <= theirs or (proofs.is_closed(a) and len(a.names) <= theirs)
    ),
    "required": lambda _, a, mine, theirs, mode: a.required >= theirs,
    "absent": lambda proofs, a, mine, theirs, mode: all(
        name in (mine or ()) or proofs.forms.is_empty(proofs.forms.member(a, name)) for name in theirs
    ),
    "dependentRequired": lambda _, a, mine, theirs, mode: all(
        pair in (mine or ()) or pair[1] in a.required or pair[0] in a.rules.get("absent", ()) for pair in theirs
    ),
    "properties": Inclusion._properties,
    "propertyNames": Inclusion._property_names,
    "not": Inclusion._not,
}
"""How each rule of a form is proven."""


def _integers(branch: Branch) -> list[int] | None:
    """Return the numbers of a branch, if they are few integers."""
    (low, _), (high, _) = (branch.rules.get(key, (None, 0)) for key in ("minimum", "maximum"))
    step = branch.rules.get("multipleOf")
    if low is None or high is None or step is None or step.denominator != 1 or (high - low) / step >= MAX_VALUES:
        return None
    return list(range(int(low), int(high) + 1, int(step)))


def _around(value: Any) -> Branch:
    """Return a branch that `value` matches, and little else."""
    if isinstance(value, str):
        return Branch("string", {"minLength": len(value), "maxLength": len(value)})
    if isinstance(value, list):
        items = Items(tuple(map(constant, value)), ANY)
        return Branch("array", {"minItems": len(value), "maxItems": len(value), "items": items})
    if isinstance(value, dict):
        members = Members({name: constant(one) for name, one in value.items()}, {}, ANY)
        return Branch("object", {"required": frozenset(value), "properties": (members,)})
    if type_of(value) == "number":
        return Branch("number", {"minimum": (exact(value), 0), "maximum": (exact(value), 1)})
    return Branch(type_of(value))
