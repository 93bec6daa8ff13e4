"""Tells that a server is not read: it sends requests, and does not accept our responses to them."""

from __future__ import annotations

import asyncio

from inspector.transports.base import Sink

TOLD_AFTER = 1.0
"""Seconds of a pause after which it is recorded: the short ones of a busy server say nothing."""


class ReadingPause:
    """One pause after the other, recorded as `reading-paused` and `reading-resumed` if it lasts.

    Reading pauses so that our memory is bounded. A server that waits to be read before it reads has then stopped, until
    the request times out.
    """

    def __init__(self, sink: Sink, channel: str) -> None:
        self._sink = sink
        self._channel = channel
        self._timer: asyncio.TimerHandle | None = None
        self._is_told = False

    @property
    def begun(self) -> bool:
        """Whether reading pauses."""
        return self._timer is not None

    def begin(self) -> None:
        """Handle that reading pauses."""
        self._timer = asyncio.get_running_loop().call_later(TOLD_AFTER, self._tell)

    def _tell(self) -> None:
        self._is_told = True
        self._sink.life(self._channel, "reading-paused")

    def end(self) -> None:
        """Handle that reading continues, or that the connection is closed."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._is_told:
            self._is_told = False
            self._sink.life(self._channel, "reading-resumed")
