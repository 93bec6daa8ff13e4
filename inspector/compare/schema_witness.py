"""Makes texts that match a regular expression, as far as it is simple. Nothing is proven by them: validate them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from random import Random
from typing import Any, NamedTuple

from inspector.compare.schema_documents import Node, value_key
from inspector.compare.schema_forms import Branch, Forms, exact, type_of
from inspector.protocol.sample_values import FORMATS

MAX_LENGTH = 4_096
"""Characters of a text."""
MAX_NESTING = 30
"""Groups inside each other."""
_CLASSES = {"d": "01", "w": "a0A_", "s": " \t", "D": "a ", "W": "- ", "S": "a0", "n": "\n", "t": "\t", "r": "\r"}
_SOME = "a0A -_é"


def texts(pattern: str, variants: int = 4) -> list[str]:
    """Return a few texts, the shortest variant first; none if the pattern is not understood."""
    texts = []
    for variant in range(variants):
        try:
            texts.append(_Reader(pattern, variant).alternatives())
        except (_NotSimple, IndexError, ValueError):
            return []
    return list(dict.fromkeys(texts))


class _NotSimple(Exception):
    """The pattern has a part that no text is made for."""


class _Reader:
    """Reads a pattern once and makes the text of one variant of its choices and repetitions."""

    def __init__(self, pattern: str, variant: int) -> None:
        self.pattern = pattern
        self.variant = variant
        self.at = 0
        self.depth = 0

    def alternatives(self) -> str:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise _NotSimple
        alternatives = [self.sequence()]
        while self.next_is("|"):
            alternatives.append(self.sequence())
        self.depth -= 1
        if self.depth == 0 and self.at < len(self.pattern):
            raise _NotSimple
        return alternatives[self.variant % len(alternatives)]

    def sequence(self) -> str:
        made = ""
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            made += self.repeated(self.atom())
            if len(made) > MAX_LENGTH:
                raise _NotSimple
        return made

    def atom(self) -> str:
        char = self.pattern[self.at]
        self.at += 1
        if char in "^$":
            return ""
        if char == ".":
            return self.one_of("a0")
        if char == "[":
            return self.one_of(self.character_class())
        if char == "\\":
            return self.one_of(self.escaped())
        if char == "(":
            if self.next_is("?"):
                if self.next_is("P") or self.pattern[self.at] == "<":
                    if self.pattern[self.at + 1] in "=!":
                        raise _NotSimple
                    self.at = self.pattern.index(">", self.at)
                elif self.pattern[self.at] != ":":
                    raise _NotSimple
                self.at += 1
            made = self.alternatives()
            if not self.next_is(")"):
                raise _NotSimple
            return made
        if char in "*+?{}":
            raise _NotSimple
        return char

    def repeated(self, made: str) -> str:
        if self.at == len(self.pattern):
            return made
        least, most = {"*": (0, 3), "+": (1, 4), "?": (0, 1)}.get(self.pattern[self.at], (-1, -1))
        if least >= 0:
            self.at += 1
        elif self.next_is("{"):
            end = self.pattern.index("}", self.at)
            low, comma, high = self.pattern[self.at : end].partition(",")
            least = int(low or 0)
            most = int(high) if high else least + 3 * bool(comma)
            self.at = end + 1
        else:
            return made
        if self.at < len(self.pattern) and self.pattern[self.at] in "?+":
            self.at += 1
        times = min(least + self.variant, most)
        if times * len(made) > MAX_LENGTH:
            raise _NotSimple
        return made * times

    def escaped(self) -> str:
        char = self.pattern[self.at]
        self.at += 1
        if char in "xu":
            size = 2 if char == "x" else 4
            self.at += size
            return chr(int(self.pattern[self.at - size : self.at], 16))
        if char.isalnum() and char not in _CLASSES:
            raise _NotSimple
        return _CLASSES.get(char, char)

    def character_class(self) -> str:
        refused = self.next_is("^")
        character_class = ""
        while not self.next_is("]") or not character_class:
            char = self.pattern[self.at]
            self.at += 1
            some = self.escaped() if char == "\\" else char
            if self.pattern[self.at] == "-" and self.pattern[self.at + 1] != "]":
                last = self.pattern[self.at + 1]
                self.at += 2
                if last == "\\" or len(some) > 1 or last < some:
                    raise _NotSimple
                if refused:
                    character_class += "".join(one for one in _SOME if some <= one <= last) or some
                else:
                    character_class += some + last
            else:
                character_class += some
        return "".join(one for one in _SOME if one not in character_class) if refused else character_class

    def one_of(self, characters: str) -> str:
        return characters[self.variant % len(characters)]

    def next_is(self, char: str) -> bool:
        if self.pattern[self.at : self.at + 1] != char:
            return False
        self.at += 1
        return True


MAX_DEPTH = 5
"""Levels of members and items that values are made for."""
MAX_MADE = 400
"""Values made for one pair of schemas; half as many for each level below."""
MAX_PARTS = 12
"""Values tried for one member or item."""
MAX_NAMES = 24
"""Members of one object that are varied."""
MAX_ITEMS = 100
"""Items of an array, and members that are added to an object."""
MAX_TRIES = 12
"""Values of a part for which a whole value is made."""
RANDOM_OBJECTS = 60
"""Objects with members at random, from a fixed seed, after those with one and two."""
_WORDS = ("", "a", "A", "0")


Pair = tuple[Node, Node]
"""The schema that a value has to match, and the one that it has not to."""
Reason = Callable[[Any], bool]


class Step(NamedTuple):
    """One step from a schema down to a member or an item of its values."""

    node: Node
    branch: Branch
    other: Branch
    """The branch of the other schema at this place."""
    key: str | int | None
    """Its name or index. None: the value is itself the name of a member."""


class Witnesses:
    """Makes values for the schemas of one comparison."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self._made: dict[tuple[Node, tuple[Node, ...], int], list[Any]] = {}

    def find(self, pair: Pair, reason: Reason, steps: Sequence[Step], whole: Pair) -> list[Any]:
        """Return the smallest value found that matches the first schema of `whole` and not the second, in a list.

        So does the part of it that `steps` lead to, with `pair`; and `reason` says whether that is the wanted reason.
        The list is empty if none is found.
        """
        tries = 0
        for value in self._values(pair[0], pair[1:], 0):
            if self.forms.accepts(pair[1], value) is not False or not reason(value):
                continue
            for candidate in self._wrapped(value, steps):
                if self.forms.accepts(whole[0], candidate) and self.forms.accepts(whole[1], candidate) is False:
                    return [candidate]
            tries += 1
            if tries == MAX_TRIES:
                break
        return []

    def _wrapped(self, value: Any, steps: Sequence[Step]) -> list[Any]:
        """Return values that have `value` at the end of the steps."""
        values = [value]
        for step in reversed(steps):
            outer = (one for inner in values for one in islice(self._around(step, inner), MAX_PARTS))
            values = list(islice((one for one in outer if self.forms.accepts(step.node, one)), 2))
        return values

    def _around(self, step: Step, value: Any) -> Iterator[Any]:
        key = step.key
        if key is None:
            parts = self._values(self.forms.member(step.branch, value), (), 1)
            objects = self._objects(step.branch, [step.other], 1) if parts else iter(())
            yield from ({**base, value: parts[0]} for base in objects)
        elif isinstance(key, str):
            yield from ({**base, key: value} for base in self._objects(step.branch, [step.other], 1))
        else:
            arrays = (base for base in self._arrays(step.branch, [step.other], 1) if len(base) >= key)
            yield from ([*base[:key], value, *base[key + 1 :]] for base in arrays)

    def _values(self, node: Node, others: tuple[Node, ...], depth: int) -> list[Any]:
        """Return values that match a schema, the smallest first, chosen to be refused by others."""
        known = self._made.get((node, others, depth))
        if known is None:
            hints = [branch for other in others for branch in self.forms.branches(other)]
            made = (
                value
                for branch in self.forms.branches(node)
                for value in self._of(branch, [one for one in hints if one.type == branch.type], depth)
            )
            known = self._sorted(node, islice(made, MAX_MADE >> depth))
            self._made[node, others, depth] = known
        return known

    def _sorted(self, node: Node, values: Iterable[Any]) -> list[Any]:
        """Return those of some values that match a schema, each once, the smallest first."""
        keyed = {value_key(value): value for value in values}
        ordered = sorted(keyed, key=lambda key: (len(key), key))
        return [keyed[key] for key in ordered if self.forms.accepts(node, keyed[key])]

    def _of(self, branch: Branch, hints: list[Branch], depth: int) -> Iterator[Any]:
        for one in (branch, *hints):
            yield from (one.values or {}).values()
            for refused in sorted(one.rules.get("not", ()), key=_order) if depth < MAX_DEPTH else ():
                yield from self._values(refused, (), depth + 1)[:MAX_PARTS]
        if branch.values is not None:
            return
        if branch.type == "number":
            yield from _numbers([branch, *hints])
        elif branch.type == "string":
            yield from _strings([branch, *hints])
        elif depth < MAX_DEPTH:
            yield from (self._arrays if branch.type == "array" else self._objects)(branch, hints, depth)

    def _parts(self, node: Node, others: Iterable[Node], depth: int) -> list[Any]:
        """Return values for a member or an item: first one that the others match too."""
        others = tuple(dict.fromkeys(others))
        values = self._values(node, others, depth + 1)
        at = next((at for at, value in enumerate(values) if all(self.forms.accepts(one, value) for one in others)), 0)
        return values[at : at + 1] + values[:at] + values[at + 1 : MAX_PARTS]

    def _arrays(self, branch: Branch, hints: list[Branch], depth: int) -> Iterator[list[Any]]:
        both = (branch, *hints)
        kinds = {one.node for some in both for one in some.rules.get("contains", ())}
        longest = max(len(some.items.first) for some in both)
        parts: list[list[Any]] = []
        for count in _counts(both, ("minItems", "maxItems"), MAX_ITEMS):
            while len(parts) < count:
                at = min(len(parts), longest)
                if at < len(parts):
                    parts.append(parts[at])
                    continue
                node, others = branch.items.at(at), [hint.items.at(at) for hint in hints]
                special = [self._parts(node | kind, others, depth)[:3] for kind in sorted(kinds, key=_order)]
                parts.append(sum(special, self._parts(node, others, depth)))
            if not all(parts[:count]):
                return
            plain = [some[0] for some in parts[:count]]
            yield plain
            yield [some[at % len(some)] for at, some in enumerate(parts[:count])]
            for at in range(min(count, 3)):
                for value in parts[at]:
                    yield [*plain[:at], value, *plain[at + 1 :]]
                    yield [*plain[:at], *([value] * (count - at))]

    def _objects(self, branch: Branch, hints: list[Branch], depth: int) -> Iterator[dict[str, Any]]:
        pairs = branch.rules.get("dependentRequired", ())
        made: dict[str, list[Any]] = {}

        def parts(name: str) -> list[Any]:
            if name not in made:
                others = [self.forms.member(hint, name) for hint in hints]
                made[name] = self._parts(self.forms.member(branch, name), others, depth)
            return made[name]

        def completed(some: dict[str, Any]) -> dict[str, Any]:
            while more := {two for one, two in pairs if one in some and two not in some and parts(two)}:
                some = some | {name: parts(name)[0] for name in sorted(more)}
            return some

        required = sorted(branch.required)
        self.forms.effort.spend(1 + len(required))
        if not all(map(parts, required)):
            return
        base = {name: parts(name)[0] for name in required}
        least = branch.rules.get("minProperties", 0)
        if len(base) >= least:
            yield base
        names = [name for name in dict.fromkeys((*required, *self._names(branch, hints, depth))) if parts(name)]
        base |= {name: parts(name)[0] for name in names[:least]}
        names = names[:MAX_NAMES]
        yield completed(base)
        for name in names:
            yield from (completed({**base, name: value}) for value in parts(name))
        yield completed({name: parts(name)[0] for name in names})
        for one in names[:8]:
            for two in names[:8]:
                if one < two:
                    yield from (completed({**base, one: x, two: y}) for x in parts(one)[:3] for y in parts(two)[:3])
        random = Random(0)
        for _ in range(RANDOM_OBJECTS if len(names) > 1 else 0):
            some = {name: random.choice(parts(name)) for name in names if random.random() < 0.6}
            yield completed({**base, **some})

    def _names(self, branch: Branch, hints: list[Branch], depth: int) -> Iterator[str]:
        """Yield names of members: the listed ones, and some that stand for those that are not."""
        both = (branch, *hints)
        self.forms.effort.spend(sum(len(hint.names) for hint in both))
        yield from branch.names
        listed = {name for hint in both for name in (*hint.names, *hint.required)}
        yield from (name for name in sorted(listed) if self.forms.member(branch, name))
        for hint in both:
            yield from sorted({name for pair in hint.rules.get("dependentRequired", ()) for name in pair})
            yield from sorted(hint.rules.get("absent", ()))
            patterns = [pattern for one in hint.members for pattern in one.patterns]
            yield from (text for pattern in patterns[:MAX_NAMES] for text in texts(pattern, 2))
        for hint in both:
            if node := hint.rules.get("propertyNames"):
                strings = (value for value in self._values(node, (), depth + 1) if isinstance(value, str))
                yield from islice((name for name in strings if name not in listed), 3)
        most = max(_counts(both, ("minProperties", "maxProperties"), MAX_ITEMS))
        yield from islice((name for name in other_names() if name not in listed), most)


