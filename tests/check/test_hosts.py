"""The group *hosts*: limits of chosen hosts as notes, on a live server and on a recording."""

import json
import sys

import pytest

from inspector.check.hosts import host_checks
from inspector.check.registry import checks, unknown
from inspector.check.reports.policy import DEFAULT
from inspector.check.reports.summary import report_of
from inspector.check.run import of_recording, planned
from inspector.check.selection import CheckSelection
from inspector.hosts import host_facts
from tests.check.faults import R4
from tests.check.faulty_servers import LIMITS, Answers, Planted, run_on

NAME = ("create_or_update_the_purchase_order_of_a_customer_" * 2)[:90]
TOOLS = [
    {
        "name": NAME,
        "description": ("Create an order. " * 150)[:2000],
        "inputSchema": {"type": "object", "anyOf": [{"required": ["id"]}], "properties": {"id": {"type": "string"}}},
    },
    {
        "name": "api_request",
        "description": "Send a request.",
        "inputSchema": {"type": "object", "properties": {"method": {"type": "string", "enum": ["GET", "DELETE"]}}},
    },
]
"""A server that breaks limits of many hosts and no rule of the specification."""


def has(tools):
    def change(message, _request):
        if "tools" in message.get("result", {}):
            message["result"]["tools"] = tools
        return message

    return Answers("tools/list", change)


@pytest.fixture
async def checked():
    selection = CheckSelection(revisions=(R4,), only=frozenset(("hosts",)), hosts=host_facts().facts, limits=LIMITS)
    async with Planted(has(TOOLS)) as server:
        run, journal = await run_on(server, selection)
    yield run, journal, selection
    journal.release()


async def test_each_fault_is_a_note_with_host_limit_and_source(checked):
    run, journal, _ = checked
    results = {result.check.id: result for result in run.results}
    for id, host, seen in (
        ("HOST-CLAUDE-06", "Claude Code", "as mcp__inspector-demo__create_or"),
        ("HOST-OPENAI-01", "OpenAI Chat Completions", f"tool {NAME}: 90 characters. The limit is at most 64"),
        ("HOST-OPENAI-04", "OpenAI Chat Completions", "2,000 characters. The limit is at most 1,024 characters"),
        ("HOST-CLAUDE-03", "Claude Messages API", "anyOf in the root"),
        ("HOST-CLAUDE-16", "Claude connectors directory", "tool api_request: no title"),
        ("HOST-CLAUDE-18", "Claude connectors directory", "parameter method allows GET, DELETE"),
    ):
        result = results[id]
        assert result.verdict == "note", id
        assert result.check.says.startswith(host), id
        assert seen in result.outcome.text, id
        assert next(fact for fact in host_facts().facts if fact.id == id).source[0] in result.check.page
        (n,) = result.outcome.evidence
        assert journal.index.method(n) == "tools/list"
    assert results["HOST-WINDSURF-01"].verdict == "pass"
    assert results["HOST-WINDSURF-01"].outcome.text == "2 tools (at most 100 tools)"
    assert results["HOST-GEMINI-10"].verdict == "skip"


async def test_notes_cost_no_points_and_fail_no_run(checked):
    run, journal, _ = checked
    report = report_of(run, journal, DEFAULT)
    assert report.exit_code == 0
    assert report.score in (None, 100)


async def test_a_recording_has_the_same_notes(checked):
    run, journal, selection = checked
    again = of_recording(journal, "x", selection)
    assert [(result.check.id, result.verdict) for result in again.results] == [
        (result.check.id, result.verdict) for result in run.results
    ]


def test_without_hosts_nothing_is_evaluated_and_their_ids_are_known():
    assert not [check for check, _ in planned(CheckSelection(), ("stdio",), (R4,)) if check.group == "hosts"]
    chosen = CheckSelection(hosts=host_facts().choose(("cursor",)))
    assert [check.id for check, _ in planned(chosen, ("stdio",), (R4,)) if check.group == "hosts"] == [
        "HOST-CURSOR-01", "HOST-CURSOR-02",
    ]  # fmt: skip
    assert unknown(["hosts", "HOST-CURSOR-01", "HOST-NOTHING-01"]) == ["HOST-NOTHING-01"]
    assert not checks().keys() & host_checks(host_facts().facts).keys()


def test_the_group_needs_hosts_on_the_command_line(capfd):
    from inspector.cli import main

    assert main.run(["check", "--only", "hosts", "--", sys.executable]) == 2
    assert "The group hosts needs --host." in capfd.readouterr().err


def test_the_notes_are_in_the_json_report(capfd, tmp_path):
    from inspector.cli import main
    from tests.processes import ROOT

    recording = str(ROOT / "recordings" / "demo-tour.mcp.jsonl")
    assert main.run(["check", "--json", "--only", "hosts", "--host", "claude-code", recording]) == 0
    report = json.loads(capfd.readouterr().out)
    assert {result["group"] for result in report["results"]} == {"hosts"}
    assert {"HOST-CLAUDE-07", "HOST-CLAUDE-09"} <= {result["id"] for result in report["results"]}
