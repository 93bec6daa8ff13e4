"""Events (`io.modelcontextprotocol/events`, SEP-3415): lists, polls, streams and webhook requests.

The text is a draft, so a fault is a warning at most, and the group runs only on request (`CheckSelection.drafts`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from inspector.check.check_table import CheckTable
from inspector.check.given import given
from inspector.check.outcome import Outcome, Skip, bad, expect, good, remark, skipped
from inspector.check.visit.facts import OnceInAVisit, collected
from inspector.check.visit.raw_connection import RawConnection
from inspector.check.visit.request_outcome import RequestOutcome
from inspector.check.visit.visit import OPENING, Visit
from inspector.config.targets import HttpTarget
from inspector.errors import SchemaError
from inspector.features.events.protocol import (
    LIST_CHANGED,
    PREFIX,
    SUBSCRIPTION_ID,
    EventType,
    condition,
    declared,
    event_page,
)
from inspector.features.events.webhook import new_secret
from inspector.features.events.webhook_receiver import Arrival, WebhookAddress, WebhookReceiver
from inspector.journal.format import Dir
from inspector.journal.journal import Frame
from inspector.journal.query import Query
from inspector.protocol import jsonrpc
from inspector.protocol.extensions import EVENTS
from inspector.protocol.jsonrpc import INVALID_PARAMS, Shape, excerpt
from inspector.protocol.members import array_at, object_at, objects_at, value_at
from inspector.protocol.sample_values import sample
from inspector.protocol.validation import Validator
from inspector.text import quantity

_CANCELLED = "notifications/cancelled"
_UNKNOWN = "inspector-check-no-such-event"
_NOT_DECLARED = "the server does not declare events"
_NO_POLL = "no event type is delivered by poll"
_NO_PUSH = "no event type is delivered by push"
_MAX_PAGES = 20
_POLLS = 3
_NOWHERE = "https://inspector-check.invalid/hook"
"""A callback that no server can reach (RFC 2606)."""

CHECKS = CheckTable(Path(__file__).with_suffix(".toml"))


# The declaration


@CHECKS.active("EVENT-01")
async def is_declared(visit: Visit) -> Outcome:
    """The declaration of the shared session."""
    capabilities = visit.session.server.capabilities
    extensions = capabilities.get("extensions")
    if type(extensions) is not dict or EVENTS not in extensions:
        return skipped(_NOT_DECLARED)
    declaration = declared(capabilities)
    opened = _opening(visit)
    return bad(declaration.problem, *opened) if declaration.problem else good("", *opened)


@CHECKS.active("EVENT-02")
async def is_not_the_sketch(visit: Visit) -> Outcome:
    """The place of the declaration, and the era."""
    declaration = declared(visit.session.server.capabilities)
    opened = _opening(visit)
    if declaration.dialect == "sketch":
        return bad(declaration.problem, *opened)
    if declaration.dialect is None:
        return skipped(_NOT_DECLARED)
    if not visit.modern:
        return bad(f"{EVENTS} is declared at {visit.revision}, which cannot have events.", *opened)
    return good("", *opened)


def _opening(visit: Visit) -> tuple[int, ...]:
    n = visit.newest(*OPENING)
    return (n,) if n else ()


# The list


@dataclass
class _List:
    """The pages of `events/list`."""

    pages: list[RequestOutcome] = field(default_factory=list)
    entries: list[dict[str, Any]] = field(default_factory=list)
    types: list[EventType] = field(default_factory=list)
    problem: str = ""
    """Why the pages do not follow each other."""

    @property
    def events(self) -> tuple[int, ...]:
        """The evidence."""
        return tuple(n for page in self.pages for n in page.events)[:10]


@OnceInAVisit
async def _listed(visit: Visit) -> _List | str:
    """The list, requested once in a visit; or that the server does not declare events."""
    if declared(visit.session.server.capabilities).dialect != "extension" or not visit.modern:
        return _NOT_DECLARED
    listing = _List()
    cursor: Any = None
    seen: set[str] = set()
    for _ in range(_MAX_PAGES):
        page = await visit.request("events/list", {} if cursor is None else {"cursor": cursor})
        listing.pages.append(page)
        listing.entries += objects_at(page.body.get("events"))
        listing.types += event_page(page.body).types
        cursor = page.body.get("nextCursor")
        if cursor is None or not page.ok:
            break
        if type(cursor) is not str:
            listing.problem = f"nextCursor is {excerpt(cursor, 60)}, not a string."
            break
        if cursor in seen:
            listing.problem = f"nextCursor {excerpt(cursor, 60)} comes twice: the list has no end."
            break
        seen.add(cursor)
    return listing


@CHECKS.active("EVENT-03")
@given(_listed)
async def has_a_list(visit: Visit, listing: _List) -> Outcome:
    """The first page."""
    first = listing.pages[0]
    if not first.ok:
        return bad(f"events/list got {first.reply}.", *first.events)
    if type(first.body.get("events")) is not list:
        return bad(f"events is {excerpt(first.body.get('events'), 60)}, not an array.", *first.events)
    if first.body.get("resultType") != "complete":
        return bad(f'resultType is {excerpt(first.body.get("resultType"), 40)}, not "complete".', *first.events)
    return good(quantity(len(listing.types), "event type"), *listing.events)


def _of_entries(listing: _List, about: str) -> Outcome:
    """The problems of descriptors: those with `delivery`, or the others."""
    if not listing.entries:
        return skipped("the server lists no event types")
    for entry in listing.entries:
        named = type(entry.get("name")) is str and bool(entry["name"])
        problems = event_page({"events": [entry]}).types[0].problems if named else ("name is not a text.",)
        for problem in problems:
            if problem.startswith("delivery") == (about == "delivery"):
                return bad(f"{excerpt(entry.get('name'), 60)}: {problem}", *listing.events)
    return good(quantity(len(listing.entries), "event type"), *listing.events)


@CHECKS.active("EVENT-04")
@given(_listed)
async def has_its_members(visit: Visit, listing: _List) -> Outcome:
    """Each descriptor, except its delivery modes."""
    return _of_entries(listing, "members")


@CHECKS.active("EVENT-05")
@given(_listed)
async def has_modes(visit: Visit, listing: _List) -> Outcome:
    """The delivery modes of each descriptor."""
    return _of_entries(listing, "delivery")


@CHECKS.active("EVENT-06")
@given(_listed)
async def has_valid_schemas(visit: Visit, listing: _List) -> Outcome:
    """Both schemas of each descriptor."""
    if not listing.types:
        return skipped("the server lists no event types")
    for event in listing.types:
        for key, schema in (("inputSchema", event.input_schema), ("payloadSchema", event.payload_schema)):
            try:
                Validator(schema)
            except SchemaError as error:
                return bad(f"{excerpt(event.name, 60)}: {key} is invalid: {error.message}.", *listing.events)
    return good(quantity(len(listing.types), "event type"), *listing.events)


@CHECKS.active("EVENT-07")
@given(_listed)
async def has_unique_names(visit: Visit, listing: _List) -> Outcome:
    """All pages."""
    if listing.problem:
        return bad(listing.problem, *listing.events)
    names = [event.name for event in listing.types]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        return bad(f"The name {excerpt(twice, 60)} is listed twice.", *listing.events)
    return good(f"{quantity(len(listing.pages), 'page')}, {quantity(len(names), 'event type')}", *listing.events)


# Polls


def _delivered_by(listing: _List, mode: str) -> EventType | None:
    return next((event for event in listing.types if mode in event.delivery), None)


def _params(event: EventType, cursor: Any = None, **more: Any) -> dict[str, Any]:
    arguments = object_at(sample(event.input_schema)) if event.input_schema else {}
    return {"name": event.name, "arguments": arguments, "cursor": cursor, **more}


_Polls = tuple[EventType, list[RequestOutcome]]
"""An event type that is delivered by poll, and the answers to its polls."""


async def _polls(visit: Visit) -> _Polls | str:
    """A first poll with a null cursor, then polls for one event each; or why there are none."""
    polls = await _listed(visit)
    if isinstance(polls, str):
        return polls
    event = _delivered_by(polls, "poll")
    if event is None:
        return _NO_POLL
    return event, await _polled(visit)


@collected(list[RequestOutcome])
async def _polled(visit: Visit, made: list[RequestOutcome]) -> None:
    """The answers to the polls for the first event type that is delivered by poll."""
    listing = await _listed(visit)
    event = _delivered_by(listing, "poll") if isinstance(listing, _List) else None
    cursor: Any = None
    while event is not None and len(made) <= _POLLS:
        polled = await visit.request("events/poll", _params(event, cursor, **({"maxEvents": 1} if made else {})))
        made.append(polled)
        if not polled.ok:
            break
        cursor = polled.body.get("cursor")
        if len(made) <= _POLLS and polled.body.get("hasMore") is not True:
            await asyncio.sleep(_pause(visit, polled.body.get("nextPollMs")))


def _pause(visit: Visit, given: Any) -> float:
    """As long as the server says, but not longer than a check has time for."""
    longest = 8 * visit.limits.quiet
    return min(max(given / 1000, 0.0), longest) if type(given) in (int, float) and given < 1e9 else longest


def _all_of(made: list[RequestOutcome]) -> tuple[int, ...]:
    return tuple(n for polled in made for n in polled.events)[:10]


@CHECKS.active("EVENT-08", mode="tool")
@given(_polls)
async def begins_now(visit: Visit, polls: _Polls) -> Outcome:
    """The first of the polls."""
    first = polls[1][0]
    if not first.ok:
        return bad(f"The first poll got {first.reply}.", *first.events)
    events = first.body.get("events")
    if type(events) is list and events:
        return bad(f"The first poll returned {quantity(len(events), 'event')}.", *first.events)
    if not isinstance(first.body.get("cursor"), str | None):
        return bad(f"cursor is {excerpt(first.body['cursor'], 60)}, not a string or null.", *first.events)
    return good("", *first.events)


@CHECKS.active("EVENT-09", mode="tool")
@given(_polls)
async def has_its_result(visit: Visit, polls: _Polls) -> Outcome:
    """Each of the polls."""
    for polled in polls[1]:
        if not polled.ok:
            return bad(f"A poll got {polled.reply}.", *polled.events)
        body = polled.body
        for key, kind, what in (
            ("events", list, "an array"),
            ("truncated", bool, "a boolean"),
            ("hasMore", bool, "a boolean"),
        ):
            if type(body.get(key)) is not kind:
                return bad(f"{key} is {excerpt(body.get(key), 60)}, not {what}.", *polled.events)
        wait = body.get("nextPollMs")
        if type(wait) is not int or wait < 0:
            return bad(f"nextPollMs is {excerpt(wait, 60)}, not a whole number of milliseconds.", *polled.events)
        if 0 < wait < 100:
            return bad(f"nextPollMs is {wait}: it seems to be in seconds.", *polled.events)
    return good("", *_all_of(polls[1]))


@CHECKS.active("EVENT-10", mode="tool")
@given(_polls)
async def is_consistent(visit: Visit, polls: _Polls) -> Outcome:
    """Each of the polls."""
    answered = [polled for polled in polls[1] if polled.ok]
    if len(answered) < 2:
        return skipped("fewer than two polls were answered")
    kinds = {polled.body.get("cursor") is None for polled in answered}
    events = _all_of(answered)
    return good("", *events) if len(kinds) == 1 else bad("The cursor is null in one poll and not in another.", *events)


@CHECKS.active("EVENT-11", mode="tool")
@given(_polls)
async def respects_the_limit(visit: Visit, polls: _Polls) -> Outcome:
    """The polls for one event."""
    came = [polled for polled in polls[1][1:] if polled.ok and _occurrences(polled)]
    for polled in came:
        if len(_occurrences(polled)) > 1:
            return bad(f"A poll with maxEvents 1 returned {len(_occurrences(polled))} events.", *polled.events)
    return good("", *_all_of(came)) if came else skipped("no event happened")


def _occurrences(polled: RequestOutcome) -> list[Any]:
    return array_at(polled.body.get("events"))


@CHECKS.active("EVENT-12", mode="tool")
@given(_polls)
async def has_its_occurrence(visit: Visit, polls: _Polls) -> Outcome:
    """The events of the polls."""
    return _of_occurrences(polls, _wrong_occurrence)


@CHECKS.active("EVENT-13", mode="tool")
@given(_polls)
async def fits_its_schema(visit: Visit, polls: _Polls) -> Outcome:
    """The data of the events of the polls."""
    return _of_occurrences(polls, _wrong_data)


def _of_occurrences(polls: _Polls, wrong: Callable[[EventType, Any], str]) -> Outcome:
    event, made = polls
    amount = 0
    for polled in made:
        for occurrence in _occurrences(polled)[:100]:
            amount += 1
            problem = wrong(event, occurrence)
            if problem:
                return bad(problem, *polled.events)
    return good(f"{amount} events", *_all_of(made)) if amount else skipped("no event happened")


def _wrong_occurrence(event: EventType, occurrence: Any) -> str:
    if type(occurrence) is not dict:
        return "An event is not an object."
    for key in ("eventId", "name", "timestamp"):
        if type(occurrence.get(key)) is not str:
            return f"{key} is {excerpt(occurrence.get(key), 60)}, not a string."
    if occurrence["name"] != event.name:
        return f"name is {excerpt(occurrence['name'], 60)}, not {excerpt(event.name, 60)}."
    if type(occurrence.get("data")) is not dict:
        return f"data is {excerpt(occurrence.get('data'), 60)}, not an object."
    return "An event of a poll has a cursor." if "cursor" in occurrence else ""


def _wrong_data(event: EventType, occurrence: Any) -> str:
    try:
        validator = Validator(event.payload_schema)
    except SchemaError:
        return ""  # EVENT-06 reports it.
    errors = validator.errors(value_at(occurrence, "data"), limit=1)
    return f"data{errors[0].path}: {errors[0].message}." if errors else ""


# Errors


def _meaning(response: RequestOutcome) -> str:
    return condition(response.code, response.error.get("data")).name


@CHECKS.active("EVENT-14")
@given(_listed)
async def refuses_unknown_names(visit: Visit, _: _List) -> Outcome:
    """A poll of a type that is not listed."""
    response = await visit.request("events/poll", {"name": _UNKNOWN, "arguments": {}, "cursor": None}, probe=True)
    return expect(response, _meaning(response) == "NotFound", f"A poll of an unknown event type got {response.reply}.")


@CHECKS.active("EVENT-15")
@given(_listed)
async def refuses_bad_arguments(visit: Visit, listing: _List) -> Outcome:
    """A poll, or a stream, with arguments of a wrong type."""
    for mode, method in (("poll", "events/poll"), ("push", "events/stream")):
        for event in listing.types:
            wrong = _bad_arguments(event.input_schema) if mode in event.delivery else None
            if wrong is not None:
                params = {"name": event.name, "arguments": wrong, "cursor": None}
                response = await visit.request(method, params, probe=True, patient=False)
                if response.code != INVALID_PARAMS:
                    return bad(f"The arguments {excerpt(wrong, 60)} got {response.reply}.", *response.events)
                return good("", *response.events)
    return skipped("no event type that can be polled or streamed has arguments")


def _bad_arguments(schema: dict[str, Any]) -> dict[str, Any] | None:
    """Arguments that a schema forbids; None if none are known."""
    try:
        validator = Validator(schema)
    except SchemaError:
        return None
    for name in list(object_at(schema.get("properties")))[:20]:
        for value in ([{"inspector": "check"}], 1.5, "inspector-check"):
            if not validator.is_valid({name: value}):
                return {name: value}
    return None


@CHECKS.active("EVENT-16")
@given(_listed)
async def refuses_other_modes(visit: Visit, listing: _List) -> Outcome:
    """A poll of a type without poll, or a stream of one without push."""
    for mode, method in (("poll", "events/poll"), ("push", "events/stream")):
        event = next((event for event in listing.types if event.delivery and mode not in event.delivery), None)
        if event is not None:
            response = await visit.request(method, _params(event), probe=True, patient=False)
            if _meaning(response) != "Unsupported":
                what = f"{method} of {excerpt(event.name, 60)}, which is not delivered by {mode},"
                return bad(f"{what} got {response.reply}.", *response.events)
            return good("", *response.events)
    return skipped("each event type is delivered by poll and by push")


@CHECKS.active("EVENT-17")
@given(_listed)
async def accepts_old_cursors(visit: Visit, listing: _List) -> Outcome:
    """A poll with a cursor that the server never gave: worth a note at most."""
    event = _delivered_by(listing, "poll")
    if event is None:
        return skipped(_NO_POLL)
    response = await visit.request("events/poll", _params(event, "inspector-check-cursor"), probe=True)
    if not response.ok:
        return remark(f"A cursor that the server never gave got {response.reply}.", *response.events)
    cursor = response.body.get("cursor")
    if response.body.get("truncated") is not True and cursor is not None:
        return remark("A cursor that the server never gave is not answered with truncated.", *response.events)
    return expect(response, cursor != "inspector-check-cursor", "The server returns a cursor that it never gave.")


# Streams


def _subscription(frame: Frame) -> Any:
    return value_at(frame.message, "params", "_meta", SUBSCRIPTION_ID)


def _is_event(frame: Frame) -> bool:
    return frame.shape is Shape.NOTIFICATION and str(frame.message.get("method")).startswith(PREFIX)


class _Stream:
    """A stream of events on a connection of the check, and what came first."""

    def __init__(self, connection: RawConnection, id: int | str, response: RequestOutcome, first: Frame | None) -> None:
        self.connection = connection
        self.id = id
        self.response = response
        self.first = first

    @property
    def notifications(self) -> list[Frame]:
        """The notifications of events that have come."""
        return [frame for frame in self.connection.frames if _is_event(frame)]


@asynccontextmanager
async def _streaming(visit: Visit, id: int | str) -> AsyncIterator[_Stream | str]:
    """A stream of an event type that is delivered by push, cancelled at the end; or why there is none."""
    if declared(visit.session.server.capabilities).dialect != "extension":
        yield _NOT_DECLARED
        return
    # A connection of its own: over HTTP, closing it is what ends the stream.
    async with visit.new_connection() as connection:
        page = await connection.request("events/list", {})
        event = next((event for event in event_page(page.body).types if "push" in event.delivery), None)
        if event is None:
            yield _NO_PUSH
            return
        request = jsonrpc.request(id, "events/stream", connection.with_metadata(_params(event)))
        response = connection.begin(request)

        def begins(frame: Frame) -> bool:
            return _is_event(frame) or (frame.shape in (Shape.RESULT, Shape.ERROR) and frame.message.get("id") == id)

        first = await connection.until(begins, visit.limits.request / 2)
        try:
            yield _Stream(connection, id, response, first)
        finally:
            connection.notify(_CANCELLED, {"requestId": id})


@CHECKS.active("EVENT-18", mode="tool", apart=True)
async def begins_with_active(visit: Visit) -> Outcome:
    """The first message of a stream."""
    async with _streaming(visit, 7_100_001) as stream:
        if isinstance(stream, str):
            return skipped(stream)
        first = stream.first
        if first is None:
            return bad("Nothing came on the stream.", stream.response.n)
        if first.shape is Shape.ERROR:
            return skipped("the stream was refused")
        if first.shape is Shape.RESULT or first.message["method"] != f"{PREFIX}active":
            what = "The result" if first.shape is Shape.RESULT else excerpt(first.message["method"], 60)
            return bad(f"{what} came first.", stream.response.n, first.n)
        return good("", stream.response.n, first.n)


@CHECKS.active("EVENT-19", mode="tool", apart=True)
async def names_its_stream(visit: Visit) -> Outcome:
    """The first messages of a stream with a number as id, and of one with a string."""
    seen: list[int] = []
    for id in (7_100_002, "7100003"):
        async with _streaming(visit, id) as stream:
            if isinstance(stream, str):
                return skipped(stream)
            await stream.connection.quiet(4 * visit.limits.quiet)
            for frame in stream.notifications[:100]:
                named = _subscription(frame)
                if type(named) is not type(id) or named != id:
                    what = f"{excerpt(frame.message['method'], 60)} of {excerpt(id, 20)}"
                    return bad(f"{what} has the subscriptionId {excerpt(named, 40)}.", stream.response.n, frame.n)
                seen.append(frame.n)
    return good("", *seen[:10]) if seen else skipped("nothing came on the stream")


@CHECKS.active("EVENT-20", mode="tool", apart=True)
async def beats(visit: Visit) -> Outcome:
    """The first heartbeat, if it comes in the time of a check."""
    async with _streaming(visit, 7_100_004) as stream:
        if isinstance(stream, str):
            return skipped(stream)
        name = f"{PREFIX}heartbeat"
        longest = max(visit.limits.check - 2 * visit.limits.request, visit.limits.request)
        beat = await stream.connection.until(
            lambda frame: _is_event(frame) and frame.message["method"] == name, longest
        )
        if beat is None:
            return skipped(f"no heartbeat within {longest:g} s; the draft allows 30 s")
        params = beat.message.get("params")
        cursor = params.get("cursor") if type(params) is dict else 0
        if not isinstance(cursor, str | None):
            return bad(f"The cursor of a heartbeat is {excerpt(cursor, 60)}.", stream.response.n, beat.n)
        return good("", stream.response.n, beat.n)


@CHECKS.active("EVENT-21", mode="tool", apart=True)
async def ends(visit: Visit) -> Outcome:
    """Messages after the cancellation; two answers later, those before it have come."""
    async with _streaming(visit, 7_100_005) as stream:
        if isinstance(stream, str):
            return skipped(stream)
        if stream.first is None or stream.first.shape is not Shape.NOTIFICATION:
            return skipped("the stream did not begin")
        cancelled = stream.connection.notify(_CANCELLED, {"requestId": stream.id})
        if not await stream.connection.barrier():
            return skipped("the server did not answer after the cancellation")
        before = len(stream.notifications)
        await stream.connection.quiet(8 * visit.limits.quiet)
        late = stream.notifications[before:]
        if late:
            return bad(f"{quantity(len(late), 'message')} came after the cancellation.", cancelled, late[0].n)
        return good("", cancelled)


@CHECKS.active("EVENT-22")
@given(_listed)
async def tells_changes_on_request(visit: Visit, _: _List) -> Outcome:
    """All that has come in this visit."""
    index = visit.journal.index
    first = visit.visited.first
    came = Query(dir=Dir.RECV, shape=Shape.NOTIFICATION, method=LIST_CHANGED).numbers(index, first)
    response = False
    for n in Query(dir=Dir.SEND, method="subscriptions/listen").numbers(index, first):
        message = visit.journal.event(n).message
        response = response or value_at(message, "params", "notifications", "eventsListChanged") is True
    if came and not response:
        return bad("It came, and no subscription asked for it.", *came[:3])
    if came and not declared(visit.session.server.capabilities).list_changed:
        return bad("It came, and listChanged is not declared.", *came[:3])
    return good("" if came else "none came unasked", *_opening(visit), *came[:3])


# Webhooks


async def _by_webhook(visit: Visit) -> EventType | str:
    """An event type that is delivered by webhook, or why there is none."""
    webhook = await _listed(visit)
    if isinstance(webhook, str):
        return webhook
    return _delivered_by(webhook, "webhook") or "no event type is delivered by webhook"


async def _subscribed(visit: Visit, url: str, secret: str) -> RequestOutcome | str:
    event = await _by_webhook(visit)
    if isinstance(event, str):
        return event
    delivery = {"mode": "webhook", "url": url, "secret": secret}
    params = _params(event, delivery=delivery, ttlMs=60_000)
    response = await visit.request("events/subscribe", params, probe=True)
    if response.ok:
        await visit.request("events/unsubscribe", _params(event, delivery={"url": url}), probe=True)
    return response


_SECRET = "whsec_" + "QUJDRA" * 8 + "QUJDREE="
"""Of 39 bytes that are the same in each run: nothing is delivered to it."""


@CHECKS.active("EVENT-23", mode="intrusive")
async def needs_a_login(visit: Visit) -> Outcome:
    """A subscription without credentials, to a host that does not exist."""
    target = visit.target
    headers = target.headers if isinstance(target, HttpTarget) else ()
    if await visit.token_fields() or any(name.lower() == "authorization" for name, _ in headers):
        return skipped("this session has credentials")
    response = await _subscribed(visit, _NOWHERE, _SECRET)
    if isinstance(response, str):
        return skipped(response)
    if _meaning(response) != "Forbidden" and response.status not in (401, 403):
        return bad(f"events/subscribe without a login got {response.reply}.", *response.events)
    return good("", *response.events)


@CHECKS.active("EVENT-24", mode="intrusive")
async def refuses_bad_webhooks(visit: Visit) -> Outcome:
    """A subscription with each."""
    seen: list[int] = []
    for what, url, secret in (
        ("an http URL", _NOWHERE.replace("https", "http", 1), _SECRET),
        ("a short secret", _NOWHERE, "whsec_QUJD"),
    ):
        response = await _subscribed(visit, url, secret)
        if isinstance(response, str):
            return skipped(response)
        if _meaning(response) == "Forbidden":
            return skipped("the server refuses webhooks without a login")
        if response.code != INVALID_PARAMS:
            return bad(f"events/subscribe with {what} got {response.reply}.", *response.events)
        seen += response.events
    return good("", *seen)


# Webhooks at the address of the user

_PRIVATE = "https://127.0.0.1:9/inspector-check"
"""A callback on the server's own machine (port 9: discard)."""
_AFTER = 0.5
"""Seconds to wait for more deliveries after the first event."""


