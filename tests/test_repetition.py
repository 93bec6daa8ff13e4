"""No two places of the package share many lines that are alike but for names and values."""

from __future__ import annotations

import ast
import io
import keyword
import tokenize
from collections import defaultdict
from itertools import combinations

from tests.code_size import NO_CODE, code_lines
from tests.processes import ROOT

MOST = 12
"""The most lines in a row that may stand twice."""
TABLE = 5
"""The rows from which a list, dictionary or call in a function counts as data."""

Shape = tuple[int, str]
"""A line: its number, and its words without names, texts and numbers."""


def spans(*nodes: ast.AST) -> set[int]:
    return {line for node in nodes for line in range(getattr(node, "lineno", 0), getattr(node, "end_lineno", 0) + 1)}


def counted_lines(source: str) -> set[int]:
    """Return the lines of code in functions that are no imports and no rows of a table."""
    nodes = list(ast.walk(ast.parse(source)))
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    tables = [
        node
        for node in nodes
        if (isinstance(node, ast.List | ast.Tuple | ast.Set) and len(node.elts) >= TABLE)
        or (isinstance(node, ast.Dict) and len(node.keys) >= TABLE)
    ]
    return (code_lines(source) & spans(*functions)) - spans(*imports, *tables)


def shapes(source: str) -> list[Shape]:
    """Return the shape of each counted line."""
    words: dict[int, list[str]] = {line: [] for line in sorted(counted_lines(source))}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in NO_CODE or token.start[0] not in words:
            continue
        named = token.type == tokenize.NAME and not keyword.iskeyword(token.string)
        valued = token.type in (tokenize.NUMBER, tokenize.STRING)
        words[token.start[0]].append("name" if named else "value" if valued else token.string)
    return [(line, " ".join(parts)) for line, parts in words.items()]


def repetitions(files: dict[str, str]) -> list[str]:
    """Return each pair of places that share more than `MOST` lines."""
    places: dict[tuple[str, ...], list[tuple[str, int, int]]] = defaultdict(list)
    for name, source in files.items():
        rows = shapes(source)
        for at in range(len(rows) - MOST):
            run = rows[at : at + MOST + 1]
            places[tuple(shape for _, shape in run)].append((name, run[0][0], run[-1][0]))
    return [
        f"{one[0]}:{one[1]}-{one[2]} ~ {other[0]}:{other[1]}-{other[2]}"
        for alike in places.values()
        for one, other in combinations(alike, 2)
        if one[0] != other[0] or one[2] < other[1]
    ]


def test_no_lines_of_the_package_stand_twice() -> None:
    package = ROOT / "inspector"
    files = {str(path.relative_to(package)): path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    assert repetitions(files) == []


def test_a_run_of_lines_with_other_names_is_seen_and_a_table_is_not() -> None:
    def function(name: str, lines: int) -> str:
        return f"def {name}():\n" + "".join(f"    {name}{at} = call({at}, '{name}')\n" for at in range(lines))

    def table(name: str) -> str:
        rows = "".join(f"        row('{name}', {at}),\n" for at in range(MOST + 5))
        return f"def {name}():\n    return [\n{rows}    ]\n"

    assert repetitions({"a": function("one", MOST), "b": function("other", MOST)}) != []
    assert repetitions({"a": function("one", MOST - 1), "b": function("other", MOST - 1)}) == []
    assert repetitions({"a": table("one"), "b": table("other")}) == []


OF_PROGRAMS = {"Event", "Exchange", "Recording", "Session"}
"""The library's names for programs are those of the field, as are the ones of the engine below it."""


def test_no_two_public_classes_have_one_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in (ROOT / "inspector").rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            # A class of one system has a counterpart with its name for the other.
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and path.parent.name != "windows":
                places[node.name].append(path.name)
    assert {name: files for name, files in places.items() if len(files) > 1 and name not in OF_PROGRAMS} == {}
