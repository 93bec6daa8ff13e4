"""A recording of mcporter: newline-delimited JSON, each message with its own top-level `_meta`.

`_meta` has `dir` (`send`, `recv`, `lifecycle`), `server` and `ts`. It is removed; the rest of the line is the message's
text.
"""

from __future__ import annotations

from typing import Any

from inspector.imports.json_positions import members
from inspector.imports.recording_builder import RecordingBuilder, moment
from inspector.imports.source import Source, encoded, value_of
from inspector.imports.targets import stdio_target
from inspector.journal import channels
from inspector.journal.format import Dir

_DIRS = {"send": Dir.SEND, "recv": Dir.RECV}


def fits(source: Source) -> bool:
    """Whether the file is such a recording."""
    return any(_meta(value).get("dir") in (*_DIRS, "lifecycle") for value in source.first_values())


def read(source: Source, maker: RecordingBuilder) -> None:
    """Read the recording, line by line."""
    others, server = 0, None
    for number, line in source.lines():
        if line is None:
            maker.unread(f"Line {number:,}", "it is too long")
            continue
        text = line.decode("utf-8", "surrogateescape").strip()
        value = value_of(text)
        meta = _meta(value)
        dir = meta.get("dir")
        if type(dir) is not str or dir not in (*_DIRS, "lifecycle"):
            maker.unread(f"Line {number:,}", "it is not a message with a direction")
            continue
        if not maker.begun:
            server = meta.get("server")
            target, secrets = stdio_target(None, label=server)
            maker.begin(moment(meta.get("ts")), target, "mcporter", secrets)
        if meta.get("server") != server:
            others += 1
            continue
        maker.at(moment(meta.get("ts")))
        if dir in _DIRS:
            maker.message(_DIRS[dir], channels.STDIO, encoded(_without_meta(text)))
    if not maker.begun:
        return
    if others:
        maker.note(f"Lines of other servers in the same file ({others:,}) are skipped.")
    maker.note(
        "mcporter keeps the messages that its SDK could read, not their exact text. It does not keep stderr and HTTP "
        "heads."
    )


def _meta(value: Any) -> dict[str, Any]:
    """Return mcporter's metadata of a message."""
    found = value.get("_meta") if type(value) is dict and type(value.get("method", "")) is str else None
    return found if type(found) is dict and type(found.get("dir")) is str else {}


def _without_meta(text: str) -> str:
    """Return the text of a message without mcporter's member and its comma."""
    start, end = members(text)["_meta"]
    name = text.rindex('"', 0, text.rindex(":", 0, start))
    begin = text.rindex('"', 0, name)
    before, after = text[:begin].rstrip(), text[end:].lstrip()
    if before.endswith(","):
        return before[:-1] + after
    return before + after.removeprefix(",").lstrip()
