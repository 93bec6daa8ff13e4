"""Tools: what their list says of them."""

from __future__ import annotations

from typing import Any

from inspector.check.asked import Asked
from inspector.check.catalog import CheckTable
from inspector.check.declared import list_declared
from inspector.check.outcome import Outcome, bad, doubtful, good, remark, skipped
from inspector.check.visit import Visit
from inspector.protocol.jsonrpc import INVALID_PARAMS, excerpt

_PAGE = "server/tools"
_NOBODY = "inspector-check-no-such-tool"
_MANY = 64
"""Tools above which a list costs more of a model's attention than most have."""
_LARGE = 100_000

CHECKS = CheckTable("tools", page=_PAGE)
CHECKS.passive(
    "TOOL-30 must r1+",
    "result:tools/call",
    "error:tools/call",
    page=f"{_PAGE}#calling-tools",
    says="The server survives every call of a tool: the connection stands, and other requests are answered.",
    fix="Catch what a tool raises and answer with isError; give work that may hang a limit of its own.",
)
CHECKS.passive(
    "TOOL-02 type r1+",
    "tool",
    says="Every tool has a name, and an inputSchema whose root is an object.",
    fix='Give each tool a name, and an inputSchema with at least {"type": "object"}.',
)
CHECKS.passive(
    "TOOL-03 must r4+",
    "tool",
    says="Tools without parameters have a schema, too.",
    fix='Write {"type": "object", "additionalProperties": false} in the place of null.',
)
CHECKS.passive(
    "TOOL-04 should r4+",
    "tool",
    page=f"{_PAGE}#tool-names",
    says="Names of tools have 1 to 128 letters, digits, underscores, hyphens and dots.",
    fix="Rename the tool; many clients refuse other characters or drop the tool.",
)
CHECKS.passive(
    "TOOL-05 should r1+",
    "tool",
    page=f"{_PAGE}#tool-names",
    says="Names of tools are unique, also for those who do not look at upper and lower case.",
    fix="Rename one of the two.",
)
CHECKS.passive(
    "TOOL-06 quality r1+",
    "tool",
    says="Every tool says what it does.",
    fix="Write a description: it is all that a model knows of the tool.",
)
CHECKS.passive(
    "TOOL-07 type r2+",
    "annotations",
    page=f"{_PAGE}#annotations",
    says="Annotations are true or false, and do not contradict each other.",
    fix="A tool that only reads destroys nothing: leave destructiveHint out where readOnlyHint is true.",
)
CHECKS.passive(
    "TOOL-08 type r3+",
    "schema",
    page=f"{_PAGE}#output-schema",
    says="An outputSchema is a schema whose root is an object.",
    fix='Wrap the value: {"type": "object", "properties": {"result": …}}.',
)
CHECKS.passive(
    "TOOL-16 must r1+",
    "told:notifications/tools/list_changed",
    says="Who tells that the list has changed has declared tools.listChanged.",
    fix="Declare it.",
)
CHECKS.passive(
    "TOOL-19 must r5",
    "tool",
    page=f"{_PAGE}#x-mcp-header",
    transports=frozenset(("http",)),
    says="Parameters that are to be repeated in the header follow the rules for that.",
    fix="Annotate only text, integers and booleans that properties alone lead to, with a name that a header can have.",
)
CHECKS.passive(
    "TOOL-20 should r5",
    "tool",
    page=f"{_PAGE}#x-mcp-header",
    says="No secret is repeated in the header.",
    fix="Take the annotation away: header fields stand in the logs of every proxy on the way.",
)
CHECKS.passive(
    "TOOL-21 type r4",
    "tool",
    page="basic/utilities/tasks",
    says="execution.taskSupport is forbidden, optional or required, and required only where calls can be tasks.",
    fix="Declare tasks.requests.tools.call, or leave taskSupport out.",
)
CHECKS.passive(
    "TOOL-24 lint r1+",
    "tool",
    "result",
    page="basic/security_best_practices",
    says="Nothing in names, descriptions and results is hidden from people or tells the model what to do.",
    fix="Take out characters that nobody sees, and words to the model that are not about the tool.",
)
CHECKS.passive(
    "TOOL-27 lint r1+",
    "schema",
    says="Every name in a schema's required is the name of one of its properties.",
    fix="Correct the name in required, or describe the property: a model does not know what to put there.",
)
CHECKS.passive(
    "TOOL-28 quality r1+",
    "result:tools/call",
    page=f"{_PAGE}#error-handling",
    says="A call that failed says so with isError, and not only in its text.",
    fix="Set isError to true, or raise an error that your SDK turns into such a result.",
)


