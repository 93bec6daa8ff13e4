"""A session's events: what is sent, which notification belongs where, how streams end and begin again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from inspector.client.session import Session
from inspector.errors import NotOffered, ServerError
from inspector.features.events import feed as module
from inspector.features.events import subscription as timing
from inspector.features.events.feed import Feed
from inspector.features.events.subscription import Subscription
from inspector.protocol.extensions import EVENTS
from tests.client.conftest import make_session, until
from tests.client.modern import DISCOVERED, SUBSCRIPTION, complete, modern, tell
from tests.features.events.test_protocol import TIDE
from tests.features.events.test_subscription import POLLED, happened

Reply = Callable[[Any], None]
EXTENSION = {"extensions": {EVENTS: {}}}


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses of a test's length."""
    monkeypatch.setattr(module, "LOOK_EVERY", 0.002)
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.002)
    monkeypatch.setattr(module, "MAX_PAUSE", 0.004)
    monkeypatch.setattr(timing, "FLOOR", 0.002)


@asynccontextmanager
async def feed_of(capabilities: dict[str, Any] | None = None, **methods: Any) -> AsyncIterator[tuple[Feed, Any]]:
    """A feed on a scripted server."""
    discovered = DISCOVERED | {"capabilities": EXTENSION if capabilities is None else capabilities}
    server = modern(discovered, **methods)
    session: Session = make_session(server, era="modern")
    await session.open()
    try:
        yield Feed(session), server
    finally:
        await session.close()
        session.journal.release()


def of_stream(method: str, id: Any, **params: Any) -> dict[str, Any]:
    return tell(f"notifications/events/{method}", **params, _meta={SUBSCRIPTION: id})


class Streams:
    """Takes `events/stream`, confirms it, and remembers how to reach each."""

    def __init__(self, *first: Callable[[Any, Reply], None]) -> None:
        self.asked: list[dict[str, Any]] = []
        self.reply: Reply = lambda _message: None
        self._first = list(first)

    def __call__(self, message: dict[str, Any], reply: Reply) -> None:
        self.asked.append(message)
        self.reply = reply
        if self._first:
            self._first.pop(0)(message["id"], reply)
        else:
            reply(of_stream("active", message["id"], cursor="c0", truncated=False))

    @property
    def id(self) -> Any:
        return self.asked[-1]["id"]

    def say(self, method: str, **params: Any) -> None:
        self.reply(of_stream(method, self.id, **params))


