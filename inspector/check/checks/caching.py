"""Caching hints: for how long an answer holds, and for whom."""

from __future__ import annotations

from typing import Any

from inspector.check.catalog import CheckTable
from inspector.check.outcome import Outcome, bad, good, skipped
from inspector.check.raw_post import raw_post
from inspector.check.visit import Visit
from inspector.check.web import Response
from inspector.errors import HttpError

_PAGE = "server/utilities/caching"
_CACHED = (
    "server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read",
)  # fmt: skip
_RESULTS = tuple(f"result:{method}" for method in _CACHED)
_LISTS = {"tools": "tools/list", "prompts": "prompts/list", "resources": "resources/list"}

CHECKS = CheckTable("caching", mode="auth")
CHECKS.passive(
    "CACHE-01 must r5",
    *_RESULTS,
    page=f"{_PAGE}#cacheable-results",
    says="Discovery, lists and what is read say for how long they hold, and for whom.",
    fix="Give these results ttlMs and cacheScope; 0 and private say that nothing is to be kept.",
)
CHECKS.passive(
    "CACHE-02 must r5",
    *_RESULTS,
    page=f"{_PAGE}#time-to-live-ttl-field",
    says="ttlMs is a whole number of milliseconds, 0 or more.",
    fix="Round it, and write 0 where the answer is old at once.",
)
CHECKS.passive(
    "CACHE-03 must r5",
    *_RESULTS,
    page=f"{_PAGE}#cache-scope-field",
    says="cacheScope is public or private.",
    fix="Write private wherever the answer depends on who asks.",
)
CHECKS.passive(
    "CACHE-04 must r5",
    *(f"result:{method}" for method in _CACHED if method.endswith("/list")),
    page=f"{_PAGE}#interaction-with-pagination",
    says="All pages of a list are for the same readers.",
    fix="Choose the cacheScope for the list, and not for each page.",
)


@CHECKS.active(
    "CACHE-05 security r5",
    page=f"{_PAGE}#security-considerations",
    transports=frozenset(("http",)),
    apart=True,
    says="What is public is the same for everybody.",
    fix="Say cacheScope private where the answer depends on who asks: a public one may be handed to others.",
)
async def public(visit: Visit) -> Outcome:
    """The public lists, once as ourselves and once as nobody."""
    known = any(name.lower() in ("authorization", "cookie") for name, _ in visit.web.target.headers)
    if not known and not await visit.token_fields():
        return skipped("nobody has logged in")
    seen: list[int] = []
    try:
        async with raw_post(visit) as post:
            for capability, method in _LISTS.items():
                if not visit.can(capability):
                    continue
                ours = await post.ask(method)
                nobodys = await post.ask(method, own=False)
                if _result(ours).get("cacheScope") != "public" or "result" not in nobodys.message:
                    continue
                if _content(ours) != _content(nobodys):
                    return bad(f"{method} is public, and another one for nobody.", *ours.events, *nobodys.events)
                seen += (*ours.events, *nobodys.events)
    except HttpError as error:
        return skipped(error.message)
    return good("", *seen) if seen else skipped("nothing public is answered to nobody")


CHECKS.passive(
    "CACHE-06 must r5",
    "input",
    page=f"{_PAGE}#cacheable-results",
    says="A result that wants input is not to be kept.",
    fix="Leave ttlMs and cacheScope out of input_required results.",
)


def _result(answer: Response) -> dict[str, Any]:
    result = answer.message.get("result")
    return result if type(result) is dict else {}


def _content(answer: Response) -> dict[str, Any]:
    """A result without what may differ from one answer to the next."""
    return {key: value for key, value in _result(answer).items() if key not in ("_meta", "ttlMs")}
