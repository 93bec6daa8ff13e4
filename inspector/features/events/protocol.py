"""Events (`io.modelcontextprotocol/events`): names, how a server declares it, its event types, and its errors.

Source: SEP-3415 (draft), "Capability Negotiation", "Listing Available Events", "Error Handling". Servers also follow an
older sketch with other error codes and another place of the declaration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from inspector.protocol.extensions import EVENTS
from inspector.protocol.members import array_at, object_at, text_at, value_at

SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
LIST_CHANGED = "notifications/events/list_changed"
PREFIX = "notifications/events/"
"""Of every notification on a stream of events."""
DeliveryMode = Literal["poll", "push", "webhook"]
MODES: tuple[DeliveryMode, ...] = ("poll", "push", "webhook")
EventsDialect = Literal["extension", "sketch"]
"""`sketch`: the server declares `capabilities.events`, as before the SEP."""
MAX_TYPES = 5_000
MAX_PAGES = 200
MAX_NAME = 300
"""Characters of a name that is shown."""


class Declared(NamedTuple):
    """How a server declares events."""

    dialect: EventsDialect | None = None
    """None: not at all."""
    list_changed: bool = False
    problem: str = ""
    """Why a declaration does not count, or what is odd about it, as a sentence."""


def declared(capabilities: Mapping[str, Any]) -> Declared:
    """Read the capabilities of a server. The settings of the extension must be an object (C-EXT-06)."""
    extensions = capabilities.get("extensions")
    if isinstance(extensions, Mapping) and EVENTS in extensions:
        settings = extensions[EVENTS]
        if not isinstance(settings, Mapping):
            return Declared(problem=f"The settings of {EVENTS} are not an object, so it counts as not declared.")
        changed = settings.get("listChanged", False)
        odd = "" if type(changed) is bool else "listChanged is not a boolean."
        return Declared("extension", changed is True, odd)
    if "events" in capabilities:
        return Declared("sketch", problem="Events are declared as capabilities.events, as before SEP-3415.")
    return Declared()


class EventType(NamedTuple):
    """One entry of `events/list`."""

    name: str
    description: str
    delivery: tuple[DeliveryMode, ...]
    """The known delivery modes."""
    input_schema: dict[str, Any]
    """`{}` if the server gives none."""
    payload_schema: dict[str, Any]
    raw: dict[str, Any]
    problems: tuple[str, ...] = ()
    """What is wrong with the entry, as sentences; contain the server's text."""

    @property
    def follows_by(self) -> DeliveryMode | None:
        """The mode in which Inspector follows it: push before poll; None if it offers neither."""
        return "push" if "push" in self.delivery else "poll" if "poll" in self.delivery else None


class EventPage(NamedTuple):
    """One page of `events/list`."""

    types: tuple[EventType, ...]
    next_cursor: str | None
    problems: tuple[str, ...] = ()


def event_page(result: Any) -> EventPage:
    """Read a result of `events/list`. It omits entries without a name; `problems` has them."""
    entries = array_at(result, "events")
    problems = [] if type(value_at(result, "events")) is list else ['"events" is not an array.']
    types = []
    for at, entry in enumerate(entries[:MAX_TYPES]):
        if not text_at(entry, "name"):
            problems.append(f"events[{at}] has no name.")
        else:
            types.append(event_type(entry))
    if len(entries) > MAX_TYPES:
        problems.append(f"The page has {len(entries):,} event types; only {MAX_TYPES:,} are read.")
    cursor = value_at(result, "nextCursor")
    return EventPage(tuple(types), cursor if type(cursor) is str else None, tuple(problems))


def event_type(entry: dict[str, Any]) -> EventType:
    """Read an entry that has a name."""
    problems = [
        f"{key} is not {a}."
        for key, kind, a in (
            ("description", str, "a string"),
            ("inputSchema", dict, "an object"),
            ("payloadSchema", dict, "an object"),
        )
        if type(entry.get(key)) is not kind
    ]
    modes = array_at(entry, "delivery")
    if not modes:
        problems.append("delivery is not an array with at least one mode.")
    problems += [f"delivery has the unknown mode {str(mode)[:40]!r}." for mode in modes[:20] if mode not in MODES]
    if len({mode for mode in modes if type(mode) is str}) < len([mode for mode in modes if type(mode) is str]):
        problems.append("delivery names a mode twice.")
    return EventType(
        entry["name"],
        text_at(entry, "description"),
        tuple(mode for mode in MODES if mode in modes),
        object_at(entry, "inputSchema"),
        object_at(entry, "payloadSchema"),
        entry,
        tuple(problems),
    )


# Errors

_OF_THE_SEP = {
    -32023: "NotFound",
    -32024: "Forbidden",
    -32025: "ResourceExhausted",
    -32026: "Unsupported",
    -32027: "CallbackEndpointError",
}
_OF_THE_SKETCH = {
    -32011: "NotFound",
    -32012: "Forbidden",
    -32013: "ResourceExhausted",
    -32014: "Unsupported",
    -32015: "CallbackEndpointError",
}
_CALLBACK_REASONS = frozenset(
    ("connection_refused", "timeout", "tls_error", "http_4xx", "http_5xx", "challenge_failed")
)
_FINAL = frozenset(("NotFound", "Forbidden", "Unsupported", "InvalidParams", "MethodNotFound"))
_STANDARD = {-32601: "MethodNotFound", -32602: "InvalidParams", -32603: "InternalError"}


class ErrorMeaning(NamedTuple):
    """The meaning of an error of the extension."""

    name: str
    """`NotFound`, …; empty for a code that no text defines."""
    codes: Literal["SEP-3415", "sketch", "JSON-RPC", ""]
    """The list of codes that it is from."""
    is_final: bool
    """Whether the same request cannot succeed later."""
    list_again: bool = False
    """Whether the list of event types has changed (C-EVENT-18)."""

    def __str__(self) -> str:
        """`Forbidden (SEP-3415)`; empty without a name."""
        return f"{self.name} ({self.codes})" if self.name else ""


def condition(code: Any, data: Any = None) -> ErrorMeaning:
    """Return the meaning of an error. Codes of the sketch had other names before, so `data` decides where it can."""
    if type(code) is not int:
        return ErrorMeaning("", "", False)
    if code in _STANDARD:
        name = _STANDARD[code]
        return ErrorMeaning(name, "JSON-RPC", name in _FINAL)
    about: dict[str, Any] = object_at(data)
    if code in _OF_THE_SEP:
        name = _OF_THE_SEP[code]
    elif code in _OF_THE_SKETCH or code == -32016:
        name = _by_data(about) or _OF_THE_SKETCH.get(code, "")
    else:
        return ErrorMeaning("", "", False)
    changed = name == "Unsupported" and about.get("reason") == "schema_changed"
    gone = name == "NotFound" and about.get("kind", "event") == "event"
    return ErrorMeaning(name, "SEP-3415" if code in _OF_THE_SEP else "sketch", name in _FINAL, changed or gone)


def _by_data(data: dict[str, Any]) -> str:
    if data.get("kind") in ("event", "subscription"):
        return "NotFound"
    if "limit" in data or "max" in data:
        return "ResourceExhausted"
    if "feature" in data:
        return "Unsupported"
    return "CallbackEndpointError" if data.get("reason") in _CALLBACK_REASONS else ""
