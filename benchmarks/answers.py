"""The responses of the benchmark servers, without a transport. Standard library only, and never the bottleneck."""

import json

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
INFO = {"name": "bench", "version": "1"}
CAPABILITIES = {"tools": {}, "logging": {}}

VERSION_KEY = b"io.modelcontextprotocol/protocolVersion"
"""A member that only requests of the era without a handshake have."""
COMPLETE = b',"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":' + (
    json.dumps(INFO, separators=(",", ":")).encode() + b"}}"
)
"""The end of a result of that era."""
FRESHNESS = {"ttlMs": 0, "cacheScope": "private"}


def dumps(value):
    return json.dumps(value, separators=(",", ":")).encode()


def notification(number, size):
    """A log message of `size` characters and its number."""
    head = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"bench","data":"'
    return b'%b%d %b"}}' % (head, number, b"x" * size)


def table(rows):
    """A tool's result with a list of `rows` objects as its structured content."""
    names = ("Red Brick Books", "Osaka Paper Co", "Cafe du Port", "Muller GmbH")
    objects = [
        {
            "id": 1000 + i,
            "customer": names[i % 4],
            "country": "IE",
            "total": i * 7919 % 200000 / 100,
            "placed": "2026-11-15",
        }
        for i in range(rows)
    ]
    content = [{"type": "text", "text": f"{rows} rows"}]
    return dumps({"content": content, "structuredContent": {"rows": objects}})


def _error(id, code, text):
    return b'{"jsonrpc":"2.0","id":%b,"error":{"code":%d,"message":"%b"}}' % (id, code, text)


class Answers:
    """`of(raw)` gives the messages that answer one message, in order; long runs come as a generator.

    It speaks the handshake's era; with `modern`, requests that carry a version are answered in the era without one.
    """

    def __init__(self, tools, page, rows=0):
        self.rows = table(rows) if rows else None
        self.page = page or tools
        self.tools = [
            {
                "name": "echo" if i == 0 else f"tool-{i:05d}",
                "description": f"Tool number {i}, with a description of one line.",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "text": {"type": "string", "description": "What to give back"},
                        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
                        "mode": {"type": "string", "enum": ["fast", "exact", "fuzzy"]},
                    },
                },
            }
            for i in range(tools)
        ]
        self._pages = {}

    def of(self, raw, modern=False):
        try:
            message = json.loads(raw)
        except ValueError:
            return (_error(b"null", -32700, b"Parse error"),)
        if not isinstance(message, dict):
            return (_error(b"null", -32600, b"Invalid Request"),)
        if "id" not in message or "result" in message or "error" in message:
            return ()
        if "method" not in message or message.get("jsonrpc") != "2.0":
            return (_error(dumps(message["id"]), -32600, b"Invalid Request"),)
        id, method, params = dumps(message["id"]), message["method"], message.get("params") or {}
        if not isinstance(params, dict):
            return (_error(id, -32602, b"Invalid params"),)
        modern = modern and VERSION_KEY in raw
        if method == "tools/call":
            return self._call(id, params.get("arguments") or {}, modern)
        if method == "tools/list":
            start = str(params.get("cursor") or "0")
            if not start.isdecimal() or int(start) > len(self.tools):
                return (_error(id, -32602, b"Invalid cursor"),)
            return (self._result(id, self._page(int(start), modern), modern),)
        if method == "server/discover" and modern:
            return (
                self._result(
                    id, dumps({"supportedVersions": [MODERN], "capabilities": CAPABILITIES, **FRESHNESS}), True
                ),
            )
        if method == "initialize":
            revision = params.get("protocolVersion")
            return (
                self._result(
                    id,
                    dumps(
                        {
                            "protocolVersion": revision if revision in REVISIONS else REVISIONS[-1],
                            "capabilities": CAPABILITIES,
                            "serverInfo": INFO,
                        }
                    ),
                ),
            )
        if method in ("ping", "logging/setLevel"):
            return (self._result(id, b"{}"),)
        return (_error(id, -32601, b"Method not found"),)

    def _result(self, id, body, modern=False):
        return b'{"jsonrpc":"2.0","id":' + id + b',"result":' + (body[:-1] + COMPLETE if modern else body) + b"}"

    def _page(self, start, modern):
        if (start, modern) not in self._pages:
            body = {"tools": self.tools[start : start + self.page]} | (FRESHNESS if modern else {})
            if start + self.page < len(self.tools):
                body["nextCursor"] = str(start + self.page)
            self._pages[start, modern] = dumps(body)
        return self._pages[start, modern]

    def _call(self, id, arguments, modern):
        if self.rows is not None:
            return (self._result(id, self.rows, modern),)
        if "notifications" in arguments:
            return self._notifications(id, arguments["notifications"], arguments.get("size", 100), modern)
        text = b"x" * int(arguments["megabytes"] * 1_000_000) if "megabytes" in arguments else None
        block = b'{"type":"text","text":' + (b'"' + text + b'"' if text else dumps(arguments.get("text", ""))) + b"}"
        return (self._result(id, b'{"content":[' + block + b"]}", modern),)

    def _notifications(self, id, count, size, modern):
        for i in range(count):
            yield notification(i, size)
        yield self._result(id, b'{"content":[]}', modern)
