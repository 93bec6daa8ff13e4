"""Tools: the members of their list entries."""

from __future__ import annotations

from typing import Any

from inspector.check.check_table import CheckTable
from inspector.check.checks.capabilities import list_declared
from inspector.check.judge.app_rules import read_pages
from inspector.check.outcome import Outcome, bad, doubtful, good, remark, skipped
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.visit import Visit
from inspector.protocol.jsonrpc import INVALID_PARAMS, excerpt

_PAGE = "server/tools"
_UNKNOWN_NAME = "inspector-check-no-such-tool"
_MANY = 64
"""The number of tools above which a list takes too much of a model's context."""
_LARGE = 100_000

CHECKS = CheckTable("tools", page=_PAGE)
CHECKS.passive(
    "TOOL-30 must r1+",
    "result:tools/call",
    "error:tools/call",
    page=f"{_PAGE}#calling-tools",
    says="The server survives every tool call: the connection stays open and other requests get responses.",
    fix="Catch exceptions of tools and return isError: true, and set a timeout for slow work.",
    breaks="The call never returns, and a client has to start the server again, or ends without its tools.",
)
CHECKS.passive(
    "TOOL-02 type r1+",
    "tool",
    says='Every tool has a name and an inputSchema with type "object".',
    fix='Set name, and inputSchema to at least {"type": "object"}.',
    breaks="The TypeScript and Python SDKs refuse the whole list: one bad tool hides every tool.",
)
CHECKS.passive(
    "TOOL-03 must r4+",
    "tool",
    says="A tool without parameters has an inputSchema too.",
    fix='Set inputSchema to {"type": "object", "additionalProperties": false} instead of null.',
    breaks="The TypeScript and Python SDKs refuse the whole list: one bad tool hides every tool.",
)
CHECKS.passive(
    "TOOL-04 should r4+",
    "tool",
    page=f"{_PAGE}#tool-names",
    says="A tool name has 1 to 128 letters, digits, underscores, hyphens and dots.",
    fix="Rename the tool, for example to get_order; many clients reject other characters.",
)
CHECKS.passive(
    "TOOL-05 should r1+",
    "tool",
    page=f"{_PAGE}#tool-names",
    says="Tool names are unique, even if case is ignored.",
    fix="Rename one of the two tools.",
    breaks=(
        "The Claude API rejects every request with two tools of one name (status 400, “Tool names must be unique”)."
    ),
)
CHECKS.passive(
    "TOOL-06 quality r1+",
    "tool",
    says="Every tool has a description.",
    fix="Set description; models choose tools by it.",
)
CHECKS.passive(
    "TOOL-07 type r2+",
    "annotations",
    page=f"{_PAGE}#annotations",
    says="Annotations are booleans and do not contradict each other.",
    fix="Remove destructiveHint if readOnlyHint is true, because a read-only tool is not destructive.",
)
CHECKS.passive(
    "TOOL-08 type r3+",
    "schema",
    page=f"{_PAGE}#output-schema",
    says='An outputSchema has type "object".',
    fix='Wrap the value: {"type": "object", "properties": {"result": {…}}}.',
    breaks="The TypeScript SDK refuses the whole list: one bad outputSchema hides every tool.",
)
CHECKS.passive(
    "TOOL-16 must r1+",
    "told:notifications/tools/list_changed",
    says="A server that sends notifications/tools/list_changed declares tools.listChanged.",
    fix='Add "tools": {"listChanged": true} to capabilities.',
)
CHECKS.passive(
    "TOOL-19 must r5",
    "tool",
    page=f"{_PAGE}#x-mcp-header",
    transports=frozenset(("http",)),
    says="Parameters with x-mcp-header follow the rules for header parameters.",
    fix="Use x-mcp-header only on string, integer and boolean properties outside arrays, with a valid header name.",
)
CHECKS.passive(
    "TOOL-20 should r5",
    "tool",
    page=f"{_PAGE}#x-mcp-header",
    says="No secret is sent in a header parameter.",
    fix="Remove x-mcp-header from secrets, because proxies log headers.",
)
CHECKS.passive(
    "TOOL-21 type r4",
    "tool",
    page="basic/utilities/tasks",
    says='execution.taskSupport is "forbidden", "optional" or "required", and "required" only if the server '
    "supports task calls.",
    fix="Declare tasks.requests.tools.call, or remove taskSupport.",
)
CHECKS.passive(
    "TOOL-24 security r1+",
    "tool",
    "result",
    "error",
    page="basic/security_best_practices",
    says="Definitions, results and errors contain no text that a person cannot see.",
    fix="Remove invisible characters, escape sequences and letters of other scripts that look Latin.",
)
CHECKS.passive(
    "TOOL-27 lint r1+",
    "schema",
    says="Every name in required is a property of the schema.",
    fix="Correct the name in required, or add it to properties with a type and a description.",
    breaks=(
        "The Gemini API rejects every request with such a tool (status 400, “required fields are not "
        "defined in the schema properties”)."
    ),
)
CHECKS.passive(
    "TOOL-28 quality r1+",
    "result:tools/call",
    page=f"{_PAGE}#error-handling",
    check_class="rule",
    says="A failed tool call sets isError.",
    fix="Set isError to true, or raise the exception that your SDK converts to such a result.",
)


