"""Rules about results and errors of the modern era: resultType, caching, input_required, tasks, HTTP status.

Each takes an `Answer` and yields `(rule, level, sentence)`; none ever raises. Source: specification 2026-07-28, "Base
protocol", "Discovery", "Caching", "Multi Round-Trip Requests", "Streamable HTTP"; SEP-2663 for tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from inspector.check.judge.rules import RuleVerdict, short
from inspector.check.judge.state import PREFIX, TASKS_EXTENSION, JudgeState
from inspector.protocol.jsonrpc import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    RESOURCE_NOT_FOUND,
    UNSUPPORTED_VERSION,
    URL_ELICITATION_REQUIRED,
    excerpt,
)
from inspector.protocol.members import object_at, value_at


class AnsweredRequest(NamedTuple):
    """A response of the server and its request."""

    method: str
    """The method of the request; empty if the request is unknown."""
    params: dict[str, Any]
    """The params of the request."""
    body: dict[str, Any]
    """The result, or the error."""
    status: int
    """The status of the HTTP response that contains it; 0 if there is none."""
    at: int = -1
    """When it arrived, in microseconds of the recording; -1 if it is too large to compare."""


AnswerRule = Callable[[AnsweredRequest, JudgeState], Iterator[RuleVerdict]]

_ASKING = frozenset(("tools/call", "prompts/get", "resources/read"))
"""The methods that may return `input_required`."""
_CACHED = frozenset(
    ("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read")
)
_OF_TASKS = frozenset(("tasks/get", "tasks/update", "tasks/cancel"))
_INPUTS = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}
_STATUS_OF = {
    HEADER_MISMATCH: (400, "HTTP-61"),
    MISSING_CAPABILITY: (400, "BASE-23"),
    UNSUPPORTED_VERSION: (400, "LIFE-23"),
    METHOD_NOT_FOUND: (404, "HTTP-69"),
}
_OWN_MEANING = (HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION)
_RETIRED = (RESOURCE_NOT_FOUND, URL_ELICITATION_REQUIRED)
_JSONRPC = (PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR)


# Results


def result_type(answer: AnsweredRequest, state: JudgeState) -> Iterator[RuleVerdict]:
    """Every result has a resultType that both sides know."""
    if "resultType" not in answer.body:
        yield "BASE-15", "must", "The result has no resultType."
        return
    kind = answer.body["resultType"]
    if kind not in ("complete", "input_required", "task"):
        yield "BASE-16", "must", f"The resultType is {short(kind)}, which is not defined or negotiated."


def server_info(answer: AnsweredRequest, state: JudgeState) -> Iterator[RuleVerdict]:
    """Results name the server. A server that never does gets one finding."""
    meta = object_at(answer.body.get("_meta"))
    if PREFIX + "serverInfo" not in meta:
        if not state.nameless:
            state.nameless = True
            yield "BASE-17", "should", "The result has no serverInfo in _meta."
        return
    info = object_at(meta[PREFIX + "serverInfo"])
    missing = [name for name in ("name", "version") if type(info.get(name)) is not str]
    if missing:
        yield "BASE-17", "should", f"serverInfo in _meta has no {' and no '.join(missing)}."


def caching(answer: AnsweredRequest, state: JudgeState) -> Iterator[RuleVerdict]:
    """Cacheable results have ttlMs and cacheScope; input_required results have neither."""
    body, method = answer.body, answer.method
    hints = [name for name in ("ttlMs", "cacheScope") if name in body]
    if body.get("resultType") == "input_required":
        if hints:
            yield "CACHE-06", "must", f"An input_required result has {' and '.join(hints)}."
        return
    if method not in _CACHED:
        return
    if len(hints) < 2:
        missing = [name for name in ("ttlMs", "cacheScope") if name not in body]
        yield "CACHE-01", "must", f"The result of {method} has no {' and no '.join(missing)}."
    life, scope = body.get("ttlMs"), body.get("cacheScope")
    if "ttlMs" in hints and not _is_duration(life):
        yield "CACHE-02", "must", f"ttlMs is {short(life)}, not an integer of 0 or more."
    if "cacheScope" in hints and scope not in ("public", "private"):
        yield "CACHE-03", "must", f"cacheScope is {short(scope)}, neither “public” nor “private”."
    elif method.endswith("/list") and type(scope) is str:
        if "cursor" not in answer.params:
            state.scopes[method] = scope
        elif (first := state.scopes.get(method, scope)) != scope:
            yield (
                "CACHE-04",
                "must",
                f"cacheScope is {short(scope)} on this page, but {short(first)} on the first page.",
            )


def _is_duration(value: Any) -> bool:
    return (type(value) is int or (type(value) is float and value.is_integer())) and value >= 0


def discovery(answer: AnsweredRequest, state: JudgeState) -> Iterator[RuleVerdict]:
    """The result of `server/discover` has its required members."""
    if answer.method != "server/discover":
        return
    body = answer.body
    names = body.get("supportedVersions")
    if type(names) is not list or not names or not all(type(name) is str and name for name in names):
        yield "LIFE-21", "must", f"supportedVersions is {short(names)}, not a list of revisions."
    else:
        requested = value_at(answer.params, "_meta", PREFIX + "protocolVersion")
        if requested not in names:
            yield "LIFE-22", "must", f"The server accepts {short(requested)}, but supportedVersions does not list it."
    if type(body.get("capabilities")) is not dict:
        yield "LIFE-21", "must", f"capabilities is {short(body.get('capabilities'))}, not an object."
    for name, settings in list(object_at(body, "capabilities", "extensions").items())[:100]:
        prefix, slash, rest = name.partition("/")
        if not (prefix and slash and rest):
            yield "LIFE-28", "must", f"The extension {short(name)} has no prefix, such as com.example/."
        if type(settings) is not dict:
            yield (
                "LIFE-28",
                "must",
                f"The settings of the extension {short(name)} are {short(settings)}, not an object.",
            )


def input_required(answer: AnsweredRequest, state: JudgeState) -> Iterator[RuleVerdict]:
    """input_required is returned only by methods that allow it, with valid requests and declared capabilities."""
    body = answer.body
    if body.get("resultType") != "input_required":
        return
    if answer.method and answer.method not in _ASKING:
        yield "MRTR-01", "must", f"{answer.method} must not return input_required."
    if "inputRequests" not in body and "requestState" not in body:
        yield "MRTR-02", "must", "An input_required result has neither inputRequests nor requestState."
    yield from input_requests(body.get("inputRequests"), answer.params)


def input_requests(requests: Any, params: dict[str, Any]) -> Iterator[RuleVerdict]:
    """Each of the inputRequests has a valid method whose capability the request declares."""
    if requests is not None and type(requests) is not dict:
        yield "MRTR-03", "must", f"inputRequests is {short(requests)}, not an object."
        return
    declared = object_at(params, "_meta", PREFIX + "clientCapabilities")
    for key, request in list((requests or {}).items())[:100]:
        method = value_at(request, "method")
        capability = _INPUTS.get(method) if type(method) is str else None
        if capability is None:
            yield "MRTR-03", "must", f"The input request {short(key)} has the method {short(method)}."
            continue
        for missing in _undeclared(capability, object_at(request, "params"), declared):
            yield (
                "MRTR-04",
                "must",
                f"The input request {short(key)} needs {missing}, which the client does not declare.",
            )


def _undeclared(capability: str, params: dict[str, Any], declared: dict[str, Any]) -> Iterator[str]:
    own = declared.get(capability)
    if own is None:
        yield capability
    elif capability == "elicitation":
        mode = params.get("mode", "form")
        has = object_at(own)
        if mode in ("form", "url") and mode not in has and (has or mode == "url"):
            yield f"elicitation.{mode}"
    elif capability == "sampling" and ("tools" in params or "toolChoice" in params) and "tools" not in object_at(own):
        yield "sampling.tools"


def tasks(answer: AnsweredRequest, state: JudgeState) -> Iterator[RuleVerdict]:
    """Only a call creates a task, and only for a client that declares tasks (C-TASK-02)."""
    kind = answer.body.get("resultType")
    if answer.method in _OF_TASKS:
        if kind not in (None, "complete"):
            yield "TASK-05", "must", f"The result of {answer.method} has the resultType {short(kind)}, not “complete”."
        if answer.method == "tasks/get":
            yield from _task_state(answer, state)
        return
    if kind != "task":
        return
    if answer.method and answer.method != "tools/call":
        yield "C-TASK-02", "must", f"{answer.method} returned a task; only tools/call may."
    declared = object_at(answer.params, "_meta", PREFIX + "clientCapabilities")
    if TASKS_EXTENSION not in object_at(declared.get("extensions")):
        yield "TASK-04", "must", "A task was created for a client that does not declare the extension."
    if type(answer.body.get("taskId")) is not str:
        yield "C-TASK-02", "must", f"The taskId is {short(answer.body.get('taskId'))}, not a string."


def _task_state(answer: AnsweredRequest, state: JudgeState) -> Iterator[RuleVerdict]:
    """A task has the members of its status, and a new key for each input request."""
    body = answer.body
    status, requests = body.get("status"), object_at(body.get("inputRequests"))
    if status == "completed" and type(body.get("result")) is not dict:
        yield "TASK-05", "must", f"The status of the task is completed, but its result is {short(body.get('result'))}."
    elif status == "failed" and type(body.get("error")) is not dict:
        what = "a result" if "result" in body else "no error"
        yield "TASK-07", "must", f"The status of the task is failed with {what}; only a JSON-RPC error fails a task."
    elif status == "input_required":
        yield from input_requests(body.get("inputRequests"), answer.params)
        id = answer.params.get("taskId")
        known = state.requests_of(id) if type(id) is str and requests else {}
        for key, request in list(requests.items())[:100]:
            text = excerpt(request, 1000)
            if known.setdefault(key, text) != text:
                yield "TASK-07", "must", f"The task reused the key {short(key)} for another input request."


# Errors


def error_code(answer: AnsweredRequest, state: JudgeState) -> Iterator[RuleVerdict]:
    """Reserved codes are used as the revision defines them, and removed codes are not used."""
    code = answer.body.get("code")
    if type(code) is not int:
        return
    if code in _RETIRED:
        yield "BASE-21", "must", f"The code {code} does not exist in {state.schema_revision}."
    elif -32099 <= code <= -32020 and code not in _OWN_MEANING:
        yield "BASE-20", "must", f"The code {code} is reserved, but not defined."
    elif code == HEADER_MISMATCH and not answer.status:
        yield "BASE-20", "must", f"The code {code} means mismatched HTTP headers, but this transport has no headers."
    elif -32768 <= code <= -32000 and code not in _JSONRPC and code not in _OWN_MEANING:
        yield "BASE-22", "should", f"The code {code} is in the range that JSON-RPC reserves."


def internal_error(answer: AnsweredRequest, state: JudgeState) -> Iterator[RuleVerdict]:
    """Internal errors have their own code."""
    if answer.method.startswith("resources/") and answer.body.get("code") == -32000:
        yield "RES-18", "should", f"{answer.method} returned error -32000; an internal error is -32603."


def error_data(answer: AnsweredRequest, state: JudgeState) -> Iterator[RuleVerdict]:
    """The data of an error has the members that the client needs (C-MOD-03)."""
    code, data = answer.body.get("code"), object_at(answer.body.get("data"))
    if code == UNSUPPORTED_VERSION:
        names = data.get("supported")
        if type(names) is not list or not names or not all(type(name) is str for name in names):
            yield "LIFE-23", "must", f"data.supported is {short(names)}, not a list of revisions."
        requested = value_at(answer.params, "_meta", PREFIX + "protocolVersion")
        if requested is not None and data.get("requested") != requested:
            yield (
                "LIFE-23",
                "must",
                f"data.requested is {short(data.get('requested'))}, but the request has {short(requested)}.",
            )
        elif type(names) is list and requested is not None and requested in names:
            yield "LIFE-23", "must", f"The server rejects {short(requested)}, but lists it as supported."
    elif code == MISSING_CAPABILITY and type(data.get("requiredCapabilities")) is not dict:
        needed = short(data.get("requiredCapabilities"))
        yield "BASE-23", "must", f"data.requiredCapabilities is {needed}, not an object."


def error_status(answer: AnsweredRequest, state: JudgeState) -> Iterator[RuleVerdict]:
    """Over HTTP, four errors have their own status."""
    code = answer.body.get("code")
    rule = _STATUS_OF.get(code) if type(code) is int else None
    if rule is not None and answer.status and answer.status != rule[0]:
        yield rule[1], "must", f"The error {code} came with status {answer.status}; it must have status {rule[0]}."


RESULT_RULES: tuple[AnswerRule, ...] = (result_type, server_info, caching, discovery, input_required, tasks)
ERROR_RULES: tuple[AnswerRule, ...] = (error_code, internal_error, error_data, error_status)
