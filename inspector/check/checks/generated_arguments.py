"""Tool calls with generated arguments. They run only if the user allows calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from inspector import command_words
from inspector.check.check_table import CheckTable
from inspector.check.outcome import Outcome, bad, good, remark, skipped
from inspector.check.visit.argument_cases import ArgumentCase, CaseKind, cases, smaller
from inspector.check.visit.machine_load import takes_longer
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.visit import Visit
from inspector.protocol.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, excerpt
from inspector.text import quantity

_FEW = 12
"""Cases of each kind for each tool."""
_SHRINK = 8
"""Smaller calls that are tried after a failure."""
_SLOW_SECONDS = 2.0
_LARGE_BYTES = 100_000


CHECKS = CheckTable("generated_arguments", mode="tool")


@CHECKS.active("CASE-01", once=True)
async def allowed(visit: Visit) -> Outcome:
    """Valid cases: the tool may fail, but must not reject the arguments."""
    return await _tried(visit, "allowed", lambda response: response.code == INVALID_PARAMS)


@CHECKS.active("CASE-02", once=True)
async def forbidden(visit: Visit) -> Outcome:
    """Invalid cases: none of them may succeed."""
    return await _tried(visit, "forbidden", lambda response: response.ok and response.body.get("isError") is not True)


@CHECKS.active("CASE-03", once=True)
async def odd(visit: Visit) -> Outcome:
    """Valid but unusual cases: each needs a response without an internal error."""
    return await _tried(visit, "odd", lambda response: response.code == INTERNAL_ERROR)


@CHECKS.active("CASE-04", once=True)
async def costs(visit: Visit) -> Outcome:
    """Seconds and characters of one plain call of each allowed tool."""
    rows: list[tuple[float, int, Any, RequestOutcome]] = []
    for tool in visit.callable()[: visit.limits.items]:
        made = [case for case in cases(tool.get("inputSchema")) if case.kind == "allowed"][:1]
        for case in made:
            response = await _call(visit, tool, case)
            if response.answered:
                rows.append((response.seconds, len(excerpt(response.result, 1 << 24)), tool.get("name"), response))
    if not rows:
        return skipped("no tool call is allowed")
    slowest, largest = max(rows, key=lambda row: row[0]), max(rows, key=lambda row: row[1])
    text = (
        f"{quantity(len(rows), 'tool')}; the slowest is {excerpt(slowest[2], 40)} with {slowest[0] * 1000:.0f} "
        f"ms, the largest result is from {excerpt(largest[2], 40)} with {largest[1]:,} characters"
    )
    if takes_longer(slowest[0], _SLOW_SECONDS) or largest[1] > _LARGE_BYTES:
        return remark(text, *slowest[3].events, *largest[3].events)
    return good(text, *slowest[3].events)


async def _tried(visit: Visit, kind: CaseKind, fails: Callable[[RequestOutcome], bool]) -> Outcome:
    """Call every allowed tool with the cases of one kind, and reduce the first failure to a minimal one."""
    tried = 0
    seen: tuple[int, ...] = ()
    for tool in visit.callable()[: visit.limits.items]:
        schema = tool.get("inputSchema")
        for case in [case for case in cases(schema) if case.kind == kind][:_FEW]:
            response = await _call(visit, tool, case)
            tried, seen = tried + 1, response.events
            if fails(response):
                case, response = await _shrunk(visit, tool, case, response, fails)
                return bad(f"{case.about}: {_as_typed(tool, case)} got {response.reply}.", *response.events)
            if visit.session.phase != "ready":
                return bad(f"{case.about}: the server exited with {_as_typed(tool, case)}", *response.events)
            if not response.answered:
                break  # A slow tool; the others can still be tried.
    return good(f"{tried} calls", *seen) if tried else skipped("no allowed tool has such cases")


async def _shrunk(
    visit: Visit,
    tool: dict[str, Any],
    case: ArgumentCase,
    response: RequestOutcome,
    fails: Callable[[RequestOutcome], bool],
) -> tuple[ArgumentCase, RequestOutcome]:
    tries = 0
    while visit.session.phase == "ready":
        for less in smaller(case, tool.get("inputSchema")):
            tries += 1
            if tries > _SHRINK:
                return case, response
            again = await _call(visit, tool, less)
            if fails(again):
                case, response = less, again
                break
        else:
            break
    return case, response


async def _call(visit: Visit, tool: dict[str, Any], case: ArgumentCase) -> RequestOutcome:
    params = {"name": tool.get("name"), "arguments": case.arguments}
    # Unusual values come back in results, and a bound may be a number of seconds: neither is a fault of the server.
    return await visit.request("tools/call", params, probe=case.kind != "allowed", patient=case.kind == "allowed")


def _as_typed(tool: dict[str, Any], case: ArgumentCase) -> str:
    """The call as a command line, to try it manually."""
    arguments = json.dumps(case.arguments, ensure_ascii=False)
    return command_words.join(["inspector", "call", str(tool.get("name")), "--args", arguments[:300]])