@dataclass
class _WebhookSubscription:
    """A subscription to the address of the user: the requests in their order, and what was delivered."""

    first: RequestOutcome
    again: RequestOutcome | None = None
    """The same subscription."""
    removed: RequestOutcome | None = None
    removed_again: RequestOutcome | None = None
    private: RequestOutcome | None = None
    """A subscription with a callback on loopback."""
    arrivals: list[Arrival] = field(default_factory=list)

    @property
    def delivered(self) -> list[Arrival]:
        """Without requests of strangers, which a public URL gets too: they have neither the form nor a signature."""
        return [
            arrival
            for arrival in self.arrivals
            if arrival.verdict.kind != "unknown" or arrival.subscription or arrival.verdict.signed or arrival.redirected
        ]

    @property
    def events(self) -> list[Arrival]:
        """The deliveries of events."""
        return [delivery for delivery in self.delivered if delivery.verdict.kind == "event"]


@OnceInAVisit
async def _trial(visit: Visit) -> _WebhookSubscription | str:
    """Subscribe the user's address once in a visit; or why not."""
    address = visit.allowed.more.get("webhook")
    if not isinstance(address, WebhookAddress):
        return Skip.DELIVERIES
    event = await _by_webhook(visit)
    if isinstance(event, str):
        return event
    _trial.learn(visit, "the subscription was not completed")
    return await _tried(visit, event, address)


