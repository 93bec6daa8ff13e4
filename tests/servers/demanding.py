"""A server (2026-07-28) whose tool needs an extension of the client."""

import json
import sys

NEEDED = "com.example/pay"
DISCOVERED = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "extensions": {NEEDED: {}}}}
REFUSED = {
    "code": -32021,
    "message": "Missing required client capability",
    "data": {"requiredCapabilities": {"extensions": {NEEDED: {}}}},
}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    meta = message.get("params", {}).get("_meta", {})
    offered = meta.get("io.modelcontextprotocol/clientCapabilities", {}).get("extensions", {})
    body = {"error": {"code": -32601, "message": "Method not found"}}
    if message["method"] == "server/discover":
        body = {"result": {"resultType": "complete", **DISCOVERED}}
    elif message["method"] == "tools/list":
        body = {"result": {"resultType": "complete", "tools": [{"name": "pay", "inputSchema": {"type": "object"}}]}}
    elif message["method"] == "tools/call":
        paid = {"resultType": "complete", "content": [{"type": "text", "text": "It is paid."}]}
        body = {"result": paid} if NEEDED in offered else {"error": REFUSED}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
