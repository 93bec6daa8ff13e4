"""No module imports another that imports it back, by any way: imports within functions and for types count too."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.sources import PACKAGE, ROOT, imports, sources


def module_name(path: Path) -> str:
    """The dotted name of a file below the root."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(source: str, modules: set[str]) -> set[str]:
    """The modules that a file imports anywhere. `from package import name` means the module that `name` is, if it is one."""
    targets = set()
    for node in imports(source):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            package = node.module or ""
            names = [name if (name := f"{package}.{alias.name}") in modules else package for alias in node.names]
        targets.update(name for name in names if name in modules)
    return targets


def graph() -> dict[str, set[str]]:
    """Each module of the package with the modules that it imports."""
    files = {module_name(path): source for path, source in sources().items()}
    return {name: imported(source, set(files)) - {name} for name, source in files.items()}


def circles(imports: dict[str, set[str]]) -> list[set[str]]:
    """The sets of modules that all import each other, directly or not."""
    groups = []
    rest = dict(imports)
    while True:
        try:
            TopologicalSorter(rest).prepare()
        except CycleError as error:
            start = error.args[1][0]
            forth = _reached(rest, start)
            circle = {name for name in forth if start in _reached(rest, name)}
            groups.append(circle)
            rest = {name: targets - circle for name, targets in rest.items() if name not in circle}
        else:
            return groups


def _reached(imports: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for name in imports.get(waiting.pop(), ()):
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    return seen


@pytest.mark.slow
def test_no_module_is_in_a_circle() -> None:
    assert [sorted(circle) for circle in circles(graph())] == []


SAMPLE = """
import a.b as c, d
from e import (  # a comment
    f,
    g as h,
)
if TYPE_CHECKING:
    from i import j
def k():
    import l
    from m import *
    try:
        from n.o import p  # a comment
    except ImportError:
        import q
"""


def test_every_import_of_a_file_is_found() -> None:
    """Those at the top, within functions, for types, and over several lines."""
    for text in (SAMPLE, sources()[PACKAGE / "client" / "session.py"]):
        statements = [ast.dump(node) for node in imports(text)]
        parsed = ast.walk(ast.parse(text))
        assert sorted(statements) == sorted(
            ast.dump(node) for node in parsed if isinstance(node, ast.Import | ast.ImportFrom)
        )


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"a"}, "c": {"a"}}, [{"a", "b"}]),
        ({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}}, [{"a", "b", "c"}, {"d", "e"}]),
    ],
)
def test_circles_are_found(edges: dict[str, set[str]], expected: list[set[str]]) -> None:
    assert sorted(map(sorted, circles(edges))) == sorted(map(sorted, expected))
