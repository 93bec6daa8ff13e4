"""HTTP Archive 1.2, for browsers' network panels and many other tools.

A session over HTTP is exported as recorded: heads, bodies and times of each request. Over stdio, each exchange and each
message without a response becomes an entry with a synthetic URL (`http://stdio.invalid/…`, RFC 6761), `_synthetic` and
a comment that say so. Fields of ours start with an underscore, as the format requires.

Format: http://www.softwareishard.com/blog/har-12-spec/. A body is written piece by piece: a stream that was open all
day is one entry.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from typing import IO, Any

from inspector.formats.http_exchanges import HttpExchanges, RecordedHttpExchange, as_sse, header, headers_of
from inspector.formats.json_edits import clean
from inspector.formats.recording_builder import FormatReader, RecordingBuilder, moment
from inspector.formats.selection import RecordingClock, Selection, write_items
from inspector.formats.source import amount, encoded
from inspector.formats.web_exchanges import WebExchange, record_exchanges
from inspector.journal.filters.conditions import subjects_of
from inspector.journal.format import Dir, Event, Kind, to_base64
from inspector.journal.index import State
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape
from inspector.protocol.views import View
from inspector.version import __version__

MAX_LENGTH = 200
"""Maximum characters of a part of a synthetic URL."""
_ADDRESS = re.compile(r"(https?)://([^/?#\s]+)([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL | re.IGNORECASE)
_LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
_UNKNOWN = "http://unknown.invalid/"
_JSON = "application/json"
_STREAM = "text/event-stream"
_SYNTHETIC = "Synthetic: this message crossed stdio, which has no HTTP. Method, URL, status and headers are made up."

_escape = json.encoder.encode_basestring_ascii
_dumps = json.JSONEncoder(ensure_ascii=True).encode


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the archive to `out`, entry by entry. A request is selected by any of its events."""
    entries = _Entries(journal, Selection(journal, numbers))
    creator = _dumps({"name": "Inspector", "version": __version__})
    out.write(f'{{"log":{{"version":"1.2","creator":{creator},"pages":[],"entries":[')
    write_items(out, entries.all())
    out.write("\n]}}\n")
    return []


