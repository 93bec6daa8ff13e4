"""Shared by the verbs that serve clients: the address to listen on, and signals."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from inspector.cli.options import Option, Value
from inspector.errors import UsageError
from inspector.system.terminal import ENDING, watch_signals

if TYPE_CHECKING:
    from pathlib import Path

_ADDRESS = re.compile(
    r"(?:\[(?P<six>[0-9a-fA-F:.]+)\]|(?P<host>[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?))?(?P<colon>:)?(?P<port>\d{1,5})?"
)
LOOPBACK = "127.0.0.1"
HostPort = tuple[str, int]
"""Host and port; 0 is any free port."""


def is_address(word: str) -> bool:
    """Whether a word has the form HOST:PORT, :PORT or PORT."""
    match = _ADDRESS.fullmatch(word)
    return match is not None and (word.isdigit() or bool(match["colon"] and match["port"]))


def address(word: str) -> HostPort:
    """HOST:PORT, HOST, :PORT or PORT; default: loopback and any free port."""
    match = _ADDRESS.fullmatch(word)
    if word.isdigit():
        host, port = LOOPBACK, int(word)
    elif match is None or not word or bool(match["colon"]) != bool(match["port"]):
        raise UsageError(f"“{word[:80]}” is not an address.", hint="Write HOST:PORT, or PORT.")
    else:
        host, port = match["six"] or match["host"] or LOOPBACK, int(match["port"] or 0)
    if port > 65535:
        raise UsageError(f"The port {port} does not exist.", hint="Use a port up to 65535; 0 is any free port.")
    return host, port


def origin(word: str) -> str:
    """SCHEME://HOST or SCHEME://HOST:PORT, as a browser writes it. Raises `UsageError`."""
    from inspector.serving.http_origins import normal_origin

    normalized = normal_origin(word)
    if not normalized:
        raise UsageError(
            f'"{word[:80]}" is not an origin.', hint="Use SCHEME://HOST or SCHEME://HOST:PORT, without a path."
        )
    return normalized


ADDRESS = Value("HOST:PORT", address, fits=is_address)
BIND_ADDRESS = Value("[HOST:PORT]", address, fits=is_address, otherwise=(LOOPBACK, 0))
ALLOWED = (
    Option("--allow-host", "Accept HTTP requests for this host name; repeatable", "NAME", many=True),
    Option(
        "--allow-origin",
        "Accept HTTP requests from this origin (SCHEME://HOST:PORT); repeatable",
        Value("ORIGIN", origin),
        many=True,
    ),
)
"""Who may connect besides the address itself."""


@contextmanager
def ended_by_signals() -> Iterator[asyncio.Event]:
    """An event that the first terminating signal sets; the second signal terminates the process."""
    stop = asyncio.Event()

    def end(number: int) -> None:
        stop.set()
        stop_watching()

    stop_watching = watch_signals(ENDING, end)
    try:
        yield stop
    finally:
        stop_watching()


def numbered(named: Path, number: int) -> Path:
    """`a.mcp.jsonl` becomes `a.2.mcp.jsonl` for the second client; a device is for all."""
    from inspector.config.output_files import is_device

    if is_device(named):
        return named
    stem, dot, rest = named.name.partition(".")
    return named.with_name(f"{stem}.{number}{dot}{rest}")
