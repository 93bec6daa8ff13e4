"""A server with many tools: `big_list.py [TOOLS [PAGE]]`, 10,000 in pages of 100. Standard library only.

Answers `tools/list` with opaque cursors, and every call with the name of the tool.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from typing import Any


def tool(number: int) -> dict[str, Any]:
    """One of the tools."""
    return {
        "name": f"tool_{number:05}",
        "title": f"Tool {number}",
        "description": f"Looks up the record with the given id in the store number {number} and gives it back.",
        "inputSchema": {
            "type": "object",
            "properties": {"id": {"type": "string"}, "limit": {"type": "integer", "minimum": 1, "default": 10}},
            "required": ["id"],
        },
    }


def page(count: int, size: int, cursor: str | None) -> dict[str, Any]:
    """The page that begins at a cursor."""
    first = int(base64.b64decode(cursor)) if cursor is not None else 0
    result: dict[str, Any] = {"tools": [tool(number) for number in range(first, min(first + size, count))]}
    if first + size < count:
        result["nextCursor"] = base64.b64encode(str(first + size).encode()).decode()
    return result


def answer(message: dict[str, Any], count: int, size: int) -> dict[str, Any] | None:
    """The response to a request; None for a notification."""
    params = message.get("params") or {}
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": message.get("id")}
    match message.get("method"):
        case "initialize":
            info = {"name": "big-list", "version": "1.0"}
            capabilities = {"tools": {}}
            version = params["protocolVersion"]
            reply["result"] = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": info}
        case "ping":
            reply["result"] = {}
        case "tools/list":
            reply["result"] = page(count, size, params.get("cursor"))
        case "tools/call":
            reply["result"] = {"content": [{"type": "text", "text": params["name"]}]}
        case _:
            reply["error"] = {"code": -32601, "message": "Method not found"}
    return reply if "id" in message else None


def main() -> None:
    """Serves until stdin ends."""
    numbers = [int(word) for word in sys.argv[1:]]
    count = numbers[0] if numbers else 10_000
    size = numbers[1] if len(numbers) > 1 else 100
    for line in sys.stdin.buffer:
        reply = answer(json.loads(line), count, size)
        if reply is not None:
            data = json.dumps(reply, separators=(",", ":")).encode() + b"\n"
            while data:
                data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
