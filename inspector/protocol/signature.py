"""The signature of a tool in one line: `search(query: string, limit: integer = 10) → Results`.

An optional parameter has its default, or `?` after its name. The type of the result is the title of the output schema,
else its description; a tool without an output schema has none. All text is made safe.
"""

from __future__ import annotations

from typing import Any

from inspector.protocol import views
from inspector.protocol.forms.schema import FieldReader, FieldShape
from inspector.protocol.forms.values import json_of
from inspector.text import safe

MAX_PARAMETERS = 20
MAX_CHOICES = 4
"""Values of an enum that are written in full."""
MAX_DEPTH = 3
NAME, TYPE, DEFAULT = 60, 40, 30
"""Characters of a name, a type and a default."""
WRAPPED = "x-fastmcp-wrap-result"
"""A schema with this mark wraps the tool's own result in a member `result` (FastMCP)."""


def signature(tool: views.Tool) -> str:
    """Return the whole line."""
    shaper = FieldReader(tool.input_schema)
    count = max(len(shaper.shape(tool.input_schema).variants), 1)
    shapes = [shaper.shape(tool.input_schema, chosen=variant) for variant in range(min(count, MAX_CHOICES))]
    parts = list(dict.fromkeys(_parameters(shaper, shape) for shape in shapes))
    if count > MAX_CHOICES:
        parts.append(f"… {count - MAX_CHOICES} more")
    returned = _returned(tool.output_schema)
    return f"{safe(tool.name or views.UNNAMED, 300)}({' | '.join(parts)}){f' → {returned}' if returned else ''}"


def _parameters(shaper: FieldReader, shape: FieldShape) -> str:
    """Return the parameters of one variant of a tool's arguments."""
    named = list(shape.properties.items())
    parts = [_parameter(shaper, shape, name, schema) for name, schema in named[:MAX_PARAMETERS]]
    if len(named) > MAX_PARAMETERS:
        parts.append(f"… {len(named) - MAX_PARAMETERS} more")
    return ", ".join(parts)


def _parameter(shaper: FieldReader, parent: FieldShape, name: str, schema: Any) -> str:
    shape = shaper.shape(schema)
    required = name in parent.required
    has_default = "default" in shape.schema
    mark = "" if required or has_default else "?"
    default = f" = {safe(json_of(shape.schema['default']), DEFAULT)}" if has_default else ""
    return f"{safe(name, NAME)}{mark}: {_type(shaper, schema, 0)}{default}"


def _type(shaper: FieldReader, schema: Any, level: int) -> str:
    shape = shaper.shape(schema)
    if shape.kind == "const":
        text = json_of(shape.schema.get("const"))
    elif shape.kind == "enum" and len(shape.choices) <= MAX_CHOICES:
        text = " | ".join(json_of(choice.value) for choice in shape.choices)
    elif shape.kind == "enum":
        text = f"one of {len(shape.choices):,}"
    elif len(shape.variants) > 1:
        text = " | ".join(dict.fromkeys(shape.variants))
    elif shape.kind in ("array", "multi"):
        items = shape.schema.get("items")
        inner = _type(shaper, items, level + 1) if isinstance(items, dict) and level < MAX_DEPTH else "any"
        text = f"({inner})[]" if " " in inner else f"{inner}[]"
    elif shape.kind == "object" and isinstance(shape.schema.get("title"), str) and level:
        text = shape.schema["title"]
    else:
        text = "any" if shape.kind == "json" else shape.kind
    return safe(text + (" | null" if shape.nullable and "null" not in text else ""), TYPE)


def _returned(schema: Any) -> str:
    """Return the type of the result, or empty text without an output schema."""
    if not isinstance(schema, dict):
        return ""
    shaper = FieldReader(schema)
    shape = shaper.shape(schema)
    if list(shape.properties) == ["result"] and (shape.schema.get(WRAPPED) is True or _is_wrapper(shape)):
        return _type(shaper, shape.properties["result"], 1)
    title = shape.schema.get("title")
    if isinstance(title, str) and title:
        return safe(title, NAME)
    names = ", ".join(list(shape.properties)[:MAX_CHOICES]) + (", …" if len(shape.properties) > MAX_CHOICES else "")
    return safe(f"{{{names}}}" if shape.properties else shape.kind, NAME)


def _is_wrapper(shape: FieldShape) -> bool:
    """Whether a schema wraps one value: the Python SDK names it after its function, `searchOutput`."""
    title = shape.schema.get("title")
    return isinstance(title, str) and title.endswith("Output")
