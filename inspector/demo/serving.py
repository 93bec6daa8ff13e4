"""The running requests of one connection, in either era."""

from __future__ import annotations

import sys
import threading

from inspector.demo.rpc import INTERNAL_ERROR, INVALID_REQUEST, Cancelled, RpcError, encode, error, result, valid_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import ClientRequest
    from inspector.demo.core import Handler


class Serving:
    """Runs handlers, in order or on threads, and sends their responses on their call's channel."""

    def __init__(self) -> None:
        self._calls: dict[Any, ClientRequest] = {}
        self._lock = threading.Lock()

    def add(self, call: ClientRequest) -> None:
        """Adds a call; raises RpcError if a running call has the same id."""
        with self._lock:
            if call.request_id in self._calls:
                raise RpcError(INVALID_REQUEST, f"The id {call.request_id!r} belongs to a running request")
            self._calls[call.request_id] = call

    def run(self, call: ClientRequest, handler: Handler, *, delay: float, patient: bool) -> bool:
        """Serves an added call; true if it has a response when this returns, false if a thread continues it.

        `delay`: seconds to wait first; `patient`: whether the handler may take long.
        """
        if delay or patient:
            threading.Thread(target=self._serve, args=(call, handler, delay), daemon=True).start()
            return False
        self._serve(call, handler, delay)
        return True

    def remove(self, call: ClientRequest) -> None:
        """Removes a call: its id may be used again."""
        with self._lock:
            self._calls.pop(call.request_id, None)

    def cancel(self, request_id: Any) -> bool:
        """Cancels a call by its id; false if it is unknown."""
        with self._lock:
            call = self._calls.get(request_id) if valid_id(request_id) else None
        if call is None:
            return False
        call.cancel()
        return True

    def stop(self) -> None:
        """Stops every call."""
        for call in self._all():
            call.stop()

    def drop(self) -> None:
        """Cancels every call: the client has disconnected."""
        for call in self._all():
            call.cancel()

    def _all(self) -> list[ClientRequest]:
        with self._lock:
            return list(self._calls.values())

    def _serve(self, call: ClientRequest, handler: Handler, delay: float) -> None:
        raw: bytes | None
        status = 200
        try:
            if delay:
                call.sleep(delay)
            raw = encode(result(call.request_id, handler(call)))
        except Cancelled:
            raw = None
        except RpcError as problem:
            raw, status = encode(error(call.request_id, problem)), problem.status
        except Exception as problem:  # noqa: BLE001 - the outermost edge of a request: the session must outlive it
            sys.excepthook(type(problem), problem, problem.__traceback__)
            raw = encode(error(call.request_id, RpcError(INTERNAL_ERROR, f"Internal error: {type(problem).__name__}")))
        self.remove(call)
        call.channel.answer(None if call.cancelled else raw, status)
