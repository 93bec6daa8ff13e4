"""`apps`: tools with a page, and a page, which is read and never rendered."""

import pytest

pytestmark = pytest.mark.slow

TOOLS = [
    {"name": "board", "inputSchema": {"type": "object"}, "_meta": {"ui": {"resourceUri": "ui://harbour/board"}}},
    {"name": "refresh", "inputSchema": {"type": "object"}, "_meta": {"ui": {"visibility": ["app"]}}},
    {"name": "plain", "description": "Plain.", "inputSchema": {"type": "object"}},
]
HTML = (
    "<!doctype html><html><head><title>Tide \x1b[31mboard</title></head><body><h1>Tide\x1b]0;x\x07</h1>"
    "<script src='https://cdn.example.com/a.js'></script></body></html>"
)
CONTENT = {
    "uri": "ui://harbour/board", "mimeType": "text/html;profile=mcp-app", "text": HTML,
    "_meta": {"ui": {"csp": {"connectDomains": ["https://api.example.com"]}, "permissions": {"camera": {}}}},
}  # fmt: skip


@pytest.fixture
def server(script):
    return script(
        tools__list={"result": {"tools": TOOLS}},
        resources__list={"result": {"resources": [{"uri": "ui://harbour/other", "name": "other"}]}},
        resources__read={"result": {"contents": [CONTENT]}},
    )


def test_the_tools_with_a_page_are_listed(run, server):
    ran = run("apps", *server)
    assert ran.out.splitlines() == [
        "board    UI        ui://harbour/board", "refresh  app only", "page without a tool: ui://harbour/other",
    ]  # fmt: skip


def test_the_list_as_json(run, server):
    document = run("apps", "--json", *server).json
    assert [tool["name"] for tool in document["tools"]] == ["board", "refresh"]
    assert document["unused"] == ["ui://harbour/other"]


def test_a_page_is_shown_with_its_policy_and_nothing_reaches_the_terminal(run, server):
    """C-APP-05, C-APP-07, C-APP-12: the resource list does not have the page."""
    ran = run("apps", "--page", "board", *server)
    assert "\x1b" not in ran.out + ran.err
    assert "\x07" not in ran.out + ran.err
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert "https://api.example.com (csp.connectDomains)" in lines
    assert "connect-src 'self'" in lines
    assert "not allowed script-src https://cdn.example.com/a.js" in lines
    assert "permissions camera" in lines
    assert "It may contact https://api.example.com." in ran.err


def test_a_page_as_text_and_as_source(run, server):
    """C-APP-06."""
    assert run("apps", "--page", "ui://harbour/board", "--text", *server).out == "Tide␛]0;x␇\n"
    assert "<script src='https://cdn.example.com/a.js'>" in run("apps", "--page", "board", "--source", *server).out


def test_a_page_as_json(run, server):
    document = run("apps", "--json", "--page", "board", *server).json
    assert document["bytes"] == len(HTML)
    assert document["loaded"][0]["allowed"] is False
    assert "source" not in document
    assert run("apps", "--json", "--source", "--page", "board", *server).json["source"] == HTML


@pytest.mark.parametrize(("words", "says"), [
    (("--page", "plain"), "has no page"), (("--page", "nothing"), "has no tool"), (("--text",), "--page"),
])  # fmt: skip
def test_a_page_that_does_not_exist(run, server, words, says):
    ran = run("apps", *words, *server)
    assert ran.code == 2
    assert says in ran.err


def test_tools_are_marked_in_the_list_of_tools(run, server):
    assert run("tools", *server).out.splitlines()[0].split() == ["board", "[UI]"]


def test_a_recording_has_the_same(run, server, tmp_path):
    file = tmp_path / "one.mcp.jsonl"
    run("apps", "--page", "board", "--record", str(file), *server)
    assert run("apps", str(file)).out.startswith("board    UI")
    assert "policy      built from csp" in run("apps", "--page", "board", str(file)).out
    assert run("apps", "--page", "ui://harbour/other", str(file)).code == 2
