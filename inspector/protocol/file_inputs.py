"""The keyword `x-mcp-file`: a text property whose value is a file as a data URI.

Source: SEP-2356 (closed; its successor SEP-2631 is a draft without a final text). Only the keyword is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from inspector.protocol.jsonrpc import excerpt

KEYWORD = "x-mcp-file"
MOST = 10_000
"""Parts of a schema that are looked at."""
_BELOW = ("properties", "$defs", "definitions", "patternProperties")
_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")


class FileInput(NamedTuple):
    """A place in a schema with the keyword."""

    where: str
    """The JSON pointer of the schema that has it."""
    accept: tuple[str, ...]
    """MIME types and suffixes that it accepts; empty for all."""
    max_size: int | None
    """The most bytes of the file; None without a limit."""
    problem: str
    """What is wrong with it, as a clause; empty if it is right. A wrong one is ignored."""


def file_inputs(schema: Any) -> Iterator[FileInput]:
    """Yield the places in a schema that have the keyword. Never raises."""
    todo: list[tuple[str, Any]] = [("", schema)]
    for _ in range(MOST):
        if not todo:
            return
        where, item = todo.pop()
        if type(item) is not dict:
            continue
        if KEYWORD in item:
            yield _file_input(where, item)
        for key in _BELOW:
            below = item.get(key)
            todo += ((f"{where}/{key}/{name}", value) for name, value in below.items()) if type(below) is dict else ()
        for key in _LISTS:
            below = item.get(key)
            todo += ((f"{where}/{key}/{n}", value) for n, value in enumerate(below)) if type(below) is list else ()
        todo.append((f"{where}/items", item.get("items")))


def _file_input(where: str, schema: dict[str, Any]) -> FileInput:
    value = schema[KEYWORD]
    if type(value) is not dict:
        return FileInput(where, (), None, f"it is {excerpt(value, 40)}, not an object")
    accept, most = value.get("accept", []), value.get("maxSize")
    problems = []
    kind = schema.get("type")
    if kind != "string" and not (type(kind) is list and "string" in kind):
        problems.append(f"it stands on the type {excerpt(kind, 40)}, not on a string")
    if type(accept) is not list or not all(type(each) is str for each in accept):
        problems.append(f"accept is {excerpt(accept, 40)}, not a list of strings")
        accept = []
    if most is not None and (type(most) is not int or most <= 0):
        problems.append(f"maxSize is {excerpt(most, 40)}, not an integer above 0")
        most = None
    return FileInput(where, tuple(accept), most, " and ".join(problems))
