"""Pagination, completion, log messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from inspector.check.check_table import CheckTable, Need
from inspector.check.checks.capabilities import undeclared
from inspector.check.outcome import Outcome, bad, expect, good, skipped
from inspector.check.visit.facts import collected
from inspector.check.visit.raw_connection import PREFIX
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.tool_calls import FEW, tool_calls
from inspector.check.visit.visit import Visit
from inspector.errors import UsageError
from inspector.protocol.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND, Shape, excerpt
from inspector.protocol.members import array_at, objects_at, value_at

_NOTHING = "inspector-check-no-such-thing"
_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_LISTS = {
    "tools": ("tools/list", "tools", "name"),
    "resources": ("resources/list", "resources", "uri"),
    "templates": ("resources/templates/list", "resourceTemplates", "uriTemplate"),
    "prompts": ("prompts/list", "prompts", "name"),
}
"""By list: the method, the key of its result, and the identifying member."""
_COMPLETE = "completion/complete"
_MAX_PAGES = 10
_MAX_VALUES = 100

CHECKS = CheckTable("server_utilities")


@CHECKS.active("UTIL-02", judged=True)
async def walked(visit: Visit) -> Outcome:
    """The first pages of every list; the second one twice."""
    seen: list[int] = []
    for method, key, name in _lists(visit):
        response = await visit.request(method, {})
        entries, cursors = _names(response, key, name), set[str]()
        while isinstance(response.body.get("nextCursor"), str) and len(cursors) < _MAX_PAGES:
            cursor = response.body["nextCursor"]
            if cursor in cursors:
                return bad(f"{method}: a cursor leads back to an earlier page.", *response.events)
            response = await visit.request(method, {"cursor": cursor})
            if not response.ok:
                return bad(f"{method}: its own cursor got {response.reply}.", *response.events)
            page = _names(response, key, name)
            if not cursors and _names(again := await visit.request(method, {"cursor": cursor}), key, name) != page:
                return bad(f"{method}: the same cursor returned two different pages.", *response.events, *again.events)
            cursors.add(cursor)
            twice = set(entries) & set(page)
            if twice:
                return bad(f"{method}: {excerpt(min(twice), 80)} is on two pages.", *response.events)
            entries += page
            seen += response.events
    return good("", *seen) if seen else skipped("every list has one page")


@CHECKS.active("UTIL-03")
async def invalid_cursor(visit: Visit) -> Outcome:
    """An invalid cursor, for every list."""
    seen: list[int] = []
    for method, _, _ in _lists(visit):
        response = await visit.request(method, {"cursor": _NOTHING})
        seen += response.events
        if response.code != INVALID_PARAMS:
            return bad(f"{method} with an invalid cursor got {response.reply}.", *response.events)
    return good("", *seen) if seen else skipped("the server has no lists")


@CHECKS.active("UTIL-04", apart=True)
async def completion_declared(visit: Visit) -> Outcome:
    """`completion/complete` for an existing item, else for an unknown one."""
    params = next(_completions(visit), None) or _completion("ref/prompt", "name", _NOTHING, "a")
    async with visit.connection() as connection:
        response = await connection.request(_COMPLETE, params)
    if visit.can("completions") and response.code == METHOD_NOT_FOUND:
        return bad("completions is declared, but completion/complete is unknown.", *response.events)
    if not visit.can("completions") and response.ok:
        return undeclared("completions", _COMPLETE, response)
    return good("", *response.events) if response.answered else skipped(response.brief)


@CHECKS.active("UTIL-05")
async def completion_results(visit: Visit) -> Outcome:
    """An empty value for each argument of the first prompts and templates."""
    seen: list[int] = []
    for _, response in await _completed(visit):
        if response.ok:
            wrong = _wrong_completion(response.body.get("completion"))
            if wrong:
                return bad(wrong, *response.events)
            seen += response.events
    return good("", *seen) if seen else skipped("no argument has completions")


@CHECKS.active("UTIL-06")
async def unknown_reference(visit: Visit) -> Outcome:
    """An unknown prompt."""
    declares = visit.can("completions")
    if not declares and not visit.features.completions_capability:
        return skipped("this revision has no completions capability")
    response = await visit.request(_COMPLETE, _completion("ref/prompt", "name", _NOTHING, "a"))
    expected = INVALID_PARAMS if declares else METHOD_NOT_FOUND
    return (
        good("", *response.events)
        if response.code == expected
        else bad(f"The request got {response.reply}.", *response.events)
    )


@CHECKS.active("UTIL-07")
async def completion_context(visit: Visit) -> Outcome:
    """The working completions, with a context."""
    seen: list[int] = []
    for params, before in await _completed(visit):
        if before.ok and len(seen) < 2 * visit.limits.items:
            response = await visit.request(_COMPLETE, {**params, "context": {"arguments": {_NOTHING: "a"}}})
            if not response.ok:
                return bad(f"With a context it got {response.reply}.", *before.events, *response.events)
            seen += response.events
    return good("", *seen) if seen else skipped("no argument has completions")


@CHECKS.active("UTIL-09", apart=True)
async def set_level(visit: Visit) -> Outcome:
    """All eight levels, and an unknown one."""
    if not visit.can("logging"):
        return skipped("the server does not declare logging")
    seen: list[int] = []
    async with visit.connection() as connection:
        for level in (*_LEVELS[::-1], "info"):
            response = await connection.request("logging/setLevel", {"level": level})
            seen += response.events
            if not response.ok:
                return bad(f"The level {level} got {response.reply}.", *response.events)
        response = await connection.request("logging/setLevel", {"level": _NOTHING})
    if response.code != INVALID_PARAMS:
        return bad(f"An unknown level got {response.reply}.", *response.events)
    return good("", *seen, *response.events)


@CHECKS.active("UTIL-10", mode="tool", apart=True, needs=Need.CALLS)
async def level_kept(visit: Visit) -> Outcome:
    """The tools that log below error, called again with the level error."""
    loud = [call for call in tool_calls(visit) if any(_is_below(item.params) for item in call.notifications)]
    if not visit.can("logging") or not loud:
        return skipped("no allowed tool sends log messages below the level error")
    seen: list[int] = []
    async with visit.connection() as connection:
        setting = await connection.request("logging/setLevel", {"level": "error"})
        if not setting.ok:
            return skipped(f"setting the level failed: {setting.brief}")
        for call in sorted(loud, key=lambda call: not call.response.answered)[:FEW]:
            connection.frames = []
            response = await connection.request("tools/call", call.params, timeout=visit.limits.request / 2)
            seen += response.events
            for frame in connection.frames:
                if frame.shape is Shape.NOTIFICATION and frame.message["method"] == "notifications/message":
                    params = frame.message.get("params")
                    if type(params) is dict and _is_below(params):
                        what = f"{call.name} sent a message with the level {excerpt(params.get('level'), 20)}"
                        return bad(f"{what}, but the client set the level error.", *setting.events, frame.n)
        await connection.request("logging/setLevel", {"level": "info"})
    return good("", *setting.events, *seen)


@CHECKS.active("UTIL-12")
async def unknown_level(visit: Visit) -> Outcome:
    """A list, with an unknown logLevel."""
    if not visit.can("logging"):
        return skipped("the server does not declare logging")
    method = next((method for method, _, _ in _lists(visit)), "server/discover")
    response = await visit.request(method, {"_meta": {f"{PREFIX}logLevel": _NOTHING}})
    return expect(response, response.code == INVALID_PARAMS, f"The request got {response.reply}.")


def _lists(visit: Visit) -> Iterator[tuple[str, str, str]]:
    """The entries that the server lists."""
    for name, row in _LISTS.items():
        if visit.can("resources" if name == "templates" else name):
            yield row


def _names(response: RequestOutcome, key: str, name: str) -> list[str]:
    names = [entry.get(name) for entry in objects_at(response.body.get(key))]
    return [value for value in names if isinstance(value, str)]


def _completion(kind: str, key: str, what: str, argument: str) -> dict[str, Any]:
    return {"ref": {"type": kind, key: what}, "argument": {"name": argument, "value": ""}}


def _completions(visit: Visit) -> Iterator[dict[str, Any]]:
    """Completion requests for the listed items."""
    from inspector.protocol.uri_templates import Template

    for prompt in visit.items("prompts"):
        for argument in array_at(prompt.get("arguments"))[: visit.limits.items]:
            name = value_at(argument, "name")
            if isinstance(name, str) and isinstance(prompt.get("name"), str):
                yield _completion("ref/prompt", "name", prompt["name"], name)
    for entry in visit.items("templates"):
        text = entry.get("uriTemplate")
        if not isinstance(text, str):
            continue
        try:
            variables = Template.parse(text).variables
        except UsageError:
            continue
        for variable in variables[: visit.limits.items]:
            yield _completion("ref/resource", "uri", text, variable.name)


@collected(list[tuple[dict[str, Any], RequestOutcome]])
async def _completed(visit: Visit, made: list[tuple[dict[str, Any], RequestOutcome]]) -> None:
    """The first of them, each sent once in a visit."""
    if visit.can("completions") or not visit.features.completions_capability:
        for params, _ in zip(_completions(visit), range(visit.limits.items), strict=False):
            made.append((params, await visit.request(_COMPLETE, params)))


def _wrong_completion(completion: Any) -> str:
    if type(completion) is not dict or type(completion.get("values")) is not list:
        return f"completion is {excerpt(completion, 80)}."
    values, total, more = completion["values"], completion.get("total"), completion.get("hasMore")
    if len(values) > _MAX_VALUES:
        return f"The result has {len(values):,} values; the maximum is 100."
    if not all(isinstance(value, str) for value in values):
        return "Not all of the values are strings."
    if total is not None and (isinstance(total, bool) or not isinstance(total, (int, float)) or total < len(values)):
        return f"total is {excerpt(total, 40)}, but the result has {len(values)} values."
    return "" if more is None or isinstance(more, bool) else f"hasMore is {excerpt(more, 40)}."


def _is_below(params: dict[str, Any]) -> bool:
    """Whether the level of a log message is below error."""
    return params.get("level") in _LEVELS[: _LEVELS.index("error")]
