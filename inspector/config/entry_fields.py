"""Members of an entry of a config file, read with their types checked: a ConfigError names the key and what it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from inspector.config import files
from inspector.errors import ConfigError


def text(raw: Mapping[str, Any], key: str) -> str:
    """The text under `key`, empty where there is none; ConfigError for anything else."""
    value = raw.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ConfigError(f"“{key}” must be text, not {files.kind_of(value)}")
    return value


def texts(raw: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """The list of texts under `key`; numbers and booleans count as their JSON text, as clients read them."""
    value = raw.get(key)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise ConfigError(f"“{key}” must be a list of texts, not {files.kind_of(value)}")
    return tuple(scalar(item, f"“{key}” item {number}") for number, item in enumerate(value, 1))


def text_map(raw: Mapping[str, Any], key: str) -> dict[str, str]:
    """The object of texts under `key`; null values are left out, numbers and booleans count as their JSON text."""
    value = raw.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(f"“{key}” must be an object of texts, not {files.kind_of(value)}")
    return {name: scalar(item, f"“{key}.{files.shown(name)}”") for name, item in value.items() if item is not None}


def flag(raw: Mapping[str, Any], key: str, default: bool) -> bool:
    """The boolean under `key`; ConfigError for anything else."""
    value = raw.get(key)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise ConfigError(f"“{key}” must be true or false, not {files.kind_of(value)}")
    return value


def seconds(raw: Mapping[str, Any], key: str, *, unit: float = 1.0) -> float | None:
    """The positive, finite duration under `key` in seconds, where the file counts in units of `unit` seconds."""
    value = raw.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ConfigError(f"“{key}” must be a number, not {files.kind_of(value)}")
    if not 0 < value < 1e9:
        raise ConfigError(f"“{key}” must be more than 0 and less than a thousand million")
    return value * unit


def scalar(value: Any, where: str) -> str:
    """A text, or the JSON text of a number or boolean; ConfigError for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, int, float)):
        return json.dumps(value)
    raise ConfigError(f"{where} must be text, not {files.kind_of(value)}")
