"""Cassettes of mcp-cassette."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import IO, Any

from inspector.features.recorders.messages_only import MESSAGES, not_kept
from inspector.formats.json_edits import clean, portable
from inspector.formats.recording_builder import (
    FormatReader,
    RecordingBuilder,
    http_target,
    moment,
    stdio_target,
)
from inspector.formats.selection import RecordingClock, Selection, facts_of, target_of, write_items
from inspector.formats.source import ImportedEntry, encoded
from inspector.journal import channels
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal

CASSETTE_VERSION = 3
_dumps = json.JSONEncoder(ensure_ascii=False, default=str).encode
_KNOWN_CASSETTE = 3


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write a cassette of mcp-cassette, format version 3: one JSON document with the messages in order.

    The format, as version 0.4 of that tool reads it: `format_version`, `recorded_at`, `transport` (`stdio` or `http`),
    `server_url`, `session_id`, `protocol_version`, `server_info` (`name` and `version`, both strings, or null),
    `redaction` and `messages`. A message has `seq` from 0, `t_offset_ms`, `sender` (`client`, `server`), `kind`,
    `method`, `msg_id`, `payload`, `redacted`, and over HTTP `exchange` (a number for each HTTP request) and `channel`
    (`post` or `get`, for messages of the server). `kind` depends on the shape alone: an object with `method` and `id`
    is a `request`, with `method` only a `notification`, with `id` only a `response`, with neither `unclassified`; any
    other value is `raw`, with its text as payload. It does not contain stderr, HTTP heads, ends of connections and
    other life events.
    """
    facts = facts_of(journal)
    url = target_of(journal).members.get("url")
    name, version = facts.server.get("name"), facts.server.get("version")
    introduced = isinstance(name, str) and isinstance(version, str)
    over_http = isinstance(url, str)
    head = {
        "format_version": CASSETTE_VERSION,
        "recorded_at": RecordingClock(journal)(0),
        "transport": "http" if over_http else "stdio",
        "server_url": clean(url) if isinstance(url, str) else None,
        "session_id": None,
        "protocol_version": clean(facts.revision) if isinstance(facts.revision, str) else None,
        "server_info": {"name": clean(str(name)), "version": clean(str(version))} if introduced else None,
        "redaction": None,
    }
    out.write(_dumps(head)[:-1] + ', "messages": [')
    chosen = Selection(journal, numbers)
    write_items(out, (_cassette_message(journal, n, at, over_http) for at, n in enumerate(chosen.of(*MESSAGES))))
    out.write("\n]}\n")
    return not_kept(chosen)


def _cassette_message(journal: Journal, n: int, at: int, over_http: bool) -> str:
    event = next(journal.events(n, n))
    text = portable(event.text) if event.kind is Kind.RPC else None
    value = event.message if text is not None else None
    method = id = None
    if text is None or type(value) is not dict:
        kind, payload = "raw", _dumps(clean(event.text))
    else:
        kind = {(True, True): "request", (True, False): "notification", (False, True): "response"}.get(
            ("method" in value, "id" in value), "unclassified"
        )
        method, id, payload = value.get("method"), value.get("id"), text
    exchange = channels.exchange_number(event.ch) if over_http else None
    about: dict[str, Any] = {
        "seq": at,
        "t_offset_ms": event.t // 1000,
        "sender": "client" if event.dir is Dir.SEND else "server",
        "kind": kind,
        "method": clean(method) if isinstance(method, str) else None,
        "msg_id": clean(id) if isinstance(id, str) else id if type(id) is int else None,
        "redacted": event.fields.get("redacted") is True,
        "exchange": exchange,
        "channel": channels.family(event.ch) if exchange is not None and event.dir is not Dir.SEND else None,
    }
    return f'{_dumps(about)[:-1]}, "payload": {payload}}}'


def _read(maker: RecordingBuilder) -> None:
    """Read a cassette of mcp-cassette, format versions 1 to 3: one JSON document with the messages in order.

    `messages` have `t_offset_ms`, `sender` (`client`, `server`), `kind`, `payload` (a message; of kind `raw` the text
    of an invalid one), `redacted`, and over HTTP `exchange` (a number for each HTTP request) and `channel` (`post`,
    `get`).
    """
    document = maker.source.document("messages")
    version, over_http = document.value("format_version"), document.value("transport") == "http"
    target = http_target(document.value("server_url")) if over_http else stdio_target(document.value("command"))
    started = moment(document.value("recorded_at")) or 0
    maker.begin(started, target, f"mcp-cassette, format {json.dumps(version)[:20]}")
    if type(version) is not int or version > _KNOWN_CASSETTE:
        maker.note(f"The cassette has format version {str(version)[:20]}; this Inspector supports {_KNOWN_CASSETTE}.")
    for place, entry in document.entries():
        dir = {"client": Dir.SEND, "server": Dir.RECV}.get(entry.text("sender"))
        if dir is None:
            maker.unread(f"Message {place:,}", "it has no sender")
            continue
        maker.at(started + int(entry.number("t_offset_ms") * 1000))
        data = encoded(entry.text("payload")) if entry.get("kind") == "raw" else entry.exact("payload")
        fields: dict[str, Any] = {"redacted": True} if entry.get("redacted") is True else {}
        maker.message(dir, _cassette_channel(entry) if over_http else channels.STDIO, data or b"", **fields)
    maker.unread_rest(document, "message")
    heads = "HTTP heads, " if over_http else ""
    maker.note(f"mcp-cassette does not keep {heads}stderr, the ends of connections and parts of a millisecond.")


def _cassette_channel(entry: ImportedEntry) -> str:
    exchange = entry.get("exchange")
    method = "GET" if entry.get("channel") == "get" else "POST"
    if type(exchange) is not int or not 0 <= exchange < 1 << 53:
        return channels.of_method(method)
    return channels.of_get(exchange) if method == "GET" else channels.of_post(exchange)


READER = FormatReader(
    lambda source: {"format_version", "messages"} <= source.names("messages"),
    _read,
)
