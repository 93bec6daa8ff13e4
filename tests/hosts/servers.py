"""A server that every host accepts, and for each kind of test a server with that fault. Made from the facts."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from inspector.hosts import EvaluatedResult, Fact, ServerDefinitions

GOOD_TOOL: dict[str, Any] = {
    "name": "get_order",
    "title": "Get an order",
    "description": "Return one order of the Shop API by its number.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "number": {"type": "integer", "description": "The number of the order."},
            "fields": {"type": "array", "description": "Fields to return.", "items": {"type": "string"}},
        },
        "required": ["number"],
        "additionalProperties": False,
    },
    "outputSchema": {"type": "object", "properties": {"number": {"type": "integer"}}},
    "annotations": {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False},
}


def good() -> ServerDefinitions:
    """A server within every limit of every host."""
    result = EvaluatedResult(
        "get_order", {"content": [{"type": "text", "text": '{"number": 1}'}], "structuredContent": {"number": 1}}
    )
    return ServerDefinitions.of("shop", [copy.deepcopy(GOOD_TOOL)], "Orders of a shop.", [result])


def tool(**members: Any) -> dict[str, Any]:
    """The good tool with other members; None removes one."""
    made = copy.deepcopy(GOOD_TOOL) | members
    return {key: value for key, value in made.items() if value is not None}


def with_schema(**members: Any) -> dict[str, Any]:
    """The good tool with other members of its inputSchema; None removes one."""
    schema = copy.deepcopy(GOOD_TOOL["inputSchema"]) | members
    return tool(inputSchema={key: value for key, value in schema.items() if value is not None})


def with_parameter(name: str, **schema: Any) -> dict[str, Any]:
    """The good tool with one more parameter."""
    properties = copy.deepcopy(GOOD_TOOL["inputSchema"]["properties"])
    return with_schema(properties=properties | {name: schema})


def server(*tools: dict[str, Any], instructions: str = "", result: dict[str, Any] | None = None) -> ServerDefinitions:
    """A server with these tools."""
    results = [] if result is None else [EvaluatedResult("get_order", result)]
    return ServerDefinitions.of("shop", tools or [tool()], instructions, results)


def without(path: str) -> dict[str, Any]:
    """The good tool without one member, given as `annotations.readOnlyHint`."""
    made = tool()
    first, _, inner = path.partition(".")
    if inner:
        del made[first][inner]
    else:
        del made[first]
    return made


def keyword(name: str) -> dict[str, Any]:
    """A tool with a keyword in a parameter; its value is of the right type."""
    objects = ("$defs", "definitions", "patternProperties", "dependentSchemas", "dependentRequired")
    schemas = ("not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties")
    texts = {"$ref": "#/properties/number", "pattern": "^a", "format": "date", "default": "a", "const": "a"}
    value: Any = (
        texts.get(name)
        or ({} if name in objects or name in schemas else None)
        or ([{"type": "string"}] if name in ("allOf", "anyOf", "oneOf", "prefixItems") else None)
    )
    if value is None:
        value = True if name == "uniqueItems" else {} if name in objects or name in schemas else 1
    return with_parameter("extra", **{"type": "string", name: value})


def faults(kind: str, given: Any, fact: Fact) -> list[ServerDefinitions]:
    """Servers that each break one test of a fact."""
    return FAULTS[kind](given) if kind in FAULTS else [_too_large(kind, given)]


def _too_large(kind: str, most: int) -> ServerDefinitions:
    text = "x" * (most * 4 + 10)  # Beyond the limit in every unit.
    what = kind.removeprefix("soft_").removeprefix("max_").removeprefix("front_").split("_")[0]
    if kind.startswith(("max_name", "max_full_name")):
        return server(tool(name="a" * (most + 1)))
    if kind.startswith("max_schema_description"):
        return server(with_parameter("extra", type="string", description=text))
    nested: dict[str, Any] = {"type": "object", "properties": {}}
    if what == "depth":
        for _ in range(most):
            nested = {"type": "object", "properties": {"a": nested}}
    made: dict[str, Callable[[], ServerDefinitions]] = {
        "description": lambda: server(tool(description=text)),
        "instructions": lambda: server(instructions=text),
        "tools": lambda: server(*(tool(name=f"get_order_{n}") for n in range(most + 1))),
        "result": lambda: server(result={"content": [{"type": "text", "text": "x\n" * (most * 4 + 10)}]}),
        "properties": lambda: server(with_schema(properties={f"p{n}": {} for n in range(most + 1)})),
        "depth": lambda: server(tool(inputSchema=nested)),
        "enum": lambda: server(with_parameter("extra", enum=[f"v{n}" for n in range(most + 1)])),
        "text": lambda: server(with_parameter("extra", enum=["v" * (most + 1)])),
    }
    return made[what]()


def _mixed(given: dict[str, Any]) -> list[ServerDefinitions]:
    reads, writes = given["methods"]
    some = [server(with_parameter("anything", enum=[read, write])) for read in reads for write in writes]
    reads, writes = given["actions"]
    return some + [server(with_parameter(name, enum=[reads[0], writes[0]])) for name in given["named"]]


FAULTS: dict[str, Callable[[Any], list[ServerDefinitions]]] = {
    "pattern": lambda given: [server(tool(name="get order")), server(tool(name="名"))],
    "properties_pattern": lambda given: [server(with_parameter("$a", type="string"))],
    "unique_full_name": lambda given: [server(tool(name="a" * 80), tool(name="a" * 80 + "b"))],
    "require": lambda given: [server(without(path)) for path in given],
    "want": lambda given: [server(without(path)) for path in given],
    "require_any": lambda given: [server(tool(annotations=None)), server(tool(annotations={"readOnlyHint": "yes"}))],
    "root_without": lambda given: [server(with_schema(**{key: [{}]})) for key in given],
    "root_requires": lambda given: [server(with_schema(**{key: None})) for key in given],
    "anywhere_without": lambda given: [server(keyword(name)) for name in given],
    "dropped": lambda given: [server(keyword(name)) for name in given],
    "only": lambda given: [server(keyword(name)) for name in ("not", "if", "dependentRequired") if name not in given],
    "arrays_require": lambda given: [server(with_parameter("extra", type="array"))],
    "required_in_properties": lambda given: [server(with_schema(required=["nummer"]))],
    "schema_valid": lambda given: [server(with_parameter("extra", type="text")), server(tool(inputSchema="no"))],
    "no_enum_with": _mixed,
    "no_free_text": lambda given: [server(with_parameter(name, type="string")) for name in given],
    "structured_replaces_text": lambda given: [
        server(result={"content": [{"type": "text", "text": "Order 1 was sent."}], "structuredContent": {"number": 1}})
    ],
    "text_needed": lambda given: [server(result={"content": [], "structuredContent": {"number": 1}})],
    "free_text_names_api": lambda given: [
        server(with_parameter(name, type="string") | {"description": "Sends a request."}) for name in given
    ],
}
"""By kind of test, from its argument."""
