"""Arguments and data of events against the schemas that the server lists (C-EVENT-06)."""

from __future__ import annotations

from typing import Any

from inspector.errors import SchemaError
from inspector.events.subscription import DataCheck
from inspector.protocol.events import EventType
from inspector.protocol.validation import Validator


def argument_problem(event: EventType, arguments: dict[str, Any]) -> str:
    """Return why arguments do not match the input schema, as a sentence; empty if they do."""
    check = _check(event.input_schema, "arguments")
    return check(arguments) if check is not None else ""


def data_check(event: EventType) -> DataCheck | None:
    """Return the check of an event's data; None without a usable payload schema."""
    return _check(event.payload_schema, "data")


def _check(schema: dict[str, Any], whose: str) -> DataCheck | None:
    if not schema:
        return None
    try:
        validator = Validator(schema)
    except SchemaError:
        return None  # The list of event types names it.

    def check(value: dict[str, Any]) -> str:
        found = validator.errors(value, limit=1)
        return f"{whose}{found[0].path}: {found[0].message}." if found else ""

    return check
