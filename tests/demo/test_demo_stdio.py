"""The demo server over stdio: start, framing, handshake, end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.demo.demo_client import MemoryPeer, StdioPeer, text_of

Connect = Callable[..., MemoryPeer]

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


@pytest.mark.slow
def test_starting_loads_neither_asyncio_nor_http_nor_the_rest_of_inspector() -> None:
    script = (
        "import sys; from inspector.demo.__main__ import main; main([]);"
        "bad = {'asyncio', 'http', 'typing', 'argparse', 'socket', 'dataclasses', 'inspect', 'logging'};"
        "print(sorted(m for m in sys.modules if m in bad or m.startswith('inspector') and 'demo' not in m))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", script], stdin=subprocess.DEVNULL, capture_output=True, check=True
    )
    assert done.stdout.strip() == b"['inspector', 'inspector.version']"


@pytest.mark.parametrize("revision", REVISIONS)
def test_each_revision_is_answered_with_itself(revision: str) -> None:  # LIFE-02
    opened = MemoryPeer().open(revision)
    assert opened["protocolVersion"] == revision
    assert ("completions" in opened["capabilities"]) == (revision >= "2025-03-26")
    assert ("title" in opened["serverInfo"]) == (revision >= "2025-06-18")
    assert ("icons" in opened["serverInfo"]) == (revision >= "2025-11-25")


@pytest.mark.slow
def test_an_unknown_revision_is_answered_with_the_newest_known() -> None:  # LIFE-03
    assert MemoryPeer().open("2099-01-01")["protocolVersion"] == "2025-11-25"
    older = StdioPeer("--revision", "2025-03-26")
    assert older.open("2099-01-01")["protocolVersion"] == "2025-03-26"
    assert older.close() == 0


def test_before_initialize_only_ping_is_served() -> None:  # LIFE-07, LIFE-09, STDIO-11, UTIL-20
    peer = MemoryPeer(era="legacy")
    assert peer.ask("ping") == {}
    assert peer.error("tools/list")["code"] == -32600
    assert peer.error("server/discover")["code"] == -32601
    assert peer.error("initialize", {"protocolVersion": 3})["code"] == -32602
    assert peer.error("initialize", {"protocolVersion": "2025-11-25", "capabilities": []})["code"] == -32602
    peer.open()
    assert peer.error("initialize", {"protocolVersion": "2025-11-25"})["code"] == -32600


@pytest.mark.parametrize(
    ("line", "code", "has_id"),
    [
        (b"{not json}", -32700, False),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', -32700, False),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1E400}}', -32700, False),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700, False),
        (b"[" * 5000, -32700, False),
        (b"[]", -32600, False),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, False),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, False),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, False),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, False),
        (b'{"id":1,"method":"ping"}', -32600, False),
        (b'{"jsonrpc":"2.0","id":1}', -32600, False),
        (b'{"jsonrpc":"2.0","id":91,"method":"no/such"}', -32601, True),
        (b'{"jsonrpc":"2.0","id":92,"method":"tools/call","params":[]}', -32602, True),
        (b'{"jsonrpc":"2.0","id":93,"method":"tools/call","params":{"name":["echo"]}}', -32602, True),
        (b'{"jsonrpc":"2.0","id":94,"method":"tools/list","params":{"cursor":"bogus"}}', -32602, True),
        (b'{"jsonrpc":"2.0","id":95,"method":"tools/list","params":{"cursor":7}}', -32602, True),
        (b'{"jsonrpc":"2.0","id":"96","method":"resources/read","params":{"uri":{}}}', -32602, True),
    ],
)
def test_bad_lines_are_answered_with_errors_and_survived(
    shared: StdioPeer, line: bytes, code: int, has_id: bool
) -> None:  # STDIO-06, BASE-05 to BASE-09
    shared.received.clear()
    shared.send_raw(b"\n" + line + b"\r\n")
    problem = shared.wait(lambda m: "error" in m)
    assert problem["error"]["code"] == code
    assert ("id" in problem) == has_id
    assert shared.ask("ping") == {}


def test_stray_messages_are_not_answered(connect: Connect) -> None:  # BASE-10, UTIL-19
    peer = connect()
    peer.notify("notifications/unheard-of", {"x": 1})
    peer.notify("notifications/cancelled", {"requestId": 4711})
    peer.notify("notifications/cancelled", {"requestId": {}})
    peer.notify("notifications/cancelled")
    peer.send({"jsonrpc": "2.0", "id": 99, "result": {}})
    peer.send({"jsonrpc": "2.0", "id": {}, "result": {}})
    before = len(peer.received)
    assert peer.ask("ping") == {}
    assert len(peer.received) == before + 1


def test_ids_come_back_as_they_were(shared: StdioPeer) -> None:  # BASE-02
    for request_id in ("seven", "7", -1, 2**70):
        shared.send({"jsonrpc": "2.0", "id": request_id, "method": "ping"})
        assert shared.response(request_id)["result"] == {}


def test_batches_are_answered_as_arrays_at_2025_03_26(connect: Connect) -> None:  # BASE-12
    peer = connect(revision="2025-03-26")
    slow = {"name": "slow", "arguments": {"seconds": 0.02, "steps": 2}}
    peer.send(
        [
            {"jsonrpc": "2.0", "id": "a", "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/unheard-of"},
            {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": slow},
            {"jsonrpc": "2.0", "id": None, "method": "ping"},
        ]
    )
    answers = peer.wait(lambda m: isinstance(m, list))
    assert [answer.get("id") for answer in answers] == ["a", None, "b"]


def test_lone_surrogates_and_separators_come_back_unharmed(shared: StdioPeer) -> None:
    words = "\ud800 \u2028 \u2029 \u0085 \x1b[31m \U0001f642"
    assert text_of(shared.call("echo", message=words)) == words


def test_a_message_of_many_megabytes_is_taken_and_given(shared: StdioPeer) -> None:
    words = "ä" * 4_000_000
    assert text_of(shared.call("echo", message=words)) == words


def test_requests_sent_together_are_all_answered(shared: StdioPeer) -> None:  # STDIO-07
    ids = [shared.start("tools/call", {"name": "add", "arguments": {"a": n, "b": 1}}) for n in range(50)]
    assert [shared.response(request_id)["result"]["structuredContent"]["sum"] for request_id in ids] == list(
        range(1, 51)
    )


@pytest.mark.slow
def test_it_ends_when_stdin_ends_even_in_the_middle_of_calls() -> None:  # STDIO-04
    peer = StdioPeer()
    peer.open()
    peer.start("tools/call", {"name": "forget"})
    peer.start("tools/call", {"name": "ask-user"})
    peer.wait(lambda m: m.get("method") == "elicitation/create")
    assert peer.close() == 0
    assert peer.errors == b""
