"""Counts the steps that CPython's `re` takes, by a matcher that backtracks in the same order.

A step is one test of a character, a position or a branch. Times would depend on the machine; these figures do not.
A result for a state (node, position) is kept, so that an exponential search costs no more than its number of states.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator
from re import _constants as code
from re import _parser as parser
from typing import Any

Test = Callable[[str], bool]
Env = tuple[Any, ...]
ACCEPT = -1


class TooManySteps(Exception):
    """A text costs more than the steps that were allowed."""


class Steps:
    """One pattern as a graph of nodes, and the steps that it takes on one text."""

    def __init__(self, pattern: re.Pattern[Any], allowed: int) -> None:
        """`allowed`: steps on one text, above which `TooManySteps` is raised."""
        self._allowed = self._left = allowed
        self.tree = parser.parse(pattern.pattern, pattern.flags)
        self.is_bytes = isinstance(pattern.pattern, bytes)
        self._nodes: list[tuple[Any, ...]] = []
        self._flags = pattern.flags
        self._referred = {item for op, item in _walk(self.tree) if op is code.GROUPREF}
        self._start = self._sequence(self.tree, ACCEPT, pattern.flags)
        self._text = ""
        self._known: dict[Any, tuple[int, int]] = {}

    def on(self, text: str) -> Steps:
        """Set the text (of a pattern of bytes: each as a character)."""
        self._text = text
        self._known = {}
        self._left = self._allowed
        return self

    def at(self, start: int) -> int:
        """The steps of one attempt from `start`."""
        return self.run(start)[1]

    def run(self, start: int) -> tuple[int, int]:
        """Where the match from `start` ends (-1: none), and the steps."""
        # Only meanwhile: without its limit, Python 3.11 parses JSON of any depth until the process crashes.
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, 1_000_000))
        try:
            end, steps = self._run(self._start, start, ())
        finally:
            sys.setrecursionlimit(limit)
        if steps > self._allowed:
            raise TooManySteps
        return end, steps

    def _spend(self, steps: int) -> None:
        """Count the steps of this matcher too, so that it ends."""
        self._left -= steps
        if self._left < 0:
            raise TooManySteps

    # The graph

    def _node(self, *parts: Any) -> int:
        self._nodes.append(parts)
        return len(self._nodes) - 1

    def _sequence(self, items: Any, after: int, flags: int) -> int:
        for op, value in reversed(list(items)):
            after = self._item(op, value, after, flags)
        return after

    def _item(self, op: Any, value: Any, after: int, flags: int) -> int:
        test = _test(op, value, flags, self.is_bytes)
        if test is not None:
            return self._node("char", test, after)
        if op is code.AT:
            return self._node("at", value, flags, after)
        if op is code.BRANCH:
            return self._node("branch", [self._sequence(branch, after, flags) for branch in value[1]])
        if op is code.SUBPATTERN:
            group, add, remove, inner = value
            if group in self._referred:
                after = self._node("close", group, after)
            first = self._sequence(inner, after, (flags | add) & ~remove)
            return self._node("open", group, first) if group in self._referred else first
        if op is code.ATOMIC_GROUP:
            return self._node("atomic", self._sequence(value, ACCEPT, flags), after)
        if op in (code.ASSERT, code.ASSERT_NOT):
            back = value[1].getwidth()[1] if value[0] < 0 else 0
            return self._node("look", self._sequence(value[1], ACCEPT, flags), back, op is code.ASSERT, after)
        if op is code.GROUPREF:
            return self._node("again", value, after)
        if op is code.FAILURE:
            return self._node("branch", [])
        if op in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
            least, most, inner = value
            one = _test(*inner[0], flags, self.is_bytes) if len(inner) == 1 else None
            if one is None and len(inner) == 1 and inner[0][0] is code.SUBPATTERN and inner[0][1][0] is None:
                held = inner[0][1]
                if len(held[3]) == 1:
                    one = _test(*held[3][0], (flags | held[1]) & ~held[2], self.is_bytes)
            if one is not None:
                return self._node("chars", one, least, most, op, after)
            if op is code.POSSESSIVE_REPEAT:
                return self._node("possessive", self._sequence(inner, ACCEPT, flags), least, most, after)
            loop = self._node("loop")
            body = self._sequence(inner, loop, flags)
            self._nodes[loop] = ("loop", body, least, most, op is code.MAX_REPEAT, after)
            return self._node("enter", loop)
        raise NotImplementedError(str(op))

    # Matching

    def _run(self, node: int, pos: int, env: Env) -> tuple[int, int]:
        """Return where the match ends (-1: none) and the steps, from a node; `env` has loops and groups."""
        text, size, nodes = self._text, len(self._text), self._nodes
        steps = 0
        while True:
            if node == ACCEPT:
                return pos, steps
            parts = nodes[node]
            kind = parts[0]
            steps += 1
            if kind == "char":
                if pos >= size or not parts[1](text[pos]):
                    return -1, steps
                pos, node = pos + 1, parts[2]
            elif kind == "at":
                if not _is_at(parts[1], parts[2], text, pos, self.is_bytes):
                    return -1, steps
                node = parts[3]
            elif kind == "enter":
                env, node = (*env, (0, -1)), parts[1]
            elif kind == "open":
                env, node = (*env, (parts[1], pos, None)), parts[2]
            elif kind == "close":
                at = max(n for n, entry in enumerate(env) if len(entry) == 3 and entry[0] == parts[1])
                env, node = (*env[:at], (parts[1], env[at][1], pos), *env[at + 1 :]), parts[2]
            elif kind == "again":
                group = next((entry for entry in reversed(env) if len(entry) == 3 and entry[0] == parts[1]), None)
                if group is None or group[2] is None:
                    return -1, steps
                captured = text[group[1] : group[2]]
                steps += len(captured)
                if not text.startswith(captured, pos):
                    return -1, steps
                pos, node = pos + len(captured), parts[2]
            elif kind == "atomic":
                end, more = self._kept(parts[1], pos, env)
                steps += more
                if end < 0:
                    return -1, steps
                pos, node = end, parts[2]
            elif kind == "look":
                if pos < parts[2]:
                    end = -1
                else:
                    end, more = self._kept(parts[1], pos - parts[2], env)
                    steps += more
                if (end >= 0) != parts[3]:
                    return -1, steps
                node = parts[4]
            elif kind == "possessive":
                count = 0
                while count < parts[3]:
                    end, more = self._kept(parts[1], pos, env)
                    steps += more
                    if end < 0 or (end == pos and count >= parts[2]):
                        break
                    pos, count = end, count + 1
                if count < parts[2]:
                    return -1, steps
                node = parts[4]
            else:
                end, more = self._kept(node, pos, env)
                return end, steps - 1 + more

    def _kept(self, node: int, pos: int, env: Env) -> tuple[int, int]:
        if node == ACCEPT:
            return pos, 0
        key = (node, pos, env) if env else (node, pos)
        result = self._known.get(key)
        if result is None:
            self._spend(1)
            result = self._known[key] = self._choose(node, pos, env)
        return result

    def _choose(self, node: int, pos: int, env: Env) -> tuple[int, int]:
        parts = self._nodes[node]
        kind = parts[0]
        steps = 1
        if kind == "branch":
            for branch in parts[1]:
                end, more = self._run(branch, pos, env)
                steps += more
                if end >= 0:
                    return end, steps
            return -1, steps
        if kind == "chars":
            return self._chars(parts, pos, env)
        if kind != "loop":
            return self._run(node, pos, env)
        _, body, least, most, greedy, after = parts
        count, began = env[-1]
        outer = env[:-1]
        if count < least:
            end, more = self._run(body, pos, (*outer, (count + 1, pos)))
            return end, steps + more
        inner = (*outer, (least if most is code.MAXREPEAT else count + 1, pos))
        may_repeat = (count < most or most is code.MAXREPEAT) and began != pos
        ways = [(body, inner)] if may_repeat else []
        ways.insert(len(ways) if greedy else 0, (after, outer))
        for way, state in ways:
            end, more = self._run(way, pos, state) if way != ACCEPT else (pos, 0)
            steps += more
            if end >= 0:
                return end, steps
        return -1, steps

    def _chars(self, parts: tuple[Any, ...], pos: int, env: Env) -> tuple[int, int]:
        _, test, least, most, mode, after = parts
        text = self._text
        steps, limit = 1, len(text) if most is code.MAXREPEAT else min(len(text), pos + most)
        if mode is code.MIN_REPEAT:
            at = pos
            while True:
                if at - pos >= least:
                    end, more = self._run(after, at, env)
                    steps += more
                    if end >= 0:
                        return end, steps
                steps += 1
                self._spend(1)
                if at >= limit or not test(text[at]):
                    return -1, steps
                at += 1
        at = pos
        while at < limit and test(text[at]):
            at += 1
        steps += at - pos + 1
        self._spend(at - pos)
        least_at = pos + least
        if mode is code.POSSESSIVE_REPEAT:
            if at < least_at:
                return -1, steps
            end, more = self._run(after, at, env)
            return end, steps + more
        while at >= least_at:
            self._spend(1)
            end, more = self._run(after, at, env)
            steps += more
            if end >= 0:
                return end, steps
            at -= 1
        return -1, steps


def _walk(items: Any) -> Iterator[tuple[Any, Any]]:
    for op, value in items:
        yield op, value
        if op is code.BRANCH:
            for branch in value[1]:
                yield from _walk(branch)
        elif op is code.SUBPATTERN:
            yield from _walk(value[3])
        elif op is code.ATOMIC_GROUP:
            yield from _walk(value)
        elif op in (code.ASSERT, code.ASSERT_NOT):
            yield from _walk(value[1])
        elif op in (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT):
            yield from _walk(value[2])


_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    code.CATEGORY_DIGIT: str.isdecimal,
    code.CATEGORY_SPACE: str.isspace,
    code.CATEGORY_WORD: lambda char: char.isalnum() or char == "_",
}
_NEGATED = {
    code.CATEGORY_NOT_DIGIT: code.CATEGORY_DIGIT,
    code.CATEGORY_NOT_SPACE: code.CATEGORY_SPACE,
    code.CATEGORY_NOT_WORD: code.CATEGORY_WORD,
}


def _in_category(category: Any, char: str, ascii_only: bool) -> bool:
    negated = category in _NEGATED
    is_in = _CATEGORIES[_NEGATED.get(category, category)](char) and (not ascii_only or char.isascii())
    return is_in != negated


def _test(op: Any, value: Any, flags: int, is_bytes: bool) -> Test | None:
    """The test of an item that takes one character; None for others."""
    ascii_only = is_bytes or bool(flags & re.ASCII)
    if op is code.ANY:
        return (lambda char: True) if flags & re.DOTALL else (lambda char: char != "\n")
    if op in (code.LITERAL, code.NOT_LITERAL):
        items, negated = [(code.LITERAL, value)], op is code.NOT_LITERAL
    elif op is code.IN:
        negated = value[0][0] is code.NEGATE
        items = value[1:] if negated else value
    else:
        return None

    def one(char: str) -> bool:
        number = ord(char)
        for kind, held in items:
            if kind is code.LITERAL:
                if number == held:
                    return True
            elif kind is code.RANGE:
                if held[0] <= number <= held[1]:
                    return True
            elif _in_category(held, char, ascii_only):
                return True
        return False

    folded = bool(flags & re.IGNORECASE)
    known: dict[str, bool] = {}

    def test(char: str) -> bool:
        fits = known.get(char)
        if fits is None:
            variants = {char, char.lower(), char.upper()} if folded else {char}
            fits = known[char] = any(one(variant) for variant in variants if len(variant) == 1) != negated
        return fits

    return test


def _is_at(kind: Any, flags: int, text: str, pos: int, is_bytes: bool) -> bool:
    if kind in (code.AT_BEGINNING, code.AT_BEGINNING_STRING):
        return pos == 0 or (kind is code.AT_BEGINNING and bool(flags & re.MULTILINE) and text[pos - 1] == "\n")
    if kind is code.AT_END_STRING:
        return pos == len(text)
    if kind is code.AT_END:
        if pos == len(text) or (pos == len(text) - 1 and text[pos] == "\n"):
            return True
        return bool(flags & re.MULTILINE) and text[pos] == "\n"
    ascii_only = is_bytes or bool(flags & re.ASCII)
    before = pos > 0 and _in_category(code.CATEGORY_WORD, text[pos - 1], ascii_only)
    after = pos < len(text) and _in_category(code.CATEGORY_WORD, text[pos], ascii_only)
    return (before != after) == (kind is code.AT_BOUNDARY)


# Texts that are slow to search

_OFTEN = " aAz0_#/.-\n\t\"'<>{}[](),:;=%&?@\\*`|~+!$^é’bxeE9"
_WORDS = 'a_b-|a |a.|aA|a/|1,|x=|a:|\\"|{{|<!--|https://a/|a\n|\n\n- |\r\n|a@b.|%41|\\u0041'.split("|")
_REPEATS = (code.MAX_REPEAT, code.MIN_REPEAT, code.POSSESSIVE_REPEAT)
_LONG = 3
"""Repetitions above which a part of a pattern is repeated in the texts."""


def slow_texts(steps: Steps, pattern: re.Pattern[Any], most: int) -> tuple[list[str], list[tuple[str, str]]]:
    """Return texts to repeat, and texts with an end to repeat, at most as many of each: they nearly match.

    Each is a beginning of the pattern, up to a part that repeats, followed by what that part takes.
    """
    made = _Texts(pattern, steps.is_bytes)
    cycles, ends = [], []
    for before, inner in made.repeats(steps.tree):
        for part in made.pumps(inner):
            start = made.sequence(before)
            cycles += [part, start + part, start + part * 40]
            ends.append((start, part))
    for before in made.beginnings(steps.tree):
        for after in ("", " ", "a"):
            cycles.append(made.sequence(before) + after)
    cycles = sorted({text for text in cycles if 0 < len(text) < 400})
    ends = sorted({text for text in ends if text[1]})
    return [*_OFTEN, *_WORDS, *made.some(cycles, most)], made.some(ends, most)


class _Texts:
    """Random texts that a pattern matches, the same for a pattern each time."""

    def __init__(self, pattern: re.Pattern[Any], is_bytes: bool) -> None:
        self._chance = random.Random(repr(pattern.pattern))
        self._flags, self._is_bytes = pattern.flags, is_bytes
        self._groups: dict[int, str] = {}

    def some(self, items: list[Any], most: int) -> list[Any]:
        return items if len(items) <= most else self._chance.sample(items, most)

    def sequence(self, items: Any) -> str:
        text = "".join(self._item(op, value) for op, value in items)
        return "".join(char if ord(char) < 256 else "?" for char in text) if self._is_bytes else text

    def _characters(self, op: Any, value: Any) -> list[str] | None:
        test = _test(op, value, self._flags, self._is_bytes)
        if test is None:
            return None
        if op is code.LITERAL:
            return [chr(value)]
        held = (
            [
                chr(item if kind is code.LITERAL else item[0])
                for kind, item in value
                if kind in (code.LITERAL, code.RANGE)
            ]
            if op is code.IN
            else []
        )
        return [char for char in (*_OFTEN, *held) if test(char)] or ["?"]

    def _item(self, op: Any, value: Any) -> str:
        characters = self._characters(op, value)
        if characters is not None:
            return self._chance.choice(characters)
        if op is code.BRANCH:
            return self.sequence(self._chance.choice(value[1]))
        if op is code.SUBPATTERN:
            self._groups[value[0]] = self.sequence(value[3])
            return self._groups[value[0]]
        if op is code.ATOMIC_GROUP:
            return self.sequence(value)
        if op is code.GROUPREF:
            return self._groups.get(value, "")
        if op in _REPEATS:
            least, most, inner = value
            count = max(least, self._chance.choice([0, 1, 1, 2]))
            return "".join(self.sequence(inner) for _ in range(min(count, most)))
        return ""

    def pumps(self, inner: Any) -> list[str]:
        """Return what the inside of a repetition takes: several characters, or some texts."""
        op, value = inner[0]
        if len(inner) == 1 and op is code.SUBPATTERN and len(value[3]) == 1:
            op, value = value[3][0]
        characters = self._characters(op, value) if len(inner) == 1 else None
        return characters[:6] if characters is not None else [self.sequence(inner) for _ in range(2)]

    def repeats(self, items: Any) -> Iterator[tuple[list[Any], Any]]:
        """Yield each long repetition with the part of the pattern before it."""
        for before, op, value in _places(items, []):
            if op in _REPEATS and value[1] > _LONG:
                yield before, value[2]

    def beginnings(self, items: Any) -> Iterator[list[Any]]:
        for before, op, value in _places(items, []):
            yield [*before, (op, value)]


def _places(items: Any, before: list[Any]) -> Iterator[tuple[list[Any], Any, Any]]:
    """Yield each item of a tree with the items before it."""
    for op, value in items:
        yield before, op, value
        inner = {
            code.BRANCH: lambda value: value[1],
            code.SUBPATTERN: lambda value: [value[3]],
            code.ATOMIC_GROUP: lambda value: [value],
            code.ASSERT: lambda value: [value[1]],
            code.ASSERT_NOT: lambda value: [value[1]],
            **dict.fromkeys(_REPEATS, lambda value: [value[2]]),
        }.get(op, lambda value: [])(value)
        for branch in inner:
            yield from _places(branch, before)
        before = [*before, (op, value)]


def bound(items: Any) -> tuple[float, float]:
    """The most steps of one attempt, whatever the text is, and in how many ways it can match."""
    steps, ways = 0.0, 1.0
    for op, value in items:
        one, its = _bound(op, value)
        steps, ways = steps + ways * one, ways * its
        if steps > 1e6:
            return float("inf"), float("inf")
    return steps, ways


def _bound(op: Any, value: Any) -> tuple[float, float]:
    if op is code.BRANCH:
        bounds = [bound(branch) for branch in value[1]]
        return 1 + sum(steps for steps, _ in bounds), sum(ways for _, ways in bounds)
    if op is code.SUBPATTERN:
        return bound(value[3])
    if op in (code.ATOMIC_GROUP, code.ASSERT, code.ASSERT_NOT):
        return 1 + bound(value if op is code.ATOMIC_GROUP else value[1])[0], 1
    if op is code.GROUPREF or (op in _REPEATS and value[1] > 100):
        return float("inf"), float("inf")
    if op not in _REPEATS:
        return 1, 1
    least, most, inner = value
    one, its = bound(inner)
    steps = ways = 0.0
    for count in range(most + 1):
        ways += its**count * (count >= least)
        steps += its**count * (one + 1)
    return steps, 1 if op is code.POSSESSIVE_REPEAT else ways
