"""A server over stdio with one fault: `broken_server.py FAULT`, where FAULT is a key of `FAULTS`, or `none`."""

import json
import sys

SCHEMA = {"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]}
TOOL = {"name": "echo", "description": "d", "inputSchema": {"type": "object"}, "outputSchema": SCHEMA}
TEXT = {"type": "text", "text": "hi"}
RESULTS = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}, "completions": {}},
        "serverInfo": {"name": "broken", "version": "1"},
    },
    "ping": {},
    "tools/list": {"tools": [TOOL]},
    "tools/call": {"content": [TEXT], "structuredContent": {"n": 1}},
    "resources/read": {"contents": [{"uri": "x://a", "text": "t"}]},
    "prompts/get": {"messages": [{"role": "user", "content": TEXT}]},
    "completion/complete": {"completion": {"values": ["a"]}},
}


def line(message):
    return json.dumps(message).encode() + b"\n"


def response(**members):
    """The response with these members; None removes one."""
    return lambda given: line({key: value for key, value in (given | members).items() if value is not None})


def result(**members):
    """The response whose result has these members; `...` removes one."""

    def change(given):
        kept = {key: value for key, value in (given["result"] | members).items() if value is not ...}
        return line(given | {"result": kept})

    return change


def tool(**members):
    return result(tools=[{key: value for key, value in (TOOL | members).items() if value is not ...}])


FAULTS = {
    "BASE-01": ("tools/call", response(jsonrpc=None)),
    "BASE-02": ("tools/call", response(id=1000)),
    "BASE-03": ("tools/call", response(error={"code": 1, "message": "x"})),
    "BASE-04": ("tools/call", response(result=None, error={"code": "E", "message": "x"})),
    "BASE-14": ("tools/list", tool(description=5)),
    "BASE-27": ("tools/list", tool(outputSchema={"type": "object", "properties": {"a": {"type": "strng"}}})),
    "BASE-30": ("tools/call", lambda given: line(given).replace(b"hi", b"\xff\xfe")),
    "BASE-30 mark": ("initialize", lambda given: b"\xef\xbb\xbf" + line(given)),
    "LIFE-01": ("initialize", result(capabilities=...)),
    "LIFE-04": ("initialize", result(protocolVersion="2099-01-01")),
    "PROM-03": ("prompts/get", result(messages=[{"role": "system", "content": TEXT}])),
    "RES-04": ("resources/read", result(contents=[{"uri": "x://a"}])),
    "RES-05": ("resources/read", result(contents=[{"uri": "x://a", "blob": "%%%"}])),
    "STDIO-02": ("tools/call", lambda given: json.dumps(given, indent=1).encode() + b"\n"),
    "TOOL-02": ("tools/list", tool(name=...)),
    "TOOL-03": ("tools/list", tool(inputSchema=...)),
    "TOOL-08": ("tools/list", tool(outputSchema={"type": "array", "items": {}})),
    "TOOL-09": ("tools/call", result(structuredContent={"n": "x"})),
    "TOOL-11": ("tools/call", result(content=[{"type": "video", "data": "x"}])),
    "TOOL-12": ("tools/call", result(content=[{"type": "image", "data": "%%%", "mimeType": "image/png"}])),
    "UTIL-01": ("tools/list", result(nextCursor=None)),
    "UTIL-05": ("completion/complete", result(completion={"values": ["a"] * 101})),
}
"""By check, the method in whose response its fault stands, and the line with the fault."""


def main(fault):
    where, change = FAULTS.get(fault, ("", line))
    for text in sys.stdin.buffer:
        request = json.loads(text)
        if "id" in request:
            given = {"jsonrpc": "2.0", "id": request["id"], "result": RESULTS[request["method"]]}
            sys.stdout.buffer.write((change if request["method"] == where else line)(given))
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1])
