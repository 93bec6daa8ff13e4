"""A server of the official Python SDK (`mcp`) over stdio, on its low-level class: all that the handshake era has."""

from __future__ import annotations

import json
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

LANGUAGES = ["python", "php", "perl", "go"]
TEXT = {"type": "string"}
NUMBER = {"type": "number"}
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "default": "nobody"},
        "size": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
        "sure": {"type": "boolean", "default": True},
        "colour": {"type": "string", "enum": ["red", "green"], "default": "green"},
    },
    "required": ["name"],
}
subscribed: set[str] = set()
level = "debug"


def _object(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


TOOLS = [
    types.Tool(name="echo", description="Says it back", input_schema=_object("message", message=TEXT)),
    types.Tool(
        name="add",
        description="Adds two numbers",
        input_schema=_object("a", "b", a=NUMBER, b=NUMBER),
        output_schema=_object("sum", sum=NUMBER),
    ),
    types.Tool(name="count", description="Reports progress", input_schema=_object(steps={"type": "integer"})),
    types.Tool(name="slow", description="Takes its time", input_schema=_object(seconds=NUMBER)),
    types.Tool(name="ask_model", description="Samples", input_schema=_object("prompt", prompt=TEXT)),
    types.Tool(name="ask_user", description="Elicits", input_schema=_object()),
    types.Tool(name="roots", description="Lists the roots", input_schema=_object()),
    types.Tool(name="log", description="Logs at every level", input_schema=_object()),
    types.Tool(name="touch", description="Tells of a changed resource", input_schema=_object("uri", uri=TEXT)),
    types.Tool(name="fail", description="Fails", input_schema=_object()),
]
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


def said(text: str, **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], **more)


async def list_tools(ctx: ServerRequestContext, params: Any) -> types.ListToolsResult:
    """Three tools a page."""
    first = int(params.cursor) if params and params.cursor else 0
    following = str(first + 3) if first + 3 < len(TOOLS) else None
    return types.ListToolsResult(tools=TOOLS[first : first + 3], next_cursor=following)


async def call_tool(ctx: ServerRequestContext, params: types.CallToolRequestParams) -> types.CallToolResult:
    given = params.arguments or {}
    session, request = ctx.session, ctx.request_id
    match params.name:
        case "echo":
            return said(given["message"])
        case "add":
            result = {"sum": given["a"] + given["b"]}
            return said(json.dumps(result), structured_content=result)
        case "count":
            steps = given.get("steps", 3)
            for step in range(1, steps + 1):
                await session.report_progress(step, steps, f"step {step}")
            return said(f"counted to {steps}")
        case "slow":
            await anyio.sleep(given.get("seconds", 30))
            return said("slept")
        case "ask_model":
            answer = await session.create_message(
                [types.SamplingMessage(role="user", content=types.TextContent(type="text", text=given["prompt"]))],
                max_tokens=50,
                related_request_id=request,
            )
            return said(f"the model said: {answer.content.text}")
        case "ask_user":
            reply = await session.elicit_form("Who are you?", FORM, related_request_id=request)
            return said(f"{reply.action}: {json.dumps(reply.content, sort_keys=True)}")
        case "roots":
            roots = (await session.list_roots()).roots
            return said(" ".join(str(root.uri) for root in roots))
        case "log":
            for name in LEVELS[LEVELS.index(level) :]:
                await session.send_log_message(name, f"a message at {name}", "sdk", related_request_id=request)
            return said("logged")
        case "touch":
            if given["uri"] in subscribed:
                await session.send_resource_updated(given["uri"])
            return said("touched")
    return said("it failed, as it should", is_error=True)


async def list_resources(ctx: ServerRequestContext, params: Any) -> types.ListResourcesResult:
    readme = types.Resource(uri="test://readme", name="readme", mime_type="text/plain", description="Read me")
    blob = types.Resource(uri="test://blob", name="blob", mime_type="application/octet-stream")
    return types.ListResourcesResult(resources=[readme, blob])


async def list_templates(ctx: ServerRequestContext, params: Any) -> types.ListResourceTemplatesResult:
    item = types.ResourceTemplate(uri_template="test://items/{id}", name="item")
    return types.ListResourceTemplatesResult(resource_templates=[item])


async def read_resource(ctx: ServerRequestContext, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    if uri == "test://blob":
        return types.ReadResourceResult(contents=[types.BlobResourceContents(uri=uri, blob="AAEC/w==")])
    if uri != "test://readme" and not uri.startswith("test://items/"):
        raise MCPError(-32002, "Resource not found", {"uri": uri})
    text = "Hello from the SDK" if uri == "test://readme" else f"Item {uri.rpartition('/')[2]}"
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)])


async def subscribe(ctx: ServerRequestContext, params: types.SubscribeRequestParams) -> types.EmptyResult:
    subscribed.add(str(params.uri))
    return types.EmptyResult()


async def unsubscribe(ctx: ServerRequestContext, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
    subscribed.discard(str(params.uri))
    return types.EmptyResult()


async def list_prompts(ctx: ServerRequestContext, params: Any) -> types.ListPromptsResult:
    language = types.PromptArgument(name="language", description="The language", required=True)
    return types.ListPromptsResult(prompts=[types.Prompt(name="review", description="Asks", arguments=[language])])


async def get_prompt(ctx: ServerRequestContext, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    if params.name != "review":
        raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name}")
    text = f"Please review this {(params.arguments or {}).get('language')} code."
    block = types.TextContent(type="text", text=text)
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=block)])


async def complete(ctx: ServerRequestContext, params: types.CompleteRequestParams) -> types.CompleteResult:
    values = [name for name in LANGUAGES if name.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values, total=len(values)))


async def set_level(ctx: ServerRequestContext, params: types.SetLevelRequestParams) -> types.EmptyResult:
    global level
    level = params.level
    return types.EmptyResult()


server: Server = Server(
    "sdk-server",
    version="1.0",
    instructions="Everything that the tests ask for.",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_list_resources=list_resources,
    on_list_resource_templates=list_templates,
    on_read_resource=read_resource,
    on_subscribe_resource=subscribe,
    on_unsubscribe_resource=unsubscribe,
    on_list_prompts=list_prompts,
    on_get_prompt=get_prompt,
    on_completion=complete,
    on_set_logging_level=set_level,
)


async def main() -> None:
    """Serves until stdin ends."""
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
