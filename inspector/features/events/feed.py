"""The events of a session: lists types, polls, follows by polls or streams, and routes notifications to subscriptions.

It reads notifications from the journal at most ten times a second, as the interface does, so that a flood costs little
and nothing is lost: the recording has each message before it is counted here.

Source: SEP-3415 (draft), "Poll-Based Delivery", "Push-Based Delivery".
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal

from inspector.client.engine.pending_requests import Call
from inspector.client.session_state import Commands
from inspector.errors import InspectorError, NotOffered, ServerError
from inspector.features.events.protocol import (
    LIST_CHANGED,
    MAX_NAME,
    MAX_PAGES,
    MAX_TYPES,
    PREFIX,
    SUBSCRIPTION_ID,
    Declared,
    DeliveryMode,
    ErrorMeaning,
    EventType,
    condition,
    declared,
    event_page,
)
from inspector.features.events.subscription import EventRow, PollPlan, Subscription
from inspector.hints import Hint, Parameter, UnsetParameters
from inspector.journal.format import Dir, Kind
from inspector.journal.query import Query
from inspector.protocol.extensions import EVENTS
from inspector.protocol.jsonrpc import Shape, excerpt
from inspector.protocol.views import View

FollowState = Literal["starting", "active", "waiting", "reconnecting", "ended"]
"""`active`: the stream is confirmed; `waiting`: for the next poll."""
LOOK_EVERY = 0.1
"""Seconds between two looks at the journal."""
AT_ONCE = 100
"""Messages of the journal that are looked at in one turn, so that keys are read between turns."""
BEHIND = 0.005
"""Seconds between two turns while there is more."""
FIRST_PAUSE, MAX_PAUSE = 1.0, 30.0
"""Seconds before a stream is opened again, or a poll repeated after an error; each further one waits twice as long."""
MAX_FAILURES = 10
"""Attempts in a row without an event or confirmation."""
MAX_STRAYS = 200
FOR_EVER = float("inf")
_NOTIFICATIONS = Query(kind=Kind.RPC, dir=Dir.RECV, shape=Shape.NOTIFICATION, prefix=PREFIX)


class Following:
    """A subscription that is followed. `state` and `reason` say how that goes."""

    def __init__(self, subscription: Subscription, mode: DeliveryMode, max_age_ms: int | None) -> None:
        self.subscription = subscription
        self.mode = mode
        self.max_age_ms = max_age_ms
        self.state: FollowState = "starting"
        self.reason = ""
        """Why it has ended, or why it reconnects, as a sentence."""
        self.error: InspectorError | None = None
        """The error that ended it."""
        self.call: Call | None = None
        """The stream, or the poll in flight."""
        self.last_received = 0.0
        """When the stream sent something last, in seconds of the event loop's clock."""
        self.over = asyncio.Event()
        self.failures = 0

    def end(self, reason: str, error: InspectorError | None = None) -> None:
        """Note the end; the first reason stays."""
        if not self.over.is_set():
            self.state, self.reason, self.error = "ended", reason, error
            self.over.set()

    def go_on(self, state: FollowState, reason: str = "") -> None:
        """Note the state, unless it has ended."""
        if not self.over.is_set():
            self.state, self.reason = state, reason


