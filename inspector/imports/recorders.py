"""Files of other recorders of MCP: mcp-cassette, mcp-recorder, mcporter and mcpsnoop."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urljoin

from inspector.imports.recording_builder import FormatReader, RecordingBuilder, http_target, moment, stdio_target
from inspector.imports.source import ImportedEntry, encoded, members, value_of
from inspector.journal import channels
from inspector.journal.format import Dir

_KNOWN_CASSETTE = 3
_SNOOP_DIRS = {"c2s": Dir.SEND, "s2c": Dir.RECV}
_PORTER_DIRS = {"send": Dir.SEND, "recv": Dir.RECV}
_ROUTING = ("mcp_method", "mcp_name", "mcp_protocol_version", "mcp_param_headers", "auth_challenge")


def _read_cassette(maker: RecordingBuilder) -> None:
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


def _read_recorder(maker: RecordingBuilder) -> None:
    """Read a cassette of mcp-recorder, format 1.0: a JSON document with an interaction for each request of the client.

    An interaction has the `type` `jsonrpc_request` (`request`, `response`, `response_is_sse`, `response_status`,
    `latency_ms`), `notification` (`request`) or `lifecycle` (`http_method`, `http_path`, `response_status`). It does
    not contain the time of a request: requests are placed one after the other.
    """
    document = maker.source.document("interactions")
    metadata = document.value("metadata")
    metadata = metadata if type(metadata) is dict else {}
    url = metadata.get("server_url")
    over_http = metadata.get("transport_type") != "stdio"
    target = http_target(url) if over_http else stdio_target(None)
    now = moment(metadata.get("recorded_at")) or 0
    maker.begin(now, target, f"mcp-recorder, format {str(document.value('version'))[:20]}")
    for place, entry in document.entries():
        channel = channels.of_post(place) if over_http else channels.STDIO
        maker.at(now)
        if entry.get("type") == "lifecycle":
            _record_lifecycle(entry, maker, place, url if isinstance(url, str) else "")
            continue
        request, response = entry.exact("request"), entry.exact("response")
        if request is None:
            maker.unread(f"Interaction {place:,}", "it has no request")
            continue
        maker.message(Dir.SEND, channel, request)
        now += int(entry.number("latency_ms") * 1000)
        if response is not None:
            maker.at(now)
            status = entry.get("response_status")
            fields = {"status": status} if over_http and type(status) is int else {}
            streamed = {"sse": {"event": "message"}} if over_http and entry.get("response_is_sse") is True else {}
            maker.message(Dir.RECV, channel, response, **fields, **streamed)
    maker.unread_rest(document, "interaction")
    maker.note(
        "mcp-recorder keeps the client's requests with their responses. It does not keep the server's own messages, "
        "stderr, header fields and the times of requests. Requests are placed one after the other."
    )


def _record_lifecycle(entry: ImportedEntry, maker: RecordingBuilder, place: int, url: str) -> None:
    """Record a GET or DELETE, of which only path and status are known."""
    method = entry.text("http_method")[:20] or "GET"
    channel = channels.of_request(method, place)
    try:
        address = urljoin(url, entry.text("http_path"))
    except ValueError:
        address = entry.text("http_path")
    maker.journal.record_http(channel, Dir.SEND, method=method, url=address, headers=[])
    status = entry.get("response_status")
    if type(status) is int:
        maker.journal.record_http(channel, Dir.RECV, status=status, headers=[])


def _read_porter(maker: RecordingBuilder) -> None:
    """Read a recording of mcporter: newline-delimited JSON, each message with its own top-level `_meta`.

    `_meta` has `dir` (`send`, `recv`, `lifecycle`), `server` and `ts`. It is removed; the rest of the line is the
    message's text.
    """
    others, server = 0, None
    for place, line in maker.lines():
        text = line.decode("utf-8", "surrogateescape").strip()
        meta = _porter_meta(value_of(text))
        dir = meta.get("dir")
        if type(dir) is not str or dir not in (*_PORTER_DIRS, "lifecycle"):
            maker.unread(place, "it is not a message with a direction")
            continue
        if not maker.begun:
            server = meta.get("server")
            maker.begin(moment(meta.get("ts")), stdio_target(None, label=server), "mcporter")
        if meta.get("server") != server:
            others += 1
            continue
        maker.at(moment(meta.get("ts")))
        if dir in _PORTER_DIRS:
            maker.message(_PORTER_DIRS[dir], channels.STDIO, encoded(_without_meta(text)))
    if not maker.begun:
        return
    if others:
        maker.note(f"Lines of other servers in the same file ({others:,}) are skipped.")
    maker.note(
        "mcporter keeps the messages that its SDK could read, not their exact text. It does not keep stderr and HTTP "
        "heads."
    )


def _porter_meta(value: Any) -> dict[str, Any]:
    """Return mcporter's metadata of a message."""
    found = value.get("_meta") if type(value) is dict and type(value.get("method", "")) is str else None
    return found if type(found) is dict and type(found.get("dir")) is str else {}


