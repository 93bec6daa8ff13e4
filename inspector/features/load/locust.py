"""Writes a Locust file (https://locust.io) that runs a plan, so that it can be spread over several machines.

It has no secret: neither one that Inspector holds, nor an argument that is one by its name or its schema. The file
reads those from variables.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from importlib.resources import files
from pprint import pformat
from typing import Any

from inspector.config.secret_forms import SecretFinder
from inspector.config.server_memory import without_secrets
from inspector.config.targets import HttpTarget, StdioTarget
from inspector.errors import UsageError
from inspector.features.load.plan import LoadPlan

_MAX_USERS = 100


def locust_file(
    plan: LoadPlan,
    target: StdioTarget | HttpTarget,
    file: str = "load.py",
    *,
    secrets: Collection[str] = (),
    schemas: Mapping[str, Any] | None = None,
) -> str:
    """Return the Python source. `secrets` are those that Inspector holds, `schemas` those of the tools' arguments.

    A masked target is set with INSPECTOR_TARGET. Raises `UsageError` where a secret is a name, such as that of a tool.
    """
    where = f"@{target.name}" if target.name else target.describe()
    users = plan.users or max(min(math.ceil(plan.rate), _MAX_USERS), 1)
    held = tuple({*secrets, *target.secrets})
    variables: dict[str, str] = {}
    calls = []
    for call in plan.calls:
        kept = without_secrets(call.arguments, (schemas or {}).get(call.tool), held)
        calls.append((call.tool, _without(dict(call.arguments), kept, variables), call.weight))
    head = _part("head").format(
        file=file,
        users=users,
        seconds=math.ceil(plan.seconds),
        target=where,
        connections=plan.connections,
        calls=pformat(calls, width=110, sort_dicts=False),
        variables=f"\nSet these variables: {', '.join(variables.values())}." if variables else "",
    )
    if SecretFinder(held).places(head):
        raise UsageError(
            "A name in this plan is a secret, and a Locust file would contain it.",
            hint="Choose a plan in which only values of arguments are secret.",
        )
    return head + (_part("closed") if plan.users else _part("open").format(interval=users / plan.rate)) + _part("tail")


def _part(name: str) -> str:
    """Return a part of the file, with places for what `str.format` puts in."""
    return (files(__package__) / "locust_parts" / f"{name}.txt").read_text(encoding="utf-8")


class _Read:
    """A value that the file reads from a variable."""

    def __init__(self, name: str, is_text: bool) -> None:
        self._source = f'os.environ["{name}"]' if is_text else f'json.loads(os.environ["{name}"])'

    def __repr__(self) -> str:
        return self._source


def _without(whole: Any, kept: Any, variables: dict[str, str]) -> Any:
    """Return the value with what is not `kept` read from variables, which are added to `variables` by their values."""
    if isinstance(whole, dict) and isinstance(kept, dict):
        return {
            key: _without(value, kept[key], variables) if key in kept else _read(key, value, variables)
            for key, value in whole.items()
        }
    if isinstance(whole, list) and isinstance(kept, list):
        return [_without(one, other, variables) for one, other in zip(whole, kept, strict=True)]
    return whole


def _read(key: str, value: Any, variables: dict[str, str]) -> _Read:
    known = json.dumps(value, sort_keys=True)
    if known not in variables:
        wish = f"INSPECTOR_{re.sub(r'[^A-Z0-9]+', '_', key.upper()).strip('_')[:40] or 'SECRET'}"
        name, number = wish, 2
        while name in variables.values():
            name, number = f"{wish}_{number}", number + 1
        variables[known] = name
    return _Read(variables[known], isinstance(value, str))
