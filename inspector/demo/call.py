"""One request being served, as a feature sees it, and the way its messages take back to the client.

A tool, resource or prompt knows nothing of transports and eras: it gets a `Call` and returns a result. An era
subclasses `Call` to say how the client is asked and logged to.
"""

from __future__ import annotations

import threading

from inspector.demo.rpc import INVALID_PARAMS, Cancelled, RpcError, encode, notification, valid_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn

    from inspector.demo.revisions import Features
    from inspector.demo.tasks import Question, Task
    from inspector.demo.world import World

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class Channel:
    """Where encoded messages go. A request brings the channel on which everything about it is said."""

    def send(self, raw: bytes) -> None:
        """Sends a notification, or a request to the client."""
        raise NotImplementedError

    def answer(self, raw: bytes | None, status: int = 200) -> None:
        """Ends one request with its response, or with None if it gets none because it was cancelled.

        `status` is what HTTP says of the response, where that is still to be said.
        """
        raise NotImplementedError

    def hang_up(self, retry: int) -> None:
        """Breaks the stream off, asking the client to come back after `retry` ms; nothing where there is no stream."""


class Call:
    """A request from the client while it is served. All methods may be used from any thread."""

    in_task = False  # whether the request has been answered and the work goes on as a task

    def __init__(
        self, world: World, features: Features, channel: Channel, request_id: Any, params: dict[str, Any]
    ) -> None:
        self.world = world
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
        """The arguments of a tool or prompt; an RpcError if they are no object."""
        arguments = self.params.get("arguments", {})
        if not isinstance(arguments, dict):
            raise RpcError(INVALID_PARAMS, "arguments must be an object")
        return arguments

    def text_param(self, name: str) -> str:
        """A parameter that must be there and be text."""
        value = self.params.get(name)
        if not isinstance(value, str):
            raise RpcError(INVALID_PARAMS, f"{name} must be a string")
        return value

    @property
    def cancelled(self) -> bool:
        """Whether the client no longer wants an answer."""
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Ends the call: whatever it waits for next raises Cancelled, and it is not answered."""
        self._cancelled.set()
        self._wake()

    def when_cancelled(self, wake: Callable[[], None]) -> None:
        """Names what is to be called when the call is cancelled, in place of what was named before."""
        self._wake = wake
        if self.cancelled:
            wake()

    def stop(self) -> None:
        """Ends the call because the server stops serving; what has a proper end may still say so."""
        self.cancel()

    def sleep(self, seconds: float) -> None:
        """Waits; raises Cancelled as soon as the call is cancelled."""
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
        """Says how a task goes; nothing where there is none."""

    def log(self, level: str, data: Any, logger: str = "demo") -> None:
        """Sends a log message, if the client wants messages of that level."""
        raise NotImplementedError

    def missing(self, capability: str) -> str:
        """What stands in the way of a client capability ("sampling", "elicitation.url", …); empty if nothing does.

        Where the era has an error for that, it is raised: RpcError.
        """
        raise NotImplementedError

    def ask(self, *questions: Question) -> list[dict[str, Any]]:
        """Asks the client something, or several things at once, and waits for the answers, which it gives in order.

        Raises Refused or Cancelled. A tool that asks is run from its start once more for every round of questions in
        the era without requests to the client: until it has asked, it must do nothing that cannot be done twice.
        """
        raise NotImplementedError

    def come_back(self) -> None:
        """Has the client send its request once more before the call goes on; nothing where an era cannot do that."""

    def describe_client(self) -> dict[str, Any]:
        """What the server knows of its client."""
        raise NotImplementedError

    def later(self, seconds: float, method: str, params: dict[str, Any]) -> None:
        """Sends a notification that belongs to no call after a while, if the client is still there."""
        raise NotImplementedError


class TaskCall(Call):
    """The call of a tool within a task; `origin` is the request that began it."""

    in_task = True

    def __init__(self, task: Task, origin: Call) -> None:
        super().__init__(origin.world, origin.features, Channel(), origin.request_id, origin.params)
        self.task = task
        self._origin = origin

    def status(self, message: str) -> None:
        self.task.say(message)

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        """Says it as the status of the task."""
        if self.cancelled:
            raise Cancelled
        if message:
            self.task.say(message)

    def log(self, level: str, data: Any, logger: str = "demo") -> None:
        """Nowhere: there is no request any more on whose stream it could be said."""

    def missing(self, capability: str) -> str:
        return self._origin.missing(capability)

    def ask(self, *questions: Question) -> list[dict[str, Any]]:
        return self.task.ask(questions)

    def describe_client(self) -> dict[str, Any]:
        return self._origin.describe_client()
