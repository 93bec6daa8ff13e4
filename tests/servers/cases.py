"""Hostile servers, case by case: what each does, and the exact bytes of its hostile answer.

A case answers one method badly (`at`, mostly `tools/call`) and everything else well. Its answer is a list of
messages; how they are framed depends on the form: lines over `stdio`, a body over `json`, events over `sse`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import hostile_lists

ID = b"@ID@"  # stands for the id of the request
FORMS = ("stdio", "json", "sse")
BANNER = b"Hostile Server 1.0 listening on stdio ...\n"
MEGABYTES = 20


def response(result: bytes) -> bytes:
    """A response with this result, in compact JSON."""
    return b'{"jsonrpc":"2.0","id":@ID@,"result":' + result + b"}"


def texts(raw: bytes) -> bytes:
    """A tool's result of one text block, whose text is given as the inside of a JSON string."""
    return response(b'{"content":[{"type":"text","text":"' + raw + b'"}]}')


def structured(raw: bytes) -> bytes:
    """A tool's result with structured content that is given as JSON."""
    return response(b'{"content":[],"structuredContent":' + raw + b"}")


GOOD = texts(b"hello")


@dataclass(frozen=True)
class Case:
    """One kind of hostility.

    `make` gives the messages with ID in place of the id; `line_end` ends every line; `dies_after` is the number of
    bytes after which the server dies; `behaviour` names what the server does beside sending bytes (see hostile.py).
    """

    name: str
    about: str
    make: Callable[[], list[bytes]]
    at: str = "tools/call"
    line_end: bytes = b"\n"
    dies_after: int | None = None
    behaviour: str = ""
    forms: tuple[str, ...] = FORMS

    @cached_property
    def _made(self) -> list[bytes]:
        return self.make()

    def messages(self, request_id: Any) -> list[bytes]:
        """The messages of the answer, as they are before framing."""
        spelled = json.dumps(request_id).encode()
        return [message.replace(ID, spelled) for message in self._made]

    def sent(self, request_id: Any, form: str) -> bytes:
        """Exactly what is written as the answer: without HTTP headers and chunk sizes, and up to the server's death."""
        whole = self.whole(request_id, form)
        return whole if self.dies_after is None else whole[: self.dies_after]

    def whole(self, request_id: Any, form: str) -> bytes:
        """What would have been written, had the server not died."""
        messages = self.messages(request_id)
        if form == "sse":
            end = self.line_end
            return b"".join(b"event: message" + end + b"data: " + message + end + end for message in messages)
        if form == "json":
            return self.line_end.join(messages) + (self.line_end if self.line_end != b"\n" else b"")
        return b"".join(message + self.line_end for message in messages)


def _listing(name: str, about: str, result: Callable[[], bytes]) -> Case:
    return Case(name, about, lambda: [response(result())], at="tools/list")


def _of(*messages: bytes) -> Callable[[], list[bytes]]:
    return lambda: list(messages)