async def _tried(visit: Visit, event: EventType, address: WebhookAddress) -> _WebhookSubscription | str:
    arrivals: list[Arrival] = []
    came = asyncio.Event()

    def arrived(arrival: Arrival) -> None:
        arrivals.append(arrival)
        if arrival.verdict.kind == "event" or arrival.redirected:
            came.set()

    secret = new_secret()
    receiver = WebhookReceiver(address, secret, visit.journal, arrived, redirects_first=True)
    await receiver.start()
    delivery = {"mode": "webhook", "url": address.url, "secret": secret}
    subscribing = _params(event, delivery=delivery)
    removing = _params(event, delivery={"url": address.url})
    try:
        call = _WebhookSubscription(await visit.request("events/subscribe", subscribing, probe=True), arrivals=arrivals)
        if call.first.ok:
            call.again = await visit.request("events/subscribe", subscribing, probe=True)
            with suppress(TimeoutError):
                await asyncio.wait_for(came.wait(), min(visit.limits.check / 2, 2 * visit.limits.request))
                await asyncio.sleep(_AFTER * min(visit.limits.request, 1.0))
            call.removed = await visit.request("events/unsubscribe", removing, probe=True)
            call.removed_again = await visit.request("events/unsubscribe", removing, probe=True)
        if _meaning(call.first) != "Forbidden":
            private = {"mode": "webhook", "url": _PRIVATE, "secret": secret}
            call.private = await visit.request("events/subscribe", _params(event, delivery=private), probe=True)
            if call.private.ok:
                await visit.request("events/unsubscribe", _params(event, delivery={"url": _PRIVATE}), probe=True)
    finally:
        await receiver.close()
    return call


