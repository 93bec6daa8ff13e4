"""MCP Apps (`io.modelcontextprotocol/ui`): tools with a page, and the pages. No page is rendered or run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspector.check.check_table import CheckTable, Need, Stage
from inspector.check.outcome import Outcome, bad, doubtful, good, remark, skipped
from inspector.check.visit.tool_calls import tool_calls
from inspector.check.visit.visit import Visit
from inspector.features.apps.judge import page_uris, read_pages
from inspector.protocol.app_definitions import PLAIN, tool_app, unused_pages
from inspector.protocol.jsonrpc import excerpt
from inspector.protocol.members import objects_at

_NO_APPS = "no tool has a page"
_MAX_NAMED = 10

CHECKS = CheckTable(Path(__file__).with_suffix(".toml"))


@CHECKS.active("APP-04")
async def readable(visit: Visit) -> Outcome:
    """Each page that a tool names, once."""
    pages = await read_pages(visit)
    if not pages:
        return skipped(_NO_APPS)
    for page in pages:
        if not page.response.ok:
            return bad(f"{excerpt(page.uri, 80)} is answered with {page.response.reply}.", *page.response.events)
    return good(f"{len(pages)} read", *(n for page in pages for n in page.response.events))


@CHECKS.active("APP-10", apart=True, once=True, stage=Stage.SPOILING)
async def without_offer(visit: Visit) -> Outcome:
    """The list for a client that does not declare the extension; asked only if a tool has a page."""
    if not any(tool_app(tool) is not PLAIN for tool in visit.items("tools")):
        return skipped(_NO_APPS)
    async with visit.new_connection(capabilities={}) as connection:
        response = await connection.request("tools/list", {})
    if not response.ok:
        return skipped(f"tools/list is answered with {response.reply}")
    useless = [tool for tool in objects_at(response.body.get("tools")) if not tool_app(tool).is_for_model]
    if useless:
        text = f"A client without the extension gets {_named(useless)}, which no model may call."
        return doubtful(text, *response.events)
    return good("", *response.events)


@CHECKS.active("APP-11", mode="tool", needs=Need.CALLS)
async def text_too(visit: Visit) -> Outcome:
    """The allowed tools with a page that a model may call."""
    made = [call for call in tool_calls(visit) if tool_app(call.tool).uri and tool_app(call.tool).is_for_model]
    done = [call for call in made if call.came]
    if not done:
        return skipped("no call of a tool with a page succeeded" if made else "no allowed tool has a page")
    for call in done:
        if not _means_something(call.response.body.get("content")):
            return bad(f"The content of {call.name} is empty.", *call.response.events)
    return good("", *(n for call in done for n in call.response.events))


@CHECKS.active("APP-12")
async def one_meta(visit: Visit) -> Outcome:
    """The entries of the list and the contents."""
    pages = await read_pages(visit)
    for page in pages:
        for problem in page.page.problems if page.page is not None else ():
            if problem.rule == "APP-12":
                return bad(problem.text, *page.response.events)
    read = [page for page in pages if page.page is not None]
    return good("", *(n for page in read for n in page.response.events)) if read else skipped(_NO_APPS)


@CHECKS.active("APP-15")
async def for_pages_only(visit: Visit) -> Outcome:
    """The lists."""
    hidden = [tool for tool in visit.items("tools") if not tool_app(tool).is_for_model]
    unused = unused_pages(visit.items("tools"), visit.items("resources"))
    if not hidden and not unused:
        return good("") if page_uris(visit) else skipped(_NO_APPS)
    parts = [f"Only pages may call {_named(hidden)}."] if hidden else []
    if unused:
        pages = ", ".join(excerpt(uri, 80) for uri in unused[:_MAX_NAMED])
        parts.append(f"No tool names the page {pages}." if len(unused) == 1 else f"No tool names the pages {pages}.")
    return remark(" ".join(parts), *_listings(visit))


def _means_something(content: Any) -> bool:
    return any(block.get("type") != "text" or str(block.get("text", "")).strip() for block in objects_at(content))


def _named(tools: list[dict[str, Any]]) -> str:
    names = ", ".join(excerpt(tool.get("name"), 60) for tool in tools[:_MAX_NAMED])
    return f"{names} and {len(tools) - _MAX_NAMED} more" if len(tools) > _MAX_NAMED else names


def _listings(visit: Visit) -> list[int]:
    """The newest pages of the lists of tools and resources."""
    return [n for n in (visit.newest("tools/list"), visit.newest("resources/list")) if n]


@CHECKS.active("TOOL-26")
async def app_pages(visit: Visit) -> Outcome:
    """Each page that a tool names."""
    pages = await read_pages(visit)
    if not pages:
        return skipped("no tool has a page")
    for uri, response, page in pages:
        if page is None or "text/html" not in page.mime_type:
            return bad(f"The page {excerpt(uri, 80)} got {response.reply}.", *response.events)
    return good("", *(n for page in pages for n in page.response.events))
