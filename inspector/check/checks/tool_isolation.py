"""Read-only tools: whether a response shows data of an earlier session."""

from __future__ import annotations

import json
import re
import secrets
from itertools import pairwise
from typing import Any, NamedTuple

from inspector.check.check_table import CheckTable
from inspector.check.outcome import Outcome, bad, good, remark, skipped
from inspector.check.visit.raw_connection import RawConnection
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.tool_calls import arguments_for
from inspector.check.visit.visit import Visit
from inspector.protocol.jsonrpc import excerpt
from inspector.protocol.members import object_at
from inspector.protocol.views import is_read_only
from inspector.text import quantity

_MAX_TOOLS = 10
_MAX_CHARACTERS = 100_000
_CALLS, _MOST_CALLS = 3, 15
"""Calls of each tool in the first session, and of one that seems to count: random numbers can do so for a while."""
_NUMBERS = re.compile(r"(?<![\w.])(\d{1,15})(?![\w.])")
_RESTRICTIONS = ("enum", "const", "format", "pattern", "maxLength")
"""Keywords of a string schema that a marker may violate."""


class _Answer(NamedTuple):
    response: RequestOutcome
    text: str


CHECKS = CheckTable("tool_isolation", mode="tool")


@CHECKS.active("TOOL-29", apart=True, once=True)
async def keeps_nothing(visit: Visit) -> Outcome:
    """The same calls in two sessions: data of the first must not appear in the second.

    Only tools with readOnlyHint are called. A response that merely differs proves nothing. A number that continues
    where the first session ended is a remark, because a tool may be meant to count.
    """
    marker = f"inspector-{secrets.token_hex(8)}"
    tools = [tool for tool in visit.callable() if is_read_only(tool)][:_MAX_TOOLS]
    if not tools:
        return skipped("no allowed tool has readOnlyHint")
    first: dict[str, list[_Answer]] = {}
    async with visit.new_connection(handshake=False) as connection:
        await _introduce(connection, f"{marker}-client")
        for tool in tools:
            arguments = arguments_for(tool)
            answers = [await _call(connection, tool, arguments) for _ in range(_CALLS)]
            while len(answers) < _MOST_CALLS and _seems_to_count(_steps(answers)):
                answers.append(await _call(connection, tool, arguments))
            first[_name(tool)] = answers
            # Last, because some tools keep only the newest value.
            await _call(connection, tool, _marked(tool, arguments, marker))
    seen: list[int] = []
    counts: Outcome | None = None
    async with visit.new_connection(handshake=False) as connection:
        await _introduce(connection, "inspector-check")
        for tool in tools:
            answer, before = await _call(connection, tool, arguments_for(tool)), first[_name(tool)]
            events = (*before[-1].response.events, *answer.response.events)
            if marker in answer.text:
                what = "the client name" if f"{marker}-client" in answer.text else "an argument"
                return bad(f"{_short_name(tool)} returned {what} of an earlier session.", *events)
            steps, after = _steps(before), _step(before[-1].text, answer.text)
            if _seems_to_count(steps):
                if min(step or 0 for step in steps) < 0:
                    return bad(f"{_short_name(tool)} lost its count within a session.", *events)
                if (after or 0) > 1:
                    counts = remark(f"{_short_name(tool)} continues to count where an earlier session ended.", *events)
            seen += answer.response.events
    return counts or good(f"{quantity(len(tools), 'tool')} in two sessions", *seen)


async def _introduce(connection: RawConnection, name: str) -> None:
    """Initialize with a marker as the client name, in the legacy era."""
    if connection.modern:
        return
    response = await connection.initialize(clientInfo={"name": name, "version": "1"})
    if response.ok:
        connection.notify("notifications/initialized")
        await connection.transport.settled()


async def _call(connection: RawConnection, tool: dict[str, Any], arguments: dict[str, Any]) -> _Answer:
    response = await connection.request("tools/call", {"name": tool.get("name"), "arguments": arguments})
    content = {key: response.body.get(key) for key in ("content", "structuredContent")} if response.ok else {}
    return _Answer(response, json.dumps(content, ensure_ascii=False, default=str)[:_MAX_CHARACTERS])


def _marked(tool: dict[str, Any], arguments: dict[str, Any], marker: str) -> dict[str, Any]:
    """The arguments with the marker in every string that accepts any text."""
    marked = dict(arguments)
    for name, schema in object_at(tool, "inputSchema", "properties").items():
        if type(schema) is dict and schema.get("type") == "string" and not any(key in schema for key in _RESTRICTIONS):
            marked[name] = marker
    return marked


def _steps(answers: list[_Answer]) -> list[int | None]:
    return [_step(one.text, other.text) for one, other in pairwise(answers)]


def _seems_to_count(steps: list[int | None]) -> bool:
    """Whether each step is one more, or a return to the same number."""
    at, returns = 0, set[int]()
    for step in steps:
        if step is None or step == 0 or step > 1:
            return False
        at += step
        if step < 0:
            returns.add(at)
    return 1 in steps and len(returns) < 2


def _step(one: str, other: str) -> int | None:
    """The growth of the only number in which two texts differ; None if they differ otherwise, or not at all."""
    if _NUMBERS.sub("#", one) != _NUMBERS.sub("#", other):
        return None
    pairs = zip(_NUMBERS.findall(one), _NUMBERS.findall(other), strict=True)
    steps = {int(after) - int(before) for before, after in pairs if before != after}
    return steps.pop() if len(steps) == 1 else None


def _name(tool: dict[str, Any]) -> str:
    return str(tool.get("name"))


def _short_name(tool: dict[str, Any]) -> str:
    return excerpt(tool.get("name"), 60)