def _not_taken(call: _WebhookSubscription) -> Outcome | None:
    """The result of a check if the server refused the address of the user."""
    if call.first.ok:
        return None
    return skipped(f"the server refused the subscription of the address: {call.first.reply}")


@CHECKS.active("EVENT-25", mode="intrusive")
@given(_trial)
async def limits_its_subscriptions(visit: Visit, call: _WebhookSubscription) -> Outcome:
    """The grant of a subscription without ttlMs."""
    if refused := _not_taken(call):
        return refused
    given = call.first.body.get("refreshBefore")
    if given is None:
        return bad("refreshBefore is null: the subscription never ends.", *call.first.events)
    return expect(call.first, type(given) is str, f"refreshBefore is {excerpt(given, 40)}, not a time.")


@CHECKS.active("EVENT-26", mode="intrusive")
@given(_trial)
async def identifies_its_subscriptions(visit: Visit, call: _WebhookSubscription) -> Outcome:
    """A subscription twice, and its removal twice."""
    if refused := _not_taken(call):
        return refused
    assert call.again is not None
    assert call.removed is not None
    assert call.removed_again is not None
    first, second = call.first.body.get("id"), call.again.body.get("id")
    response = (*call.first.events, *call.again.events)
    if type(first) is not str or not first:
        return bad(f"The id is {excerpt(first, 60)}, not a text.", *call.first.events)
    if not call.again.ok:
        return bad(f"The second events/subscribe got {call.again.reply}.", *call.again.events)
    if second != first:
        return bad(f"The ids are {excerpt(first, 60)} and {excerpt(second, 60)}.", *response)
    if not call.removed.ok:
        return bad(f"events/unsubscribe got {call.removed.reply}.", *call.removed.events)
    members = sorted(set(call.removed.body) - {"resultType", "_meta"})
    if members:
        return bad(f"The result of events/unsubscribe has {', '.join(members[:5])[:200]}.", *call.removed.events)
    if _meaning(call.removed_again) != "NotFound":
        got = call.removed_again.reply
        return bad(f"The second events/unsubscribe got {got}, not NotFound.", *call.removed_again.events)
    return good("", *response, *call.removed.events, *call.removed_again.events)


