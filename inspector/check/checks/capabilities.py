"""Whether a server declares a capability if and only if it implements it."""

from __future__ import annotations

from typing import Any

from inspector.check.outcome import Outcome, bad, doubtful, expect, good, skipped
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.visit import Visit
from inspector.client.state.catalog import ListName
from inspector.protocol.jsonrpc import METHOD_NOT_FOUND
from inspector.protocol.members import objects_at, value_at

_ITEMS = ("tools", "resources", "resourceTemplates", "prompts")


async def list_declared(visit: Visit, capability: ListName) -> Outcome:
    """Request the list of a capability, whether it is declared or not."""
    method = f"{capability}/list"
    async with visit.connection() as connection:
        response = await connection.request(method, {})
    if visit.can(capability) and response.code == METHOD_NOT_FOUND:
        return bad(f"{capability} is declared, but {method} got {response.reply}.", *response.events)
    if visit.can(capability) and not response.ok and not visit.items(capability):
        # The method is there, and fails for another reason. If the server has sent the list before, the reason is
        # mostly a limit on requests, or on failures, that the checks before this one have reached.
        return doubtful(f"{method} got {response.reply}.", *response.events)
    if not visit.can(capability) and response.ok:
        return undeclared(capability, method, response)
    return good("", *response.events)


async def same_list(visit: Visit, capability: ListName, key: str, *, any_order: bool = False) -> Outcome:
    """Compare the first page on another connection with the list that the visit has read, by one of their members."""
    if not visit.items(capability):
        return skipped(f"the server lists no {capability}")
    async with visit.connection() as connection:
        response = await connection.request(f"{capability}/list", {})
    there = [item.get(key) for item in objects_at(response.body.get(capability))]
    here = [item.get(key) for item in visit.items(capability)]
    if "nextCursor" in response.body:
        here = here[: len(there)]
    same = sorted(map(str, there)) == sorted(map(str, here)) if any_order else there == here
    return expect(response, response.ok and same, "Another connection got another list.")


def undeclared(capability: str, method: str, response: RequestOutcome) -> Outcome:
    """An implemented capability that is not declared. An empty list may come from the SDK and is not a fault."""
    if _is_empty(response.body):
        text = f"{capability} is not declared, but {method} returns an empty list."
        return doubtful(text, *response.events)
    return bad(f"{capability} is not declared, but {method} returns a list.", *response.events)


def _is_empty(result: dict[str, Any]) -> bool:
    return value_at(result, "completion", "values") == [] or any(result.get(name) == [] for name in _ITEMS)
