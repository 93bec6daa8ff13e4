"""Files of other recorders of MCP: mcp-cassette, mcp-recorder, mcporter and mcpsnoop."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import IO, Any

from inspector.export.http_exchanges import HttpExchanges, header, headers_of
from inspector.export.json_edits import clean, portable
from inspector.export.selection import RecordingClock, Selection, facts_of, left_out, target_of, write_items
from inspector.journal import channels
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import Shape, encode

CASSETTE_VERSION = 3
RECORDER_VERSION = "1.0"
_MESSAGES = (Kind.RPC, Kind.INVALID)
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_PARAM = "mcp-param-"
_dumps = json.JSONEncoder(ensure_ascii=False, default=str).encode
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_compact_ascii = json.JSONEncoder(separators=(",", ":")).encode


def write_mcp_cassette(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
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
    write_items(out, (_cassette_message(journal, n, at, over_http) for at, n in enumerate(chosen.of(*_MESSAGES))))
    out.write("\n]}\n")
    return _not_kept(chosen)


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


def _not_kept(chosen: Selection) -> list[str]:
    """Return the sentence about events that a format of messages only does not contain."""
    amount = sum(1 for _ in chosen.of(Kind.HTTP, Kind.SSE, Kind.LIFE, Kind.AUTH, Kind.NOTE, Kind.STDERR))
    text = f"This format contains messages only: {amount:,} other events (stderr, HTTP heads, life events) are omitted."
    return [text] if amount else []


def write_mcporter(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write a recording of mcporter: newline-delimited JSON, each message with its own `_meta`.

    The format, as version 0.12 of that tool writes and replays it: each line is a JSON-RPC message whose top-level
    `_meta` has `dir` (`send`, `recv`, `lifecycle`), `server` (the server's name in the configuration) and `ts` (RFC
    3339). The first and the last line of a connection have the `dir` `lifecycle`, with the methods `$transport/start`
    and `$transport/close`. Its replay expects the recorded requests in the recorded order with equal parameters,
    including `initialize`. It does not contain values other than objects, stderr, HTTP heads and life events.
    """
    target, at = target_of(journal), RecordingClock(journal)
    server = _NO_NAME.sub("-", target.text("name") or target.text("label") or "server").strip("-")[:60] or "server"

    def meta(dir: str, t: int) -> str:
        return _compact_ascii({"dir": dir, "server": server, "ts": at(t)})

    chosen = Selection(journal, numbers)
    out.write(f'{{"jsonrpc":"2.0","method":"$transport/start","_meta":{meta("lifecycle", 0)}}}\n')
    missing = last = 0
    for n in chosen.of(*_MESSAGES):
        event = next(journal.events(n, n))
        last = event.t
        text = portable(event.text) if event.kind is Kind.RPC and type(event.message) is dict else None
        if text is None:
            missing += 1
            continue
        # Of equal members the last one counts, in case the message already has a `_meta`.
        comma = "," if event.message else ""
        out.write(f'{text[:-1]}{comma}"_meta":{meta("send" if event.dir is Dir.SEND else "recv", event.t)}}}\n')
    out.write(f'{{"jsonrpc":"2.0","method":"$transport/close","_meta":{meta("lifecycle", last)}}}\n')
    return [
        f"The server's name in it is “{server}”: use the same name in mcporter's configuration.",
        *left_out(missing, "message that is not an object", "messages that are not objects"),
        *_not_kept(chosen),
    ]


