"""Journals for the tests of the exports: the golden session, whatever was just made up, and the worst there is."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from inspector.formats import export
from inspector.journal.format import Dir
from inspector.journal.journal import Journal

GOLDEN = Path(__file__).with_name("golden")
SESSION = GOLDEN / "session.mcp.jsonl"
RECORDINGS = Path(__file__).parents[2] / "recordings"

NASTY = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "--></style><!--",
    '=HYPERLINK("http://evil.invalid")',
    "@SUM(1)|cmd",
    "'; rm -rf ~; echo '",
    "$(touch pwned) `touch pwned`",
    '"""\nimport os\n"""',
    "end\nNote over C: x",
    "a;b#c%%d:e->>f",
    "\x1b[2J\u202e\u2028\u2029\u0085\u200b",
    "{{7*7}} %s {0}",
    "\\u0041\\",
    "```\n# heading",
    "\ufffe\uffff\U0001f642",
)
"""Text that would be something else somewhere."""


def opened(path: Path) -> Journal:
    journal = Journal.open(path)
    while journal.refresh():
        pass
    return journal


def exported(journal: Journal, format: str, numbers: Iterable[int] | None = None) -> str:
    """An export as it stands in a file."""
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", newline="\n")
    export(journal, format, out, numbers)
    out.flush()
    return raw.getvalue().decode("utf-8")


def live(*messages: bytes) -> Journal:
    """A journal of messages received over stdio."""
    journal = Journal.unnamed({"label": "live"})
    journal.record_received("stdio", list(messages))
    return journal


def call(journal: Journal, id: Any, method: str, params: Any, answer: bytes | None, channel: str = "stdio") -> None:
    """A request of ours and what answered it."""
    message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    journal.record_sent(channel, json.dumps(message).encode(), message)
    if answer is not None:
        journal.record_received(channel, [answer])


def result(id: Any, value: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "result": value}).encode()


def hostile(*, http: bool = False) -> Journal:
    """Everything that a server can do to a file that tells of it."""
    target = {"kind": "http", "url": "http://127.0.0.1:1/mcp?" + NASTY[0]} if http else {"argv": ["python", *NASTY]}
    journal = Journal.unnamed({"label": NASTY[0], **target})
    for at, text in enumerate(NASTY):
        channel = f"post-{at}" if http else "stdio"
        if http:
            journal.record_http(
                channel, Dir.SEND, method="POST", url=f"http://127.0.0.1:1/mcp?{text}",
                headers=[("X-Nasty", text), (text, "x"), ("Authorization", "Bearer abcdefgh")],
            )  # fmt: skip
        call(journal, text, "tools/call", {"name": text, "arguments": {text: text}}, None, channel)
        if http:
            journal.record_http(
                channel, Dir.RECV, status=200, reason=text, version="HTTP/1.1", ms=1.5,
                headers=[("Content-Type", "text/event-stream"), (text, text)],
            )  # fmt: skip
        journal.record_received(
            channel,
            [
                json.dumps({"jsonrpc": "2.0", "method": text, "params": {text: [text]}}).encode(),
                json.dumps({"jsonrpc": "2.0", "id": text, "method": "sampling/createMessage", "params": text}).encode(),
                result(text, {"content": [{"type": "text", "text": text}], "isError": at % 2 == 0}),
                text.encode("utf-8", "surrogatepass").replace(b"\n", b" "),
            ],
        )
        journal.record_stderr("stderr", text.encode("utf-8", "surrogatepass").split(b"\n"))
        journal.record_life("", text, reason=text)
        journal.record_note(text)
    journal.record_received(
        "stdio",
        [
            b'{"jsonrpc":"2.0","id":7,"result":{"a":NaN,"b":-Infinity,"c":1e999,"d":123456789012345678901234567890}}',
            b'{"jsonrpc":"2.0","id":"\\ud800","method":"\\udfff","params":{"\\ud83d\\ude42":"\\ud83d"}}',
            b'{"jsonrpc":"2.0","method":"\xff\xfe","params":["\xc3\x28"]}',
            b'\xef\xbb\xbf{"jsonrpc":"2.0","method":"bom"}',
            b'{"jsonrpc":"2.0","id":8,"id":9,"result":{"a":1,"a":2}}',
            b'[{"jsonrpc":"2.0","id":10,"method":"x"},{"jsonrpc":"2.0","id":1,"result":{}},5]',
            b'{"jsonrpc":"2.0","id":{"a":1},"method":"object-id"}',
            b'{"jsonrpc":"2.0","id":11,"error":"a word"}',
            b'{"jsonrpc":"2.0","id":12,"error":{"code":[],"message":{"a":1}}}',
            b"[" * 3000 + b"]" * 3000,
            b'{"jsonrpc":"2.0","id":13,"result":' + b'{"a":' * 3000 + b"1" + b"}" * 3001,
            b'{"jsonrpc":"2.0","id":14,"resul',
            b"",
            b"\x00\x01\x02",
            b"42",
        ],
    )
    for id, params in ((20, "text"), (21, []), (22, {"name": {"a": 1}, "arguments": 5, "uri": [1]}), (2**70, None)):
        call(journal, id, "tools/call", params, None)
    call(journal, 24, "resources/read", {"uri": "x\x00y"}, result(24, None))
    journal.record_sent("stdio", b"no json at all \xff", None)
    return journal
