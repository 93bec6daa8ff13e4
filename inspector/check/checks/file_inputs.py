"""File inputs (`x-mcp-file`, draft): the keyword in the schemas of tools."""

from __future__ import annotations

import base64

from inspector.check.check_table import CheckTable
from inspector.check.outcome import Outcome, bad, good, skipped
from inspector.check.visit.tool_calls import arguments_for
from inspector.check.visit.visit import Visit
from inspector.protocol.file_inputs import file_input, file_inputs
from inspector.protocol.jsonrpc import excerpt
from inspector.protocol.members import object_at

CHECKS = CheckTable("file_inputs")
LARGEST = 1_000_000
"""Bytes of a `maxSize` that a check exceeds; a larger limit is not tried."""


@CHECKS.active("FILE-01")
async def keyword(visit: Visit) -> Outcome:
    """The input schemas of the listed tools."""
    keyword = [(tool, argument) for tool in visit.items("tools") for argument in file_inputs(tool.get("inputSchema"))]
    if not keyword:
        return skipped("no tool takes a file")
    listing = visit.newest("tools/list") or 1
    for tool, argument in keyword:
        if argument.problem:
            return bad(f"{excerpt(tool.get('name'), 60)}: {argument.where}: {argument.problem}.", listing)
    return good(f"{len(keyword)} checked", listing)


@CHECKS.active("FILE-02", mode="tool")
async def too_large(visit: Visit) -> Outcome:
    """One call of each allowed tool that takes a small file."""
    seen: list[int] = []
    for tool in visit.callable()[: visit.limits.items]:
        for name, schema in object_at(tool, "inputSchema", "properties").items():
            limits = file_input(schema)
            if limits is None or limits.max_size is None or limits.max_size > LARGEST:
                continue
            kind = next((kind for kind in limits.accept if "/" in kind and "*" not in kind), "application/octet-stream")
            file = f"data:{kind};base64,{base64.b64encode(bytes(limits.max_size + 1)).decode()}"
            params = {"name": tool.get("name"), "arguments": arguments_for(tool) | {name: file}}
            response = await visit.request("tools/call", params, probe=True)
            if response.ok and response.body.get("isError") is not True:
                size = f"{limits.max_size + 1:,} bytes, and its maxSize is {limits.max_size:,}"
                return bad(f"{excerpt(tool.get('name'), 60)} takes a file of {size}.", *response.events)
            seen += response.events
            break
    return good("", *seen) if seen else skipped("no allowed tool takes a file with a maxSize")
