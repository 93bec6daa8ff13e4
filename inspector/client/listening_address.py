"""The URL at which a server says that it listens, although it was started as a command."""

from __future__ import annotations

import re
from collections.abc import Iterable
from socket import gethostname

from inspector.addresses import is_loopback
from inspector.lazy_pattern import lazy_pattern
from inspector.log_lines import readable

_LISTENS = lazy_pattern(
    r"(?i:\blisten(?:ing|s)?|running|serving|start(?:ed|ing)|available|ready|transport)\b.{0,80}?"
    r"(?:(https?://([\w.-]{1,200}|\[[\da-f:]{2,40}\])(?::\d+)?(?:/[\w./-]{0,100})?)|\bport:? (\d{2,5})\b)"
)
"""A URL that a server reports; it listens there only if the host is this machine."""
_AT_PORT = lazy_pattern(
    r"(?i:\blisten(?:ing|s)?)\b.{0,80}?(?:(?<=[\s\"'=])|localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1?\]):(\d{2,5})(?![\d.:])"
)
"""An address without a scheme, also as a member of a JSON log: `"msg":"listening","addr":"localhost:8080"`."""


def listening_address(lines: Iterable[str]) -> str:
    """Return the URL on this machine at which a server says that it listens; empty if it says none."""
    written = [line[:1000] for line in lines]
    shown = [readable(line) for line in written]
    for match in filter(None, map(_LISTENS.search, shown)):
        if match[3] or _is_this_machine(match[2]):
            address = match[1] or f"http://127.0.0.1:{match[3]}"
            # Another line, which a banner has wrapped, may have its path.
            path = re.compile(rf"{re.escape(address.rstrip('/'))}/(?:[\w./-]{{0,80}}/)?(?:mcp|sse)\b")
            return next((found[0] for found in map(path.search, shown) if found), address)
    bare = next(filter(None, (_AT_PORT.search(line) for line in written)), None)
    return f"http://127.0.0.1:{bare[1]}" if bare is not None else ""


def _is_this_machine(host: str) -> bool:
    """Whether a server on this machine can listen at a host; a link in its log is at another one."""
    return host in ("0.0.0.0", "[::]", gethostname()) or is_loopback(host)
