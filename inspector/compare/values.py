"""Compares two JSON values by place, with rules for ignored differences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from typing import Any, Literal, NamedTuple

from inspector.compare.alignment import align, pair_by_key
from inspector.compare.json_places import ROOT, ValuePath
from inspector.compare.json_values import Digests, DuplicateKeys, exact_digest, type_of
from inspector.compare.rules import DEFAULT, ComparisonRules, RuleMachine, RuleState, compiled

MAX_DIFFERENCES = 10_000
"""Most differences of two values."""

DifferenceKind = Literal["added", "removed", "changed", "moved", "repeated"]


class Difference(NamedTuple):
    """One difference. `a` and `b` are the values of both sides: the caller's own objects, of any size."""

    kind: DifferenceKind
    """The kind of difference.

    `added`: only in B; `removed`: only in A; `moved`: an item of a list at another position in B; `repeated`: a key
    that one of the objects has more often (`a` and `b` are the counts).
    """
    path: ValuePath
    """Its place in A; for an added value, in B."""
    path_b: ValuePath
    """Its place in B; for a removed value, in A."""
    a: Any = None
    b: Any = None
    note: str = ""
    """The kind of change, unless it is obvious: `string → null`, `integer → number` (1 and 1.0)."""

    def as_json(self) -> dict[str, Any]:
        """For `--json`: kind, path, both values where there are two, and the note."""
        document: dict[str, Any] = {"kind": self.kind, "json_path": str(self.path)}
        if self.kind in ("changed", "moved") and self.path_b != self.path:
            document["json_path_b"] = str(self.path_b)
        if self.kind not in ("added", "moved"):
            document["a"] = self.a
        if self.kind not in ("removed", "moved"):
            document["b"] = self.b
        return document | ({"note": self.note} if self.note else {})


@dataclass(slots=True)
class ValueComparison:
    """The result of `compare`."""

    differences: list[Difference] = field(default_factory=list)
    """In the order of A; added values at their position."""
    ignored: int = 0
    """The number of differences that the rules ignored."""
    ignored_places: list[str] = field(default_factory=list)
    """The first of them: each its place in A or B as a JSON Pointer, and the rule."""
    truncated: bool = False
    """There are more than `MAX_DIFFERENCES`."""

    @property
    def same(self) -> bool:
        """Whether the two are equal under the rules."""
        return not self.differences


def compare(
    a: Any, b: Any, rules: ComparisonRules = DEFAULT, *, method: str = "", name: str = "", limit: int = MAX_DIFFERENCES
) -> ValueComparison:
    """Compare two JSON values, as `json` or `reading.read` return them. `method` and `name` select the rules.

    Types are distinguished, 1 and 1.0 too; integers are exact; NaN equals NaN. Work is linear in the size of the values
    (except sorting), at any depth. The same values give the same differences, in the same order.
    """
    return compare_under(a, b, compiled(rules, method, name), limit)


def compare_under(a: Any, b: Any, machine: RuleMachine, limit: int = MAX_DIFFERENCES) -> ValueComparison:
    """`compare` with prepared rules."""
    return _Walk(machine, limit).run(a, b)


class _Pair(NamedTuple):
    """Two paired values that still have to be compared."""

    a: Any
    b: Any
    path: ValuePath
    path_b: ValuePath
    state: RuleState


_PLACES = 20
"""Places of ignored differences that are kept."""
_UNCOMPARED = "a path that is not compared"


