"""Subscriptions of the modern era: acknowledgement, notifications, and end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from inspector.check.check_table import CheckTable, Need
from inspector.check.outcome import Outcome, bad, doubtful, good, skipped
from inspector.check.visit.raw_connection import PREFIX, RawConnection
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.tool_calls import FEW, ToolCall, tool_calls
from inspector.check.visit.visit import Visit
from inspector.journal.journal import Frame
from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape, excerpt
from inspector.protocol.members import object_at, objects_at, value_at
from inspector.protocol.views import is_read_only

_LISTEN = "subscriptions/listen"
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_CANCELLED = "notifications/cancelled"
_LISTS = {
    "toolsListChanged": ("tools", "tools/list", "name"),
    "promptsListChanged": ("prompts", "prompts/list", "name"),
    "resourcesListChanged": ("resources", "resources/list", "uri"),
}
"""By name in a filter: the capability (also the key of the list), the method of the list, the identifying member."""
_URIS = "resourceSubscriptions"
_UPDATED = "notifications/resources/updated"
_NOTHING = "the server declares no change notifications"


CHECKS = CheckTable("subscriptions")


@CHECKS.active("SUB-01", apart=True)
async def acknowledged(visit: Visit) -> Outcome:
    """Two requests, one with a number as its id and one with a string."""
    if not _filter(visit):
        return skipped(_NOTHING)
    seen: list[int] = []
    async with visit.connection() as connection:
        for id in (7_000_001, "7000002"):
            async with listening(visit, connection, id, _filter(visit)) as (response, first):
                if first is None:
                    return bad(f"The subscription was not acknowledged: {response.brief}.", *response.events)
                if first.message["method"] != _ACKNOWLEDGED:
                    return bad(f"{excerpt(first.message['method'], 60)} came first.", response.n, first.n)
                named = _subscription(first)
                if type(named) is not type(id) or named != id:
                    return bad(
                        f"The acknowledgement of {excerpt(id, 20)} has the subscriptionId {excerpt(named, 60)}.",
                        response.n,
                        first.n,
                    )
                seen += (response.n, first.n)
    return good("", *seen)


@CHECKS.active("SUB-02", apart=True)
async def agreed(visit: Visit) -> Outcome:
    """All kinds together, then each kind alone."""
    kinds = _filter(visit, declared=False)
    if not _filter(visit):
        return skipped(_NOTHING)
    seen: list[int] = []
    async with visit.connection() as connection:
        for at, asks in enumerate([kinds, *({name: value} for name, value in kinds.items())]):
            async with listening(visit, connection, f"agreed-{at}", asks) as (response, first):
                if first is None or first.message["method"] != _ACKNOWLEDGED:
                    continue
                given = object_at(first.message["params"].get("notifications"))
                for name in kinds:
                    if given.get(name) and name not in asks:
                        return bad(f"{name} is acknowledged, but was not requested.", response.n, first.n)
                    if given.get(name) and not _declares(visit, name):
                        return doubtful(f"{name} is acknowledged, but not declared.", response.n, first.n)
                seen += (response.n, first.n)
    return good("", *seen) if seen else skipped("no subscription was acknowledged")


@CHECKS.active("SUB-03", mode="tool", apart=True, needs=Need.CALLS)
async def only_what_was_asked(visit: Visit) -> Outcome:
    """Tools that cause a change: one subscription that requests it, and one for something else."""
    changing = await _changing(visit)
    kinds = _filter(visit)
    if not changing or len(kinds) < 2:
        return skipped("no allowed tool causes a change notification")
    seen: list[int] = []
    async with visit.connection() as connection:
        for call, name in changing:
            other = next(kind for kind in kinds if kind != name)
            async with (
                listening(visit, connection, f"all-{call.token}", kinds),
                listening(visit, connection, f"one-{call.token}", {other: kinds[other]}),
            ):
                await connection.request("tools/call", call.params)
                control = await connection.until(_brings(f"all-{call.token}", name), visit.limits.request / 2)
                await connection.quiet(visit.limits.quiet)
                wrong = [frame for frame in connection.frames if _brings(f"one-{call.token}", name)(frame)]
                if wrong:
                    what = f"{wrong[0].message['method']} came on a subscription that requests only {other}."
                    return bad(what, wrong[0].n)
                if control is not None:
                    seen.append(control.n)
    return good("", *seen) if seen else skipped("no allowed tool causes a change twice")


@CHECKS.active("SUB-05", mode="tool", apart=True, needs=Need.CALLS)
async def change_notifications(visit: Visit) -> Outcome:
    """The lists before and after calls of tools that may change them."""
    tools = [tool for tool in visit.callable() if _may_change(tool)][: visit.limits.items]
    kinds = {name: True for name in _LISTS if _declares(visit, name)}
    if not tools or not kinds:
        return skipped("no allowed tool declares that it changes something")
    known = {call.tool.get("name"): call for call in tool_calls(visit)}
    async with visit.connection() as connection, listening(visit, connection, "changes", kinds) as (response, first):
        if first is None:
            return skipped(f"subscribing failed: {response.brief}")
        before = await _lists(connection, kinds)
        for tool in tools:
            if tool.get("name") in known:
                await connection.request("tools/call", known[tool.get("name")].params)
        after = await _lists(connection, kinds)
        changed = [name for name in kinds if before[name][0] != after[name][0]]
        seen: list[int] = []
        for name in changed:
            notification = await connection.until(_brings("changes", name), visit.limits.request / 2)
            if notification is None:
                events = (*before[name][1].events, *after[name][1].events)
                return bad(f"{_LISTS[name][0]} changed, but no notification came.", *events)
            seen.append(notification.n)
    return good("", *seen) if seen else skipped("no allowed tool changes a list")


@CHECKS.active("SUB-07", mode="intrusive", apart=True, once=True)
async def ended(visit: Visit) -> Outcome:
    """A process whose stdin closes during a subscription."""
    if not _filter(visit):
        return skipped(_NOTHING)
    async with visit.new_connection() as connection:
        response = _begin(connection, "ended", _filter(visit))
        if await connection.until(_brings("ended")) is None:
            return skipped("subscribing failed")
        await connection.close()
    last = [frame for frame in connection.frames if ends(frame, "ended")]
    if last:
        return good("", response.n, last[0].n)
    return bad("The process exited without ending the subscription.", response.n)


@CHECKS.active("SUB-08", apart=True)
async def several(visit: Visit) -> Outcome:
    """Two subscriptions at the same time; one of them is cancelled."""
    kinds = _filter(visit)
    if not kinds:
        return skipped(_NOTHING)
    async with visit.connection() as connection, listening(visit, connection, "stays", kinds) as (response, first):
        if first is None:
            return skipped(f"subscribing failed: {response.brief}")
        async with listening(visit, connection, "goes", kinds) as (other, second):
            if second is None:
                return bad(
                    f"A second subscription was not acknowledged: {other.brief}.", *response.events, *other.events
                )
        await connection.quiet(visit.limits.quiet)
        gone = [frame for frame in connection.frames if ends(frame, "stays")]
    if gone or connection.lost is not None:
        return bad(
            "Cancelling one subscription ended the other one.", response.n, other.n, *(frame.n for frame in gone[:1])
        )
    return good("", response.n, first.n, other.n, second.n)


# Requests


def _declares(visit: Visit, name: str) -> bool:
    return visit.can("resources", "subscribe") if name == _URIS else visit.can(_LISTS[name][0], "listChanged")


def _filter(visit: Visit, *, declared: bool = True) -> dict[str, Any]:
    """The change notifications that the server declares, or all kinds."""
    kinds: dict[str, Any] = {name: True for name in _LISTS if not declared or _declares(visit, name)}
    uris = [item["uri"] for item in visit.items("resources") if isinstance(item.get("uri"), str)]
    if uris and (not declared or _declares(visit, _URIS)):
        kinds[_URIS] = uris[: visit.limits.items]
    return kinds


def _begin(
    connection: RawConnection, id: int | str, kinds: dict[str, Any], meta: dict[str, Any] | None = None
) -> RequestOutcome:
    params = {"notifications": kinds, "_meta": meta or {}}
    return connection.begin(jsonrpc.request(id, _LISTEN, connection.with_metadata(params)))


@asynccontextmanager
async def listening(
    visit: Visit, connection: RawConnection, id: int | str, kinds: dict[str, Any], meta: dict[str, Any] | None = None
) -> AsyncIterator[tuple[RequestOutcome, Frame | None]]:
    """A subscription, and its first message (None: no message in time); cancelled at the end."""
    response = _begin(connection, id, kinds, meta)
    came = await connection.until(lambda frame: _brings(id)(frame) or ends(frame, id), visit.limits.request / 2)
    first = came if came is not None and came.shape is Shape.NOTIFICATION else None
    if first is None:
        await connection.answer(response, timeout=0.05)
    try:
        yield response, first
    finally:
        connection.notify(_CANCELLED, {"requestId": id})


# Notifications


def _subscription(frame: Frame) -> Any:
    return value_at(frame.message, "params", "_meta", f"{PREFIX}subscriptionId")


def _brings(id: int | str, name: str = "") -> Callable[[Frame], bool]:
    """Return a test for notifications on a subscription; of the kind `name` in a filter, if given."""
    method = f"notifications/{_LISTS[name][0]}/list_changed" if name in _LISTS else _UPDATED if name else ""

    def brings(frame: Frame) -> bool:
        if frame.shape is not Shape.NOTIFICATION or str(_subscription(frame)) != str(id):
            return False
        return not method or frame.message["method"] == method

    return brings


def ends(frame: Frame, id: int | str) -> bool:
    """Whether a frame ends a subscription: its result, or its cancellation."""
    if frame.shape in (Shape.RESULT, Shape.ERROR):
        return bool(frame.message.get("id") == id)
    params = frame.message.get("params") if frame.shape is Shape.NOTIFICATION else None
    return frame.shape is Shape.NOTIFICATION and (
        frame.message["method"] == _CANCELLED and type(params) is dict and params.get("requestId") == id
    )


async def _changing(visit: Visit) -> list[tuple[ToolCall, str]]:
    """Tools that caused a change notification, and its name in a filter."""
    changes = []
    for call in tool_calls(visit):
        for name, (capability, _, _) in _LISTS.items():
            if call.received(f"notifications/{capability}/list_changed") and _declares(visit, name):
                changes.append((call, name))
                break
    return changes[:FEW]


def _may_change(tool: dict[str, Any]) -> bool:
    return not is_read_only(tool) and value_at(tool, "annotations", "destructiveHint") is not True


async def _lists(connection: RawConnection, names: dict[str, Any]) -> dict[str, tuple[list[Any], RequestOutcome]]:
    """The first page of each list."""
    lists = {}
    for name in names:
        key, method, unique = _LISTS[name]
        response = await connection.request(method, {})
        lists[name] = [entry.get(unique) for entry in objects_at(response.body.get(key))], response
    return lists
