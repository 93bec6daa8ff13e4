"""A client of the Python SDK: `fault_client.py SERVER FAULT…` prints a line of JSON for each: the methods that failed."""

import json
import sys
from datetime import timedelta

import anyio
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client

WAIT = timedelta(seconds=2)


async def failed_methods(server, fault):
    failed = []
    parameters = StdioServerParameters(command=sys.executable, args=[server, fault])
    prompt = types.PromptReference(type="ref/prompt", name="p")
    async with stdio_client(parameters) as streams, ClientSession(*streams, read_timeout_seconds=WAIT) as session:
        for method, call in {
            "initialize": session.initialize,
            "tools/list": session.list_tools,
            "tools/call": lambda: session.call_tool("echo", {}),
            "resources/read": lambda: session.read_resource("x://a"),
            "prompts/get": lambda: session.get_prompt("p"),
            "completion/complete": lambda: session.complete(prompt, {"name": "a", "value": ""}),
        }.items():
            try:
                await call()
            except (McpError, RuntimeError, ValueError, anyio.ClosedResourceError):
                failed.append(method)
                if method == "initialize":
                    break
    return failed


async def main(server, *faults):
    for fault in faults:
        failed = ["tools/call"]  # The connection ends with a group of errors at bytes that are not UTF-8.
        try:
            with anyio.fail_after(30):
                failed = await failed_methods(server, fault)
        except BaseExceptionGroup:
            pass
        print(json.dumps([fault, failed]), flush=True)


anyio.run(main, *sys.argv[1:])
