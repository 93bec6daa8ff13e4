"""One subscription to events: its position, what was delivered, duplicates, gaps and heartbeats. Does no I/O.

Source: SEP-3415 (draft), "Event Occurrences", "Poll-Based Delivery", "Push-Based Delivery", "Cursor Lifecycle".
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import OrderedDict, deque
from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal, NamedTuple

from inspector.errors import SchemaError
from inspector.features.events.protocol import EventType, condition
from inspector.protocol.jsonrpc import excerpt
from inspector.protocol.validation import Validator
from inspector.times import parse_time

EventRowKind = Literal["event", "repeat", "active", "gap", "heartbeat", "error", "terminated", "note"]
MAX_ROWS = 5_000
"""Rows of one subscription that are kept; the recording has all."""
MAX_IDS = 20_000
"""Event ids that are remembered to find repeats."""
FLOOR, CEILING = 1.0, 300.0
"""Seconds between two polls, whatever the server says (C-EVENT-12)."""
HEARTBEAT = 30.0
"""Seconds between two heartbeats until they were measured (C-EVENT-14)."""
MIN_BEAT, MAX_BEAT = 0.5, 120.0
MAX_ROUNDS = 100
"""Polls in a row without a pause, while the server says that it has more."""
MAX_DATA = 1 << 20
"""Characters of data that are compared with the schema and shown."""
_DATA, _ID, _CURSOR = 300, 100, 60
"""Characters that a row keeps."""

RowSink = Callable[["EventRow", Any], None]
"""Called with each row and, for an event, the whole occurrence."""
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
DataCheck = Callable[[dict[str, Any]], str]
"""Returns what is wrong with the data of an event, as a sentence; empty if nothing is."""


class EventRow(NamedTuple):
    """One line of the table. Texts are the server's: show them only through `inspector.text.safe`."""

    kind: EventRowKind
    n: int
    """The event of the recording that has it."""
    at: float
    """Seconds since the epoch."""
    event_id: str = ""
    data: str = ""
    """The start of the data as JSON."""
    cursor: str = ""
    note: str = ""
    timestamp: str = ""
    """The time that the server gives."""


class PollPlan(NamedTuple):
    """The next step after a poll."""

    again: bool
    """Poll again at once: the server has more."""
    wait: float
    """Seconds to wait otherwise."""


class DeliveryCounts:
    """How much was delivered."""

    __slots__ = ("changed", "errors", "events", "gaps", "heartbeats", "invalid", "older", "repeats")

    def __init__(self) -> None:
        self.events = 0
        """Without repeats."""
        self.repeats = 0
        self.changed = 0
        """Repeats with other data than the first time."""
        self.gaps = 0
        self.heartbeats = 0
        self.errors = 0
        self.invalid = 0
        """Events that break the SEP or the payload schema."""
        self.older = 0
        """Events with an earlier time than the one before."""

    def as_json(self) -> dict[str, int]:
        """For `--json`."""
        return {name: getattr(self, name) for name in sorted(self.__slots__)}


class Heartbeat:
    """The measured interval of a server's heartbeats."""

    def __init__(self) -> None:
        self._interval = HEARTBEAT
        self._latest: float | None = None

    def restart(self) -> None:
        """Handle a new stream: the time since the heartbeats of the last one means nothing."""
        self._latest = None

    def came(self, at: float) -> None:
        """Handle a heartbeat at `at` seconds."""
        if self._latest is not None and at > self._latest:
            self._interval = min(max(at - self._latest, MIN_BEAT), MAX_BEAT)
        self._latest = at

    @property
    def silence(self) -> float:
        """Seconds without an event or heartbeat after which a stream counts as dead (C-EVENT-14)."""
        return 2 * self._interval


