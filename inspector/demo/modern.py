"""The era without a handshake (2026-07-28): requests that identify their client, each on its own, on any transport."""

from __future__ import annotations

from inspector.demo.call import LEVELS, Serving
from inspector.demo.content import fit
from inspector.demo.core import HANDLERS, instructions, server_info
from inspector.demo.headers import check_headers, check_version
from inspector.demo.listen import LastingRequest, ListenRequest
from inspector.demo.parts import parts
from inspector.demo.resources import CLOCK
from inspector.demo.revisions import DemoFeatures
from inspector.demo.rounds import (
    ASKING,
    EXTENSION,
    IDENTITY,
    PREFIX,
    TASK_HANDLERS,
    InputRequired,
    ModernCall,
    call_tool,
)
from inspector.demo.rpc import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    UNSUPPORTED_VERSION,
    NotFound,
    RpcError,
    encode,
    error,
    kind_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from inspector.demo.call import Channel, ClientRequest, Handler
    from inspector.demo.server_state import DemoState
    from inspector.serving.base import RequestHead

LISTEN = "subscriptions/listen"
# Time to live of a method's results, in milliseconds.
_FRESH = {
    "server/discover": 3_600_000,
    "tools/list": 10_000,
    "resources/list": 10_000,
    "resources/templates/list": 60_000,
    "resources/read": 5_000,
    "prompts/list": 10_000,
}


def is_modern(message: Any) -> bool:
    """Whether a message can only belong to this era: by its method, or by its metadata."""
    if not isinstance(message, dict):
        return False
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    has_metadata = isinstance(meta, dict) and any(PREFIX + key in meta for key in _META)
    return has_metadata or message.get("method") in ("server/discover", LISTEN)


class Modern:
    """The requests on one connection. Over HTTP that is one request, whose `head` must match it."""

    def __init__(self, state: DemoState, transport: str, head: RequestHead | None = None) -> None:
        self.state = state
        self.transport = transport
        self._head = head
        self._serving = Serving()
        self._own: dict[str, Handler] = {
            "server/discover": self._discover,
            "tools/call": call_tool,
            **TASK_HANDLERS,
        }

    def receive(self, message: Any, channel: Channel) -> bool:
        """Handles one message; true if its request has a response when this returns."""
        try:
            kind = kind_of(message)
        except RpcError as problem:
            channel.answer(encode(error(None, problem)), 400)
            return True
        if kind == "request":
            try:
                return self._receive_request(message, channel)
            except RpcError as problem:
                channel.answer(encode(error(message["id"], problem)), problem.status)
        else:
            self.cancels(message)
        return True

    def cancels(self, message: Any) -> bool:
        """Cancels a request if the message is its cancellation; false if it does not belong to these requests."""
        if not isinstance(message, dict) or "id" in message or message.get("method") != "notifications/cancelled":
            return False
        params = message.get("params")
        return isinstance(params, dict) and self._serving.cancel(params.get("requestId"))

    def close(self) -> None:
        """Stops: subscriptions end with their result, other requests without one."""
        self._serving.stop()

    def drop(self) -> None:
        """Ends everything without a message: the client has disconnected."""
        self._serving.drop()

    def _receive_request(self, message: dict[str, Any], channel: Channel) -> bool:
        method = message["method"]
        if method == "initialize":
            raise self._unsupported(message.get("params"), "This server has no handshake and supports")
        features = self._check_meta(message)
        handler = self._own.get(method) or HANDLERS.get(method) or (_of_feature(method) if method != LISTEN else None)
        stream = stream_of(method) if handler is None else None
        if handler is None and stream is None:
            raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}", status=404)
        if self._head is not None:
            check_headers(self._head, message, self.state)
        if handler is None:
            assert stream is not None
            stream(self.state, features, channel, message, self._serving).begin()
            return False
        call = ModernCall(self.state, features, channel, message, lambda: self._describe(call))
        self._serving.add(call)
        slow = self.state.takes_long(method, message["params"])
        delay = self.state.delay if method in HANDLERS else 0.0
        return self._serving.run(call, _finished(method, handler), delay=delay, slow=slow)

    def _check_meta(self, message: dict[str, Any]) -> DemoFeatures:
        params = message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        if not isinstance(meta, dict):
            raise RpcError(INVALID_PARAMS, "params._meta must be an object that identifies the client", status=400)
        for key, (kind, required) in _META.items():
            value = meta.get(PREFIX + key)
            if (required or value is not None) and not isinstance(value, kind):
                raise RpcError(INVALID_PARAMS, f"_meta requires {PREFIX}{key} ({kind.__name__})", status=400)
        revision = meta[PREFIX + "protocolVersion"]
        if self._head is not None:
            check_version(self._head, revision)
        if revision not in self.state.modern:
            raise self._unsupported({"protocolVersion": revision}, "Unsupported protocol version: this server supports")
        level = meta.get(PREFIX + "logLevel")
        if level is not None and level not in LEVELS:
            raise RpcError(INVALID_PARAMS, f"logLevel must be one of {', '.join(LEVELS)}", status=400)
        return DemoFeatures(revision)

    def _unsupported(self, params: Any, words: str) -> RpcError:
        requested = params.get("protocolVersion") if isinstance(params, dict) else None
        data = {"supported": self.state.modern, "requested": requested if isinstance(requested, str) else ""}
        return RpcError(UNSUPPORTED_VERSION, f"{words} {', '.join(self.state.modern)}", data, status=400)

    def _discover(self, call: ClientRequest) -> dict[str, Any]:
        return {
            "supportedVersions": self.state.modern,
            "capabilities": {
                "tools": {"listChanged": True},
                "resources": {"subscribe": True, "listChanged": True},
                "prompts": {"listChanged": True},
                "logging": {},
                "completions": {},
                "extensions": {EXTENSION: {}, **{part.extension: part.settings for part in parts()}},
            },
            "instructions": instructions(),
            "_meta": {PREFIX + "serverInfo": fit(server_info(), call.features)},
        }

    def _describe(self, call: ClientRequest) -> dict[str, Any]:
        return {
            "client": call.meta.get(PREFIX + "clientInfo"),
            "capabilities": call.meta[PREFIX + "clientCapabilities"],
            "revision": call.features.revision,
            "transport": self.transport,
            "logLevel": call.meta.get(PREFIX + "logLevel"),
        }


