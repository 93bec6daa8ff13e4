"""`inspector events`: lists, polls, streams, webhooks, and what is refused before anything is sent."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from inspector.features.events.webhook import new_secret
from inspector.journal.format import Dir
from inspector.journal.journal import Journal
from inspector.journal.query import Query
from inspector.protocol.extensions import EVENTS
from tests.cli.conftest import Run, Script
from tests.client.modern import DISCOVERED
from tests.features.events.test_protocol import TIDE
from tests.features.events.test_subscription import POLLED, happened
from tests.features.events.test_webhook import BODY, HEADERS, SECRET
from tests.features.events.webhook_server import deliver
from tests.interop.listening_servers import free_port

pytestmark = pytest.mark.slow

HOOK = TIDE | {"name": "order.placed", "delivery": ["webhook"]}
GRANT = {"resultType": "complete", "id": "sub_1", "refreshBefore": "2026-11-22T09:00:00Z", "cursor": "c1"}


@pytest.fixture
def server(script: Script) -> list[str]:
    """A server with two event types."""
    capabilities = {"extensions": {EVENTS: {}}}
    methods = {
        "server/discover": {"result": DISCOVERED | {"capabilities": capabilities}},
        "events/list": {"result": {"resultType": "complete", "events": [TIDE, HOOK]}},
        "events/poll": {"result": POLLED | {"events": [happened(), happened()], "truncated": True}},
        "events/subscribe": {"result": GRANT},
        "events/unsubscribe": {"error": {"code": -32023, "message": "none", "data": {"kind": "subscription"}}},
    }
    return script(methods)


def sent(method: str) -> list[dict[str, Any]]:
    """The params of the requests in the recording."""
    journal = Journal.open(Path("a.mcp.jsonl"))
    journal.refresh()
    numbers = Query(dir=Dir.SEND, method=method).numbers(journal.index)
    params = [journal.event(n).message["params"] for n in numbers]
    journal.release()
    return params


def test_the_list(run: Run, server: list[str]) -> None:
    """C-EVENT-05: a type that Inspector cannot follow says so."""
    ran = run("events", *server)
    assert ran.code == 0, ran.err
    assert "tide.turned  poll, push\n    High or low water\n    arguments: pier?\n    data: pier\n" in ran.out
    assert "order.placed  webhook  (with --subscribe only)" in ran.out
    document = run("events", "--json", *server).json
    assert (document["dialect"], [event["name"] for event in document["events"]]) == (
        "extension",
        ["tide.turned", "order.placed"],
    )


def test_a_poll(run: Run, server: list[str]) -> None:
    """C-EVENT-02, C-EVENT-10, C-EVENT-19."""
    ran = run("events", "--poll", "tide.turned", "pier=3", "--max", "5", "--record", "a.mcp.jsonl", *server)
    assert ran.code == 0, ran.err
    assert [line.split()[1] for line in ran.out.splitlines()] == ["gap", "event", "repeat"]
    assert "1 event, 1 repeat, 1 gap; the next poll is due in 5 s; cursor c1" in ran.err
    (params,) = sent("events/poll")
    assert (params["arguments"], params["maxEvents"], params["cursor"]) == ({"pier": 3}, 5, None)
    assert EVENTS in params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["extensions"]


def test_json_is_a_line_for_each_row(run: Run, server: list[str]) -> None:
    ran = run("events", "--poll", "tide.turned", "--json", *server)
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert [row["kind"] for row in rows] == ["gap", "event", "repeat"]
    assert rows[1]["event"] == happened()


def test_polls_are_followed_for_a_time(run: Run, server: list[str]) -> None:
    ran = run("events", "--follow", "tide.turned", "--by", "poll", "--for", "0.2", "--quiet", *server)
    assert ran.code == 0, ran.err
    assert ran.out.count("event") == 1


def test_a_stream_of_the_demo(run: Run) -> None:
    """C-EVENT-13."""
    demo = ("--", sys.executable, "-m", "inspector.demo", "--tick", "0.05")
    ran = run("events", "--follow", "clock.ticked", "every=2", "--for", "0.5", "--json", *demo)
    assert ran.code == 0, ran.err
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert rows[0]["kind"] == "active"
    ticks = [row["event"]["data"]["tick"] for row in rows if row["kind"] == "event"]
    assert ticks == list(range(ticks[0], ticks[0] + 2 * len(ticks), 2))


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--poll", "tide.turned", "pier=x"), "pier"),
        (("--poll", "tide.turned", "pier:=true"), "arguments/pier"),
        (("--poll", "tied.turned"), "Did you mean “tide.turned”?"),
        (("--follow", "order.placed"), "is not delivered by poll or push.\nhint: Use --subscribe and --url"),
        (("--follow", "tide.turned", "--poll", "x"), "cannot be used with"),
        (("--max", "5"), "--max works only with --poll"),
        (("pier=3",), "Arguments need an event type"),
        (("--subscribe", "order.placed"), "--subscribe needs --url"),
        (("--subscribe", "order.placed", "--url", "https://x.example/"), "--subscribe needs --secret-file"),
        (("--subscribe", "order.placed", "--url", "http://x.example/", "--secret-file", "new.key"), "https"),
        (("--verify", "x", "--secret-file", "y"), "--verify needs no target"),
        (("--listen", "1"), "--listen works only with --subscribe"),
        (("--certificate", "x"), "--certificate works only with --listen"),
        (
            (
                "--subscribe",
                "order.placed",
                "--url",
                "https://x.example/",
                "--secret-file",
                "new.key",
                "--listen",
                "0.0.0.0:1",
            ),
            "not a loopback address",
        ),
    ],
)
def test_what_is_refused(run: Run, server: list[str], words: tuple[str, ...], problem: str) -> None:
    """C-EVENT-06, C-EVENT-21."""
    ran = run("events", *words, *server)
    assert ran.code in (1, 2, 4)
    assert problem in ran.err


def test_a_server_without_events(run: Run, script: Script) -> None:
    """C-EVENT-01."""
    ran = run("events", *script({"server/discover": {"result": DISCOVERED}}))
    assert "The server does not declare io.modelcontextprotocol/events." in ran.err
    assert "needs a target" in run("events").err


def test_an_error_has_its_name(run: Run, server: list[str]) -> None:
    """C-EVENT-04."""
    ran = run("events", "--unsubscribe", "order.placed", "--url", "https://x.example/", *server)
    assert ran.code == 1
    assert "-32023 means NotFound (SEP-3415)." in ran.err


def test_the_secret_of_a_webhook_is_nowhere_but_in_its_file(run: Run, server: list[str], home: Path) -> None:
    """C-EVENT-21."""
    words = ("--subscribe", "order.placed", "pier=3", "--url", "https://x.example/in", "--secret-file", "hook.key")
    ran = run("events", *words, "--record", "a.mcp.jsonl", *server)
    assert ran.code == 0, ran.err
    assert "sub_1" in ran.out
    secret = Path("hook.key").read_text().strip()
    assert Path("hook.key").stat().st_mode & 0o777 == 0o600
    (params,) = sent("events/subscribe")
    assert params["delivery"]["secret"].startswith("‹redacted ")
    assert params["delivery"]["url"] == "https://x.example/in"
    others = [path for path in home.rglob("*") if path.is_file() and path.name != "hook.key"]
    assert Path("a.mcp.jsonl").resolve() in others
    for text in (ran.out, ran.err, *(path.read_text("utf-8", "replace") for path in others)):
        assert secret not in text
    again = run("events", *words, "--json", *server)
    assert again.json["id"] == "sub_1"
    assert Path("hook.key").read_text().strip() == secret


@pytest.fixture
def listened() -> Iterator[Callable[..., int]]:
    """Delivers from a thread to a port as soon as something listens there: `listened(port, work)`."""
    threads: list[threading.Thread] = []

    def start(port: int, work: Callable[[], Any]) -> int:
        def deliver_when_open() -> None:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                except ConnectionRefusedError:
                    time.sleep(0.01)
                else:
                    break
            work()

        threads.append(threading.Thread(target=deliver_when_open, daemon=True))
        threads[-1].start()
        return port

    yield start
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


def test_deliveries_are_received_and_the_subscription_is_removed(
    run: Run, script: Script, listened: Callable[..., int]
) -> None:
    """C-EVENT-17, C-EVENT-19, C-EVENT-23, C-EVENT-25, C-EVENT-27."""
    server = script({
        "server/discover": {"result": DISCOVERED | {"capabilities": {"extensions": {EVENTS: {}}}}},
        "events/list": {"result": {"resultType": "complete", "events": [HOOK]}},
        "events/subscribe": {"result": GRANT},
        "events/unsubscribe": {"result": {"resultType": "complete"}},
    })  # fmt: skip
    Path("hook.key").write_text(SECRET)
    port, url = free_port(), "https://x.example/in"
    words = (
        "events", "--subscribe", "order.placed", "pier=3", "--url", url, "--secret-file", "hook.key", "--record",
        "a.mcp.jsonl", "--force", "--listen",
    )  # fmt: skip
    event = {"eventId": "e-1", "name": "order.placed", "timestamp": "2026-11-22T08:00:00Z", "data": {"pier": 3}}

    def deliveries() -> None:
        send = partial(deliver, port, url)
        assert send(SECRET, "v", {"type": "verification", "challenge": "c"})[1] == b'{"challenge": "c"}'
        for secret in (SECRET, SECRET, new_secret()):
            send(secret, "e-1", event)
        send(SECRET, "g-1", {"type": "gap", "cursor": "c9"})
        os.kill(os.getpid(), signal.SIGINT)  # Ctrl-C

    ran = run(*words, str(listened(port, deliveries)), *server)
    assert ran.code == 130, ran.err
    kinds = [line.split()[1] for line in ran.out.splitlines() if line[:2].isdigit()]
    assert kinds == ["note", "event", "repeat", "note", "gap"]
    assert "1 event, 1 repeat, 1 gap, 1 rejected" in ran.err
    assert "Unsubscribed." in ran.err
    (params,) = sent("events/unsubscribe")
    assert (params["arguments"], params["delivery"]) == ({"pier": 3}, {"url": url})
    assert SECRET not in ran.out + ran.err + Path("a.mcp.jsonl").read_text()

    def ending() -> None:
        deliver(port, url, SECRET, "t-1", {"type": "terminated", "error": {"code": -32024, "message": "over"}})

    ran = run(*words, str(listened(port, ending)), *server)
    assert ran.code == 1
    assert "The server ended the subscription: over" in ran.err
    assert sent("events/unsubscribe") == []


def test_a_delivery_is_verified_without_a_connection(run: Run) -> None:
    """C-EVENT-23, C-EVENT-24."""
    Path("hook.key").write_text(SECRET)
    head = "\r\n".join(["POST /in HTTP/1.1", *(f"{name}: {value}" for name, value in HEADERS.items()), "", ""])
    Path("delivery.txt").write_bytes(head.encode() + BODY)
    words = ("--verify", "delivery.txt", "--secret-file", "hook.key")
    ran = run("events", *words, "--at", "1795334400")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "accept")
    late = run("events", *words, "--json")
    assert late.code == 5
    assert (late.json["signed"], late.json["fresh"], late.json["accepted"]) == (True, False, False)
    assert SECRET not in ran.out + ran.err + late.out
    assert run("events", "--verify", "delivery.txt", "--secret-file", "none.key").code == 2
    assert not Path("none.key").exists()


def test_the_sketch_is_used_only_on_request(run: Run, script: Script) -> None:
    """C-EVENT-03."""
    server = script({
        "server/discover": {"result": DISCOVERED | {"capabilities": {"events": {}}}},
        "events/list": {"result": {"resultType": "complete", "events": []}},
    })  # fmt: skip
    ran = run("events", *server)
    assert (ran.code != 0, "add --sketch" in ran.err) == (True, True)
    ran = run("events", "--sketch", *server)
    assert (ran.code, "as before SEP-3415" in ran.err) == (0, True)


def test_a_removed_type_is_looked_up_in_the_new_list(run: Run, script: Script) -> None:
    """C-EVENT-18."""
    gone = {"error": {"code": -32023, "message": "gone", "data": {"kind": "event"}}}
    server = script({
        "server/discover": {"result": DISCOVERED | {"capabilities": {"extensions": {EVENTS: {}}}}},
        "events/list": [
            {"result": {"resultType": "complete", "events": [TIDE]}},
            {"result": {"resultType": "complete", "events": [HOOK]}},
        ],
        "events/poll": gone,
    })  # fmt: skip
    ran = run("events", "--follow", "tide.turned", "--by", "poll", "--for", "5", *server)
    assert ran.code == 1
    assert "The server no longer lists tide.turned." in ran.err
    assert "-32023 means NotFound (SEP-3415)." in ran.err