class Subscription:
    """A subscription to one event type with fixed arguments."""

    def __init__(self, event: EventType | str, arguments: dict[str, Any], data_check: DataCheck | None = None) -> None:
        self.event = event if isinstance(event, EventType) else None
        """None if the type was not listed."""
        self.name = event.name if isinstance(event, EventType) else event
        self.arguments = arguments
        self.cursor: Any = None
        """The newest position; None: from now. Sent back as it came, whatever its type (C-EVENT-07)."""
        self.counts = DeliveryCounts()
        self.heartbeat = Heartbeat()
        self.rows: deque[EventRow] = deque(maxlen=MAX_ROWS)
        self.total = 0
        """All rows, also those that are no longer kept."""
        self.dropped = 0
        """Rows that are no longer kept because newer ones came."""
        self.ended = ""
        """Why the server ended it, as a sentence; empty while it lasts."""
        self.must_list_again = False
        """An error said that the list of event types has changed (C-EVENT-18)."""
        self.sink: RowSink | None = None
        self._data_check = data_check
        self._ids: OrderedDict[str, bytes] = OrderedDict()
        self._newest: datetime | None = None
        self._rounds = 0

    def params(self, *, max_events: int | None = None, max_age_ms: int | None = None) -> dict[str, Any]:
        """Return the params of `events/poll` and `events/stream` at the current position."""
        params: dict[str, Any] = {"name": self.name, "arguments": self.arguments, "cursor": self.cursor}
        if max_events is not None:
            params["maxEvents"] = max_events
        if max_age_ms is not None:
            params["maxAgeMs"] = max_age_ms
        return params

    def polled(self, result: Any, n: int, at: float) -> PollPlan:
        """Take the result of a poll."""
        body = result if type(result) is dict else {}
        before = self.counts.events
        if body.get("truncated") is True:
            self._gap(body.get("cursor"), n, at)
        events = body.get("events")
        if type(events) is not list:
            self.note('The result has no array "events".', n, at)
        for occurrence in events if type(events) is list else ():
            self.event_arrived(occurrence, n, at, of_poll=True)
        cursor = body.get("cursor")
        stayed = type(cursor) is type(self.cursor) and isinstance(cursor, str | None) and cursor == self.cursor
        self.cursor = cursor
        self._rounds = self._rounds + 1 if body.get("hasMore") is True else 0
        if self._rounds >= MAX_ROUNDS or (self._rounds > 1 and stayed and self.counts.events == before):
            self.note(f"The server says for {self._rounds} polls that it has more; polling goes on with pauses.", n, at)
            self._rounds = 0
        return PollPlan(self._rounds > 0, self._wait(body.get("nextPollMs"), n, at))

    def _wait(self, given: Any, n: int, at: float) -> float:
        if (type(given) is int or (type(given) is float and math.isfinite(given))) and given > 0:
            return max(min(given, CEILING * 1000) / 1000, FLOOR)
        self.note(f"nextPollMs is {excerpt(given, 40)}; the next poll is in {FLOOR:g} s.", n, at)
        return FLOOR

    def notified(self, method: str, params: Any, n: int, at: float) -> None:
        """Take a notification of this subscription; `method` without the prefix."""
        body = params if type(params) is dict else {}
        if method == "event":
            self.event_arrived(body, n, at)
        elif method == "active":
            self.cursor = body.get("cursor")
            if body.get("truncated") is True:
                self._gap(self.cursor, n, at)
            else:
                self._add(EventRow("active", n, at, cursor=_short(self.cursor)))
        elif method == "heartbeat":
            self._heartbeat(body, n, at)
        elif method == "error":
            self.counts.errors += 1
            self._add(EventRow("error", n, at, note=_error(body.get("error"))))
        elif method == "terminated":
            self.terminated(body.get("error"), n, at)
        else:
            self.note(f"Unknown notification events/{method[:60]}.", n, at)

    def terminated(self, error: Any, n: int, at: float) -> None:
        """The server has ended the subscription."""
        about = error if type(error) is dict else {}
        self.must_list_again = condition(about.get("code"), about.get("data")).list_again
        self.ended = f"The server ended the subscription: {_error(error)}."
        self._add(EventRow("terminated", n, at, note=_error(error)))

    def delivered(self, kind: str, body: dict[str, Any], n: int, at: float, *, repeated: bool = False) -> None:
        """Take an accepted delivery: an `event`, a `gap`, a `terminated` or a `verification`.

        One that was `repeated` is counted and changes nothing else: the position stays, and so does the subscription.
        Its sender need not be the server, because anyone who has seen a delivery can send it again.
        """
        if repeated and kind in ("gap", "terminated"):
            self.counts.repeats += 1
            self.note(f"A delivery ({kind}) was repeated. It was ignored.", n, at)
        elif kind == "event":
            before = self.cursor
            self.event_arrived(body, n, at)
            if repeated:
                self.cursor = before
        elif kind == "gap":
            self.cursor = body.get("cursor")
            self._gap(self.cursor, n, at)
        elif kind == "terminated":
            self.terminated(body.get("error"), n, at)
        else:
            self.note("The server verified the URL; its challenge was answered.", n, at)

    def _heartbeat(self, body: dict[str, Any], n: int, at: float) -> None:
        self.counts.heartbeats += 1
        self.cursor = body.get("cursor")
        self.heartbeat.came(at)
        row = EventRow("heartbeat", n, at, cursor=_short(self.cursor))
        if self.rows and self.rows[-1].kind == "heartbeat":
            self.rows.pop()  # Only the newest of a series is kept: a quiet hour is not 120 rows.
        self._add(row)

    def note(self, text: str, n: int = 0, at: float = 0.0) -> None:
        """Add a row about the delivery itself, such as a lost connection."""
        self._add(EventRow("note", n, at, note=text))

    def event_arrived(self, occurrence: Any, n: int, at: float, *, of_poll: bool = False) -> None:
        """Take an event; it is shown whatever is wrong with it (C-EVENT-06)."""
        body = occurrence if type(occurrence) is dict else {}
        id = body.get("eventId")
        data = body.get("data")
        text, digest = _as_text(data)
        problems = self._problems(body, text, of_poll)
        kind: EventRowKind = "event"
        if type(id) is str:
            known = self._ids.get(_key(id))
            if known is None:
                self._remember(_key(id), digest)
            else:
                kind = "repeat"
                self.counts.repeats += 1
                if known != digest:
                    self.counts.changed += 1
                    problems.append("It has other data than the event with the same id.")
        if kind == "event":
            self.counts.events += 1
        if problems:
            self.counts.invalid += 1
        if not of_poll:
            self.cursor = body.get("cursor")
        where = "" if of_poll else _short(self.cursor)
        when = _plain(body.get("timestamp"), _CURSOR)
        self._add(EventRow(kind, n, at, _plain(id, _ID), text[:_DATA], where, " ".join(problems)[:_DATA], when), body)

    def _problems(self, body: dict[str, Any], text: str, of_poll: bool) -> list[str]:
        texts = ("eventId", "name", "timestamp")
        problems = [f"{key} is not a string." for key in texts if type(body.get(key)) is not str]
        if type(body.get("name")) is str and body["name"] != self.name:
            problems.append(f"The event is {excerpt(body['name'], 60)}, not {excerpt(self.name, 60)}.")
        if type(body.get("timestamp")) is str:
            when = parse_time(body["timestamp"])
            if when is None:
                problems.append("timestamp is not an ISO 8601 time.")
            elif self._newest is not None and when < self._newest:
                self.counts.older += 1
            if when is not None:
                self._newest = when
        if type(body.get("data")) is not dict:
            problems.append("data is not an object.")
        elif self._data_check is not None and len(text) <= MAX_DATA:
            wrong = self._data_check(body["data"])
            if wrong:
                problems.append(wrong)
        if of_poll and "cursor" in body:
            problems.append("An event of a poll has a cursor of its own.")
        return problems

    def _gap(self, cursor: Any, n: int, at: float) -> None:
        self.counts.gaps += 1
        self._add(EventRow("gap", n, at, cursor=_short(cursor), note="Events may be missing here (truncated)."))

    def _add(self, row: EventRow, occurrence: Any = None) -> None:
        self.dropped += len(self.rows) == MAX_ROWS
        self.rows.append(row)
        self.total += 1
        if self.sink is not None:
            self.sink(row, occurrence)

    def _remember(self, key: str, digest: bytes) -> None:
        self._ids[key] = digest
        if len(self._ids) > MAX_IDS:
            self._ids.popitem(last=False)


