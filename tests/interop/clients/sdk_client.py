"""The official Python SDK's client, controlled by arguments: `sdk_client.py ERA TASKS COMMAND…` or `… URL`.

TASKS is a JSON list of [kind, argument …]; the result of each is printed as one JSON line.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

methods: list[str] = []
asked: list[str] = []


async def sampling(context: Any, params: Any) -> types.CreateMessageResult:
    asked.append("sampling")
    content = types.TextContent(type="text", text="It is a test.")
    return types.CreateMessageResult(role="assistant", content=content, model="test")


async def elicitation(context: Any, params: Any) -> types.ElicitResult:
    asked.append("elicitation")
    return types.ElicitResult(action="accept", content={"name": "Eve"})


async def roots(context: Any) -> types.ListRootsResult:
    asked.append("roots")
    return types.ListRootsResult(roots=[types.Root(uri="file:///srv/project")])


async def on_message(message: Any) -> None:
    method = getattr(getattr(message, "root", message), "method", None)
    if method is not None:
        methods.append(method)


async def do(client: Client, kind: str, *what: Any) -> Any:
    match kind:
        case "tools":
            names, cursor = [], None
            while True:
                page = await client.list_tools(cursor=cursor)
                names += [tool.name for tool in page.tools]
                cursor = page.next_cursor
                if not cursor:
                    return names
        case "resources":
            return [str(resource.uri) for resource in (await client.list_resources()).resources]
        case "read":
            return (await client.read_resource(what[0])).contents[0].text
        case "prompt":
            return (await client.get_prompt(what[0], what[1])).messages[0].content.text
        case "call":
            steps: list[float] = []

            async def progress(value: float, total: float | None, message: str | None) -> None:
                steps.append(value)

            before = len(asked)
            result = await client.call_tool(what[0], what[1], progress_callback=progress)
            text = "\n".join(block.text for block in result.content if block.type == "text")
            return {"text": text, "error": bool(result.is_error), "steps": len(steps), "asked": asked[before:]}
        case "cancel":
            with anyio.move_on_after(0.3):
                await client.call_tool(what[0], what[1])
                return "it was answered"
            return "cancelled"
        case "subscribe":
            if client.protocol_version >= "2026-07-28":
                async with client.listen(resource_subscriptions=[what[0]]) as events:
                    await client.call_tool(*what[1])
                    async for _event in events:
                        return "told"
            await client.subscribe_resource(what[0])
            await client.call_tool(*what[1])
            with anyio.fail_after(10):
                while not any("updated" in method for method in methods):
                    await anyio.sleep(0.01)
            return "told"
    raise ValueError(kind)


async def main() -> None:
    era, tasks, *words = sys.argv[1:]
    url = words[0].startswith("http")
    server = words[0] if url else StdioServerParameters(command=words[0], args=words[1:])
    client = Client(
        server,
        mode="legacy" if era == "legacy" else "auto",
        sampling_callback=sampling,
        elicitation_callback=elicitation,
        list_roots_callback=roots,
        message_handler=on_message,
        read_timeout_seconds=20,
    )
    async with client:
        print(json.dumps([client.server_info.name if client.server_info else "", client.protocol_version]), flush=True)
        for task in json.loads(tasks):
            try:
                outcome = await do(client, *task)
            except MCPError as error:
                outcome = f"error: {error}"
            print(json.dumps(outcome), flush=True)


anyio.run(main)
