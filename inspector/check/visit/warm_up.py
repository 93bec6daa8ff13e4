"""Harmless requests of every visit, so that the judge has messages to check.

They change nothing; tools are called only with permission.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from inspector.check.judge.feature_rules import feature_rules
from inspector.check.visit.tool_calls import call_tools
from inspector.check.visit.visit import Visit
from inspector.errors import InspectorError

FEW = 5
"""The most resources that are read, and prompts that are got."""
NOWHERE = "inspector-check-no-such-thing"


async def warm_up(visit: Visit) -> None:
    """Request existing items, and unknown ones."""
    session = visit.session
    await visit.request("ping" if visit.features.ping else "server/discover", None if visit.features.ping else {})
    await visit.request("inspector/no-such-method", {})
    if visit.can("resources"):
        for resource in visit.items("resources")[:FEW]:
            if isinstance(resource.get("uri"), str):
                await visit.request("resources/read", {"uri": resource["uri"]})
        await visit.request("resources/read", {"uri": nowhere(visit)})
    for rules in feature_rules():
        await rules.warm_up(visit)
    if visit.can("prompts"):
        for prompt in [prompt for prompt in visit.items("prompts") if not _needs_arguments(prompt)][:FEW]:
            if isinstance(prompt.get("name"), str):
                await visit.request("prompts/get", {"name": prompt["name"]})
        await visit.request("prompts/get", {"name": NOWHERE})
    if visit.can("tools"):
        await visit.request("tools/call", {"name": NOWHERE, "arguments": {}})
    if session.phase == "ready" and visit.modern and _announces_changes(visit):
        with suppress(InspectorError):  # Another check reports that listening fails.
            await session.listen()
    if visit.allowed.calls:
        await call_tools(visit)


def nowhere(visit: Visit) -> str:
    """A URI with a scheme of the server that most likely does not exist."""
    uris = [item.get("uri") for item in visit.items("resources")]
    scheme = next((uri.partition(":")[0] for uri in uris if isinstance(uri, str) and ":" in uri), "inspector")
    return f"{scheme}://{NOWHERE}/{NOWHERE}"


def _needs_arguments(prompt: dict[str, Any]) -> bool:
    arguments = prompt.get("arguments")
    return type(arguments) is list and any(
        type(argument) is dict and argument.get("required") is True for argument in arguments
    )


def _announces_changes(visit: Visit) -> bool:
    """Whether the server sends change notifications."""
    return any(visit.can(name, "listChanged") for name in ("tools", "resources", "prompts"))
