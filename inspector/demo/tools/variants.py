"""Tools with complex arguments: variants, null, recursion, tuples, conditions."""

from __future__ import annotations

from inspector.demo.content import result
from inspector.demo.definitions import READ_ONLY, RECEIVED, ToolTable, received

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest

DIALECT = "https://json-schema.org/draft/2020-12/schema"
box = ToolTable()


@box.add(
    "send-parcel",
    {
        "to": {
            "description": "One of three kinds of destination",
            "oneOf": [
                {
                    "title": "An address",
                    "type": "object",
                    "properties": {
                        "kind": {"const": "address"},
                        "street": {"type": "string"},
                        "town": {"type": "string"},
                    },
                    "required": ["kind", "street", "town"],
                },
                {
                    "title": "A locker",
                    "type": "object",
                    "properties": {"kind": {"const": "locker"}, "number": {"type": "integer", "minimum": 1}},
                    "required": ["kind", "number"],
                },
                {
                    "title": "A shop",
                    "type": "object",
                    "properties": {"kind": {"const": "shop"}, "name": {"type": "string"}},
                    "required": ["kind", "name"],
                },
            ],
        },
        "weight": {
            "description": "Kilograms as a number, or text with a unit",
            "anyOf": [
                {"title": "kilograms", "type": "number", "exclusiveMinimum": 0},
                {"title": "with a unit", "type": "string", "pattern": "^[0-9.]+ ?(g|kg|lb)$"},
            ],
        },
    },
    required=("to", "weight"),
    title="Send a parcel",
    hints={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": True},
)
def send_parcel(call: ClientRequest) -> dict[str, Any]:
    """Pretends to send a parcel. oneOf and anyOf: values with several variants."""
    return result(f"{call.arguments['weight']} on the way to a destination of kind {call.arguments['to']['kind']}.")


@box.add(
    "set-nickname",
    {
        "nickname": {"type": ["string", "null"], "description": "null removes the nickname", "maxLength": 40},
        "age": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}], "default": None},
        "pronouns": {"enum": ["she", "he", "they", None], "description": "An enum that contains null"},
    },
    required=("nickname",),
    title="Set a nickname",
    outputSchema=RECEIVED,
)
def set_nickname(call: ClientRequest) -> dict[str, Any]:
    """Null is not the same as absent: three ways to say that a value may be null."""
    return received(call)


@box.add(
    "tree",
    {"root": {"$ref": "#/$defs/node", "description": "The topmost node"}},
    required=("root",),
    schema={
        "$schema": DIALECT,
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "minLength": 1},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                },
                "required": ["name"],
            }
        },
    },
    title="Draw a tree",
    hints=READ_ONLY,
)
def tree(call: ClientRequest) -> dict[str, Any]:
    """Draws a tree of names. A recursive schema."""
    lines: list[str] = []
    waiting = [(0, call.arguments["root"])]
    while waiting:
        depth, node = waiting.pop()
        lines.append("  " * depth + node["name"])
        waiting += [(depth + 1, child) for child in reversed(node.get("children", []))]
    return result("\n".join(lines))


@box.add(
    "accept-terms",
    {
        "version": {"const": "2.1", "description": "Only this version can be accepted"},
        "accepted": {"const": True},
    },
    required=("version", "accepted"),
    title="Accept the terms",
    outputSchema=RECEIVED,
)
def accept_terms(call: ClientRequest) -> dict[str, Any]:
    """Arguments with one possible value."""
    return received(call)


@box.add(
    "free-form",
    {
        "data": {"type": "object", "description": "Any object", "additionalProperties": True},
        "scores": {
            "type": "object",
            "description": "Names to numbers",
            "additionalProperties": {"type": "number"},
            "maxProperties": 20,
        },
        "anything": {"description": "Any JSON value"},
    },
    title="Free form",
    outputSchema=RECEIVED,
)
def free_form(call: ClientRequest) -> dict[str, Any]:
    """Objects with arbitrary keys, and a value of any type."""
    return received(call)


@box.add(
    "plot",
    {
        "points": {
            "type": "array",
            "minItems": 1,
            "maxItems": 40,
            "description": "Pairs of x and y",
            "items": {
                "type": "array",
                "prefixItems": [
                    {"type": "number", "title": "x", "minimum": -1e6, "maximum": 1e6},
                    {"type": "number", "title": "y", "minimum": -1e6, "maximum": 1e6},
                ],
                "minItems": 2,
                "maxItems": 2,
            },
        },
        "labels": {"type": "array", "items": {"type": "string"}},
    },
    required=("points",),
    title="Plot points",
    hints=READ_ONLY,
)
def plot(call: ClientRequest) -> dict[str, Any]:
    """Plots points as text. Tuples in a list, and a plain list of text."""
    points = call.arguments["points"]
    low, high = min(y for _, y in points), max(y for _, y in points)
    scale = 40 / (high - low) if high > low else 1
    return result("\n".join(f"{x:>8g} {'·' * int((y - low) * scale)}● {y:g}" for x, y in points))


@box.add(
    "plan-meeting",
    {
        "online": {"type": "boolean", "description": "Online meetings need a link, others a room"},
        "link": {"type": "string", "format": "uri"},
        "room": {"type": "string"},
        "start": {"type": "string", "format": "time"},
        "end": {"type": "string", "format": "time"},
    },
    required=("online",),
    schema={
        "if": {"properties": {"online": {"const": True}}},
        "then": {"required": ["link"]},
        "else": {"required": ["room"]},
        "dependentRequired": {"end": ["start"]},
        "allOf": [{"not": {"required": ["link", "room"]}}],
    },
    title="Plan a meeting",
    outputSchema=RECEIVED,
)
def plan_meeting(call: ClientRequest) -> dict[str, Any]:
    """Conditions between arguments: if/then/else, dependentRequired, allOf, not."""
    return received(call)
