"""Reads members of a config entry and checks their types. A ConfigError names the key and its type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from inspector.config import foreign_files
from inspector.errors import ConfigError


def text(raw: Mapping[str, Any], key: str) -> str:
    """Return the text under `key`, empty if missing. Raises ConfigError for another type."""
    value = raw.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ConfigError(f"“{key}” must be text, not {foreign_files.kind_of(value)}")
    return value


def texts(raw: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return the list of texts under `key`; numbers and booleans count as their JSON text, as in the clients."""
    value = raw.get(key)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise ConfigError(f"“{key}” must be a list of strings, not {foreign_files.kind_of(value)}")
    return tuple(scalar(item, f"“{key}” item {number}") for number, item in enumerate(value, 1))


def text_map(raw: Mapping[str, Any], key: str) -> dict[str, str]:
    """Return the object of texts under `key`, without null values; numbers and booleans count as JSON text."""
    value = raw.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"“{key}” must be an object of strings, not {foreign_files.kind_of(value)}")
    return {
        name: scalar(item, f"“{key}.{foreign_files.printable(name)}”")
        for name, item in value.items()
        if item is not None
    }


def object_map(raw: Mapping[str, Any], key: str) -> dict[str, dict[str, Any] | None]:
    """Return the object under `key`, whose values are objects or null. Raises ConfigError for another type."""
    value = raw.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"“{key}” must be an object of objects, not {foreign_files.kind_of(value)}")
    for name, item in value.items():
        if item is not None and not isinstance(item, dict):
            raise ConfigError(
                f"“{key}.{foreign_files.printable(name)}” must be an object or null, not {foreign_files.kind_of(item)}"
            )
    return value


def flag(raw: Mapping[str, Any], key: str, default: bool) -> bool:
    """Return the boolean under `key`. Raises ConfigError for another type."""
    value = raw.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise ConfigError(f"“{key}” must be true or false, not {foreign_files.kind_of(value)}")
    return value


def seconds(raw: Mapping[str, Any], key: str, *, unit: float = 1.0) -> float | None:
    """Return the positive, finite duration under `key` in seconds; the file counts in units of `unit` seconds."""
    value = raw.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ConfigError(f"“{key}” must be a number, not {foreign_files.kind_of(value)}")
    if not 0 < value < 1e9:
        raise ConfigError(f"“{key}” must be more than 0 and less than 1,000,000,000")
    return value * unit


def scalar(value: Any, where: str) -> str:
    """Return a text, or the JSON text of a number or boolean. Raises ConfigError for another type."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    raise ConfigError(f"{where} must be text, not {foreign_files.kind_of(value)}")
