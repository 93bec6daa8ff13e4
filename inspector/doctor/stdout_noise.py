"""Output on a server's stdout that is not a message: a banner, log lines, other framing or encoding."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from inspector.protocol.jsonrpc import NotJson, parse

NoiseKind = Literal["headers", "utf-16", "bom", "pretty", "log", "text"]
MAX_LINES = 200
SHOWN = 100

_HEADER = re.compile(rb"\s*Content-Length:\s*\d+", re.IGNORECASE)
_LOG = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|TRACE|NOTICE)\b|\w+:\w+:)"
)


class StdoutNoise(NamedTuple):
    """The kind of the lines, and the first of them for a sentence."""

    kind: NoiseKind
    first: str
    lines: int


def noise(lines: Sequence[bytes]) -> StdoutNoise | None:
    """Return the kind of the lines that are not messages; None if all of them are blank."""
    printed = [line for line in lines[:MAX_LINES] if line.strip(b"\r\n\t \0")]
    if not printed:
        return None
    first = printed[0]
    text = _decoded(first)
    if any(_HEADER.match(line) for line in printed):
        return StdoutNoise("headers", text, len(printed))
    if _is_utf_16(first):
        wide = "utf-16-be" if first.startswith((b"\xfe\xff", b"\0")) else "utf-16-le"
        return StdoutNoise("utf-16", _decoded(first.decode(wide, "replace").lstrip("\ufeff").encode()), len(printed))
    if first.startswith(b"\xef\xbb\xbf"):
        return StdoutNoise("bom", text, len(printed))
    if _is_pretty(printed):
        return StdoutNoise("pretty", text, len(printed))
    return StdoutNoise("log" if _LOG.match(text) else "text", text, len(printed))


def _decoded(line: bytes) -> str:
    return line.strip()[: SHOWN * 4].decode("utf-8", "replace").strip()[:SHOWN]


def _is_utf_16(line: bytes) -> bool:
    if line.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    sample = line[:400]
    return len(sample) > 4 and sample.count(0) * 5 >= len(sample) * 2


def _is_pretty(lines: Sequence[bytes]) -> bool:
    """Whether the lines together are JSON, but none of them alone."""
    if not lines[0].lstrip().startswith((b"{", b"[")):
        return False
    joined = b"\n".join(lines)
    for end in (len(joined), joined.find(b"\n}") + 2):
        try:
            return type(parse(joined[:end])) in (dict, list)
        except NotJson:
            continue
    return False
