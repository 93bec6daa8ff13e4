"""A stdio server of a few answers, for what the demo server does not offer."""

from __future__ import annotations

SOURCE = """
import json, sys
{before}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    params, introduction = asked.get("params", {{}}), {{
        "protocolVersion": "2025-11-25", "capabilities": {{"tools": {{}}}}, "serverInfo": {{"name": "small", "version": "1"}}
    }}
    result = {{{results}}}.get(asked["method"])
    said = {{"result": result()}} if result else {{"error": {{"code": -32601, "message": "no"}}}}
    print(json.dumps({{"jsonrpc": "2.0", "id": asked["id"], **said}}), flush=True)
"""


def small_server(results: dict[str, str], *, before: str = "", introduction: str = "{}") -> str:
    """Return the source of a server.

    `results` has a Python expression for each method, with `params` of the request. `before` runs at the start.
    `introduction` is another expression, for members of the result of `initialize`.
    """
    results = {"initialize": f"introduction | {introduction}", **results}
    handlers = ", ".join(f'"{method}": lambda: {result}' for method, result in results.items())
    return SOURCE.format(before=before, results=handlers)
