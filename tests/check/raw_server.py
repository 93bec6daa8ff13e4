"""A server of its own, standard library only, that is right in everything but the fault it is given.

`raw_server.py FAULT` over stdio, `raw_server.py FAULT http` over Streamable HTTP, whose URL it writes to stderr. It
speaks 2025-11-25. FAULT is a name of `FAULTS`, or `none`. Over HTTP every answer to a call is an event stream.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

REVISION = "2025-11-25"
Message = dict[str, Any]

TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
NUMBERS = {
    "type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"],
    "additionalProperties": False,
}  # fmt: skip
SUM = {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"], "additionalProperties": False}
READS = {"readOnlyHint": True, "openWorldHint": False}
TOOLS = (
    {"name": "echo", "description": "Returns the text.", "inputSchema": TEXT, "annotations": READS},
    {
        "name": "add", "description": "Adds two numbers.", "inputSchema": NUMBERS, "outputSchema": SUM,
        "annotations": READS,
    },
)  # fmt: skip


class Refused(Exception):
    """A JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Hold(Exception):
    """Nothing is sent, and the stream of the request stays open."""


_kept = ""
_previous: Any = None
"""The id of the request before this one."""


# What is right


def result_of(method: str, params: Message, fault: str) -> Message:
    if method == "initialize":
        return {
            "protocolVersion": REVISION,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "raw", "version": "1.0"},
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        if "cursor" in params:
            raise Refused(-32602, "Invalid cursor")
        return {"tools": changed_tools(fault)}
    if method == "tools/call":
        return call(params, fault)
    raise Refused(-32601, f"Method not found: {method}")


def call(params: Message, fault: str) -> Message:
    global _kept
    name, given = params.get("name"), params.get("arguments", {})
    schema: dict[str, Any] | None = {"echo": TEXT, "add": NUMBERS}.get(name) if isinstance(name, str) else None
    if schema is None:
        raise Refused(-32602, f"Unknown tool: {name}")
    kind: Any = str if name == "echo" else (int, float)
    names = schema["required"]
    if type(given) is not dict or set(given) != set(names) or not all(isinstance(given[key], kind) for key in names):
        return {"content": [{"type": "text", "text": f"The arguments must be {', '.join(names)}."}], "isError": True}
    if name == "echo":
        return {"content": [{"type": "text", "text": given["text"]}]}
    content = {"sum": given["a"] + given["b"]}
    return {"content": [{"type": "text", "text": json.dumps(content)}], "structuredContent": content}


def changed_tools(fault: str) -> list[Message]:
    tools: list[Message] = json.loads(json.dumps(TOOLS))
    change = LISTS.get(fault)
    if change is not None:
        change(tools)
    return tools


# The faults. Each is planted in the answer to a call of `echo` or `add` that succeeded, or in the list of tools.


def _member(**members: Any) -> Callable[[Message], Iterator[Message | bytes]]:
    """Changes members of the answer; ... takes one away."""

    def change(answer: Message) -> Iterator[Message]:
        yield {key: value for key, value in (answer | members).items() if value is not ...}

    return change


def _result(**members: Any) -> Callable[[Message], Iterator[Message | bytes]]:
    """Changes members of the result; ... takes one away."""

    def change(answer: Message) -> Iterator[Message]:
        result = {key: value for key, value in (answer["result"] | members).items() if value is not ...}
        yield answer | {"result": result}

    return change


def _first(*messages: Message) -> Callable[[Message], Iterator[Message | bytes]]:
    """Says something before the answer."""

    def change(answer: Message) -> Iterator[Message]:
        yield from messages
        yield answer

    return change


def _id_as_text(answer: Message) -> Iterator[Message]:
    yield answer | {"id": str(answer["id"])}


def _two_answers(answer: Message) -> Iterator[Message]:
    yield answer
    yield answer


def _no_answer(answer: Message) -> Iterator[Message]:
    return iter(())


def _stays_open(answer: Message) -> Iterator[Message]:
    raise Hold


def _anothers_id(answer: Message) -> Iterator[Message]:
    yield answer | {"id": _previous}


def _exits(answer: Message) -> Iterator[Message]:
    os._exit(3)


def _result_and_error(answer: Message) -> Iterator[Message]:
    yield answer | {"error": {"code": -32603, "message": "And it failed."}}


def _broken_text(answer: Message) -> Iterator[bytes]:
    yield json.dumps(answer).encode().replace(b'"content"', b'"content\xff"')


def _wrong_sum(answer: Message) -> Iterator[Message]:
    structured = answer["result"].get("structuredContent")
    if structured:
        answer["result"]["structuredContent"] = {"sum": str(structured["sum"])}
    yield answer


def _no_structured(answer: Message) -> Iterator[Message]:
    answer["result"].pop("structuredContent", None)
    yield answer


def _traceback(answer: Message) -> Iterator[Message]:
    if "structuredContent" in answer["result"]:
        yield answer
        return
    text = "Traceback (most recent call last):\n  File \"server.py\", line 3, in echo\nKeyError: 'a'"
    yield answer | {"result": {"content": [{"type": "text", "text": text}]}}


def _image(answer: Message) -> Iterator[Message]:
    if "structuredContent" in answer["result"]:
        yield answer
        return
    yield answer | {"result": {"content": [{"type": "image", "data": "not base64!", "mimeType": "image/png"}]}}


