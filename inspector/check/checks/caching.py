"""Caching hints: how long a result may be cached, and for which users."""

from __future__ import annotations

from typing import Any

from inspector.check.check_table import CheckTable
from inspector.check.outcome import Outcome, bad, good, skipped
from inspector.check.visit.http import RecordedResponse
from inspector.check.visit.raw_post import raw_post
from inspector.check.visit.visit import Visit
from inspector.errors import HttpError
from inspector.protocol.members import object_at

_LISTS = {"tools": "tools/list", "prompts": "prompts/list", "resources": "resources/list"}

CHECKS = CheckTable("caching", mode="auth")


@CHECKS.active("CACHE-05", apart=True)
async def public(visit: Visit) -> Outcome:
    """The public lists, with the login and without it."""
    known = any(name.lower() in ("authorization", "cookie") for name, _ in visit.web.target.headers)
    if not known and not await visit.token_fields():
        return skipped("it needs a login")
    seen: list[int] = []
    try:
        async with raw_post(visit) as post:
            for capability, method in _LISTS.items():
                if not visit.can(capability):
                    continue
                ours = await post.request(method)
                nobodys = await post.request(method, own=False)
                if _result(ours).get("cacheScope") != "public" or "result" not in nobodys.message:
                    continue
                if _content(ours) != _content(nobodys):
                    return bad(
                        f"{method} has cacheScope public, but differs without a login.", *ours.events, *nobodys.events
                    )
                seen += (*ours.events, *nobodys.events)
    except HttpError as error:
        return skipped(error.message)
    return good("", *seen) if seen else skipped("no public list is available without a login")


def _result(answer: RecordedResponse) -> dict[str, Any]:
    return object_at(answer.message.get("result"))


def _content(answer: RecordedResponse) -> dict[str, Any]:
    """A result without members that may change between responses."""
    return {key: value for key, value in _result(answer).items() if key not in ("_meta", "ttlMs")}
