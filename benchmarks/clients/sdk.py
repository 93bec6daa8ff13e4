"""The official Python SDK's client."""

import contextlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from answers import MODERN
from figures import main
from mcp import Client as Sdk
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client


@contextlib.asynccontextmanager
async def open_client(words):
    seen = [0]

    async def count(params):
        seen[0] += 1

    if words.server:
        target = stdio_client(StdioServerParameters(command=words.server[0], args=words.server[1:]))
    else:
        target = streamable_http_client(words.url)
    mode = MODERN if words.era == "modern" else words.era
    async with Sdk(target, mode=mode, logging_callback=count) as sdk:

        class Client:
            @property
            def seen(self):
                return seen[0]

            async def call(self, arguments):
                result = await sdk.call_tool("echo", arguments)
                return result.content[0].text if result.content else ""

            async def tools(self):
                total, cursor = 0, None
                while True:
                    page = await sdk.list_tools(cursor=cursor)
                    total += len(page.tools)
                    cursor = page.next_cursor
                    if cursor is None:
                        return total

        yield Client()


main(open_client)
