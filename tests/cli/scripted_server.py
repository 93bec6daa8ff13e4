"""A server that follows a script: `python scripted_server.py SCRIPT.json`. Standard library only, starts in a moment.

The script maps a method to its replies, used one after the other, the last one for ever. A reply is an object:
`before`: messages sent first; `stderr`: a line; `result`, `error`, or `raw` (text with $ID in it); `exit`: a status;
`silent`: no answer; `after`: messages sent after the answer; `then-exit`: a status after all that. What the script does not have is answered with -32601.
"""

import json
import os
import sys

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}, "resources": {}, "prompts": {}, "completions": {}, "logging": {}},
    "serverInfo": {"name": "scripted", "version": "1.2.3"},
}


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        script = json.load(file)
    script = {"initialize": [{"result": HELLO}], **script}
    turns = {}
    while line := sys.stdin.buffer.readline():
        message = json.loads(line)
        if "log" in script:
            with open(script["log"], "ab") as log:
                log.write(line)
        if "id" in message and "method" in message:
            answer(script, turns, message)
    if "linger" in script:
        while True:  # a server that does not mind that its input has ended
            os.read(os.pipe()[0], 1)


def answer(script: dict, turns: dict, message: dict) -> None:
    method = message["method"]
    replies = script.get(method, [{"error": {"code": -32601, "message": "Method not found"}}])
    turn = turns.get(method, 0)
    turns[method] = turn + 1
    reply = replies[min(turn, len(replies) - 1)]
    for extra in reply.get("before", ()):
        send(extra)
    if "stderr" in reply:
        os.write(2, reply["stderr"].encode() + b"\n")
    if "exit" in reply:
        os._exit(reply["exit"])
    if "raw" in reply:
        write(reply["raw"].replace("$ID", json.dumps(message["id"])).encode("utf-8", "surrogateescape"))
    elif "silent" not in reply:
        send({"jsonrpc": "2.0", "id": message["id"], **{k: reply[k] for k in ("result", "error") if k in reply}})
    for extra in reply.get("after", ()):
        send(extra)
    if "then-exit" in reply:
        os._exit(reply["then-exit"])


def send(message: object) -> None:
    write(json.dumps(message).encode())


def write(data: bytes) -> None:
    data += b"\n"
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
