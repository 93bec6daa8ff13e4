"""Rules for ignored differences: places, texts of a known kind, tolerances for numbers, list order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import lru_cache

from inspector.compare.json_places import GlobStep, PathStep, parse_glob
from inspector.errors import UsageError
from inspector.reasons import regex_reason

MAX_MASKED = 1 << 20
"""Characters of a text above which patterns are not matched: it is equal or it is not."""
_KEPT_STEPS = 4096

REDACTED = ("redacted", r"‹redacted [0-9a-f]+›")
"""A redacted secret: its mark has another key in each recording."""

PATTERNS = (
    REDACTED,
    ("time", r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"),
    ("time", r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? \d?\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d(?: GMT)?"),
    ("time", r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} \d?\d \d{4} \d\d:\d\d:\d\d(?: GMT[+-]\d{4})?"),
    ("time", r"\b\d?\d:\d\d:\d\d(?:\.\d{1,9})?(?: ?[AP]M)?\b"),
    ("uuid", r"(?i)\b[0-9a-f]{8}(-?)(?:[0-9a-f]{4}\1){3}[0-9a-f]{12}\b"),
    ("duration", r"\b\d+(?:\.\d+)?\s?(?:ns|us|µs|μs|ms)\b"),
    ("duration", r"\b\d+\.\d+\s?(?:s|secs?|seconds)\b"),
)
"""Texts that differ in every run, by kind: a mask replaces them before texts are compared."""

VOLATILE = (
    "$.id",
    *(
        f"$..{name}"
        for name in """
        nextCursor cursor taskId progressToken requestId sessionId session_id elicitationId requestState traceparent
        tracestate timestamp createdAt created_at updatedAt updated_at lastUpdatedAt lastModified startedAt started_at
        finishedAt completedAt expiresAt expires_at duration durationMs duration_ms elapsed elapsedMs elapsed_ms uptime
        """.split()
    ),
)
"""Ids, cursors, tokens, times and durations by their names: they must exist, and have the same type."""

UNORDERED = ("*/list:$..required",)
"""Lists whose order is irrelevant: what a schema requires."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The most that two numbers may differ: `absolute`, or `relative` to the larger one; at `where` and below it."""

    absolute: float = 0.0
    relative: float = 0.0
    where: str = "$"


@dataclass(frozen=True, slots=True)
class ComparisonRules:
    """The ignored differences. A place is a path glob (see `paths`), after `METHOD:` or `METHOD NAME:` for certain
    messages.

    `tools/call get-*:$.result.content[*].text` are the texts in the answers of these tools. The root, `$`, is the
    message.
    """

    ignore: tuple[str, ...] = ()
    """Places that are not compared at all."""
    volatile: tuple[str, ...] = VOLATILE
    """Places whose value may differ, if both sides have one of the same type."""
    unordered: tuple[str, ...] = UNORDERED
    """Lists whose order is irrelevant."""
    patterns: tuple[tuple[str, str], ...] = PATTERNS
    """Texts that count as equal anywhere in strings: their kind, and a regular expression."""
    tolerances: tuple[Tolerance, ...] = ()

    def __post_init__(self) -> None:
        compiled(self)

    def plus(
        self,
        *,
        ignore: Iterable[str] = (),
        unordered: Iterable[str] = (),
        patterns: Iterable[str] = (),
        tolerances: Iterable[Tolerance] = (),
    ) -> ComparisonRules:
        """Return these rules and more. Raises `UsageError` for an invalid path or pattern."""
        return replace(
            self,
            ignore=(*self.ignore, *ignore),
            unordered=(*self.unordered, *unordered),
            patterns=(*self.patterns, *(("ignored", pattern) for pattern in patterns)),
            tolerances=(*self.tolerances, *tolerances),
        )


class RuleState:
    """The rules for one place, and by `step` for the places below it. States are shared and never change."""

    __slots__ = ("_machine", "_next", "ignore", "items", "tolerance", "unordered", "volatile")

    def __init__(self, machine: RuleMachine, items: frozenset[tuple[int, int]]) -> None:
        self.items = items
        self.ignore = self.volatile = self.unordered = False
        self.tolerance: tuple[float, float] | None = None
        self._machine = machine
        self._next: dict[PathStep, RuleState] = {}
        for number, at in sorted(items):
            kind, steps, tolerance = machine.places[number]
            if at < len(steps):
                continue
            if tolerance is not None:
                self.tolerance = (tolerance.absolute, tolerance.relative)
            elif kind == "ignore":
                self.ignore = True
            elif kind == "volatile":
                self.volatile = True
            else:
                self.unordered = True

    def step(self, key: PathStep) -> RuleState:
        """Return the state of the place one step further."""
        if not self.items:
            return self
        if isinstance(key, int) and not self._machine.counts:
            key = 0  # no rule names an index: all items of a list are equal
        step = self._next.get(key)
        if step is None:
            step = self._machine.after(self.items, key)
            if len(self._next) < _KEPT_STEPS:
                self._next[key] = step
        return step


