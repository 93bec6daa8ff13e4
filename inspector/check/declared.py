"""Whether a capability is declared exactly where it is there."""

from __future__ import annotations

from typing import Any

from inspector.check.asked import Asked
from inspector.check.outcome import Outcome, bad, doubtful, good
from inspector.check.visit import Visit

_ITEMS = ("tools", "resources", "resourceTemplates", "prompts")


async def list_declared(visit: Visit, capability: str) -> Outcome:
    """Ask for the list of a capability, whatever is declared."""
    method = f"{capability}/list"
    async with visit.link() as link:
        asked = await link.ask(method, {})
    if visit.can(capability) and not asked.ok:
        return bad(f"{capability} is declared, and {method} is answered with {asked.reply}.", *asked.events)
    if not visit.can(capability) and asked.ok:
        return undeclared(capability, method, asked)
    return good("", *asked.events)


def undeclared(capability: str, method: str, asked: Asked) -> Outcome:
    """A capability that is there and not declared. An empty answer may be an SDK's, which gives it for everybody."""
    if _is_empty(asked.body):
        text = f"{capability} is not declared, and {method} is answered, with nothing in it."
        return doubtful(text, *asked.events)
    return bad(f"{capability} is not declared, and {method} is answered.", *asked.events)


def _is_empty(result: dict[str, Any]) -> bool:
    completion = result.get("completion")
    values = completion.get("values") if type(completion) is dict else None
    return values == [] or any(result.get(name) == [] for name in _ITEMS)
