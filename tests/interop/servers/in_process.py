"""Opens a server of a framework in this very process, twice in each era that it speaks: `in_process.py FRAMEWORK`."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

import inspector

if sys.argv[1] == "mcpserver":
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver import MCPServer as Framework
elif sys.argv[1] == "mcp":
    from mcp.server.fastmcp import Context
    from mcp.server.fastmcp import FastMCP as Framework
else:
    from fastmcp import Context
    from fastmcp import FastMCP as Framework

server: Any = Framework("in process")


@server.tool()
async def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@server.tool()
async def count(ctx: Context) -> str:
    """Tells progress."""
    for step in (1, 2):
        await ctx.report_progress(step, 2)
    return "done"


async def main() -> None:
    for era in sys.argv[2:] * 2:
        async with inspector.open(server, era=era) as session:
            steps: list[float] = []
            assert {tool.name for tool in await session.tools()} == {"add", "count"}
            assert (await session.call_tool("add", {"a": 2, "b": 3})).structured == {"result": 5}
            assert (
                await session.call_tool("count", progress=lambda step, steps=steps: steps.append(step.value))
            ).text == "done"
            assert steps == [1, 2]
            assert session.server.era == era
            print(session.server.name, session.server.revision)


asyncio.run(main())
with inspector.open_sync(server) as session:
    assert session.call_tool("add", {"a": 2, "b": 3}).structured == {"result": 5}
assert [thread.name for thread in threading.enumerate() if thread.name == "inspector"] == []
