"""A JSON-RPC batch (2025-03-26): answered one by one on a stream, otherwise together."""

from __future__ import annotations

from typing import Any

from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape
from inspector.serving.base import BodyForm, Fields, Reply


class Batch:
    """The reply to a batch, shared by the replies to its messages."""

    def __init__(self, reply: Reply, items: list[Any]) -> None:
        self.whole = reply
        self.channel = reply.channel
        self.several = sum(jsonrpc.shape_of(item) is Shape.REQUEST for item in items) > 0
        self._left = len(items) + 1

    def reply(self) -> Reply:
        """Return the reply to the next of the messages."""
        return _Part(self)

    def ended(self) -> None:
        """Handle a message that was answered, or needs no response; also the end of the batch, when all were read."""
        self._left -= 1
        if not self._left:
            self.whole.end()


class _Part:
    """The reply to one message of a batch."""

    def __init__(self, batch: Batch) -> None:
        self.channel = batch.channel
        self._batch = batch
        self._ended = False

    @property
    def open(self) -> bool:
        return not self._ended and self._batch.whole.open

    def begin(self, form: BodyForm, status: int = 200, fields: Fields = ()) -> None:
        """Start a stream for several responses; a batch without requests is answered as a whole."""
        self._batch.whole.begin("sse" if self._batch.several else form, 200 if self._batch.several else status, fields)

    def send(self, data: bytes) -> None:
        self._batch.whole.send(data)

    def end(self) -> None:
        if not self._ended:
            self._ended = True
            self._batch.ended()

    def cut(self, data: bytes = b"", retry: int | None = None) -> None:
        self._ended = True
        self._batch.whole.cut(data, retry)

    async def drain(self) -> None:
        await self._batch.whole.drain()
