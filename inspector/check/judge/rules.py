"""Rules that the passive judge checks, one function each. Each yields `(rule, level, sentence)`; none ever raises.

Ids are those of the server check list (BASE-…, STDIO-…). A rule without a check uses the id of the client requirement
(C-…) that relies on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from inspector.check.judge.state import JudgeState
from inspector.journal.findings import Level
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.index import Index, State
from inspector.journal.query import Query
from inspector.journal.recording import Recording
from inspector.protocol.exact_json.depth import MAX_DEPTH
from inspector.protocol.extensions import EVENTS
from inspector.protocol.jsonrpc import (
    INVALID_REQUEST,
    MAX_VALUES,
    PARSE_ERROR,
    VERSION,
    Shape,
    excerpt,
    has_too_many_values,
    id_key,
)
from inspector.protocol.members import object_at

RuleVerdict = tuple[str, Level, str]
PAUSE: RuleVerdict = ("", "note", "")
"""Not a finding: a rule yields it where much is left to read, so that the judge can be stopped there."""

UNREAD = 32 << 20
"""Bytes of a message above which it is not parsed again, because that takes many times its size in memory."""

_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_TOOL_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_LIST_CHANGED = {
    "notifications/tools/list_changed": ("tools", "TOOL-16"),
    "notifications/resources/list_changed": ("resources", "C-LIFE-07"),
    "notifications/prompts/list_changed": ("prompts", "PROM-07"),
}
_NO_MESSAGE = (Shape.NONE, Shape.BATCH)
_ASKS = {"sampling/createMessage": "sampling", "elicitation/create": "elicitation", "roots/list": "roots"}


def bytes_rules(event: Event, stdio: bool) -> Iterator[RuleVerdict]:
    """Problems of the text before it is a message: encoding, JSON, framing."""
    raw = event.bytes
    if event.data is not None:
        yield "BASE-30", "must", "The message is not valid UTF-8."
    if raw.startswith(b"\xef\xbb\xbf"):
        yield "BASE-30", "must", "The message begins with a byte order mark."
    if raw.endswith(b"\r") and stdio:
        yield "STDIO-02", "note", "The line ends with CR LF. The transport requires a line feed only."
    if event.fields.get("cut"):
        yield (
            "STDIO-02" if stdio else "HTTP-16",
            "must",
            "The message is incomplete: the stream ended inside it.",
        )


def json_rules(event: Event) -> Iterator[RuleVerdict]:
    """Valid JSON that parsers read differently: duplicate keys, NaN, integers beyond 2^53, unpaired surrogates."""
    raw = event.raw
    if raw is None:
        return
    from inspector.protocol.exact_json.depth import depth_of

    depth = depth_of(raw)
    if depth > MAX_DEPTH:
        yield (
            "BASE-01",
            "note",
            f"The message is nested {depth:,} levels deep. Many parsers reject more than 100 or 200.",
        )
    if not _SUSPICIOUS.search(raw):
        return
    from inspector.protocol.exact_json.text import problems

    for problem in problems(raw, 10):
        rule, level = _JSON_PROBLEMS.get(problem.kind, _NO_PROBLEM)
        if rule:
            yield rule, level, f"{problem.detail}{f' at {problem.where}' if problem.where else ''}."


_SUSPICIOUS = re.compile(
    r"NaN|Infinity|\\u[dD][89a-fA-F]|[0-9]{16}|[eE][+-]?[0-9]{3}|[\u2028\u2029\u0085]|\A[^\0]{0,4000}\Z"
)
"""Only a text that contains one of these needs the exact check.

