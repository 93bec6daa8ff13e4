"""Extensions: how a server declares them, and what it does for clients that do not have them."""

from __future__ import annotations

from typing import Any

from inspector.check.check_table import CheckTable, Need
from inspector.check.judge.rules import short
from inspector.check.outcome import Outcome, bad, expect, good, remark, skipped
from inspector.check.visit.tool_calls import FEW, everything, tool_calls
from inspector.check.visit.visit import Visit
from inspector.client.extensions import declared_settings
from inspector.protocol.extensions import EVENTS, SKILLS, TASKS
from inspector.protocol.jsonrpc import HEADER_MISMATCH, METHOD_NOT_FOUND, MISSING_CAPABILITY
from inspector.protocol.members import object_at, objects_at, value_at
from inspector.protocol.revisions import LEGACY

_MODERN_ONLY = frozenset((TASKS, SKILLS, EVENTS))
"""Extensions whose text begins with 2026-07-28."""
_LISTS = {SKILLS: "skills/list", EVENTS: "events/list"}

CHECKS = CheckTable("extensions")


@CHECKS.active("EXT-06", apart=True, once=True, surveys=True)
async def both_eras(visit: Visit) -> Outcome:
    """The map of the handshake against that of the discovery."""
    if not await visit.serves_handshakes():
        return skipped("the server does not support earlier revisions")
    response = await visit.offered(visit.spoken[0] if visit.spoken[0] in LEGACY else LEGACY[-1])
    if not response.ok:
        return skipped(f"initialize is answered with {response.reply}")
    legacy, modern = _declared(response.body), _declared(visit.session.server.raw)
    differ = [id for id in {**modern, **legacy} if id not in _MODERN_ONLY and modern.get(id) != legacy.get(id)]
    if differ:
        return remark(f"{short(differ[0])} is declared differently in the two eras.", *response.events)
    return good("", *response.events)


@CHECKS.active("EXT-07")
async def implemented(visit: Visit) -> Outcome:
    """The list of each declared extension that has one."""
    seen: list[int] = []
    for id, method in _LISTS.items():
        if declared_settings(visit.session.server, id) is None:
            continue
        response = await visit.request(method, {})
        if response.code == METHOD_NOT_FOUND:
            return bad(f"{method} of the extension {id} got {response.reply}.", *response.events)
        seen += response.events
    return good("", *seen) if seen else skipped("the server declares no extension with a list")


@CHECKS.active("EXT-08", mode="tool", apart=True, needs=Need.CALLS)
async def refused(visit: Visit) -> Outcome:
    """The allowed calls again, as a client without any extension."""
    seen: list[int] = []
    async with visit.new_connection(capabilities=everything(visit.features)) as connection:
        for call in [call for call in tool_calls(visit) if call.came or call.task][:FEW]:
            response = await connection.request("tools/call", call.params)
            if response.code == MISSING_CAPABILITY:
                needed = value_at(response.error, "data", "requiredCapabilities")
                if type(needed) is not dict or not needed:
                    return bad(f"{call.name}: error -32021 does not name the extension.", *response.events)
            elif response.answered and not response.ok:
                return bad(
                    f"{call.name} works for a client with extensions; without, it got {response.reply}.",
                    *response.events,
                )
            seen += response.events
    return good("", *seen) if seen else skipped("no allowed tool could be called")


@CHECKS.active("EXT-10")
async def nameless(visit: Visit) -> Outcome:
    """`skills/get`, which our client sends without Mcp-Name."""
    declared = declared_settings(visit.session.server, SKILLS) is not None
    listed = objects_at((await visit.request("skills/list", {})).body.get("skills")) if declared else []
    uri = next((skill["uri"] for skill in listed if isinstance(skill.get("uri"), str)), "")
    if not uri:
        return skipped("the server lists no skills")
    response = await visit.request("skills/get", {"uri": uri})
    return expect(response, response.code != HEADER_MISMATCH, f"skills/get without Mcp-Name got {response.reply}.")


def _declared(result: dict[str, Any]) -> dict[str, Any]:
    return object_at(result, "capabilities", "extensions")
