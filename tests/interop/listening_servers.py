"""Starting servers that listen, on the loopback interface, and ending them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.processes import left_of

PATIENCE = 30
"""Seconds that a server has to listen, and to end."""


def free_port() -> int:
    """A port without a server."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


@contextmanager
def listening(
    words: Sequence[str], port: int, log: Path, *, env: Mapping[str, str], up: tuple[str, str] | None = None
) -> Iterator[None]:
    """Runs a server that is to listen on `port`; `log` gets what it writes.

    With `up` it is waited for until a GET of the path answers the text, else until it listens. It is ended as a
    terminal does that is closed: its whole process group is told; what does not obey is killed.
    """
    with log.open("wb") as file:
        process = subprocess.Popen(
            words, env=env, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
        )
    try:
        end = time.monotonic() + PATIENCE
        while not (_answers(port, *up) if up else _listens(port)):
            if time.monotonic() > end or process.poll() is not None:
                raise AssertionError(f"the server does not listen: {log.read_text(errors='replace')}")
            time.sleep(0.05)
        yield
    finally:
        _end(process)


def _listens(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


def _answers(port: int, path: str, text: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE) as response:
            return text in response.read().decode()
    except (OSError, urllib.error.URLError):
        return False


def _end(process: subprocess.Popen[bytes]) -> None:
    for how in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE / 6)
        if process.poll() is not None and not left_of(process.pid):
            return