class RuleMachine:
    """Rules prepared for one kind of message."""

    def __init__(self, rules: ComparisonRules, active: tuple[bool, ...]) -> None:
        rows = [
            *(("ignore", place, None) for place in rules.ignore),
            *(("volatile", place, None) for place in rules.volatile),
            *(("unordered", place, None) for place in rules.unordered),
            *(("tolerance", tolerance.where, tolerance) for tolerance in rules.tolerances),
        ]
        self.places: list[tuple[str, tuple[GlobStep, ...], Tolerance | None]] = [
            (kind, parse_glob(_split(place)[1]), tolerance)
            for (kind, place, tolerance), on in zip(rows, active, strict=True)
            if on
        ]
        self.counts = any(step.numbered for _, steps, _ in self.places for step in steps)
        self._masks = tuple((_compiled(pattern), f"‹{name}›") for name, pattern in rules.patterns)
        self._only_ours = set(rules.patterns) <= set(PATTERNS)
        self._states: dict[frozenset[tuple[int, int]], RuleState] = {}
        self.root = self._state(frozenset((number, 0) for number in range(len(self.places))))

    def after(self, items: frozenset[tuple[int, int]], key: PathStep) -> RuleState:
        """Return the state one step after those positions in the globs."""
        positions: set[tuple[int, int]] = set()
        for number, at in items:
            _, steps, tolerance = self.places[number]
            if at == len(steps):
                if tolerance is not None:
                    positions.add((number, at))  # it also applies to all places below
                continue
            if steps[at].any_depth:
                positions.add((number, at))
            if steps[at].matches(key):
                positions.add((number, at + 1))
        return self._state(frozenset(positions))

    def _state(self, items: frozenset[tuple[int, int]]) -> RuleState:
        return self._states.get(items) or self._states.setdefault(items, RuleState(self, items))

    def masked(self, text: str) -> str:
        """Return the text with masks instead of what a pattern matches."""
        if not self._masks or len(text) > MAX_MASKED or (self._only_ours and _DIGIT.search(text) is None):
            return text
        for pattern, mask in self._masks:
            text = pattern.sub(mask, text)
        return text


_DIGIT = re.compile(r"[0-9]|‹redacted ")  # every match of our own patterns contains one of these
_SCOPE = re.compile(r"(?P<method>[^\s:$]++)(?P<name>\s[^:]*+)?:\s*+(?=[$/])")


def _split(place: str) -> tuple[tuple[str, str], str]:
    """Split a place into ((method glob, name glob), path)."""
    scope = None if place.startswith(("/", "$")) else _SCOPE.match(place)
    if scope is None:
        return ("*", "*"), place
    return (scope["method"], (scope["name"] or "").strip() or "*"), place[scope.end() :]


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(
            f"“{pattern[:80]}” is not a regular expression: {regex_reason(error)}.",
            hint="Use the syntax of Python's re module.",
        ) from None


def compiled(rules: ComparisonRules, method: str = "", name: str = "") -> RuleMachine:
    """Return the rules for a message of `method` about `name` (a tool's name, a URI). Raises `UsageError`."""
    scopes = _scopes(rules)
    # Most rules apply to all messages: they are prepared only once.
    asks_method = any(methods != "*" for methods, _ in scopes)
    asks_name = any(names != "*" for _, names in scopes)
    return _compiled_for(rules, method if asks_method else "", name if asks_name else "")


@lru_cache(maxsize=16)
def _scopes(rules: ComparisonRules) -> tuple[tuple[str, str], ...]:
    """Return the messages of each place of the rules."""
    places = (*rules.ignore, *rules.volatile, *rules.unordered, *(limit.where for limit in rules.tolerances))
    return tuple(_split(place)[0] for place in places)


@lru_cache(maxsize=1024)
def _compiled_for(rules: ComparisonRules, method: str, name: str) -> RuleMachine:
    return _machine(rules, tuple(_applies(scope, method, name) for scope in _scopes(rules)))


def _applies(scope: tuple[str, str], method: str, name: str) -> bool:
    methods, names = scope
    return (methods == "*" or fnmatchcase(method, methods)) and (names == "*" or fnmatchcase(name, names))


_machine = lru_cache(maxsize=64)(RuleMachine)

DEFAULT = ComparisonRules()
"""Ignores what differs between two runs of the same conversation: ids, times, cursors, tokens, durations."""
EXACT = ComparisonRules(volatile=(), unordered=(), patterns=(REDACTED,))
"""Ignores nothing."""
BETWEEN_RUNS = ComparisonRules(volatile=("$.id",), unordered=UNORDERED, patterns=(REDACTED,))
"""Ignores only the ids of messages, which each run chooses."""


def parse_tolerance(text: str) -> Tolerance:
    """Parse `0.5`, `1%`, or one of them for a place: `$.result.structuredContent.area=1e-6`. Raises `UsageError`."""
    where, equals, amount = text.rpartition("=")
    number = amount.strip().removesuffix("%")
    try:
        value = float(number)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise UsageError(
            f"“{text[:80]}” is not a tolerance.",
            hint="Write one like 0.01, 1% or $.result.structuredContent.area=0.01.",
        )
    place = where.strip() if equals else "$"
    parse_glob(_split(place)[1])
    if amount.strip().endswith("%"):
        return Tolerance(relative=value / 100, where=place)
    return Tolerance(absolute=value, where=place)


Rules = ComparisonRules
"""The name by which the tests that earlier versions exported import it."""