ANSWERS: dict[str, Callable[[Message], Iterator[Message | bytes]]] = {
    "another-id": _member(id=99999),
    "id-as-text": _id_as_text,
    "id-of-the-request-before": _anothers_id,
    "null-id": _member(id=None),
    "two-answers": _two_answers,
    "no-answer": _no_answer,
    "no-answer-and-the-stream-stays-open": _stays_open,
    "exits": _exits,
    "no-jsonrpc": _member(jsonrpc=...),
    "result-and-error": _result_and_error,
    "neither-result-nor-error": _member(result=...),
    "error-code-as-text": _member(result=..., error={"code": "-32603", "message": "It failed."}),
    "invalid-utf-8": _broken_text,
    "no-content": _result(content=...),
    "content-of-an-unknown-type": _result(content=[{"type": "movie", "data": ""}]),
    "image-that-is-not-base64": _image,
    "structured-content-against-its-schema": _wrong_sum,
    "no-structured-content": _no_structured,
    "traceback-without-is-error": _traceback,
    "undeclared-notification": _first({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
    "progress-without-a-token": _first(
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "none", "progress": 1}}
    ),
    "log-without-the-capability": _first(
        {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "called"}}
    ),
}


def _unnamed_required(tools: list[Message]) -> None:
    tools[0]["inputSchema"]["required"] = ["text", "txet"]


def _no_input_schema(tools: list[Message]) -> None:
    del tools[0]["inputSchema"]


def _same_name(tools: list[Message]) -> None:
    tools.append(tools[0] | {"description": "Returns it, too."})


def _schema_of_text(tools: list[Message]) -> None:
    tools[0]["inputSchema"] = {"type": "string"}


def _unusable_schema(tools: list[Message]) -> None:
    tools[0]["inputSchema"]["properties"]["text"] = {"type": "strnig"}


LISTS: dict[str, Callable[[list[Message]], None]] = {
    "required-names-no-property": _unnamed_required,
    "tool-without-input-schema": _no_input_schema,
    "two-tools-of-one-name": _same_name,
    "input-schema-of-a-text": _schema_of_text,
    "invalid-input-schema": _unusable_schema,
}
FAULTS = (*ANSWERS, *LISTS)


def answers(message: Any, fault: str) -> list[Message | bytes]:
    """The response to a message of the client. Raises `Hold`."""
    global _previous
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return [{"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid request"}}]
    method, id = message.get("method"), message.get("id")
    if "id" not in message or not isinstance(method, str):
        if "result" in message or "error" in message or "id" not in message:
            return []
        return [{"jsonrpc": "2.0", "id": id, "error": {"code": -32600, "message": "Invalid request"}}]
    params = message.get("params", {})
    try:
        if not isinstance(params, dict):
            raise Refused(-32602, "The parameters must be an object.")
        answer = {"jsonrpc": "2.0", "id": id, "result": result_of(method, params, fault)}
    except Refused as refused:
        _previous = id
        return [{"jsonrpc": "2.0", "id": id, "error": {"code": refused.code, "message": str(refused)}}]
    is_right = method == "tools/call" and not answer["result"].get("isError")
    change = ANSWERS.get(fault) if is_right else None
    out = [answer] if change is None else list(change(answer))
    _previous = id
    return out


def encoded(message: Message | bytes) -> bytes:
    return message if isinstance(message, bytes) else json.dumps(message).encode()


def parsed(data: bytes) -> Any:
    """The message. Raises `ValueError`."""
    return json.loads(data.decode())


BROKEN = {"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}}


def over_stdio(fault: str) -> None:
    for line in sys.stdin.buffer:
        try:
            message = parsed(line)
        except ValueError:
            sent: list[Message | bytes] = [BROKEN]
        else:
            try:
                sent = answers(message, fault)
            except Hold:
                sent = []
        for answer in sent:
            sys.stdout.buffer.write(encoded(answer) + b"\n")
        sys.stdout.buffer.flush()


class Http(BaseHTTPRequestHandler):
    """One endpoint, no sessions; a call is answered by an event stream, all else by a body."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    fault = ""

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        self.reply(405)

    do_DELETE = do_PUT = do_GET

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path != "/mcp":
            return self.reply(404)
        if not re.fullmatch(r"(https?://)?(127\.0\.0\.1|localhost)(:\d+)?", self.headers.get("Origin", "localhost")):
            return self.reply(403)
        if not re.fullmatch(r"(127\.0\.0\.1|localhost)(:\d+)?", self.headers.get("Host", "")):
            return self.reply(403)
        if self.headers.get("MCP-Protocol-Version", REVISION) != REVISION:
            return self.reply(400)
        try:
            message = parsed(data)
        except ValueError:
            return self.reply(400, encoded(BROKEN))
        try:
            sent = answers(message, self.fault)
        except Hold:
            self.stream()
            self.rfile.read(1)
            return None
        if not isinstance(message, dict) or "id" not in message or "method" not in message:
            return self.reply(400, encoded(sent[0])) if sent else self.reply(202)
        if message.get("method") != "tools/call":
            return self.reply(200, encoded(sent[0]))
        self.stream()
        for answer in sent:
            event = b"data: " + encoded(answer) + b"\n\n"
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
        self.wfile.write(b"0\r\n\r\n")
        return None

    def stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()

    def reply(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        if body:
            self.send_header("Content-Type", "application/json")
        if status == 405:
            self.send_header("Allow", "POST")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Listener(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client may leave at any time; anything else is a fault of this file."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def over_http(fault: str) -> None:
    """Listens on a free port until stdin ends."""
    Http.fault = fault
    server = Listener(("127.0.0.1", 0), Http)
    print(f"http://127.0.0.1:{server.server_port}/mcp", file=sys.stderr, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    assert sys.argv[1] in (*FAULTS, "none"), sys.argv[1]
    (over_http if sys.argv[2:] == ["http"] else over_stdio)(sys.argv[1])
