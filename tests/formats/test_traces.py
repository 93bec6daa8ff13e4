"""OTLP: a span an exchange, nested, with the attributes of the conventions for MCP."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from inspector.journal.journal import Journal
from tests.formats.journals import RECORDINGS, SESSION, call, exported, live, opened, result


def spans(journal: Journal, numbers: Iterable[int] | None = None) -> list[dict[str, Any]]:
    (resource,) = json.loads(exported(journal, "otlp", numbers))["resourceSpans"]
    all_spans: list[dict[str, Any]] = resource["scopeSpans"][0]["spans"]
    return all_spans


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    return {attribute["key"]: next(iter(attribute["value"].values())) for attribute in span["attributes"]}


def named(all_spans: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(span for span in all_spans if span["name"] == name)


def test_exchanges_are_spans_within_the_session() -> None:
    session, *rest = spans(opened(SESSION))
    assert session["name"] == "MCP session"
    listed = named(rest, "tools/list")
    assert listed["parentSpanId"] == session["spanId"]
    assert listed["kind"] == 3
    assert int(listed["endTimeUnixNano"]) - int(listed["startTimeUnixNano"]) == 12_345_000
    values = attributes(listed)
    assert (values["mcp.method.name"], values["jsonrpc.request.id"]) == ("tools/list", "1")
    assert values["network.transport"] == "pipe"
    assert "jsonrpc.protocol.version" not in values


def test_what_happened_inside_an_exchange_is_inside_its_span() -> None:
    all_spans = spans(opened(RECORDINGS / "demo-http.mcp.jsonl"))
    outer = named(all_spans, "tools/call ask-model")
    inner = named(all_spans, "sampling/createMessage")
    assert inner["parentSpanId"] == outer["spanId"]
    assert inner["kind"] == 2
    values = attributes(outer)
    assert values["gen_ai.tool.name"] == "ask-model"
    assert values["gen_ai.operation.name"] == "execute_tool"
    assert (values["server.address"], values["server.port"]) == ("127.0.0.1", "8000")
    assert (values["network.transport"], values["network.protocol.name"]) == ("tcp", "http")
    slow = named(all_spans, "tools/call slow")
    assert [event["name"] for event in slow["events"]] == ["notifications/message", *["notifications/progress"] * 4]
    assert attributes(slow["events"][1])["mcp.notification.progress"] == "1"
    assert attributes(named(all_spans, "resources/read"))["mcp.resource.uri"] == "demo://readme"


def test_without_the_outer_exchange_the_inner_one_stands_in_the_session() -> None:
    journal = opened(RECORDINGS / "demo-http.mcp.jsonl")
    session, inner = spans(journal, [51])
    assert inner["parentSpanId"] == session["spanId"]


def test_errors_are_reported_by_code_and_message() -> None:
    journal = live()
    call(journal, 1, "a", {}, b'{"jsonrpc":"1.0","id":1,"error":{"code":-32601,"message":"no such method"}}')
    call(journal, 2, "tools/call", {"name": "b"}, result(2, {"isError": True}))
    call(journal, 3, "c", {}, b'{"id":3,"error":{"code":{}}}')
    call(journal, 4, "d", {}, None)
    failed, tool, odd, open_ = spans(journal)[1:]
    assert failed["status"] == {"code": 2, "message": "no such method"}
    assert attributes(failed)["error.type"] == attributes(failed)["rpc.response.status_code"] == "-32601"
    assert attributes(tool)["error.type"] == "tool_error"
    assert attributes(odd)["error.type"] == "_OTHER"
    assert attributes(open_)["error.type"] == "no_answer"


def test_a_request_stands_where_its_trace_context_says() -> None:
    journal = live()
    trace, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    call(journal, 1, "a", {"_meta": {"traceparent": f"00-{trace}-{parent}-01"}}, result(1, {}))
    call(journal, 2, "b", {"_meta": {"traceparent": f"00-{'0' * 32}-{parent}-01"}}, result(2, {}))
    session, traced, plain = spans(journal)
    assert (traced["traceId"], traced["parentSpanId"]) == (trace, parent)
    assert (plain["traceId"], plain["parentSpanId"]) == (session["traceId"], session["spanId"])


def test_a_span_has_so_many_events_and_says_how_many_more_there_were() -> None:
    journal = live()
    call(journal, 1, "tools/call", {"name": "x", "_meta": {"progressToken": 1}}, None)
    progress = b'{"method":"notifications/progress","params":{"progressToken":1,"progress":1}}'
    journal.record_received("stdio", [progress] * 200)
    (span,) = spans(journal)[1:]
    assert (len(span["events"]), span["droppedEventsCount"]) == (128, 72)


def test_a_notification_that_belongs_to_nothing_is_a_moment() -> None:
    _, span = spans(live(b'{"method":"notifications/tools/list_changed"}'))
    assert span["name"] == "notifications/tools/list_changed"
    assert span["startTimeUnixNano"] == span["endTimeUnixNano"]


async def test_a_span_has_the_id_that_its_message_carries() -> None:
    """SEP-414: the server's spans are below ours, which the export has."""
    from tests.client.conftest import Server, make_session

    def ask(asked: dict[str, Any], reply: Any) -> None:
        meta = {"traceparent": asked["params"]["_meta"]["traceparent"]}
        reply({"jsonrpc": "2.0", "id": "q", "method": "ping", "params": {"_meta": meta}})
        reply({"jsonrpc": "2.0", "id": asked["id"], "result": {}})

    session = make_session(server := Server(tools__call=ask), trace=True)
    await session.open()
    await session.call_tool("price").result()
    await session.call_tool("price", meta={"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}).result()
    sent = [asked["params"]["_meta"]["traceparent"].split("-") for asked in server.seen if "params" in asked]
    made = spans(session.journal)
    await session.close()
    session.journal.release()
    session_span, call, nested = (named(made, name) for name in ("MCP session", "tools/call price", "ping"))
    assert [sent[0][1], sent[2][1]] == [session_span["traceId"]] * 2
    assert call["spanId"] == sent[2][2]
    assert call["parentSpanId"] == session_span["spanId"]
    assert (nested["traceId"], nested["parentSpanId"]) == (call["traceId"], call["spanId"])
    assert nested["spanId"] != call["spanId"]
    foreign = next(span for span in made if span["traceId"] == "a" * 32)
    assert foreign["parentSpanId"] == "b" * 16