class _Entries:
    """Creates the entries of one recording."""

    def __init__(self, journal: Journal, chosen: Selection) -> None:
        self._journal = journal
        self._index = journal.index
        self._chosen = chosen
        self._http = HttpExchanges(journal)
        self._at = RecordingClock(journal)

    def all(self) -> Iterator[Iterator[str]]:
        """Yield each entry as pieces of JSON, in the order of their start."""
        for n in range(1, self._chosen.count + 1):
            if self._http.is_head(n):
                exchange = self._http.of(n)
                if self._has_chosen(exchange):
                    yield self._real(exchange)
            elif self._index.kind(n) in (Kind.RPC, Kind.INVALID) and self._begins_made_up(n):
                yield self._made_up(n)

    def _has_chosen(self, exchange: RecordedHttpExchange) -> bool:
        numbers = (exchange.head, exchange.sent, exchange.answer, exchange.connected)
        if self._chosen.everything or any(n in self._chosen for n in numbers):
            return True
        return any(n in self._chosen for n in self._http.body(exchange))

    def _event(self, n: int) -> Event:
        return next(self._journal.events(n, n))

    # Over HTTP

    def _real(self, exchange: RecordedHttpExchange) -> Iterator[str]:
        """Yield the entry of a request over HTTP."""
        asked = self._event(exchange.head).fields
        answered = self._event(exchange.answer).fields if exchange.answer else {}
        version = _text(answered.get("version")) or "HTTP/1.1"
        timings = self._timings(exchange, answered)
        head: dict[str, Any] = {
            "startedDateTime": self._at(self._index.time(exchange.head)),
            "time": round(sum(value for value in timings.values() if value > 0), 3),
            "request": self._request(asked, exchange.sent, version),
            "cache": {},
            "timings": timings,
            "_event": exchange.head,
            "_channel": clean(self._index.channel(exchange.head)),
        }
        if exchange.connected:
            address = self._event(exchange.connected).fields.get("address")
            if isinstance(address, str) and address:
                head["serverIPAddress"] = clean(address)
        if not exchange.answer:
            head["comment"] = "No response was received."
        yield _dumps(head)[:-1] + ', "response": '
        headers = headers_of(answered)
        status = answered.get("status")
        response: dict[str, Any] = {
            "status": status if type(status) is int and 0 <= status < 1000 else 0,
            "statusText": _text(answered.get("reason")),
            "httpVersion": version,
            "cookies": [],
            "headers": _pairs(headers),
            "redirectURL": clean(header(headers, "location")),
            "headersSize": -1,
            "bodySize": -1,
        }
        yield _dumps(response)[:-1] + ', "content": '
        yield from self._content(exchange, headers)
        yield "}}"

    def _timings(self, exchange: RecordedHttpExchange, answered: dict[str, Any]) -> dict[str, float]:
        """Return the milliseconds of each phase; -1 if it did not happen or is unknown."""
        index = self._index
        begun, last = index.time(exchange.head), index.time(exchange.last)
        waited = _milliseconds(answered.get("ms"))
        if waited < 0:
            waited = max((index.time(exchange.answer) - begun) / 1000, 0) if exchange.answer else 0
        connect = _milliseconds(self._event(exchange.connected).fields.get("ms")) if exchange.connected else -1
        if connect > waited:
            connect = -1
        rest = max((last - begun) / 1000 - waited, 0)
        waited -= max(connect, 0)
        return {
            "blocked": -1,
            "dns": -1,
            "connect": connect,
            "ssl": -1,
            "send": 0,
            "wait": round(waited, 3),
            "receive": round(rest, 3),
        }

    def _request(self, asked: dict[str, Any], sent: int, version: str) -> dict[str, Any]:
        headers = headers_of(asked)
        url = _url(asked.get("url"))
        event = self._event(sent) if sent else None
        request: dict[str, Any] = {
            "method": _text(asked.get("method")) or "POST",
            "url": url,
            "httpVersion": version,
            "cookies": [],
            "headers": _pairs(headers),
            "queryString": _query(url),
            "headersSize": -1,
            "bodySize": len(event.bytes) if event is not None else 0,
        }
        if event is not None:
            request["postData"] = {
                "mimeType": clean(header(headers, "content-type")) or _JSON,
                "text": clean(event.text),
            }
        return request

    def _content(self, exchange: RecordedHttpExchange, headers: list[tuple[str, str]]) -> Iterator[str]:
        """Yield the body of a response, piece by piece."""
        media = header(headers, "content-type")
        streams = media.lower().startswith(_STREAM)
        yield f'{{"mimeType": {_escape(clean(media))}, "text": "'
        size = left = 0
        for n in self._http.body(exchange):
            if streams and n not in self._chosen:
                left += 1
                continue
            event = self._event(n)
            if event.data is not None and not streams:
                # A single body that is not UTF-8: base64 of the whole, as the format requires.
                yield f'{to_base64(event.data)}", "encoding": "base64", "size": {len(event.data)}}}'
                return
            piece = as_sse(event) if streams or event.kind is Kind.SSE else event.text
            size += len(piece.encode("utf-8", "surrogatepass"))
            yield _escape(clean(piece))[1:-1]
        yield f'", "size": {size}'
        if left:
            yield f', "comment": "{left} messages of this stream are omitted."'
        yield "}"

    # Over stdio

    def _begins_made_up(self, n: int) -> bool:
        """Whether a synthetic entry starts with this message, which may be selected by its response."""
        index = self._index
        shape, answer = index.shape(n), index.pair(n)
        if shape in (Shape.RESULT, Shape.ERROR) and index.state(n) not in (State.UNKNOWN, State.DOUBLED):
            return False
        asked = shape is Shape.REQUEST
        return (n in self._chosen or (asked and answer in self._chosen)) and not self._http.over_http(n)

    def _made_up(self, n: int) -> Iterator[str]:
        """Yield the entry of an exchange, or of a message without a response, over stdio."""
        index = self._index
        event = self._event(n)
        asks = index.shape(n) is Shape.REQUEST
        answer = self._event(index.pair(n)) if asks and index.pair(n) else None
        elapsed = max(answer.t - event.t, 0) / 1000 if answer is not None else 0
        started = self._at(index.time(n))
        url = _made_up_url(event, index.method(n))
        plain = [{"name": "Content-Type", "value": _JSON}]
        entry = {
            "startedDateTime": started,
            "time": elapsed,
            "request": {
                "method": "POST",
                "url": url,
                "httpVersion": "stdio",
                "cookies": [],
                "headers": plain,
                "queryString": [],
                "headersSize": -1,
                "bodySize": len(event.bytes),
                "postData": {"mimeType": _JSON, "text": clean(event.text)},
            },
            "response": _made_up_response(answer, index.state(n), plain),
            "cache": {},
            "timings": {"blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": elapsed, "receive": 0},
            "comment": _SYNTHETIC,
            "_synthetic": True,
            "_event": n,
            "_from": "client" if event.dir is Dir.SEND else "server",
        }
        yield _dumps(entry)


def _made_up_url(event: Event, method: str) -> str:
    from urllib.parse import quote

    host = "stdio.invalid" if event.dir is Dir.SEND else "client.stdio.invalid"
    parts = [method or "message", *subjects_of(event.message)[:1]]
    path = "/".join(quote(clean(part[:MAX_LENGTH]), safe="/" if at == 0 else "") for at, part in enumerate(parts))
    return f"http://{host}/{path}"


