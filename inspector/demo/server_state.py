"""The server's offers, shared by every connection of the process, and the watchers of their changes."""

from __future__ import annotations

import os
import threading
import time

from inspector.demo.content import result, text
from inspector.demo.definitions import DemoPrompt, DemoTool
from inspector.demo.resources import CLOCK, GUARDED, Resources
from inspector.demo.revisions import HANDSHAKE, MODERN, REVISIONS
from inspector.demo.rpc import INVALID_PARAMS, RpcError, decode, encode
from inspector.demo.tasks import Tasks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from inspector.demo.revisions import DemoFeatures

    class Subscription(Protocol):
        """A subscription, as the state uses it."""

        def stop(self) -> None: ...

        def end(self, how: str = "result") -> None: ...

    Watcher = Callable[[str, str], None]

LIFETIME = 3600.0  # seconds
_DIGEST = 32  # bytes


class StateSigner:
    """Signs states with its own key. A state belongs to one request and is refused with any other."""

    def __init__(self) -> None:
        self._key = os.urandom(32)

    def sign(self, request: Any, value: dict[str, Any]) -> str:
        """Returns a signed state with a value, for its request (any JSON value that identifies it)."""
        from base64 import urlsafe_b64encode

        body = encode({"until": time.time() + LIFETIME, "value": value})
        return urlsafe_b64encode(self._signature(request, body) + body).decode("ascii")

    def read(self, request: Any, state: Any) -> dict[str, Any]:
        """Returns the value of a state; raises RpcError if it was changed, expired or is from another request."""
        from base64 import b64decode
        from hmac import compare_digest

        try:
            raw = b64decode(state, altchars=b"-_", validate=True)
        except (TypeError, ValueError):
            raise RpcError(INVALID_PARAMS, "requestState is not from this server") from None
        signature, body = raw[:_DIGEST], raw[_DIGEST:]
        if not compare_digest(signature, self._signature(request, body)):
            raise RpcError(INVALID_PARAMS, "requestState was changed, or belongs to another request")
        content = decode(body)
        if content["until"] < time.time():
            raise RpcError(INVALID_PARAMS, "requestState has expired: start again")
        value: dict[str, Any] = content["value"]
        return value

    def _signature(self, request: Any, body: bytes) -> bytes:
        from hashlib import blake2b

        identity = blake2b(encode(request), digest_size=_DIGEST).digest()
        return blake2b(identity + body, key=self._key, digest_size=_DIGEST).digest()


