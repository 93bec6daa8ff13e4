"""The demo server's events: ticks by poll and by stream, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from inspector.features.events.demo import KEPT
from tests.demo.demo_client import MODERN, PREFIX, MemoryPeer
from tests.demo.schemas import check

Modern = Callable[..., MemoryPeer]
TICK = 0.02


def poll(peer: MemoryPeer, cursor: str | None = None, **more: Any) -> dict[str, Any]:
    answer: dict[str, Any] = peer.ask("events/poll", {"name": "clock.ticked", "cursor": cursor, **more})
    return answer


def test_a_first_poll_has_a_cursor_and_no_events(modern: Modern) -> None:
    answer = poll(modern(tick=TICK))
    assert (answer["events"], answer["truncated"], answer["hasMore"]) == ([], False, False)
    assert answer["nextPollMs"] == 1000


def test_a_backlog_is_delivered_in_parts(modern: Modern) -> None:
    peer = modern(tick=TICK)
    newest = int(poll(peer)["cursor"])
    first = poll(peer, str(newest - 5), maxEvents=2)
    assert [event["data"]["tick"] for event in first["events"]] == [newest - 4, newest - 3]
    assert (first["cursor"], first["hasMore"]) == (str(newest - 3), True)
    rest = poll(peer, first["cursor"])
    assert rest["events"][0]["eventId"] == f"tick-{newest - 2}"


def test_every_chooses_ticks(modern: Modern) -> None:
    peer = modern(tick=TICK)
    newest = int(poll(peer)["cursor"])
    answer = poll(peer, str(newest - 40), arguments={"every": 10})
    ticks = [event["data"]["tick"] for event in answer["events"]]
    assert len(ticks) >= 4
    assert not any(tick % 10 for tick in ticks)


@pytest.mark.parametrize("cursor", ["x", "", "9" * 30, "1", "old"])
def test_a_cursor_out_of_range_is_a_gap(modern: Modern, cursor: str) -> None:
    peer = modern(tick=TICK)
    fresh = poll(peer)["cursor"]
    answer = poll(peer, str(int(fresh) - KEPT - 50) if cursor == "old" else cursor)
    assert (answer["truncated"], answer["events"]) == (True, [])
    assert int(answer["cursor"]) >= int(fresh)


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("events/poll", {"name": "nothing"}, -32023),
        ("events/poll", {"name": "order.placed"}, -32026),
        ("events/stream", {"name": "order.placed"}, -32026),
        ("events/subscribe", {"name": "order.placed"}, -32024),
        ("events/poll", {"name": "clock.ticked", "arguments": {"every": 0}}, -32602),
        ("events/poll", {"name": "clock.ticked", "arguments": {"other": 1}}, -32602),
        ("events/poll", {"name": "clock.ticked", "arguments": []}, -32602),
        ("events/poll", {"name": "clock.ticked", "maxEvents": 0}, -32602),
        ("events/nothing", {}, -32601),
    ],
)
def test_what_is_refused(modern: Modern, method: str, params: dict[str, Any], code: int) -> None:
    assert modern(tick=TICK).error(method, params)["code"] == code


def test_a_stream_is_confirmed_delivers_beats_and_ends(modern: Modern) -> None:
    peer = modern(tick=TICK)
    peer.state.beat = 0.05
    number = peer.start("events/stream", {"name": "clock.ticked"})
    peer.wait(lambda message: message.get("method") == "notifications/events/heartbeat")
    mine = [message for message in peer.received if "method" in message]
    assert mine[0]["method"] == "notifications/events/active"
    assert {message["params"]["_meta"][PREFIX + "subscriptionId"] for message in mine} == {number}
    assert [message["params"]["cursor"] for message in mine if message["method"].endswith("/event")]
    peer.notify("notifications/cancelled", {"requestId": number})
    amount = len(peer.received)
    poll(peer)
    assert len(peer.received) == amount + 1
    assert peer.state.subscriptions == []


def test_the_list_follows_the_rules_of_results(modern: Modern) -> None:
    answer = modern().ask("events/list")
    check(MODERN, "Result", answer)
    assert answer["resultType"] == "complete"
    assert [event["name"] for event in answer["events"]] == ["clock.ticked", "order.placed"]
