"""A cassette of mcp-recorder, format 1.0: one JSON document with an interaction for each request of the client.

An interaction has the `type` `jsonrpc_request` (`request`, `response`, `response_is_sse`, `response_status`,
`latency_ms`), `notification` (`request`) or `lifecycle` (`http_method`, `http_path`, `response_status`). It does not
contain the time of a request: requests are placed one after the other.
"""

from __future__ import annotations

from urllib.parse import urljoin

from inspector.imports.embedded_messages import ImportedEntry
from inspector.imports.recording_builder import RecordingBuilder, moment
from inspector.imports.source import Source, value_of
from inspector.imports.targets import http_target, stdio_target
from inspector.journal import channels
from inspector.journal.format import Dir

_PATH = ("interactions",)


def fits(source: Source) -> bool:
    """Whether the file is such a cassette."""
    return {"metadata", "interactions"} <= source.names(*_PATH)


def read(source: Source, maker: RecordingBuilder) -> None:
    """Read the cassette, interaction by interaction."""
    document = source.document(*_PATH)
    metadata = value_of(document.member("metadata"))
    metadata = metadata if type(metadata) is dict else {}
    url = metadata.get("server_url")
    over_http = metadata.get("transport_type") != "stdio"
    target, secrets = http_target(url) if over_http else stdio_target(None)
    now = moment(metadata.get("recorded_at")) or 0
    maker.begin(now, target, f"mcp-recorder, format {str(value_of(document.member('version')))[:20]}", secrets)
    for place, (start, end) in enumerate(document.items, 1):
        entry = ImportedEntry(document.text[start:end])
        channel = channels.of_post(place) if over_http else channels.STDIO
        maker.at(now)
        if entry.get("type") == "lifecycle":
            _lifecycle(entry, maker, place, url if isinstance(url, str) else "")
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
    if document.broken is not None:
        maker.unread(f"The part after interaction {len(document.items):,}", str(document.broken))
    maker.note(
        "mcp-recorder keeps the client's requests with their responses. It does not keep the server's own messages, "
        "stderr, header fields and the times of requests. Requests are placed one after the other."
    )


def _lifecycle(entry: ImportedEntry, maker: RecordingBuilder, place: int, url: str) -> None:
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
