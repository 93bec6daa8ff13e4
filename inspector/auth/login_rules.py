"""The rules behind the decisions of a login, each readable without the specification: `login_rules.json`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple


class AuthRule(NamedTuple):
    """The requirement, its reason, and its source."""

    text: str
    source: str


@cache
def rules() -> dict[str, AuthRule]:
    """Return all rules by the identifiers that steps record: C-AUTH-… for the specification's requirements, or a
    section of an RFC."""
    document = json.loads(Path(__file__).with_suffix(".json").read_bytes())
    return {name: AuthRule(**rule) for name, rule in document.items()}


def rule_of(name: str) -> AuthRule | None:
    """Return the rule of a step; None without one."""
    return rules().get(name)
