"""The era with a handshake (2024-11-05 to 2025-11-25): one session with one client, on any transport."""

from __future__ import annotations

import threading

from inspector.demo.call import LEVELS, Channel, ClientRequest, Serving, TaskCall
from inspector.demo.content import fit
from inspector.demo.core import HANDLERS, instructions, server_info
from inspector.demo.paging import page_of, start_of
from inspector.demo.revisions import DemoFeatures
from inspector.demo.rpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    Cancelled,
    Refused,
    RpcError,
    encode,
    error,
    kind_of,
    notification,
    valid_id,
)
from inspector.demo.tasks import MAX_LIFE, Tasks, described

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from inspector.demo.call import Handler
    from inspector.demo.server_state import DemoState
    from inspector.demo.tasks import DemoTask, Question

    Notify = Callable[[str, dict[str, Any]], None]

RELATED = "io.modelcontextprotocol/related-task"
IMMEDIATE = "io.modelcontextprotocol/model-immediate-response"
PAGE_SIZE = 10
CAPABILITY: dict[str, Any] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}


class SessionTasks:
    """The tasks of one session. `notify` sends the client a message that belongs to no request."""

    def __init__(self, notify: Notify, level: Callable[[], int]) -> None:
        self._tasks = Tasks()
        self._notify = notify
        self._level = level
        self.handlers: dict[str, Handler] = {
            "tasks/get": lambda call: described(self._tasks.get(call.text_param("taskId"))),
            "tasks/result": self._result,
            "tasks/list": self._list,
            "tasks/cancel": self._cancel,
        }

    def close(self) -> None:
        """Ends the session's tasks."""
        self._tasks.drop()

    def call_tool(self, call: ClientRequest) -> dict[str, Any]:
        """Serves tools/call with or without a task; raises RpcError (-32601) if the tool does not support it."""
        handler = HANDLERS["tools/call"]
        requested = call.params.get("task")
        tool = call.state.tool(call.params.get("name"), call.features)
        support = tool.definition.get("execution", {}).get("taskSupport", "forbidden")
        if requested is None and support == "required":
            raise RpcError(METHOD_NOT_FOUND, f"{tool.name} can only be called as a task")
        if requested is None:
            return handler(call)
        if support == "forbidden":
            raise RpcError(METHOD_NOT_FOUND, f"{tool.name} cannot be called as a task")
        task = self._tasks.add(_life(requested), self._status_changed)
        created = described(task)
        within = _LegacyTaskCall(task, call, self._notify, self._level)
        task.run(within, lambda: handler(within), errors_fail=True)
        words = f"{tool.name} runs as task {task.id}."
        return {"task": created, "_meta": {IMMEDIATE: words}}

    def _status_changed(self, task: DemoTask) -> None:
        self._notify("notifications/tasks/status", described(task))

    def _list(self, call: ClientRequest) -> dict[str, Any]:
        start = start_of("tasks", call.params.get("cursor"))
        tasks = self._tasks.all()
        page = [described(task) for task in tasks[start : start + PAGE_SIZE]]
        return page_of("tasks", "tasks", page, start + PAGE_SIZE, len(tasks))

    def _cancel(self, call: ClientRequest) -> dict[str, Any]:
        task = self._tasks.get(call.text_param("taskId"))
        if task.ended:
            raise RpcError(INVALID_PARAMS, f"The task has ended already: it is {task.status}")
        task.cancel()
        return described(task)

    def _result(self, call: ClientRequest) -> dict[str, Any]:
        """Waits for the end of the task; its questions are asked on the stream of this request."""
        task = self._tasks.get(call.text_param("taskId"))
        about = {RELATED: {"taskId": task.id}}
        while (question := task.take_question(call)) is not None:
            key, asked = question
            try:
                task.answer(key, call.ask((asked.method, {**asked.params, "_meta": about}))[0])
            except Refused as refusal:
                task.answer(key, refusal)
            except Cancelled:
                task.put_back(key)
                raise
        if task.result is None:
            raise task.error or RpcError(INTERNAL_ERROR, f"The task has no result: it was {task.status}")
        return task.result | {"_meta": {**task.result.get("_meta", {}), **about}}


