"""The stdio transport: one message per line on stdin and stdout."""

from __future__ import annotations

import os
import sys
import threading

from inspector.demo.call import Channel
from inspector.demo.legacy import LegacySession
from inspector.demo.modern import Modern, is_modern
from inspector.demo.rpc import RpcError, decode, encode, error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.server_state import DemoState


class _Stdout(Channel):
    """Writes whole lines, from any thread, without Python's buffers: so no line is truncated at the process's end."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fd = sys.stdout.fileno()

    def send(self, raw: bytes) -> None:
        rest = memoryview(raw + b"\n")
        with self._lock:
            try:
                while rest:
                    rest = rest[os.write(self._fd, rest) :]
            except BrokenPipeError:
                os._exit(0)  # the only client has disconnected

    def answer(self, raw: bytes | None, status: int = 200) -> None:
        if raw is not None:
            self.send(raw)


class StdioConnection:
    """A stdio connection: a session for clients with a handshake, and requests without one, side by side."""

    def __init__(self, state: DemoState, out: Channel, transport: str) -> None:
        self._session = LegacySession(state, out, transport) if state.handshakes else None
        self._modern = Modern(state, transport) if state.modern else None

    def receive(self, message: Any, channel: Channel) -> None:
        """Takes one message (or a batch)."""
        modern, session = self._modern, self._session
        if modern is not None and (session is None or is_modern(message)):
            modern.receive(message, channel)
        elif session is not None and not (modern is not None and modern.cancels(message)):
            session.receive(message, channel)

    def close(self) -> None:
        """Ends everything: the client has disconnected."""
        if self._modern is not None:
            self._modern.close()
        if self._session is not None:
            self._session.close()


def serve(state: DemoState) -> None:
    """Serves until stdin ends."""
    channel = _Stdout()
    connection = StdioConnection(state, channel, "stdio")
    for line in sys.stdin.buffer:
        if line.isspace():
            continue
        try:
            message = decode(line)
        except RpcError as problem:
            channel.send(encode(error(None, problem)))
            continue
        connection.receive(message, channel)
    connection.close()
