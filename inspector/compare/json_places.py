"""Places in a JSON value, and the globs that match them.

A place is written `$.result.content[0].text`, or as a JSON pointer (RFC 6901), `/result/content/0/text`. In a glob, `*`
matches any step or part of a name, `..` (in a pointer `**`) any number of steps in between.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fnmatch import translate
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from inspector.errors import UsageError
from inspector.protocol.exact_json.tokens import escape_step

PathStep = str | int
"""One step: the key of a member, or the index of an item, from 0."""

SHOWN = 40
"""Steps shown of a longer path."""
_PLAIN = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)


class ValuePath:
    """A place in a value: one step after the place `parent`. The root has no parent."""

    __slots__ = ("key", "parent")

    def __init__(self, parent: ValuePath | None = None, key: PathStep = "") -> None:
        self.parent = parent
        self.key = key

    def __truediv__(self, key: PathStep) -> ValuePath:
        return ValuePath(self, key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ValuePath) and self.steps() == other.steps()

    def __hash__(self) -> int:
        return hash(tuple(self.steps()))

    def __repr__(self) -> str:
        return f"<Path {self}>"

    def steps(self) -> list[PathStep]:
        """The steps from the root."""
        steps: list[PathStep] = []
        at = self
        while at.parent is not None:
            steps.append(at.key)
            at = at.parent
        steps.reverse()
        return steps

    def __str__(self) -> str:
        """Format as `$.result.content[0].text`; a very long path is cut in the middle. Keys are the server's text."""
        steps = self.steps()
        if len(steps) > SHOWN:
            half = SHOWN // 2
            return f"${_joined(steps[:half])}…{_joined(steps[-half:])}"
        return f"${_joined(steps)}"

    def pointer(self) -> str:
        """The JSON pointer of the place; `""` for the root."""
        return "".join(f"/{escape_step(str(step))}" for step in self.steps())


ROOT = ValuePath()


def _joined(steps: list[PathStep]) -> str:
    return "".join(map(_written, steps))


def _written(step: PathStep) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _PLAIN.fullmatch(step) else f"[{quoted(step)}]"


def quoted(key: str) -> str:
    """Return a key between quotes; a quote or backslash in it is escaped."""
    return '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'


def places(value: Any, glob: str) -> Iterator[tuple[ValuePath, Any]]:
    """The places in a JSON value that a glob names, in order, each once, with what stands there.

    A step that names one key is a lookup, so that a place in a list of a million items is found at once. Raises
    `UsageError` for a glob that is not one.
    """
    steps = parse_glob(glob)
    search = _Search(steps)
    start: _Part = (ROOT, value, (0,))
    stack = [iter([start])]
    while stack:
        item = next(stack[-1], None)
        if item is None:
            stack.pop()
            continue
        path, part, at = item
        if len(steps) in at:
            yield path, part
        if isinstance(part, (dict, list)):
            stack.append(search.below(path, part, at))


_Part: TypeAlias = "tuple[ValuePath, Any, tuple[int, ...]]"
"""A part of a value, and the positions in the steps of a glob that it has reached."""
_MAX_KEYS = 10_000
"""Keys whose steps are remembered: the rows of a long list have the same ones."""


class _Search:
    """One search for the places of a glob."""

    def __init__(self, steps: tuple[GlobStep, ...]) -> None:
        self._steps = steps
        self._known: dict[tuple[tuple[int, ...], PathStep], tuple[int, ...]] = {}

    def below(self, path: ValuePath, value: Any, at: tuple[int, ...]) -> Iterator[_Part]:
        """The parts of an object or a list that the steps may lead to from the positions `at`."""
        steps = self._steps
        open_at = [position for position in at if position < len(steps)]
        if not open_at:
            return
        only = steps[open_at[0]] if len(open_at) == 1 else None
        if only is not None and only.key is not None and not only.any_depth:
            key = only.key
            if key in value if isinstance(value, dict) else isinstance(key, int) and key < len(value):
                yield path / key, value[key], (open_at[0] + 1,)
        elif isinstance(value, dict):
            for key, child in value.items():
                there = self._there(at, key)
                if there and (there[-1] == len(steps) or isinstance(child, (dict, list))):
                    yield path / key, child, there
        elif any(steps[position].numbered for position in open_at):
            for index, child in enumerate(value):
                if there := self._there(at, index):
                    yield path / index, child, there
        else:
            there = self._there(at, 0)  # As for each other item.
            for index, child in enumerate(value) if there else ():
                if there[-1] == len(steps) or isinstance(child, (dict, list)):
                    yield path / index, child, there

    def _there(self, at: tuple[int, ...], key: PathStep) -> tuple[int, ...]:
        """The positions that the member or item `key` of a part at the positions `at` has reached, in order."""
        reached = self._known.get((at, key))
        if reached is None:
            steps = self._steps
            open_at = [position for position in at if position < len(steps)]
            there = {position for position in open_at if steps[position].any_depth}
            there.update(position + 1 for position in open_at if steps[position].matches(key))
            reached = tuple(sorted(there))
            if len(self._known) < _MAX_KEYS:
                self._known[at, key] = reached
        return reached


