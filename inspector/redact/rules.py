"""The rules for redaction: known shapes on or off, JSON paths, patterns, texts; from `--rule` and a YAML file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspector.compare.json_places import PathStep, parse_glob
from inspector.config.foreign_files import read_text
from inspector.config.token_patterns import NAMES, SHAPES, SecretShape
from inspector.errors import UsageError
from inspector.reasons import os_reason, regex_reason

START = frozenset((0,))
"""The first argument of `RulePath.step`."""


class RulePath:
    """`$.params.arguments.password`, `$..token`, `$.result.content[*].text`, `$["a b"].api*`."""

    def __init__(self, source: str) -> None:
        """Raises `UsageError` if the path is invalid."""
        self.source = source
        self._steps = parse_glob(source)
        if not self._steps:
            raise UsageError("The path $ is the whole message.", hint="Add a member: $.params.arguments.pin")

    def step(self, reached: frozenset[int], key: PathStep) -> frozenset[int]:
        """Return the progress of the path one step deeper into a document, from its progress before."""
        progress = set()
        for at in reached:
            if at < len(self._steps):
                step = self._steps[at]
                if step.matches(key):
                    progress.add(at + 1)
                if step.any_depth:
                    progress.add(at)
        return frozenset(progress)

    def ends(self, reached: frozenset[int]) -> bool:
        """Whether the path matches a value with this progress."""
        return len(self._steps) in reached


MAX_FILE = 1 << 20
"""Bytes of a file with rules."""

_OFF = frozenset((*(shape.name for shape in SHAPES if not shape.ordinary), "home"))


@dataclass(slots=True)
class RedactionRules:
    """The rules. `patterns` and `paths` are the user's own, with their names in reports."""

    names: set[str] = field(default_factory=lambda: {name for name in NAMES if name not in _OFF})
    """The enabled built-in rules: names of shapes, `named`, `entropy`."""
    patterns: list[tuple[str, re.Pattern[str]]] = field(default_factory=list)
    """A pattern hides its first group, or without one the whole match."""
    paths: list[tuple[str, RulePath]] = field(default_factory=list)
    folders: tuple[str, ...] = ()
    """Folders that `home` hides, beside those of users."""

    @property
    def shapes(self) -> list[SecretShape]:
        """The enabled shapes."""
        return [shape for shape in SHAPES if shape.name in self.names]

    def add(self, word: str) -> None:
        """Add one rule as typed: `$.path`, `/pattern/`, `=text`, a name of a shape, or `no-` and one.

        Raises `UsageError`.
        """
        name = word.removeprefix("no-")
        if word.startswith("$"):
            self.paths.append((word, RulePath(word)))
        elif word.startswith("=") and len(word) > 1:
            self._add_pattern(word, re.escape(word[1:]))
        elif word.startswith("/") and (match := re.fullmatch(r"/(.+)/(i?)", word, re.DOTALL)):
            self._add_pattern(word, f"(?i:{match[1]})" if match[2] else match[1])
        elif name in NAMES:
            (self.names.discard if name != word else self.names.add)(name)
        else:
            from difflib import get_close_matches

            near = get_close_matches(name, NAMES, 1)
            raise UsageError(
                f"“{word[:80]}” is not a rule.",
                hint=f"Did you mean {near[0]}?"
                if near
                else f"Use $.a.path, /a pattern/, =a text, NAME or no-NAME; names are {', '.join(NAMES)}.",
            )

    def _add_pattern(self, name: str, source: str) -> None:
        try:
            pattern = re.compile(source)
        except (re.error, RecursionError, OverflowError) as error:
            raise UsageError(f"The pattern {name[:80]} cannot be used: {regex_reason(error)}.") from None
        if pattern.match("") is not None:
            raise UsageError(
                f"The pattern {name[:80]} matches the empty text, and so everything.",
                hint="Write a pattern that needs a character, such as + instead of *.",
            )
        self.patterns.append((name, pattern))


_KEYS = {"path", "pattern", "text", "name"}


def read_rules(words: Iterable[str] = (), files: Sequence[Path] = (), also: Iterable[str] = ()) -> RedactionRules:
    """Return the ordinary rules and `also` those, as changed by files, then by what was typed. Raises `UsageError`."""
    rules = RedactionRules()
    rules.names.update(also)
    for file in files:
        _read_file(rules, file)
    for word in words:
        rules.add(word)
    return rules


def _read_file(rules: RedactionRules, file: Path) -> None:
    from inspector.documents import DocumentError, read_yaml

    try:
        if file.stat().st_size > MAX_FILE:
            raise UsageError(
                f"{file} is larger than {MAX_FILE >> 20} MB, the limit for rules.", hint="Use several files."
            )
        document = read_yaml(read_text(file))
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {os_reason(error)}.") from None
    except DocumentError as error:
        line = f" (line {error.line}, column {error.column})" if error.line else ""
        raise UsageError(f"{file} {error.problem}{line}.") from None
    if type(document) is not dict or not document.keys() <= {"shapes", "rules"}:
        raise UsageError(
            f"{file} has no rules. Put them under `rules`, and names of shapes with true or false under `shapes`."
        )
    shapes, listed = document.get("shapes") or {}, document.get("rules") or []
    if type(shapes) is not dict or type(listed) is not list:
        raise UsageError(f"{file}: `shapes` must be a mapping, and `rules` a list.")
    for name, is_on in shapes.items():
        if name not in NAMES or type(is_on) is not bool:
            raise UsageError(
                f"{file}: invalid entry `{str(name)[:60]}: {str(is_on)[:20]}` in `shapes`.",
                hint=f"Use true or false for one of: {', '.join(NAMES)}.",
            )
        (rules.names.add if is_on else rules.names.discard)(name)
    for number, item in enumerate(listed, 1):
        _add_item(rules, item, f"{file}: rule {number}")


def _add_item(rules: RedactionRules, item: Any, place: str) -> None:
    if isinstance(item, str):
        rules.add(item)
        return
    known = type(item) is dict and item.keys() <= _KEYS and all(isinstance(value, str) for value in item.values())
    kinds = [key for key in ("path", "pattern", "text") if known and item.get(key)]
    if len(kinds) != 1:
        raise UsageError(f"{place} must have one of `path`, `pattern`, `text`, and may have a `name`.")
    value = item[kinds[0]]
    name = item.get("name") or value
    if kinds[0] == "path":
        rules.paths.append((name, RulePath(value)))
    else:
        rules._add_pattern(name, value if kinds[0] == "pattern" else re.escape(value))