_REPLIES = [
    Case("good", "An answer with nothing wrong, to compare with", _of(GOOD)),
    Case("broken-line", "Broken JSON before the good answer", _of(b'{"jsonrpc":"2.0","id":@ID@,"result":{"con', GOOD)),
    Case("huge", "An answer of 20 MB", lambda: [texts(b"0123456789abcdef" * (MEGABYTES * 62_500))]),
    Case("dies-mid-reply", "The process ends in the middle of the answer", _of(texts(b"x" * 100)), dies_after=90),
    Case("invalid-utf8", "Bytes that are no UTF-8", _of(texts(b"caf\xe9 \xff\xfe \xc0\xaf \xed\xa0\x80"))),
    Case("lone-surrogate", "Escapes of half a character", _of(texts(rb"\ud83d half \udc00 turned \udc00\ud83d"))),
    Case("batch", "The answer within an array", _of(b"[" + GOOD + b"]")),
    Case(
        "big-integers",
        "Integers of 64 bits and more, and a float that does not survive being read",
        _of(
            structured(
                b'{"max":9223372036854775807,"over":9223372036854775808,"unsigned":18446744073709551615,'
                b'"long":123456789012345678901234567890123456789,"low":-9223372036854775809,"float":0.10000000000000000001}'
            )
        ),
    ),
    Case("long-integer", "An integer of 5,000 digits", _of(structured(b'{"n":' + b"7" * 5000 + b"}"))),
    Case("huge-exponent", "1E400, and smaller than the smallest", _of(structured(b'{"big":1E400,"small":1e-400}'))),
    Case("nan", "NaN and infinities", _of(structured(b'{"a":NaN,"b":Infinity,"c":-Infinity}'))),
    Case(
        "duplicate-keys",
        "Keys that stand twice in one object",
        _of(response(b'{"content":[],"content":[{"type":"text","text":"one","text":"two"}]}')),
    ),
    Case("crlf", "Lines that end in CRLF", _of(GOOD), line_end=b"\r\n"),
    Case("separators", "U+2028, U+2029 and U+0085, unescaped", _of(texts("a\u2028b\u2029c\u0085d".encode()))),
    Case("nul", "A NUL byte and control characters, unescaped", _of(texts(b"a\x00b\x07c\x1bd"))),
    Case("bom", "A byte order mark before the answer", _of(b"\xef\xbb\xbf" + GOOD)),
    Case("blank-lines", "Empty lines before the answer", _of(b"", b"  \t", GOOD)),
    Case("deep", "Arrays in arrays, 100,000 deep", lambda: [structured(b"[" * 100_000 + b"]" * 100_000)]),
    Case("banner", "A greeting on stdout before any message", _of(GOOD), behaviour="banner", forms=("stdio",)),
    Case("text-and-answer", "Text on the same line, before the answer", _of(b"DEBUG answering " + GOOD)),
    Case("null-result", "A result that is null", _of(response(b"null"))),
    Case("no-result", "Neither result nor error", _of(b'{"jsonrpc":"2.0","id":@ID@}')),
    Case(
        "result-and-error",
        "Both a result and an error",
        _of(b'{"jsonrpc":"2.0","id":@ID@,"result":{"content":[]},"error":{"code":-1,"message":"both"}}'),
    ),
    Case("error-text", "An error that is text", _of(b'{"jsonrpc":"2.0","id":@ID@,"error":"no"}')),
    Case(
        "error-of-wrong-types",
        "An error whose code is text and whose message is an object",
        _of(b'{"jsonrpc":"2.0","id":@ID@,"error":{"code":"-1","message":{"a":[1]},"data":null}}'),
    ),
    Case("wrong-content", "Content that is no list of blocks", _of(response(b'{"content":{"type":[]},"isError":2}'))),
    Case("no-version", "A response without jsonrpc", _of(b'{"id":@ID@,"result":{"content":[]}}')),
    Case("answers-twice", "The same answer twice", _of(GOOD, GOOD)),
    Case("unknown-id", "An answer nobody asked for, then the good one", _of(GOOD.replace(ID, b"987654321"), GOOD)),
    Case("string-id", "The id as text where it was a number", _of(GOOD.replace(ID, b'"@ID@"'))),
    Case(
        "null-id", "An error whose id is null", _of(b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}')
    ),
    Case(
        "strange-messages",
        "Unknown notifications and requests, and progress for nobody, before the answer",
        _of(
            b'{"jsonrpc":"2.0","method":"notifications/unheard-of","params":[1]}',
            b'{"jsonrpc":"2.0","id":"@","method":"client/explode","params":{}}',
            b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"nobody","progress":"x"}}',
            GOOD,
        ),
    ),
]
_BEHAVIOURS = [
    Case("silent", "Reads everything and answers nothing, not even initialize", list, at="*", behaviour="silent"),
    Case("dead-at-start", "Complains on stderr and ends with code 3", list, behaviour="dead"),
    Case("exits-after-initialize", "Ends with code 4 after the handshake", list, behaviour="exit"),
    Case("flood-stdout", "Log messages without pause, then the answer", _of(GOOD), behaviour="flood"),
    Case("flood-stderr", "Lines on stderr without pause, then the answer", _of(GOOD), behaviour="flood-stderr"),
    Case("late", "Answers when the request has been cancelled", _of(GOOD), behaviour="late"),
    Case("out-of-order", "Answers the second call before the first", _of(GOOD), behaviour="pair"),
    Case("endless", "An answer that never ends", list, behaviour="endless"),
    Case("stubborn", "Ends neither with stdin nor on SIGTERM", _of(GOOD), behaviour="stubborn"),
    Case("redirect", "A redirection to another host", list, behaviour="redirect", forms=("json",)),
    Case("html-error", "An HTTP error with a page in HTML", list, behaviour="html", forms=("json",)),
]
_LISTS = [
    _listing("huge-schema", "A tool with 20,000 fields and a description of a megabyte", hostile_lists.huge_schema),
    _listing("recursive-schema", "Schemas that refer to themselves in every way", hostile_lists.recursive_schemas),
    _listing("malicious-schema", "Schemas that make a validator fetch, read or hang", hostile_lists.malicious_schemas),
    _listing("wrong-types", "Something of the wrong type in every place", hostile_lists.wrong_types),
    _listing("repeated-cursor", "The same cursor on every page", hostile_lists.repeated_cursor),
    _listing("escapes", "Terminal escapes, bidi controls and markup in every text", hostile_lists.escapes),
]
CASES = {case.name: case for case in [*_REPLIES, *_BEHAVIOURS, *_LISTS]}
REPLIES = [case.name for case in _REPLIES]
LISTS = [case.name for case in _LISTS]

ERRORS_AT_START = b"hostile: reading configuration\nhostile: config.json: no such file\n"
FLOOD = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"flood %d"}}'
FLOOD_LINE = b"hostile: flood line %d\n"
ENDLESS_START = b'{"jsonrpc":"2.0","id":@ID@,"result":{"content":[{"type":"text","text":"'
HTML = b"<!doctype html><html><head><title>Error</title></head><body><h1>Something broke</h1></body></html>\n"
