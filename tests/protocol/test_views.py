"""Views never raise, never copy, and say what is wrong (C-BASE-17, C-TOOL-01, C-TOOL-05)."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol import views
from inspector.protocol.views import (
    ContentBlock,
    Prompt,
    PromptArgument,
    Resource,
    ResourceTemplate,
    ServerInfo,
    Tool,
    View,
    destruction,
    is_read_only,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
WORDS = """name title description uri uriTemplate mimeType size annotations inputSchema outputSchema execution arguments
icons type text data resource _meta version websiteUrl tools extensions required properties readOnlyHint"""
KEYS = st.sampled_from(WORDS.split())
ALL_VIEWS = (Tool, Resource, ResourceTemplate, Prompt, PromptArgument, ContentBlock, ServerInfo)


def look_at_everything(view: View) -> None:
    for name, member in inspect.getmembers(type(view)):
        if isinstance(member, property):
            getattr(view, name)
    repr(view)


@given(JSON | st.dictionaries(KEYS, JSON | st.dictionaries(KEYS, JSON, max_size=4), max_size=6))
def test_no_property_raises_whatever_the_server_sends(raw: Any) -> None:
    for kind in ALL_VIEWS:
        view = kind(raw)
        look_at_everything(view)
        assert view.raw is raw
    ContentBlock(raw).data()


def test_the_display_name_is_title_then_annotation_title_then_name() -> None:
    """C-BASE-17."""
    assert Tool({"name": "n", "title": "T", "annotations": {"title": "A"}}).display_name == "T"
    assert Tool({"name": "n", "annotations": {"title": "A"}}).display_name == "A"
    assert Tool({"name": "n", "title": ""}).display_name == "n"
    assert Tool({"name": {"a": 1}}).display_name == views.UNNAMED
    assert Resource({"uri": "file:///x"}).display_name == "file:///x"
    assert ResourceTemplate({"uriTemplate": "x{y}"}).display_name == "x{y}"


def test_hints_are_those_the_server_gave() -> None:
    """C-TOOL-01."""
    assert Tool({"annotations": {"readOnlyHint": True, "openWorldHint": False}}).hints == ("changes nothing",)
    texts = Tool({"annotations": {"destructiveHint": False, "idempotentHint": True, "openWorldHint": True}}).hints
    assert texts == ("only adds", "may be repeated", "reaches other systems")
    assert Tool({"annotations": {"readOnlyHint": "yes", "destructiveHint": 1, "idempotentHint": False}}).hints == ()
    for destructive, words in (
        (False, ("changes nothing", "may be repeated")),
        (True, ("changes nothing", "may delete", "may be repeated")),
    ):
        hints = {"readOnlyHint": True, "destructiveHint": destructive, "idempotentHint": True}
        assert Tool({"annotations": hints}).hints == words


def test_arguments_of_a_tool() -> None:
    tool = Tool({"inputSchema": {"type": "object", "properties": {"b": {}, "a": {}}, "required": ["a", 7]}})
    assert tool.arguments == ("b", "a")
    assert tool.required_arguments == ("a",)
    assert tool.task_support == "forbidden"
    assert Tool({"inputSchema": {"properties": ["a"]}}).arguments == ()


def test_problems_name_what_is_wrong() -> None:
    assert Tool({"name": "x", "inputSchema": {"type": "object"}}).problems == []
    assert Tool(None).problems == ["null instead of an object"]
    assert Tool({"name": 1, "outputSchema": [1]}).problems == [
        "name is a number instead of a string",
        "inputSchema is missing",
        "outputSchema is an array instead of an object",
    ]
    assert Tool({"name": "", "inputSchema": {}}).problems == ["name is empty", 'inputSchema is not of type "object"']
    assert Tool({"name": "x", "inputSchema": True}).problems == ["inputSchema is a boolean instead of an object"]
    assert Resource({"name": "x"}).problems == ["uri is missing"]


def test_a_prompt_offers_its_arguments_as_a_schema() -> None:
    prompt = Prompt(
        {"name": "p", "arguments": [{"name": "a", "required": True, "description": "D"}, {"name": 3}, None]}
    )
    assert [argument.is_required for argument in prompt.arguments] == [True, False, False]
    assert prompt.argument_schema["required"] == ["a"]
    assert list(prompt.argument_schema["properties"]) == ["a"]


@pytest.mark.parametrize(
    ("raw", "kind", "body", "data", "problems"),
    [
        ({"type": "text", "text": "hi"}, "text", "hi", None, []),
        ({"type": "image", "data": "aGk=", "mimeType": "image/png"}, "image", "", b"hi", []),
        ({"type": "image", "data": "aG\nk"}, "image", "", b"hi", ["mimeType is missing"]),
        ({"type": "audio", "data": "%%%", "mimeType": "a/b"}, "audio", "", None, []),
        ({"type": "resource", "resource": {"uri": "x:y", "text": "t"}}, "resource", "t", None, []),
        ({"type": "resource", "resource": {"uri": "x:y", "blob": "aGk="}}, "resource", "", b"hi", []),
        ({"type": "resource"}, "resource", "", None, ["resource.uri is missing", "resource has neither text nor blob"]),
        ({"type": "hologram", "data": "aGk="}, "unknown", "", None, []),
        ({"type": ["text"]}, "unknown", "", None, ["type is an array"]),
        ("text", "unknown", "", None, ["a string instead of an object"]),
    ],
)
def test_content_blocks(raw: Any, kind: str, body: str, data: bytes | None, problems: list[str]) -> None:
    """C-TOOL-05, C-RES-03: a blob that is not base64 has no data."""
    block = ContentBlock(raw)
    assert (block.kind, block.body, block.data(), block.problems) == (kind, body, data, problems)


def test_sizes_are_whole_numbers() -> None:
    assert Resource({"size": 3.0}).size == 3
    assert Resource({"size": True}).size is None
    assert Resource({"size": float("inf")}).size is None


def hinted(**hints: Any) -> dict[str, Any]:
    return {"name": "t", "annotations": hints}


def test_a_tool_that_also_says_that_it_destroys_is_not_read_only() -> None:
    assert is_read_only(hinted(readOnlyHint=True))
    assert is_read_only(hinted(readOnlyHint=True, destructiveHint=False))
    assert not is_read_only(hinted(readOnlyHint=True, destructiveHint=True))
    assert not is_read_only(hinted(readOnlyHint="true"))
    assert is_read_only(hinted(readOnlyHint=True, destructiveHint=None))
    assert not is_read_only(hinted(readOnlyHint=True, destructiveHint="true"))
    assert not is_read_only(hinted(readOnlyHint=True, destructiveHint=1))
    assert destruction(hinted(readOnlyHint=True, destructiveHint="true"), by_default=True)
    assert not destruction(hinted(readOnlyHint=True), by_default=True)
    assert not is_read_only(hinted())
    assert not any(is_read_only(tool) for tool in ({}, {"annotations": 1}, None, []))


@pytest.mark.parametrize(
    ("hints", "annotated", "by_default"),
    [
        (None, False, True), ("x", False, True), ({}, False, True), ({"destructiveHint": True}, True, True),
        ({"destructiveHint": False}, False, False), ({"readOnlyHint": False}, True, True),
        ({"readOnlyHint": False, "destructiveHint": False}, False, False),
        ({"readOnlyHint": True}, False, False),
        ({"readOnlyHint": True, "destructiveHint": True}, True, True),
        ({"readOnlyHint": "no", "destructiveHint": 1}, False, True),
    ],
)  # fmt: skip
def test_what_destruction_follows_the_defaults_of_the_specification(
    hints: Any, annotated: bool, by_default: bool
) -> None:
    tool = {"name": "t", **({} if hints is None else {"annotations": hints})}
    assert bool(destruction(tool)) is annotated
    assert bool(destruction(tool, by_default=True)) is by_default
