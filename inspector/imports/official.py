"""Exports of the official MCP Inspector (2.x): a JSON list of the entries of one of its tabs.

`inspector-protocol-….json` has messages: `timestamp`, `direction` (`request`, `response`, `notification`), `origin`
(`client`, `server`; missing in older ones), `message`, and `response` with `duration` in milliseconds if there was one.
`inspector-network-….json` has HTTP requests: `timestamp`, `method`, `url`, `requestHeaders`, `requestBody`,
`responseStatus`, `responseStatusText`, `responseHeaders`, `responseBody`, `duration`, `error` and `category` (`auth`,
`transport`). `inspector-console-….json` has lines of stderr: `timestamp`, `message`. Entries in either order are sorted
by their times.
"""

from __future__ import annotations

from typing import Any

from inspector.imports.embedded_messages import ImportedEntry
from inspector.imports.http_messages import WebExchange, record_exchanges
from inspector.imports.json_positions import JsonArrayDocument
from inspector.imports.message_senders import Senders
from inspector.imports.recording_builder import RecordingBuilder, moment
from inspector.imports.source import Source, encoded
from inspector.imports.targets import stdio_target
from inspector.journal import channels
from inspector.journal.format import Dir

_ORIGINS = {"client": Dir.SEND, "server": Dir.RECV}


def fits(source: Source) -> bool:
    """Whether the file is such a list."""
    names = source.names_of_item()
    return "timestamp" in names and bool({"message", "requestHeaders"} & names)


def read(source: Source, maker: RecordingBuilder) -> None:
    """Read the list."""
    document = source.document()
    if "requestHeaders" in source.names_of_item():
        record_exchanges(maker, _exchanges(document, maker), "the official Inspector")
    else:
        _read_messages(document, maker)
    if document.broken is not None:
        maker.unread(f"The part after entry {len(document.items):,}", str(document.broken))


def _read_messages(document: JsonArrayDocument, maker: RecordingBuilder) -> None:
    """Record messages and lines of stderr; equal times keep the order of the list."""
    found: list[tuple[int, int, int, str]] = []
    for place, (start, end) in enumerate(document.items, 1):
        entry = ImportedEntry(document.text[start:end])
        time = moment(entry.get("timestamp"))
        if time is None or entry.get("message") is None:
            maker.unread(f"Entry {place:,}", "it has no time or no message")
            continue
        found.append((time, start, end, "message"))
        if entry.get("response") is not None:
            found.append((time + int(entry.number("duration") * 1000), start, end, "response"))
    if not found:
        return
    found.sort(key=lambda each: each[0])
    target, secrets = stdio_target(None)
    maker.begin(found[0][0], target, "MCP Inspector", secrets)
    senders = Senders()
    lines = False
    for time, start, end, part in found:
        entry = ImportedEntry(document.text[start:end])
        maker.at(time)
        if isinstance(entry.get("message"), str):
            maker.stderr(encoded(entry.text("message")))
            lines = True
            continue
        origin = _ORIGINS.get(entry.text("origin"))
        value: Any = entry.get(part)
        known = origin if part == "message" or origin is None else Dir.SEND if origin is Dir.RECV else Dir.RECV
        maker.message(senders.of(value, known), channels.STDIO, entry.exact(part) or b"")
    if lines:
        maker.note("This is stderr only: the official Inspector exports messages from its Protocol tab.")
    else:
        maker.note(
            "The official Inspector keeps the latest 1,000 messages that its SDK could read, not their exact text. "
            "stderr and HTTP heads are separate exports."
        )


def _exchanges(document: JsonArrayDocument, maker: RecordingBuilder) -> list[WebExchange]:
    found = []
    for place, (start, end) in enumerate(document.items, 1):
        entry = ImportedEntry(document.text[start:end])
        begun = moment(entry.get("timestamp"))
        if begun is None:
            maker.unread(f"Entry {place:,}", "it has no time")
            continue
        status, answered = entry.get("responseStatus"), begun + int(entry.number("duration") * 1000)
        asked, answer = entry.get("requestBody"), entry.get("responseBody")
        found.append(
            WebExchange(
                begun,
                answered,
                answered,
                entry.text("method"),
                entry.text("url"),
                _pairs(entry.get("requestHeaders")),
                encoded(asked) if isinstance(asked, str) else b"",
                status if type(status) is int else None,
                entry.text("responseStatusText"),
                "",
                _pairs(entry.get("responseHeaders")),
                encoded(answer) if isinstance(answer, str) else None,
                login=entry.get("category") == "auth",
            )
        )
    return found


def _pairs(headers: Any) -> list[tuple[str, str]]:
    if type(headers) is not dict:
        return []
    return [(name, value) for name, value in headers.items() if isinstance(value, str)]