@CHECKS.active("EVENT-27", mode="intrusive")
@given(_trial)
async def signs_its_deliveries(visit: Visit, call: _WebhookSubscription) -> Outcome:
    """Each delivery; the first event is redirected."""
    if refused := _not_taken(call):
        return refused
    if not call.delivered:
        return skipped("nothing was delivered")
    for delivery in call.delivered:
        if delivery.redirected:
            return bad("A redirect of a delivery was followed.", delivery.n)
        # A delivery and its event may have different ids only by accident: that is not about its signature.
        problems = [problem for problem in delivery.problems if "eventId" not in problem]
        if problems:
            return bad(" ".join(problems), delivery.n)
    note = "" if call.events else "no event came: only the verification was judged"
    return good(note, *(delivery.n for delivery in call.delivered[:5]))


@CHECKS.active("EVENT-28", mode="intrusive")
@given(_trial)
async def verifies_its_callbacks(visit: Visit, call: _WebhookSubscription) -> Outcome:
    """The order of the deliveries, and a subscription with a callback on 127.0.0.1."""
    if call.private is None:
        return _not_taken(call) or skipped("no callback was tried")
    if call.first.ok:
        kinds = [delivery.verdict.kind for delivery in call.delivered]
        if not kinds:
            return bad("The subscription was accepted, and its URL never verified.", *call.first.events)
        if kinds[0] != "verification":
            return bad(f"The first delivery is of the type {kinds[0]}, not verification.", call.delivered[0].n)
    if call.private.ok:
        return bad(f"A callback on loopback, {_PRIVATE}, was accepted.", *call.private.events)
    return good("", *(delivery.n for delivery in call.delivered[:1]), *call.private.events)
