"""Every regular expression of the package takes a bounded number of steps for each character of any text.

Steps are counted, because times depend on the machine: see `regex_steps`.
"""

from __future__ import annotations

import ast
import importlib
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

import inspector
from inspector.check.reports.sdks import SDKS
from inspector.hosts.facts import FILE as FACTS
from tests.regex_steps import Steps, TooManySteps, bound, slow_texts

HOST_FILES = Path(inspector.__file__).parent / "config" / "host_files" / "hosts.json"
BUDGET = 400
"""Steps for a character."""
FREE = 60
"""Steps for a character that no text is tried for, and that may grow with the text."""
SHORT, LONG = 512, 2048
"""Characters of a text. With four times as many, each takes as many steps, so 65,536 take at most BUDGET each."""
TEXTS = 80
"""Texts of each kind for one pattern, at most."""

_METHODS = frozenset(("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"))
_MATCHES = frozenset(("match", "fullmatch"))
"""Methods that begin at one place."""
ONLY_MATCHED = frozenset(
    f"inspector.check.judge.thorough_rules.{name}" for name in ("_TRACE_PARENT", "_TRACE_STATE", "_BAGGAGE")
)
"""Patterns that are passed on, and matched at one place."""
OWN_TEXTS = frozenset(("inspector.protocol.exact_json.tokens.STRING_AT",))
"""Patterns that find something only in files of the package."""
MADE_LATER = {
    "inspector.features.apps.page": "the name of a tag",
    "inspector.calls.environments": "the pattern of a name, from the models",
    "inspector.calls.regex": "a pattern of the user's, for the words of an error",
    "inspector.client.listening_address": "the URL of a server, as it is",
    "inspector.cli.program_name": "our own help",
    "inspector.compare.json_places": "a glob of the user's: fnmatch makes it without a choice",
    "inspector.compare.rules": "patterns of the user's",
    "inspector.check.poison.phrases": "patterns that are named there: tested as values",
    "inspector.check.reports.sdks": "texts in a table: tested",
    "inspector.demo.schema": "patterns of the demo's own schemas",
    "inspector.demo.resources": "templates of the demo",
    "inspector.config.folder_names": "the home folder",
    "inspector.lazy_pattern": "patterns of other modules: found where they are written",
    "inspector.config.host_files.reading": "texts in a table: tested",
    "inspector.config.host_files.table": "texts in a table: tested",
    "inspector.doctor.sdk_versions": "texts in a table: tested as values",
    "inspector.doctor.shell_variables": "texts in a table: tested as values",
    "inspector.hosts.evaluation": "texts in a table: tested",
    "inspector.hosts.facts": "texts in a table: tested",
    "inspector.journal.filters.text": "letters",
    "inspector.journal.filters.values": "a glob of the user's: fnmatch makes it without a choice",
    "inspector.protocol.tables": "a literal",
    "inspector.redact.rules": "patterns of the user's",
    "inspector.config.token_patterns": "patterns in a table: tested as values",
    "inspector.text": "sets of characters: tested as values",
    "inspector.tui.widgets.search": "literals",
}
"""Modules that make patterns of something, and of what."""


class Use(NamedTuple):
    """A pattern of the package."""

    name: str
    pattern: re.Pattern[Any]
    matched: bool
    """Whether it is only matched at one place, and never searched."""


@cache
def modules() -> dict[str, ast.Module]:
    folder = Path(inspector.__file__).parent
    trees = {}
    for path in sorted(folder.rglob("*.py")):
        name = ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")
        # Modules of another system cannot be imported here, and have no pattern.
        if not name.endswith("__main__") and not name.startswith("inspector.system."):
            trees[name] = ast.parse(path.read_text(encoding="utf-8"))
    return trees


