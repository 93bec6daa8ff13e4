"""Tools: the members of their list entries."""

from __future__ import annotations

from typing import Any

from inspector.check.check_table import CheckTable
from inspector.check.checks.capabilities import list_declared, same_list
from inspector.check.outcome import Outcome, bad, doubtful, good, remark, skipped
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.visit import Visit
from inspector.protocol.jsonrpc import INVALID_PARAMS, excerpt
from inspector.protocol.members import objects_at
from inspector.text import quantity

_UNKNOWN_NAME = "inspector-check-no-such-tool"
_MANY = 64
"""The number of tools above which a list takes too much of a model's context."""
_LARGE_BYTES = 100_000

CHECKS = CheckTable("tools")


@CHECKS.active("TOOL-01", apart=True)
async def declared(visit: Visit) -> Outcome:
    """`tools/list`, whatever is declared."""
    return await list_declared(visit, "tools")


@CHECKS.active("TOOL-13")
async def unknown_tool(visit: Visit) -> Outcome:
    """An unknown tool name. Many servers return a result with isError, which is a warning."""
    if not visit.can("tools"):
        return skipped("the server has no tools")
    response = await visit.request("tools/call", {"name": _UNKNOWN_NAME, "arguments": {}})
    if response.code == INVALID_PARAMS:
        return good("", *response.events)
    if response.body.get("isError") is True:
        return doubtful("The request got a result with isError, not an error.", *response.events)
    if response.error:
        return doubtful(f"The request got {response.reply}.", *response.events)
    return bad(f"The request got {response.reply}.", *response.events)


@CHECKS.active("TOOL-17")
async def same_order(visit: Visit) -> Outcome:
    """The first page, twice."""
    if not visit.items("tools"):
        return skipped("the server lists no tools")
    first, second = await visit.request("tools/list", {}), await visit.request("tools/list", {})
    if _names(first) != _names(second):
        return bad("The order of the list changed.", *first.events, *second.events)
    return good("", *first.events, *second.events)


@CHECKS.active("TOOL-18", apart=True)
async def same_everywhere(visit: Visit) -> Outcome:
    """The list on another connection, compared with the shared one."""
    return await same_list(visit, "tools", "name", any_order=True)


@CHECKS.active("TOOL-25")
async def size(visit: Visit) -> Outcome:
    """The size of the list."""
    tools = visit.items("tools")
    if not tools:
        return skipped("the server lists no tools")
    octets = sum(len(excerpt(tool, 1 << 20)) for tool in tools)
    text = f"{quantity(len(tools), 'tool')}, {quantity(octets, 'character')}"
    return remark(text, _listing(visit)) if len(tools) > _MANY or octets > _LARGE_BYTES else good(text)


def _names(response: RequestOutcome) -> list[Any]:
    return [tool.get("name") for tool in objects_at(response.body.get("tools"))]


def _listing(visit: Visit) -> int:
    """The newest page of the list of tools."""
    return visit.newest("tools/list") or 1
