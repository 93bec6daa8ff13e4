"""A small server on any version of the official Python SDK: `small_python_sdk.py TRANSPORT [PORT]`.

TRANSPORT is `stdio`, `sse` or `streamable-http`, as far as the version has it. (Annotations are no strings here: 1.9 cannot read those.)
"""

import sys

transport = sys.argv[1]
where = {"host": "127.0.0.1", "port": int(sys.argv[2])} if len(sys.argv) > 2 else {}

try:
    from mcp.server.fastmcp import FastMCP
except ImportError:
    from mcp.server import MCPServer

    server = MCPServer("small")
    running = where
else:
    server = FastMCP("small", **where)
    running = {}


@server.tool()
def add(a: int, b: int) -> str:
    """Adds two numbers"""
    return f"the sum is {a + b}"


@server.resource("test://readme")
def readme() -> str:
    """Read me"""
    return "Hello"


@server.prompt()
def review(language: str) -> str:
    """Asks for a review"""
    return f"Please review this {language} code."


if __name__ == "__main__":
    server.run(transport, **running)
