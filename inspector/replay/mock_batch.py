"""A batch of messages (2025-03-26), answered one by one where a stream takes it, else together."""

from __future__ import annotations

from typing import Any

from inspector.protocol import jsonrpc
from inspector.protocol.jsonrpc import Shape
from inspector.serving.base import Fields, Form, Reply


class Batch:
    """The reply to a batch, shared by the replies to what is in it."""

    def __init__(self, reply: Reply, items: list[Any]) -> None:
        self.reply = reply
        self.channel = reply.channel
        self.several = sum(jsonrpc.shape_of(item) is Shape.REQUEST for item in items) > 0
        self._left = len(items) + 1

    def reply_to(self, item: Any) -> Reply:
        """The reply to one of the messages."""
        return _Part(self)

    def complete(self) -> None:
        """All messages have been taken."""
        self.ended()

    def ended(self) -> None:
        """One of them has its answer, or needs none."""
        self._left -= 1
        if not self._left:
            self.reply.end()


class _Part:
    """The reply to one message of a batch."""

    def __init__(self, batch: Batch) -> None:
        self.channel = batch.channel
        self._batch = batch
        self._ended = False

    @property
    def open(self) -> bool:
        return not self._ended and self._batch.reply.open

    def begin(self, form: Form, status: int = 200, fields: Fields = ()) -> None:
        """Several answers need a stream; a batch in which nothing is asked is answered as a whole."""
        self._batch.reply.begin("sse" if self._batch.several else form, 200 if self._batch.several else status, fields)

    def send(self, data: bytes) -> None:
        self._batch.reply.send(data)

    def end(self) -> None:
        if not self._ended:
            self._ended = True
            self._batch.ended()

    def cut(self, data: bytes = b"", retry: int | None = None) -> None:
        self._ended = True
        self._batch.reply.cut(data, retry)

    async def drain(self) -> None:
        await self._batch.reply.drain()