class _Walk:
    def __init__(self, machine: RuleMachine, limit: int) -> None:
        self._machine = machine
        self._most = limit
        self._digests = Digests(machine)
        self._result = ValueComparison()

    def run(self, a: Any, b: Any) -> ValueComparison:
        todo: list[_Pair | Difference] = [_Pair(a, b, ROOT, ROOT, self._machine.root)]
        while todo:
            item = todo.pop()
            if isinstance(item, Difference):
                if len(self._result.differences) >= self._most:
                    self._result.truncated = True
                    break
                self._result.differences.append(item)
            else:
                todo += reversed(list(self._one(item)))
        return self._result

    def _ignore(self, path: ValuePath, rule: str) -> None:
        """Count a difference that a rule ignores."""
        self._result.ignored += 1
        if len(self._result.ignored_places) < _PLACES:
            self._result.ignored_places.append(f"{path.pointer()} ({rule})")

    def _one(self, pair: _Pair) -> Iterator[_Pair | Difference]:
        a, b, path, path_b, state = pair
        if state.ignore:
            if not _equal(a, b):
                self._ignore(path, _UNCOMPARED)
            return
        type_a, type_b = type_of(a), type_of(b)
        numbers = type_a in _NUMBERS and type_b in _NUMBERS
        if state.volatile and (type_a == type_b or numbers):
            if not _equal(a, b):
                self._ignore(path, "an id or a time, by its name")
        elif type_a != type_b:
            if numbers and state.tolerance is not None and is_near(a, b, state.tolerance):
                self._ignore(path, "within the tolerance")
            else:
                yield Difference("changed", path, path_b, a, b, f"{type_a} → {type_b}")
        elif type_a == "object":
            yield from self._objects(pair)
        elif type_a == "array":
            yield from self._lists(pair)
        elif numbers:
            if a != b and (a == a or b == b):
                if state.tolerance is not None and is_near(a, b, state.tolerance):
                    self._ignore(path, "within the tolerance")
                else:
                    yield Difference("changed", path, path_b, a, b)
        elif a != b:
            if type_a == "string" and self._machine.masked(a) == self._machine.masked(b):
                self._ignore(path, "an id or a time in the text")
            else:
                yield Difference("changed", path, path_b, a, b)

    def _objects(self, pair: _Pair) -> Iterator[_Pair | Difference]:
        a, b, path, path_b, state = pair
        for key, value in a.items():
            below = state.step(key)
            if key in b:
                yield from self._repeats(pair, key, below)
                yield _Pair(value, b[key], path / key, path_b / key, below)
            elif below.ignore:
                self._ignore(path / key, _UNCOMPARED)
            else:
                yield _removed(path / key, value)
        for key, value in b.items():
            if key in a:
                continue
            below = state.step(key)
            if below.ignore:
                self._ignore(path_b / key, _UNCOMPARED)
            else:
                yield _added(path_b / key, value)

    def _repeats(self, pair: _Pair, key: str, below: RuleState) -> Iterator[_Pair | Difference]:
        """Compare the values of a duplicate key before its last one."""
        a, b = pair.a, pair.b
        if not isinstance(a, DuplicateKeys) and not isinstance(b, DuplicateKeys):
            return
        values_a = a.values_of(key) if isinstance(a, DuplicateKeys) else [a[key]]
        values_b = b.values_of(key) if isinstance(b, DuplicateKeys) else [b[key]]
        place, place_b = pair.path / key, pair.path_b / key
        if len(values_a) != len(values_b):
            if below.ignore:
                self._ignore(place, _UNCOMPARED)
            else:
                yield Difference("repeated", place, place_b, len(values_a), len(values_b))
            return
        for value_a, value_b in zip(values_a[:-1], values_b[:-1], strict=True):
            yield _Pair(value_a, value_b, place, place_b, below)

    def _lists(self, pair: _Pair) -> Iterator[_Pair | Difference]:
        a, b, path, path_b, state = pair
        if len(a) == len(b) == 1:
            yield _Pair(a[0], b[0], path / 0, path_b / 0, state.step(0))
            return
        digests_a = [self._digests.of(item, state.step(at)) for at, item in enumerate(a)]
        digests_b = [self._digests.of(item, state.step(at)) for at, item in enumerate(b)]
        rows: Iterable[_Row]
        by_size = state.unordered and state.step(0).tolerance is not None
        if digests_a == digests_b and not by_size:
            rows = ((at, at, False) for at in range(len(a)))
        elif state.unordered:
            rows = _without_order(a, b, digests_a, digests_b, numbers=by_size)
        else:
            rows = _in_order(a, b, digests_a, digests_b)
        for i, j, moved in rows:
            if j is None:
                assert i is not None
                if state.step(i).ignore:
                    self._ignore(path / i, _UNCOMPARED)
                else:
                    yield _removed(path / i, a[i])
            elif i is None:
                if state.step(j).ignore:
                    self._ignore(path_b / j, _UNCOMPARED)
                else:
                    yield _added(path_b / j, b[j])
            else:
                below = state.step(i)
                if moved and below.ignore:
                    self._ignore(path / i, _UNCOMPARED)
                elif moved:
                    yield Difference("moved", path / i, path_b / j, a[i], b[j])
                yield _Pair(a[i], b[j], path / i, path_b / j, below)


