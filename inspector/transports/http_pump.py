"""Reading a body in as few steps as the network allows."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any


class Pump:
    """Awaits an iterator of chunks, delivering whatever is there before each wait.

    The HTTP library yields one chunk for each chunk of the transfer coding, which for an event stream often is one per
    event. Stepping its iterator by hand shows when it would really wait for the network.
    """

    def __init__(self, stream: Any, deliver: Callable[[bytes], None]) -> None:
        self._chunks = stream.__aiter__()
        self._deliver = deliver

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
                self._flush(ready)
                raise
            refused: BaseException | None = None
            try:
                self._flush(ready)
            except BaseException as error:  # noqa: BLE001 - raised again, inside the iterator, which cleans up
                refused = error
            try:
                ready.append((yield from _go_on(step, signal, refused)))
            except StopAsyncIteration:
                break
        self._flush(ready)

    def _flush(self, ready: list[bytes]) -> None:
        if ready:
            chunk = ready[0] if len(ready) == 1 else b"".join(ready)
            ready.clear()
            self._deliver(chunk)


def _go_on(step: Any, signal: Any, error: BaseException | None = None) -> Generator[Any, Any, bytes]:
    """Finish an awaitable that has been stepped once and waits for `signal`; with `error`, by raising that in it."""
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
