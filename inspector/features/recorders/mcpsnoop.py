"""Session logs of mcpsnoop."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import IO, Any

from inspector.features.recorders.messages_only import MESSAGES
from inspector.formats.http_exchanges import HttpExchanges, header, headers_of
from inspector.formats.json_edits import clean, portable
from inspector.formats.recording_builder import (
    FormatReader,
    RecordingBuilder,
    http_target,
    moment,
    stdio_target,
)
from inspector.formats.selection import RecordingClock, Selection, target_of
from inspector.formats.source import ImportedEntry, encoded
from inspector.journal import channels
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import encode

_PARAM = "mcp-param-"
_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_SNOOP_DIRS = {"c2s": Dir.SEND, "s2c": Dir.RECV}
_ROUTING = ("mcp_method", "mcp_name", "mcp_protocol_version", "mcp_param_headers", "auth_challenge")


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
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
        for n in self._chosen.of(*MESSAGES, Kind.STDERR):
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
        members: dict[str, Any] = {
            key: clean(value)
            for key in ("mcp_method", "mcp_name", "mcp_protocol_version")
            if (value := header(pairs, key.replace("_", "-")))
        }
        params = [{"name": clean(key), "value": clean(value)} for key, value in pairs if key.lower().startswith(_PARAM)]
        return {**members, "mcp_param_headers": params} if params else members

    def _envelope(self, t: int, direction: str, raw: str | None, text: str | None, more: dict[str, Any]) -> str:
        about = {"ts": self._at(t, "microseconds"), "direction": direction, "transport": self._transport}
        if raw is None:
            return _compact({**about, "text": clean(text or ""), **more})
        return f'{_compact(about)[:-1]},"raw":{raw}{"," + _compact(more)[1:-1] if more else ""}}}'


def _read(maker: RecordingBuilder) -> None:
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


READER = FormatReader(
    lambda source: any(
        type(value) is dict and {"session_id", "seq", "direction"} <= value.keys() for value in source.first_values()
    ),
    _read,
)
