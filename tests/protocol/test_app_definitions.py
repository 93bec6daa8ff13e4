"""Tools with a page: what `_meta.ui` says."""

import pytest

from inspector.protocol.app_definitions import is_app_type, is_for_model, tool_app, unused_pages


def tool(meta):
    return {"name": "board", "inputSchema": {}, "_meta": meta}


def rules(meta):
    return [problem.rule for problem in tool_app(tool(meta)).problems]


def test_a_tool_with_a_page_is_for_models_and_pages():
    app = tool_app(tool({"ui": {"resourceUri": "ui://a/b"}}))
    assert (app.uri, app.visibility, app.problems, app.mark) == ("ui://a/b", ("model", "app"), (), "UI")


def test_the_nested_uri_wins_over_the_deprecated_one():
    """C-APP-03."""
    app = tool_app(tool({"ui": {"resourceUri": "ui://a/new"}, "ui/resourceUri": "ui://a/old"}))
    assert app.uri == "ui://a/new"
    assert [problem.rule for problem in app.problems] == ["APP-03"]


def test_the_deprecated_uri_is_used_alone():
    """C-APP-03."""
    app = tool_app(tool({"ui/resourceUri": "ui://a/old"}))
    assert (app.uri, app.is_flat, [problem.rule for problem in app.problems]) == ("ui://a/old", True, ["APP-03"])


def test_both_with_the_same_uri_are_no_problem():
    assert rules({"ui": {"resourceUri": "ui://a/b"}, "ui/resourceUri": "ui://a/b"}) == []


@pytest.mark.parametrize(("visibility", "mark", "ids"), [
    (["app"], "UI, app only", []), (["model"], "UI", []), ([], "UI, hidden", ["APP-02"]), ("model", "UI", ["APP-02"]),
    (["user"], "UI, hidden", ["APP-02"]), (None, "UI", ["APP-02"]), ([["app"]], "UI, hidden", ["APP-02"]),
])  # fmt: skip
def test_visibility(visibility, mark, ids):
    """C-APP-04."""
    meta = {"ui": {"resourceUri": "ui://a/b", "visibility": visibility}}
    assert tool_app(tool(meta)).mark == mark
    assert rules(meta) == ids
    assert is_for_model(tool(meta)) == ("app only" not in mark and "hidden" not in mark)


@pytest.mark.parametrize("uri", ["https://a/b", "data:text/html,x", 7, None, "ui://", ["ui://a"], "UI"])
def test_a_uri_of_another_kind_is_not_a_page(uri):
    assert tool_app(tool({"ui": {"resourceUri": uri}})).uri == ""
    assert rules({"ui": {"resourceUri": uri}}) == ["APP-01"]


@pytest.mark.parametrize("raw", [None, 7, [], "x", {}, {"_meta": []}, {"_meta": {"ui": None}}, {"_meta": {"ui": [1]}}])
def test_anything_may_come_from_a_server(raw):
    assert tool_app(raw).uri == ""
    assert is_for_model(raw)


def test_pages_that_no_tool_names():
    tools = [tool({"ui": {"resourceUri": "ui://a/b"}})]
    resources = [{"uri": "ui://a/b"}, {"uri": "ui://a/c"}, {"uri": "file:///x"}, {"uri": 7}, None]
    assert unused_pages(tools, resources) == ["ui://a/c"]


@pytest.mark.parametrize(("mime_type", "expected"), [
    ("text/html;profile=mcp-app", True), ('Text/HTML; profile="mcp-app"', True), (" text/html ; Profile=MCP-App ", True),
    ("text/html;charset=utf-8;profile=mcp-app", True), ("text/html", False), ("text/html+mcp", False), (None, False),
    ("text/html;profile=mcp-app;profile=x", False), ("text/plain;profile=mcp-app", False), ("x" * 10_000, False),
])  # fmt: skip
def test_the_mime_type_is_compared_by_its_parts(mime_type, expected):
    """C-APP-10."""
    assert is_app_type(mime_type) is expected
