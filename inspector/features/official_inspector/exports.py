"""Exports of the official MCP Inspector: its Protocol, Network and Console tabs."""

from __future__ import annotations

from typing import Any

from inspector.formats.recording_builder import (
    FormatReader,
    RecordingBuilder,
    Senders,
    moment,
    stdio_target,
)
from inspector.formats.source import JsonArrayDocument, Source, encoded
from inspector.formats.web_exchanges import WebExchange, record_exchanges
from inspector.journal import channels
from inspector.journal.format import Dir
from inspector.protocol.views import View

_ORIGINS = {"client": Dir.SEND, "server": Dir.RECV}


def _fits(source: Source) -> bool:
    names = source.names_of_item()
    return "timestamp" in names and bool({"message", "requestHeaders"} & names)


def _read(maker: RecordingBuilder) -> None:
    """Read an export of the official MCP Inspector (2.x): a JSON list of the entries of one of its tabs.

    `inspector-protocol-….json` has messages: `timestamp`, `direction` (`request`, `response`, `notification`),
    `origin` (`client`, `server`; missing in older ones), `message`, and `response` with `duration` in milliseconds if
    there was one. `inspector-network-….json` has HTTP requests: `timestamp`, `method`, `url`, `requestHeaders`,
    `requestBody`, `responseStatus`, `responseStatusText`, `responseHeaders`, `responseBody`, `duration`, `error` and
    `category` (`auth`, `transport`). `inspector-console-….json` has lines of stderr: `timestamp`, `message`. Entries in
    either order are sorted by their times.
    """
    document = maker.source.document()
    if "requestHeaders" in maker.source.names_of_item():
        record_exchanges(maker, _exchanges(document, maker), "the official Inspector")
    else:
        _record_messages(document, maker)
    maker.unread_rest(document, "entry")


def _record_messages(document: JsonArrayDocument, maker: RecordingBuilder) -> None:
    """Record messages and lines of stderr; equal times keep the order of the list."""
    parts: list[tuple[int, int, str]] = []
    for place, entry in document.entries():
        time = moment(entry.get("timestamp"))
        if time is None or entry.get("message") is None:
            maker.unread(f"Entry {place:,}", "it has no time or no message")
            continue
        parts.append((time, place, "message"))
        if entry.get("response") is not None:
            parts.append((time + int(entry.number("duration") * 1000), place, "response"))
    if not parts:
        return
    parts.sort(key=lambda item: item[0])
    maker.begin(parts[0][0], stdio_target(None), "MCP Inspector")
    senders = Senders()
    lines = False
    for time, place, part in parts:
        entry = document.entry(place)
        maker.at(time)
        if isinstance(entry.get("message"), str):
            maker.stderr(encoded(entry.text("message")))
            lines = True
            continue
        origin = _ORIGINS.get(entry.text("origin"))
        known = origin if part == "message" or origin is None else Dir.SEND if origin is Dir.RECV else Dir.RECV
        maker.message(senders.of(entry.get(part), known), channels.STDIO, entry.exact(part) or b"")
    if lines:
        maker.note("This is stderr only: the official Inspector exports messages from its Protocol tab.")
    else:
        maker.note(
            "The official Inspector keeps the latest 1,000 messages that its SDK could read, not their exact text. "
            "stderr and HTTP heads are separate exports."
        )


def _exchanges(document: JsonArrayDocument, maker: RecordingBuilder) -> list[WebExchange]:
    exchanges = []
    for place, entry in document.entries():
        begun = moment(entry.get("timestamp"))
        if begun is None:
            maker.unread(f"Entry {place:,}", "it has no time")
            continue
        status, answered = entry.get("responseStatus"), begun + int(entry.number("duration") * 1000)
        answer = entry.get("responseBody")
        exchanges.append(
            WebExchange(
                begun,
                answered,
                answered,
                entry.text("method"),
                entry.text("url"),
                _headers(entry.get("requestHeaders")),
                encoded(entry.text("requestBody")),
                status if type(status) is int else None,
                entry.text("responseStatusText"),
                "",
                _headers(entry.get("responseHeaders")),
                encoded(answer) if isinstance(answer, str) else None,
                login=entry.get("category") == "auth",
            )
        )
    return exchanges


def _headers(headers: Any) -> list[tuple[str, str]]:
    return [(name, value) for name, value in View(headers).members.items() if isinstance(value, str)]


READER = FormatReader(_fits, _read)
