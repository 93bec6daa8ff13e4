"""Recordings of mcporter."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import IO, Any

from inspector.features.recorders.messages_only import MESSAGES, not_kept
from inspector.formats.json_edits import portable
from inspector.formats.recording_builder import (
    FormatReader,
    RecordingBuilder,
    moment,
    stdio_target,
)
from inspector.formats.selection import RecordingClock, Selection, left_out, target_of
from inspector.formats.source import encoded, members, value_of
from inspector.journal import channels
from inspector.journal.format import Dir, Kind
from inspector.journal.journal import Journal

_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_compact_ascii = json.JSONEncoder(separators=(",", ":")).encode
_PORTER_DIRS = {"send": Dir.SEND, "recv": Dir.RECV}


def write(journal: Journal, out: IO[str], numbers: Iterable[int] | None) -> list[str]:
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
    for n in chosen.of(*MESSAGES):
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


def _read(maker: RecordingBuilder) -> None:
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
    meta = value.get("_meta") if type(value) is dict and type(value.get("method", "")) is str else None
    return meta if type(meta) is dict and type(meta.get("dir")) is str else {}


def _without_meta(text: str) -> str:
    """Return the text of a message without mcporter's member and its comma."""
    start, end = members(text)["_meta"]
    name = text.rindex('"', 0, text.rindex(":", 0, start))
    begin = text.rindex('"', 0, name)
    before, after = text[:begin].rstrip(), text[end:].lstrip()
    if before.endswith(","):
        return before[:-1] + after
    return before + after.removeprefix(",").lstrip()


READER = FormatReader(
    lambda source: any(
        _porter_meta(value).get("dir") in (*_PORTER_DIRS, "lifecycle") for value in source.first_values()
    ),
    _read,
)
