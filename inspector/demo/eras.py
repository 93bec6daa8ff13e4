"""One connection that may carry both eras: assigns each message to its era."""

from __future__ import annotations

from inspector.demo.legacy import LegacySession
from inspector.demo.modern import Modern, is_modern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import Channel
    from inspector.demo.world import World


class StdioConnection:
    """A stdio connection: a session for clients with a handshake, and requests without one, side by side."""

    def __init__(self, world: World, out: Channel, transport: str) -> None:
        self._session = LegacySession(world, out, transport) if world.handshakes else None
        self._modern = Modern(world, transport) if world.modern else None

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
