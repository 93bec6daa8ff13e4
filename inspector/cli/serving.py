"""What the verbs that serve clients share: where to listen, and how a server is ended."""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from inspector.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

_ADDRESS = re.compile(
    r"(?:\[(?P<six>[0-9a-fA-F:.]+)\]|(?P<host>[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?))?(?P<colon>:)?(?P<port>\d{1,5})?"
)
LOOPBACK = "127.0.0.1"
Address = tuple[str, int]
"""Host and port; 0 is any port that is free."""


def is_address(word: str) -> bool:
    """Whether a word reads as HOST:PORT, :PORT or PORT."""
    found = _ADDRESS.fullmatch(word)
    return found is not None and (word.isdigit() or bool(found["colon"] and found["port"]))


def address(word: str) -> Address:
    """HOST:PORT, HOST, :PORT or PORT; without a host, loopback; without a port, any that is free."""
    found = _ADDRESS.fullmatch(word)
    if word.isdigit():
        host, port = LOOPBACK, int(word)
    elif found is None or not word or bool(found["colon"]) != bool(found["port"]):
        raise UsageError(f"“{word[:80]}” is no address to listen on.", hint="Write HOST:PORT, or PORT.")
    else:
        host, port = found["six"] or found["host"] or LOOPBACK, int(found["port"] or 0)
    if port > 65535:
        raise UsageError(f"There is no port {port}.", hint="Ports go to 65535; 0 is any that is free.")
    return host, port


def origin(word: str) -> str:
    """SCHEME://HOST or SCHEME://HOST:PORT, as a browser writes it. Raises `UsageError`."""
    from inspector.serving.http_guard import normal_origin

    found = normal_origin(word)
    if not found:
        raise UsageError(
            f'"{word[:80]}" is not an origin.', hint="Write SCHEME://HOST or SCHEME://HOST:PORT, without a path."
        )
    return found


@contextmanager
def ended_by_signals() -> Iterator[asyncio.Event]:
    """An event that is set by the first signal that ends us; the second one ends us as it always does."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    caught = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

    def on_signal() -> None:
        stop.set()
        for number in caught:
            loop.remove_signal_handler(number)

    for number in caught:
        try:
            loop.add_signal_handler(number, on_signal)
        except (NotImplementedError, ValueError, RuntimeError):
            pass  # Not the main thread, or a system without signals: whoever called us deals with them.
    try:
        yield stop
    finally:
        for number in caught:
            try:
                loop.remove_signal_handler(number)
            except (NotImplementedError, ValueError, RuntimeError):
                pass


def numbered(named: Path, number: int) -> Path:
    """`a.mcp.jsonl` of the second client is `a.2.mcp.jsonl`."""
    stem, dot, rest = named.name.partition(".")
    return named.with_name(f"{stem}.{number}{dot}{rest}")
