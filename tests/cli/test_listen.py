"""`listen`: what the server tells by itself, as it comes, until something ends it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector.cli.notification_lines import written
from inspector.cli.output import MAX_HELD, Output
from inspector.protocol.exact_json.depth import LEFT_OUT
from tests.cli.conftest import Run, Script
from tests.cli.test_processes import is_alive, start
from tests.processes import environment

pytestmark = pytest.mark.slow

HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "logging": {}},
    "serverInfo": {"name": "s", "version": "1"},
}
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {"listChanged": True}, "resources": {"subscribe": True}},
}


def notice(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": f"notifications/{method}", **({"params": params} if params else {})}


TOLD = [
    (notice("resources/updated", uri="a:1\x1b"), "resources/updated  a:1␛"),
    (notice("tools/list_changed"), "tools/list_changed"),
    (notice("message", level="info", logger="db", data="one\ntwo"), "message  info db: one↵two"),
    (notice("message", level="info", data={"a": [1]}), 'message  info: {"a":[1]}'),
    (notice("progress", progressToken="t", progress=1, total=2.5, message="half"), "progress  t: 1/2.5  half"),
    (notice("progress", progressToken=7, progress=None), "progress  7: null"),
    (notice("cancelled", requestId="r", reason="why"), "cancelled  r  why"),
    (notice("tasks/status", taskId="x", status="working", ttl=5), "tasks/status  x  working"),
    (notice("of/our/own", a={"b": None}, _meta={"c": 1}), 'of/our/own  {"a":{"b":null}}'),
    ({"jsonrpc": "2.0", "method": "notifications/odd", "params": [1]}, "odd"),
]
MESSAGES = [message for message, _ in TOLD]


@pytest.fixture
def teller(script: Script) -> list[str]:
    """A server that tells all that when a resource is subscribed to, and ends."""
    done = {"result": {}, "after": MESSAGES, "then-exit": 3}
    return script(initialize={"result": HELLO}, resources__subscribe=done)


def test_each_notification_is_a_line_with_its_time(run: Run, teller: list[str]) -> None:
    ran = run("listen", "--resource", "a:1", *teller)
    lines = ran.out.splitlines()
    assert [re.sub(r"^\d\d:\d\d:\d\d\.\d{3}  notifications/", "", line) for line in lines] == [text for _, text in TOLD]
    assert ran.err.startswith(
        "Listening to the lists of tools, a:1; press Ctrl-C to stop.\nerror: The server ended with exit"
    )
    assert ran.code == 4


def test_as_json_each_message_is_a_line_as_it_came(run: Run, teller: list[str]) -> None:
    ran = run("listen", "--resource", "a:1", "--json", "--quiet", *teller)
    assert [json.loads(line) for line in ran.out.splitlines()] == MESSAGES
    assert (ran.code, ran.error["code"]) == (4, "exited")


def test_as_json_notes_are_in_the_one_line_of_the_error(run: Run, teller: list[str]) -> None:
    ran = run("listen", "--resource", "a:1", "--json", *teller)
    assert ran.error["code"] == "exited"
    assert ran.error["notes"][0] == "Listening to the lists of tools, a:1; press Ctrl-C to stop."


def test_as_json_notes_come_at_the_end_where_nothing_failed(demo: list[str]) -> None:
    with start("listen", "--resource", "demo://clock", "--json", "--for", "1", *demo) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert all(json.loads(line) for line in out.splitlines())
    assert err.decode().splitlines()[0].endswith("press Ctrl-C to stop.")


def test_of_very_many_notes_the_number_of_those_left_out_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    out = Output(json=True)
    for number in range(MAX_HELD + 1500):
        out.note(f"note {number}")
    assert capsys.readouterr().err == ""
    out.finish()
    first, second, *rest = capsys.readouterr().err.splitlines()
    assert first == "note: 1,500 earlier notes were dropped."
    assert second == "note 1500"
    assert len(rest) == MAX_HELD - 1


def test_numbers_stay_as_they_were_written_and_a_message_stays_one_line(run: Run, script: Script) -> None:
    raw = '{"jsonrpc":"2.0","id":$ID,"result":{}}\n\ufeff{"method":"notifications/x" ,"params":{"a":1.50}}\r'
    server = script(initialize={"result": HELLO}, resources__subscribe={"raw": raw, "then-exit": 0})
    ran = run("listen", "--resource", "a:1", "--json", *server)
    assert ran.out == '{"method":"notifications/x" ,"params":{"a":1.50}}\n'


def test_notifications_in_an_array_are_printed_one_by_one(run: Run, script: Script) -> None:
    hello = HELLO | {"protocolVersion": "2025-03-26"}
    batch = [[MESSAGES[1], 5, {"jsonrpc": "2.0", "id": 1, "result": {}}, MESSAGES[3]]]
    server = script(initialize={"result": hello}, resources__subscribe={"result": {}, "after": batch, "then-exit": 0})
    ran = run("listen", "--resource", "a:1", "--json", "--quiet", *server)
    assert [json.loads(line) for line in ran.out.splitlines()] == [MESSAGES[1], MESSAGES[3]]


def test_values_of_any_type_and_depth_are_printed(run: Run, script: Script) -> None:
    deep: Any = []
    for _ in range(600):
        deep = [deep]
    odd = [None, True, 1.5, "x" * 5000, [1], {"a": {}}, deep]
    methods = ["message", "resources/updated", "progress", "cancelled", "tasks/status", "tasks", "x"]
    keys = [
        "level",
        "logger",
        "data",
        "uri",
        "progressToken",
        "progress",
        "total",
        "message",
        "requestId",
        "reason",
        "taskId",
    ]
    notices = [notice(method, **dict.fromkeys(keys, value)) for method in methods for value in odd]
    notices += [
        {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": value} for method in methods for value in odd
    ]
    hello = {"result": HELLO | {"protocolVersion": "2025-03-26"}}
    reply = {"result": {}, "after": [*notices, notices], "then-exit": 0}
    server = script(initialize=hello, resources__subscribe=reply)
    ran = run("listen", "--era", "legacy", "--resource", "a:1", *server)
    assert len(ran.out.splitlines()) == 2 * len(notices)
    ran = run("listen", "--era", "legacy", "--resource", "a:1", "--json", *server)
    assert len(list(map(json.loads, ran.out.splitlines()))) == 2 * len(notices)


def test_a_line_keeps_to_the_screen(run: Run, teller: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    ran = run("listen", "--resource", "a:1", *teller)
    assert max(map(len, ran.out.splitlines())) == 50


def test_it_ends_when_its_time_is_over(run: Run, script: Script) -> None:
    ran = run("listen", "--for", "0.01", *script(initialize={"result": HELLO}))
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "Listening to the lists of tools; press Ctrl-C to stop.\n"
    assert run("listen", "--for", "0", *script()).code == 2


@pytest.mark.parametrize(
    ("capabilities", "reply", "words"),
    [
        ({"resources": {}}, {"result": {}}, "does not offer resource subscriptions"),
        ({"resources": {"subscribe": True}}, {"error": {"code": -32602, "message": "which?"}}, "which?"),
    ],
)
def test_a_resource_that_cannot_be_subscribed_to_is_an_error(
    run: Run, script: Script, capabilities: dict[str, Any], reply: dict[str, Any], words: str
) -> None:
    hello = {"result": HELLO | {"capabilities": capabilities}}
    ran = run("listen", "--resource", "a:1", *script(initialize=hello, resources__subscribe=reply))
    assert ran.code == 1
    assert words in ran.err


def test_the_log_level_is_requested(run: Run, script: Script) -> None:
    level = {"result": {}, "after": [MESSAGES[2]], "then-exit": 0}
    ran = run("listen", "--log-level", "debug", *script(initialize={"result": HELLO}, logging__setLevel=level))
    assert "message  info db" in ran.out


MODERN = """
import json, sys
def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def tell(method, id, **params):
    params["_meta"] = {"io.modelcontextprotocol/subscriptionId": id}
    send(method="notifications/" + method, params=params)
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "server/discover":
        send(id=message["id"], result=%r)
    elif message["method"] == "subscriptions/listen":
        id, wanted = message["id"], message["params"]["notifications"]
        tell("subscriptions/acknowledged", id, notifications=wanted if %r else {})
        if %r:
            tell("tools/list_changed", id)
            send(id=id, result={"resultType": "complete"})
