"""A server made with fastmcp: `fastmcp_server.py` over stdio, `fastmcp_server.py PORT` over Streamable HTTP."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict, dataclass
from typing import Literal

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from mcp_types import SamplingMessage, TextContent

LANGUAGES = ["python", "php", "perl", "go"]
LEVELS = ["debug", "info", "warning", "error"]
server = FastMCP("fastmcp-server", version="1.0", instructions="Everything that the tests ask for.")


@dataclass
class Answers:
    """The fields of the form, with defaults."""

    name: str = "visitor"
    size: int = 3
    sure: bool = True
    colour: Literal["red", "green"] = "green"


@server.tool
def echo(message: str) -> str:
    """Says it back"""
    return message


@server.tool
def add(a: float, b: float) -> dict[str, float]:
    """Adds two numbers"""
    return {"sum": a + b}


@server.tool
async def count(ctx: Context, steps: int = 3) -> str:
    """Reports progress"""
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps, f"step {step}")
    return f"counted to {steps}"


@server.tool
async def slow(seconds: float = 30) -> str:
    """Takes its time"""
    await asyncio.sleep(seconds)
    return "slept"


@server.tool
async def ask_model(prompt: str, ctx: Context) -> str:
    """Samples"""
    message = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    answer = await ctx.session.create_message([message], max_tokens=50, related_request_id=ctx.request_id)
    return f"the model said: {answer.content.text}"


@server.tool
async def ask_user(ctx: Context) -> str:
    """Elicits"""
    reply = await ctx.elicit("Who are you?", Answers)
    content = asdict(reply.data) if reply.action == "accept" else None
    return f"{reply.action}: {json.dumps(content, sort_keys=True)}"


@server.tool
async def roots(ctx: Context) -> str:
    """Lists the roots"""
    listed = await ctx.session.list_roots()
    return " ".join(str(root.uri) for root in listed.roots)


@server.tool
async def log(ctx: Context) -> str:
    """Logs at four levels"""
    for level in LEVELS:
        await ctx.log(f"a message at {level}", level=level, logger_name="fastmcp")
    return "logged"


@server.tool
def fail() -> str:
    """Fails"""
    raise ToolError("it failed, as it should")


@server.resource("test://readme", mime_type="text/plain")
def readme() -> str:
    """Read me"""
    return "Hello from fastmcp"


@server.resource("test://items/{id}")
def item(id: str) -> str:
    """One of the items"""
    return f"Item {id}"


@server.prompt
def review(language: str) -> str:
    """Asks for a review"""
    return f"Please review this {language} code."


@server.completion
def complete(ref: object, argument: object, context: object) -> list[str]:
    return [name for name in LANGUAGES if name.startswith(argument.value)]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
    else:
        server.run(show_banner=False)
