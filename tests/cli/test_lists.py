"""`tools`, `resources`, `templates`, `prompts`: all pages, aligned for people, exact for programs."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from inspector.cli.output import Output
from tests import golden
from tests.cli.conftest import Run, Script

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).with_name("golden")

TOOLS = [
    {
        "name": "echo",
        "description": "Says it\nback.   Twice if need be.",
        "inputSchema": {"type": "object", "properties": {"message": {}, "times": {}}, "required": ["message"]},
    },
    {"name": "get-sum", "title": "Sum", "inputSchema": {"type": "object"}},
    {"name": "\x1b[31mred\x1b[0m\u202e", "description": {"not": "text"}, "inputSchema": 7},
    {"name": "日本語", "description": "wide name", "inputSchema": {"type": "object", "properties": {"値": {}}}},
]
RESOURCES = [
    {"uri": "file:///a.txt", "name": "a", "mimeType": "text/plain", "description": "The first."},
    {"uri": "file:///" + "b" * 80, "name": "b", "title": "The second"},
]
TEMPLATES = [{"uriTemplate": "repo://{owner}/{name}", "name": "repo", "description": "A repository."}]
PROMPTS = [
    {"name": "greet", "arguments": [{"name": "who", "required": True}, {"name": "how"}], "description": "Hello."}
]


@pytest.fixture
def server(script: Script) -> list[str]:
    return script(
        tools__list=[
            {"result": {"tools": TOOLS[:2], "nextCursor": "2"}},
            {"result": {"tools": TOOLS[2:]}},
        ],
        resources__list={"result": {"resources": RESOURCES}},
        resources__templates__list={"result": {"resourceTemplates": TEMPLATES}},
        prompts__list={"result": {"prompts": PROMPTS}},
    )


def test_schemas_are_printed_under_each_tool_on_request(run: Run, server: list[str]) -> None:
    ran = run("tools", "--schema", *server)
    assert ran.out.splitlines()[:6] == [
        "echo(message: any, times?: any)", "  Says it", "  back.   Twice if need be.", "  input schema:", "    {",
        '      "type": "object",',
    ]  # fmt: skip
    assert "  input schema:\n    7\n" in ran.out
    assert "output schema" not in ran.out


@pytest.mark.parametrize("verb", ["tools", "resources", "templates", "prompts"])
@pytest.mark.parametrize("columns", ["", "60"])
def test_lists_read_the_same_as_ever(
    run: Run, server: list[str], verb: str, columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    ran = run(verb, *server)
    assert ran.code == 0
    assert ran.err == ""
    golden.check(GOLDEN / f"{verb}{columns}.txt", ran.out)


@pytest.mark.parametrize(
    ("verb", "key", "items"),
    [
        ("tools", "tools", TOOLS),
        ("resources", "resources", RESOURCES),
        ("templates", "resourceTemplates", TEMPLATES),
        ("prompts", "prompts", PROMPTS),
    ],
)
def test_json_is_the_merged_result_of_all_pages_and_nothing_else(
    run: Run, server: list[str], verb: str, key: str, items: list[Any]
) -> None:
    ran = run(verb, "--json", *server)
    assert ran.json == {key: items}
    assert ran.out.count("\n") == 1
    assert (ran.code, ran.err) == (0, "")


def test_a_page_limit_stops_early_and_says_how_to_go_on(run: Run, server: list[str], tmp_path: Path) -> None:
    ran = run("tools", "--page-limit", "1", *server)
    assert ran.out.splitlines()[1:] == ["get-sum                   Sum"]
    assert ran.err == "note: There are more pages: --cursor 2\n"
    assert run("tools", "--json", "--page-limit", "1", *server).json == {"tools": TOOLS[:2], "nextCursor": "2"}


def test_a_cursor_is_where_the_list_begins(run: Run, script: Script, tmp_path: Path) -> None:
    log = tmp_path / "log"
    server = script(tools__list={"result": {"tools": []}}, log=str(log))
    ran = run("tools", "--cursor", "", *server)
    sent = [json.loads(line) for line in log.read_bytes().splitlines()]
    assert [m["params"] for m in sent if m["method"] == "tools/list"] == [{"cursor": ""}]
    assert ran.err == "The server has no tools.\n"


def test_a_list_that_breaks_off_shows_what_came_and_then_the_error(run: Run, script: Script) -> None:
    server = script(
        tools__list=[
            {"result": {"tools": TOOLS[:1], "nextCursor": "2"}},
            {"error": {"code": -32603, "message": "out of pages"}},
        ]
    )
    ran = run("tools", *server)
    assert ran.code == 1
    assert ran.out.startswith("echo")
    assert "error: The server answered tools/list with error -32603: out of pages" in ran.err
    ran = run("tools", "--json", *server)
    assert (ran.code, ran.out) == (1, "")
    assert ran.error["rpc_error"] == {"code": -32603, "message": "out of pages"}


def test_a_repeated_cursor_ends_the_list_with_a_note(run: Run, script: Script) -> None:
    server = script(tools__list={"result": {"tools": TOOLS[:1], "nextCursor": "again"}})
    ran = run("tools", *server)
    assert ran.code == 0
    assert ran.out.count("echo") == 1, "the page that came twice is listed once"
    assert "repeated a cursor" in ran.err
    assert run("tools", "--quiet", *server).err == ""


def test_a_server_without_the_capability_is_an_error_of_the_server(run: Run, script: Script) -> None:
    server = script(initialize={"result": {"protocolVersion": "2025-11-25", "capabilities": {}}})
    ran = run("prompts", "--json", *server)
    assert ran.code == 1
    assert ran.error["code"] == "not-offered"


def test_entries_that_are_not_objects_are_counted_and_left_out(run: Run, script: Script) -> None:
    ran = run("tools", *script(tools__list={"result": {"tools": ["x", None, TOOLS[0]]}}))
    assert ran.out.startswith("echo")
    assert "2 entries are not objects" in ran.err


@pytest.mark.parametrize("result", [None, [], "x", {}, {"tools": None}, {"tools": {"a": 1}}])
def test_a_result_of_the_wrong_shape_is_an_empty_list(run: Run, script: Script, result: Any) -> None:
    ran = run("tools", "--json", *script(tools__list={"result": result}))
    assert (ran.code, ran.json) == (0, {"tools": []})


def test_a_recording_can_be_listed_like_its_server(run: Run, server: list[str], tmp_path: Path) -> None:
    kept = tmp_path / "kept.mcp.jsonl"
    live = run("tools", "--record", str(kept), *server)
    ran = run("tools", str(kept))
    assert (ran.code, ran.out) == (0, live.out)
    assert run("tools", "--json", str(kept)).json == {"tools": TOOLS}
    nothing = run("prompts", str(kept))
    assert (nothing.code, nothing.out) == (0, "")
    assert "no response to prompts/list" in nothing.err


def test_a_schema_that_is_nested_without_end_costs_its_own_tool_only(run: Run, script: Script, tmp_path: Path) -> None:
    deep = '{"type":"object","not":' * 3000 + "{}" + "}" * 3000
    raw = '{"jsonrpc":"2.0","id":$ID,"result":{"tools":[{"name":"a"},{"name":"deep","inputSchema":%s},{"name":"b"}]}}'
    server = script(tools__list={"raw": raw % deep}, tools__call={"result": {"content": []}})
    kept = tmp_path / "kept.mcp.jsonl"
    ran = run("tools", "--record", str(kept), *server)
    assert (ran.code, ran.out.split(), ran.err) == (0, ["a", "deep", "b"], "")
    assert run("tools", str(kept)).out == ran.out
    assert "nested 3,005 levels deep" in run("export", str(kept), "--to", "md").out
    assert run("call", "deep", "x=1", *server).code == 0
    ran = run("tools", "--json", *server)
    assert [tool["name"] for tool in ran.json["tools"]] == ["a", "deep", "b"]
    assert ran.err == "note: The output omits values nested deeper than 256 levels; the recording has them.\n"


@pytest.mark.parametrize(
    "words",
    [["info"], ["tools"], ["resources"], ["call", "t"], ["read", "a:b"], ["prompt", "p"], ["check"], ["context"]],
    ids=" ".join,
)
def test_no_icon_and_no_link_is_fetched(run: Run, script: Script, words: list[str]) -> None:
    with socket.socket() as canary:
        canary.bind(("127.0.0.1", 0))
        canary.listen()
        canary.setblocking(False)
        url = f"http://127.0.0.1:{canary.getsockname()[1]}/x"
        icons = [{"src": f"{url}.png", "mimeType": "image/png"}]
        link = {"type": "resource_link", "uri": url, "name": "x", "icons": icons}
        block = {"type": "text", "text": f"![see]({url}) <img src='{url}'> {url}"}
        hello = {
            "protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": "n", "version": "1", "icons": icons, "websiteUrl": url}, "instructions": url,
        }  # fmt: skip
        entry = {"name": "t", "description": f"See {url}.", "icons": icons}
        server = script(
            initialize={"result": hello},
            tools__list={"result": {"tools": [entry | {"inputSchema": {"type": "object"}}]}},
            tools__call={"result": {"content": [link, block]}},
            resources__list={"result": {"resources": [entry | {"uri": url, "mimeType": "text/html"}]}},
            resources__read={"result": {"contents": [{"uri": url, "mimeType": "text/html", "text": block["text"]}]}},
            prompts__list={"result": {"prompts": [entry | {"name": "p"}]}},
            prompts__get={"result": {"messages": [{"role": "user", "content": content} for content in (link, block)]}},
        )
        ran = run(*words, *(["--max-time", "10"] if words == ["check"] else []), *server)
        assert ran.code in (0, 5), ran.err
        with pytest.raises(BlockingIOError):
            canary.accept()


def test_a_terminal_that_tells_no_width_counts_as_one_of_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((0, 0)))
    assert Output().width == 80
