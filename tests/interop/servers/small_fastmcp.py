"""A small server on any version of fastmcp: `small_fastmcp.py TRANSPORT [PORT]`; TRANSPORT is `stdio`, `sse` or `http`."""

import sys

from fastmcp import FastMCP

server = FastMCP("small")


@server.tool
def add(a: int, b: int) -> str:
    """Adds two numbers"""
    return f"the sum is {a + b}"


@server.resource("test://readme")
def readme() -> str:
    """Read me"""
    return "Hello"


@server.prompt
def review(language: str) -> str:
    """Asks for a review"""
    return f"Please review this {language} code."


if __name__ == "__main__":
    where = {"host": "127.0.0.1", "port": int(sys.argv[2])} if len(sys.argv) > 2 else {}
    server.run(transport=sys.argv[1], show_banner=False, **where)
