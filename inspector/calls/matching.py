"""One value against what a step expects of it: members, and matchers such as `min` or `one_of`. Equality is that of
`compare`.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.calls.models import MATCHERS, Matcher, given
from inspector.calls.regex import BadPattern, Pattern
from inspector.calls.templates import inserted_text
from inspector.compare.json_places import ROOT, ValuePath
from inspector.compare.json_values import type_of
from inspector.compare.rules import EXACT
from inspector.compare.values import Difference, compare, is_near, isfinite_number
from inspector.config.foreign_files import nearest
from inspector.text import quantity

if TYPE_CHECKING:
    from inspector.calls.collection import Flow
    from inspector.calls.variables import Variables

SHOWN = 300
"""Characters of a value that are shown."""
MAX_SHOWN = 20
"""Differences, violations and failures that are listed."""


def excerpt(value: Any) -> str:
    """JSON text of a value, at most `SHOWN` characters of it, whatever its size."""
    if isinstance(value, str) and len(value) > SHOWN:
        return f'{json.dumps(value[:SHOWN], ensure_ascii=False)[:-1]}…" ({len(value):,} characters)'
    pieces, size = [], 0
    try:
        for piece in json.JSONEncoder(ensure_ascii=False).iterencode(value):
            pieces.append(piece[: SHOWN + 2])
            size += len(piece)
            if size > SHOWN:
                break
        else:
            return "".join(pieces)
    except (RecursionError, ValueError, TypeError):
        return "a value that is nested too deeply"
    text = "".join(pieces)[:SHOWN]
    return f"{text}… ({quantity(len(value), 'item')})" if isinstance(value, list) else f"{text}…"


def clip(text: str) -> str:
    """A text, at most `SHOWN` characters of it."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def difference_text(difference: Difference) -> str:
    """One difference in a line."""
    path = difference.path
    match difference.kind:
        case "added":
            return f"{path}: only found, {excerpt(difference.b)}"
        case "removed":
            return f"{path}: missing, expected {excerpt(difference.a)}"
        case "moved":
            return f"{path}: stands at {difference.path_b}"
        case _:
            return f"{path}: expected {excerpt(difference.a)}, found {excerpt(difference.b)}"


MAX_ALIGNED = 10_000
"""Items of lists above which their differences are not listed."""
MAX_SEARCHED = 16 << 20
"""Characters of a text above which no regular expression is searched in it."""
_CONTENT_TYPES = ("text", "image", "audio", "resource", "resource_link")
_ARTICLES = {
    "string": "a string",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
    "text": "a text block",
    "image": "an image block",
    "audio": "an audio block",
    "resource": "a resource block",
    "resource_link": "a resource link",
}
_ESCAPED = re.compile(r"[\\.+*?()|\[\]{}^$#&\-~]")


class JudgingStopped(Exception):
    """The result is not wanted any more."""


class Failure(NamedTuple):
    """One place where an expectation does not hold."""

    path: ValuePath
    expected: str
    actual: str
    note: str = ""


