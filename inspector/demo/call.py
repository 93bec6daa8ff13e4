"""One request and its messages to the client, as tools, resources and prompts see it.

A tool, resource or prompt does not depend on transports and eras: it gets a `ClientRequest` and returns a result. An
era subclasses `ClientRequest` to implement questions and log messages.
"""

from __future__ import annotations

import sys
import threading

from inspector.demo.rpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    Cancelled,
    RpcError,
    encode,
    error,
    notification,
    result,
    valid_id,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from inspector.demo.revisions import DemoFeatures
    from inspector.demo.server_state import DemoState
    from inspector.demo.tasks import DemoTask, Question

    Handler = Callable[["ClientRequest"], dict[str, Any]]

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class Channel:
    """The receiver of encoded messages. A request has a channel for all messages about it."""

    def send(self, raw: bytes) -> None:
        """Sends a notification, or a request to the client."""
        raise NotImplementedError

    def answer(self, raw: bytes | None, status: int = 200) -> None:
        """Ends one request with its response, or with None if it was cancelled and gets none.

        `status` is the HTTP status of the response, if it was not sent yet.
        """
        raise NotImplementedError

    def hang_up(self, retry: int) -> None:
        """Closes the stream and asks the client to reconnect after `retry` ms; no effect without a stream."""


class ClientRequest:
    """A request of the client while it is served. All methods are thread-safe."""

    in_task = False  # whether the request has been answered and the work goes on as a task

    def __init__(
        self, state: DemoState, features: DemoFeatures, channel: Channel, request_id: Any, params: dict[str, Any]
    ) -> None:
        self.state = state
        self.features = features
        self.channel = channel
        self.request_id = request_id
        self.params = params
        meta = params.get("_meta")
        self.meta: dict[str, Any] = meta if isinstance(meta, dict) else {}
        self._cancelled = threading.Event()
        self._wake: Callable[[], None] = lambda: None

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of a tool or prompt; raises an RpcError if they are not an object."""
        arguments = self.params.get("arguments", {})
        if not isinstance(arguments, dict):
            raise RpcError(INVALID_PARAMS, "arguments must be an object")
        return arguments

    def text_param(self, name: str) -> str:
        """Returns a required text parameter."""
        value = self.params.get(name)
        if not isinstance(value, str):
            raise RpcError(INVALID_PARAMS, f"{name} must be a string")
        return value

    @property
    def cancelled(self) -> bool:
        """Whether the client cancelled the request."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Ends the call: its next wait raises Cancelled, and it gets no response."""
        self._cancelled.set()
        self._wake()

    def when_cancelled(self, wake: Callable[[], None]) -> None:
        """Sets the function to call at cancellation; replaces the one before."""
        self._wake = wake
        if self.cancelled:
            wake()

    def stop(self) -> None:
        """Ends the call because the server stops; a subscription may still send its end."""
        self.cancel()

    def sleep(self, seconds: float) -> None:
        """Waits; raises Cancelled immediately at cancellation."""
        if self._cancelled.wait(seconds):
            raise Cancelled

    def wait_for_ever(self) -> NoReturn:
        """Waits until the call is cancelled."""
        self._cancelled.wait()
        raise Cancelled

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Sends a notification that belongs to this call; raises Cancelled if the call is over."""
        if self.cancelled:
            raise Cancelled
        self.channel.send(encode(notification(method, params)))

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Reports progress, if the client gave a token; `done` must grow with every report."""
        token = self.meta.get("progressToken")
        if not valid_id(token):
            return
        params: dict[str, Any] = {"progressToken": token, "progress": done}
        if total is not None:
            params["total"] = total
        if message and self.features.progress_message:
            params["message"] = message
        self.notify("notifications/progress", params)

    def status(self, message: str) -> None:
        """Sets the status message of a task; no effect without one."""

    def log(self, level: str, data: Any, logger: str = "demo") -> None:
        """Sends a log message, if the client requested that level."""
        raise NotImplementedError

    def missing(self, capability: str) -> str:
        """Returns why a client capability ("sampling", "elicitation.url", …) is missing; empty if it is available.

        Raises RpcError if the era has an error for it.
        """
        raise NotImplementedError

    def ask(self, *questions: Question) -> list[dict[str, Any]]:
        """Asks the client one or more questions at once, and returns its answers in order.

        Raises Refused or Cancelled. In the era without server requests, a tool that asks is run again from its start
        for every round of questions: before it asks, it must not do anything that cannot be repeated.
        """
        raise NotImplementedError

    def come_back(self) -> None:
        """Makes the client send its request again before the call continues; no effect in an era without that."""

    def describe_client(self) -> dict[str, Any]:
        """Returns the client's identity and capabilities."""
        raise NotImplementedError

    def later(self, seconds: float, method: str, params: dict[str, Any]) -> None:
        """Sends a notification that belongs to no call after some seconds, if the client is still connected."""
        raise NotImplementedError


class TaskCall(ClientRequest):
    """A tool call within a task; `origin` is the request that started it."""

    in_task = True

    def __init__(self, task: DemoTask, origin: ClientRequest) -> None:
        super().__init__(origin.state, origin.features, Channel(), origin.request_id, origin.params)
        self.task = task
        self._origin = origin

    def status(self, message: str) -> None:
        self.task.say(message)

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Reports it as the status of the task."""
        if self.cancelled:
            raise Cancelled
        if message:
            self.task.say(message)

    def log(self, level: str, data: Any, logger: str = "demo") -> None:
        """Does nothing: the request has ended, and with it the stream for log messages."""

    def missing(self, capability: str) -> str:
        return self._origin.missing(capability)

    def ask(self, *questions: Question) -> list[dict[str, Any]]:
        return self.task.ask(questions)

    def describe_client(self) -> dict[str, Any]:
        return self._origin.describe_client()


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

    def run(self, call: ClientRequest, handler: Handler, *, delay: float, slow: bool) -> bool:
        """Serves an added call; true if it has a response when this returns, false if a thread continues it.

        `delay`: seconds to wait first; `slow`: whether the handler may take long.
        """
        if delay or slow:
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