class _LegacyTaskCall(TaskCall):
    """A task's call, whose progress and log messages reach the client until its end."""

    def __init__(self, task: DemoTask, origin: ClientRequest, notify: Notify, level: Callable[[], int]) -> None:
        super().__init__(task, origin)
        self._notify = notify
        self._level = level
        self._about = {RELATED: {"taskId": task.id}}

    def notify(self, method: str, params: dict[str, Any]) -> None:
        if self.cancelled:
            raise Cancelled
        self._notify(method, {**params, "_meta": self._about})

    def progress(self, done: float, total: float | None = None, message: str = "") -> None:
        super().progress(done, total, message)
        token = self.meta.get("progressToken")
        if valid_id(token):
            self.notify("notifications/progress", {"progressToken": token, "progress": done, "total": total or done})

    def log(self, level: str, data: Any, logger: str = "demo") -> None:
        if LEVELS.index(level) >= self._level():
            self.notify("notifications/message", {"level": level, "logger": logger, "data": data})


def _life(requested: Any) -> int:
    life = requested.get("ttl", MAX_LIFE) if isinstance(requested, dict) else None
    if not isinstance(life, int) or isinstance(life, bool) or life < 0:
        raise RpcError(INVALID_PARAMS, "task must be an object, and its ttl a number of milliseconds")
    return life


LISTS = ("tools", "resources", "prompts")
# capability: (feature it needs, revision that brought the feature, path in the client's capabilities)
_ABILITIES = {
    "roots": ("", "", "roots"),
    "sampling": ("", "", "sampling"),
    "sampling.tools": ("sampling_tools", "2025-11-25", "sampling.tools"),
    "elicitation": ("elicitation", "2025-06-18", "elicitation"),
    "elicitation.url": ("elicitation_url", "2025-11-25", "elicitation.url"),
}


class _Asked:
    """A request to the client that waits for its response."""

    def __init__(self) -> None:
        self.settled = threading.Event()
        self.response: dict[str, Any] | None = None


class _Batch(Channel):
    """Collects the responses to one JSON-RPC batch (2025-03-26) and sends them as one array."""

    def __init__(self, channel: Channel, expected: int) -> None:
        self._channel = channel
        self._missing = expected
        self._answers: list[bytes] = []
        self._lock = threading.Lock()

    def send(self, raw: bytes) -> None:
        self._channel.send(raw)

    def answer(self, raw: bytes | None, status: int = 200) -> None:
        with self._lock:
            self._missing -= 1
            if raw is not None:
                self._answers.append(raw)
            if self._missing:
                return
        self._channel.answer(b"[" + b",".join(self._answers) + b"]" if self._answers else None)


