"""Classes of the package have few changing fields and few lines."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import ROOT

FIELDS, LINES = 8, 400
"""The most fields of a class that change after `__init__`, and its most lines."""

EXCEPTIONS: dict[str, str] = {
    "tui/main/screen.py MainScreen": "Textual sends the messages of the panes to the screen, a method for each.",
    "tui/work/pane.py WorkPane": "Textual sends the messages of its four parts to it; their rules are in the model.",
    "client/session.py Session": "It is the interface of a session for programs: one short method for each request.",
}
"""Classes with more, each with its reason; at most ten."""


def classes() -> Iterator[tuple[str, ast.ClassDef]]:
    package = ROOT / "inspector"
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield f"{Path(path).relative_to(package).as_posix()} {node.name}", node


def changing_fields(of: ast.ClassDef) -> set[str]:
    """Return the fields that a method other than `__init__` assigns or deletes."""
    methods = (node for node in of.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return {
        node.attr
        for method in methods
        if method.name not in ("__init__", "__post_init__")
        for node in ast.walk(method)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store | ast.Del)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }


def lines(of: ast.ClassDef) -> int:
    return (of.end_lineno or of.lineno) - of.lineno + 1


def test_no_class_has_many_changing_fields_or_lines() -> None:
    large = {
        name: f"{len(changing_fields(node))} fields, {lines(node)} lines"
        for name, node in classes()
        if len(changing_fields(node)) > FIELDS or lines(node) > LINES
    }
    assert {name: size for name, size in large.items() if name not in EXCEPTIONS} == {}
    assert set(EXCEPTIONS) <= set(large), "an exception that is not needed any more goes"
    assert len(EXCEPTIONS) <= 10


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ("self.a = self.b = 1", {"a", "b"}),
        ("self.a += 1", {"a"}),
        ("self.a, (self.b, *self.c) = x", {"a", "b", "c"}),
        ("for self.a in x: pass", {"a"}),
        ("with x as self.a: pass", {"a"}),
        ("del self.a", {"a"}),
        ("self.a.b = other.c = self.d[0]", set()),
        ("def inner():\n            self.a = 1", {"a"}),
    ],
)
def test_every_way_to_change_a_field_counts(body: str, fields: set[str]) -> None:
    text = f"class C:\n    def __init__(self):\n        self.z = 1\n    async def m(self):\n        {body}\n"
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.ClassDef)
    assert changing_fields(node) == fields