@CHECKS.active(
    "TOOL-01 must r1+",
    page=f"{_PAGE}#capabilities",
    apart=True,
    says="The server declares the tools capability if and only if it implements tools/list.",
    fix='Add "tools": {} to capabilities if you implement tools/list; otherwise remove it.',
    breaks=(
        "Clients ask for tools only if they are declared, and get none from a method that is not there: "
        "no tool is visible."
    ),
)
async def declared(visit: Visit) -> Outcome:
    """`tools/list`, whatever is declared."""
    return await list_declared(visit, "tools")


@CHECKS.active(
    "TOOL-13 must r1+",
    page=f"{_PAGE}#error-handling",
    says="A call of an unknown tool gets error -32602.",
    fix="For an unknown name, return a JSON-RPC error with code -32602, not a result and not another code.",
)
async def unknown_tool(visit: Visit) -> Outcome:
    """An unknown tool name. Many servers return a result with isError, which is a warning."""
    if not visit.can("tools"):
        return skipped("the server has no tools")
    response = await visit.request("tools/call", {"name": _UNKNOWN_NAME, "arguments": {}})
    if response.code == INVALID_PARAMS:
        return good("", *response.events)
    if response.body.get("isError") is True:
        return doubtful("The request got a result with isError, not an error.", *response.events)
    if response.error:
        return doubtful(f"The request got {response.reply}.", *response.events)
    return bad(f"The request got {response.reply}.", *response.events)


@CHECKS.active(
    "TOOL-17 should r5",
    says="tools/list has the same order every time.",
    fix="Sort the tools before you return them.",
)
async def same_order(visit: Visit) -> Outcome:
    """The first page, twice."""
    if not visit.items("tools"):
        return skipped("the server lists no tools")
    first, second = await visit.request("tools/list", {}), await visit.request("tools/list", {})
    if _names(first) != _names(second):
        return bad("The order of the list changed.", *first.events, *second.events)
    return good("", *first.events, *second.events)


@CHECKS.active(
    "TOOL-18 must r5",
    apart=True,
    says="tools/list returns the same tools on every connection.",
    fix="Return the same list to all clients with the same permissions, regardless of earlier requests.",
)
async def same_everywhere(visit: Visit) -> Outcome:
    """The list on another connection, compared with the shared one."""
    if not visit.items("tools"):
        return skipped("the server lists no tools")
    async with visit.connection() as connection:
        response = await connection.request("tools/list", {})
    here = [tool.get("name") for tool in visit.items("tools")]
    if "nextCursor" in response.body:
        here = here[: len(_names(response))]
    if not response.ok or sorted(map(str, _names(response))) != sorted(map(str, here)):
        return bad("Another connection got another list.", *response.events)
    return good("", *response.events)


@CHECKS.active(
    "TOOL-25 info r1+",
    says="The list of tools is small enough for a model.",
    fix="Split the server, or offer fewer and more general tools.",
)
async def size(visit: Visit) -> Outcome:
    """The size of the list."""
    tools = visit.items("tools")
    if not tools:
        return skipped("the server lists no tools")
    octets = sum(len(excerpt(tool, 1 << 20)) for tool in tools)
    text = f"{len(tools):,} tools, {octets:,} characters"
    return remark(text, _listing(visit)) if len(tools) > _MANY or octets > _LARGE else good(text)


@CHECKS.active(
    "TOOL-26 type r4+",
    page="extensions/apps",
    says="The page of an MCP app is a readable HTML resource.",
    fix='Serve the ui:// resource in _meta.ui.resourceUri with mimeType "text/html;profile=mcp-app".',
)
async def app_pages(visit: Visit) -> Outcome:
    """Each page that a tool names."""
    pages = await read_pages(visit)
    if not pages:
        return skipped("no tool has a page")
    for uri, response, page in pages:
        if page is None or "text/html" not in page.mime_type:
            return bad(f"The page {excerpt(uri, 80)} got {response.reply}.", *response.events)
    return good("", *(n for page in pages for n in page.response.events))


def _names(response: RequestOutcome) -> list[Any]:
    tools = response.body.get("tools")
    return [tool.get("name") for tool in tools if type(tool) is dict] if type(tools) is list else []


def _listing(visit: Visit) -> int:
    """The newest page of the list of tools."""
    return visit.newest("tools/list") or 1