def write_mcpsnoop(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write a session log of mcpsnoop: JSON Lines, an envelope for each message and line of stderr.

    The format, as of late 2026: each line is an object with `session_id`, `server_label`, `seq` from 1, `ts` (RFC
    3339), `direction` (`c2s`, `s2c`, `stderr`, `meta`), `transport` (`stdio`, `http`) and either `raw`, the message as
    JSON, or `text`, an invalid message or a line of stderr. The first line is `meta`; its `raw` has `command` (a list)
    and `cwd`. An item of a batch is a line of its own with `batch`. Optional: `mcp_method`, `mcp_name`,
    `mcp_protocol_version` and `mcp_param_headers` (`name`, `value`) from the heads of HTTP requests, `status` and
    `auth_challenge` from those of responses, `truncated`, `redacted`. The format has no version and no header line.
    """
    chosen = Selection(journal, numbers)
    common = {
        "session_id": clean(str(journal.header.get("id") or "recording")),
        "server_label": clean(target_of(journal).text("label")) or "server",
    }
    for seq, line in enumerate(_SnoopLog(journal, chosen).lines(), 1):
        out.write(f"{_compact({**common, 'seq': seq})[:-1]},{line[1:]}\n")
    others = sum(1 for _ in chosen.of(Kind.SSE, Kind.LIFE, Kind.AUTH, Kind.NOTE))
    text = f"This format contains messages and stderr: {others:,} other events (life events, logins) are omitted."
    return [text] if others else []


class _SnoopLog:
    """Creates the envelopes of one recording."""

    def __init__(self, journal: Journal, chosen: Selection) -> None:
        self._target = target_of(journal)
        self._journal = journal
        self._chosen = chosen
        self._http = HttpExchanges(journal)
        self._at = RecordingClock(journal)
        self._transport = "http" if isinstance(self._target.members.get("url"), str) else "stdio"

    def lines(self) -> Iterator[str]:
        """Yield each envelope as JSON, without the common members and its number."""
        cwd = self._target.members.get("cwd")
        meta: dict[str, Any] = {
            "command": [clean(word) for word in self._target.array("argv") if isinstance(word, str)]
        }
        if isinstance(cwd, str):
            meta["cwd"] = clean(cwd)
        yield self._envelope(0, "meta", _compact(meta), None, {})
        for n in self._chosen.of(*_MESSAGES, Kind.STDERR):
            yield from self._lines_of(next(self._journal.events(n, n)))

    def _lines_of(self, event: Event) -> Iterator[str]:
        if event.kind is Kind.STDERR:
            yield self._envelope(event.t, "stderr", None, event.text, {})
            return
        direction = "c2s" if event.dir is Dir.SEND else "s2c"
        more = self._of_head(event)
        for key, name in (("cut", "truncated"), ("redacted", "redacted")):
            if event.fields.get(key) is True:
                more[name] = True
        raw = portable(event.text) if event.kind is Kind.RPC else None
        message = event.message if raw is not None else None
        if type(message) is not list or not message:
            yield self._envelope(event.t, direction, raw, None if raw is not None else event.text, more)
            return
        for item in message:
            yield self._envelope(event.t, direction, portable(encode(item).decode()), None, {**more, "batch": True})

    def _of_head(self, event: Event) -> dict[str, Any]:
        """Return the members from a message's HTTP heads."""
        head = self._http.head_of(event.n)
        if not head or event.dir is not Dir.SEND:
            status = event.fields.get("status")
            return {"status": status} if type(status) is int else {}
        pairs = headers_of(next(self._journal.events(head, head)).fields)
        found: dict[str, Any] = {
            key: clean(value)
            for key in ("mcp_method", "mcp_name", "mcp_protocol_version")
            if (value := header(pairs, key.replace("_", "-")))
        }
        params = [{"name": clean(key), "value": clean(value)} for key, value in pairs if key.lower().startswith(_PARAM)]
        return {**found, "mcp_param_headers": params} if params else found

    def _envelope(self, t: int, direction: str, raw: str | None, text: str | None, more: dict[str, Any]) -> str:
        about = {"ts": self._at(t, "microseconds"), "direction": direction, "transport": self._transport}
        if raw is None:
            return _compact({**about, "text": clean(text or ""), **more})
        return f'{_compact(about)[:-1]},"raw":{raw}{"," + _compact(more)[1:-1] if more else ""}}}'


def write_mcp_recorder(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
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
        if index.kind(n) not in _MESSAGES:
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
        item = next((each for each in event.message if type(each) is dict and each.get("id") == id), None)
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
        found = []
        if self._unasked:
            found.append(
                f"This format contains the client's requests and their responses: {self._unasked:,} other messages "
                "(the server's own, the answers to them, invalid ones) are omitted."
            )
        if self._broken:
            found.append(f"{self._broken:,} requests are omitted: their text is not JSON.")
        return found