def other_names() -> Iterator[str]:
    """Yield names that stand for members that no schema lists."""
    yield "other"
    yield from map("other{}".format, range(2, MAX_ITEMS + MAX_NAMES))


def _numbers(branches: list[Branch]) -> Iterator[float]:
    points = {Fraction(0), Fraction(1)}
    steps = {branch.rules["multipleOf"] for branch in branches if "multipleOf" in branch.rules}
    for branch in branches:
        points.update(branch.rules[key][0] for key in ("minimum", "maximum") if key in branch.rules)
        points.update(exact(value) for value in (branch.values or {}).values() if type_of(value) == "number")
    for point in sorted(points, key=lambda number: (abs(number), number)):
        near = {point + by for by in (0, 1, -1, Fraction(1, 2), Fraction(-1, 2), *steps)}
        near |= {point // step * step + by for step in steps for by in (0, step, -step)}
        for number in sorted(near, key=lambda number: (abs(number), number)):
            yield int(number) if number.denominator == 1 else float(number)


def _strings(branches: list[Branch]) -> Iterator[str]:
    words = [*_WORDS]
    for branch in branches:
        words += (FORMATS[name] for name in sorted(branch.rules.get("format", ())) if name in FORMATS)
        words += (text for pattern in sorted(branch.rules.get("pattern", ())) for text in texts(pattern))
    yield from words
    # A pattern without an end matches longer texts, too.
    yield from (longer for word in words for longer in (f"{word}a", f"a{word}"))
    for count in _counts(branches, ("minLength", "maxLength"), MAX_LENGTH):
        yield from ((word or "a")[:count].ljust(count, (word or "a")[-1]) for word in words)


def _counts(branches: Iterable[Branch], keys: tuple[str, str], limit: int) -> list[int]:
    """Return lengths to try: at the bounds of branches and beside them."""
    bounds = {branch.rules.get(key, 0) for branch in branches for key in keys}
    return sorted({count for bound in bounds for count in (bound - 1, bound, bound + 1, 2) if 0 <= count <= limit})


def _order(node: Node) -> list[str]:
    """Return what puts schemas of one document into the same order each time."""
    return sorted(part.pointer for part in node)