@cache
def methods_of_names() -> dict[tuple[str, str], set[str]]:
    """By module and name, the methods called on it, here and where it is imported."""
    imported = {
        (module, alias.asname or alias.name): (node.module, alias.name)
        for module, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    methods: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in _METHODS and isinstance(node.value, ast.Name):
                key = (module, node.value.id)
                methods[imported.get(key, key)].add(node.attr)
    return methods


def _in_code(module: str, made_later: set[str]) -> Iterator[Use]:
    """Yield the patterns that a module names or writes where it uses them."""
    tree, names = modules()[module], vars(importlib.import_module(module))
    parents = {inner: node for node in ast.walk(tree) for inner in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        method = ast.unparse(node.func).removeprefix("re.").replace("lazy_pattern", "compile")
        if ast.unparse(node.func) not in {"lazy_pattern", f"re.{method}"} or method not in {"compile", *_METHODS}:
            continue
        flags = [word.value for word in node.keywords if word.arg == "flags"]
        position = {"compile": 1, "search": 2, "match": 2, "fullmatch": 2, "findall": 2, "finditer": 2}.get(method, 9)
        flags += node.args[position : position + 1]
        try:
            pattern, *flag = (eval(ast.unparse(argument), dict(names)) for argument in [node.args[0], *flags])
            made = re.compile(pattern, *flag)
        except NameError:
            made_later.add(module)
            continue
        outer = parents[node]
        methods = {method}
        name = f"{module}:{node.lineno}"
        if method == "compile":
            methods = {outer.attr} if isinstance(outer, ast.Attribute) else {"any"}
            if isinstance(outer, ast.Assign) and isinstance(outer.targets[0], ast.Name):
                methods = methods_of_names()[module, outer.targets[0].id] or {"any"}
                name = f"{module}.{outer.targets[0].id}"
        yield Use(name, made, methods <= _MATCHES)


def _held(value: Any, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    """Yield the patterns in a value of a module, in its containers and in its objects."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 5:
        inner: Any = ()
        if isinstance(value, dict):
            inner = (*value, *value.values())
        elif isinstance(value, (list, tuple, set, frozenset)):
            inner = value
        elif type(value).__module__.startswith("inspector") and hasattr(value, "__dict__"):
            inner = vars(value).values()
        for item in inner:
            yield from _held(item, depth + 1)


def _in_tables() -> Iterator[Use]:
    """Yield the patterns that tables hold as texts."""
    for sdk in SDKS:
        for sign in (*(sign for group in sdk.signs for sign in group), *(cause.shows for cause in sdk.causes)):
            yield Use(f"inspector.check.reports.sdks: {sdk.name}", re.compile(sign), False)
    for key, pattern in re.findall(r'"(pattern|replace)": ("(?:[^"\\]|\\.)*")', FACTS.read_text(encoding="utf-8")):
        if "{tool}" not in pattern:
            yield Use("inspector.hosts: facts.json", re.compile(json.loads(pattern)), key == "pattern")
    for pattern in _of_host_files(json.loads(HOST_FILES.read_text(encoding="utf-8"))):
        yield Use("inspector.config.host_files: hosts.json", re.compile(pattern), False)


def _of_host_files(value: Any) -> Iterator[str]:
    """Yield the patterns of the table of host files."""
    if isinstance(value, dict):
        if value.get("rule") == "expands":
            yield from value["value"]
        if isinstance(value.get("not"), str):
            yield value["not"]
        yield from value.get("matches", {}).values()
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _of_host_files(inner)


@cache
def uses() -> tuple[tuple[Use, ...], frozenset[str]]:
    """All patterns, each once, and the modules that make some later."""
    made_later: set[str] = set()
    by_pattern = {(use.pattern.pattern, use.pattern.flags): use for use in _in_tables()}
    for module in modules():
        for use in _in_code(module, made_later):
            key = (use.pattern.pattern, use.pattern.flags)
            before = by_pattern.get(key, use)
            by_pattern[key] = before._replace(matched=before.matched and use.matched)
    for module in modules():
        for name, value in list(vars(importlib.import_module(module)).items()):
            held = vars(value).values() if isinstance(value, type) and value.__module__ == module else [value]
            for pattern in (item for inner in held for item in _held(inner)):
                methods = methods_of_names()[module, name] or {"any"}
                use = Use(f"{module}.{name}", pattern, methods <= _MATCHES)
                by_pattern.setdefault((pattern.pattern, pattern.flags), use)
    return tuple(by_pattern.values()), frozenset(made_later)


def cost(steps: Steps, before: str, part: str, length: int, *, matched: bool) -> float:
    """The steps for a character of a text that repeats `part`, after `before`.

    With `before`, one attempt at its beginning is told to all characters. Without it, the attempts of one repetition
    in the middle stand for all: a search goes on behind a match, and else at the next character.
    """
    text = (before + part * (length // len(part) + 1))[:length]
    try:
        if before or matched:
            return max(steps.on(text + "\0").run(start)[1] for start in range(1 if matched else 3)) / length
        steps.on(text)
        first = at = length // 4 // len(part) * len(part)
        total = 0
        while at < first + len(part):
            end, more = steps.run(at)
            total, at = total + more, max(end, at + 1)
        return total / (at - first)
    except TooManySteps:
        return math.inf


def worst(use: Use) -> tuple[float, str]:
    """The highest number of steps for a character, and the repeated text that needs them."""
    steps = Steps(use.pattern, BUDGET * LONG)
    matched = use.matched or use.name in ONLY_MATCHED
    if bound(steps.tree)[0] <= FREE:
        return 0, ""
    cycles, ends = slow_texts(steps, use.pattern, TEXTS)
    highest = (0.0, "")
    for before, part in [*(("", cycle) for cycle in cycles), *ends]:
        figure = cost(steps, before, part, LONG, matched=matched)
        if figure > FREE and figure > 2 * cost(steps, before, part, SHORT, matched=matched):
            figure = math.inf
        highest = max(highest, (figure, before + part))
    return highest


SHARES = 16


@pytest.mark.slow
@pytest.mark.parametrize("share", range(SHARES))
def test_no_pattern_is_slow(share: int) -> None:
    patterns = [use for use in uses()[0] if use.name not in OWN_TEXTS]
    slow = {use.name: steps for use in patterns[share::SHARES] if (steps := worst(use))[0] > BUDGET}
    assert slow == {}


@pytest.fixture(scope="module")
def patterns() -> list[Use]:
    """Made before a test, because the syntax trees of all modules take much memory."""
    return [use for use in uses()[0] if use.name not in OWN_TEXTS]


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_no_pattern_is_slow_on_a_text_of_several_parts(patterns: list[Use], data: st.DataObject) -> None:
    """Beside the texts of `worst`: several parts that a pattern nearly matches, one after another, repeated."""
    use = patterns[data.draw(st.integers(0, len(patterns) - 1))]
    steps = Steps(use.pattern, BUDGET * SHORT)  # It remembers each step.
    parts = slow_texts(steps, use.pattern, TEXTS)[0]
    part = "".join(parts[data.draw(st.integers(0, len(parts) - 1))] for _ in range(data.draw(st.integers(1, 4))))
    before = data.draw(st.sampled_from(["", *parts[:20]]))
    matched = use.matched or use.name in ONLY_MATCHED
    try:
        figure = cost(steps, before, part[:100], SHORT, matched=matched)
        shorter = figure if figure <= FREE else cost(steps, before, part[:100], SHORT // 4, matched=matched)
    except RecursionError:
        # Hypothesis lowers the limit of Python; the test above counts without it.
        reject()
    assert figure <= BUDGET, use.name
    assert figure <= FREE or figure <= 2 * shorter, use.name


@pytest.mark.slow
def test_patterns_that_are_made_later_are_known() -> None:
    assert uses()[1] == MADE_LATER.keys()
    assert len(uses()[0]) > 400
