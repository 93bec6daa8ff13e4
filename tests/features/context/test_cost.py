"""The cost of tools: exact characters, estimated tokens, repeated text, growth."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.errors import UsageError
from inspector.features.context.cost import cost_of, tokenizer
from inspector.features.context.report import MINIMUM, Sizes, growth, repeated, report_of, savings, sizes_in
from inspector.hosts import EvaluatedResult, host_facts
from inspector.protocol.token_costs import ESTIMATED, estimate, result_cost, tool_cost

ADDRESS = {
    "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
    "required": ["city"],
}
ORDER: dict[str, Any] = {
    "name": "create_order",
    "title": "Not for the model",
    "description": "Créate an order. 😀",
    "inputSchema": {
        "type": "object",
        "properties": {"zip": {"type": "string", "description": "é", "enum": ["a", "b"]}},
    },
    "annotations": {"readOnlyHint": False},
}


def test_characters_are_those_of_compact_json_in_the_order_of_the_server() -> None:
    cost = tool_cost(ORDER)
    schema = '{"type":"object","properties":{"zip":{"type":"string","description":"é","enum":["a","b"]}}}'
    assert cost.schema == schema
    assert cost.characters == len("create_order") + len("Créate an order. 😀") + len(schema)
    assert cost.tokens == -(-cost.characters // 4)
    assert cost.parameter_texts == 3
    assert cost.choices == len('["a","b"]')
    assert cost.not_included == ["title", "annotations"]
    assert cost.wire == len(json.dumps(ORDER, ensure_ascii=False, separators=(",", ":")))


def test_shares_of_all_tools_and_instructions_add_up_to_one() -> None:
    cost = cost_of([ORDER, {"name": "b", "description": "x" * 40, "inputSchema": {}}], "i" * 30)
    assert sum(map(cost.share, cost.tools)) + 30 / cost.characters == pytest.approx(1)
    assert [tool.name for tool in cost.sorted()] == ["create_order", "b"]
    assert [tool.name for tool in cost.sorted("name")] == ["b", "create_order"]


def test_json_has_the_documented_shape() -> None:
    document = report_of("shop", cost_of([ORDER], "Hi"), facts=host_facts().facts).as_json(
        __import__("datetime").date(2026, 11, 22)
    )
    assert list(document)[:6] == ["tools", "instructions", "total", "method", "hosts", "against"]
    total = len("create_order") + len("Créate an order. 😀") + len(tool_cost(ORDER).schema) + 2
    assert document["tools"][0]["characters"] == {
        "name": 12, "description": 18, "schema": len(tool_cost(ORDER).schema), "total": total - 2,
    }  # fmt: skip
    assert document["tools"][0]["share"] == (total - 2) / total
    assert document["instructions"] == {"characters": 2, "tokens": 1}
    assert document["total"] == {"tools": 1, "characters": total, "tokens": estimate(total - 2) + 1}
    assert document["method"] == "characters / 4"
    assert {"host", "id", "subject", "ok", "found", "limit", "effect", "source", "date"} <= set(document["hosts"][0])
    json.dumps(document)


def test_tools_for_apps_only_and_odd_entries_do_not_count() -> None:
    """C-APP-04."""
    app = {"name": "a", "_meta": {"ui": {"visibility": ["app"]}}}
    odd = {"name": 7, "description": [], "inputSchema": None}
    cost = cost_of([app, None, "x", odd], 7)
    assert [tool.characters for tool in cost.tools] == [0]
    assert cost_of(None).tools == ()


def test_defs_save_what_occurs_twice_in_one_tool() -> None:
    twice = {
        "name": "t",
        "inputSchema": {"type": "object", "properties": {"a": ADDRESS, "b": dict(reversed(ADDRESS.items()))}},
    }
    length = len(json.dumps(ADDRESS, separators=(",", ":")))
    (saving,) = savings(cost_of([twice]))
    assert (saving.tool, saving.parts, saving.largest, saving.times) == ("t", 1, "/properties/a", 2)
    assert saving.characters == length - 2 * len('{"$ref":"#/$defs/N"}') - len('"N":') - len(',"$defs":{}')
    other = {"name": "t", "inputSchema": {"properties": {"a": ADDRESS, "b": ADDRESS | {"description": "another"}}}}
    assert savings(cost_of([other])) == []


def test_schemas_that_are_deep_or_large_are_compared_as_far_as_possible() -> None:
    deep: dict[str, Any] = {"type": "object"}
    for _ in range(400):
        deep = {"type": "object", "properties": {"a": deep}}
    assert savings(cost_of([{"name": "t", "inputSchema": deep}])) == []
    wide = {"properties": {f"p{n}": {"type": "string", "description": "d" * 1000} for n in range(2_500)}}
    (saving,) = savings(cost_of([{"name": "t", "inputSchema": wide}]))
    assert saving.is_least
    assert saving.characters < 2_500 * 1_000


def test_text_in_several_tools_is_named_once() -> None:
    tools = [
        {"name": name, "description": "d" * MINIMUM, "inputSchema": {"properties": {"a": ADDRESS}}} for name in "xy"
    ]
    texts = repeated(cost_of(tools))
    assert [(text.what, text.tools) for text in texts] == [("input schema", ("x", "y")), ("description", ("x", "y"))]


def test_growth_names_new_gone_and_changed_tools() -> None:
    before = Sizes.of(cost_of([ORDER, {"name": "gone"}]))
    after = Sizes.of(cost_of([ORDER | {"description": "longer " * 20}, {"name": "new"}], "i" * 8))
    change = growth("x", before, after)
    assert [(tool.name, tool.before is None, tool.after is None) for tool in change.tools] == [
        ("create_order", False, False), ("gone", False, True), ("new", True, False),
    ]  # fmt: skip
    assert change.characters == after.characters - before.characters
    assert sizes_in(json.loads(json.dumps(cost_of([ORDER]).as_json()))) == Sizes.of(cost_of([ORDER]))
    assert sizes_in({"tools": [{"name": "x"}], "total": {}, "method": "m"}) is None


def test_a_result_is_counted_by_text_and_by_structure() -> None:
    result = {
        "content": [
            {"type": "text", "text": "four"}, {"type": "image", "data": "x" * 1000},
            {"type": "resource", "resource": {"uri": "a:b", "text": "12345678"}}, 7,
        ],
        "structuredContent": {"a": 1},
    }  # fmt: skip
    cost = result_cost(result)
    assert (cost.content, cost.structured, cost.media) == (12, 7, 1)
    assert result_cost({"content": 7}).content == 0
    assert result_cost(None).structured is None


def test_the_largest_result_of_each_tool_is_kept() -> None:
    results = tuple(EvaluatedResult("a", {"content": [{"type": "text", "text": "x" * n}]}) for n in (3, 30, 5))
    assert report_of("s", cost_of([]), results=results).results["a"].content == 30


def test_a_host_that_loads_tools_on_demand_has_only_names_at_the_start() -> None:
    report = report_of("shop", cost_of([ORDER], "Hi"), facts=host_facts().choose(("claude-code", "codex")))
    loads = {load.host: load for load in report.loads}
    assert loads["claude-code"].at_start == len("mcp__shop__create_order") + 2
    assert loads["claude-code"].characters == len("mcp__shop__create_order") + len(ORDER["description"]) + len(
        tool_cost(ORDER).schema
    ) + 2  # fmt: skip
    assert loads["codex"].at_start == loads["codex"].characters


# Tokenizers


def fake_tiktoken(monkeypatch: pytest.MonkeyPatch, *, on_disk: bool) -> None:
    load = SimpleNamespace(read_file=lambda path: pytest.fail("downloaded"))

    def get_encoding(name: str) -> Any:
        if not on_disk:
            load.read_file("https://example.com/vocabulary")
        return SimpleNamespace(encode=lambda text, disallowed_special: text.split())

    module = SimpleNamespace(list_encoding_names=lambda: ["o200k_base"], get_encoding=get_encoding, load=load)
    monkeypatch.setitem(sys.modules, "tiktoken", module)
    monkeypatch.setitem(sys.modules, "tiktoken.load", load)


def test_a_tokenizer_on_this_machine_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_tiktoken(monkeypatch, on_disk=True)
    counter = tokenizer("o200k_base")
    assert (counter.method, counter.count("one two three"), counter.is_estimate) == ("o200k_base", 3, False)
    assert cost_of([{"name": "a", "description": "b c"}], "d", counter).tokens == 4


def test_a_vocabulary_that_is_not_on_this_machine_is_not_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_tiktoken(monkeypatch, on_disk=False)
    with pytest.raises(UsageError, match="not on this machine, and Inspector downloads nothing"):
        tokenizer("o200k_base")
    with pytest.raises(UsageError, match="Unknown tokenizer “nothing”"):
        tokenizer("nothing")


def test_without_tiktoken_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    with pytest.raises(UsageError, match="tiktoken, which is not installed"):
        tokenizer("o200k_base")


def test_the_estimate_rounds_up() -> None:
    assert [estimate(n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert ESTIMATED.is_estimate


def test_a_hostile_schema_is_measured_in_bounded_time() -> None:
    same = {"type": "object", "properties": {f"p{n}": {"type": "string", "description": "x" * 100} for n in range(50)}}
    deep: dict[str, Any] = same
    for _ in range(60):
        deep = {"type": "object", "properties": {"a": deep, "b": same}}
    cost = cost_of([{"name": "a", "inputSchema": deep}, {"name": "b", "inputSchema": deep}])
    report = report_of("s", cost, facts=host_facts().facts)
    assert report.cost.characters > 300_000