_NUMBERS = ("integer", "number")


def _removed(path: ValuePath, value: Any) -> Difference:
    return Difference("removed", path, path, value, None)


def _added(path: ValuePath, value: Any) -> Difference:
    return Difference("added", path, path, None, value)


def _equal(a: Any, b: Any) -> bool:
    """Whether two values are equal in every part."""
    return a is b or exact_digest(a) == exact_digest(b)


def is_near(a: int | float, b: int | float, tolerance: tuple[float, float]) -> bool:
    """Whether two numbers are within a tolerance; exact for any size."""
    if a == b:
        return True
    if not isfinite_number(a) or not isfinite_number(b):
        return False
    apart = abs(Fraction(a) - Fraction(b))
    absolute, relative = tolerance
    return apart <= Fraction(absolute) or apart <= Fraction(relative) * max(abs(Fraction(a)), abs(Fraction(b)))


def isfinite_number(value: int | float) -> bool:
    """Whether a number is neither NaN nor infinite; an integer of any size is neither."""
    return isinstance(value, int) or isfinite(value)


_Row = tuple[int | None, int | None, bool]
"""Which item of A is which of B, and whether its position differs."""


def _in_order(a: list[Any], b: list[Any], digests_a: list[bytes], digests_b: list[bytes]) -> Iterator[_Row]:
    """Yield every item of both lists once, in the order of A.

    Items only in B come before the next pair. Of equally good alignments the result is the same if A and B are swapped.
    """
    if (len(b), digests_b) < (len(a), digests_a):
        aligner = _Aligner(b, a, digests_b, digests_a)
        to_b = {j: i for i, j in aligner.pairs.items()}
        moved = {aligner.pairs[i] for i in aligner.moved}
    else:
        aligner = _Aligner(a, b, digests_a, digests_b)
        to_b, moved = aligner.pairs, aligner.moved
    taken = set(to_b.values())
    at_b = 0
    for i in range(len(a)):
        j = to_b.get(i)
        if j is not None and i not in moved:
            yield from ((None, before, False) for before in range(at_b, j) if before not in taken)
            at_b = j + 1
        yield i, j, i in moved
    yield from ((None, rest, False) for rest in range(at_b, len(b)) if rest not in taken)