class Matching:
    """Compares values with expectations of one flow, and puts these into words."""

    def __init__(self, variables: Variables, flow: Flow, stopped: Callable[[], bool]) -> None:
        self._variables = variables
        self._flow = flow
        self._stopped = stopped
        self._checks: dict[int, list[Callable[[Matcher, Any, ValuePath], Iterator[Failure]]]] = {}

    def failures(self, expected: Any, actual: Any, place: ValuePath) -> list[Failure]:
        """Where the value at `place` is not as expected. Raises `JudgingStopped`."""
        if self._stopped():
            raise JudgingStopped
        if isinstance(expected, Matcher):
            return list(self._matcher(expected, actual, place))
        if isinstance(expected, dict):
            if not isinstance(actual, dict):
                return [Failure(place, self.phrase(expected), excerpt(actual))]
            failures = []
            for name, inner in expected.items():
                if name in actual:
                    failures += self.failures(inner, actual[name], place / name)
                elif not wants_nothing(inner):
                    failures.append(self.missing(inner, actual, place, name))
            return failures
        inserted = self._variables.insert(expected)
        if isinstance(inserted, dict) and isinstance(expected, str):
            return _members(inserted, actual, place)
        return _unequal(inserted, actual, place)

    def holds(self, expected: Any, actual: Any) -> bool:
        """Whether a value is as expected."""
        return not self.failures(expected, actual, ROOT)

    def _matcher(self, matcher: Matcher, actual: Any, place: ValuePath) -> Iterator[Failure]:
        if given(matcher, "exists") and not matcher.exists:
            yield Failure(place, "nothing", excerpt(actual))
            return
        for check in self._checks_of(matcher):
            yield from check(matcher, actual, place)

    def _checks_of(self, matcher: Matcher) -> list[Callable[[Matcher, Any, ValuePath], Iterator[Failure]]]:
        """The checks of the keys that a matcher has: found once, because one may be applied to a million rows."""
        checks = self._checks.get(id(matcher))
        if checks is None:
            present = matcher.model_fields_set
            names = [name for name in type(matcher).model_fields if name in present]
            checks = [self._check(name) for name in names if name != "exists"]
            self._checks[id(matcher)] = checks
        return checks

    def _check(self, name: str) -> Callable[[Matcher, Any, ValuePath], Iterator[Failure]]:
        if name in _BOUNDS:
            return partial(self._bound, name)
        if name in _LENGTHS:
            return partial(self._length, name)
        check: Callable[[Matcher, Any, ValuePath], Iterator[Failure]] = getattr(self, f"_{name.rstrip('_')}")
        return check

    def _matches(self, matcher: Matcher, actual: Any, place: ValuePath) -> Iterator[Failure]:
        expected = f"a text that matches {matcher.matches}"
        if not isinstance(actual, str):
            yield Failure(place, expected, excerpt(actual))
            return
        if len(actual) > MAX_SEARCHED:
            yield Failure(place, expected, f"a text of {len(actual):,} characters", "It is too long to be searched.")
            return
        try:
            pattern = _pattern(self._variables.insert(matcher.matches, lambda value: _escaped(inserted_text(value))))
        except BadPattern as problem:
            yield Failure(place, expected, excerpt(actual), f"This is not a regular expression: {problem}")
            return
        if not pattern.search(actual):
            # As it is written, not as it is searched: a secret with escapes in it would not be masked.
            written = self._variables.insert(matcher.matches, inserted_text)
            yield Failure(place, f"a text that matches {written}", excerpt(actual))

    def _contains(self, matcher: Matcher, actual: Any, place: ValuePath) -> Iterator[Failure]:
        expected = matcher.contains
        if isinstance(actual, str):
            inserted = self._variables.insert(expected) if isinstance(expected, str) else expected
            if not isinstance(inserted, str) or inserted not in actual:
                is_text = isinstance(inserted, (str, dict, list, Matcher))
                note = "" if is_text else f"A text contains only texts: quote {excerpt(inserted)}."
                yield Failure(place, f"a text that contains {self.phrase(expected)}", excerpt(actual), note)
        elif not isinstance(actual, list) or not any(self.holds(expected, item) for item in actual):
            yield Failure(place, f"contains {self.phrase(expected)}", excerpt(actual))

    def _type(self, matcher: Matcher, actual: Any, place: ValuePath) -> Iterator[Failure]:
        names = matcher.type if isinstance(matcher.type, list) else [matcher.type]
        if not any(_is_type(actual, name) for name in names):
            yield Failure(place, _type_words(names), excerpt(actual))

    def _one_of(self, matcher: Matcher, actual: Any, place: ValuePath) -> Iterator[Failure]:
        values = self._variables.insert(matcher.one_of)
        if not any(same(value, actual) for value in values):
            yield Failure(place, f"one of {', '.join(map(excerpt, values))}", excerpt(actual))

    def _not(self, matcher: Matcher, actual: Any, place: ValuePath) -> Iterator[Failure]:
        if self.holds(matcher.not_, actual):
            yield Failure(place, f"not {self.phrase(matcher.not_)}", excerpt(actual))

    def _bound(self, name: str, matcher: Matcher, actual: Any, place: ValuePath) -> Iterator[Failure]:
        holds, text = _BOUNDS[name]
        limit = self.number(getattr(matcher, name))
        if not _is_number(actual) or not holds(actual, limit):
            yield Failure(place, f"{text} {excerpt(limit)}", excerpt(actual))

    def _near(self, matcher: Matcher, actual: Any, place: ValuePath) -> Iterator[Failure]:
        value, tolerance = map(self.number, matcher.near)
        numbers = _is_number(actual) and all(map(isfinite_number, (actual, value, tolerance)))
        if not numbers or not is_near(actual, value, (tolerance, 0.0)):
            yield Failure(place, f"{excerpt(value)} ± {excerpt(tolerance)}", excerpt(actual))

    def _length(self, name: str, matcher: Matcher, actual: Any, place: ValuePath) -> Iterator[Failure]:
        holds, text = _LENGTHS[name]
        length = self.number(getattr(matcher, name))
        expected = f"a list of {text}{quantity(length, 'item')}"
        if not isinstance(actual, list):
            yield Failure(place, expected, excerpt(actual))
        elif not holds(len(actual), length):
            yield Failure(place, expected, quantity(len(actual), "item"), excerpt(actual))

    def _each(self, matcher: Matcher, actual: Any, place: ValuePath) -> Iterator[Failure]:
        if not isinstance(actual, list):
            yield Failure(place, "a list", excerpt(actual))
            return
        failed = 0
        for at, item in enumerate(actual):
            for failure in self.failures(matcher.each, item, place / at):
                yield failure
                failed += 1
            if failed >= MAX_SHOWN:
                return

    def _any(self, matcher: Matcher, actual: Any, place: ValuePath) -> Iterator[Failure]:
        if not isinstance(actual, list) or not any(self.holds(matcher.any, item) for item in actual):
            yield Failure(place, f"an item: {self.phrase(matcher.any)}", excerpt(actual))

    def _schema(self, matcher: Matcher, actual: Any, place: ValuePath) -> Iterator[Failure]:
        from inspector.calls.collection import schema_at

        for error in schema_at(self._flow, matcher.schema_).errors(actual, limit=MAX_SHOWN):
            yield Failure(place, "a value that matches the schema", clip(f"{error.path or '/'}: {error.message}"))

    def _exactly(self, matcher: Matcher, actual: Any, place: ValuePath) -> Iterator[Failure]:
        yield from _unequal(self._variables.insert(matcher.exactly), actual, place)

    def number(self, value: Any) -> Any:
        """A limit as a number, with variables inserted; 0 if it is not one."""
        inserted = self._variables.insert(value)
        if not _is_number(inserted):
            try:
                inserted = json.loads(inserted) if isinstance(inserted, str) else 0
            except ValueError:
                inserted = 0
        return inserted if _is_number(inserted) else 0

    def missing(self, expected: Any, actual: dict[str, Any], place: ValuePath, name: str) -> Failure:
        """The failure of an object without a member."""
        near = nearest(name, list(actual)[:1000])
        note = f"The object has “{near}”." if near else ""
        if not near and (matcher := nearest(name, list(MATCHERS))):
            note = f"“{name}” is compared as a member. Did you mean “{matcher}”?"
        return Failure(place / name, self.phrase(expected), "nothing: the member is missing", note)

    def phrase(self, expected: Any) -> str:
        """Return the expectation as a phrase or JSON text."""
        if isinstance(expected, Matcher):
            return self.describe(expected)
        if isinstance(expected, dict):
            inner = ", ".join(f"{name}: {self.phrase(item)}" for name, item in list(expected.items())[:MAX_SHOWN])
            return clip(f"an object with {inner}") if inner else "an object"
        return excerpt(self._variables.insert(expected))

    def describe(self, expected: Any) -> str:
        """Return the expectation as the end of a sentence about a value."""
        if not isinstance(expected, Matcher):
            return f"is {self.phrase(expected)}"
        names = expected.model_fields_set
        return clip(", ".join(_PHRASES[name](self, getattr(expected, name)) for name in _PHRASES if name in names))

    def insert(self, value: Any) -> Any:
        """Return a value with variables inserted."""
        return self._variables.insert(value)

    def shown(self, value: Any) -> str:
        """Return a value as it is shown, with variables inserted."""
        return excerpt(self.insert(value))

    def item_count(self, value: Any) -> str:
        """Return a number of items as it is shown."""
        return quantity(self.number(value), "item")


