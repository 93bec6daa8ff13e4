"""Names the differences between two JSON Schemas, each at its place in the data, with a value that proves it.

The forms of both are walked side by side. What each difference does by itself is corrected by what is proven of the
schemas around it: a difference that changes no set is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from inspector.compare.json_values import exact_digest
from inspector.compare.schema_documents import ANY, Document, Node, label_of
from inspector.compare.schema_forms import (
    COMBINING,
    INFINITE,
    STRINGS,
    TYPES,
    Branch,
    Effort,
    Forms,
    TooMuch,
    exact,
    type_of,
)
from inspector.compare.schema_inclusion import Inclusion, Mode
from inspector.compare.schema_witness import Step, Witnesses, other_names, texts
from inspector.protocol.jsonrpc import excerpt

Side = Literal["input", "output"]
"""The direction of values: an input from client to server, an output back."""
SetEffect = Literal["narrower", "wider", "both", "unsure", "added", "removed"]
"""The effect of a change on the set: fewer, more, other or unknown values; a property added or removed."""

PROOF_STEPS = 100_000
"""Steps of reading and proving in one comparison."""
WITNESS_STEPS = 100_000
"""Steps of making and validating values in one comparison."""
MAX_WITNESSES = 100
"""Differences of two schemas for which a value is looked for."""
MAX_DEPTH = 24
"""Levels of members and items whose differences are named one by one."""
SHOWN = 60
"""Characters shown of a value in a phrase."""
NAMED = 5
"""Values listed in a phrase."""
TOO_MUCH = "is too deep or too large to compare"


class _Place(NamedTuple):
    """A pair of schemas at one place."""

    name: str
    a: Node
    b: Node
    steps: tuple[tuple[_Place, Branch, Branch, str | int | None], ...] = ()
    """The way down: the pairs around it, the branches of both, and the member or item (see `Step`)."""

    def below(self, name: str, a: Node, b: Node, branches: tuple[Branch, Branch], key: str | int | None) -> _Place:
        """Return the place of a member, an item, or the name of a member."""
        return _Place(name, a, b, (*self.steps, (self, *branches, key)))

    def member(self, name: str) -> _Place:
        """Return this place as that of a member, for a difference that is not in the member itself."""
        return self._replace(name=f"{self.name}.{name}" if self.name else name)


class SchemaDifference(NamedTuple):
    """One difference. Names in `place` and `what` are the server's text."""

    at: _Place
    effect: SetEffect
    what: str
    a: Any = None
    b: Any = None
    """The values before and after, if they tell more than the phrase."""
    is_new: bool = False
    """Whether something was added: a property, an alternative."""
    rules: tuple[Any, Any] = (None, None)
    """The rule by itself, in both schemas, as a schema: a value proves the difference only if it breaks the rule."""
    refused: Node | None = None
    """A schema that values must not match, in place of such a rule."""
    witness: tuple[Any, ...] = ()
    """The value that proves it."""

    @property
    def place(self) -> str:
        """The place in the data: `filters[].name`; empty for the whole."""
        return self.at.name

    @property
    def key(self) -> tuple[str, str, str]:
        """Its place, effect and phrase: equal for equal differences."""
        return self.place, self.effect, self.what


def differences(old: Document, new: Document, side: Side, effort: Effort) -> list[SchemaDifference]:
    """Return the differences between two schemas, in the order of their places. Takes at most the steps of `effort`."""
    return _Comparison(old, new, side, effort).all()


