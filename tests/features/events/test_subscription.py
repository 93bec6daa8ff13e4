"""One subscription: polls and notifications, right ones and odd ones."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.features.events import subscription as module
from inspector.features.events.protocol import event_type
from inspector.features.events.subscription import (
    CEILING,
    FLOOR,
    MAX_IDS,
    MAX_ROUNDS,
    MAX_ROWS,
    PollPlan,
    Subscription,
    argument_problem,
    data_check,
)
from tests.features.events.test_protocol import TIDE

POLLED = {"resultType": "complete", "events": [], "cursor": "c1", "truncated": False, "hasMore": False,
          "nextPollMs": 5000}  # fmt: skip


def tide() -> Subscription:
    event = event_type(TIDE)
    return Subscription(event, {"pier": 3}, data_check(event))


def happened(id: Any = "e-1", **members: Any) -> dict[str, Any]:
    return {
        "eventId": id, "name": "tide.turned", "timestamp": "2026-11-22T08:00:00Z", "data": {"pier": 3}
    } | members  # fmt: skip


def kinds(subscription: Subscription) -> list[str]:
    return [row.kind for row in subscription.rows]


def test_the_vector_of_a_poll() -> None:
    """C-EVENT-07, C-EVENT-12."""
    subscription = tide()
    assert subscription.params() == {"name": "tide.turned", "arguments": {"pier": 3}, "cursor": None}
    assert subscription.polled(POLLED, 4, 1.0) == PollPlan(False, 5.0)
    assert subscription.params(max_events=2, max_age_ms=9) == {
        "name": "tide.turned", "arguments": {"pier": 3}, "cursor": "c1", "maxEvents": 2, "maxAgeMs": 9
    }  # fmt: skip
    assert not subscription.rows


@pytest.mark.parametrize("result", [{}, {"cursor": None}])
def test_a_missing_cursor_is_none_and_is_never_kept(result: dict[str, Any]) -> None:
    """C-EVENT-08, C-EVENT-09."""
    subscription = tide()
    subscription.polled(POLLED, 1, 0.0)
    subscription.polled({"events": [happened()], "nextPollMs": 1000} | result, 2, 1.0)
    assert subscription.params()["cursor"] is None
    assert subscription.counts.invalid == 0


def test_a_gap_is_marked_and_its_events_are_kept() -> None:
    """C-EVENT-10."""
    subscription = tide()
    subscription.polled(POLLED | {"truncated": True, "events": [happened()], "cursor": "c9"}, 1, 0.0)
    assert kinds(subscription) == ["gap", "event"]
    assert (subscription.counts.gaps, subscription.cursor) == (1, "c9")


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (0, FLOOR), (-1, FLOOR), (10**18, CEILING), (1e18, CEILING), (10**400, CEILING), ("soon", FLOOR), (None, FLOOR),
        (True, FLOOR), (5, FLOOR), (30_000, 30.0),
    ],
)  # fmt: skip
def test_odd_times_of_the_next_poll(given: Any, seconds: float) -> None:
    """C-EVENT-12."""
    assert tide().polled(POLLED | {"nextPollMs": given}, 1, 0.0).wait == seconds


def test_more_is_polled_at_once_but_not_for_ever() -> None:
    """C-EVENT-11."""
    subscription = tide()
    plans = [
        subscription.polled(POLLED | {"hasMore": True, "events": [happened(f"e{at}")], "cursor": f"c{at}"}, at, 0.0)
        for at in range(MAX_ROUNDS)
    ]
    assert [plan.again for plan in plans] == [True] * (MAX_ROUNDS - 1) + [False]


def test_more_with_the_same_cursor_and_no_event_is_not_believed() -> None:
    """C-EVENT-11."""
    subscription = tide()
    plans = [subscription.polled(POLLED | {"hasMore": True}, at, 0.0).again for at in range(3)]
    assert plans == [True, False, True]
    assert kinds(subscription) == ["note"]


@pytest.mark.parametrize("cursor", ["x" * (1 << 20), 17, {"a": [1]}, ["c"]])
def test_odd_cursors_are_sent_back_as_they_came(cursor: Any) -> None:
    """C-EVENT-07."""
    subscription = tide()
    subscription.notified("active", {"cursor": cursor, "truncated": False}, 1, 0.0)
    assert subscription.params()["cursor"] == cursor
    assert len(subscription.rows[0].cursor) <= 60


def test_a_stream() -> None:
    """C-EVENT-17."""
    subscription = tide()
    subscription.notified("active", {"cursor": "c1", "truncated": False}, 1, 0.0)
    subscription.notified("event", happened(cursor="c2"), 2, 1.0)
    subscription.notified("error", {"error": {"code": -32603, "message": "upstream"}}, 3, 2.0)
    assert (subscription.ended, subscription.cursor) == ("", "c2")
    subscription.notified("heartbeat", {"cursor": "c3"}, 4, 3.0)
    subscription.notified("active", {"cursor": "c8", "truncated": True}, 5, 4.0)
    subscription.notified(
        "terminated", {"error": {"code": -32023, "message": "gone", "data": {"kind": "event"}}}, 6, 5.0
    )
    assert kinds(subscription) == ["active", "event", "error", "heartbeat", "gap", "terminated"]
    assert subscription.ended == "The server ended the subscription: gone (-32023, NotFound (SEP-3415))."
    assert (subscription.cursor, subscription.must_list_again) == ("c8", True)


@pytest.mark.parametrize("method", ["active", "event", "heartbeat", "error", "terminated", "surprise"])
@pytest.mark.parametrize("params", [None, [], {}, {"error": 5, "data": 5, "cursor": [[]]}])
def test_notifications_without_what_they_need(method: str, params: Any) -> None:
    subscription = tide()
    subscription.notified(method, params, 1, 0.0)
    assert subscription.total == 1


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"timestamp": "yesterday"}, "timestamp is not an ISO 8601 time."),
        ({"timestamp": 5}, "timestamp is not a string."),
        ({"data": None}, "data is not an object."),
        ({"data": {"pier": "x"}}, "data/pier: must be an integer, not a string."),
        ({"name": "other"}, 'The event is "other", not "tide.turned".'),
        ({"eventId": 5}, "eventId is not a string."),
    ],
)
def test_a_wrong_event_is_shown_with_the_reason(members: dict[str, Any], problem: str) -> None:
    """C-EVENT-06."""
    subscription = tide()
    subscription.notified("event", happened(**members), 1, 0.0)
    (row,) = subscription.rows
    assert (row.kind, subscription.counts.invalid) == ("event", 1)
    assert row.note.split(":")[0] == problem.split(":")[0]


def test_events_that_come_again_are_counted() -> None:
    """C-EVENT-19."""
    subscription = tide()
    for at, event in enumerate([happened(), happened(), happened(data={"pier": 4}), happened("e-2")]):
        subscription.notified("event", event, at, float(at))
    assert kinds(subscription) == ["event", "repeat", "repeat", "event"]
    assert (subscription.counts.events, subscription.counts.repeats, subscription.counts.changed) == (2, 2, 1)
    assert "other data" in subscription.rows[2].note


def test_a_flood_takes_bounded_memory() -> None:
    """C-EVENT-19."""
    subscription = Subscription("tide.turned", {})
    for at in range(MAX_IDS + 10):
        subscription.notified("event", happened("i" * 200 + str(at)), at, 0.0)
    assert subscription.counts.events == subscription.total == MAX_IDS + 10
    assert len(subscription.rows) == MAX_ROWS
    assert len(subscription._ids) == MAX_IDS
    assert all(len(key) < 100 for key in subscription._ids)
    subscription.notified("event", happened("i" * 200 + str(MAX_IDS)), 0, 0.0)
    assert subscription.counts.repeats == 1


def test_an_event_of_ten_megabytes_is_kept_as_its_start() -> None:
    subscription = tide()
    subscription.notified("event", happened(data={"pier": 3, "text": "x" * (10 << 20)}), 1, 0.0)
    assert len(subscription.rows[0].data) == 300


def test_data_nested_too_deeply_is_named() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    subscription = Subscription("tide.turned", {})
    subscription.notified("event", happened(data={"a": deep}), 1, 0.0)
    assert "too deeply" in subscription.rows[0].data


def test_order_is_by_the_time_of_the_server() -> None:
    subscription = tide()
    times = ["2026-11-22T08:00:00Z", "2026-11-22T07:00:00+00:00", "2026-11-22T09:00:00"]
    for at, time in enumerate(times):
        subscription.notified("event", happened(f"e{at}", timestamp=time), at, 0.0)
    assert subscription.counts.older == 1


def test_a_cursor_in_an_event_of_a_poll_is_named() -> None:
    subscription = tide()
    subscription.polled(POLLED | {"events": [happened(cursor="c5")]}, 1, 0.0)
    assert (subscription.cursor, subscription.counts.invalid) == ("c1", 1)


def test_heartbeats_are_one_row_and_teach_the_interval() -> None:
    """C-EVENT-14."""
    subscription = tide()
    assert subscription.heartbeat.silence == 60.0
    for at in (0.0, 5.0, 10.0):
        subscription.notified("heartbeat", {"cursor": f"c{at:g}"}, int(at), at)
    assert (kinds(subscription), subscription.rows[0].cursor) == (["heartbeat"], "c10")
    assert (subscription.counts.heartbeats, subscription.heartbeat.silence, subscription.cursor) == (3, 10.0, "c10")
    subscription.heartbeat.restart()
    subscription.notified("heartbeat", {}, 20, 500.0)
    assert subscription.heartbeat.silence == 10.0


def test_the_interval_has_bounds() -> None:
    """C-EVENT-14."""
    subscription = tide()
    for at in (0.0, 0.001, 10_000.0):
        subscription.notified("heartbeat", {}, 1, at)
    assert subscription.heartbeat.silence == 2 * module.MAX_BEAT


def test_arguments_are_checked_before_they_are_sent() -> None:
    """C-EVENT-06."""
    assert argument_problem(event_type(TIDE), {"pier": 1}) == ""
    assert argument_problem(event_type(TIDE), {"pier": "x"}).startswith("arguments/pier: ")
    assert argument_problem(event_type(TIDE | {"inputSchema": {"type": "nonsense"}}), {"pier": "x"}) == ""


def test_a_repeated_delivery_of_a_webhook_changes_nothing() -> None:
    """C-EVENT-24. Anyone who has seen a delivery can send it again."""
    subscription = tide()
    subscription.delivered("event", happened("e-1", cursor="c1"), 1, 1.0)
    subscription.delivered("event", happened("e-2", cursor="c2"), 2, 2.0)
    subscription.delivered("event", happened("e-1", cursor="c1"), 3, 3.0, repeated=True)
    subscription.delivered("gap", {"type": "gap", "cursor": "c0"}, 4, 4.0, repeated=True)
    subscription.delivered("terminated", {"type": "terminated", "error": {}}, 5, 5.0, repeated=True)
    assert (subscription.cursor, subscription.ended) == ("c2", "")
    assert kinds(subscription) == ["event", "event", "repeat", "note", "note"]
    counts = subscription.counts
    assert (counts.events, counts.repeats, counts.gaps) == (2, 3, 0)
