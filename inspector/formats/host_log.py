"""The log of a server by Claude Desktop or VS Code.

Claude Desktop writes `mcp-server-NAME.log`: `TIME [NAME] [LEVEL] Message from client: {…}`. VS Code writes the output
channel “MCP: NAME”, whose level must be Trace: `TIME [LEVEL] [editor -> server] {…}`. Text may follow the message. A
line without a time is one of the server's stderr.
"""

from __future__ import annotations

import json
import re
from itertools import islice

from inspector.formats.recording_builder import (
    FormatReader,
    RecordingBuilder,
    moment,
    stdio_target,
)
from inspector.formats.source import Source, encoded
from inspector.journal import channels
from inspector.journal.format import Dir

SAMPLE_LINES = 500
"""Lines that are searched for a message: a host logs how it starts the server first."""
_LINE = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d+(?P<zone>Z?)) "
    r"(?:\[(?P<name>[^\]]*)\] )?\[(?P<level>\w+)\] ?(?P<text>.*)",
    re.DOTALL,
)
_MESSAGE = re.compile(r"(?:Message from (client|server): |\[(editor -> server|server -> editor)\] )(?=[{\[])")
_DIRS = {"client": Dir.SEND, "editor -> server": Dir.SEND, "server": Dir.RECV, "server -> editor": Dir.RECV}
_STDERR = "[server stderr] "
_START = re.compile(r"Initializing server|Starting server(?: (?P<name>\S+))?")


def _fits(source: Source) -> bool:
    """Whether one of the first lines contains a message of such a log."""
    lines = (line for _, line in islice(source.lines(), SAMPLE_LINES) if line is not None)
    parts = (_LINE.fullmatch(_text(line)) for line in lines)
    return any(part is not None and _MESSAGE.match(part["text"]) for part in parts)


def _read(maker: RecordingBuilder) -> None:
    """Read the log of a host, line by line."""
    starts = 0
    is_local = False
    for place, line in maker.lines():
        text = _text(line)
        part = _LINE.fullmatch(text)
        if part is None:
            if maker.begun:
                maker.stderr(line)
            continue
        time = moment(part["time"].replace(" ", "T").replace(",", ".") + ("" if part["zone"] else "Z"))
        is_local = is_local or not part["zone"]
        content = part["text"]
        start = _START.match(content)
        if not maker.begun:
            target = stdio_target(None, label=part["name"] or (start["name"] if start else None))
            maker.begin(time, target, "VS Code" if is_local else "Claude Desktop")
        maker.at(time)
        starts += start is not None
        if content.startswith(_STDERR):
            maker.stderr(encoded(content.removeprefix(_STDERR)))
        elif match := _MESSAGE.match(content):
            message = _message(content, match.end())
            if message is None:
                maker.unread(place, "its message is not JSON, or is cut")
            else:
                maker.message(_DIRS[match[1] or match[2]], channels.STDIO, encoded(message))
    if starts > 1:
        maker.note(f"The log has {starts:,} starts of the server. All are in one recording, and ids are used again.")
    if is_local:
        maker.note("The times of the log have no time zone: they are read as UTC.")
    if maker.begun:
        maker.note("Such a log does not keep HTTP headers and the server's exit.")


def _text(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape")


def _message(text: str, start: int) -> str | None:
    """Return the JSON text that begins at `start`; None if it is not JSON."""
    try:
        _, end = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return text[start:end]


READER = FormatReader(_fits, _read)