class GlobStep(NamedTuple):
    """One step of a glob."""

    matches: Callable[[PathStep], bool]
    any_depth: bool
    """Any number of steps may precede it."""
    numbered: bool
    """It names one index, so that the items of a list differ for it."""
    key: PathStep | None = None
    """The only key or index that it matches, where there is only one."""


_STEP = re.compile(
    r"(?P<deep>\.\.)?(?:\.?\[\s*(?:(?P<index>\d{1,15})|(?P<any>\*)|\"(?P<double>(?:[^\"\\]|\\.)*)\""
    r"|'(?P<single>(?:[^'\\]|\\.)*)')\s*\]|(?P<dot>\.)?(?P<name>[^.\[\]]+))",
    re.DOTALL,
)


@lru_cache(maxsize=1024)
def parse_glob(text: str) -> tuple[GlobStep, ...]:
    """Parse a path glob into steps. Raises `UsageError` for an invalid one."""
    if text.startswith("/") or not text:
        return _parse_pointer(text)
    if not text.startswith("$"):
        raise _no_path(text)
    steps: list[GlobStep] = []
    at = 1
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None or (match["name"] and not (match["deep"] or match["dot"])):
            raise _no_path(text)
        steps.append(_step_of(match))
        at = match.end()
    return tuple(steps)


def _step_of(match: re.Match[str]) -> GlobStep:
    deep = bool(match["deep"])
    if match["index"]:
        index = int(match["index"])
        return GlobStep(lambda key: key == index, deep, True, index)
    literal = match["double"] if match["double"] is not None else match["single"]
    if literal is not None:
        name = re.sub(r"\\(.)", r"\1", literal)
        return GlobStep(lambda key: key == name, deep, False, name)
    return _named("*" if match["any"] else match["name"], deep)


def _parse_pointer(text: str) -> tuple[GlobStep, ...]:
    steps: list[GlobStep] = []
    deep = False
    for raw in text.split("/")[1:]:
        if raw == "**":
            deep = True
            continue
        step = raw.replace("~1", "/").replace("~0", "~")
        if step.isascii() and step.isdigit() and len(step) < 16:
            index, name = int(step), step
            steps.append(GlobStep(lambda key, w=index, n=name: key in (w, n), deep, True))  # type: ignore[misc]
        else:
            steps.append(_named(step, deep))
        deep = False
    if deep:
        raise UsageError(f"“{text[:80]}” ends in **, which must be followed by a name.", hint="Add a name: /**/name")
    return tuple(steps)


def _named(glob: str, deep: bool) -> GlobStep:
    if glob == "*":
        return GlobStep(lambda key: True, deep, False)
    if "*" not in glob and "?" not in glob:
        return GlobStep(lambda key: key == glob, deep, False, glob)
    # fnmatch would read brackets as a set of characters; a key may contain them.
    pattern = re.compile(translate(glob.replace("[", "[[]")), re.DOTALL)
    return GlobStep(lambda key: isinstance(key, str) and pattern.match(key) is not None, deep, False)


def _no_path(text: str) -> UsageError:
    return UsageError(
        f"“{text[:80]}” is not a path in a message.",
        hint="Write one like $.result.content[*].text or $..createdAt, or a JSON pointer like /result/content/0.",
    )