@CHECKS.active(
    "TOOL-01 must r1+",
    page=f"{_PAGE}#capabilities",
    apart=True,
    says="The tools capability is declared exactly where there are tools.",
    fix="Declare tools where tools/list is answered, and nowhere else.",
)
async def declared(visit: Visit) -> Outcome:
    """`tools/list`, whatever is declared."""
    return await list_declared(visit, "tools")


@CHECKS.active(
    "TOOL-13 must r1+",
    page=f"{_PAGE}#error-handling",
    says="A call of a tool that does not exist is answered with error -32602.",
    fix="Answer with a JSON-RPC error, not with a result that says isError.",
)
async def unknown_tool(visit: Visit) -> Outcome:
    """A name that no tool has. Many servers answer it as a failed call: that is a warning."""
    if not visit.can("tools"):
        return skipped("the server has no tools")
    asked = await visit.ask("tools/call", {"name": _NOBODY, "arguments": {}})
    if asked.code == INVALID_PARAMS:
        return good("", *asked.events)
    if asked.body.get("isError") is True:
        return doubtful("It is answered as a call that failed (isError).", *asked.events)
    if asked.error:
        return doubtful(f"It is answered with {asked.reply}.", *asked.events)
    return bad(f"It is answered with {asked.reply}.", *asked.events)


@CHECKS.active(
    "TOOL-17 should r5",
    says="The list of tools has the same order every time.",
    fix="Sort the tools before you list them.",
)
async def same_order(visit: Visit) -> Outcome:
    """The first page, twice."""
    if not visit.items("tools"):
        return skipped("the server lists no tools")
    first, second = await visit.ask("tools/list", {}), await visit.ask("tools/list", {})
    if _names(first) != _names(second):
        return bad("The list came in another order.", *first.events, *second.events)
    return good("", *first.events, *second.events)


@CHECKS.active(
    "TOOL-18 must r5",
    apart=True,
    says="The list of tools is the same on every connection.",
    fix="List the same tools to everybody with the same rights, whatever was asked before.",
)
async def same_everywhere(visit: Visit) -> Outcome:
    """The list on a connection of its own, against that of the shared one."""
    if not visit.items("tools"):
        return skipped("the server lists no tools")
    async with visit.link() as link:
        asked = await link.ask("tools/list", {})
    here = [tool.get("name") for tool in visit.items("tools")]
    if "nextCursor" in asked.body:
        here = here[: len(_names(asked))]
    if not asked.ok or sorted(map(str, _names(asked))) != sorted(map(str, here)):
        return bad("Another connection has another list.", *asked.events)
    return good("", *asked.events)


@CHECKS.active(
    "TOOL-25 info r1+",
    says="The list of tools is short enough for a model to read.",
    fix="Split the server, or offer fewer and more general tools.",
)
async def size(visit: Visit) -> Outcome:
    """How much there is to read."""
    tools = visit.items("tools")
    if not tools:
        return skipped("the server lists no tools")
    octets = sum(len(excerpt(tool, 1 << 20)) for tool in tools)
    text = f"{len(tools):,} tools, {octets:,} characters"
    return remark(text, _listing(visit)) if len(tools) > _MANY or octets > _LARGE else good(text)


@CHECKS.active(
    "TOOL-26 type r4+",
    page="extensions/apps",
    says="The page of an app is a resource that can be read, and is a page.",
    fix="Serve the ui:// resource that _meta.ui.resourceUri names, as text/html;profile=mcp-app.",
)
async def app_pages(visit: Visit) -> Outcome:
    """Each page that a tool names."""
    pages = {uri for tool in visit.items("tools") if isinstance(uri := _page_of(tool), str)}
    if not pages:
        return skipped("no tool has a page")
    seen: list[int] = []
    for uri in sorted(pages)[: visit.limits.items]:
        asked = await visit.ask("resources/read", {"uri": uri})
        contents = asked.body.get("contents")
        first = contents[0] if type(contents) is list and contents and type(contents[0]) is dict else {}
        kind = first.get("mimeType")
        if not uri.startswith("ui://") or not asked.ok or not isinstance(kind, str) or "text/html" not in kind:
            return bad(f"The page {excerpt(uri, 80)} is answered with {asked.reply}.", *asked.events)
        seen += asked.events
    return good("", *seen)


def _page_of(tool: dict[str, Any]) -> Any:
    meta = tool.get("_meta")
    ui = meta.get("ui") if type(meta) is dict else None
    return ui.get("resourceUri") if type(ui) is dict else None


def _names(asked: Asked) -> list[Any]:
    tools = asked.body.get("tools")
    return [tool.get("name") for tool in tools if type(tool) is dict] if type(tools) is list else []


def _listing(visit: Visit) -> int:
    """The newest page of the list of tools."""
    index = visit.journal.index
    return next((n for n in range(index.count, 0, -1) if index.method(n) == "tools/list" and index.pair(n)), 1)
