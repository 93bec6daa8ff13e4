"""HTTP Archive 1.2 of browsers, proxies, and of Inspector: the MCP exchanges in it.

Format: http://www.softwareishard.com/blog/har-12-spec/. Inspector's archives have stdio messages as entries with
`_synthetic`, whose `_from` names the sender of the request.
"""

from __future__ import annotations

import base64
from typing import Any

from inspector.imports.embedded_messages import ImportedEntry, amount
from inspector.imports.http_messages import WebExchange, record_exchanges
from inspector.imports.recording_builder import RecordingBuilder, moment
from inspector.imports.source import Source, encoded, value_of

_PATH = ("log", "entries")
_BEFORE_ANSWER = ("blocked", "dns", "connect", "send", "wait")


def fits(source: Source) -> bool:
    """Whether the file is such an archive."""
    names = source.names(*_PATH)
    return "log" in names and bool({"entries", "creator"} & names)


def read(source: Source, maker: RecordingBuilder) -> None:
    """Read the archive."""
    document = source.document(*_PATH)
    found = []
    for place, (start, end) in enumerate(document.items, 1):
        entry = ImportedEntry(document.text[start:end])
        begun = moment(entry.get("startedDateTime"))
        if begun is None:
            maker.unread(f"Entry {place:,}", "it has no time")
            continue
        found.append(_exchange(entry, begun))
    creator = value_of(document.member("creator"))
    name = creator.get("name") if type(creator) is dict else None
    record_exchanges(maker, found, name if isinstance(name, str) else "HAR")
    if document.broken is not None:
        maker.unread(f"The part after entry {len(document.items):,}", str(document.broken))


def _exchange(entry: ImportedEntry, begun: int) -> WebExchange:
    request, response = _object(entry.get("request")), _object(entry.get("response"))
    timings, post, content = (
        _object(entry.get("timings")),
        _object(request.get("postData")),
        _object(response.get("content")),
    )
    waited = sum(amount(timings.get(name)) for name in _BEFORE_ANSWER)
    lasted = max(entry.number("time"), waited)
    status = response.get("status")
    text = content.get("text")
    body = None
    if isinstance(text, str):
        body = _unpacked(text) if content.get("encoding") == "base64" else encoded(text)
    asked = post.get("text")
    synthetic = entry.get("_synthetic") is True
    return WebExchange(
        begun,
        begun + int(waited * 1000),
        begun + int(lasted * 1000),
        _text(request.get("method")),
        _text(request.get("url")),
        _pairs(request.get("headers")),
        encoded(asked) if isinstance(asked, str) else b"",
        status if type(status) is int and status > 0 else None,
        _text(response.get("statusText")),
        _text(response.get("httpVersion")),
        _pairs(response.get("headers")),
        body,
        over_stdio=(entry.text("_from") or "client") if synthetic else "",
    )


def _unpacked(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except ValueError:
        return encoded(text)


def _object(value: Any) -> dict[str, Any]:
    return value if type(value) is dict else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _pairs(value: Any) -> list[tuple[str, str]]:
    """Return the header fields without HTTP/2's pseudo-headers."""
    if type(value) is not list:
        return []
    return [
        (each["name"], each["value"])
        for each in value
        if type(each) is dict
        and isinstance(each.get("name"), str)
        and isinstance(each.get("value"), str)
        and not each["name"].startswith(":")
    ]
