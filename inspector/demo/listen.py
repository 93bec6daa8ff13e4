"""subscriptions/listen (2026-07-28): one long request, whose stream delivers the changes to the client."""

from __future__ import annotations

import threading

from inspector.demo.call import ClientRequest
from inspector.demo.rounds import IDENTITY, PREFIX, in_full, need_tasks
from inspector.demo.rpc import INVALID_PARAMS, RpcError, encode, notification, result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import Channel, Serving
    from inspector.demo.revisions import DemoFeatures
    from inspector.demo.server_state import DemoState

_LISTS = {"tools": "toolsListChanged", "resources": "resourcesListChanged", "prompts": "promptsListChanged"}
MAX_WATCHED = 1000  # maximum resources, and tasks, of one subscription


class LastingRequest(ClientRequest):
    """A request whose stream delivers messages with its id until one side ends it."""

    def __init__(
        self, state: DemoState, features: DemoFeatures, channel: Channel, message: dict[str, Any], serving: Serving
    ) -> None:
        super().__init__(state, features, channel, message["id"], message["params"])
        self._serving = serving
        self._over = threading.Event()
        self._lock = threading.RLock()

    def begin(self) -> None:
        """Starts the stream; raises RpcError."""
        raise NotImplementedError

    def _begin(self, method: str, params: dict[str, Any]) -> None:
        """Sends the first message; raises RpcError."""
        self._serving.add(self)
        self.state.subscriptions.append(self)
        self._send(method, params)

    def cancel(self) -> None:
        """Ends the stream for the client."""
        super().cancel()
        self._finish(None)

    def stop(self) -> None:
        self.end()

    def end(self, how: str = "result") -> None:
        """Ends the stream from the server's side: by its "result", or in "silence"."""
        about = {PREFIX + "serverInfo": IDENTITY, PREFIX + "subscriptionId": self.request_id}
        final = result(self.request_id, {"resultType": "complete", "_meta": about})
        self._finish(encode(final) if how == "result" else None)

    def _finish(self, final: bytes | None) -> bool:
        """Ends the stream; false if it had ended before."""
        with self._lock:  # nothing is sent after the end
            if self._over.is_set():
                return False
            self._over.set()
            self.channel.answer(final)
        self._serving.remove(self)
        self.state.subscriptions.remove(self)
        return True

    def _send(self, method: str, params: dict[str, Any]) -> None:
        params = {"_meta": {PREFIX + "subscriptionId": self.request_id}, **params}
        with self._lock:
            if not self._over.is_set():
                self.channel.send(encode(notification(method, params)))


class ListenRequest(LastingRequest):
    """A subscription request. Every message for it has its id."""

    def __init__(
        self, state: DemoState, features: DemoFeatures, channel: Channel, message: dict[str, Any], serving: Serving
    ) -> None:
        super().__init__(state, features, channel, message, serving)
        notifications = self.params.get("notifications")
        if not isinstance(notifications, dict):
            raise RpcError(INVALID_PARAMS, "notifications must be an object")
        self._topics = [topic for topic, key in _LISTS.items() if notifications.get(key) is True]
        self._uris = [uri for uri in _names(notifications, "resourceSubscriptions") if state.resources.exists(uri)]
        if "taskIds" in notifications:
            need_tasks(self)
        self._tasks = [name for name in _names(notifications, "taskIds") if state.tasks.find(name) is not None]

    def begin(self) -> None:
        """Acknowledges the subscription, and sends its changes from then on; raises RpcError."""
        agreed: dict[str, Any] = {_LISTS[topic]: True for topic in self._topics}
        if self._uris:
            agreed["resourceSubscriptions"] = self._uris
        if self._tasks:
            agreed["taskIds"] = self._tasks
        with self._lock:  # no change is missed from now on, and none is sent before the acknowledgement
            self._begin("notifications/subscriptions/acknowledged", {"notifications": agreed})
            self.state.watch(self._on_change)
        for uri in self._uris:
            self.state.follow(uri)

    def end(self, how: str = "result") -> None:
        """Ends the subscription from the server's side: by its "result", as "cancelled", or in "silence"."""
        if how == "cancelled":
            self._send("notifications/cancelled", {"requestId": self.request_id, "reason": "The server ended it"})
        super().end(how)

    def _finish(self, final: bytes | None) -> bool:
        ended = super()._finish(final)
        if ended:
            self.state.unwatch(self._on_change)
            for uri in self._uris:
                self.state.unfollow(uri)
        return ended

    def _on_change(self, topic: str, name: str) -> None:
        if topic in self._topics:
            self._send(f"notifications/{topic}/list_changed", {})
        elif topic == "updated" and name in self._uris:
            self._send("notifications/resources/updated", {"uri": name})
        elif topic == "task" and name in self._tasks:
            task = self.state.tasks.find(name)
            if task is not None:
                self._send("notifications/tasks", in_full(task))


def _names(notifications: dict[str, Any], key: str) -> list[str]:
    """Returns a list of names in a filter, each once."""
    names = notifications.get(key, [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise RpcError(INVALID_PARAMS, f"{key} must be a list of strings")
    return list(dict.fromkeys(names))[:MAX_WATCHED]