def _of_feature(method: str) -> Handler | None:
    """The handler of a method that is not one of the core."""
    return next((part.handlers[method] for part in parts() if method in part.handlers), None)


def stream_of(method: str) -> type[LastingRequest] | None:
    """The class of a request that lasts, or None."""
    if method == LISTEN:
        return ListenRequest
    return next((part.streams[method] for part in parts() if method in part.streams), None)


# key: (type, required)
_META: dict[str, tuple[type, bool]] = {
    "protocolVersion": (str, True),
    "clientCapabilities": (dict, True),
    "clientInfo": (dict, False),
    "logLevel": (str, False),
}


def _finished(method: str, handler: Handler) -> Handler:
    """A handler whose result has its kind, the server's identity and its time to live."""

    def serve(call: ClientRequest) -> dict[str, Any]:
        try:
            outcome = {"resultType": "complete", **handler(call)}
            if (fresh := _fresh(method)) is not None:
                outcome |= _cacheable(method, fresh, call)
        except InputRequired as needed:
            outcome = needed.result
        except NotFound as problem:
            raise RpcError(INVALID_PARAMS, problem.message, problem.data) from None
        outcome["_meta"] = {PREFIX + "serverInfo": IDENTITY, **outcome.get("_meta", {})}
        return outcome

    return serve


def _fresh(method: str) -> int | None:
    """The time to live of a method's results; None if they are not kept."""
    return _FRESH.get(method) or next((part.fresh[method] for part in parts() if method in part.fresh), None)


def _cacheable(method: str, fresh: int, call: ClientRequest) -> dict[str, Any]:
    moving = method == "resources/read" and call.params.get("uri") == CLOCK
    own = method in ASKING and ("inputResponses" in call.params or "requestState" in call.params)
    return {"ttlMs": 0 if moving or own else fresh, "cacheScope": "private" if own else "public"}