def _made_up_response(answer: Event | None, state: State, headers: list[dict[str, str]]) -> dict[str, Any]:
    text = clean(answer.text) if answer is not None else ""
    status_text = "error" if state is State.ERROR else "result"
    return {
        "status": 0 if answer is None else 200,
        "statusText": "" if answer is None else status_text,
        "httpVersion": "stdio",
        "cookies": [],
        "headers": headers if answer is not None else [],
        "redirectURL": "",
        "headersSize": -1,
        "bodySize": len(answer.bytes) if answer is not None else 0,
        "content": {"size": len(answer.bytes) if answer is not None else 0, "mimeType": _JSON, "text": text},
    }


def _milliseconds(value: Any) -> float:
    """Return a duration from an event in milliseconds; -1 if it is not valid."""
    return round(value, 3) if type(value) in (int, float) and 0 <= value < 1e12 else -1


def _text(value: Any) -> str:
    return clean(value) if isinstance(value, str) else ""


def _pairs(headers: list[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"name": clean(name), "value": clean(value)} for name, value in headers]


def _url(value: Any) -> str:
    """Return a URL that every parser accepts (RFC 3986): invalid characters are escaped."""
    from urllib.parse import quote, urlsplit

    match = _ADDRESS.fullmatch(clean(value)) if isinstance(value, str) else None
    if not match:
        return _UNKNOWN
    scheme, authority, path, query, fragment = (part or "" for part in match.groups())
    rest = "".join(
        sign + _LONE_PERCENT.sub("%25", quote(part, safe="!$%&'()*+,/:;=?@~"))
        for sign, part in (("", path), ("?", query), ("#", fragment))
        if part
    )
    url = f"{scheme}://{quote(authority, safe=':@!$&*+,;=~[]')}{rest}"
    try:
        return url if urlsplit(url).port != 0 else _UNKNOWN
    except ValueError:
        return _UNKNOWN


def _query(url: str) -> list[dict[str, str]]:
    from urllib.parse import parse_qsl, urlsplit

    try:
        parameters = parse_qsl(urlsplit(url).query, keep_blank_values=True, max_num_fields=1000)
    except ValueError:
        return []
    return [{"name": clean(name), "value": clean(value)} for name, value in parameters]


_ARCHIVE = ("log", "entries")
_BEFORE_ANSWER = ("blocked", "dns", "connect", "send", "wait")


def _read_archive(maker: RecordingBuilder) -> None:
    """Read an HTTP Archive 1.2 of browsers, proxies, and of Inspector.

    Format: http://www.softwareishard.com/blog/har-12-spec/. Inspector's archives have stdio messages as entries with
    `_synthetic`, whose `_from` names the sender of the request.
    """
    document = maker.source.document(*_ARCHIVE)
    exchanges = []
    for place, entry in document.entries():
        begun = moment(entry.get("startedDateTime"))
        if begun is None:
            maker.unread(f"Entry {place:,}", "it has no time")
        else:
            exchanges.append(_archived(View(entry.value), max(entry.number("time"), 0), begun))
    name = View(document.value("creator")).members.get("name")
    record_exchanges(maker, exchanges, name if isinstance(name, str) else "HAR")
    maker.unread_rest(document, "entry")


def _archived(entry: View, lasted: float, begun: int) -> WebExchange:
    request, response, timings = View(entry.object("request")), View(entry.object("response")), entry.object("timings")
    content = View(response.object("content"))
    waited = sum(amount(timings.get(name)) for name in _BEFORE_ANSWER)
    status, text = response.members.get("status"), content.members.get("text")
    body = None
    if isinstance(text, str):
        body = _unpacked(text) if content.members.get("encoding") == "base64" else encoded(text)
    synthetic = entry.members.get("_synthetic") is True
    return WebExchange(
        begun,
        begun + int(waited * 1000),
        begun + int(max(lasted, waited) * 1000),
        request.text("method"),
        request.text("url"),
        _archived_headers(request),
        encoded(View(request.object("postData")).text("text")),
        status if type(status) is int and status > 0 else None,
        response.text("statusText"),
        response.text("httpVersion"),
        _archived_headers(response),
        body,
        over_stdio=(entry.text("_from") or "client") if synthetic else "",
    )


def _unpacked(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except ValueError:
        return encoded(text)


def _archived_headers(message: View) -> list[tuple[str, str]]:
    """Return the header fields without HTTP/2's pseudo-headers."""
    pairs = ((View(field).members.get("name"), View(field).members.get("value")) for field in message.array("headers"))
    return [
        (name, value)
        for name, value in pairs
        if isinstance(name, str) and isinstance(value, str) and not name.startswith(":")
    ]


READER = FormatReader(
    lambda source: "log" in (names := source.names(*_ARCHIVE)) and bool({"entries", "creator"} & names), _read_archive
)
