"""The official Python SDK's client, doing for the suite what `client.py` does: ours is compared with it.

It does not log in: where it would have to, it ends.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import anyio
from mcp import Client, MCPError, types

RESOURCES_READ = 2
ECHO, ECHOED = "json_schema_echo", "json_schema_2020_12_tool"
PLAIN = {"string": "sample", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}, "null": None}


async def answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    """Answer with the defaults of the schema."""
    asked = params.requested_schema.get("properties", {})
    return types.ElicitResult(
        action="accept", content={name: member["default"] for name, member in asked.items() if "default" in member}
    )


async def decline(context: Any, params: types.CreateMessageRequestParams) -> types.ErrorData:
    return types.ErrorData(code=-1, message="User rejected sampling request")


async def roots(context: Any) -> types.ListRootsResult:
    return types.ListRootsResult(roots=[])


def arguments_of(tool: types.Tool, tools: list[types.Tool]) -> dict[str, Any]:
    """Arguments that a tool's schema takes."""
    if tool.name == ECHO:
        return {"schema": next(other.input_schema for other in tools if other.name == ECHOED)}
    members = tool.input_schema.get("properties", {})
    return {name: PLAIN.get(members[name].get("type"), "sample") for name in tool.input_schema.get("required", ())}


async def attempt(method: Any, *words: Any) -> Any:
    """The result; None where the server refuses."""
    try:
        return await method(*words)
    except MCPError as error:
        print(error, file=sys.stderr)
        return None


async def main(url: str, context: dict[str, Any]) -> None:
    async with (
        Client(url, elicitation_callback=answer, sampling_callback=decline, list_roots_callback=roots) as client,
        anyio.create_task_group() as group,
    ):
        offered = client.server_capabilities
        if offered.tools:
            listed = await attempt(client.list_tools)
            tools = listed.tools if listed else []
            calls = [(call["name"], call["arguments"]) for call in context.get("toolCalls", ())]
            for name, arguments in calls or [(tool.name, arguments_of(tool, tools)) for tool in tools]:
                group.start_soon(attempt, client.call_tool, name, arguments)
        if offered.resources:
            listed = await attempt(client.list_resources)
            await attempt(client.list_resource_templates)
            for resource in listed.resources[:RESOURCES_READ] if listed else ():
                group.start_soon(attempt, client.read_resource, str(resource.uri))
        if offered.prompts:
            listed = await attempt(client.list_prompts)
            for prompt in listed.prompts[:1] if listed else ():
                values = {argument.name: "sample" for argument in prompt.arguments or () if argument.required}
                group.start_soon(attempt, client.get_prompt, prompt.name, values)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}")))
