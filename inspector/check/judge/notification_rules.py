"""Rules about notifications that differ between the eras: log messages, subscriptions, and streams.

Each takes a `Notice` and yields `(rule, level, sentence)`; none ever raises. Source: specification 2026-07-28,
"Subscriptions", "Logging", "Cancellation", "Streamable HTTP"; of the older revisions, "Logging".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from inspector.check.judge.rules import RuleVerdict, short
from inspector.check.judge.state import PREFIX, JudgeState, Listen, log_level
from inspector.protocol.jsonrpc import id_key
from inspector.protocol.members import array_at, object_at, value_at


class Notice(NamedTuple):
    """A notification of the server and where it arrived."""

    n: int
    method: str
    params: dict[str, Any]
    stream: int
    """The request on whose stream it came (HTTP); 0 otherwise."""
    request: int
    """The request that it belongs to according to the index; 0 for none."""
    about: Callable[[int], tuple[str, dict[str, Any]]]
    """Method and params of a request."""


NoticeRule = Callable[[Notice, JudgeState], Iterator[RuleVerdict]]

_CHANGED = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
}
_OF_LISTS = {"resources/updated": "resourceSubscriptions", "tasks": "taskIds"}
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_LISTEN = "subscriptions/listen"
_SUBSCRIPTION = PREFIX + "subscriptionId"
_BY_SUBSCRIPTION = frozenset((*_CHANGED, *(f"notifications/{name}" for name in _OF_LISTS), _ACKNOWLEDGED))
"""Notifications that only a subscription brings."""


def declared_logging(notice: Notice, state: JudgeState) -> Iterator[RuleVerdict]:
    """The legacy era: a server that sends log messages declares logging."""
    if notice.method == "notifications/message" and state.revision and not state.server_has("logging"):
        logger = notice.params.get("logger")
        of = f" of the logger {short(logger)}" if type(logger) is str else ""
        yield "UTIL-08", "must", f"A log message{of} came, but logging is not declared."


def requested_logging(notice: Notice, state: JudgeState) -> Iterator[RuleVerdict]:
    """The modern era: log messages belong to a request that wants them (C-LOG-02).

    If the request is unknown, one request with a logLevel is enough.
    """
    if notice.method != "notifications/message":
        return
    if notice.stream:
        method, params = notice.about(notice.stream)
        is_requested = method == _LISTEN or log_level(params) is not None  # The listening stream has its own rule.
    else:
        is_requested = state.wants_logs
    if not is_requested:
        yield "UTIL-11", "must", "A log message came, but the request has no logLevel in _meta."


def own_stream(notice: Notice, state: JudgeState) -> Iterator[RuleVerdict]:
    """Messages about a request come on its stream, and never on a subscription."""
    if notice.method not in ("notifications/progress", "notifications/message"):
        return
    request = notice.about(notice.stream)[0]
    foreign = notice.stream and notice.request not in (0, notice.stream)
    if request == _LISTEN or _SUBSCRIPTION in object_at(notice.params.get("_meta")):
        yield "SUB-06", "must", f"{notice.method} came on a subscription."
    elif foreign and notice.method == "notifications/progress" and not request.startswith("tasks/"):
        # Any request to watch a task may bring its notifications.
        yield "HTTP-17", "should", "Progress of one request came on the stream of another."


def tagged(notice: Notice, state: JudgeState) -> Iterator[RuleVerdict]:
    """Notifications of a subscription have its id, unchanged, on its own stream, after the acknowledgement."""
    if notice.method not in _BY_SUBSCRIPTION:
        return
    first = notice.method == _ACKNOWLEDGED
    rule = "SUB-01" if first else "SUB-04"
    meta = object_at(notice.params.get("_meta"))
    if _SUBSCRIPTION not in meta:
        yield rule, "must", f"{notice.method} has no subscriptionId in _meta."
        return
    id = meta[_SUBSCRIPTION]
    listen = _listen(notice, state)
    if listen is None:
        other = state.listens.get(_other_type(id))
        if other is not None:
            yield rule, "must", f"The subscriptionId {short(id)} has another type than the id of request {other.n}."
        else:
            yield rule, "must", f"No subscriptions/listen request has the id {short(id)}."
    elif notice.stream and notice.stream != listen.n:
        yield rule, "must", f"A notification of subscription {short(id)} came on the stream of another request."
    elif not first and listen.agreed is None:
        yield "SUB-01", "must", f"A notification of subscription {short(id)} came before the acknowledgement."


def asked_for(notice: Notice, state: JudgeState) -> Iterator[RuleVerdict]:
    """A subscription and its acknowledgement contain only what the client requested."""
    listen = _listen(notice, state)
    if listen is None:
        return
    requested, method = listen.requested, notice.method
    if method == _ACKNOWLEDGED:
        agreed = object_at(notice.params.get("notifications"))
        listen.agreed = agreed
        for name in _beyond(agreed, requested):
            yield "SUB-02", "must", f"The acknowledgement has {name}, which was not requested."
    elif method in _CHANGED:
        if requested.get(_CHANGED[method]) is not True:
            yield "SUB-03", "must", f"{method} came, but {_CHANGED[method]} was not requested."
    elif method == "notifications/resources/updated":
        uris, uri = _texts(requested.get("resourceSubscriptions")), notice.params.get("uri")
        if not uris:
            yield "SUB-03", "must", f"{method} came, but no resource was requested."
        elif type(uri) is str and not any(uri.startswith(known) for known in uris):
            # It may be part of a requested resource; only the server knows.
            yield "SUB-03", "should", f"{method} is about {short(uri)}, which was not requested."
    elif method == "notifications/tasks":
        id = notice.params.get("taskId")
        if type(id) is str and id not in _texts(requested.get("taskIds")):
            yield "SUB-03", "must", f"{method} is about {short(id)}, which was not requested."


def cancelled(notice: Notice, state: JudgeState) -> Iterator[RuleVerdict]:
    """The server may cancel only subscriptions."""
    if notice.method == "notifications/cancelled":
        id = notice.params.get("requestId")
        if id_key(id) not in state.listens:
            yield "UTIL-21", "must", f"The server cancelled request {short(id)}, which is not a subscription."


RULES_BEFORE: tuple[NoticeRule, ...] = (declared_logging,)
"""The legacy era."""
RULES: tuple[NoticeRule, ...] = (requested_logging, own_stream, tagged, asked_for, cancelled)
"""The modern era. `asked_for` learns from the acknowledgement, so `tagged` runs before it."""


def _listen(notice: Notice, state: JudgeState) -> Listen | None:
    if notice.method not in _BY_SUBSCRIPTION:
        return None
    return state.listens.get(id_key(value_at(notice.params, "_meta", _SUBSCRIPTION)))


def _other_type(id: Any) -> int | str | None:
    """An id that looks the same but has the other type."""
    if type(id) is int:
        return str(id) if abs(id) < 1 << 62 else None
    return int(id) if type(id) is str and id.isascii() and id.isdigit() and len(id) < 16 else None


def _beyond(agreed: dict[str, Any], requested: dict[str, Any]) -> Iterator[str]:
    """Entries of an acknowledgement that the request does not have."""
    for name in _CHANGED.values():
        if agreed.get(name) is True and requested.get(name) is not True:
            yield name
    for name in _OF_LISTS.values():
        more = set(_texts(agreed.get(name))) - set(_texts(requested.get(name)))
        if more:
            yield f"{short(min(more))} in {name}"


def _texts(value: Any) -> list[str]:
    return [text for text in array_at(value) if type(text) is str]
