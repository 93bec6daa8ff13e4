"""Facts about hosts on servers of bad will, and the texts of their notes."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.hosts import ServerDefinitions, evaluate, host_facts
from inspector.hosts.evaluation import MAX_FAULTS, MAX_TOOLS, amount_of
from tests.hosts.servers import server, tool, with_parameter, with_schema

BY_ID = {fact.id: fact for fact in host_facts().facts}


def faults(definitions: ServerDefinitions, id: str) -> list[str]:
    return [note.actual for note in evaluate(definitions, [BY_ID[id]]) if not note.ok]


def test_a_cut_description_shows_the_last_words_that_arrive() -> None:
    text = "a" * 2_040 + "arrives" + "lost"
    assert faults(server(tool(description=text)), "HOST-CLAUDE-07") == [
        f"2,051 UTF-16 units; cut after “…{'a' * 32}arrivesl”"
    ]


def test_sizes_are_in_the_unit_of_the_host() -> None:
    assert [amount_of("é😀\n", unit) for unit in ("chars", "utf16", "bytes", "lines", "tokens")] == [3, 4, 7, 2, 1]
    assert amount_of("\ud800", "bytes") == 3


@pytest.mark.parametrize("more", [0, 1])
def test_a_limit_may_be_reached_but_not_exceeded(more: int) -> None:
    for id, most, made in (
        ("HOST-CLAUDE-07", 2_048, lambda n: server(tool(description="x" * n))),
        ("HOST-CODEX-02", 4_096, lambda n: server(instructions="x" * n)),
        ("HOST-CURSOR-01", 55, lambda n: server(tool(name="x" * n))),
        ("HOST-OPENAI-01", 64, lambda n: server(tool(name="x" * n))),
        ("HOST-OPENAI-03", 128, lambda n: server(*(tool(name=f"t{i}") for i in range(n)))),
        ("HOST-GEMINI-10", 40_000, lambda n: server(result={"content": [{"type": "text", "text": "x" * n}]})),
    ):
        assert bool(faults(made(most + more), id)) == bool(more), id


def test_a_name_says_which_character_is_refused() -> None:
    assert faults(server(tool(name="get.order")), "HOST-OPENAI-01") == ["has the character '.'"]
    assert faults(server(tool(name="a" * 65)), "HOST-OPENAI-01") == ["65 characters"]
    assert faults(server(tool(name="1st")), "HOST-GEMINI-01") == ["begins with '1'"]


def test_a_tool_for_apps_only_does_not_count() -> None:
    """C-APP-04."""
    hidden = [tool(name=f"t{n}", _meta={"ui": {"visibility": ["app"]}}) for n in range(40)]
    assert faults(server(*hidden, tool()), "HOST-CLAUDE-21") == []


def test_a_tool_may_raise_its_own_limit_for_results() -> None:
    result = {"content": [{"type": "text", "text": "x" * 200_000}]}
    raised = tool(_meta={"anthropic/maxResultSizeChars": 300_000})
    assert faults(server(result=result), "HOST-CLAUDE-09") == ["50,000 estimated tokens"]
    assert faults(server(raised, result=result), "HOST-CLAUDE-09") == []
    greedy = tool(_meta={"anthropic/maxResultSizeChars": 10**9})
    huge = {"content": [{"type": "text", "text": "x" * 600_000}]}
    assert faults(server(greedy, result=huge), "HOST-CLAUDE-09") == ["600,000 characters"]


def test_required_in_a_branch_is_about_the_properties_outside() -> None:
    branches = with_schema(anyOf=[{"required": ["number"]}])
    assert faults(server(branches), "HOST-VSCODE-09") == []


def test_annotations_of_a_schema_are_not_lost_keywords() -> None:
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "T", "x-own": 1}
    assert faults(server(with_schema(**schema)), "HOST-CODEX-03") == []


def test_hostile_definitions_are_evaluated_in_bounded_time() -> None:
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"type": "object", "properties": {"a": deep}}
    odd = [
        tool(inputSchema=deep), tool(inputSchema=None), tool(description=7, title=[], annotations="x"),
        with_schema(properties=[], required={"a": 1}), with_parameter("a", type=["array", 7], enum={"a": 1}),
        with_schema(anyOf=7, oneOf=[7], items=[1]), {"name": 7}, "text", None,
    ]  # fmt: skip
    notes = evaluate(ServerDefinitions.of("s", odd, 7), host_facts().facts)
    assert notes


def test_tools_that_are_not_evaluated_still_count() -> None:
    definitions = ServerDefinitions.of("s", ({"name": f"t{n}"} for n in range(MAX_TOOLS + 1_000)))
    assert len(definitions.tools) == MAX_TOOLS
    assert faults(definitions, "HOST-GEMINI-03") == ["6,000 tools"]


def test_many_faults_of_one_fact_are_counted() -> None:
    notes = evaluate(server(*(tool(name=f"t.{n}") for n in range(MAX_FAULTS + 50))), [BY_ID["HOST-OPENAI-01"]])
    assert len(notes) == MAX_FAULTS + 1
    assert notes[-1].actual == "50 more tools"


def test_a_note_for_json_has_the_fact_with_it() -> None:
    from datetime import date

    (note,) = evaluate(server(tool(description="x" * 1_025)), [BY_ID["HOST-OPENAI-04"]])
    assert note.as_json(date(2026, 11, 22)) == {
        "host": "openai-chat",
        "id": "HOST-OPENAI-04",
        "subject": "tool get_order",
        "ok": False,
        "found": "1,025 characters",
        "limit": "at most 1,024 characters",
        "effect": "refused",
        "source": "issue modelcontextprotocol/servers#799 (the API's message: maximum length 1024, got 2780)",
        "date": "2025-04-11",
        "confidence": "medium",
        "age": "19 months old",
        "remedy": "Put the important sentences first, and move the rest to parameters or a resource.",
    }
