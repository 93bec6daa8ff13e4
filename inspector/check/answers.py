"""Rules about answers of the modern era: what every result says of itself, caching hints, input that is wanted, tasks,
errors and their HTTP status.

Each takes an `Answer` and yields `(rule, level, sentence)`; none ever raises. Source: specification 2026-07-28, "Base
protocol", "Discovery", "Caching", "Multi Round-Trip Requests", "Streamable HTTP"; SEP-2663 for tasks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from inspector.check.rules import RuleVerdict, short
from inspector.check.watched import PREFIX, TASKS_EXTENSION, Watched
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


class Answer(NamedTuple):
    """An answer of the server, and what is known of the request."""

    method: str
    """Of the request; empty where the answer answers nothing."""
    asked: dict[str, Any]
    """The params of the request."""
    body: dict[str, Any]
    """The result, or the error."""
    status: int
    """Of the HTTP response whose body or stream it came in; 0 where there is none."""


Rule = Callable[[Answer, Watched], Iterator[RuleVerdict]]

_ASKING = frozenset(("tools/call", "prompts/get", "resources/read"))
"""The methods that may be answered by `input_required`."""
_CACHED = frozenset((
    "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read",
))  # fmt: skip
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


def result_type(answer: Answer, watched: Watched) -> Iterator[RuleVerdict]:
    """Every result says what it is, in a word that both sides know."""
    if "resultType" not in answer.body:
        yield "BASE-15", "must", "The result has no resultType."
        return
    kind = answer.body["resultType"]
    if kind not in ("complete", "input_required", "task"):
        yield "BASE-16", "must", f"The resultType is {short(kind)}, which neither side has agreed to."


def server_info(answer: Answer, watched: Watched) -> Iterator[RuleVerdict]:
    """Results name the server; that one never does so is said once."""
    meta = _dict(answer.body.get("_meta"))
    if PREFIX + "serverInfo" not in meta:
        if not watched.nameless:
            watched.nameless = True
            yield "BASE-17", "should", "The result does not say in its _meta which server it is from (serverInfo)."
        return
    info = _dict(meta[PREFIX + "serverInfo"])
    missing = [name for name in ("name", "version") if type(info.get(name)) is not str]
    if missing:
        yield "BASE-17", "should", f"serverInfo in _meta has no {' and no '.join(missing)}."


def caching(answer: Answer, watched: Watched) -> Iterator[RuleVerdict]:
    """What may be kept says for how long and for whom; what is not the whole answer does not."""
    body, method = answer.body, answer.method
    hints = [name for name in ("ttlMs", "cacheScope") if name in body]
    if body.get("resultType") == "input_required":
        if hints:
            yield "CACHE-06", "must", f"A result that wants input has {' and '.join(hints)}."
        return
    if method not in _CACHED:
        return
    if len(hints) < 2:
        missing = [name for name in ("ttlMs", "cacheScope") if name not in body]
        yield "CACHE-01", "must", f"The answer to {method} has no {' and no '.join(missing)}."
    life, scope = body.get("ttlMs"), body.get("cacheScope")
    if "ttlMs" in hints and not _is_duration(life):
        yield "CACHE-02", "must", f"ttlMs is {short(life)}, not an integer of 0 or more."
    if "cacheScope" in hints and scope not in ("public", "private"):
        yield "CACHE-03", "must", f"cacheScope is {short(scope)}, neither “public” nor “private”."
    elif method.endswith("/list") and type(scope) is str:
        if "cursor" not in answer.asked:
            watched.scopes[method] = scope
        elif (first := watched.scopes.get(method, scope)) != scope:
            yield "CACHE-04", "must", f"cacheScope is {short(scope)} on this page and {short(first)} on the first."


def _is_duration(value: Any) -> bool:
    return (type(value) is int or (type(value) is float and value.is_integer())) and value >= 0


def discovery(answer: Answer, watched: Watched) -> Iterator[RuleVerdict]:
    """The answer to `server/discover` has what everything else stands on."""
    if answer.method != "server/discover":
        return
    body = answer.body
    names = body.get("supportedVersions")
    if type(names) is not list or not names or not all(type(name) is str and name for name in names):
        yield "LIFE-21", "must", f"supportedVersions is {short(names)}, not a list of revisions."
    else:
        asked = _dict(answer.asked.get("_meta")).get(PREFIX + "protocolVersion")
        if asked not in names:
            yield "LIFE-22", "must", f"It answered a request of {short(asked)}, which it does not list as supported."
    if type(body.get("capabilities")) is not dict:
        yield "LIFE-21", "must", f"capabilities is {short(body.get('capabilities'))}, not an object."
    for name, settings in list(_dict(_dict(body.get("capabilities")).get("extensions")).items())[:100]:
        prefix, slash, rest = name.partition("/")
        if not (prefix and slash and rest):
            yield "LIFE-28", "must", f"The extension {short(name)} has no prefix, such as com.example/."
        if type(settings) is not dict:
            yield "LIFE-28", "must", f"The settings of the extension {short(name)} are {short(settings)}, no object."


def input_wanted(answer: Answer, watched: Watched) -> Iterator[RuleVerdict]:
    """Input is wanted where that is allowed, says what is wanted, and of a client that has said it can give it."""
    body = answer.body
    if body.get("resultType") != "input_required":
        return
    if answer.method and answer.method not in _ASKING:
        yield "MRTR-01", "must", f"{answer.method} may not be answered by input_required."
    if "inputRequests" not in body and "requestState" not in body:
        yield "MRTR-02", "must", "It wants input and has neither inputRequests nor requestState."
    yield from input_requests(body.get("inputRequests"), answer.asked)


def input_requests(requests: Any, asked: dict[str, Any]) -> Iterator[RuleVerdict]:
    """Each one is of a kind that exists, and that the request they are about declared; what others said is nothing."""
    if requests is not None and type(requests) is not dict:
        yield "MRTR-03", "must", f"inputRequests is {short(requests)}, not an object."
        return
    declared = _dict(_dict(asked.get("_meta")).get(PREFIX + "clientCapabilities"))
    for key, request in list((requests or {}).items())[:100]:
        method = _dict(request).get("method")
        capability = _INPUTS.get(method) if type(method) is str else None
        if capability is None:
            yield "MRTR-03", "must", f"The input request {short(key)} has the method {short(method)}."
            continue
        for missing in _undeclared(capability, _dict(_dict(request).get("params")), declared):
            yield "MRTR-04", "must", f"The input request {short(key)} needs {missing}, which was not declared."


def _undeclared(capability: str, params: dict[str, Any], declared: dict[str, Any]) -> Iterator[str]:
    own = declared.get(capability)
    if own is None:
        yield capability
    elif capability == "elicitation":
        mode = params.get("mode", "form")
        has = _dict(own)
        if mode in ("form", "url") and mode not in has and (has or mode == "url"):
            yield f"elicitation.{mode}"
    elif capability == "sampling" and ("tools" in params or "toolChoice" in params) and "tools" not in _dict(own):
        yield "sampling.tools"


def tasks(answer: Answer, watched: Watched) -> Iterator[RuleVerdict]:
    """A task is made for a call only, and for who has said that he knows what that is (C-TASK-02)."""
    kind = answer.body.get("resultType")
    if answer.method in _OF_TASKS:
        if kind not in (None, "complete"):
            yield "TASK-05", "must", f"The answer to {answer.method} has the resultType {short(kind)}, not “complete”."
        if answer.method == "tasks/get":
            yield from _task_state(answer, watched)
        return
    if kind != "task":
        return
    if answer.method and answer.method != "tools/call":
        yield "C-TASK-02", "must", f"{answer.method} was answered by a task; only tools/call may be."
    declared = _dict(_dict(answer.asked.get("_meta")).get(PREFIX + "clientCapabilities"))
    if TASKS_EXTENSION not in _dict(declared.get("extensions")):
        yield "TASK-04", "must", "A task was made for a client that does not declare the extension."
    if type(answer.body.get("taskId")) is not str:
        yield "C-TASK-02", "must", f"The taskId is {short(answer.body.get('taskId'))}, not a string."


def _task_state(answer: Answer, watched: Watched) -> Iterator[RuleVerdict]:
    """A task brings what belongs to its status, and asks each thing under a key of its own."""
    body = answer.body
    status, wanted = body.get("status"), _dict(body.get("inputRequests"))
    if status == "completed" and type(body.get("result")) is not dict:
        yield "TASK-05", "must", f"The task is completed, and its result is {short(body.get('result'))}."
    elif status == "failed" and type(body.get("error")) is not dict:
        what = "a result" if "result" in body else "no error"
        yield "TASK-07", "must", f"The task has failed with {what}; only a JSON-RPC error is a failure."
    elif status == "input_required":
        yield from input_requests(body.get("inputRequests"), answer.asked)
        id = answer.asked.get("taskId")
        known = watched.wanted_by(id) if type(id) is str and wanted else {}
        for key, request in list(wanted.items())[:100]:
            text = excerpt(request, 1000)
            if known.setdefault(key, text) != text:
                yield "TASK-07", "must", f"The task asks something else under the key {short(key)}, which it had used."


# Errors


def error_code(answer: Answer, watched: Watched) -> Iterator[RuleVerdict]:
    """Codes that the revision reserves are used as it says, and those that it took away are not."""
    code = answer.body.get("code")
    if type(code) is not int:
        return
    if code in _RETIRED:
        yield "BASE-21", "must", f"The code {code} does not exist any more in {watched.schema_revision}."
    elif -32099 <= code <= -32020 and code not in _OWN_MEANING:
        yield "BASE-20", "must", f"The code {code} is kept for the specification, which gives it no meaning."
    elif code == HEADER_MISMATCH and not answer.status:
        yield "BASE-20", "must", f"The code {code} says that HTTP header fields differ; here are none."
    elif -32768 <= code <= -32000 and code not in _JSONRPC and code not in _OWN_MEANING:
        yield "BASE-22", "should", f"The code {code} is within the range that JSON-RPC keeps for itself."


def internal_error(answer: Answer, watched: Watched) -> Iterator[RuleVerdict]:
    """What fails inside the server has a code of its own."""
    if answer.method.startswith("resources/") and answer.body.get("code") == -32000:
        yield "RES-18", "should", f"{answer.method} is answered with error -32000; a failure inside is -32603."


def error_data(answer: Answer, watched: Watched) -> Iterator[RuleVerdict]:
    """What the client needs in order to do better stands in the error's data (C-MOD-03)."""
    code, data = answer.body.get("code"), _dict(answer.body.get("data"))
    if code == UNSUPPORTED_VERSION:
        names = data.get("supported")
        if type(names) is not list or not names or not all(type(name) is str for name in names):
            yield "LIFE-23", "must", f"data.supported is {short(names)}, not a list of revisions."
        asked = _dict(answer.asked.get("_meta")).get(PREFIX + "protocolVersion")
        if asked is not None and data.get("requested") != asked:
            yield "LIFE-23", "must", f"data.requested is {short(data.get('requested'))}; asked for was {short(asked)}."
        elif type(names) is list and asked is not None and asked in names:
            yield "LIFE-23", "must", f"It refuses {short(asked)}, which it lists as supported."
    elif code == MISSING_CAPABILITY and type(data.get("requiredCapabilities")) is not dict:
        needed = short(data.get("requiredCapabilities"))
        yield "BASE-23", "must", f"data.requiredCapabilities is {needed}, not an object."


def error_status(answer: Answer, watched: Watched) -> Iterator[RuleVerdict]:
    """Over HTTP, four errors have a status of their own."""
    code = answer.body.get("code")
    wanted = _STATUS_OF.get(code) if type(code) is int else None
    if wanted is not None and answer.status and answer.status != wanted[0]:
        yield wanted[1], "must", f"The error {code} came with status {answer.status}; it must be {wanted[0]}."


RESULT_RULES: tuple[Rule, ...] = (result_type, server_info, caching, discovery, input_wanted, tasks)
ERROR_RULES: tuple[Rule, ...] = (error_code, internal_error, error_data, error_status)


def _dict(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}
