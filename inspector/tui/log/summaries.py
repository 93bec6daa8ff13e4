"""Summarises an event in one line: the subject of a request, the content of an answer, a connection event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from inspector.journal import alterations
from inspector.journal.filters.conditions import subjects_of
from inspector.journal.format import Event, Kind
from inspector.journal.index import Index
from inspector.journal.journal import Journal
from inspector.log_lines import readable
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.names import SERVER_KEY
from inspector.protocol.summaries import (
    MAX_READ,
    answer_summary,
    compact,
    first_text,
    kinds,
    one_line,
    text_summary,
    value_summary,
)
from inspector.protocol.views import ContentBlock, ServerInfo, View
from inspector.text import count, quantity, size
from inspector.tui.widgets.paint import Piece
from inspector.tui.work.call_events import steps

_KEYS = 8
_LISTS = {
    "tools": "tool",
    "resources": "resource",
    "resourceTemplates": "template",
    "prompts": "prompt",
    "roots": "root",
    "tasks": "task",
}


_LIST_KEYS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
    "tasks/list": "tasks",
}


def summary(journal: Journal, n: int) -> list[Piece]:
    """Return the summary of event `n`. Names and texts of the server are bright."""
    index = journal.index
    kind, shape, method = index.kind(n), index.shape(n), index.method(n)
    if index.size(n) > MAX_READ:
        return _too_large(kind, shape, method, index.size(n))
    event = journal.event(n)
    if event.dropped is not None:
        return [*_too_large(kind, shape, method, event.dropped), (", not recorded", "muted")]
    if kind == Kind.RPC:
        return [*_message(index, n, event, shape, method), *altered_by(event)]
    if kind == Kind.INVALID:
        return [("not JSON: ", "error"), one_line(event.text)]
    if kind == Kind.STDERR:
        return [one_line(readable(event.text))]
    facts = View(event.fields)
    if kind == Kind.HTTP:
        return _http(facts)
    if kind == Kind.SSE:
        return _sse(facts, event.text)
    if kind == Kind.LIFE:
        return life(facts, _about(journal, facts))
    if kind == Kind.NOTE:
        return [one_line(facts.text("text"))]
    if kind == Kind.MARK:
        about = "removed the mark of" if facts.members.get("off") is True else "marked"
        return [(f"{about} {one_line(str(facts.members.get('for')))}  ", "muted"), one_line(facts.text("text"))]
    if kind == Kind.AUTH:
        return _login_step(facts)
    if kind == Kind.OTHER and "why" in event.fields and event.text:
        return [("line ", "muted"), one_line(event.text)]
    name = facts.text("event") or facts.text("step") or event.kind_name
    return [(name, "bright"), *_facts(facts.members, {"event", "step"})]


def altered_by(event: Event) -> list[tuple[str, str]]:
    """Return who changed, refused or answered a message."""
    return [(f"  {one_line(step.did)} by {one_line(step.by)}", "finding") for step in alterations.read(event.fields)]


def _login_step(facts: View) -> list[Piece]:
    """Return a step of a login: its name and its decision."""
    role = "error" if facts.members.get("ok") is False else "bright"
    return [(f"{one_line(facts.text('step'))} ", "muted"), (one_line(facts.text("text")), role)]


def _too_large(kind: Kind, shape: Shape, method: str, octets: int) -> list[Piece]:
    what = {Shape.REQUEST: method, Shape.NOTIFICATION: method, Shape.RESULT: "a result", Shape.ERROR: "an error"}
    words = what.get(shape) or {Kind.INVALID: "an unreadable message", Kind.STDERR: "a line"}.get(kind, "a message")
    return [words, (f" of {size(octets)}", "muted")]


# Messages


def _message(index: Index, n: int, event: Event, shape: Shape, method: str) -> list[Piece]:
    message = event.message
    if shape == Shape.BATCH and isinstance(message, list):
        return _batch(message)
    # A line with two bodies, which only other writers make, may be another message for the index.
    if shape == Shape.NONE or not isinstance(message, dict):
        return [("not a JSON-RPC message: ", "error"), one_line(event.text)]
    view = View(message)
    if shape == Shape.ERROR:
        return _error(view)
    if shape == Shape.RESULT:
        return result_summary(method, message.get("result"))
    params = View(view.object("params"))
    if shape == Shape.NOTIFICATION:
        return _notification(method, params)
    return [method, *request_summary(method, message)]


def _batch(message: list[Any]) -> list[Piece]:
    methods = [View(item).text("method") or "answer" for item in message[:4]]
    return [f"batch of {count(len(message))}", (f"  {', '.join(methods)}", "muted")]


def _error(view: View) -> list[Piece]:
    error = View(view.object("error"))
    code = error.members.get("code")
    words = error.text("message") or "error without a message"
    code_pieces: list[Piece] = [(f"{code} ", "error")] if type(code) in (int, float, str) else []
    return [*code_pieces, (one_line(words), "error")]


def request_summary(method: str, message: Any) -> list[Piece]:
    """Return the subject of a request, shown after its method: a name, a URI, a question, a cursor."""
    names = subjects_of(message)
    if names:
        return [(f" {one_line(names[0])}", "bright")]
    params = View(View(message).object("params"))
    if method == "sampling/createMessage":
        return [(f" {_last_text(params.array('messages'))}", "bright")]
    words = next((params.text(key) for key in ("message", "level", "taskId") if params.text(key)), "")
    if words:
        return [(f" {one_line(words)}", "bright")]
    cursor = params.text("cursor")
    return [(f" cursor {one_line(cursor)}", "muted")] if cursor else []


def _last_text(messages: list[Any]) -> str:
    content = View(messages[-1]).members.get("content") if messages else None
    blocks = content if isinstance(content, list) else [content]
    return next((one_line(body) for block in blocks[:20] if (body := ContentBlock(block).body)), "")


def _notification(method: str, params: View) -> list[Piece]:
    if method == "notifications/progress":
        words = steps(params.members.get("progress"), params.members.get("total"))
        return ["progress ", (words, "bright"), f"  {one_line(params.text('message'))}"]
    if method == "notifications/message":
        data = params.members.get("data")
        words = one_line(data) if isinstance(data, str) else compact(data)
        return [f"log {params.text('level') or '?'} ", (words, "bright")]
    if method == "notifications/cancelled":
        reason = one_line(params.text("reason"))
        return [(reason, "bright")] if reason.startswith("cancelled") else ["cancelled ", (reason, "bright")]
    begin, slash, rest = method.partition("/")
    named: list[Piece] = [(begin + slash, "normal"), rest] if begin == "notifications" and rest else [method]
    if method in ("notifications/tasks", "notifications/tasks/status"):
        return _task(params)
    uri = params.text("uri") or params.text("taskId") or params.text("elicitationId")
    return [*named, (f" {one_line(uri)}", "bright")] if uri else named


# Results


def result_summary(method: str, result: Any) -> list[Piece]:
    """Return the summary of a result: number of items, server name, first text, or member names."""
    view = View(result)
    if not isinstance(result, dict):
        return [("the result is not an object: ", "error"), (compact(result), "bright")]
    reading = _RESULTS.get(method)
    pieces = reading(view) if reading is not None else None
    if pieces is None:
        pieces = _by_members(view)
    if pieces is not None:
        return pieces
    members = _without_protocol(view.members)
    return [(value_summary(members), "bright")] if members else [("empty result", "muted")]


def _without_protocol(members: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in members.items() if key not in ("_meta", "resultType")}


def items_of(method: str, message: Any) -> int:
    """Return the number of items in the answer to a list request."""
    result = View(View(message).object("result"))
    key = _LIST_KEYS.get(method, "")
    return len(result.array(key)) if key else 0


def counted_items(method: str, number: int) -> str:
    """Format the number of items in a list: `312 tools`."""
    thing = _LISTS.get(_LIST_KEYS.get(method, ""), "item")
    return quantity(number, thing)


def _by_members(view: View) -> list[Piece] | None:
    """Return the summary of a result from its members, whatever its method; None if they say nothing."""
    if isinstance(view.members.get("serverInfo"), dict):
        return _server(view)
    if view.text("taskId"):
        return _task(view)
    for key, thing in _LISTS.items():
        if isinstance(view.members.get(key), list):
            return _listed(view, key, thing)
    if isinstance(view.members.get("content"), (list, dict)):
        return _content(view)
    return None


def _server(view: View) -> list[Piece]:
    info = ServerInfo(view.members.get("serverInfo") or View(view.object("_meta")).object(SERVER_KEY))
    return [(one_line(info.display_name), "bright"), (f" {one_line(info.version)}", "bright")]


def _listed(view: View, key: str, thing: str) -> list[Piece]:
    more = ", more to come" if view.members.get("nextCursor") is not None else ""
    return [(quantity(len(view.array(key)), thing), "bright"), (more, "muted")]


def _tool_result(view: View) -> list[Piece] | None:
    if view.members.get("isError") is True:
        return [("isError: ", "error"), (first_text(view.array("content")) or kinds(view.array("content")), "error")]
    asked = View(view.object("inputRequests")).members
    if view.text("resultType") == "input_required" or asked:
        methods = [View(item).text("method") for item in list(asked.values())[:4]]
        return [("input_required ", "ask"), (" ".join(filter(None, methods)), "bright")]
    task = view.object("task") or (view.members if view.text("resultType") == "task" else {})
    if task:
        return _task(View(task))
    if view.members.get("structuredContent") is not None:
        return _content(view)
    return None


def _task(view: View) -> list[Piece]:
    """Return the status of a task first, because its id is the same each time."""
    words = one_line(view.text("statusMessage"))
    return ["task ", (one_line(view.text("status")), "bright"), f"  {words or one_line(view.text('taskId'))}"]


def _content(view: View) -> list[Piece]:
    words, more = answer_summary(view)
    return [(words, "bright"), (f"  +{quantity(more, 'line')}", "muted") if more else ""]


def _read(view: View) -> list[Piece] | None:
    contents = view.array("contents")
    if not contents:
        return None
    first = View(contents[0])
    if first.text("text"):
        return [(text_summary(first.text("text")), "bright")]
    blob = first.text("blob")
    words = first.text("mimeType") or first.text("uri")
    return [(f"{one_line(words)} {size(len(blob) * 3 // 4) if blob else ''}", "bright")]


def _prompt(view: View) -> list[Piece] | None:
    messages = view.array("messages")
    if not messages:
        return None
    return [(quantity(len(messages), "message"), "bright"), f"  {_last_text(messages[:1])}"]


def _completion(view: View) -> list[Piece] | None:
    completion = View(view.object("completion"))
    if not isinstance(completion.members.get("values"), list):
        return None
    values = completion.array("values")
    total = completion.members.get("total")
    number = f"{count(len(values))} of {count(total)}" if type(total) is int else count(len(values))
    return [(f"{number} value{'' if number == '1' else 's'}", "bright"), (f"  {compact(values[:5])[1:-1]}", "normal")]


def _elicited(view: View) -> list[Piece] | None:
    action = view.text("action")
    if not action:
        return None
    content = view.object("content")
    return [(one_line(action), "bright"), f" {value_summary(content)}" if content else ""]


_RESULTS: Mapping[str, Callable[[View], list[Piece] | None]] = {
    "initialize": _server,
    "server/discover": _server,
    "tools/call": _tool_result,
    "resources/read": _read,
    "prompts/get": _prompt,
    "completion/complete": _completion,
    "elicitation/create": _elicited,
}


def _http(facts: View) -> list[Piece]:
    if facts.text("method"):
        return [(facts.text("method"), "muted"), (f" {one_line(facts.text('url'))}", "muted")]
    status = facts.members.get("status")
    role = "error" if type(status) is int and status >= 400 else "muted"
    media = next((value for name, value in headers_of(facts) if name.lower() == "content-type"), "")
    return [(f"{compact(status)} {one_line(facts.text('reason'))}".rstrip(), role), (f"  {one_line(media)}", "muted")]


def headers_of(facts: View) -> list[tuple[str, str]]:
    """Return the headers of an `http` event in order; entries that are not pairs of texts are skipped."""
    return [
        (pair[0], pair[1])
        for pair in facts.array("headers")
        if isinstance(pair, (list, tuple)) and len(pair) == 2 and all(isinstance(part, str) for part in pair)
    ]


def _sse(facts: View, text: str) -> list[Piece]:
    known = [key for key in ("event", "id", "retry") if key in facts.members]
    words = " ".join(f"{key} {compact(facts.members[key])}" for key in known)
    return [(words or "event", "muted"), (f"  {one_line(text)}", "muted")]


def _about(journal: Journal, facts: View) -> str:
    """Name the request that an event is about; empty for none."""
    n = facts.members.get("for")
    if type(n) is not int or not 0 < n <= journal.index.count or journal.index.shape(n) is not Shape.REQUEST:
        return ""
    return "".join(piece if isinstance(piece, str) else piece[0] for piece in summary(journal, n)[:2])


def life(facts: View, request: str = "") -> list[Piece]:
    """Describe an event of the connection, or of a request with its name."""
    event = facts.text("event")
    if event == "lost" and "for" in facts.members:
        return [(f"{request or 'a request'} lost its connection", "error")]
    if event in _LIFE:
        return _LIFE[event](facts)
    return [(event or "unnamed event", "normal"), *_facts(facts.members, {"event", "for"})]


def _facts(members: Mapping[str, Any], without: set[str]) -> list[Piece]:
    kept = [(key, value) for key, value in list(members.items())[:20] if key not in without and value not in (None, "")]
    return [(f"  {compact(key)} {compact(value)}", "muted") for key, value in kept[:_KEYS]]


def _spawned(facts: View) -> list[Piece]:
    argv = [word for word in facts.array("argv")[:40] if isinstance(word, str)]
    return ["started ", (one_line(" ".join(argv)), "bright")]


def _exited(facts: View) -> list[Piece]:
    signal, status = facts.members.get("signal"), facts.members.get("status")
    by = "Inspector stopped the server" if facts.text("by") == "us" else "the server exited"
    if type(signal) is int:
        return [(f"{by}: signal {signal}", "error" if facts.text("by") != "us" else "normal")]
    role = "normal" if status in (0, None) or facts.text("by") == "us" else "error"
    return [(f"{by}: status {compact(status)}" if status is not None else by, role)]


def _ready(facts: View) -> list[Piece]:
    return ["ready ", (facts.text("revision"), "bright"), f" {facts.text('era')} over {facts.text('transport')}"]


def _failure(words: str) -> Callable[[View], list[Piece]]:
    def say(facts: View) -> list[Piece]:
        error = facts.members.get("error")
        reason = error if isinstance(error, str) else View(error).text("message")
        return [(f"{words}: {one_line(reason)}" if reason else words, "error")]

    return say


def _given_up(words: str, role: str) -> Callable[[View], list[Piece]]:
    def say(facts: View) -> list[Piece]:
        reason = facts.text("reason")
        return [(words, role), (f": {one_line(reason)}" if reason not in ("", words) else "", "muted")]

    return say


def _cancelled(facts: View) -> list[Piece]:
    reason = facts.text("reason")
    return [one_line(reason)] if reason.startswith("cancelled") else _given_up("cancelled by us", "normal")(facts)


def _declined(facts: View) -> list[Piece]:
    declined, waiting = _number(facts, "count"), _number(facts, "open")
    return [
        (f"{quantity(declined, 'question')} declined unseen", "finding"),
        (f": {count(waiting)} others waited", "muted"),
    ]


def _number(facts: View, name: str) -> int:
    value = facts.members.get(name)
    return value if type(value) is int and 0 <= value < 1 << 53 else 0


_LIFE: Mapping[str, Callable[[View], list[Piece]]] = {
    "spawn": _spawned,
    "exit": _exited,
    "closed": lambda facts: ["the server closed its output" if facts.text("by") == "server" else "closed"],
    "ready": _ready,
    "failed": _failure("no connection"),
    "lost": _failure("the connection was lost"),
    "error": _failure("the request failed"),
    "negotiation": lambda facts: ["negotiation: ", (one_line(facts.text("text")), "normal")],
    "reopen": lambda facts: ["reconnecting"],
    "session-lost": lambda facts: [("the server dropped the session; starting another", "error")],
    "cancel": _cancelled,
    "timeout": _given_up("timed out", "error"),
    "questions-declined": _declined,
    "reading-paused": lambda facts: [("reading paused: the server does not read our responses", "error")],
    "reading-resumed": lambda facts: ["reading resumed"],
    "delete-failed": _failure("the session could not be closed"),
}