class LegacySession:
    """The state of one session. `out` receives messages that belong to no request."""

    def __init__(self, state: DemoState, out: Channel, transport: str) -> None:
        self.state = state
        self.out = out
        self.transport = transport
        self.features: DemoFeatures | None = None
        self.client: dict[str, Any] = {}
        self.capabilities: dict[str, Any] = {}
        self.level = LEVELS.index("info")
        self.closed = False
        self._ready = False
        self._subscriptions: set[str] = set()
        self._serving = Serving()
        self._questions: dict[int, _Asked] = {}
        self._asked = 0
        self._lock = threading.Lock()
        self._own: dict[str, Handler] = {
            "initialize": self._initialize,
            "ping": lambda call: {},
            "logging/setLevel": self._set_level,
            "resources/subscribe": self._subscribe,
            "resources/unsubscribe": self._unsubscribe,
        }
        self._tasks = SessionTasks(self._say, lambda: self.level)
        state.watch(self._on_change)

    def receive(self, message: Any, channel: Channel) -> bool:
        """Handles one message (or a batch); true if all its requests have responses when this returns."""
        if not isinstance(message, list):
            return self._receive_one(message, channel)
        try:
            self.check_batch(message)
        except RpcError as problem:
            channel.answer(encode(error(None, problem)))
            return True
        batch = _Batch(channel, sum(_wants_answer(item) for item in message))
        return all([self._receive_one(item, batch) for item in message])

    def close(self) -> None:
        """Ends the session: running calls are cancelled, nothing more is sent."""
        if self.closed:
            return
        self.closed = True
        self.state.unwatch(self._on_change)
        with self._lock:
            subscribed = list(self._subscriptions)
            self._subscriptions.clear()
        for uri in subscribed:
            self.state.unfollow(uri)
        self._serving.drop()
        self._tasks.close()

    def check_batch(self, messages: list[Any]) -> None:
        """Raises RpcError for a batch that this session does not accept."""
        if self.features is None or not self.features.batches:
            raise RpcError(INVALID_REQUEST, "Only revision 2025-03-26 has batches, and never with initialize")
        if not messages:
            raise RpcError(INVALID_REQUEST, "An empty batch")

    def _receive_one(self, message: Any, channel: Channel) -> bool:
        try:
            kind = kind_of(message)
        except RpcError as problem:
            channel.answer(encode(error(None, problem)))
            return True
        if kind == "request":
            return self._receive_request(message, channel)
        if kind == "response":
            self._receive_response(message)
        else:
            self._receive_notification(message)
        return True

    def _receive_request(self, message: dict[str, Any], channel: Channel) -> bool:
        request_id, method, params = message["id"], message["method"], message.get("params", {})
        try:
            handler = self._own.get(method) or self._of_tasks(method) or HANDLERS.get(method)
            if handler is None:
                raise RpcError(METHOD_NOT_FOUND, f"Method not found: {method}")
            if not isinstance(params, dict):
                raise RpcError(INVALID_PARAMS, "params must be an object")
            if self.features is None and method not in ("initialize", "ping"):
                if self.state.modern:
                    raise RpcError(
                        INVALID_PARAMS, f"{method} before initialize, and without the _meta of the modern era"
                    )
                raise RpcError(INVALID_REQUEST, f"{method} before initialize")
            call = LegacyCall(self, channel, request_id, params)
            self._serving.add(call)
        except RpcError as problem:
            channel.answer(encode(error(request_id, problem)))
            return True
        slow = self.state.takes_long(method, params)
        delay = self.state.delay if method in HANDLERS else 0.0
        return self._serving.run(call, handler, delay=delay, slow=slow)

    def _of_tasks(self, method: str) -> Handler | None:
        if self.features is None or not self.features.core_tasks:
            return None
        return self._tasks.call_tool if method == "tools/call" else self._tasks.handlers.get(method)

    def _receive_response(self, message: dict[str, Any]) -> None:
        with self._lock:
            question = self._questions.pop(message["id"], None) if valid_id(message["id"]) else None
        if question is not None:
            question.response = message
            question.settled.set()

    def _receive_notification(self, message: dict[str, Any]) -> None:
        params = message.get("params")
        if message["method"] == "notifications/initialized":
            self._ready = self.features is not None
        if message["method"] == "notifications/cancelled" and isinstance(params, dict):
            self._serving.cancel(params.get("requestId"))

    def _initialize(self, call: ClientRequest) -> dict[str, Any]:
        if self.features is not None:
            raise RpcError(INVALID_REQUEST, "Already initialized")
        check_initialize(call.params)
        requested, known = call.params["protocolVersion"], self.state.handshakes
        features = DemoFeatures(requested if requested in known else known[-1])
        self.client, self.capabilities = call.params["clientInfo"], call.params["capabilities"]
        self.features = features
        offered: dict[str, Any] = {
            "tools": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": True},
            "prompts": {"listChanged": True},
            "logging": {},
        }
        if features.completions:
            offered["completions"] = {}
        if features.core_tasks:
            offered["tasks"] = CAPABILITY
        return {
            "protocolVersion": features.revision,
            "capabilities": offered,
            "serverInfo": fit(server_info(), features),
            "instructions": instructions(),
        }

    def _set_level(self, call: ClientRequest) -> dict[str, Any]:
        level = call.text_param("level")
        if level not in LEVELS:
            raise RpcError(INVALID_PARAMS, f"level must be one of {', '.join(LEVELS)}")
        self.level = LEVELS.index(level)
        return {}

    def _subscribe(self, call: ClientRequest) -> dict[str, Any]:
        uri = call.text_param("uri")
        self.state.resources.read(uri)  # raises for an unknown one
        if uri not in self._subscriptions:
            self._subscriptions.add(uri)
            self.state.follow(uri)
        return {}

    def _unsubscribe(self, call: ClientRequest) -> dict[str, Any]:
        uri = call.text_param("uri")
        if uri in self._subscriptions:
            self._subscriptions.remove(uri)
            self.state.unfollow(uri)
        return {}

    def _on_change(self, topic: str, uri: str) -> None:
        if topic in LISTS:
            self._say(f"notifications/{topic}/list_changed")
        elif topic == "updated" and uri in self._subscriptions:
            self._say("notifications/resources/updated", {"uri": uri})

    def _say(self, method: str, params: dict[str, Any] | None = None) -> None:
        """Sends a message that belongs to no request."""
        if self._ready and not self.closed:
            self.out.send(encode(notification(method, params)))

    def ask(self, call: LegacyCall, questions: tuple[Question, ...]) -> list[dict[str, Any]]:
        """Asks the client on behalf of a call and waits; cancelling the call cancels its questions."""
        with self._lock:
            first = self._asked + 1
            self._asked += len(questions)
            asked = {number: _Asked() for number in range(first, first + len(questions))}
            self._questions |= asked

        def give_up() -> None:
            for pending in asked.values():
                pending.settled.set()

        call.when_cancelled(give_up)
        sent = not call.cancelled
        if sent:
            for number, (method, params) in zip(asked, questions, strict=True):
                call.channel.send(encode({"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
            for pending in asked.values():
                pending.settled.wait()
        if call.cancelled:
            with self._lock:
                unanswered = [number for number in asked if self._questions.pop(number, None)]
            for number in unanswered if sent and not self.closed else ():
                withdrawal = {"requestId": number, "reason": "The request that needed it was cancelled"}
                call.channel.send(encode(notification("notifications/cancelled", withdrawal)))
            raise Cancelled
        return [_read_response(pending.response or {}) for pending in asked.values()]


class LegacyCall(ClientRequest):
    """A request within a session."""

    def __init__(self, session: LegacySession, channel: Channel, request_id: Any, params: dict[str, Any]) -> None:
        # Before the handshake only initialize and ping are served, which do not depend on the revision.
        features = session.features or DemoFeatures(session.state.handshakes[-1])
        super().__init__(session.state, features, channel, request_id, params)
        self._session = session

    def log(self, level: str, data: Any, logger: str = "demo") -> None:
        if LEVELS.index(level) >= self._session.level:
            self.notify("notifications/message", {"level": level, "logger": logger, "data": data})

    def missing(self, capability: str) -> str:
        if not capability:
            return ""
        feature, revision, path = _ABILITIES[capability]
        if feature and not getattr(self.features, feature):
            return f"{capability} requires revision {revision}; this session uses {self.features.revision}."
        declared: Any = self._session.capabilities
        for step in path.split("."):
            declared = declared.get(step) if isinstance(declared, dict) else None
        if capability == "elicitation" and self.features.elicitation_url and isinstance(declared, dict):
            # An empty object means forms; an object with only `url` does not.
            declared = None if declared and "form" not in declared else declared
        if not isinstance(declared, dict):
            return f"The client did not declare the capability {capability}."
        return ""

    def ask(self, *questions: Question) -> list[dict[str, Any]]:
        return self._session.ask(self, questions)

    def describe_client(self) -> dict[str, Any]:
        session = self._session
        return {
            "client": session.client,
            "capabilities": session.capabilities,
            "revision": self.features.revision,
            "transport": session.transport,
            "logLevel": LEVELS[session.level],
        }

    def later(self, seconds: float, method: str, params: dict[str, Any]) -> None:
        def send() -> None:
            if not self._session.closed:
                self._session.out.send(encode(notification(method, params)))

        timer = threading.Timer(seconds, send)
        timer.daemon = True
        timer.start()


def check_initialize(params: Any) -> None:
    """Raises RpcError for parameters of initialize with which no session begins."""
    if not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "params must be an object")
    if not isinstance(params.get("protocolVersion"), str):
        raise RpcError(INVALID_PARAMS, "protocolVersion must be a string")
    if not isinstance(params.get("clientInfo"), dict) or not isinstance(params.get("capabilities"), dict):
        raise RpcError(INVALID_PARAMS, "clientInfo and capabilities must be objects")


def _wants_answer(message: Any) -> bool:
    try:
        return kind_of(message) == "request"
    except RpcError:
        return True


def _read_response(response: dict[str, Any]) -> dict[str, Any]:
    outcome = response.get("result")
    if isinstance(outcome, dict):
        return outcome
    problem = response.get("error")
    if isinstance(problem, dict):
        raise Refused(problem.get("code"), problem.get("message"))
    raise Refused("no code", "the response has neither a result object nor an error object")
