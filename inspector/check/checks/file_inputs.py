"""File inputs (`x-mcp-file`, draft): the keyword in the schemas of tools."""

from __future__ import annotations

from inspector.check.check_table import CheckTable
from inspector.check.outcome import Outcome, bad, good, skipped
from inspector.check.visit.visit import Visit
from inspector.protocol.file_inputs import file_inputs
from inspector.protocol.jsonrpc import excerpt

CHECKS = CheckTable("tools", page="SEP-2356, file inputs (draft)")


@CHECKS.active(
    "FILE-01 lint r1+",
    says="x-mcp-file stands on a text property; accept is a list of texts, maxSize an integer above 0 (draft).",
    fix='Write {"type": "string", "format": "uri", "x-mcp-file": {"accept": ["image/png"], "maxSize": 1000000}}.',
)
async def keyword(visit: Visit) -> Outcome:
    """The input schemas of the listed tools."""
    found = [(tool, each) for tool in visit.items("tools") for each in file_inputs(tool.get("inputSchema"))]
    if not found:
        return skipped("no tool takes a file")
    listing = visit.newest("tools/list") or 1
    for tool, each in found:
        if each.problem:
            return bad(f"{excerpt(tool.get('name'), 60)}: {each.where}: {each.problem}.", listing)
    return good(f"{len(found)} checked", listing)
