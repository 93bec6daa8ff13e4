"""A cassette of mcp-recorder, format 1.0: one JSON document with an interaction for each request of the client.

The format, as version 0.5 of that tool reads it: `version`, `metadata` (`recorded_at`, `server_url`, `transport_type`,
`protocol_version`, `server_info`) and `interactions`. An interaction has the `type` `jsonrpc_request` (`request` and
`response`, both whole messages, the latter null if missing; `response_is_sse`, `response_status`, `latency_ms`),
`notification` (a `request` alone, status 202) or `lifecycle` (`http_method`, `http_path`, `response_status`: a GET or
DELETE). It does not contain the server's own messages, nor the answers to them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import IO, Any

from inspector.export.http_exchanges import HttpExchanges
from inspector.export.json_edits import clean, portable
from inspector.export.recording_facts import RecordingClock, facts_of
from inspector.export.selection import Selection
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape, encode

VERSION = "1.0"

_dumps = json.JSONEncoder(ensure_ascii=False, default=str).encode


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the cassette to `out`, interaction by interaction."""
    facts = facts_of(journal)
    target = journal.header.get("target")
    url = target.get("url") if type(target) is dict else None
    server = portable(_dumps(facts.server)) if facts.server else None
    metadata = {
        "recorded_at": RecordingClock(journal)(0),
        "server_url": clean(url) if isinstance(url, str) else "",
        "transport_type": "http" if isinstance(url, str) else "stdio",
        "protocol_version": clean(facts.revision) if isinstance(facts.revision, str) else None,
    }
    out.write(f'{{"version": "{VERSION}", "metadata": {_dumps(metadata)[:-1]}, "server_info": {server or "null"}}}')
    out.write(', "interactions": [')
    chosen = Selection(journal, numbers)
    interactions = _Interactions(journal, chosen)
    separator = "\n"
    for n in range(1, chosen.count + 1):
        interaction = interactions.of(n)
        if interaction:
            out.write(separator + interaction)
            separator = ",\n"
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
        if index.kind(n) not in (Kind.RPC, Kind.INVALID):
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
        request = portable(self._text(n))
        response = self._response(n, answer) if answer else None
        if request is None or (answer and response is None):
            self._broken += 1
            return ""
        asks = self._index.shape(n) is Shape.REQUEST
        about: dict[str, Any] = {
            "type": "jsonrpc_request" if asks else "notification",
            "response_is_sse": bool(answer) and "sse" in next(self._journal.events(answer, answer)).fields,
            "response_status": self._status(n, 200 if asks else 202),
            "latency_ms": (self._index.duration(n) or 0) // 1000 if asks else 0,
        }
        return f'{_dumps(about)[:-1]}, "request": {request}, "response": {response or "null"}}}'

    def _response(self, n: int, answer: int) -> str | None:
        """Return the response to request `n`, which may be in a batch."""
        event = next(self._journal.events(answer, answer))
        if type(event.message) is not list:
            return portable(event.text)
        id = self._index.id(n)
        item = next((each for each in event.message if type(each) is dict and each.get("id") == id), None)
        return portable(encode(item).decode()) if item is not None else None

    def _lifecycle(self, n: int) -> str:
        from urllib.parse import urlsplit

        fields = next(self._journal.events(n, n)).fields
        method, url = fields.get("method"), fields.get("url")
        if method not in ("GET", "DELETE") or not isinstance(url, str):
            return ""
        try:
            path = urlsplit(url).path
        except ValueError:
            path = ""
        status = self._status_of(n, 200)
        return _dumps(
            {"type": "lifecycle", "http_method": method, "http_path": clean(path) or "/", "response_status": status}
        )

    def _status(self, n: int, otherwise: int) -> int:
        head = self._http.head_of(n)
        return self._status_of(head, otherwise) if head else otherwise

    def _status_of(self, head: int, otherwise: int) -> int:
        answer = self._http.of(head).answer
        status = next(self._journal.events(answer, answer)).fields.get("status") if answer else None
        return status if type(status) is int else otherwise

    def _text(self, n: int) -> str:
        return next(self._journal.events(n, n)).text

    def missing(self) -> list[str]:
        """Return sentences about what the format does not contain."""
        found = []
        if self._unasked:
            found.append(
                f"This format contains the client's requests and their responses: {self._unasked:,} other messages "
                "(the server's own, the answers to them, invalid ones) are omitted."
            )
        if self._broken:
            found.append(f"{self._broken:,} requests are omitted: their text is not JSON.")
        return found
