"""Reads a body in as few steps as the network allows."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any, Protocol


class ReadGate(Protocol):
    """Pauses reading while too much data waits to be handled."""

    @property
    def crowded(self) -> bool:
        """Whether reading should pause."""

    async def room(self) -> None:
        """Wait until reading may continue."""


PIECE = 1 << 14
"""Bytes that are delivered before the gate is asked again: each of their requests may cause a reply."""

Unpack = Callable[[bytes], Iterator[bytes]]
"""Decodes a content coding: yields the decoded data of a chunk in pieces."""


class Pump:
    """Awaits an iterator of chunks, and delivers all available ones before each wait.

    The HTTP library yields one chunk for each chunk of the transfer coding, which for an event stream often is one per
    event. Stepping its iterator by hand shows when it would really wait for the network.
    """

    def __init__(
        self,
        stream: Any,
        deliver: Callable[[bytes], None],
        *,
        gate: ReadGate | None = None,
        unpack: Unpack | None = None,
    ) -> None:
        self._chunks = stream.__aiter__()
        self._deliver = deliver
        self._gate = gate
        self._unpack = unpack

    def __await__(self) -> Generator[Any, Any, None]:
        ready: list[bytes] = []
        chunks = self._chunks
        while True:
            step = chunks.__anext__().__await__()
            try:
                signal = next(step)
            except StopIteration as done:
                ready.append(done.value)
                continue
            except StopAsyncIteration:
                break
            except BaseException:
                yield from self._flush(ready)
                raise
            refused: BaseException | None = None
            try:
                yield from self._flush(ready)
            except BaseException as error:  # noqa: BLE001 - raised again, inside the iterator, which cleans up
                refused = error
            try:
                ready.append((yield from _go_on(step, signal, refused)))
            except StopAsyncIteration:
                break
        yield from self._flush(ready)

    def _flush(self, ready: list[bytes]) -> Generator[Any, Any, None]:
        if not ready:
            return
        chunk = ready[0] if len(ready) == 1 else b"".join(ready)
        ready.clear()
        if self._unpack is not None:
            for piece in self._unpack(chunk):
                self._deliver(piece)
                yield  # A small chunk may decompress to a large one: yield to others.
                yield from self._wait_for_room()
            return
        for at in range(0, len(chunk), PIECE):
            self._deliver(chunk[at : at + PIECE] if len(chunk) > PIECE else chunk)
            yield from self._wait_for_room()

    def _wait_for_room(self) -> Generator[Any, Any, None]:
        if self._gate is not None and self._gate.crowded:
            yield from self._gate.room().__await__()


def _go_on(step: Any, signal: Any, error: BaseException | None = None) -> Generator[Any, Any, bytes]:
    """Finish an awaitable that was stepped once and waits for `signal`; with `error`, raise that in it."""
    try:
        while True:
            sent = None
            if error is None:
                try:
                    sent = yield signal
                except BaseException as raised:  # noqa: BLE001 - passed on to where it belongs
                    error = raised
            if error is None:
                signal = step.send(sent)
            else:
                raising, error = error, None
                signal = step.throw(raising)
    except StopIteration as done:
        return bytes(done.value)
