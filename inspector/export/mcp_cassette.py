"""A cassette of mcp-cassette, format version 3: one JSON document with the messages in order.

The format, as version 0.4 of that tool reads it: `format_version`, `recorded_at`, `transport` (`stdio` or `http`),
`server_url`, `session_id`, `protocol_version`, `server_info` (`name` and `version`, both strings, or null), `redaction`
and `messages`. A message has `seq` from 0, `t_offset_ms`, `sender` (`client`, `server`), `kind`, `method`, `msg_id`,
`payload`, `redacted`, and over HTTP `exchange` (a number for each HTTP request) and `channel` (`post` or `get`, for
messages of the server). `kind` depends on the shape alone: an object with `method` and `id` is a `request`, with
`method` only a `notification`, with `id` only a `response`, with neither `unclassified`; any other value is `raw`, with
its text as payload. It does not contain stderr, HTTP heads, ends of connections and other life events.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import IO, Any

from inspector.export.json_edits import clean, portable
from inspector.export.recording_facts import RecordingClock, facts_of
from inspector.export.selection import Selection
from inspector.journal import channels
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal

VERSION = 3

_dumps = json.JSONEncoder(ensure_ascii=False).encode


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the cassette to `out`, message by message."""
    facts = facts_of(journal)
    target = journal.header.get("target")
    url = target.get("url") if type(target) is dict else None
    name, version = facts.server.get("name"), facts.server.get("version")
    introduced = isinstance(name, str) and isinstance(version, str)
    over_http = isinstance(url, str)
    head = {
        "format_version": VERSION,
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
    separator = "\n"
    for at, n in enumerate(chosen.of(Kind.RPC, Kind.INVALID)):
        event = next(journal.events(n, n))
        out.write(separator + _message(event, at, over_http))
        separator = ",\n"
    out.write("\n]}\n")
    return not_kept(chosen)


def not_kept(chosen: Selection) -> list[str]:
    """Return the sentence about events that the other recorders' formats do not contain."""
    others = (Kind.HTTP, Kind.SSE, Kind.LIFE, Kind.AUTH, Kind.NOTE, Kind.STDERR)
    amount = sum(1 for _ in chosen.of(*others))
    if not amount:
        return []
    return [
        f"This format contains messages only: {amount:,} other events (stderr, HTTP heads, life events) are omitted."
    ]


def _message(event: Event, at: int, over_http: bool) -> str:
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