def _without_meta(text: str) -> str:
    """Return the text of a message without mcporter's member and its comma."""
    start, end = members(text)["_meta"]
    name = text.rindex('"', 0, text.rindex(":", 0, start))
    begin = text.rindex('"', 0, name)
    before, after = text[:begin].rstrip(), text[end:].lstrip()
    if before.endswith(","):
        return before[:-1] + after
    return before + after.removeprefix(",").lstrip()


def _read_snoop(maker: RecordingBuilder) -> None:
    """Read a session log of mcpsnoop: JSON Lines, an envelope for each message and line of stderr.

    Each line is an object with `session_id`, `server_label`, `seq`, `ts`, `direction` (`c2s`, `s2c`, `stderr`,
    `meta`), `transport` and either `raw`, the message as JSON, or `text`. The log has no header; its `meta` line has
    `command` and `cwd`. Over HTTP it has the routing headers of a request and the status of a response, but no
    channels.
    """
    session: Any = None
    others = batches = 0
    over_http = False
    for place, line in maker.lines():
        entry = ImportedEntry(line.decode("utf-8", "surrogateescape"))
        direction = entry.get("direction")
        if not entry.readable:
            maker.unread(place, "it is not a JSON object")
            continue
        if type(direction) is not str or direction not in (*_SNOOP_DIRS, "stderr", "meta"):
            maker.unread(place, "it has an unknown direction")
            continue
        if not maker.begun:
            session, over_http = entry.get("session_id"), entry.get("transport") == "http"
            _begin_snoop(entry, maker, over_http)
        if entry.get("session_id") != session:
            others += 1
            continue
        maker.at(moment(entry.get("ts")))
        if direction == "stderr":
            maker.stderr(encoded(entry.text("text")))
        elif direction != "meta":
            batches += entry.get("batch") is True
            _record_snooped(_SNOOP_DIRS[direction], entry, maker, over_http)
    if not maker.begun:
        return
    if others:
        maker.note(f"Lines of other sessions in the same log ({others:,}) are skipped.")
    if batches:
        maker.note(f"Messages of batches ({batches:,}) are recorded separately: mcpsnoop does not keep the batches.")
    kept = "HTTP heads, the request that a message belongs to" if over_http else "the server's exit"
    maker.note(f"mcpsnoop does not keep {kept}, and the white space within messages.")


def _begin_snoop(entry: ImportedEntry, maker: RecordingBuilder, over_http: bool) -> None:
    about = entry.get("raw")
    about = about if type(about) is dict and entry.get("direction") == "meta" else {}
    label = entry.text("server_label")
    known = stdio_target(about.get("command"), about.get("cwd"), label)
    maker.begin(moment(entry.get("ts")), http_target(about.get("url"), label) if over_http else known, "mcpsnoop")


def _record_snooped(dir: Dir, entry: ImportedEntry, maker: RecordingBuilder, over_http: bool) -> None:
    data = entry.exact("raw")
    fields: dict[str, Any] = {key: entry.get(key) for key in _ROUTING if entry.get(key) is not None}
    if type(entry.get("status")) is int:
        fields["status"] = entry.get("status")
    fields |= {name: True for key, name in (("truncated", "cut"), ("redacted", "redacted")) if entry.get(key) is True}
    if data is None and over_http and "text" not in entry.value and "status" in fields:
        # A response without a body: 202 to a notification, 204 to the end of a session.
        maker.journal.record_http("http", dir, status=fields["status"])
        return
    channel = "http" if over_http else channels.STDIO
    maker.message(dir, channel, encoded(entry.text("text")) if data is None else data, **fields)


MCP_CASSETTE = FormatReader(
    lambda source: {"format_version", "messages"} <= source.names("messages"),
    _read_cassette,
)
MCP_RECORDER = FormatReader(
    lambda source: {"metadata", "interactions"} <= source.names("interactions"),
    _read_recorder,
)
MCPORTER = FormatReader(
    lambda source: any(
        _porter_meta(value).get("dir") in (*_PORTER_DIRS, "lifecycle") for value in source.first_values()
    ),
    _read_porter,
)
MCPSNOOP = FormatReader(
    lambda source: any(
        type(value) is dict and {"session_id", "seq", "direction"} <= value.keys() for value in source.first_values()
    ),
    _read_snoop,
)
