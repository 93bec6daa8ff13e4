"""Reads JSON of a server, in which any member may be missing or of another type."""

from __future__ import annotations

from typing import Any


def member(value: Any, *path: str) -> Any:
    """The member at a path; None without one."""
    for key in path:
        value = value.get(key) if type(value) is dict else None
    return value


def object_of(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if type(value) is dict else {}


def array(value: Any) -> list[Any]:
    """The value if it is an array, else an empty one."""
    return value if type(value) is list else []


def objects(value: Any) -> list[dict[str, Any]]:
    """The entries of an array that are objects."""
    return [item for item in array(value) if type(item) is dict]
