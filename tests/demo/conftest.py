"""Sessions with the demo server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.demo.demo_client import HttpServer, MemoryPeer, StdioPeer, about_client


@pytest.fixture
def connect() -> Iterator[Any]:
    """Makes sessions in this process: `connect(revision=…, capabilities=…, items=…, tick=…, delay=…)`."""
    peers: list[MemoryPeer] = []

    def make(**how: Any) -> MemoryPeer:
        handshake = {key: how.pop(key) for key in ("revision", "capabilities") if key in how}
        peers.append(MemoryPeer(**how))
        peers[-1].open(**handshake)
        return peers[-1]

    yield make
    for peer in peers:
        peer.close()


@pytest.fixture
def modern() -> Iterator[Any]:
    """Makes clients of 2026-07-28 in this process: `modern(capabilities, log_level=…, items=…, tick=…)`."""
    peers: list[MemoryPeer] = []

    def make(capabilities: dict[str, Any] | None = None, *, log_level: str | None = None, **how: Any) -> MemoryPeer:
        peers.append(MemoryPeer(**how))
        peers[-1].meta = about_client(capabilities, **({"logLevel": log_level} if log_level else {}))
        return peers[-1]

    yield make
    for peer in peers:
        peer.close()


@pytest.fixture(scope="session")
def shared() -> Iterator[StdioPeer]:
    """A server process over stdio, for tests that leave no trace in it."""
    peer = StdioPeer("--items", "250")
    peer.open()
    yield peer
    assert peer.close() == 0
    assert peer.errors == b""


@pytest.fixture(scope="session")
def http_server() -> Iterator[HttpServer]:
    """A server process over HTTP."""
    server = HttpServer("--items", "250", "--tick", "0.02")
    yield server
    server.close()