class Feed:
    """The events of one session. Make one for each session that shows events."""

    def __init__(self, session: Commands) -> None:
        self.session = session
        self.types: list[EventType] = []
        self.problems: list[str] = []
        """What was wrong with the lists of event types."""
        self.must_list_again = False
        """The server said that its list has changed."""
        self.following: list[Following] = []
        """All that was followed, also what has ended: no request of the server lists them (C-EVENT-27)."""
        self.strays: deque[EventRow] = deque(maxlen=MAX_STRAYS)
        """Notifications that belong to no subscription (C-EVENT-15)."""
        self.stray_count = 0
        self.changed: Callable[[], None] | None = None
        """Called after each turn that found something."""
        self._seen = len(session.journal)
        self._streams: dict[tuple[type, Any], Following] = {}
        self._pumping = False

    # What the server offers

    @property
    def declared(self) -> Declared:
        """How the server declares events."""
        return declared(self.session.server.capabilities)

    def require(self, *, sketch: bool = False) -> None:
        """Raise `NotOffered` unless events may be requested (C-EVENT-01, C-EVENT-03)."""
        declaration = self.declared
        if self.session.server.era != "modern":
            options = self.session.options
            chosen = tuple(
                parameter
                for parameter, is_set in (
                    (Parameter.ERA, options.era != "auto"),
                    (Parameter.REVISION, options.protocol),
                )
                if is_set
            )
            raise NotOffered(
                f"Events need revision 2026-07-28 or later; this session uses {self.session.server.revision}.",
                hint=Hint(UnsetParameters(chosen), ".") if chosen else "The server offers no later revision.",
            )
        if declaration.dialect is None:
            raise NotOffered(
                f"The server does not declare {EVENTS}." + (f" {declaration.problem}" if declaration.problem else ""),
                hint="Its capabilities show what it declares.",
            )
        if declaration.dialect == "sketch" and not sketch:
            raise NotOffered(f"The server declares events as in the sketch before SEP-3415, not as {EVENTS}.")

    async def list_types(self) -> list[EventType]:
        """Load all pages of `events/list`. Raises the server's error."""
        types: dict[str, EventType] = {}
        problems: list[str] = []
        cursor: str | None = None
        cursors: set[str] = set()
        for _ in range(MAX_PAGES):
            params = {} if cursor is None else {"cursor": cursor}
            page = event_page(await self.session.start("events/list", params, progress=False).result())
            problems += page.problems
            for event in page.types:
                if event.name in types:
                    problems.append(f"The name {excerpt(event.name, MAX_NAME)} is listed twice.")
                types.setdefault(event.name, event)
            cursor = page.next_cursor
            if cursor is None or len(types) >= MAX_TYPES:
                break
            if cursor in cursors:
                problems.append("A page has the cursor of an earlier page; the rest was not loaded.")
                break
            cursors.add(cursor)
        else:
            problems.append(f"The list has more than {MAX_PAGES} pages; the rest was not loaded.")
        self.types, self.problems, self.must_list_again = list(types.values()), problems, False
        return self.types

    def find(self, name: str) -> EventType | None:
        """Return the listed type with this name."""
        return next((event for event in self.types if event.name == name), None)

    # Polls

    async def poll(
        self, subscription: Subscription, *, max_events: int | None = None, max_age_ms: int | None = None
    ) -> PollPlan:
        """Poll once. Raises the server's error."""
        params = subscription.params(max_events=max_events, max_age_ms=max_age_ms)
        call = self.session.start("events/poll", params, progress=False)
        try:
            result = await call.result()
        except ServerError as error:
            if condition(error.rpc_code, error.data).list_again:
                self.must_list_again = True
            raise
        n = call.answer_n
        return subscription.polled(result, n, self.session.journal.index.time(n) / 1e6 if n else 0.0)

    # Following

    def follow(self, subscription: Subscription, mode: DeliveryMode, *, max_age_ms: int | None = None) -> Following:
        """Start to follow by `poll` or `push`."""
        followed = Following(subscription, mode, max_age_ms)
        self.following.append(followed)
        self.session.run(self._by_polls(followed) if mode == "poll" else self._by_streams(followed))
        return followed

    def stop(self, followed: Following, reason: str = "Stopped.") -> None:
        """End it; a stream is closed, or cancelled over stdio (C-EVENT-16)."""
        followed.end(reason)
        if followed.call is not None:
            followed.call.cancel("the user stopped following")

    def close(self) -> None:
        """End all of them."""
        for followed in self.following:
            self.stop(followed)

    async def _by_polls(self, followed: Following) -> None:
        subscription = followed.subscription
        while not followed.over.is_set():
            try:
                plan = await self.poll(subscription, max_age_ms=followed.max_age_ms)
            except InspectorError as error:
                if not await self._goes_on(followed, error):
                    return
                continue
            followed.failures = 0
            followed.go_on("waiting")
            self._tell()
            if plan.again:
                await asyncio.sleep(0)
            else:
                await self._pause(followed, plan.wait)

    async def _by_streams(self, followed: Following) -> None:
        loop = asyncio.get_running_loop()
        subscription = followed.subscription
        self._pump()
        while not followed.over.is_set():
            subscription.heartbeat.restart()
            params = subscription.params(max_age_ms=followed.max_age_ms)
            call = self.session.start("events/stream", params, timeout=FOR_EVER, progress=False, background=True)
            followed.call, followed.last_received = call, loop.time()
            self._streams[type(call.id), call.id] = followed
            await self._watch(followed, call)
            while self.read_new():  # noqa: ASYNC110 - the journal has no callback for new messages
                await asyncio.sleep(0)
            self._streams.pop((type(call.id), call.id), None)
            if subscription.ended:
                self.must_list_again = self.must_list_again or subscription.must_list_again
                call.cancel("the server ended the subscription")
                followed.end(subscription.ended)
            elif not followed.over.is_set():
                error = call.error if call.fate not in ("done", "cancelled") else None
                if not await self._goes_on(followed, error):
                    break
        self._tell()

    async def _watch(self, followed: Following, call: Call) -> None:
        """Wait until a stream has ended, or has been silent for too long (C-EVENT-14)."""
        loop = asyncio.get_running_loop()
        subscription = followed.subscription
        while call.fate == "pending" and not subscription.ended and not followed.over.is_set():
            await asyncio.sleep(LOOK_EVERY)
            if not followed.over.is_set() and loop.time() - followed.last_received > subscription.heartbeat.silence:
                reason = (
                    f"No event and no heartbeat for {subscription.heartbeat.silence:g} s: the stream counts as dead."
                )
                followed.reason = reason
                subscription.note(reason, call.n, self._now())
                call.cancel("no event and no heartbeat")

    async def _goes_on(self, followed: Following, error: InspectorError | None) -> bool:
        """Pause before the next attempt; False if there is none."""
        subscription = followed.subscription
        if error is not None:
            meaning = condition_of(error)
            self.must_list_again = self.must_list_again or meaning.list_again
            named = f" ({meaning})" if str(meaning) else ""
            reason = f"{error.message}{named}"
            # An error at the very first request is an answer to the user, whatever its kind.
            if meaning.is_final or self.session.phase != "ready" or not subscription.total:
                followed.end(reason, error)
                self._tell()
                return False
        else:
            reason = followed.reason or "The server closed the stream."
        followed.failures += 1
        if followed.failures > MAX_FAILURES:
            followed.end(f"{reason} {MAX_FAILURES} attempts in a row have failed.", error)
            self._tell()
            return False
        pause = min(FIRST_PAUSE * 2 ** (followed.failures - 1), MAX_PAUSE)
        subscription.note(f"{reason} Next attempt in {pause:g} s.", 0, self._now())
        followed.go_on("reconnecting", reason)
        self._tell()
        await self._pause(followed, pause)
        followed.go_on("starting")
        return not followed.over.is_set()

    async def _pause(self, followed: Following, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(followed.over.wait(), seconds)

    def _now(self) -> float:
        journal = self.session.journal
        return journal.index.time(len(journal)) / 1e6 if len(journal) else 0.0

    # Notifications

    def _pump(self) -> None:
        if not self._pumping:
            self._pumping = True
            self.session.run(self._read())

    async def _read(self) -> None:
        try:
            while any(not followed.over.is_set() for followed in self.following):  # noqa: ASYNC110 - as above
                await asyncio.sleep(BEHIND if self.read_new() else LOOK_EVERY)
        finally:
            self._pumping = False

    def read_new(self) -> bool:
        """Read new notifications, up to a number of messages. Returns whether there are more."""
        journal = self.session.journal
        last = min(len(journal), self._seen + AT_ONCE)
        has_new = False
        for n in _NOTIFICATIONS.forwards(journal.index, self._seen, last):
            has_new = True
            self._notification(n)
        self._seen = last
        if has_new:
            self._tell()
        return last < len(journal)

    def take_all(self) -> None:
        """Read all notifications that have arrived."""
        while self.read_new():
            pass

    def _notification(self, n: int) -> None:
        journal = self.session.journal
        message = journal.event(n).message
        method = message.get("method", "")
        if method == LIST_CHANGED:
            self.must_list_again = True
            return
        params = message.get("params")
        id = View(params).meta.get(SUBSCRIPTION_ID)
        followed = self._streams.get((type(id), id)) if isinstance(id, (int, str)) else None
        at = journal.index.time(n) / 1e6
        if followed is None:
            self.stray_count += 1
            whose = "no subscription id" if id is None else f"the unknown subscription id {excerpt(id, 40)}"
            self.strays.append(EventRow("note", n, at, note=f"{method[:80]} has {whose}."))
            return
        followed.last_received = asyncio.get_running_loop().time()
        subscription = followed.subscription
        before = subscription.counts.events
        subscription.notified(method.removeprefix(PREFIX), params, n, at)
        if method == PREFIX + "active":
            followed.go_on("active")
        if method == PREFIX + "active" or subscription.counts.events > before:
            followed.failures = 0

    def _tell(self) -> None:
        if self.changed is not None:
            self.changed()


def condition_of(error: InspectorError) -> ErrorMeaning:
    """Return the meaning of an error of a request."""
    return condition(error.rpc_code, error.data) if isinstance(error, ServerError) else ErrorMeaning("", "", False)
