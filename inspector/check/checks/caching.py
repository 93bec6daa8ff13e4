"""Caching hints: how long a result may be cached, and for which users."""

from __future__ import annotations

from typing import Any

from inspector.check.check_table import CheckTable
from inspector.check.outcome import Outcome, bad, good, skipped
from inspector.check.visit.http import RecordedResponse
from inspector.check.visit.raw_post import raw_post
from inspector.check.visit.visit import Visit
from inspector.errors import HttpError

_PAGE = "server/utilities/caching"
_CACHED = (
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
)
_RESULTS = tuple(f"result:{method}" for method in _CACHED)
_LISTS = {"tools": "tools/list", "prompts": "prompts/list", "resources": "resources/list"}

CHECKS = CheckTable("caching", mode="auth")
CHECKS.passive(
    "CACHE-01 must r5",
    *_RESULTS,
    page=f"{_PAGE}#cacheable-results",
    says="Results of discovery, lists and reads have ttlMs and cacheScope.",
    fix='Add "ttlMs": 0 and "cacheScope": "private" if the result must not be cached.',
)
CHECKS.passive(
    "CACHE-02 must r5",
    *_RESULTS,
    page=f"{_PAGE}#time-to-live-ttl-field",
    says="ttlMs is an integer of 0 or more milliseconds.",
    fix="Round ttlMs to an integer, for example 60000; 0 means that the result is stale immediately.",
)
CHECKS.passive(
    "CACHE-03 must r5",
    *_RESULTS,
    page=f"{_PAGE}#cache-scope-field",
    says='cacheScope is "public" or "private".',
    fix='Set cacheScope to "private" if the result depends on the user.',
)
CHECKS.passive(
    "CACHE-04 must r5",
    *(f"result:{method}" for method in _CACHED if method.endswith("/list")),
    page=f"{_PAGE}#interaction-with-pagination",
    says="All pages of a list have the same cacheScope.",
    fix="Choose one cacheScope for the whole list.",
)


@CHECKS.active(
    "CACHE-05 security r5",
    page=f"{_PAGE}#security-considerations",
    transports=frozenset(("http",)),
    apart=True,
    says='A result with cacheScope "public" is the same for every user.',
    fix='Set cacheScope to "private" if the result depends on the user; caches may serve public results to others.',
    breaks="A shared cache gives the data of one user to another.",
)
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


CHECKS.passive(
    "CACHE-06 must r5",
    "input",
    page=f"{_PAGE}#cacheable-results",
    says="An input_required result has no cache hints.",
    fix="Remove ttlMs and cacheScope from input_required results.",
)


def _result(answer: RecordedResponse) -> dict[str, Any]:
    result = answer.message.get("result")
    return result if type(result) is dict else {}


def _content(answer: RecordedResponse) -> dict[str, Any]:
    """A result without members that may change between responses."""
    return {key: value for key, value in _result(answer).items() if key not in ("_meta", "ttlMs")}