class _Comparison:
    def __init__(self, old: Document, new: Document, side: Side, effort: Effort) -> None:
        self.side = side
        self.effort = effort
        self.forms = Forms(Effort(PROOF_STEPS, effort))
        self.proofs = Inclusion(self.forms)
        self.root = _Place("", old.root, new.root)
        self._open: set[tuple[Node, Node]] = set()
        """Pairs that are being compared: a schema may refer to itself."""
        self._given_up = False

    def all(self) -> list[SchemaDifference]:
        differences = self._compare(self.root)
        breaks: SetEffect = "narrower" if self.side == "input" else "wider"
        harmless = ("wider", "added") if self.side == "input" else ("narrower", "added")
        if all(one.effect in harmless for one in differences):
            differences += self._unnamed(bool(differences))
        self.forms.effort = Effort(WITNESS_STEPS, self.effort)
        witnesses = Witnesses(self.forms)
        left = MAX_WITNESSES
        for at, one in enumerate(differences):
            if one.effect not in harmless and left:
                differences[at] = self._proven(witnesses, one, breaks)
                left -= 1
        return differences

    def _unnamed(self, is_changed: bool) -> list[SchemaDifference]:
        """Return what is not proven to be harmless, or to be equal, where no difference is named."""
        first, second = self._ordered(self.root.a, self.root.b)
        words = ("refuse values that matched", "allow values that did not match")
        harm, rest = self._ordered(*words)
        try:
            if not self.proofs.included(first, second):
                return [SchemaDifference(self.root, "unsure", f"may {harm}")]
            if is_changed or all(self._both_ways(self.root, "named")):
                return []
            return [SchemaDifference(self.root, "wider" if self.side == "input" else "narrower", f"may {rest}")]
        except TooMuch:
            return [SchemaDifference(self.root, "unsure", TOO_MUCH)]

    def _doubtful(self, effect: SetEffect) -> SetEffect:
        """Return the effect of a difference that may be none: `unsure` where it would be harmful."""
        return effect if effect == ("wider" if self.side == "input" else "narrower") else "unsure"

    def _ordered(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Return the one whose values have to match, and the one that they have to match."""
        return (a, b) if self.side == "input" else (b, a)

    def _proven(self, witnesses: Witnesses, one: SchemaDifference, breaks: SetEffect) -> SchemaDifference:
        """Return a difference with the value that proves it."""
        steps = []
        for place, a, b, key in one.at.steps:
            first, second = self._ordered(a, b)
            steps.append(Step(self._ordered(place.a, place.b)[0], first, second, key))
        rule = self._ordered(*one.rules)[1]
        alone = None if rule is None else Document(rule).root

        def is_reason(value: Any) -> bool:
            if one.refused is not None:
                return self.forms.accepts(one.refused, value) is True
            return alone is None or self.forms.accepts(alone, value) is False

        try:
            proof = witnesses.find(
                self._ordered(one.at.a, one.at.b), is_reason, steps, self._ordered(self.root.a, self.root.b)
            )
        except TooMuch:
            return one
        if not proof:
            return one
        return one._replace(effect=breaks if one.effect == "unsure" else one.effect, witness=tuple(proof))

    # The walk

    def _compare(self, at: _Place) -> list[SchemaDifference]:
        """Return the differences between a pair of schemas."""
        if (at.a, at.b) in self._open or self._given_up:
            return []
        self._open.add((at.a, at.b))
        try:
            if all(self._both_ways(at, "named")):
                return []
            forth, back = self._both_ways(at, "lenient")
            if len(at.steps) > MAX_DEPTH:
                return [SchemaDifference(at, "unsure", TOO_MUCH)]
            return self._settled(self._pair(at), forth, back)
        except TooMuch:
            given_up, self._given_up = self._given_up, True
            return [] if given_up else [SchemaDifference(at, "unsure", TOO_MUCH)]
        finally:
            self._open.discard((at.a, at.b))

    def _both_ways(self, at: _Place, mode: Mode) -> tuple[bool, bool]:
        return self.proofs.included(at.a, at.b, mode=mode), self.proofs.included(at.b, at.a, mode=mode)

    def _settled(self, differences: Iterable[SchemaDifference], forth: bool, back: bool) -> list[SchemaDifference]:
        """Return the differences that are real, if it is proven that `a` is part of `b` (`forth`), or the reverse."""
        harmless = forth if self.side == "input" else back
        kept = []
        for one in differences:
            effect = one.effect
            if (effect == "narrower" and forth) or (effect == "wider" and back):
                continue
            if effect == "both" and (forth or back):
                effect = "wider" if forth else "narrower"
            if effect == "unsure" and harmless:
                effect = "wider" if self.side == "input" else "narrower"
            kept.append(one._replace(effect=effect))
        return kept

    def _pair(self, at: _Place) -> Iterator[SchemaDifference]:
        of_a, of_b = self.forms.branches(at.a), self.forms.branches(at.b)
        if not of_a or not of_b:
            yield SchemaDifference(
                at, *(("wider", "allows something now") if of_b else ("narrower", "allows nothing now"))
            )
            return
        types = _types(at, of_a, of_b)
        if types is not None:
            yield types
        yield from self._values(at, of_a, of_b)
        for name in TYPES:
            mine, other = ([one for one in side if one.type == name and one.values is None] for side in (of_a, of_b))
            if len(mine) == len(other) == 1:
                differences = list(self._branch(at, mine[0], other[0]))
            else:
                differences = list(self._alternatives(at, mine, other)) if mine and other else []
            yield from (
                one for one in differences if types is None or one.place != at.name or not one.what.startswith("type ")
            )

    def _values(self, at: _Place, of_a: Sequence[Branch], of_b: Sequence[Branch]) -> Iterator[SchemaDifference]:
        """Compare listed values of the types that both have."""
        only, gone = self._lost(of_a, of_b, at.b)
        if only:
            yield SchemaDifference(at, "narrower", f"allows only {_some(only)} now", rules=(None, {"enum": only}))
        if gone:
            yield SchemaDifference(
                at, "narrower", f"no longer allows {_some(gone)}", rules=(None, {"not": {"enum": gone}})
            )
        only, new = self._lost(of_b, of_a, at.a)
        if only:
            yield SchemaDifference(at, "wider", f"is no longer one of {_some(only)}", rules=({"enum": only}, None))
        if new:
            yield SchemaDifference(at, "wider", f"allows {_some(new)} too", rules=({"not": {"enum": new}}, None))

    def _lost(self, of_a: Sequence[Branch], of_b: Sequence[Branch], b: Node) -> tuple[list[Any], list[Any]]:
        """Return the only values that `b` still allows of a type, and the listed ones that it does not allow."""
        only: dict[str, Any] = {}
        gone: list[Any] = []
        for one in of_a:
            others = [other for other in of_b if other.type == one.type]
            if one.values is not None:
                gone += self.proofs.outside(b, one)[0] if others else ()
            elif all(other.values is not None for other in others):
                only |= {key: value for other in others for key, value in (other.values or {}).items()}
        return [*only.values()], gone

    def _alternatives(self, at: _Place, of_a: list[Branch], of_b: list[Branch]) -> Iterator[SchemaDifference]:
        """Compare several branches of one type: pairs those that differ by their labels."""
        left_a = [one for one in of_a if not any(self._are_equal(one, other) for other in of_b)]
        left_b = [other for other in of_b if not any(self._are_equal(one, other) for one in of_a)]
        if not all(one.label for one in (*left_a, *left_b)):
            yield from self._combined(at, left_a)
            return
        pairs: list[tuple[str, list[SchemaDifference]]] = []
        for one in list(left_a):
            other = next((other for other in left_b if other.label == one.label), None)
            if other is not None:
                left_a.remove(one)
                left_b.remove(other)
                forth, back = self.proofs.covers(at.b, one), self.proofs.covers(at.a, other)
                pairs.append((other.label, self._settled(self._branch(at, one, other), forth, back)))
        everywhere: set[tuple[str, str, str]] = set()
        if len(pairs) == len(of_b):
            everywhere = set.intersection(*({one.key for one in differences} for _, differences in pairs))
        for label, differences in pairs:
            for change in differences:
                within = change.place[len(at.name) :]
                within = f".{within}" if within and within[0] not in ".[|" else within
                name = change.place if change.key in everywhere else f"{at.name}|{label}{within}"
                yield change._replace(at=change.at._replace(name=name))
        for one in left_a:
            if not self.proofs.covers(at.b, one):
                yield SchemaDifference(at, "narrower", f"no longer allows {one.label}")
        for one in left_b:
            if not self.proofs.covers(at.a, one):
                yield SchemaDifference(at, "wider", f"allows {one.label} too", is_new=True)

    def _combined(self, at: _Place, of_a: list[Branch]) -> Iterator[SchemaDifference]:
        """Compare alternatives without names: only the keywords that they come from can be named."""
        effect = self._doubtful("wider") if all(self.proofs.covers(at.b, one) for one in of_a) else "unsure"
        raws = [[part.raw for part in node if type(part.raw) is dict] for node in (at.a, at.b)]
        before, after = ({key: raw[key] for raw in side for key in COMBINING if key in raw} for side in raws)
        key = next((key for key in COMBINING if exact_digest(before.get(key)) != exact_digest(after.get(key))), None)
        if key is None:
            yield SchemaDifference(at, effect, "a schema that it refers to changed")
        else:
            what = f"{key} {_word(key in before, key in after)}"
            yield SchemaDifference(at, effect, what, before.get(key), after.get(key))

    def _are_equal(self, a: Branch, b: Branch) -> bool:
        return self.proofs.is_part(a, b) and self.proofs.is_part(b, a)

    def _branch(self, at: _Place, a: Branch, b: Branch) -> Iterator[SchemaDifference]:
        unread = {key[0] for side in (a, b) for key in side.rules.get("unread", ())}
        for rule in dict.fromkeys((*a.rules, *b.rules)):
            if rule in _INSIDE or rule in unread:
                continue
            forth, back = self.proofs.obeys(a, rule, b), self.proofs.obeys(b, rule, a)
            if not forth or not back:
                effect: SetEffect = "wider" if forth else "narrower" if back else "unsure"
                yield from _PHRASES.get(rule, _Comparison._bound)(self, at, a, b, rule, effect)
        yield from self._members(at, a, b)
        yield from self._items(at, a, b)
        names_a, names_b = (side.rules.get("propertyNames", STRINGS) for side in (a, b))
        yield from self._compare(at.below(f"{at.name} (propertyNames)".strip(), names_a, names_b, (a, b), None))

    # One rule

    def _bound(self, at: _Place, a: Branch, b: Branch, rule: str, effect: SetEffect) -> Iterator[SchemaDifference]:
        before, after = _bound_text(rule, a.rules.get(rule)), _bound_text(rule, b.rules.get(rule))
        none = "0" if rule in ("minLength", "minItems", "minProperties") else "none"
        mine, other = (none if one is None else excerpt(one[1], SHOWN) for one in (before, after))
        key, other_key = (rule if one is None else one[0] for one in (before or after, after or before))
        what = f"{key} {mine} → {f'{other_key} ' if key != other_key else ''}{other}"
        if rule in ("minLength", "maxLength") and ("pattern" in a.rules or "pattern" in b.rules):
            effect = self._doubtful(effect)  # the pattern may bound the length already
        if rule == "multipleOf":
            effect = "both" if effect == "unsure" else effect
            if {mine, other} == {"1", "none"}:
                what = "type number → integer" if before is None else "type integer → number"
        rules = tuple(None if one is None else dict([one]) for one in (before, after))
        yield SchemaDifference(at, effect, what, rules=(rules[0], rules[1]))

    def _unique(self, at: _Place, a: Branch, b: Branch, rule: str, effect: SetEffect) -> Iterator[SchemaDifference]:
        what = "items may be equal now" if effect == "wider" else "items must differ now"
        yield SchemaDifference(at, effect, what, rules=({rule: True}, {rule: True}))

    def _texts(self, at: _Place, a: Branch, b: Branch, rule: str, effect: SetEffect) -> Iterator[SchemaDifference]:
        """Compare patterns or formats."""
        before, after = (sorted(side.rules.get(rule, ())) for side in (a, b))
        gone = ", ".join(one for one in before if one not in after) or None
        new = ", ".join(one for one in after if one not in before) or None
        if effect == "unsure" or rule == "format":
            what = f"{rule} changed" if gone and new else f"{rule} is new" if new else f"{rule} is gone"
            effect = self._doubtful(effect)  # A validator may not know the format.
        else:
            what = "must match a pattern now" if new else "no longer has to match a pattern"
        rules = tuple({"allOf": [{rule: one} for one in side]} if side else None for side in (before, after))
        yield SchemaDifference(at, effect, what, gone, new, rules=(rules[0], rules[1]))

    def _required(self, at: _Place, a: Branch, b: Branch, rule: str, effect: SetEffect) -> Iterator[SchemaDifference]:
        for name in sorted(a.required ^ b.required):
            alone = {"required": [name]}
            if name in a.required and (name in b.names or name not in a.names):
                yield SchemaDifference(at.member(name), "wider", "is no longer required", rules=(alone, None))
            elif name in b.required and (name in a.names or name not in b.names):
                yield SchemaDifference(at.member(name), "narrower", "is required now", rules=(None, alone))

    def _absent(self, at: _Place, a: Branch, b: Branch, rule: str, effect: SetEffect) -> Iterator[SchemaDifference]:
        before, after = (side.rules.get(rule, frozenset()) for side in (a, b))
        for name in sorted(before ^ after):
            alone = {"not": {"required": [name]}}
            if name in before:
                yield SchemaDifference(at.member(name), "wider", "is allowed now", rules=(alone, None))
            else:
                yield SchemaDifference(at.member(name), "narrower", "is no longer allowed", rules=(None, alone))

    def _dependent(self, at: _Place, a: Branch, b: Branch, rule: str, effect: SetEffect) -> Iterator[SchemaDifference]:
        before, after = (side.rules.get(rule, frozenset()) for side in (a, b))
        for name, other in sorted(before ^ after):
            alone = {rule: {name: [other]}}
            one, two = name[:SHOWN], other[:SHOWN]
            if (name, other) in before:
                yield SchemaDifference(at, "wider", f"{one} no longer requires {two}", rules=(alone, None))
            else:
                yield SchemaDifference(at, "narrower", f"{one} requires {two} now", rules=(None, alone))

    def _not(self, at: _Place, a: Branch, b: Branch, rule: str, effect: SetEffect) -> Iterator[SchemaDifference]:
        cases: tuple[tuple[Branch, Branch, str, SetEffect], ...] = (
            (b, a, "must not", "narrower"),
            (a, b, "may", "wider"),
        )
        for mine, other, may, alone in cases:
            for refused in sorted(mine.rules.get(rule, ()), key=_label):
                if not self.proofs.obeys(other, rule, Branch(mine.type, {rule: frozenset((refused,))})):
                    also = "also " if any("/oneOf/" in part.pointer for part in refused) else ""
                    what = f"{may} {also}match {_label(refused)} now"
                    yield SchemaDifference(at, self._doubtful(alone), what, refused=refused)

    def _contains(self, at: _Place, a: Branch, b: Branch, rule: str, effect: SetEffect) -> Iterator[SchemaDifference]:
        yield SchemaDifference(at, effect, f"contains {_word(rule in a.rules, rule in b.rules)}")

    def _unread(self, at: _Place, a: Branch, b: Branch, rule: str, effect: SetEffect) -> Iterator[SchemaDifference]:
        before, after = (side.rules.get(rule, {}) for side in (a, b))
        gone = {key[0]: value for key, value in before.items() if key not in after}
        new = {key[0]: value for key, value in after.items() if key not in before}
        for key in dict.fromkeys((*gone, *new)):
            word = _word(key in gone or key in a.rules, key in new or key in b.rules)
            what = "refers to a schema elsewhere" if key == "$ref" else f"{key[:SHOWN]} {word}"
            yield SchemaDifference(at, "unsure", what, gone.get(key), new.get(key))

    # Members and items

    def _members(self, at: _Place, a: Branch, b: Branch) -> Iterator[SchemaDifference]:
        for name in dict.fromkeys((*a.names, *b.names)):
            where, mine, other = at.member(name), self.forms.member(a, name), self.forms.member(b, name)
            was_none, is_none = self.forms.is_empty(mine), self.forms.is_empty(other)
            alone, without = {"required": [name]}, {"not": {"required": [name]}}
            if name not in b.names and not was_none and (is_none or not other):
                # Where anything may stand under its name, no value proves it.
                rules = (alone if name in a.required else {}, without if is_none else {})
                yield SchemaDifference(where, "removed", "is gone", rules=rules)
            elif name not in a.names and name in b.required and name not in a.required:
                yield SchemaDifference(where, "narrower", "is new, and required", is_new=True, rules=(None, alone))
            elif was_none and not is_none:
                what = "is allowed now" if name in a.names else "is new, where more was not allowed"
                yield SchemaDifference(where, "wider", what, is_new=True, rules=(without, None))
            elif is_none and not was_none:
                yield SchemaDifference(where, "narrower", "is no longer allowed", rules=(None, without))
            elif name in a.names or mine:
                yield from self._compare(at.below(where.name, mine, other, (a, b), name))
            else:
                yield SchemaDifference(where, "added", "is new", is_new=True)
        yield from self._others(at, a, b)

    def _others(self, at: _Place, a: Branch, b: Branch) -> Iterator[SchemaDifference]:
        """Compare what holds of members that are not listed."""
        rest_a, rest_b = (ANY.union(*(one.rest for one in side.members)) for side in (a, b))
        pattern_a, pattern_b = map(_patterns, (a, b))
        closed_a, closed_b = self.forms.is_empty(rest_a), self.forms.is_empty(rest_b)
        if closed_a != closed_b:
            only = [
                {
                    "properties": dict.fromkeys(side.names, True),
                    "patternProperties": dict.fromkeys(patterns, True),
                    "additionalProperties": False,
                }
                for side, patterns in ((a, pattern_a), (b, pattern_b))
            ]
            if closed_b:
                yield SchemaDifference(at, "narrower", "no longer allows other properties", rules=(None, only[1]))
            else:
                yield SchemaDifference(at, "wider", "allows other properties", rules=(only[0], None))
        elif not closed_a:
            unused = next((name for name in other_names() if name not in a.names and name not in b.names), "")
            yield from self._compare(at.below(f"{at.name}.*".lstrip("."), rest_a, rest_b, (a, b), unused))
        for pattern in dict.fromkeys((*pattern_a, *pattern_b)):
            where = at.member(f"/{pattern}/")
            if pattern in pattern_a and pattern in pattern_b:
                name = next(iter(texts(pattern)), "other")
                yield from self._compare(at.below(where.name, pattern_a[pattern], pattern_b[pattern], (a, b), name))
            else:
                new = pattern in pattern_b
                what = "is a new pattern of names" if new else "is no longer a pattern of names"
                yield SchemaDifference(where, self._doubtful("narrower" if new else "wider"), what)

    def _items(self, at: _Place, a: Branch, b: Branch) -> Iterator[SchemaDifference]:
        end = min(a.rules.get("maxItems", INFINITE), b.rules.get("maxItems", INFINITE))
        first = max(len(a.items.first), len(b.items.first))
        for index in range(int(min(first, end))):
            yield from self._compare(
                at.below(f"{at.name}[{index}]", a.items.at(index), b.items.at(index), (a, b), index)
            )
        if end > first:
            yield from self._compare(at.below(f"{at.name}[]", a.items.rest, b.items.rest, (a, b), first))


_INSIDE = frozenset(("properties", "items", "propertyNames"))
"""Rules about parts of a value, which are compared part by part."""
_PHRASES = {
    "uniqueItems": _Comparison._unique,
    "pattern": _Comparison._texts,
    "format": _Comparison._texts,
    "required": _Comparison._required,
    "absent": _Comparison._absent,
    "dependentRequired": _Comparison._dependent,
    "not": _Comparison._not,
    "contains": _Comparison._contains,
    "unread": _Comparison._unread,
}
"""What names the difference of a rule; the others are bounds."""


def _patterns(branch: Branch) -> dict[str, Node]:
    """Return what the members whose names match a pattern have to match."""
    patterns: dict[str, Node] = {}
    for members in branch.members:
        for pattern, node in members.patterns.items():
            patterns[pattern] = patterns.get(pattern, ANY) | node
    return patterns


def _types(at: _Place, a: Sequence[Branch], b: Sequence[Branch]) -> SchemaDifference | None:
    """Compare the types of values."""
    before, after = _type_names(a), _type_names(b)
    if before == after:
        return None
    effect: SetEffect = "wider" if before < after else "narrower" if before > after else "both"
    gone, new = (_reported_types(one) - _reported_types(other) for one, other in ((before, after), (after, before)))
    everything = len(TYPES) + 1 in (len(before), len(after))
    if not gone and not everything:
        what = f"allows {' or '.join(sorted(new))} too"
    elif not new and not everything:
        what = f"no longer allows {' or '.join(sorted(gone))}"
    else:
        what = f"type {_type_words(before)} → {_type_words(after)}"
    return SchemaDifference(at, effect, what, rules=({"type": sorted(before)}, {"type": sorted(after)}))


def _type_names(branches: Sequence[Branch]) -> frozenset[str]:
    """Return the types of values, where number includes integer."""
    names = {one.type for one in branches}
    if "number" in names:
        names.add("integer")
        numbers = [one for one in branches if one.type == "number"]
        if all(_has_integers_only(one) for one in numbers):
            names.discard("number")
    return frozenset(names)


def _has_integers_only(branch: Branch) -> bool:
    if branch.values is not None:
        return all(exact(value).denominator == 1 for value in branch.values.values() if type_of(value) == "number")
    step: Fraction | None = branch.rules.get("multipleOf")
    return step is not None and step.denominator == 1


def _reported_types(names: frozenset[str]) -> frozenset[str]:
    return names - {"integer"} if "number" in names else names


def _type_words(names: frozenset[str]) -> str:
    return "any" if len(names) == len(TYPES) + 1 else " or ".join(sorted(_reported_types(names)))


def _bound_text(rule: str, value: Any) -> tuple[str, float] | None:
    """Return a bound as a keyword and its number."""
    if value is None:
        return None
    key = rule
    if rule in ("minimum", "maximum"):
        value, mark = value
        if mark == (rule == "minimum"):
            key = f"exclusive{rule.capitalize()}"
    number = Fraction(value)
    return key, int(number) if number.denominator == 1 else float(number)


def _label(node: Node) -> str:
    """Return what people call a schema: a name if it has one, else how it is written."""
    label = []
    for part in sorted(node, key=lambda part: part.pointer):
        named = type(part.raw) is dict and any(key in part.raw for key in ("$ref", "const", "title"))
        only_type = type(part.raw) is dict and [*part.raw] == ["type"]
        label.append(label_of(part.raw) if named or only_type else excerpt(part.raw, SHOWN))
    return " and ".join(label) or "anything"


def _some(values: list[Any]) -> str:
    listed = ", ".join(excerpt(value, SHOWN) for value in values[:NAMED])
    return listed + (f" and {len(values) - NAMED:,} more" if len(values) > NAMED else "")


def _word(before: bool, after: bool) -> str:
    return "changed" if before and after else "is new" if after else "is gone"
