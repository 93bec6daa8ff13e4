"""Two conversations side by side: how exchanges are paired, what is reported of a pair, what is only in one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.compare.conversation import SURFACE_METHODS, Conversation, compare_conversations
from inspector.compare.rules import DEFAULT, EXACT
from inspector.journal.journal import Journal

Talk = list[tuple[str, Any]]


def journal(*messages: tuple[str, Any]) -> Journal:
    """A recording of messages, each sent (`>`) or received (`<`); a text is not JSON."""
    made = Journal.unnamed({"kind": "test"})
    for way, message in messages:
        raw = message.encode() if isinstance(message, str) else json.dumps(message).encode()
        if way == ">":
            made.record_sent("stdio", raw, message)
        else:
            made.record_received("stdio", [raw])
    return made


def ask(id: int, method: str, **params: Any) -> tuple[str, Any]:
    return ">", {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def answer(id: int, result: Any) -> tuple[str, Any]:
    return "<", {"jsonrpc": "2.0", "id": id, "result": result}


def notice(method: str, **params: Any) -> tuple[str, Any]:
    return "<", {"jsonrpc": "2.0", "method": method, "params": params}


def call(id: int, name: str, result: Any, **arguments: Any) -> Talk:
    return [ask(id, "tools/call", name=name, arguments=arguments, _meta={"progressToken": id}), answer(id, result)]


def compared(a: Talk, b: Talk, *more: Any, **options: Any) -> Conversation:
    return compare_conversations(journal(*a), journal(*b), *more, **options)


def steps(conversation: Conversation) -> list[tuple[str, str, int, int]]:
    return [(step.kind, step.name or step.method, step.a, step.b) for step in conversation.steps]


def findings(conversation: Conversation) -> list[tuple[str, str]]:
    return [
        (one.part, one.what or f"{one.difference.kind} {one.difference.path}")
        for step in conversation.steps
        for one in step.findings
        if one.difference is not None or one.what
    ]


def test_the_same_conversation_with_other_ids_and_tokens_is_the_same() -> None:
    a = [*call(1, "echo", {"content": []}, x=1), *call(2, "sum", {"content": []})]
    b = [*call(7, "echo", {"content": []}, x=1), *call(9, "sum", {"content": []})]
    both = compared(a, b)
    assert both.same
    assert steps(both) == [("same", "echo", 1, 1), ("same", "sum", 3, 3)]


def test_a_changed_answer_is_reported_by_its_place() -> None:
    a, b = call(1, "echo", {"content": [{"text": "hello"}]}), call(1, "echo", {"content": [{"text": "bye"}]})
    both = compared(a, b)
    assert findings(both) == [("answer", "changed $.result.content[0].text")]
    assert (both.steps[0].findings[0].a, both.steps[0].findings[0].b) == (2, 2)
    assert not both.same


def test_an_exchange_that_was_put_in_does_not_make_the_rest_differ() -> None:
    one, two = call(1, "echo", {}, x=1), call(2, "echo", {}, x=2)
    both = compared([*one, *two], [*one, *call(5, "new", {}), *two])
    assert steps(both) == [("same", "echo", 1, 1), ("only-b", "new", 0, 3), ("same", "echo", 3, 5)]
    assert both.count("only-b") == 1


def test_the_same_calls_in_another_order_are_paired() -> None:
    both = compared([*call(1, "a", {}), *call(2, "b", {}), *call(3, "c", {})],
                     [*call(1, "b", {}), *call(2, "c", {}), *call(3, "a", {"x": 1})])  # fmt: skip
    assert [(step.kind, step.name, step.moved) for step in both.steps] == [
        ("changed", "a", True),
        ("same", "b", False),
        ("same", "c", False),
    ]


def test_a_call_with_other_arguments_is_compared_with_what_stands_in_its_place() -> None:
    both = compared(call(1, "echo", {"v": 1}, x=1), call(1, "echo", {"v": 2}, x=2))
    assert findings(both) == [("request", "changed $.params.arguments.x"), ("answer", "changed $.result.v")]


def test_an_error_in_the_place_of_a_result_is_reported() -> None:
    failed = ("<", {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "no"}})
    both = compared(call(1, "echo", {}), [ask(1, "tools/call", name="echo", arguments={}), failed])
    assert findings(both) == [("state", "done → error"), ("answer", "removed $.result"), ("answer", "added $.error")]


def test_an_answer_that_never_came_is_reported() -> None:
    both = compared(call(1, "echo", {}), call(1, "echo", {})[:1])
    assert findings(both) == [("state", "done → pending")]


def test_what_came_in_between_belongs_to_its_exchange() -> None:
    request, reply = call(1, "long", {})
    log = notice("notifications/message", level="info", data="working")
    other = notice("notifications/message", level="info", data="failing")
    assert compared([request, log, reply], [request, log, reply]).same
    assert findings(compared([request, log, reply], [request, other, reply])) == [("message", "changed $.params.data")]
    assert findings(compared([request, log, reply], [request, reply])) == [
        ("message", "notifications/message info only in A")
    ]


def test_a_question_of_the_server_and_our_answer_are_compared() -> None:
    request, reply = call(1, "asks", {})

    def asked(message: str, action: str) -> Talk:
        question = ("<", {"jsonrpc": "2.0", "id": 9, "method": "elicitation/create", "params": {"message": message}})
        return [request, question, (">", {"jsonrpc": "2.0", "id": 9, "result": {"action": action}}), reply]

    assert compared(asked("?", "accept"), asked("?", "accept")).same
    assert findings(compared(asked("?", "accept"), asked("?", "decline"))) == [("answer", "changed $.result.action")]
    assert findings(compared(asked("?", "accept"), asked("!", "accept"))) == [("message", "changed $.params.message")]


def test_what_the_server_says_by_itself_stands_alone() -> None:
    changed = notice("notifications/tools/list_changed")
    both = compared([changed, ("<", "no json")], [changed, ("<", "not json"), changed])
    assert [(step.kind, step.method, step.alone) for step in both.steps] == [
        ("same", "notifications/tools/list_changed", True),
        ("changed", "(no message)", True),
        ("only-b", "notifications/tools/list_changed", True),
    ]


def test_answers_to_nothing_are_reported() -> None:
    (step,) = compared([answer(5, {})], []).steps
    assert (step.kind, step.alone) == ("only-a", True)


def test_batches_are_compared_as_one() -> None:
    def batch(text: str) -> Talk:
        asked = [{"jsonrpc": "2.0", "id": 1, "method": "a"}, {"jsonrpc": "2.0", "id": 2, "method": "b"}]
        return [(">", asked), ("<", [{"id": 1, "result": {"t": text}}, {"id": 2, "result": {}}])]

    assert compared(batch("x"), batch("x")).same
    assert findings(compared(batch("x"), batch("y"))) == [("answer", "changed $[0].result.t")]


def test_methods_can_be_left_out_with_all_that_belongs_to_them() -> None:
    a = [ask(1, "tools/list"), answer(1, {"tools": [1]}), *call(2, "echo", {})]
    b = [ask(1, "tools/list"), answer(1, {"tools": [2]}), *call(2, "echo", {})]
    both = compared(a, b, without=SURFACE_METHODS)
    assert (both.same, both.covered) == (True, 1)
    assert not compared(a, b).same


def test_rules_hold_by_tool() -> None:
    a, b = call(1, "now", {"t": 1, "u": 1}), call(1, "now", {"t": 2, "u": 1})
    assert compared(a, b, DEFAULT.plus(ignore=["tools/call now:$.result.t"])).same
    assert not compared(a, b, DEFAULT.plus(ignore=["tools/call then:$.result.t"])).same


def test_keys_that_stand_twice_are_seen_in_recordings() -> None:
    a, b = ('{"jsonrpc":"2.0","id":1,"result":{"a":1}}', '{"jsonrpc":"2.0","id":1,"result":{"a":2,"a":1}}')
    both = compared([ask(1, "ping"), ("<", a)], [ask(1, "ping"), ("<", b)])
    assert findings(both) == [("answer", "repeated $.result.a")]


def test_a_step_is_written_as_json() -> None:
    (step,) = compared(call(1, "echo", {"v": 1}), call(1, "echo", {"v": 2})).steps
    assert json.loads(json.dumps(step.as_json())) == {
        "kind": "changed", "method": "tools/call", "name": "echo", "event_a": 1, "event_b": 1, "moved": False,
        "differences": [
            {"part": "answer", "event_a": 2, "event_b": 2, "kind": "changed", "json_path": "$.result.v", "a": 1, "b": 2}
        ],
    }  # fmt: skip


MESSAGES = st.one_of(
    st.builds(lambda id, name: ask(id, "tools/call", name=name), st.integers(0, 3), st.sampled_from("ab")),
    st.builds(lambda id, value: answer(id, {"v": value}), st.integers(0, 3), st.integers(0, 1)),
    st.builds(lambda value: notice("notifications/message", data=value), st.integers(0, 1)),
    st.sampled_from(
        [("<", "x"), ("<", []), ("<", [1]), ("<", 5), (">", [{"id": 1, "method": "a"}]), ("<", {"id": {}})]
    ),
    st.builds(lambda id: ("<", {"id": id, "method": "sampling/createMessage", "params": None}), st.integers(0, 2)),
)


@settings(max_examples=25, deadline=None)
@given(st.lists(MESSAGES, max_size=14), st.lists(MESSAGES, max_size=14))
def test_each_exchange_stands_once_whatever_was_reported(a: Talk, b: Talk) -> None:
    forth = compared(a, b, EXACT)
    for side in ("a", "b"):
        numbers = [getattr(step, side) for step in forth.steps if getattr(step, side)]
        assert len(numbers) == len(set(numbers))
    assert compared(a, a, EXACT).same
    back = compared(b, a, EXACT)
    assert forth.count("only-a") == back.count("only-b")


def test_golden_recordings_are_the_same_as_themselves() -> None:
    for path in Path("recordings").glob("*.mcp.jsonl"):
        both = Journal.open(path), Journal.open(path)
        for one in both:
            while one.refresh():
                pass
        assert compare_conversations(*both, EXACT).same