"""


def modern(*, agrees: bool) -> list[str]:
    return ["--", sys.executable, "-S", "-c", MODERN % (DISCOVERED, agrees, agrees)]


def test_a_subscription_that_the_server_ends_is_over(run: Run) -> None:
    ran = run("listen", "--resource", "a:1", *modern(agrees=True))
    assert ran.code == 0
    assert ran.out.splitlines()[-1].endswith("notifications/tools/list_changed")
    assert "ended the subscription" in ran.err


def test_a_server_that_agrees_to_nothing_is_not_waited_for(run: Run) -> None:
    ran = run("listen", *modern(agrees=False))
    assert ran.code == 0
    assert "did not accept toolsListChanged" in ran.err
    ran = run("listen", "--resource", "a:1", *modern(agrees=False))
    assert ran.code == 1
    assert "did not acknowledge" in ran.err


def test_a_modern_server_that_tells_nothing_is_not_listened_to(run: Run, script: Script) -> None:
    nothing = {"result": DISCOVERED | {"capabilities": {"tools": {}}}}
    ran = run("listen", *script(server__discover=nothing))
    assert ran.code == 1
    assert "--resource" in ran.err


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_an_interrupt_ends_it_and_the_server(demo: list[str], tmp_path: Path, home: Path, era: str) -> None:
    kept = tmp_path / "kept.mcp.jsonl"
    words = ["listen", "--era", era, "--json", "--resource", "demo://clock", "--record", str(kept), *demo]
    with start(*words) as process:
        assert process.stdout is not None
        while b"resources/updated" not in process.stdout.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130
    spawned = next(line for line in map(json.loads, kept.read_bytes().splitlines()) if line.get("event") == "spawn")
    assert not is_alive(spawned["pid"])


def test_it_ends_when_its_reader_has_gone(demo: list[str]) -> None:
    with start("listen", "--resource", "demo://clock", *demo) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.wait(20) == 0


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_stream_that_breaks_is_reported_and_asked_for_again(demo: list[str], home: Path, era: str) -> None:
    words = [*demo[1:], "--http", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(home)) as server:
        assert server.stdout is not None
        url = re.search(r"http://\S+", server.stdout.readline().decode())
        assert url is not None
        with start("listen", "--era", era, "--resource", "demo://clock", url[0]) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            while b"resources/updated" not in process.stdout.readline():
                assert process.poll() is None
            server.kill()
            assert process.stderr.readline().startswith(b"Listening to")
            assert process.stderr.readline().startswith(b"note: The stream broke and is requested again: ")
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        assert process.returncode == 130


def test_a_message_too_deep_to_be_written_is_written_without_its_parameters() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    text = written({"jsonrpc": "2.0", "method": "notifications/x", "params": deep})
    assert json.loads(text) == {"jsonrpc": "2.0", "method": "notifications/x", "params": LEFT_OUT}
