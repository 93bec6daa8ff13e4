"""A server of the official Python SDK (`mcp`), on its low-level class: all that both eras have.

`sdk_server.py` over stdio, `sdk_server.py PORT` over Streamable HTTP.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

LANGUAGES = ["python", "php", "perl", "go"]
TEXT = {"type": "string"}
NUMBER = {"type": "number"}
FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "default": "visitor"},
        "size": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
        "sure": {"type": "boolean", "default": True},
        "colour": {"type": "string", "enum": ["red", "green"], "default": "green"},
    },
    "required": ["name"],
}
MODERN = "2026-07-28"
bus = InMemorySubscriptionBus()
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
    types.Tool(
        name="region",
        description="Takes an argument that is sent as a header field too",
        input_schema=_object("region", region=TEXT | {"x-mcp-header": "Region"}),
    ),
    types.Tool(name="log", description="Logs at every level", input_schema=_object()),
    types.Tool(name="touch", description="Tells of a changed resource", input_schema=_object("uri", uri=TEXT)),
    types.Tool(name="fail", description="Fails", input_schema=_object()),
]
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


def text_result(text: str, **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], **more)


async def list_tools(ctx: ServerRequestContext, params: Any) -> types.ListToolsResult:
    """Three tools a page."""
    first = int(params.cursor) if params and params.cursor else 0
    following = str(first + 3) if first + 3 < len(TOOLS) else None
    return types.ListToolsResult(tools=TOOLS[first : first + 3], next_cursor=following)


async def asked(ctx: ServerRequestContext, params: types.CallToolRequestParams, request: Any) -> Any:
    """The client's answer if it has come; in the legacy era by a request, else the question."""
    if ctx.protocol_version < MODERN:
        match request:
            case types.CreateMessageRequest():
                return await ctx.session.create_message(
                    request.params.messages,
                    max_tokens=request.params.max_tokens,
                    related_request_id=ctx.request_id,
                )
            case types.ElicitRequest():
                form = request.params
                return await ctx.session.elicit_form(form.message, FORM, related_request_id=ctx.request_id)
            case _:
                return await ctx.session.list_roots()
    if params.input_responses:
        if params.request_state != f"a state of {params.name}":
            raise MCPError(types.INVALID_PARAMS, "the state is another one")
        return params.input_responses["it"]
    return types.InputRequiredResult(input_requests={"it": request}, request_state=f"a state of {params.name}")


async def call_tool(
    ctx: ServerRequestContext, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    given = params.arguments or {}
    session, request = ctx.session, ctx.request_id
    match params.name:
        case "echo":
            return text_result(given["message"])
        case "add":
            result = {"sum": given["a"] + given["b"]}
            return text_result(json.dumps(result), structured_content=result)
        case "count":
            steps = given.get("steps", 3)
            for step in range(1, steps + 1):
                await session.report_progress(step, steps, f"step {step}")
            return text_result(f"counted to {steps}")
        case "slow":
            await anyio.sleep(given.get("seconds", 30))
            return text_result("slept")
        case "ask_model":
            message = types.SamplingMessage(role="user", content=types.TextContent(type="text", text=given["prompt"]))
            sampling = types.CreateMessageRequestParams(messages=[message], max_tokens=50)
            answer = await asked(ctx, params, types.CreateMessageRequest(params=sampling))
            if isinstance(answer, types.InputRequiredResult):
                return answer
            return text_result(f"the model said: {answer.content.text}")
        case "ask_user":
            form = types.ElicitRequestFormParams(message="Who are you?", requested_schema=FORM)
            reply = await asked(ctx, params, types.ElicitRequest(params=form))
            if isinstance(reply, types.InputRequiredResult):
                return reply
            return text_result(f"{reply.action}: {json.dumps(reply.content, sort_keys=True)}")
        case "roots":
            listed = await asked(ctx, params, types.ListRootsRequest())
            if isinstance(listed, types.InputRequiredResult):
                return listed
            return text_result(" ".join(str(root.uri) for root in listed.roots))
        case "region":
            return text_result(f"it is {given['region']}")
        case "log":
            quietest = 0 if ctx.protocol_version >= MODERN else LEVELS.index(level)
            for name in LEVELS[quietest:]:
                await session.send_log_message(name, f"a message at {name}", "sdk", related_request_id=request)
            return text_result("logged")
        case "touch":
            await bus.publish(ResourceUpdated(given["uri"]))
            if given["uri"] in subscribed:
                await session.send_resource_updated(given["uri"])
            return text_result("touched")
    return text_result("it failed, as it should", is_error=True)


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
        code = types.INVALID_PARAMS if ctx.protocol_version >= MODERN else -32002
        raise MCPError(code, "Resource not found", {"uri": uri})
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
    on_subscriptions_listen=ListenHandler(bus),
)


async def over_stdio() -> None:
    """Serves until stdin ends."""
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def over_http(port: int) -> None:
    """Serves until it is ended."""
    import uvicorn

    uvicorn.run(server.streamable_http_app(host="127.0.0.1"), host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        over_http(int(sys.argv[1]))
    else:
        anyio.run(over_stdio)
