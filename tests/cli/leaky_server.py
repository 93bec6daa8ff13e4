"""A server that repeats everything it is told: `python leaky_server.py VALUES.json [--http]`.

The file has the values that the tool `login` issues. Over HTTP it writes its URL to stdout. Standard library only.
"""

import json
import os
import sys
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}, "logging": {}},
    "serverInfo": {"name": "leaky", "version": "1"},
}
TOOLS = [{"name": name, "inputSchema": {"type": "object"}} for name in ("login", "echo", "fail")]


def answers(message: dict, values: dict, headers: dict) -> list:
    """The messages that answer one; the answer is the last."""
    method, params = message.get("method"), message.get("params", {})
    if "id" not in message:
        return []
    text = json.dumps([headers.get("x-api-key"), params.get("arguments"), headers])
    text += f" {json.dumps({'body': json.dumps({'body': text})})} {quote(text)} {b64encode(text.encode()).decode()}"
    reply: dict = {"jsonrpc": "2.0", "id": message["id"]}
    before = []
    if method == "initialize":
        reply["result"] = HELLO
    elif method == "tools/list":
        reply["result"] = {"tools": TOOLS}
    elif method != "tools/call":
        reply["error"] = {"code": -32601, "message": "Method not found"}
    elif params["name"] == "login":
        token = values["of_capture"]
        log = {"level": "info", "data": "issued " + token}
        before = [{"jsonrpc": "2.0", "method": "notifications/message", "params": log}]
        body = {"token": token, "number": int(values["of_number"]), "object": {"deep": [values["of_object"]]}}
        reply["result"] = {"content": [{"type": "text", "text": json.dumps(body)}], "structuredContent": body}
    elif params["name"] == "echo":
        body = {"said": params.get("arguments"), "headers": headers}
        reply["result"] = {"content": [{"type": "text", "text": text}], "structuredContent": body}
    else:
        reply["error"] = {"code": -32000, "message": "no " + text, "data": text}
    return [*before, reply]


def stdio(values: dict) -> None:
    """Serve stdin and stdout; tokens are also written to stderr."""
    for line in sys.stdin:
        for reply in answers(json.loads(line), values, {"x-api-key": os.environ.get("LEAKY_API_KEY")}):
            if "method" in reply:
                print(reply["params"]["data"], file=sys.stderr, flush=True)
            print(json.dumps(reply), flush=True)


def http(values: dict) -> None:
    """Serve Streamable HTTP; what a client sends in headers comes back in headers and in the body."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fields = {name: value for name, value in self.headers.items() if name.lower().startswith("x-")}
            replies = answers(message, values, fields)
            body = b"".join(b"data: " + json.dumps(reply).encode() + b"\n\n" for reply in replies)
            self.send_response(200 if replies else 202)
            for name, value in fields.items():
                self.send_header(f"{name}-Back", value)
            if replies:
                self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.send_error(405)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(f"http://127.0.0.1:{server.server_port}/mcp", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        (http if "--http" in sys.argv else stdio)(json.load(file))