def failing(code: int, **data: Any) -> Callable[[Any, Reply], None]:
    return lambda id, reply: reply(
        {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": "no", **({"data": data} if data else {})}}
    )


def ending(id: Any, reply: Reply) -> None:
    reply({"jsonrpc": "2.0", "id": id, "result": complete(_meta={SUBSCRIPTION: id})})


@pytest.mark.parametrize(
    ("capabilities", "sketch", "allowed"),
    [(EXTENSION, False, True), ({}, False, False), ({"extensions": {EVENTS: True}}, True, False),
     ({"events": {}}, False, False), ({"events": {}}, True, True)],
)  # fmt: skip
async def test_nothing_is_sent_unless_it_is_declared(capabilities: Any, sketch: bool, allowed: bool) -> None:
    """C-EVENT-01, C-EVENT-03."""
    async with feed_of(capabilities) as (feed, server):
        if allowed:
            feed.require(sketch=sketch)
        else:
            with pytest.raises(NotOffered):
                feed.require(sketch=sketch)
        assert [message["method"] for message in server.seen] == ["server/discover"]


async def test_the_legacy_era_has_no_events() -> None:
    """C-EVENT-01."""
    async with feed_of() as (feed, _):
        feed.session.server.era = "legacy"
        with pytest.raises(NotOffered, match="2026-07-28"):
            feed.require()


async def test_a_list_is_read_by_pages_and_a_name_counts_once() -> None:
    """C-EVENT-05."""
    pages = [
        {"events": [TIDE], "nextCursor": "p2"}, {"events": [TIDE, TIDE | {"name": "b"}], "nextCursor": "p2"},
        {"events": [TIDE | {"name": "c"}], "nextCursor": "p9"},
    ]  # fmt: skip

    def listed(message: Any, reply: Reply) -> None:
        reply({"jsonrpc": "2.0", "id": message["id"], "result": complete(**pages.pop(0))})

    async with feed_of(events__list=listed) as (feed, server):
        assert [event.name for event in await feed.list_types()] == ["tide.turned", "b"]
        assert [message["params"].get("cursor") for message in server.asked("events/list")] == [None, "p2"]
        assert len(feed.problems) == 2
        assert feed.find("b") is not None
        assert feed.find("c") is None


async def test_polls_go_on_from_the_newest_cursor() -> None:
    """C-EVENT-07, C-EVENT-11."""
    answers = [POLLED | {"hasMore": True}, POLLED | {"cursor": "c2", "events": [happened()], "nextPollMs": 1},
               POLLED | {"cursor": "c3", "nextPollMs": 1}]  # fmt: skip

    def polled(message: Any, reply: Reply) -> None:
        reply({"jsonrpc": "2.0", "id": message["id"], "result": answers.pop(0) if answers else POLLED})

    async with feed_of(events__poll=polled) as (feed, server):
        followed = feed.follow(Subscription("tide.turned", {"pier": 3}), "poll")
        await until(lambda: len(server.asked("events/poll")) >= 4)
        feed.stop(followed)
        cursors = [message["params"]["cursor"] for message in server.asked("events/poll")][:4]
        assert cursors == [None, "c1", "c2", "c3"]
        assert followed.subscription.counts.events == 1
        assert followed.state == "ended"


async def test_a_stream_has_no_timeout_and_routes_by_its_id() -> None:
    """C-EVENT-13, C-EVENT-15."""
    streams = Streams()
    async with feed_of(events__stream=streams) as (feed, _):
        followed = feed.follow(Subscription("tide.turned", {}), "push", max_age_ms=7)
        await until(lambda: followed.state == "active")
        assert followed.call is not None
        assert followed.call.deadline.timeout == float("inf")
        assert streams.asked[0]["params"]["maxAgeMs"] == 7
        streams.say("event", **happened(cursor="c1"))
        streams.reply(of_stream("event", str(streams.id), **happened("e2")))
        streams.reply(of_stream("event", 999, **happened("e3")))
        streams.reply(tell("notifications/events/event", **happened("e4")))
        streams.reply(tell("notifications/events/event"))
        await until(lambda: feed.stray_count == 4)
        assert followed.subscription.counts.events == 1
        assert "unknown subscription id" in feed.strays[0].note
        assert "no subscription id" in feed.strays[2].note


async def test_to_stop_cancels_and_does_not_wait_for_the_result() -> None:
    """C-EVENT-16."""
    streams = Streams()
    async with feed_of(events__stream=streams) as (feed, server):
        followed = feed.follow(Subscription("tide.turned", {}), "push")
        await until(lambda: followed.state == "active")
        feed.stop(followed)
        await until(lambda: server.asked("notifications/cancelled"))
        assert server.asked("notifications/cancelled")[0]["params"]["requestId"] == streams.id
        assert followed.over.is_set()
        streams.say("event", **happened())
        await asyncio.sleep(0.02)
        feed.read_new()
        assert (followed.subscription.counts.events, feed.stray_count) == (0, 1)


async def test_a_silent_stream_is_opened_again_with_the_last_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    """C-EVENT-14."""
    monkeypatch.setattr(timing, "HEARTBEAT", 0.01)
    streams = Streams()
    async with feed_of(events__stream=streams) as (feed, server):
        subscription = Subscription("tide.turned", {})
        feed.follow(subscription, "push")
        await until(lambda: len(streams.asked) == 1)
        streams.say("event", **happened(cursor="c7"))
        await until(lambda: len(streams.asked) >= 2)
        assert streams.asked[1]["params"]["cursor"] == "c7"
        assert server.asked("notifications/cancelled")
        assert any("counts as dead" in row.note for row in subscription.rows)


async def test_a_stream_that_the_server_closes_is_opened_again() -> None:
    streams = Streams(ending)
    async with feed_of(events__stream=streams) as (feed, _):
        followed = feed.follow(Subscription("tide.turned", {}), "push")
        await until(lambda: followed.state == "active")
        assert len(streams.asked) == 2


async def test_attempts_end() -> None:
    streams = Streams(*[ending] * 50)
    async with feed_of(events__stream=streams) as (feed, _):
        followed = feed.follow(Subscription("tide.turned", {}), "push")
        await until(followed.over.is_set)
        assert len(streams.asked) == module.MAX_FAILURES + 1
        assert "attempts in a row" in followed.reason


@pytest.mark.parametrize(
    ("code", "again"), [(-32023, True), (-32024, False), (-32026, False), (-32602, False), (-32603, False)]
)
async def test_an_error_at_the_start_ends_it(code: int, again: bool) -> None:
    """C-EVENT-18: Forbidden is not tried again."""
    streams = Streams(failing(code))
    async with feed_of(events__stream=streams) as (feed, _):
        followed = feed.follow(Subscription("tide.turned", {}), "push")
        await until(followed.over.is_set)
        assert isinstance(followed.error, ServerError)
        assert (len(streams.asked), feed.must_list_again) == (1, again)


async def test_a_passing_error_later_is_tried_again_and_a_final_one_is_not() -> None:
    """C-EVENT-17, C-EVENT-18."""

    def confirmed(id: Any, reply: Reply) -> None:
        reply(of_stream("active", id, cursor="c1", truncated=False))
        ending(id, reply)

    streams = Streams(confirmed, failing(-32025, limit="streams"), failing(-32024))
    async with feed_of(events__stream=streams) as (feed, _):
        followed = feed.follow(Subscription("tide.turned", {}), "push")
        await until(followed.over.is_set)
        assert len(streams.asked) == 3
        assert "Forbidden (SEP-3415)" in followed.reason


async def test_a_terminated_subscription_is_over() -> None:
    """C-EVENT-17, C-EVENT-18."""
    streams = Streams()
    async with feed_of(events__stream=streams) as (feed, _):
        followed = feed.follow(Subscription("tide.turned", {}), "push")
        await until(lambda: followed.state == "active")
        gone = {"code": -32026, "message": "changed", "data": {"feature": "payloadSchema", "reason": "schema_changed"}}
        streams.say("terminated", error=gone)
        await until(followed.over.is_set)
        await asyncio.sleep(0.01)
        assert (len(streams.asked), feed.must_list_again) == (1, True)
        assert "changed (-32026, Unsupported (SEP-3415))" in followed.reason


async def test_list_changed_asks_for_a_new_list() -> None:
    """C-EVENT-20."""
    async with feed_of() as (feed, _):
        feed.session.journal.record_received(
            "stdio", [b'{"jsonrpc":"2.0","method":"notifications/events/list_changed"}']
        )
        feed.read_new()
        assert feed.must_list_again


async def test_a_flood_is_read_in_turns_and_nothing_is_lost() -> None:
    """C-EVENT-19, C-EVENT-27: keys are read between turns, and closing the feed ends its streams."""
    amount = 5_000
    streams = Streams()
    async with feed_of(events__stream=streams) as (feed, server):
        followed = feed.follow(Subscription("tide.turned", {}), "push")
        await until(lambda: followed.state == "active")
        for at in range(amount):
            streams.say("event", **happened(f"e{at % (amount // 2)}", cursor=f"c{at}"))
        began = len(feed.session.journal)
        turns = 0
        while feed.read_new():
            turns += 1
        await until(lambda: followed.subscription.counts.events + followed.subscription.counts.repeats == amount)
        assert turns >= (amount - began) // module.AT_ONCE
        assert followed.subscription.counts.repeats == amount // 2
        assert followed.subscription.cursor == f"c{amount - 1}"
        for at in range(3 * module.AT_ONCE):
            streams.say("event", **happened(f"late{at}"))
        feed.close()
        feed.take_all()
        assert followed.subscription.counts.events == amount // 2 + 3 * module.AT_ONCE
        await until(lambda: server.asked("notifications/cancelled"))
        assert [followed.state for followed in feed.following] == ["ended"]