_BOUNDS = {"min": (operator.ge, "at least"), "max": (operator.le, "at most")}
_LENGTHS = {"items": (operator.eq, ""), "min_items": (operator.ge, "at least "), "max_items": (operator.le, "at most ")}
_PHRASES: dict[str, Callable[[Matching, Any], str]] = {
    "matches": lambda m, value: f"matches {m.insert(value)}",
    "contains": lambda m, value: f"contains {m.phrase(value)}",
    "type": lambda m, value: "is " + _type_words(value),
    "one_of": lambda m, value: f"is one of {', '.join(map(excerpt, m.insert(value)))}",
    "exists": lambda m, value: "exists" if value else "does not exist",
    "not_": lambda m, value: f"not: {m.describe(value)}",
    "min": lambda m, value: f"is at least {m.shown(value)}",
    "max": lambda m, value: f"is at most {m.shown(value)}",
    "near": lambda m, value: f"is {m.shown(value[0])} ± {m.shown(value[1])}",
    "items": lambda m, value: f"has {m.item_count(value)}",
    "min_items": lambda m, value: f"has at least {m.item_count(value)}",
    "max_items": lambda m, value: f"has at most {m.item_count(value)}",
    "each": lambda m, value: f"each item {m.describe(value)}",
    "any": lambda m, value: f"an item {m.describe(value)}",
    "schema_": lambda m, value: "matches the schema",
    "exactly": lambda m, value: f"is exactly {m.shown(value)}",
}
"""By key of a matcher, in the order of its fields, the end of a sentence about a value."""


