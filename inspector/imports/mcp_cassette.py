"""A cassette of mcp-cassette, format versions 1 to 3: one JSON document with the messages in order.

`messages` have `t_offset_ms`, `sender` (`client`, `server`), `kind`, `payload` (a message; of kind `raw` the text of an
invalid one), `redacted`, and over HTTP `exchange` (a number for each HTTP request) and `channel` (`post`, `get`).
"""

from __future__ import annotations

import json
from typing import Any

from inspector.imports.embedded_messages import ImportedEntry
from inspector.imports.recording_builder import RecordingBuilder, moment
from inspector.imports.source import Source, encoded, value_of
from inspector.imports.targets import http_target, stdio_target
from inspector.journal import channels
from inspector.journal.format import Dir

_PATH = ("messages",)
_KNOWN = 3


def fits(source: Source) -> bool:
    """Whether the file is such a cassette."""
    return {"format_version", "messages"} <= source.names(*_PATH)


def read(source: Source, maker: RecordingBuilder) -> None:
    """Read the cassette, message by message."""
    document = source.document(*_PATH)
    version, began = value_of(document.member("format_version")), value_of(document.member("recorded_at"))
    over_http = value_of(document.member("transport")) == "http"
    find = http_target if over_http else stdio_target
    command = value_of(document.member("server_url" if over_http else "command"))
    target, secrets = find(command)
    started = moment(began) or 0
    maker.begin(started, target, f"mcp-cassette, format {json.dumps(version)[:20]}", secrets)
    if type(version) is not int or version > _KNOWN:
        maker.note(f"The cassette has format version {str(version)[:20]}; this Inspector supports {_KNOWN}.")
    for place, (start, end) in enumerate(document.items, 1):
        entry = ImportedEntry(document.text[start:end])
        dir = {"client": Dir.SEND, "server": Dir.RECV}.get(entry.text("sender"))
        if dir is None:
            maker.unread(f"Message {place:,}", "it has no sender")
            continue
        maker.at(started + int(entry.number("t_offset_ms") * 1000))
        data = encoded(entry.text("payload")) if entry.get("kind") == "raw" else entry.exact("payload")
        fields: dict[str, Any] = {"redacted": True} if entry.get("redacted") is True else {}
        maker.message(dir, _channel(entry) if over_http else channels.STDIO, data or b"", **fields)
    if document.broken is not None:
        maker.unread(f"The part after message {len(document.items):,}", str(document.broken))
    heads = "HTTP heads, " if over_http else ""
    maker.note(f"mcp-cassette does not keep {heads}stderr, the ends of connections and parts of a millisecond.")


def _channel(entry: ImportedEntry) -> str:
    exchange = entry.get("exchange")
    method = "GET" if entry.get("channel") == "get" else "POST"
    if type(exchange) is not int or not 0 <= exchange < 1 << 53:
        return channels.of_method(method)
    return channels.of_get(exchange) if method == "GET" else channels.of_post(exchange)
