"""Tools with arguments that are repeated in HTTP headers (2026-07-28)."""

from __future__ import annotations

from inspector.demo.definitions import READ_ONLY, RECEIVED, ToolTable, received

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest

box = ToolTable()


@box.add(
    "route-query",
    {
        "region": {"type": "string", "default": "north", "description": "The target region", "x-mcp-header": "Region"},
        "limit": {"type": "integer", "minimum": -10, "maximum": 1000, "x-mcp-header": "Limit"},
        "dry_run": {"type": "boolean", "x-mcp-header": "Dry-Run"},
        "options": {
            "type": "object",
            "properties": {"tenant": {"type": "string", "description": "Whose", "x-mcp-header": "Tenant"}},
        },
        "query": {"type": "string", "description": "The query; it is not repeated in a header"},
    },
    title="Route a query",
    hints=READ_ONLY,
    outputSchema=RECEIVED,
)
def route_query(call: ClientRequest) -> dict[str, Any]:
    """Takes text, a number, a boolean and a nested value that HTTP repeats in headers, and returns them."""
    return received(call)


@box.add(
    "bad-header",
    {
        "ratio": {"type": "number", "description": "Only text, integers and booleans may", "x-mcp-header": "Ratio"},
        "words": {"type": "array", "items": {"type": "string", "x-mcp-header": "Word"}},
    },
    title="Broken header annotations",
    hints=READ_ONLY,
    outputSchema=RECEIVED,
)
def bad_header(call: ClientRequest) -> dict[str, Any]:
    """Has invalid header annotations: over HTTP a client of 2026-07-28 must not offer this tool."""
    return received(call)
