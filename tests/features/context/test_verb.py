"""`inspector context`: the table, one tool, hosts, budget, growth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run, Script
from tests.processes import ROOT

TOOLS: list[dict[str, Any]] = [
    {"name": "small", "description": "Small.", "inputSchema": {"type": "object", "properties": {}}},
    {
        "name": "create_order",
        "title": "Create",
        "description": "Create an order.\nFor a customer.",
        "inputSchema": {"type": "object", "anyOf": [{"required": ["a"]}], "properties": {"a": {"type": "string"}}},
    },
    {"name": "\x1b[31mred", "description": "\x1b[2J", "inputSchema": {"type": "object", "properties": {}}},
]


@pytest.fixture
def server(script: Script) -> list[str]:
    return script(tools__list=[{"result": {"tools": TOOLS}}])


@pytest.mark.slow
def test_the_tools_are_listed_by_cost_with_their_shares(run: Run, server: list[str]) -> None:
    ran = run("context", *server)
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "scripted: 3 tools, 216 characters, about 55 tokens"
    assert "characters / 4" in lines[1]
    assert [line.split()[0] for line in lines[3:7]] == ["tool", "create_order", "␛[31mred", "small"]
    assert lines[4].split() == ["create_order", "12", "32", "83", "127", "~32", "58.8%"]
    assert "On the wire: " in ran.out
    assert "\x1b" not in ran.out
    by_name = run("context", "--sort", "name", *server).out.splitlines()
    assert [line.split()[0] for line in by_name[4:7]] == ["␛[31mred", "create_order", "small"]
    for order, names in (("name", ["\x1b[31mred", "create_order", "small"]), ("cost", None)):
        tools = run("context", "--json", "--sort", order, *server).json["tools"]
        sizes = [tool["characters"]["total"] for tool in tools]
        assert [tool["name"] for tool in tools] == names if names else sizes == sorted(sizes, reverse=True)


@pytest.mark.slow
def test_one_tool_is_printed_exactly(run: Run, server: list[str]) -> None:
    ran = run("context", "--tool", "create_order", *server)
    schema = json.dumps(TOOLS[1]["inputSchema"], separators=(",", ":"))
    assert ran.out == (
        "name: 12 characters\ncreate_order\n\n"
        "description: 32 characters\nCreate an order.\nFor a customer.\n\n"
        f"input schema: 83 characters\n{schema}\n\n"
        "total: 127 characters, about 32 tokens\nnot included: title\n"
    )
    document = run("context", "--json", "--tool", "create_order", *server).json
    assert document["text"]["schema"] == schema
    named = run(
        "context", "--tool", "create_order", "--host", "claude-code,cursor", "--server-name", "My Shop", *server
    )
    assert named.out.endswith(
        "name in Claude Code: mcp__my-shop__create_order (26 characters)\n"
        "name in Cursor: my-shop:create_order (20 characters)\n"
    )
    missing = run("context", "--tool", "create-order", *server)
    assert missing.code == 2
    assert "Did you mean create_order?" in missing.err


@pytest.mark.slow
def test_the_limits_of_hosts_are_named_with_source_and_date(run: Run, server: list[str]) -> None:
    ran = run("context", "--host", "claude-code,claude-directory", *server)
    assert "▲ Claude connectors directory (review): title required; otherwise rejected in review" in ran.out
    assert "tool small: no title" in ran.out
    assert "HOST-CLAUDE-16  page claude.com/docs/connectors/building/review-criteria" in ran.out
    assert "Gemini" not in ran.out
    unknown = run("context", "--host", "claude-kode", *server)
    assert unknown.code == 2
    assert "Did you mean claude-code?" in unknown.err


@pytest.mark.slow
def test_a_budget_that_is_exceeded_exits_with_5(run: Run, server: list[str]) -> None:
    assert run("context", "--budget", "55", *server).code == 0
    ran = run("context", "--budget", "54", *server)
    assert ran.code == 5
    assert "Budget 54 tokens: 1 token above" in ran.out
    document = run("context", "--json", "--budget", "54", *server).json
    assert document["budget"] == {"tokens": 54, "ok": False}
    assert document["total"] == {"tools": 3, "characters": 216, "tokens": 55}


@pytest.mark.slow
def test_growth_is_shown_against_a_report_a_recording_and_a_pin(
    run: Run, script: Script, server: list[str], tmp_path: Path
) -> None:
    grown = script(tools__list=[{"result": {"tools": [*TOOLS[:2], {"name": "new", "inputSchema": {}}]}}])
    report, recording, pin = tmp_path / "a.json", tmp_path / "a.mcp.jsonl", tmp_path / "a.pin.json"
    report.write_text(run("context", "--json", "--record", str(recording), *server).out)
    assert run("pin", "--file", str(pin), *server).code == 0
    for file in (report, recording, pin):
        ran = run("context", "--against", str(file), *grown)
        assert ran.code == 0, ran.err
        assert "  + new" in ran.out, file
        assert "  - ␛[31mred" in ran.out
    document = run("context", "--json", "--against", str(report), *grown).json
    assert document["against"]["source"] == str(report)
    assert [tool["name"] for tool in document["against"]["tools"]] == ["\x1b[31mred", "new"]
    no_pin = run("context", "--against", "pin", *server)
    assert no_pin.code == 2
    assert "is not pinned" in no_pin.err


def test_a_recording_shows_what_results_cost(run: Run) -> None:
    ran = run("context", str(ROOT / "recordings/demo-tour.mcp.jsonl"), "--json", "--host", "all")
    assert ran.code == 0
    assert ran.json["results"]
    assert any(note["id"] == "HOST-VSCODE-11" for note in ran.json["hosts"])


def test_a_tool_is_not_combined_with_options_for_all_tools(run: Run, server: list[str]) -> None:
    ran = run("context", "--tool", "small", "--budget", "5", *server)
    assert ran.code == 2
    assert "--tool cannot be used with --budget" in ran.err


def test_the_names_of_hosts_are_completed_and_listed_in_the_help(run: Run) -> None:
    from inspector.cli.manual import read_page
    from inspector.cli.verbs.completion import candidates
    from inspector.hosts import host_facts

    assert dict(read_page("hosts").tables[0].rows) == host_facts().labels
    assert [item.value for item in candidates(["context", "--host"], "zed,claude-c")] == ["zed,claude-code"]
    assert "claude-directory" in run("help", "hosts").out