def _type_words(names: str | Sequence[str]) -> str:
    return " or ".join(_ARTICLES[name] for name in ([names] if isinstance(names, str) else names))


def wants_nothing(expected: Any) -> bool:
    """Whether a step expects that a value does not exist."""
    return isinstance(expected, Matcher) and given(expected, "exists") and not expected.exists


def same(expected: Any, actual: Any) -> bool:
    """Whether two values are equal by the rules of `diff`: types count, integers are exact."""
    if type(expected) is type(actual) and isinstance(actual, (str, int, bool, type(None))) and expected == actual:
        return True
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) != len(actual):
        return False
    return compare(expected, actual, EXACT, limit=1).same


def _unequal(expected: Any, actual: Any, place: ValuePath) -> list[Failure]:
    if same(expected, actual):
        return []
    if isinstance(expected, list) and isinstance(actual, list) and max(len(expected), len(actual)) > MAX_ALIGNED:
        counts = f"Expected {quantity(len(expected), 'item')}, found {quantity(len(actual), 'item')}."
        return [Failure(place, excerpt(expected), excerpt(actual), counts)]
    if isinstance(expected, (dict, list)) and type(expected) is type(actual):
        compared = compare(expected, actual, EXACT, limit=MAX_SHOWN)
        return [
            Failure(place, excerpt(expected), excerpt(actual), "\n".join(map(difference_text, compared.differences)))
        ]
    note = ""
    if _is_number(expected) and _is_number(actual) and expected == actual:
        note = f"{type_of(expected)} and {type_of(actual)} are different types."
    elif isinstance(expected, str) is not isinstance(actual, str) and str(expected) == str(actual):
        note = "One is a string, the other is not."
    return [Failure(place, excerpt(expected), excerpt(actual), note)]


def _members(expected: dict[str, Any], actual: Any, place: ValuePath) -> list[Failure]:
    """The members of an object that a variable holds."""
    if not isinstance(actual, dict):
        return [Failure(place, excerpt(expected), excerpt(actual))]
    failures: list[Failure] = []
    for name, value in expected.items():
        if name not in actual:
            failures.append(Failure(place / name, excerpt(value), "nothing: the member is missing"))
        elif isinstance(value, dict):
            failures += _members(value, actual[name], place / name)
        else:
            failures += _unequal(value, actual[name], place / name)
    return failures


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_type(value: Any, name: str) -> bool:
    if name in _CONTENT_TYPES:
        return isinstance(value, dict) and value.get("type") == name
    json_type = type_of(value)
    return json_type == name or (name == "number" and json_type == "integer")


@lru_cache(maxsize=256)
def _pattern(text: str) -> Pattern:
    return Pattern(text)


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: f"\\{match[0]}", text)
