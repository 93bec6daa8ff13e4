"""Events (SEP-3415, a draft extension of 2026-07-28): a clock that ticks, by poll and by stream, and one webhook type.

Tick k happens at k times `DemoState.tick` seconds after the epoch, so nothing is stored: a cursor is the number of a
tick, and a server that was started again continues where it was. The last `KEPT` ticks are delivered again.
"""

from __future__ import annotations

import threading
import time
from functools import cache

from inspector.demo.listen import LastingRequest
from inspector.demo.parts import DemoPart, load_json
from inspector.demo.rpc import INVALID_PARAMS, RpcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import Channel, ClientRequest, Handler, Serving
    from inspector.demo.revisions import DemoFeatures
    from inspector.demo.server_state import DemoState

EXTENSION = "io.modelcontextprotocol/events"
NOT_FOUND, FORBIDDEN, UNSUPPORTED = -32023, -32024, -32026  # provisional codes of the draft
KEPT = 1000  # ticks
AT_ONCE = 100  # events in one poll
TICKED = "clock.ticked"


@cache
def event_types() -> list[dict[str, Any]]:
    """Return the event types of the list."""
    types: list[dict[str, Any]] = load_json(__file__)
    return types


def interval(params: dict[str, Any], mode: str) -> int:
    """Return the `every` of a subscription; raises RpcError."""
    offered = next((event_type for event_type in event_types() if event_type["name"] == params.get("name")), None)
    if offered is None:
        raise RpcError(NOT_FOUND, f"No event type {params.get('name')!r}", {"kind": "event"})
    arguments = params.get("arguments", {})
    if not isinstance(arguments, dict) or set(arguments) - set(offered["inputSchema"]["properties"]):
        raise RpcError(INVALID_PARAMS, f"arguments do not match the inputSchema of {offered['name']}")
    every = arguments.get("every", 1)
    if not isinstance(every, int) or isinstance(every, bool) or not 1 <= every <= 60:
        raise RpcError(INVALID_PARAMS, "every must be an integer from 1 to 60")
    if mode not in offered["delivery"]:
        problem = f"{offered['name']} is not delivered by {mode}"
        raise RpcError(UNSUPPORTED, problem, {"feature": "deliveryMode", "value": mode})
    return every


class Ticks:
    """The ticks of a demo server from a cursor on."""

    def __init__(self, state: DemoState, cursor: Any, every: int) -> None:
        self._tick = max(state.tick, 0.0001)
        self.every = every
        newest = self.newest
        self.at = newest  # the number of the last tick that was delivered
        self.truncated = False
        if cursor is not None:
            known = isinstance(cursor, str) and cursor.isascii() and cursor.isdigit() and len(cursor) < 20
            self.truncated = not known or not newest - KEPT <= int(cursor) <= newest
            self.at = newest if self.truncated else int(cursor)

    @property
    def newest(self) -> int:
        """The number of the last tick that has happened."""
        return int(time.time() / self._tick)

    @property
    def cursor(self) -> str:
        """The position."""
        return str(self.at)

    @property
    def pause(self) -> float:
        """Seconds to the next tick that counts."""
        return max((self.at // self.every + 1) * self.every * self._tick - time.time(), 0.0)

    def next_events(self, limit: int) -> list[dict[str, Any]]:
        """Return the next events, without their cursors; moves on."""
        newest = self.newest
        first = (self.at // self.every + 1) * self.every
        due = range(first, newest + 1, self.every)[:limit]
        self.at = due[-1] if len(due) == limit else newest
        return [self._event(number) for number in due]

    @property
    def has_more(self) -> bool:
        """Whether events are due."""
        return (self.at // self.every + 1) * self.every <= self.newest

    def _event(self, number: int) -> dict[str, Any]:
        from datetime import datetime, timezone

        when = datetime.fromtimestamp(number * self._tick, timezone.utc)  # noqa: UP017 - Python 3.10 runs this too
        at = when.isoformat(timespec="microseconds").replace("+00:00", "Z")
        return {"eventId": f"tick-{number}", "name": TICKED, "timestamp": at, "data": {"tick": number}}

    @property
    def next_poll(self) -> int:
        """Milliseconds until a poll may find something."""
        return max(round(self._tick * self.every * 1000), 1000)


def _list(call: ClientRequest) -> dict[str, Any]:
    return {"events": event_types()}


def _poll(call: ClientRequest) -> dict[str, Any]:
    every = interval(call.params, "poll")
    limit = call.params.get("maxEvents", AT_ONCE)
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise RpcError(INVALID_PARAMS, "maxEvents must be a positive integer")
    cursor = call.params.get("cursor")
    ticks = Ticks(call.state, cursor, every)
    events = [] if cursor is None or ticks.truncated else ticks.next_events(min(limit, AT_ONCE))
    return {
        "events": events,
        "cursor": ticks.cursor,
        "truncated": ticks.truncated,
        "hasMore": len(events) == min(limit, AT_ONCE) and ticks.has_more,
        "nextPollMs": ticks.next_poll,
    }


def _subscribe(call: ClientRequest) -> dict[str, Any]:
    interval(call.params, "webhook")
    raise RpcError(FORBIDDEN, "Webhooks need a login, which this server does not have")


HANDLERS: dict[str, Handler] = {
    "events/list": _list,
    "events/poll": _poll,
    "events/subscribe": _subscribe,
    "events/unsubscribe": _subscribe,
}


class EventsRequest(LastingRequest):
    """A request `events/stream`: its events as notifications with its id, until it is cancelled."""

    def __init__(
        self, state: DemoState, features: DemoFeatures, channel: Channel, message: dict[str, Any], serving: Serving
    ) -> None:
        super().__init__(state, features, channel, message, serving)
        self._ticks = Ticks(state, self.params.get("cursor"), interval(self.params, "push"))

    def begin(self) -> None:
        """Confirms the subscription, and sends its events from then on; raises RpcError."""
        ticks = self._ticks
        self._begin("notifications/events/active", {"cursor": ticks.cursor, "truncated": ticks.truncated})
        threading.Thread(target=self._deliver, daemon=True).start()

    def _deliver(self) -> None:
        beat = time.monotonic() + self.state.beat
        while not self._over.wait(min(self._ticks.pause, max(beat - time.monotonic(), 0.0))):
            for event in self._ticks.next_events(AT_ONCE):
                self._send("notifications/events/event", {**event, "cursor": str(event["data"]["tick"])})
            if time.monotonic() >= beat:
                beat = time.monotonic() + self.state.beat
                self._send("notifications/events/heartbeat", {"cursor": self._ticks.cursor})


DEMO = DemoPart(EXTENSION, handlers=HANDLERS, streams={"events/stream": EventsRequest})
