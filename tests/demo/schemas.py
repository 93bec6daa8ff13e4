"""The official schemas of the protocol's revisions, to hold messages of the demo server against."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

import inspector.protocol


@cache
def official(revision: str, name: str) -> Any:
    """The validator of one definition of a revision's schema."""
    folder = Path(inspector.protocol.__file__).parent / "schemas"
    schema = json.loads((folder / f"{revision}.json").read_text())
    key = "$defs" if "$defs" in schema else "definitions"
    kind = jsonschema_rs.Draft202012Validator if key == "$defs" else jsonschema_rs.Draft7Validator
    return kind({key: schema[key], "$ref": f"#/{key}/{name}"})


def check(revision: str, name: str, value: Any) -> None:
    wrong = [f"{error.instance_path}: {error.message}" for error in official(revision, name).iter_errors(value)]
    assert not wrong, (revision, name, wrong[:3], value)
