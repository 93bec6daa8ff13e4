"""Rules of MCP Apps for the judge, and the pages that checks read; `page.py` judges a page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector.check.judge.feature_rules import FeatureRules
from inspector.check.judge.rules import RuleVerdict, short
from inspector.check.judge.state import JudgeState
from inspector.check.visit.facts import collected
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.features.apps.page import AppPage, read_page
from inspector.journal.findings import Level
from inspector.protocol.app_definitions import SCHEME, AppProblem, AppSeverity, tool_app

if TYPE_CHECKING:
    from inspector.check.visit.visit import Visit

_LEVELS: dict[AppSeverity, Level] = {"bad": "must", "doubtful": "should", "remark": "note"}


class ReadPage(NamedTuple):
    """A page that a check has read."""

    uri: str
    response: RequestOutcome
    page: AppPage | None
    """None if the server returned an error."""


def tool_rules(tool: dict[str, Any]) -> Iterator[RuleVerdict]:
    """Rules for the page of a tool in a list."""
    return map(_verdict, tool_app(tool).problems)


def page_rules(method: str, result: dict[str, Any], state: JudgeState, params: dict[str, Any]) -> Iterator[RuleVerdict]:
    """Rules for a result of `resources/read` for a page."""
    uri = params.get("uri")
    if method == "resources/read" and isinstance(uri, str) and uri.startswith(SCHEME):
        yield from map(_verdict, read_page(uri, result).all_problems)


def method_rules(message: dict[str, Any]) -> Iterator[RuleVerdict]:
    """Rules for a method that belongs between a page and its host, and never to MCP."""
    method = message.get("method")
    if isinstance(method, str) and method.startswith("ui/"):
        yield "APP-14", "must", f"The server sent {short(method)}, which belongs between a page and its host."


def _verdict(problem: AppProblem) -> RuleVerdict:
    return problem.rule, _LEVELS[problem.severity], problem.text


def page_uris(visit: Visit) -> list[str]:
    """Return the pages that tools name, each once, as many as a check reads."""
    uris = dict.fromkeys(tool_app(tool).uri for tool in visit.items("tools"))
    return [uri for uri in uris if uri][: visit.limits.items]


@collected(list[ReadPage])
async def read_pages(visit: Visit, pages: list[ReadPage]) -> None:
    """Read the pages that tools name, once in a visit."""
    listed = {item.get("uri"): item for item in visit.items("resources")}
    for uri in page_uris(visit):
        response = await visit.request("resources/read", {"uri": uri})
        page = read_page(uri, response.result, listed.get(uri)) if response.ok else None
        pages.append(ReadPage(uri, response, page))


async def warm_up(visit: Visit) -> None:
    """Read the pages that tools name."""
    if page_uris(visit):
        await read_pages(visit)


RULES = FeatureRules(message=method_rules, tool=tool_rules, result=page_rules, warm_up=warm_up)
