"""A session log of mcpsnoop: JSON Lines, an envelope for each message and line of stderr.

The format, as of late 2026: each line is an object with `session_id`, `server_label`, `seq` from 1, `ts` (RFC 3339),
`direction` (`c2s`, `s2c`, `stderr`, `meta`), `transport` (`stdio`, `http`) and either `raw`, the message as JSON, or
`text`, an invalid message or a line of stderr. The first line is `meta`; its `raw` has `command` (a list) and `cwd`. An
item of a batch is a line of its own with `batch`. Optional: `mcp_method`, `mcp_name`, `mcp_protocol_version` and
`mcp_param_headers` (`name`, `value`) from the heads of HTTP requests, `status` and `auth_challenge` from those of
responses, `truncated`, `redacted`. The format has no version and no header line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import IO, Any

from inspector.export.http_exchanges import HttpExchanges, header, headers_of
from inspector.export.json_edits import clean, portable
from inspector.export.recording_facts import RecordingClock
from inspector.export.selection import Selection
from inspector.journal.format import Dir, Event, Kind
from inspector.journal.journal import Journal
from inspector.protocol.jsonrpc import encode

_PARAM = "mcp-param-"
_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the log to `out`, line by line."""
    chosen = Selection(journal, numbers)
    log = _Log(journal, chosen)
    for seq, line in enumerate(log.lines(), 1):
        out.write(f"{_dumps({**log.common, 'seq': seq})[:-1]},{line[1:]}\n")
    others = sum(1 for _ in chosen.of(Kind.SSE, Kind.LIFE, Kind.AUTH, Kind.NOTE))
    if not others:
        return []
    return [f"This format contains messages and stderr: {others:,} other events (life events, logins) are omitted."]


class _Log:
    """Creates the envelopes of one recording."""

    def __init__(self, journal: Journal, chosen: Selection) -> None:
        target = journal.header.get("target")
        self._target: dict[str, Any] = target if type(target) is dict else {}
        label = self._target.get("label")
        self.common = {
            "session_id": clean(str(journal.header.get("id") or "recording")),
            "server_label": clean(label) if isinstance(label, str) and label else "server",
        }
        self._journal = journal
        self._chosen = chosen
        self._http = HttpExchanges(journal)
        self._at = RecordingClock(journal)
        self._transport = "http" if isinstance(self._target.get("url"), str) else "stdio"

    def lines(self) -> Iterator[str]:
        """Yield each envelope as JSON, without the common members and its number."""
        argv, cwd = self._target.get("argv"), self._target.get("cwd")
        meta: dict[str, Any] = {
            "command": [clean(word) for word in argv if isinstance(word, str)] if type(argv) is list else []
        }
        if isinstance(cwd, str):
            meta["cwd"] = clean(cwd)
        yield self._envelope(0, "meta", _dumps(meta), None, {})
        for n in self._chosen.of(Kind.RPC, Kind.INVALID, Kind.STDERR):
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
        ts = self._at(t, "microseconds")
        about = {"ts": ts, "direction": direction, "transport": self._transport}
        if raw is None:
            return _dumps({**about, "text": clean(text or ""), **more})
        return f'{_dumps(about)[:-1]},"raw":{raw}{"," + _dumps(more)[1:-1] if more else ""}}}'
