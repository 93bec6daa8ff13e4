"""Cassettes of mcp-recorder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import IO, Any
from urllib.parse import urljoin

from inspector.features.recorders.messages_only import MESSAGES
from inspector.formats.http_exchanges import HttpExchanges
from inspector.formats.json_edits import clean, portable
from inspector.formats.recording_builder import (
    FormatReader,
    RecordingBuilder,
    http_target,
    moment,
    stdio_target,
)
from inspector.formats.selection import RecordingClock, Selection, facts_of, target_of, write_items
from inspector.formats.source import ImportedEntry
from inspector.journal import channels
from inspector.journal.format import Dir, Event
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape, encode

RECORDER_VERSION = "1.0"
_dumps = json.JSONEncoder(ensure_ascii=False, default=str).encode


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write a cassette of mcp-recorder, format 1.0: one JSON document, an interaction for each request of the client.

    The format, as version 0.5 of that tool reads it: `version`, `metadata` (`recorded_at`, `server_url`,
    `transport_type`, `protocol_version`, `server_info`) and `interactions`. An interaction has the `type`
    `jsonrpc_request` (`request` and `response`, both whole messages, the latter null if missing; `response_is_sse`,
    `response_status`, `latency_ms`), `notification` (a `request` alone, status 202) or `lifecycle` (`http_method`,
    `http_path`, `response_status`: a GET or DELETE). It does not contain the server's own messages, nor the answers to
    them.
    """
    facts = facts_of(journal)
    url = target_of(journal).members.get("url")
    server = portable(_dumps(facts.server)) if facts.server else None
    metadata = {
        "recorded_at": RecordingClock(journal)(0),
        "server_url": clean(url) if isinstance(url, str) else "",
        "transport_type": "http" if isinstance(url, str) else "stdio",
        "protocol_version": clean(facts.revision) if isinstance(facts.revision, str) else None,
    }
    out.write(f'{{"version": "{RECORDER_VERSION}", "metadata": {_dumps(metadata)[:-1]}, ')
    out.write(f'"server_info": {server or "null"}}}, "interactions": [')
    chosen = Selection(journal, numbers)
    interactions = _Interactions(journal, chosen)
    write_items(out, filter(None, map(interactions.of, range(1, chosen.count + 1))))
    out.write("\n]}\n")
    return interactions.missing()


class _Interactions:
    def __init__(self, journal: Journal, chosen: Selection) -> None:
        self._journal = journal
        self._index = journal.index
        self._chosen = chosen
        self._http = HttpExchanges(journal)
        self._unasked = 0
        self._broken = 0

    def of(self, n: int) -> str:
        """Return the interaction that starts with an event; empty without one."""
        index = self._index
        shape = index.shape(n)
        if self._http.is_head(n):
            return self._lifecycle(n) if n in self._chosen else ""
        if index.kind(n) not in MESSAGES:
            return ""
        answer = index.pair(n) if shape is Shape.REQUEST else 0
        if n not in self._chosen and (not answer or answer not in self._chosen):
            return ""
        if index.dir(n) is Dir.SEND and shape in (Shape.REQUEST, Shape.NOTIFICATION):
            return self._message(n, answer)
        if shape not in (Shape.RESULT, Shape.ERROR) or not index.pair(n) or index.dir(n) is Dir.SEND:
            self._unasked += 1
        return ""

    def _message(self, n: int, answer: int) -> str:
        request = portable(self._event(n).text)
        response = self._response(n, answer) if answer else None
        if request is None or (answer and response is None):
            self._broken += 1
            return ""
        asks = self._index.shape(n) is Shape.REQUEST
        head, usual = self._http.head_of(n), 200 if asks else 202
        about: dict[str, Any] = {
            "type": "jsonrpc_request" if asks else "notification",
            "response_is_sse": bool(answer) and "sse" in self._event(answer).fields,
            "response_status": self._status(head, usual) if head else usual,
            "latency_ms": (self._index.duration(n) or 0) // 1000 if asks else 0,
        }
        return f'{_dumps(about)[:-1]}, "request": {request}, "response": {response or "null"}}}'

    def _response(self, n: int, answer: int) -> str | None:
        """Return the response to request `n`, which may be in a batch."""
        event = self._event(answer)
        if type(event.message) is not list:
            return portable(event.text)
        id = self._index.id(n)
        item = next((item for item in event.message if type(item) is dict and item.get("id") == id), None)
        return portable(encode(item).decode()) if item is not None else None

    def _lifecycle(self, n: int) -> str:
        from urllib.parse import urlsplit

        fields = self._event(n).fields
        method, url = fields.get("method"), fields.get("url")
        if method not in ("GET", "DELETE") or not isinstance(url, str):
            return ""
        try:
            path = urlsplit(url).path
        except ValueError:
            path = ""
        about = {"type": "lifecycle", "http_method": method, "http_path": clean(path) or "/"}
        return _dumps(about | {"response_status": self._status(n, 200)})

    def _status(self, head: int, otherwise: int) -> int:
        answer = self._http.of(head).answer
        status = self._event(answer).fields.get("status") if answer else None
        return status if type(status) is int else otherwise

    def _event(self, n: int) -> Event:
        return next(self._journal.events(n, n))

    def missing(self) -> list[str]:
        """Return sentences about what the format does not contain."""
        sentences = []
        if self._unasked:
            sentences.append(
                f"This format contains the client's requests and their responses: {self._unasked:,} other messages "
                "(the server's own, the answers to them, invalid ones) are omitted."
            )
        if self._broken:
            sentences.append(f"{self._broken:,} requests are omitted: their text is not JSON.")
        return sentences


def _read(maker: RecordingBuilder) -> None:
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


READER = FormatReader(
    lambda source: {"metadata", "interactions"} <= source.names("interactions"),
    _read,
)
