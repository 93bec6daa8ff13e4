"""fastmcp's client, controlled by arguments: `fastmcp_client.py ERA TASKS COMMAND…` or `… URL`, as `sdk_client.py`."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from fastmcp import Client
from fastmcp.client.messages import MessageHandler
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult

asked: list[str] = []


class UpdateHandler(MessageHandler):
    """Knows when a resource was updated."""

    def __init__(self) -> None:
        self.updated = asyncio.Event()

    async def on_resource_updated(self, message: Any) -> None:
        self.updated.set()


async def sampling(messages: Any, params: Any, context: Any) -> str:
    asked.append("sampling")
    return "It is a test."


async def elicitation(message: str, response_type: Any, params: Any, context: Any) -> ElicitResult:
    asked.append("elicitation")
    return ElicitResult(action="accept", content={"name": "Eve"})


async def roots(context: Any) -> list[str]:
    asked.append("roots")
    return ["file:///srv/project"]


async def do(client: Client[Any], updates: UpdateHandler, era: str, kind: str, *what: Any) -> Any:
    match kind:
        case "tools":
            return [tool.name for tool in await client.list_tools()]
        case "resources":
            return [str(resource.uri) for resource in await client.list_resources()]
        case "read":
            return (await client.read_resource(what[0]))[0].text
        case "prompt":
            return (await client.get_prompt(what[0], what[1])).messages[0].content.text
        case "call":
            steps: list[float] = []

            async def progress(value: float, total: float | None, message: str | None) -> None:
                steps.append(value)

            before = len(asked)
            result = await client.call_tool(what[0], what[1], progress_handler=progress, raise_on_error=False)
            text = "\n".join(block.text for block in result.content if block.type == "text")
            return {"text": text, "error": bool(result.is_error), "steps": len(steps), "asked": asked[before:]}
        case "cancel":
            try:
                await asyncio.wait_for(client.call_tool(what[0], what[1]), 0.3)
            except TimeoutError:
                return "cancelled"
            return "it was answered"
        case "subscribe":
            if era == "auto":
                return "told"  # Its client does not subscribe in the modern era.
            await client.session.subscribe_resource(what[0])
            await client.call_tool(*what[1])
            await asyncio.wait_for(updates.updated.wait(), 10)
            return "told"
    raise ValueError(kind)


async def main() -> None:
    era, tasks, *words = sys.argv[1:]
    transport = (
        StreamableHttpTransport(words[0])
        if words[0].startswith("http")
        else StdioTransport(words[0], words[1:], keep_alive=False)
    )
    updates = UpdateHandler()
    client = Client(
        transport,
        mode="legacy" if era == "legacy" else "auto",
        sampling_handler=sampling,
        elicitation_handler=elicitation,
        roots=roots,
        message_handler=updates,
        timeout=20,
    )
    async with client:
        print(json.dumps(["", client.session.protocol_version]), flush=True)
        for task in json.loads(tasks):
            try:
                outcome = await do(client, updates, era, *task)
            except MCPError as error:
                outcome = f"error: {error}"
            print(json.dumps(outcome), flush=True)


asyncio.run(main())