A short text is always checked, for duplicate keys.
"""
_NO_PROBLEM: tuple[str, Level] = ("", "note")
_JSON_PROBLEMS: dict[str, tuple[str, Level]] = {
    "duplicate-key": ("BASE-01", "should"),
    "nan": ("BASE-01", "must"),
    "overflow": ("BASE-01", "note"),
    "big-integer": ("BASE-01", "note"),
    "lone-surrogate": ("BASE-30", "must"),
    "line-separator": ("BASE-30", "note"),
    "control": ("BASE-01", "must"),
}


def refuses(event: Event) -> bool:
    """Whether the HTTP response of the message has an error status. The body of such a response may be anything."""
    status = event.fields.get("status")
    return type(status) is int and not 200 <= status < 300


def is_error_response(message: Any) -> bool:
    """Whether a body has the form of an error response, so that its rules apply."""
    return type(message) is dict and message.get("jsonrpc") == VERSION and type(message.get("error")) is dict


def is_unread(journal: Recording, n: int) -> bool:
    """Whether event `n` is a message that was not parsed for its size: it may be any response."""
    index = journal.index
    if index.kind(n) is not Kind.INVALID or index.dir(n) is not Dir.RECV:
        return False
    return index.size(n) > UNREAD or has_too_many_values(journal.event(n).bytes)


def invalid_rules(event: Event, stdio: bool) -> Iterator[RuleVerdict]:
    """Bytes that are not JSON, or were not parsed."""
    if has_too_many_values(event.bytes):
        yield "size", "note", f"The message has more than {MAX_VALUES:,} values and was not checked."
        return
    reason = event.fields.get("why", "")
    line = excerpt(event.bytes.decode("utf-8", "replace"), 80).strip('"')
    if stdio and not event.bytes.strip():
        yield "STDIO-01", "must", "Text on stdout: an empty line."
    elif stdio:
        # A reader of the parser's reason looks for a fault in JSON; a line of text was never meant to be JSON.
        broken = f" ({reason})" if line[:1] in ("{", "[") else ""
        yield "STDIO-01", "must", f"Text on stdout: “{line}”{broken}."
    else:
        yield "BASE-01", "must", f"This is not JSON: “{line}” ({reason})."


def frame_rules(message: Any, shape: Shape) -> Iterator[RuleVerdict]:
    """The rules of JSON-RPC for one message."""
    if shape == Shape.NONE:
        yield "BASE-01", "must", "This JSON is not a JSON-RPC message: it has no method, result or error."
        return
    if shape == Shape.BATCH:
        yield "BASE-13", "must", "A batch contains another batch."
        return
    if message.get("jsonrpc") != VERSION:
        yield "BASE-01", "must", f"jsonrpc is {short(message.get('jsonrpc'))}, not “2.0”."
    if shape in (Shape.RESULT, Shape.ERROR):
        if "result" in message and "error" in message:
            yield "BASE-03", "must", "The response has both a result and an error."
        if shape == Shape.ERROR:
            yield from _error_rules(message.get("error"))
    elif "id" in message and id_key(message["id"]) is None:
        yield "C-BASE-02", "must", f"The id is {short(message['id'])}, neither a string nor an integer."
    elif type(message.get("id")) is float:
        yield "C-BASE-02", "must", f"The id {short(message['id'])} is not an integer."


def _error_rules(error: Any) -> Iterator[RuleVerdict]:
    if type(error) is not dict:
        yield "BASE-04", "must", f"error is {short(error)}, not an object."
        return
    if type(error.get("code")) is not int:
        yield "BASE-04", "must", f"error.code is {short(error.get('code'))}, not an integer."
    if type(error.get("message")) is not str:
        yield "BASE-04", "must", f"error.message is {short(error.get('message'))}, not a string."


def answer_rules(index: Index, n: int, message: dict[str, Any], exchange: int, refused: bool) -> Iterator[RuleVerdict]:
    """A response belongs to one request, comes once, and has the id of the request.

    `exchange` is the request whose HTTP response contains it, or 0; it tells what an error without an id belongs to. A
    response that rejects the request (`refused`) does so by its status, and its body may be anything.
    """
    state = index.state(n)
    id = message.get("id")
    if state == State.UNKNOWN:
        if refused:
            return
        if exchange and id is None and "result" not in message:
            yield "BASE-05", "note", "The response has no id; the HTTP exchange tells which request it belongs to."
            return
        other = _same_id_other_type(index, id, n)
        if other:
            yield "BASE-02", "must", f"The id {short(id)} has another type than the id of request {short(other)}."
        elif id is None and _could_not_read(index, n, message):
            yield "BASE-05", "note", "The response has no id. It belongs to a message whose id could not be read."
        elif id is None:
            yield "BASE-05", "should", "The response has no id, so its request is unknown."
        else:
            yield "BASE-02", "must", f"The response has the id {short(id)}, but no request has this id."
    elif state == State.DOUBLED:
        yield "BASE-02", "must", f"The request with the id {short(id)} already has a response."


def _could_not_read(index: Index, n: int, message: dict[str, Any]) -> bool:
    """Whether the error `message` may omit its id: its code allows that, and the client sent an invalid message.

    Specification, Basic Protocol, Error Responses (2025-11-25 and later); JSON-RPC 2.0, section 5.
    """
    error = message.get("error")
    if type(error) is not dict or error.get("code") not in (PARSE_ERROR, INVALID_REQUEST):
        return False
    return any(
        index.dir(m) == Dir.SEND and index.shape(m) in _NO_MESSAGE and index.kind(m) in (Kind.RPC, Kind.INVALID)
        for m in range(n - 1, max(0, n - 2000), -1)
    )


def _same_id_other_type(index: Index, id: Any, n: int) -> int | str | None:
    text = str(id) if type(id) in (int, str) else None
    if text is None:
        return None
    other: int | str = int(text) if type(id) is str and text.isdecimal() and len(text) < 16 else text
    if other == id or not Query(id=other, shape=Shape.REQUEST).last(index, max(0, n - 2000), n - 1):
        return None
    return other


def no_requests(message: dict[str, Any], state: JudgeState) -> Iterator[RuleVerdict]:
    """The modern era: the server sends no requests."""
    name = short(message["method"])
    yield (
        "BASE-31",
        "must",
        (f"The server sent the request {name}; {state.schema_revision} does not allow requests of the server."),
    )


def request_rules(message: dict[str, Any], state: JudgeState) -> Iterator[RuleVerdict]:
    """The legacy era: which requests the server may send, and when."""
    method, key = message["method"], id_key(message["id"])
    if key in state.asked_ids:
        yield "BASE-11", "must", f"The server reused the request id {short(key)}."
    elif len(state.asked_ids) < JudgeState.LIMIT:
        state.asked_ids.add(key)
    if not state.initialized and method != "ping":
        yield "LIFE-06", "should", f"{method} came before notifications/initialized."
    capability = _ASKS.get(method)
    if capability and not state.client_has(capability):
        yield "LIFE-08", "must", f"The server sent {method}, but the client does not declare {capability}."


def notification_rules(message: dict[str, Any], index: Index, n: int, state: JudgeState) -> Iterator[RuleVerdict]:
    """Notifications need a declared capability; progress must increase and have a token; log messages need a level."""
    method = message["method"]
    params = object_at(message.get("params"))
    if "id" in message:
        yield "BASE-11", "must", "A notification has an id."
    if method in _LIST_CHANGED:
        capability, rule = _LIST_CHANGED[method]
        if state.introduced and not state.server_has(capability, "listChanged"):
            yield rule, "must", f"The server sent {method}, but {capability}.listChanged is not declared."
    elif method == "notifications/message":
        if params.get("level") not in _LEVELS:
            yield "UTIL-13", "must", f"The log level {short(params.get('level'))} does not exist."
        if "data" not in params:
            yield "UTIL-13", "must", "A log message has no data."
    elif method.startswith("notifications/events/") and not state.client_offers(EVENTS):
        yield "EXT-09", "must", f"The server sent {short(method)}, but the client does not offer {EVENTS}."
    elif method == "notifications/progress":
        yield from _progress_rules(params, index, n, state)


def _progress_rules(params: dict[str, Any], index: Index, n: int, state: JudgeState) -> Iterator[RuleVerdict]:
    token, value = id_key(params.get("progressToken")), params.get("progress")
    request = index.pair(n)
    if not request:
        yield "UTIL-16", "must", f"No request has the progress token {short(params.get('progressToken'))}."
        return
    has_response = index.state(request) in (State.DONE, State.ERROR) and index.pair(request) < n
    if has_response and request not in state.task_requests:
        yield "UTIL-15", "must", "A progress notification came after the response."
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        before = state.progress.get(token)
        if before is not None and value <= before:
            yield "UTIL-15", "must", f"Progress changed from {short(before)} to {short(value)}; it must increase."
        if len(state.progress) < JudgeState.LIMIT:
            state.progress[token] = value


def batch_rules(state: JudgeState) -> Iterator[RuleVerdict]:
    """Batches exist in one revision only."""
    if not state.features.batches:
        yield "BASE-13", "must", f"The server sent a batch; {state.schema_revision} has no batches."


def initialize_rules(result: Any) -> Iterator[RuleVerdict]:
    """The result of initialize has its required members."""
    body = object_at(result)
    info = body.get("serverInfo")
    missing = [name for name in ("protocolVersion", "capabilities", "serverInfo") if name not in body]
    if type(info) is dict:
        missing += [f"serverInfo.{name}" for name in ("name", "version") if type(info.get(name)) is not str]
    if missing:
        yield "LIFE-01", "must", f"The result of initialize lacks {', '.join(missing)}."


def header_rules(tool: dict[str, Any], state: JudgeState) -> Iterator[RuleVerdict]:
    """The modern era over HTTP: parameters in headers follow the rules of x-mcp-header (C-HTTP-34)."""
    from inspector.protocol.headers import mirrored

    for reason in mirrored(tool)[1]:
        yield "TOOL-19", "must", f"The tool {short(tool.get('name'))}: {reason}."


def tool_rules(tool: dict[str, Any], seen: set[str], state: JudgeState) -> Iterator[RuleVerdict]:
    """Tool names that clients can use, and schemas with the required root type."""
    name = tool.get("name")
    if type(name) is not str:
        yield "TOOL-02", "must", f"A tool name is {short(name)}, not a string."
        return
    if name in seen:
        yield "TOOL-05", "should", f"Two tools have the name {short(name)}."
    seen.add(name)
    if state.features.icons and not _TOOL_NAME.fullmatch(name):
        yield (
            "TOOL-04",
            "should",
            f"The tool name {short(name)} does not consist of 1 to 128 characters A-Z a-z 0-9 _ - .",
        )
    schema = tool.get("inputSchema")
    if type(schema) is not dict or schema.get("type") != "object":
        yield "TOOL-02", "must", f"The inputSchema of {short(name)} does not have the root type object."


def short(value: Any) -> str:
    """A value from the server, shortened for a sentence."""
    return excerpt(value, 80)
