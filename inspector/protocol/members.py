"""Values at a path of keys in foreign JSON: of the asked type, else empty. They never raise.

`text_at(message, "params", "_meta", "name")` is a string, whatever the message is.
"""

from __future__ import annotations

from typing import Any


def value_at(value: Any, *path: str) -> Any:
    """Return the value at a path; None without one."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def object_at(value: Any, *path: str) -> dict[str, Any]:
    """Return the object at a path; an empty one without one."""
    member = value_at(value, *path)
    return member if isinstance(member, dict) else {}


def array_at(value: Any, *path: str) -> list[Any]:
    """Return the array at a path; an empty one without one."""
    member = value_at(value, *path)
    return member if isinstance(member, list) else []


def text_at(value: Any, *path: str) -> str:
    """Return the string at a path; `""` without one."""
    member = value_at(value, *path)
    return member if isinstance(member, str) else ""


def texts_at(value: Any, *path: str) -> list[str]:
    """Return the strings of the array at a path."""
    return [item for item in array_at(value, *path) if isinstance(item, str)]


def objects_at(value: Any, *path: str) -> list[dict[str, Any]]:
    """Return the objects of the array at a path."""
    return [item for item in array_at(value, *path) if isinstance(item, dict)]


def subject_of(params: Any) -> str:
    """Return what a request is about: the tool's or prompt's name, or the resource's URI; else `""`."""
    name = value_at(params, "name") or value_at(params, "uri")
    return name if isinstance(name, str) else ""
