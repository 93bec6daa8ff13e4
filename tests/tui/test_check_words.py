"""Texts of checks in the interface name its keys, never an option of the command line."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

import inspector.check
from inspector.check.outcome import Skip, good, skipped
from inspector.tui.check.rows import seen
from inspector.tui.keymap import Keymap
from tests.test_hints import OPTION

CHECKS = Path(inspector.check.__file__).parent
ALLOWED = ("inspector call ",)
"""How a text begins that is a command to be copied."""


@pytest.mark.parametrize("skip", Skip)
def test_a_check_that_was_skipped_names_no_option(skip: Skip) -> None:
    assert not OPTION.search(seen(skipped(skip)))
    assert seen(skipped(skip, "why")) == f"{seen(skipped(skip))}: why"


def test_it_names_the_key_in_force() -> None:
    assert seen(skipped(Skip.CALLS)) == "calls a tool: “allow calls” (a) chooses the tools to allow"
    assert "“allow calls” (f5)" in seen(skipped(Skip.CALLS), Keymap({"check.allow": "f5"}))


def test_other_texts_are_shown_as_they_are() -> None:
    assert seen(good("it answered")) == "it answered"
    assert seen(skipped("it has no tools")) == "it has no tools"


@pytest.mark.slow
def test_no_text_of_a_check_names_an_option() -> None:
    """The interface shows these texts as they are: what each check says, its fix, and what it saw."""
    options = []
    for path in sorted((CHECKS / "checks").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documented = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
        }
        options += [
            f"{path.name}:{node.lineno} {node.value}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
            and OPTION.search(node.value)
            and not node.value.startswith(ALLOWED)
            and node.value != "--args"
        ]
    for path in sorted((CHECKS / "checks").glob("*.toml")):
        rows = tomllib.loads(path.read_text(encoding="utf-8"))
        options += [
            f"{id} {row}"
            for id, row in rows.items()
            if isinstance(row, dict) and OPTION.search(f"{row['says']} {row['fix']}")
        ]
    assert options == []
