"""The row of a check says what it needs: the shared session, or the tool calls."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

import pytest

from inspector.check.check_table import Need
from inspector.check.registry import checks
from inspector.check.visit.facts import OnceInAVisit

READS = dict.fromkeys(("session", "can", "items", "callable", "request", "is_served"), Need.SESSION)
READS |= {"tool_calls": Need.CALLS}
"""Members of a visit, with what must be ready for them."""


@cache
def definitions(module: ModuleType) -> dict[str, ast.AST]:
    """The functions and classes of a module."""
    body = ast.parse(inspect.getsource(module)).body
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}


def reached(module: ModuleType, name: str, seen: set[tuple[str, str]]) -> Iterator[str]:
    """The members of the visit that a function reads, itself or through others of the package."""
    if (module.__name__, name) in seen:
        return
    seen.add((module.__name__, name))
    if name == "tool_calls":
        yield name
        return
    for node in ast.walk(definitions(module)[name]):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("visit", "self.visit"):
            yield node.attr
        elif isinstance(node, ast.Name) and node.id in definitions(module):
            yield from reached(module, node.id, seen)
        elif isinstance(node, ast.Name):
            used: Any = getattr(module, node.id, None)
            other = sys.modules.get(getattr(used, "__module__", None) or "")
            known = callable(used) and other is not None and other.__name__.startswith("inspector.check")
            if known and used.__name__ in definitions(other) and used.__name__ != "Visit":
                yield from reached(other, used.__name__, seen)


@pytest.mark.parametrize("id", [id for id, check in checks().items() if check.probe is not None])
def test_a_check_declares_what_it_reads(id: str) -> None:
    check = checks()[id]
    assert check.probe is not None
    name = check.probe.__qualname__.partition(".")[0]
    read = set(reached(sys.modules[check.probe.__module__], name, set()))
    assert check.needs >= max((READS.get(name, Need.NOTHING) for name in read), default=Need.NOTHING), read


async def test_a_fact_is_found_once_in_a_visit() -> None:
    visits: list[object] = []

    class Visited:
        def __init__(self) -> None:
            self.facts: dict[object, object] = {}

    async def find(visit: Any) -> int:
        visits.append(visit)
        return len(visits)

    fact: Any = OnceInAVisit(find)
    first, second = Visited(), Visited()
    assert [await fact(visit) for visit in (first, first, second)] == [1, 1, 2]
