"""MCP Apps: for each check a server that breaks it, and one in order."""

import pytest

from inspector.check.visit.visit import Allowed
from tests.check.faults import R4, R5, Both, gives, notice
from tests.check.faulty_servers import Adds, Answers, Case, Item, is_found, is_not_blamed

URI = "ui://demo/board"
HTML = "<!doctype html><html><head><title>Board</title></head><body><p>Tide</p></body></html>"
LOADS = HTML.replace("<p>", '<script src="https://cdn.example.com/a.js"></script><p>')
ECHO = Allowed(calls=("echo",))


def tool(**ui):
    """The first tool, `echo`, has this `_meta.ui`."""
    return Item("tools/list", "tools", {"_meta": {"ui": {"resourceUri": URI} | ui}})


def page(_uri=URI, **changes):
    """Serves the page, with other members of its content; ... takes one away."""
    content = {"uri": _uri, "mimeType": "text/html;profile=mcp-app", "text": HTML} | changes
    content = {key: value for key, value in content.items() if value is not ...}
    return gives(
        "resources/read", where=lambda given: given.get("uri") == URI, resultType="complete", contents=[content]
    )


def app(**changes):
    """A tool with a page whose content is changed."""
    return Both(tool(), page(**changes))


def ui(**members):
    return app(_meta={"ui": members})


def listed(**members):
    """The page stands in the list too, with a `_meta.ui` of its own."""
    return Item("resources/list", "resources", {"uri": URI, "name": "board", "_meta": {"ui": members}}, new=True)


def without_content(message, request):
    message["result"]["content"] = [{"type": "text", "text": " "}]
    return message


RIGHT = app()
CASES = [
    Case("APP-01", R4, tool(resourceUri="https://example.com/board"), right=RIGHT),
    Case("APP-02", R4, tool(visibility="model"), right=RIGHT),
    Case("APP-03", R4, Item("tools/list", "tools", {"_meta": {"ui/resourceUri": URI}}), right=RIGHT),
    Case("APP-04", R4, tool(), right=RIGHT),
    Case("TOOL-26", R4, tool(), right=RIGHT),
    Case("APP-05", R4, app(mimeType="text/html"), right=app(mimeType='Text/HTML; profile="mcp-app"')),
    Case("APP-06", R4, app(uri="ui://demo/other"), right=RIGHT),
    Case("APP-07", R4, app(text="<p>Tide"), right=RIGHT),
    Case("APP-08", R4, ui(csp={"connectDomains": ["'unsafe-eval'"]}), right=ui(csp={"connectDomains": ["https://*.a.io"]})),
    Case("APP-09", R4, ui(permissions=["camera"]), right=ui(permissions={"camera": {}}, prefersBorder=True, domain="a.io")),
    Case("APP-10", R4, tool(visibility=["app"]), right=RIGHT),
    Case("APP-11", R4, Both(RIGHT, Answers("tools/call", without_content)), right=RIGHT, allowed=ECHO),
    Case("APP-12", R4, Both(listed(domain="a.io"), ui(domain="b.io")), right=Both(listed(domain="a.io"), RIGHT)),
    Case("APP-13", R4, app(text=LOADS),
         right=app(text=LOADS, _meta={"ui": {"csp": {"resourceDomains": ["https://cdn.example.com"]}}})),
    Case("APP-14", R4, Both(RIGHT, Adds("tools/list", notice("ui/notifications/size-changed"))), right=RIGHT),
    Case("APP-15", R4, tool(visibility=["app"]), right=RIGHT),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_planted_fault_is_found(case):
    """C-APP-11: among them a `ui/` message over MCP."""
    await is_found(case)


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_a_server_in_order_is_not_blamed(case):
    await is_not_blamed(case)


@pytest.mark.parametrize(("rule", "fault"), [
    ("APP-01", tool(resourceUri=7)), ("APP-01", tool(resourceUri="data:text/html,x")), ("APP-02", tool(visibility=["user"])),
    ("APP-02", tool(visibility=[])), ("APP-06", app(text=...)), ("APP-06", app(blob="AAAA")),
    ("APP-06", app(text=..., blob="no base64!")), ("APP-07", app(text="")),
    ("APP-08", ui(csp={"resourceDomains": ["https://a; script-src *"]})), ("APP-09", ui(permissions={"usb": {}})),
    ("APP-15", Both(listed(), RIGHT.second)),
])  # fmt: skip
async def test_other_faults_of_the_same_rules_are_found(rule, fault):
    await is_found(Case(rule, R4, fault))


async def test_apps_are_judged_in_the_newest_revision_too():
    await is_found(Case("APP-05", R5, app(mimeType="text/html+mcp")))
