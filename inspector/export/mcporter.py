"""A recording of mcporter: newline-delimited JSON, each message with its own `_meta`.

The format, as version 0.12 of that tool writes and replays it: each line is a JSON-RPC message whose top-level `_meta`
has `dir` (`send`, `recv`, `lifecycle`), `server` (the server's name in the configuration) and `ts` (RFC 3339). The
first and the last line of a connection have the `dir` `lifecycle`, with the methods `$transport/start` and
`$transport/close`. Its replay expects the recorded requests in the recorded order with equal parameters, including
`initialize`. It does not contain values other than objects, stderr, HTTP heads and life events.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import IO

from inspector.export.json_edits import portable
from inspector.export.mcp_cassette import not_kept
from inspector.export.recording_facts import RecordingClock
from inspector.export.selection import Selection, left_out
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal

_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_dumps = json.JSONEncoder(separators=(",", ":")).encode


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
    """Write the recording to `out`, line by line."""
    server, at = server_name(journal), RecordingClock(journal)

    def meta(dir: str, t: int) -> str:
        return _dumps({"dir": dir, "server": server, "ts": at(t)})

    chosen = Selection(journal, numbers)
    out.write(f'{{"jsonrpc":"2.0","method":"$transport/start","_meta":{meta("lifecycle", 0)}}}\n')
    missing = last = 0
    for n in chosen.of(Kind.RPC, Kind.INVALID):
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
        *not_kept(chosen),
    ]


def server_name(journal: Journal) -> str:
    """Return the server's name: from a configuration, else from the recording."""
    target = journal.header.get("target")
    found = [target.get(key) for key in ("name", "label")] if type(target) is dict else []
    name = next((text for text in found if isinstance(text, str) and text), "server")
    return _NO_NAME.sub("-", name).strip("-")[:60] or "server"