def _as_text(data: Any) -> tuple[str, bytes]:
    try:
        text = _ENCODER.encode(data)
    except RecursionError:
        text = "data nested too deeply to show"
    return text, hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _key(id: str) -> str:
    """A long id is kept as its digest, so that memory has a bound."""
    return id if len(id) <= _ID else hashlib.blake2b(id.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _plain(value: Any, longest: int) -> str:
    return value[:longest] if type(value) is str else "" if value is None else excerpt(value, longest)


def _short(cursor: Any) -> str:
    return _plain(cursor, _CURSOR)


def _error(error: Any) -> str:
    about = error if type(error) is dict else {}
    named = str(condition(about.get("code"), about.get("data")))
    message = _plain(about.get("message"), 200) or "no message"
    code = _plain(about.get("code"), 20) or "no code"
    return f"{message} ({code}{', ' + named if named and named.split(' ')[0] != message else ''})"


def argument_problem(event: EventType, arguments: dict[str, Any]) -> str:
    """Return why arguments do not match the input schema, as a sentence; empty if they do."""
    check = _check(event.input_schema, "arguments")
    return check(arguments) if check is not None else ""


def data_check(event: EventType) -> DataCheck | None:
    """Return the check of an event's data; None without a usable payload schema."""
    return _check(event.payload_schema, "data")


def _check(schema: dict[str, Any], whose: str) -> DataCheck | None:
    if not schema:
        return None
    try:
        validator = Validator(schema)
    except SchemaError:
        return None  # The list of event types names it.

    def check(value: dict[str, Any]) -> str:
        errors = validator.errors(value, limit=1)
        return f"{whose}{errors[0].path}: {errors[0].message}." if errors else ""

    return check
