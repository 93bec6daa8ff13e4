"""The texts of a form: the hint of a field, and parsing what the user types."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from inspector.lazy_pattern import lazy_pattern
from inspector.protocol.exact_json.depth import is_too_deep
from inspector.protocol.file_inputs import file_input
from inspector.protocol.forms.schema import Choice, FieldReader, FieldShape
from inspector.protocol.forms.values import json_of, same, text_of
from inspector.reasons import json_fault
from inspector.text import safe, size

HINT_LIMIT = 60
"""Characters of a hint."""
INTEGER_DIGITS = 4000
"""Digits of a number that can be typed; Python parses integers of at most 4,300."""

_NOT_TEXT = frozenset(("object", "array", "number", "integer", "boolean", "null"))
_INTEGER = lazy_pattern(r"[+-]?[0-9]+")
_NUMBER = lazy_pattern(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,5})?")


def hint_of(shape: FieldShape, shaper: FieldReader) -> str:
    """Describe the values of a field in a few words: `integer 1-100`, `one of 6`, `string email`. Safe to show."""
    return safe(_hint(shape, shaper, 0) + (" or null" if shape.nullable else ""), HINT_LIMIT)


def _hint(shape: FieldShape, shaper: FieldReader, level: int) -> str:
    schema, kind = shape.schema, shape.kind
    if kind == "const":
        return f"always {text_of(schema.get('const'))}"
    if kind == "enum":
        return f"one of {len(shape.choices):,}"
    if kind == "multi":
        chosen = _range(schema, "minItems", "maxItems")
        return f"{chosen or 'any'} of {len(shape.choices):,}"
    file = file_input(schema) if kind == "string" else None
    if file is not None:
        limit = f"at most {size(file.max_size)}" if file.max_size is not None else ""
        return ", ".join(filter(None, ("file", *file.accept[:5], limit)))
    if kind == "string":
        form = schema.get("format")
        length = _range(schema, "minLength", "maxLength")
        parts = [kind, form if isinstance(form, str) else "", _counted(length, "character")]
        if isinstance(schema.get("pattern"), str) and not isinstance(form, str):
            parts.append(schema["pattern"])
        return " ".join(filter(None, parts))
    if kind in ("integer", "number"):
        bounds = _range(schema, "minimum", "maximum")
        for key, word in (("exclusiveMinimum", "more than"), ("exclusiveMaximum", "less than")):
            if isinstance(schema.get(key), (int, float)) and not isinstance(schema[key], bool):
                bounds += f" {word} {_number(schema[key])}"
        return f"{kind} {bounds.strip()}".strip()
    if kind == "array":
        length = _range(schema, "minItems", "maxItems")
        tuple_of = next((schema[key] for key in ("prefixItems", "items") if isinstance(schema.get(key), list)), None)
        if tuple_of is not None:
            return f"array of {len(tuple_of)}"
        of = ""
        if isinstance(schema.get("items"), dict) and level < 2:
            of = f" of {_hint(shaper.shape(schema['items']), shaper, level + 1)}"
        return ", ".join(filter(None, (f"array{of}", _counted(length, "item"))))
    return "any JSON" if kind == "json" else kind


def _counted(length: str, noun: str) -> str:
    """Format a range with its noun, singular after a last number of 1: `from 1 item`, `1 to 3 items`."""
    return f"{length} {noun}{'' if length.split()[-1] == '1' else 's'}" if length else ""


def _range(schema: Mapping[str, Any], low: str, high: str) -> str:
    minimum, maximum = (
        value if isinstance(value := schema.get(key), (int, float)) and not isinstance(value, bool) else None
        for key in (low, high)
    )
    if minimum is None and maximum is None:
        return ""
    if maximum is None:
        return f"from {_number(minimum)}" if minimum else ""
    if minimum is None:
        return f"up to {_number(maximum)}"
    if minimum == maximum:
        return _number(minimum)
    words = low.endswith("Items") or minimum < 0 or isinstance(minimum, float) or isinstance(maximum, float)
    return f"{_number(minimum)} to {_number(maximum)}" if words else f"{_number(minimum)}-{_number(maximum)}"


def _number(value: float) -> str:
    """Format a bound, without the `.0` that many libraries write into a schema."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return json_of(int(value) if whole else value)


# Parse typed text


def read_text(shape: FieldShape, text: str) -> tuple[Any, str]:
    """Parse a text for a shape. Returns the value and the error or `""`; with an error the text is the value."""
    kind = shape.kind
    if kind == "string":
        return text, ""
    if kind in ("enum", "const") and (chosen := _named(shape.choices, text)) is not None:
        return chosen.value, ""
    if text == "null" and (shape.nullable or kind == "null"):
        return None, ""
    if kind in ("integer", "number"):
        return _read_number(text, kind)
    if kind == "boolean":
        return (text == "true", "") if text in ("true", "false") else (text, "must be true or false")
    if kind in ("enum", "const"):
        if any(isinstance(choice.value, str) for choice in shape.choices):
            return text, ""
        value, problem = _read_json(shape, text)
        return (text, "") if problem else (value, "")
    return _read_json(shape, text)


def _named(choices: tuple[Choice, ...], text: str) -> Choice | None:
    """Return the choice that a text names: as a string, else as JSON, else by its label."""
    for matches in (
        lambda choice: same(choice.value, text),
        lambda choice: text_of(choice.value) == text,
        lambda choice: choice.label == text,
    ):
        for choice in choices:
            if matches(choice):
                return choice
    return None


def _read_number(text: str, kind: str) -> tuple[Any, str]:
    stripped = text.strip()
    if len(stripped) > INTEGER_DIGITS:
        return text, f"has more than {INTEGER_DIGITS:,} digits"
    if _INTEGER.fullmatch(stripped):
        return int(stripped), ""
    if not _NUMBER.fullmatch(stripped):
        return text, "is not a number" if kind == "number" else "is not a whole number"
    value = float(stripped)
    if value in (float("inf"), float("-inf")):
        return text, "is too large for a number with a fraction"
    if kind == "number":
        return value, ""
    if not value.is_integer():
        return text, "is not a whole number"
    from decimal import Decimal

    return int(Decimal(stripped)), ""


def _allows_text(types: Any) -> bool:
    """Whether a field of these types may be text. So may one of a type that JSON Schema lacks (`date-time`)."""
    return any(type(name) is not str or name not in _NOT_TEXT for name in (types if type(types) is list else (types,)))


def _read_json(shape: FieldShape, text: str) -> tuple[Any, str]:
    """Parse a field of a kind that is not scalar: JSON, or plain text if a string is allowed."""
    if is_too_deep(text):
        return text, "is nested too deeply"
    try:
        value = json.loads(text)
    except RecursionError:
        return text, "is nested too deeply"
    except ValueError as error:
        if shape.kind == "json" and _allows_text(shape.schema.get("type", "string")):
            return text, ""
        reason = json_fault(error) if isinstance(error, json.JSONDecodeError) else "a number is too long"
        return text, f"is not JSON: {reason}"
    return value, ""
