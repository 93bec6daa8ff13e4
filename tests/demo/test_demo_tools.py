"""The demo's tools: arguments, results, progress, cancellation, logs."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from typing import Any

import pytest

from inspector.demo.call import Channel
from inspector.demo.legacy import LegacySession
from inspector.demo.prompts import all_prompts
from inspector.demo.server_state import DemoState
from inspector.demo.tools import all_tools
from tests.demo.demo_client import MemoryPeer, StdioPeer, text_of

Connect = Callable[..., MemoryPeer]


@pytest.mark.parametrize(
    ("name", "arguments", "complaint"),
    [
        ("echo", {}, "/message: is required"),
        ("echo", {"message": 3}, "/message: must be string"),
        ("add", {"a": True, "b": 1}, "/a: must be number"),
        ("add", {"a": 1e10, "b": 1}, "/a: must be at most"),
        ("roll-dice", {"sides": 7}, "/sides: must be a multiple of 2"),
        ("roll-dice", {"sides": 102}, "/sides: must be less than 101"),
        ("roll-dice", {"dice": 1.5}, "/dice: must be integer"),
        ("order-pizza", {"size": "xl", "toppings": ["tomato"]}, "/size: must match exactly one"),
        ("order-pizza", {"size": "m", "toppings": ["tomato", "tomato"]}, "the same item twice"),
        ("order-pizza", {"size": "m", "toppings": []}, "at least 1 items"),
        ("book-trip", {"traveller": {"name": ""}, "legs": [{}]}, "/legs/0/from: is required"),
        ("register", {"email": "unknown", "code": "AB-1234"}, "/email: is not a valid email"),
        ("register", {"email": "a@b", "code": "AB-12345"}, "/code: must match"),
        ("register", {"email": "a@b", "code": "AB-1234", "birthday": "2025-13-01"}, "/birthday: is not a valid date"),
        ("register", {"email": "a@b", "code": "AB-1234", "host": "1.2.3.256"}, "/host: is not a valid ipv4"),
        ("what-time", {"zone": "UTC"}, "/zone: is not allowed"),
        ("accept-terms", {"version": "2.1", "accepted": 1}, "/accepted: must be True"),
        ("send-parcel", {"to": {"kind": "moon"}, "weight": 1}, "/to: must match exactly one"),
        ("send-parcel", {"to": {"kind": "shop", "name": "x"}, "weight": "heavy"}, "/weight: matches none"),
        ("set-nickname", {"nickname": 1}, "/nickname: must be string or null"),
        ("set-nickname", {"nickname": None, "pronouns": False}, "/pronouns: must be one of"),
        ("tree", {"root": {"name": "a", "children": [{"name": ""}]}}, "/root/children/0/name: must have at least"),
        ("free-form", {"scores": {"a": "b"}}, "/scores/a: must be number"),
        ("plot", {"points": [[1]]}, "/points/0: must have at least 2 items"),
        ("plan-meeting", {"online": True}, "/link: is required"),
        ("plan-meeting", {"online": False, "room": "1", "link": "a:b"}, "must not match the forbidden schema"),
        ("plan-meeting", {"online": False, "room": "1", "end": "10:00:00Z"}, "/start: is required together with end"),
    ],
)
def test_arguments_that_break_the_schema_give_a_tool_error(
    shared: StdioPeer, name: str, arguments: dict[str, Any], complaint: str
) -> None:  # TOOL-14, TOOL-15
    result = shared.call(name, **arguments)
    assert result["isError"] is True
    assert complaint in text_of(result)


def test_arguments_nested_too_deeply_are_refused_and_survived(shared: StdioPeer) -> None:
    deep = '{"name":"n","children":[' * 400 + '{"name":"leaf"}' + "]}" * 400
    params = '{"name":"tree","arguments":{"root":' + deep + "}}"
    shared.send_raw(b'{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":' + params.encode() + b"}\n")
    assert "nested too deeply" in text_of(shared.response("deep")["result"])
    assert shared.ask("ping") == {}


def test_an_unknown_tool_is_a_protocol_error(shared: StdioPeer) -> None:  # TOOL-13
    assert shared.error("tools/call", {"name": "no-such-tool"})["code"] == -32602


def test_pictures_and_sounds_are_what_they_claim_to_be(shared: StdioPeer) -> None:  # TOOL-12
    (picture,) = shared.call("draw-picture", width=20, height=10)["content"]
    assert picture["mimeType"] == "image/png"
    raw = base64.b64decode(picture["data"], validate=True)
    assert raw.startswith(b"\x89PNG\r\n\x1a\n")
    assert (int.from_bytes(raw[16:20]), int.from_bytes(raw[20:24])) == (20, 10)
    (sound,) = shared.call("play-tone", seconds=0.01)["content"]
    assert sound["mimeType"] == "audio/wav"
    raw = base64.b64decode(sound["data"], validate=True)
    assert (raw[:4], raw[8:12]) == (b"RIFF", b"WAVE")
    assert int.from_bytes(raw[4:8], "little") == len(raw) - 8


def test_errors_of_both_kinds_are_as_asked_for(shared: StdioPeer) -> None:
    assert shared.call("fail", message="no paper") == {
        "content": [{"type": "text", "text": "no paper"}],
        "isError": True,
    }
    problem = shared.error("tools/call", {"name": "protocol-error", "arguments": {"code": 7, "message": "seven"}})
    assert (problem["code"], problem["message"]) == (7, "seven")
    assert problem["data"]["asked"] is True


def test_big_answers_have_the_size_asked_for(shared: StdioPeer) -> None:
    assert len(text_of(shared.call("big", megabytes=2.5))) == 2_500_000


def test_search_links_to_resources_that_can_be_read(shared: StdioPeer) -> None:
    links = [link for link in shared.call("search", query="item-10", limit=3)["content"] if link["type"] != "text"]
    assert [link["uri"] for link in links] == ["demo://items/10", "demo://items/100", "demo://items/101"]
    for link in links:
        (contents,) = shared.ask("resources/read", {"uri": link["uri"]})["contents"]
        assert contents["mimeType"] == link["mimeType"]
        assert len(contents["text"]) == link["size"]
    assert shared.call("search", query="nothing like it")["isError"] is True


@pytest.mark.slow
def test_a_crash_ends_the_process_with_the_code_asked_for() -> None:
    peer = StdioPeer()
    peer.open()
    peer.start("tools/call", {"name": "crash", "arguments": {"exit_code": 7}})
    assert peer.process.wait(10) == 7
    peer.close()
    assert b"crashing" in peer.errors


@pytest.mark.slow
def test_noise_goes_to_stderr_only() -> None:
    peer = StdioPeer()
    peer.open()
    peer.call("noisy", lines=3, colour=True)
    peer.close()
    assert peer.errors == b"".join(b"\x1b[33mwarning\x1b[0m: line %d\n" % n for n in (1, 2, 3))


def slow_call(peer: MemoryPeer, **more: Any) -> int:
    arguments = {"seconds": 30, "steps": 1000}  # a step takes 30 ms
    return peer.start("tools/call", {"name": "slow", "arguments": arguments, **more})


def test_progress_grows_carries_the_token_and_ends_with_the_answer(shared: StdioPeer) -> None:  # UTIL-15, UTIL-17
    for token in ("text", 7):
        arguments = {"seconds": 0.02, "steps": 4}
        shared.ask("tools/call", {"name": "slow", "arguments": arguments, "_meta": {"progressToken": token}})
        reports = [report for report in shared.all_of("notifications/progress") if report["progressToken"] == token]
        assert [(report["progress"], report["total"]) for report in reports] == [(1, 4), (2, 4), (3, 4), (4, 4)]
        assert reports[0]["message"] == "step 1 of 4"


def test_without_a_token_there_is_no_progress(connect: Connect) -> None:  # UTIL-16
    peer = connect()
    peer.call("slow", seconds=0, steps=3)
    assert peer.all_of("notifications/progress") == []


def test_a_cancelled_call_stops_and_is_not_answered(connect: Connect) -> None:  # UTIL-18
    peer = connect()
    request_id = slow_call(peer, _meta={"progressToken": "t"})
    peer.notification("notifications/progress")
    assert peer.ask("ping") == {}  # a call that runs does not keep the server from reading
    peer.notify("notifications/cancelled", {"requestId": request_id})
    assert text_of(peer.call("slow", seconds=0, steps=1)) == "Done in 1 steps."
    before = len(peer.all_of("notifications/progress"))
    peer.call("slow", seconds=0.1, steps=1)  # longer than a few steps of the cancelled call
    assert len(peer.all_of("notifications/progress")) == before
    assert not any(message.get("id") == request_id for message in peer.received)


def test_an_id_in_use_is_refused_and_the_first_call_goes_on(connect: Connect) -> None:
    peer = connect()
    request_id = peer.start("tools/call", {"name": "where-am-i"})
    question = peer.notification("roots/list")
    peer.send({"jsonrpc": "2.0", "id": request_id, "method": "ping"})
    assert peer.response(request_id)["error"]["code"] == -32600
    peer.send({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": []}})
    assert peer.wait(lambda m: m.get("id") == request_id and "result" in m)


def test_a_call_that_finishes_after_it_was_cancelled_is_not_answered() -> None:  # UTIL-18
    answers: list[bytes | None] = []
    done = threading.Event()

    class Impatient(Channel):
        """Cancels the call as soon as it says something that it does not have to wait for."""

        def send(self, raw: bytes) -> None:
            if b"list_changed" in raw:
                cancelled = {"method": "notifications/cancelled", "params": {"requestId": 2}}
                session.receive({"jsonrpc": "2.0", **cancelled}, self)

        def answer(self, raw: bytes | None, status: int = 200) -> None:
            answers.append(raw)
            if len(answers) == 2:
                done.set()

    channel = Impatient()
    session = LegacySession(DemoState(all_tools(), all_prompts()), channel, "memory")
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
    session.receive({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}, channel)
    session.receive({"jsonrpc": "2.0", "method": "notifications/initialized"}, channel)
    burst = {"name": "burst", "arguments": {"count": 1, "kind": "list_changed"}}
    session.receive({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": burst}, channel)
    assert done.wait(10)
    assert answers[1] is None


def test_forgotten_calls_are_never_answered_but_can_be_cancelled(connect: Connect) -> None:
    peer = connect()
    request_id = peer.start("tools/call", {"name": "forget"})
    peer.notify("notifications/cancelled", {"requestId": request_id})
    assert peer.ask("ping") == {}
    assert not any(message.get("id") == request_id for message in peer.received)


def test_log_messages_below_the_level_set_are_not_sent(connect: Connect) -> None:  # UTIL-09, UTIL-10
    peer = connect()
    for level in ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"):
        assert peer.ask("logging/setLevel", {"level": level}) == {}
    assert peer.error("logging/setLevel", {"level": "loud"})["code"] == -32602
    peer.ask("logging/setLevel", {"level": "warning"})
    peer.call("count", to=2, level="notice", interval=0)
    peer.call("count", to=2, level="warning", interval=0)
    messages = peer.all_of("notifications/message")
    assert [message["data"] for message in messages] == [{"count": 1, "of": 2}, {"count": 2, "of": 2}]
    assert {message["level"] for message in messages} == {"warning"}


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        ("message", "notifications/message"),
        ("progress", "notifications/progress"),
        ("list_changed", "notifications/tools/list_changed"),
    ],
)
def test_a_burst_has_as_many_notifications_as_asked_for(connect: Connect, kind: str, method: str) -> None:
    peer = connect()
    arguments = {"count": 300, "kind": kind}
    peer.ask("tools/call", {"name": "burst", "arguments": arguments, "_meta": {"progressToken": 1}})
    assert sum(message.get("method") == method for message in peer.received) == 300
