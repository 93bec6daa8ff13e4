"""Whether a server declares a capability if and only if it implements it."""

from __future__ import annotations

from typing import Any

from inspector.check.outcome import Outcome, bad, doubtful, good
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.visit import Visit

_ITEMS = ("tools", "resources", "resourceTemplates", "prompts")


async def list_declared(visit: Visit, capability: str) -> Outcome:
    """Request the list of a capability, whether it is declared or not."""
    method = f"{capability}/list"
    async with visit.link() as link:
        asked = await link.ask(method, {})
    if visit.can(capability) and not asked.ok:
        return bad(f"{capability} is declared, but {method} got {asked.reply}.", *asked.events)
    if not visit.can(capability) and asked.ok:
        return undeclared(capability, method, asked)
    return good("", *asked.events)


def undeclared(capability: str, method: str, asked: RequestOutcome) -> Outcome:
    """An implemented capability that is not declared. An empty list may come from the SDK and is not a fault."""
    if _is_empty(asked.body):
        text = f"{capability} is not declared, but {method} returns an empty list."
        return doubtful(text, *asked.events)
    return bad(f"{capability} is not declared, but {method} returns a list.", *asked.events)


def _is_empty(result: dict[str, Any]) -> bool:
    completion = result.get("completion")
    values = completion.get("values") if type(completion) is dict else None
    return values == [] or any(result.get(name) == [] for name in _ITEMS)
