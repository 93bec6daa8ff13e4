"""The files of other recorders. The tools themselves open them in tests/interop."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from inspector.formats import export
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from tests.formats.journals import RECORDINGS, call, exported, live, opened, result


def tour() -> Journal:
    return opened(RECORDINGS / "demo-tour.mcp.jsonl")


def over_http() -> Journal:
    return opened(RECORDINGS / "demo-http.mcp.jsonl")


def lines(journal: Journal, format: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in exported(journal, format).splitlines()]


def test_mcp_cassette_has_every_message_in_order_with_who_sent_it() -> None:
    journal = tour()
    cassette = json.loads(exported(journal, "mcp-cassette"))
    assert cassette["server_info"] == {"name": "inspector-demo", "version": "1.0.0"}
    assert (cassette["protocol_version"], cassette["transport"]) == ("2025-11-25", "stdio")
    events = [event for event in journal.events() if event.kind_name == "rpc"]
    assert [message["payload"] for message in cassette["messages"]] == [event.message for event in events]
    first, second, third = cassette["messages"][:3]
    assert (first["sender"], first["kind"], first["method"], first["msg_id"]) == ("client", "request", "initialize", 0)
    assert (second["sender"], second["kind"], second["method"], second["msg_id"]) == ("server", "response", None, 0)
    assert third["kind"] == "notification"


def test_mcp_cassette_groups_what_travelled_together() -> None:
    cassette = json.loads(exported(over_http(), "mcp-cassette"))
    assert (cassette["transport"], cassette["server_url"]) == ("http", "http://127.0.0.1:8000/mcp")
    slow = next(message for message in cassette["messages"] if message["payload"].get("id") == 3)
    inside = [message for message in cassette["messages"] if message["exchange"] == slow["exchange"]]
    assert [message["channel"] for message in inside] == [None, *["post"] * 6]


def test_mcp_cassette_keeps_what_is_no_object_as_text() -> None:
    journal = live(b"noise", b'[{"method":"x"}]', b'{"a":1}', b'{"id":1,"result":{"x":"\\ud800"}}')
    messages = json.loads(exported(journal, "mcp-cassette"))["messages"]
    assert [(message["kind"], message["payload"]) for message in messages] == [
        ("raw", "noise"),
        ("raw", '[{"method":"x"}]'),
        ("unclassified", {"a": 1}),
        ("response", {"id": 1, "result": {"x": "\ufffd"}}),
    ]


def test_mcp_recorder_has_the_clients_requests_with_their_answers() -> None:
    cassette = json.loads(exported(over_http(), "mcp-recorder"))
    assert cassette["metadata"]["protocol_version"] == "2025-11-25"
    assert cassette["metadata"]["server_info"]["name"] == "inspector-demo"
    entries = cassette["interactions"]
    assert [entry["type"] for entry in entries[:4]] == [
        "jsonrpc_request",
        "notification",
        "lifecycle",
        "jsonrpc_request",
    ]
    assert entries[0]["response"]["id"] == entries[0]["request"]["id"]
    assert (entries[1]["response"], entries[1]["response_status"]) == (None, 202)
    assert (entries[2]["http_method"], entries[2]["http_path"]) == ("GET", "/mcp")
    slow = next(entry for entry in entries if entry.get("request") and entry["request"].get("id") == 3)
    assert slow["response_is_sse"]
    assert slow["latency_ms"] == 204


def test_mcp_recorder_says_what_it_cannot_keep() -> None:
    journal = live()
    call(journal, 1, "x", {}, b"noise")
    journal.record_received("stdio", [b'{"method":"notifications/x"}', b'{"id":5,"method":"roots/list"}'])
    out = io.StringIO()
    (note,) = export(journal, "mcp-recorder", out)
    assert "3 other messages" in note
    assert len(json.loads(out.getvalue())["interactions"]) == 1


def test_mcpsnoop_has_messages_and_stderr_after_the_command() -> None:
    journal = tour()
    log = lines(journal, "mcpsnoop")
    assert log[0]["raw"]["command"][:3] == ["python", "-m", "inspector.demo"]
    assert (log[1]["direction"], log[1]["raw"]["method"], log[1]["transport"]) == ("c2s", "initialize", "stdio")
    assert log[2]["direction"] == "s2c"
    assert {"direction": "stderr", "text": "demo: crashing, as asked"}.items() <= log[-1].items()


def test_mcpsnoop_tells_what_http_heads_said() -> None:
    journal = Journal.unnamed({"url": "http://h/"})
    call(journal, 1, "tools/call", {"name": "x"}, None, "post-1")
    headers = [("Mcp-Method", "tools/call"), ("Mcp-Name", "x"), ("MCP-Param-Region", "eu"), ("Host", "h")]
    journal.record_http("post-1", Dir.SEND, method="POST", url="http://h/", headers=headers)
    journal.record_received("post-1", [b'{"id":1,"error":{}}'], ',"status":404')
    _, sent, received = lines(journal, "mcpsnoop")
    assert (sent["mcp_method"], sent["mcp_name"]) == ("tools/call", "x")
    assert sent["mcp_param_headers"] == [{"name": "MCP-Param-Region", "value": "eu"}]
    assert (received["status"], received["transport"]) == (404, "http")


def test_mcpsnoop_has_the_items_of_a_batch_and_what_is_no_json() -> None:
    journal = live(b'[{"id":1,"result":{}},{"method":"x"}]', b"noise \xff")
    journal.record_received("stdio", [b"half"], cut=True)
    _, one, two, noise, half = lines(journal, "mcpsnoop")
    assert (one["raw"], one["batch"], two["raw"], two["batch"]) == (
        {"id": 1, "result": {}},
        True,
        {"method": "x"},
        True,
    )
    assert noise["text"] == "noise \ufffd"
    assert half["truncated"] is True


def test_mcporter_has_the_messages_between_start_and_close() -> None:
    journal = live()
    call(journal, 1, "x", {}, result(1, {"n": 12345678901234567890}))
    journal.record_received("stdio", [b"{}", b"[]", b"noise"])
    text = exported(journal, "mcporter")
    assert "12345678901234567890" in text
    log = lines(journal, "mcporter")
    assert [line["_meta"]["dir"] for line in log] == ["lifecycle", "send", "recv", "recv", "lifecycle"]
    assert {line["_meta"]["server"] for line in log} == {"live"}
    assert log[3] == {"_meta": log[3]["_meta"]}
    assert any("2 messages that are not objects." in note for note in export(journal, "mcporter", io.StringIO()))


@pytest.mark.parametrize("format", ["mcp-cassette", "mcporter", "mcpsnoop"])
def test_what_is_lost_is_reported(format: str) -> None:
    assert any("other events" in note for note in export(tour(), format, io.StringIO()))
