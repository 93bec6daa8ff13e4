"""Which sampling requests are refused, and why."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.protocol.sampling import refusal

TEXT = {"type": "text", "text": "hello"}
ASKED = {"role": "user", "content": TEXT}


def use(id: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": "n", "input": {}}


def came(id: Any) -> dict[str, Any]:
    return {"type": "tool_result", "toolUseId": id, "content": []}


def model(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def refused(*messages: Any) -> str:
    return refusal({"messages": list(messages), "maxTokens": 5, "tools": []}, tools=True)


@pytest.mark.parametrize("member", ["tools", "toolChoice"])
def test_tools_are_refused_where_they_were_not_declared(member: str) -> None:
    """C-SAMP-03."""
    params = {"messages": [ASKED], member: [] if member == "tools" else {}}
    assert refusal(params, tools=False) == f"{member} is given, but sampling.tools was not declared"
    assert refusal(params, tools=True) == ""
    assert refusal({"messages": [ASKED], member: None}, tools=False) == ""


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [ASKED],
        [ASKED, model(TEXT, use("1"), use("2")), user(came("2"), came("1")), model(TEXT)],
        [ASKED, {"role": "assistant", "content": use("1")}, {"role": "user", "content": came("1")}],
        [ASKED, model(use("1")), user(came("1")), model(use("1")), user(came("1"))],
        [user(came("unknown"))],
    ],
)
def test_a_conversation_in_order_is_taken(messages: list[Any]) -> None:
    """C-SAMP-03: content is one block or several."""
    assert refused(*messages) == ""


@pytest.mark.parametrize("other", [TEXT, use("2"), 5, {}])
def test_tool_results_beside_other_content_are_refused(other: Any) -> None:
    """C-SAMP-03."""
    for blocks in ((came("1"), other), (other, came("1"))):
        assert refused(ASKED, model(use("1")), user(*blocks)) == "message 3 has tool results beside other content"


def test_missing_tool_results_are_refused() -> None:
    """C-SAMP-03."""
    assert refused(ASKED, model(use("1"), use("2")), user(came("1"))) == "message 3 lacks the result of the tool use 2"
    assert refused(ASKED, model(use("1")), ASKED) == "message 3 lacks the result of the tool use 1"
    assert refused(ASKED, model(use("1")), model(TEXT), user(came("1"))).startswith("message 3 lacks")
    assert refused(ASKED, model(use("1"))) == "the result of the tool use 1 is missing"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.sampled_from(["tool_use", "tool_result"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["messages", "content", "type", "id", "toolUseId"]), inner, max_size=4)
        ),
    ),
    st.booleans(),
)
def test_anything_is_taken_or_refused_in_a_line(params: Any, tools: bool) -> None:
    for given_params in ({"messages": params}, {"messages": [params]}, {"messages": [{"content": params}]}):
        assert refusal(given_params, tools=tools).isprintable()


def test_a_long_conversation_takes_its_length() -> None:
    turns = [turn for n in range(20_000) for turn in (model(use(str(n))), user(came(str(n))))]
    assert refused(*turns) == ""
    assert len(refused(model(use("x" * 1_000_000)), ASKED)) < 200