class _Aligner:
    """Pairs the items of two lists: equal ones, then those with one name, then those in one gap."""

    def __init__(self, a: list[Any], b: list[Any], digests_a: list[bytes], digests_b: list[bytes]) -> None:
        self._a, self._b = a, b
        self.pairs: dict[int, int] = dict(align(digests_a, digests_b))
        self._taken = set(self.pairs.values())
        self.moved: set[int] = set()
        self._pair_elsewhere(digests_a, digests_b)
        labels_a, labels_b = [_label(item) for item in a], [_label(item) for item in b]
        for i, j in self._gaps(lambda left, right: align([labels_a[i] for i in left], [labels_b[j] for j in right])):
            self._add_pair(i, j)
        self._pair_elsewhere(
            [label if label[0] in _STRONG else None for label in labels_a],
            [label if label[0] in _STRONG else None for label in labels_b],
        )
        for i, j in self._gaps(
            lambda left, right: _unnamed(left, right, [labels_a[i] for i in left], [labels_b[j] for j in right])
        ):
            self._add_pair(i, j)

    def _add_pair(self, i: int, j: int, *, moved: bool = False) -> None:
        self.pairs[i] = j
        self._taken.add(j)
        if moved:
            self.moved.add(i)

    def _pair_elsewhere(self, keys_a: Sequence[Any], keys_b: Sequence[Any]) -> None:
        """Pair the k-th remaining item of A with the k-th of B with the same key, at any position."""
        left = ((i, key) for i, key in enumerate(keys_a) if i not in self.pairs and key is not None)
        right = ((j, key) for j, key in enumerate(keys_b) if j not in self._taken and key is not None)
        for i, j in pair_by_key(left, right):
            self._add_pair(i, j, moved=True)

    def _gaps(self, pairs: Callable[[list[int], list[int]], list[tuple[int, int]]]) -> list[tuple[int, int]]:
        """Apply `pairs(left, right)` to the items between two ordered pairs."""
        gaps: list[tuple[int, int]] = []
        fixed = [(i, j) for i, j in sorted(self.pairs.items()) if i not in self.moved]
        from_a = from_b = 0
        for i, j in (*fixed, (len(self._a), len(self._b))):
            left = [at for at in range(from_a, i) if at not in self.pairs]
            right = [at for at in range(from_b, j) if at not in self._taken]
            if left and right:
                gaps += ((left[x], right[y]) for x, y in pairs(left, right))
            from_a, from_b = i + 1, j + 1
        return gaps


_STRONG = ("name", "uri", "uriTemplate", "id", "key")


def _label(item: Any) -> tuple[str, str]:
    """Return the label of an item: its name if it has one, else its type."""
    if isinstance(item, dict):
        for key in (*_STRONG, "type"):
            value = item.get(key)
            if type(value) is str or type(value) is int:
                return key, str(value)[:1000]
    return "", type_of(item)


def _unnamed(
    left: list[int], right: list[int], labels_a: list[tuple[str, str]], labels_b: list[tuple[str, str]]
) -> list[tuple[int, int]]:
    """Yield items without a name, in order."""
    plain_a = [at for at in range(len(left)) if labels_a[at][0] not in _STRONG]
    plain_b = [at for at in range(len(right)) if labels_b[at][0] not in _STRONG]
    return list(zip(plain_a, plain_b, strict=False))


def _without_order(
    a: list[Any], b: list[Any], digests_a: list[bytes], digests_b: list[bytes], *, numbers: bool
) -> Iterator[_Row]:
    """Pair the items of two lists whose order is irrelevant: equal ones, those with the same name, then the rest.

    The rest is paired in the order of its digests, which is the same if A and B are swapped; with a tolerance, where
    all numbers have one digest, they are paired by size.
    """
    order_a = sorted(range(len(a)), key=lambda at: _rank(a[at], digests_a[at], numbers))
    order_b = sorted(range(len(b)), key=lambda at: _rank(b[at], digests_b[at], numbers))
    to_b = dict(pair_by_key(((i, digests_a[i]) for i in order_a), ((j, digests_b[j]) for j in order_b)))
    taken = set(to_b.values())
    left = ((i, _label(a[i])) for i in order_a if i not in to_b)
    right = ((j, _label(b[j])) for j in order_b if j not in taken)
    to_b |= dict(pair_by_key(left, right))
    taken = set(to_b.values())
    yield from ((i, to_b.get(i), False) for i in range(len(a)))
    yield from ((None, j, False) for j in range(len(b)) if j not in taken)


def _rank(item: Any, digest: bytes, numbers: bool) -> tuple[int, Any]:
    if numbers and type(item) in (int, float) and isfinite_number(item):
        return 0, Fraction(item)
    return 1, digest