class DemoState:
    """Tools, resources and prompts, and the options of the command line.

    `tools` and `prompts`: the initial ones, in the order in which they are listed; `items`: number of generated
    resources; `delay`: seconds before each response; `tick`: seconds between changes of the clock; `beat`: seconds
    between heartbeats of a stream of events; `newest`: the newest supported revision; `era`: "legacy" (with a
    handshake), "modern" (without) or "both".
    """

    def __init__(
        self,
        tools: list[DemoTool],
        prompts: list[DemoPrompt],
        *,
        items: int = 3000,
        delay: float = 0.0,
        tick: float = 1.0,
        beat: float = 10.0,
        newest: str = REVISIONS[-1],
        era: str = "both",
    ) -> None:
        self.delay = delay
        self.tick = tick
        self.beat = beat
        self.handshakes = [revision for revision in HANDSHAKE if revision <= newest and era != "modern"]
        self.modern = [revision for revision in MODERN if revision <= newest and era != "legacy"]
        self.resources = Resources(items)
        self._tools = {tool.name: tool for tool in tools}
        self._prompts = {prompt.definition["name"]: prompt for prompt in prompts}
        self._extras: dict[str, list[int]] = {"tools": [], "resources": self.resources.extras, "prompts": []}
        self._watchers: list[Watcher] = []
        self._followers = 0
        self._clock: threading.Thread | None = None
        self._visits = 0
        self.visited = False
        self.signer = StateSigner()
        self.subscriptions: list[Subscription] = []
        self.tasks = Tasks()
        self._lock = threading.RLock()

    def tools(self, features: DemoFeatures) -> list[DemoTool]:
        """All tools of a revision, in the order in which they are listed."""
        with self._lock:
            return [tool for tool in self._tools.values() if tool.offered(features)]

    def find_tool(self, name: Any) -> DemoTool | None:
        """Returns a tool by name, of any revision."""
        return self._tools.get(name) if isinstance(name, str) else None

    def tool(self, name: Any, features: DemoFeatures) -> DemoTool:
        """A tool by name; raises RpcError (-32602) for an unknown one."""
        tool = self.find_tool(name)
        if tool is None or not tool.offered(features):
            raise RpcError(INVALID_PARAMS, f"Unknown tool: {name}")
        return tool

    def takes_long(self, method: str, params: dict[str, Any]) -> bool:
        """Whether a request may take long: because of its work, or because it waits for the client."""
        name = params.get("name")
        if method == "tasks/result":
            return True
        if method == "resources/read":
            return str(params.get("uri")).startswith(GUARDED)
        definition: DemoTool | DemoPrompt | None = None
        if method == "tools/call":
            definition = None if "task" in params else self.find_tool(name)
        elif method == "prompts/get" and isinstance(name, str):
            definition = self._prompts.get(name)
        return definition is not None and definition.slow

    def prompts(self) -> list[DemoPrompt]:
        """All prompts, in the order in which they are listed."""
        with self._lock:
            return list(self._prompts.values())

    def prompt(self, name: Any) -> DemoPrompt:
        """A prompt by name; raises RpcError (-32602) for an unknown one."""
        prompt = self._prompts.get(name) if isinstance(name, str) else None
        if prompt is None:
            raise RpcError(INVALID_PARAMS, f"Unknown prompt: {name}")
        return prompt

    def add_extra(self, topic: str) -> str:
        """Adds an entry to a list ("tools", "resources" or "prompts"), notifies all watchers, and returns its name."""
        with self._lock:
            extras = self._extras[topic]
            number = extras[-1] + 1 if extras else 1
            extras.append(number)
            name = f"extra-{number}"
            if topic == "tools":
                self._tools[name] = _extra_tool(name)
            elif topic == "prompts":
                self._prompts[name] = _extra_prompt(number)
        self.changed(topic)
        return name

    def remove_extra(self, topic: str) -> str | None:
        """Removes the entry that was added last and returns its name; None if there is none."""
        with self._lock:
            if not self._extras[topic]:
                return None
            name = f"extra-{self._extras[topic].pop()}"
            if topic == "tools":
                del self._tools[name]
            elif topic == "prompts":
                del self._prompts[name]
        self.changed(topic)
        return name

    def next_visit(self) -> int:
        """Returns a new number for a URL elicitation."""
        with self._lock:
            self._visits += 1
            return self._visits

    def watch(self, watcher: Watcher) -> None:
        """Calls the watcher with (topic, name) for each change from now on.

        A topic is the name of a list, "updated" with the URI of a resource, or "task" with the id of a task.
        """
        with self._lock:
            self._watchers.append(watcher)

    def unwatch(self, watcher: Watcher) -> None:
        """Removes a watcher."""
        with self._lock:
            self._watchers.remove(watcher)

    def changed(self, topic: str) -> None:
        """Notifies all watchers that a list has changed."""
        self.tell(topic, "")

    def touch(self, uri: str) -> None:
        """Notifies all watchers that a resource has changed."""
        self.tell("updated", uri)

    def follow(self, uri: str) -> None:
        """Adds a subscriber; the clock runs while it has one."""
        if uri != CLOCK:
            return
        with self._lock:
            self._followers += 1
            if self._clock is None:
                self._clock = threading.Thread(target=self._run_clock, name="clock", daemon=True)
                self._clock.start()

    def unfollow(self, uri: str) -> None:
        """Removes a subscriber."""
        if uri == CLOCK:
            with self._lock:
                self._followers -= 1

    def _run_clock(self) -> None:
        while True:
            time.sleep(self.tick)
            with self._lock:
                if not self._followers:
                    self._clock = None
                    return
            self.touch(CLOCK)

    def tell(self, topic: str, name: str) -> None:
        """Notifies all watchers of a change."""
        with self._lock:
            watchers = list(self._watchers)
        for watcher in watchers:
            watcher(topic, name)


def _extra_tool(name: str) -> DemoTool:
    definition = {"name": name, "description": "Added at run time", "inputSchema": {"type": "object"}}
    return DemoTool(definition, lambda call: result(f"This is {name}."), slow=False)


def _extra_prompt(number: int) -> DemoPrompt:
    definition = {"name": f"extra-{number}", "description": "Added at run time"}
    return DemoPrompt(definition, lambda call, given: [("user", text(f"This is extra prompt {number}."))])
